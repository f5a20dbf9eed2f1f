@argocd
Feature: What Argo CD's documents say about ApplicationSets
  The controller of ApplicationSets creates, changes and deletes Applications. Kubernetes deletes them with their ApplicationSet, and Argo CD
  deletes what they have deployed.

  Background:
    Given Argo CD has the ApplicationSet controller
    And a repository "shop" with "east/settings.yaml"
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: east
      """
    And repository "shop" also has "west/settings.yaml"
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: west
      """

  @guide:argocd-applicationset-deletion/deletion/owner @guide:argocd-applicationset-deletion/deletion/finalizer
  @guide:argocd-applicationset-deletion/deletion/cascade @guide:argocd-applicationset-resource-modification/policies/owner-references
  Scenario: An ApplicationSet is deleted, with its applications and what they have deployed
    Given an application set "shop" of repository "shop" for "member-1" with
      """
      generators:
        - list: {elements: [{name: east}]}
      syncPolicy: {applicationsSync: create-update}
      template:
        spec:
          syncPolicy: {automated: {}}
      """
    And application set "shop" owns application "east"
    And application "east" is Synced and Healthy
    Then application "east" has
      | field                           | value                                  |
      | metadata.ownerReferences.0.kind | ApplicationSet                         |
      | metadata.ownerReferences.0.name | {shop}                                 |
      | metadata.finalizers.0           | resources-finalizer.argocd.argoproj.io |
    When application set "shop" is deleted
    Then application "east" is gone
    And "ConfigMap/east" is not on "member-1"
    And the diagnosis finds nothing

  @guide:argocd-applicationset-deletion/deletion/preserve @guide:argocd-applicationset-resource-modification/preserve/preserve
  Scenario: An ApplicationSet is deleted, with its applications, and what they have deployed stays
    Given an application set "shop" of repository "shop" for "member-1" with
      """
      generators:
        - list: {elements: [{name: east}]}
      syncPolicy: {preserveResourcesOnDeletion: true}
      template:
        spec:
          syncPolicy: {automated: {}}
      """
    And application set "shop" owns application "east"
    And application "east" is Synced and Healthy
    Then application "east" has
      | field               | value  |
      | metadata.finalizers | absent |
    When the deletion of application set "shop" begins
    Then application "east" is gone
    And "ConfigMap/east" is on "member-1"
    And the diagnosis finds nothing

  @passes:AR-AS-006
  Scenario Outline: The policy <policy>
    Given an application set "shop" of repository "shop" for "member-1" with
      """
      generators:
        - list: {elements: [{name: east}, {name: west}]}
      syncPolicy: {applicationsSync: <policy>}
      template:
        metadata:
          labels: {colour: blue}
        spec:
          syncPolicy: {automated: {}}
      """
    And application set "shop" owns applications "east" and "west"
    And application "east" is Synced and Healthy
    And application "west" is Synced and Healthy
    When the spec of application set "shop" becomes
      """
      generators:
        - list: {elements: [{name: east}]}
      template:
        metadata:
          labels: {colour: green}
      """
    And application set "shop" is refreshed
    Then application set "shop" owns <owned>
    And application "east" has for 5 seconds
      | field                  | value    |
      | metadata.labels.colour | <colour> |
    When the spec of application set "shop" is corrected to
      """
      generators:
        - list: {elements: [{name: east}, {name: west}]}
      """
    And application set "shop" is refreshed
    Then application set "shop" owns applications "east" and "west"
    And application "west" is Synced and Healthy
    And the diagnosis finds nothing

    @guide:argocd-applicationset-resource-modification/policies/create-only
    Examples:
      | policy      | owned                          | colour |
      | create-only | applications "east" and "west" | blue   |

    @guide:argocd-applicationset-resource-modification/policies/create-update
    Examples:
      | policy        | owned                          | colour |
      | create-update | applications "east" and "west" | green  |

    @guide:argocd-applicationset-resource-modification/policies/create-delete
    Examples:
      | policy        | owned              | colour |
      | create-delete | application "east" | blue   |

    @guide:argocd-applicationset-resource-modification/policies/sync
    Examples:
      | policy | owned              | colour |
      | sync   | application "east" | green  |

  @guide:argocd-applicationset-resource-modification/ignore/toggle
  Scenario: Automated sync of a generated application is switched off by hand
    Given an application set "shop" of repository "shop" for "member-1" with
      """
      generators:
        - list: {elements: [{name: east}]}
      ignoreApplicationDifferences:
        - jsonPointers: [/spec/syncPolicy]
      template:
        spec:
          syncPolicy: {automated: {}}
      """
    And application set "shop" owns application "east"
    And application "east" is Synced and Healthy
    When application "east" gets '{"syncPolicy": null}'
    And application set "shop" is refreshed
    Then application "east" has for 5 seconds
      | field                      | value  |
      | spec.syncPolicy.automated  | absent |
    # Without the rule, the controller takes it back.
    When the spec of application set "shop" becomes
      """
      ignoreApplicationDifferences: null
      """
    And application set "shop" is refreshed
    Then application "east" has
      | field                     | value |
      | spec.syncPolicy.automated | {}    |
    And application "east" is Synced and Healthy
    And the diagnosis finds nothing

  @guide:argocd-applicationset-progressive-syncs/rolling/max-update-zero @guide:argocd-applicationset-progressive-syncs/rolling/automated
  Scenario: A step of a progressive sync updates nothing by itself
    Given an application set "shop" of repository "shop" for "member-1" with
      """
      generators:
        - list: {elements: [{name: east, stage: first}, {name: west, stage: second}]}
      strategy:
        type: RollingSync
        rollingSync:
          steps:
            - matchExpressions: [{key: stage, operator: In, values: [first]}]
              maxUpdate: 0
            - matchExpressions: [{key: stage, operator: In, values: [second]}]
      template:
        metadata:
          labels: {stage: '{{.stage}}'}
        spec:
          syncPolicy: {automated: {}}
      """
    And application set "shop" owns applications "east" and "west"
    Then application "east" has for 10 seconds
      | field                 | value     |
      | status.sync.status    | OutOfSync |
      | status.operationState | absent    |
    And application "west" has
      | field                 | value     |
      | status.sync.status    | OutOfSync |
      | status.operationState | absent    |
    When application "east" syncs
    Then application "east" is Synced and Healthy
    And application "west" is Synced and Healthy
    And the diagnosis finds nothing

  @AR-AS-001
  Scenario Outline: Generators are put together in a way that isn't possible: <what>
    When an application set "shop" of repository "shop" for "member-1" with
      """
      generators:
        - <generator>
      template:
        spec:
          syncPolicy: {automated: {}}
      """
    Then application set "shop" has
      | field                                             | value                                |
      | status.conditions.type=ErrorOccurred.status       | True                                 |
      | status.conditions.type=ErrorOccurred.reason       | ApplicationGenerationFromParamsError |
      | status.conditions.type=ParametersGenerated.status | False                                |
    And application set "shop" owns no application
    And the diagnosis of application set "shop" is AR-AS-001
    When the spec of application set "shop" is corrected to
      """
      generators:
        - list: {elements: [{name: east}]}
      """
    Then application set "shop" owns application "east"
    And application "east" is Synced and Healthy
    And the diagnosis finds nothing

    @guide:argocd-applicationset-matrix/restrictions/two
    Examples:
      | what                     | generator                                                                                                                                   |
      | a matrix of three        | matrix: {generators: [{list: {elements: [{name: east}]}}, {list: {elements: [{a: b}]}}, {list: {elements: [{c: d}]}}]}                      |

    @guide:argocd-applicationset-matrix/restrictions/one-per-entry
    Examples:
      | what                     | generator                                                                                                                                   |
      | two in one entry         | matrix: {generators: [{list: {elements: [{name: east}]}, clusters: {}}, {list: {elements: [{a: b}]}}]}                                      |

  @drift:argocd-applicationset-matrix/restrictions/identical-keys
  Scenario: Two generators of a matrix have the same key, and the first one's value counts
    Given an application set "shop" of repository "shop" for "member-1" with
      """
      generators:
        - matrix:
            generators:
              - list: {elements: [{name: east}]}
              - list: {elements: [{name: west}]}
      template:
        spec:
          syncPolicy: {automated: {}}
      """
    Then application set "shop" owns application "east"
    And application set "shop" has
      | field                                       | value |
      | status.conditions.type=ErrorOccurred.status | False |
    And application "east" is Synced and Healthy
    And the diagnosis finds nothing

  @AR-AS-004
  @guide:argocd-applicationset-go-template/limitations/across-fields
  Scenario: A template's control keywords are spread over two fields
    When an application set "shop" of repository "shop" for "member-1" with
      """
      generators:
        - list: {elements: [{name: east}]}
      template:
        metadata:
          labels: {first: '{{range .name}}', last: '{{end}}'}
        spec:
          syncPolicy: {automated: {}}
      """
    Then application set "shop" has
      | field                                       | value                     |
      | status.conditions.type=ErrorOccurred.reason | RenderTemplateParamsError |
    And the diagnosis of application set "shop" is AR-AS-004
    When the spec of application set "shop" is corrected to
      """
      template:
        metadata:
          labels: null
      """
    Then application set "shop" owns application "east"
    And application "east" is Synced and Healthy
    And the diagnosis finds nothing
