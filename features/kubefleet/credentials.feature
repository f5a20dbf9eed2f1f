@kubefleet @disruptive
Feature: Credentials between a member and the hub run out
  No guide describes this. The member's agent runs and reaches the hub, which refuses it, or which it doesn't trust any more. The hub can't
  tell this from an agent that has stopped; the agent's log can (measured on v0.1.2; docs/resilience.md).

  @KF-MC-001 @KF-AP-001 @takes-300s
  Scenario: The token of a member's agent expires
    Given a member "east" of its own
    And a placement "first" has put its resources on "east"
    # The API server takes a token for a minute longer than it says.
    When the token of member "east" for the hub expires in 90 seconds
    Then within 400 seconds the diagnosis of member "east" is KF-MC-001
      | object               | value       |
      | MemberCluster/{east} | Joined=True |
    And the agent of member "east" has logged "Unauthorized"
    When the resources of placement "first" change
    Then the diagnosis of placement "first" is KF-AP-001 for "east", because of KF-MC-001
    # Nobody restarts the agent: it reads its token again after a refusal. It tries again after as long as it has failed.
    When the token of member "east" for the hub is renewed
    Then within 600 seconds placement "first" becomes available on "east"
    And within 300 seconds the diagnosis finds nothing
    And a change to the resources of placement "first" arrives on "east"

  # The twin: the same token, and somebody replaces it in time.
  @healthy @takes-200s
  Scenario: The token of a member's agent is renewed in time
    Given a member "east" of its own
    And a placement "first" has put its resources on "east"
    When the token of member "east" for the hub expires in 90 seconds
    And the token of member "east" for the hub is renewed
    Then the diagnosis finds nothing
    And placement "first" reports for 170 seconds
      | condition | status |
      | Available | True   |
    And a change to the resources of placement "first" arrives on "east"
    And the diagnosis finds nothing

  # The new certificate alone does nothing: the agent's connection stays, until something ends it.
  @KF-MC-001 @KF-AP-001 @takes-300s
  Scenario: The hub's CA is replaced
    Given a fleet of its own with 2 members
    And a placement "first" has put its resources on "member-1"
    And a placement "other" has put its resources on "member-2"
    And the hub's certificate for members is of a CA of its own
    And the agent of member "member-2" trusts the next CA, too
    # The agent of member-1 has connected again.
    Then a change to the resources of placement "first" arrives on "member-1"
    When the hub's certificate for members is of the next CA
    Then a change to the resources of placement "first" arrives on "member-1"
    When the hub's API server stops
    And the hub's API server starts again
    # It shows that the hub-agent has its informer caches again: a placement that is new before that may get no Work (docs/controllers.md).
    Then a change to the resources of placement "other" arrives on "member-2"
    When a placement "second" selects "member-1"
    Then within 300 seconds the diagnosis of member "member-1" is KF-MC-001
      | object                   | value       |
      | MemberCluster/{member-1} | Joined=True |
    And the diagnosis of placement "second" is KF-AP-001 for "member-1", because of KF-MC-001
    And the agent of member "member-1" has logged "certificate signed by unknown authority"
    And placement "first" still says that it is available
    When the agent of member "member-1" trusts the next CA, too
    Then placement "second" becomes available on "member-1"
    And within 120 seconds the diagnosis finds nothing
    And a change to the resources of placement "first" arrives on "member-1"

  # The twin: the agent trusts both CAs before the certificate changes.
  @healthy @takes-60s
  Scenario: The hub's CA is replaced by one that the agent trusts already
    Given a fleet of its own with 1 member
    And a placement "first" has put its resources on "member-1"
    And the hub's certificate for members is of a CA of its own
    When the agent of member "member-1" trusts the next CA, too
    And the hub's certificate for members is of the next CA
    And the hub's API server stops
    And the hub's API server starts again
    Then a change to the resources of placement "first" arrives on "member-1"
    When a placement "second" selects "member-1"
    Then placement "second" becomes available on "member-1"
    And within 120 seconds the diagnosis finds nothing

  @KF-HA-001 @KF-XX-001 @takes-200s
  Scenario: The CA of the whole hub is replaced
    Given a fleet of its own with 2 members
    And a placement "first" has put its resources on "member-1"
    And the hub's certificate for all agents is of a CA of its own
    And the agent of member "member-1" trusts the next CA, too
    And the agent of member "member-2" trusts the next CA, too
    When the hub's certificate for all agents is of the next CA
    # The hub-agent's connection stays, until something ends it.
    Then a change to the resources of placement "first" arrives on "member-1"
    When the hub's API server stops
    And the hub's API server starts again
    And a placement "second" selects "member-1"
    Then within 120 seconds the diagnosis of the hub-agent is KF-HA-001
      | object                                                    | value |
      | InternalMemberCluster/fleet-member-{member-1}/{member-1}  |       |
      | MemberCluster/{member-1}                                  |       |
    And the diagnosis of placement "second" is KF-XX-001, because of KF-HA-001
      | object                            | value    |
      | ClusterResourcePlacement/{second} | (absent) |
    And the hub-agent has logged "certificate signed by unknown authority"
    And placement "first" still says that it is available
    When the hub-agent trusts the next CA, too
    Then placement "second" becomes available on "member-1"
    And within 120 seconds the diagnosis finds nothing
    And a change to the resources of placement "first" arrives on "member-1"

  # The twin: everything that reaches the hub trusts both CAs before the certificate changes.
  @healthy @takes-90s
  Scenario: The CA of the whole hub is replaced by one that all agents trust already
    Given a fleet of its own with 1 member
    And a placement "first" has put its resources on "member-1"
    And the hub's certificate for all agents is of a CA of its own
    When the agent of member "member-1" trusts the next CA, too
    And the hub-agent trusts the next CA, too
    And the hub's certificate for all agents is of the next CA
    And the hub's API server stops
    And the hub's API server starts again
    Then a change to the resources of placement "first" arrives on "member-1"
    When a placement "second" selects "member-1"
    Then placement "second" becomes available on "member-1"
    And within 120 seconds the diagnosis finds nothing
