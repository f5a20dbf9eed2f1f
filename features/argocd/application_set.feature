@argocd
Feature: ApplicationSets make too few applications, or none
  An ApplicationSet makes Applications from the elements of its generators. What its controller reports is an error of a generator, of the
  template or of one Application. That it makes none, or no longer makes some, it doesn't report.

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

  @healthy
  Scenario: All applications are made, by a list and by the directories of a repository
    Given an application set "shop" of repository "shop" for "member-1" with
      """
      generators:
        - list: {elements: [{name: east}]}
        - git:
            repoURL: {url:shop}
            revision: HEAD
            directories: [{path: 'w*'}]
      syncPolicy: {applicationsSync: create-update}
      template:
        metadata: {name: '{{if hasKey . "path"}}{{.path.basename}}{{else}}{{.name}}{{end}}-{suffix}'}
        spec:
          source: {path: '{{if hasKey . "path"}}{{.path.path}}{{else}}{{.name}}{{end}}'}
          syncPolicy: {automated: {}}
      """
    Then application set "shop" owns applications "east" and "west"
    And application "east" is Synced and Healthy
    And application "west" is Synced and Healthy
    And application set "shop" has
      | field                                                | value |
      | status.conditions.type=ErrorOccurred.status          | False |
      | status.conditions.type=ResourcesUpToDate.status      | True  |
    And the diagnosis finds nothing

  @AR-AS-001
  Scenario: The repository of a git generator is gone
    Given an application set "shop" of repository "shop" for "member-1" with
      """
      generators:
        - git:
            repoURL: {url:shop}
            revision: HEAD
            directories: [{path: '*'}]
      template:
        metadata: {name: '{{.path.basename}}-{suffix}'}
        spec:
          source: {path: '{{.path.path}}'}
          syncPolicy: {automated: {}}
      """
    Then application set "shop" owns applications "east" and "west"
    And application "east" is Synced and Healthy
    And application "west" is Synced and Healthy
    And application set "shop" has
      | field                                          | value |
      | status.conditions.type=ResourcesUpToDate.status | True  |
    When repository "shop" vanishes
    And application set "shop" is refreshed in vain: "error generating params from git"
    Then application set "shop" has
      | field                                             | value                                |
      | status.conditions.type=ErrorOccurred.reason       | ApplicationGenerationFromParamsError |
      | status.conditions.type=ParametersGenerated.status | False                                |
    And the diagnosis of application set "shop" is AR-AS-001
      | object                       | value                                |
      | ApplicationSet/argocd/{shop} | ApplicationGenerationFromParamsError |
      | ApplicationSet/argocd/{shop} | {shop}                               |
    # Nothing is deleted meanwhile.
    And application set "shop" owns applications "east" and "west"
    When repository "shop" is back
    And application set "shop" is refreshed
    Then application set "shop" has
      | field                                             | value |
      | status.conditions.type=ErrorOccurred.status       | False |
      | status.conditions.type=ParametersGenerated.status | True  |
    And application set "shop" owns applications "east" and "west"
    # If Argo CD has compared them while the repository was gone, it compares them again only some minutes later.
    When application "east" is refreshed
    And application "west" is refreshed
    Then the diagnosis finds nothing

  @AR-AS-002
  Scenario: A selector matches no cluster
    When an application set "shop" of repository "shop" for "member-1" with
      """
      generators:
        - clusters: {selector: {matchLabels: {stage: nowhere-{suffix}}}}
      template:
        spec:
          source: {path: east}
          syncPolicy: {automated: {}}
      """
    Then application set "shop" has
      | field                                           | value                                               |
      | status.conditions.type=ErrorOccurred.status     | False                                               |
      | status.conditions.type=ResourcesUpToDate.status | True                                                |
      | status.conditions.type=ErrorOccurred.message    | All applications have been generated successfully |
    And application set "shop" owns no application
    And the diagnosis of application set "shop" is AR-AS-002
      | object                       | value                  |
      | ApplicationSet/argocd/{shop} | ApplicationSetUpToDate |
      | ApplicationSet/argocd/{shop} | nowhere-{suffix}       |
    When the spec of application set "shop" is corrected to
      """
      generators:
        - list: {elements: [{name: east}]}
      """
    Then application set "shop" owns application "east"
    And application "east" is Synced and Healthy
    And the diagnosis finds nothing

  @AR-AS-002
  Scenario: A list becomes empty, and all applications are deleted with what they had deployed
    Given an application set "shop" of repository "shop" for "member-1" with
      """
      generators:
        - list: {elements: [{name: east}, {name: west}]}
      template:
        spec:
          syncPolicy: {automated: {}}
      """
    Then application set "shop" owns applications "east" and "west"
    And application "east" is Synced and Healthy
    And application "west" is Synced and Healthy
    When the spec of application set "shop" becomes
      """
      generators:
        - list: {elements: []}
      """
    Then application set "shop" owns no application
    And "ConfigMap/east" is not on "member-1"
    And the diagnosis of application set "shop" is AR-AS-002
    When the spec of application set "shop" is corrected to
      """
      generators:
        - list: {elements: [{name: east}, {name: west}]}
      """
    Then application set "shop" owns applications "east" and "west"
    And application "east" is Synced and Healthy
    And application "west" is Synced and Healthy
    And the diagnosis finds nothing

  @AR-AS-003
  Scenario: Two elements give one name
    When an application set "shop" of repository "shop" for "member-1" with
      """
      generators:
        - list: {elements: [{name: east}, {name: west}, {name: east}]}
      template:
        spec:
          syncPolicy: {automated: {}}
      """
    Then application set "shop" has
      | field                                             | value                                                                |
      | status.conditions.type=ErrorOccurred.reason       | ApplicationValidationError                                           |
      | status.conditions.type=ErrorOccurred.message      | ApplicationSet {shop} contains applications with duplicate name: east-{suffix} |
      | status.conditions.type=ParametersGenerated.status | True                                                                 |
    And application set "shop" owns application "west"
    And the diagnosis of application set "shop" is AR-AS-003
      | object                       | value         |
      | ApplicationSet/argocd/{shop} | east-{suffix} |
      | ApplicationSet/argocd/{shop} | {{.name}}     |
    When the spec of application set "shop" is corrected to
      """
      generators:
        - list: {elements: [{name: east}, {name: west}]}
      """
    Then application set "shop" owns applications "east" and "west"
    And application "east" is Synced and Healthy
    And application "west" is Synced and Healthy
    And the diagnosis finds nothing

  @AR-AS-004
  @guide:argocd-applicationset-go-template/options/missing-key
  Scenario: An element lacks a field that the template needs
    Given an application set "shop" of repository "shop" for "member-1" with
      """
      generators:
        - list: {elements: [{name: east}]}
      template:
        spec:
          syncPolicy: {automated: {}}
      """
    Then application set "shop" owns application "east"
    And application "east" is Synced and Healthy
    When the spec of application set "shop" becomes
      """
      generators:
        - list: {elements: [{name: east}, {nam: west}]}
      """
    Then application set "shop" has
      | field                                             | value                     |
      | status.conditions.type=ErrorOccurred.reason       | RenderTemplateParamsError |
      | status.conditions.type=ErrorOccurred.message      | failed to execute go template* |
      | status.conditions.type=ParametersGenerated.status | False                     |
    And the diagnosis of application set "shop" is AR-AS-004
      | object                       | value                            |
      | ApplicationSet/argocd/{shop} | map has no entry for key "name"  |
      | ApplicationSet/argocd/{shop} | missingkey=error                 |
    And application set "shop" owns application "east"
    When the spec of application set "shop" is corrected to
      """
      generators:
        - list: {elements: [{name: east}, {name: west}]}
      """
    Then application set "shop" owns applications "east" and "west"
    And application "east" is Synced and Healthy
    And application "west" is Synced and Healthy
    And the diagnosis finds nothing

  @AR-AS-005
  Scenario Outline: An application that is generated isn't valid: <what>
    When an application set "shop" of repository "shop" for "member-1" with
      """
      generators:
        - list: {elements: [{name: east, <good>}, {name: west, <bad>}]}
      template:
        spec:
          <field>
          syncPolicy: {automated: {}}
      """
    Then application set "shop" has
      | field                                             | value                      |
      | status.conditions.type=ErrorOccurred.reason       | ApplicationValidationError |
      | status.conditions.type=ErrorOccurred.message      | <message>                  |
      | status.conditions.type=ParametersGenerated.status | True                       |
    And application set "shop" owns application "east"
    And application "east" is Synced and Healthy
    And the diagnosis of application set "shop" is AR-AS-005
      | object                       | value     |
      | ApplicationSet/argocd/{shop} | <message> |
    When the spec of application set "shop" is corrected to
      """
      generators:
        - list: {elements: [{name: east, <good>}, {name: west, <good>}]}
      """
    Then application set "shop" owns applications "east" and "west"
    And application "west" is Synced and Healthy
    And the diagnosis finds nothing

    @guide:argocd-applicationset-list/clusters/predefined
    Examples:
      | what                         | good             | bad                    | field                           | message                                                                                     |
      | a cluster that doesn't exist | cluster: member-1 | cluster: east-{suffix} | destination: {name: '{{.cluster}}'} | application destination spec is invalid: there are no clusters with this name: east-{suffix} |

    Examples:
      | what                         | good             | bad                    | field                           | message                                                                                     |
      | a project that doesn't exist | project: default | project: shop-{suffix} | project: '{{.project}}' | application references project shop-{suffix} which does not exist                           |

  @AR-AS-006
  Scenario: An element is gone, and only the policy keeps its application
    Given an application set "shop" of repository "shop" for "member-1" with
      """
      generators:
        - list: {elements: [{name: staging, path: east}, {name: production, path: west}]}
      syncPolicy: {applicationsSync: create-update}
      template:
        spec:
          source: {path: '{{.path}}'}
          syncPolicy: {automated: {}}
      """
    And application set "shop" owns applications "staging" and "production"
    And application "staging" is Synced and Healthy
    And application "production" is Synced and Healthy
    When the spec of application set "shop" becomes
      """
      generators:
        - list: {elements: [{name: staging, path: east}]}
      """
    And application set "shop" is refreshed
    Then application set "shop" has
      | field                                           | value |
      | status.conditions.type=ErrorOccurred.status     | False |
      | status.conditions.type=ResourcesUpToDate.status | True  |
    And application set "shop" owns applications "staging" and "production"
    And the diagnosis of application set "shop" is AR-AS-006
      | object                          | value                                  |
      | Application/argocd/{production} | ApplicationSet {shop}                  |
      | Application/argocd/{production} | resources-finalizer.argocd.argoproj.io |
      | ApplicationSet/argocd/{shop}    | create-update                          |
    When the spec of application set "shop" is corrected to
      """
      generators:
        - list: {elements: [{name: staging, path: east}, {name: production, path: west}]}
      """
    And application set "shop" is refreshed
    Then application set "shop" owns applications "staging" and "production"
    And application "production" is Synced and Healthy
    And "ConfigMap/west" is on "member-1"
    And the diagnosis finds nothing
