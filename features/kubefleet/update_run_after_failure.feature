@kubefleet @takes-100s
Feature: What becomes of a failed update run
  A run that has failed stays as it is. What happens later, to its placement or by another run, doesn't change why it
  failed, but may make up for it.

  Background:
    Given a placement "web" with strategy External selects "member-1" and "member-2"
    And a staged update strategy "asks" for placement "web"
      | stage   | members  | after    |
      | staging | member-1 | Approval |
      | canary  | member-2 |          |
    And an update run "release" of placement "web" starts with strategy "asks"
    And update run "release" reports
      | on            | condition   | status | reason               |
      |               | Progressing | False  | UpdateRunWaiting     |
      | stage staging | Progressing | False  | StageUpdatingWaiting |
    When the apply strategy of placement "web" changes
    Then update run "release" reports
      | condition | status | reason          | message                                        |
      | Succeeded | False  | UpdateRunFailed | the applyStrategy in the updateRun is outdated |
    And the diagnosis of update run "release" is KF-UR-031

  @KF-UR-031
  Scenario: A newer run succeeds
    When an update run "again" of placement "web" starts with strategy "asks"
    Then the approval request of update run "again" after stage "staging" is there, without an answer
    # As long as the newer run goes on, the failure is nobody's past.
    When the approval request of update run "again" after stage "staging" is approved
    Then update run "again" succeeds
    And placement "web" becomes available on "member-1" and "member-2"
    And the diagnosis of update run "release" is KF-UR-031, superseded by update run "again"
    When update run "release" is deleted
    Then the diagnosis finds nothing

  @KF-UR-031
  Scenario: The placement is deleted later
    When placement "web" is deleted
    Then the diagnosis of update run "release" is KF-UR-031
      | object                           | value    |
      | ClusterStagedUpdateRun/{release} | outdated |
    When update run "release" is deleted
    Then the diagnosis finds nothing
