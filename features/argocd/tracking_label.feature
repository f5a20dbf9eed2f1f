@argocd @disruptive
Feature: Argo CD tells by a label what an Application owns
  With application.resourceTrackingMethod: label, every object on the destination that carries the label app.kubernetes.io/instance with an
  Application's name counts as that Application's. Charts and operators set the same label.

  Background:
    Given a fleet of its own with 1 member and Argo CD
    And the setting "application.resourceTrackingMethod" of Argo CD is "label"
    And a repository "web" with "kustomization.yaml"
      """
      resources: [settings.yaml]
      labels:
        - pairs: {app.kubernetes.io/instance: release}
      """
    And repository "web" also has "settings.yaml"
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: settings
      """
    And an application "web" of repository "web" for "member-1"
    And application "web" syncs
    And application "web" is Synced and Healthy

  @AR-OS-008
  Scenario: Somebody else's object has an Application's name in the label
    When the administrator of "member-1" applies
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: foreign
        labels: {app.kubernetes.io/instance: "{web}"}
      """
    Then application "web" reports
      | field  | value     |
      | sync   | OutOfSync |
      | health | Healthy   |
    And the diagnosis of application "web" is AR-OS-008
      | object                    | value              |
      | Application/argocd/{web}  | true               |
      | ConfigMap/{apps}/foreign  | {web}              |
      | ConfigMap/{apps}/foreign  | fleetdrill (Apply) |
    # A sync leaves it as it is, unless it prunes.
    When application "web" syncs
    Then the sync of application "web" succeeds
    And the sync of application "web" reports of its resources
      | resource           | status       | phase     | message                    |
      | ConfigMap/foreign  | PruneSkipped | Succeeded | ignored (requires pruning) |
    And the diagnosis of application "web" is AR-OS-008
    When the administrator of "member-1" applies
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: foreign
        labels: {app.kubernetes.io/instance: release}
      """
    Then application "web" is Synced and Healthy
    And the diagnosis finds nothing

  @healthy
  Scenario: The manifests set the label, and Argo CD overwrites it
    Then object "ConfigMap/{apps}/settings" of "member-1" has
      | field                                      | value |
      | metadata.labels.app.kubernetes.io/instance | {web} |
    When the administrator of "member-1" applies
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: foreign
        labels: {app.kubernetes.io/instance: release}
      """
    And application "web" is refreshed
    Then application "web" is Synced and Healthy
    And the diagnosis finds nothing
