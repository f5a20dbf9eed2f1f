@kubefleet @disruptive @takes-120s
Feature: A member can't leave
  No guide describes this. A MemberCluster is deleted, and the hub-agent waits for the consent of the member's agent, for 15 min (v0.1.2).
  When it has the consent, it deletes the member's namespace on the hub, and waits for the end of that.

  @KF-MC-006
  Scenario: The agent has stopped before the member is deleted, and comes back
    Given a member "east" of its own
    And a placement "web" has put its resources on "east" and "member-1"
    When the agent of member "east" stops
    And member "east" is deleted
    Then member "east" is still leaving after 10 seconds
    And within 150 seconds the diagnosis of member "east" is KF-MC-006
      | object                                            | value                   |
      | InternalMemberCluster/fleet-member-{east}/{east}  | 20                      |
      | MemberCluster/{east}                              | Joined=True             |
      | MemberCluster/{east}                              | membercluster-finalizer |
    When the agent of member "east" is restarted
    Then member "east" has left
    And the diagnosis finds nothing

  # Its cluster is gone, and nobody starts the agent again.
  @KF-MC-006
  Scenario: The agent has stopped before the member is deleted, and never comes back
    Given a member "east" of its own
    And a placement "web" has put its resources on "east" and "member-1"
    When the agent of member "east" stops
    And member "east" is deleted
    Then within 150 seconds the diagnosis of member "east" is KF-MC-006
    When the hub's namespace of member "east" is deleted while it holds a Work
    And the Works that hold the hub's namespace of member "east" are released
    Then member "east" has left
    And the diagnosis finds nothing

  @KF-MC-007
  Scenario: Somebody's object holds the namespace of a member that leaves
    Given a member "east" of its own
    And a placement "web" has put its resources on "east" and "member-1"
    And somebody's finalizer holds the hub's namespace of member "east"
    When member "east" is deleted
    Then member "east" is still leaving after 10 seconds
    And within 120 seconds the diagnosis of member "east" is KF-MC-007
      | object                             | value                             |
      | MemberCluster/{east}               | membercluster-finalizer           |
      | Namespace/fleet-member-{east}      | NamespaceFinalizersRemaining=True |
      | ConfigMap/fleet-member-{east}/held | example.com/protect               |
    When somebody's finalizer releases the hub's namespace of member "east"
    Then member "east" has left
    And the diagnosis finds nothing

  # The twin: the agent agrees within seconds.
  @takes-60s
  Scenario: A member leaves
    Given a member "east" of its own
    And a placement "web" has put its resources on "east" and "member-1"
    When member "east" is deleted
    Then member "east" has left
    And the diagnosis finds nothing
