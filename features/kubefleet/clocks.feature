@kubefleet @disruptive
Feature: Clocks of KubeFleet's agents and of the hub are wrong
  No guide describes this. A member's agent writes the time of its own clock with each heartbeat, and the scheduler compares it with the clock of
  the hub-agent: heartbeats that are older than five minutes are of a member that is lost, however often they arrive (measured on v0.1.2;
  docs/resilience.md).

  @KF-MC-009 @KF-SC-006
  Scenario: The clock of a member's agent is behind
    Given a member "east" of its own
    And a placement "first" has put its resources on "east"
    When the clock of the agent of member "east" is 10 minutes behind
    Then within 60 seconds the diagnosis of member "east" is KF-MC-009
      | object                                           | value |
      | InternalMemberCluster/fleet-member-{east}/{east} |       |
    When a placement "second" selects by name "east"
    Then the diagnosis of placement "second" is KF-SC-006, because of KF-MC-009
    And placement "first" still says that it is available
    And a change to the resources of placement "first" arrives on "east"
    When the clock of the agent of member "east" is right again
    Then placement "second" becomes available on "east"
    And the diagnosis finds nothing

  @KF-MC-009
  Scenario: The clock of a member's agent is ahead
    Given a member "east" of its own
    When the clock of the agent of member "east" is 10 minutes ahead
    Then within 60 seconds the diagnosis of member "east" is KF-MC-009
    When a placement "web" selects "east"
    Then placement "web" becomes available on "east"
    When the clock of the agent of member "east" is right again
    Then within 60 seconds the diagnosis finds nothing
    And a change to the resources of placement "web" arrives on "east"

  @KF-HA-005 @KF-SC-001
  Scenario: The clock of the hub-agent is ahead
    Given a fleet of its own with 2 members
    And a placement "first" has put its resources on "member-1"
    When the clock of the hub-agent is 10 minutes ahead
    And a placement "second" selects by name "member-2"
    Then the diagnosis of the hub-agent is KF-HA-005
    And the diagnosis of placement "second" is KF-SC-001, because of KF-HA-005
    And placement "first" still says that it is available
    And a change to the resources of placement "first" arrives on "member-1"
    When the clock of the hub-agent is right again
    # Nothing makes the scheduler look again.
    Then placement "second" reports for 30 seconds
      | condition | status |
      | Scheduled | False  |
    When the hub-agent is restarted
    Then placement "second" becomes available on "member-2"
    And the diagnosis finds nothing

  @KF-HA-005
  Scenario: The clock of the hub-agent is behind
    Given a fleet of its own with 1 member
    When the clock of the hub-agent is 10 minutes behind
    And a placement "web" selects "member-1"
    Then placement "web" becomes available on "member-1"
    And the diagnosis of the hub-agent is KF-HA-005
    When the clock of the hub-agent is right again
    And a placement "later" selects "member-1"
    Then placement "later" becomes available on "member-1"
    And the diagnosis finds nothing

  # Nobody compares anything with that clock but the diagnosis, for which all clocks that are right seem to be wrong. When the clock jumps, the last
  # heartbeats and the last renewal of a lease look ten minutes old, until the next ones.
  @KF-HA-006 @passes:KF-HA-004 @passes:KF-MC-001
  Scenario: The clock of the hub's API server is ahead
    Given a fleet of its own with 2 members
    And a placement "first" has put its resources on "member-1"
    When the clock of the hub's API server is 10 minutes ahead
    Then within 60 seconds the diagnosis is one finding KF-HA-006 about 1 objects
    When a placement "second" selects "member-2"
    Then placement "second" becomes available on "member-2"
    And a change to the resources of placement "first" arrives on "member-1"
    When the clock of the hub's API server is right again
    Then within 60 seconds the diagnosis finds nothing
    When a placement "third" selects "member-2"
    Then placement "third" becomes available on "member-2"
    And the diagnosis finds nothing

  # The agents' tokens are younger than ten minutes: the API server takes them for tokens of the future. It has said yes to them a moment ago, which it
  # remembers for ten seconds. The silence of the agents doesn't show, because their last heartbeats are of the future, too.
  @KF-HA-006 @takes-90s
  Scenario: The clock of the hub's API server is set back
    Given a fleet of its own with 2 members
    And a placement "first" has put its resources on "member-1"
    When the clock of the hub's API server is 10 minutes behind
    Then within 60 seconds the diagnosis is one finding KF-HA-006 about 1 objects
    And the agent of member "member-1" has logged "Unauthorized"
    When the clock of the hub's API server is right again
    Then a change to the resources of placement "first" arrives on "member-1"
    And within 120 seconds the diagnosis finds nothing

  # The twins: as far as clocks without a time service differ after some weeks.
  @healthy
  Scenario: The clocks of the agents differ by half a minute
    Given a fleet of its own with 2 members
    When the clock of the hub-agent is 30 seconds ahead
    And the clock of the agent of member "member-1" is 30 seconds behind
    And the clock of the agent of member "member-2" is 30 seconds ahead
    And a placement "web" selects "member-1" and "member-2"
    Then placement "web" becomes available on "member-1" and "member-2"
    And the diagnosis finds nothing
    And a change to the resources of placement "web" arrives on "member-1" and "member-2"
