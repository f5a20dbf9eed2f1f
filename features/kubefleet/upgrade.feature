@kubefleet @upgrade
Feature: What is healthy stays so when KubeFleet is upgraded
  An operator upgrades a fleet that is in use: placements have their resources on members, a rollout is in the middle of
  a stage, members join, and some agents are stopped at that moment. No guide describes this.

  Scenario Outline: The resources of <placement> are in use
    Given <placement> "web" has put its resources on "member-1" and "member-2"
    When hub and members run different versions of KubeFleet
    Then placement "web" still says that it is available
    And a change to the resources of placement "web" arrives on "member-1" and "member-2"
    When KubeFleet is upgraded
    Then placement "web" still says that it is available
    And a change to the resources of placement "web" arrives on "member-1" and "member-2"
    And nothing on members was lost in the upgrade
    And the diagnosis finds nothing

    Examples:
      | placement                  |
      | a cluster-scoped placement |
      | a namespaced placement     |

  @pods
  Scenario Outline: A workload of <placement> runs
    Given member "member-1" has pods
    And <placement> "web" has put its resources on "member-1"
    And the resources of placement "web" include a Deployment with image "nginx:1.29"
    And placement "web" becomes available on "member-1"
    And the Pod of placement "web" on "member-1" runs
    When KubeFleet is upgraded
    Then placement "web" still says that it is available
    And the Pod of placement "web" on "member-1" runs
    And nothing on members was lost in the upgrade
    And the diagnosis finds nothing

    Examples:
      | placement                  |
      | a cluster-scoped placement |
      | a namespaced placement     |

  Scenario Outline: A rollout of <placement> waits in the middle of its stages
    Given <placement> "web" with strategy External selects "member-1" and "member-2"
    And a staged update strategy "asks" for placement "web"
      | stage   | members  | after    |
      | staging | member-1 | Approval |
      | canary  | member-2 |          |
    And an update run "release" of placement "web" starts with strategy "asks"
    And the resources of placement "web" are on "member-1"
    And the approval request of update run "release" after stage "staging" is there, without an answer
    When KubeFleet is upgraded
    And the approval request of update run "release" after stage "staging" is approved
    Then update run "release" succeeds
    And placement "web" becomes available on "member-1" and "member-2"
    And nothing on members was lost in the upgrade
    And the diagnosis finds nothing

    Examples:
      | placement                  |
      | a cluster-scoped placement |
      | a namespaced placement     |

  # Older versions record the placement's apply strategy in the run as it is; newer versions add the defaults. If the
  # placement omits its apply strategy, an upgrade between such versions aborts the run: see docs/upgrading.md.
  Scenario Outline: A rollout of <placement>, which states its whole apply strategy, waits in the middle of its stages
    Given <placement> "web" with strategy External selects "member-1" and "member-2"
    And placement "web" gets '{"strategy": {"applyStrategy": {"type":"ClientSideApply","comparisonOption":"PartialComparison","whenToApply":"Always","whenToTakeOver":"Always"}}}'
    And a staged update strategy "asks" for placement "web"
      | stage   | members  | after    |
      | staging | member-1 | Approval |
      | canary  | member-2 |          |
    And an update run "release" of placement "web" starts with strategy "asks"
    And the resources of placement "web" are on "member-1"
    And the approval request of update run "release" after stage "staging" is there, without an answer
    When KubeFleet is upgraded
    And the approval request of update run "release" after stage "staging" is approved
    Then update run "release" succeeds
    And placement "web" becomes available on "member-1" and "member-2"
    And nothing on members was lost in the upgrade
    And the diagnosis finds nothing

    Examples:
      | placement                  |
      | a cluster-scoped placement |
      | a namespaced placement     |

  @disruptive
  Scenario: A member joins while hub and members run different versions
    Given hub and members run different versions of KubeFleet
    And a member "east" of its own
    When a placement "web" selects "east"
    Then placement "web" becomes available on "east"
    When KubeFleet is upgraded
    Then placement "web" still says that it is available
    And a change to the resources of placement "web" arrives on "east"
    And nothing on members was lost in the upgrade
    And the diagnosis finds nothing

  @disruptive
  Scenario: A member's agent is stopped while KubeFleet is upgraded
    Given a member "east" of its own
    And a placement "web" has put its resources on "east"
    And the agent of member "east" stops
    When KubeFleet is upgraded
    And the agent of member "east" is restarted
    Then a change to the resources of placement "web" arrives on "east"
    And nothing on members was lost in the upgrade
    And the diagnosis finds nothing

  # The agent is replaced while it can't reach the hub. It doesn't end: it tries again until it can.
  @disruptive @takes-200s @KF-MC-001 @passes:KF-AP-009
  Scenario: A member is cut off while KubeFleet is upgraded
    Given a member "east" of its own, on a network that can fail
    And a placement "web" has put its resources on "east"
    When the network between member "east" and the hub loses everything
    Then within 200 seconds the diagnosis of member "east" is KF-MC-001
      | object               | value       |
      | MemberCluster/{east} | Joined=True |
    When KubeFleet is upgraded
    And a placement "later" selects "east"
    Then placement "later" reports
      | on   | condition | status | reason          |
      | east | Applied   | False  | ApplyInProgress |
    When the network between member "east" and the hub works again
    Then placement "later" becomes available on "east"
    And a change to the resources of placement "web" arrives on "east"
    And nothing on members was lost in the upgrade
    And within 300 seconds the diagnosis finds nothing
