@kubefleet @takes-120s
Feature: Something isn't well, and no known cause fits
  What isn't well for longer than is usual is never left out, whether or not its cause is known.

  # Somebody's policy refuses what the hub-agent writes into the placement's status. The ConfigMap tells when it begins to.
  @KF-XX-001
  Scenario: A placement that gets no status
    Given a placement "base" has put its resources on "member-1"
    When the administrator of the hub applies
      """
      apiVersion: admissionregistration.k8s.io/v1
      kind: ValidatingAdmissionPolicy
      metadata: {name: "frozen-{suffix}"}
      spec:
        failurePolicy: Fail
        matchConstraints:
          resourceRules:
            - {apiGroups: [placement.kubernetes-fleet.io], apiVersions: ["*"], operations: [UPDATE], resources: [clusterresourceplacements/status]}
            - {apiGroups: [""], apiVersions: ["*"], operations: [CREATE, UPDATE], resources: [configmaps]}
        matchConditions:
          - {name: ours, expression: "object.metadata.name == 'web-{suffix}'"}
        validations:
          - {expression: "false", message: the status is frozen}
      ---
      apiVersion: admissionregistration.k8s.io/v1
      kind: ValidatingAdmissionPolicyBinding
      metadata: {name: "frozen-{suffix}"}
      spec: {policyName: "frozen-{suffix}", validationActions: [Deny]}
      """
    And the hub refuses with "the status is frozen" to create
      """
      apiVersion: v1
      kind: ConfigMap
      metadata: {name: "web-{suffix}", namespace: "{base}-app"}
      """
    When a placement "web" selects what placement "base" places, for "member-2"
    # A placement that was made some seconds ago is on its way.
    Then the diagnosis finds nothing
    And within 90 seconds the diagnosis of placement "web" is KF-XX-001
      | object                         | value    |
      | ClusterResourcePlacement/{web} | (absent) |
    When object "ValidatingAdmissionPolicyBinding/frozen-{suffix}" of the hub is deleted
    Then placement "web" becomes available on "member-2"
    And the diagnosis finds nothing
