@argocd
Feature: An Application is out of sync, although its last sync succeeded
  Argo CD reports OutOfSync, and no condition and no event says why. The annotation
  kubectl.kubernetes.io/last-applied-configuration of the live object has what Argo CD applied, and
  metadata.managedFields names who has written since. Where nobody did, the cluster itself changes what is applied.

  @AR-OS-004
  Scenario: Somebody changes an object on the member
    Given a repository "web" with "settings.yaml"
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: settings
        labels: {colour: blue}
      """
    And an application "web" of repository "web" for "member-1"
    When application "web" syncs
    Then the sync of application "web" succeeds
    And application "web" is Synced and Healthy
    When the administrator of "member-1" applies
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: settings
        labels: {colour: red}
      """
    And application "web" is refreshed
    Then application "web" reports
      | field | value     |
      | sync  | OutOfSync |
      | phase | Succeeded |
    And the diagnosis of application "web" is AR-OS-004
      | object                    | value                |
      | Application/argocd/{web}  | Succeeded            |
      | ConfigMap/{apps}/settings | red (applied: blue)  |
      | ConfigMap/{apps}/settings | fleetdrill (Apply)   |
    When application "web" syncs
    Then the sync of application "web" succeeds
    And application "web" is Synced and Healthy
    And the diagnosis finds nothing

  @AR-OS-004
  Scenario: What the Application ignores isn't what differs
    Given a repository "web" with "settings.yaml"
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: settings
        labels: {colour: blue}
      """
    And an application "web" of repository "web" for "member-1" with '{"ignoreDifferences": [{"kind": "ConfigMap", "jsonPointers": ["/metadata/labels/color"]}]}'
    When application "web" syncs
    Then the sync of application "web" succeeds
    And application "web" is Synced and Healthy
    When the administrator of "member-1" applies
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: settings
        labels: {colour: red}
      """
    And application "web" is refreshed
    Then application "web" reports
      | field | value     |
      | sync  | OutOfSync |
      | phase | Succeeded |
    And the diagnosis of application "web" is AR-OS-004
      | object                    | value               |
      | ConfigMap/{apps}/settings | red (applied: blue) |
      | Application/argocd/{web}  | /metadata/labels/color         |
    When application "web" gets '{"ignoreDifferences": [{"kind": "ConfigMap", "jsonPointers": ["/metadata/labels/colour"]}]}'
    And application "web" is refreshed
    Then application "web" is Synced and Healthy
    And the diagnosis finds nothing

  @healthy
  @guide:argocd-diffing/application/pointer
  Scenario: The Application ignores what somebody changes
    Given a repository "web" with "settings.yaml"
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: settings
        labels: {colour: blue}
      """
    And an application "web" of repository "web" for "member-1" with '{"ignoreDifferences": [{"kind": "ConfigMap", "jsonPointers": ["/metadata/labels/colour"]}]}'
    When application "web" syncs
    Then the sync of application "web" succeeds
    When the administrator of "member-1" applies
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: settings
        labels: {colour: red}
      """
    And application "web" is refreshed
    Then application "web" is Synced and Healthy
    And the diagnosis finds nothing

  @AR-OS-002
  @guide:argocd-diffing/reasons/unknown-fields
  Scenario: The schema of a custom resource doesn't have a field
    Given the administrator of "member-2" applies
      """
      apiVersion: apiextensions.k8s.io/v1
      kind: CustomResourceDefinition
      metadata:
        name: widgets.example-{suffix}.io
      spec:
        group: example-{suffix}.io
        scope: Namespaced
        names: {kind: Widget, plural: widgets, singular: widget, listKind: WidgetList}
        versions:
          - name: v1
            served: true
            storage: true
            schema:
              openAPIV3Schema:
                type: object
                properties:
                  spec:
                    type: object
                    properties:
                      colour: {type: string}
      """
    And a repository "web" with "widget.yaml"
      """
      apiVersion: example-{suffix}.io/v1
      kind: Widget
      metadata:
        name: blue
      spec:
        color: blue
      """
    And an application "web" of repository "web" for "member-2"
    When application "web" syncs
    Then the sync of application "web" succeeds
    When application "web" is refreshed
    Then application "web" reports
      | field | value     |
      | sync  | OutOfSync |
      | phase | Succeeded |
    And the diagnosis of application "web" is AR-OS-002
      | object             | value                    |
      | Widget/{apps}/blue | (absent) (applied: blue) |
    When "widget.yaml" of repository "web" is corrected to
      """
      apiVersion: example-{suffix}.io/v1
      kind: Widget
      metadata:
        name: blue
      spec:
        colour: blue
      """
    And application "web" syncs
    Then the sync of application "web" succeeds
    And application "web" is Synced and Healthy
    And the diagnosis finds nothing

  @AR-OS-003 @pods
  @guide:argocd-diffing/application/replicas
  Scenario: An autoscaler sets the number of replicas
    Given member "member-1" has pods
    And a repository "web" with "web.yaml"
      """
      apiVersion: apps/v1
      kind: Deployment
      metadata:
        name: web
      spec:
        replicas: 1
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
    When application "web" syncs
    Then the sync of application "web" succeeds
    And application "web" is Synced and Healthy
    # Without metrics, an autoscaler still sees to it that there are minReplicas.
    When the administrator of "member-1" applies
      """
      apiVersion: autoscaling/v2
      kind: HorizontalPodAutoscaler
      metadata:
        name: web
      spec:
        scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
        minReplicas: 2
        maxReplicas: 4
      """
    Then object "Deployment/{apps}/web" of "member-1" has
      | field         | value |
      | spec.replicas | 2     |
    When application "web" is refreshed
    Then application "web" reports
      | field | value     |
      | sync  | OutOfSync |
      | phase | Succeeded |
    And the diagnosis of application "web" is AR-OS-003
      | object                | value                                   |
      | Deployment/{apps}/web | 2 (applied: 1)                          |
      | Deployment/{apps}/web | kube-controller-manager (Update, scale) |
    When application "web" gets '{"ignoreDifferences": [{"group": "apps", "kind": "Deployment", "jsonPointers": ["/spec/replicas"]}], "syncPolicy": {"syncOptions": ["RespectIgnoreDifferences=true"]}}'
    And application "web" is refreshed
    Then application "web" is Synced and Healthy
    And the diagnosis finds nothing

  @healthy
  Scenario: The schema of a custom resource has defaults within a list
    Given the administrator of "member-2" applies
      """
      apiVersion: apiextensions.k8s.io/v1
      kind: CustomResourceDefinition
      metadata:
        name: gates.example-{suffix}.io
      spec:
        group: example-{suffix}.io
        scope: Namespaced
        names: {kind: Gate, plural: gates, singular: gate, listKind: GateList}
        versions:
          - name: v1
            served: true
            storage: true
            schema:
              openAPIV3Schema:
                type: object
                properties:
                  spec:
                    type: object
                    properties:
                      ports:
                        type: array
                        items:
                          type: object
                          properties:
                            port: {type: integer}
                            protocol: {type: string, default: TCP}
      """
    And a repository "web" with "gate.yaml"
      """
      apiVersion: example-{suffix}.io/v1
      kind: Gate
      metadata:
        name: north
      spec:
        ports: [{port: 80}]
      """
    And an application "web" of repository "web" for "member-2"
    When application "web" syncs
    Then the sync of application "web" succeeds
    And application "web" is Synced and Healthy
    When application "web" is refreshed
    Then application "web" is Synced and Healthy
    And the diagnosis finds nothing

  @AR-OS-001
  @guide:argocd-diffing/reasons/mutation @guide:argocd-diagnosing/axes/any-field
  Scenario: An admission policy changes what is applied
    Given a repository "web" with "settings.yaml"
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: settings
        labels: {owner: web}
      """
    And an application "web" of repository "web" for "member-1"
    # The policy gives a ConfigMap `probe` a label that no object can have, which shows when the policy counts.
    And the administrator of "member-1" applies
      """
      apiVersion: admissionregistration.k8s.io/v1
      kind: MutatingAdmissionPolicy
      metadata:
        name: owner-{suffix}
      spec:
        failurePolicy: Fail
        reinvocationPolicy: Never
        matchConstraints:
          resourceRules:
            - apiGroups: [""]
              apiVersions: [v1]
              operations: [CREATE, UPDATE]
              resources: [configmaps]
        mutations:
          - patchType: ApplyConfiguration
            applyConfiguration:
              expression: >-
                Object{metadata: Object.metadata{labels: {"owner": object.metadata.name == "probe" ? "no label!" : "platform"}}}
      ---
      apiVersion: admissionregistration.k8s.io/v1
      kind: MutatingAdmissionPolicyBinding
      metadata:
        name: owner-{suffix}
      spec:
        policyName: owner-{suffix}
        matchResources:
          namespaceSelector:
            matchLabels: {kubernetes.io/metadata.name: "{apps}"}
      """
    And "member-1" refuses with "no label!" to create
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: probe
      """
    When application "web" syncs
    Then the sync of application "web" succeeds
    When application "web" is refreshed
    Then application "web" reports
      | field | value     |
      | sync  | OutOfSync |
      | phase | Succeeded |
    And the diagnosis of application "web" is AR-OS-001
      | object                    | value                   |
      | ConfigMap/{apps}/settings | platform (applied: web) |
    When "settings.yaml" of repository "web" is corrected to
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: settings
        labels: {owner: platform}
      """
    And application "web" syncs
    Then the sync of application "web" succeeds
    And application "web" is Synced and Healthy
    And the diagnosis finds nothing

  @AR-OS-006
  Scenario: Self-heal fights with an admission policy
    Given a repository "web" with "settings.yaml"
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: settings
      """
    And an application "web" of repository "web" for "member-1" with '{"syncPolicy": {"automated": {"selfHeal": true}}}'
    And application "web" is Synced and Healthy
    And the administrator of "member-1" applies
      """
      apiVersion: admissionregistration.k8s.io/v1
      kind: MutatingAdmissionPolicy
      metadata:
        name: fight-{suffix}
      spec:
        failurePolicy: Fail
        reinvocationPolicy: Never
        matchConstraints:
          resourceRules:
            - apiGroups: [""]
              apiVersions: [v1]
              operations: [CREATE, UPDATE]
              resources: [configmaps]
        mutations:
          - patchType: ApplyConfiguration
            applyConfiguration:
              expression: >-
                Object{metadata: Object.metadata{labels: {"owner": object.metadata.name == "probe" ? "no label!" : "platform"}}}
      ---
      apiVersion: admissionregistration.k8s.io/v1
      kind: MutatingAdmissionPolicyBinding
      metadata:
        name: fight-{suffix}
      spec:
        policyName: fight-{suffix}
        matchResources:
          namespaceSelector:
            matchLabels: {kubernetes.io/metadata.name: "{apps}"}
      """
    And "member-1" refuses with "no label!" to create
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: probe
      """
    When "settings.yaml" of repository "web" becomes
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: settings
        labels: {owner: web}
      """
    And application "web" is refreshed
    Then the diagnosis of application "web" is AR-OS-006
      | object                    | value                   |
      | ConfigMap/{apps}/settings | platform (applied: web) |
    When "settings.yaml" of repository "web" is corrected to
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: settings
        labels: {owner: platform}
      """
    And application "web" is refreshed
    Then application "web" is Synced and Healthy
    And the diagnosis finds nothing

  @AR-OS-006 @pods @takes-60s
  Scenario: Self-heal fights with an autoscaler
    Given member "member-1" has pods
    And a repository "web" with "web.yaml"
      """
      apiVersion: apps/v1
      kind: Deployment
      metadata:
        name: web
      spec:
        replicas: 1
        selector:
          matchLabels: {app: web}
        template:
          metadata:
            labels: {app: web}
          spec:
            containers:
              - {name: web, image: nginx:1.29}
      """
    And an application "web" of repository "web" for "member-1" with '{"syncPolicy": {"automated": {"selfHeal": true}}}'
    And application "web" is Synced and Healthy
    # Without metrics, an autoscaler still sees to it that there are minReplicas.
    When the administrator of "member-1" applies
      """
      apiVersion: autoscaling/v2
      kind: HorizontalPodAutoscaler
      metadata:
        name: web
      spec:
        scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
        minReplicas: 2
        maxReplicas: 4
      """
    Then within 200 seconds the diagnosis of application "web" is AR-OS-006
      | object                   | value                                   |
      | Application/argocd/{web} | Succeeded                               |
      | Application/argocd/{web} |                                         |
      | Deployment/{apps}/web    | 2 (applied: 1)                          |
      | Deployment/{apps}/web    | kube-controller-manager (Update, scale) |
    When application "web" gets '{"ignoreDifferences": [{"group": "apps", "kind": "Deployment", "jsonPointers": ["/spec/replicas"]}], "syncPolicy": {"syncOptions": ["RespectIgnoreDifferences=true"]}}'
    And application "web" is refreshed
    Then application "web" is Synced and Healthy
    And object "Deployment/{apps}/web" of "member-1" has
      | field         | value |
      | spec.replicas | 2     |
    And the diagnosis finds nothing
