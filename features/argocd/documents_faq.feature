@argocd
Feature: What Argo CD's FAQ says
  Questions of the FAQ that are about failures, each with the failure and with what the FAQ advises.

  @healthy
  @drift:argocd-faq/instance-label/conflict @drift:argocd-faq/instance-label/tracking
  Scenario: A kustomization sets the label by which Argo CD once told what it owns
    Given a repository "web" with "kustomization.yaml"
      """
      resources: [settings.yaml]
      labels:
        - pairs: {app.kubernetes.io/instance: shop}
      """
    And repository "web" also has "settings.yaml"
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: settings
      """
    And an application "web" of repository "web" for "member-1"
    When application "web" syncs
    Then the sync of application "web" succeeds
    And application "web" is Synced and Healthy
    And object "ConfigMap/{apps}/settings" of "member-1" has
      | field                                            | value                                  |
      | metadata.labels.app.kubernetes.io/instance       | shop                                   |
      | metadata.annotations.argocd.argoproj.io/tracking-id | {web}:/ConfigMap:{apps}/settings    |
    And the diagnosis finds nothing

  @disruptive
  @guide:argocd-faq/instance-label/key @guide:argocd-faq/instance-label/sync-again
  Scenario: Argo CD tracks by label, and gets another label for it
    Given a fleet of its own with 1 member and Argo CD
    And the setting "application.resourceTrackingMethod" of Argo CD is "label"
    And a repository "web" with "settings.yaml"
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: settings
      """
    And an application "web" of repository "web" for "member-1"
    When application "web" syncs
    Then the sync of application "web" succeeds
    And application "web" is Synced and Healthy
    And object "ConfigMap/{apps}/settings" of "member-1" has
      | field                                      | value |
      | metadata.labels.app.kubernetes.io/instance | {web} |
    When the setting "application.instanceLabelKey" of Argo CD is "argocd.argoproj.io/instance"
    And application "web" is hard-refreshed
    Then application "web" reports
      | field | value     |
      | sync  | OutOfSync |
    When application "web" syncs
    Then the sync of application "web" succeeds
    And application "web" is Synced and Healthy
    And object "ConfigMap/{apps}/settings" of "member-1" has
      | field                                       | value |
      | metadata.labels.argocd.argoproj.io/instance | {web} |
    And the diagnosis finds nothing

  @healthy
  @drift:argocd-faq/normalized/built-in
  Scenario: Kubernetes writes quantities in another way, and a Deployment stays in sync
    Given a repository "web" with "deployment.yaml"
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
            containers:
              - name: web
                image: nginx:1.29
                resources:
                  limits: {cpu: "1000m", memory: 3072Mi, ephemeral-storage: 3072}
                  requests: {cpu: "0.1"}
      """
    And an application "web" of repository "web" for "member-1"
    When application "web" syncs
    Then the sync of application "web" succeeds
    And object "Deployment/{apps}/web" of "member-1" has
      | field                                                          | value |
      | spec.template.spec.containers.0.resources.limits.cpu           | 1     |
      | spec.template.spec.containers.0.resources.limits.memory        | 3Gi   |
      | spec.template.spec.containers.0.resources.requests.cpu         | 100m  |
    When application "web" is refreshed
    Then application "web" is Synced and Healthy
    And the diagnosis finds nothing

  @disruptive @AR-OS-004
  @guide:argocd-faq/normalized/fix @guide:argocd-diffing/known-types/false-positive @guide:argocd-diffing/known-types/setting
  Scenario: The controller of a custom resource writes a quantity in another way
    Given a fleet of its own with 1 member and Argo CD
    And a repository "definition" with "rollout.yaml"
      """
      apiVersion: apiextensions.k8s.io/v1
      kind: CustomResourceDefinition
      metadata:
        name: rollouts.example.io
      spec:
        group: example.io
        names: {kind: Rollout, plural: rollouts}
        scope: Namespaced
        versions:
          - name: v1
            served: true
            storage: true
            schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
      """
    And an application "definition" of repository "definition" for "member-1"
    And application "definition" syncs
    And application "definition" is refreshed until it is well
    And a repository "web" with "rollout.yaml"
      """
      apiVersion: example.io/v1
      kind: Rollout
      metadata:
        name: web
      spec:
        template:
          spec:
            containers:
              - name: web
                image: nginx:1.29
                resources:
                  requests: {cpu: 100m}
      """
    And an application "web" of repository "web" for "member-1"
    And application "web" syncs
    And the sync of application "web" succeeds
    And application "web" is refreshed until it is well
    When the administrator of "member-1" applies
      """
      apiVersion: example.io/v1
      kind: Rollout
      metadata:
        name: web
      spec:
        template:
          spec:
            containers:
              - name: web
                image: nginx:1.29
                resources:
                  requests: {cpu: "0.1"}
      """
    And application "web" is refreshed
    Then application "web" reports
      | field | value     |
      | sync  | OutOfSync |
    And the diagnosis of application "web" is AR-OS-004
    When the setting "resource.customizations.knownTypeFields.example.io_Rollout" of Argo CD is "[{field: spec.template.spec, type: core/v1/PodSpec}]"
    And application "web" is refreshed
    Then application "web" is Synced and Healthy
    And the diagnosis finds nothing

  @AR-SF-012
  @guide:argocd-faq/patch-list
  Scenario: An environment variable is there twice
    Given a repository "web" with "deployment.yaml"
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
            containers:
              - name: web
                image: nginx:1.29
                env:
                  - {name: KEY_BC, value: "150"}
                  - {name: KEY_BD, value: "250"}
      """
    And an application "web" of repository "web" for "member-1"
    And application "web" syncs
    And application "web" is Synced and Healthy
    When "deployment.yaml" of repository "web" becomes
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
            containers:
              - name: web
                image: nginx:1.29
                env:
                  - {name: KEY_BC, value: "150"}
                  - {name: KEY_BD, value: "250"}
                  - {name: KEY_BI, value: "1"}
                  - {name: KEY_BC, value: "500"}
                  - {name: KEY_BD, value: "500"}
      """
    And application "web" is refreshed
    Then application "web" reports
      | field           | value                         |
      | ComparisonError | The order in patch list:      |
      | ComparisonError | doesn't match $setElementOrder list: |
    And the diagnosis of application "web" is AR-SF-012
    When "deployment.yaml" of repository "web" is corrected to
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
            containers:
              - name: web
                image: nginx:1.29
                env:
                  - {name: KEY_BC, value: "500"}
                  - {name: KEY_BD, value: "500"}
                  - {name: KEY_BI, value: "1"}
      """
    And application "web" syncs
    Then the sync of application "web" succeeds
    And application "web" is Synced and Healthy
    And the diagnosis finds nothing

  @AR-OS-007 @passes:AR-OS-002
  @guide:argocd-faq/schema/condition @guide:argocd-faq/schema/server-side @drift:argocd-faq/schema/managers
  @drift:argocd-sync-options/validate/needed
  Scenario: A field isn't declared in the schema
    Given a repository "web" with "deployment.yaml"
      """
      apiVersion: apps/v1
      kind: Deployment
      metadata:
        name: web
      spec:
        replicas: 0
        colour: blue
        selector:
          matchLabels: {app: web}
        template:
          metadata:
            labels: {app: web}
          spec:
            containers:
              - {name: web, image: nginx:1.29}
      """
    And an application "web" of repository "web" for "member-1"
    And application "web" syncs
    And the sync of application "web" succeeds
    Then application "web" reports
      | field  | value     |
      | sync   | OutOfSync |
      | phase  | Succeeded |
      | health | Healthy   |
    When application "web" gets '{"syncPolicy": {"syncOptions": ["ServerSideApply=true"]}}'
    # A comparison after one that failed may take the differences from a cache, which has none, and be Synced (v3.2.11, v3.5.7). The
    # Deployment is Healthy before, so that no change of it causes one.
    And application "web" is hard-refreshed
    Then application "web" reports
      | field           | value                        |
      | sync            | Unknown                      |
      | ComparisonError | field not declared in schema |
    And the diagnosis of application "web" is AR-OS-007
      | object                   | value                |
      | Application/argocd/{web} | ServerSideApply=true |
      | Deployment/{apps}/web    | (absent)             |
    When application "web" gets '{"syncPolicy": null}'
    And application "web" is hard-refreshed
    Then application "web" reports
      | field           | value     |
      | sync            | OutOfSync |
      | ComparisonError | absent    |
    # The rule is left out of the comparison, and the controller's log alone says so.
    When application "web" gets '{"ignoreDifferences": [{"group": "*", "kind": "*", "managedFieldsManagers": ["argocd-controller"]}]}'
    And application "web" is refreshed
    Then application "web" reports
      | field           | value     |
      | sync            | OutOfSync |
      | ComparisonError | absent    |
    When "deployment.yaml" of repository "web" is corrected to
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
            containers:
              - {name: web, image: nginx:1.29}
      """
    And application "web" syncs
    Then the sync of application "web" succeeds
    And application "web" is Synced and Healthy
    And the diagnosis finds nothing
