@kubefleet
Feature: Two staged update runs update the same cluster at the same time
  The guide "Staged Update Run TSG", section "Investigate ClusterStagedUpdateRun execution failure", second scenario: in
  the 15 seconds between two reconciles of a run, another run gives the binding another resource snapshot. The first run
  is preempted and fails.

  @KF-UR-003 @disruptive
  @guide:staged-update-run-2025/concurrent @guide:staged-update-run-2026/concurrent
  @guide:staged-update-run-2026/mirror/bindings
  @guide:azure-update-run-execution/concurrent @drift:azure-update-run-execution/concurrent-binding-spec
  Scenario Outline: A second run with another resource snapshot preempts the first, of <placement>
    Given a member "east" of its own
    And <placement> "web" with strategy External selects "east"
    And a staged update strategy "all" for placement "web"
      | stage   | members |
      | staging | east    |
    And a resource snapshot of placement "web" is taken
    And the resources of placement "web" change
    And a resource snapshot of placement "web" is taken
    # The first run mustn't be finished when the second run starts.
    When the agent of member "east" stops
    And an update run "old" of placement "web" starts with strategy "all" at snapshot index "0"
    Then update run "old" reports
      | on                  | condition   | status | reason                           |
      |                     | Initialized | True   | UpdateRunInitializedSuccessfully |
      | stage staging, east | Started     | True   | ClusterUpdatingStarted           |
    When an update run "new" of placement "web" starts with strategy "all" at snapshot index "1"
    Then the binding of placement "web" for "east" reports
      | condition      | status | reason         | message                                    |
      | RolloutStarted | True   | RolloutStarted | resourceSnapshotIndex: 1, updateRun: {new} |
    When the agent of member "east" is restarted
    Then update run "old" reports
      | on                  | condition   | status | reason                           | message                                                                               |
      |                     | Initialized | True   | UpdateRunInitializedSuccessfully | initialized successfully                                                              |
      |                     | Progressing | False  | UpdateRunFailed                  | The stages are aborted due to a non-recoverable error                                 |
      |                     | Succeeded   | False  | UpdateRunFailed                  | and see if there is a concurrent updateRun referencing the same                       |
      |                     | Succeeded   | False  | UpdateRunFailed                  | and updating the same cluster                                                         |
      |                     | Succeeded   | False  | UpdateRunFailed                  | the binding of the updating cluster `{east}` in the stage `staging` is not up-to-date |
      | stage staging       | Succeeded   | False  | StageUpdatingFailed              |                                                                                       |
      | stage staging, east | Succeeded   | False  | ClusterUpdatingFailed            |                                                                                       |
    And update run "old" failed 15 seconds or more after its update of "east" started
    And update run "old" has
      | field                                   | value             |
      | status.appliedStrategy.comparisonOption | PartialComparison |
      | status.appliedStrategy.type             | ClientSideApply   |
      | status.appliedStrategy.whenToApply      | Always            |
      | status.appliedStrategy.whenToTakeOver   | Always            |
    And "kubectl get <bindings>" shows the binding of placement "web" for "east"
      | NAME           | WORKSYNCHRONIZED | RESOURCESAPPLIED | AGE |
      | {web}-{east}-* | True             | True             | *   |
    And the binding of placement "web" for "east" has
      | field                                           | value                                                                                                                                 |
      | metadata.finalizers.0                           | kubernetes-fleet.io/scheduler-crb-cleanup                                                                                             |
      | metadata.finalizers.1                           | kubernetes-fleet.io/work-cleanup                                                                                                      |
      | spec.resourceSnapshotName                       | {web}-1-snapshot                                                                                                                      |
      | spec.schedulingPolicySnapshotName               | {web}-0                                                                                                                               |
      | spec.state                                      | Bound                                                                                                                                 |
      | spec.targetCluster                              | {east}                                                                                                                                |
      | spec.applyStrategy.comparisonOption             | PartialComparison                                                                                                                     |
      | spec.applyStrategy.type                         | ClientSideApply                                                                                                                       |
      | spec.applyStrategy.whenToApply                  | Always                                                                                                                                |
      | spec.applyStrategy.whenToTakeOver               | Always                                                                                                                                |
      | spec.clusterDecision.clusterName                | {east}                                                                                                                                |
      | spec.clusterDecision.selected                   | true                                                                                                                                  |
      | spec.clusterDecision.clusterScore.affinityScore | 0                                                                                                                                     |
      | spec.clusterDecision.clusterScore.priorityScore | 0                                                                                                                                     |
      | spec.clusterDecision.reason                     | Successfully scheduled resources for placement in "{east}" (affinity score: 0, topology spread score: 0): picked by scheduling policy |
    # The guide: in most cases the user is releasing a new version, and can just let the new run complete.
    And update run "new" succeeds
    And the diagnosis of update run "old" is KF-UR-003 for "east", superseded by update run "new"
      | object   | value            |
      | /{old}   | UpdateRunFailed  |
      | Binding/ | updateRun: {new} |
      | /{new}   |                  |
    And the resources of placement "web" are on "east"
    When update run "old" is deleted
    Then placement "web" becomes available on "east"
    And the diagnosis finds nothing
    When the resources of placement "web" change
    And an update run "next" of placement "web" starts with strategy "all"
    Then update run "next" succeeds
    And the resources of placement "web" are on "east"

    @drill
    Examples:
      | placement                  | bindings                |
      | a cluster-scoped placement | clusterresourcebindings |

    Examples:
      | placement              | bindings         |
      | a namespaced placement | resourcebindings |

  @drift:azure-update-run-api/progression/complete @drift:azure-namespaced-update-run-api/progression/complete
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

    @drill @healthy
    Examples:
      | placement                  |
      | a cluster-scoped placement |

    Examples:
      | placement              |
      | a namespaced placement |

  # The cluster has the resources that nobody wants until the new run replaces them.
  @needs-run-states @passes:KF-UR-003 @guide:azure-update-run-execution/concurrent-stop
  Scenario Outline: The run that preempted another isn't wanted, and is stopped: <placement>
    Given <placement> "web" with strategy External selects "member-1" and "member-2"
    And a staged update strategy "all" for placement "web"
      | stage   | members  |
      | staging | member-1 |
      | canary  | member-2 |
    And a resource snapshot of placement "web" is taken
    And the resources of placement "web" change
    And a resource snapshot of placement "web" is taken
    And an update run "old" of placement "web" starts with strategy "all" at snapshot index "0"
    And update run "old" reports
      | on                      | condition | status | reason                 |
      | stage staging, member-1 | Started   | True   | ClusterUpdatingStarted |
    And an update run "new" of placement "web" starts with strategy "all" at snapshot index "1"
    Then the binding of placement "web" for "member-1" reports
      | condition      | status | reason         | message                                    |
      | RolloutStarted | True   | RolloutStarted | resourceSnapshotIndex: 1, updateRun: {new} |
    When the state of update run "new" is set to "Stop"
    Then update run "new" reports
      | on                     | condition   | status | reason           |
      |                        | Progressing | False  | UpdateRunStopped |
      | stage canary, member-2 | Started     | absent |                  |
    And update run "old" reports
      | condition | status | reason          |
      | Succeeded | False  | UpdateRunFailed |
    When update run "old" is deleted
    And an update run "again" of placement "web" starts with strategy "all" at snapshot index "0"
    Then update run "again" succeeds
    And the binding of placement "web" for "member-1" reports
      | condition      | status | reason         | message                                      |
      | RolloutStarted | True   | RolloutStarted | resourceSnapshotIndex: 0, updateRun: {again} |
    When update run "new" is deleted
    Then the diagnosis finds nothing

    Examples:
      | placement                  |
      | a cluster-scoped placement |
      | a namespaced placement     |
