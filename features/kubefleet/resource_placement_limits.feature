@kubefleet
Feature: What a ResourcePlacement can place
  The guide "ResourcePlacement TSG", section "Important Considerations for ResourcePlacement": its namespace has to be on the members, and
  it selects objects of its own namespace only.

  @healthy @guide:resource-placement/namespace/pre-existing @guide:azure-resource-placement/namespace/pre-existing
  Scenario: The namespace was on the member before
    Given a namespaced placement "web" selects "member-1", where its namespace isn't
    When the administrator of "member-1" applies
      """
      apiVersion: v1
      kind: Namespace
      metadata: {name: "{web}-app"}
      """
    Then placement "web" becomes available on "member-1"
    And the diagnosis finds nothing

  @KF-AP-003 @guide:resource-placement/coordination @guide:azure-resource-placement/coordination
  Scenario: A ClusterResourcePlacement has placed the object already
    Given a cluster-scoped placement "base" has put its resources on "member-1"
    When a namespaced placement "web" selects what placement "base" places, for "member-1"
    Then placement "web" reports
      | on       | condition | status | reason                    | message             |
      | member-1 | Applied   | False  | NotAllWorkHaveBeenApplied | has failed to apply |
    And the diagnosis of placement "web" is KF-AP-003 for "member-1"
      | object             | value            |
      | ResourcePlacement/ | FailedToTakeOver |
      | ResourcePlacement/ | already owned by |
    When placement "web" is deleted
    Then the diagnosis finds nothing
    And a change to the resources of placement "base" arrives on "member-1"

  @healthy @guide:resource-placement/scope-limits/supported @guide:azure-resource-placement/scope-limits/supported
  Scenario: Objects of many kinds are placed
    Given a namespaced placement "web" has put its resources on "member-1"
    And the resources of placement "web" also include
      """
      apiVersion: v1
      kind: Secret
      metadata: {name: secret}
      ---
      apiVersion: v1
      kind: Service
      metadata: {name: service}
      spec: {ports: [{port: 80}]}
      ---
      apiVersion: apps/v1
      kind: Deployment
      metadata: {name: deployment}
      spec:
        replicas: 0
        selector: {matchLabels: {app: web}}
        template: {metadata: {labels: {app: web}}, spec: {containers: [{name: web, image: "nginx:1.29"}]}}
      ---
      apiVersion: apps/v1
      kind: StatefulSet
      metadata: {name: set}
      spec:
        replicas: 0
        serviceName: service
        selector: {matchLabels: {app: set}}
        template: {metadata: {labels: {app: set}}, spec: {containers: [{name: web, image: "nginx:1.29"}]}}
      ---
      apiVersion: batch/v1
      kind: Job
      metadata: {name: job}
      spec:
        suspend: true
        template: {spec: {restartPolicy: Never, containers: [{name: web, image: "nginx:1.29"}]}}
      """
    When placement "web" gets '{"resourceSelectors": [{"group": "", "version": "v1", "kind": "ConfigMap", "name": "settings"}, {"group": "", "version": "v1", "kind": "Secret", "name": "secret"}, {"group": "", "version": "v1", "kind": "Service", "name": "service"}, {"group": "apps", "version": "v1", "kind": "Deployment", "name": "deployment"}, {"group": "apps", "version": "v1", "kind": "StatefulSet", "name": "set"}, {"group": "batch", "version": "v1", "kind": "Job", "name": "job"}]}'
    Then object "Secret/{web}-app/secret" of "member-1" has
      | field         | value  |
      | metadata.name | secret |
    And object "Service/{web}-app/service" of "member-1" has
      | field         | value   |
      | metadata.name | service |
    And object "Deployment/{web}-app/deployment" of "member-1" has
      | field         | value      |
      | metadata.name | deployment |
    And object "StatefulSet/{web}-app/set" of "member-1" has
      | field         | value |
      | metadata.name | set   |
    And object "Job/{web}-app/job" of "member-1" has
      | field         | value |
      | metadata.name | job   |
    And placement "web" becomes available on "member-1"
    And the diagnosis finds nothing

  @KF-SC-003 @guide:resource-placement/scope-limits/cluster-scoped @guide:azure-resource-placement/scope-limits/cluster-scoped
  Scenario: A selector names a kind without namespaces
    Given a namespaced placement "web" has put its resources on "member-1"
    When placement "web" gets '{"resourceSelectors": [{"group": "rbac.authorization.k8s.io", "version": "v1", "kind": "ClusterRole", "name": "view"}]}'
    Then placement "web" reports
      | condition | status | reason                   |
      | Scheduled | False  | InvalidResourceSelectors |
    And the diagnosis of placement "web" is KF-SC-003
      | object             | value                    |
      | ResourcePlacement/ | InvalidResourceSelectors |
    When placement "web" gets '{"resourceSelectors": [{"group": "", "version": "v1", "kind": "ConfigMap", "name": "settings"}]}'
    Then placement "web" becomes available on "member-1"
    And the diagnosis finds nothing

  @KF-SC-011 @guide:resource-placement/scope-limits/other-namespaces @guide:azure-resource-placement/scope-limits/other-namespaces
  Scenario: A selector has the name of an object in another namespace
    Given a namespaced placement "web" has put its resources on "member-1"
    And a namespaced placement "other" has put its resources on "member-1"
    And the resources of placement "other" also include
      """
      apiVersion: v1
      kind: ConfigMap
      metadata: {name: elsewhere}
      """
    When placement "web" gets '{"resourceSelectors": [{"group": "", "version": "v1", "kind": "ConfigMap", "name": "elsewhere"}]}'
    Then placement "web" reports
      | condition | status |
      | Scheduled | True   |
      | Available | True   |
    And placement "web" has
      | field                    | value  |
      | status.selectedResources | absent |
    And the diagnosis of placement "web" is KF-SC-011
      | object             | value                     |
      | ResourcePlacement/ | SchedulingPolicyFulfilled |
      | ResourcePlacement/ | elsewhere                 |
    When placement "web" gets '{"resourceSelectors": [{"group": "", "version": "v1", "kind": "ConfigMap", "name": "settings"}]}'
    Then placement "web" becomes available on "member-1"
    And the diagnosis finds nothing
