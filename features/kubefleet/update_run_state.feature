@kubefleet
Feature: The state of a staged update run
  The guide "Staged Update Run TSG", section "Things to keep in mind when using updateRun": from v0.2 on, a run that is
  created with state Initialize or Stop is initialized and doesn't begin. Older versions ignore the state, but a change
  of it makes the run start over.

  @needs-run-states @KF-UR-050 @guide:staged-update-run-2026/state-initialize
  Scenario Outline: A run of <placement> is left at Initialize
    Given <placement> "web" with strategy External selects "member-1"
    And a staged update strategy "all" for placement "web"
      | stage   | members  |
      | staging | member-1 |
    When an update run "release" of placement "web" starts with strategy "all" in state "Initialize"
    # Longer than the 15 s between two reconciles of a run that updates a cluster.
    Then update run "release" reports for 20 seconds
      | on                      | condition   | status | reason                           | message                              |
      |                         | Initialized | True   | UpdateRunInitializedSuccessfully | The UpdateRun initialized successfully |
      |                         | Progressing | absent |                                  |                                      |
      |                         | Succeeded   | absent |                                  |                                      |
      | stage staging           | Progressing | absent |                                  |                                      |
      | stage staging, member-1 | Started     | absent |                                  |                                      |
    And update run "release" has
      | field                                   | value             |
      | status.appliedStrategy.comparisonOption | PartialComparison |
      | status.appliedStrategy.type             | ClientSideApply   |
      | status.appliedStrategy.whenToApply      | Always            |
      | status.appliedStrategy.whenToTakeOver   | Always            |
    And placement "web" reports
      | on       | condition      | status  | reason                                | message                                               |
      |          | RolloutStarted | Unknown | RolloutControlledByExternalController | no resource snapshot name is observed across clusters |
      | member-1 | RolloutStarted | Unknown | RolloutStartedUnknown                 |                                                       |
    And the diagnosis of update run "release" is KF-UR-050
      | object     | value                            |
      | /{release} | Initialize                       |
      | /{release} | UpdateRunInitializedSuccessfully |
    And the state of update run "release" is set to "Stop", which is refused with "invalid state transition: cannot transition from Initialize to Stop"
    When the state of update run "release" is set to "Run"
    Then update run "release" succeeds
    And placement "web" becomes available on "member-1"
    And the diagnosis finds nothing

    Examples:
      | placement                  |
      | a cluster-scoped placement |
      | a namespaced placement     |

  @needs-run-states @KF-UR-050 @guide:azure-update-run-api/state @guide:azure-namespaced-update-run-api/state
  Scenario Outline: A run of <placement> is made without a state
    Given <placement> "web" with strategy External selects "member-1"
    And a staged update strategy "all" for placement "web"
      | stage   | members  |
      | staging | member-1 |
    When an update run "release" of placement "web" starts with strategy "all" in no state
    Then update run "release" reports for 16 seconds
      | on                      | condition   | status | reason                           | message                                |
      |                         | Initialized | True   | UpdateRunInitializedSuccessfully | The UpdateRun initialized successfully |
      |                         | Progressing | absent |                                  |                                        |
      | stage staging, member-1 | Started     | absent |                                  |                                        |
    And update run "release" has
      | field                                   | value             |
      | spec.state                              | Initialize        |
      | status.appliedStrategy.comparisonOption | PartialComparison |
      | status.appliedStrategy.type             | ClientSideApply   |
      | status.appliedStrategy.whenToApply      | Always            |
      | status.appliedStrategy.whenToTakeOver   | Always            |
    And the diagnosis of update run "release" is KF-UR-050
    When the state of update run "release" is set to "Run"
    Then update run "release" succeeds
    And placement "web" becomes available on "member-1"
    And the diagnosis finds nothing

    Examples:
      | placement                  |
      | a cluster-scoped placement |
      | a namespaced placement     |

  @needs-run-states @KF-UR-051 @guide:staged-update-run-2026/state-stop
  Scenario Outline: A run of <placement> is made with state Stop
    Given <placement> "web" with strategy External selects "member-1"
    And a staged update strategy "all" for placement "web"
      | stage   | members  |
      | staging | member-1 |
    When an update run "release" of placement "web" starts with strategy "all" in state "Stop"
    Then update run "release" reports for 20 seconds
      | on                      | condition   | status | reason                           | message                                |
      |                         | Initialized | True   | UpdateRunInitializedSuccessfully | The UpdateRun initialized successfully |
      |                         | Progressing | False  | UpdateRunStopped                 | The update run has been stopped        |
      |                         | Succeeded   | absent |                                  |                                        |
      | stage staging           | Progressing | False  | StageUpdatingStopped             | the stage is now stopped, waiting to be resumed |
      | stage staging, member-1 | Started     | absent |                                  |                                        |
    And update run "release" has
      | field                                   | value             |
      | status.appliedStrategy.comparisonOption | PartialComparison |
      | status.appliedStrategy.type             | ClientSideApply   |
      | status.appliedStrategy.whenToApply      | Always            |
      | status.appliedStrategy.whenToTakeOver   | Always            |
    And the diagnosis of update run "release" is KF-UR-051
      | object     | value            |
      | /{release} | Stop             |
      | /{release} | UpdateRunStopped |
    And the state of update run "release" is set to "Initialize", which is refused with "invalid state transition: cannot transition from Stop to Initialize"
    When the state of update run "release" is set to "Run"
    Then update run "release" succeeds
    And placement "web" becomes available on "member-1"
    And the diagnosis finds nothing

    Examples:
      | placement                  |
      | a cluster-scoped placement |
      | a namespaced placement     |

  @needs-run-states
  Scenario Outline: A run of <placement> is made with state Run
    Given <placement> "web" with strategy External selects "member-1"
    And a staged update strategy "all" for placement "web"
      | stage   | members  |
      | staging | member-1 |
    When an update run "release" of placement "web" starts with strategy "all" in state "Run"
    Then update run "release" reports
      | condition   | status | reason                           | message                                |
      | Initialized | True   | UpdateRunInitializedSuccessfully | The UpdateRun initialized successfully |
      | Progressing | True   | UpdateRunProgressing             | The update run is making progress      |
    And the state of update run "release" is set to "Initialize", which is refused with "invalid state transition: cannot transition from Run to Initialize"
    And the diagnosis finds nothing
    And update run "release" succeeds
    And placement "web" becomes available on "member-1"
    And the diagnosis finds nothing

    Examples:
      | placement                  |
      | a cluster-scoped placement |
      | a namespaced placement     |

  @needs-run-states @KF-UR-051
  Scenario Outline: A run of <placement> that waits for an approval is stopped
    Given <placement> "web" with strategy External selects "member-1" and "member-2"
    And a staged update strategy "asks" for placement "web"
      | stage   | members  | after    |
      | staging | member-1 | Approval |
      | canary  | member-2 |          |
    And an update run "release" of placement "web" starts with strategy "asks"
    And update run "release" reports
      | on            | condition   | status | reason               |
      |               | Progressing | False  | UpdateRunWaiting     |
      | stage staging | Progressing | False  | StageUpdatingWaiting |
    When the state of update run "release" is set to "Stop"
    Then update run "release" reports
      | on                      | condition   | status | reason                    | message                         |
      |                         | Progressing | False  | UpdateRunStopped          | The update run has been stopped |
      | stage staging           | Progressing | False  | StageUpdatingStopped      |                                 |
      | stage staging, member-1 | Succeeded   | True   | ClusterUpdatingSucceeded  |                                 |
    # An approval at this time doesn't make the run continue.
    When the approval request of update run "release" after stage "staging" is approved
    Then update run "release" reports for 15 seconds
      | on                     | condition   | status | reason           |
      |                        | Progressing | False  | UpdateRunStopped |
      | stage canary, member-2 | Started     | absent |                  |
    And the diagnosis of update run "release" is KF-UR-051
    When the state of update run "release" is set to "Run"
    Then update run "release" succeeds
    And placement "web" becomes available on "member-1" and "member-2"
    And the diagnosis finds nothing

    Examples:
      | placement                  |
      | a cluster-scoped placement |
      | a namespaced placement     |

  @needs-run-states @disruptive @KF-UR-051
  Scenario Outline: A run of <placement> is stopped while it updates a cluster
    Given a member "east" of its own
    And <placement> "web" with strategy External selects "east" and "member-1"
    And a staged update strategy "all" for placement "web"
      | stage   | members  |
      | staging | east     |
      | canary  | member-1 |
    # The cluster mustn't be done before the run is stopped.
    When the agent of member "east" stops
    And an update run "release" of placement "web" starts with strategy "all"
    Then update run "release" reports
      | on                  | condition | status | reason                 |
      | stage staging, east | Started   | True   | ClusterUpdatingStarted |
    When the state of update run "release" is set to "Stop"
    Then update run "release" reports
      | on            | condition   | status  | reason                | message                                                              |
      |               | Progressing | Unknown | UpdateRunStopping     | waiting for all the updating/deleting clusters to finish updating    |
      | stage staging | Progressing | Unknown | StageUpdatingStopping | Waiting for all the updating clusters to finish updating             |
    When the agent of member "east" is restarted
    Then update run "release" reports
      | on                     | condition   | status | reason                   | message                         |
      |                        | Progressing | False  | UpdateRunStopped         | The update run has been stopped |
      | stage staging          | Progressing | False  | StageUpdatingStopped     |                                 |
      | stage staging, east    | Succeeded   | True   | ClusterUpdatingSucceeded |                                 |
      | stage canary, member-1 | Started     | absent |                          |                                 |
    And the resources of placement "web" are on "east"
    And the diagnosis of update run "release" is KF-UR-051
    When the state of update run "release" is set to "Run"
    Then update run "release" succeeds
    And placement "web" becomes available on "east" and "member-1"
    And the diagnosis finds nothing

    Examples:
      | placement                  |
      | a cluster-scoped placement |
      | a namespaced placement     |

  @needs-run-states @disruptive @guide:staged-update-run-2026/stop-while-stuck @guide:azure-update-run-stuck/stop-while-stuck
  Scenario Outline: A run of <placement> is stopped and gets stuck with the cluster that it updates
    Given a member "east" of its own
    And <placement> "web" with strategy External selects "east"
    And a staged update strategy "all" for placement "web"
      | stage   | members |
      | staging | east    |
    When the agent of member "east" stops
    And an update run "release" of placement "web" starts with strategy "all"
    Then update run "release" reports
      | on                  | condition | status | reason                 |
      | stage staging, east | Started   | True   | ClusterUpdatingStarted |
    When the state of update run "release" is set to "Stop"
    And the stuck threshold of update run "release" passes on "east"
    # The run can't stop before the cluster is done.
    Then update run "release" reports
      | on            | condition   | status  | reason                | message                                                   |
      |               | Progressing | False   | UpdateRunStuck        | stuck waiting for {east} cluster(s) in stage staging to finish updating |
      | stage staging | Progressing | Unknown | StageUpdatingStopping |                                                           |
    When the agent of member "east" is restarted
    Then placement "web" becomes available on "east"
    # A change of the state triggers a reconcile at once, however long the backoff is. The next step has to wait for it.
    When the state of update run "release" is set to "Run"
    Then update run "release" reports
      | on                  | condition | status | reason                   |
      | stage staging, east | Succeeded | True   | ClusterUpdatingSucceeded |
    And update run "release" succeeds
    And the diagnosis finds nothing

    Examples:
      | placement                  |
      | a cluster-scoped placement |
      | a namespaced placement     |

  @needs-run-states @disruptive @KF-UR-007
  Scenario Outline: A stuck run of <placement> is stopped and started once its cluster is fixed
    Given a member "east" of its own
    And <placement> "web" with strategy External selects "east"
    And a staged update strategy "all" for placement "web"
      | stage   | members |
      | staging | east    |
    When the agent of member "east" stops
    And an update run "release" of placement "web" starts with strategy "all"
    And the stuck threshold of update run "release" passes on "east"
    # Reconciles become rarer. After a pause, the interval is long enough to see that the run hasn't noticed the repair.
    Then update run "release" reports for 45 seconds
      | condition   | status | reason         |
      | Progressing | False  | UpdateRunStuck |
    When the agent of member "east" is restarted
    Then placement "web" becomes available on "east"
    And the diagnosis of update run "release" is KF-UR-007 for "east"
    # The run is reconciled at once, has nothing to wait for any more, and loses its backoff.
    When the state of update run "release" is set to "Stop"
    Then update run "release" reports
      | on                  | condition   | status | reason                   |
      |                     | Progressing | False  | UpdateRunStopped         |
      | stage staging, east | Succeeded   | True   | ClusterUpdatingSucceeded |
    When the state of update run "release" is set to "Run"
    Then update run "release" succeeds
    And the diagnosis finds nothing

    Examples:
      | placement                  |
      | a cluster-scoped placement |
      | a namespaced placement     |

  @needs-run-states @KF-UR-003
  @guide:staged-update-run-2025/abortion/not-recoverable @guide:staged-update-run-2026/abortion/not-recoverable
  @guide:azure-update-run-execution/validation/not-recoverable
  Scenario Outline: A run of <placement> that failed stays so whatever its state
    Given <placement> "web" with strategy External selects "member-1"
    And a staged update strategy "all" for placement "web"
      | stage   | members  |
      | staging | member-1 |
    And a resource snapshot of placement "web" is taken
    And the resources of placement "web" change
    And a resource snapshot of placement "web" is taken
    And an update run "old" of placement "web" starts with strategy "all" at snapshot index "0"
    And update run "old" reports
      | on                      | condition | status | reason                 |
      | stage staging, member-1 | Started   | True   | ClusterUpdatingStarted |
    And an update run "new" of placement "web" starts with strategy "all" at snapshot index "1"
    And update run "old" reports
      | condition | status | reason          |
      | Succeeded | False  | UpdateRunFailed |
    And update run "new" succeeds
    When the state of update run "old" is set to "Stop"
    And the state of update run "old" is set to "Run"
    Then update run "old" reports for 15 seconds
      | condition   | status | reason          | observedGeneration |
      | Progressing | False  | UpdateRunFailed | 1                  |
      | Succeeded   | False  | UpdateRunFailed | 1                  |
    And the diagnosis of update run "old" is KF-UR-003 for "member-1", superseded by update run "new"
    And the resources of placement "web" are on "member-1"

    Examples:
      | placement                  |
      | a cluster-scoped placement |
      | a namespaced placement     |

  @without-run-state-field @takes-50s @KF-UR-003
  @guide:staged-update-run-2025/abortion/not-recoverable @guide:staged-update-run-2026/abortion/not-recoverable
  @guide:azure-update-run-execution/validation/not-recoverable
  Scenario: A run that failed stays so when nothing is in its way any more
    Given a cluster-scoped placement "web" with strategy External selects "member-1"
    And a staged update strategy "all" for placement "web"
      | stage   | members  |
      | staging | member-1 |
    And the resources of placement "web" change
    And an update run "old" of placement "web" starts with strategy "all" at snapshot index "0"
    And update run "old" reports
      | on                      | condition | status | reason                 |
      | stage staging, member-1 | Started   | True   | ClusterUpdatingStarted |
    When an update run "new" of placement "web" starts with strategy "all" at snapshot index "1"
    Then update run "old" reports
      | condition | status | reason          |
      | Succeeded | False  | UpdateRunFailed |
    And update run "new" succeeds
    And the diagnosis of update run "old" is KF-UR-003 for "member-1", superseded by update run "new"
    When update run "new" is deleted
    Then update run "old" reports for 20 seconds
      | condition | status | reason          |
      | Succeeded | False  | UpdateRunFailed |
    When update run "old" is deleted
    Then the diagnosis finds nothing

  @needs-run-state-field @without-run-states
  Scenario Outline: A run of <placement> ignores its state
    Given <placement> "web" with strategy External selects "member-1"
    And a staged update strategy "all" for placement "web"
      | stage   | members  |
      | staging | member-1 |
    When an update run "release" of placement "web" starts with strategy "all" in state "Pause"
    Then update run "release" reports
      | condition   | status | reason                           |
      | Initialized | True   | UpdateRunInitializedSuccessfully |
      | Progressing | True   | UpdateRunProgressing             |
    And update run "release" succeeds
    And placement "web" becomes available on "member-1"
    And the diagnosis finds nothing

    Examples:
      | placement                  |
      | a cluster-scoped placement |
      | a namespaced placement     |

  @needs-run-state-field @without-run-states @takes-50s @KF-UR-003
  @drift:staged-update-run-2025/abortion/not-recoverable @drift:staged-update-run-2026/abortion/not-recoverable
  @drift:azure-update-run-execution/validation/not-recoverable
  Scenario Outline: A run of <placement> that failed starts over when its state changes
    Given <placement> "web" with strategy External selects "member-1"
    And a staged update strategy "all" for placement "web"
      | stage   | members  |
      | staging | member-1 |
    And the resources of placement "web" change
    And an update run "old" of placement "web" starts with strategy "all" at snapshot index "0"
    And update run "old" reports
      | on                      | condition | status | reason                 |
      | stage staging, member-1 | Started   | True   | ClusterUpdatingStarted |
    When an update run "new" of placement "web" starts with strategy "all" at snapshot index "1"
    Then update run "old" reports
      | condition | status | reason          |
      | Succeeded | False  | UpdateRunFailed |
    And update run "new" succeeds
    And the diagnosis of update run "old" is KF-UR-003 for "member-1", superseded by update run "new"
    # Nothing blocks the run any more, but it doesn't continue.
    And update run "old" reports for 20 seconds
      | condition   | status | reason          |
      | Progressing | False  | UpdateRunFailed |
      | Succeeded   | False  | UpdateRunFailed |
    When the state of update run "old" is set to "Execute"
    Then update run "old" succeeds
    # The resources of the newer run are replaced by older ones.
    And the binding of placement "web" for "member-1" reports
      | condition      | status | reason         | message                                    |
      | RolloutStarted | True   | RolloutStarted | resourceSnapshotIndex: 0, updateRun: {old} |
    And the diagnosis finds nothing

    Examples:
      | placement                  |
      | a cluster-scoped placement |
      | a namespaced placement     |

  @needs-run-state-field @without-run-states @disruptive @takes-100s @fast-forward @KF-UR-007
  Scenario Outline: A stuck run of <placement> starts over when its state changes once its cluster is fixed
    Given a member "east" of its own
    And <placement> "web" with strategy External selects "east"
    And a staged update strategy "all" for placement "web"
      | stage   | members |
      | staging | east    |
    When the agent of member "east" stops
    And an update run "release" of placement "web" starts with strategy "all"
    And the stuck threshold of update run "release" passes on "east"
    # Reconciles become rarer. After a pause, the interval is long enough to see that the run hasn't noticed the repair.
    Then update run "release" reports for 45 seconds
      | condition   | status | reason         |
      | Progressing | False  | UpdateRunStuck |
    When the agent of member "east" is restarted
    Then placement "web" becomes available on "east"
    And the diagnosis of update run "release" is KF-UR-007 for "east"
    When the state of update run "release" is set to "Execute"
    Then update run "release" succeeds
    And the diagnosis finds nothing

    Examples:
      | placement                  |
      | a cluster-scoped placement |
