@kubefleet
Feature: RolloutStarted is False because of the placement's own limits
  The guide "Rollout Failure TSG": a rolling update goes on only while enough members are available. By default a quarter of the
  members that the policy asks for may be unavailable, rounded up. Members that are missing or failing count as unavailable.

  # What doesn't exist yet is rolled out to two of three members, and stays on the hub once it does exist.
  @KF-RO-002 @takes-60s
  @guide:placement-rollout-started/condition @guide:placement-rollout-started/strategy @guide:placement-rollout-started/too-strict
  @guide:placement-rollout-started/steps/placement-statuses @guide:placement-rollout-started/steps/binding
  @drift:placement-rollout-started/steps/limits
  @guide:placement-rollout-started/before @guide:placement-rollout-started/before-cause/nothing-selected
  @guide:placement-rollout-started/before-cause/scheduled @drift:placement-rollout-started/before-cause/create
  @guide:placement-rollout-started/after @guide:placement-rollout-started/snapshot
  @guide:placement-rollout-started/binding/metadata @guide:placement-rollout-started/binding/name
  @guide:placement-rollout-started/binding/apply-strategy @drift:placement-rollout-started/binding/decision
  @guide:placement-rollout-started/binding/old-snapshot @guide:placement-rollout-started/binding/state
  @guide:placement-rollout-started/binding/rollout-started @guide:placement-rollout-started/binding/overridden
  @guide:placement-rollout-started/binding/work-synchronized @guide:placement-rollout-started/binding/applied
  @guide:placement-rollout-started/binding/available
  @guide:placement-rollout-started/why/initial-phase @guide:placement-rollout-started/resolution/max-unavailable
  @guide:placement-rollout-started/general-notes
  @guide:azure-placement-rollout-started/condition @guide:azure-placement-rollout-started/strategy
  @guide:azure-placement-rollout-started/too-strict
  @guide:azure-placement-rollout-started/steps/placement-statuses @guide:azure-placement-rollout-started/steps/binding
  @drift:azure-placement-rollout-started/steps/limits
  @guide:azure-placement-rollout-started/before @guide:azure-placement-rollout-started/before-cause/nothing-selected
  @guide:azure-placement-rollout-started/before-cause/scheduled @drift:azure-placement-rollout-started/before-cause/create
  @guide:azure-placement-rollout-started/after @guide:azure-placement-rollout-started/snapshot
  @guide:azure-placement-rollout-started/binding/metadata @guide:azure-placement-rollout-started/binding/name
  @guide:azure-placement-rollout-started/binding/apply-strategy @drift:azure-placement-rollout-started/binding/decision
  @guide:azure-placement-rollout-started/binding/old-snapshot @guide:azure-placement-rollout-started/binding/state
  @guide:azure-placement-rollout-started/binding/rollout-started @guide:azure-placement-rollout-started/binding/overridden
  @guide:azure-placement-rollout-started/binding/work-synchronized @guide:azure-placement-rollout-started/binding/applied
  @guide:azure-placement-rollout-started/binding/available
  @guide:azure-placement-rollout-started/why/initial-phase @guide:azure-placement-rollout-started/resolution/max-unavailable
  @guide:azure-placement-rollout-started/general-notes
  Scenario Outline: What is placed comes after the placement, and a member is missing, of <placement>
    Given <placement> "web" for "member-1" and "member-2" is created with
      """
      policy: {placementType: PickN, numberOfClusters: 3}
      resourceSelectors: [<selector>]
      strategy: null
      """
    Then placement "web" reports
      | on       | condition        | status | reason                      | message                                                   |
      |          | Scheduled        | False  | SchedulingPolicyUnfulfilled |                                                           |
      |          | RolloutStarted   | True   | RolloutStarted              | All 2 cluster(s) start rolling out the latest resource    |
      |          | Overridden       | True   | NoOverrideSpecified         |                                                           |
      |          | WorkSynchronized | True   | WorkSynchronized            |                                                           |
      |          | Applied          | True   | ApplySucceeded              |                                                           |
      |          | Available        | True   | ResourceAvailable           |                                                           |
      | member-1 | Scheduled        | True   | Scheduled                   | picked by scheduling policy                               |
      | member-1 | RolloutStarted   | True   | RolloutStarted              |                                                           |
      | member-1 | Overridden       | True   | NoOverrideSpecified         |                                                           |
      | member-1 | WorkSynchronized | True   | AllWorkSynced               |                                                           |
      | member-1 | Applied          | True   | AllWorkHaveBeenApplied      |                                                           |
      | member-1 | Available        | True   | AllWorkAreAvailable         |                                                           |
      | member-2 | Available        | True   | AllWorkAreAvailable         |                                                           |
    And placement "web" has
      | field                       | value  |
      | status.observedResourceIndex | 0      |
      | status.selectedResources     | absent |
      | spec.strategy.rollingUpdate  | absent |
    When the administrator of the hub applies
      """
      <object>
      """
    Then placement "web" reports
      | on       | condition        | status | reason                      | message                                                              |
      |          | Scheduled        | False  | SchedulingPolicyUnfulfilled |                                                                      |
      |          | RolloutStarted   | False  | RolloutNotStartedYet        | The rollout is being blocked by the rollout strategy in 2 cluster(s) |
      |          | Overridden       | absent |                             |                                                                      |
      |          | WorkSynchronized | absent |                             |                                                                      |
      |          | Applied          | absent |                             |                                                                      |
      |          | Available        | absent |                             |                                                                      |
      | member-1 | Scheduled        | True   | Scheduled                   |                                                                      |
      | member-1 | RolloutStarted   | False  | RolloutNotStartedYet        | The rollout is being blocked by the rollout strategy                 |
      | member-1 | Overridden       | absent |                             |                                                                      |
      | member-1 | Available        | absent |                             |                                                                      |
      | member-2 | RolloutStarted   | False  | RolloutNotStartedYet        | The rollout is being blocked by the rollout strategy                 |
    And placement "web" has
      | field                            | value  |
      | status.observedResourceIndex     | 1      |
      | status.selectedResources.0.kind  | <kind> |
      | status.selectedResources.0.name  | <name> |
    And object "<snapshot>/{web}-1-snapshot" of the hub has
      | field                                                             | value     |
      | metadata.annotations.kubernetes-fleet.io/number-of-enveloped-object   | 0         |
      | metadata.annotations.kubernetes-fleet.io/number-of-resource-snapshots | 1         |
      | metadata.annotations.kubernetes-fleet.io/resource-hash                | *         |
      | metadata.labels.kubernetes-fleet.io/is-latest-snapshot                | true      |
      | metadata.labels.kubernetes-fleet.io/parent-CRP                        | {web}     |
      | metadata.labels.kubernetes-fleet.io/resource-index                    | 1         |
      | metadata.ownerReferences.0.controller                                 | true      |
      | metadata.ownerReferences.0.name                                       | {web}     |
      | spec.selectedResources.0.kind                                         | <kind>    |
      | spec.selectedResources.0.metadata.name                                | <name>    |
    And the binding of placement "web" for "member-1" has
      | field                                          | value                              |
      | metadata.finalizers.1                          | kubernetes-fleet.io/work-cleanup   |
      | metadata.labels.kubernetes-fleet.io/parent-CRP | {web}                              |
      | metadata.name                                  | {web}-member-1-*                   |
      | spec.resourceSnapshotName                      | {web}-0-snapshot                   |
      | spec.schedulingPolicySnapshotName              | {web}-0                            |
      | spec.state                                     | Bound                              |
      | spec.targetCluster                             | member-1                           |
      | spec.applyStrategy.type                        | ClientSideApply*                   |
      | spec.clusterDecision.clusterName               | member-1                           |
      | spec.clusterDecision.reason                    | Successfully scheduled resources for placement in "member-1"* |
    And the binding of placement "web" for "member-1" reports
      | condition        | status | reason                 | message                                                                        |
      | RolloutStarted   | False  | RolloutNotStartedYet   | The resources cannot be updated to the latest because of the rollout strategy |
      | Overridden       | True   | NoOverrideSpecified    |                                                                                |
      | WorkSynchronized | True   | AllWorkSynced          |                                                                                |
      | Applied          | True   | AllWorkHaveBeenApplied |                                                                                |
      | Available        | True   | AllWorkAreAvailable    |                                                                                |
    And within 60 seconds the diagnosis of placement "web" is KF-RO-002 for "member-1", because of KF-SC-004
    When placement "web" gets '{"strategy": {"rollingUpdate": {"maxUnavailable": 2}}}'
    Then placement "web" reports
      | on       | condition | status | reason              |
      |          | Available | True   | ResourceAvailable   |
      | member-1 | Available | True   | AllWorkAreAvailable |
      | member-2 | Available | True   | AllWorkAreAvailable |
    And object "<placed>" of "member-1" has
      | field         | value  |
      | metadata.name | <name> |

    Examples:
      | placement                  | kind      | name        | selector                                                     | object | snapshot | placed |
      | a cluster-scoped placement | Namespace | {web}-later | {group: "", version: v1, kind: Namespace, name: "{web}-later"} | {apiVersion: v1, kind: Namespace, metadata: {name: "{web}-later"}} | ClusterResourceSnapshot | Namespace/{web}-later |
      | a namespaced placement     | ConfigMap | later       | {group: "", version: v1, kind: ConfigMap, name: later}         | {apiVersion: v1, kind: ConfigMap, metadata: {name: later, namespace: "{web}-app"}} | ResourceSnapshot/{web}-app | ConfigMap/{web}-app/later |

  @KF-RO-002 @disruptive
  @drift:placement-rollout-started/why/missing-members @guide:placement-rollout-started/resolution/third-member
  @drift:azure-placement-rollout-started/why/missing-members @guide:azure-placement-rollout-started/resolution/third-member
  Scenario Outline: A third member joins, for <placement>
    Given <placement> "web" selects 3 of "member-1" and "member-2"
    And placement "web" reports
      | on       | condition | status |
      | member-1 | Available | True   |
      | member-2 | Available | True   |
    When the resources of placement "web" change
    Then placement "web" reports
      | condition      | status | reason               | message                                                              |
      | RolloutStarted | False  | RolloutNotStartedYet | The rollout is being blocked by the rollout strategy in 2 cluster(s) |
    And within 60 seconds the diagnosis of placement "web" is KF-RO-002 for "member-1", because of KF-SC-004
    # The limit is still 1 of 3: now one member may be unavailable, and each is updated in its turn.
    When a member "east" of its own
    And placement "web" selects "east" too
    Then placement "web" becomes available on "member-1", "member-2" and "east"
    And the diagnosis finds nothing
    And a change to the resources of placement "web" arrives on "member-1", "member-2" and "east"

    Examples:
      | placement                  |
      | a cluster-scoped placement |
      | a namespaced placement     |

  @takes-60s @passes:KF-SC-001 @passes:KF-SC-004 @passes:KF-RO-002
  @guide:placement-rollout-started/logs @guide:placement-rollout-started/defaults
  @guide:azure-placement-rollout-started/logs @guide:azure-placement-rollout-started/defaults
  Scenario: The hub-agent's log has the limits that a rollout comes to
    Given a fleet of its own with 2 members
    And the hub-agent logs in detail
    And a placement "web" selects 3 of "member-1" and "member-2"
    And a namespaced placement "api" selects 3 of "member-1" and "member-2"
    And placement "web" reports
      | on       | condition | status |
      | member-1 | Available | True   |
      | member-2 | Available | True   |
    And placement "api" reports
      | on       | condition | status |
      | member-1 | Available | True   |
      | member-2 | Available | True   |
    When the resources of placement "web" change
    And the resources of placement "api" change
    Then placement "web" reports
      | condition      | status | reason               |
      | RolloutStarted | False  | RolloutNotStartedYet |
    And placement "api" reports
      | condition      | status | reason               |
      | RolloutStarted | False  | RolloutNotStartedYet |
    # Of three, two have to be available, and two are.
    And the hub-agent has logged "maxUnavailableNumber=1 minAvailableNumber=2 lowerBoundAvailableBindings=2 maxNumberOfBindingsToRemove=0" in a line with "{web}"
    And the hub-agent has logged "maxUnavailableNumber=1 minAvailableNumber=2 lowerBoundAvailableBindings=2 maxNumberOfBindingsToRemove=0" in a line with "{api}"
    And the hub-agent has logged "maxSurgeNumber=1" in a line with "{web}"
    And the hub-agent has logged "maxSurgeNumber=1" in a line with "{api}"

  # Nothing is missing and nothing fails: the limit alone stops all changes.
  @KF-RO-002
  Scenario Outline: No member may ever be unavailable, of <placement>
    Given <placement> "web" for "member-1" and "member-2" is created with
      """
      strategy: {type: RollingUpdate, rollingUpdate: {maxUnavailable: 0}}
      """
    And placement "web" becomes available on "member-1" and "member-2"
    When the resources of placement "web" change
    Then placement "web" reports
      | on       | condition      | status | reason               | message                                                              |
      |          | RolloutStarted | False  | RolloutNotStartedYet | The rollout is being blocked by the rollout strategy in 2 cluster(s) |
      | member-1 | RolloutStarted | False  | RolloutNotStartedYet |                                                                      |
      | member-2 | RolloutStarted | False  | RolloutNotStartedYet |                                                                      |
    And within 60 seconds the diagnosis of placement "web" is KF-RO-002 for "member-1"
      | object             | value                  |
      | ResourcePlacement/ | RolloutNotStartedYet   |
      | ResourcePlacement/ | "maxUnavailable":0     |
    When placement "web" gets '{"strategy": {"rollingUpdate": {"maxUnavailable": 1}}}'
    Then placement "web" becomes available on "member-1" and "member-2"
    And the diagnosis finds nothing
    And a change to the resources of placement "web" arrives on "member-1" and "member-2"

    Examples:
      | placement                  |
      | a cluster-scoped placement |
      | a namespaced placement     |

  # A failing member uses up one of two: the limit stays 2, and the others are updated.
  @KF-AP-002
  @drift:placement-rollout-started/why/failed-binding-limit @drift:azure-placement-rollout-started/why/failed-binding-limit
  Scenario Outline: One member fails, and the limit has room for another, of <placement>
    Given "member-3" has a ConfigMap already where placement "web" will put one
    And <placement> "web" for "member-1", "member-2" and "member-3" is created with
      """
      strategy: {type: RollingUpdate, rollingUpdate: {maxUnavailable: 2}, applyStrategy: {whenToTakeOver: Never}}
      """
    And placement "web" reports
      | on       | condition | status |
      | member-1 | Available | True   |
      | member-2 | Available | True   |
      | member-3 | Applied   | False  |
    When the resources of placement "web" change
    Then the resources of placement "web" are on "member-1" and "member-2"
    And placement "web" reports
      | on       | condition      | status |
      | member-1 | Available      | True   |
      | member-2 | Available      | True   |
      | member-3 | RolloutStarted | True   |
      | member-3 | Applied        | False  |
    And the diagnosis of placement "web" is KF-AP-002 for "member-3"
    When placement "web" gets '{"strategy": {"applyStrategy": {"whenToTakeOver": "Always"}}}'
    Then placement "web" becomes available on "member-1", "member-2" and "member-3"
    And the diagnosis finds nothing

    Examples:
      | placement                  |
      | a cluster-scoped placement |
      | a namespaced placement     |

  # A fleet of its own: other scenarios need a member-2 without pods.
  @pods @KF-RO-002 @KF-AV-001
  Scenario Outline: An image that a member can't pull keeps the rollout from the next member, of <placement>
    Given a fleet of its own with 2 members
    And member "member-1" has pods
    And member "member-2" has pods
    And <placement> "web" has put its resources on "member-1" and "member-2"
    And the resources of placement "web" include a Deployment with image "nginx:1.29"
    And placement "web" becomes available on "member-1" and "member-2"
    When the Deployment in the resources of placement "web" gets image "nginx:not a tag"
    Then placement "web" reports
      | on       | condition      | status | reason                 |
      | member-1 | Available      | False  | NotAllWorkAreAvailable |
      | member-2 | RolloutStarted | False  | RolloutNotStartedYet   |
    And within 60 seconds the diagnosis of placement "web" is KF-RO-002 for "member-2", because of KF-AV-001
    When the Deployment in the resources of placement "web" gets image "nginx:1.30"
    Then placement "web" becomes available on "member-1" and "member-2"
    And the diagnosis finds nothing

    Examples:
      | placement                  |
      | a cluster-scoped placement |
      | a namespaced placement     |

  @needs-beta-overrides @KF-RO-002 @KF-OV-001
  Scenario Outline: An override that fails on one member keeps the rollout from the next one, of <placement>
    Given <placement> "web" has put its resources on "member-1" and "member-2"
    And an override "odd" of placement "web" has the rule '{"clusterSelector": {"clusterSelectorTerms": [{"labelSelector": {"matchLabels": {"fleetdrill.dev/member": "{member-2}"}}}]}, "jsonPatchOverrides": [{"op": "add", "path": "/metadata/annotations/absent/odd", "value": "true"}]}'
    And placement "web" reports
      | on       | condition  | status | reason           |
      | member-1 | Available  | True   |                  |
      | member-2 | Overridden | False  | OverriddenFailed |
    When the resources of placement "web" change
    Then placement "web" reports
      | on       | condition      | status | reason               |
      | member-1 | RolloutStarted | False  | RolloutNotStartedYet |
      | member-2 | Overridden     | False  | OverriddenFailed     |
    And within 60 seconds the diagnosis of placement "web" is KF-RO-002 for "member-1", because of KF-OV-001
    When the rule of override "odd" of placement "web" is corrected to '{"clusterSelector": {"clusterSelectorTerms": []}, "jsonPatchOverrides": [{"op": "add", "path": "/data/odd", "value": "true"}]}'
    Then placement "web" becomes available on "member-1" and "member-2"
    And the diagnosis finds nothing

    Examples:
      | placement                  |
      | a cluster-scoped placement |
      | a namespaced placement     |

  # The binding wants a snapshot that is gone, and gets the latest one as soon as the limits allow: the limits are the cause.
  @KF-RO-002
  Scenario Outline: The snapshot of members that are held back is pruned, of <placement>
    Given <placement> "web" selects 3 of "member-1" and "member-2"
    And placement "web" gets '{"revisionHistoryLimit": 1}'
    And placement "web" reports
      | on       | condition | status |
      | member-1 | Available | True   |
      | member-2 | Available | True   |
    When the resources of placement "web" change
    And the resources of placement "web" change
    And the resources of placement "web" change
    Then placement "web" reports
      | on       | condition      | status | reason               |
      | member-1 | RolloutStarted | False  | RolloutNotStartedYet |
    And the binding of placement "web" for "member-1" has
      | field                     | value            |
      | spec.resourceSnapshotName | {web}-0-snapshot |
    And within 60 seconds the diagnosis of placement "web" is KF-RO-002 for "member-1", because of KF-SC-004
    When placement "web" asks for 2 members
    Then placement "web" becomes available on "member-1" and "member-2"
    And the diagnosis finds nothing

    Examples:
      | placement                  |
      | a cluster-scoped placement |
      | a namespaced placement     |

  # The twin: quick changes prune the snapshots that members have, and each member gets the latest.
  @healthy
  Scenario: Snapshots are pruned while a placement is rolled out
    Given a placement "web" has put its resources on "member-1" and "member-2"
    And placement "web" gets '{"revisionHistoryLimit": 1}'
    When the resources of placement "web" change
    And the resources of placement "web" change
    And the resources of placement "web" change
    Then the diagnosis finds nothing while placement "web" becomes available on "member-1" and "member-2"
    And the diagnosis finds nothing
