@kubefleet
Feature: An eviction isn't carried out
  The guide "ClusterResourcePlacementEviction TSG". The hub-agent judges an eviction once: one that was refused, or not executed, stays so
  after its cause has gone. Only another eviction helps. Namespaced placements have no evictions.

  @KF-EV-001
  @guide:placement-eviction/terminal-states/invalid @guide:placement-eviction/terminal-states/once
  @guide:placement-eviction/missing-placement
  Scenario: The eviction names a placement that doesn't exist
    When an eviction "early" of placement "web" from "member-1" is created
    Then eviction "early" reports
      | condition | status | reason                                  | message                                                        |
      | Valid     | False  | ClusterResourcePlacementEvictionInvalid | Failed to find ClusterResourcePlacement targeted by eviction   |
      | Executed  | absent |                                         |                                                                |
    And the diagnosis of eviction "early" is KF-EV-001
      | object                                   | value                                   |
      | ClusterResourcePlacementEviction/{early} | ClusterResourcePlacementEvictionInvalid |
      | ClusterResourcePlacement/{web}           | (no such object)                        |
    Given a placement "web" has put its resources on "member-1" and "member-2"
    Then eviction "early" reports for 5 seconds
      | condition | status |
      | Valid     | False  |
      | Executed  | absent |
    And the diagnosis of eviction "early" is KF-EV-001
      | object                         | value |
      | ClusterResourcePlacement/{web} | 20    |
    When eviction "early" is deleted
    And an eviction "again" of placement "web" from "member-1" is created
    Then eviction "again" reports
      | condition | status | reason                                   |
      | Valid     | True   | ClusterResourcePlacementEvictionValid    |
      | Executed  | True   | ClusterResourcePlacementEvictionExecuted |
    And placement "web" becomes available on "member-1" and "member-2"
    And the diagnosis finds nothing
    And a change to the resources of placement "web" arrives on "member-1" and "member-2"

  @KF-EV-002 @passes:KF-DL-002
  @guide:placement-eviction/deleting-placement
  Scenario: The eviction's placement is being deleted
    Given a placement "base" has put its resources on "member-2"
    When a placement "web" selects what placement "base" places, for "member-1"
    Then placement "web" becomes available on "member-1"
    Given somebody's finalizer holds placement "web"
    When placement "web" is deleted
    And an eviction "late" of placement "web" from "member-1" is created
    Then eviction "late" reports
      | condition | status | reason                                  | message                                                       |
      | Valid     | False  | ClusterResourcePlacementEvictionInvalid | Found deleting ClusterResourcePlacement targeted by eviction  |
      | Executed  | absent |                                         |                                                               |
    And the diagnosis of eviction "late" is KF-EV-002
      | object                                  | value                                   |
      | ClusterResourcePlacementEviction/{late} | ClusterResourcePlacementEvictionInvalid |
      | ClusterResourcePlacement/{web}          | 20                                      |
    When somebody's finalizer releases placement "web"
    Then no binding and no Work of placement "web" is left
    When a placement "web" selects what placement "base" places, for "member-1"
    Then placement "web" becomes available on "member-1"
    When eviction "late" is deleted
    And an eviction "again" of placement "web" from "member-1" is created
    Then eviction "again" reports
      | condition | status |
      | Valid     | True   |
      | Executed  | True   |
    And placement "web" becomes available on "member-1"
    And the diagnosis finds nothing
    And a change to the resources of placement "web" arrives on "member-1"

  @KF-EV-003
  @guide:placement-eviction/pick-fixed
  Scenario: The eviction's placement names its members
    Given a placement "web" selects by name "member-1" and "member-2"
    And placement "web" becomes available on "member-1" and "member-2"
    When an eviction "move" of placement "web" from "member-1" is created
    Then eviction "move" reports
      | condition | status | reason                                  | message                                                                          |
      | Valid     | False  | ClusterResourcePlacementEvictionInvalid | Found ClusterResourcePlacement with PickFixed placement type targeted by eviction |
      | Executed  | absent |                                         |                                                                                  |
    And the diagnosis of eviction "move" is KF-EV-003
      | object                                  | value                                   |
      | ClusterResourcePlacementEviction/{move} | ClusterResourcePlacementEvictionInvalid |
      | ClusterResourcePlacement/{web}          | PickFixed                               |
      | ClusterResourcePlacement/{web}          | {member-1}                              |
    When placement "web" selects by name "member-2" instead
    Then the resources of placement "web" are gone from "member-1"
    And placement "web" becomes available on "member-2"
    When eviction "move" is deleted
    Then the diagnosis finds nothing
    And a change to the resources of placement "web" arrives on "member-2"

  # v0.14.0 has no kind with the short name rb but this one.
  @KF-EV-004 @needs-namespaced-placements
  @guide:placement-eviction/missing-binding/invalid @guide:placement-eviction/missing-binding/binding-name
  @guide:placement-eviction/missing-binding/retry @guide:placement-eviction/missing-binding/not-picked
  @drift:placement-eviction/missing-binding/list-bindings
  Scenario: The eviction's placement isn't on the member
    Given a placement "web" has put its resources on "member-2"
    When an eviction "move" of placement "web" from "member-1" is created
    Then eviction "move" reports
      | condition | status | reason                                  | message                                                                              |
      | Valid     | False  | ClusterResourcePlacementEvictionInvalid | Failed to find scheduler decision for placement in cluster targeted by eviction      |
      | Executed  | absent |                                         |                                                                                      |
    And the resources of placement "web" are gone from "member-1"
    And the diagnosis of eviction "move" is KF-EV-004
      | object                                  | value                                   |
      | ClusterResourcePlacementEviction/{move} | ClusterResourcePlacementEvictionInvalid |
      | ClusterResourcePlacementEviction/{move} | {member-1}                              |
      | ClusterResourcePlacement/{web}          | PickAll                                 |
    And "kubectl get crb" shows the binding of placement "web" for "member-2"
      | NAME                 | WORKSYNCHRONIZED | RESOURCESAPPLIED | AGE |
      | {web}-{member-2}-*   | True             | True             | *   |
    And the binding of placement "web" for "member-2" has
      | field                                          | value              |
      | metadata.name                                  | {web}-{member-2}-* |
      | metadata.labels.kubernetes-fleet.io/parent-CRP | {web}              |
    When placement "web" selects "member-1" too
    Then placement "web" becomes available on "member-1" and "member-2"
    When eviction "move" is deleted
    And an eviction "again" of placement "web" from "member-1" is created
    Then eviction "again" reports
      | condition | status |
      | Valid     | True   |
      | Executed  | True   |
    And placement "web" becomes available on "member-1" and "member-2"
    And the diagnosis finds nothing
    And a change to the resources of placement "web" arrives on "member-1" and "member-2"

  @KF-EV-004
  Scenario: The eviction names a member that doesn't exist
    Given a placement "web" has put its resources on "member-1"
    When an eviction "move" of placement "web" from "nowhere" is created
    Then the diagnosis of eviction "move" is KF-EV-004
      | object                                  | value                                   |
      | ClusterResourcePlacementEviction/{move} | ClusterResourcePlacementEvictionInvalid |
      | ClusterResourcePlacementEviction/{move} | nowhere                                 |
      | MemberCluster/nowhere                   | (no such object)                        |
    When eviction "move" is deleted
    Then the diagnosis finds nothing
    And a change to the resources of placement "web" arrives on "member-1"

  # Usually the old binding is gone within a second. Somebody's finalizer makes the moment last.
  @takes-60s @KF-EV-005 @KF-DL-002 @passes:KF-DL-004 @passes:KF-WS-011 @passes:KF-XX-001
  @guide:placement-eviction/several-bindings
  Scenario: The member was evicted and is selected again, and the old binding isn't gone yet
    Given a placement "web" has put its resources on "member-1" and "member-2"
    And somebody's finalizer holds the binding of placement "web" for "member-1"
    When placement "web" is evicted from "member-1"
    # The scheduler makes the new binding within a second. What the placement says of the member meanwhile differs.
    Then placement "web" reports for 5 seconds
      | condition | status |
      | Scheduled | True   |
    When an eviction "second" of placement "web" from "member-1" is created
    Then eviction "second" reports
      | condition | status | reason                                  | message                                                                                   |
      | Valid     | False  | ClusterResourcePlacementEvictionInvalid | Found more than one scheduler decision for placement in cluster targeted by eviction      |
      | Executed  | absent |                                         |                                                                                           |
    And within 90 seconds the diagnosis of eviction "second" is KF-EV-005, because of KF-DL-002
      | object                                    | value                                   |
      | ClusterResourcePlacementEviction/{second} | ClusterResourcePlacementEvictionInvalid |
      | ClusterResourceBinding/{web}-{member-1}   | 20                                      |
    # The hub-agent's next attempt comes after at most as long again, and nothing shows what it waits for.
    When somebody's finalizer releases the binding of placement "web" for "member-1"
    Then placement "web" becomes available on "member-1" and "member-2"
    When eviction "second" is deleted
    And an eviction "third" of placement "web" from "member-1" is created
    Then eviction "third" reports
      | condition | status |
      | Valid     | True   |
      | Executed  | True   |
    And placement "web" becomes available on "member-1" and "member-2"
    And the diagnosis finds nothing
    And a change to the resources of placement "web" arrives on "member-1" and "member-2"

  @KF-EV-006 @needs-namespaced-placements
  @guide:placement-eviction/terminal-states/not-executed-valid @guide:placement-eviction/terminal-states/not-executed
  @guide:placement-eviction/not-placed/valid @guide:placement-eviction/not-placed/not-executed
  @guide:placement-eviction/not-placed/binding-name @guide:placement-eviction/not-placed/scheduled-binding
  @guide:placement-eviction/not-placed/retry @guide:placement-eviction/not-placed/stuck-rollout
  @drift:placement-eviction/not-placed/list-bindings @drift:placement-eviction/not-placed/apply-strategy
  Scenario: The rollout to the member hasn't started yet
    Given a placement "web" with strategy External selects "member-1"
    And a staged update strategy "all" for placement "web"
      | stage | members  |
      | one   | member-1 |
    When an eviction "early" of placement "web" from "member-1" is created
    Then eviction "early" reports
      | condition | status | reason                                      | message                                                                               |
      | Valid     | True   | ClusterResourcePlacementEvictionValid       | Eviction is valid                                                                     |
      | Executed  | False  | ClusterResourcePlacementEvictionNotExecuted | Eviction is blocked, placement has not propagated resources to target cluster yet     |
    And the binding of placement "web" for "member-1" has
      | field                                          | value                                                                   |
      | metadata.name                                  | {web}-{member-1}-*                                                      |
      | metadata.labels.kubernetes-fleet.io/parent-CRP | {web}                                                                   |
      | spec.applyStrategy                             | absent                                                                  |
      | spec.clusterDecision.clusterName               | {member-1}                                                              |
      | spec.clusterDecision.clusterScore.affinityScore | 0                                                                      |
      | spec.clusterDecision.clusterScore.priorityScore | 0                                                                      |
      | spec.clusterDecision.reason                    | Successfully scheduled resources for placement in "{member-1}" (affinity score: 0, topology spread score: 0): picked by scheduling policy |
      | spec.clusterDecision.selected                  | true                                                                    |
      | spec.resourceSnapshotName                      |                                                                         |
      | spec.schedulingPolicySnapshotName              | {web}-0                                                                 |
      | spec.state                                     | Scheduled                                                               |
      | spec.targetCluster                             | {member-1}                                                              |
    And placement "web" reports
      | on       | condition      | status  |
      | member-1 | RolloutStarted | Unknown |
    And "kubectl get crb" shows the binding of placement "web" for "member-1"
      | NAME               | WORKSYNCHRONIZED | RESOURCESAPPLIED | AGE |
      | {web}-{member-1}-* |                  |                  | *   |
    And the diagnosis of eviction "early" is KF-EV-006, because of KF-RO-001
      | object                                   | value                                       |
      | ClusterResourcePlacementEviction/{early} | ClusterResourcePlacementEvictionNotExecuted |
      | ClusterResourceBinding/{web}-{member-1}  | Scheduled                                   |
    When an update run "release" of placement "web" starts with strategy "all"
    Then update run "release" succeeds
    And the binding of placement "web" for "member-1" has
      | field      | value |
      | spec.state | Bound |
    And eviction "early" reports for 5 seconds
      | condition | status |
      | Executed  | False  |
    And the diagnosis of eviction "early" is KF-EV-006
      | object                                  | value |
      | ClusterResourceBinding/{web}-{member-1} | Bound |
    When eviction "early" is deleted
    And an eviction "again" of placement "web" from "member-1" is created
    Then eviction "again" reports
      | condition | status |
      | Valid     | True   |
      | Executed  | True   |
    # The scheduler chooses the member again, and only a run rolls out. A run that starts now may fail: see docs/findings.md.
    And the resources of placement "web" are gone from "member-1"
    And the binding of placement "web" for "member-1" has for 5 seconds
      | field      | value     |
      | spec.state | Scheduled |

  @KF-EV-007
  @guide:placement-eviction/invalid-budget/valid @guide:placement-eviction/invalid-budget/not-executed
  Scenario Outline: The disruption budget of a placement on all members has <what>
    Given a placement "web" has put its resources on "member-1" and "member-2"
    And the disruption budget of placement "web" is '<budget>'
    When an eviction "move" of placement "web" from "member-1" is created
    Then eviction "move" reports
      | condition | status | reason                                      | message                                                               |
      | Valid     | True   | ClusterResourcePlacementEvictionValid       | Eviction is valid                                                     |
      | Executed  | False  | ClusterResourcePlacementEvictionNotExecuted | Eviction is blocked by misconfigured ClusterResourcePlacementDisruptionBudget, either MaxUnavailable is specified or MinAvailable is specified as a percentage for PickAll ClusterResourcePlacement |
    And the diagnosis of eviction "move" is KF-EV-007
      | object                                         | value                                       |
      | ClusterResourcePlacementEviction/{move}        | ClusterResourcePlacementEvictionNotExecuted |
      | ClusterResourcePlacementDisruptionBudget/{web} | <field>                                     |
      | ClusterResourcePlacement/{web}                 | PickAll                                     |
    When the disruption budget of placement "web" gets '{"maxUnavailable": null, "minAvailable": 1}'
    And eviction "move" is deleted
    And an eviction "again" of placement "web" from "member-1" is created
    Then eviction "again" reports
      | condition | status | message                                                              |
      | Valid     | True   | Eviction is valid                                                    |
      | Executed  | True   | Eviction is allowed by specified ClusterResourcePlacementDisruptionBudget |
    And placement "web" becomes available on "member-1" and "member-2"
    And the diagnosis finds nothing
    And a change to the resources of placement "web" arrives on "member-1" and "member-2"

    @guide:placement-eviction/invalid-budget/max-unavailable
    Examples:
      | what           | budget                | field          |
      | maxUnavailable | {"maxUnavailable": 1} | maxUnavailable |

    @guide:placement-eviction/invalid-budget/percentage
    Examples:
      | what         | budget                  | field |
      | a percentage | {"minAvailable": "50%"} | 50%   |

  @KF-EV-008
  @guide:placement-eviction/blocked-by-budget
  Scenario: The disruption budget protects all of the placement's members
    Given a placement "web" has put its resources on "member-1" and "member-2"
    And the disruption budget of placement "web" is '{"minAvailable": 2}'
    When an eviction "move" of placement "web" from "member-1" is created
    Then eviction "move" reports
      | condition | status | reason                                      | message                                                               |
      | Valid     | True   | ClusterResourcePlacementEvictionValid       | Eviction is valid                                                     |
      | Executed  | False  | ClusterResourcePlacementEvictionNotExecuted | Eviction is blocked by specified ClusterResourcePlacementDisruptionBudget, availablePlacements: 2, totalPlacements: 2 |
    And placement "web" reports
      | on       | condition        | status | reason                    |
      |          | Scheduled        | True   | SchedulingPolicyFulfilled |
      |          | RolloutStarted   | True   | RolloutStarted            |
      |          | Overridden       | True   | NoOverrideSpecified       |
      |          | WorkSynchronized | True   | WorkSynchronized          |
      |          | Applied          | True   | ApplySucceeded            |
      |          | Available        | True   | ResourceAvailable         |
      | member-1 | Available        | True   | AllWorkAreAvailable       |
      | member-2 | Available        | True   | AllWorkAreAvailable       |
    And the resources of placement "web" are on "member-1" and "member-2"
    And the diagnosis of eviction "move" is KF-EV-008
      | object                                         | value                                       |
      | ClusterResourcePlacementEviction/{move}        | ClusterResourcePlacementEvictionNotExecuted |
      | ClusterResourcePlacementDisruptionBudget/{web} | minAvailable                                |
      | ClusterResourcePlacement/{web}                 | PickAll                                     |
    When the disruption budget of placement "web" gets '{"minAvailable": 1}'
    Then eviction "move" reports for 5 seconds
      | condition | status |
      | Executed  | False  |
    When an eviction "again" of placement "web" from "member-1" is created
    Then eviction "again" reports
      | condition | status | message                                                                                                                 |
      | Valid     | True   | Eviction is valid                                                                                                       |
      | Executed  | True   | Eviction is allowed by specified ClusterResourcePlacementDisruptionBudget, availablePlacements: 2, totalPlacements: 2   |
    And placement "web" becomes available on "member-1" and "member-2"
    When eviction "move" is deleted
    Then the diagnosis finds nothing
    # Until the new binding has done its work, the placement counts as failed there, and may be evicted.
    And a change to the resources of placement "web" arrives on "member-1" and "member-2"
    # The other remedy: no budget.
    When the disruption budget of placement "web" gets '{"minAvailable": 2}'
    And an eviction "third" of placement "web" from "member-1" is created
    Then eviction "third" reports
      | condition | status |
      | Executed  | False  |
    When the disruption budget of placement "web" is deleted
    And eviction "third" is deleted
    And an eviction "fourth" of placement "web" from "member-1" is created
    Then eviction "fourth" reports
      | condition | status | message                                                                     |
      | Executed  | True   | Eviction is allowed, no ClusterResourcePlacementDisruptionBudget specified  |
    And placement "web" becomes available on "member-1" and "member-2"
    And the diagnosis finds nothing
    And a change to the resources of placement "web" arrives on "member-1" and "member-2"

  # A percentage is of the members that the policy asks for, and rounded up: 60 % of 2 are 2.
  @KF-EV-008
  Scenario Outline: The disruption budget of a placement on a number of members is <budget>
    Given a placement "web" selects 2 of "member-1" and "member-2"
    And placement "web" becomes available on "member-1" and "member-2"
    And the disruption budget of placement "web" is '<budget>'
    When an eviction "move" of placement "web" from "member-1" is created
    Then eviction "move" reports
      | condition | status | reason                                      | message                                         |
      | Valid     | True   | ClusterResourcePlacementEvictionValid       | Eviction is valid                               |
      | Executed  | False  | ClusterResourcePlacementEvictionNotExecuted | availablePlacements: 2, totalPlacements: 2      |
    And the diagnosis of eviction "move" is KF-EV-008
      | object                                         | value |
      | ClusterResourcePlacementDisruptionBudget/{web} | <of>  |
      | ClusterResourcePlacement/{web}                 | PickN |
    When the disruption budget of placement "web" gets '<better>'
    And eviction "move" is deleted
    And an eviction "again" of placement "web" from "member-1" is created
    Then eviction "again" reports
      | condition | status |
      | Valid     | True   |
      | Executed  | True   |
    And placement "web" becomes available on "member-1" and "member-2"
    And the diagnosis finds nothing

    Examples:
      | budget                  | of             | better                  |
      | {"minAvailable": "60%"} | 60%            | {"minAvailable": "50%"} |
      | {"maxUnavailable": 0}   | maxUnavailable | {"maxUnavailable": 1}   |

  # One member is available, and the budget wants one. Where nothing can be applied, an eviction is allowed in any case.
  @KF-EV-008 @KF-AP-002
  Scenario: The disruption budget protects the only member on which the placement is available
    Given "member-2" has a ConfigMap already where placement "web" will put one
    And a placement "web" selects "member-1" and "member-2" and applies with '{"whenToTakeOver": "Never"}'
    And placement "web" reports
      | on       | condition | status | reason                    |
      | member-1 | Available | True   |                           |
      | member-2 | Applied   | False  | NotAllWorkHaveBeenApplied |
    And the disruption budget of placement "web" is '{"minAvailable": 1}'
    When an eviction "move" of placement "web" from "member-1" is created
    Then eviction "move" reports
      | condition | status | reason                                      | message                                    |
      | Executed  | False  | ClusterResourcePlacementEvictionNotExecuted | availablePlacements: 1, totalPlacements: 2 |
    And the diagnosis of eviction "move" is KF-EV-008, because of KF-AP-002
      | object                                         | value        |
      | ClusterResourcePlacementDisruptionBudget/{web} | minAvailable |
      | ClusterResourceBinding/{web}-{member-2}        |              |
    When placement "web" gets '{"strategy": {"applyStrategy": {"whenToTakeOver": "Always"}}}'
    Then placement "web" becomes available on "member-1" and "member-2"
    When eviction "move" is deleted
    And an eviction "again" of placement "web" from "member-1" is created
    Then eviction "again" reports
      | condition | status |
      | Executed  | True   |
    And placement "web" becomes available on "member-1" and "member-2"
    And the diagnosis finds nothing

  @KF-EV-009 @KF-HA-001 @disruptive @takes-120s
  @guide:placement-eviction/unanswered
  Scenario: Nobody answers the eviction
    Given a fleet of its own with 1 member
    And a placement "web" has put its resources on "member-1"
    When the hub-agent stops
    And an eviction "move" of placement "web" from "member-1" is created
    # The hub-agent may be restarting.
    Then the diagnosis finds nothing
    And eviction "move" reports
      | condition | status |
      | Valid     | absent |
      | Executed  | absent |
    And the diagnosis of eviction "move" is KF-EV-009, because of KF-HA-001
      | object                                  | value    |
      | ClusterResourcePlacementEviction/{move} | (absent) |
    When the hub-agent is restarted
    Then eviction "move" reports
      | condition | status |
      | Valid     | True   |
      | Executed  | True   |
    And placement "web" becomes available on "member-1"
    And the diagnosis finds nothing
    And a change to the resources of placement "web" arrives on "member-1"

  # The twin: the budget spares one member.
  @healthy
  @guide:placement-eviction/terminal-states/executed-valid @guide:placement-eviction/terminal-states/executed
  Scenario: The disruption budget allows the eviction
    Given a placement "web" has put its resources on "member-1" and "member-2"
    And the disruption budget of placement "web" is '{"minAvailable": 1}'
    When an eviction "move" of placement "web" from "member-1" is created
    Then eviction "move" reports
      | condition | status | reason                                   | message                                                                                                               |
      | Valid     | True   | ClusterResourcePlacementEvictionValid    | Eviction is valid                                                                                                     |
      | Executed  | True   | ClusterResourcePlacementEvictionExecuted | Eviction is allowed by specified ClusterResourcePlacementDisruptionBudget, availablePlacements: 2, totalPlacements: 2 |
    And placement "web" becomes available on "member-1" and "member-2"
    And the diagnosis finds nothing
    And a change to the resources of placement "web" arrives on "member-1" and "member-2"
