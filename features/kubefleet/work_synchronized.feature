@kubefleet
Feature: WorkSynchronized is False
  The guide "Work Synchronization Failure TSG": a placement was updated, but its Work can't be brought to the latest on a
  selected cluster, because the member's namespace on the hub is terminating.

  Background:
    Given a member "east" of its own
    And a placement "first" has put its resources on "east"

  @drill @disruptive @KF-WS-001
  @guide:work-synchronized/condition @guide:work-synchronized/logs
  @guide:work-synchronized/terminating-namespace @guide:work-synchronized/terminating-namespace-cause
  @guide:azure-work-synchronized/sample @guide:azure-work-synchronized/symptoms @guide:azure-work-synchronized/logs
  @guide:azure-work-synchronized/terminating-namespace @guide:azure-work-synchronized/terminating-namespace-cause
  @drift:azure-work-synchronized/resolution/regenerated-without-rejoining
  Scenario: The member's namespace is being deleted, and what holds it is released
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
    When the Works that hold the hub's namespace of member "east" are released
    Then the hub's namespace of member "east" is back
    And placement "second" becomes available on "east"
    And placement "first" becomes available on "east"
    And the diagnosis finds nothing
    And a change to the resources of placement "second" arrives on "east"
    And a change to the resources of placement "first" arrives on "east"

  @drill @disruptive @KF-WS-001
  @guide:work-synchronized/resolution/other-cluster @guide:azure-work-synchronized/resolution/other-cluster
  Scenario: The member's namespace is being deleted, and another cluster is selected
    When the hub's namespace of member "east" is deleted while it holds a Work
    And a placement "second" selects "east"
    Then placement "second" reports
      | on   | condition        | status | reason                 |
      |      | WorkSynchronized | False  | WorkNotSynchronizedYet |
      | east | WorkSynchronized | False  | SyncWorkFailed         |
    And the diagnosis of placement "second" is KF-WS-001 for "east"
    When placement "second" selects "member-1" and "member-2" instead
    Then placement "second" becomes available on "member-1" and "member-2"
    And a change to the resources of placement "second" arrives on "member-1" and "member-2"

  @drill @disruptive @KF-WS-001
  @drift:work-synchronized/resolution/rejoin @drift:azure-work-synchronized/resolution/rejoin
  Scenario: The member's namespace is being deleted, and the member leaves and joins again
    When the hub's namespace of member "east" is deleted while it holds a Work
    And a placement "second" selects "east"
    Then placement "second" reports
      | on   | condition        | status | reason         |
      | east | WorkSynchronized | False  | SyncWorkFailed |
    And the diagnosis of placement "second" is KF-WS-001 for "east"
    When member "east" is asked to leave
    # The guide says "rejoin", which deadlocks while the namespace is terminating: the Works must be released too.
    Then member "east" is still leaving after 10 seconds
    When the Works that hold the hub's namespace of member "east" are released
    Then member "east" has left
    When member "east" joins again
    Then placement "second" becomes available on "east"
    And placement "first" becomes available on "east"
    And the diagnosis finds nothing
    And a change to the resources of placement "second" arrives on "east"
    And a change to the resources of placement "first" arrives on "east"

  @drill @disruptive
  Scenario: The member's namespace is left alone
    When a placement "second" selects "east"
    Then placement "second" becomes available on "east"
    And placement "first" becomes available on "east"
    And the diagnosis finds nothing
    And a change to the resources of placement "second" arrives on "east"
    And the diagnosis finds nothing
