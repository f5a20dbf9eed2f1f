@kubefleet @scale @disruptive
Feature: A fleet with hundreds of members
  200 of the members are hollow: they have no clusters, and one process plays their agents. The hub and its agent are real. There are 100
  placements, 20 of which are rolled out by update runs. The scenarios take minutes and the whole machine; they run if the tag @scale
  selects them.

  Background:
    Given a fleet of its own with 2 members and 200 hollow members
    And 80 placements put image "web:1" on 5 hollow members each
    And 20 placements with strategy External put image "web:1" on 20 hollow members each
    And an update run of each placement with strategy External starts
      | stage  | ring   | at once |
      | canary | canary | 1       |
      | early  | early  | 50%     |
      | broad  | broad  | 25%     |
    And within 500 seconds all update runs succeed
    And within 300 seconds all placements are available

  @takes-200s
  Scenario: 20 update runs with several stages at the same time
    Then the diagnosis finds nothing

  @takes-350s @KF-MC-001
  Scenario: 30 of 200 members fall silent at once
    When the agents of 30 hollow members stop
    # A heartbeat comes once a minute, and counts as overdue after three.
    Then within 400 seconds the diagnosis is one finding KF-MC-001 about 30 objects
    When the agents of 30 hollow members are restarted
    Then the diagnosis finds nothing

  @takes-250s
  Scenario: The hub-agent is restarted and looks at everything again
    Then the diagnosis finds nothing while the hub-agent is restarted
    And within 120 seconds all placements are available

  @takes-550s @KF-AV-003
  # Nobody can read the pods of a hollow member: the diagnosis sees that the Deployment is unavailable, not why.
  Scenario: One image fails on 50 of 200 members
    Given image "web:broken" fails on 50 hollow members
    When 1 placement puts image "web:broken" on 50 hollow members each
    Then within 450 seconds the diagnosis is one finding KF-AV-003 about 50 objects

  @takes-350s @KF-UR-006 @needs-stuck-runs
  Scenario: A run is stuck on 3 of 60 clusters
    Given image "web:broken" fails on 3 hollow members with ring "broad"
    And a placement "web" with strategy External selects 60 hollow members
    And the resources of placement "web" include a Deployment with image "web:broken"
    And a staged update strategy "rings" for placement "web"
      | stage  | ring   | at once |
      | canary | canary | 1       |
      | early  | early  | 50%     |
      | broad  | broad  | 25%     |
    And a staged update strategy "all" for placement "web"
      | stage | selector | at once |
      | all   | {}       | 100%    |
    When an update run "release" of placement "web" starts with strategy "rings"
    And the stuck threshold of update run "release" passes on "hollow-0006", "hollow-0007" and "hollow-0008"
    Then update run "release" reports
      | on                       | condition   | status | reason                   | message                            |
      |                          | Progressing | False  | UpdateRunStuck           | The updateRun is stuck waiting for |
      |                          | Progressing | False  | UpdateRunStuck           | hollow-0006                        |
      |                          | Progressing | False  | UpdateRunStuck           | hollow-0007                        |
      |                          | Progressing | False  | UpdateRunStuck           | hollow-0008                        |
      | stage broad, hollow-0060 | Succeeded   | True   | ClusterUpdatingSucceeded |                                    |
    And within 60 seconds the diagnosis is one finding KF-UR-006 about 3 objects
    # The other 57 clusters have the Deployment with an image that works there.
    When update run "release" is deleted
    And the Deployment in the resources of placement "web" gets image "web:2"
    And an update run "next" of placement "web" starts with strategy "all"
    Then update run "next" succeeds
    And the diagnosis finds nothing

  # As with a CPU limit that is too low: the API server is paused for nine tenths of each 100 ms.
  @takes-350s
  Scenario: The hub's API server is slow
    When the hub's API server gets slow
    Then the diagnosis finds nothing
    When 5 placements put image "web:1" on 5 hollow members each
    Then the diagnosis finds nothing
    And within 300 seconds all placements are available
    When the hub's API server is as fast as before
    Then the diagnosis finds nothing
    And within 60 seconds all placements are available
