@kubefleet @disruptive
Feature: The hub no longer serves the version of a selected resource
  A CustomResourceDefinition on the hub stops serving a version, as when an operator is upgraded, and a placement selects an object by that
  version. No guide describes this.

  @KF-SC-003 @takes-90s
  Scenario: The selected version isn't served any more
    Given a fleet of its own with 1 member
    And the administrator of the hub applies
      """
      apiVersion: apiextensions.k8s.io/v1
      kind: CustomResourceDefinition
      metadata: {name: "gadgets.example-{suffix}.io"}
      spec:
        group: example-{suffix}.io
        names: {kind: Gadget, plural: gadgets}
        scope: Cluster
        versions:
          - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
      """
    And the administrator of "member-1" applies
      """
      apiVersion: apiextensions.k8s.io/v1
      kind: CustomResourceDefinition
      metadata: {name: "gadgets.example-{suffix}.io"}
      spec:
        group: example-{suffix}.io
        names: {kind: Gadget, plural: gadgets}
        scope: Cluster
        versions:
          - {name: v1, served: true, storage: false, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
          - {name: v2, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
      """
    And the administrator of the hub applies
      """
      apiVersion: example-{suffix}.io/v1
      kind: Gadget
      metadata: {name: "blue-{suffix}"}
      spec: {colour: blue}
      """
    When the hub-agent is restarted
    And a placement "web" for "member-1" is created with
      """
      resourceSelectors: [{group: "example-{suffix}.io", version: v1, kind: Gadget, name: "blue-{suffix}"}]
      """
    Then placement "web" reports
      | on | condition | status | reason            |
      |    | Available | True   | ResourceAvailable |
    When object "CustomResourceDefinition/gadgets.example-{suffix}.io" of the hub gets '{"versions": [{"name": "v1", "served": false, "storage": false, "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}}}, {"name": "v2", "served": true, "storage": true, "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}}}]}'
    And the hub-agent is restarted
    Then placement "web" reports
      | on | condition | status | reason                   |
      |    | Scheduled | False  | InvalidResourceSelectors |
    And the diagnosis of placement "web" is KF-SC-003
    When placement "web" gets '{"resourceSelectors": [{"group": "example-{suffix}.io", "version": "v2", "kind": "Gadget", "name": "blue-{suffix}"}]}'
    Then placement "web" reports
      | on | condition | status | reason            |
      |    | Available | True   | ResourceAvailable |
    And the diagnosis finds nothing

  # The hub serves both versions, and discovery prefers v2. The hub-agent knows the scope of preferred versions only, and takes any other
  # one for namespace-scoped.
  @KF-SC-003 @takes-90s
  Scenario: The selected version is served, and another one is preferred
    Given a fleet of its own with 1 member
    And the administrator of the hub applies
      """
      apiVersion: apiextensions.k8s.io/v1
      kind: CustomResourceDefinition
      metadata: {name: "gadgets.example-{suffix}.io"}
      spec:
        group: example-{suffix}.io
        names: {kind: Gadget, plural: gadgets}
        scope: Cluster
        versions:
          - {name: v1, served: true, storage: false, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
          - {name: v2, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
      """
    And the administrator of "member-1" applies
      """
      apiVersion: apiextensions.k8s.io/v1
      kind: CustomResourceDefinition
      metadata: {name: "gadgets.example-{suffix}.io"}
      spec:
        group: example-{suffix}.io
        names: {kind: Gadget, plural: gadgets}
        scope: Cluster
        versions:
          - {name: v2, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
      """
    And the administrator of the hub applies
      """
      apiVersion: example-{suffix}.io/v1
      kind: Gadget
      metadata: {name: "blue-{suffix}"}
      spec: {colour: blue}
      """
    When the hub-agent is restarted
    And a placement "web" for "member-1" is created with
      """
      resourceSelectors: [{group: "example-{suffix}.io", version: v1, kind: Gadget, name: "blue-{suffix}"}]
      """
    Then placement "web" reports
      | on | condition | status | reason                   | message                              |
      |    | Scheduled | False  | InvalidResourceSelectors | cannot select namespace-scoped resource |
    And the diagnosis of placement "web" is KF-SC-003
    When placement "web" gets '{"resourceSelectors": [{"group": "example-{suffix}.io", "version": "v2", "kind": "Gadget", "name": "blue-{suffix}"}]}'
    Then placement "web" reports
      | on | condition | status | reason            |
      |    | Available | True   | ResourceAvailable |
    And the diagnosis finds nothing
