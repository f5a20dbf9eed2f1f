@kubefleet
Feature: A staged update run fails to initialize
  The guide "Staged Update Run TSG", section "Investigate ClusterStagedUpdateRun initialization failure": the run asks for
  a resource snapshot that doesn't exist.

  Background:
    Given a placement "web" with strategy External selects "member-1" and "member-2"
    And a staged update strategy "one-by-one" for placement "web"
      | stage   | members  |
      | staging | member-1 |
      | canary  | member-2 |

  @drill @KF-UR-001
  Scenario: The run asks for a resource snapshot index that doesn't exist
    When an update run "release" of placement "web" starts with strategy "one-by-one" at snapshot index "7"
    Then update run "release" reports
      | condition   | status | reason                    | message                                                        |
      | Initialized | False  | UpdateRunInitializedFailed | no resourceSnapshots with index `7` found for placement `/{web}` |
      | Progressing | absent |                           |                                                                |
      | Succeeded   | absent |                           |                                                                |
    And placement "web" reports
      | on       | condition      | status  | reason                                | message                                       |
      |          | Scheduled      | True    | SchedulingPolicyFulfilled             |                                               |
      |          | RolloutStarted | Unknown | RolloutControlledByExternalController | no resource snapshot name is observed across clusters |
      | member-1 | RolloutStarted | Unknown | RolloutStartedUnknown                 |                                               |
      | member-2 | RolloutStarted | Unknown | RolloutStartedUnknown                 |                                               |
    And the diagnosis of update run "release" is KF-UR-001
      | object                             | value                      |
      | ClusterStagedUpdateRun/{release}   | UpdateRunInitializedFailed |
      | ClusterStagedUpdateRun/{release}   | 7                          |
      | ClusterResourceSnapshot of {web}   | 0                          |
    When update run "release" is deleted
    And an update run "again" of placement "web" starts with strategy "one-by-one" at snapshot index "0"
    Then update run "again" succeeds
    And placement "web" becomes available on "member-1" and "member-2"
    And the diagnosis finds nothing
    When the resources of placement "web" change
    And an update run "next" of placement "web" starts with strategy "one-by-one"
    Then update run "next" succeeds
    And the resources of placement "web" are on "member-1" and "member-2"

  @drill
  Scenario: The run asks for a resource snapshot index that exists
    When an update run "release" of placement "web" starts with strategy "one-by-one" at snapshot index "0"
    Then update run "release" reports
      | condition   | status | reason                           |
      | Initialized | True   | UpdateRunInitializedSuccessfully |
      | Progressing | True   | UpdateRunProgressing             |
    And the diagnosis finds nothing
    And update run "release" succeeds
    And placement "web" becomes available on "member-1" and "member-2"
    And the diagnosis finds nothing
