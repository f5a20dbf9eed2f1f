@kubefleet
Feature: A placement only compares
  With applyStrategy.type ReportDiff the member agent applies nothing. The placement has the condition DiffReported in place of Applied and
  Available. It is True if all objects could be compared, whether or not they differ.

  @KF-DR-001
  @guide:placement-diff-reported/strategy/only-report-diff
  @guide:placement-diff-reported/approaches/partial-dry-run
  @guide:drift-and-diff-detection/diff/report-diff
  @guide:drift-and-diff-detection/diff/per-cluster
  @guide:drift-and-diff-detection/diff/regardless-of-ownership
  @guide:drift-and-diff-detection/diff/not-blocked
  Scenario Outline: An object differs from the hub's: <placement>
    Given "member-1" has a ConfigMap already where placement "web" will put one
    And "member-2" has a ConfigMap already where placement "web" will put one
    When <placement> "web" selects "member-1" and "member-2" and applies with '{"type": "ReportDiff", "whenToTakeOver": "Never"}'
    Then placement "web" reports
      | on       | condition    | status | reason                  | message                                         |
      |          | DiffReported | True   | DiffReportingCompleted  |                                                 |
      |          | Applied      | absent |                         |                                                 |
      |          | Available    | absent |                         |                                                 |
      | member-1 | DiffReported | True   | AllWorkHaveDiffReported | All corresponding work objects have reported diff |
      | member-1 | Applied      | absent |                         |                                                 |
    And placement "web" has
      | field                                                                                                        | value            |
      | status.placementStatuses.clusterName=member-1.diffedPlacements.name=settings.observedDiffs.0.path            | /data/revision   |
      | status.placementStatuses.clusterName=member-1.diffedPlacements.name=settings.observedDiffs.0.valueInHub      | 0                |
      | status.placementStatuses.clusterName=member-1.diffedPlacements.name=settings.observedDiffs.0.valueInMember   | the member's own |
    And object "ConfigMap/{web}-app/settings" of "member-1" has
      | field                    | value            |
      | data.revision            | the member's own |
      | metadata.ownerReferences | absent           |
    And the diagnosis of placement "web" is KF-DR-001
      | object             | value                                         |
      | ResourcePlacement/ | on the hub (removed), on the member (removed) |
      | ResourcePlacement/ | AllWorkHaveDiffReported                       |
      | ResourcePlacement/ | ReportDiff                                    |
    When the resources of placement "web" change
    Then placement "web" has
      | field                                                                                                   | value |
      | status.placementStatuses.clusterName=member-1.diffedPlacements.name=settings.observedDiffs.0.valueInHub | 1     |
      | status.placementStatuses.clusterName=member-2.diffedPlacements.name=settings.observedDiffs.0.valueInHub | 1     |
    When placement "web" gets '{"strategy": {"applyStrategy": {"type": "ClientSideApply", "whenToTakeOver": "Always"}}}'
    Then placement "web" becomes available on "member-1" and "member-2"
    And placement "web" reports
      | on       | condition    | status |
      |          | DiffReported | absent |
      | member-1 | DiffReported | absent |
    And the diagnosis finds nothing
    And a change to the resources of placement "web" arrives on "member-1" and "member-2"

    Examples:
      | placement                  |
      | a cluster-scoped placement |
      | a namespaced placement     |

  @KF-DR-001
  @guide:placement-diff-reported/approaches/missing-object
  @guide:drift-and-diff-detection/diff/absence
  Scenario Outline: The member doesn't have the object: <placement>
    When <placement> "web" selects "member-1" and applies with '{"type": "ReportDiff"}'
    Then placement "web" reports
      | on       | condition    | status | reason                  |
      |          | DiffReported | True   | DiffReportingCompleted  |
      | member-1 | DiffReported | True   | AllWorkHaveDiffReported |
    And placement "web" has
      | field                                                                                                      | value              |
      | status.placementStatuses.clusterName=member-1.diffedPlacements.name=settings.observedDiffs.0.path          | /                  |
      | status.placementStatuses.clusterName=member-1.diffedPlacements.name=settings.observedDiffs.0.valueInHub    | (the whole object) |
      | status.placementStatuses.clusterName=member-1.diffedPlacements.name=settings.observedDiffs.0.valueInMember | absent             |
    And the diagnosis of placement "web" is KF-DR-001 for "member-1"
    When placement "web" gets '{"strategy": {"applyStrategy": {"type": "ClientSideApply"}}}'
    Then placement "web" becomes available on "member-1"
    And the diagnosis finds nothing

    Examples:
      | placement                  |
      | a cluster-scoped placement |
      | a namespaced placement     |

  @healthy @takes-60s
  @guide:placement-diff-reported/strategy
  @guide:drift-and-diff-detection/diff/partial-ignores-unmanaged
  Scenario Outline: A comparison that finds no difference: <placement>
    Given <placement> "web" selects "member-1" and applies with '{"type": "ClientSideApply"}'
    And placement "web" becomes available on "member-1"
    And placement "web" reports
      | on       | condition    | status |
      |          | DiffReported | absent |
      | member-1 | DiffReported | absent |
    # Before the comparison: a change in the middle of one is taken for a difference (docs/findings.md).
    When the administrator of "member-1" applies
      """
      apiVersion: v1
      kind: ConfigMap
      metadata: {name: settings, namespace: "{web}-app", labels: {colour: blue}}
      data: {extra: added on the member}
      """
    And placement "web" gets '{"strategy": {"applyStrategy": {"type": "ReportDiff"}}}'
    Then placement "web" reports
      | on       | condition    | status | reason                  |
      |          | DiffReported | True   | DiffReportingCompleted  |
      |          | Applied      | absent |                         |
      |          | Available    | absent |                         |
      | member-1 | DiffReported | True   | AllWorkHaveDiffReported |
    And the diagnosis finds nothing
    And placement "web" has for 15 seconds
      | field                                                          | value  |
      | status.placementStatuses.clusterName=member-1.diffedPlacements | absent |
    And placement "web" reports
      | on       | condition    | status |
      | member-1 | DiffReported | True   |
    And the diagnosis finds nothing
    When placement "web" gets '{"strategy": {"applyStrategy": {"type": "ClientSideApply"}}}'
    Then placement "web" becomes available on "member-1"
    And a change to the resources of placement "web" arrives on "member-1"

    Examples:
      | placement                  |
      | a cluster-scoped placement |
      | a namespaced placement     |

  @KF-DR-001
  @guide:drift-and-diff-detection/diff/full-shows-unmanaged
  Scenario: A full comparison counts fields that the hub's objects don't set
    Given a placement "web" has put its resources on "member-1"
    And the administrator of "member-1" applies
      """
      apiVersion: v1
      kind: ConfigMap
      metadata: {name: settings, namespace: "{web}-app"}
      data: {extra: added on the member}
      """
    When placement "web" gets '{"strategy": {"applyStrategy": {"type": "ReportDiff", "comparisonOption": "FullComparison"}}}'
    Then placement "web" has
      | field                                                                                                                       | value               |
      | status.placementStatuses.clusterName=member-1.diffedPlacements.name=settings.observedDiffs.path=/data/extra.valueInMember    | added on the member |
    And the diagnosis of placement "web" is KF-DR-001 for "member-1"
    When placement "web" gets '{"strategy": {"applyStrategy": {"comparisonOption": "PartialComparison"}}}'
    Then placement "web" has
      | field                                                          | value  |
      | status.placementStatuses.clusterName=member-1.diffedPlacements | absent |
    And placement "web" reports
      | on       | condition    | status |
      | member-1 | DiffReported | True   |
    And the diagnosis finds nothing

  # The member agent takes over what is there before it compares, unless whenToTakeOver is Never.
  @KF-DR-001
  Scenario Outline: A comparison takes an object over, and the placement's deletion deletes it: <placement>
    Given "member-1" has a ConfigMap already where placement "web" will put one
    When <placement> "web" selects "member-1" and applies with '{"type": "ReportDiff"}'
    Then placement "web" reports
      | on       | condition    | status | reason                  |
      | member-1 | DiffReported | True   | AllWorkHaveDiffReported |
    And object "ConfigMap/{web}-app/settings" of "member-1" has
      | field                           | value            |
      | data.revision                   | the member's own |
      | metadata.ownerReferences.0.kind | AppliedWork      |
    And the diagnosis of placement "web" is KF-DR-001 for "member-1"
    When placement "web" is deleted
    Then the resources of placement "web" are gone from "member-1"

    Examples:
      | placement                  |
      | a cluster-scoped placement |
      | a namespaced placement     |

  # v0.14.0 doesn't say why.
  @KF-DR-003 @needs-degraded-comparison
  @guide:placement-diff-reported/condition
  @drift:drift-and-diff-detection/diff/placed-by-another-placement
  Scenario Outline: Another placement owns the object that is to be compared: <placement>
    Given <placement> "base" has put its resources on "member-1"
    When <placement> "web" selects what placement "base" places, for "member-1" and applies with '{"type": "ReportDiff"}'
    Then placement "web" reports
      | on       | condition    | status | reason                          | message                   |
      |          | DiffReported | False  | DiffReportingIncompleteOrFailed |                           |
      | member-1 | DiffReported | False  | NotAllWorkHaveDiffReported      | has failed to report diff |
    And placement "web" has
      | field                                                          | value  |
      | status.placementStatuses.clusterName=member-1.failedPlacements | absent |
      | status.placementStatuses.clusterName=member-1.diffedPlacements | absent |
    And the diagnosis of placement "web" is KF-DR-003 for "member-1"
      | object             | value                                        |
      | ResourcePlacement/ | NotAllWorkHaveDiffReported                   |
      | Work/              | FailedToTakeOver                             |
      | ResourcePlacement/ | ReportDiff                                   |
    When placement "web" gets '{"strategy": {"applyStrategy": {"whenToTakeOver": "Never"}}}'
    Then placement "web" reports
      | on       | condition    | status | reason                  |
      |          | DiffReported | True   | DiffReportingCompleted  |
      | member-1 | DiffReported | True   | AllWorkHaveDiffReported |
    And the diagnosis finds nothing

    Examples:
      | placement                  |
      | a cluster-scoped placement |
      | a namespaced placement     |

  @KF-DR-004 @passes:KF-DR-001 @takes-60s
  @guide:placement-diff-reported/condition
  @guide:placement-diff-reported/causes/one-resource
  @guide:placement-diff-reported/approaches/partial-dry-run
  @guide:placement-diff-reported/failures
  @guide:placement-diff-reported/investigation/works-by-label
  @guide:placement-diff-reported/investigation/identifier
  @guide:placement-diff-reported/investigation/message
  @guide:placement-diff-reported/resolution
  @drift:placement-diff-reported/investigation/per-cluster-condition
  @drift:placement-diff-reported/investigation/manifest-condition
  Scenario Outline: A policy on the member refuses the dry run: <placement>
    Given "member-1" has a ConfigMap already where placement "web" will put one
    And the administrator of "member-1" applies
      """
      apiVersion: admissionregistration.k8s.io/v1
      kind: ValidatingAdmissionPolicy
      metadata: {name: "{web}-frozen"}
      spec:
        failurePolicy: Fail
        matchConstraints:
          resourceRules:
            - {apiGroups: [""], apiVersions: ["*"], operations: [CREATE, UPDATE], resources: [configmaps]}
        matchConditions: [{name: ours, expression: "object.metadata.namespace == '{web}-app'"}]
        validations: [{expression: "false", message: this namespace is frozen, reason: Forbidden}]
      ---
      apiVersion: admissionregistration.k8s.io/v1
      kind: ValidatingAdmissionPolicyBinding
      metadata: {name: "{web}-frozen"}
      spec: {policyName: "{web}-frozen", validationActions: [Deny]}
      """
    And "member-1" refuses with "this namespace is frozen" to create
      """
      apiVersion: v1
      kind: ConfigMap
      metadata: {name: tried, namespace: "{web}-app"}
      """
    When <placement> "web" selects "member-1" and applies with '{"type": "ReportDiff", "whenToTakeOver": "Never"}'
    Then placement "web" reports
      | on       | condition                            | status | reason                          | message                   |
      |          | DiffReported                         | False  | DiffReportingIncompleteOrFailed |                           |
      | member-1 | DiffReported                         | False  | NotAllWorkHaveDiffReported      | has failed to report diff |
      | member-1 | ClusterResourcePlacementDiffReported | absent |                                 |                           |
      | member-1 | ResourcePlacementDiffReported        | absent |                                 |                           |
    And the Work of placement "web" for "member-1" has
      | field                                                                                                            | value              |
      | metadata.namespace                                                                                               | fleet-member-member-1 |
      | metadata.labels.kubernetes-fleet.io/parent-CRP                                                                   | {web}              |
      | status.manifestConditions.<place>.identifier.kind                                                                | ConfigMap          |
      | status.manifestConditions.<place>.identifier.version                                                             | v1                 |
      | status.manifestConditions.<place>.identifier.namespace                                                           | {web}-app          |
      | status.manifestConditions.<place>.identifier.name                                                                | settings           |
      | status.manifestConditions.<place>.conditions.type=DiffReported.status                                            | False              |
      | status.manifestConditions.<place>.conditions.type=DiffReported.reason                                            | FailedToReportDiff |
      | status.manifestConditions.<place>.conditions.type=ClusterResourcePlacementDiffReported                           | absent             |
      | status.manifestConditions.<place>.conditions.type=ResourcePlacementDiffReported                                  | absent             |
      | status.manifestConditions.<other>.conditions.type=DiffReported.status                                            | <other status>     |
    And within 60 seconds the diagnosis of placement "web" is KF-DR-004 for "member-1"
      | object             | value                      |
      | ResourcePlacement/ | NotAllWorkHaveDiffReported |
      | Work/              | FailedToReportDiff         |
      | Work/              | this namespace is frozen   |
      | ResourcePlacement/ | ReportDiff                 |
    When object "ValidatingAdmissionPolicyBinding/{web}-frozen" of "member-1" is deleted
    Then placement "web" reports
      | on       | condition    | status | reason                  |
      |          | DiffReported | True   | DiffReportingCompleted  |
      | member-1 | DiffReported | True   | AllWorkHaveDiffReported |
    And placement "web" has
      | field                                                                                                       | value            |
      | status.placementStatuses.clusterName=member-1.diffedPlacements.name=settings.observedDiffs.0.valueInMember  | the member's own |
    When placement "web" gets '{"strategy": {"applyStrategy": {"type": "ClientSideApply", "whenToTakeOver": "Always"}}}'
    Then placement "web" becomes available on "member-1"
    And the diagnosis finds nothing

    Examples:
      | placement                  | place | other | other status |
      | a cluster-scoped placement | 1     | 0     | True         |
      | a namespaced placement     | 0     | 1     | absent       |

  # What a policy without a reason of its own refuses is Invalid, as what the API server itself refuses.
  @KF-DR-005 @passes:KF-DR-001 @needs-degraded-comparison
  @guide:placement-diff-reported/approaches/full-comparison
  @drift:placement-diff-reported/causes/completed-means-true
  Scenario Outline: A field that can't be changed hides all differences: <placement>
    Given "member-1" has a ConfigMap already where placement "web" will put one
    And the administrator of "member-1" applies
      """
      apiVersion: v1
      kind: ConfigMap
      metadata: {name: settings, namespace: "{web}-app"}
      immutable: true
      """
    When <placement> "web" selects "member-1" and applies with '{"type": "ReportDiff", "whenToTakeOver": "Never"}'
    Then placement "web" reports
      | on       | condition    | status | reason                          | message                   |
      |          | DiffReported | False  | DiffReportingIncompleteOrFailed |                           |
      | member-1 | DiffReported | False  | NotAllWorkHaveDiffReported      | has failed to report diff |
    And the Work of placement "web" for "member-1" has
      | field                                                                                 | value                   |
      | status.manifestConditions.<place>.identifier.name                                     | settings                |
      | status.manifestConditions.<place>.conditions.type=DiffReported.status                 | True                    |
      | status.manifestConditions.<place>.conditions.type=DiffReported.reason                 | FoundDiffInDegradedMode |
      | status.manifestConditions.<place>.diffDetails.observedDiffs.path=/data/revision.valueInHub | 0                  |
    And placement "web" has
      | field                                                          | value  |
      | status.placementStatuses.clusterName=member-1.diffedPlacements | absent |
    And the diagnosis of placement "web" is KF-DR-005 for "member-1"
      | object             | value                                         |
      | ResourcePlacement/ | NotAllWorkHaveDiffReported                    |
      | Work/              | FoundDiffInDegradedMode                       |
      | Work/              | on the hub (removed), on the member (removed) |
      | ResourcePlacement/ | ReportDiff                                    |
    When placement "web" gets '{"strategy": {"applyStrategy": {"comparisonOption": "FullComparison"}}}'
    Then placement "web" reports
      | on       | condition    | status | reason                  |
      |          | DiffReported | True   | DiffReportingCompleted  |
      | member-1 | DiffReported | True   | AllWorkHaveDiffReported |
    And placement "web" has
      | field                                                                                                                     | value |
      | status.placementStatuses.clusterName=member-1.diffedPlacements.name=settings.observedDiffs.path=/data/revision.valueInHub | 0     |
    And the diagnosis of placement "web" is KF-DR-001 for "member-1"

    Examples:
      | placement                  | place |
      | a cluster-scoped placement | 1     |
      | a namespaced placement     | 0     |

  # A member on which a comparison has failed counts as unavailable, and isn't among those that may be updated all the same: even the
  # correction of the hub's object doesn't get to it.
  @KF-DR-005 @passes:KF-RO-002 @passes:KF-DR-001 @takes-60s @needs-degraded-comparison
  @guide:drift-and-diff-detection/diff/not-while-rolling-out
  Scenario Outline: A failed comparison keeps a change of the resources from all members: <placement>
    Given "member-1" has a ConfigMap already where placement "web" will put one
    And "member-2" has a ConfigMap already where placement "web" will put one
    And the administrator of "member-1" applies
      """
      apiVersion: v1
      kind: ConfigMap
      metadata: {name: settings, namespace: "{web}-app"}
      immutable: true
      """
    And <placement> "web" selects "member-1" and "member-2" and applies with '{"type": "ReportDiff", "whenToTakeOver": "Never"}'
    And placement "web" reports
      | on       | condition    | status |
      | member-1 | DiffReported | False  |
      | member-2 | DiffReported | True   |
    And placement "web" has
      | field                                                                        | value     |
      | status.placementStatuses.clusterName=member-2.diffedPlacements.name=settings.kind | ConfigMap |
    When the resources of placement "web" change
    Then placement "web" reports for 10 seconds
      | on       | condition      | status | reason               | message                                              |
      | member-1 | RolloutStarted | False  | RolloutNotStartedYet | The rollout is being blocked by the rollout strategy |
      | member-2 | RolloutStarted | False  | RolloutNotStartedYet | The rollout is being blocked by the rollout strategy |
    And placement "web" has
      | field                                                          | value  |
      | status.placementStatuses.clusterName=member-2.diffedPlacements | absent |
    And within 60 seconds the diagnosis of placement "web" is KF-DR-005 for "member-1"
    When placement "web" gets '{"strategy": {"applyStrategy": {"comparisonOption": "FullComparison"}}}'
    Then placement "web" has
      | field                                                                                                                     | value |
      | status.placementStatuses.clusterName=member-1.diffedPlacements.name=settings.observedDiffs.path=/data/revision.valueInHub | 1     |
      | status.placementStatuses.clusterName=member-2.diffedPlacements.name=settings.observedDiffs.path=/data/revision.valueInHub | 1     |

    Examples:
      | placement                  |
      | a cluster-scoped placement |
      | a namespaced placement     |

  @KF-DR-009 @needs-envelopes
  Scenario Outline: The member doesn't know the kind of an enveloped object that is to be compared, <placement>
    Given <placement> "web" has put its resources on "member-1"
    When the resources of placement "web" include a ResourceEnvelope with '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x","namespace":"{web}-app"}}'
    Then placement "web" becomes available on "member-1"
    When placement "web" gets '{"strategy": {"applyStrategy": {"type": "ReportDiff"}}}'
    Then placement "web" reports
      | on       | condition    | status |
      | member-1 | DiffReported | True   |
    When the ResourceEnvelope of placement "web" is corrected to '{"apiVersion":"example.com/v1","kind":"Foo","metadata":{"name":"x","namespace":"{web}-app"}}'
    Then placement "web" reports
      | on       | condition    | status | reason                     |
      | member-1 | DiffReported | False  | NotAllWorkHaveDiffReported |
    And within 120 seconds the diagnosis of placement "web" is KF-DR-009 for "member-1"
      | object             | value                      |
      | ResourcePlacement/ | NotAllWorkHaveDiffReported |
      | Work/              | DecodingErred              |

    Examples:
      | placement                  |
      | a cluster-scoped placement |
      | a namespaced placement     |

  # https://github.com/kubefleet-dev/kubefleet/issues/804
  @takes-60s @passes:KF-UR-052
  Scenario Outline: What a comparison misses was never rolled out to the member: <placement>
    Given <placement> "base" with strategy External selects "member-1"
    And a staged update strategy "all" for placement "base"
      | stage | labelled |
      | all   | member-1 |
    And an update run "first" of placement "base" starts with strategy "all"
    And update run "first" succeeds
    When placement "base" selects "member-2" too
    And <placement> "web" selects what placement "base" places, for "member-1" and "member-2" and applies with '{"type": "ReportDiff", "whenToTakeOver": "Never"}'
    Then placement "web" reports
      | on       | condition    | status | reason                  |
      | member-1 | DiffReported | True   | AllWorkHaveDiffReported |
      | member-2 | DiffReported | True   | AllWorkHaveDiffReported |
    And placement "base" reports
      | on       | condition      | status  |
      | member-1 | Available      | True    |
      | member-2 | RolloutStarted | Unknown |
    And placement "web" has
      | field                                                                                             | value  |
      | status.placementStatuses.clusterName=member-1.diffedPlacements                                    | absent |
      | status.placementStatuses.clusterName=member-2.diffedPlacements.name=settings.observedDiffs.0.path | /      |
    When "member-2" is put into stage "all" of strategy "all"
    And an update run "second" of placement "base" starts with strategy "all"
    Then update run "second" succeeds
    And placement "web" has
      | field                                                          | value  |
      | status.placementStatuses.clusterName=member-2.diffedPlacements | absent |
    And the diagnosis finds nothing

    Examples:
      | placement                  |
      | a cluster-scoped placement |
      | a namespaced placement     |

  # On v0.14.0 such a run doesn't end.
  @KF-DR-001 @needs-namespaced-placements
  Scenario Outline: An update run of a placement that only compares succeeds, and a new member waits for the next run: <placement>
    Given <placement> "web" with strategy External selects "member-1"
    And a staged update strategy "all" for placement "web"
      | stage | members  |
      | all   | member-1 |
    When placement "web" gets '{"strategy": {"applyStrategy": {"type": "ReportDiff", "whenToTakeOver": "Never"}}}'
    # The hub-agent has seen the change before the run records the strategy.
    Then placement "web" reports
      | condition | status |
      | Scheduled | True   |
    When an update run "first" of placement "web" starts with strategy "all"
    Then update run "first" succeeds
    And placement "web" reports
      | on       | condition    | status | reason                  |
      |          | DiffReported | True   | DiffReportingCompleted  |
      | member-1 | DiffReported | True   | AllWorkHaveDiffReported |
    And the diagnosis of placement "web" is KF-DR-001 for "member-1"
    When placement "web" selects "member-2" too
    Then placement "web" reports
      | on       | condition      | status  |
      | member-2 | RolloutStarted | Unknown |
      | member-2 | DiffReported   | absent  |

    Examples:
      | placement                  |
      | a cluster-scoped placement |
      | a namespaced placement     |

  @drift:placement-diff-reported/approaches/value-of-comparison-option
  Scenario Outline: The comparison option that the guide names is refused: <placement>
    Given <placement> "web" has put its resources on "member-1"
    Then placement "web" gets '{"strategy": {"applyStrategy": {"comparisonOption": "partialComparison"}}}', which is refused with "supported values: "
    And the diagnosis finds nothing

    Examples:
      | placement                  |
      | a cluster-scoped placement |
      | a namespaced placement     |
