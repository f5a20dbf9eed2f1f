@argocd
Feature: Argo CD has applied a placement, and it doesn't arrive
  Argo CD creates a placement and its resources on the hub, and KubeFleet takes the resources to the members. Argo CD
  has no health check for placements: it calls the Application Synced and Healthy even if the placement fails. So the
  diagnosis names the placement, where the failure is, and below it the Application. The fix belongs in git: the next
  sync reverts a change that was made on the hub.

  @AR-SF-015 @KF-SC-002
  Scenario: The placement names a member that doesn't exist
    Given a repository "web" with "web.yaml"
      """
      apiVersion: v1
      kind: Namespace
      metadata:
        name: web-{suffix}
      ---
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: settings
        namespace: web-{suffix}
      data:
        revision: "0"
      """
    And repository "web" also has "placement.yaml"
      """
      apiVersion: placement.kubernetes-fleet.io/v1beta1
      kind: ClusterResourcePlacement
      metadata:
        name: web-{suffix}
      spec:
        resourceSelectors:
          - {group: "", version: v1, kind: Namespace, name: "web-{suffix}"}
        policy:
          placementType: PickFixed
          clusterNames: [nowhere]
      """
    And an application "web" of repository "web" for the hub
    When application "web" syncs
    Then the sync of application "web" succeeds
    And application "web" is Synced and Healthy
    And placement "web" is on the hub
    And placement "web" reports
      | on | condition | status | reason                      |
      |    | Scheduled | False  | SchedulingPolicyUnfulfilled |
    And the diagnosis of placement "web" is KF-SC-002
    And the diagnosis of application "web" is AR-SF-015, because of KF-SC-002
      | object                         | value   |
      | Application/argocd/{web}       | Synced  |
      | Application/argocd/{web}       | Healthy |
      | ClusterResourcePlacement/{web} | {web}:  |
    When "placement.yaml" of repository "web" is corrected to
      """
      apiVersion: placement.kubernetes-fleet.io/v1beta1
      kind: ClusterResourcePlacement
      metadata:
        name: web-{suffix}
      spec:
        resourceSelectors:
          - {group: "", version: v1, kind: Namespace, name: "web-{suffix}"}
        policy:
          placementType: PickFixed
          clusterNames: [member-1]
      """
    And application "web" syncs
    Then the sync of application "web" succeeds
    And placement "web" becomes available on "member-1"
    And application "web" is Synced and Healthy
    And the diagnosis finds nothing
