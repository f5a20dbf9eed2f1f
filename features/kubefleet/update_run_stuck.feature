@kubefleet @takes-60s
Feature: A staged update run is stuck
  The guide "Staged Update Run TSG", section "Investigate ClusterStagedUpdateRun rollout stuck": a cluster isn't done
  five minutes after its update started. The run names the cluster, and the placement lists the failed resources. From
  there, the Work leads to the Deployment and its Pod on the member. "After resolving the issue, you can always create a
  new updateRun to restart the rollout. Stuck updateRuns can be deleted."

  @needs-stuck-runs @pods @drift:staged-update-run-2025/stuck-envelope
  Scenario Outline: An enveloped Deployment of <placement> has an image that <fault>
    Given member "member-1" has pods
    And <placement> "web" with strategy External selects "member-1"
    And the resources of placement "web" include a Deployment with image "<image>" in a ResourceEnvelope
    And a staged update strategy "all" for placement "web"
      | stage   | members  |
      | staging | member-1 |
    When an update run "release" of placement "web" starts with strategy "all"
    And the stuck threshold of update run "release" passes on "member-1"
    Then update run "release" reports
      | on                      | condition   | status | reason                           | message                                                                   |
      |                         | Initialized | True   | UpdateRunInitializedSuccessfully |                                                                           |
      |                         | Progressing | False  | UpdateRunStuck                   | The updateRun is stuck waiting for                                        |
      |                         | Progressing | False  | UpdateRunStuck                   | member-1                                                                  |
      |                         | Progressing | False  | UpdateRunStuck                   | in stage staging to finish updating, please check placement status for potential errors |
      | stage staging, member-1 | Started     | True   | ClusterUpdatingStarted           |                                                                           |
    And placement "web" reports
      | on       | condition        | status | reason                 | message                                       |
      | member-1 | RolloutStarted   | True   | RolloutStarted         | updateRun: {release}                          |
      | member-1 | Overridden       | True   | NoOverrideSpecified    |                                               |
      | member-1 | WorkSynchronized | True   | AllWorkSynced          | All of the works are synchronized             |
      | member-1 | Applied          | True   | AllWorkHaveBeenApplied | All corresponding work objects are applied    |
      | member-1 | Available        | False  | NotAllWorkAreAvailable | is not yet available                          |
    And placement "web" lists as failed
      | on       | object         | envelope                  | condition | status | reason                  | message                       |
      | member-1 | Deployment app | ResourceEnvelope envelope | Available | False  | ManifestNotAvailableYet | Manifest is not yet available |
    And the Work of the envelope of placement "web" for "member-1" reports
      | condition | status | reason                       | message                                 |
      | Available | False  | SomeManifestsAreNotAvailable | (0 of 1 manifests are available)        |
    And the Deployment of placement "web" on "member-1" has no available replica
    And the Pod of placement "web" on "member-1" waits with "<waits>"
    And "kubectl get deploy" on "member-1" shows of placement "web"
      | NAME | READY | UP-TO-DATE | AVAILABLE | AGE |
      | app  | 0/1   | 1          | 0         | *   |
    And "kubectl get pods" on "member-1" shows of placement "web"
      | NAME  | READY | STATUS  | RESTARTS | AGE |
      | app-* | 0/1   | <shows> | 0        | *   |
    And the diagnosis of update run "release" is KF-UR-006 for "member-1", because of <code>
      | object                | value                        |
      | Run/                  | UpdateRunStuck               |
      | Placement/            | NotAllWorkAreAvailable       |
      | Placement/            | ManifestNotAvailableYet      |
      | Work/                 | SomeManifestsAreNotAvailable |
      | Deployment/{web}-app/ | MinimumReplicasUnavailable   |
      | Pod/{web}-app/        | Image                        |
    # The run has a fixed index, so a corrected manifest needs a new run.
    When update run "release" is deleted
    And the Deployment in the resources of placement "web" gets image "nginx:1.29"
    And an update run "next" of placement "web" starts with strategy "all"
    Then update run "next" succeeds
    And placement "web" becomes available on "member-1"
    And the Pod of placement "web" on "member-1" runs
    And the diagnosis finds nothing

    @KF-AV-001
    @guide:staged-update-run-2026/image-pull-failure @drift:staged-update-run-2026/image-pull-failure/deployment/namespaced
    @guide:azure-update-run-stuck/image-pull-failure
    Examples:
      | placement                  | fault             | image           | waits            | shows            | code      |
      | a cluster-scoped placement | has no valid name | nginx:not a tag | InvalidImageName | InvalidImageName | KF-AV-001 |
      | a namespaced placement     | has no valid name | nginx:not a tag | InvalidImageName | InvalidImageName | KF-AV-001 |

    # A kubelet alternates between the two reasons, and kubectl may show the other one.
    @KF-AV-002 @guide:staged-update-run-2025/image-pull-failure
    Examples:
      | placement                  | fault           | image                  | waits        | shows                            | code      |
      | a cluster-scoped placement | can't be pulled | registry.invalid/app:1 | ErrImagePull | ErrImagePull or ImagePullBackOff | KF-AV-002 |
      | a namespaced placement     | can't be pulled | registry.invalid/app:1 | ErrImagePull | ErrImagePull or ImagePullBackOff | KF-AV-002 |

  @needs-envelopes @pods
  Scenario Outline: An enveloped Deployment of <placement> has a good image
    Given member "member-1" has pods
    And <placement> "web" with strategy External selects "member-1"
    And the resources of placement "web" include a Deployment with image "nginx:1.29" in a ResourceEnvelope
    And a staged update strategy "all" for placement "web"
      | stage   | members  |
      | staging | member-1 |
    When an update run "release" of placement "web" starts with strategy "all"
    Then update run "release" succeeds
    And placement "web" becomes available on "member-1"
    And the Pod of placement "web" on "member-1" runs
    And the diagnosis finds nothing

    Examples:
      | placement                  |
      | a cluster-scoped placement |
      | a namespaced placement     |

  @needs-stuck-runs @pods @takes-130s @KF-AV-002
  Scenario Outline: What keeps a run of <placement> stuck is fixed on the member, and a new run succeeds
    Given member "member-1" has pods
    And <placement> "web" with strategy External selects "member-1"
    And the resources of placement "web" include a Deployment with image "nginx:unpullable"
    And a staged update strategy "all" for placement "web"
      | stage   | members  |
      | staging | member-1 |
    And an update run "release" of placement "web" starts with strategy "all"
    And the stuck threshold of update run "release" passes on "member-1"
    And update run "release" reports
      | condition   | status | reason         |
      | Progressing | False  | UpdateRunStuck |
    And the hub-agent won't look at update run "release" for 40 seconds
    When the Pod of placement "web" on "member-1" gets image "nginx:1.29"
    And an update run "next" of placement "web" starts with strategy "all"
    Then update run "next" succeeds
    And placement "web" becomes available on "member-1"
    When update run "release" is deleted
    Then the diagnosis finds nothing

    Examples:
      | placement                  |
      | a cluster-scoped placement |
      | a namespaced placement     |

  # After five minutes, the hub-agent's reconciles are more than five minutes apart.
  @needs-stuck-runs @pods @fast-forward @takes-100s @KF-AV-002
  Scenario Outline: What keeps a run of <placement> stuck is fixed on the member, and the run goes on by itself
    Given member "member-1" has pods
    And <placement> "web" with strategy External selects "member-1"
    And the resources of placement "web" include a Deployment with image "nginx:unpullable"
    And a staged update strategy "all" for placement "web"
      | stage   | members  |
      | staging | member-1 |
    And an update run "release" of placement "web" starts with strategy "all"
    And the stuck threshold of update run "release" passes on "member-1"
    And update run "release" reports
      | condition   | status | reason         |
      | Progressing | False  | UpdateRunStuck |
    And the hub-agent won't look at update run "release" for 10 seconds
    When the Pod of placement "web" on "member-1" gets image "nginx:1.29"
    Then update run "release" succeeds by itself at the hub-agent's second look
    And placement "web" becomes available on "member-1"
    And the diagnosis finds nothing

    Examples:
      | placement                  |
      | a cluster-scoped placement |
      | a namespaced placement     |

  @needs-stuck-runs @pods @takes-190s @KF-AV-002
  Scenario: What keeps runs stuck is fixed on the member, and a restarted hub-agent notices at once
    Given a fleet of its own with 1 member
    And member "member-1" has pods
    And a cluster-scoped placement "web" with strategy External selects "member-1"
    And the resources of placement "web" include a Deployment with image "nginx:unpullable"
    And a staged update strategy "all" for placement "web"
      | stage   | members  |
      | staging | member-1 |
    And a namespaced placement "shop" with strategy External selects "member-1"
    And the resources of placement "shop" include a Deployment with image "nginx:unpullable"
    And a staged update strategy "each" for placement "shop"
      | stage   | members  |
      | staging | member-1 |
    And an update run "web-release" of placement "web" starts with strategy "all"
    And an update run "shop-release" of placement "shop" starts with strategy "each"
    And the stuck threshold of update run "web-release" passes on "member-1"
    And the stuck threshold of update run "shop-release" passes on "member-1"
    And update run "web-release" reports
      | condition   | status | reason         |
      | Progressing | False  | UpdateRunStuck |
    And update run "shop-release" reports
      | condition   | status | reason         |
      | Progressing | False  | UpdateRunStuck |
    When the hub-agent won't look at update run "web-release" for 40 seconds
    And the hub-agent won't look at update run "shop-release" for 40 seconds
    And the Pod of placement "web" on "member-1" gets image "nginx:1.29"
    And the Pod of placement "shop" on "member-1" gets image "nginx:1.29"
    And the hub-agent is restarted
    Then update run "web-release" succeeds before the hub-agent would have looked at it
    And update run "shop-release" succeeds before the hub-agent would have looked at it
    And placement "web" becomes available on "member-1"
    And placement "shop" becomes available on "member-1"
    # The restarted hub-agent notices changes soon.
    When the resources of placement "web" change
    And the resources of placement "shop" change
    Then the diagnosis finds nothing

  # Without pods the reason isn't visible, so the finding about the run comes first.
  @needs-stuck-runs @no-pods @KF-UR-006
  @guide:staged-update-run-2025/stuck @drift:staged-update-run-2025/stuck/applied-false
  @guide:staged-update-run-2025/stuck-resolution
  @guide:staged-update-run-2026/stuck @guide:staged-update-run-2026/stuck-stages
  @guide:staged-update-run-2026/stuck-resolution @guide:staged-update-run-2026/resolution
  @guide:azure-update-run-stuck/stuck @guide:azure-update-run-stuck/resolution @drift:azure-update-run-stuck/placement-top
  @guide:azure-update-run-api/progression/sequential @guide:azure-namespaced-update-run-api/progression/sequential
  Scenario Outline: A Deployment of <placement> never becomes available
    Given <placement> "web" with strategy External selects "member-2" and "member-3"
    And the resources of placement "web" include a Deployment with image "registry.invalid/app:1"
    And a staged update strategy "all" for placement "web"
      | stage   | members  |
      | staging | member-2 |
      | canary  | member-3 |
    When an update run "release" of placement "web" starts with strategy "all"
    And the stuck threshold of update run "release" passes on "member-2"
    Then update run "release" reports
      | on                      | condition   | status | reason                           | message                                                                   |
      |                         | Initialized | True   | UpdateRunInitializedSuccessfully |                                                                           |
      |                         | Progressing | False  | UpdateRunStuck                   | The updateRun is stuck waiting for |
      |                         | Progressing | False  | UpdateRunStuck                   | member-2 |
      |                         | Progressing | False  | UpdateRunStuck                   | in stage staging to finish updating, please check placement status for potential errors |
      | stage staging           | Progressing | True   | StageUpdatingStarted             | Clusters in the stage started updating |
      | stage staging, member-2 | Started     | True   | ClusterUpdatingStarted           | Cluster update started |
    And "kubectl get <short>" shows update run "release"
      | NAME      | PLACEMENT | RESOURCE-SNAPSHOT-INDEX | POLICY-SNAPSHOT-INDEX | INITIALIZED | PROGRESSING | SUCCEEDED | AGE |
      | {release} | {web}     | *                       | 0                     | True        | False       |           | *   |
    And update run "release" has
      | field                                        | value             |
      | status.deletionStageStatus.stageName         | kubernetes-fleet.io/deleteStage |
      | status.stagesStatus.1.stageName              | canary            |
      | status.stagesStatus.1.clusters.0.clusterName | member-3          |
      | status.stagesStatus.1.conditions             | absent            |
      | status.appliedStrategy.comparisonOption      | PartialComparison |
      | status.appliedStrategy.type                  | ClientSideApply   |
      | status.appliedStrategy.whenToApply           | Always            |
      | status.appliedStrategy.whenToTakeOver        | Always            |
    And placement "web" reports
      | on       | condition      | status  | reason                                | message                                                            |
      |          | RolloutStarted | Unknown | RolloutControlledByExternalController | different resource snapshot versions are observed across clusters |
      | member-2 | RolloutStarted | True    | RolloutStarted                        | updateRun: {release}                                               |
      | member-2 | Applied        | True    | AllWorkHaveBeenApplied                |                                                                    |
      | member-2 | Available      | False   | NotAllWorkAreAvailable                |                                                                    |
      | member-3 | RolloutStarted | Unknown | RolloutStartedUnknown                 |                                                                    |
    And placement "web" has
      | field                    | value                |
      | status.conditions.0.type | <kind>Scheduled      |
      | status.conditions.1.type | <kind>RolloutStarted |
    And placement "web" lists as failed
      | on       | object         | condition | status | reason                  |
      | member-2 | Deployment app | Available | False  | ManifestNotAvailableYet |
    And the Work of placement "web" for "member-2" reports
      | condition | status | reason                       |
      | Available | False  | SomeManifestsAreNotAvailable |
    And the diagnosis of update run "release" is KF-UR-006 for "member-2"
    When update run "release" is deleted
    And the Deployment in the resources of placement "web" is scaled to zero
    And an update run "next" of placement "web" starts with strategy "all"
    Then update run "next" succeeds
    And placement "web" becomes available on "member-2" and "member-3"
    And the diagnosis finds nothing

    Examples:
      | placement                  | short | kind                     |
      | a cluster-scoped placement | csur  | ClusterResourcePlacement |
      | a namespaced placement     | sur   | ResourcePlacement        |

  # A busy hub-agent can lose the record: docs/controllers.md. Without pods, the finding about the run comes first.
  @no-pods @takes-90s @KF-UR-008
  Scenario Outline: A run of <placement> has no record that it began with a cluster
    Given <placement> "web" with strategy External selects "member-2"
    And the resources of placement "web" include a Deployment with image "registry.invalid/app:1"
    And a staged update strategy "all" for placement "web"
      | stage   | members  |
      | staging | member-2 |
    When an update run "release" of placement "web" starts with strategy "all"
    And placement "web" reports
      | on       | condition | status | reason                 |
      | member-2 | Available | False  | NotAllWorkAreAvailable |
    And update run "release" loses the record that it began with "member-2"
    Then update run "release" reports for 30 seconds
      | on                      | condition   | status | reason               |
      |                         | Progressing | True   | UpdateRunProgressing |
      | stage staging, member-2 | Started     | absent |                      |
    And within 90 seconds the diagnosis of update run "release" is KF-UR-008 for "member-2"
      | object     | value                  |
      | Run/       | UpdateRunProgressing   |
      | Binding/   | updateRun: {release}   |
      | Placement/ | NotAllWorkAreAvailable |
    When update run "release" is deleted
    And the Deployment in the resources of placement "web" is scaled to zero
    And an update run "next" of placement "web" starts with strategy "all"
    Then update run "next" succeeds
    And placement "web" becomes available on "member-2"
    And the diagnosis finds nothing

    Examples:
      | placement                  |
      | a cluster-scoped placement |
      | a namespaced placement     |

  @needs-stuck-runs @takes-140s @KF-UR-005 @passes:KF-UR-006
  Scenario Outline: An old stuck run of <placement> is left beside a newer one that has succeeded
    Given <placement> "web" with strategy External selects "member-2"
    And the resources of placement "web" include a Deployment with image "registry.invalid/app:1"
    And a staged update strategy "all" for placement "web"
      | stage   | members  |
      | staging | member-2 |
    And an update run "old" of placement "web" starts with strategy "all"
    And the stuck threshold of update run "old" passes on "member-2"
    And update run "old" reports
      | condition   | status | reason         |
      | Progressing | False  | UpdateRunStuck |
    # The reconciles of the old run become rare, so it doesn't notice the newer run at all.
    And the hub-agent won't look at update run "old" for 60 seconds
    When the Deployment in the resources of placement "web" is scaled to zero
    And an update run "new" of placement "web" starts with strategy "all"
    Then update run "new" succeeds
    And the diagnosis of update run "old" is KF-UR-005
    When update run "old" is deleted
    Then the diagnosis finds nothing

    Examples:
      | placement                  |
      | a cluster-scoped placement |
      | a namespaced placement     |

  # This looks like a workload that doesn't start, but the agent hasn't even tried to apply it.
  @needs-stuck-runs @disruptive @takes-170s @KF-MC-001 @guide:staged-update-run-2026/mirror/cluster-connectivity
  Scenario: The member's agent has stopped, and runs are stuck over it
    Given a member "east" of its own
    And a cluster-scoped placement "web" with strategy External selects "east"
    And a staged update strategy "all" for placement "web"
      | stage   | members |
      | staging | east    |
    And a namespaced placement "shop" with strategy External selects "east"
    And a staged update strategy "each" for placement "shop"
      | stage   | members |
      | staging | east    |
    When the agent of member "east" stops
    And an update run "web-release" of placement "web" starts with strategy "all"
    And an update run "shop-release" of placement "shop" starts with strategy "each"
    And the stuck threshold of update run "web-release" passes on "east"
    And the stuck threshold of update run "shop-release" passes on "east"
    Then update run "web-release" reports
      | condition   | status | reason         |
      | Progressing | False  | UpdateRunStuck |
    And update run "shop-release" reports
      | condition   | status | reason         |
      | Progressing | False  | UpdateRunStuck |
    And placement "web" reports
      | on   | condition | status | reason          |
      | east | Applied   | False  | ApplyInProgress |
    And placement "shop" reports
      | on   | condition | status | reason          |
      | east | Applied   | False  | ApplyInProgress |
    And within 200 seconds the diagnosis of member "east" is KF-MC-001
    And the diagnosis of update run "web-release" is KF-UR-006 for "east", because of KF-MC-001
    And the diagnosis of update run "shop-release" is KF-UR-006 for "east", because of KF-MC-001
    When the agent of member "east" is restarted
    And update run "web-release" is deleted
    And update run "shop-release" is deleted
    And an update run "web-next" of placement "web" starts with strategy "all"
    And an update run "shop-next" of placement "shop" starts with strategy "each"
    Then update run "web-next" succeeds
    And update run "shop-next" succeeds
    And placement "web" becomes available on "east"
    And placement "shop" becomes available on "east"
    And the diagnosis finds nothing
