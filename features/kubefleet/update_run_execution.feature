@kubefleet @takes-90s
Feature: A staged update run fails while it executes
  The guide "Staged Update Run TSG", section "Investigate ClusterStagedUpdateRun execution failure", first scenario: at
  each reconcile the run validates its placement and plan again, and fails with the validation's error. A run that waits
  for an approval is reconciled once a minute.

  @KF-UR-002
  @guide:staged-update-run-2025/placement-deleted @guide:staged-update-run-2026/placement-deleted
  @guide:staged-update-run-2025/execution-failure @guide:staged-update-run-2026/execution-failure
  @guide:azure-update-run-execution/investigate @guide:azure-update-run-execution/placement-not-found
  @guide:azure-update-run-execution/validation/each-reconciliation
  Scenario Outline: The placement is deleted while its run executes: <placement>
    Given <placement> "web" with strategy External selects "member-1"
    And a staged update strategy "asks" for placement "web"
      | stage   | members  | after    |
      | staging | member-1 | Approval |
    And a resource snapshot of placement "web" is taken
    And an update run "release" of placement "web" starts with strategy "asks" at snapshot index "0"
    And update run "release" reports
      | on            | condition   | status | reason               |
      |               | Progressing | False  | UpdateRunWaiting     |
      | stage staging | Progressing | False  | StageUpdatingWaiting |
    When placement "web" is deleted
    Then update run "release" reports
      | condition   | status | reason                           | message                                               |
      | Initialized | True   | UpdateRunInitializedSuccessfully |                                                       |
      | Progressing | False  | UpdateRunFailed                  | The stages are aborted due to a non-recoverable error |
      | Succeeded   | False  | UpdateRunFailed                  | parent placement not found                            |
    And "kubectl get <short>" shows update run "release"
      | NAME      | PLACEMENT | RESOURCE-SNAPSHOT-INDEX | POLICY-SNAPSHOT-INDEX | INITIALIZED | PROGRESSING | SUCCEEDED | AGE |
      | {release} | {web}     | 0                       | 0                     | True        | False       | False     | *   |
    And update run "release" has
      | field                                   | value                                         |
      | metadata.finalizers.0                   | kubernetes-fleet.io/stagedupdaterun-finalizer |
      | status.policySnapshotIndexUsed          | 0                                             |
      | status.policyObservedClusterCount       | 1                                             |
      | status.resourceSnapshotIndexUsed        | <index used>                                  |
      | status.deletionStageStatus.stageName    | kubernetes-fleet.io/deleteStage               |
      | status.deletionStageStatus.clusters.0   | absent                                        |
      | status.appliedStrategy.comparisonOption | PartialComparison                             |
      | status.appliedStrategy.type             | ClientSideApply                               |
      | status.appliedStrategy.whenToApply      | Always                                        |
      | status.appliedStrategy.whenToTakeOver   | Always                                        |
    And the diagnosis of update run "release" is KF-UR-002
    When the administrator of the hub applies
      """
      apiVersion: placement.kubernetes-fleet.io/v1beta1
      kind: <kind>
      metadata: <metadata>
      spec:
        resourceSelectors: [<selector>]
        policy: {placementType: PickFixed, clusterNames: [member-1]}
        strategy: {type: External}
      """
    And update run "release" is deleted
    # A run that starts before the scheduler has run fails to begin.
    Then placement "web" reports
      | condition | status | reason                    |
      | Scheduled | True   | SchedulingPolicyFulfilled |
    When a resource snapshot of placement "web" is taken
    And an update run "again" of placement "web" starts with strategy "asks" at snapshot index "0"
    And the approval request of update run "again" after stage "staging" is approved
    Then update run "again" succeeds
    And placement "web" becomes available on "member-1"
    And the diagnosis finds nothing

    @needs-run-columns
    @drift:staged-update-run-2025/execution-failure/columns @drift:staged-update-run-2026/execution-failure/columns
    @drift:azure-update-run-execution/investigate/finalizer/cluster
    Examples:
      | placement                  | short | index used | kind                     | metadata                              | selector                                                     |
      | a cluster-scoped placement | csur  | 0          | ClusterResourcePlacement | {name: "{web}"}                       | {group: "", version: v1, kind: Namespace, name: "{web}-app"} |
      | a namespaced placement     | sur   | 0          | ResourcePlacement        | {name: "{web}", namespace: "{web}-app"} | {group: "", version: v1, kind: ConfigMap, name: settings}    |

    @without-run-columns @drift:azure-update-run-execution/investigate/finalizer/cluster
    Examples:
      | placement                  | short | index used | kind                     | metadata                              | selector                                                     |
      | a cluster-scoped placement | csur  | absent     | ClusterResourcePlacement | {name: "{web}"}                       | {group: "", version: v1, kind: Namespace, name: "{web}-app"} |

  # Microsoft's page shows a run that waits before its stage.
  @healthy @guide:azure-update-run-execution/before-stage @guide:azure-update-run-execution/concurrent-untouched @guide:azure-update-run-api/progression/tasks @guide:azure-namespaced-update-run-api/progression/tasks
  Scenario Outline: A run of <placement> waits before its stage, and after it
    Given <placement> "web" with strategy External selects "member-1", "member-2" and "member-3"
    And a staged update strategy "asks" for placement "web"
      | stage   | members                      | before   | after    |
      | staging | member-1, member-2, member-3 | Approval | Approval |
    When an update run "release" of placement "web" starts with strategy "asks"
    Then update run "release" reports
      | on                      | condition   | status | reason               | message                                                               |
      |                         | Progressing | False  | UpdateRunWaiting     | waiting for before-stage tasks in stage staging to complete           |
      | stage staging           | Progressing | False  | StageUpdatingWaiting | Not all before-stage tasks are completed, waiting for approval        |
      | stage staging, member-1 | Started     | absent |                      |                                                                       |
    And update run "release" has
      | field                                                             | value                          |
      | status.stagesStatus.0.beforeStageTaskStatus.0.type                | Approval                       |
      | status.stagesStatus.0.beforeStageTaskStatus.0.approvalRequestName | {release}-before-staging       |
      | status.stagesStatus.0.beforeStageTaskStatus.0.conditions.0.type   | ApprovalRequestCreated         |
      | status.stagesStatus.0.beforeStageTaskStatus.0.conditions.0.status | True                           |
      | status.stagesStatus.0.beforeStageTaskStatus.0.conditions.0.reason | StageTaskApprovalRequestCreated |
      | status.stagesStatus.0.beforeStageTaskStatus.0.conditions.0.message | ApprovalRequest object is created |
      | status.stagesStatus.0.afterStageTaskStatus.0.type                 | Approval                       |
      | status.stagesStatus.0.afterStageTaskStatus.0.approvalRequestName  | {release}-after-staging        |
      | status.stagesStatus.0.afterStageTaskStatus.0.conditions           | absent                         |
      | status.stagesStatus.0.clusters.0.clusterName                      | member-1                       |
      | status.stagesStatus.0.clusters.0.conditions                       | absent                         |
      | status.stagesStatus.0.clusters.2.clusterName                      | member-3                       |
      | status.stagesStatus.0.clusters.2.conditions                       | absent                         |
    And "kubectl get <bindings>" shows the binding of placement "web" for "member-1"
      | NAME             | WORKSYNCHRONIZED | RESOURCESAPPLIED | AGE |
      | {web}-member-1-* |                  |                  | *   |
    When the approval request of update run "release" before stage "staging" is approved
    Then update run "release" reports
      | on                      | condition   | status | reason                   | message                                                    |
      |                         | Progressing | False  | UpdateRunWaiting         | waiting for after-stage tasks in stage staging to complete |
      | stage staging, member-3 | Succeeded   | True   | ClusterUpdatingSucceeded |                                                            |
    When the approval request of update run "release" after stage "staging" is approved
    Then update run "release" succeeds
    And placement "web" becomes available on "member-1", "member-2" and "member-3"
    And the diagnosis finds nothing

    Examples:
      | placement                  | bindings                |
      | a cluster-scoped placement | clusterresourcebindings |
      | a namespaced placement     | resourcebindings        |

  # The run has copied the strategy into its status when it was initialized.
  @healthy
  Scenario Outline: The strategy of a run of <placement> <change> while it waits, and the run goes on
    Given <placement> "web" with strategy External selects "member-1" and "member-2"
    And a staged update strategy "asks" for placement "web"
      | stage   | members  | after    |
      | staging | member-1 | Approval |
      | canary  | member-2 |          |
    And an update run "release" of placement "web" starts with strategy "asks"
    And the approval request of update run "release" after stage "staging" is there, without an answer
    When object "<strategy>{asks}" of the hub <changes>
    # An approval makes the hub-agent reconcile the run, which validates it first.
    And the approval request of update run "release" after stage "staging" is approved
    Then update run "release" succeeds
    And placement "web" becomes available on "member-1" and "member-2"
    And the diagnosis finds nothing

    @drift:azure-update-run-execution/strategy-not-found
    Examples:
      | placement                  | strategy                        | change     | changes    |
      | a cluster-scoped placement | ClusterStagedUpdateStrategy/    | is deleted | is deleted |
      | a namespaced placement     | StagedUpdateStrategy/{web}-app/ | is deleted | is deleted |

    @drift:azure-update-run-execution/invalid-tasks
    Examples:
      | placement                  | strategy                        | change             | changes |
      | a cluster-scoped placement | ClusterStagedUpdateStrategy/    | gets invalid tasks | gets '{"stages": [{"name": "staging", "labelSelector": {}, "afterStageTasks": [{"type": "Approval"}, {"type": "Approval"}]}]}' |
      | a namespaced placement     | StagedUpdateStrategy/{web}-app/ | gets invalid tasks | gets '{"stages": [{"name": "staging", "labelSelector": {}, "afterStageTasks": [{"type": "Approval"}, {"type": "Approval"}]}]}' |

  # The values that the run copied at its start mustn't change: the policy, the apply strategy, the number of clusters.
  # A new run copies the current values.
  @guide:staged-update-run-2025/abortion/new-run @guide:staged-update-run-2026/abortion/new-run
  @guide:azure-update-run-execution/validation/new-run @guide:azure-update-run-execution/validation/each-reconciliation
  Scenario Outline: <change> while a run executes, <placement>
    Given <placement> "web" with strategy External selects "member-1" and "member-2"
    And a staged update strategy "asks" for placement "web"
      | stage   | members  | after    |
      | staging | member-1 | Approval |
      | canary  | member-2 |          |
    And an update run "release" of placement "web" starts with strategy "asks"
    And update run "release" reports
      | on            | condition   | status | reason               |
      |               | Progressing | False  | UpdateRunWaiting     |
      | stage staging | Progressing | False  | StageUpdatingWaiting |
    When <change>
    Then update run "release" reports
      | condition   | status | reason                           | message                                               |
      | Initialized | True   | UpdateRunInitializedSuccessfully |                                                       |
      | Progressing | False  | UpdateRunFailed                  | The stages are aborted due to a non-recoverable error |
      | Succeeded   | False  | UpdateRunFailed                  | cannot continue the updateRun:                        |
      | Succeeded   | False  | UpdateRunFailed                  | <message>                                             |
    And the diagnosis of update run "release" is <code>
    When update run "release" is deleted
    And an update run "again" of placement "web" starts with strategy "asks"
    And the approval request of update run "again" after stage "staging" is approved
    Then update run "again" succeeds
    And placement "web" becomes available on "member-1" and "member-2"
    And the diagnosis finds nothing

    @KF-UR-030
    Examples:
      | placement                  | change | code | message |
      | a cluster-scoped placement | the policy of placement "web" changes | KF-UR-030 | the policy snapshot index used in the updateRun is outdated, latest: 1, recorded: 0 |
      | a namespaced placement     | the policy of placement "web" changes | KF-UR-030 | the policy snapshot index used in the updateRun is outdated, latest: 1, recorded: 0 |
    @KF-UR-031
    Examples:
      | placement                  | change | code | message |
      | a cluster-scoped placement | the apply strategy of placement "web" changes | KF-UR-031 | the applyStrategy in the updateRun is outdated |
      | a namespaced placement     | the apply strategy of placement "web" changes | KF-UR-031 | the applyStrategy in the updateRun is outdated |

  @needs-strategy-changes @without-lasting-external @KF-UR-034
  @guide:staged-update-run-2025/validation-strategy @guide:staged-update-run-2026/validation-strategy
  @drift:azure-update-run-initialization/not-external/from-external
  Scenario Outline: The placement gets strategy RollingUpdate while a run executes, <placement>
    Given <placement> "web" with strategy External selects "member-1" and "member-2"
    And a staged update strategy "asks" for placement "web"
      | stage   | members  | after    |
      | staging | member-1 | Approval |
      | canary  | member-2 |          |
    And an update run "release" of placement "web" starts with strategy "asks"
    And update run "release" reports
      | on            | condition   | status | reason               |
      |               | Progressing | False  | UpdateRunWaiting     |
      | stage staging | Progressing | False  | StageUpdatingWaiting |
    When placement "web" gets strategy RollingUpdate
    Then update run "release" reports
      | condition   | status | reason                           | message                                               |
      | Initialized | True   | UpdateRunInitializedSuccessfully |                                                       |
      | Progressing | False  | UpdateRunFailed                  | The stages are aborted due to a non-recoverable error |
      | Succeeded   | False  | UpdateRunFailed                  | cannot continue the updateRun:                        |
      | Succeeded   | False  | UpdateRunFailed                  | parent placement does not have an external rollout strategy, current strategy: RollingUpdate                                             |
    And the diagnosis of update run "release" is KF-UR-034
    When update run "release" is deleted
    Then placement "web" becomes available on "member-1" and "member-2"
    When placement "web" gets strategy External
    And an update run "again" of placement "web" starts with strategy "asks"
    And the approval request of update run "again" after stage "staging" is approved
    Then update run "again" succeeds
    And placement "web" becomes available on "member-1" and "member-2"
    And the diagnosis finds nothing

    Examples:
      | placement                  |
      | a cluster-scoped placement |
      | a namespaced placement     |

  # v0.14.0: the placement has strategy RollingUpdate now, but rolls out only at its next change.
  @without-strategy-changes @without-lasting-external @KF-UR-034 @passes:KF-XX-001
  @guide:staged-update-run-2025/validation-strategy @guide:staged-update-run-2026/validation-strategy
  @drift:azure-update-run-initialization/not-external/from-external
  Scenario: The placement gets strategy RollingUpdate while a run executes, which rolls out nothing
    Given a cluster-scoped placement "web" with strategy External selects "member-1" and "member-2"
    And a staged update strategy "asks" for placement "web"
      | stage   | members  | after    |
      | staging | member-1 | Approval |
      | canary  | member-2 |          |
    And an update run "release" of placement "web" starts with strategy "asks"
    And update run "release" reports
      | on            | condition   | status | reason               |
      |               | Progressing | False  | UpdateRunWaiting     |
      | stage staging | Progressing | False  | StageUpdatingWaiting |
    When placement "web" gets strategy RollingUpdate
    Then update run "release" reports
      | condition   | status | reason                           | message                                               |
      | Initialized | True   | UpdateRunInitializedSuccessfully |                                                       |
      | Progressing | False  | UpdateRunFailed                  | The stages are aborted due to a non-recoverable error |
      | Succeeded   | False  | UpdateRunFailed                  | parent placement does not have an external rollout strategy, current strategy: RollingUpdate |
    And the diagnosis of update run "release" is KF-UR-034
    And placement "web" reports for 15 seconds
      | on       | condition      | status  | reason                |
      | member-1 | Available      | True    | AllWorkAreAvailable   |
      | member-2 | RolloutStarted | Unknown | RolloutStartedUnknown |
    When update run "release" is deleted
    And the resources of placement "web" change
    Then placement "web" becomes available on "member-1" and "member-2"
    When placement "web" gets strategy External
    And an update run "again" of placement "web" starts with strategy "asks"
    And the approval request of update run "again" after stage "staging" is approved
    Then update run "again" succeeds
    And placement "web" becomes available on "member-1" and "member-2"
    And the diagnosis finds nothing

  @KF-UR-032 @takes-170s
  Scenario Outline: The placement asks for another number of members while a run executes, <placement>
    Given <placement> "web" with strategy External selects 2 of "member-1", "member-2" and "member-3"
    And a staged update strategy "asks" for placement "web"
      | stage   | members                      | after    |
      | staging | member-1, member-2, member-3 | Approval |
    And an update run "release" of placement "web" starts with strategy "asks"
    And update run "release" reports
      | on            | condition   | status | reason               |
      |               | Progressing | False  | UpdateRunWaiting     |
      | stage staging | Progressing | False  | StageUpdatingWaiting |
    When placement "web" asks for 3 members
    Then update run "release" reports
      | condition   | status | reason                           | message                                               |
      | Initialized | True   | UpdateRunInitializedSuccessfully |                                                       |
      | Progressing | False  | UpdateRunFailed                  | The stages are aborted due to a non-recoverable error |
      | Succeeded   | False  | UpdateRunFailed                  | cannot continue the updateRun:                        |
      | Succeeded   | False  | UpdateRunFailed                  | the cluster count initialized in the updateRun is outdated, latest: 3, recorded: 2                                             |
    And the diagnosis of update run "release" is KF-UR-032
    When update run "release" is deleted
    And an update run "again" of placement "web" starts with strategy "asks"
    And the approval request of update run "again" after stage "staging" is approved
    Then update run "again" succeeds
    And placement "web" becomes available on "member-1", "member-2" and "member-3"
    And the diagnosis finds nothing
    # More clusters than there are: the run has the message of a run that can't begin.
    When an update run "more" of placement "web" starts with strategy "asks"
    And update run "more" reports
      | on            | condition   | status | reason               |
      |               | Progressing | False  | UpdateRunWaiting     |
      | stage staging | Progressing | False  | StageUpdatingWaiting |
    And placement "web" asks for 99 members
    Then update run "more" reports
      | condition   | status | reason          | message                 |
      | Succeeded   | False  | UpdateRunFailed | not fully scheduled yet |
    And the diagnosis of update run "more" is KF-UR-032, because of KF-SC-001
      | object                    | value |
      | UpdateRun/                | 3     |
      | ResourcePlacement/        | 99    |
    When placement "web" asks for 3 members
    And update run "more" is deleted
    Then placement "web" becomes available on "member-1", "member-2" and "member-3"
    And the diagnosis finds nothing

    Examples:
      | placement                  |
      | a cluster-scoped placement |
      | a namespaced placement     |

  # Stages choose members by labels at each reconcile. The strategy itself may change, because the run has its own copy.
  Scenario Outline: <change> while a run executes, <placement>
    Given <placement> "web" with strategy External selects "member-1" and "member-2"
    And a staged update strategy "asks" for placement "web"
      | stage   | labelled | after    |
      | staging | member-1 | Approval |
      | canary  | member-2 |          |
    And an update run "release" of placement "web" starts with strategy "asks"
    And update run "release" reports
      | on            | condition   | status | reason               |
      |               | Progressing | False  | UpdateRunWaiting     |
      | stage staging | Progressing | False  | StageUpdatingWaiting |
    When <change>
    Then update run "release" reports
      | condition   | status | reason                           | message                                               |
      | Initialized | True   | UpdateRunInitializedSuccessfully |                                                       |
      | Progressing | False  | UpdateRunFailed                  | The stages are aborted due to a non-recoverable error |
      | Succeeded   | False  | UpdateRunFailed                  | cannot continue the updateRun:                        |
      | Succeeded   | False  | UpdateRunFailed                  | <message>                                             |
    And the diagnosis of update run "release" is <code>
    When <remedy>
    And an update run "again" of placement "web" starts with strategy "asks"
    And the approval request of update run "again" after stage "staging" is approved
    Then update run "again" succeeds
    And placement "web" becomes available on <members>
    # The cause is repaired, but the old run doesn't continue.
    And update run "release" reports
      | condition   | status | reason          |
      | Progressing | False  | UpdateRunFailed |
      | Succeeded   | False  | UpdateRunFailed |
    When update run "release" is deleted
    Then the diagnosis finds nothing

    @KF-UR-033 @guide:staged-update-run-2025/validation/plan @guide:staged-update-run-2026/validation/plan
    Examples:
      | placement                  | change | code | message | remedy | members |
      | a cluster-scoped placement | "member-2" is taken out of stage "canary" of strategy "asks" | KF-UR-033 | some clusters are not placed in any stage, total 1, showing up to 10: member-2 | "member-2" is put into stage "canary" of strategy "asks" | "member-1" and "member-2" |
      | a namespaced placement     | "member-2" is taken out of stage "canary" of strategy "asks" | KF-UR-033 | some clusters are not placed in any stage, total 1, showing up to 10: member-2 | "member-2" is put into stage "canary" of strategy "asks" | "member-1" and "member-2" |

    @KF-UR-033 @guide:staged-update-run-2025/validation/plan @guide:staged-update-run-2026/validation/plan @guide:azure-update-run-execution/overlap
    Examples:
      | placement                  | change | code | message | remedy | members |
      | a cluster-scoped placement | "member-2" is put into stage "staging" of strategy "asks" | KF-UR-033 | cluster `member-2` appears in more than one stages | "member-2" is taken out of stage "staging" of strategy "asks" | "member-1" and "member-2" |
      | a namespaced placement     | "member-2" is put into stage "staging" of strategy "asks" | KF-UR-033 | cluster `member-2` appears in more than one stages | "member-2" is taken out of stage "staging" of strategy "asks" | "member-1" and "member-2" |

    @KF-UR-033 @guide:staged-update-run-2025/validation/plan @guide:staged-update-run-2026/validation/plan
    Examples:
      | placement                  | change | code | message | remedy | members |
      | a cluster-scoped placement | placement "web" selects "member-3" too | KF-UR-033 | some clusters are not placed in any stage, total 1, showing up to 10: member-3 | "member-3" is put into stage "canary" of strategy "asks" | "member-1", "member-2" and "member-3" |
      | a namespaced placement     | placement "web" selects "member-3" too | KF-UR-033 | some clusters are not placed in any stage, total 1, showing up to 10: member-3 | "member-3" is put into stage "canary" of strategy "asks" | "member-1", "member-2" and "member-3" |

  @KF-UR-033
  Scenario Outline: A stage gets one more member while a run executes, <placement>
    Given <placement> "web" with strategy External selects "member-1" and "member-2"
    And a staged update strategy "asks" for placement "web"
      | stage   | members            | after    |
      | staging | member-1           | Approval |
      | canary  | member-2, member-3 |          |
    And an update run "release" of placement "web" starts with strategy "asks"
    And update run "release" reports
      | on            | condition   | status | reason               |
      |               | Progressing | False  | UpdateRunWaiting     |
      | stage staging | Progressing | False  | StageUpdatingWaiting |
    When placement "web" selects "member-3" too
    Then update run "release" reports
      | condition   | status | reason                           | message                                               |
      | Initialized | True   | UpdateRunInitializedSuccessfully |                                                       |
      | Progressing | False  | UpdateRunFailed                  | The stages are aborted due to a non-recoverable error |
      | Succeeded   | False  | UpdateRunFailed                  | cannot continue the updateRun:                        |
      | Succeeded   | False  | UpdateRunFailed                  | the number of clusters in index `1` stage has changed, new: 2, existing: 1                                             |
    And the diagnosis of update run "release" is KF-UR-033
    When update run "release" is deleted
    And an update run "again" of placement "web" starts with strategy "asks"
    And the approval request of update run "again" after stage "staging" is approved
    Then update run "again" succeeds
    And placement "web" becomes available on "member-1", "member-2" and "member-3"
    And the diagnosis finds nothing

    Examples:
      | placement                  |
      | a cluster-scoped placement |
      | a namespaced placement     |

  # No guide describes this. The placement doesn't report the missing policy snapshot, and the hub-agent creates another
  # one only if the policy changes.
  @KF-UR-039
  Scenario Outline: The placement's policy snapshot is deleted while a run executes, <placement>
    Given <placement> "web" with strategy External selects "member-1" and "member-2"
    And a staged update strategy "asks" for placement "web"
      | stage   | members  | after    |
      | staging | member-1 | Approval |
      | canary  | member-2 |          |
    And an update run "release" of placement "web" starts with strategy "asks"
    And update run "release" reports
      | on            | condition   | status | reason               |
      |               | Progressing | False  | UpdateRunWaiting     |
      | stage staging | Progressing | False  | StageUpdatingWaiting |
    When the policy snapshots of placement "web" are deleted
    Then update run "release" reports
      | condition   | status | reason                           | message                                               |
      | Initialized | True   | UpdateRunInitializedSuccessfully |                                                       |
      | Progressing | False  | UpdateRunFailed                  | The stages are aborted due to a non-recoverable error |
      | Succeeded   | False  | UpdateRunFailed                  | cannot continue the updateRun:                        |
      | Succeeded   | False  | UpdateRunFailed                  | no latest policy snapshot |
    And the diagnosis of update run "release" is KF-UR-039
    When update run "release" is deleted
    And the policy of placement "web" changes
    # A run that starts before the scheduler has run fails to begin.
    Then placement "web" reports
      | condition | status | reason                    |
      | Scheduled | True   | SchedulingPolicyFulfilled |
    When an update run "again" of placement "web" starts with strategy "asks"
    And the approval request of update run "again" after stage "staging" is approved
    Then update run "again" succeeds
    And placement "web" becomes available on "member-1" and "member-2"
    And the diagnosis finds nothing

    Examples:
      | placement                  |
      | a cluster-scoped placement |
      | a namespaced placement     |

  @needs-lasting-external @guide:azure-update-run-initialization/not-external/from-external
  Scenario Outline: The strategy of <placement> can't be changed while a run executes
    Given <placement> "web" with strategy External selects "member-1"
    And a staged update strategy "asks" for placement "web"
      | stage   | members  | after    |
      | staging | member-1 | Approval |
    And an update run "release" of placement "web" starts with strategy "asks"
    And update run "release" reports
      | on            | condition   | status | reason               |
      |               | Progressing | False  | UpdateRunWaiting     |
      | stage staging | Progressing | False  | StageUpdatingWaiting |
    Then placement "web" gets strategy RollingUpdate, which is refused with "cannot change rollout strategy type from 'External' to other types"
    When the approval request of update run "release" after stage "staging" is approved
    Then update run "release" succeeds
    And placement "web" becomes available on "member-1"
    And the diagnosis finds nothing

    Examples:
      | placement                  |
      | a cluster-scoped placement |
      | a namespaced placement     |
