@argocd @AR-AC-001
Feature: Argo CD's application controller doesn't look at an Application
  Without the controller, nothing in an Application's status changes, and nothing says so: what it shows is old, or absent.

  @takes-180s
  Scenario: The controller doesn't watch the Application's namespace
    Given a repository "web" with "settings.yaml"
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: settings
      """
    And an application "web" of repository "web" for "member-1"
    When the administrator of the hub applies
      """
      apiVersion: v1
      kind: Namespace
      metadata:
        name: team-{suffix}
      ---
      apiVersion: argoproj.io/v1alpha1
      kind: Application
      metadata:
        name: other
        namespace: team-{suffix}
      spec:
        project: default
        source: {repoURL: "https://git.example/web.git", path: ., targetRevision: main}
        destination: {name: in-cluster, namespace: default}
      """
    Then within 300 seconds the diagnosis of object "Application/team-{suffix}/other" of the hub is AR-AC-001
      | object                          | value    |
      | Application/team-{suffix}/other | (absent) |
    When the administrator of the hub deletes "Application/team-{suffix}/other"
    Then the diagnosis finds nothing

  @takes-180s
  Scenario: The controller doesn't run
    Given a fleet of its own with 1 member and Argo CD
    And a repository "web" with "settings.yaml"
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: settings
      """
    And an application "web" of repository "web" for "member-1"
    And application "web" syncs
    And application "web" is Synced and Healthy
    When the application-controller of Argo CD is killed
    And the administrator of the hub applies
      """
      apiVersion: argoproj.io/v1alpha1
      kind: Application
      metadata:
        name: shop
        namespace: argocd
      spec:
        project: default
        source: {repoURL: "https://git.invalid/shop.git", path: ., targetRevision: main}
        destination: {name: in-cluster, namespace: default}
      """
    Then within 300 seconds the diagnosis of object "Application/argocd/shop" of the hub is AR-AC-001
      | object                   | value    |
      | Application/argocd/shop  | (absent) |
      | Application/argocd/{web} | T        |
    When the application-controller of Argo CD is started again
    Then object "Application/argocd/shop" of the hub has
      | field              | value   |
      | status.sync.status | Unknown |
    When the administrator of the hub deletes "Application/argocd/shop"
    Then the diagnosis finds nothing

  @healthy
  Scenario: A new Application is compared
    Given a repository "web" with "settings.yaml"
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: settings
      """
    And an application "web" of repository "web" for "member-1"
    Then application "web" reports
      | field | value     |
      | sync  | OutOfSync |
    And the diagnosis finds nothing
