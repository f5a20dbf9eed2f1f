@argocd @disruptive
Feature: What Argo CD's documents say about generators that need a fleet of their own
  A cluster generator gives an element for each Secret of a cluster that its selector matches. Without a selector that are all clusters of Argo
  CD, and the cluster that Argo CD runs on. How files are matched is a flag of the controller.

  Background:
    Given a fleet of its own with 1 member and Argo CD
    And Argo CD has the ApplicationSet controller
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

  @takes-90s
  @guide:argocd-applicationset-cluster/local/both @guide:argocd-applicationset-cluster/local/selector
  @guide:argocd-applicationset-cluster/local/secret
  Scenario: The local cluster is among the clusters, and a selector leaves it out
    Given an application set "shop" of repository "shop" for "member-1" with
      """
      generators:
        - clusters: {}
      template:
        metadata: {name: 'of-{{.name}}-{suffix}'}
        spec:
          source: {path: east}
      """
    Then application set "shop" owns applications "of-in-cluster" and "of-member-1"
    When the spec of application set "shop" becomes
      """
      generators:
        - clusters: {selector: {matchLabels: {argocd.argoproj.io/secret-type: cluster}}}
      """
    Then application set "shop" owns application "of-member-1"
    When the administrator of the hub applies
      """
      apiVersion: v1
      kind: Secret
      metadata:
        name: cluster-local
        namespace: argocd
        labels: {argocd.argoproj.io/secret-type: cluster}
      stringData:
        name: in-cluster-local
        server: https://kubernetes.default.svc
        config: '{"tlsClientConfig":{"insecure":false}}'
      """
    Then application set "shop" owns applications "of-in-cluster-local" and "of-member-1"
    When the spec of application set "shop" becomes
      """
      generators:
        - clusters: {selector: {matchLabels: {argocd.argoproj.io/secret-type: cluster}}}
          selector: {matchLabels: {name: member-1}}
      """
    Then application set "shop" owns application "of-member-1"
    When application "of-member-1" syncs
    Then application "of-member-1" is Synced and Healthy
    And the diagnosis finds nothing

  @AR-AS-002 @AR-AS-005 @takes-90s
  @guide:argocd-applicationset-cluster/secrets/label @guide:argocd-applicationset-cluster/secrets/normalized
  @guide:argocd-applicationset-generators/generators/clusters
  Scenario: The Secrets of clusters lack labels, have names with an underscore, and are deleted
    Given the administrator of the hub applies
      """
      apiVersion: v1
      kind: Secret
      metadata:
        name: cluster-east
        namespace: argocd
        labels: {team: shop, path: east}
      stringData: {name: 'east-{suffix}', server: 'https://east.example.com', config: '{}'}
      """
    When an application set "shop" of repository "shop" for "member-1" with
      """
      generators:
        - clusters: {selector: {matchLabels: {team: shop}}}
      template:
        metadata: {name: '{{.name}}'}
        spec:
          source: {path: '{{.metadata.labels.path}}'}
          syncPolicy: {automated: {}}
      """
    Then application set "shop" has
      | field                                           | value |
      | status.conditions.type=ResourcesUpToDate.status | True  |
    And application set "shop" owns no application
    And the diagnosis of application set "shop" is AR-AS-002
    When the administrator of the hub applies
      """
      apiVersion: v1
      kind: Secret
      metadata:
        name: cluster-east
        namespace: argocd
        labels: {argocd.argoproj.io/secret-type: cluster, team: shop, path: east}
      stringData: {name: 'east-{suffix}', server: 'https://east.example.com', config: '{}'}
      """
    Then application set "shop" owns application "east"
    And application "east" is Synced and Healthy
    When the administrator of the hub applies
      """
      apiVersion: v1
      kind: Secret
      metadata:
        name: cluster-west
        namespace: argocd
        labels: {argocd.argoproj.io/secret-type: cluster, team: shop, path: west}
      stringData: {name: 'west_{suffix}', server: 'https://west.example.com', config: '{}'}
      """
    Then application set "shop" has
      | field                                       | value |
      | status.conditions.type=ErrorOccurred.status | True  |
    And application set "shop" owns application "east"
    # What the API server refuses counts as a failure after a minute: a conflict passes.
    And within 120 seconds the diagnosis of application set "shop" is AR-AS-005
    When the spec of application set "shop" is corrected to
      """
      template:
        metadata: {name: '{{.nameNormalized}}'}
      """
    Then application set "shop" owns applications "east" and "west"
    And application "west" is Synced and Healthy
    And the diagnosis finds nothing
    When the administrator of the hub deletes "Secret/argocd/cluster-west"
    Then application set "shop" owns application "east"
    And "ConfigMap/west" is not on "member-1"
    And the diagnosis finds nothing

  @takes-90s
  @guide:argocd-applicationset-cluster/version/needed @guide:argocd-applicationset-cluster/version/label
  Scenario: The version of a cluster is a label of its Secret, where the Secret asks for it
    Given an application set "shop" of repository "shop" for "member-1" with
      """
      generators:
        - list: {elements: [{name: east}]}
      template:
        spec:
          syncPolicy: {automated: {}}
      """
    And application set "shop" owns application "east"
    And application "east" is Synced and Healthy
    # Argo CD writes what it knows of a cluster every 10 s.
    Then object "Secret/argocd/cluster-member-1" of the hub has for 15 seconds
      | field                                                 | value  |
      | metadata.labels.argocd.argoproj.io/kubernetes-version | absent |
    When the administrator of the hub applies
      """
      apiVersion: v1
      kind: Secret
      metadata:
        name: cluster-member-1
        namespace: argocd
        labels: {argocd.argoproj.io/auto-label-cluster-info: 'true'}
      """
    Then object "Secret/argocd/cluster-member-1" of the hub has
      | field                                                 | value |
      | metadata.labels.argocd.argoproj.io/kubernetes-version | *     |
    When the spec of application set "shop" becomes
      """
      generators:
        - clusters: {selector: {matchExpressions: [{key: argocd.argoproj.io/kubernetes-version, operator: Exists}]}}
      template:
        metadata: {name: 'west-{suffix}'}
        spec:
          source: {path: west}
      """
    Then application set "shop" owns application "west"
    And application "west" is Synced and Healthy
    And the diagnosis finds nothing

  @AR-AS-004 @takes-90s
  @guide:argocd-applicationset-cluster/values/prefix @guide:argocd-applicationset-cluster/flat-list/single
  @guide:argocd-applicationset-cluster/flat-list/per-generator
  Scenario: Values of clusters, and flat lists of clusters
    Given the administrator of the hub applies
      """
      apiVersion: v1
      kind: Secret
      metadata:
        name: cluster-east
        namespace: argocd
        labels: {argocd.argoproj.io/secret-type: cluster, team: shop, stage: staging}
      stringData: {name: east, server: 'https://east.example.com', config: '{}'}
      ---
      apiVersion: v1
      kind: Secret
      metadata:
        name: cluster-west
        namespace: argocd
        labels: {argocd.argoproj.io/secret-type: cluster, team: shop, stage: production}
      stringData: {name: west, server: 'https://west.example.com', config: '{}'}
      """
    When an application set "shop" of repository "shop" for "member-1" with
      """
      generators:
        - clusters: {selector: {matchLabels: {stage: staging}}, values: {colour: green}}
      template:
        metadata:
          labels: {colour: '{{.colour}}'}
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
    When the spec of application set "shop" becomes
      """
      generators:
        - clusters: {flatList: true, selector: {matchLabels: {team: shop}}}
      template:
        metadata:
          name: 'all-{suffix}'
          labels: {colour: null, clusters: '{{len .clusters}}'}
        spec:
          source: {path: east}
      """
    Then application set "shop" owns application "all"
    And application "all" has
      | field                    | value |
      | metadata.labels.clusters | 2     |
    When the spec of application set "shop" becomes
      """
      generators:
        - clusters: {flatList: true, selector: {matchLabels: {stage: staging}}}
        - clusters: {flatList: true, selector: {matchLabels: {stage: production}}}
      template:
        metadata: {name: '{{(index .clusters 0).name}}-{suffix}', labels: null}
        spec:
          source: {path: '{{(index .clusters 0).name}}'}
          syncPolicy: {automated: {}}
      """
    Then application set "shop" owns applications "east" and "west"
    And application "east" is Synced and Healthy
    And application "west" is Synced and Healthy
    And the diagnosis finds nothing

  @takes-90s
  @drift:argocd-applicationset-merge/example/list-override
  Scenario: A list is to override a value of a cluster generator
    Given the administrator of the hub applies
      """
      apiVersion: v1
      kind: Secret
      metadata:
        name: cluster-east
        namespace: argocd
        labels: {argocd.argoproj.io/secret-type: cluster, team: shop, stage: staging}
      stringData: {name: east, server: 'https://east.example.com', config: '{}'}
      ---
      apiVersion: v1
      kind: Secret
      metadata:
        name: cluster-west
        namespace: argocd
        labels: {argocd.argoproj.io/secret-type: cluster, team: shop, stage: production}
      stringData: {name: west, server: 'https://west.example.com', config: '{}'}
      """
    # The example of the document.
    And an application set "shop" of repository "shop" for "member-1" with
      """
      generators:
        - merge:
            mergeKeys: [server]
            generators:
              - clusters:
                  selector: {matchLabels: {team: shop}}
                  values: {kafka: 'true', redis: 'false'}
              - list: {elements: [{server: 'https://west.example.com', values.redis: 'true'}]}
      template:
        metadata:
          labels: {kafka: '{{.values.kafka}}', redis: '{{.values.redis}}'}
        spec:
          syncPolicy: {automated: {}}
      """
    Then application set "shop" owns applications "east" and "west"
    And application "west" has
      | field                 | value |
      | metadata.labels.kafka | true  |
      | metadata.labels.redis | false |
    And application "west" is Synced and Healthy
    When the spec of application set "shop" becomes
      """
      generators:
        - merge:
            mergeKeys: [server]
            generators:
              - clusters:
                  selector: {matchLabels: {team: shop}}
                  values: {kafka: 'true', redis: 'false'}
              - list: {elements: [{server: 'https://west.example.com', values: {redis: 'true'}}]}
      """
    Then the applicationset-controller of Argo CD has logged "Recovered from panic: reflect.Value.SetMapIndex" in a line with "{shop}"
    And application set "shop" has
      | field                                       | value |
      | status.conditions.type=ErrorOccurred.status | False |
    And application "west" has
      | field                 | value |
      | metadata.labels.redis | false |
    When the spec of application set "shop" is corrected to
      """
      generators:
        - merge:
            mergeKeys: [server]
            generators:
              - clusters:
                  selector: {matchLabels: {team: shop}}
                  values: {kafka: 'true', redis: 'false'}
              - clusters:
                  selector: {matchLabels: {stage: production}}
                  values: {redis: 'true'}
      """
    Then application "west" has
      | field                 | value |
      | metadata.labels.kafka | true  |
      | metadata.labels.redis | true  |
    And application "east" has
      | field                 | value |
      | metadata.labels.redis | false |
    And application "east" is Synced and Healthy
    And application "west" is Synced and Healthy
    And the diagnosis finds nothing

  @takes-90s
  @guide:argocd-applicationset-git-file-globbing/globbing/deeper
  @drift:argocd-applicationset-git-file-globbing/globbing/flag
  Scenario: Files in directories below are matched, and not with the new globbing
    Given repository "shop" also has "config/one/values.json"
      """
      {"name": "one"}
      """
    And repository "shop" also has "config/one/two/values.json"
      """
      {"name": "two"}
      """
    And an application set "shop" of repository "shop" for "member-1" with
      """
      generators:
        - git:
            repoURL: {url:shop}
            revision: HEAD
            files: [{path: 'config/*/values.json'}]
      template:
        spec:
          source: {path: east}
      """
    Then application set "shop" owns applications "one" and "two"
    When the applicationset-controller of Argo CD is restarted with "--enable-new-git-file-globbing=true"
    And application set "shop" is refreshed
    # The repo-server has cached which files of this commit match.
    Then application set "shop" owns applications "one" and "two"
    When repository "shop" also has "README.md"
      """
      Another commit.
      """
    And application set "shop" is refreshed
    Then application set "shop" owns application "one"
    When application "one" syncs
    Then application "one" is Synced and Healthy
    And the diagnosis finds nothing
