@kubefleet
Feature: WorkSynchronized is False
  The guide "Work Synchronization Failure TSG": a placement was updated, but its Work for a selected cluster can't be
  updated, because the member's namespace on the hub is terminating.

  # Once the namespace is gone, it stays away until the hub-agent's next attempt: KF-WS-007 for some seconds.
  @drill @disruptive @KF-WS-001 @KF-WS-008 @passes:KF-WS-007
  @guide:work-synchronized/condition @guide:work-synchronized/logs
  @guide:work-synchronized/terminating-namespace @guide:work-synchronized/terminating-namespace-cause
  @guide:azure-work-synchronized/sample @guide:azure-work-synchronized/symptoms @guide:azure-work-synchronized/logs
  @guide:azure-work-synchronized/terminating-namespace @guide:azure-work-synchronized/terminating-namespace-cause
  @drift:azure-work-synchronized/resolution/regenerated-without-rejoining
  Scenario: The member's namespace is being deleted, and what holds it is released
    Given a member "east" of its own
    And a placement "first" has put its resources on "east"
    When the hub's namespace of member "east" is deleted while it holds a Work
    And a placement "second" selects "east"
    Then placement "second" reports
      | on   | condition        | status | reason                    | message                                                                                           |
      |      | Scheduled        | True   | SchedulingPolicyFulfilled |                                                                                                   |
      |      | RolloutStarted   | True   | RolloutStarted            |                                                                                                   |
      |      | Overridden       | True   | NoOverrideSpecified       |                                                                                                   |
      |      | WorkSynchronized | False  | WorkNotSynchronizedYet    | 1 cluster(s) which have not finished creating or updating work(s) yet                             |
      |      | Applied          | absent |                           |                                                                                                   |
      | east | Scheduled        | True   | Scheduled                 |                                                                                                   |
      | east | RolloutStarted   | True   | RolloutStarted            |                                                                                                   |
      | east | Overridden       | True   | NoOverrideSpecified       |                                                                                                   |
      | east | WorkSynchronized | False  | SyncWorkFailed            | unable to create new content in namespace fleet-member-{east} because it is being terminated      |
    And the binding of placement "second" for "east" reports
      | condition        | status | reason         | message                                |
      | WorkSynchronized | False  | SyncWorkFailed | "{second}-work" is forbidden           |
    And the hub's namespace of member "east" reports
      | condition                    | status | reason                | message                                |
      | NamespaceContentRemaining    | True   | SomeResourcesRemain   | works.placement.kubernetes-fleet.io    |
      | NamespaceFinalizersRemaining | True   | SomeFinalizersRemain  | kubernetes-fleet.io/work-cleanup       |
    And the resources of placement "first" are gone from "east"
    But placement "first" still says that it is available
    And the hub-agent has logged "unable to create new content in namespace fleet-member-{east} because it is being terminated"
    And the diagnosis of placement "second" is KF-WS-001 for "east"
      | object                                  | value            |
      | ClusterResourcePlacement/{second}       | SyncWorkFailed   |
      | Namespace/fleet-member-{east}           | NamespaceFinalizersRemaining=True |
      | Work/fleet-member-{east}/{first}-work   | work-cleanup     |
    And the diagnosis of placement "first" is KF-WS-008 for "east", because of KF-WS-001
      | object                                | value                    |
      | ClusterResourcePlacement/{first}      | Available=True           |
      | Work/fleet-member-{east}/{first}-work |                          |
    When the Works that hold the hub's namespace of member "east" are released
    Then the hub's namespace of member "east" is back
    And placement "second" becomes available on "east"
    And placement "first" becomes available on "east"
    And the diagnosis finds nothing
    And a change to the resources of placement "second" arrives on "east"
    And a change to the resources of placement "first" arrives on "east"

  @drill @disruptive @KF-WS-001 @KF-WS-008
  @guide:work-synchronized/resolution/other-cluster @guide:azure-work-synchronized/resolution/other-cluster
  @guide:work-synchronized/resolution/delete-placement @guide:azure-work-synchronized/resolution/delete-placement
  Scenario: The member's namespace is being deleted, and another cluster is selected, or the placement deleted
    Given a member "east" of its own
    And a placement "first" has put its resources on "east"
    When the hub's namespace of member "east" is deleted while it holds a Work
    And a placement "second" selects "east"
    Then placement "second" reports
      | on   | condition        | status | reason                 |
      |      | WorkSynchronized | False  | WorkNotSynchronizedYet |
      | east | WorkSynchronized | False  | SyncWorkFailed         |
    And the diagnosis of placement "second" is KF-WS-001 for "east"
    # The resources of the older placement on the member are lost anyway.
    And the resources of placement "first" are gone from "east"
    And the diagnosis of placement "first" is KF-WS-008 for "east", because of KF-WS-001
    When placement "second" selects "member-1" and "member-2" instead
    Then placement "second" becomes available on "member-1" and "member-2"
    And a change to the resources of placement "second" arrives on "member-1" and "member-2"
    When a placement "third" selects "east" and "member-1"
    Then placement "third" reports
      | on       | condition        | status | reason                 | message                                                               |
      |          | WorkSynchronized | False  | WorkNotSynchronizedYet | 1 cluster(s) which have not finished creating or updating work(s) yet |
      | east     | WorkSynchronized | False  | SyncWorkFailed         | it is being terminated                                                |
      | member-1 | WorkSynchronized | True   | AllWorkSynced          |                                                                       |
      | member-1 | Available        | True   | AllWorkAreAvailable    |                                                                       |
    And the diagnosis of placement "third" is KF-WS-001 for "east"
    When placement "third" is deleted
    Then no binding and no Work of placement "third" is left
    And the resources of placement "third" are gone from "member-1"

  @drill @disruptive @takes-100s @KF-WS-001 @KF-MC-004
  @drift:work-synchronized/resolution/rejoin @drift:azure-work-synchronized/resolution/rejoin
  Scenario: The member's namespace is being deleted, and the member leaves and joins again
    Given a member "east" of its own
    And a placement "first" has put its resources on "east"
    When the hub's namespace of member "east" is deleted while it holds a Work
    And a placement "second" selects "east"
    Then placement "second" reports
      | on   | condition        | status | reason         |
      | east | WorkSynchronized | False  | SyncWorkFailed |
    And the diagnosis of placement "second" is KF-WS-001 for "east"
    When member "east" is deleted
    # The guide says "rejoin", which deadlocks while the namespace is terminating: the Works must be released too.
    Then member "east" is still leaving after 10 seconds
    # A member that is leaving isn't selected any more, so the placements have nothing to report. But the leaving alone
    # doesn't trigger the scheduler.
    When the policy of placement "second" changes
    And the policy of placement "first" changes
    Then placement "second" reports
      | condition | status | reason                    | message            |
      | Scheduled | True   | SchedulingPolicyFulfilled | found 0 cluster(s) |
    And placement "first" reports
      | condition | status | reason                    | message            |
      | Scheduled | True   | SchedulingPolicyFulfilled | found 0 cluster(s) |
    And within 60 seconds the diagnosis of member "east" is KF-MC-004
      | object                                | value                  |
      | MemberCluster/{east}                  | membercluster-finalizer |
      | Work/fleet-member-{east}/{first}-work | work-cleanup           |
    When the Works that hold the hub's namespace of member "east" are released
    Then member "east" has left
    When member "east" joins again
    Then placement "second" becomes available on "east"
    And placement "first" becomes available on "east"
    And the diagnosis finds nothing
    And a change to the resources of placement "second" arrives on "east"
    And a change to the resources of placement "first" arrives on "east"

  @drill @healthy
  Scenario: The member's namespace is left alone
    Given a placement "first" has put its resources on "member-1"
    When a placement "second" selects "member-1"
    Then placement "second" becomes available on "member-1"
    And placement "first" becomes available on "member-1"
    And the diagnosis finds nothing
    And a change to the resources of placement "second" arrives on "member-1"
    And the diagnosis finds nothing

  @disruptive @KF-WS-007 @KF-WS-001
  @takes-110s @guide:work-synchronized/resolution/wait @guide:azure-work-synchronized/resolution/wait
  Scenario: The member's namespace is deleted by force, then in a way that completes by itself
    Given a member "east" of its own
    And a placement "first" has put its resources on "east"
    When the hub's namespace of member "east" is deleted by force
    And a placement "second" selects "east"
    Then placement "second" reports
      | on   | condition        | status | reason                 | message                                         |
      |      | WorkSynchronized | False  | WorkNotSynchronizedYet |                                                 |
      | east | WorkSynchronized | False  | SyncWorkFailed         | namespaces "fleet-member-{east}" not found      |
    And placement "first" still says that it is available
    And the diagnosis of placement "second" is KF-WS-007 for "east"
      | object                        | value            |
      | Namespace/fleet-member-{east} | (no such object) |
    # Nothing else triggers the hub-agent: no heartbeat arrives in a namespace that doesn't exist.
    When member "east" gets '{"heartbeatPeriodSeconds": 16}'
    Then the hub's namespace of member "east" is back
    And placement "second" becomes available on "east"
    And the diagnosis finds nothing
    And a change to the resources of placement "second" arrives on "east"
    And a change to the resources of placement "first" arrives on "east"
    # The Works' finalizer holds the namespace. The member's agent removes the finalizer after it has deleted the
    # workload, if it still has the rights. Then nobody has to do anything but wait, as the guide says.
    Given the identity of member "east" may work on Works whatever becomes of its namespace
    When the hub's namespace of member "east" is deleted while it holds a Work
    And a placement "third" selects "east"
    Then placement "third" reports
      | on   | condition        | status | reason                 | message                |
      |      | WorkSynchronized | False  | WorkNotSynchronizedYet |                        |
      | east | WorkSynchronized | False  | SyncWorkFailed         | it is being terminated |
    And the hub's namespace of member "east" is back
    And placement "third" becomes available on "east"
    And placement "first" becomes available on "east"
    And the diagnosis finds nothing
    And a change to the resources of placement "third" arrives on "east"
    And a change to the resources of placement "first" arrives on "east"

  # Once the namespace is gone, it stays away until the hub-agent's next attempt: KF-WS-007 for some seconds.
  @disruptive @takes-120s @KF-WS-001 @passes:KF-WS-007
  Scenario: The member's namespace is being deleted, and what holds it is somebody's ConfigMap
    Given a member "east" of its own
    And a placement "first" has put its resources on "east"
    And the identity of member "east" may work on Works whatever becomes of its namespace
    And somebody's finalizer holds the hub's namespace of member "east"
    When the hub's namespace of member "east" is deleted while it holds a Work
    And a placement "second" selects "east"
    Then placement "second" reports
      | on   | condition        | status | reason         | message                |
      | east | WorkSynchronized | False  | SyncWorkFailed | it is being terminated |
    And the hub's namespace of member "east" reports
      | condition                    | status | reason                | message             |
      | NamespaceFinalizersRemaining | True   | SomeFinalizersRemain  | example.com/protect |
    And the diagnosis of placement "second" is KF-WS-001 for "east"
      | object                              | value                |
      | ClusterResourcePlacement/{second}   | SyncWorkFailed       |
      | Namespace/fleet-member-{east}       | NamespaceFinalizersRemaining=True |
      | ConfigMap/fleet-member-{east}/held  | example.com/protect  |
    When somebody's finalizer releases the hub's namespace of member "east"
    Then the hub's namespace of member "east" is back
    And placement "second" becomes available on "east"
    And placement "first" becomes available on "east"
    And the diagnosis finds nothing
