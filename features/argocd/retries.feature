@argocd
Feature: A sync that fails is tried again
  With a retry policy, a sync that fails is retried after a pause. Each pause is longer than the last by a factor, up to
  a maximum. The first pause is the duration multiplied by the factor.

  @AR-SF-013
  @guide:argocd-sync-failed/fix-it/retry
  Scenario: What was missing is there before the last attempt
    Given a repository "web" with "settings.yaml"
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: settings
      """
    And an application "web" of repository "web" for "member-1" with '{"destination": {"namespace": "shop-{suffix}"}, "syncPolicy": {"retry": {"limit": 5, "backoff": {"duration": "1s", "factor": 2, "maxDuration": "1m"}}}}'
    When application "web" syncs
    Then application "web" is tried again after "2, 4" seconds
    And application "web" reports
      | field   | value                                |
      | phase   | Running                              |
      | message | namespaces "shop-{suffix}" not found |
    # While an attempt runs, the operation doesn't mention the attempts before it.
    And within 20 seconds the diagnosis of application "web" is AR-SF-013
    When the administrator of "member-1" applies
      """
      apiVersion: v1
      kind: Namespace
      metadata:
        name: shop-{suffix}
      """
    Then the sync of application "web" succeeds
    And application "web" is Synced and Healthy
    And the diagnosis finds nothing

  @AR-SF-002
  @guide:argocd-sync-failed/fix-it/retry-real-error
  Scenario: What is wrong stays wrong, and the pauses grow up to the longest
    Given a repository "shop" with "service.yaml"
      """
      apiVersion: v1
      kind: Service
      metadata:
        name: shop
      spec:
        clusterIP: None
        selector: {app: shop}
        ports: [{port: 80}]
      """
    And an application "shop" of repository "shop" for "member-1" with '{"syncPolicy": {"retry": {"limit": 3, "backoff": {"duration": "1s", "factor": 2, "maxDuration": "3s"}}}}'
    And application "shop" syncs
    And application "shop" is Synced and Healthy
    When "service.yaml" of repository "shop" becomes
      """
      apiVersion: v1
      kind: Service
      metadata:
        name: shop
      spec:
        clusterIP: "{own address}"
        selector: {app: shop}
        ports: [{port: 80}]
      """
    And application "shop" syncs
    Then application "shop" is tried again after "2, 3, 3" seconds
    And the sync of application "shop" fails
    And application "shop" reports
      | field   | value                   |
      | retries | 3                       |
      | message | may not change once set |
      | message | (retried 3 times)       |
    And the diagnosis of application "shop" is AR-SF-002
    When the last commit of repository "shop" is reverted
    And application "shop" syncs
    Then the sync of application "shop" succeeds
    And application "shop" is Synced and Healthy
    And the diagnosis finds nothing
