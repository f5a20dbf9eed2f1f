@kubefleet @disruptive
Feature: KubeFleet's webhooks on the hub
  KubeFleet's chart starts the hub-agent with webhooks: the API server of the hub asks the hub-agent before it creates Pods, ReplicaSets and
  KubeFleet's own objects. Most of them fail closed: what can't be asked is refused. No guide describes this.

  @healthy @takes-60s
  Scenario: A fleet with webhooks
    Given a fleet of its own with 1 member and KubeFleet's webhooks
    And a placement "web" has put its resources on "member-1"
    Then the hub would create
      """
      apiVersion: v1
      kind: Pod
      metadata: {name: agent, namespace: fleet-system}
      spec: {containers: [{name: agent, image: agent}]}
      """
    And a change to the resources of placement "web" arrives on "member-1"
    When the hub-agent is restarted
    Then a change to the resources of placement "web" arrives on "member-1"
    And the diagnosis finds nothing

  # Pods and ReplicaSets of any other controller on the hub are refused, too: Flux and cert-manager can't run there, unless the
  # hub-agent is started with --enable-workload=true. Objects that are only placed, such as a Deployment, are admitted.
  @healthy @takes-60s
  Scenario: The webhooks refuse workloads on the hub, and invalid placements
    Given a fleet of its own with 1 member and KubeFleet's webhooks
    Then the hub refuses with 'admission webhook "fleet.pod.validating" denied the request' to create
      """
      apiVersion: v1
      kind: Pod
      metadata: {name: flux, namespace: default}
      spec: {containers: [{name: flux, image: flux}]}
      """
    And the hub refuses with 'admission webhook "fleet.replicaset.validating" denied the request' to create
      """
      apiVersion: apps/v1
      kind: ReplicaSet
      metadata: {name: flux, namespace: default}
      spec:
        selector: {matchLabels: {app: flux}}
        template:
          metadata: {labels: {app: flux}}
          spec: {containers: [{name: flux, image: flux}]}
      """
    And the hub would create
      """
      apiVersion: apps/v1
      kind: Deployment
      metadata: {name: flux, namespace: default}
      spec:
        selector: {matchLabels: {app: flux}}
        template:
          metadata: {labels: {app: flux}}
          spec: {containers: [{name: flux, image: flux}]}
      """
    And the hub refuses with 'admission webhook "fleet.clusterresourceplacementv1beta1.validating" denied the request' to create
      """
      apiVersion: placement.kubernetes-fleet.io/v1beta1
      kind: ClusterResourcePlacement
      metadata: {name: invalid}
      spec:
        resourceSelectors: [{group: "", version: v1, kind: Namespace, name: default}]
        policy: {placementType: PickFixed, clusterNames: [one, one]}
      """
    When a placement "web" selects "member-1"
    Then placement "web" becomes available on "member-1"
    And the diagnosis finds nothing

  @KF-HA-001 @KF-HA-002 @takes-120s
  Scenario: The hub-agent has stopped, and nobody answers its webhooks
    Given a fleet of its own with 1 member and KubeFleet's webhooks
    And a placement "web" has put its resources on "member-1"
    When the hub-agent stops
    # Also the Pod of the next hub-agent: with the Deployment of KubeFleet's chart, the hub-agent can't come back by itself.
    Then the hub refuses with 'failed calling webhook "fleet.pod.validating"' to create
      """
      apiVersion: v1
      kind: Pod
      metadata: {name: hub-agent, namespace: fleet-system}
      spec: {containers: [{name: hub-agent, image: hub-agent}]}
      """
    And the hub refuses with 'failed calling webhook "fleet.clusterresourceplacementv1beta1.validating"' to create
      """
      apiVersion: placement.kubernetes-fleet.io/v1beta1
      kind: ClusterResourcePlacement
      metadata: {name: second}
      spec:
        resourceSelectors: [{group: "", version: v1, kind: Namespace, name: default}]
      """
    And the diagnosis of object "ValidatingWebhookConfiguration/fleet-validating-webhook-configuration" of the hub is KF-HA-002, because of KF-HA-001
      | object                                                                | value |
      | ValidatingWebhookConfiguration/fleet-validating-webhook-configuration | Fail  |
    When object "ValidatingWebhookConfiguration/fleet-validating-webhook-configuration" of the hub is deleted
    Then the hub would create
      """
      apiVersion: v1
      kind: Pod
      metadata: {name: hub-agent, namespace: fleet-system}
      spec: {containers: [{name: hub-agent, image: hub-agent}]}
      """
    When the hub-agent is restarted
    Then the hub refuses with 'admission webhook "fleet.pod.validating" denied the request' to create
      """
      apiVersion: v1
      kind: Pod
      metadata: {name: flux, namespace: default}
      spec: {containers: [{name: flux, image: flux}]}
      """
    And a change to the resources of placement "web" arrives on "member-1"
    And the diagnosis finds nothing

  @KF-HA-001 @KF-HA-002 @takes-120s
  Scenario: The hub-agent hangs, and nobody answers its webhooks
    Given a fleet of its own with 1 member and KubeFleet's webhooks
    And a placement "web" has put its resources on "member-1"
    When the hub-agent hangs
    Then the hub refuses with 'failed calling webhook "fleet.clusterresourceplacementv1beta1.validating"' to create
      """
      apiVersion: placement.kubernetes-fleet.io/v1beta1
      kind: ClusterResourcePlacement
      metadata: {name: second}
      spec:
        resourceSelectors: [{group: "", version: v1, kind: Namespace, name: default}]
      """
    And the diagnosis of object "ValidatingWebhookConfiguration/fleet-validating-webhook-configuration" of the hub is KF-HA-002, because of KF-HA-001
    When the hub-agent is restarted
    Then a change to the resources of placement "web" arrives on "member-1"
    And the diagnosis finds nothing

  # The twin: a restart takes the hub-agent some seconds, and the API server refuses meanwhile. Nothing counts as wrong.
  @healthy @takes-60s
  Scenario: The hub-agent with webhooks is restarted
    Given a fleet of its own with 1 member and KubeFleet's webhooks
    And a placement "web" has put its resources on "member-1"
    When the hub-agent stops
    Then the hub refuses with 'failed calling webhook "fleet.pod.validating"' to create
      """
      apiVersion: v1
      kind: Pod
      metadata: {name: agent, namespace: fleet-system}
      spec: {containers: [{name: agent, image: agent}]}
      """
    And the diagnosis finds nothing
    When the hub-agent is restarted
    Then a change to the resources of placement "web" arrives on "member-1"
    And the diagnosis finds nothing
