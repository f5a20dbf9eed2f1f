@kubefleet
Feature: A member whose agent never came
  No guide describes this. The MemberCluster is on the hub, and the hub-agent is ready for the member, but no member
  agent answers. The MemberCluster never says that anything is wrong (v0.1.2).

  @takes-160s @KF-MC-005 @KF-SC-006
  Scenario: No agent has ever reported for a member that a placement names
    Given a member "ghost" of its own, whose agent never comes
    And a placement "web" selects by name "ghost" and "member-1"
    And placement "web" reports
      | on | condition | status | reason                      |
      |    | Scheduled | False  | SchedulingPolicyUnfulfilled |
    Then within 150 seconds the diagnosis of member "ghost" is KF-MC-005
      | object                | value            |
      | MemberCluster/{ghost} | ReadyToJoin=True |
    And the diagnosis of placement "web" is KF-SC-006, because of KF-MC-005
    When placement "web" selects by name "member-1" instead
    And member "ghost" is deleted
    # The hub-agent would wait 15 minutes for the agent's consent.
    And the hub's namespace of member "ghost" is deleted
    Then member "ghost" has left
    And placement "web" becomes available on "member-1"
    And the diagnosis finds nothing

  # The twins: the agent of a new member comes within two minutes.
  Scenario: A member has just been made
    Given a member "ghost" of its own, whose agent never comes
    Then member "ghost" reports
      | condition   | status |
      | ReadyToJoin | True   |
    And the diagnosis finds nothing
    When member "ghost" is deleted
    And the hub's namespace of member "ghost" is deleted
    Then member "ghost" has left

  # A member leaves with its agent's consent.
  @takes-160s @KF-MC-005
  Scenario: A member that no agent has ever reported for is deleted
    Given a member "ghost" of its own, whose agent never comes
    And member "ghost" reports
      | condition   | status |
      | ReadyToJoin | True   |
    When member "ghost" is deleted
    Then within 150 seconds the diagnosis of member "ghost" is KF-MC-005
    When the hub's namespace of member "ghost" is deleted
    Then member "ghost" has left
    And the diagnosis finds nothing

  @disruptive
  Scenario: A member joins
    Given a member "east" of its own
    Then the diagnosis finds nothing
