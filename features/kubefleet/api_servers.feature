@kubefleet @disruptive
Feature: An API server hangs or stops
  No guide describes this. Everybody who talks to it waits, or is refused, and gets over it as soon as it answers again (measured on v0.1.2;
  docs/resilience.md).

  # The agent tells of it with its heartbeats, which come less and less often: what fails after a heartbeat delays the next one, by twice as
  # long each time.
  @KF-MC-008 @KF-AP-001 @takes-200s
  Scenario Outline: The API server of a member <fails>
    Given a member "east" of its own
    And a placement "first" has put its resources on "east"
    When the API server of member "east" <fails>
    And the resources of placement "first" change
    Then within 200 seconds the diagnosis of member "east" is KF-MC-008
      | object                                    | value                                  |
      | InternalMemberCluster/fleet-member-{east}/{east} | health probe failed with status code 0 |
    And the diagnosis of placement "first" is KF-AP-001 for "east", because of KF-MC-008
    When the API server of member "east" <works>
    Then placement "first" becomes available on "east"
    And within 300 seconds the diagnosis finds nothing
    And a change to the resources of placement "first" arrives on "east"

    Examples:
      | fails | works        |
      | stops | starts again |
      | hangs | works on     |

  # The twins: it is gone for as long as a node that is upgraded.
  @healthy @takes-60s
  Scenario Outline: The API server of <server> <fails> for a moment
    Given a fleet of its own with 1 member
    And a placement "first" has put its resources on "member-1"
    When <API server> <fails>
    And <API server> <works>
    And a placement "second" selects "member-1"
    Then placement "second" becomes available on "member-1"
    And a change to the resources of placement "first" arrives on "member-1"
    And within 120 seconds the diagnosis finds nothing

    Examples:
      | server   | API server                          | fails | works        |
      | a member | the API server of member "member-1" | stops | starts again |
      | the hub  | the hub's API server                | stops | starts again |

  # Nobody can read or write anything on the hub, and members keep what they have. A diagnosis has 120 s; the step may have to wait for the end
  # of another one.
  @healthy @takes-300s
  Scenario: The hub's API server hangs
    Given a fleet of its own with 1 member
    And a placement "first" has put its resources on "member-1"
    When the hub's API server hangs
    Then within 250 seconds the diagnosis ends, because the hub doesn't answer
    And the resources of placement "first" are on "member-1"
    When the hub's API server works on
    Then a change to the resources of placement "first" arrives on "member-1"
    And within 120 seconds the diagnosis finds nothing
