@kubefleet
Feature: Requests for approval that nobody answers, or that are there already
  The guide "Staged Update Run TSG", section "ClusterApprovalRequest Troubleshooting": a run waits for its request
  without a time limit. It finds the request by name, RUN-before-STAGE or RUN-after-STAGE, whoever created it.

  @KF-UR-040
  Scenario Outline: Nobody approves <when> a stage of <placement>: the request is deleted, refused, and at last approved
    Given <placement> "web" with strategy External selects "member-1"
    And a staged update strategy "asks" for placement "web"
      | stage   | members  | <when>   |
      | staging | member-1 | Approval |
    When an update run "release" of placement "web" starts with strategy "asks"
    Then update run "release" reports
      | on            | condition   | status | reason               | message                                                     |
      |               | Progressing | False  | UpdateRunWaiting     | waiting for <when>-stage tasks in stage staging to complete |
      | stage staging | Progressing | False  | StageUpdatingWaiting |                                                             |
    And the approval request of update run "release" <when> stage "staging" is there, without an answer
    And the diagnosis of update run "release" is KF-UR-040
      | object                    | value              |
      | UpdateRun/                | UpdateRunWaiting   |
      | /{release}-<when>-staging | (absent)           |
    # The request is recreated, at once or (v0.14.0) at the next reconcile.
    When the approval request of update run "release" <when> stage "staging" is deleted
    Then the approval request of update run "release" <when> stage "staging" is there, without an answer
    And the diagnosis of update run "release" is KF-UR-040
    # A refusal has no effect: the run still waits.
    When the approval request of update run "release" <when> stage "staging" is refused
    Then the approval request of update run "release" <when> stage "staging" reports for 5 seconds
      | condition        | status | reason  |
      | Approved         | False  | refused |
      | ApprovalAccepted | absent |         |
    And update run "release" reports
      | on            | condition   | status | reason               |
      |               | Progressing | False  | UpdateRunWaiting     |
      |               | Succeeded   | absent |                      |
      | stage staging | Progressing | False  | StageUpdatingWaiting |
    And the diagnosis of update run "release" is KF-UR-040
      | object                    | value                  |
      | /{release}-<when>-staging | Approved=False refused |
    When the approval request of update run "release" <when> stage "staging" is approved
    Then the approval request of update run "release" <when> stage "staging" reports
      | condition        | status | reason                          |
      | ApprovalAccepted | True   | ApprovalRequestApprovalAccepted |
    And update run "release" succeeds
    And the resources of placement "web" are on "member-1"
    And the diagnosis finds nothing

    Examples:
      | placement                  | when   |
      | a cluster-scoped placement | after  |
      | a cluster-scoped placement | before |
      | a namespaced placement     | after  |
      | a namespaced placement     | before |

  @KF-UR-041
  Scenario Outline: A request of the same name <when> a stage of <placement> is another run's
    Given <placement> "web" with strategy External selects "member-1"
    And a staged update strategy "asks" for placement "web"
      | stage   | members  | <when>   |
      | staging | member-1 | Approval |
    And the approval request that update run "release" of placement "web" will make <when> stage "staging" is there already, for another run
    When an update run "release" of placement "web" starts with strategy "asks"
    Then update run "release" reports
      | on            | condition   | status | reason                           | message                                                                   |
      |               | Initialized | True   | UpdateRunInitializedSuccessfully |                                                                           |
      |               | Progressing | False  | UpdateRunFailed                  | The stages are aborted due to a non-recoverable error                     |
      |               | Succeeded   | False  | UpdateRunFailed                  | unexpected behavior which cannot be handled by the controller             |
      |               | Succeeded   | False  | UpdateRunFailed                  | {release}-<when>-staging` is targeting update run `                       |
      |               | Succeeded   | False  | UpdateRunFailed                  | {other}` and stage `staging`, want target update run `                    |
      | stage staging | Succeeded   | False  | StageUpdatingFailed              | is targeting update run `                                                 |
    And the diagnosis of update run "release" is KF-UR-041
      | object                    | value           |
      | UpdateRun/                | UpdateRunFailed |
      | /{release}-<when>-staging | {other}         |
    # The request's name contains the run's name, so a run with another name has another request.
    When update run "release" is deleted
    And an update run "next" of placement "web" starts with strategy "asks"
    And the approval request of update run "next" <when> stage "staging" is approved
    Then update run "next" succeeds
    And the resources of placement "web" are on "member-1"
    And the diagnosis finds nothing

    Examples:
      | placement                  | when   |
      | a cluster-scoped placement | after  |
      | a cluster-scoped placement | before |
      | a namespaced placement     | after  |
      | a namespaced placement     | before |

  Scenario Outline: The request <when> a stage of <placement> is there and approved before its run
    Given <placement> "web" with strategy External selects "member-1"
    And a staged update strategy "asks" for placement "web"
      | stage   | members  | <when>   |
      | staging | member-1 | Approval |
    And the approval request that update run "release" of placement "web" will make <when> stage "staging" is there already, and approved
    When an update run "release" of placement "web" starts with strategy "asks"
    Then update run "release" succeeds
    And the approval request of update run "release" <when> stage "staging" reports
      | condition        | status | reason                          |
      | Approved         | True   | approved                        |
      | ApprovalAccepted | True   | ApprovalRequestApprovalAccepted |
    And the resources of placement "web" are on "member-1"
    And the diagnosis finds nothing

    Examples:
      | placement                  | when   |
      | a cluster-scoped placement | after  |
      | a cluster-scoped placement | before |
      | a namespaced placement     | after  |
      | a namespaced placement     | before |
