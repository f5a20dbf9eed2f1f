@kubefleet
Feature: A member that looks healthy and does nothing
  No guide describes it. Whatever keeps a member-agent from the hub, placements say "being applied" for ever, with no
  failed placements, and the MemberCluster stays Joined; only its heartbeat ages (measured on v0.1.2).

  Background:
    Given a member "east" of its own
    And a placement "first" has put its resources on "east"

  @disruptive @KF-MC-001
  Scenario: The member's agent has stopped
    When the agent of member "east" stops
    And a placement "second" selects "east"
    Then placement "second" reports
      | on   | condition        | status | reason          | message                     |
      |      | WorkSynchronized | True   | WorkSynchronized |                            |
      |      | Applied          | False  | ApplyFailed     | check the `failedPlacements` status |
      | east | Applied          | False  | ApplyInProgress | Resources are being applied |
    And within 200 seconds the diagnosis of member "east" is KF-MC-001
    And placement "first" still says that it is available
    When the agent of member "east" is restarted
    Then placement "second" becomes available on "east"
    And the diagnosis finds nothing
    And a change to the resources of placement "first" arrives on "east"

  @disruptive @KF-MC-002
  Scenario: The member's RoleBinding on the hub is gone
    When the RoleBinding of member "east" on the hub is deleted
    And a placement "second" selects "east"
    Then placement "second" reports
      | on   | condition | status | reason          |
      | east | Applied   | False  | ApplyInProgress |
    And within 120 seconds the diagnosis of member "east" is KF-MC-002
    When the spec of member "east" is touched
    # The agent has its rights back at once, but its Works wait out their backoff: a restart cuts that short.
    And the agent of member "east" is restarted
    Then placement "second" becomes available on "east"
    And the diagnosis finds nothing
    And a change to the resources of placement "first" arrives on "east"
