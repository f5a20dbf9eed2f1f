@kubefleet
Feature: Two staged update runs update the same cluster at the same time
  The guide "Staged Update Run TSG", section "Investigate ClusterStagedUpdateRun execution failure", second scenario: in
  the 15 seconds that a run waits before it looks again, another run gives the binding another resource snapshot. The
  first run is preempted and fails.

  @KF-UR-003
  @guide:staged-update-run-2025/concurrent @guide:staged-update-run-2026/concurrent
  @guide:staged-update-run-2026/mirror/bindings
  Scenario Outline: A second run with another resource snapshot preempts the first, of <placement>
    Given <placement> "web" with strategy External selects "member-1"
    And a staged update strategy "all" for placement "web"
      | stage   | members  |
      | staging | member-1 |
    And a resource snapshot of placement "web" is taken
    And the resources of placement "web" change
    And a resource snapshot of placement "web" is taken
    And an update run "old" of placement "web" starts with strategy "all" at snapshot index "0"
    And update run "old" reports
      | on                      | condition   | status | reason                           |
      |                         | Initialized | True   | UpdateRunInitializedSuccessfully |
      | stage staging, member-1 | Started     | True   | ClusterUpdatingStarted           |
    When an update run "new" of placement "web" starts with strategy "all" at snapshot index "1"
    Then update run "old" reports
      | on                      | condition   | status | reason                           | message                                                                       |
      |                         | Initialized | True   | UpdateRunInitializedSuccessfully | initialized successfully                                                      |
      |                         | Progressing | False  | UpdateRunFailed                  | The stages are aborted due to a non-recoverable error                         |
      |                         | Succeeded   | False  | UpdateRunFailed                  | and see if there is a concurrent updateRun referencing the same |
      |                         | Succeeded   | False  | UpdateRunFailed                  | and updating the same cluster                                                 |
      |                         | Succeeded   | False  | UpdateRunFailed                  | the binding of the updating cluster `member-1` in the stage `staging` is not up-to-date |
      | stage staging           | Succeeded   | False  | StageUpdatingFailed              |                                                                               |
      | stage staging, member-1 | Succeeded   | False  | ClusterUpdatingFailed            |                                                                               |
    And the binding of placement "web" for "member-1" reports
      | condition      | status | reason         | message                                     |
      | RolloutStarted | True   | RolloutStarted | resourceSnapshotIndex: 1, updateRun: {new}  |
    And update run "old" failed 15 seconds or more after its update of "member-1" started
    And update run "old" has
      | field                                   | value             |
      | status.appliedStrategy.comparisonOption | PartialComparison |
      | status.appliedStrategy.type             | ClientSideApply   |
      | status.appliedStrategy.whenToApply      | Always            |
      | status.appliedStrategy.whenToTakeOver   | Always            |
    And "kubectl get <bindings>" shows the binding of placement "web" for "member-1"
      | NAME                | WORKSYNCHRONIZED | RESOURCESAPPLIED | AGE |
      | {web}-{member-1}-*  | True             | True             | *   |
    And the binding of placement "web" for "member-1" has
      | field                              | value              |
      | spec.resourceSnapshotName          | {web}-1-snapshot   |
      | spec.schedulingPolicySnapshotName  | {web}-0            |
      | spec.state                         | Bound              |
      | spec.targetCluster                 | member-1           |
      | spec.applyStrategy.comparisonOption | PartialComparison |
      | spec.applyStrategy.type            | ClientSideApply    |
      | spec.applyStrategy.whenToApply     | Always             |
      | spec.applyStrategy.whenToTakeOver  | Always             |
      | spec.clusterDecision.clusterName   | member-1           |
      | spec.clusterDecision.selected      | true               |
      | spec.clusterDecision.clusterScore.affinityScore | 0     |
      | spec.clusterDecision.clusterScore.priorityScore | 0     |
      | spec.clusterDecision.reason        | Successfully scheduled resources for placement in "member-1" (affinity score: 0, topology spread score: 0): picked by scheduling policy |
    And the diagnosis of update run "old" is KF-UR-003 for "member-1"
      | object                       | value                |
      | /{old}                       | UpdateRunFailed      |
      | Binding/                     | updateRun: {new}     |
      | /{new}                       |                      |
    # The guide: in most cases the user is releasing a new version, and can just let the new run complete.
    And update run "new" succeeds
    And the resources of placement "web" are on "member-1"
    When update run "old" is deleted
    Then placement "web" becomes available on "member-1"
    And the diagnosis finds nothing
    When the resources of placement "web" change
    And an update run "next" of placement "web" starts with strategy "all"
    Then update run "next" succeeds
    And the resources of placement "web" are on "member-1"

    @drill
    Examples:
      | placement                  | bindings                |
      | a cluster-scoped placement | clusterresourcebindings |

    Examples:
      | placement                  | bindings                |
      | a namespaced placement     | resourcebindings        |

  Scenario Outline: A second run starts once the first has succeeded, of <placement>
    Given <placement> "web" with strategy External selects "member-1"
    And a staged update strategy "all" for placement "web"
      | stage   | members  |
      | staging | member-1 |
    And an update run "old" of placement "web" starts with strategy "all"
    And update run "old" succeeds
    When the resources of placement "web" change
    And an update run "new" of placement "web" starts with strategy "all"
    Then update run "new" succeeds
    And update run "old" reports
      | condition | status | reason             |
      | Succeeded | True   | UpdateRunSucceeded |
    And the resources of placement "web" are on "member-1"
    And the diagnosis finds nothing

    @drill
    Examples:
      | placement                  |
      | a cluster-scoped placement |

    Examples:
      | placement                  |
      | a namespaced placement     |
