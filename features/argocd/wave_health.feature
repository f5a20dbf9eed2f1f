@argocd
Feature: What Argo CD takes for healthy between waves
  The next wave, and the hooks after the sync, wait until everything is healthy by Argo CD's own checks. An Ingress is
  healthy only if it has an address.

  @guide:argocd-sync-failed/wave/order @guide:argocd-sync-failed/wave/delay
  Scenario: Two waves are two seconds apart, although nothing has to be waited for
    Given a repository "web" with "first.yaml"
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: first
      """
    And repository "web" also has "second.yaml"
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: second
        annotations:
          argocd.argoproj.io/sync-wave: "1"
      """
    And an application "web" of repository "web" for "member-1"
    When application "web" syncs
    Then the sync of application "web" succeeds
    And "ConfigMap/second" on "member-1" is at least 2 seconds younger than "ConfigMap/first"
    And application "web" is Synced and Healthy
    And the diagnosis finds nothing

  @guide:argocd-sync-failed/wave/postsync @guide:argocd-sync-failed/wave/unhealthy @guide:argocd-sync-failed/wave/quirks @guide:argocd-sync-failed/wave/health-check
  @guide:argocd-faq/progressing/ingress @guide:argocd-faq/progressing/health-check @guide:argocd-health/ingress/address
  @guide:argocd-health/override/override
  Scenario: An Ingress without an address holds the sync until a health check of one's own lets it pass
    Given a fleet of its own with 1 member and Argo CD
    And a repository "web" with "ingress.yaml"
      """
      apiVersion: networking.k8s.io/v1
      kind: Ingress
      metadata:
        name: web
      spec:
        defaultBackend:
          service:
            name: web
            port: {number: 80}
      """
    And repository "web" also has "done.yaml"
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: done
        annotations:
          argocd.argoproj.io/hook: PostSync
      """
    And an application "web" of repository "web" for "member-1"
    When application "web" syncs
    Then the sync of application "web" still runs after 5 seconds: "waiting for healthy state of networking.k8s.io/Ingress/web"
    And application "web" reports
      | field  | value       |
      | health | Progressing |
      | phase  | Running     |
    And "ConfigMap/done" is not on "member-1"
    When the setting "resource.customizations.health.networking.k8s.io_Ingress" of Argo CD is "hs = {}; hs.status = 'Healthy'; return hs"
    And application "web" is refreshed
    Then the sync of application "web" succeeds
    And the sync of application "web" reports of its resources
      | resource       | hook     | phase     |
      | ConfigMap/done | PostSync | Succeeded |
    And "ConfigMap/done" is on "member-1"
    And application "web" is Synced and Healthy
    And the diagnosis finds nothing
