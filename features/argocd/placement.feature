@argocd
Feature: Argo CD has applied a placement, and it doesn't arrive
  Argo CD puts a placement and what it selects on the hub, and KubeFleet carries that to the members. Argo CD's part ends on the
  hub: it knows no health of placements and calls the Application Synced and Healthy, whatever becomes of them. So the failure
  is looked for where it is, in the placement, and the Application is named below it, because git is where it is fixed: what
  is changed on the hub, the next sync takes back.

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
