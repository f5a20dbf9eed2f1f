@argocd @AR-SF-004
Feature: A sync fails because the cluster's admission refuses an object
  A policy or a webhook of the destination refuses the object when it is applied, and Argo CD quotes the refusal. The
  other objects of the same wave are applied.

  Background:
    Given a repository "web" with "settings.yaml"
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: settings
      """
    And repository "web" also has "service.yaml"
      """
      apiVersion: v1
      kind: Service
      metadata:
        name: web
      spec:
        clusterIP: None
        ports: [{port: 80}]
      """
    And an application "web" of repository "web" for "member-1"

  @guide:argocd-sync-failed/admission/names-policy @guide:argocd-sync-failed/admission/comply @drift:argocd-sync-failed/admission/validate-false
  Scenario: A ValidatingAdmissionPolicy denies it
    Given the administrator of "member-1" applies
      """
      apiVersion: admissionregistration.k8s.io/v1
      kind: ValidatingAdmissionPolicy
      metadata:
        name: owner-{suffix}
      spec:
        failurePolicy: Fail
        matchConstraints:
          resourceRules:
            - apiGroups: [""]
              apiVersions: [v1]
              operations: [CREATE, UPDATE]
              resources: [configmaps]
        validations:
          - expression: has(object.metadata.labels) && 'owner' in object.metadata.labels
            message: each ConfigMap needs the label owner
      ---
      apiVersion: admissionregistration.k8s.io/v1
      kind: ValidatingAdmissionPolicyBinding
      metadata:
        name: owner-{suffix}
      spec:
        policyName: owner-{suffix}
        validationActions: [Deny]
        matchResources:
          namespaceSelector:
            matchLabels: {kubernetes.io/metadata.name: "{apps}"}
      """
    And "member-1" refuses with "each ConfigMap needs the label owner" to create
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: settings
      """
    # The dry run happens in the client and doesn't ask the API server.
    When application "web" syncs with "--dry-run"
    Then the sync of application "web" succeeds
    When application "web" syncs
    Then the sync of application "web" fails
    And application "web" reports
      | field   | value                                                                                                        |
      | sync    | OutOfSync                                                                                                    |
      | phase   | Failed                                                                                                       |
      | message | ValidatingAdmissionPolicy 'owner-{suffix}' with binding 'owner-{suffix}' denied request: each ConfigMap needs the label owner |
    And the sync of application "web" reports of its resources
      | resource           | status     | phase  | message                                                     |
      | ConfigMap/settings | SyncFailed | Failed | configmaps "settings" is forbidden: ValidatingAdmissionPolicy |
      | Service/web        | Synced     |         |                                                             |
    And "Service/web" is on "member-1"
    And the diagnosis of application "web" is AR-SF-004
      | object                                          | value                                |
      | Application/argocd/{web}                        | each ConfigMap needs the label owner |
      | ValidatingAdmissionPolicy/owner-{suffix}        | has(object.metadata.labels)          |
      | ValidatingAdmissionPolicyBinding/owner-{suffix} | Deny                                 |
    When application "web" syncs with "--sync-option Validate=false"
    Then the sync of application "web" fails
    And the diagnosis of application "web" is AR-SF-004
    When "settings.yaml" of repository "web" is corrected to
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: settings
        labels: {owner: shop}
      """
    And application "web" syncs
    Then the sync of application "web" succeeds
    And application "web" is Synced and Healthy
    And the diagnosis finds nothing

  @guide:argocd-sync-failed/admission/denied @guide:argocd-sync-failed/admission/names-policy @guide:argocd-sync-failed/admission/comply @guide:argocd-sync-failed/diagnose/admission
  Scenario: A webhook denies it, and the manifest is brought into compliance
    Given an admission webhook "owner" on "member-1" denies "configmaps" without the label "owner": "each ConfigMap needs the label owner"
    And "member-1" refuses with "each ConfigMap needs the label owner" to create
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: settings
      """
    When application "web" syncs
    Then the sync of application "web" fails
    And application "web" reports
      | field   | value                                                                                                     |
      | sync    | OutOfSync                                                                                                 |
      | phase   | Failed                                                                                                    |
      | message | admission webhook "{owner}.example.com" denied the request: each ConfigMap needs the label owner          |
    And the sync of application "web" reports of its resources
      | resource           | status     | phase   | message                                                                                          |
      | ConfigMap/settings | SyncFailed | Failed  | admission webhook "{owner}.example.com" denied the request: each ConfigMap needs the label owner |
      | Service/web        | Synced     |         |                                                                                                  |
    And "Service/web" is on "member-1"
    And the diagnosis of application "web" is AR-SF-004
      | object                                 | value                                |
      | Application/argocd/{web}               | each ConfigMap needs the label owner |
      | ValidatingWebhookConfiguration/{owner} | Fail                                 |
      | ValidatingWebhookConfiguration/{owner} | https://127.0.0.1:                   |
    When "settings.yaml" of repository "web" is corrected to
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: settings
        labels: {owner: shop}
      """
    And application "web" syncs
    Then the sync of application "web" succeeds
    And application "web" is Synced and Healthy
    And the diagnosis finds nothing

  @guide:argocd-sync-failed/admission/denied @guide:argocd-sync-failed/admission/fix-policy
  Scenario: A webhook denies it, and its rule is relaxed
    Given an admission webhook "owner" on "member-1" denies "configmaps" without the label "owner": "each ConfigMap needs the label owner"
    And "member-1" refuses with "each ConfigMap needs the label owner" to create
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: settings
      """
    When application "web" syncs
    Then the sync of application "web" fails
    And the sync of application "web" reports of its resources
      | resource           | status     | phase  | message                                                                                          |
      | ConfigMap/settings | SyncFailed | Failed | admission webhook "{owner}.example.com" denied the request: each ConfigMap needs the label owner |
    And the diagnosis of application "web" is AR-SF-004
    When the rule of admission webhook "owner" is relaxed to a warning
    And application "web" syncs
    Then the sync of application "web" succeeds
    And application "web" is Synced and Healthy
    And "ConfigMap/settings" is on "member-1"
    And the diagnosis finds nothing

  Scenario: A webhook is down, and fails closed
    Given the administrator of "member-1" applies
      """
      apiVersion: admissionregistration.k8s.io/v1
      kind: ValidatingWebhookConfiguration
      metadata:
        name: owner-{suffix}
      webhooks:
        - name: owner.example.com
          admissionReviewVersions: [v1]
          sideEffects: None
          failurePolicy: Fail
          timeoutSeconds: 2
          clientConfig: {url: "https://127.0.0.1:1/validate"}
          namespaceSelector:
            matchLabels: {kubernetes.io/metadata.name: "{apps}"}
          rules:
            - apiGroups: [""]
              apiVersions: [v1]
              operations: [CREATE, UPDATE]
              resources: [configmaps]
      """
    And "member-1" refuses with "failed calling webhook" to create
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: settings
      """
    When application "web" syncs
    Then the sync of application "web" fails
    And application "web" reports
      | field   | value                                                                |
      | phase   | Failed                                                               |
      | message | failed calling webhook "owner.example.com": failed to call webhook   |
    And the sync of application "web" reports of its resources
      | resource           | status     | phase  | message            |
      | ConfigMap/settings | SyncFailed | Failed | connection refused |
    And the diagnosis of application "web" is AR-SF-004
      | object                                        | value                        |
      | Application/argocd/{web}                      | connection refused           |
      | ValidatingWebhookConfiguration/owner-{suffix} | Fail                         |
      | ValidatingWebhookConfiguration/owner-{suffix} | https://127.0.0.1:1/validate |
    When the administrator of "member-1" deletes "ValidatingWebhookConfiguration/owner-{suffix}"
    And application "web" syncs
    Then the sync of application "web" succeeds
    And application "web" is Synced and Healthy
    And the diagnosis finds nothing
