@argocd
Feature: What Argo CD's documents say about generators of ApplicationSets
  Generators read clusters, git repositories and lists, and combine them. What they give decides which Applications there are: an element that
  a generator no longer gives is deleted with its Application.

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

  @AR-AS-002
  @guide:argocd-applicationset-git/exclude/hidden @guide:argocd-applicationset-git/exclude/priority
  @guide:argocd-applicationset-git/exclude/order @guide:argocd-applicationset-git/root/root
  Scenario: Directories of a repository are excluded
    Given repository "shop" also has ".hidden/settings.yaml"
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: hidden
      """
    And an application set "shop" of repository "shop" for "member-1" with
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
    When the spec of application set "shop" becomes
      """
      generators:
        - git:
            repoURL: {url:shop}
            revision: HEAD
            directories: [{path: west, exclude: true}, {path: '*'}]
      """
    Then application set "shop" owns application "east"
    When the spec of application set "shop" becomes
      """
      generators:
        - git:
            repoURL: {url:shop}
            revision: HEAD
            directories: [{path: east}, {path: '*', exclude: true}]
      """
    Then application set "shop" owns no application
    And the diagnosis of application set "shop" is AR-AS-002
    When the spec of application set "shop" is corrected to
      """
      generators:
        - git:
            repoURL: {url:shop}
            revision: HEAD
            directories: [{path: '*'}, {path: 'w*', exclude: true}]
      """
    Then application set "shop" owns application "east"
    And application "east" is Synced and Healthy
    And the diagnosis finds nothing

  @AR-AS-002
  @drift:argocd-applicationset-git/exclude/leading-slash
  Scenario: Paths of directories begin with a slash, and none matches
    Given repository "shop" also has "d/e/settings.yaml"
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: e
      """
    And repository "shop" also has "d/f/settings.yaml"
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: f
      """
    When an application set "shop" of repository "shop" for "member-1" with
      """
      generators:
        - git:
            repoURL: {url:shop}
            revision: HEAD
            directories: [{path: '/d/*'}, {path: /d/f, exclude: true}]
      template:
        metadata: {name: '{{.path.basename}}-{suffix}'}
        spec:
          source: {path: '{{.path.path}}'}
          syncPolicy: {automated: {}}
      """
    Then application set "shop" has
      | field                                           | value |
      | status.conditions.type=ErrorOccurred.status     | False |
      | status.conditions.type=ResourcesUpToDate.status | True  |
    And application set "shop" owns no application
    And the diagnosis of application set "shop" is AR-AS-002
    When the spec of application set "shop" is corrected to
      """
      generators:
        - git:
            repoURL: {url:shop}
            revision: HEAD
            directories: [{path: 'd/*'}, {path: d/f, exclude: true}]
      """
    Then application set "shop" owns application "e"
    And application "e" is Synced and Healthy
    And the diagnosis finds nothing

  @guide:argocd-applicationset-git/directories/added @guide:argocd-applicationset-git/polling/custom
  @guide:argocd-applicationset-git/polling/cache @guide:argocd-applicationset-git/refresh/bypass
  Scenario: A new directory isn't seen while the revision is cached, and is after a refresh
    Given an application set "shop" of repository "shop" for "member-1" with
      """
      generators:
        - git:
            repoURL: {url:shop}
            revision: HEAD
            requeueAfterSeconds: 5
            directories: [{path: '*'}]
      template:
        metadata: {name: '{{.path.basename}}-{suffix}'}
        spec:
          source: {path: '{{.path.path}}'}
      """
    Then application set "shop" owns applications "east" and "west"
    And the applicationset-controller of Argo CD has logged '"requeueAfter":5000000000' in a line with "{shop}"
    # The first comparison of an application resolves the revision again.
    And application "east" has
      | field              | value     |
      | status.sync.status | OutOfSync |
    And application "west" has
      | field              | value     |
      | status.sync.status | OutOfSync |
    When repository "shop" also has "north/settings.yaml"
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: north
      """
    # Three times the interval of the polling, and half of it more: a refresh that comes while the controller reconciles is lost.
    Then application set "shop" has for 17 seconds
      | field                                | value  |
      | status.resources.name=north-{suffix} | absent |
    When application set "shop" is refreshed
    Then application set "shop" owns applications "east", "west" and "north"
    And application "north" has
      | field              | value     |
      | status.sync.status | OutOfSync |
    # A refresh of an application renews the cached revision, and the polling sees the next commit.
    When repository "shop" also has "south/settings.yaml"
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: south
      """
    And application "east" is refreshed
    Then application set "shop" owns applications "east", "west", "north" and "south"
    When the spec of application set "shop" becomes
      """
      template:
        spec:
          syncPolicy: {automated: {}}
      """
    Then application "east" is Synced and Healthy
    And application "west" is Synced and Healthy
    And application "north" is Synced and Healthy
    And application "south" is Synced and Healthy
    And the diagnosis finds nothing

  @guide:argocd-applicationset-git/polling/default
  Scenario: A git generator without an interval is run every three minutes
    Given an application set "shop" of repository "shop" for "member-1" with
      """
      generators:
        - git:
            repoURL: {url:shop}
            revision: HEAD
            directories: [{path: 'e*'}]
      template:
        metadata: {name: '{{.path.basename}}-{suffix}'}
        spec:
          source: {path: '{{.path.path}}'}
          syncPolicy: {automated: {}}
      """
    Then application set "shop" owns application "east"
    And the applicationset-controller of Argo CD has logged '"requeueAfter":180000000000' in a line with "{shop}"
    And application "east" is Synced and Healthy
    And the diagnosis finds nothing

  @AR-AS-001
  @drift:argocd-applicationset-git/refresh/removed
  Scenario: The revision of a git generator isn't there, and the refresh annotation stays
    Given an application set "shop" of repository "shop" for "member-1" with
      """
      generators:
        - git:
            repoURL: {url:shop}
            revision: HEAD
            directories: [{path: 'e*'}]
      template:
        metadata: {name: '{{.path.basename}}-{suffix}'}
        spec:
          source: {path: '{{.path.path}}'}
          syncPolicy: {automated: {}}
      """
    And application set "shop" owns application "east"
    And application "east" is Synced and Healthy
    When the spec of application set "shop" becomes
      """
      generators:
        - git:
            repoURL: {url:shop}
            revision: nowhere
            directories: [{path: 'e*'}]
      """
    # A reconciliation that has begun before the refresh, and writes the status after it, would take the annotation away.
    Then application set "shop" has
      | field                                       | value |
      | status.conditions.type=ErrorOccurred.status | True  |
    When application set "shop" is refreshed in vain: "unable to resolve git revision"
    Then application set "shop" has for 5 seconds
      | field                                                           | value |
      | metadata.annotations.argocd.argoproj.io/application-set-refresh | true  |
    And the diagnosis of application set "shop" is AR-AS-001
    And application set "shop" owns application "east"
    When the spec of application set "shop" is corrected to
      """
      generators:
        - git:
            repoURL: {url:shop}
            revision: HEAD
            directories: [{path: 'e*'}]
      """
    Then application set "shop" has
      | field                                                           | value  |
      | metadata.annotations.argocd.argoproj.io/application-set-refresh | absent |
      | status.conditions.type=ErrorOccurred.status                     | False  |
    And application "east" is Synced and Healthy
    And the diagnosis finds nothing

  @AR-AS-001
  @guide:argocd-applicationset-git/files/content @guide:argocd-applicationset-git/files/changes
  @guide:argocd-applicationset-git/files/greedy @guide:argocd-applicationset-git/files/exclude
  Scenario: Files of a repository are parameters, also those in directories below, and one is neither JSON nor YAML
    Given repository "shop" also has "config/east.json"
      """
      {"name": "east", "team": {"colour": "green"}}
      """
    And repository "shop" also has "config/more/west.json"
      """
      {"name": "west", "team": {"colour": "green"}}
      """
    And an application set "shop" of repository "shop" for "member-1" with
      """
      generators:
        - git:
            repoURL: {url:shop}
            revision: HEAD
            files: [{path: 'config/*.json'}]
      template:
        metadata:
          labels: {colour: '{{.team.colour}}'}
        spec:
          syncPolicy: {automated: {}}
      """
    Then application set "shop" owns applications "east" and "west"
    And application "east" is Synced and Healthy
    When the spec of application set "shop" becomes
      """
      generators:
        - git:
            repoURL: {url:shop}
            revision: HEAD
            files: [{path: 'config/*.json'}, {path: 'config/more/*.json', exclude: true}]
      """
    Then application set "shop" owns application "east"
    # A reconciliation that has begun before the refresh, and writes the status after it, would take the annotation away.
    And application set "shop" has
      | field                               | value  |
      | status.resources.name=west-{suffix} | absent |
    When "config/east.json" of repository "shop" becomes
      """
      {"name": "east", "team": {"colour": "blue"}}
      """
    And application set "shop" is refreshed
    Then application "east" has
      | field                  | value |
      | metadata.labels.colour | blue  |
    When "config/east.json" of repository "shop" becomes
      """
      neither JSON nor YAML of an object
      """
    And application set "shop" is refreshed in vain: "unable to process file 'config/east.json'"
    Then the diagnosis of application set "shop" is AR-AS-001
    And application set "shop" owns application "east"
    When "config/east.json" of repository "shop" is corrected to
      """
      {"name": "east", "team": {"colour": "red"}}
      """
    And application set "shop" is refreshed
    Then application "east" has
      | field                  | value |
      | metadata.labels.colour | red   |
    When application "east" is refreshed
    Then the diagnosis finds nothing

  @AR-AS-003
  @guide:argocd-applicationset-git/directories/prefix
  Scenario: Two git generators of a matrix need prefixes for their paths
    When an application set "shop" of repository "shop" for "member-1" with
      """
      generators:
        - matrix:
            generators:
              - git: {repoURL: '{url:shop}', revision: HEAD, directories: [{path: east}]}
              - git: {repoURL: '{url:shop}', revision: HEAD, directories: [{path: '*'}]}
      template:
        metadata: {name: '{{.path.basename}}-{suffix}'}
        spec:
          source: {path: '{{.path.path}}'}
          syncPolicy: {automated: {}}
      """
    Then application set "shop" has
      | field                                        | value                                                                          |
      | status.conditions.type=ErrorOccurred.reason  | ApplicationValidationError                                                     |
      | status.conditions.type=ErrorOccurred.message | ApplicationSet {shop} contains applications with duplicate name: east-{suffix} |
    And the diagnosis of application set "shop" is AR-AS-003
    When the spec of application set "shop" is corrected to
      """
      generators:
        - matrix:
            generators:
              - git: {repoURL: '{url:shop}', revision: HEAD, directories: [{path: east}], pathParamPrefix: first}
              - git: {repoURL: '{url:shop}', revision: HEAD, directories: [{path: '*'}], pathParamPrefix: last}
      template:
        metadata:
          name: '{{.last.path.basename}}-{suffix}'
          labels: {first: '{{.first.path.basename}}'}
        spec:
          source: {path: '{{.last.path.path}}'}
      """
    Then application set "shop" owns applications "east" and "west"
    And application "east" is Synced and Healthy
    And application "west" is Synced and Healthy
    And application "west" has
      | field                 | value |
      | metadata.labels.first | east  |
    And the diagnosis finds nothing

  @AR-AS-005
  Scenario Outline: An element names a cluster that Argo CD doesn't know: <what>
    Given repository "shop" also has "config/east.yaml"
      """
      name: east
      """
    When an application set "shop" of repository "shop" for "member-1" with
      """
      generators:
        - <generator>
      template:
        metadata: {name: 'east-{suffix}'}
        spec:
          source: {path: east}
          destination: {name: 'nowhere-{suffix}'}
          syncPolicy: {automated: {}}
      """
    Then application set "shop" has
      | field                                        | value                                                                                           |
      | status.conditions.type=ErrorOccurred.reason  | ApplicationValidationError                                                                      |
      | status.conditions.type=ErrorOccurred.message | application destination spec is invalid: there are no clusters with this name: nowhere-{suffix} |
    And application set "shop" owns no application
    And the diagnosis of application set "shop" is AR-AS-005
    When the spec of application set "shop" is corrected to
      """
      template:
        spec:
          destination: {name: member-1}
      """
    Then application set "shop" owns application "east"
    And application "east" is Synced and Healthy
    And the diagnosis finds nothing

    @guide:argocd-applicationset-git/directories/clusters @guide:argocd-applicationset-template/fields/clusters
    Examples:
      | what        | generator                                                                               |
      | directories | git: {repoURL: '{url:shop}', revision: HEAD, directories: [{path: east}]} |

    @guide:argocd-applicationset-git/files/clusters
    Examples:
      | what  | generator                                                                                  |
      | files | git: {repoURL: '{url:shop}', revision: HEAD, files: [{path: config/*.yaml}]} |

  @AR-AS-004
  @guide:argocd-applicationset-git/values/prefix
  Scenario: A template leaves out the prefix of a generator's values
    When an application set "shop" of repository "shop" for "member-1" with
      """
      generators:
        - git:
            repoURL: {url:shop}
            revision: HEAD
            directories: [{path: east}]
            values: {colour: green}
      template:
        metadata:
          name: '{{.path.basename}}-{suffix}'
          labels: {colour: '{{.colour}}'}
        spec:
          source: {path: '{{.path.path}}'}
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
          labels: {colour: '{{.values.colour}}'}
      """
    Then application set "shop" owns application "east"
    And application "east" has
      | field                  | value |
      | metadata.labels.colour | green |
    And application "east" is Synced and Healthy
    And the diagnosis finds nothing

  @AR-AS-001
  Scenario Outline: A merge isn't possible: <what>
    When an application set "shop" of repository "shop" for "member-1" with
      """
      generators:
        - merge: <merge>
      template:
        spec:
          syncPolicy: {automated: {}}
      """
    Then application set "shop" has
      | field                                             | value                                |
      | status.conditions.type=ErrorOccurred.status       | True                                 |
      | status.conditions.type=ErrorOccurred.reason       | ApplicationGenerationFromParamsError |
      | status.conditions.type=ErrorOccurred.message      | <message>                            |
      | status.conditions.type=ParametersGenerated.status | False                                |
    And application set "shop" owns no application
    And the diagnosis of application set "shop" is AR-AS-001
    When the spec of application set "shop" is corrected to
      """
      generators:
        - merge: {mergeKeys: [name], generators: [{list: {elements: [{name: east}]}}, {list: {elements: [{name: east, colour: blue}]}}]}
      """
    Then application set "shop" owns application "east"
    And application "east" is Synced and Healthy
    And the diagnosis finds nothing

    @guide:argocd-applicationset-merge/restrictions/one-per-entry
    Examples:
      | what             | message                                     | merge                                                                                                                                                                                              |
      | two in one entry | error getting param sets from generators: * | {mergeKeys: [name], generators: [{list: {elements: [{name: east}]}, git: {repoURL: '{url:shop}', revision: HEAD, directories: [{path: east}]}}, {list: {elements: [{name: east}]}}]} |

    @guide:argocd-applicationset-merge/restrictions/nested-once
    Examples:
      | what          | message                                     | merge                                                                                                                                                                                                                                                                     |
      | a third level | error getting param sets from generators: * | {mergeKeys: [name], generators: [{merge: {mergeKeys: [name], generators: [{merge: {mergeKeys: [name], generators: [{list: {elements: [{name: east}]}}, {list: {elements: [{name: east}]}}]}}, {list: {elements: [{name: east}]}}]}}, {list: {elements: [{name: east}]}}]} |

    @guide:argocd-applicationset-merge/restrictions/nested-keys
    Examples:
      | what             | message                                                                                                        | merge                                                                                                                                                                                         |
      | a key in a field | error getting param sets by merge key: the parameters from a generator were not unique by the given mergeKeys* | {mergeKeys: [values.merge], generators: [{list: {elements: [{name: east, values: {merge: a}}, {name: west, values: {merge: b}}]}}, {list: {elements: [{values: {merge: a}, colour: blue}]}}]} |

    @guide:argocd-applicationset-generators/generators/merge-two
    Examples:
      | what          | message                                                    | merge                                                                 |
      | one generator | found less than two generators, Merge requires two or more | {mergeKeys: [name], generators: [{list: {elements: [{name: east}]}}]} |

    # The document says nothing of these.
    Examples:
      | what                      | message                                                                                                        | merge                                                                                                                   |
      | a key that is there twice | error getting param sets by merge key: the parameters from a generator were not unique by the given mergeKeys* | {mergeKeys: [name], generators: [{list: {elements: [{name: east}, {name: east}]}}, {list: {elements: [{name: east}]}}]} |
      | no key                    | error getting param sets by merge key: no merge keys were specified, Merge requires at least one               | {mergeKeys: [], generators: [{list: {elements: [{name: east}]}}, {list: {elements: [{name: east}]}}]}                   |

  @guide:argocd-applicationset-merge/merge/discarded @guide:argocd-applicationset-merge/merge/precedence
  @guide:argocd-applicationset-merge/restrictions/child-template
  Scenario: A merge overrides elements, discards others and doesn't process templates of its children
    Given an application set "shop" of repository "shop" for "member-1" with
      """
      generators:
        - merge:
            mergeKeys: [name]
            generators:
              - list:
                  elements: [{name: east, colour: green}, {name: west, colour: green}]
                  template:
                    metadata: {labels: {size: small}}
                    spec: {project: default, destination: {}, source: {repoURL: '', path: nowhere}}
              - list: {elements: [{name: east, colour: blue}, {name: north, colour: blue}]}
              - list: {elements: [{name: east, colour: red}]}
      template:
        metadata:
          labels: {colour: '{{.colour}}'}
        spec:
          syncPolicy: {automated: {}}
      """
    Then application set "shop" owns applications "east" and "west"
    And application "east" has
      | field                  | value  |
      | metadata.labels.colour | red    |
      | metadata.labels.size   | absent |
      | spec.source.path       | east   |
    And application "west" has
      | field                  | value |
      | metadata.labels.colour | green |
    And application "east" is Synced and Healthy
    And application "west" is Synced and Healthy
    And the diagnosis finds nothing

  @AR-AS-005
  @guide:argocd-applicationset-template/fields/name-or-server
  Scenario: A template names a cluster and a server
    When an application set "shop" of repository "shop" for "member-1" with
      """
      generators:
        - list: {elements: [{name: east}]}
      template:
        spec:
          destination: {name: member-1, server: 'https://east-{suffix}.example.com'}
          syncPolicy: {automated: {}}
      """
    Then application set "shop" has
      | field                                        | value                                    |
      | status.conditions.type=ErrorOccurred.reason  | ApplicationValidationError               |
      | status.conditions.type=ErrorOccurred.message | application destination spec is invalid* |
    And application set "shop" owns no application
    And the diagnosis of application set "shop" is AR-AS-005
    When the spec of application set "shop" is corrected to
      """
      template:
        spec:
          destination: {server: null}
      """
    Then application set "shop" owns application "east"
    And application "east" is Synced and Healthy
    And the diagnosis finds nothing

  @guide:argocd-applicationset-template/generator/precedence @guide:argocd-applicationset-template/generator/other
  Scenario: A generator's template takes precedence
    Given an application set "shop" of repository "shop" for "member-1" with
      """
      generators:
        - list:
            elements: [{name: east}]
            template:
              metadata: {labels: {size: small}}
              spec: {project: '', destination: {}, source: {repoURL: '', path: west}}
      template:
        metadata:
          labels: {size: large, colour: green}
        spec:
          syncPolicy: {automated: {}}
      """
    Then application set "shop" owns application "east"
    And application "east" has
      | field                  | value   |
      | spec.source.path       | west    |
      | spec.project           | default |
      | metadata.labels.size   | small   |
      | metadata.labels.colour | green   |
    And application "east" is Synced and Healthy
    And "ConfigMap/west" is on "member-1"
    And the diagnosis finds nothing

  @drift:argocd-applicationset-template/patch/go-template
  Scenario: A patch of the template is made without Go templates
    Given an application set "shop" of repository "shop" for "member-1" with
      """
      goTemplate: false
      generators:
        - list: {elements: [{name: east, colour: green}]}
      template:
        metadata: {name: '{{name}}-{suffix}'}
        spec:
          source: {path: '{{name}}'}
          syncPolicy: {automated: {}}
      templatePatch: |
        metadata:
          labels: {colour: '{{colour}}'}
      """
    Then application set "shop" owns application "east"
    And application "east" has
      | field                  | value |
      | metadata.labels.colour | green |
    And application "east" is Synced and Healthy
    And the diagnosis finds nothing

  @AR-AS-005
  @guide:argocd-applicationset-template/patch/project @guide:argocd-applicationset-template/patch/empty
  Scenario: A patch of the template changes the project in vain, and clears the spec
    Given an application set "shop" of repository "shop" for "member-1" with
      """
      generators:
        - list: {elements: [{name: east, colour: green}]}
      template:
        spec:
          syncPolicy: {automated: {}}
      templatePatch: |
        metadata:
          labels: {colour: '{{.colour}}'}
        spec: {project: 'nobodys-{suffix}'}
      """
    Then application set "shop" owns application "east"
    And application "east" has
      | field                  | value   |
      | metadata.labels.colour | green   |
      | spec.project           | default |
    And application "east" is Synced and Healthy
    When the spec of application set "shop" becomes
      """
      templatePatch: |
        metadata:
          labels: {colour: '{{.colour}}'}
        spec: # nothing in here
      """
    Then application set "shop" has
      | field                                        | value                                                                             |
      | status.conditions.type=ErrorOccurred.reason  | ApplicationValidationError                                                        |
      | status.conditions.type=ErrorOccurred.message | application destination spec is invalid: Destination server missing from app spec |
    And the diagnosis of application set "shop" is AR-AS-005
    When the spec of application set "shop" is corrected to
      """
      templatePatch: null
      """
    Then application set "shop" has
      | field                                       | value |
      | status.conditions.type=ErrorOccurred.status | False |
    And application set "shop" owns application "east"
    And application "east" is Synced and Healthy
    And the diagnosis finds nothing

  @guide:argocd-applicationset-post-selector/selector/filter @guide:argocd-applicationset-post-selector/selector/equivalent
  @guide:argocd-applicationset-generators/generators/filtered
  Scenario Outline: Elements of a generator are filtered: <what>
    Given repository "shop" also has "config/east.yaml"
      """
      name: east
      stage: first
      """
    And repository "shop" also has "config/west.yaml"
      """
      name: west
      stage: last
      """
    And an application set "shop" of repository "shop" for "member-1" with
      """
      generators:
        - <generator>
          selector: {matchLabels: {stage: first}}
      template:
        spec:
          syncPolicy: {automated: {}}
      """
    Then application set "shop" owns application "east"
    And application "east" is Synced and Healthy
    When the spec of application set "shop" becomes
      """
      generators:
        - <generator>
          selector: {matchExpressions: [{key: stage, operator: In, values: [first]}]}
      """
    And application set "shop" is refreshed
    Then application set "shop" owns application "east"
    And the diagnosis finds nothing

    Examples:
      | what  | generator                                                                                  |
      | list  | list: {elements: [{name: east, stage: first}, {name: west, stage: last}]}                  |
      | files | git: {repoURL: '{url:shop}', revision: HEAD, files: [{path: config/*.yaml}]} |

  @AR-AS-001
  Scenario Outline: A selector of a generator isn't valid: <what>
    When an application set "shop" of repository "shop" for "member-1" with
      """
      generators:
        - list: {elements: [{name: east, stage: first}, {name: west, stage: last}]}
          selector: {matchExpressions: [<expression>]}
      template:
        spec:
          syncPolicy: {automated: {}}
      """
    Then application set "shop" has
      | field                                             | value                                |
      | status.conditions.type=ErrorOccurred.reason       | ApplicationGenerationFromParamsError |
      | status.conditions.type=ErrorOccurred.message      | error parsing label selector: *      |
      | status.conditions.type=ParametersGenerated.status | False                                |
    And application set "shop" owns no application
    And the diagnosis of application set "shop" is AR-AS-001
    When the spec of application set "shop" is corrected to
      """
      generators:
        - list: {elements: [{name: east, stage: first}, {name: west, stage: last}]}
          selector: {matchExpressions: [{key: stage, operator: In, values: [first]}]}
      """
    Then application set "shop" owns application "east"
    And application "east" is Synced and Healthy
    And the diagnosis finds nothing

    @guide:argocd-applicationset-post-selector/selector/empty-values
    Examples:
      | what                 | expression                                |
      | In without values    | {key: stage, operator: In, values: []}    |
      | NotIn without values | {key: stage, operator: NotIn, values: []} |

    @guide:argocd-applicationset-post-selector/selector/operators
    Examples:
      | what                           | expression                                |
      | an operator that doesn't exist | {key: stage, operator: Like, values: [f]} |
