@kubefleet
Feature: A placement can't have all the members that it asks for
  The placement is rolled out to the members that exist, and reports that members are missing.

  @KF-SC-002 @guide:placement-scheduled/common-scenarios/unknown-name
  @guide:azure-placement-scheduled/common-scenarios/unknown-name
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

  # Nothing is scheduled while a selector is invalid, although the members are there. The policy is PickAll, by which the guide
  # says that the condition is always True.
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

    # v0.14.0 takes the object once.
    @needs-namespaced-placements
    Examples:
      | what                     | message     | selector    | selectors |
      | the same namespace twice | {web}-app   | {web}-app   | {"group": "", "version": "v1", "kind": "Namespace", "name": "{web}-app"}, {"group": "", "version": "v1", "kind": "Namespace", "name": "{web}-app"} |

    @guide:placement-scheduled/condition @guide:azure-placement-scheduled/condition
    @guide:placement-scheduled/reserved-namespace/selected
    @guide:azure-placement-scheduled/reserved-namespace/selected
    @drift:placement-scheduled/pick-all @drift:azure-placement-scheduled/pick-all
    Examples:
      | what                     | message     | selector    | selectors |
      | a reserved namespace     | kube-public | kube-public | {"group": "", "version": "v1", "kind": "Namespace", "name": "kube-public"} |

  @KF-SC-003
  Scenario Outline: The selectors of a namespaced placement name <what>
    Given a namespaced placement "web" has put its resources on "member-1"
    When placement "web" gets '{"resourceSelectors": [<selectors>]}'
    Then placement "web" reports
      | condition | status | reason                   | message   |
      | Scheduled | False  | InvalidResourceSelectors | <message> |
    And the diagnosis of placement "web" is KF-SC-003
      | object             | value                     |
      | ResourcePlacement/ | InvalidResourceSelectors  |
      | ResourcePlacement/ | <selector>                |
    When placement "web" gets '{"resourceSelectors": [{"group": "", "version": "v1", "kind": "ConfigMap", "name": "settings"}]}'
    Then placement "web" becomes available on "member-1"
    And the diagnosis finds nothing

    Examples:
      | what                     | message     | selector    | selectors |
      | an unknown kind          | no matches  | Widget      | {"group": "example.com", "version": "v1", "kind": "Widget", "name": "web"} |
      | the same ConfigMap twice | settings    | settings    | {"group": "", "version": "v1", "kind": "ConfigMap", "name": "settings"}, {"group": "", "version": "v1", "kind": "ConfigMap", "name": "settings"} |
      | an object of the cluster | cannot select cluster-scoped resource | Namespace | {"group": "", "version": "v1", "kind": "Namespace", "name": "{web}-app"} |

  # A selector that selects nothing yet is valid, and what comes later is placed.
  @takes-60s @KF-SC-011
  Scenario: The placement's selector names a namespace that doesn't exist yet
    Given a placement "web" has put its resources on "member-1"
    When placement "web" gets '{"resourceSelectors": [{"group": "", "version": "v1", "kind": "Namespace", "name": "{web}-later"}]}'
    Then placement "web" reports
      | condition | status | reason                    |
      | Scheduled | True   | SchedulingPolicyFulfilled |
    And the diagnosis of placement "web" is KF-SC-011
      | object                         | value                     |
      | ClusterResourcePlacement/{web} | SchedulingPolicyFulfilled |
      | ClusterResourcePlacement/{web} | {web}-later               |
      | Namespace/{web}-later          | (no such object)          |
      | ClusterResourcePlacement/{web} |                           |
    When the administrator of the hub applies
      """
      {apiVersion: v1, kind: Namespace, metadata: {name: "{web}-later"}}
      """
    Then placement "web" has
      | field                             | value       |
      | status.selectedResources.0.name   | {web}-later |
    And the diagnosis finds nothing

  # In a namespace, too.
  @takes-60s @KF-SC-011
  Scenario: The selector of a namespaced placement names an object that doesn't exist yet
    Given a namespaced placement "web" has put its resources on "member-1"
    When placement "web" gets '{"resourceSelectors": [{"group": "", "version": "v1", "kind": "ConfigMap", "name": "later"}]}'
    Then the diagnosis of placement "web" is KF-SC-011
      | object             | value                     |
      | ResourcePlacement/ | SchedulingPolicyFulfilled |
      | ResourcePlacement/ | later                     |
    When placement "web" gets '{"resourceSelectors": [{"group": "", "version": "v1", "kind": "ConfigMap", "name": "settings"}]}'
    Then placement "web" becomes available on "member-1"
    And the diagnosis finds nothing
    And a change to the resources of placement "web" arrives on "member-1"

  @KF-SC-001 @guide:placement-scheduled/common-scenarios/too-few-joined
  @guide:azure-placement-scheduled/common-scenarios/too-few-joined
  Scenario Outline: <placement> asks for more members than have joined the fleet
    Given <placement> "web" selects 99 of "member-1" and "member-2"
    Then placement "web" reports
      | on       | condition | status | reason                      | message                    |
      |          | Scheduled | False  | SchedulingPolicyUnfulfilled | found 2 cluster(s) instead |
      | member-1 | Scheduled | True   | Scheduled                   |                            |
      | member-2 | Scheduled | True   | Scheduled                   |                            |
    And the diagnosis of placement "web" is KF-SC-001
      | object             | value                       |
      | ResourcePlacement/ | SchedulingPolicyUnfulfilled |
      | ResourcePlacement/ | numberOfClusters            |
    When placement "web" asks for 2 members
    Then placement "web" becomes available on "member-1" and "member-2"
    # Another number makes no other policy snapshot.
    And the policy snapshots of placement "web" has
      | field                                                       | value   |
      | metadata.name                                               | {web}-0 |
      | metadata.annotations.kubernetes-fleet.io/number-of-clusters | 2       |
      | spec.policy.numberOfClusters                                | 99      |
    And a change to the resources of placement "web" arrives on "member-1" and "member-2"
    And the diagnosis finds nothing

    Examples:
      | placement                  |
      | a cluster-scoped placement |
      | a namespaced placement     |
