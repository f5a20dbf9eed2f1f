@kubefleet @takes-120s
Feature: A finalizer on a member holds what is being deleted
  No guide describes this. An object that a placement has put on a member has a finalizer, and the member isn't selected
  any more. The Work on the hub can't go before the object. The placement says nothing about a member that it doesn't
  select (v0.1.2).

  @KF-DL-001 @KF-WS-009
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

  @KF-DL-001
  Scenario: The placement is deleted
    Given a placement "web" has put its resources on "member-1" and "member-2"
    And somebody's finalizer holds the ConfigMap of placement "web" on "member-1"
    When placement "web" is deleted
    Then the resources of placement "web" are gone from "member-2"
    And within 90 seconds the diagnosis of the Work of placement "web" for "member-1" is KF-DL-001
      | object                       | value               |
      | ConfigMap/{web}-app/settings | example.com/protect |
    When somebody's finalizer releases the ConfigMap of placement "web" on "member-1"
    Then no binding and no Work of placement "web" is left
    And the diagnosis finds nothing

  # The run succeeds although its deletion stage leaves the objects where they are.
  @KF-DL-001
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
