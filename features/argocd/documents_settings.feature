@argocd @disruptive
Feature: What Argo CD's documents say about its settings
  ConfigMap argocd-cm has settings for all Applications. Argo CD takes up a change by itself.

  @AR-OS-004 @passes:AR-OS-001 @passes:AR-OS-002 @takes-90s
  @guide:argocd-diffing/system
  Scenario: Settings say what is ignored in all applications
    Given a fleet of its own with 1 member and Argo CD
    And a repository "web" with "settings.yaml"
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: settings
        labels: {colour: blue}
      """
    And repository "web" also has "deployment.yaml"
      """
      apiVersion: apps/v1
      kind: Deployment
      metadata:
        name: web
        labels: {colour: blue}
      spec:
        replicas: 0
        selector:
          matchLabels: {app: web}
        template:
          metadata:
            labels: {app: web}
          spec:
            containers:
              - {name: web, image: nginx:1.29}
      status:
        replicas: 3
      """
    And repository "web" also has "service.yaml"
      """
      apiVersion: v1
      kind: Service
      metadata:
        name: web
        labels: {colour: blue}
      spec:
        selector: {app: web}
        ports: [{port: 80}]
      """
    And an application "web" of repository "web" for "member-1"
    And application "web" syncs
    And application "web" is Synced and Healthy
    When the administrator of "member-1" applies
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: settings
        labels: {colour: red}
      ---
      apiVersion: apps/v1
      kind: Deployment
      metadata:
        name: web
        labels: {colour: red}
      ---
      apiVersion: v1
      kind: Service
      metadata:
        name: web
        labels: {colour: red}
      """
    And application "web" is refreshed
    Then application "web" lists its resources
      | resource           | status    |
      | ConfigMap/settings | OutOfSync |
      | Deployment/web     | OutOfSync |
      | Service/web        | OutOfSync |
    And the diagnosis of application "web" is AR-OS-004
    When the setting "resource.customizations.ignoreDifferences.ConfigMap" of Argo CD is "{jsonPointers: [/metadata/labels/colour]}"
    And application "web" is refreshed
    Then application "web" lists its resources
      | resource           | status    |
      | ConfigMap/settings | Synced    |
      | Deployment/web     | OutOfSync |
      | Service/web        | OutOfSync |
    When the setting "resource.customizations.ignoreDifferences.apps_Deployment" of Argo CD is "{managedFieldsManagers: [fleetdrill]}"
    And application "web" is refreshed
    Then application "web" lists its resources
      | resource           | status    |
      | Deployment/web     | Synced    |
      | Service/web        | OutOfSync |
    When the setting "resource.customizations.ignoreDifferences.all" of Argo CD is "{jsonPointers: [/metadata/labels/colour]}"
    And application "web" is refreshed
    Then application "web" is Synced and Healthy
    # The rules of an aggregated role are those of others.
    When repository "web" also has "role.yaml"
      """
      apiVersion: rbac.authorization.k8s.io/v1
      kind: ClusterRole
      metadata:
        name: all-{suffix}
      aggregationRule:
        clusterRoleSelectors:
          - matchLabels: {part-of: all-{suffix}}
      rules: []
      ---
      apiVersion: rbac.authorization.k8s.io/v1
      kind: ClusterRole
      metadata:
        name: part-{suffix}
        labels: {part-of: all-{suffix}}
      rules:
        - {apiGroups: [""], resources: [configmaps], verbs: [get]}
      """
    And application "web" syncs
    Then the sync of application "web" succeeds
    # As the controller of aggregated roles does, which fleets of processes don't have.
    When the administrator of "member-1" applies
      """
      apiVersion: rbac.authorization.k8s.io/v1
      kind: ClusterRole
      metadata:
        name: all-{suffix}
      rules:
        - {apiGroups: [""], resources: [configmaps], verbs: [get]}
      """
    And application "web" is refreshed
    Then application "web" lists its resources
      | resource                  | status    |
      | ClusterRole/all-{suffix}  | OutOfSync |
      | ClusterRole/part-{suffix} | Synced    |
    When the setting "resource.compareoptions" of Argo CD is "{ignoreAggregatedRoles: true}"
    And application "web" is refreshed
    Then application "web" is Synced and Healthy
    When the setting "resource.compareoptions" of Argo CD is "{ignoreAggregatedRoles: true, ignoreResourceStatusField: none}"
    And application "web" is refreshed
    Then application "web" lists its resources
      | resource                 | status    |
      | ClusterRole/all-{suffix} | Synced    |
      | Deployment/web           | OutOfSync |
    When the setting "resource.compareoptions" of Argo CD is "{ignoreAggregatedRoles: true, ignoreResourceStatusField: all}"
    And application "web" is refreshed
    Then application "web" is Synced and Healthy
    And the diagnosis finds nothing

  @takes-90s @passes:AR-SF-001 @passes:AR-SF-003 @passes:AR-SF-012
  @guide:argocd-health/custom @guide:argocd-faq/progressing/sealed-secret @guide:argocd-faq/progressing/sealed-secret-check
  Scenario: Settings say what is healthy
    Given a fleet of its own with 1 member and Argo CD
    And a repository "web" with "definition.yaml"
      """
      apiVersion: apiextensions.k8s.io/v1
      kind: CustomResourceDefinition
      metadata:
        name: sealedsecrets.bitnami.com
      spec:
        group: bitnami.com
        names: {kind: SealedSecret, plural: sealedsecrets}
        scope: Namespaced
        versions:
          - name: v1alpha1
            served: true
            storage: true
            schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
      """
    And repository "web" also has "secret.yaml"
      """
      apiVersion: bitnami.com/v1alpha1
      kind: SealedSecret
      metadata:
        name: password
      """
    And repository "web" also has "settings.yaml"
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: settings
      """
    And repository "web" also has "role.yaml"
      """
      apiVersion: rbac.authorization.k8s.io/v1
      kind: Role
      metadata:
        name: web
      rules: []
      """
    And an application "web" of repository "web" for "member-1"
    When application "web" syncs with "--retry-limit=3"
    Then the sync of application "web" succeeds
    And application "web" reports
      | field  | value       |
      | health | Progressing |
    When the setting "resource.customizations.health.bitnami.com_SealedSecret" of Argo CD is "hs = {}; hs.status = 'Healthy'; return hs"
    And application "web" is refreshed
    Then application "web" is Synced and Healthy
    # A key of a ConfigMap can't have a star; the text of this one can.
    When the setting "resource.customizations" of Argo CD is '{"*.k8s.io/*": {"health.lua": "hs = {}; hs.status = [[Degraded]]; return hs"}}'
    And application "web" is refreshed
    Then application "web" reports
      | field  | value    |
      | health | Degraded |
    When the setting "resource.customizations" of Argo CD is '{"rbac.authorization.k8s.io/*": {"health.lua": "hs = {}; hs.status = [[Healthy]]; return hs"}}'
    And application "web" is refreshed
    Then application "web" is Synced and Healthy
    When the setting "resource.customizations.health.ConfigMap" of Argo CD is "hs = {}; hs.status = 'Healthy'; hs.message = os.getenv('HOME'); return hs"
    And application "web" is refreshed
    Then application "web" reports
      | field           | value                    |
      | health          | Unknown                  |
      | ComparisonError | error setting app health |
    When the setting "resource.customizations.useOpenLibs.ConfigMap" of Argo CD is "true"
    And application "web" is refreshed
    Then application "web" is Synced and Healthy
    And the diagnosis finds nothing
