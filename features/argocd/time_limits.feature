@argocd
Feature: How long Argo CD waits
  Two flags of the application-controller limit how long it waits for a render and for a sync. The flags apply to all of
  Argo CD, so these scenarios have a fleet of their own.

  @takes-60s @AR-RP-005
  @guide:argocd-sync-failed/generation/deadline @guide:argocd-sync-failed/generation/raise-timeout @guide:argocd-sync-failed/wave/times-out
  Scenario: A render and then a sync take longer than it waits
    Given a fleet of its own with 1 member and Argo CD
    And the application-controller of Argo CD is restarted with "--repo-server-timeout-seconds=3 --sync-timeout=8"
    And the repo-server has a kustomize "slow" that takes 5 seconds
    And a repository "web" with "kustomization.yaml"
      """
      resources:
        - ingress.yaml
        - done.yaml
      """
    And repository "web" also has "ingress.yaml"
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
    # If no hook or wave follows, a sync doesn't wait for health.
    And repository "web" also has "done.yaml"
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: done
        annotations:
          argocd.argoproj.io/hook: PostSync
      """
    And an application "web" of repository "web" for "member-1" with '{"source": {"kustomize": {"version": "{slow}"}}}'
    Then application "web" reports
      | field           | value                   |
      | sync            | Unknown                 |
      | ComparisonError | code = DeadlineExceeded |
    And the diagnosis of application "web" is AR-RP-005
    # By default, the controller notices only every two minutes that the time limit of a sync has passed.
    When the application-controller of Argo CD is restarted with "--repo-server-timeout-seconds=60 --app-resync=10 --app-resync-jitter=0"
    And application "web" is hard-refreshed
    Then application "web" reports
      | field           | value     |
      | sync            | OutOfSync |
      | ComparisonError | absent    |
    When application "web" syncs
    Then the sync of application "web" fails
    And application "web" reports
      | field   | value                                                  |
      | health  | Progressing                                            |
      | message | Operation terminated, triggered by controller sync timeout |
    When the setting "resource.customizations.health.networking.k8s.io_Ingress" of Argo CD is "hs = {}; hs.status = 'Healthy'; return hs"
    And application "web" syncs
    Then the sync of application "web" succeeds
    And application "web" is Synced and Healthy
    And the diagnosis finds nothing
