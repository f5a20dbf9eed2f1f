@kubefleet @scale @disruptive @takes-300s
Feature: A fleet with hundreds of members
  200 of the members are hollow: they have no clusters, and one process plays their agents. The hub and its agent are real. The
  scenarios take minutes and the whole machine; they run if the tag @scale selects them.

  @KF-MC-001
  Scenario: 30 of 200 members fall silent at once
    Given a fleet of its own with 2 members and 200 hollow members
    And 10 placements put image "web:1" on 20 hollow members each
    And within 240 seconds all placements are available
    When the agents of 30 hollow members stop
    # A heartbeat comes once a minute, and counts as overdue after three.
    Then within 400 seconds the diagnosis is one finding KF-MC-001 about 30 objects
    When the agents of 30 hollow members run again
    Then the diagnosis finds nothing

  Scenario: The hub-agent is restarted and looks at everything again
    Given a fleet of its own with 2 members and 200 hollow members
    And 20 placements put image "web:1" on 20 hollow members each
    And within 300 seconds all placements are available
    When the hub-agent is restarted
    Then the diagnosis finds nothing
    And within 120 seconds all placements are available

  Scenario: 20 update runs with several stages at the same time
    Given a fleet of its own with 2 members and 200 hollow members
    And 20 placements with strategy External put image "web:1" on 20 hollow members each
    When an update run of each placement with strategy External starts
      | stage  | ring   | at once |
      | canary | canary | 1       |
      | early  | early  | 50%     |
      | broad  | broad  | 25%     |
    Then within 500 seconds all update runs succeed
    And within 60 seconds all placements are available
    And the diagnosis finds nothing

  @KF-AV-003
  # Nobody can read the pods of a hollow member: the diagnosis sees that the Deployment is unavailable, not why.
  Scenario: One image fails on 50 of 200 members
    Given a fleet of its own with 2 members and 200 hollow members
    And image "web:broken" fails on 50 hollow members
    And 5 placements put image "web:1" on 40 hollow members each
    And within 240 seconds all placements are available
    When 1 placement puts image "web:broken" on 50 hollow members each
    Then within 400 seconds the diagnosis is one finding KF-AV-003 about 50 objects
