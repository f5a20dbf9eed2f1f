@kubefleet
Feature: A rollout doesn't get to a member
  KubeFleet doesn't even try to create the Work: an override fails, or the placement's own limits hold the rollout back.

  @KF-OV-001
  @guide:placement-overridden/condition @guide:placement-overridden/invalid-path @guide:placement-overridden/general-notes
  @guide:azure-placement-overridden/condition @guide:azure-placement-overridden/invalid-path
  @guide:azure-placement-overridden/general-notes
  Scenario Outline: An override can't be applied, of <placement>
    Given <placement> "web" has put its resources on "member-1"
    When an override "odd" of placement "web" has the rule '{"clusterSelector": {"clusterSelectorTerms": []}, "jsonPatchOverrides": [{"op": "add", "path": "/metadata/annotations/absent/odd", "value": "true"}]}'
    Then placement "web" reports
      | on       | condition        | status | reason           | message                                          |
      |          | Overridden       | False  | OverriddenFailed | Failed to override resources in 1 cluster(s)     |
      |          | WorkSynchronized | absent |                  |                                                  |
      | member-1 | Overridden       | False  | OverriddenFailed | Failed to apply the override rules on the resources |
    And the diagnosis of placement "web" is KF-OV-001 for "member-1"
      | object             | value |
      | ResourcePlacement/ | odd-  |
    When the rule of override "odd" of placement "web" is corrected to '{"clusterSelector": {"clusterSelectorTerms": []}, "jsonPatchOverrides": [{"op": "add", "path": "/data/odd", "value": "true"}]}'
    Then placement "web" becomes available on "member-1"
    And the diagnosis finds nothing

    Examples:
      | placement                  |
      | a cluster-scoped placement |
      | a namespaced placement     |

  # A rolling update takes one member after the other: most of them wait for their turn, and nothing is wrong.
  @pods @takes-150s
  Scenario: A rolling update goes on although each member takes its time
    Given a fleet of its own with 2 members
    And member "member-1" has pods
    And member "member-2" has pods
    And a placement "web" has put its resources on "member-1" and "member-2"
    And the resources of placement "web" include a Deployment with image "nginx:1.29" that takes 20 seconds
    And placement "web" reports
      | condition      | status | reason               |
      | RolloutStarted | False  | RolloutNotStartedYet |
    Then the diagnosis finds nothing while placement "web" becomes available on "member-1" and "member-2"
    When the Deployment in the resources of placement "web" gets image "nginx:1.30"
    Then placement "web" reports
      | condition      | status | reason               |
      | RolloutStarted | False  | RolloutNotStartedYet |
    And the diagnosis finds nothing while placement "web" becomes available on "member-1" and "member-2"
    And the diagnosis finds nothing

  @KF-RO-002
  Scenario Outline: Members that are missing count as unavailable, and nothing may be, of <placement>
    Given <placement> "web" selects 99 of "member-1" and "member-2"
    And the resources of placement "web" are on "member-1" and "member-2"
    # A member that doesn't count as available yet may still be updated.
    And placement "web" reports
      | on       | condition | status |
      | member-1 | Available | True   |
      | member-2 | Available | True   |
    When the resources of placement "web" change
    Then placement "web" reports
      | on       | condition      | status | reason                      | message                                                  |
      |          | Scheduled      | False  | SchedulingPolicyUnfulfilled | found 2 cluster(s) instead                               |
      |          | RolloutStarted | False  | RolloutNotStartedYet        | The rollout is being blocked by the rollout strategy in 2 cluster(s) |
      | member-1 | RolloutStarted | False  | RolloutNotStartedYet        | The rollout is being blocked by the rollout strategy     |
    And within 60 seconds the diagnosis of placement "web" is KF-RO-002 for "member-1", because of KF-SC-001
    When placement "web" asks for 2 members
    Then placement "web" becomes available on "member-1" and "member-2"
    And the diagnosis finds nothing

    Examples:
      | placement                  |
      | a cluster-scoped placement |
      | a namespaced placement     |

  @KF-RO-002 @KF-AP-002
  @guide:placement-rollout-started/why/failed-binding @guide:azure-placement-rollout-started/why/failed-binding
  Scenario Outline: A member on which an object isn't applied keeps the rollout from the next one, of <placement>
    Given "member-2" has a ConfigMap already where placement "web" will put one
    And <placement> "web" selects "member-1" and "member-2" and applies with '{"whenToTakeOver": "Never"}'
    And placement "web" reports
      | on       | condition | status | reason                    |
      | member-1 | Available | True   |                           |
      | member-2 | Applied   | False  | NotAllWorkHaveBeenApplied |
    When the resources of placement "web" change
    Then placement "web" reports
      | on       | condition      | status | reason                    | message                                              |
      | member-1 | RolloutStarted | False  | RolloutNotStartedYet      | The rollout is being blocked by the rollout strategy |
      | member-2 | Applied        | False  | NotAllWorkHaveBeenApplied |                                                      |
    And within 60 seconds the diagnosis of placement "web" is KF-RO-002 for "member-1", because of KF-AP-002
    When placement "web" gets '{"strategy": {"applyStrategy": {"whenToTakeOver": "Always"}}}'
    Then placement "web" becomes available on "member-1" and "member-2"
    And the diagnosis finds nothing

    Examples:
      | placement                  |
      | a cluster-scoped placement |
      | a namespaced placement     |
