@kubefleet
Feature: Why a member isn't taken for a placement
  A policy that asks for N clusters isn't fulfilled, and the placement says in one entry without a cluster's name why a cluster
  wasn't taken. Which cluster that is, and what it lacks, is in the MemberClusters.

  @KF-SC-004
  @guide:placement-scheduled/condition @guide:azure-placement-scheduled/condition
  @guide:placement-scheduled/common-scenarios/too-few-satisfy @guide:azure-placement-scheduled/common-scenarios/too-few-satisfy
  @guide:placement-scheduled/case-study @guide:azure-placement-scheduled/case-study
  @guide:placement-scheduled/case-study-cause @guide:azure-placement-scheduled/case-study-cause
  @guide:placement-scheduled/policy-snapshot @guide:azure-placement-scheduled/policy-snapshot
  @guide:placement-scheduled/policy-snapshot-fields/annotations @guide:azure-placement-scheduled/policy-snapshot-fields/annotations
  @guide:placement-scheduled/policy-snapshot-fields/labels @guide:azure-placement-scheduled/policy-snapshot-fields/labels
  @guide:placement-scheduled/policy-snapshot-fields/name @guide:azure-placement-scheduled/policy-snapshot-fields/name
  @guide:placement-scheduled/policy-snapshot-fields/owner @guide:azure-placement-scheduled/policy-snapshot-fields/owner
  @guide:placement-scheduled/policy-snapshot-fields/policy @guide:azure-placement-scheduled/policy-snapshot-fields/policy
  @drift:placement-scheduled/policy-snapshot-fields/policy-number
  @drift:azure-placement-scheduled/policy-snapshot-fields/policy-number
  @guide:placement-scheduled/policy-snapshot-fields/observed-generation
  @guide:azure-placement-scheduled/policy-snapshot-fields/observed-generation
  @guide:placement-scheduled/policy-snapshot-fields/selected @guide:azure-placement-scheduled/policy-snapshot-fields/selected
  @guide:placement-scheduled/policy-snapshot-fields/not-selected @guide:azure-placement-scheduled/policy-snapshot-fields/not-selected
  @drift:placement-scheduled/policy-snapshot-fields/selected-reason
  @drift:azure-placement-scheduled/policy-snapshot-fields/selected-reason
  @guide:placement-scheduled/policy-snapshot-fields/score @guide:azure-placement-scheduled/policy-snapshot-fields/score
  @drift:placement-scheduled/logs @drift:azure-placement-scheduled/logs
  @guide:placement-scheduled/resolution @guide:azure-placement-scheduled/resolution
  Scenario Outline: Only one of two members has the label that the policy requires, <placement>
    Given member "member-1" gets the label "env-{suffix}=prod"
    And <placement> "web" for "member-1" and "member-2" is created with
      """
      policy:
        placementType: PickN
        numberOfClusters: 2
        affinity:
          clusterAffinity:
            requiredDuringSchedulingIgnoredDuringExecution:
              clusterSelectorTerms:
                - labelSelector:
                    matchLabels: {env-{suffix}: prod}
                    matchExpressions: [{key: fleetdrill.dev/member, operator: In, values: ["{member-1}", "{member-2}"]}]
      """
    Then placement "web" reports
      | on       | condition        | status | reason                      | message                                                                            |
      |          | Scheduled        | False  | SchedulingPolicyUnfulfilled | found 1 cluster(s) instead                                                         |
      |          | RolloutStarted   | True   | RolloutStarted              | All 1 cluster(s) start rolling out the latest resource                             |
      |          | WorkSynchronized | True   | WorkSynchronized            |                                                                                    |
      |          | Applied          | True   | ApplySucceeded              |                                                                                    |
      |          | Available        | True   | ResourceAvailable           |                                                                                    |
      | member-1 | Scheduled        | True   | Scheduled                   | picked by scheduling policy                                                        |
      | member-1 | Available        | True   | AllWorkAreAvailable         |                                                                                    |
      | (none)   | Scheduled        | False  | ScheduleFailed              | ClusterUnschedulable, cluster does not match with any of the required cluster affinity terms |
    And the resources of placement "web" are on "member-1"
    And the policy snapshots of placement "web" reports
      | condition | status | reason                      | message                    |
      | Scheduled | False  | SchedulingPolicyUnfulfilled | found 1 cluster(s) instead |
    And the policy snapshots of placement "web" has
      | field                                                    | value                                      |
      | metadata.name                                            | {web}-0                                    |
      | metadata.annotations.kubernetes-fleet.io/CRP-generation  | 1                                          |
      | metadata.annotations.kubernetes-fleet.io/number-of-clusters | 2                                       |
      | metadata.labels.kubernetes-fleet.io/is-latest-snapshot   | true                                       |
      | metadata.labels.kubernetes-fleet.io/parent-CRP           | {web}                                      |
      | metadata.labels.kubernetes-fleet.io/policy-index         | 0                                          |
      | metadata.ownerReferences.0.kind                          | <kind>                                     |
      | metadata.ownerReferences.0.name                          | {web}                                      |
      | metadata.ownerReferences.0.controller                    | true                                       |
      | metadata.ownerReferences.0.blockOwnerDeletion            | true                                       |
      | spec.policy.placementType                                | PickN                                      |
      | spec.policy.numberOfClusters                             | 2                                          |
      | spec.policyHash                                          | *                                          |
      | status.observedCRPGeneration                             | 1                                          |
      | status.targetClusters.0.clusterName                      | member-1                                   |
      | status.targetClusters.0.selected                         | true                                       |
      | status.targetClusters.0.reason                           | Successfully scheduled resources for placement in *  |
      | status.targetClusters.0.clusterScore.affinityScore       | 0                                          |
      | status.targetClusters.0.clusterScore.priorityScore       | 0                                          |
      | status.targetClusters.1.selected                         | false                                      |
      | status.targetClusters.1.reason                           | ClusterUnschedulable, cluster does not match with any of the required cluster affinity terms |
    And the diagnosis of placement "web" is KF-SC-004
      | object                          | value                |
      | <kind>/                         | SchedulingPolicyUnfulfilled |
      | <kind>/                         | required cluster affinity terms |
      | <kind>/                         | env-{suffix}         |
      | MemberCluster/{member-2}        | (absent)             |
      | SchedulingPolicySnapshot/       | required cluster affinity terms |
    # It logs nothing about it, although the guide sends its reader there.
    And the hub-agent has logged "{web}" in no line with "cluster affinity"
    When member "member-2" gets the label "env-{suffix}=prod"
    Then placement "web" becomes available on "member-1" and "member-2"
    And a change to the resources of placement "web" arrives on "member-1" and "member-2"
    And the diagnosis finds nothing

    Examples:
      | placement                  | kind                     |
      | a cluster-scoped placement | ClusterResourcePlacement |

    @guide:placement-scheduled/latest-snapshot @guide:placement-scheduled/general-notes @guide:azure-placement-scheduled/general-notes
    Examples:
      | placement              | kind              |
      | a namespaced placement | ResourcePlacement |

  # A policy without a number takes the members that fit.
  @healthy
  Scenario Outline: A placement takes all members with a label, and one gets it later, <placement>
    Given <placement> "web" for "member-1" is created with
      """
      policy: {placementType: PickAll}
      """
    Then placement "web" becomes available on "member-1"
    And the diagnosis finds nothing
    When placement "web" selects "member-2" too
    Then placement "web" becomes available on "member-1" and "member-2"
    And the diagnosis finds nothing

    Examples:
      | placement                  |
      | a cluster-scoped placement |
      | a namespaced placement     |

  @KF-SC-009
  @guide:placement-scheduled/common-scenarios/too-few-satisfy @guide:azure-placement-scheduled/common-scenarios/too-few-satisfy
  Scenario Outline: The policy requires a property that a member hasn't, <placement>
    Given <placement> "web" for "member-1" and "member-2" is created with
      """
      policy:
        placementType: PickN
        numberOfClusters: 1
        affinity:
          clusterAffinity:
            requiredDuringSchedulingIgnoredDuringExecution:
              clusterSelectorTerms:
                - labelSelector: {matchExpressions: [{key: fleetdrill.dev/member, operator: In, values: ["{member-1}", "{member-2}"]}]}
                  propertySelector:
                    matchExpressions:
                      - {name: resources.kubernetes-fleet.io/total-cpu, operator: Ge, values: ["5000"]}
      """
    Then placement "web" reports
      | on     | condition | status | reason                      | message                                                                  |
      |        | Scheduled | False  | SchedulingPolicyUnfulfilled | found 0 cluster(s) instead                                               |
      | (none) | Scheduled | False  | ScheduleFailed              | cluster does not match with any of the required cluster affinity terms   |
    And the diagnosis of placement "web" is KF-SC-009
      | object                    | value                           |
      | ResourcePlacement/        | SchedulingPolicyUnfulfilled     |
      | ResourcePlacement/        | total-cpu                       |
      | MemberCluster/{member-1}  |                                 |
      | SchedulingPolicySnapshot/ | required cluster affinity terms |
      | MemberCluster/{member-2}  |                                 |
    When placement "web" gets '{"policy": {"affinity": {"clusterAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"clusterSelectorTerms": [{"labelSelector": {"matchLabels": {"fleetdrill.dev/member": "{member-1}"}}}]}}}}}'
    Then placement "web" reports
      | condition | status | reason                    |
      | Scheduled | True   | SchedulingPolicyFulfilled |
      | Available | True   | ResourceAvailable         |
    And the diagnosis finds nothing

    Examples:
      | placement                  |
      | a cluster-scoped placement |
      | a namespaced placement     |

  # member-3 isn't meant by the policy, and counts as part of the spread.
  @KF-SC-008
  @guide:placement-scheduled/common-scenarios/too-few-satisfy @guide:azure-placement-scheduled/common-scenarios/too-few-satisfy
  Scenario Outline: A second member in the same zone would violate the spread constraint, <placement>
    Given member "member-1" gets the label "zone-{suffix}=a"
    And member "member-2" gets the label "zone-{suffix}=a"
    And member "member-3" gets the label "zone-{suffix}=b"
    And <placement> "web" for "member-1" and "member-2" is created with
      """
      policy:
        placementType: PickN
        numberOfClusters: 2
        topologySpreadConstraints:
          - {maxSkew: 1, topologyKey: zone-{suffix}, whenUnsatisfiable: DoNotSchedule}
      """
    Then placement "web" reports
      | on     | condition | status | reason                      | message                                              |
      |        | Scheduled | False  | SchedulingPolicyUnfulfilled | found 1 cluster(s) instead                           |
      | (none) | Scheduled | False  | ScheduleFailed              |                                                      |
    And the diagnosis of placement "web" is KF-SC-008
      | object                    | value                                                |
      | ResourcePlacement/        | SchedulingPolicyUnfulfilled                          |
      | ResourcePlacement/        | topologySpreadConstraints                            |
      | MemberCluster/            | a                                                    |
      | SchedulingPolicySnapshot/ | violated doNotSchedule topology spread constraint    |
    When placement "web" gets '{"policy": {"topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": "zone-{suffix}", "whenUnsatisfiable": "ScheduleAnyway"}]}}'
    Then placement "web" becomes available on "member-1" and "member-2"
    And a change to the resources of placement "web" arrives on "member-1" and "member-2"
    And the diagnosis finds nothing

    Examples:
      | placement                  |
      | a cluster-scoped placement |
      | a namespaced placement     |

  # The twin: with the members in two zones, the same constraint is no obstacle.
  @healthy
  Scenario: Members in two zones satisfy the spread constraint
    Given member "member-1" gets the label "zone-{suffix}=a"
    And member "member-2" gets the label "zone-{suffix}=b"
    And a placement "web" for "member-1" and "member-2" is created with
      """
      policy:
        placementType: PickN
        numberOfClusters: 2
        topologySpreadConstraints:
          - {maxSkew: 1, topologyKey: zone-{suffix}, whenUnsatisfiable: DoNotSchedule}
      """
    Then placement "web" becomes available on "member-1" and "member-2"
    And the diagnosis finds nothing

  # One member for both scopes. A taint keeps out what isn't there yet; what is there stays.
  @disruptive @KF-SC-005
  @guide:placement-scheduled/common-scenarios/too-few-satisfy @guide:azure-placement-scheduled/common-scenarios/too-few-satisfy
  Scenario Outline: A member has a taint that the policy doesn't tolerate, <placement>
    Given a member "east" of its own
    And <placement> "first" has put its resources on "east"
    And member "east" gets '{"taints": [{"key": "maintenance", "value": "true", "effect": "NoSchedule"}]}'
    When <placement> "web" for "east" and "member-1" is created with
      """
      policy: {placementType: PickN, numberOfClusters: 2}
      """
    Then placement "web" reports
      | on       | condition | status | reason                      | message                    |
      |          | Scheduled | False  | SchedulingPolicyUnfulfilled | found 1 cluster(s) instead |
      | member-1 | Scheduled | True   | Scheduled                   |                            |
      | (none)   | Scheduled | False  | ScheduleFailed              |                            |
    And the diagnosis of placement "web" is KF-SC-005
      | object                    | value                       |
      | ResourcePlacement/        | SchedulingPolicyUnfulfilled |
      | MemberCluster/{east}      | maintenance                 |
      | SchedulingPolicySnapshot/ | cannot be tolerated         |
    And placement "first" still says that it is available
    When member "east" gets '{"taints": []}'
    Then placement "web" becomes available on "east" and "member-1"
    And a change to the resources of placement "web" arrives on "east" and "member-1"
    And the diagnosis finds nothing

    Examples:
      | placement                  |
      | a cluster-scoped placement |
      | a namespaced placement     |

  # The other remedy. A namespaced placement would need it for the placement of its namespace, too.
  @disruptive @KF-SC-005
  Scenario: A member has a taint that the policy doesn't tolerate, and then it does
    Given a member "east" of its own
    And member "east" gets '{"taints": [{"key": "maintenance", "value": "true", "effect": "NoSchedule"}]}'
    When a placement "web" for "east" and "member-1" is created with
      """
      policy: {placementType: PickN, numberOfClusters: 2}
      """
    Then placement "web" reports
      | on | condition | status | reason                      |
      |    | Scheduled | False  | SchedulingPolicyUnfulfilled |
    And the diagnosis of placement "web" is KF-SC-005
    When placement "web" gets '{"policy": {"tolerations": [{"key": "maintenance", "operator": "Equal", "value": "true", "effect": "NoSchedule"}]}}'
    Then placement "web" becomes available on "east" and "member-1"
    And a change to the resources of placement "web" arrives on "east" and "member-1"
    And the diagnosis finds nothing

  # Names have no regard to taints.
  @disruptive @healthy
  Scenario: A placement names a member that has a taint
    Given a member "east" of its own
    And member "east" gets '{"taints": [{"key": "maintenance", "value": "true", "effect": "NoSchedule"}]}'
    When a placement "web" selects by name "east" and "member-1"
    Then placement "web" becomes available on "east" and "member-1"
    And the diagnosis finds nothing

  @disruptive @fast-forward @KF-SC-006 @passes:KF-MC-001
  @guide:placement-scheduled/common-scenarios/disconnected @guide:azure-placement-scheduled/common-scenarios/disconnected
  Scenario Outline: A member that <placement> names hasn't sent a heartbeat for five minutes
    Given a member "east" of its own
    And <placement> "first" has put its resources on "east"
    When the agent of member "east" stops
    And the hub hasn't heard of member "east" for five minutes
    And <placement> "web" selects by name "east" and "member-1"
    Then placement "web" reports
      | on       | condition | status | reason                      | message                                                                |
      |          | Scheduled | False  | SchedulingPolicyUnfulfilled | found 1 cluster(s) instead                                             |
      | member-1 | Scheduled | True   | Scheduled                   |                                                                        |
      | (none)   | Scheduled | False  | ScheduleFailed              | cluster is not connected to the fleet: no recent heartbeat signals     |
    And the diagnosis of placement "web" is KF-SC-006
      | object                    | value                       |
      | ResourcePlacement/        | SchedulingPolicyUnfulfilled |
      | ResourcePlacement/        | no recent heartbeat signals |
      | ResourcePlacement/        | east                        |
      | MemberCluster/{east}      |                             |
      | SchedulingPolicySnapshot/ | no recent heartbeat signals |
    And placement "first" still says that it is available
    When the agent of member "east" is restarted
    Then placement "web" becomes available on "east" and "member-1"
    And a change to the resources of placement "web" arrives on "east" and "member-1"
    And the diagnosis finds nothing

    Examples:
      | placement                  |
      | a cluster-scoped placement |
      | a namespaced placement     |

  # A member on which nothing is left takes no more placements either, and doesn't come back until it has left.
  @disruptive @KF-SC-007
  Scenario Outline: A member that <placement> names is leaving the fleet
    Given a member "east" of its own
    And somebody's finalizer holds the hub's namespace of member "east"
    When member "east" is deleted
    And <placement> "web" selects by name "east" and "member-1"
    Then placement "web" reports
      | on       | condition | status | reason                      | message                    |
      |          | Scheduled | False  | SchedulingPolicyUnfulfilled | found 1 cluster(s) instead |
      | member-1 | Scheduled | True   | Scheduled                   |                            |
      | (none)   | Scheduled | False  | ScheduleFailed              | cluster has left the fleet |
    And the diagnosis of placement "web" is KF-SC-007
      | object                    | value                       |
      | ResourcePlacement/        | SchedulingPolicyUnfulfilled |
      | ResourcePlacement/        | cluster has left the fleet  |
      | ResourcePlacement/        | east                        |
      | MemberCluster/{east}      |                             |
      | SchedulingPolicySnapshot/ | cluster has left the fleet  |
    When placement "web" selects by name "member-1" instead
    Then placement "web" becomes available on "member-1"
    When somebody's finalizer releases the hub's namespace of member "east"
    Then member "east" has left
    And the diagnosis finds nothing

    Examples:
      | placement                  |
      | a cluster-scoped placement |
      | a namespaced placement     |

  # With PickAll, no number is asked for that could be missed.
  @takes-50s @KF-SC-010
  Scenario Outline: The policy of <placement> selects no member, and that counts as scheduled
    Given <placement> "web" for "member-1" is created with
      """
      policy:
        placementType: PickAll
        affinity:
          clusterAffinity:
            requiredDuringSchedulingIgnoredDuringExecution:
              clusterSelectorTerms:
                - labelSelector: {matchLabels: {fleetdrill.dev/member: "{member-1}", env-{suffix}: prod}}
      """
    Then placement "web" reports
      | condition | status | reason                    | message            |
      | Scheduled | True   | SchedulingPolicyFulfilled | found 0 cluster(s) |
      | Available | absent |                           |                    |
    And the diagnosis of placement "web" is KF-SC-010
      | object                    | value                           |
      | ResourcePlacement/        | found 0 cluster(s)              |
      | ResourcePlacement/        | env-{suffix}                    |
      | MemberCluster/{member-1}  | (absent)                        |
      | SchedulingPolicySnapshot/ | required cluster affinity terms |
    When member "member-1" gets the label "env-{suffix}=prod"
    Then placement "web" becomes available on "member-1"
    And a change to the resources of placement "web" arrives on "member-1"
    And the diagnosis finds nothing

    Examples:
      | placement                  |
      | a cluster-scoped placement |
      | a namespaced placement     |

  # kubefleet#311: the webhook, which isn't installed here, checks a ClusterResourcePlacement alone.
  @KF-SC-012
  Scenario Outline: The policy of <placement> has no <lacks>
    Given <placement> "web" for "member-1" is created with
      """
      policy: {placementType: <type>, affinity: null}
      """
    Then placement "web" reports
      | condition | status  |
      | Scheduled | Unknown |
    And the diagnosis of placement "web" is KF-SC-012
      | object             | value    |
      | ResourcePlacement/ | Unknown  |
      | ResourcePlacement/ | (absent) |
      | ResourcePlacement/ | <type>   |
    When placement "web" gets '{"policy": <repair>}'
    Then placement "web" becomes available on "member-1"
    And the diagnosis finds nothing

    # The hub-agent of v0.14.0 ends when it rolls out such a placement.
    @without-policy-rules @needs-recovered-panics
    Examples:
      | placement                  | type      | lacks            | repair |
      | a cluster-scoped placement | PickN     | numberOfClusters | {"numberOfClusters": 1, "affinity": {"clusterAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"clusterSelectorTerms": [{"labelSelector": {"matchLabels": {"fleetdrill.dev/member": "{member-1}"}}}]}}}} |
      | a namespaced placement     | PickN     | numberOfClusters | {"numberOfClusters": 1, "affinity": {"clusterAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"clusterSelectorTerms": [{"labelSelector": {"matchLabels": {"fleetdrill.dev/member": "{member-1}"}}}]}}}} |

    Examples:
      | placement                  | type      | lacks            | repair |
      | a cluster-scoped placement | PickFixed | clusterNames     | {"clusterNames": ["{member-1}"]} |
      | a namespaced placement     | PickFixed | clusterNames     | {"clusterNames": ["{member-1}"]} |

  # The rollout controller ends with a panic at each attempt, and the placement says nothing but that it is undecided.
  @KF-SC-012 @without-policy-rules @needs-recovered-panics
  Scenario Outline: The policy of <placement> that is rolled out loses its numberOfClusters
    Given <placement> "web" selects 1 of "member-1"
    And placement "web" becomes available on "member-1"
    When placement "web" gets '{"policy": {"numberOfClusters": null}}'
    And the resources of placement "web" change
    Then placement "web" reports for 10 seconds
      | on       | condition      | status  | reason                |
      |          | Scheduled      | True    |                       |
      | member-1 | RolloutStarted | Unknown | RolloutStartedUnknown |
    And within 60 seconds the diagnosis of placement "web" is KF-SC-012
      | object             | value                 |
      | ResourcePlacement/ | RolloutStartedUnknown |
      | ResourcePlacement/ | (absent)              |
    When placement "web" gets '{"policy": {"numberOfClusters": 1}}'
    Then placement "web" becomes available on "member-1"
    And the diagnosis finds nothing
    And a change to the resources of placement "web" arrives on "member-1"

    Examples:
      | placement                  |
      | a cluster-scoped placement |
      | a namespaced placement     |

  # kubefleet#311 on main: the API server itself refuses it, in both scopes.
  @healthy @needs-policy-rules
  Scenario Outline: The API server refuses <placement> without numberOfClusters
    When <placement> "web" selects 1 of "member-1"
    Then placement "web" becomes available on "member-1"
    And the hub refuses with "numberOfClusters must be set when placementType is PickN" to create
      """
      apiVersion: placement.kubernetes-fleet.io/v1beta1
      kind: <kind>
      metadata: <metadata>
      spec:
        resourceSelectors: [{group: "", version: v1, kind: <selects>, name: default}]
        policy: {placementType: PickN}
      """
    And the diagnosis finds nothing

    Examples:
      | placement                  | kind                     | metadata                               | selects   |
      | a cluster-scoped placement | ClusterResourcePlacement | {name: numberless}                     | Namespace |
      | a namespaced placement     | ResourcePlacement        | {name: numberless, namespace: default} | ConfigMap |
