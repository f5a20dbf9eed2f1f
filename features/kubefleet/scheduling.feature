@kubefleet
Feature: A placement can't have all the members that it asks for
  The placement is rolled out to the members that exist, and reports that members are missing.

  @KF-SC-002
  Scenario Outline: <placement> names a member that doesn't exist
    Given <placement> "web" selects by name "member-1" and "nowhere"
    Then placement "web" reports
      | on       | condition | status | reason                      | message                                                                                                |
      |          | Scheduled | False  | SchedulingPolicyUnfulfilled | could not find all clusters needed as specified by the scheduling policy, found 1 cluster(s) instead  |
      | member-1 | Scheduled | True   | Scheduled                   |                                                                                                        |
      | member-1 | Available | True   | AllWorkAreAvailable         |                                                                                                        |
    And the diagnosis of placement "web" is KF-SC-002
      | object                 | value                                    |
      | ResourcePlacement/     | Specified cluster "nowhere" is not found |
      | MemberCluster/nowhere  | (no such object)                         |
    When placement "web" selects by name "member-1" instead
    Then placement "web" becomes available on "member-1"
    And the diagnosis finds nothing

    Examples:
      | placement                  |
      | a cluster-scoped placement |
      | a namespaced placement     |
