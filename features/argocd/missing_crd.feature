@argocd @AR-SF-003
Feature: A sync fails because the cluster doesn't know a kind
  Before it applies anything, Argo CD looks up each kind of the manifests on the destination. A kind that doesn't exist
  there fails the whole sync, unless the manifests contain its CustomResourceDefinition.

  @guide:argocd-sync-failed/diagnose/missing-crd @guide:argocd-sync-failed/missing-crd/not-found @guide:argocd-sync-failed/missing-crd/crd-first
  @guide:argocd-sync-options/skip-dry-run/error
  Scenario: The CustomResourceDefinition is missing
    Given a repository "web" with "gadget.yaml"
      """
      apiVersion: example-{suffix}.io/v1
      kind: Gadget
      metadata:
        name: blue
      """
    And repository "web" also has "settings.yaml"
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: settings
      """
    And an application "web" of repository "web" for "member-2"
    When application "web" syncs
    Then the sync of application "web" fails
    And application "web" reports
      | field   | value                                            |
      | sync    | OutOfSync                                        |
      | phase   | Failed                                           |
      | message | one or more synchronization tasks are not valid  |
    And the sync of application "web" reports of its resources
      | resource    | status     | phase | message                                                                             |
      | Gadget/blue | SyncFailed | empty | The Kubernetes API could not find example-{suffix}.io/Gadget for requested resource {apps}/blue. Make sure the "Gadget" CRD is installed on the destination cluster. |
    And "ConfigMap/settings" is not on "member-2"
    And the diagnosis of application "web" is AR-SF-003
      | object                                               | value                                     |
      | Application/argocd/{web}                             | could not find example-{suffix}.io/Gadget |
      | CustomResourceDefinition/gadgets.example-{suffix}.io | (no such object)                          |
    When the administrator of "member-2" applies
      """
      apiVersion: apiextensions.k8s.io/v1
      kind: CustomResourceDefinition
      metadata:
        name: gadgets.example-{suffix}.io
      spec:
        group: example-{suffix}.io
        names: {kind: Gadget, plural: gadgets}
        scope: Namespaced
        versions:
          - name: v1
            served: true
            storage: true
            schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
      """
    And application "web" syncs
    Then the sync of application "web" succeeds
    When application "web" is refreshed until it is well
    Then application "web" is Synced and Healthy
    And the diagnosis finds nothing

  Scenario: A kind of that name is there, in another group
    Given a repository "web" with "trinket.yaml"
      """
      apiVersion: other-{suffix}.io/v1
      kind: Trinket
      metadata:
        name: blue
      """
    And an application "web" of repository "web" for "member-2"
    # Argo CD names the installed version only if it has seen the CRD being created. If the CRD existed when Argo CD
    # first read the cluster, but wasn't served yet, Argo CD never names the version.
    And the administrator of "member-2" applies
      """
      apiVersion: apiextensions.k8s.io/v1
      kind: CustomResourceDefinition
      metadata:
        name: trinkets.other-{suffix}.io
      spec:
        group: other-{suffix}.io
        names: {kind: Trinket, plural: trinkets}
        scope: Namespaced
        versions:
          - name: v1
            served: true
            storage: true
            schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
      """
    And application "web" syncs
    And the sync of application "web" succeeds
    When application "web" is refreshed until it is well
    And "trinket.yaml" of repository "web" becomes
      """
      apiVersion: example-{suffix}.io/v1
      kind: Trinket
      metadata:
        name: blue
      """
    And application "web" syncs
    Then the sync of application "web" fails
    # The message names a version, although the whole group is missing.
    And the sync of application "web" reports of its resources
      | resource     | status     | phase | message                                                              |
      | Trinket/blue | SyncFailed | empty | could not find version "v1" of example-{suffix}.io/Trinket           |
      | Trinket/blue | SyncFailed | empty | Version "v1" of other-{suffix}.io/Trinket is installed on the destination cluster |
    And the diagnosis of application "web" is AR-SF-003
    When "trinket.yaml" of repository "web" is corrected to
      """
      apiVersion: other-{suffix}.io/v1
      kind: Trinket
      metadata:
        name: blue
      """
    And application "web" syncs
    Then the sync of application "web" succeeds
    When application "web" is refreshed until it is well
    Then application "web" is Synced and Healthy
    And the diagnosis finds nothing

  Scenario: The CustomResourceDefinition has another version
    Given a repository "web" with "widget.yaml"
      """
      apiVersion: example-{suffix}.io/v1
      kind: Widget
      metadata:
        name: blue
      """
    And an application "web" of repository "web" for "member-2"
    # Argo CD names the installed version only if it has seen the CRD being created. If the CRD existed when Argo CD
    # first read the cluster, but wasn't served yet, Argo CD never names the version.
    And the administrator of "member-2" applies
      """
      apiVersion: apiextensions.k8s.io/v1
      kind: CustomResourceDefinition
      metadata:
        name: widgets.example-{suffix}.io
      spec:
        group: example-{suffix}.io
        names: {kind: Widget, plural: widgets}
        scope: Namespaced
        versions:
          - name: v1
            served: true
            storage: true
            schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
      """
    And application "web" syncs
    And the sync of application "web" succeeds
    When application "web" is refreshed until it is well
    And "widget.yaml" of repository "web" becomes
      """
      apiVersion: example-{suffix}.io/v2
      kind: Widget
      metadata:
        name: blue
      """
    And application "web" syncs
    Then the sync of application "web" fails
    And application "web" reports
      | field   | value                                           |
      | phase   | Failed                                          |
      | message | one or more synchronization tasks are not valid |
    And the sync of application "web" reports of its resources
      | resource    | status     | phase | message                                                       |
      | Widget/blue | SyncFailed | empty | could not find version "v2" of example-{suffix}.io/Widget     |
      | Widget/blue | SyncFailed | empty | Version "v1" of example-{suffix}.io/Widget is installed on the destination cluster |
    And the diagnosis of application "web" is AR-SF-003
    When "widget.yaml" of repository "web" is corrected to
      """
      apiVersion: example-{suffix}.io/v1
      kind: Widget
      metadata:
        name: blue
      """
    And application "web" syncs
    Then the sync of application "web" succeeds
    When application "web" is refreshed until it is well
    Then application "web" is Synced and Healthy
    And the diagnosis finds nothing

  @guide:argocd-sync-failed/missing-crd/no-matches @guide:argocd-sync-failed/missing-crd/skip-dry-run @guide:argocd-sync-options/skip-dry-run/option
  Scenario: The look-up is skipped, and the API server says the same
    Given a repository "web" with "gizmo.yaml"
      """
      apiVersion: example-{suffix}.io/v1
      kind: Gizmo
      metadata:
        name: blue
      """
    And an application "web" of repository "web" for "member-2" with '{"syncPolicy": {"syncOptions": ["SkipDryRunOnMissingResource=true"]}}'
    When application "web" syncs
    Then the sync of application "web" fails
    And application "web" reports
      | field   | value                                            |
      | phase   | Failed                                           |
      | message | one or more objects failed to apply, reason:     |
      | message | no matches for kind "Gizmo" in version "example-{suffix}.io/v1" |
    And the sync of application "web" reports of its resources
      | resource    | status     | phase  | message                     |
      | Gizmo/blue | SyncFailed | Failed | ensure CRDs are installed first |
    And the diagnosis of application "web" is AR-SF-003
    When the administrator of "member-2" applies
      """
      apiVersion: apiextensions.k8s.io/v1
      kind: CustomResourceDefinition
      metadata:
        name: gizmos.example-{suffix}.io
      spec:
        group: example-{suffix}.io
        names: {kind: Gizmo, plural: gizmos}
        scope: Namespaced
        versions:
          - name: v1
            served: true
            storage: true
            schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
      """
    And application "web" syncs
    Then the sync of application "web" succeeds
    When application "web" is refreshed until it is well
    Then application "web" is Synced and Healthy
    And the diagnosis finds nothing

  @drift:argocd-sync-failed/missing-crd/wave @guide:argocd-sync-options/skip-dry-run/same-sync
  Scenario: The CustomResourceDefinition is in the same application and the same wave, and at most a retry is needed
    Given a repository "web" with "sprocket.yaml"
      """
      apiVersion: example-{suffix}.io/v1
      kind: Sprocket
      metadata:
        name: blue
      """
    And repository "web" also has "crd.yaml"
      """
      apiVersion: apiextensions.k8s.io/v1
      kind: CustomResourceDefinition
      metadata:
        name: sprockets.example-{suffix}.io
      spec:
        group: example-{suffix}.io
        names: {kind: Sprocket, plural: sprockets}
        scope: Namespaced
        versions:
          - name: v1
            served: true
            storage: true
            schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
      """
    And an application "web" of repository "web" for "member-2"
    # The CRD is applied first. A busy API server may not serve the new kind yet when its object is applied.
    When application "web" syncs with "--retry-limit=3"
    Then the sync of application "web" succeeds
    # Argo CD begins to watch a new kind a moment after its objects were created, and may have missed them.
    When application "web" is refreshed until it is well
    Then application "web" is Synced and Healthy
    And the diagnosis finds nothing
