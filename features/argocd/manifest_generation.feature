@argocd @AR-SF-001
Feature: A sync ends in an error because no manifests could be rendered
  The repo-server renders a commit's manifests before anything is applied. If it can't, there is nothing to sync: the
  Application has a ComparisonError, and its sync status is Unknown. A sync that somebody requests then ends with the
  phase Error and the same text.

  @guide:argocd-sync-failed/meaning/comparison-error @guide:argocd-sync-failed/generation/condition @guide:argocd-sync-failed/generation/push @drift:argocd-sync-failed/meaning/different-places
  Scenario: A manifest is no YAML
    Given a repository "web" with "settings.yaml"
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: settings
      data:
        colour: blue
      """
    And an application "web" of repository "web" for "member-1"
    And application "web" syncs
    And application "web" is Synced and Healthy
    When "settings.yaml" of repository "web" becomes
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: settings
      data:
        colour: "green
      """
    And application "web" syncs
    Then the sync of application "web" ends in an error
    And application "web" reports
      | field           | value                                                                  |
      | sync            | Unknown                                                                |
      | health          | Healthy                                                                |
      | phase           | Error                                                                  |
      | message         | ComparisonError: Failed to load target state: failed to generate manifest for source 1 of 1: rpc error |
      | message         | settings.yaml                                                          |
      | ComparisonError | Failed to load target state: failed to generate manifest for source 1 of 1: rpc error |
    And the sync of application "web" reports of its resources
      | resource           | status |
      | ConfigMap/settings | absent |
    And the diagnosis of application "web" is AR-SF-001
    When "settings.yaml" of repository "web" is corrected to
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: settings
      data:
        colour: green
      """
    And application "web" syncs
    Then the sync of application "web" succeeds
    And application "web" is Synced and Healthy
    And the diagnosis finds nothing

  @drift:argocd-sync-failed/generation/log-without-name @drift:argocd-faq/cached/log
  Scenario: A kustomization names a file that isn't there
    Given a repository "overlay" with "kustomization.yaml"
      """
      resources:
        - settings.yaml
      namePrefix: green-
      """
    And repository "overlay" also has "settings.yaml"
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: settings
      """
    And an application "web" of repository "overlay" for "member-1"
    And application "web" syncs
    And application "web" is Synced and Healthy
    And "ConfigMap/green-settings" is on "member-1"
    When "kustomization.yaml" of repository "overlay" becomes
      """
      resources:
        - setings.yaml
      namePrefix: green-
      """
    And application "web" syncs
    Then the sync of application "web" ends in an error
    And application "web" reports
      | field           | value                       |
      | sync            | Unknown                     |
      | phase           | Error                       |
      | ComparisonError | kustomize build             |
      | ComparisonError | setings.yaml                |
      | ComparisonError | no such file or directory   |
    And the repo-server of Argo CD has logged "setings.yaml" in no line with "{web}"
    And the diagnosis of application "web" is AR-SF-001
    When the last commit of repository "overlay" is reverted
    And application "web" syncs
    Then the sync of application "web" succeeds
    And application "web" is Synced and Healthy
    And the diagnosis finds nothing

  @guide:argocd-sync-failed/generation/non-zero-exit @guide:argocd-sync-failed/generation/log @guide:argocd-faq/helm-ls/no-release
  Scenario: A Helm chart needs a value that isn't given
    Given a repository "chart" with "Chart.yaml"
      """
      apiVersion: v2
      name: web
      version: 0.1.0
      """
    And repository "chart" also has "templates/settings.yaml"
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: settings
      data:
        colour: {{ required "set colour" .Values.colour | quote }}
      """
    And repository "chart" also has "values.yaml"
      """
      colour: blue
      """
    And an application "web" of repository "chart" for "member-1"
    And application "web" syncs
    And application "web" is Synced and Healthy
    # Helm would have made a release.
    And "Secret/sh.helm.release.v1.{web}.v1" is not on "member-1"
    When "values.yaml" of repository "chart" becomes
      """
      color: green
      """
    And application "web" syncs
    Then the sync of application "web" ends in an error
    And application "web" reports
      | field           | value         |
      | sync            | Unknown       |
      | phase           | Error         |
      | ComparisonError | helm template |
      | ComparisonError | set colour    |
    And the repo-server of Argo CD has logged "set colour" in a line with "{web}"
    And the diagnosis of application "web" is AR-SF-001
    When "values.yaml" of repository "chart" is corrected to
      """
      colour: green
      """
    And application "web" syncs
    Then the sync of application "web" succeeds
    And application "web" is Synced and Healthy
    And the diagnosis finds nothing

  # The cache's key contains the kinds of the destination. On a member where CRDs come and go, the error is computed
  # again. So features that create CRDs do so on "member-2".
  @guide:argocd-faq/cached/meaning @guide:argocd-faq/cached/ongoing
  @guide:argocd-sync-failed/diagnose/cached @drift:argocd-sync-failed/generation/stale-after-push @drift:argocd-sync-failed/fix-it/hard-refresh-first
  Scenario: After three failures the error comes from the cache, and a new commit has a new one
    Given a repository "web" with "kustomization.yaml"
      """
      resources:
        - settings.yaml
      """
    And an application "web" of repository "web" for "member-1"
    When application "web" is refreshed until it reports "Manifest generation error (cached)"
    Then application "web" reports
      | field           | value                              |
      | ComparisonError | Manifest generation error (cached) |
      | ComparisonError | settings.yaml                      |
    And the diagnosis of application "web" is AR-SF-001
    When application "web" syncs
    Then the sync of application "web" ends in an error
    And application "web" reports
      | field   | value                              |
      | phase   | Error                              |
      | message | Manifest generation error (cached) |
    And the diagnosis of application "web" is AR-SF-001
    When application "web" is hard-refreshed
    Then application "web" reports
      | field           | value         |
      | ComparisonError | settings.yaml |
    When repository "web" also has "settings.yaml"
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: settings
      """
    And application "web" syncs
    Then the sync of application "web" succeeds
    And application "web" is Synced and Healthy
    And the diagnosis finds nothing

  @AR-SF-010
  @guide:argocd-sync-failed/meaning/no-apply @guide:argocd-sync-failed/generation/hard-refresh @guide:argocd-faq/cached/hard-refresh
  Scenario: A tool is missing, and the cached error stays until a hard refresh
    Given the repo-server lacks the kustomize "custom"
    And a repository "web" with "kustomization.yaml"
      """
      resources:
        - settings.yaml
      """
    And repository "web" also has "settings.yaml"
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: settings
      """
    And an application "web" of repository "web" for "member-1" with '{"source": {"kustomize": {"version": "{custom}"}}}'
    When application "web" is refreshed until it reports "Manifest generation error (cached)"
    Then application "web" reports
      | field           | value                              |
      | sync            | Unknown                            |
      | ComparisonError | Manifest generation error (cached) |
      | ComparisonError | no such file or directory          |
    And the diagnosis of application "web" is AR-SF-010
    When application "web" syncs
    Then the sync of application "web" ends in an error
    And the sync of application "web" reports of its resources
      | resource           | status |
      | ConfigMap/settings | absent |
    And "ConfigMap/settings" is not on "member-1"
    When the repo-server gets the kustomize "custom"
    And application "web" is refreshed
    Then application "web" reports
      | field           | value                              |
      | ComparisonError | Manifest generation error (cached) |
    And the diagnosis of application "web" is AR-SF-010
    When application "web" is hard-refreshed
    Then application "web" reports
      | field           | value     |
      | sync            | OutOfSync |
      | ComparisonError | absent    |
    # The only finding that remains is that the last sync failed.
    And the diagnosis of application "web" is AR-SF-001
    When application "web" syncs
    Then the sync of application "web" succeeds
    And application "web" is Synced and Healthy
    And the diagnosis finds nothing
