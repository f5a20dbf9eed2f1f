@kubefleet @healthy
Feature: Healthy traffic
  Nothing is broken in these scenarios: they do what people do on a fleet every day. They run beside the faults of other
  scenarios, and every failure that the diagnosis finds in them is a false alarm.

  Scenario Outline: The resources of <placement> change again and again
    Given <placement> "web" has put its resources on "member-1", "member-2" and "member-3"
    Then a change to the resources of placement "web" arrives on "member-1", "member-2" and "member-3"
    And a change to the resources of placement "web" arrives on "member-1", "member-2" and "member-3"
    When the resources of placement "web" change
    And the resources of placement "web" change
    Then a change to the resources of placement "web" arrives on "member-1", "member-2" and "member-3"
    And the diagnosis finds nothing

    Examples:
      | placement                  |
      | a cluster-scoped placement |
      | a namespaced placement     |

  @takes-90s
  Scenario Outline: Update runs of <placement> follow each other
    Given <placement> "web" with strategy External selects "member-1" and "member-2"
    And a staged update strategy "asks" for placement "web"
      | stage   | members  | after    |
      | staging | member-1 | Approval |
      | canary  | member-2 |          |
    When an update run "first" of placement "web" starts with strategy "asks"
    And the approval request of update run "first" after stage "staging" is approved
    Then update run "first" succeeds
    When the resources of placement "web" change
    And an update run "second" of placement "web" starts with strategy "asks"
    And the approval request of update run "second" after stage "staging" is approved
    Then update run "second" succeeds
    And the resources of placement "web" are on "member-1" and "member-2"
    When update run "first" is deleted
    Then the diagnosis finds nothing
    When placement "web" is deleted
    And update run "second" is deleted
    Then no binding and no Work of placement "web" is left
    And the diagnosis finds nothing

    Examples:
      | placement                  |
      | a cluster-scoped placement |
      | a namespaced placement     |

  @takes-90s
  Scenario: Members change their stage between update runs
    Given a placement "web" with strategy External selects "member-1" and "member-2"
    And a staged update strategy "all" for placement "web"
      | stage   | members            |
      | staging | member-1           |
      | canary  | member-2           |
    When an update run "first" of placement "web" starts with strategy "all"
    Then update run "first" succeeds
    When "member-2" is put into stage "staging" of strategy "all"
    And "member-2" is taken out of stage "canary" of strategy "all"
    And "member-1" is put into stage "canary" of strategy "all"
    And "member-1" is taken out of stage "staging" of strategy "all"
    And the resources of placement "web" change
    And an update run "second" of placement "web" starts with strategy "all"
    Then update run "second" succeeds
    And the resources of placement "web" are on "member-1" and "member-2"
    And the diagnosis finds nothing

  @takes-90s @needs-run-states
  Scenario: An update run is stopped and started again
    Given a placement "web" with strategy External selects "member-1" and "member-2"
    And a staged update strategy "all" for placement "web"
      | stage   | members  |
      | staging | member-1 |
      | canary  | member-2 |
    When an update run "release" of placement "web" starts with strategy "all"
    And the state of update run "release" is set to "Stop"
    Then update run "release" reports
      | condition   | status | reason           |
      | Progressing | False  | UpdateRunStopped |
    When the state of update run "release" is set to "Run"
    Then update run "release" succeeds
    And the diagnosis finds nothing

  Scenario Outline: The members that <placement> selects change
    Given <placement> "web" has put its resources on "member-1"
    When placement "web" selects "member-2" and "member-3" instead
    Then placement "web" becomes available on "member-2" and "member-3"
    And the resources of placement "web" are gone from "member-1"
    When placement "web" selects "member-1" instead
    Then placement "web" becomes available on "member-1"
    And the resources of placement "web" are gone from "member-3"
    And the diagnosis finds nothing

    Examples:
      | placement                  |
      | a cluster-scoped placement |
      | a namespaced placement     |

  Scenario: A placement is evicted from a member that it still selects
    Given a placement "web" has put its resources on "member-1" and "member-2"
    When placement "web" is evicted from "member-1"
    Then placement "web" becomes available on "member-1" and "member-2"
    And the resources of placement "web" are on "member-1" and "member-2"
    And the diagnosis finds nothing

  Scenario: An override changes
    Given a placement "web" has put its resources on "member-1" and "member-2"
    When an override "colour" of placement "web" has the rule '{"clusterSelector": {"clusterSelectorTerms": []}, "jsonPatchOverrides": [{"op": "add", "path": "/data/colour", "value": "blue"}]}'
    Then placement "web" becomes available on "member-1" and "member-2"
    When the rule of override "colour" of placement "web" is corrected to '{"clusterSelector": {"clusterSelectorTerms": []}, "jsonPatchOverrides": [{"op": "add", "path": "/data/colour", "value": "green"}]}'
    Then placement "web" becomes available on "member-1" and "member-2"
    And a change to the resources of placement "web" arrives on "member-1" and "member-2"
    And the diagnosis finds nothing

  @disruptive
  Scenario: A member joins, gets resources, and leaves
    Given a placement "web" has put its resources on "member-1"
    And a member "east" of its own
    When placement "web" selects "member-1" and "east" instead
    Then placement "web" becomes available on "member-1" and "east"
    When member "east" is deleted
    Then member "east" has left
    And placement "web" becomes available on "member-1"
    And the diagnosis finds nothing

  @pods @disruptive @takes-120s
  Scenario: A workload takes its time
    Given a member "east" of its own
    And member "east" has pods
    And a placement "web" has put its resources on "east"
    And the resources of placement "web" include a Deployment with image "nginx:1.29" that takes 20 seconds
    Then placement "web" becomes available on "east"
    When the Deployment in the resources of placement "web" gets image "nginx:1.30"
    Then placement "web" becomes available on "east"
    And the diagnosis finds nothing
