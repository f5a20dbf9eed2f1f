@kubefleet @disruptive @takes-120s
Feature: The hub-agent doesn't work
  No guide describes this. Placements and update runs get no status, and those that have one keep it. The members'
  agents go on: their heartbeats arrive on the hub, in their InternalMemberClusters, but nobody copies them into the
  MemberClusters (v0.1.2).

  @KF-HA-001 @KF-XX-001
  Scenario: The hub-agent has stopped
    Given a fleet of its own with 2 members
    And a placement "first" has put its resources on "member-1" and "member-2"
    When the hub-agent stops
    And a placement "second" selects "member-1"
    Then the diagnosis of the hub-agent is KF-HA-001
      | object                                                    | value |
      | InternalMemberCluster/fleet-member-{member-1}/{member-1}  |       |
      | MemberCluster/{member-1}                                  |       |
    And the diagnosis of placement "second" is KF-XX-001, because of KF-HA-001
      | object                            | value    |
      | ClusterResourcePlacement/{second} | (absent) |
    And placement "first" still says that it is available
    When the hub-agent is restarted
    Then placement "second" becomes available on "member-1"
    And the diagnosis finds nothing
    And a change to the resources of placement "first" arrives on "member-1" and "member-2"

  @KF-HA-001 @KF-XX-001
  Scenario: The hub-agent has stopped, and what it has reported on changes
    Given a fleet of its own with 1 member
    And a placement "web" with strategy External selects "member-1"
    And a staged update strategy "all" for placement "web"
      | stage | members  |
      | one   | member-1 |
    When the hub-agent stops
    And placement "web" gets '{"revisionHistoryLimit": 9}'
    And an update run "release" of placement "web" starts with strategy "all"
    Then the diagnosis of placement "web" is KF-XX-001, because of KF-HA-001
      | object                         | value           |
      | ClusterResourcePlacement/{web} | (generation: 2) |
    And the diagnosis of update run "release" is KF-XX-001, because of KF-HA-001
      | object                           | value    |
      | ClusterStagedUpdateRun/{release} | (absent) |
    When the hub-agent is restarted
    Then update run "release" succeeds
    And placement "web" becomes available on "member-1"
    And the diagnosis finds nothing

  # The twin: a restart takes seconds, and nothing counts as wrong meanwhile.
  Scenario: The hub-agent is restarted
    Given a fleet of its own with 1 member
    And a placement "first" has put its resources on "member-1"
    When the hub-agent stops
    And a placement "second" selects "member-1"
    Then the diagnosis finds nothing
    When the hub-agent is restarted
    Then the diagnosis finds nothing while placement "second" becomes available on "member-1"
    And the diagnosis finds nothing
    And a change to the resources of placement "first" arrives on "member-1"

  @KF-HA-001 @KF-XX-001
  Scenario: The hub-agent hangs
    Given a fleet of its own with 1 member
    And a placement "first" has put its resources on "member-1"
    When the hub-agent hangs
    And a placement "second" selects "member-1"
    Then the diagnosis of the hub-agent is KF-HA-001
      | object                                                   | value |
      | InternalMemberCluster/fleet-member-{member-1}/{member-1} |       |
      | MemberCluster/{member-1}                                 |       |
    And the diagnosis of placement "second" is KF-XX-001, because of KF-HA-001
    And placement "first" still says that it is available
    When the hub-agent is restarted
    Then placement "second" becomes available on "member-1"
    And the diagnosis finds nothing
    And a change to the resources of placement "first" arrives on "member-1"

  # The twin: it hangs for some seconds, as on a busy machine, and goes on where it was.
  @healthy
  Scenario: The hub-agent stands still for a moment
    Given a fleet of its own with 1 member
    When the hub-agent hangs
    And a placement "web" selects "member-1"
    Then the diagnosis finds nothing
    When the hub-agent works on
    Then placement "web" becomes available on "member-1"
    And the diagnosis finds nothing

  # Its process runs, and its watches may last for a while: they aren't checked again. What it writes is refused.
  @KF-HA-003 @KF-XX-001
  Scenario: The hub-agent has lost its rights
    Given a fleet of its own with 1 member
    And a placement "first" has put its resources on "member-1"
    When the hub-agent loses its rights
    And a placement "second" selects "member-1"
    Then the hub-agent has logged "is forbidden"
    And the diagnosis of the hub-agent is KF-HA-003
      | object                                                   | value            |
      | InternalMemberCluster/fleet-member-{member-1}/{member-1} |                  |
      | MemberCluster/{member-1}                                 |                  |
      | ServiceAccount/fleet-system/hub-agent                    | hub-agent        |
      | ClusterRoleBinding/hub-agent-role-binding                | (no such object) |
    And the diagnosis of placement "second" is KF-XX-001, because of KF-HA-003
      | object                            | value    |
      | ClusterResourcePlacement/{second} | (absent) |
    And placement "first" still says that it is available
    When the hub-agent gets its rights back
    Then placement "second" becomes available on "member-1"
    And the diagnosis finds nothing
    And a change to the resources of placement "first" arrives on "member-1"

  # The twin: the rights are gone for a moment, as when the ClusterRoleBinding is created anew.
  @healthy
  Scenario: The hub-agent's ClusterRoleBinding is created anew
    Given a fleet of its own with 1 member
    And a placement "first" has put its resources on "member-1"
    When the hub-agent loses its rights
    And the hub-agent gets its rights back
    Then a change to the resources of placement "first" arrives on "member-1"
    And the diagnosis finds nothing

  # Behind, and not broken: as with a CPU limit of the API server that is too low.
  @healthy
  Scenario: The hub-agent waits for a slow API server
    Given a fleet of its own with 1 member
    When the hub's API server gets slow
    And a placement "web" selects "member-1"
    Then the diagnosis finds nothing
    And placement "web" becomes available on "member-1"
    When the hub's API server is as fast as before
    Then a change to the resources of placement "web" arrives on "member-1"
    And the diagnosis finds nothing
