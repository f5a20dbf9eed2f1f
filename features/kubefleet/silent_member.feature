@kubefleet @takes-130s
Feature: A member that looks healthy and does nothing
  No guide describes this. If a member-agent can't reach the hub for any reason, placements say "being applied" forever,
  with no failed placements, and the MemberCluster stays Joined. Only its heartbeat gets old (measured on v0.1.2).

  Background:
    Given a member "east" of its own
    And a placement "first" has put its resources on "east"

  @disruptive @KF-MC-001 @KF-AP-001
  @drift:cluster-resource-placement/no-resources/applied-unknown @drift:azure-cluster-resource-placement/no-resources/applied-unknown
  Scenario: The member's agent has stopped
    When the agent of member "east" stops
    And a placement "second" selects "east"
    Then placement "second" reports
      | on   | condition        | status | reason          | message                     |
      |      | WorkSynchronized | True   | WorkSynchronized |                            |
      |      | Applied          | False  | ApplyFailed     | check the `failedPlacements` status |
      | east | Applied          | False  | ApplyInProgress | Resources are being applied |
    # The difference from similar failures: this member still has its rights and its identity.
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

  # The Work exists already when the agent stops: a changed Work keeps the conditions of its last generation.
  @disruptive @KF-MC-001 @KF-AP-001
  Scenario: The member's agent has stopped, and a placement that waits for it changes
    When the agent of member "east" stops
    And a placement "second" selects "east" and "member-1"
    Then placement "second" reports
      | on       | condition | status | reason              |
      | east     | Applied   | False  | ApplyInProgress     |
      | member-1 | Available | True   | AllWorkAreAvailable |
    When the policy of placement "second" changes
    Then placement "second" reports
      | on       | condition | status | reason                    |
      | east     | Applied   | False  | NotAllWorkHaveBeenApplied |
      | member-1 | Available | True   | AllWorkAreAvailable       |
    And within 200 seconds the diagnosis of member "east" is KF-MC-001
    And the diagnosis of placement "second" is KF-AP-001 for "east", because of KF-MC-001
      | object                                 | value    |
      | ClusterResourcePlacement/{second}      | NotAllWorkHaveBeenApplied |
      | Work/fleet-member-{east}/{second}-work | (absent) |
    When the agent of member "east" is restarted
    Then placement "second" becomes available on "east" and "member-1"
    And the diagnosis finds nothing
    And a change to the resources of placement "first" arrives on "east"

  # The twin: an agent that stops for some seconds isn't a fault yet.
  @disruptive
  Scenario: The member's agent is restarted
    When the agent of member "east" stops
    And a placement "second" selects "east"
    And the policy of placement "second" changes
    Then the diagnosis finds nothing
    When the agent of member "east" is restarted
    Then the diagnosis finds nothing while placement "second" becomes available on "east"
    And the diagnosis finds nothing

  # One member for both failures: only what is missing on the hub differs.
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
    When member "east" gets '{"heartbeatPeriodSeconds": 16}'
    # The agent has its rights back at once, but its Works wait for the end of their backoff. A restart shortens this.
    And the agent of member "east" is restarted
    Then placement "second" becomes available on "east"
    And the diagnosis finds nothing
    And a change to the resources of placement "first" arrives on "east"
    # The API server accepts the token for a while. The new placement is created when the token isn't accepted any more.
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
    When member "east" joins again
    And the agent of member "east" is restarted
    Then placement "third" becomes available on "east"
    And the diagnosis finds nothing
    And a change to the resources of placement "first" arrives on "east"
