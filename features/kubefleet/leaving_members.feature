@kubefleet
Feature: A placement leaves a member, and the member's binding stays
  No guide describes this. A rolling update deletes the binding of a member only while enough others are available. The
  placement's status says nothing about a member that it has left.

  # Zero of zero members have to be available, and still the binding isn't deleted: it isn't available itself.
  @KF-RO-004
  Scenario Outline: <placement> leaves its last member, on which it isn't applied
    Given "member-1" has a ConfigMap already where placement "web" will put one
    And <placement> "web" for "member-1" is created with
      """
      policy: {placementType: PickN, numberOfClusters: 1}
      strategy: {type: RollingUpdate, applyStrategy: {whenToTakeOver: Never}}
      """
    And placement "web" reports
      | on       | condition | status | reason                    |
      | member-1 | Applied   | False  | NotAllWorkHaveBeenApplied |
    When placement "web" asks for 0 members
    Then placement "web" reports
      | condition      | status | reason                    | message            |
      | Scheduled      | True   | SchedulingPolicyFulfilled | found 0 cluster(s) |
      | RolloutStarted | absent |                           |                    |
      | Applied        | absent |                           |                    |
    And the binding of placement "web" for "member-1" has
      | field                      | value       |
      | spec.state                 | Unscheduled |
      | metadata.deletionTimestamp | absent      |
    And the diagnosis of placement "web" is KF-RO-004 for "member-1"
      | object           | value                     |
      | ResourceBinding/ | Unscheduled               |
      | ResourceBinding/ | NotAllWorkHaveBeenApplied |
    When the binding of placement "web" for "member-1" is deleted
    Then no binding and no Work of placement "web" is left
    And the diagnosis finds nothing

    Examples:
      | placement                  |
      | a cluster-scoped placement |
      | a namespaced placement     |

  # The remedy that repairs what fails: once the member is well, the rollout takes it out.
  @KF-RO-004 @KF-AP-002
  Scenario Outline: <placement> leaves one of two members, and is applied on neither
    Given "member-1" has a ConfigMap already where placement "web" will put one
    And "member-2" has a ConfigMap already where placement "web" will put one
    And <placement> "web" for "member-1" and "member-2" is created with
      """
      policy: {placementType: PickFixed, clusterNames: ["{member-1}", "{member-2}"], affinity: null}
      strategy: {type: RollingUpdate, applyStrategy: {whenToTakeOver: Never}}
      """
    And placement "web" reports
      | on       | condition | status |
      | member-1 | Applied   | False  |
      | member-2 | Applied   | False  |
    When placement "web" selects by name "member-2" instead
    Then within 90 seconds the diagnosis of placement "web" is KF-RO-004 for "member-1", because of KF-AP-002
    When placement "web" gets '{"strategy": {"applyStrategy": {"whenToTakeOver": "Always"}}}'
    Then placement "web" becomes available on "member-2"
    And the resources of placement "web" are gone from "member-1"
    And the diagnosis finds nothing

    Examples:
      | placement                  |
      | a cluster-scoped placement |
      | a namespaced placement     |

  # The twin: a member on which the placement is available goes at once.
  @takes-60s @healthy
  Scenario Outline: <placement> leaves its last member, on which it is available
    Given <placement> "web" for "member-1" is created with
      """
      policy: {placementType: PickN, numberOfClusters: 1}
      """
    And placement "web" becomes available on "member-1"
    When placement "web" asks for 0 members
    Then no binding and no Work of placement "web" is left
    And the resources of placement "web" are gone from "member-1"
    And the diagnosis finds nothing

    Examples:
      | placement                  |
      | a cluster-scoped placement |
      | a namespaced placement     |

  # The whole placement waits for one old binding, and says nothing but that it is undecided. So it does until the hub-agent's next
  # attempt, when the binding is gone.
  @takes-60s @KF-DL-002 @KF-DL-004 @passes:KF-XX-001
  Scenario Outline: The old binding of a member that is selected again doesn't go, of <placement>
    Given <placement> "web" has put its resources on "member-1" and "member-2"
    And somebody's finalizer holds the binding of placement "web" for "member-1"
    When placement "web" selects "member-2" instead
    Then placement "web" becomes available on "member-2"
    And the resources of placement "web" are gone from "member-1"
    When placement "web" selects "member-1" and "member-2" instead
    Then placement "web" reports
      | on       | condition      | status  | reason                |
      |          | RolloutStarted | Unknown | RolloutStartedUnknown |
      | member-1 | RolloutStarted | Unknown | RolloutStartedUnknown |
      | member-2 | RolloutStarted | Unknown | RolloutStartedUnknown |
    And the diagnosis of placement "web" is KF-DL-004 for "member-1", because of KF-DL-002
      | object             | value                 |
      | ResourcePlacement/ | RolloutStartedUnknown |
      | ResourceBinding/   | 20                    |
      | ResourceBinding/   | example.com/protect   |
    When somebody's finalizer releases the binding of placement "web" for "member-1"
    Then placement "web" becomes available on "member-1" and "member-2"
    And the diagnosis finds nothing
    And a change to the resources of placement "web" arrives on "member-1" and "member-2"

    Examples:
      | placement                  |
      | a cluster-scoped placement |
      | a namespaced placement     |
