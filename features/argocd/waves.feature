@argocd @pods @AR-SF-006
Feature: A sync doesn't get past a wave
  Waves are applied one after another, each when the wave before it is healthy. A resource that doesn't become healthy
  holds the sync for as long as its health is Progressing.

  Background:
    Given member "member-1" has pods
    And a repository "web" with "settings.yaml"
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: settings
        annotations:
          argocd.argoproj.io/sync-wave: "1"
      """

  @AR-SF-009 @AR-SF-013
  @guide:argocd-sync-failed/wave/order @guide:argocd-sync-failed/wave/later-waves @guide:argocd-sync-failed/wave/unhealthy
  @drift:argocd-sync-failed/wave/hangs @drift:argocd-sync-failed/wave/wave-order
  Scenario: A Deployment goes on progressing, and a fix is not picked up by the running sync
    Given repository "web" also has "deployment.yaml"
      """
      apiVersion: apps/v1
      kind: Deployment
      metadata:
        name: web
      spec:
        selector:
          matchLabels: {app: web}
        template:
          metadata:
            labels: {app: web}
          spec:
            containers:
              - name: web
                image: registry.invalid/web:1
      """
    And an application "web" of repository "web" for "member-1"
    When application "web" syncs
    Then the sync of application "web" still runs after 15 seconds: "waiting for healthy state of apps/Deployment/web"
    And application "web" reports
      | field  | value       |
      | health | Progressing |
      | phase  | Running     |
    # The Application's status doesn't have the health of each resource.
    And application "web" lists its resources
      | resource       | status | health |
      | Deployment/web | Synced | absent |
    And the sync of application "web" reports of its resources
      | resource           | status | phase   |
      | Deployment/web     | Synced | Running |
      | ConfigMap/settings | absent |         |
    And "ConfigMap/settings" is not on "member-1"
    And the diagnosis of application "web" is AR-SF-006
      | object                   | value                                            |
      | Application/argocd/{web} | waiting for healthy state of apps/Deployment/web |
      | Deployment/{apps}/web    | MinimumReplicasUnavailable                       |
      | Pod/{apps}/web           | registry.invalid/web:1                           |
    When "deployment.yaml" of repository "web" is corrected to
      """
      apiVersion: apps/v1
      kind: Deployment
      metadata:
        name: web
      spec:
        selector:
          matchLabels: {app: web}
        template:
          metadata:
            labels: {app: web}
          spec:
            containers:
              - name: web
                image: nginx:1.29
      """
    And application "web" is refreshed
    Then the sync of application "web" still runs after 10 seconds: "waiting for healthy state of apps/Deployment/web"
    And application "web" reports
      | field    | value          |
      | revision | an earlier one |
    And the diagnosis of application "web" is AR-SF-009
    And the diagnosis of application "web" is AR-SF-006, because of AR-SF-009
    When the sync of application "web" is terminated
    Then application "web" reports
      | field   | value                |
      | phase   | Failed               |
      | message | Operation terminated |
    And the diagnosis of application "web" is AR-SF-013
    When application "web" syncs
    Then the sync of application "web" succeeds
    And application "web" is Synced and Healthy
    And "ConfigMap/settings" is on "member-1"
    And the diagnosis finds nothing

  @guide:argocd-sync-failed/wave/ends @guide:argocd-sync-failed/wave/unhealthy
  Scenario: A Deployment exceeds its progress deadline
    Given repository "web" also has "deployment.yaml"
      """
      apiVersion: apps/v1
      kind: Deployment
      metadata:
        name: web
      spec:
        progressDeadlineSeconds: 5
        selector:
          matchLabels: {app: web}
        template:
          metadata:
            labels: {app: web}
          spec:
            containers:
              - name: web
                image: registry.invalid/web:1
      """
    And an application "web" of repository "web" for "member-1"
    When application "web" syncs
    Then the sync of application "web" fails
    And application "web" reports
      | field   | value                                                      |
      | health  | Degraded                                                   |
      | phase   | Failed                                                     |
      | message | one or more synchronization tasks completed unsuccessfully |
    And the sync of application "web" reports of its resources
      | resource           | status | phase  | message                                          |
      | Deployment/web     | Synced | Failed | Deployment "web" exceeded its progress deadline  |
      | ConfigMap/settings | absent |        |                                                  |
    And the diagnosis of application "web" is AR-SF-006
      | object                   | value                          |
      | Application/argocd/{web} | exceeded its progress deadline |
      | Deployment/{apps}/web    | ProgressDeadlineExceeded       |
    When "deployment.yaml" of repository "web" is corrected to
      """
      apiVersion: apps/v1
      kind: Deployment
      metadata:
        name: web
      spec:
        progressDeadlineSeconds: 60
        selector:
          matchLabels: {app: web}
        template:
          metadata:
            labels: {app: web}
          spec:
            containers:
              - name: web
                image: nginx:1.29
      """
    And application "web" syncs
    Then the sync of application "web" succeeds
    And application "web" is Synced and Healthy
    And the diagnosis finds nothing
