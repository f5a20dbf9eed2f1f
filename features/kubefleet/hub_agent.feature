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
