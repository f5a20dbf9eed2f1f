@argocd
Feature: One webhook keeps several Applications away
  Each Application has an error of its own that names the webhook. It is one failure with one repair.

  @AR-SF-014 @AR-SF-004
  Scenario: A webhook is down, and two Applications need it
    Given a repository "blue" with "blue.yaml"
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: blue
      """
    And a repository "green" with "green.yaml"
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: green
      """
    And an application "blue" of repository "blue" for "member-1"
    And an application "green" of repository "green" for "member-1"
    And the administrator of "member-1" applies
      """
      apiVersion: admissionregistration.k8s.io/v1
      kind: ValidatingWebhookConfiguration
      metadata:
        name: guard-{suffix}
      webhooks:
        - name: guard-{suffix}.example.com
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
        name: blue
      """
    When application "blue" syncs
    And application "green" syncs
    Then the sync of application "blue" fails
    And the sync of application "green" fails
    And application "green" reports
      | field   | value                                               |
      | phase   | Failed                                              |
      | message | failed calling webhook "guard-{suffix}.example.com" |
    And the diagnosis of application "blue" is AR-SF-004, because of AR-SF-014
    And the diagnosis of application "green" is AR-SF-004, because of AR-SF-014
    When the administrator of "member-1" deletes "ValidatingWebhookConfiguration/guard-{suffix}"
    And application "blue" syncs
    And application "green" syncs
    Then application "blue" is Synced and Healthy
    And application "green" is Synced and Healthy
    And the diagnosis finds nothing
