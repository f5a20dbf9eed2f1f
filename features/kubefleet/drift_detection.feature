@kubefleet
Feature: Somebody changes a placed object on a member
  The member agent overwrites the change, shows it as a drift, or doesn't see it. That depends on the placement's apply strategy. Unless
  whenToApply is IfNotDrifted, nothing fails.

  @healthy @takes-45s
  @guide:drift-and-diff-detection/drift/partial-always-never-drifts
  @drift:drift-and-diff-detection/drift/always-on-by-default
  Scenario Outline: By default a change is overwritten, and is never shown as a drift: <placement>
    Given <placement> "web" has put its resources on "member-1"
    When the administrator of "member-1" applies
      """
      apiVersion: v1
      kind: ConfigMap
      metadata: {name: settings, namespace: "{web}-app"}
      data: {extra: added on the member}
      """
    And somebody changes the ConfigMap of placement "web" on "member-1"
    Then placement "web" has for 15 seconds
      | field                                                         | value  |
      | status.placementStatuses.clusterName=member-1.driftedPlacements | absent |
    And the resources of placement "web" are on "member-1"
    And object "ConfigMap/{web}-app/settings" of "member-1" has
      | field         | value               |
      | data.extra    | added on the member |
      | data.revision | 0                   |
    And the diagnosis finds nothing

    Examples:
      | placement                  |
      | a cluster-scoped placement |
      | a namespaced placement     |

  @KF-AP-004
  @guide:drift-and-diff-detection/failures
  @guide:drift-and-diff-detection/drift/reported-per-cluster
  @guide:drift-and-diff-detection/drift/always-on
  @guide:drift-and-diff-detection/drift/rollout-overwrites
  @guide:drift-and-diff-detection/investigation/field-manager
  @guide:drift-and-diff-detection/investigation/last-applied
  @guide:drift-and-diff-detection/periodical/not-up-to-date
  @drift:drift-and-diff-detection/investigation/generation
  @drift:drift-and-diff-detection/investigation/no-generation
  Scenario Outline: A drift is shown for its member, until the hub's object changes: <placement>, <type>
    Given <placement> "web" selects "member-1" and "member-2" and applies with '{"type": "<type>", "whenToApply": "IfNotDrifted"<more>}'
    And placement "web" becomes available on "member-1" and "member-2"
    When the administrator of "member-1" applies
      """
      apiVersion: v1
      kind: ConfigMap
      metadata: {name: settings, namespace: "{web}-app"}
      data: {revision: changed on the member}
      """
    Then placement "web" reports
      | on       | condition | status | reason                    | message             |
      |          | Applied   | False  | ApplyFailed               |                     |
      | member-1 | Applied   | False  | NotAllWorkHaveBeenApplied | has failed to apply |
      | member-2 | Applied   | True   |                           |                     |
    And placement "web" has
      | field                                                                                                             | value                 |
      | status.placementStatuses.clusterName=member-1.driftedPlacements.name=settings.observedDrifts.0.path               | /data/revision        |
      | status.placementStatuses.clusterName=member-1.driftedPlacements.name=settings.observedDrifts.0.valueInHub         | 0                     |
      | status.placementStatuses.clusterName=member-1.driftedPlacements.name=settings.observedDrifts.0.valueInMember      | changed on the member |
      | status.placementStatuses.clusterName=member-1.driftedPlacements.name=settings.observedInMemberClusterGeneration   | absent                |
      | status.placementStatuses.clusterName=member-1.driftedPlacements.name=settings.targetClusterObservedGeneration     | 0                     |
      | status.placementStatuses.clusterName=member-2.driftedPlacements                                                   | absent                |
    And object "ConfigMap/{web}-app/settings" of "member-1" has
      | field                                                    | value  |
      | metadata.generation                                      | absent |
      | metadata.managedFields.manager=work-api-agent.operation  | *      |
      | metadata.managedFields.manager=fleetdrill.fieldsV1.f:data.f:revision | {} |
    And the diagnosis of placement "web" is KF-AP-004 for "member-1"
    When the resources of placement "web" change
    Then placement "web" becomes available on "member-1" and "member-2"
    And placement "web" has
      | field                                                           | value  |
      | status.placementStatuses.clusterName=member-1.driftedPlacements | absent |
    And the diagnosis finds nothing

    Examples:
      | placement                  | type            | more                                            |
      | a cluster-scoped placement | ClientSideApply |                                                 |
      | a namespaced placement     | ServerSideApply | , "serverSideApplyConfig": {"force": true}      |

  @healthy @takes-45s
  @guide:drift-and-diff-detection/drift/partial-ignores-unmanaged
  Scenario Outline: Fields that the hub's object doesn't set are no drift: <placement>
    Given <placement> "web" selects "member-1" and applies with '{"whenToApply": "IfNotDrifted"}'
    And placement "web" becomes available on "member-1"
    When the administrator of "member-1" applies
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: settings
        namespace: "{web}-app"
        labels: {colour: blue}
        annotations: {example.com/note: added on the member}
      data: {extra: added on the member}
      """
    Then placement "web" has for 15 seconds
      | field                                                           | value  |
      | status.placementStatuses.clusterName=member-1.driftedPlacements | absent |
    And placement "web" reports
      | on       | condition | status |
      | member-1 | Applied   | True   |
      | member-1 | Available | True   |
    And the diagnosis finds nothing

    Examples:
      | placement                  |
      | a cluster-scoped placement |
      | a namespaced placement     |

  @KF-DR-002
  @guide:drift-and-diff-detection/drift/full-shows-unmanaged
  Scenario Outline: A full comparison shows a field that somebody has added: <placement>
    Given <placement> "web" selects "member-1" and applies with '{"comparisonOption": "FullComparison"}'
    And placement "web" becomes available on "member-1"
    When the administrator of "member-1" applies
      """
      apiVersion: v1
      kind: ConfigMap
      metadata: {name: settings, namespace: "{web}-app", labels: {colour: blue}}
      data: {extra: added on the member}
      """
    Then placement "web" has
      | field                                                                                                        | value               |
      | status.placementStatuses.clusterName=member-1.driftedPlacements.name=settings.observedDrifts.path=/data/extra.valueInMember | added on the member |
      | status.placementStatuses.clusterName=member-1.driftedPlacements.name=settings.observedDrifts.path=/data/extra.valueInHub    | absent              |
    And placement "web" reports
      | on       | condition | status |
      |          | Applied   | True   |
      | member-1 | Applied   | True   |
      | member-1 | Available | True   |
    And the diagnosis of placement "web" is KF-DR-002 for "member-1"
      | object             | value                                        |
      | ResourcePlacement/ | on the hub (absent), on the member (removed) |
      | ResourcePlacement/ | AllWorkHaveBeenApplied                       |
      | ResourcePlacement/ | FullComparison                               |
    When placement "web" gets '{"strategy": {"applyStrategy": {"comparisonOption": "PartialComparison"}}}'
    Then placement "web" becomes available on "member-1"
    And placement "web" has
      | field                                                           | value  |
      | status.placementStatuses.clusterName=member-1.driftedPlacements | absent |
    And the diagnosis finds nothing
    And a change to the resources of placement "web" arrives on "member-1"

    Examples:
      | placement                  |
      | a cluster-scoped placement |
      | a namespaced placement     |

  # The hub's API server fills in defaults, too: only objects in envelopes come without.
  @KF-DR-002 @KF-DR-001
  @guide:drift-and-diff-detection/drift/defaults-count
  @guide:drift-and-diff-detection/diff/defaults-count
  Scenario: A full comparison shows fields that the member's API server has filled in
    Given a placement "web" selects "member-1" and applies with '{"comparisonOption": "FullComparison"}'
    And placement "web" becomes available on "member-1"
    When the resources of placement "web" include a ResourceEnvelope with '{"apiVersion":"v1","kind":"Service","metadata":{"name":"front","namespace":"{web}-app"},"spec":{"ports":[{"port":80}]}}'
    Then placement "web" has
      | field                                                                                              | value  |
      | status.placementStatuses.clusterName=member-1.driftedPlacements.kind=Service.observedDrifts.0.path | /*     |
      | status.placementStatuses.clusterName=member-1.driftedPlacements.kind=ConfigMap                     | absent |
    And the diagnosis of placement "web" is KF-DR-002 for "member-1"
    When placement "web" gets '{"strategy": {"applyStrategy": {"type": "ReportDiff"}}}'
    Then placement "web" has
      | field                                                                                            | value  |
      | status.placementStatuses.clusterName=member-1.diffedPlacements.kind=Service.observedDiffs.0.path | /*     |
      | status.placementStatuses.clusterName=member-1.diffedPlacements.kind=ConfigMap                    | absent |
    And the diagnosis of placement "web" is KF-DR-001 for "member-1"

  @healthy @takes-45s
  @guide:drift-and-diff-detection/drift/not-managed-not-selected
  Scenario: A full comparison of an object that nobody has changed
    Given a namespaced placement "web" selects "member-1" and applies with '{"comparisonOption": "FullComparison"}'
    And placement "web" becomes available on "member-1"
    When the administrator of "member-1" applies
      """
      apiVersion: v1
      kind: ConfigMap
      metadata: {name: of-the-member, namespace: "{web}-app"}
      data: {revision: "1"}
      """
    Then placement "web" has for 15 seconds
      | field                                                           | value  |
      | status.placementStatuses.clusterName=member-1.driftedPlacements | absent |
    And the diagnosis finds nothing

  @healthy
  @guide:drift-and-diff-detection/drift/deletion-is-no-drift
  Scenario Outline: An object that somebody deletes comes back, and is no drift: <placement>
    Given <placement> "web" selects "member-1" and applies with '{"whenToApply": "IfNotDrifted"}'
    And placement "web" becomes available on "member-1"
    When object "ConfigMap/{web}-app/settings" of "member-1" is deleted
    Then the resources of placement "web" are on "member-1"
    And placement "web" has for 5 seconds
      | field                                                           | value  |
      | status.placementStatuses.clusterName=member-1.driftedPlacements | absent |
    And placement "web" becomes available on "member-1"
    And the diagnosis finds nothing

    Examples:
      | placement                  |
      | a cluster-scoped placement |
      | a namespaced placement     |

  # A member with a drift isn't available while whenToApply is IfNotDrifted. The first object's change gets to it all the same, and not to
  # the other member.
  @KF-RO-002 @KF-AP-004
  @drift:drift-and-diff-detection/drift/rollout-not-blocked
  Scenario: A drift on one member keeps a change from the other one
    Given a placement "web" selects "member-1" and "member-2" and applies with '{"whenToApply": "IfNotDrifted"}'
    And the resources of placement "web" also include
      """
      apiVersion: v1
      kind: ConfigMap
      metadata: {name: other}
      data: {colour: red}
      """
    And placement "web" becomes available on "member-1" and "member-2"
    When the administrator of "member-1" applies
      """
      apiVersion: v1
      kind: ConfigMap
      metadata: {name: other, namespace: "{web}-app"}
      data: {colour: changed on the member}
      """
    Then placement "web" reports
      | on       | condition | status | reason                    |
      | member-1 | Applied   | False  | NotAllWorkHaveBeenApplied |
    When the resources of placement "web" change
    Then placement "web" reports
      | on       | condition      | status | reason                    | message                                              |
      | member-1 | Applied        | False  | NotAllWorkHaveBeenApplied |                                                      |
      | member-2 | RolloutStarted | False  | RolloutNotStartedYet      | The rollout is being blocked by the rollout strategy |
    And within 60 seconds the diagnosis of placement "web" is KF-RO-002 for "member-2", because of KF-AP-004
    When placement "web" gets '{"strategy": {"applyStrategy": {"whenToApply": "Always"}}}'
    Then placement "web" becomes available on "member-1" and "member-2"
    And the diagnosis finds nothing

  @KF-RO-002 @KF-AP-002 @passes:KF-DR-002
  @guide:drift-and-diff-detection/drift/not-taken-over
  @guide:drift-and-diff-detection/drift/not-while-rolling-out
  Scenario Outline: A drift isn't shown while the member waits for a rollout: <placement>
    Given "member-1" has a ConfigMap already where placement "web" will put one
    And <placement> "web" selects "member-1" and "member-2" and applies with '{"whenToTakeOver": "Never", "comparisonOption": "FullComparison"}'
    And placement "web" reports
      | on       | condition | status | reason                    |
      | member-1 | Applied   | False  | NotAllWorkHaveBeenApplied |
      | member-2 | Available | True   |                           |
    When the administrator of "member-2" applies
      """
      apiVersion: v1
      kind: ConfigMap
      metadata: {name: settings, namespace: "{web}-app"}
      data: {extra: added on the member}
      """
    Then placement "web" has
      | field                                                                                        | value     |
      | status.placementStatuses.clusterName=member-1.driftedPlacements.name=settings                | absent    |
      | status.placementStatuses.clusterName=member-2.driftedPlacements.name=settings.kind           | ConfigMap |
    When the resources of placement "web" change
    Then placement "web" reports
      | on       | condition      | status | reason                    |
      | member-1 | Applied        | False  | NotAllWorkHaveBeenApplied |
      | member-2 | RolloutStarted | False  | RolloutNotStartedYet      |
    And placement "web" has
      | field                                                           | value  |
      | status.placementStatuses.clusterName=member-2.driftedPlacements | absent |
    And within 60 seconds the diagnosis of placement "web" is KF-RO-002 for "member-2", because of KF-AP-002
    When placement "web" gets '{"strategy": {"applyStrategy": {"whenToTakeOver": "Always", "comparisonOption": "PartialComparison"}}}'
    Then placement "web" becomes available on "member-1" and "member-2"
    And the diagnosis finds nothing

    Examples:
      | placement                  |
      | a cluster-scoped placement |
      | a namespaced placement     |

  @KF-AP-002
  @guide:drift-and-diff-detection/diff/if-no-diff
  Scenario Outline: An object isn't taken over, because it differs, and the placement shows how: <placement>
    Given "member-1" has a ConfigMap already where placement "web" will put one
    When <placement> "web" selects "member-1" and applies with '{"whenToTakeOver": "IfNoDiff"}'
    Then placement "web" reports
      | on       | condition | status | reason                    |
      | member-1 | Applied   | False  | NotAllWorkHaveBeenApplied |
    And placement "web" has
      | field                                                                                                                     | value            |
      | status.placementStatuses.clusterName=member-1.diffedPlacements.name=settings.observedDiffs.path=/data/revision.valueInHub    | 0                |
      | status.placementStatuses.clusterName=member-1.diffedPlacements.name=settings.observedDiffs.path=/data/revision.valueInMember | the member's own |
      | status.placementStatuses.clusterName=member-1.driftedPlacements                                                             | absent           |
    And the diagnosis of placement "web" is KF-AP-002 for "member-1"
    When placement "web" gets '{"strategy": {"applyStrategy": {"whenToTakeOver": "Always"}}}'
    Then placement "web" becomes available on "member-1"
    And the diagnosis finds nothing

    Examples:
      | placement                  |
      | a cluster-scoped placement |
      | a namespaced placement     |

  @KF-AP-014 @takes-45s
  @guide:drift-and-diff-detection/failures
  @guide:drift-and-diff-detection/no-results
  Scenario Outline: The member refuses the dry run by which drifts are looked for: <placement>
    Given <placement> "web" selects "member-1" and applies with '{"whenToApply": "IfNotDrifted"}'
    And placement "web" becomes available on "member-1"
    When the administrator of "member-1" applies
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
    Then placement "web" reports
      | on       | condition | status | reason                    | message             |
      |          | Applied   | False  | ApplyFailed               |                     |
      | member-1 | Applied   | False  | NotAllWorkHaveBeenApplied | has failed to apply |
    And placement "web" has
      | field                                                                                              | value                      |
      | status.placementStatuses.clusterName=member-1.failedPlacements.name=settings.condition.reason      | FailedToRunDriftDetection  |
      | status.placementStatuses.clusterName=member-1.driftedPlacements                                    | absent                     |
    And within 60 seconds the diagnosis of placement "web" is KF-AP-014 for "member-1"
      | object             | value                     |
      | ResourcePlacement/ | FailedToRunDriftDetection |
    When object "ValidatingAdmissionPolicyBinding/{web}-frozen" of "member-1" is deleted
    And placement "web" gets '{"strategy": {"applyStrategy": {"whenToApply": "Always"}}}'
    Then placement "web" becomes available on "member-1"
    And the diagnosis finds nothing

    Examples:
      | placement                  |
      | a cluster-scoped placement |
      | a namespaced placement     |
