@kubefleet
Feature: An object isn't applied on a member
  WorkSynchronized is True: the Work exists, but the member's agent can't apply it, or isn't allowed to. The guides on
  WorkSynchronized don't describe this failure, although it looks similar at first.

  @KF-AP-002
  Scenario Outline: The object was there before and isn't taken over, of <placement>
    Given "member-1" has a ConfigMap already where placement "web" will put one
    When <placement> "web" selects "member-1" and applies with '<strategy>'
    Then placement "web" reports
      | on       | condition        | status | reason                    | message             |
      |          | WorkSynchronized | True   | WorkSynchronized          |                     |
      |          | Applied          | False  | ApplyFailed               |                     |
      | member-1 | Applied          | False  | NotAllWorkHaveBeenApplied | has failed to apply |
    And the diagnosis of placement "web" is KF-AP-002 for "member-1"
      | object             | value                          |
      | ResourcePlacement/ | <reason>                       |
      | ResourcePlacement/ | <message>                      |
    When placement "web" gets '{"strategy": {"applyStrategy": {"whenToTakeOver": "Always"}}}'
    Then placement "web" becomes available on "member-1"
    And the diagnosis finds nothing
    And a change to the resources of placement "web" arrives on "member-1"

    Examples:
      | placement                  | strategy                       | reason           | message                                  |
      | a cluster-scoped placement | {"whenToTakeOver": "Never"}    | NotTakenOver     | takeover is needed                       |
      | a namespaced placement     | {"whenToTakeOver": "IfNoDiff"} | FailedToTakeOver | configuration differences are found      |

  @passes:KF-AP-007 @KF-AP-003
  Scenario Outline: Another placement has the object already: <placement>
    Given <placement> "base" has put its resources on "member-1"
    When <placement> "web" selects what placement "base" places, for "member-1"
    Then placement "web" reports
      | on       | condition        | status | reason                    | message             |
      |          | WorkSynchronized | True   | WorkSynchronized          |                     |
      | member-1 | Applied          | False  | NotAllWorkHaveBeenApplied | has failed to apply |
    And the diagnosis of placement "web" is KF-AP-003 for "member-1"
      | object             | value                    |
      | ResourcePlacement/ | FailedToTakeOver         |
      | ResourcePlacement/ | already owned by         |
    When placement "base" is deleted
    Then placement "web" becomes available on "member-1"
    And the diagnosis finds nothing

    Examples:
      | placement                  |
      | a cluster-scoped placement |
      | a namespaced placement     |

  @KF-AP-004
  Scenario Outline: Somebody has changed the object on the member: <placement>
    Given <placement> "web" selects "member-1" and applies with '{"whenToApply": "IfNotDrifted"}'
    And placement "web" becomes available on "member-1"
    When somebody changes the ConfigMap of placement "web" on "member-1"
    Then placement "web" reports
      | on       | condition | status | reason                    | message             |
      | member-1 | Applied   | False  | NotAllWorkHaveBeenApplied | has failed to apply |
    And the diagnosis of placement "web" is KF-AP-004 for "member-1"
      | object             | value                                         |
      | ResourcePlacement/ | FoundDrifts                                   |
      | ResourcePlacement/ | on the hub (removed), on the member (removed) |
    When placement "web" gets '{"strategy": {"applyStrategy": {"whenToApply": "Always"}}}'
    Then placement "web" becomes available on "member-1"
    And the diagnosis finds nothing

    Examples:
      | placement                  |
      | a cluster-scoped placement |
      | a namespaced placement     |

  @KF-AP-005
  Scenario Outline: The member doesn't know the kind of an enveloped object, <placement>
    Given <placement> "web" has put its resources on "member-1"
    When the resources of placement "web" include a ResourceEnvelope with '{"apiVersion":"example.com/v1","kind":"Foo","metadata":{"name":"x","namespace":"{web}-app"}}'
    Then placement "web" reports
      | on       | condition        | status | reason                    | message             |
      |          | WorkSynchronized | True   | WorkSynchronized          |                     |
      | member-1 | Applied          | False  | NotAllWorkHaveBeenApplied | has failed to apply |
    And the diagnosis of placement "web" is KF-AP-005 for "member-1"
      | object             | value         |
      | ResourcePlacement/ | DecodingErred |
    When the ResourceEnvelope of placement "web" is corrected to '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x","namespace":"{web}-app"}}'
    Then placement "web" becomes available on "member-1"
    And the diagnosis finds nothing

    Examples:
      | placement                  |
      | a cluster-scoped placement |
      | a namespaced placement     |

  @KF-AP-009
  Scenario: An enveloped object of a namespaced kind has no namespace
    Given a placement "web" has put its resources on "member-1"
    When the resources of placement "web" include a ClusterResourceEnvelope with '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"}}'
    Then placement "web" reports
      | on       | condition        | status | reason                    | message             |
      |          | WorkSynchronized | True   | WorkSynchronized          |                     |
      | member-1 | Applied          | False  | NotAllWorkHaveBeenApplied | has failed to apply |
    And within 60 seconds the diagnosis of placement "web" is KF-AP-009 for "member-1"
      | object             | value               |
      | ResourcePlacement/ | ManifestApplyFailed |
    When the ClusterResourceEnvelope of placement "web" is corrected to '{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole","metadata":{"name":"{web}-x"}}'
    Then placement "web" becomes available on "member-1"
    And the diagnosis finds nothing

  @KF-AP-006 @guide:placement-applied/general-notes/namespace-first
  @guide:resource-placement/namespace/missing @guide:resource-placement/namespace/by-placement
  @guide:azure-resource-placement/namespace/missing @guide:azure-resource-placement/namespace/by-placement
  Scenario: A ResourcePlacement whose namespace isn't on the member
    Given a namespaced placement "web" selects "member-1", where its namespace isn't
    Then placement "web" reports
      | on       | condition        | status | reason                    | message             |
      |          | WorkSynchronized | True   | WorkSynchronized          |                     |
      | member-1 | Applied          | False  | NotAllWorkHaveBeenApplied | has failed to apply |
    And within 60 seconds the diagnosis of placement "web" is KF-AP-006 for "member-1"
      | object             | value                            |
      | ResourcePlacement/ | namespaces "{web}-app" not found |
    When the namespace of placement "web" is placed too
    Then placement "web" becomes available on "member-1"
    And the diagnosis finds nothing
