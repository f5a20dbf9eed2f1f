@kubefleet @needs-beta-overrides
Feature: An override fails, or has no effect
  The guide "Override Failure TSG" follows an override with an invalid path. What it doesn't describe: an override that matches
  nothing, one for an object in an envelope, and one whose snapshot is gone. Nothing reports an override without effect.

  # The override of the guide's example names no placement.
  @KF-OV-001 @takes-60s
  @guide:placement-overridden/condition @guide:placement-overridden/invalid-path @guide:placement-overridden/case-study
  @drift:placement-overridden/logs @drift:placement-overridden/case-study-cause/placement-status
  @drift:placement-overridden/resolution/path @guide:placement-overridden/resolution/labels
  @guide:azure-placement-overridden/condition @guide:azure-placement-overridden/invalid-path
  @guide:azure-placement-overridden/case-study @drift:azure-placement-overridden/logs
  @guide:azure-placement-overridden/case-study-cause/placement-status
  @drift:azure-placement-overridden/resolution/path @guide:azure-placement-overridden/resolution/labels
  Scenario: A ClusterRole has no labels to which one could be added
    Given the administrator of the hub applies
      """
      apiVersion: rbac.authorization.k8s.io/v1
      kind: ClusterRole
      metadata: {name: "reader-{suffix}"}
      rules: [{apiGroups: [""], resources: [secrets], verbs: [get, watch, list]}]
      ---
      apiVersion: placement.kubernetes-fleet.io/v1beta1
      kind: ClusterResourceOverride
      metadata: {name: "cro-{suffix}"}
      spec:
        clusterResourceSelectors: [{group: rbac.authorization.k8s.io, kind: ClusterRole, version: v1, name: "reader-{suffix}"}]
        policy:
          overrideRules:
            - clusterSelector: {clusterSelectorTerms: [{labelSelector: {matchLabels: {fleetdrill.dev/member: "{member-1}"}}}]}
              jsonPatchOverrides: [{op: add, path: /metadata/labels/new-label, value: new-value}]
      """
    And object "ClusterResourceOverrideSnapshot/cro-{suffix}-0" of the hub has
      | field                                                  | value |
      | metadata.labels.kubernetes-fleet.io/is-latest-snapshot | true  |
    When a placement "web" for "member-1" is created with
      """
      policy: {placementType: PickN, numberOfClusters: 1}
      resourceSelectors: [{group: rbac.authorization.k8s.io, kind: ClusterRole, version: v1, name: "reader-{suffix}"}]
      strategy: {type: RollingUpdate, applyStrategy: {allowCoOwnership: true}}
      """
    Then placement "web" reports
      | on       | condition        | status | reason                    | message                                                                                                                                                         |
      |          | Scheduled        | True   | SchedulingPolicyFulfilled | found 1 cluster(s)                                                                                                                                              |
      |          | RolloutStarted   | True   | RolloutStarted            | All 1 cluster(s) start rolling out the latest resource                                                                                                          |
      |          | Overridden       | False  | OverriddenFailed          | Failed to override resources in 1 cluster(s)                                                                                                                    |
      |          | WorkSynchronized | absent |                           |                                                                                                                                                                 |
      | member-1 | Scheduled        | True   | Scheduled                 | picked by scheduling policy                                                                                                                                     |
      | member-1 | RolloutStarted   | True   | RolloutStarted            |                                                                                                                                                                 |
      | member-1 | Overridden       | False  | OverriddenFailed          | add operation does not apply: doc is missing path: "/metadata/labels/new-label": missing value |
    And placement "web" has
      | field                                                            | value            |
      | status.observedResourceIndex                                     | 0                |
      | status.placementStatuses.0.applicableClusterResourceOverrides.0  | cro-{suffix}-0   |
      | status.selectedResources.0.group                                 | rbac.authorization.k8s.io |
      | status.selectedResources.0.kind                                  | ClusterRole      |
      | status.selectedResources.0.name                                  | reader-{suffix}  |
    And the hub-agent has logged "Failed to apply the override rules" in a line with "cro-{suffix}-0"
    And the diagnosis of placement "web" is KF-OV-001 for "member-1"
      | object                         | value            |
      | ClusterResourcePlacement/{web} | OverriddenFailed |
      | ClusterResourcePlacement/{web} | missing value    |
      | ClusterResourcePlacement/{web} | cro-{suffix}-0   |
    When object "ClusterResourceOverride/cro-{suffix}" of the hub gets '{"policy": {"overrideRules": [{"clusterSelector": {"clusterSelectorTerms": []}, "jsonPatchOverrides": [{"op": "add", "path": "/metadata/labels", "value": {"newlabel": "new-value"}}]}]}}'
    Then placement "web" reports for 15 seconds
      | on       | condition  | status | reason           |
      | member-1 | Overridden | False  | OverriddenFailed |
    When the administrator of the hub applies
      """
      apiVersion: rbac.authorization.k8s.io/v1
      kind: ClusterRole
      metadata: {name: "reader-{suffix}", annotations: {changed: "yes"}}
      rules: [{apiGroups: [""], resources: [secrets], verbs: [get, watch, list]}]
      """
    Then placement "web" reports
      | on       | condition  | status | reason              |
      |          | Overridden | True   | OverriddenSucceeded |
      |          | Available  | True   | ResourceAvailable   |
      | member-1 | Overridden | True   | OverriddenSucceeded |
      | member-1 | Available  | True   | AllWorkAreAvailable |
    And object "ClusterRole/reader-{suffix}" of "member-1" has
      | field                    | value     |
      | metadata.labels.newlabel | new-value |
    And the diagnosis finds nothing

  # The twin: the same override, of a ClusterRole that has labels.
  @healthy
  @guide:placement-overridden/case-study-cause/missing-parent @guide:azure-placement-overridden/case-study-cause/missing-parent
  Scenario: A ClusterRole has labels to which one can be added
    Given the administrator of the hub applies
      """
      apiVersion: rbac.authorization.k8s.io/v1
      kind: ClusterRole
      metadata: {name: "reader-{suffix}", labels: {team: shop}}
      rules: [{apiGroups: [""], resources: [secrets], verbs: [get, watch, list]}]
      ---
      apiVersion: placement.kubernetes-fleet.io/v1beta1
      kind: ClusterResourceOverride
      metadata: {name: "cro-{suffix}"}
      spec:
        clusterResourceSelectors: [{group: rbac.authorization.k8s.io, kind: ClusterRole, version: v1, name: "reader-{suffix}"}]
        policy:
          overrideRules:
            - clusterSelector: {clusterSelectorTerms: [{labelSelector: {matchLabels: {fleetdrill.dev/member: "{member-1}"}}}]}
              jsonPatchOverrides: [{op: add, path: /metadata/labels/new-label, value: new-value}]
      """
    And object "ClusterResourceOverrideSnapshot/cro-{suffix}-0" of the hub has
      | field                                                  | value |
      | metadata.labels.kubernetes-fleet.io/is-latest-snapshot | true  |
    When a placement "web" for "member-1" is created with
      """
      resourceSelectors: [{group: rbac.authorization.k8s.io, kind: ClusterRole, version: v1, name: "reader-{suffix}"}]
      """
    Then placement "web" reports
      | on       | condition  | status | reason              |
      |          | Overridden | True   | OverriddenSucceeded |
      | member-1 | Available  | True   | AllWorkAreAvailable |
    And object "ClusterRole/reader-{suffix}" of "member-1" has
      | field                     | value     |
      | metadata.labels.new-label | new-value |
    And the diagnosis finds nothing

  @KF-OV-006
  Scenario Outline: An override puts a label into a value, and the member doesn't have it, of <placement>
    Given <placement> "web" has put its resources on "member-1"
    When an override "odd" of placement "web" has the rule '{"clusterSelector": {"clusterSelectorTerms": []}, "jsonPatchOverrides": [{"op": "add", "path": "/data/region", "value": "${MEMBER-CLUSTER-LABEL-KEY-region}"}]}'
    Then placement "web" reports
      | on       | condition  | status | reason           | message                    |
      |          | Overridden | False  | OverriddenFailed |                            |
      | member-1 | Overridden | False  | OverriddenFailed | label key region not found |
    And the diagnosis of placement "web" is KF-OV-006 for "member-1"
      | object                                     | value               |
      | ResourcePlacement/                         | OverriddenFailed    |
      | ResourcePlacement/                         | label key region    |
      | ResourcePlacement/                         | odd-                |
      | ResourceOverrideSnapshot/{web}-app/{odd}-0 | /data/region        |
      | MemberCluster/member-1                     | fleetdrill.dev/member |
    When the rule of override "odd" of placement "web" is corrected to '{"clusterSelector": {"clusterSelectorTerms": []}, "jsonPatchOverrides": [{"op": "add", "path": "/data/region", "value": "${MEMBER-CLUSTER-LABEL-KEY-fleetdrill.dev/member}"}]}'
    Then placement "web" becomes available on "member-1"
    And the diagnosis finds nothing
    And object "ConfigMap/{web}-app/settings" of "member-1" has
      | field       | value    |
      | data.region | member-1 |

    Examples:
      | placement                  |
      | a cluster-scoped placement |
      | a namespaced placement     |

  # The run has written down which snapshots it will use, and the override is deleted before its last stage.
  @KF-OV-002 @takes-90s
  Scenario: The override that a run has chosen is deleted
    Given a placement "web" with strategy External selects "member-1" and "member-2"
    And an override "colour" of placement "web" has the rule '{"clusterSelector": {"clusterSelectorTerms": []}, "jsonPatchOverrides": [{"op": "add", "path": "/data/colour", "value": "blue"}]}'
    And a staged update strategy "asks" for placement "web"
      | stage   | members  | after    |
      | staging | member-1 | Approval |
      | canary  | member-2 |          |
    And a staged update strategy "all" for placement "web"
      | stage | members            |
      | one   | member-1, member-2 |
    And an update run "release" of placement "web" starts with strategy "asks"
    And the approval request of update run "release" after stage "staging" is there, without an answer
    When object "ResourceOverride/{web}-app/{colour}" of the hub is deleted
    And the approval request of update run "release" after stage "staging" is approved
    Then placement "web" reports
      | on       | condition  | status | reason           | message      |
      | member-2 | Overridden | False  | OverriddenFailed | is not found |
    And the diagnosis of placement "web" is KF-OV-002 for "member-2"
      | object                                          | value            |
      | ClusterResourcePlacement/{web}                  | OverriddenFailed |
      | ClusterResourcePlacement/{web}                  | {colour}-0       |
      | ResourceOverrideSnapshot/{web}-app/{colour}-0   | (no such object) |
      | ResourceOverride/{web}-app/{colour}             | (no such object) |
    When update run "release" is deleted
    And an update run "again" of placement "web" starts with strategy "all"
    Then update run "again" succeeds
    And placement "web" becomes available on "member-1" and "member-2"
    And the diagnosis finds nothing

  @KF-OV-003
  Scenario Outline: An override selects <what>, of <placement>
    Given <placement> "web" has put its resources on "member-1"
    When the administrator of the hub applies
      """
      apiVersion: placement.kubernetes-fleet.io/v1beta1
      kind: ResourceOverride
      metadata: {name: "{web}-odd", namespace: "{web}-app"}
      spec:
        placement: {name: "{web}", scope: <scope>}
        resourceSelectors: [<selector>]
        policy:
          overrideRules:
            - clusterSelector: {clusterSelectorTerms: []}
              jsonPatchOverrides: [{op: add, path: /data/odd, value: "true"}]
      """
    Then the diagnosis of object "ResourceOverride/{web}-app/{web}-odd" of the hub is KF-OV-003
      | object                         | value      |
      | ResourceOverride/{web}-app/{web}-odd |            |
      | ResourcePlacement/             | settings   |
    And placement "web" reports
      | on       | condition  | status | reason              |
      |          | Overridden | True   | NoOverrideSpecified |
      | member-1 | Overridden | True   | NoOverrideSpecified |
    When object "ResourceOverride/{web}-app/{web}-odd" of the hub gets '{"resourceSelectors": [{"group": "", "version": "v1", "kind": "ConfigMap", "name": "settings"}]}'
    Then placement "web" reports
      | on       | condition  | status | reason              |
      | member-1 | Overridden | True   | OverriddenSucceeded |
      | member-1 | Available  | True   | AllWorkAreAvailable |
    And object "ConfigMap/{web}-app/settings" of "member-1" has
      | field    | value |
      | data.odd | true  |
    And the diagnosis finds nothing

    Examples:
      | what                        | placement                  | scope      | selector                                                       |
      | a name that nothing has     | a cluster-scoped placement | Cluster    | {group: "", version: v1, kind: ConfigMap, name: setings}       |
      | a name that nothing has     | a namespaced placement     | Namespaced | {group: "", version: v1, kind: ConfigMap, name: setings}       |
      | another kind                | a cluster-scoped placement | Cluster    | {group: "", version: v1, kind: Secret, name: settings}         |
      | another version             | a namespaced placement     | Namespaced | {group: "", version: v1beta1, kind: ConfigMap, name: settings} |

  @KF-OV-003
  Scenario: An override names a ResourcePlacement without its scope
    Given a namespaced placement "web" has put its resources on "member-1"
    When the administrator of the hub applies
      """
      apiVersion: placement.kubernetes-fleet.io/v1beta1
      kind: ResourceOverride
      metadata: {name: "{web}-odd", namespace: "{web}-app"}
      spec:
        placement: {name: "{web}"}
        resourceSelectors: [{group: "", version: v1, kind: ConfigMap, name: settings}]
        policy:
          overrideRules:
            - clusterSelector: {clusterSelectorTerms: []}
              jsonPatchOverrides: [{op: add, path: /data/odd, value: "true"}]
      """
    Then the diagnosis of object "ResourceOverride/{web}-app/{web}-odd" of the hub is KF-OV-003
      | object                              | value            |
      | ResourceOverride/{web}-app/{web}-odd      | Cluster          |
      | ClusterResourcePlacement/{web}      | (no such object) |
      | ResourcePlacement/{web}-app/{web}   |                  |
    And placement "web" reports
      | on       | condition  | status | reason              |
      | member-1 | Overridden | True   | NoOverrideSpecified |
    When object "ResourceOverride/{web}-app/{web}-odd" of the hub is deleted
    And an override "right" of placement "web" has the rule '{"clusterSelector": {"clusterSelectorTerms": []}, "jsonPatchOverrides": [{"op": "add", "path": "/data/odd", "value": "true"}]}'
    Then object "ConfigMap/{web}-app/settings" of "member-1" has
      | field    | value |
      | data.odd | true  |
    And the diagnosis finds nothing

  @KF-OV-003
  Scenario: A ClusterResourceOverride selects a name that nothing has
    Given a placement "web" has put its resources on "member-1"
    When the administrator of the hub applies
      """
      apiVersion: placement.kubernetes-fleet.io/v1beta1
      kind: ClusterResourceOverride
      metadata: {name: "{web}-odd"}
      spec:
        placement: {name: "{web}"}
        clusterResourceSelectors: [{group: "", version: v1, kind: Namespace, name: "{web}-ap"}]
        policy:
          overrideRules:
            - clusterSelector: {clusterSelectorTerms: []}
              jsonPatchOverrides: [{op: add, path: /metadata/labels/odd, value: "true"}]
      """
    Then the diagnosis of object "ClusterResourceOverride/{web}-odd" of the hub is KF-OV-003
      | object                              | value     |
      | ClusterResourceOverride/{web}-odd   | {web}-ap  |
      | ClusterResourcePlacement/{web}      | {web}-app |
    When object "ClusterResourceOverride/{web}-odd" of the hub gets '{"clusterResourceSelectors": [{"group": "", "version": "v1", "kind": "Namespace", "name": "{web}-app"}]}'
    Then placement "web" reports
      | on       | condition  | status |
      | member-1 | Overridden | True   |
    And the diagnosis finds nothing

  @KF-OV-004
  Scenario Outline: An override is for members that the placement hasn't, of <placement>
    Given <placement> "web" has put its resources on "member-1"
    When an override "odd" of placement "web" has the rule '<rule>'
    Then the diagnosis of object "ResourceOverride/{web}-app/{odd}" of the hub is KF-OV-004
      | object                           | value         |
      | ResourceOverride/{web}-app/{odd} | <rule part>   |
      | MemberCluster/member-1           |               |
    And placement "web" reports
      | on       | condition  | status | reason              |
      |          | Overridden | True   | NoOverrideSpecified |
      | member-1 | Overridden | True   | NoOverrideSpecified |
    When the rule of override "odd" of placement "web" is corrected to '{"clusterSelector": {"clusterSelectorTerms": [{"labelSelector": {"matchLabels": {"fleetdrill.dev/member": "{member-1}"}}}]}, "jsonPatchOverrides": [{"op": "add", "path": "/data/odd", "value": "true"}]}'
    Then object "ConfigMap/{web}-app/settings" of "member-1" has
      | field    | value |
      | data.odd | true  |
    And the diagnosis finds nothing

    Examples:
      | placement                  | rule part | rule |
      | a cluster-scoped placement | nowhere   | {"clusterSelector": {"clusterSelectorTerms": [{"labelSelector": {"matchLabels": {"fleetdrill.dev/member": "nowhere"}}}]}, "jsonPatchOverrides": [{"op": "add", "path": "/data/odd", "value": "true"}]} |
      | a namespaced placement     | /data/odd | {"jsonPatchOverrides": [{"op": "add", "path": "/data/odd", "value": "true"}]} |

  # Up to v0.3.1 the work generator overrides what is selected, and doesn't look into envelopes.
  @without-envelope-overrides @KF-OV-005
  Scenario Outline: An override is for an object in an envelope, of <placement>
    Given <placement> "web" has put its resources on "member-1"
    When the resources of placement "web" include a ResourceEnvelope with '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x","namespace":"{web}-app"},"data":{"a":"b"}}'
    Then placement "web" becomes available on "member-1"
    When the administrator of the hub applies
      """
      apiVersion: placement.kubernetes-fleet.io/v1beta1
      kind: ResourceOverride
      metadata: {name: "{web}-odd", namespace: "{web}-app"}
      spec:
        placement: {name: "{web}", scope: <scope>}
        resourceSelectors: [{group: "", version: v1, kind: ConfigMap, name: x}]
        policy:
          overrideRules:
            - clusterSelector: {clusterSelectorTerms: []}
              jsonPatchOverrides: [{op: add, path: /data/odd, value: "true"}]
      """
    Then the diagnosis of object "ResourceOverride/{web}-app/{web}-odd" of the hub is KF-OV-005
      | object                               | value       |
      | ResourceOverride/{web}-app/{web}-odd       | ConfigMap   |
      | ResourceEnvelope/{web}-app/envelope  | ConfigMap x |
      | ResourcePlacement/                   | envelope    |
    And placement "web" reports
      | on       | condition  | status | reason              |
      |          | Overridden | True   | NoOverrideSpecified |
      | member-1 | Overridden | True   | NoOverrideSpecified |
    # The envelope itself can be overridden.
    When object "ResourceOverride/{web}-app/{web}-odd" of the hub gets '{"resourceSelectors": [{"group": "placement.kubernetes-fleet.io", "version": "v1beta1", "kind": "ResourceEnvelope", "name": "envelope"}], "policy": {"overrideRules": [{"clusterSelector": {"clusterSelectorTerms": []}, "jsonPatchOverrides": [{"op": "add", "path": "/data/wrapped.yaml/data/odd", "value": "true"}]}]}}'
    Then object "ConfigMap/{web}-app/x" of "member-1" has
      | field    | value |
      | data.odd | true  |
    And the diagnosis finds nothing

    Examples:
      | placement                  | scope      |
      | a cluster-scoped placement | Cluster    |
      | a namespaced placement     | Namespaced |

  # The twin on newer versions: the override applies to the wrapped object.
  @needs-envelope-overrides @healthy
  Scenario: An object in an envelope is overridden
    Given a placement "web" has put its resources on "member-1"
    When the resources of placement "web" include a ResourceEnvelope with '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x","namespace":"{web}-app"},"data":{"a":"b"}}'
    Then placement "web" becomes available on "member-1"
    When the administrator of the hub applies
      """
      apiVersion: placement.kubernetes-fleet.io/v1beta1
      kind: ResourceOverride
      metadata: {name: "{web}-odd", namespace: "{web}-app"}
      spec:
        placement: {name: "{web}", scope: Cluster}
        resourceSelectors: [{group: "", version: v1, kind: ConfigMap, name: x}]
        policy:
          overrideRules:
            - clusterSelector: {clusterSelectorTerms: []}
              jsonPatchOverrides: [{op: add, path: /data/odd, value: "true"}]
      """
    Then object "ConfigMap/{web}-app/x" of "member-1" has
      | field    | value |
      | data.odd | true  |
    And the diagnosis finds nothing

  # The hub-agent's webhook refuses such an override; here the webhooks are off.
  @KF-OV-007
  Scenario Outline: The cluster selector of an override can't be parsed, of <placement>
    Given <placement> "web" has put its resources on "member-1"
    And an override "odd" of placement "web" has the rule '{"clusterSelector": {"clusterSelectorTerms": [{"labelSelector": {"matchExpressions": [{"key": "env", "operator": "In"}]}}]}, "jsonPatchOverrides": [{"op": "add", "path": "/data/odd", "value": "true"}]}'
    When the resources of placement "web" change
    Then placement "web" reports
      | on       | condition      | status  | reason                |
      |          | RolloutStarted | Unknown | RolloutStartedUnknown |
      | member-1 | RolloutStarted | Unknown | RolloutStartedUnknown |
    And the hub-agent has logged "Invalid resourceOverride" in a line with "{odd}-0"
    And the diagnosis of placement "web" is KF-OV-007
      | object                           | value                 |
      | ResourcePlacement/               | RolloutStartedUnknown |
      | ResourceOverride/{web}-app/{odd} | "operator":"In"       |
    When the rule of override "odd" of placement "web" is corrected to '{"clusterSelector": {"clusterSelectorTerms": []}, "jsonPatchOverrides": [{"op": "add", "path": "/data/odd", "value": "true"}]}'
    Then placement "web" becomes available on "member-1"
    And the diagnosis finds nothing

    Examples:
      | placement                  |
      | a cluster-scoped placement |
      | a namespaced placement     |

  # The run looks for overrides of the placement's name without its namespace.
  @KF-OV-008
  Scenario: A run of a ResourcePlacement leaves out the override that names the placement
    Given a namespaced placement "web" with strategy External selects "member-1"
    And an override "colour" of placement "web" has the rule '{"clusterSelector": {"clusterSelectorTerms": []}, "jsonPatchOverrides": [{"op": "add", "path": "/data/colour", "value": "blue"}]}'
    And a staged update strategy "all" for placement "web"
      | stage | members  |
      | one   | member-1 |
    When an update run "release" of placement "web" starts with strategy "all"
    Then update run "release" succeeds
    And placement "web" reports
      | on       | condition  | status | reason              |
      | member-1 | Overridden | True   | NoOverrideSpecified |
    And the diagnosis of object "ResourceOverride/{web}-app/{colour}" of the hub is KF-OV-008
      | object                              | value      |
      | ResourceOverride/{web}-app/{colour} | Namespaced |
      | StagedUpdateRun/                    | (absent)   |
    When object "ResourceOverride/{web}-app/{colour}" of the hub is deleted
    And the administrator of the hub applies
      """
      apiVersion: placement.kubernetes-fleet.io/v1beta1
      kind: ResourceOverride
      metadata: {name: everywhere, namespace: "{web}-app"}
      spec:
        resourceSelectors: [{group: "", version: v1, kind: ConfigMap, name: settings}]
        policy:
          overrideRules:
            - clusterSelector: {clusterSelectorTerms: []}
              jsonPatchOverrides: [{op: add, path: /data/colour, value: blue}]
      """
    Then object "ResourceOverrideSnapshot/{web}-app/everywhere-0" of the hub has
      | field                                                  | value |
      | metadata.labels.kubernetes-fleet.io/is-latest-snapshot | true  |
    When an update run "again" of placement "web" starts with strategy "all"
    Then update run "again" succeeds
    And object "ConfigMap/{web}-app/settings" of "member-1" has
      | field       | value |
      | data.colour | blue  |
    And the diagnosis finds nothing
