@argocd @AR-SF-008
Feature: A sync ends in an error because there is no account to sync as
  With impersonation, Argo CD syncs as an account that the project names for each destination. If the project names
  none, nothing is synced. The setting applies to all of Argo CD, so these scenarios have a fleet of their own.

  Scenario: The project names no account for the destination
    Given a fleet of its own with 1 member and Argo CD
    And a repository "web" with "settings.yaml"
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: settings
      """
    And an application "web" of repository "web" for "member-1"
    And the setting "application.sync.impersonation.enabled" of Argo CD is "true"
    When application "web" syncs
    Then the sync of application "web" ends in an error
    And application "web" reports
      | field   | value                    |
      | phase   | Error                    |
      | message | matching service account |
    And the diagnosis of application "web" is AR-SF-008
    When the setting "application.sync.impersonation.enabled" of Argo CD is "false"
    And application "web" syncs
    Then the sync of application "web" succeeds
    And application "web" is Synced and Healthy
    And the diagnosis finds nothing
