@kubefleet
Feature: A member comes after the update run
  No guide describes this (kubefleet#804). A placement with strategy External is rolled out by update runs only. A member that the
  placement selects after its last run has ended gets nothing, and nothing fails.

  @takes-120s @KF-UR-052
  Scenario Outline: <placement> selects one more member after its run has succeeded
    Given <placement> "web" with strategy External selects "member-1" and "member-2"
    And a staged update strategy "all" for placement "web"
      | stage   | members                      |
      | staging | member-1                     |
      | canary  | member-2, member-3           |
    And an update run "release" of placement "web" starts with strategy "all"
    And update run "release" succeeds
    And placement "web" becomes available on "member-1" and "member-2"
    When placement "web" selects "member-3" too
    Then placement "web" reports for 10 seconds
      | on       | condition      | status  | reason                    |
      |          | Scheduled      | True    | SchedulingPolicyFulfilled |
      |          | RolloutStarted | Unknown |                           |
      | member-1 | Available      | True    | AllWorkAreAvailable       |
      | member-3 | Scheduled      | True    | Scheduled                 |
      | member-3 | RolloutStarted | Unknown | RolloutStartedUnknown     |
    And update run "release" reports
      | condition | status | reason             |
      | Succeeded | True   | UpdateRunSucceeded |
    And the diagnosis of placement "web" is KF-UR-052 for "member-3"
      | object             | value                 |
      | ResourcePlacement/ | External              |
      | ResourcePlacement/ | RolloutStartedUnknown |
      | ResourceBinding/   | Scheduled             |
      | UpdateRun/         | UpdateRunSucceeded    |
    When an update run "again" of placement "web" starts with strategy "all"
    Then update run "again" succeeds
    And placement "web" becomes available on "member-1", "member-2" and "member-3"
    And the diagnosis finds nothing
    When the resources of placement "web" change
    And an update run "next" of placement "web" starts with strategy "all"
    Then update run "next" succeeds
    And the resources of placement "web" are on "member-1", "member-2" and "member-3"

    Examples:
      | placement                  |
      | a cluster-scoped placement |
      | a namespaced placement     |

  # The twin: a run that is still to come to the member rolls it out.
  @healthy
  Scenario Outline: <placement> selects one more member before its run starts
    Given <placement> "web" with strategy External selects "member-1" and "member-2"
    And a staged update strategy "all" for placement "web"
      | stage   | members                      |
      | staging | member-1                     |
      | canary  | member-2, member-3           |
    When placement "web" selects "member-3" too
    # A run that begins before the scheduler has chosen the member fails.
    Then placement "web" reports
      | on       | condition | status | reason    |
      | member-3 | Scheduled | True   | Scheduled |
    When an update run "release" of placement "web" starts with strategy "all"
    Then update run "release" succeeds
    And placement "web" becomes available on "member-1", "member-2" and "member-3"
    And the diagnosis finds nothing

    Examples:
      | placement                  |
      | a cluster-scoped placement |
      | a namespaced placement     |
