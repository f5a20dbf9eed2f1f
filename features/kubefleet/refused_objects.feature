@kubefleet
Feature: A member refuses an object
  The member agent tries to apply an object, and the member's API server doesn't take it; or the agent itself refuses to try. The
  placement lists the object with the agent's reason, and with the API server's words.

  @KF-AP-010 @needs-envelopes
  Scenario Outline: An enveloped object has a generateName and no name: <placement>
    Given <placement> "web" has put its resources on "member-1"
    When the resources of placement "web" also include
      """
      apiVersion: placement.kubernetes-fleet.io/v1beta1
      kind: ResourceEnvelope
      metadata: {name: wrapped}
      data:
        one.yaml: {apiVersion: v1, kind: ConfigMap, metadata: {generateName: "extra-", namespace: "{web}-app"}}
      """
    Then placement "web" reports
      | on       | condition        | status | reason                    | message             |
      |          | WorkSynchronized | True   | WorkSynchronized          |                     |
      | member-1 | Applied          | False  | NotAllWorkHaveBeenApplied | has failed to apply |
    And the diagnosis of placement "web" is KF-AP-010 for "member-1"
      | object             | value                                            |
      | ResourcePlacement/ | FoundGenerateName                                |
      | ResourcePlacement/ | objects with only generate name are not supported |
    When the resources of placement "web" also include
      """
      apiVersion: placement.kubernetes-fleet.io/v1beta1
      kind: ResourceEnvelope
      metadata: {name: wrapped}
      data:
        one.yaml: {apiVersion: v1, kind: ConfigMap, metadata: {name: extra, namespace: "{web}-app"}}
      """
    Then placement "web" becomes available on "member-1"
    And the diagnosis finds nothing

    Examples:
      | placement                  |
      | a cluster-scoped placement |
      | a namespaced placement     |

  @KF-AP-011 @needs-envelopes
  Scenario Outline: An envelope has the same object twice: <placement>
    Given <placement> "web" has put its resources on "member-1"
    When the resources of placement "web" also include
      """
      apiVersion: placement.kubernetes-fleet.io/v1beta1
      kind: ResourceEnvelope
      metadata: {name: wrapped}
      data:
        one.yaml: {apiVersion: v1, kind: ConfigMap, metadata: {name: extra, namespace: "{web}-app"}, data: {a: "1"}}
        two.yaml: {apiVersion: v1, kind: ConfigMap, metadata: {name: extra, namespace: "{web}-app"}, data: {a: "2"}}
      """
    Then placement "web" reports
      | on       | condition        | status | reason                    | message             |
      |          | WorkSynchronized | True   | WorkSynchronized          |                     |
      | member-1 | Applied          | False  | NotAllWorkHaveBeenApplied | has failed to apply |
    And the diagnosis of placement "web" is KF-AP-011 for "member-1"
      | object             | value                            |
      | ResourcePlacement/ | Duplicated                       |
      | ResourcePlacement/ | a duplicate manifest has been found |
    And object "ConfigMap/{web}-app/extra" of "member-1" has
      | field  | value |
      | data.a | 2     |
    When the resources of placement "web" also include
      """
      apiVersion: placement.kubernetes-fleet.io/v1beta1
      kind: ResourceEnvelope
      metadata: {name: wrapped}
      data:
        one.yaml: {apiVersion: v1, kind: ConfigMap, metadata: {name: extra, namespace: "{web}-app"}, data: {a: "1"}}
      """
    Then placement "web" becomes available on "member-1"
    And the diagnosis finds nothing

    Examples:
      | placement                  |
      | a cluster-scoped placement |
      | a namespaced placement     |

  @KF-AP-011 @needs-envelopes
  Scenario: An object is selected and wrapped too
    Given a cluster-scoped placement "web" has put its resources on "member-1"
    When the resources of placement "web" also include
      """
      apiVersion: placement.kubernetes-fleet.io/v1beta1
      kind: ResourceEnvelope
      metadata: {name: wrapped}
      data:
        one.yaml: {apiVersion: v1, kind: ConfigMap, metadata: {name: settings, namespace: "{web}-app"}}
      """
    Then placement "web" reports
      | on       | condition | status | reason                    | message             |
      | member-1 | Applied   | False  | NotAllWorkHaveBeenApplied | has failed to apply |
    And the diagnosis of placement "web" is KF-AP-011 for "member-1"
      | object             | value            |
      | ResourcePlacement/ | FailedToTakeOver |
    When the resources of placement "web" also include
      """
      apiVersion: placement.kubernetes-fleet.io/v1beta1
      kind: ResourceEnvelope
      metadata: {name: wrapped}
      data:
        one.yaml: {apiVersion: v1, kind: ConfigMap, metadata: {name: extra, namespace: "{web}-app"}}
      """
    Then placement "web" becomes available on "member-1"
    And the diagnosis finds nothing

  @healthy @needs-envelopes
  Scenario Outline: An envelope with two objects: <placement>
    Given <placement> "web" has put its resources on "member-1"
    When the resources of placement "web" also include
      """
      apiVersion: placement.kubernetes-fleet.io/v1beta1
      kind: ResourceEnvelope
      metadata: {name: wrapped}
      data:
        one.yaml: {apiVersion: v1, kind: ConfigMap, metadata: {name: one, namespace: "{web}-app"}, data: {a: "1"}}
        two.yaml: {apiVersion: v1, kind: ConfigMap, metadata: {name: two, namespace: "{web}-app"}, data: {a: "2"}}
      """
    Then the diagnosis finds nothing while placement "web" becomes available on "member-1"
    And object "ConfigMap/{web}-app/two" of "member-1" has
      | field  | value |
      | data.a | 2     |

    Examples:
      | placement                  |
      | a cluster-scoped placement |
      | a namespaced placement     |

  @KF-AP-012 @needs-envelopes
  Scenario Outline: An immutable ConfigMap is changed in its envelope: <placement>
    Given <placement> "web" has put its resources on "member-1"
    And the resources of placement "web" also include
      """
      apiVersion: placement.kubernetes-fleet.io/v1beta1
      kind: ResourceEnvelope
      metadata: {name: wrapped}
      data:
        one.yaml: {apiVersion: v1, kind: ConfigMap, metadata: {name: fixed, namespace: "{web}-app"}, immutable: true, data: {a: "1"}}
      """
    And placement "web" becomes available on "member-1"
    When the resources of placement "web" also include
      """
      apiVersion: placement.kubernetes-fleet.io/v1beta1
      kind: ResourceEnvelope
      metadata: {name: wrapped}
      data:
        one.yaml: {apiVersion: v1, kind: ConfigMap, metadata: {name: fixed, namespace: "{web}-app"}, immutable: true, data: {a: "2"}}
      """
    Then placement "web" reports
      | on       | condition        | status | reason                    | message             |
      |          | WorkSynchronized | True   | WorkSynchronized          |                     |
      | member-1 | Applied          | False  | NotAllWorkHaveBeenApplied | has failed to apply |
    And the diagnosis of placement "web" is KF-AP-012 for "member-1"
      | object             | value                                         |
      | ResourcePlacement/ | ManifestApplyFailed                           |
      | ResourcePlacement/ | field is immutable when `immutable` is set    |
    When object "ConfigMap/{web}-app/fixed" of "member-1" is deleted
    Then placement "web" becomes available on "member-1"
    And object "ConfigMap/{web}-app/fixed" of "member-1" has
      | field  | value |
      | data.a | 2     |
    And the diagnosis finds nothing

    Examples:
      | placement                  |
      | a cluster-scoped placement |
      | a namespaced placement     |

  @KF-AP-013
  Scenario Outline: A quota of the member is used up: <placement>
    Given <placement> "web" has put its resources on "member-1"
    And the administrator of "member-1" applies
      """
      apiVersion: v1
      kind: ResourceQuota
      metadata: {name: objects, namespace: "{web}-app"}
      spec: {hard: {count/configmaps: "1"}}
      """
    And object "ResourceQuota/{web}-app/objects" of "member-1" has
      | field                        | value |
      | status.used.count/configmaps | 1     |
    When the resources of placement "web" also include
      """
      apiVersion: v1
      kind: ConfigMap
      metadata: {name: more}
      """
    Then placement "web" reports
      | on       | condition        | status | reason                    | message             |
      |          | WorkSynchronized | True   | WorkSynchronized          |                     |
      | member-1 | Applied          | False  | NotAllWorkHaveBeenApplied | has failed to apply |
    And the diagnosis of placement "web" is KF-AP-013 for "member-1"
      | object             | value                     |
      | ResourcePlacement/ | ManifestApplyFailed       |
      | ResourcePlacement/ | exceeded quota: objects   |
    When object "ResourceQuota/{web}-app/objects" of "member-1" gets '{"hard": {"count/configmaps": "2"}}'
    Then placement "web" becomes available on "member-1"
    And object "ConfigMap/{web}-app/more" of "member-1" has
      | field         | value |
      | metadata.name | more  |
    And the diagnosis finds nothing

    Examples:
      | placement                  |
      | a cluster-scoped placement |
      | a namespaced placement     |

  @healthy
  Scenario: A quota of the member that suffices
    Given a cluster-scoped placement "web" has put its resources on "member-1"
    And the administrator of "member-1" applies
      """
      apiVersion: v1
      kind: ResourceQuota
      metadata: {name: objects, namespace: "{web}-app"}
      spec: {hard: {count/configmaps: "2"}}
      """
    And object "ResourceQuota/{web}-app/objects" of "member-1" has
      | field                        | value |
      | status.used.count/configmaps | 1     |
    When the resources of placement "web" also include
      """
      apiVersion: v1
      kind: ConfigMap
      metadata: {name: more}
      """
    Then the diagnosis finds nothing while placement "web" becomes available on "member-1"
    And object "ConfigMap/{web}-app/more" of "member-1" has
      | field         | value |
      | metadata.name | more  |

  @KF-AP-014
  Scenario Outline: An admission policy of the member denies the object: <placement>
    Given <placement> "web" has put its resources on "member-1"
    And the administrator of "member-1" applies
      """
      apiVersion: admissionregistration.k8s.io/v1
      kind: ValidatingAdmissionPolicy
      metadata: {name: "owners-{suffix}"}
      spec:
        failurePolicy: Fail
        matchConstraints:
          namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: "{web}-app"}}
          resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}]
        validations:
          - expression: "has(object.metadata.labels) && 'owner' in object.metadata.labels"
            message: each ConfigMap needs the label owner
      ---
      apiVersion: admissionregistration.k8s.io/v1
      kind: ValidatingAdmissionPolicyBinding
      metadata: {name: "owners-{suffix}"}
      spec: {policyName: "owners-{suffix}", validationActions: [Deny]}
      """
    And "member-1" refuses with "needs the label owner" to create
      """
      apiVersion: v1
      kind: ConfigMap
      metadata: {name: more, namespace: "{web}-app"}
      """
    When the resources of placement "web" also include
      """
      apiVersion: v1
      kind: ConfigMap
      metadata: {name: more}
      """
    Then placement "web" reports
      | on       | condition        | status | reason                    | message             |
      |          | WorkSynchronized | True   | WorkSynchronized          |                     |
      | member-1 | Applied          | False  | NotAllWorkHaveBeenApplied | has failed to apply |
    And the diagnosis of placement "web" is KF-AP-014 for "member-1"
      | object             | value                                |
      | ResourcePlacement/ | ManifestApplyFailed                  |
      | ResourcePlacement/ | each ConfigMap needs the label owner |
    When the resources of placement "web" also include
      """
      apiVersion: v1
      kind: ConfigMap
      metadata: {name: more, labels: {owner: shop}}
      """
    Then placement "web" becomes available on "member-1"
    And object "ConfigMap/{web}-app/more" of "member-1" has
      | field                 | value |
      | metadata.labels.owner | shop  |
    And the diagnosis finds nothing

    Examples:
      | placement                  |
      | a cluster-scoped placement |
      | a namespaced placement     |

  # The agent asks the API server what would change, in a dry run, before it changes something.
  @KF-AP-014
  Scenario Outline: Drift can't be looked for, because a policy denies the dry run too: <placement>
    Given <placement> "web" selects "member-1" and applies with '{"whenToApply": "IfNotDrifted"}'
    And placement "web" becomes available on "member-1"
    When the administrator of "member-1" applies
      """
      apiVersion: admissionregistration.k8s.io/v1
      kind: ValidatingAdmissionPolicy
      metadata: {name: "frozen-{suffix}"}
      spec:
        failurePolicy: Fail
        matchConstraints:
          namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: "{web}-app"}}
          resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [UPDATE], resources: [configmaps]}]
        validations:
          - expression: "false"
            reason: Forbidden
            message: no change before Monday
      ---
      apiVersion: admissionregistration.k8s.io/v1
      kind: ValidatingAdmissionPolicyBinding
      metadata: {name: "frozen-{suffix}"}
      spec: {policyName: "frozen-{suffix}", validationActions: [Deny]}
      """
    Then placement "web" reports
      | on       | condition | status | reason                    | message             |
      | member-1 | Applied   | False  | NotAllWorkHaveBeenApplied | has failed to apply |
    And the diagnosis of placement "web" is KF-AP-014 for "member-1"
      | object             | value                     |
      | ResourcePlacement/ | FailedToRunDriftDetection |
      | ResourcePlacement/ | no change before Monday   |
    When object "ValidatingAdmissionPolicyBinding/frozen-{suffix}" of "member-1" is deleted
    Then placement "web" becomes available on "member-1"
    And the diagnosis finds nothing
    And a change to the resources of placement "web" arrives on "member-1"

    Examples:
      | placement                  |
      | a cluster-scoped placement |
      | a namespaced placement     |

  @KF-AP-015 @disruptive
  Scenario Outline: The member agent lacks a right on its own cluster: <placement>
    Given a member "east" of its own
    And <placement> "web" has put its resources on "east"
    And the agent of member "east" has only these rights
      """
      - {apiGroups: [placement.kubernetes-fleet.io], resources: ["*"], verbs: ["*"]}
      - {apiGroups: [""], resources: [namespaces, nodes, pods], verbs: ["*"]}
      - {apiGroups: [""], resources: [configmaps], verbs: <verbs>}
      """
    When the resources of placement "web" also include
      """
      apiVersion: v1
      kind: ConfigMap
      metadata: {name: more}
      """
    Then placement "web" reports
      | on   | condition        | status | reason                    | message             |
      |      | WorkSynchronized | True   | WorkSynchronized          |                     |
      | east | Applied          | False  | NotAllWorkHaveBeenApplied | has failed to apply |
    And the diagnosis of placement "web" is KF-AP-015 for "east"
      | object             | value                                                                     |
      | ResourcePlacement/ | <reason>                                                                  |
      | ResourcePlacement/ | User "system:serviceaccount:fleet-system:member-agent-sa" cannot |
    When the agent of member "east" has all rights
    Then placement "web" becomes available on "east"
    And the diagnosis finds nothing
    And a change to the resources of placement "web" arrives on "east"

    Examples:
      | placement                  | verbs              | reason                         |
      | a cluster-scoped placement | [list, watch]      | FailedToFindObjInMemberCluster |
      | a namespaced placement     | [get, list, watch] | ManifestApplyFailed            |

  @KF-AP-016
  Scenario Outline: Another field manager owns a field, and server-side apply doesn't force: <placement>
    Given <placement> "web" selects "member-1" and applies with '{"type": "ServerSideApply"}'
    And placement "web" becomes available on "member-1"
    When somebody changes the ConfigMap of placement "web" on "member-1"
    Then placement "web" reports
      | on       | condition | status | reason                    | message             |
      | member-1 | Applied   | False  | NotAllWorkHaveBeenApplied | has failed to apply |
    And the diagnosis of placement "web" is KF-AP-016 for "member-1"
      | object             | value                        |
      | ResourcePlacement/ | ManifestApplyFailed          |
      | ResourcePlacement/ | Apply failed with 1 conflict |
    When placement "web" gets '{"strategy": {"applyStrategy": {"serverSideApplyConfig": {"force": true}}}}'
    Then placement "web" becomes available on "member-1"
    And the diagnosis finds nothing
    And a change to the resources of placement "web" arrives on "member-1"

    Examples:
      | placement                  |
      | a cluster-scoped placement |
      | a namespaced placement     |

  @healthy
  Scenario Outline: Server-side apply that forces takes a field from another field manager: <placement>
    Given <placement> "web" selects "member-1" and applies with '{"type": "ServerSideApply", "serverSideApplyConfig": {"force": true}}'
    And placement "web" becomes available on "member-1"
    When somebody changes the ConfigMap of placement "web" on "member-1"
    Then a change to the resources of placement "web" arrives on "member-1"
    And the diagnosis finds nothing

    Examples:
      | placement                  |
      | a cluster-scoped placement |
      | a namespaced placement     |

  @KF-AP-018 @needs-envelopes
  @guide:placement-applied/scenarios/invalid @guide:placement-applied/scenarios/envelope
  @guide:azure-placement-applied/cause/invalid @guide:azure-placement-applied/cause/envelope
  Scenario Outline: An enveloped object isn't valid: <placement>
    Given <placement> "web" has put its resources on "member-1"
    When the resources of placement "web" also include
      """
      apiVersion: placement.kubernetes-fleet.io/v1beta1
      kind: ResourceEnvelope
      metadata: {name: wrapped}
      data:
        one.yaml: {apiVersion: v1, kind: ConfigMap, metadata: {name: extra, namespace: "{web}-app"}, data: {"not a key": "1"}}
      """
    Then placement "web" reports
      | on       | condition        | status | reason                    | message             |
      |          | WorkSynchronized | True   | WorkSynchronized          |                     |
      | member-1 | Applied          | False  | NotAllWorkHaveBeenApplied | has failed to apply |
    And the diagnosis of placement "web" is KF-AP-018 for "member-1"
      | object             | value                                   |
      | ResourcePlacement/ | ManifestApplyFailed                     |
      | ResourcePlacement/ | ConfigMap "extra" is invalid: data[not a key] |
    When the resources of placement "web" also include
      """
      apiVersion: placement.kubernetes-fleet.io/v1beta1
      kind: ResourceEnvelope
      metadata: {name: wrapped}
      data:
        one.yaml: {apiVersion: v1, kind: ConfigMap, metadata: {name: extra, namespace: "{web}-app"}, data: {a-key: "1"}}
      """
    Then placement "web" becomes available on "member-1"
    And the diagnosis finds nothing

    Examples:
      | placement                  |
      | a cluster-scoped placement |
      | a namespaced placement     |

  @KF-AP-019
  Scenario Outline: An admission webhook of the member doesn't answer: <placement>
    Given <placement> "web" has put its resources on "member-1"
    And the administrator of "member-1" applies
      """
      apiVersion: admissionregistration.k8s.io/v1
      kind: ValidatingWebhookConfiguration
      metadata: {name: "gone-{suffix}"}
      webhooks:
        - name: gone.example.com
          clientConfig: {url: "https://127.0.0.1:1/"}
          failurePolicy: Fail
          sideEffects: None
          admissionReviewVersions: [v1]
          namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: "{web}-app"}}
          rules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}]
      """
    And "member-1" refuses with "failed calling webhook" to create
      """
      apiVersion: v1
      kind: ConfigMap
      metadata: {name: more, namespace: "{web}-app"}
      """
    When the resources of placement "web" also include
      """
      apiVersion: v1
      kind: ConfigMap
      metadata: {name: more}
      """
    Then placement "web" reports
      | on       | condition        | status | reason                    | message             |
      |          | WorkSynchronized | True   | WorkSynchronized          |                     |
      | member-1 | Applied          | False  | NotAllWorkHaveBeenApplied | has failed to apply |
    And the diagnosis of placement "web" is KF-AP-019 for "member-1"
      | object             | value                                     |
      | ResourcePlacement/ | ManifestApplyFailed                       |
      | ResourcePlacement/ | failed calling webhook "gone.example.com" |
    When object "ValidatingWebhookConfiguration/gone-{suffix}" of "member-1" is deleted
    Then placement "web" becomes available on "member-1"
    And the diagnosis finds nothing

    Examples:
      | placement                  |
      | a cluster-scoped placement |
      | a namespaced placement     |

  @KF-AP-020 @takes-90s @passes:KF-AP-006
  Scenario Outline: The object's namespace is being deleted on the member and doesn't go: <placement>
    Given <placement> "web" has put its resources on "member-1"
    And somebody's finalizer holds the ConfigMap of placement "web" on "member-1"
    When object "Namespace/{web}-app" of "member-1" is deleted
    And the resources of placement "web" also include
      """
      apiVersion: v1
      kind: ConfigMap
      metadata: {name: more}
      """
    Then placement "web" reports
      | on       | condition        | status | reason                    | message             |
      |          | WorkSynchronized | True   | WorkSynchronized          |                     |
      | member-1 | Applied          | False  | NotAllWorkHaveBeenApplied | has failed to apply |
    And within 120 seconds the diagnosis of placement "web" is KF-AP-020 for "member-1"
      | object             | value                          |
      | ResourcePlacement/ | because it is being terminated |
    When somebody's finalizer releases the ConfigMap of placement "web" on "member-1"
    Then placement "web" becomes available on "member-1"
    And the diagnosis finds nothing
    And a change to the resources of placement "web" arrives on "member-1"

    Examples:
      | placement                  |
      | a cluster-scoped placement |
      | a namespaced placement     |
