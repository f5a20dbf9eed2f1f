@kubefleet @takes-130s
Feature: A member that looks healthy and does nothing
  No guide describes it. Whatever keeps a member-agent from the hub, placements say "being applied" for ever, with no
  failed placements, and the MemberCluster stays Joined; only its heartbeat ages (measured on v0.1.2).

  Background:
    Given a member "east" of its own
    And a placement "first" has put its resources on "east"

  @disruptive @KF-MC-001 @KF-AP-001
  Scenario: The member's agent has stopped
    When the agent of member "east" stops
    And a placement "second" selects "east"
    Then placement "second" reports
      | on   | condition        | status | reason          | message                     |
      |      | WorkSynchronized | True   | WorkSynchronized |                            |
      |      | Applied          | False  | ApplyFailed     | check the `failedPlacements` status |
      | east | Applied          | False  | ApplyInProgress | Resources are being applied |
    # Telling it from its look-alikes: it has its rights and its identity.
    And within 200 seconds the diagnosis of member "east" is KF-MC-001
      | object                                 | value    |
      | MemberCluster/{east}                   | Joined=True |
      | Work/fleet-member-{east}/{second}-work | (absent) |
    And the diagnosis of placement "second" is KF-AP-001 for "east", because of KF-MC-001
    And placement "first" still says that it is available
    When the agent of member "east" is restarted
    Then placement "second" becomes available on "east"
    And the diagnosis finds nothing
    And a change to the resources of placement "first" arrives on "east"

  # One member for both: what differs is only what is missing on the hub.
  @disruptive @KF-MC-002 @KF-MC-003 @KF-AP-001
  Scenario: The member's rights on the hub are gone, then its identity
    When the RoleBinding of member "east" on the hub is deleted
    And a placement "second" selects "east"
    Then placement "second" reports
      | on   | condition        | status | reason          |
      |      | WorkSynchronized | True   | WorkSynchronized |
      |      | Applied          | False  | ApplyFailed     |
      | east | Applied          | False  | ApplyInProgress |
    And within 120 seconds the diagnosis of member "east" is KF-MC-002
      | object                                                     | value            |
      | RoleBinding/fleet-member-{east}/fleet-rolebinding-{east}   | (no such object) |
    And the diagnosis of placement "second" is KF-AP-001 for "east", because of KF-MC-002
    And placement "first" still says that it is available
    When the spec of member "east" is touched
    # The agent has its rights back at once, but its Works wait out their backoff: a restart cuts that short.
    And the agent of member "east" is restarted
    Then placement "second" becomes available on "east"
    And the diagnosis finds nothing
    And a change to the resources of placement "first" arrives on "east"
    # The API server goes on taking the token for a while: the new placement comes when it doesn't any more.
    When the ServiceAccount of member "east" on the hub is deleted
    Then within 120 seconds the diagnosis of member "east" is KF-MC-003
      | object                                                | value            |
      | ServiceAccount/fleet-system/fleet-member-agent-{east} | (no such object) |
    When a placement "third" selects "east"
    Then placement "third" reports
      | on   | condition        | status | reason           |
      |      | WorkSynchronized | True   | WorkSynchronized |
      |      | Applied          | False  | ApplyFailed      |
      | east | Applied          | False  | ApplyInProgress  |
    And the diagnosis of placement "third" is KF-AP-001 for "east", because of KF-MC-003
    When member "east" gets its ServiceAccount back, with a new token
    And the agent of member "east" is restarted
    Then placement "third" becomes available on "east"
    And the diagnosis finds nothing
    And a change to the resources of placement "first" arrives on "east"
