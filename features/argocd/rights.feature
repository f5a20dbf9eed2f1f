@argocd @disruptive @AR-SF-008
Feature: A sync fails because Argo CD may not do it on the destination
  Argo CD acts on a member with the identity in its cluster Secret. The API server refuses what it may not do.

  Background:
    Given a member "east" of its own
    And a repository "web" with "settings.yaml"
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: settings
      data:
        colour: blue
      """

  @guide:argocd-sync-failed/rbac/forbidden @guide:argocd-sync-failed/rbac/grant
  Scenario: It may read everything and create nothing
    Given Argo CD has only these rights on "east"
      """
      - apiGroups: ["*"]
        resources: ["*"]
        verbs: [get, list, watch]
      """
    And an application "web" of repository "web" for "east"
    When application "web" syncs
    Then the sync of application "web" fails
    And application "web" reports
      | field   | value                                                                                            |
      | sync    | OutOfSync                                                                                        |
      | phase   | Failed                                                                                           |
      | message | one or more objects failed to apply, reason:                                                     |
      | message | configmaps is forbidden: User "system:serviceaccount:kube-system:argocd-limited" cannot create resource "configmaps" in API group "" in the namespace "{apps}" |
    And the sync of application "web" reports of its resources
      | resource           | status     | phase  | message                                      |
      | ConfigMap/settings | SyncFailed | Failed | cannot create resource "configmaps"          |
    And the diagnosis of application "web" is AR-SF-008
      | object                   | value                               |
      | Application/argocd/{web} | cannot create resource "configmaps" |
    When the administrator of "east" applies
      """
      apiVersion: rbac.authorization.k8s.io/v1
      kind: Role
      metadata:
        name: deploy
      rules:
        - apiGroups: [""]
          resources: [configmaps]
          verbs: [create, update, patch, delete]
      ---
      apiVersion: rbac.authorization.k8s.io/v1
      kind: RoleBinding
      metadata:
        name: deploy
      roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: deploy}
      subjects:
        - {kind: ServiceAccount, namespace: kube-system, name: argocd-limited}
      """
    And application "web" syncs
    Then the sync of application "web" succeeds
    And application "web" is Synced and Healthy
    And the diagnosis finds nothing

  Scenario: It may not read what it applies
    Given an application "web" of repository "web" for "east"
    And application "web" syncs
    And application "web" is Synced and Healthy
    When Argo CD has only these rights on "east"
      """
      - apiGroups: ["*"]
        resources: ["*"]
        verbs: [list, watch, create, update, patch, delete]
      """
    And repository "web" also has "more.yaml"
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: more
      """
    And application "web" syncs
    Then the sync of application "web" fails
    And the sync of application "web" reports of its resources
      | resource       | status     | message                          |
      | ConfigMap/more | SyncFailed | cannot get resource "configmaps" |
    And the diagnosis of application "web" is AR-SF-008
      | object                   | value                            |
      | Application/argocd/{web} | cannot get resource "configmaps" |
    When Argo CD has all rights on "east"
    And application "web" syncs
    Then the sync of application "web" succeeds
    And application "web" is Synced and Healthy
    And the diagnosis finds nothing

  @drift:argocd-sync-failed/fix-it/never-rendered
  Scenario: It may not list what is there, and it looks as if the manifests couldn't be rendered
    Given Argo CD has only these rights on "east"
      """
      - apiGroups: ["*"]
        resources: ["*"]
        verbs: [get, create, update, patch, delete]
      """
    And an application "web" of repository "web" for "east"
    When application "web" syncs
    Then the sync of application "web" ends in an error
    And application "web" reports
      | field           | value                                |
      | sync            | Unknown                              |
      | phase           | Error                                |
      | message         | ComparisonError: Failed to load live state: failed to get cluster info |
      | ComparisonError | cannot list resource                 |
    And the diagnosis of application "web" is AR-SF-008
      | object                   | value                |
      | Application/argocd/{web} | cannot list resource |
    When Argo CD has all rights on "east"
    And application "web" syncs
    Then the sync of application "web" succeeds
    And application "web" is Synced and Healthy
    And the diagnosis finds nothing
