@argocd @upgrade
Feature: What is in sync stays so when Argo CD is upgraded
  An operator upgrades an Argo CD that is in use: the new version takes over Applications, their history and what they have deployed.

  Scenario: An Application is in sync, and goes on with its next commit
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
    When Argo CD is upgraded
    Then application "web" is Synced and Healthy
    And "ConfigMap/settings" is on "member-1"
    And the diagnosis finds nothing
    When repository "web" also has "more.yaml"
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: more
      """
    And application "web" syncs
    Then the sync of application "web" succeeds
    And application "web" is Synced and Healthy
    And "ConfigMap/more" is on "member-1"
    And the diagnosis finds nothing
