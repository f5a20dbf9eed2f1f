@argocd
Feature: A placement carries Argo CD's tracking ids and Applications to members
  KubeFleet copies an object with its annotations. What Argo CD has applied on the hub has Argo CD's tracking id there, and so it has
  on the members. An Application itself is an object, too, and a placement may carry it; on a member it needs an Argo CD there.

  @healthy
  Scenario: Tracking ids that came along do no harm
    Given a repository "base" with "base.yaml"
      """
      apiVersion: v1
      kind: Namespace
      metadata:
        name: base-{suffix}
      ---
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: settings
        namespace: base-{suffix}
      data:
        revision: "0"
      """
    And repository "base" also has "placement.yaml"
      """
      apiVersion: placement.kubernetes-fleet.io/v1beta1
      kind: ClusterResourcePlacement
      metadata:
        name: base-{suffix}
      spec:
        resourceSelectors:
          - {group: "", version: v1, kind: Namespace, name: "base-{suffix}"}
        policy:
          placementType: PickFixed
          clusterNames: [member-1]
      """
    And an application "base" of repository "base" for the hub
    When application "base" syncs
    Then the sync of application "base" succeeds
    And placement "base" is on the hub
    And placement "base" becomes available on "member-1"
    And object "ConfigMap/base-{suffix}/settings" of "member-1" has
      | field                                               | value                                    |
      | metadata.annotations.argocd.argoproj.io/tracking-id | {base}:/ConfigMap:base-{suffix}/settings |
    # An Application of the member, in the same namespace, that prunes.
    Given a repository "web" with "own.yaml"
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: own
        namespace: base-{suffix}
      """
    And an application "web" of repository "web" for "member-1"
    When application "web" syncs with "--prune"
    Then the sync of application "web" succeeds
    And application "web" is Synced and Healthy
    When application "base" syncs with "--prune"
    Then the sync of application "base" succeeds
    And application "base" is Synced and Healthy
    And placement "base" becomes available on "member-1"
    And object "ConfigMap/base-{suffix}/settings" of "member-1" has
      | field                                               | value                                    |
      | metadata.annotations.argocd.argoproj.io/tracking-id | {base}:/ConfigMap:base-{suffix}/settings |
    And the diagnosis finds nothing

  @AR-KF-003 @AR-SF-007
  Scenario: A tracking id that came along makes a sync fail
    Given a repository "base" with "base.yaml"
      """
      apiVersion: v1
      kind: Namespace
      metadata:
        name: base-{suffix}
      ---
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: settings
        namespace: base-{suffix}
      data:
        revision: "0"
      ---
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: shared
        namespace: base-{suffix}
      """
    And repository "base" also has "placement.yaml"
      """
      apiVersion: placement.kubernetes-fleet.io/v1beta1
      kind: ClusterResourcePlacement
      metadata:
        name: base-{suffix}
      spec:
        resourceSelectors:
          - {group: "", version: v1, kind: Namespace, name: "base-{suffix}"}
        policy:
          placementType: PickFixed
          clusterNames: [member-1]
      """
    And an application "base" of repository "base" for the hub
    When application "base" syncs
    Then the sync of application "base" succeeds
    And placement "base" is on the hub
    And placement "base" becomes available on "member-1"
    Given a repository "web" with "shared.yaml"
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: shared
        namespace: base-{suffix}
      """
    And an application "web" of repository "web" for "member-1" with '{"syncPolicy": {"syncOptions": ["FailOnSharedResource=true"]}}'
    When application "web" syncs
    Then the sync of application "web" fails
    And application "web" reports
      | field                 | value                                                              |
      | phase                 | Failed                                                             |
      | SharedResourceWarning | ConfigMap/shared is part of applications argocd/{web} and {base} |
    And the diagnosis of application "web" is AR-SF-007, because of AR-KF-003
    And the diagnosis of application "web" is AR-KF-003
      | object                          | value                                   |
      | ConfigMap/base-{suffix}/shared  | work-api-agent (Update)                 |
      | ConfigMap/base-{suffix}/shared  | {base}-work                             |
      | ConfigMap/base-{suffix}/shared  | {base}:/ConfigMap:base-{suffix}/shared  |
      | ClusterResourcePlacement/{base} | AllWorkHaveBeenApplied                  |
      | Application/argocd/{web}        | Shared resource found                   |
    When "shared.yaml" is removed from repository "web"
    And repository "web" also has "own.yaml"
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: own
      """
    And application "web" syncs
    Then the sync of application "web" succeeds
    And application "web" is Synced and Healthy
    And application "base" is Synced and Healthy
    And the diagnosis finds nothing

  @AR-KF-001 @AR-SF-007
  Scenario: A sync takes the tracking id, and the member agent takes it back
    Given a repository "base" with "base.yaml"
      """
      apiVersion: v1
      kind: Namespace
      metadata:
        name: base-{suffix}
      ---
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: settings
        namespace: base-{suffix}
      data:
        revision: "0"
      ---
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: shared
        namespace: base-{suffix}
      """
    And repository "base" also has "placement.yaml"
      """
      apiVersion: placement.kubernetes-fleet.io/v1beta1
      kind: ClusterResourcePlacement
      metadata:
        name: base-{suffix}
      spec:
        resourceSelectors:
          - {group: "", version: v1, kind: Namespace, name: "base-{suffix}"}
        policy:
          placementType: PickFixed
          clusterNames: [member-1]
      """
    And an application "base" of repository "base" for the hub
    When application "base" syncs
    Then the sync of application "base" succeeds
    And placement "base" is on the hub
    And placement "base" becomes available on "member-1"
    Given a repository "web" with "shared.yaml"
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: shared
        namespace: base-{suffix}
      """
    And an application "web" of repository "web" for "member-1"
    When application "web" syncs
    Then the sync of application "web" succeeds
    And object "ConfigMap/base-{suffix}/shared" of "member-1" has
      | field                                                                 | value                                  |
      | metadata.annotations.argocd.argoproj.io/tracking-id                   | {base}:/ConfigMap:base-{suffix}/shared |
      | metadata.annotations.kubectl.kubernetes.io/last-applied-configuration | *                                      |
    # The two sources agree in everything but the tracking id.
    When application "web" is refreshed
    Then application "web" reports
      | field                 | value                                                            |
      | sync                  | OutOfSync                                                        |
      | SharedResourceWarning | ConfigMap/shared is part of applications argocd/{web} and {base} |
    And the diagnosis of application "web" is AR-KF-001
      | object                         | value                                                                          |
      | ConfigMap/base-{suffix}/shared | work-api-agent (Update)                                                        |
      | ConfigMap/base-{suffix}/shared | argocd-controller (Update)                                                     |
      | ConfigMap/base-{suffix}/shared | the placement applies {base}:/ConfigMap:base-{suffix}/shared, the application {web}: |
      | Application/argocd/{web}       | OutOfSync                                                                      |
    And the diagnosis of application "web" is AR-SF-007, because of AR-KF-001
    When "shared.yaml" is removed from repository "web"
    And repository "web" also has "own.yaml"
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: own
      """
    And application "web" syncs with "--prune"
    Then the sync of application "web" succeeds
    And application "web" is Synced and Healthy
    And placement "base" becomes available on "member-1"
    And the diagnosis finds nothing

  @AR-KF-004 @KF-AP-005 @disruptive
  Scenario: The member doesn't know what an Application is
    Given a member "east" of its own
    And a placement "apps" selects "east"
    When the resources of placement "apps" also include
      """
      apiVersion: argoproj.io/v1alpha1
      kind: Application
      metadata:
        name: web
      spec:
        project: default
        source: {repoURL: "https://git.example.com/web.git", path: ., targetRevision: main}
        destination: {server: "https://kubernetes.default.svc", namespace: default}
      """
    Then placement "apps" lists as failed
      | on   | object                     | condition | status | reason        | message                           |
      | east | Application web | Applied   | False  | DecodingErred | no matches for kind "Application" |
    And the diagnosis of placement "apps" is KF-AP-005, because of AR-KF-004
    And the diagnosis of placement "apps" is AR-KF-004
      | object                          | value                             |
      | ClusterResourcePlacement/{apps} | NotAllWorkHaveBeenApplied         |
      | ClusterResourcePlacement/{apps} | no matches for kind "Application" |
    When object "Application/{apps}-app/web" of the hub is deleted
    Then placement "apps" becomes available on "east"
    And the diagnosis finds nothing

  @AR-KF-005 @disruptive @takes-120s
  Scenario: The member has Argo CD's definitions and no Argo CD
    Given a member "east" of its own
    And a placement "apps" selects "east"
    When the resources of placement "apps" also include
      """
      apiVersion: argoproj.io/v1alpha1
      kind: Application
      metadata:
        name: web
      spec:
        project: default
        source: {repoURL: "https://git.example.com/web.git", path: ., targetRevision: main}
        destination: {server: "https://kubernetes.default.svc", namespace: default}
      """
    And placement "apps" gets '{"resourceSelectors": [{"group": "", "version": "v1", "kind": "Namespace", "name": "{apps}-app"}, {"group": "apiextensions.k8s.io", "version": "v1", "kind": "CustomResourceDefinition", "name": "applications.argoproj.io"}]}'
    Then placement "apps" becomes available on "east"
    And placement "apps" reports
      | on   | condition | status | reason                            |
      | east | Available | True   | NotAllWorkAreAvailabilityTrackable |
    And within 120 seconds the diagnosis of placement "apps" is AR-KF-005
      | object                          | value                              |
      | Application/{apps}-app/web      | 20                                 |
      | Application/{apps}-app/web      | (absent)                           |
      | ClusterResourcePlacement/{apps} | AllWorkHaveBeenApplied             |
      | ClusterResourcePlacement/{apps} | NotAllWorkAreAvailabilityTrackable |
    When object "Application/{apps}-app/web" of the hub is deleted
    Then object "Application/{apps}-app/web" of "east" is gone
    And placement "apps" becomes available on "east"
    And the diagnosis finds nothing

  @AR-KF-006
  Scenario: Git doesn't have the placement any more
    Given a repository "base" with "base.yaml"
      """
      apiVersion: v1
      kind: Namespace
      metadata:
        name: base-{suffix}
      ---
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: settings
        namespace: base-{suffix}
      data:
        revision: "0"
      """
    And repository "base" also has "placement.yaml"
      """
      apiVersion: placement.kubernetes-fleet.io/v1beta1
      kind: ClusterResourcePlacement
      metadata:
        name: base-{suffix}
      spec:
        resourceSelectors:
          - {group: "", version: v1, kind: Namespace, name: "base-{suffix}"}
        policy:
          placementType: PickFixed
          clusterNames: [member-1]
      """
    And an application "base" of repository "base" for the hub
    When application "base" syncs
    Then the sync of application "base" succeeds
    And placement "base" is on the hub
    And placement "base" becomes available on "member-1"
    And application "base" is Synced and Healthy
    When "placement.yaml" is removed from repository "base"
    And application "base" is refreshed
    Then application "base" reports
      | field | value     |
      | sync  | OutOfSync |
    And the diagnosis of application "base" is AR-KF-006
      | object                          | value                                                              |
      | Application/argocd/{base}       | true                                                               |
      | ClusterResourcePlacement/{base} | {base}:placement.kubernetes-fleet.io/ClusterResourcePlacement:     |
      | ClusterResourcePlacement/{base} | AllWorkAreAvailable                                                |
    # A sync without pruning leaves it, and the danger with it.
    When application "base" syncs
    Then the sync of application "base" succeeds
    And the diagnosis of application "base" is AR-KF-006
    When the last commit of repository "base" is reverted
    And application "base" syncs
    Then the sync of application "base" succeeds
    And application "base" is Synced and Healthy
    And placement "base" becomes available on "member-1"
    And the diagnosis finds nothing

  @AR-KF-006
  Scenario: Pruning on the hub takes an object from the member
    Given a repository "base" with "base.yaml"
      """
      apiVersion: v1
      kind: Namespace
      metadata:
        name: base-{suffix}
      ---
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: settings
        namespace: base-{suffix}
      data:
        revision: "0"
      """
    And repository "base" also has "extra.yaml"
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: extra
        namespace: base-{suffix}
      """
    And repository "base" also has "placement.yaml"
      """
      apiVersion: placement.kubernetes-fleet.io/v1beta1
      kind: ClusterResourcePlacement
      metadata:
        name: base-{suffix}
      spec:
        resourceSelectors:
          - {group: "", version: v1, kind: Namespace, name: "base-{suffix}"}
        policy:
          placementType: PickFixed
          clusterNames: [member-1]
      """
    And an application "base" of repository "base" for the hub
    When application "base" syncs
    Then the sync of application "base" succeeds
    And placement "base" is on the hub
    And placement "base" becomes available on "member-1"
    And object "ConfigMap/base-{suffix}/extra" of "member-1" has
      | field         | value    |
      | metadata.name | extra |
    When "extra.yaml" is removed from repository "base"
    And application "base" is refreshed
    Then the diagnosis of application "base" is AR-KF-006
      | object                          | value               |
      | Application/argocd/{base}       | true                |
      | ConfigMap/base-{suffix}/extra | {base}:/ConfigMap: |
      | ClusterResourcePlacement/{base} | AllWorkAreAvailable |
    When application "base" syncs with "--prune"
    Then the sync of application "base" succeeds
    And object "ConfigMap/base-{suffix}/extra" of "member-1" is gone
    And application "base" is Synced and Healthy
    And placement "base" becomes available on "member-1"
    And the diagnosis finds nothing

  @healthy
  Scenario: Self-heal on the hub takes back a change of the placement
    Given a repository "base" with "base.yaml"
      """
      apiVersion: v1
      kind: Namespace
      metadata:
        name: base-{suffix}
      ---
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: settings
        namespace: base-{suffix}
      data:
        revision: "0"
      """
    And repository "base" also has "placement.yaml"
      """
      apiVersion: placement.kubernetes-fleet.io/v1beta1
      kind: ClusterResourcePlacement
      metadata:
        name: base-{suffix}
      spec:
        resourceSelectors:
          - {group: "", version: v1, kind: Namespace, name: "base-{suffix}"}
        policy:
          placementType: PickFixed
          clusterNames: [member-1]
        revisionHistoryLimit: 5
      """
    And an application "base" of repository "base" for the hub with '{"syncPolicy": {"automated": {"selfHeal": true}}}'
    Then the sync of application "base" succeeds
    And placement "base" is on the hub
    And placement "base" becomes available on "member-1"
    When placement "base" gets '{"revisionHistoryLimit": 7}'
    Then application "base" has
      | field                                                      | value |
      | status.operationState.operation.sync.autoHealAttemptsCount | 1     |
    And placement "base" has
      | field                     | value |
      | spec.revisionHistoryLimit | 5     |
    And application "base" is Synced and Healthy
    And placement "base" becomes available on "member-1"
    And the diagnosis finds nothing
