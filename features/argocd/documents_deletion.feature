@argocd
Feature: What Argo CD's documents say about deletions
  Argo CD finds what belongs to an Application by its tracking id in the cluster. So a deletion with a finalizer deletes everything that is
  there, and a deletion without one nothing, whether or not the repository still has the manifests.

  Background:
    Given a repository "web" with "settings.yaml"
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: settings
      """

  @AR-RP-004
  @drift:argocd-faq/lost-repository/undeletable @guide:argocd-app-deletion/kubectl/cascade
  Scenario: The repository is gone, and an application goes with its resources
    Given an application "web" of repository "web" for "member-1"
    And application "web" syncs
    And application "web" is Synced and Healthy
    When repository "web" vanishes
    And application "web" is hard-refreshed
    Then the diagnosis of application "web" is AR-RP-004
    When application "web" is deleted with its resources
    Then application "web" is gone
    And "ConfigMap/settings" is not on "member-1"
    And the diagnosis finds nothing

  @AR-RP-004
  @guide:argocd-faq/lost-repository/non-cascade @guide:argocd-app-deletion/kubectl/non-cascade
  Scenario: The repository is gone, and an application goes without its resources
    Given an application "web" of repository "web" for "member-1"
    And application "web" syncs
    And application "web" is Synced and Healthy
    When repository "web" vanishes
    And application "web" is hard-refreshed
    Then the diagnosis of application "web" is AR-RP-004
    When application "web" is deleted
    Then application "web" is gone
    And "ConfigMap/settings" is on "member-1"
    And the diagnosis finds nothing
    When the administrator of "member-1" deletes "ConfigMap/settings"
    Then "ConfigMap/settings" is not on "member-1"

  # In the background go only the objects that belong to those of git, such as the Pods of a Deployment.
  @drift:argocd-app-deletion/policies/background
  Scenario: A deletion in the background waits for the objects, too
    Given an application "web" of repository "web" for "member-1"
    And application "web" syncs
    And application "web" is Synced and Healthy
    And somebody's finalizer holds "ConfigMap/settings" on "member-1"
    When application "web" is deleted with its resources in the background
    Then application "web" has for 15 seconds
      | field                 | value                                             |
      | metadata.finalizers.0 | resources-finalizer.argocd.argoproj.io/background |
    When somebody's finalizer releases "ConfigMap/settings" on "member-1"
    Then application "web" is gone
    And "ConfigMap/settings" is not on "member-1"
    And the diagnosis finds nothing

  @guide:argocd-app-deletion/app-of-apps/finalizer @guide:argocd-app-deletion/app-of-apps/without-finalizer
  Scenario: An application of applications is deleted, and only a child with the finalizer takes its resources along
    Given the administrator of "member-1" applies
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: first
      """
    And a repository "shop" with "east/settings.yaml"
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: east
      """
    And repository "shop" also has "west/settings.yaml"
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: west
      """
    And a repository "parent" with "children.yaml"
      """
      apiVersion: argoproj.io/v1alpha1
      kind: Application
      metadata:
        name: east-{suffix}
        namespace: argocd
        finalizers: [resources-finalizer.argocd.argoproj.io]
      spec:
        project: default
        source: {repoURL: "{url:shop}", path: east, targetRevision: HEAD}
        destination: {name: "{member-1}", namespace: "{apps}"}
        syncPolicy: {automated: {}}
      ---
      apiVersion: argoproj.io/v1alpha1
      kind: Application
      metadata:
        name: west-{suffix}
        namespace: argocd
      spec:
        project: default
        source: {repoURL: "{url:shop}", path: west, targetRevision: HEAD}
        destination: {name: "{member-1}", namespace: "{apps}"}
        syncPolicy: {automated: {}}
      """
    And an application "parent" of repository "parent" for the hub
    When application "parent" syncs
    Then application "parent" is Synced and Healthy
    And "ConfigMap/east" is on "member-1"
    And "ConfigMap/west" is on "member-1"
    When application "parent" is deleted with its resources
    Then application "parent" is gone
    And "ConfigMap/east" is not on "member-1"
    And "ConfigMap/west" is on "member-1"
    And the diagnosis finds nothing
