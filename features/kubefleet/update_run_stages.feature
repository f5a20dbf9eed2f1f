@kubefleet
Feature: How a staged update run goes through its stages
  No guide describes this. A stage's maxConcurrency is a number or a part of its clusters in percent, rounded down, and at least 1. Tasks
  of a stage that selects no cluster have to be done as well. A stage begins when the one before it has succeeded.

  # Workloads without pods never become available, so that clusters stay in the middle of their update.
  @needs-before-stage-tasks @no-pods @takes-60s @passes:KF-AV-002
  @guide:azure-update-run-api/progression/max-concurrency @guide:azure-namespaced-update-run-api/progression/max-concurrency
  Scenario Outline: maxConcurrency <at once> updates <updated> of three members of <placement> at the same time
    Given <placement> "web" with strategy External selects "member-1", "member-2" and "member-3"
    And the resources of placement "web" include a Deployment with image "registry.invalid/app:1"
    And a staged update strategy "some" for placement "web"
      | stage | members                      | at once   |
      | one   | member-1, member-2, member-3 | <at once> |
    When an update run "release" of placement "web" starts with strategy "some"
    # The hub-agent looks at the run again after 15 s.
    Then update run "release" reports for 18 seconds
      | on                  | condition | status   | reason     |
      | stage one, member-1 | Started   | True     | ClusterUpdatingStarted |
      | stage one, member-2 | Started   | <second> |            |
      | stage one, member-3 | Started   | <third>  |            |
      | stage one, member-1 | Succeeded | absent   |            |
    When update run "release" is deleted
    And the Deployment in the resources of placement "web" is scaled to zero
    And an update run "next" of placement "web" starts with strategy "some"
    Then update run "next" succeeds
    And placement "web" becomes available on "member-1", "member-2" and "member-3"
    And the diagnosis finds nothing

    Examples:
      | placement                  | at once | updated | second | third  |
      | a cluster-scoped placement | 2       | two     | True   | absent |
      | a cluster-scoped placement | 50%     | one     | absent | absent |
      | a namespaced placement     | 70%     | two     | True   | absent |
      | a namespaced placement     | 10%     | one     | absent | absent |

  # Main after v0.3.1 skips such a stage.
  @without-skipped-stages @KF-UR-040
  Scenario Outline: A stage of a run of <placement> selects no member, and its approval is still needed
    Given <placement> "web" with strategy External selects "member-1"
    And a staged update strategy "asks" for placement "web"
      | stage  | labelled | members  | after    |
      | empty  |          |          | Approval |
      | canary |          | member-1 |          |
    When an update run "release" of placement "web" starts with strategy "asks"
    Then update run "release" reports
      | on                     | condition   | status | reason               |
      |                        | Initialized | True   | UpdateRunInitializedSuccessfully |
      |                        | Progressing | False  | UpdateRunWaiting     |
      | stage empty            | Progressing | False  | StageUpdatingWaiting |
      | stage canary, member-1 | Started     | absent |                      |
    And the diagnosis of update run "release" is KF-UR-040
      | object                   | value            |
      | UpdateRun/               | UpdateRunWaiting |
      | UpdateRun/               | (none)           |
      | /{release}-after-empty   | (absent)         |
    When the approval request of update run "release" after stage "empty" is approved
    Then update run "release" succeeds
    And placement "web" becomes available on "member-1"
    And the diagnosis finds nothing

    Examples:
      | placement                  |
      | a cluster-scoped placement |
      | a namespaced placement     |

  @without-skipped-stages @healthy
  Scenario Outline: A stage of a run of <placement> selects no member, and has no tasks
    Given <placement> "web" with strategy External selects "member-1"
    And a staged update strategy "all" for placement "web"
      | stage  | labelled | members  |
      | empty  |          |          |
      | canary |          | member-1 |
    When an update run "release" of placement "web" starts with strategy "all"
    Then update run "release" succeeds
    And update run "release" reports
      | on                     | condition | status | reason                   |
      | stage empty            | Succeeded | True   | StageUpdatingSucceeded   |
      | stage canary, member-1 | Succeeded | True   | ClusterUpdatingSucceeded |
    And placement "web" becomes available on "member-1"
    And the diagnosis finds nothing

    Examples:
      | placement                  |
      | a cluster-scoped placement |
      | a namespaced placement     |

  @needs-skipped-stages @healthy
  Scenario Outline: A stage of a run of <placement> selects no member, and is skipped with its approval
    Given <placement> "web" with strategy External selects "member-1"
    And a staged update strategy "asks" for placement "web"
      | stage  | labelled | members  | after    |
      | empty  |          |          | Approval |
      | canary |          | member-1 |          |
    When an update run "release" of placement "web" starts with strategy "asks"
    Then update run "release" succeeds
    And update run "release" reports
      | on                     | condition | status | reason                         |
      | stage empty            | Succeeded | True   | StageUpdatingSkippedNoClusters |
      | stage canary, member-1 | Succeeded | True   | ClusterUpdatingSucceeded       |
    And placement "web" becomes available on "member-1"
    And the diagnosis finds nothing

    Examples:
      | placement                  |
      | a cluster-scoped placement |
      | a namespaced placement     |

  # What the first stage has done stays. Once the cluster is well, the run goes on to the third stage.
  @disruptive @takes-100s
  Scenario Outline: The second of three stages of a run of <placement> doesn't get on, and then does
    Given a member "east" of its own
    And <placement> "web" with strategy External selects "member-1", "east" and "member-2"
    And a staged update strategy "three" for placement "web"
      | stage | members  |
      | one   | member-1 |
      | two   | east     |
      | three | member-2 |
    When the agent of member "east" stops
    And an update run "release" of placement "web" starts with strategy "three"
    Then update run "release" reports
      | on                  | condition   | status | reason                   |
      |                     | Progressing | True   | UpdateRunProgressing     |
      | stage one           | Succeeded   | True   | StageUpdatingSucceeded   |
      | stage one, member-1 | Succeeded   | True   | ClusterUpdatingSucceeded |
      | stage two           | Progressing | True   | StageUpdatingStarted     |
      | stage two, east     | Started     | True   | ClusterUpdatingStarted   |
      | stage three         | Progressing | absent |                          |
    And the resources of placement "web" are on "member-1"
    And placement "web" reports
      | on       | condition      | status  | reason                |
      | member-1 | Available      | True    | AllWorkAreAvailable   |
      | east     | Applied        | False   | ApplyInProgress       |
      | member-2 | RolloutStarted | Unknown | RolloutStartedUnknown |
    When the agent of member "east" is restarted
    Then update run "release" succeeds
    And placement "web" becomes available on "member-1", "east" and "member-2"
    And the diagnosis finds nothing

    Examples:
      | placement                  |
      | a cluster-scoped placement |
      | a namespaced placement     |

  # KubeFleet has no other way back than a run with an older index. On v0.14.0 the placement then says nothing of its members.
  @needs-external-reported @healthy @takes-90s
  Scenario Outline: A run with an older index takes a release of <placement> back
    Given <placement> "web" with strategy External selects "member-1" and "member-2"
    And a staged update strategy "all" for placement "web"
      | stage   | members  |
      | staging | member-1 |
      | canary  | member-2 |
    And a resource snapshot of placement "web" is taken
    And the resources of placement "web" change
    And a resource snapshot of placement "web" is taken
    And an update run "release" of placement "web" starts with strategy "all" at snapshot index "1"
    And update run "release" succeeds
    And the resources of placement "web" are on "member-1" and "member-2"
    When an update run "back" of placement "web" starts with strategy "all" at snapshot index "0"
    Then update run "back" succeeds
    And placement "web" reports
      | on       | condition      | status | reason                                | message                                     |
      |          | Available      | True   | ResourceAvailable                     |                                             |
      | member-1 | RolloutStarted | True   | RolloutStarted                        | resourceSnapshotIndex: 0, updateRun: {back} |
      | member-2 | RolloutStarted | True   | RolloutStarted                        | resourceSnapshotIndex: 0, updateRun: {back} |
    And object "ConfigMap/{web}-app/settings" of "member-1" has
      | field         | value |
      | data.revision | 0     |
    And the diagnosis finds nothing
    When an update run "forth" of placement "web" starts with strategy "all" at snapshot index "1"
    Then update run "forth" succeeds
    And the resources of placement "web" are on "member-1" and "member-2"
    And the diagnosis finds nothing

    Examples:
      | placement                  |
      | a cluster-scoped placement |
      | a namespaced placement     |
