@kubefleet @without-stuck-runs @takes-60s
Feature: A staged update run is stuck and has no word for it
  In v0.14.0 there is no `UpdateRunStuck`: while a run waits for a cluster, it only reports that it has started. The
  placement, the Work and the Pod show the failure as in later versions. Only the time at which the cluster's update
  started shows how long the run has waited. The diagnosis is the same.

  # Without pods the reason isn't visible, so the finding about the run comes first.
  @no-pods @KF-UR-006
  @guide:staged-update-run-2025/stuck @drift:staged-update-run-2025/stuck/applied-false
  @guide:staged-update-run-2025/stuck-resolution
  @guide:staged-update-run-2026/stuck @guide:staged-update-run-2026/stuck-stages
  @guide:staged-update-run-2026/stuck-resolution
  @guide:azure-update-run-stuck/stuck @guide:azure-update-run-stuck/resolution @guide:azure-update-run-api/progression/sequential
  @guide:azure-update-run-execution/concurrent-untouched
  Scenario: A Deployment never becomes available, and the run goes on saying that it has started
    Given a cluster-scoped placement "web" with strategy External selects "member-2" and "member-3"
    And the resources of placement "web" include a Deployment with image "registry.invalid/app:1"
    And a staged update strategy "all" for placement "web"
      | stage   | members  |
      | staging | member-2 |
      | canary  | member-3 |
    When an update run "release" of placement "web" starts with strategy "all"
    Then placement "web" reports
      | on       | condition | status | reason                 |
      | member-2 | Applied   | True   | AllWorkHaveBeenApplied |
      | member-2 | Available | False  | NotAllWorkAreAvailable |
    # The workload may still become available.
    And the diagnosis finds nothing
    When the stuck threshold of update run "release" passes on "member-2"
    Then update run "release" reports for 15 seconds
      | on                      | condition   | status | reason                           |
      |                         | Initialized | True   | UpdateRunInitializedSuccessfully |
      |                         | Progressing | True   | UpdateRunStarted                 |
      |                         | Succeeded   | absent |                                  |
      | stage staging           | Progressing | True   | StageUpdatingStarted             |
      | stage staging, member-2 | Started     | True   | ClusterUpdatingStarted           |
      | stage staging, member-2 | Succeeded   | absent |                                  |
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
    And "kubectl get clusterresourcebindings" shows the binding of placement "web" for "member-3"
      | NAME             | WORKSYNCHRONIZED | RESOURCESAPPLIED | AGE |
      | {web}-member-3-* |                  |                  | *   |
    And placement "web" lists as failed
      | on       | object         | condition | status | reason                  |
      | member-2 | Deployment app | Available | False  | ManifestNotAvailableYet |
    And the Work of placement "web" for "member-2" reports
      | condition | status | reason                       |
      | Available | False  | SomeManifestsAreNotAvailable |
    And the diagnosis of update run "release" is KF-UR-006 for "member-2"
      | object     | value                        |
      | Run/       | Started=True                 |
      | Placement/ | NotAllWorkAreAvailable       |
      | Placement/ | ManifestNotAvailableYet      |
      | Work/      | SomeManifestsAreNotAvailable |
    When update run "release" is deleted
    And the Deployment in the resources of placement "web" is scaled to zero
    And an update run "next" of placement "web" starts with strategy "all"
    Then update run "next" succeeds
    And placement "web" becomes available on "member-2" and "member-3"
    And the diagnosis finds nothing

  # This version has no ResourceEnvelopes.
  @KF-UR-006 @without-envelopes @guide:staged-update-run-2025/stuck-envelope
  Scenario: A Deployment in a ConfigMap never becomes available
    Given a cluster-scoped placement "web" with strategy External selects "member-2"
    And a staged update strategy "all" for placement "web"
      | stage   | members  |
      | staging | member-2 |
    When the resources of placement "web" include a ConfigMap with '{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"app","namespace":"{web}-app"},"spec":{"selector":{"matchLabels":{"app":"app"}},"template":{"metadata":{"labels":{"app":"app"}},"spec":{"containers":[{"name":"app","image":"registry.invalid/app:1"}]}}}}'
    And an update run "release" of placement "web" starts with strategy "all"
    And the stuck threshold of update run "release" passes on "member-2"
    Then placement "web" lists as failed
      | on       | object         | envelope           | condition | status | reason                  |
      | member-2 | Deployment app | ConfigMap envelope | Available | False  | ManifestNotAvailableYet |
    And the diagnosis of update run "release" is KF-UR-006 for "member-2"
    When update run "release" is deleted
    And the ConfigMap of placement "web" is corrected to '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"right","namespace":"{web}-app"}}'
    And an update run "next" of placement "web" starts with strategy "all"
    Then update run "next" succeeds
    And placement "web" becomes available on "member-2"
    And the diagnosis finds nothing

  @pods @takes-130s
  Scenario Outline: What keeps a run waiting is an image that <fault>; it is fixed on the member, and a new run succeeds
    Given member "member-1" has pods
    And a cluster-scoped placement "web" with strategy External selects "member-1"
    And the resources of placement "web" include a Deployment with image "<image>"
    And a staged update strategy "all" for placement "web"
      | stage   | members  |
      | staging | member-1 |
    And an update run "release" of placement "web" starts with strategy "all"
    And the stuck threshold of update run "release" passes on "member-1"
    Then the Pod of placement "web" on "member-1" waits with "<waits>"
    And "kubectl get deploy" on "member-1" shows of placement "web"
      | NAME | READY | UP-TO-DATE | AVAILABLE | AGE |
      | app  | 0/1   | 1          | 0         | *   |
    # A kubelet alternates between the two reasons, and kubectl may show the other one.
    And "kubectl get pods" on "member-1" shows of placement "web"
      | NAME  | READY | STATUS  | RESTARTS | AGE |
      | app-* | 0/1   | <shows> | 0        | *   |
    And the diagnosis of update run "release" is KF-UR-006 for "member-1", because of <code>
      | object                | value                        |
      | Run/                  | Started=True                 |
      | Placement/            | NotAllWorkAreAvailable       |
      | Placement/            | ManifestNotAvailableYet      |
      | Work/                 | SomeManifestsAreNotAvailable |
      | Deployment/{web}-app/ | MinimumReplicasUnavailable   |
      | Pod/{web}-app/        | Image                        |
    When the hub-agent won't look at update run "release" for 40 seconds
    And the Pod of placement "web" on "member-1" gets image "nginx:1.29"
    And an update run "next" of placement "web" starts with strategy "all"
    Then update run "next" succeeds
    And placement "web" becomes available on "member-1"
    When update run "release" is deleted
    Then the diagnosis finds nothing

    @KF-AV-002 @guide:staged-update-run-2025/image-pull-failure
    Examples:
      | fault           | image            | waits        | shows                            | code      |
      | can't be pulled | nginx:unpullable | ErrImagePull | ErrImagePull or ImagePullBackOff | KF-AV-002 |

    @KF-AV-001 @guide:staged-update-run-2026/image-pull-failure @guide:azure-update-run-stuck/image-pull-failure
    Examples:
      | fault             | image           | waits            | shows            | code      |
      | has no valid name | nginx:not a tag | InvalidImageName | InvalidImageName | KF-AV-001 |

  @takes-140s @KF-UR-005 @passes:KF-UR-006
  Scenario: An old run that waits is left beside a newer one that has succeeded
    Given a cluster-scoped placement "web" with strategy External selects "member-2"
    And the resources of placement "web" include a Deployment with image "registry.invalid/app:1"
    And a staged update strategy "all" for placement "web"
      | stage   | members  |
      | staging | member-2 |
    And an update run "old" of placement "web" starts with strategy "all"
    And the stuck threshold of update run "old" passes on "member-2"
    # The reconciles of the old run become rare, so it doesn't notice the newer run at all.
    And the hub-agent won't look at update run "old" for 60 seconds
    When the Deployment in the resources of placement "web" is scaled to zero
    And an update run "new" of placement "web" starts with strategy "all"
    Then update run "new" succeeds
    And the diagnosis of update run "old" is KF-UR-005
    When update run "old" is deleted
    Then the diagnosis finds nothing

  # This looks like a workload that doesn't start, but the agent hasn't even tried to apply it.
  @disruptive @takes-170s @KF-MC-001
  Scenario: The member's agent has stopped, and a run waits for it without an end
    Given a member "east" of its own
    And a cluster-scoped placement "web" with strategy External selects "east"
    And a staged update strategy "all" for placement "web"
      | stage   | members |
      | staging | east    |
    When the agent of member "east" stops
    And an update run "release" of placement "web" starts with strategy "all"
    And the stuck threshold of update run "release" passes on "east"
    Then placement "web" reports
      | on   | condition | status | reason          |
      | east | Applied   | False  | ApplyInProgress |
    And within 200 seconds the diagnosis of member "east" is KF-MC-001
    And the diagnosis of update run "release" is KF-UR-006 for "east", because of KF-MC-001
    And update run "release" reports
      | condition   | status | reason           |
      | Progressing | True   | UpdateRunStarted |
    When the agent of member "east" is restarted
    And update run "release" is deleted
    And an update run "next" of placement "web" starts with strategy "all"
    Then update run "next" succeeds
    And placement "web" becomes available on "east"
    And the diagnosis finds nothing
