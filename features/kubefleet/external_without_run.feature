@kubefleet
Feature: A placement with strategy External and no update run
  The guide "Staged Update Run TSG", section "CRP status without Staged Update Run": nothing is rolled out, and that is
  no failure.

  @needs-external-reported @KF-RO-001
  @guide:staged-update-run-2025/external @drift:staged-update-run-2025/external/observed-index
  @guide:staged-update-run-2026/external
  Scenario Outline: Nobody has started a run of <placement>
    Given <placement> "web" with strategy External selects "member-1" and "member-2"
    Then placement "web" reports
      | on       | condition      | status  | reason                                | message                                                                                       |
      |          | Scheduled      | True    | SchedulingPolicyFulfilled             | found all cluster needed as specified by the scheduling policy, found 2 cluster(s)              |
      |          | RolloutStarted | Unknown | RolloutControlledByExternalController | Rollout is controlled by an external controller and no resource snapshot name is observed across clusters<tail> |
      | member-1 | Scheduled      | True    | Scheduled                             | Successfully scheduled resources for placement in "member-1"                                  |
      | member-1 | RolloutStarted | Unknown | RolloutStartedUnknown                 | In the process of deciding whether to roll out some version of the resources or not           |
      | member-2 | Scheduled      | True    | Scheduled                             |                                                                                               |
      | member-2 | RolloutStarted | Unknown | RolloutStartedUnknown                 |                                                                                               |
    And placement "web" reports for 5 seconds
      | on       | condition      | status  | reason                                |
      |          | RolloutStarted | Unknown | RolloutControlledByExternalController |
      |          | Applied        | absent  |                                       |
      | member-1 | RolloutStarted | Unknown | RolloutStartedUnknown                 |
      | member-1 | Applied        | absent  |                                       |
      | member-2 | Applied        | absent  |                                       |
    And placement "web" has
      | field                        | value  |
      | status.observedResourceIndex | absent |
    And the diagnosis of placement "web" is KF-RO-001
    Given a staged update strategy "all" for placement "web"
      | stage   | members            |
      | staging | member-1, member-2 |
    When an update run "release" of placement "web" starts with strategy "all"
    Then update run "release" succeeds
    And placement "web" becomes available on "member-1" and "member-2"
    And the diagnosis finds nothing

    @without-external-names-runs
    Examples:
      | placement                  | tail                                       |
      | a cluster-scoped placement | , probably rollout has not started yet     |
      | a namespaced placement     | , probably rollout has not started yet     |

    @needs-external-names-runs
    Examples:
      | placement                  | tail                                                                                                                     |
      | a cluster-scoped placement | . To determine rollout status, check the ClusterStagedUpdateRun resources with spec.placementName matching this placement |
      | a namespaced placement     | . To determine rollout status, check the StagedUpdateRun resources with spec.placementName matching this placement        |

  # The guide's first edition describes this: the status is the same as for a rollout that is about to begin.
  @without-external-reported @KF-RO-001
  @guide:staged-update-run-2025/external @guide:staged-update-run-2026/external
  Scenario: Nobody has started a run of a placement, which says no more than that it isn't decided
    Given a cluster-scoped placement "web" with strategy External selects "member-1" and "member-2"
    Then placement "web" reports
      | on       | condition      | status  | reason                    | message                                                                                          |
      |          | Scheduled      | True    | SchedulingPolicyFulfilled | found all cluster needed as specified by the scheduling policy, found 2 cluster(s)                 |
      |          | RolloutStarted | Unknown | RolloutStartedUnknown     | There are still 2 cluster(s) in the process of deciding whether to roll out the latest resources or not |
      | member-1 | Scheduled      | True    | Scheduled                 | Successfully scheduled resources for placement in "member-1"                                     |
      | member-1 | RolloutStarted | Unknown | RolloutStartedUnknown     | In the process of deciding whether to roll out the latest resources or not                       |
      | member-2 | RolloutStarted | Unknown | RolloutStartedUnknown     |                                                                                                  |
    And placement "web" reports for 5 seconds
      | on       | condition      | status  | reason                |
      |          | RolloutStarted | Unknown | RolloutStartedUnknown |
      |          | Applied        | absent  |                       |
      | member-1 | Applied        | absent  |                       |
      | member-2 | Applied        | absent  |                       |
    And placement "web" has
      | field                        | value |
      | status.observedResourceIndex | 0     |
    And the diagnosis of placement "web" is KF-RO-001
    Given a staged update strategy "all" for placement "web"
      | stage   | members            |
      | staging | member-1, member-2 |
    When an update run "release" of placement "web" starts with strategy "all"
    Then update run "release" succeeds
    And placement "web" becomes available on "member-1" and "member-2"
    And the diagnosis finds nothing
