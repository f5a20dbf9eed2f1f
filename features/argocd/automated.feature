@argocd
Feature: What automated sync tries again, and what it does not
  Argo CD syncs an automated Application by itself when its repository has a new commit. A sync that fails is retried
  five times, always with the commit that it began with.

  @AR-SF-002 @AR-SF-009
  @drift:argocd-sync-failed/fix-it/same-commit
  Scenario: Retries go on with the commit that they began with
    Given a repository "web" with "service.yaml"
      """
      apiVersion: v1
      kind: Service
      metadata:
        name: web
      spec:
        clusterIP: None
        selector: {app: web}
        ports: [{port: 80}]
      """
    And an application "web" of repository "web" for "member-1" with '{"syncPolicy": {"automated": {}}}'
    And application "web" is Synced and Healthy
    When "service.yaml" of repository "web" becomes
      """
      apiVersion: v1
      kind: Service
      metadata:
        name: web
      spec:
        clusterIP: "{own address}"
        selector: {app: web}
        ports: [{port: 80}]
      """
    And application "web" is refreshed
    Then application "web" is tried again after "10" seconds
    And application "web" reports
      | field       | value     |
      | sync        | OutOfSync |
      | phase       | Running   |
      | message     | Retrying  |
      | retry limit | 5         |
      | revision    | latest    |
    And the diagnosis of application "web" is AR-SF-002
    When the last commit of repository "web" is reverted
    And application "web" is refreshed
    Then the sync of application "web" still runs after 10 seconds
    And application "web" reports
      | field    | value          |
      | revision | an earlier one |
      | sync     | Synced         |
    And the diagnosis of application "web" is AR-SF-009
      | object                   | value    |
      | Application/argocd/{web} | Retrying |
    When the sync of application "web" is terminated
    And application "web" syncs
    Then the sync of application "web" succeeds
    And application "web" is Synced and Healthy
    And the diagnosis finds nothing

  @AR-SF-002 @AR-SF-011
  @guide:argocd-sync-failed/fix-it/new-commit
  Scenario: Without retries the same commit isn't tried again, and a new one is
    Given a repository "web" with "service.yaml"
      """
      apiVersion: v1
      kind: Service
      metadata:
        name: web
      spec:
        clusterIP: None
        selector: {app: web}
        ports: [{port: 80}]
      """
    And an application "web" of repository "web" for "member-1" with '{"syncPolicy": {"automated": {}, "retry": {"limit": 0}}}'
    And application "web" is Synced and Healthy
    When "service.yaml" of repository "web" becomes
      """
      apiVersion: v1
      kind: Service
      metadata:
        name: web
      spec:
        clusterIP: "{own address}"
        selector: {app: web}
        ports: [{port: 80}]
      """
    And application "web" is refreshed
    Then the sync of application "web" fails
    When application "web" is refreshed
    Then application "web" reports
      | field     | value                     |
      | sync      | OutOfSync                 |
      | phase     | Failed                    |
      | SyncError | Failed last sync attempt to |
      | SyncError | may not change once set   |
    And the diagnosis of application "web" is AR-SF-011, because of AR-SF-002
    # A sync that somebody requests tries the same commit.
    When application "web" syncs
    Then the sync of application "web" fails
    And the sync of application "web" reports of its resources
      | resource    | status     | message                 |
      | Service/web | SyncFailed | may not change once set |
    # The obstacle is gone, but Argo CD doesn't try again.
    When the administrator of "member-1" deletes "Service/web"
    And application "web" is refreshed
    Then application "web" reports
      | field     | value                       |
      | sync      | OutOfSync                   |
      | phase     | Failed                      |
      | SyncError | Failed last sync attempt to |
    When repository "web" also has "settings.yaml"
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: settings
      """
    And application "web" is refreshed
    Then the sync of application "web" succeeds
    And application "web" is Synced and Healthy
    And the diagnosis finds nothing
