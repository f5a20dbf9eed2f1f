@kubefleet @takes-120s
Feature: A finalizer holds what is being deleted
  No guide describes this. An object that a placement has put on a member has a finalizer, and the member isn't selected
  any more. The Work on the hub can't go before the object. The placement says nothing about a member that it doesn't
  select (v0.1.2). Or the finalizer is on an object of the hub: on the placement itself, or on one of its bindings.

  @KF-DL-001 @KF-WS-009 @needs-awaited-deletion
  Scenario: The member isn't selected any more, then again
    Given a placement "web" has put its resources on "member-1" and "member-2"
    And somebody's finalizer holds the ConfigMap of placement "web" on "member-1"
    When placement "web" selects "member-2" instead
    Then placement "web" becomes available on "member-2"
    And within 90 seconds the diagnosis of the Work of placement "web" for "member-1" is KF-DL-001
      | object                                 | value                |
      | Work/fleet-member-{member-1}/{web}-work | work-cleanup        |
      | Namespace/{web}-app                    |                      |
      | ConfigMap/{web}-app/settings           | example.com/protect  |
    When placement "web" selects "member-1" and "member-2" instead
    Then placement "web" reports
      | on       | condition        | status | reason         | message                 |
      | member-1 | WorkSynchronized | False  | SyncWorkFailed | object is being deleted |
    And the diagnosis of placement "web" is KF-WS-009 for "member-1", because of KF-DL-001
    When somebody's finalizer releases the ConfigMap of placement "web" on "member-1"
    Then placement "web" becomes available on "member-1" and "member-2"
    And the diagnosis finds nothing
    And a change to the resources of placement "web" arrives on "member-1" and "member-2"

  @KF-DL-001 @needs-awaited-deletion
  Scenario Outline: The placement is deleted, <placement>
    Given <placement> "web" has put its resources on "member-1" and "member-2"
    And somebody's finalizer holds the ConfigMap of placement "web" on "member-1"
    When placement "web" is deleted
    Then the resources of placement "web" are gone from "member-2"
    And within 90 seconds the diagnosis of the Work of placement "web" for "member-1" is KF-DL-001
      | object                       | value               |
      | ConfigMap/{web}-app/settings | example.com/protect |
    When somebody's finalizer releases the ConfigMap of placement "web" on "member-1"
    Then no binding and no Work of placement "web" is left
    And the diagnosis finds nothing

    Examples:
      | placement                  |
      | a cluster-scoped placement |
      | a namespaced placement     |

  # The run succeeds although its deletion stage leaves the objects where they are.
  @KF-DL-001 @needs-awaited-deletion
  Scenario: A run's deletion stage takes the member out
    Given a placement "web" with strategy External selects "member-1" and "member-2"
    And a staged update strategy "all" for placement "web"
      | stage | members            |
      | one   | member-1, member-2 |
    And an update run "release" of placement "web" starts with strategy "all"
    And update run "release" succeeds
    And somebody's finalizer holds the ConfigMap of placement "web" on "member-1"
    When placement "web" selects "member-2" instead
    Then placement "web" reports
      | condition | status | reason                    | message            |
      | Scheduled | True   | SchedulingPolicyFulfilled | found 1 cluster(s) |
    When an update run "smaller" of placement "web" starts with strategy "all"
    Then update run "smaller" succeeds
    And within 90 seconds the diagnosis of the Work of placement "web" for "member-1" is KF-DL-001
      | object                       | value               |
      | ConfigMap/{web}-app/settings | example.com/protect |
    When somebody's finalizer releases the ConfigMap of placement "web" on "member-1"
    Then the resources of placement "web" are gone from "member-1"
    And placement "web" becomes available on "member-2"
    When placement "web" is deleted
    And update run "release" is deleted
    And update run "smaller" is deleted
    Then no binding and no Work of placement "web" is left
    And the diagnosis finds nothing

  # Works are released by hand, as advice for namespaces that don't go says, or by the agent of v0.14.0, which doesn't wait for the end of
  # the deletion. Then nothing on the hub tells of what is left.
  @KF-DL-005 @disruptive @needs-awaited-deletion
  Scenario: The Work is released before the member has deleted what it had placed
    Given a member "east" of its own
    And a placement "web" has put its resources on "east"
    And somebody's finalizer holds the ConfigMap of placement "web" on "east"
    When placement "web" is deleted
    Then object "AppliedWork/{web}-work" of "east" has
      | field                      | value |
      | metadata.deletionTimestamp | *     |
    When the Works that hold the hub's namespace of member "east" are released
    Then no binding and no Work of placement "web" is left
    And within 90 seconds the diagnosis of object "AppliedWork/{web}-work" of "east" is KF-DL-005
      | object                              | value               |
      | AppliedWork/{web}-work              | foregroundDeletion  |
      | Work/fleet-member-{east}/{web}-work | (no such object)    |
      | ConfigMap/{web}-app/settings        | example.com/protect |
    When somebody's finalizer releases the ConfigMap of placement "web" on "east"
    Then the resources of placement "web" are gone from "east"
    And the diagnosis finds nothing

  @KF-DL-002
  Scenario Outline: Somebody's finalizer holds <placement> that is deleted
    Given <placement> "web" has put its resources on "member-1"
    And somebody's finalizer holds placement "web"
    When placement "web" is deleted
    # A deletion that began some seconds ago is on its way.
    Then the diagnosis finds nothing
    And within 90 seconds the diagnosis of placement "web" is KF-DL-002
      | object             | value               |
      | ResourcePlacement/ |                     |
      | ResourcePlacement/ | example.com/protect |
    When somebody's finalizer releases placement "web"
    Then no binding and no Work of placement "web" is left
    And the diagnosis finds nothing

    Examples:
      | placement                  |
      | a cluster-scoped placement |
      | a namespaced placement     |

  @KF-DL-002 @KF-DL-003
  Scenario Outline: Somebody's finalizer holds a binding that a run of <placement> deletes
    Given <placement> "web" with strategy External selects "member-1" and "member-2"
    And a staged update strategy "all" for placement "web"
      | stage | members            |
      | one   | member-1, member-2 |
    And an update run "release" of placement "web" starts with strategy "all"
    And update run "release" succeeds
    And somebody's finalizer holds the binding of placement "web" for "member-1"
    When placement "web" selects "member-2" instead
    Then placement "web" reports
      | condition | status | reason                    | message            |
      | Scheduled | True   | SchedulingPolicyFulfilled | found 1 cluster(s) |
    When an update run "smaller" of placement "web" starts with strategy "all"
    # The member has lost what the placement had put there. Only the binding is left.
    Then the resources of placement "web" are gone from "member-1"
    And within 120 seconds the diagnosis of update run "smaller" is KF-DL-003 for "member-1", because of KF-DL-002
      | object           | value               |
      | StagedUpdateRun/ | True                |
      | ResourceBinding/ | 20                  |
      | ResourceBinding/ | example.com/protect |
    When somebody's finalizer releases the binding of placement "web" for "member-1"
    Then update run "smaller" succeeds
    And placement "web" becomes available on "member-2"
    And the diagnosis finds nothing

    Examples:
      | placement                  |
      | a cluster-scoped placement |
      | a namespaced placement     |

  # The twin: without a finalizer, everything is gone within seconds.
  Scenario: Nothing holds the objects
    Given a placement "web" has put its resources on "member-1" and "member-2"
    When placement "web" selects "member-2" instead
    Then the diagnosis finds nothing while placement "web" becomes available on "member-2"
    And the resources of placement "web" are gone from "member-1"
    And the diagnosis finds nothing
    When placement "web" is deleted
    Then no binding and no Work of placement "web" is left
    And the diagnosis finds nothing

  # A script for objects that don't go away has met a hub-agent that was down. The hub-agent deletes a placement's Works before it lets the
  # placement and its bindings go; now nobody does.
  @KF-DL-006 @disruptive
  Scenario: Somebody takes the finalizers off a placement and its binding while the hub-agent is down
    Given a fleet of its own with 1 member
    And a placement "web" has put its resources on "member-1"
    And a placement "other" has put its resources on "member-1"
    When the hub-agent stops
    And somebody's finalizer holds the binding of placement "web" for "member-1"
    And the binding of placement "web" for "member-1" is deleted
    And somebody takes all finalizers off the binding of placement "web" for "member-1"
    And somebody's finalizer holds placement "web"
    And placement "web" is deleted
    And somebody takes all finalizers off placement "web"
    And the hub-agent is restarted
    Then within 120 seconds the diagnosis of object "Work/fleet-member-{member-1}/{web}-work" of the hub is KF-DL-006
      | object                                 | value            |
      | Work/fleet-member-{member-1}/{web}-work |                  |
      | ClusterResourcePlacement/{web}         | (no such object) |
      | ClusterResourceBinding/                | (no such object) |
    And the resources of placement "web" are on "member-1"
    And a change to the resources of placement "other" arrives on "member-1"
    When object "Work/fleet-member-{member-1}/{web}-work" of the hub is deleted
    Then the resources of placement "web" are gone from "member-1"
    And the diagnosis finds nothing
