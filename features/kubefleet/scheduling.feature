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

  # A list without any name isn't scheduled at all (v0.1.2), so it is no remedy to remove the names.
  @KF-SC-002
  Scenario: A placement names only members that don't exist
    Given a placement "web" selects by name "nowhere"
    Then placement "web" reports
      | condition | status | reason                      | message            |
      | Scheduled | False  | SchedulingPolicyUnfulfilled | found 0 cluster(s) |
    And the diagnosis of placement "web" is KF-SC-002
      | object                | value            |
      | MemberCluster/nowhere | (no such object) |
    When placement "web" selects by name "member-1" instead
    Then placement "web" becomes available on "member-1"
    And the diagnosis finds nothing

  # Nothing is scheduled while a selector is invalid, although the members are there.
  @KF-SC-003
  Scenario Outline: The placement's selectors name <what>
    Given a placement "web" has put its resources on "member-1"
    When placement "web" gets '{"resourceSelectors": [<selectors>]}'
    Then placement "web" reports
      | condition | status | reason                   | message   |
      | Scheduled | False  | InvalidResourceSelectors | <message> |
    And the diagnosis of placement "web" is KF-SC-003
      | object                         | value                     |
      | ClusterResourcePlacement/{web} | InvalidResourceSelectors  |
      | ClusterResourcePlacement/{web} | <selector>                |
    When placement "web" gets '{"resourceSelectors": [{"group": "", "version": "v1", "kind": "Namespace", "name": "{web}-app"}]}'
    Then placement "web" becomes available on "member-1"
    And the diagnosis finds nothing

    Examples:
      | what                     | message     | selector    | selectors |
      | an unknown kind          | no matches  | Widget      | {"group": "example.com", "version": "v1", "kind": "Widget", "name": "web"} |
      | a reserved namespace     | kube-public | kube-public | {"group": "", "version": "v1", "kind": "Namespace", "name": "kube-public"} |
      | the same namespace twice | {web}-app   | {web}-app   | {"group": "", "version": "v1", "kind": "Namespace", "name": "{web}-app"}, {"group": "", "version": "v1", "kind": "Namespace", "name": "{web}-app"} |

  # A selector that selects nothing yet is valid.
  Scenario: The placement's selector names a namespace that doesn't exist yet
    Given a placement "web" has put its resources on "member-1"
    When placement "web" gets '{"resourceSelectors": [{"group": "", "version": "v1", "kind": "Namespace", "name": "{web}-later"}]}'
    Then placement "web" reports
      | condition | status | reason                    |
      | Scheduled | True   | SchedulingPolicyFulfilled |
    And the diagnosis finds nothing
