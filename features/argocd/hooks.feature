@argocd @pods @AR-SF-005
Feature: A sync fails because a hook failed
  A hook is a Job that runs in a phase of the sync. If the Job fails, the sync fails. The operation's message names
  neither the Job nor the reason. Only the Job and the logs of its pods show them.

  Background:
    Given member "member-1" has simulated pods

  Scenario Outline: A <hook> hook fails
    Given a repository "web" with "migrate.yaml"
      """
      apiVersion: batch/v1
      kind: Job
      metadata:
        name: migrate
        annotations:
          argocd.argoproj.io/hook: <hook>
      spec:
        backoffLimit: 0
        template:
          spec:
            restartPolicy: Never
            containers:
              - name: migrate
                image: nginx:1.29
                env: [{name: DATABASE_URL, value: ""}]
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
    Then the sync of application "web" fails
    And application "web" reports
      | field   | value                                                     |
      | sync    | <sync>                                                    |
      | phase   | Failed                                                    |
      | message | one or more synchronization tasks completed unsuccessfully |
    And the sync of application "web" reports of its resources
      | resource           | hook   | phase  | status     | message                                     |
      | Job/migrate        | <hook> | Failed |            | Job has reached the specified backoff limit |
      | ConfigMap/settings |        |        | <settings> |                                             |
    And "ConfigMap/settings" <is> on "member-1"
    And "kubectl logs job/migrate" on "member-1" prints "migration 0042 failed: DATABASE_URL is empty"
    And the diagnosis of application "web" is AR-SF-005
      | object                   | value                                                      |
      | Application/argocd/{web} | one or more synchronization tasks completed unsuccessfully |
      | Application/argocd/{web} | Job has reached the specified backoff limit                |
      | Job/{apps}/migrate       | BackoffLimitExceeded                                       |
      | Pod/{apps}/migrate       | migration 0042 failed: DATABASE_URL is empty               |
    When "migrate.yaml" of repository "web" is corrected to
      """
      apiVersion: batch/v1
      kind: Job
      metadata:
        name: migrate
        annotations:
          argocd.argoproj.io/hook: <hook>
      spec:
        backoffLimit: 0
        template:
          spec:
            restartPolicy: Never
            containers:
              - name: migrate
                image: nginx:1.29
                env: [{name: DATABASE_URL, value: "postgres://db/shop"}]
      """
    And application "web" syncs
    Then the sync of application "web" succeeds
    And the sync of application "web" reports of its resources
      | resource    | hook   | phase     |
      | Job/migrate | <hook> | Succeeded |
    And application "web" is Synced and Healthy
    And the diagnosis finds nothing

    @guide:argocd-sync-failed/diagnose/hook @guide:argocd-sync-failed/diagnose/hook-logs @guide:argocd-sync-failed/hook/presync-stops
    @guide:argocd-sync-failed/hook/failed @guide:argocd-sync-failed/hook/message @guide:argocd-sync-failed/hook/logs @guide:argocd-sync-failed/hook/repair
    Examples:
      | hook     | sync      | settings | is     |
      | PreSync  | OutOfSync | absent   | is not |

    Examples:
      | hook     | sync      | settings | is     |
      | Sync     | Synced    | Synced   | is     |
      | PostSync | Synced    | Synced   | is     |

  @passes:AR-SF-006
  Scenario: A hook takes longer than its deadline
    Given a repository "web" with "migrate.yaml"
      """
      apiVersion: batch/v1
      kind: Job
      metadata:
        name: migrate
        annotations:
          argocd.argoproj.io/hook: PreSync
      spec:
        backoffLimit: 0
        activeDeadlineSeconds: 5
        template:
          spec:
            restartPolicy: Never
            containers:
              - name: migrate
                image: registry.invalid/shop:1
      """
    And an application "web" of repository "web" for "member-1"
    When application "web" syncs
    Then the sync of application "web" fails
    And the sync of application "web" reports of its resources
      | resource    | hook    | phase  | message                                       |
      | Job/migrate | PreSync | Failed | Job was active longer than specified deadline |
    And the diagnosis of application "web" is AR-SF-005
    When "migrate.yaml" of repository "web" is corrected to
      """
      apiVersion: batch/v1
      kind: Job
      metadata:
        name: migrate
        annotations:
          argocd.argoproj.io/hook: PreSync
      spec:
        backoffLimit: 0
        activeDeadlineSeconds: 60
        template:
          spec:
            restartPolicy: Never
            containers:
              - name: migrate
                image: nginx:1.29
      """
    And application "web" syncs
    Then the sync of application "web" succeeds
    And application "web" is Synced and Healthy
    And the diagnosis finds nothing

  @guide:argocd-sync-failed/hook/syncfail
  Scenario: A SyncFail hook runs when a Sync hook has failed
    Given a repository "web" with "migrate.yaml"
      """
      apiVersion: batch/v1
      kind: Job
      metadata:
        name: migrate
        annotations:
          argocd.argoproj.io/hook: Sync
      spec:
        backoffLimit: 0
        template:
          spec:
            restartPolicy: Never
            containers:
              - name: migrate
                image: nginx:1.29
                env: [{name: DATABASE_URL, value: ""}]
      """
    And repository "web" also has "clean-up.yaml"
      """
      apiVersion: batch/v1
      kind: Job
      metadata:
        name: clean-up
        annotations:
          argocd.argoproj.io/hook: SyncFail
      spec:
        backoffLimit: 0
        template:
          spec:
            restartPolicy: Never
            containers:
              - name: clean-up
                image: nginx:1.29
      """
    And an application "web" of repository "web" for "member-1"
    When application "web" syncs
    Then the sync of application "web" fails
    And the sync of application "web" reports of its resources
      | resource     | hook     | phase     |
      | Job/migrate  | Sync     | Failed    |
      | Job/clean-up | SyncFail | Succeeded |
    And the diagnosis of application "web" is AR-SF-005
    When "migrate.yaml" is removed from repository "web"
    And repository "web" also has "settings.yaml"
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: settings
      """
    And application "web" syncs
    Then the sync of application "web" succeeds
    And the sync of application "web" reports of its resources
      | resource           | status |
      | ConfigMap/settings | Synced |
      | Job/clean-up       | absent |
    And application "web" is Synced and Healthy
    And the diagnosis finds nothing
