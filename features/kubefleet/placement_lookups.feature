@kubefleet
Feature: A placement's objects on the hub, and how they are found
  The guides "ClusterResourcePlacement TSG" and "ResourcePlacement TSG": the conditions of a placement in their order, and the commands
  that find its policy snapshot, its resource snapshot, its bindings and its Works.

  @healthy
  @guide:cluster-resource-placement/progress @guide:azure-cluster-resource-placement/progress
  @guide:cluster-resource-placement/apply-strategy/client-side
  @guide:cluster-resource-placement/binding @drift:cluster-resource-placement/binding/placement-columns
  @drift:cluster-resource-placement/binding/resource-applied @drift:cluster-resource-placement/binding/columns
  @guide:azure-cluster-resource-placement/binding @drift:azure-cluster-resource-placement/binding/resource-applied
  @drift:azure-cluster-resource-placement/binding/columns
  @guide:cluster-resource-placement/resource-snapshot @guide:azure-cluster-resource-placement/resource-snapshot
  @guide:cluster-resource-placement/work @guide:azure-cluster-resource-placement/work
  @guide:resource-placement/progress @guide:azure-resource-placement/progress
  @guide:resource-placement/apply-strategy/client-side @guide:azure-resource-placement/apply-strategy/client-side
  @guide:resource-placement/example @drift:resource-placement/example/placement-columns
  @drift:resource-placement/example/selected-namespace @guide:azure-resource-placement/example
  @guide:resource-placement/binding @guide:azure-resource-placement/binding
  @guide:resource-placement/resource-snapshot @guide:azure-resource-placement/resource-snapshot
  @guide:resource-placement/work @guide:azure-resource-placement/work
  Scenario Outline: What belongs to <placement> is found by its label
    Given <placement> "web" selects "member-1" and "member-2"
    Then placement "web" reports
      | on       | condition        | status | reason                    |
      |          | Scheduled        | True   | SchedulingPolicyFulfilled |
      |          | RolloutStarted   | True   | RolloutStarted            |
      |          | Overridden       | True   | NoOverrideSpecified       |
      |          | WorkSynchronized | True   | WorkSynchronized          |
      |          | Applied          | True   | ApplySucceeded            |
      |          | Available        | True   | ResourceAvailable         |
      |          | DiffReported     | absent |                           |
      | member-1 | Scheduled        | True   | Scheduled                 |
      | member-1 | RolloutStarted   | True   | RolloutStarted            |
      | member-1 | Overridden       | True   | NoOverrideSpecified       |
      | member-1 | WorkSynchronized | True   | AllWorkSynced             |
      | member-1 | Applied          | True   | AllWorkHaveBeenApplied    |
      | member-1 | Available        | True   | AllWorkAreAvailable       |
      | member-1 | ResourceApplied  | absent |                           |
      | member-2 | Available        | True   | AllWorkAreAvailable       |
    And placement "web" has
      | field                                       | value                  |
      | status.conditions.0.type                    | <kind>Scheduled        |
      | status.conditions.1.type                    | <kind>RolloutStarted   |
      | status.conditions.2.type                    | <kind>Overridden       |
      | status.conditions.3.type                    | <kind>WorkSynchronized |
      | status.conditions.4.type                    | <kind>Applied          |
      | status.conditions.5.type                    | <kind>Available        |
      | status.conditions.6                         | absent                 |
      | status.observedResourceIndex                | 0 or 1                 |
      | status.selectedResources.<last>.kind        | ConfigMap              |
      | status.selectedResources.<last>.name        | settings               |
      | status.selectedResources.<last>.namespace   | {web}-app              |
      | status.selectedResources.<last>.version     | v1                     |
    And "kubectl get <placements>" on the hub prints
      | NAME  | GEN | SCHEDULED | SCHEDULED-GEN | AVAILABLE | AVAILABLE-GEN | AGE |
      | {web} | 1   | True      | 1             | True      | 1             | *   |
    And "kubectl get <bindings> -l kubernetes-fleet.io/parent-CRP={web}" on the hub prints
      | NAME             | WORKSYNCHRONIZED | RESOURCESAPPLIED | AGE |
      | {web}-member-1-* | True             | True             | *   |
      | {web}-member-2-* | True             | True             | *   |
    And "kubectl get work -n fleet-member-member-1 -l kubernetes-fleet.io/parent-CRP={web}" on the hub prints
      | NAME   | AGE |
      | <work> | *   |
    When the resources of placement "web" change
    Then placement "web" becomes available on "member-1" and "member-2"
    And "kubectl get <snapshots> -l kubernetes-fleet.io/is-latest-snapshot=true,kubernetes-fleet.io/parent-CRP={web}" on the hub prints
      | NAME                                 | GEN | AGE |
      | {web}-1-snapshot or {web}-2-snapshot | 1   | *   |
    And the diagnosis finds nothing

    Examples:
      | placement                  | kind                     | last | work                 | placements                            | bindings                                | snapshots                                |
      | a cluster-scoped placement | ClusterResourcePlacement | 1    | {web}-work           | crp {web}                             | clusterresourcebinding                  | clusterresourcesnapshot                  |
      | a namespaced placement     | ResourcePlacement        | 0    | {web}-app.{web}-work | resourceplacement {web} -n {web}-app  | resourcebinding -n {web}-app            | resourcesnapshot -n {web}-app            |

  @healthy
  @guide:cluster-resource-placement/not-selected @guide:azure-cluster-resource-placement/not-selected
  @guide:cluster-resource-placement/policy-snapshot @drift:cluster-resource-placement/policy-snapshot/number-of-clusters
  @guide:azure-cluster-resource-placement/policy-snapshot @drift:azure-cluster-resource-placement/policy-snapshot/number-of-clusters
  @guide:resource-placement/not-selected @drift:resource-placement/not-selected/matches
  @guide:azure-resource-placement/not-selected @drift:azure-resource-placement/not-selected/matches
  # The number is none of the policy that makes a new snapshot: only the annotation follows it.
  Scenario Outline: The policy snapshot of <placement> says which members the scheduler chose, and why
    Given <placement> "web" selects 1 of "member-1" and "member-2"
    And placement "web" reports
      | condition | status | reason                    |
      | Scheduled | True   | SchedulingPolicyFulfilled |
    When the policy of placement "web" changes
    Then "kubectl get <snapshots> -l kubernetes-fleet.io/is-latest-snapshot=true,kubernetes-fleet.io/parent-CRP={web}" on the hub prints
      | NAME    | GEN | AGE |
      | {web}-1 | 1   | *   |
    And "kubectl get <snapshots> -l kubernetes-fleet.io/parent-CRP={web}" on the hub prints
      | NAME    | GEN | AGE |
      | {web}-0 | 1   | *   |
      | {web}-1 | 1   | *   |
    When placement "web" asks for 2 members
    Then object "<path>{web}-1" of the hub has
      | field                                                       | value                    |
      | spec.policy.placementType                                   | PickN                    |
      | spec.policy.numberOfClusters                                | <number>                 |
      | metadata.annotations.kubernetes-fleet.io/number-of-clusters | 2                        |
      | metadata.labels.kubernetes-fleet.io/number-of-clusters      | absent                   |
      | status.targetClusters.0.selected                            | true                     |
      | status.targetClusters.0.reason                              | Successfully scheduled * |
      | status.targetClusters.1.selected                            | true                     |
      | status.targetClusters.2.selected                            | false                    |
      | status.targetClusters.2.reason                              | <reason>*              |
    And placement "web" becomes available on "member-1" and "member-2"
    And the diagnosis finds nothing

    @needs-namespaced-placements
    Examples:
      | placement                  | snapshots                                | path                                 | number | reason               |
      | a cluster-scoped placement | clusterschedulingpolicysnapshot          | ClusterSchedulingPolicySnapshot/     | 1      | ClusterUnschedulable |
      | a namespaced placement     | schedulingpolicysnapshot -n {web}-app    | SchedulingPolicySnapshot/{web}-app/  | 1      | ClusterUnschedulable |

    @without-namespaced-placements
    Examples:
      | placement                  | snapshots                                | path                                 | number | reason               |
      | a cluster-scoped placement | clusterschedulingpolicysnapshot          | ClusterSchedulingPolicySnapshot/     | absent | ClusterUnschedulable |

  @healthy
  @guide:cluster-resource-placement/apply-strategy/server-side
  @guide:resource-placement/apply-strategy/server-side @guide:azure-resource-placement/apply-strategy/server-side
  Scenario Outline: <placement> that applies on the server's side has the same conditions
    Given <placement> "web" selects "member-1" and applies with '{"type": "ServerSideApply"}'
    Then placement "web" reports
      | on       | condition    | status | reason                 |
      |          | Applied      | True   | ApplySucceeded         |
      |          | Available    | True   | ResourceAvailable      |
      |          | DiffReported | absent |                        |
      | member-1 | Applied      | True   | AllWorkHaveBeenApplied |
      | member-1 | Available    | True   | AllWorkAreAvailable    |
    And the diagnosis finds nothing

    Examples:
      | placement                  |
      | a cluster-scoped placement |
      | a namespaced placement     |

  @guide:cluster-resource-placement/apply-strategy/report-diff @guide:cluster-resource-placement/apply-strategy/diff-reported
  @drift:cluster-resource-placement/apply-strategy/diff-reported-name
  @drift:azure-cluster-resource-placement/apply-strategy/six-conditions
  @guide:resource-placement/apply-strategy/report-diff @guide:resource-placement/apply-strategy/diff-reported
  @drift:resource-placement/apply-strategy/diff-reported-name
  @guide:azure-resource-placement/apply-strategy/report-diff @guide:azure-resource-placement/apply-strategy/diff-reported
  @guide:azure-resource-placement/apply-strategy/diff-reported-name
  Scenario Outline: <placement> that only reports differences has another condition
    Given <placement> "web" selects "member-1" and applies with '{"type": "ReportDiff"}'
    Then placement "web" reports
      | on       | condition    | status | reason                 |
      |          | DiffReported | True   | DiffReportingCompleted |
      |          | Applied      | absent |                        |
      |          | Available    | absent |                        |
      | member-1 | DiffReported | True   |                        |
      | member-1 | Applied      | absent |                        |
      | member-1 | Available    | absent |                        |
    And placement "web" has
      | field                    | value              |
      | status.conditions.4.type | <kind>DiffReported |

    Examples:
      | placement                  | kind                     |
      | a cluster-scoped placement | ClusterResourcePlacement |
      | a namespaced placement     | ResourcePlacement        |

  # The hub itself has lost the object: nothing failed, and the placement is right to say so.
  @healthy
  @guide:cluster-resource-placement/no-resources/verify-on-hub @guide:azure-cluster-resource-placement/no-resources/verify-on-hub
  @guide:resource-placement/no-resources/verify-on-hub @guide:azure-resource-placement/no-resources/verify-on-hub
  Scenario Outline: The object isn't on the hub any more, and <placement> is applied
    Given <placement> "web" has put its resources on "member-1"
    When object "ConfigMap/{web}-app/settings" of the hub is deleted
    Then the resources of placement "web" are gone from "member-1"
    And placement "web" reports
      | on       | condition | status | reason                 |
      |          | Applied   | True   | ApplySucceeded         |
      | member-1 | Applied   | True   | AllWorkHaveBeenApplied |
    And the diagnosis finds nothing

    Examples:
      | placement                  |
      | a cluster-scoped placement |
      | a namespaced placement     |

  # Scheduled is True: nothing is wrong with the scheduling, to which the guide's question leads.
  @KF-AP-002 @KF-RO-002
  @drift:cluster-resource-placement/no-resources/rollout-false @guide:cluster-resource-placement/no-resources/applied-false
  @guide:cluster-resource-placement/no-resources/failed-placements
  @drift:azure-cluster-resource-placement/no-resources/rollout-false @guide:azure-cluster-resource-placement/no-resources/applied-false
  @guide:azure-cluster-resource-placement/no-resources/failed-placements
  @guide:resource-placement/no-resources/rollout-false @guide:resource-placement/no-resources/applied-false
  @guide:resource-placement/no-resources/failed-placements
  @guide:azure-resource-placement/no-resources/rollout-false @guide:azure-resource-placement/no-resources/applied-false
  @guide:azure-resource-placement/no-resources/failed-placements
  Scenario Outline: A change of <placement> doesn't come, because an object isn't applied on another member
    Given "member-2" has a ConfigMap already where placement "web" will put one
    And <placement> "web" selects "member-1" and "member-2" and applies with '{"whenToTakeOver": "Never"}'
    Then placement "web" reports
      | on       | condition | status | reason                    | message                             |
      |          | Applied   | False  | ApplyFailed               | check the `failedPlacements` status |
      | member-1 | Available | True   |                           |                                     |
      | member-2 | Applied   | False  | NotAllWorkHaveBeenApplied |                                     |
    And placement "web" lists as failed
      | on       | object             | condition | status | reason       | message            |
      | member-2 | ConfigMap settings | Applied   | False  | NotTakenOver | takeover is needed |
    When the resources of placement "web" change
    Then placement "web" reports
      | on       | condition      | status | reason                    | message                                              |
      |          | Scheduled      | True   | SchedulingPolicyFulfilled |                                                      |
      |          | RolloutStarted | False  | RolloutNotStartedYet      | The rollout is being blocked by the rollout strategy |
      | member-1 | RolloutStarted | False  | RolloutNotStartedYet      | The rollout is being blocked by the rollout strategy |
    And within 60 seconds the diagnosis of placement "web" is KF-RO-002 for "member-1", because of KF-AP-002
    When placement "web" gets '{"strategy": {"applyStrategy": {"whenToTakeOver": "Always"}}}'
    Then placement "web" becomes available on "member-1" and "member-2"
    And the diagnosis finds nothing

    Examples:
      | placement                  |
      | a cluster-scoped placement |
      | a namespaced placement     |

  # The diagnosis finds a silent member after some minutes: see the feature on members that look healthy and do nothing.
  @disruptive
  @drift:resource-placement/no-resources/applied-unknown @drift:azure-resource-placement/no-resources/applied-unknown
  Scenario: A ResourcePlacement isn't applied as long as the member's agent doesn't run
    Given a member "east" of its own
    When the agent of member "east" stops
    And a namespaced placement "web" selects "east"
    Then placement "web" reports for 5 seconds
      | on   | condition        | status | reason           | message                             |
      |      | WorkSynchronized | True   | WorkSynchronized |                                     |
      |      | Applied          | False  | ApplyFailed      | check the `failedPlacements` status |
      | east | Applied          | False  | ApplyInProgress  | Resources are being applied         |
    When the agent of member "east" is restarted
    Then placement "web" becomes available on "east"
    And the diagnosis finds nothing
