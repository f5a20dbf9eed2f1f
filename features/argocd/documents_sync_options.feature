@argocd
Feature: What Argo CD's documents say about sync options
  A sync option changes how an object is applied, pruned or deleted. It stands in an annotation of the object, in the Application, or in the
  request of one sync.

  @healthy
  @guide:argocd-sync-options/no-deletion/stays
  Scenario: An object stays when its application is deleted
    Given a repository "web" with "data.yaml"
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: data
        annotations: {argocd.argoproj.io/sync-options: Delete=false}
      """
    And repository "web" also has "settings.yaml"
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: settings
      """
    And an application "web" of repository "web" for "member-1"
    And application "web" syncs
    And application "web" is Synced and Healthy
    When application "web" is deleted with its resources
    Then application "web" is gone
    And "ConfigMap/data" is on "member-1"
    And "ConfigMap/settings" is not on "member-1"
    And the diagnosis finds nothing

  @healthy
  @guide:argocd-sync-options/out-of-sync-only
  Scenario: Only what is out of sync is applied, and the hooks run
    Given a repository "web" with "settings.yaml"
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: settings
      """
    And repository "web" also has "done.yaml"
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: done
        annotations: {argocd.argoproj.io/hook: PostSync}
      """
    And an application "web" of repository "web" for "member-1"
    And application "web" syncs
    And application "web" is Synced and Healthy
    When repository "web" also has "more.yaml"
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: more
      """
    And application "web" syncs
    Then the sync of application "web" succeeds
    And the sync of application "web" reports of its resources
      | resource           | status |
      | ConfigMap/more     | Synced |
      | ConfigMap/settings | Synced |
    When repository "web" also has "again.yaml"
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: again
      """
    And application "web" syncs with "--sync-option ApplyOutOfSyncOnly=true"
    Then the sync of application "web" succeeds
    And the sync of application "web" reports of its resources
      | resource           | status | hook     | phase     |
      | ConfigMap/again    | Synced |          |           |
      | ConfigMap/settings | absent |          |           |
      | ConfigMap/done     |        | PostSync | Succeeded |
    And application "web" is Synced and Healthy
    And the diagnosis finds nothing

  @pods
  @guide:argocd-sync-options/propagation/foreground
  Scenario: A StatefulSet that is pruned waits for its Pods
    Given member "member-1" has pods
    And a repository "web" with "web.yaml"
      """
      apiVersion: apps/v1
      kind: StatefulSet
      metadata:
        name: web
      spec:
        selector:
          matchLabels: {app: web}
        template:
          metadata:
            labels: {app: web}
          spec:
            containers: [{name: web, image: nginx:1.29}]
      """
    And repository "web" also has "settings.yaml"
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: settings
      """
    And an application "web" of repository "web" for "member-1"
    And application "web" syncs
    And application "web" is Synced and Healthy
    And "Pod/web-0" is on "member-1"
    And somebody's finalizer holds "Pod/web-0" on "member-1"
    When "web.yaml" is removed from repository "web"
    And application "web" syncs with "--prune"
    Then object "StatefulSet/{apps}/web" of "member-1" has for 5 seconds
      | field                      | value              |
      | metadata.deletionTimestamp | *                  |
      | metadata.finalizers.0      | foregroundDeletion |
    And object "Pod/{apps}/web-0" of "member-1" has
      | field                      | value |
      | metadata.deletionTimestamp | *     |
    When somebody's finalizer releases "Pod/web-0" on "member-1"
    Then the sync of application "web" succeeds
    And application "web" is Synced and Healthy
    And the diagnosis finds nothing

  @AR-SF-006
  @guide:argocd-sync-options/prune-last/after
  Scenario: Pruning comes last, after everything has become healthy
    Given a repository "web" with "old.yaml"
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: old
        annotations: {argocd.argoproj.io/sync-options: PruneLast=true}
      """
    And an application "web" of repository "web" for "member-1"
    And application "web" syncs
    And application "web" is Synced and Healthy
    When "old.yaml" is removed from repository "web"
    And repository "web" also has "service.yaml"
      """
      apiVersion: v1
      kind: Service
      metadata:
        name: web
      spec:
        type: LoadBalancer
        selector: {app: web}
        ports: [{port: 80}]
      """
    And application "web" syncs with "--prune"
    Then the sync of application "web" still runs after 5 seconds: "waiting for healthy state of /Service/web"
    And "ConfigMap/old" is on "member-1"
    When the sync of application "web" is terminated
    And "service.yaml" of repository "web" is corrected to
      """
      apiVersion: v1
      kind: Service
      metadata:
        name: web
      spec:
        type: ClusterIP
        selector: {app: web}
        ports: [{port: 80}]
      """
    And application "web" syncs with "--prune"
    Then the sync of application "web" succeeds
    And application "web" is Synced and Healthy
    And "ConfigMap/old" is not on "member-1"
    And the diagnosis finds nothing

  @passes:AR-SF-012 @passes:AR-XX-001 @passes:AR-SF-001
  Scenario Outline: An object is too large for an annotation, and <option> applies it
    Given a repository "chart" with "Chart.yaml"
      """
      apiVersion: v2
      name: web
      version: 0.1.0
      """
    And repository "chart" also has "templates/settings.yaml"
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: settings
      data:
        text: {{ repeat 270000 "x" | quote }}
      """
    And an application "web" of repository "chart" for "member-1"
    When application "web" syncs
    Then the sync of application "web" fails
    And the sync of application "web" reports of its resources
      | resource           | status     | phase  | message                        |
      | ConfigMap/settings | SyncFailed | Failed | metadata.annotations: Too long |
    When application "web" syncs with "<flag>"
    Then the sync of application "web" succeeds
    And application "web" is Synced and Healthy
    And the diagnosis finds nothing

    @guide:argocd-sync-options/replace/too-large
    Examples:
      | option  | flag      |
      | Replace | --replace |

    @guide:argocd-sync-options/server-side/too-large
    Examples:
      | option          | flag          |
      | ServerSideApply | --server-side |

  @guide:argocd-sync-options/respect
  Scenario: A sync overwrites what is ignored, unless it is told to respect it
    Given a repository "web" with "settings.yaml"
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: settings
        labels: {colour: blue}
      """
    And an application "web" of repository "web" for "member-1" with '{"ignoreDifferences": [{"kind": "ConfigMap", "jsonPointers": ["/metadata/labels/colour"]}]}'
    When application "web" syncs with "--sync-option RespectIgnoreDifferences=true"
    Then the sync of application "web" succeeds
    And object "ConfigMap/{apps}/settings" of "member-1" has
      | field                  | value |
      | metadata.labels.colour | blue  |
    When the administrator of "member-1" applies
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: settings
        labels: {colour: red}
      """
    And application "web" is refreshed
    And application "web" syncs with "--sync-option RespectIgnoreDifferences=true"
    Then the sync of application "web" succeeds
    And object "ConfigMap/{apps}/settings" of "member-1" has
      | field                  | value |
      | metadata.labels.colour | red   |
    When application "web" syncs
    Then the sync of application "web" succeeds
    And object "ConfigMap/{apps}/settings" of "member-1" has
      | field                  | value |
      | metadata.labels.colour | blue  |
    And application "web" is Synced and Healthy
    And the diagnosis finds nothing

  @healthy
  @guide:argocd-sync-options/namespace/created @guide:argocd-sync-options/namespace/labels @guide:argocd-sync-options/namespace/untracked
  Scenario: A sync creates the namespace, which stays when the application is deleted
    Given a repository "web" with "settings.yaml"
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: settings
      """
    And an application "web" of repository "web" for "member-1" with '{"destination": {"namespace": "shop-{suffix}"}, "syncPolicy": {"syncOptions": ["CreateNamespace=true"], "managedNamespaceMetadata": {"labels": {"any": "label"}}}}'
    When application "web" syncs
    Then the sync of application "web" succeeds
    And application "web" is Synced and Healthy
    And object "Namespace/shop-{suffix}" of "member-1" has
      | field                                               | value  |
      | metadata.labels.any                                 | label  |
      | metadata.annotations.argocd.argoproj.io/tracking-id | absent |
    When application "web" is deleted with its resources
    Then application "web" is gone
    And object "Namespace/shop-{suffix}" of "member-1" has
      | field                      | value  |
      | status.phase               | Active |
      | metadata.deletionTimestamp | absent |
    And the diagnosis finds nothing
    When the administrator of "member-1" deletes "Namespace/shop-{suffix}"
    Then "Namespace/shop-{suffix}" is not on "member-1"

  @guide:argocd-sync-options/namespace/manifest
  Scenario: The namespace's own manifest counts, and not what the application says of it
    Given a repository "web" with "namespace.yaml"
      """
      apiVersion: v1
      kind: Namespace
      metadata:
        name: shop-{suffix}
        annotations: {foo: bar, something: completely-different}
      """
    And an application "web" of repository "web" for "member-1" with '{"destination": {"namespace": "shop-{suffix}"}, "syncPolicy": {"syncOptions": ["CreateNamespace=true"], "managedNamespaceMetadata": {"annotations": {"abc": "123"}}}}'
    When application "web" syncs
    Then the sync of application "web" succeeds
    And object "Namespace/shop-{suffix}" of "member-1" has
      | field                          | value                |
      | metadata.annotations.foo       | bar                  |
      | metadata.annotations.something | completely-different |
      | metadata.annotations.abc       | absent               |
    And application "web" is Synced and Healthy
    When application "web" is deleted with its resources
    Then application "web" is gone
    And the diagnosis finds nothing

  @guide:argocd-sync-options/namespace/option-needed
  Scenario: Without CreateNamespace the labels of the namespace mean nothing
    Given a repository "web" with "settings.yaml"
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: settings
      """
    And an application "web" of repository "web" for "member-1" with '{"syncPolicy": {"managedNamespaceMetadata": {"labels": {"any": "label"}}}}'
    When application "web" syncs
    Then the sync of application "web" succeeds
    And object "Namespace/{apps}" of "member-1" has
      | field               | value  |
      | metadata.labels.any | absent |
    And application "web" is Synced and Healthy
    And the diagnosis finds nothing

  @healthy
  @guide:argocd-sync-options/server-side/partial @drift:argocd-sync-options/server-side/partial-validate
  Scenario: A part of a manifest changes an object that is there
    Given the administrator of "member-1" applies
      """
      apiVersion: apps/v1
      kind: Deployment
      metadata:
        name: web
      spec:
        replicas: 0
        selector:
          matchLabels: {app: web}
        template:
          metadata:
            labels: {app: web}
          spec:
            containers: [{name: web, image: nginx:1.29}]
      """
    And a repository "web" with "deployment.yaml"
      """
      apiVersion: apps/v1
      kind: Deployment
      metadata:
        name: web
      spec:
        revisionHistoryLimit: 3
      """
    And an application "web" of repository "web" for "member-1" with '{"syncPolicy": {"syncOptions": ["ServerSideApply=true"]}}'
    When application "web" syncs with "--server-side"
    Then the sync of application "web" succeeds
    And object "Deployment/{apps}/web" of "member-1" has
      | field                                   | value                  |
      | spec.revisionHistoryLimit               | 3                      |
      | spec.template.spec.containers.0.image   | nginx:1.29 |
    And application "web" is Synced and Healthy
    And the diagnosis finds nothing
