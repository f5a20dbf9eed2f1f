@kubefleet @disruptive
Feature: An API server hangs or stops
  No guide describes this. Everybody who talks to it waits, or is refused, and gets over it as soon as it answers again (measured on v0.1.2;
  docs/resilience.md).

  # The agent tells of it with its heartbeats, which come less and less often: what fails after a heartbeat delays the next one, by twice as
  # long each time. What it says of the Work differs: nothing, or that it can't find the objects (v0.3.1).
  @KF-MC-008 @passes:KF-AP-001 @passes:KF-AP-009 @takes-200s
  Scenario Outline: The API server of a member <fails>
    Given a fleet of its own with 1 member
    And a placement "first" has put its resources on "member-1"
    # A diagnosis that reads such a member takes long, and others would share it: a fleet of its own.
    When the API server of member "member-1" <fails>
    And the resources of placement "first" change
    Then within 300 seconds the diagnosis of member "member-1" is KF-MC-008
      | object                                                   | value                                  |
      | InternalMemberCluster/fleet-member-{member-1}/{member-1} | health probe failed with status code 0 |
    When the API server of member "member-1" <works>
    Then placement "first" becomes available on "member-1"
    And within 300 seconds the diagnosis finds nothing
    And a change to the resources of placement "first" arrives on "member-1"

    Examples:
      | fails | works        |
      | stops | starts again |
      | hangs | works on     |

  # The twins: it is gone for as long as a node that is upgraded. A placement that is new just after that may get no Work (docs/controllers.md):
  # the change shows first that the hub-agent has its informer caches again.
  @healthy @takes-60s
  Scenario Outline: The API server of <server> <fails> for a moment
    Given a fleet of its own with 1 member
    And a placement "first" has put its resources on "member-1"
    When <API server> <fails>
    And <API server> <works>
    Then a change to the resources of placement "first" arrives on "member-1"
    When a placement "second" selects "member-1"
    Then placement "second" becomes available on "member-1"
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
