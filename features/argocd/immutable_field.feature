@argocd @AR-SF-002
Feature: A sync fails because a field can't be changed
  Some fields of Kubernetes can be set only when an object is created. A commit that changes such a field is rendered
  and compared without an error, and refused by the API server when it is applied.

  Background:
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
            labels: {app: web, tier: front}
          spec:
            containers:
              - name: web
                image: nginx:1.29
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
          matchLabels: {app: web, tier: front}
        template:
          metadata:
            labels: {app: web, tier: front}
          spec:
            containers:
              - name: web
                image: nginx:1.29
      """
    And application "web" syncs
    Then the sync of application "web" fails
    And application "web" reports
      | field           | value                                                         |
      | sync            | OutOfSync                                                     |
      | phase           | Failed                                                        |
      | message         | one or more objects failed to apply, reason:                  |
      | message         | Deployment.apps "web" is invalid: spec.selector: Invalid value |
      | ComparisonError | absent                                                        |
    And the sync of application "web" reports of its resources
      | resource       | status     | phase  | message            |
      | Deployment/web | SyncFailed | Failed | field is immutable |
    And the diagnosis of application "web" is AR-SF-002
      | object                   | value              |
      | Application/argocd/{web} | field is immutable |
      | Deployment/{apps}/web    | {"app":"web"}      |

  @guide:argocd-sync-failed/meaning/operation-result @guide:argocd-sync-failed/meaning/operation-failed @guide:argocd-sync-failed/diagnose/immutable-field
  @guide:argocd-sync-failed/immutable-field/message @guide:argocd-sync-failed/immutable-field/revert
  Scenario: The selector of a Deployment, and the commit is reverted
    When the last commit of repository "web" is reverted
    And application "web" syncs
    Then the sync of application "web" succeeds
    And application "web" is Synced and Healthy
    And the diagnosis finds nothing

  @guide:argocd-sync-failed/immutable-field/recreate
  Scenario: The selector of a Deployment, which is deleted and created again
    When the administrator of "member-1" deletes "Deployment/web"
    And application "web" syncs
    Then the sync of application "web" succeeds
    And application "web" is Synced and Healthy
    And the diagnosis finds nothing

  Scenario: The selector of a Deployment, and Force alone
    When application "web" syncs with "--force"
    Then the sync of application "web" succeeds
    And application "web" is Synced and Healthy
    And the diagnosis finds nothing

  @guide:argocd-sync-failed/meaning/sync-again @drift:argocd-sync-failed/diagnose/dry-run @drift:argocd-sync-failed/diagnose/resource-messages
  @drift:argocd-sync-failed/immutable-field/replace @guide:argocd-sync-options/force/recreated
  Scenario: The selector of a Deployment, and what does not help
    When application "web" syncs
    Then the sync of application "web" fails
    And the sync of application "web" reports of its resources
      | resource       | status     | phase  | message            |
      | Deployment/web | SyncFailed | Failed | field is immutable |
    And application "web" lists its resources
      | resource       | status    | message |
      | Deployment/web | OutOfSync | absent  |
    # The dry run happens in the client and doesn't ask the API server.
    When application "web" syncs with "--dry-run"
    Then the sync of application "web" succeeds
    When application "web" syncs with "--replace"
    Then the sync of application "web" fails
    And the sync of application "web" reports of its resources
      | resource       | status     | phase  | message            |
      | Deployment/web | SyncFailed | Failed | field is immutable |
    And the diagnosis of application "web" is AR-SF-002
    When application "web" syncs with "--force --replace"
    Then the sync of application "web" succeeds
    And application "web" is Synced and Healthy
    And the diagnosis finds nothing
