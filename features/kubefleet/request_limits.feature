@kubefleet @disruptive
Feature: The hub's API server refuses requests of an agent as too many
  No guide describes this. A FlowSchema and its priority level (API Priority and Fairness) have hardly a share for an agent: the API server takes one of
  its requests at a time, and refuses what is more with 429. The agents get over it: client-go tries again after a second, ten times, before
  it gives up. They don't if another user's requests are the ones that it takes (measured on v0.1.2; docs/resilience.md).

  @healthy @takes-90s
  Scenario Outline: The hub takes one request at a time of <agent>
    Given a fleet of its own with 1 member
    And a placement "first" has put its resources on "member-1"
    When the hub's API server takes one request at a time of <agent>
    # The API server was restarted: the change shows that the hub-agent has its informer caches again.
    Then a change to the resources of placement "first" arrives on "member-1"
    When a placement "second" selects "member-1"
    Then placement "second" becomes available on "member-1"
    And within 120 seconds the diagnosis finds nothing
    When the hub's API server takes all requests of <agent>
    Then a change to the resources of placement "second" arrives on "member-1"
    And the diagnosis finds nothing

    Examples:
      | agent                          |
      | the agent of member "member-1" |
      | the hub-agent                  |

  # The twins are the examples above: the same priority level, and nobody else who uses it.
  @KF-MC-001 @KF-AP-001 @takes-200s
  Scenario: Another user floods the priority level of a member's agent
    Given a fleet of its own with 2 members
    And a placement "first" has put its resources on "member-1"
    When another user floods the priority level of the agent of member "member-1" at the hub's API server
    And a placement "second" selects "member-1"
    Then within 400 seconds the diagnosis of member "member-1" is KF-MC-001
      | object                   | value       |
      | MemberCluster/{member-1} | Joined=True |
    And the diagnosis of placement "second" is KF-AP-001 for "member-1", because of KF-MC-001
    And placement "first" still says that it is available
    # Nobody restarts the agent. It tries again after as long as the API server has asked it to wait.
    When the hub's API server takes all requests of the agent of member "member-1"
    Then within 300 seconds placement "second" becomes available on "member-1"
    And within 300 seconds the diagnosis finds nothing
    And a change to the resources of placement "first" arrives on "member-1"

  @KF-HA-001 @KF-XX-001 @takes-120s
  Scenario: Another user floods the priority level of the hub-agent
    Given a fleet of its own with 2 members
    And a placement "first" has put its resources on "member-1"
    When another user floods the priority level of the hub-agent at the hub's API server
    And a placement "second" selects "member-1"
    Then within 120 seconds the diagnosis of the hub-agent is KF-HA-001
      | object                                                    | value |
      | InternalMemberCluster/fleet-member-{member-1}/{member-1}  |       |
      | MemberCluster/{member-1}                                  |       |
    And the diagnosis of placement "second" is KF-XX-001, because of KF-HA-001
      | object                            | value    |
      | ClusterResourcePlacement/{second} | (absent) |
    And placement "first" still says that it is available
    When the hub's API server takes all requests of the hub-agent
    Then within 300 seconds placement "second" becomes available on "member-1"
    And within 120 seconds the diagnosis finds nothing
    And a change to the resources of placement "first" arrives on "member-1"
