@argocd
Feature: Argo CD can't work with a destination
  A cluster that Argo CD can't reach, or whose registration is wrong, fails all of its Applications at once. The finding is one, and
  names the cluster.

  Background:
    Given a member "east" of its own
    And a repository "web" with "settings.yaml"
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: settings
      data:
        colour: green
      """

  @AR-CL-002
  Scenario: The destination refuses Argo CD's token
    Given an application "web" of repository "web" for "east"
    And application "web" syncs
    And application "web" is Synced and Healthy
    When Argo CD's registration of member "east" has a revoked token
    And "settings.yaml" of repository "web" becomes
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: settings
      data:
        colour: blue
      """
    And application "web" syncs
    # The comparison is made with Argo CD's cache of the cluster. Only the operation asks the cluster.
    Then the sync of application "web" fails
    And application "web" reports
      | field | value     |
      | sync  | OutOfSync |
      | phase | Failed    |
    And the sync of application "web" reports of its resources
      | resource           | status     | phase | message                                                                   |
      | ConfigMap/settings | SyncFailed |       | failed to discover server resources for group version v1: Unauthorized |
    And the diagnosis of application "web" is AR-CL-002
      | object                   | value        |
      | Application/argocd/{web} | Unauthorized |
    When Argo CD's registration of member "east" is as it was
    And application "web" syncs
    Then the sync of application "web" succeeds
    And application "web" is Synced and Healthy
    And the diagnosis finds nothing

  @AR-CL-003
  Scenario: The destination's CA isn't the one that Argo CD has
    Given an application "web" of repository "web" for "east"
    And application "web" syncs
    And application "web" is Synced and Healthy
    # A change of the Secret makes Argo CD read the cluster again.
    When Argo CD's registration of member "east" has another CA
    And application "web" is refreshed
    Then application "web" reports
      | field           | value                                |
      | sync            | Unknown                              |
      | ComparisonError | failed to get cluster info for       |
      | UnknownError    | error synchronizing cache state      |
    And the diagnosis of application "web" is AR-CL-003
      | object                   | value |
      | Application/argocd/{web} | x509  |
    When Argo CD's registration of member "east" is as it was
    And application "web" is refreshed
    Then application "web" is Synced and Healthy
    And the diagnosis finds nothing

  @AR-CL-004
  Scenario: The destination's Secret is gone
    Given an application "web" of repository "web" for "east"
    And application "web" syncs
    And application "web" is Synced and Healthy
    When Argo CD's registration of member "east" is gone
    And application "web" is refreshed
    Then application "web" reports
      | field            | value                                       |
      | sync             | Unknown                                     |
      | InvalidSpecError | there are no clusters with this name: {east} |
    And the diagnosis of application "web" is AR-CL-004
      | object                   | value                                        |
      | Application/argocd/{web} | there are no clusters with this name: {east} |
    When Argo CD's registration of member "east" is as it was
    And application "web" is refreshed
    Then application "web" is Synced and Healthy
    And the diagnosis finds nothing

  @AR-CL-004
  Scenario: Two Secrets have the same name for a cluster
    Given an application "web" of repository "web" for "east"
    And application "web" syncs
    And application "web" is Synced and Healthy
    When Argo CD's registration of member "east" is there twice
    And application "web" is refreshed
    Then application "web" reports
      | field            | value                                    |
      | sync             | Unknown                                  |
      | InvalidSpecError | there are 2 clusters with the same name: |
    And the diagnosis of application "web" is AR-CL-004
      | object                   | value                                    |
      | Application/argocd/{web} | there are 2 clusters with the same name: |
    When Argo CD's registration of member "east" is as it was
    And application "web" is refreshed
    Then application "web" is Synced and Healthy
    And the diagnosis finds nothing

  @AR-CL-004
  @guide:argocd-faq/cluster-secret/label
  Scenario: The destination's Secret lacks its label
    Given an application "web" of repository "web" for "east"
    And application "web" syncs
    And application "web" is Synced and Healthy
    When Argo CD's registration of member "east" lacks its label
    And application "web" is refreshed
    Then application "web" reports
      | field            | value                                        |
      | sync             | Unknown                                      |
      | InvalidSpecError | there are no clusters with this name: {east} |
    And the diagnosis of application "web" is AR-CL-004
    When Argo CD's registration of member "east" is as it was
    And application "web" is refreshed
    Then application "web" is Synced and Healthy
    And the diagnosis finds nothing
