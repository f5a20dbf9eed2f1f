@kubefleet
Feature: A staged update run fails while it executes
  The guide "Staged Update Run TSG", section "Investigate ClusterStagedUpdateRun execution failure", first scenario: at each
  look the run validates its placement and plan anew, and fails with the validation's error. A run that waits for an
  approval looks once a minute.

  @KF-UR-002
  @guide:staged-update-run-2025/placement-deleted @guide:staged-update-run-2026/placement-deleted
  @guide:staged-update-run-2025/execution-failure @drift:staged-update-run-2025/execution-failure/columns
  @guide:staged-update-run-2026/execution-failure @drift:staged-update-run-2026/execution-failure/columns
  Scenario Outline: The placement is deleted while its run executes: <placement>
    Given <placement> "web" with strategy External selects "member-1"
    And a staged update strategy "asks" for placement "web"
      | stage   | members  | after    |
      | staging | member-1 | Approval |
    And an update run "release" of placement "web" starts with strategy "asks"
    And update run "release" reports
      | condition   | status | reason           |
      | Progressing | False  | UpdateRunWaiting |
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
      | field                                   | value             |
      | status.appliedStrategy.comparisonOption | PartialComparison |
      | status.appliedStrategy.type             | ClientSideApply   |
      | status.appliedStrategy.whenToApply      | Always            |
      | status.appliedStrategy.whenToTakeOver   | Always            |
    And the diagnosis of update run "release" is KF-UR-002
    When update run "release" is deleted
    Then the diagnosis finds nothing

    Examples:
      | placement                  | short |
      | a cluster-scoped placement | csur  |
      | a namespaced placement     | sur   |

  Scenario Outline: <change> while a run executes
    Given a placement "web" with strategy External selects "member-1" and "member-2"
    And a staged update strategy "asks" for placement "web"
      | stage   | members  | after    |
      | staging | member-1 | Approval |
      | canary  | member-2 |          |
    And an update run "release" of placement "web" starts with strategy "asks"
    And update run "release" reports
      | condition   | status | reason           |
      | Progressing | False  | UpdateRunWaiting |
    When <change>
    Then update run "release" reports
      | condition   | status | reason                           | message   |
      | Initialized | True   | UpdateRunInitializedSuccessfully |           |
      | Progressing | False  | UpdateRunFailed                  |           |
      | Succeeded   | False  | UpdateRunFailed                  | <message> |
    And the diagnosis of update run "release" is <code>

    @KF-UR-030
    Examples:
      | change                               | code      | message                                                                        |
      | the policy of placement "web" changes | KF-UR-030 | the policy snapshot index used in the updateRun is outdated, latest: 1, recorded: 0 |
    @KF-UR-031
    Examples:
      | change                                        | code      | message                                       |
      | the apply strategy of placement "web" changes | KF-UR-031 | the applyStrategy in the updateRun is outdated |
    @KF-UR-034 @guide:staged-update-run-2025/validation/strategy @guide:staged-update-run-2026/validation/strategy
    Examples:
      | change                                     | code      | message                                                                                     |
      | placement "web" gets strategy RollingUpdate | KF-UR-034 | parent placement does not have an external rollout strategy, current strategy: RollingUpdate |
    @KF-UR-033 @guide:staged-update-run-2025/validation/plan @guide:staged-update-run-2026/validation/plan
    Examples:
      | change                                                  | code      | message                                                                        |
      | "member-2" is taken out of stage "canary" of strategy "asks" | KF-UR-033 | some clusters are not placed in any stage, total 1, showing up to 10: member-2 |
      | "member-2" is put into stage "staging" of strategy "asks"    | KF-UR-033 | cluster `member-2` appears in more than one stages                             |
      | placement "web" selects "member-3" too                       | KF-UR-033 | some clusters are not placed in any stage, total 1, showing up to 10: member-3 |
