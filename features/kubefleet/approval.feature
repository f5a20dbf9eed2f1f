@kubefleet
Feature: An approval that counts for nothing
  The guide "Staged Update Run TSG", section "ClusterApprovalRequest Troubleshooting": the request was approved, but the
  run doesn't continue, because the approval's observedGeneration isn't the request's generation. No condition says so.

  @takes-60s @KF-UR-004
  Scenario Outline: The approval <when> a stage of <placement> carries a stale observedGeneration
    Given <placement> "web" with strategy External selects "member-1"
    And a staged update strategy "asks" for placement "web"
      | stage   | members  | <when>   |
      | staging | member-1 | Approval |
    And an update run "release" of placement "web" starts with strategy "asks"
    And update run "release" reports
      | on            | condition   | status | reason              | message                                                       |
      |               | Initialized | True   | UpdateRunInitializedSuccessfully |                                                  |
      |               | Progressing | False  | UpdateRunWaiting    | waiting for <when>-stage tasks in stage staging to complete    |
      | stage staging | Progressing | False  | StageUpdatingWaiting |                                                              |
    When the approval request of update run "release" <when> stage "staging" is approved with a stale observedGeneration
    Then the approval request of update run "release" <when> stage "staging" reports for 15 seconds
      | condition        | status | reason   | observedGeneration |
      | Approved         | True   | approved | stale              |
      | ApprovalAccepted | absent |          |                    |
    And update run "release" reports for 5 seconds
      | on            | condition   | status | reason               |
      |               | Progressing | False  | UpdateRunWaiting     |
      |               | Succeeded   | absent |                      |
      | stage staging | Progressing | False  | StageUpdatingWaiting |
    And the approval request of update run "release" <when> stage "staging" has
      | field                                                      | value                    |
      | metadata.name                                              | {release}-<when>-staging |
      | metadata.generation                                        | 1                        |
      | metadata.labels.kubernetes-fleet.io/isLatestUpdateRunApproval | true                  |
      | metadata.labels.kubernetes-fleet.io/targetUpdatingStage    | staging                  |
      | spec.parentStageRollout                                    | {release}                |
      | spec.targetStage                                           | staging                  |
    And "kubectl get <requests>" shows the approval request of update run "release" <when> stage "staging"
      | NAME                     | UPDATE-RUN | STAGE   | APPROVED | AGE |
      | {release}-<when>-staging | {release}  | staging | True     | *   |
    And update run "release" has
      | field                                   | value             |
      | status.appliedStrategy.comparisonOption | PartialComparison |
      | status.appliedStrategy.type             | ClientSideApply   |
      | status.appliedStrategy.whenToApply      | Always            |
      | status.appliedStrategy.whenToTakeOver   | Always            |
    And the diagnosis of update run "release" is KF-UR-004
      | object                                         | value            |
      | UpdateRun/                                     | UpdateRunWaiting |
      | /{release}-<when>-staging | Approved=True    |
    When the approval request of update run "release" <when> stage "staging" is approved
    Then the approval request of update run "release" <when> stage "staging" reports
      | condition        | status | reason                          |
      | Approved         | True   | approved                        |
      | ApprovalAccepted | True   | ApprovalRequestApprovalAccepted |
    And update run "release" succeeds
    And placement "web" becomes available on "member-1"
    And the diagnosis finds nothing
    When the resources of placement "web" change
    And an update run "next" of placement "web" starts with strategy "asks"
    And the approval request of update run "next" <when> stage "staging" is approved
    Then update run "next" succeeds
    And the resources of placement "web" are on "member-1"

    @drill @guide:staged-update-run-2026/approval @guide:azure-update-run-api/approval
    @drift:azure-update-run-api/approval-other-request @drift:azure-update-run-api/progression/otherwise
    Examples:
      | placement                  | when   | requests                |
      | a cluster-scoped placement | after  | clusterapprovalrequests |

    @guide:staged-update-run-2026/approval-before-stage @guide:staged-update-run-2026/mirror/approvals @guide:azure-update-run-api/approval-both
    @guide:azure-namespaced-update-run-api/approval/request-name @guide:azure-namespaced-update-run-api/approval/request-spec
    Examples:
      | placement                  | when   | requests                |
      | a cluster-scoped placement | before | clusterapprovalrequests |
      | a namespaced placement     | before | approvalrequests        |

    @guide:azure-namespaced-update-run-api/approval/applied-strategy @guide:azure-namespaced-update-run-api/approval/initialized @guide:azure-namespaced-update-run-api/approval/progressing
    @guide:azure-namespaced-update-run-api/approval/label-is-latest @guide:azure-namespaced-update-run-api/approval/label-target-stage @guide:azure-namespaced-update-run-api/approval/not-accepted
    @guide:azure-namespaced-update-run-api/approval/stale @guide:azure-namespaced-update-run-api/approval/reapprove @guide:azure-namespaced-update-run-api/approval-both
    @drift:azure-namespaced-update-run-api/approval-other-request @drift:azure-namespaced-update-run-api/progression/otherwise
    Examples:
      | placement                  | when   | requests                |
      | a namespaced placement     | after  | approvalrequests        |

  Scenario Outline: The approval <when> a stage of <placement> carries the request's generation
    Given <placement> "web" with strategy External selects "member-1"
    And a staged update strategy "asks" for placement "web"
      | stage   | members  | <when>   |
      | staging | member-1 | Approval |
    And an update run "release" of placement "web" starts with strategy "asks"
    When the approval request of update run "release" <when> stage "staging" is approved
    Then the approval request of update run "release" <when> stage "staging" reports
      | condition        | status | reason                          |
      | ApprovalAccepted | True   | ApprovalRequestApprovalAccepted |
    And update run "release" succeeds
    And placement "web" becomes available on "member-1"
    And the diagnosis finds nothing

    @drill @healthy
    Examples:
      | placement                  | when   |
      | a cluster-scoped placement | after  |

    Examples:
      | placement                  | when   |
      | a cluster-scoped placement | before |
      | a namespaced placement     | after  |
      | a namespaced placement     | before |

  @without-task-labels @drift:staged-update-run-2026/approval-labels
  @drift:azure-update-run-api/approval-labels @drift:azure-namespaced-update-run-api/approval-labels
  Scenario Outline: A request of <placement> carries its run's name under a label in lower case, and nothing of its task
    Given <placement> "web" with strategy External selects "member-1"
    And a staged update strategy "asks" for placement "web"
      | stage   | members  | before   | after    |
      | staging | member-1 | Approval | Approval |
    When an update run "release" of placement "web" starts with strategy "asks"
    Then the approval request of update run "release" before stage "staging" has
      | field                                               | value     |
      | metadata.labels.kubernetes-fleet.io/targetupdaterun | {release} |
      | metadata.labels.kubernetes-fleet.io/targetUpdateRun | absent    |
      | metadata.labels.kubernetes-fleet.io/taskType        | absent    |
    When the approval request of update run "release" before stage "staging" is approved
    Then the approval request of update run "release" after stage "staging" has
      | field                                               | value     |
      | metadata.labels.kubernetes-fleet.io/targetupdaterun | {release} |
      | metadata.labels.kubernetes-fleet.io/targetUpdateRun | absent    |
      | metadata.labels.kubernetes-fleet.io/taskType        | absent    |

    Examples:
      | placement                  |
      | a cluster-scoped placement |
      | a namespaced placement     |

  @without-task-labels @without-before-stage-tasks @drift:staged-update-run-2026/approval-labels @drift:azure-update-run-api/approval-labels
  Scenario: A request after a stage carries its run's name under a label in lower case, and nothing of its task
    Given a cluster-scoped placement "web" with strategy External selects "member-1"
    And a staged update strategy "asks" for placement "web"
      | stage   | members  | after    |
      | staging | member-1 | Approval |
    When an update run "release" of placement "web" starts with strategy "asks"
    Then the approval request of update run "release" after stage "staging" has
      | field                                               | value     |
      | metadata.labels.kubernetes-fleet.io/targetupdaterun | {release} |
      | metadata.labels.kubernetes-fleet.io/targetUpdateRun | absent    |
      | metadata.labels.kubernetes-fleet.io/taskType        | absent    |

  @needs-task-labels @guide:staged-update-run-2026/approval-labels @guide:azure-update-run-api/approval-labels @guide:azure-namespaced-update-run-api/approval-labels
  Scenario Outline: A request of <placement> carries its run's name and its task as labels
    Given <placement> "web" with strategy External selects "member-1"
    And a staged update strategy "asks" for placement "web"
      | stage   | members  | before   | after    |
      | staging | member-1 | Approval | Approval |
    When an update run "release" of placement "web" starts with strategy "asks"
    Then the approval request of update run "release" before stage "staging" has
      | field                                               | value       |
      | metadata.labels.kubernetes-fleet.io/targetUpdateRun | {release}   |
      | metadata.labels.kubernetes-fleet.io/taskType        | beforeStage |
    When the approval request of update run "release" before stage "staging" is approved
    Then the approval request of update run "release" after stage "staging" has
      | field                                               | value       |
      | metadata.labels.kubernetes-fleet.io/targetUpdateRun | {release}   |
      | metadata.labels.kubernetes-fleet.io/taskType        | afterStage  |

    Examples:
      | placement                  |
      | a cluster-scoped placement |
      | a namespaced placement     |
