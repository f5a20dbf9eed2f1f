@kubefleet
Feature: A staged update run fails to initialize
  The guide "Staged Update Run TSG", section "Investigate ClusterStagedUpdateRun initialization failure", in both
  scopes: INITIALIZED is False, and the condition's message says why.

  @KF-UR-001
  @guide:staged-update-run-2025/initialization-failure @guide:staged-update-run-2026/initialization-failure
  @guide:staged-update-run-2025/logs @guide:staged-update-run-2026/logs @guide:staged-update-run-2026/mirror/short-name
  @guide:azure-update-run-initialization/sample @guide:azure-update-run-initialization/investigate/columns
  @guide:azure-update-run-initialization/investigate/initialized-false @guide:azure-update-run-initialization/investigate/applied-strategy
  @guide:azure-update-run-initialization/not-recoverable/new-run
  Scenario Outline: A run of <placement> asks for a resource snapshot index that doesn't exist
    Given <placement> "web" with strategy External selects "member-1"
    And a staged update strategy "all" for placement "web"
      | stage   | members  |
      | staging | member-1 |
    And a resource snapshot of placement "web" is taken
    When an update run "release" of placement "web" starts with strategy "all" at snapshot index "7"
    Then update run "release" reports
      | condition   | status | reason                     | message                                                     |
      | Initialized | False  | UpdateRunInitializedFailed | no resourceSnapshots with index `7` found for placement `<shown>` |
      | Progressing | absent |                            |                                                             |
      | Succeeded   | absent |                            |                                                             |
    And placement "web" reports
      | on       | condition      | status  | reason                                | message                                               |
      |          | Scheduled      | True    | SchedulingPolicyFulfilled             |                                                       |
      |          | RolloutStarted | Unknown | RolloutControlledByExternalController | no resource snapshot name is observed across clusters |
      | member-1 | RolloutStarted | Unknown | RolloutStartedUnknown                 |                                                       |
    And "kubectl get <short>" shows update run "release"
      | NAME      | PLACEMENT | RESOURCE-SNAPSHOT-INDEX | POLICY-SNAPSHOT-INDEX | INITIALIZED | PROGRESSING | SUCCEEDED | AGE |
      | {release} | {web}     | 7                       | 0                     | False       |             |           | *   |
    And update run "release" has
      | field                                   | value                           |
      | status.policySnapshotIndexUsed          | 0                               |
      | status.policyObservedClusterCount       | 1                               |
      | status.deletionStageStatus.stageName    | kubernetes-fleet.io/deleteStage |
      | status.appliedStrategy.comparisonOption | PartialComparison               |
      | status.appliedStrategy.type             | ClientSideApply                 |
      | status.appliedStrategy.whenToApply      | Always                          |
      | status.appliedStrategy.whenToTakeOver   | Always                          |
    And the hub-agent has logged "no resourceSnapshots with index `7` found for placement `<shown>`"
    And the diagnosis of update run "release" is KF-UR-001
      | object           | value                      |
      | /{release}       | UpdateRunInitializedFailed |
      | /{release}       | 7                          |
      | ResourceSnapshot | 0                          |
    When update run "release" is deleted
    And an update run "again" of placement "web" starts with strategy "all" at snapshot index "0"
    Then update run "again" succeeds
    And placement "web" becomes available on "member-1"
    And the diagnosis finds nothing
    When the resources of placement "web" change
    And an update run "next" of placement "web" starts with strategy "all"
    Then update run "next" succeeds
    And the resources of placement "web" are on "member-1"

    @drill @needs-run-columns @drift:staged-update-run-2025/initialization-failure/columns
    Examples:
      | placement                  | short | shown           |
      | a cluster-scoped placement | csur  | /{web}          |

    @without-run-columns
    Examples:
      | placement                  | short | shown           |
      | a cluster-scoped placement | csur  | /{web}          |

    @drift:staged-update-run-2026/initialization-failure/columns/namespaced
    Examples:
      | placement                  | short | shown           |
      | a namespaced placement     | sur   | {web}-app/{web} |

  @needs-snapshots-by-runs @KF-UR-001
  Scenario Outline: A run of <placement> asks for a resource snapshot index before there is any
    # From v0.3 on, only a run without an index takes a snapshot of a placement with strategy External.
    Given <placement> "web" with strategy External selects "member-1"
    And a staged update strategy "all" for placement "web"
      | stage   | members  |
      | staging | member-1 |
    When an update run "release" of placement "web" starts with strategy "all" at snapshot index "0"
    Then update run "release" reports
      | condition   | status | reason                     | message                                                           |
      | Initialized | False  | UpdateRunInitializedFailed | no resourceSnapshots with index `0` found for placement `<shown>` |
      | Progressing | absent |                            |                                                                   |
      | Succeeded   | absent |                            |                                                                   |
    And the diagnosis of update run "release" is KF-UR-001
      | object           | value                      |
      | /{release}       | UpdateRunInitializedFailed |
      | /{release}       | 0                          |
      | ResourceSnapshot | (none)                     |
    When update run "release" is deleted
    And an update run "again" of placement "web" starts with strategy "all"
    Then update run "again" succeeds
    And placement "web" becomes available on "member-1"
    And the diagnosis finds nothing

    Examples:
      | placement                  | shown           |
      | a cluster-scoped placement | /{web}          |
      | a namespaced placement     | {web}-app/{web} |

  # The two other members of the fleet are in no stage, and nobody misses them.
  @drift:azure-update-run-initialization/not-assigned/all-clusters
  Scenario Outline: A run of <placement> asks for a resource snapshot index that exists
    Given <placement> "web" with strategy External selects "member-1"
    And a staged update strategy "all" for placement "web"
      | stage   | members  |
      | staging | member-1 |
    And a resource snapshot of placement "web" is taken
    When an update run "release" of placement "web" starts with strategy "all" at snapshot index "0"
    Then update run "release" reports
      | condition   | status | reason                           |
      | Initialized | True   | UpdateRunInitializedSuccessfully |
      | Progressing | True   | UpdateRunProgressing             |
    And the diagnosis finds nothing
    And update run "release" succeeds
    And placement "web" becomes available on "member-1"
    And the diagnosis finds nothing

    @drill @healthy
    Examples:
      | placement                  |
      | a cluster-scoped placement |

    Examples:
      | placement                  |
      | a namespaced placement     |

  @KF-UR-014 @guide:staged-update-run-2026/mirror/invalid-configuration @guide:azure-update-run-initialization/strategy-not-found
  Scenario Outline: A run of <placement> names a strategy that doesn't exist
    Given <placement> "web" with strategy External selects "member-1"
    And a staged update strategy "all" for placement "web"
      | stage   | members  |
      | staging | member-1 |
    When an update run "release" of placement "web" starts with a strategy that doesn't exist
    Then update run "release" reports
      | condition   | status | reason                     | message                                |
      | Initialized | False  | UpdateRunInitializedFailed | referenced updateStrategy not found: ` |
    And the diagnosis of update run "release" is KF-UR-014
    When update run "release" is deleted
    Given a staged update strategy "missing" for placement "web"
      | stage   | members  |
      | staging | member-1 |
    When an update run "next" of placement "web" starts with strategy "missing"
    Then update run "next" succeeds
    When the resources of placement "web" change
    And an update run "again" of placement "web" starts with strategy "all"
    Then update run "again" succeeds
    And the diagnosis finds nothing

    Examples:
      | placement                  |
      | a cluster-scoped placement |
      | a namespaced placement     |

  @KF-UR-010 @guide:azure-update-run-initialization/placement-not-found/initialized @guide:azure-update-run-initialization/placement-not-found/other-placement
  @guide:azure-update-run-initialization/not-external/to-external
  Scenario Outline: A run names a placement that doesn't exist, beside <placement>
    Given <placement> "web" has put its resources on "member-1"
    And a staged update strategy "all" for placement "web"
      | stage   | members  |
      | staging | member-1 |
    When an update run "release" of a placement that doesn't exist, beside placement "web", starts with strategy "all"
    Then update run "release" reports
      | condition   | status | reason                     | message                    |
      | Initialized | False  | UpdateRunInitializedFailed | parent placement not found |
    And the diagnosis of update run "release" is KF-UR-010
    When update run "release" is deleted
    And placement "web" gets strategy External
    And an update run "again" of placement "web" starts with strategy "all"
    Then update run "again" succeeds
    And the diagnosis finds nothing

    Examples:
      | placement                  |
      | a cluster-scoped placement |
      | a namespaced placement     |

  @KF-UR-011
  @guide:azure-update-run-initialization/not-external/initialized @guide:azure-update-run-initialization/not-external/recreate
  @guide:azure-update-run-initialization/not-external/other-placement @drift:azure-update-run-initialization/not-external/recreate/namespaced
  Scenario Outline: A run's placement isn't External: <placement>
    Given <placement> "web" has put its resources on "member-1"
    And a staged update strategy "all" for placement "web"
      | stage   | members  |
      | staging | member-1 |
    When an update run "release" of placement "web" starts with strategy "all"
    Then update run "release" reports
      | condition   | status | reason                     | message                                                                                   |
      | Initialized | False  | UpdateRunInitializedFailed | parent placement does not have an external rollout strategy, current strategy: RollingUpdate |
    And the diagnosis of update run "release" is KF-UR-011
    When <placement> "shop" with strategy External selects "member-1"
    Given a staged update strategy "each" for placement "shop"
      | stage   | members  |
      | staging | member-1 |
    When an update run "next" of placement "shop" starts with strategy "each"
    Then update run "next" succeeds
    And placement "shop" becomes available on "member-1"
    When update run "release" is deleted
    Then placement "web" becomes available on "member-1"
    And the diagnosis finds nothing
    And a change to the resources of placement "web" arrives on "member-1"

    Examples:
      | placement                  |
      | a cluster-scoped placement |
      | a namespaced placement     |

  @KF-UR-012 @KF-SC-001
  Scenario Outline: The placement asks for more members than there are, <placement>
    Given <placement> "web" with strategy External selects 99 of "member-1"
    And a staged update strategy "all" for placement "web"
      | stage   | members  |
      | staging | member-1 |
    When an update run "release" of placement "web" starts with strategy "all"
    Then update run "release" reports
      | condition   | status | reason                     | message                     |
      | Initialized | False  | UpdateRunInitializedFailed | not fully scheduled yet     |
    And placement "web" reports
      | condition | status | reason                      | message                                                    |
      | Scheduled | False  | SchedulingPolicyUnfulfilled | could not find all clusters needed                         |
    And the diagnosis of update run "release" is KF-UR-012, because of KF-SC-001
    And the diagnosis of placement "web" is KF-SC-001

    Examples:
      | placement                  |
      | a cluster-scoped placement |
      | a namespaced placement     |

  @KF-UR-013
  Scenario Outline: The placement's policy selects no member, <placement>
    Given <placement> "web" with strategy External selects no member
    And a staged update strategy "all" for placement "web"
      | stage   | members  |
      | staging | member-1 |
    When an update run "release" of placement "web" starts with strategy "all"
    Then update run "release" reports
      | condition   | status | reason                     | message                                       |
      | Initialized | False  | UpdateRunInitializedFailed | no scheduled or to-be-deleted bindings found  |
    And the diagnosis of update run "release" is KF-UR-013

    Examples:
      | placement                  |
      | a cluster-scoped placement |
      | a namespaced placement     |

  Scenario Outline: The strategy is wrong: <mistake>, <placement>
    Given <placement> "web" with strategy External selects "member-1" and "member-2"
    And a staged update strategy "wrong" for placement "web"
      | stage   | members    | after   | sorted by   | selector   |
      | staging | <staging>  | <after> | <sorted by> | <selector> |
      | canary  | <canary>   |         |             |            |
    When an update run "release" of placement "web" starts with strategy "wrong"
    Then update run "release" reports
      | condition   | status | reason                     | message   |
      | Initialized | False  | UpdateRunInitializedFailed | <message> |
      | Progressing | absent |                            |           |
    And the diagnosis of update run "release" is <code>

    @KF-UR-018
    Examples:
      | placement                  | mistake                   | code      | staging            | canary   | after | sorted by | selector | message                                            |
      | a cluster-scoped placement | a member is in two stages | KF-UR-018 | member-1, member-2 | member-2 |       |           |          | cluster `member-2` appears in more than one stages |
      | a namespaced placement     | a member is in two stages | KF-UR-018 | member-1, member-2 | member-2 |       |           |          | cluster `member-2` appears in more than one stages |
    @KF-UR-020
    Examples:
      | placement                  | mistake                 | code      | staging  | canary | after | sorted by | selector | message                                                                        |
      | a cluster-scoped placement | a member is in no stage | KF-UR-020 | member-1 |        |       |           |          | some clusters are not placed in any stage, total 1, showing up to 10: member-2 |
      | a namespaced placement     | a member is in no stage | KF-UR-020 | member-1 |        |       |           |          | some clusters are not placed in any stage, total 1, showing up to 10: member-2 |
    @KF-UR-015
    Examples:
      | placement                  | mistake                         | code      | staging  | canary   | after                      | sorted by | selector | message                                                           |
      | a cluster-scoped placement | a stage has the same task twice | KF-UR-015 | member-1 | member-2 | TimedWait 5s, TimedWait 6s |           |          | afterStageTasks cannot have two tasks of the same type: TimedWait |
      | a namespaced placement     | a stage has the same task twice | KF-UR-015 | member-1 | member-2 | TimedWait 5s, TimedWait 6s |           |          | afterStageTasks cannot have two tasks of the same type: TimedWait |
    @KF-UR-016
    Examples:
      | placement                  | mistake                   | code      | staging  | canary   | after        | sorted by | selector | message                                         |
      | a cluster-scoped placement | a stage waits for no time | KF-UR-016 | member-1 | member-2 | TimedWait 0s |           |          | task 0 of type TimedWait has wait duration <= 0 |
      | a namespaced placement     | a stage waits for no time | KF-UR-016 | member-1 | member-2 | TimedWait 0s |           |          | task 0 of type TimedWait has wait duration <= 0 |
    @KF-UR-017
    Examples:
      | placement                  | mistake                          | code      | staging  | canary   | after | sorted by | selector                                                 | message                             |
      | a cluster-scoped placement | a stage's selector has no values | KF-UR-017 | member-1 | member-2 |       |           | {"matchExpressions": [{"key": "env", "operator": "In"}]} | the stage label selector is invalid |
      | a namespaced placement     | a stage's selector has no values | KF-UR-017 | member-1 | member-2 |       |           | {"matchExpressions": [{"key": "env", "operator": "In"}]} | the stage label selector is invalid |
    @KF-UR-019
    Examples:
      | placement                  | mistake                       | code      | staging  | canary   | after | sorted by | selector | message                                                       |
      | a cluster-scoped placement | the sorting label isn't there | KF-UR-019 | member-1 | member-2 |       | order     |          | the sorting label `order:` on cluster `member-1` is not valid |
      | a namespaced placement     | the sorting label isn't there | KF-UR-019 | member-1 | member-2 |       | order     |          | the sorting label `order:` on cluster `member-1` is not valid |

  @KF-UR-021
  Scenario Outline: The resource snapshot index is no number, <placement>
    Given <placement> "web" with strategy External selects "member-1"
    And a staged update strategy "all" for placement "web"
      | stage   | members  |
      | staging | member-1 |
    When an update run "release" of placement "web" starts with strategy "all" at snapshot index "abc"
    Then update run "release" reports
      | condition   | status | reason                     | message                                                                 |
      | Initialized | False  | UpdateRunInitializedFailed | invalid resource snapshot index `abc` provided, expected an integer >= 0 |
    And the diagnosis of update run "release" is KF-UR-021

    Examples:
      | placement                  |
      | a cluster-scoped placement |
      | a namespaced placement     |

  # Overrides are looked up last, and a wrong override has no failure code of its own.
  @KF-UR-029
  Scenario: An override's selector is invalid
    Given a cluster-scoped placement "web" with strategy External selects "member-1"
    And a staged update strategy "all" for placement "web"
      | stage   | members  |
      | staging | member-1 |
    And an override "odd" of placement "web" has the rule '{"clusterSelector": {"clusterSelectorTerms": [{"labelSelector": {"matchExpressions": [{"key": "env", "operator": "In"}]}}]}, "jsonPatchOverrides": [{"op": "add", "path": "/data/odd", "value": "true"}]}'
    When an update run "release" of placement "web" starts with strategy "all"
    Then update run "release" reports
      | condition   | status | reason                     | message                                                              |
      | Initialized | False  | UpdateRunInitializedFailed | invalid cluster label selector                                       |
      | Initialized | False  | UpdateRunInitializedFailed | for 'in', 'notin' operators, values set can't be empty               |
    And the diagnosis of update run "release" is KF-UR-029
    When the rule of override "odd" of placement "web" is corrected to '{"clusterSelector": {"clusterSelectorTerms": []}, "jsonPatchOverrides": [{"op": "add", "path": "/data/odd", "value": "true"}]}'
    And update run "release" is deleted
    And an update run "again" of placement "web" starts with strategy "all"
    Then update run "again" succeeds
    And placement "web" becomes available on "member-1"
    And the diagnosis finds nothing

  # The example of Microsoft's page.
  @KF-UR-020
  @guide:azure-update-run-initialization/investigate @drift:azure-update-run-initialization/investigate/cause
  @guide:azure-update-run-initialization/not-assigned/scheduled @guide:azure-update-run-initialization/not-assigned/rollout-started
  @drift:azure-update-run-initialization/not-assigned/get-prints @guide:azure-update-run-initialization/not-assigned/add-labels
  Scenario Outline: The only stage of a run of <placement> selects none of its three members
    Given <placement> "web" with strategy External selects "member-1", "member-2" and "member-3"
    And a staged update strategy "none" for placement "web"
      | stage   | labelled | after    |
      | staging |          | Approval |
    And a resource snapshot of placement "web" is taken
    When an update run "release" of placement "web" starts with strategy "none" at snapshot index "0"
    Then update run "release" reports
      | condition   | status | reason                     | message                                                                        |
      | Initialized | False  | UpdateRunInitializedFailed | some clusters are not placed in any stage, total 3, showing up to 10: member-1 |
      | Progressing | absent |                            |                                                                                |
      | Succeeded   | absent |                            |                                                                                |
    And "kubectl get <runs>" shows update run "release"
      | NAME      | PLACEMENT | RESOURCE-SNAPSHOT-INDEX | POLICY-SNAPSHOT-INDEX | INITIALIZED | PROGRESSING | SUCCEEDED | AGE |
      | {release} | {web}     | 0                       | 0                     | False       |             |           | *   |
    And update run "release" has
      | field                                                               | value                                        |
      | metadata.finalizers.0                                               | kubernetes-fleet.io/stagedupdaterun-finalizer |
      | status.policySnapshotIndexUsed                                      | 0                                            |
      | status.policyObservedClusterCount                                   | 3                                            |
      | status.stagedUpdateStrategySnapshot.stages.0.name                   | staging                                      |
      | status.stagedUpdateStrategySnapshot.stages.0.maxConcurrency         | <at once>                                    |
      | status.stagedUpdateStrategySnapshot.stages.0.afterStageTasks.0.type | Approval                                     |
      | status.stagesStatus.0.stageName                                     | staging                                      |
      | status.stagesStatus.0.clusters.0                                    | absent                                       |
      | status.appliedStrategy.comparisonOption                             | PartialComparison                            |
      | status.appliedStrategy.type                                         | ClientSideApply                              |
      | status.appliedStrategy.whenToApply                                  | Always                                       |
      | status.appliedStrategy.whenToTakeOver                               | Always                                       |
    And placement "web" reports
      | condition      | status  | reason                                |
      | Scheduled      | True    | SchedulingPolicyFulfilled             |
      | RolloutStarted | Unknown | RolloutControlledByExternalController |
    And placement "web" has
      | field                    | value                |
      | status.conditions.0.type | <kind>Scheduled      |
      | status.conditions.1.type | <kind>RolloutStarted |
    And "kubectl get <placements>" on the hub prints
      | NAME  | GEN | SCHEDULED | SCHEDULED-GEN | AVAILABLE | AVAILABLE-GEN | AGE |
      | {web} | 1   | True      | 1             |           |               | *   |
    And the diagnosis of update run "release" is KF-UR-020
    When "member-1" is put into stage "staging" of strategy "none"
    And "member-2" is put into stage "staging" of strategy "none"
    And "member-3" is put into stage "staging" of strategy "none"
    And update run "release" is deleted
    And an update run "again" of placement "web" starts with strategy "none"
    And the approval request of update run "again" after stage "staging" is approved
    Then update run "again" succeeds
    And placement "web" becomes available on "member-1", "member-2" and "member-3"
    And the diagnosis finds nothing

    @needs-before-stage-tasks
    @drift:azure-update-run-initialization/investigate/finalizer/cluster @drift:azure-update-run-initialization/not-assigned/condition-types
    Examples:
      | placement                  | runs                   | placements                             | kind                     | at once |
      | a cluster-scoped placement | clusterstagedupdaterun | clusterresourceplacement {web}         | ClusterResourcePlacement | 1       |

    @without-before-stage-tasks
    @drift:azure-update-run-initialization/investigate/finalizer/cluster @drift:azure-update-run-initialization/not-assigned/condition-types
    Examples:
      | placement                  | runs                   | placements                             | kind                     | at once |
      | a cluster-scoped placement | clusterstagedupdaterun | clusterresourceplacement {web}         | ClusterResourcePlacement | absent  |

    Examples:
      | placement                  | runs                   | placements                             | kind                     | at once |
      | a namespaced placement     | stagedupdaterun        | resourceplacement {web} -n {web}-app   | ResourcePlacement        | 1       |

  # The fleet's members have the same label with different values, as in the page's example: that puts none into two stages.
  @KF-UR-018
  @guide:azure-update-run-initialization/overlap @drift:azure-update-run-initialization/overlap/labels
  Scenario Outline: A member of <placement> has the labels of two stages
    Given <placement> "web" with strategy External selects "member-1" and "member-2"
    And a staged update strategy "both" for placement "web"
      | stage   | labelled           |
      | staging | member-1, member-2 |
      | west    | member-2           |
    When an update run "release" of placement "web" starts with strategy "both"
    Then update run "release" reports
      | condition   | status | reason                     | message                                            |
      | Initialized | False  | UpdateRunInitializedFailed | cluster `member-2` appears in more than one stages |
    And "kubectl get membercluster member-2 --show-labels" on the hub prints
      | NAME     | JOINED | AGE | MEMBER-AGENT-LAST-SEEN | NODE-COUNT | AVAILABLE-CPU | AVAILABLE-MEMORY | LABELS |
      | member-2 | True   | *   | *                      | *          | *             | *                | *      |
    And the diagnosis of update run "release" is KF-UR-018
    When "member-2" is taken out of stage "staging" of strategy "both"
    And update run "release" is deleted
    And an update run "again" of placement "web" starts with strategy "both"
    Then update run "again" succeeds
    And placement "web" becomes available on "member-1" and "member-2"
    # The other way: "distinct" has stages that select by one label's values.
    When "member-2" is put into stage "staging" of strategy "both"
    Given a staged update strategy "distinct" for placement "web"
      | stage   | members  |
      | staging | member-1 |
      | west    | member-2 |
    When the resources of placement "web" change
    And an update run "next" of placement "web" starts with strategy "distinct"
    Then update run "next" succeeds
    And the diagnosis finds nothing

    Examples:
      | placement                  |
      | a cluster-scoped placement |
      | a namespaced placement     |

  @KF-UR-015
  @guide:azure-update-run-initialization/invalid-tasks
  Scenario Outline: A stage of a run of <placement> has two approvals, and then one
    Given <placement> "web" with strategy External selects "member-1"
    And a staged update strategy "twice" for placement "web"
      | stage   | members  | after              |
      | staging | member-1 | Approval, Approval |
    When an update run "release" of placement "web" starts with strategy "twice"
    Then update run "release" reports
      | condition   | status | reason                     | message                                                          |
      | Initialized | False  | UpdateRunInitializedFailed | the after stage tasks are invalid                                |
      | Initialized | False  | UpdateRunInitializedFailed | afterStageTasks cannot have two tasks of the same type: Approval |
    And the diagnosis of update run "release" is KF-UR-015
    When object "<strategy>{twice}" of the hub gets '{"stages": [{"name": "staging", "labelSelector": {}, "afterStageTasks": [{"type": "Approval"}]}]}'
    And update run "release" is deleted
    And an update run "again" of placement "web" starts with strategy "twice"
    And the approval request of update run "again" after stage "staging" is approved
    Then update run "again" succeeds
    And placement "web" becomes available on "member-1"
    And the diagnosis finds nothing

    Examples:
      | placement                  | strategy                         |
      | a cluster-scoped placement | ClusterStagedUpdateStrategy/     |
      | a namespaced placement     | StagedUpdateStrategy/{web}-app/  |

  @KF-UR-010
  @guide:azure-update-run-initialization/placement-not-found/create @guide:azure-update-run-initialization/placement-not-found/initialized
  Scenario Outline: The placement of a run is gone, and is made again: <placement>
    Given <placement> "web" with strategy External selects "member-1"
    And a staged update strategy "all" for placement "web"
      | stage   | members  |
      | staging | member-1 |
    And a resource snapshot of placement "web" is taken
    When placement "web" is deleted
    And an update run "release" of placement "web" starts with strategy "all" at snapshot index "0"
    Then update run "release" reports
      | condition   | status | reason                     | message                    |
      | Initialized | False  | UpdateRunInitializedFailed | parent placement not found |
    And the diagnosis of update run "release" is KF-UR-010
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
    And a resource snapshot of placement "web" is taken
    And an update run "again" of placement "web" starts with strategy "all" at snapshot index "0"
    Then update run "again" succeeds
    And placement "web" becomes available on "member-1"
    And the diagnosis finds nothing

    @drift:azure-update-run-initialization/placement-not-found/cause/cluster
    Examples:
      | placement                  | kind                     | metadata                              | selector                                                      |
      | a cluster-scoped placement | ClusterResourcePlacement | {name: "{web}"}                       | {group: "", version: v1, kind: Namespace, name: "{web}-app"}  |

    @guide:azure-update-run-initialization/placement-not-found/cause/namespaced
    Examples:
      | placement                  | kind                     | metadata                              | selector                                                      |
      | a namespaced placement     | ResourcePlacement        | {name: "{web}", namespace: "{web}-app"} | {group: "", version: v1, kind: ConfigMap, name: settings}     |

  @needs-run-states @KF-UR-014 @guide:azure-update-run-initialization/not-recoverable/not-recoverable
  Scenario Outline: A run of <placement> that couldn't begin stays so whatever its state
    Given <placement> "web" with strategy External selects "member-1"
    When an update run "release" of placement "web" starts with a strategy that doesn't exist
    Then update run "release" reports
      | condition   | status | reason                     |
      | Initialized | False  | UpdateRunInitializedFailed |
    And the diagnosis of update run "release" is KF-UR-014
    Given a staged update strategy "missing" for placement "web"
      | stage   | members  |
      | staging | member-1 |
    When the state of update run "release" is set to "Stop"
    And the state of update run "release" is set to "Run"
    # A run without an index has generation 2 when it is initialized; it isn't looked at again.
    Then update run "release" reports for 15 seconds
      | condition   | status | reason                     | observedGeneration |
      | Initialized | False  | UpdateRunInitializedFailed | 2                  |
    When update run "release" is deleted
    And an update run "again" of placement "web" starts with strategy "missing"
    Then update run "again" succeeds
    And the diagnosis finds nothing

    Examples:
      | placement                  |
      | a cluster-scoped placement |
      | a namespaced placement     |

  @needs-run-state-field @without-run-states @KF-UR-014 @drift:azure-update-run-initialization/not-recoverable/not-recoverable
  Scenario Outline: A run of <placement> that couldn't begin starts over when its state changes
    Given <placement> "web" with strategy External selects "member-1"
    When an update run "release" of placement "web" starts with a strategy that doesn't exist
    Then update run "release" reports
      | condition   | status | reason                     |
      | Initialized | False  | UpdateRunInitializedFailed |
    And the diagnosis of update run "release" is KF-UR-014
    Given a staged update strategy "missing" for placement "web"
      | stage   | members  |
      | staging | member-1 |
    Then update run "release" reports for 10 seconds
      | condition   | status | reason                     |
      | Initialized | False  | UpdateRunInitializedFailed |
    When the state of update run "release" is set to "Execute"
    Then update run "release" succeeds
    And placement "web" becomes available on "member-1"
    And the diagnosis finds nothing

    Examples:
      | placement                  |
      | a cluster-scoped placement |
      | a namespaced placement     |

  @without-run-state-field @KF-UR-014 @guide:azure-update-run-initialization/not-recoverable/not-recoverable
  Scenario: A run that couldn't begin stays so when its strategy is there
    Given a cluster-scoped placement "web" with strategy External selects "member-1"
    When an update run "release" of placement "web" starts with a strategy that doesn't exist
    Then update run "release" reports
      | condition   | status | reason                     |
      | Initialized | False  | UpdateRunInitializedFailed |
    And the diagnosis of update run "release" is KF-UR-014
    Given a staged update strategy "missing" for placement "web"
      | stage   | members  |
      | staging | member-1 |
    Then update run "release" reports for 15 seconds
      | condition   | status | reason                     |
      | Initialized | False  | UpdateRunInitializedFailed |
    When update run "release" is deleted
    And an update run "again" of placement "web" starts with strategy "missing"
    Then update run "again" succeeds
    And the diagnosis finds nothing
