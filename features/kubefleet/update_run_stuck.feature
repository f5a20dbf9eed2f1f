@kubefleet
Feature: A staged update run is stuck
  The guide "Staged Update Run TSG", section "Investigate ClusterStagedUpdateRun rollout stuck": a cluster isn't done five
  minutes after its update started. Fast-forwarded: the start is moved six minutes into the past.

  @KF-UR-006
  @guide:staged-update-run-2025/stuck @drift:staged-update-run-2025/stuck/applied-false
  @guide:staged-update-run-2026/stuck
  @guide:staged-update-run-2025/stuck-resolution @guide:staged-update-run-2026/stuck-resolution
  Scenario: A workload never becomes available
    Given a placement "web" with strategy External selects "member-1"
    And the resources of placement "web" include a Deployment with image "registry.invalid/app:1"
    And a staged update strategy "all" for placement "web"
      | stage   | members  |
      | staging | member-1 |
    When an update run "release" of placement "web" starts with strategy "all"
    And update run "release" is fast-forwarded past its stuck threshold on "member-1"
    Then update run "release" reports
      | on                      | condition   | status | reason                           | message                                                           |
      |                         | Initialized | True   | UpdateRunInitializedSuccessfully |                                                                   |
      |                         | Progressing | False  | UpdateRunStuck                   | stuck waiting for cluster(s) member-1 in stage staging to finish updating |
      | stage staging, member-1 | Started     | True   | ClusterUpdatingStarted           |                                                                   |
    And placement "web" reports
      | on       | condition        | status | reason                 | message                   |
      | member-1 | RolloutStarted   | True   | RolloutStarted         | updateRun: {release}      |
      | member-1 | WorkSynchronized | True   | AllWorkSynced          |                           |
      | member-1 | Applied          | True   | AllWorkHaveBeenApplied |                           |
      | member-1 | Available        | False  | NotAllWorkAreAvailable | is not yet available      |
    And the diagnosis of update run "release" is KF-UR-006 for "member-1"
    # The index is pinned: a corrected release needs a new run, and the stuck one can be deleted.
    When update run "release" is deleted
    And the Deployment in the resources of placement "web" is scaled to zero
    And an update run "next" of placement "web" starts with strategy "all"
    Then update run "next" succeeds
    And placement "web" becomes available on "member-1"
    And the diagnosis finds nothing

  @KF-UR-005
  Scenario: An old stuck run is left beside a newer one that has succeeded
    Given a placement "web" with strategy External selects "member-1"
    And the resources of placement "web" include a Deployment with image "registry.invalid/app:1"
    And a staged update strategy "all" for placement "web"
      | stage   | members  |
      | staging | member-1 |
    And an update run "old" of placement "web" starts with strategy "all"
    And update run "old" is fast-forwarded past its stuck threshold on "member-1"
    And update run "old" reports
      | condition   | status | reason         |
      | Progressing | False  | UpdateRunStuck |
    # Its looks become rarer and rarer: left alone for a while, it misses all of the newer run.
    And update run "old" goes on reporting for 85 seconds
      | condition   | status | reason         |
      | Progressing | False  | UpdateRunStuck |
    When the Deployment in the resources of placement "web" is scaled to zero
    And an update run "new" of placement "web" starts with strategy "all"
    Then update run "new" succeeds
    And the diagnosis of update run "old" is KF-UR-005
    When update run "old" is deleted
    Then the diagnosis finds nothing
