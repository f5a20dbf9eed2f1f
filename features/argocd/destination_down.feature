@argocd
Feature: The cluster that Applications deploy to is down
  Argo CD keeps a cache of each cluster, and goes on to show from it what the cluster was like before it went down.

  @AR-CL-005
  Scenario: Argo CD shows a cluster that is down from its cache
    Given a member "east" of its own
    And a repository "web" with "settings.yaml"
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: settings
      """
    And an application "web" of repository "web" for "east"
    And application "web" syncs
    And application "web" is Synced and Healthy
    When the API server of member "east" stops
    And application "web" is refreshed
    # Nothing in the Application says that the cluster is down.
    Then application "web" is Synced and Healthy
    And the diagnosis of application "web" is AR-CL-005
      | object                   | value   |
      | Application/argocd/{web} | Synced  |
      | Application/argocd/{web} | Healthy |
    When the API server of member "east" starts again
    Then the diagnosis finds nothing

  @takes-90s @AR-CL-001
  Scenario: The destination's API server doesn't answer
    Given a fleet of its own with 2 members and Argo CD
    And a repository "web" with "settings.yaml"
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: settings
      """
    And a repository "shop" with "prices.yaml"
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: prices
      """
    And an application "web" of repository "web" for "member-1"
    And an application "shop" of repository "shop" for "member-1"
    And application "web" syncs
    And application "shop" syncs
    And application "web" is Synced and Healthy
    And application "shop" is Synced and Healthy
    When the API server of member "member-1" stops
    # A controller that starts has no cache of the cluster.
    And the application-controller of Argo CD is killed
    And the application-controller of Argo CD is started again
    And application "web" is refreshed
    And application "shop" is refreshed
    Then application "web" reports
      | field           | value                          |
      | sync            | Unknown                        |
      | health          | Healthy                        |
      | ComparisonError | failed to get cluster info for |
    And application "shop" reports
      | field           | value                          |
      | sync            | Unknown                        |
      | ComparisonError | failed to get cluster info for |
    And the diagnosis of application "web" is AR-CL-001
      | object                   | value              |
      | Application/argocd/{web} | connection refused |
    And within 5 seconds the diagnosis is one finding AR-CL-001 about 2 objects
    When the API server of member "member-1" starts again
    And application "web" is refreshed
    And application "shop" is refreshed
    Then application "web" is Synced and Healthy
    And application "shop" is Synced and Healthy
    And the diagnosis finds nothing

  @healthy
  Scenario: The destination's API server answers
    Given a repository "web" with "settings.yaml"
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: settings
      """
    And an application "web" of repository "web" for "member-1"
    And an application "shop" of repository "web" for "member-2"
    When application "web" syncs
    And application "shop" syncs
    Then application "web" is Synced and Healthy
    And application "shop" is Synced and Healthy
    And the diagnosis finds nothing
