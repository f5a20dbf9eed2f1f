@kubefleet @without-snapshots-by-runs @needs-external-reported @takes-120s
Feature: The resource snapshot that a run needs is pruned
  No guide describes this. A placement keeps as many resource snapshots as its revisionHistoryLimit says. If its resources
  change often, the snapshot that a run still rolls out is deleted. On v0.14.0 a placement says nothing of members that don't have the
  latest snapshot, and so nothing of this.

  @KF-WS-011
  Scenario Outline: The run of <placement> succeeds, and the member has nothing
    Given <placement> "web" with strategy External selects "member-1" and "member-2"
    And placement "web" gets '{"revisionHistoryLimit": 1}'
    And a staged update strategy "asks" for placement "web"
      | stage   | members  | after    |
      | staging | member-1 | Approval |
      | canary  | member-2 |          |
    And a staged update strategy "all" for placement "web"
      | stage | members            |
      | one   | member-1, member-2 |
    And an update run "release" of placement "web" starts with strategy "asks"
    And the approval request of update run "release" after stage "staging" is there, without an answer
    When the resources of placement "web" change
    And the approval request of update run "release" after stage "staging" is approved
    Then update run "release" succeeds
    And the diagnosis of placement "web" is KF-WS-011 for "member-2"
    When an update run "again" of placement "web" starts with strategy "all"
    Then update run "again" succeeds
    And placement "web" becomes available on "member-1" and "member-2"
    And the diagnosis finds nothing

    Examples:
      | placement                  |
      | a cluster-scoped placement |
      | a namespaced placement     |

  @KF-RO-003
  Scenario Outline: The run of <placement> doesn't get on
    Given <placement> "web" with strategy External selects "member-1" and "member-2"
    And placement "web" gets '{"revisionHistoryLimit": 1}'
    And a staged update strategy "asks" for placement "web"
      | stage   | members  | after    |
      | staging | member-1 | Approval |
      | canary  | member-2 |          |
    And a staged update strategy "all" for placement "web"
      | stage | members            |
      | one   | member-1, member-2 |
    And an update run "first" of placement "web" starts with strategy "all"
    And update run "first" succeeds
    And the resources of placement "web" change
    And an update run "release" of placement "web" starts with strategy "asks"
    And the approval request of update run "release" after stage "staging" is there, without an answer
    When the resources of placement "web" change
    And the approval request of update run "release" after stage "staging" is approved
    Then placement "web" reports
      | on       | condition  | status | reason           | message                                     |
      | member-2 | Overridden | False  | OverriddenFailed | master resource snapshot is not found       |
    And the diagnosis of placement "web" is KF-RO-003 for "member-2"
      | object             | value            |
      | ResourcePlacement/ | OverriddenFailed |
      | ResourceBinding/   | {web}-1-snapshot |
      | ResourceSnapshot/  | (no such object) |
    When update run "release" is deleted
    And an update run "again" of placement "web" starts with strategy "all"
    Then update run "again" succeeds
    And placement "web" becomes available on "member-1" and "member-2"
    And the diagnosis finds nothing

    Examples:
      | placement                  |
      | a cluster-scoped placement |
      | a namespaced placement     |

  # The twin: the snapshot is pruned after everybody has got it.
  Scenario: The snapshot is pruned when no run needs it any more
    Given a placement "web" with strategy External selects "member-1" and "member-2"
    And placement "web" gets '{"revisionHistoryLimit": 1}'
    And a staged update strategy "asks" for placement "web"
      | stage   | members  | after    |
      | staging | member-1 | Approval |
      | canary  | member-2 |          |
    And a staged update strategy "all" for placement "web"
      | stage | members            |
      | one   | member-1, member-2 |
    And an update run "release" of placement "web" starts with strategy "all"
    And update run "release" succeeds
    When the resources of placement "web" change
    Then the diagnosis finds nothing
    When an update run "again" of placement "web" starts with strategy "all"
    Then update run "again" succeeds
    And placement "web" becomes available on "member-1" and "member-2"
    And the diagnosis finds nothing
