@argocd @takes-120s
Feature: An application that is deleted doesn't go
  Argo CD deletes an Application's objects first, and lets the Application go when they are gone. It writes a condition for an error
  alone: whoever waits for an object, an operation or a confirmation sees nothing but a deletionTimestamp.

  Background:
    Given a repository "web" with "settings.yaml"
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: settings
      """

  @healthy
  @guide:argocd-app-deletion/kubectl/cascade
  Scenario: An application goes with its resources
    Given an application "web" of repository "web" for "member-1"
    And application "web" syncs
    And application "web" is Synced and Healthy
    When application "web" is deleted with its resources
    Then application "web" is gone
    And "ConfigMap/settings" is not on "member-1"
    And the diagnosis finds nothing

  @AR-DL-001
  @guide:argocd-app-deletion/policies/foreground
  Scenario: Somebody's finalizer holds one of its objects
    Given an application "web" of repository "web" for "member-1"
    And application "web" syncs
    And application "web" is Synced and Healthy
    And somebody's finalizer holds "ConfigMap/settings" on "member-1"
    When application "web" is deleted with its resources
    # A deletion that began some seconds ago is on its way.
    Then the diagnosis finds nothing
    And within 100 seconds the diagnosis of application "web" is AR-DL-001
      | object                    | value                                    |
      | Application/argocd/{web}  |                                          |
      | Application/argocd/{web}  | resources-finalizer.argocd.argoproj.io   |
      | ConfigMap/{apps}/settings |                                          |
      | ConfigMap/{apps}/settings | example.com/protect                      |
    # Argo CD says nothing of it.
    And application "web" reports
      | field         | value  |
      | DeletionError | absent |
    When somebody's finalizer releases "ConfigMap/settings" on "member-1"
    Then application "web" is gone
    And the diagnosis finds nothing

  @AR-DL-001
  Scenario: A namespace of the application isn't empty
    Given a repository "shop" with "namespace.yaml"
      """
      apiVersion: v1
      kind: Namespace
      metadata:
        name: shop-{suffix}
      """
    And an application "shop" of repository "shop" for "member-1"
    And application "shop" syncs
    And application "shop" is Synced and Healthy
    # Somebody has put an object into it that Argo CD doesn't know.
    And the administrator of "member-1" applies
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: theirs
        namespace: shop-{suffix}
        finalizers: [example.com/protect]
      """
    When application "shop" is deleted with its resources
    Then within 100 seconds the diagnosis of application "shop" is AR-DL-001
      | object                      | value                                  |
      | Application/argocd/{shop}   |                                        |
      | Application/argocd/{shop}   | resources-finalizer.argocd.argoproj.io |
      | Namespace/shop-{suffix}     |                                        |
      | Namespace/shop-{suffix}     | 1 resource instances                   |
      | Namespace/shop-{suffix}     | example.com/protect                    |
    When the administrator of "member-1" applies
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: theirs
        namespace: shop-{suffix}
      """
    Then application "shop" is gone
    And the diagnosis finds nothing

  @AR-DL-002 @disruptive
  Scenario: The destination refuses the deletion
    Given a member "east" of its own
    And an application "web" of repository "web" for "east"
    And application "web" syncs
    And application "web" is Synced and Healthy
    When Argo CD has only these rights on "east"
      """
      - apiGroups: ["*"]
        resources: ["*"]
        verbs: [get, list, watch]
      """
    And application "web" is deleted with its resources
    Then application "web" reports
      | field         | value                                                |
      | DeletionError | "settings" is forbidden |
    And within 100 seconds the diagnosis of application "web" is AR-DL-002
      | object                   | value                   |
      | Application/argocd/{web} |                         |
      | Application/argocd/{web} | "settings" is forbidden |
    # The change of the cluster's Secret makes Argo CD try again.
    When Argo CD has all rights on "east"
    Then application "web" is gone
    And the diagnosis finds nothing

  # A deletion that finds the hooks' manifests in the repo-server's cache runs them, although the repository is gone.
  @AR-DL-003
  @guide:argocd-faq/lost-repository/fix
  Scenario: Its hooks can't be rendered, because the branch is gone
    Given repository "web" also has "goodbye.yaml"
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: goodbye
        annotations:
          argocd.argoproj.io/hook: PostDelete
      """
    And an application "web" of repository "web" for "member-1"
    And application "web" syncs
    And application "web" is Synced and Healthy
    And somebody's finalizer holds "ConfigMap/settings" on "member-1"
    When application "web" is deleted with its resources
    And application "web" gets '{"source": {"targetRevision": "gone"}}'
    And somebody's finalizer releases "ConfigMap/settings" on "member-1"
    Then application "web" reports
      | field         | value                                         |
      | DeletionError | failed to generate manifest for source 1 of 1 |
    And within 100 seconds the diagnosis of application "web" is AR-DL-003
      | object                   | value                                         |
      | Application/argocd/{web} |                                               |
      | Application/argocd/{web} | failed to generate manifest for source 1 of 1 |
      | Application/argocd/{web} | post-delete-finalizer.argocd.argoproj.io      |
    When application "web" gets '{"source": {"targetRevision": "HEAD"}}'
    Then application "web" is gone
    # A hook without a deletion policy stays.
    And "ConfigMap/goodbye" is on "member-1"
    And the diagnosis finds nothing

  @AR-DL-004 @passes:AR-SF-006
  Scenario: A sync that waits holds the deletion
    Given repository "web" also has "service.yaml"
      """
      apiVersion: v1
      kind: Service
      metadata:
        name: web
        annotations:
          argocd.argoproj.io/sync-wave: "-1"
      spec:
        type: LoadBalancer
        selector: {app: web}
        ports: [{port: 80}]
      """
    And an application "web" of repository "web" for "member-1"
    When application "web" syncs
    Then the sync of application "web" still runs after 1 seconds: "waiting for healthy state of /Service/web"
    When application "web" is deleted with its resources
    Then within 100 seconds the diagnosis of application "web" is AR-DL-004
      | object                   | value                                     |
      | Application/argocd/{web} |                                           |
      | Application/argocd/{web} | waiting for healthy state of /Service/web |
      | Application/argocd/{web} |                                           |
    When the sync of application "web" is terminated
    Then application "web" is gone
    And the diagnosis finds nothing

  @AR-DL-005
  @guide:argocd-sync-options/delete-confirm
  Scenario: An object is deleted only after a confirmation
    Given repository "web" also has "data.yaml"
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: data
        annotations:
          argocd.argoproj.io/sync-options: Delete=confirm
      """
    And an application "web" of repository "web" for "member-1"
    And application "web" syncs
    And application "web" is Synced and Healthy
    When application "web" is deleted with its resources
    Then within 100 seconds the diagnosis of application "web" is AR-DL-005
      | object                   | value |
      | Application/argocd/{web} |       |
      | Application/argocd/{web} | true  |
    And application "web" reports
      | field         | value  |
      | DeletionError | absent |
    And "ConfigMap/data" is on "member-1"
    When the deletions of application "web" are confirmed
    Then application "web" is gone
    And "ConfigMap/data" is not on "member-1"
    And the diagnosis finds nothing

  # Argo CD drops its finalizers, and its log alone says so: nothing on the Application shows what stays behind.
  Scenario: An application whose cluster Argo CD doesn't know goes at once, and leaves its objects
    Given an application "web" of repository "web" for "member-1"
    And application "web" syncs
    And application "web" is Synced and Healthy
    When application "web" gets '{"destination": {"name": "nowhere"}}'
    And application "web" is deleted with its resources
    Then application "web" is gone
    And "ConfigMap/settings" is on "member-1"
    And the diagnosis finds nothing
