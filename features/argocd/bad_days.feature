@argocd
Feature: Argo CD's bad days
  Something that Argo CD needs is gone for a while. Argo CD reports it, and continues when it is back.

  @AR-RP-004
  Scenario: The repository is gone
    Given a repository "web" with "settings.yaml"
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: settings
      """
    And an application "web" of repository "web" for "member-1"
    And application "web" syncs
    And application "web" is Synced and Healthy
    When repository "web" vanishes
    And application "web" is hard-refreshed
    Then application "web" reports
      | field           | value                                                                  |
      | sync            | Unknown                                                                |
      | health          | Healthy                                                                |
      | ComparisonError | Failed to load target state: failed to generate manifest for source 1 of 1 |
    And the diagnosis of application "web" is AR-RP-004
    When repository "web" is back
    And application "web" is hard-refreshed
    Then application "web" is Synced and Healthy
    And the diagnosis finds nothing

  @pods @passes:AR-SF-006
  @guide:argocd-sync-failed/wave/make-healthy
  Scenario: Redis is killed while a sync runs
    Given a fleet of its own with 1 member and Argo CD
    And member "member-1" has pods
    And a repository "web" with "deployment.yaml"
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
    And repository "web" also has "settings.yaml"
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: settings
        annotations:
          argocd.argoproj.io/sync-wave: "1"
      """
    And an application "web" of repository "web" for "member-1"
    When application "web" syncs
    Then the sync of application "web" still runs after 1 seconds: "waiting for healthy state of apps/Deployment/web"
    When the redis of Argo CD is killed
    And the administrator of "member-1" applies
      """
      apiVersion: apps/v1
      kind: Deployment
      metadata:
        name: web
      spec:
        selector:
          matchLabels: {app: web}
        template:
          spec:
            containers:
              - name: web
                image: nginx:1.29
      """
    And the redis of Argo CD is started again
    Then the sync of application "web" succeeds
    And "ConfigMap/settings" is on "member-1"
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
                image: nginx:1.30
      """
    And application "web" syncs
    Then the sync of application "web" succeeds
    And application "web" is Synced and Healthy
    And the diagnosis finds nothing

  # The controller retries for some seconds (four attempts, v3.2.11): the sync survives only a short outage.
  @takes-60s @pods @passes:AR-SF-006 @AR-RP-005
  Scenario: The repo-server is killed while a sync runs
    Given a fleet of its own with 1 member and Argo CD
    And member "member-1" has pods
    And a repository "web" with "deployment.yaml"
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
    And repository "web" also has "settings.yaml"
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: settings
        annotations:
          argocd.argoproj.io/sync-wave: "1"
      """
    And an application "web" of repository "web" for "member-1"
    When application "web" syncs
    Then the sync of application "web" still runs after 1 seconds: "waiting for healthy state of apps/Deployment/web"
    When the repo-server of Argo CD is killed
    And the administrator of "member-1" applies
      """
      apiVersion: apps/v1
      kind: Deployment
      metadata:
        name: web
      spec:
        selector:
          matchLabels: {app: web}
        template:
          spec:
            containers:
              - name: web
                image: nginx:1.29
      """
    Then the sync of application "web" ends in an error
    And application "web" reports
      | field   | value                         |
      | message | Error while dialing: dial tcp |
    When application "web" is refreshed
    Then application "web" reports
      | field           | value                         |
      | ComparisonError | Error while dialing: dial tcp |
    And the diagnosis of application "web" is AR-RP-005
    When the repo-server of Argo CD is started again
    And "deployment.yaml" of repository "web" is corrected to
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
                image: nginx:1.30
      """
    And application "web" syncs
    Then the sync of application "web" succeeds
    And application "web" is Synced and Healthy
    And the diagnosis finds nothing

  @pods @passes:AR-SF-006
  Scenario: The application-controller is killed while a sync runs
    Given a fleet of its own with 1 member and Argo CD
    And member "member-1" has pods
    And a repository "web" with "deployment.yaml"
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
    And repository "web" also has "settings.yaml"
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: settings
        annotations:
          argocd.argoproj.io/sync-wave: "1"
      """
    And an application "web" of repository "web" for "member-1"
    When application "web" syncs
    Then the sync of application "web" still runs after 1 seconds: "waiting for healthy state of apps/Deployment/web"
    When the application-controller of Argo CD is killed
    And "deployment.yaml" of repository "web" is corrected to
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
    And the application-controller of Argo CD is started again
    # The controller continues the sync, or ends it in an error if it hasn't read the projects yet. The condition with this
    # error stays until the next comparison, and until then each sync ends in the same error.
    And the sync of application "web" is terminated, if it still runs
    And application "web" is refreshed
    And application "web" syncs
    Then the sync of application "web" succeeds
    And application "web" is Synced and Healthy
    And the diagnosis finds nothing
