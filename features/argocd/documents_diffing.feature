@argocd
Feature: What Argo CD's documents say about differences
  An Application is OutOfSync when an object in the cluster differs from git. Rules in the Application, or in Argo CD's settings, say which
  differences don't count. A rule that matches nothing is no error.

  @AR-OS-004
  Scenario Outline: Somebody changes a label of two objects, and a rule <rule> ignores <what>
    Given a repository "web" with "settings.yaml"
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: settings
        labels: {example.com/colour: blue}
      """
    And repository "web" also has "other.yaml"
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: other
        labels: {example.com/colour: blue}
      """
    And an application "web" of repository "web" for "member-1" with '{"ignoreDifferences": [<ignores>]}'
    And application "web" syncs
    And application "web" is Synced and Healthy
    When the administrator of "member-1" applies
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: settings
        labels: {example.com/colour: red}
      ---
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: other
        labels: {example.com/colour: red}
      """
    And application "web" is refreshed
    Then application "web" lists its resources
      | resource           | status     |
      | ConfigMap/settings | <settings> |
      | ConfigMap/other    | <other>    |
    And application "web" reports
      | field | value     |
      | sync  | OutOfSync |
    And the diagnosis of application "web" is AR-OS-004
    When application "web" syncs
    Then the sync of application "web" succeeds
    And application "web" is Synced and Healthy
    And the diagnosis finds nothing

    @guide:argocd-diffing/application/name
    Examples:
      | rule        | what        | settings | other     | ignores                                                                                             |
      | with a name | one of them | Synced   | OutOfSync | {"kind": "ConfigMap", "name": "settings", "jsonPointers": ["/metadata/labels/example.com~1colour"]} |

    @guide:argocd-diffing/application/slash
    Examples:
      | rule              | what         | settings  | other     | ignores                                                                         |
      | with a bare slash | none of them | OutOfSync | OutOfSync | {"kind": "ConfigMap", "jsonPointers": ["/metadata/labels/example.com/colour"]} |

  @AR-OS-004
  @guide:argocd-diffing/application/group
  Scenario: The group of a rule has a version, and nothing is ignored
    Given a repository "web" with "deployment.yaml"
      """
      apiVersion: apps/v1
      kind: Deployment
      metadata:
        name: web
        labels: {colour: blue}
      spec:
        replicas: 0
        selector:
          matchLabels: {app: web}
        template:
          metadata:
            labels: {app: web}
          spec:
            containers:
              - {name: web, image: nginx:1.29}
      """
    And an application "web" of repository "web" for "member-1" with '{"ignoreDifferences": [{"group": "apps/v1", "kind": "Deployment", "jsonPointers": ["/metadata/labels/colour"]}]}'
    And application "web" syncs
    And application "web" is Synced and Healthy
    When the administrator of "member-1" applies
      """
      apiVersion: apps/v1
      kind: Deployment
      metadata:
        name: web
        labels: {colour: red}
      """
    And application "web" is refreshed
    Then application "web" reports
      | field | value     |
      | sync  | OutOfSync |
    And the diagnosis of application "web" is AR-OS-004
    When application "web" gets '{"ignoreDifferences": [{"group": "apps", "kind": "Deployment", "jsonPointers": ["/metadata/labels/colour"]}]}'
    And application "web" is refreshed
    Then application "web" is Synced and Healthy
    And the diagnosis finds nothing

  @healthy
  Scenario Outline: Somebody changes a container, and <what> ignores it
    Given a repository "web" with "deployment.yaml"
      """
      apiVersion: apps/v1
      kind: Deployment
      metadata:
        name: web
      spec:
        replicas: 0
        selector:
          matchLabels: {app: web}
        template:
          metadata:
            labels: {app: web}
          spec:
            containers:
              - {name: web, image: nginx:1.29}
              - {name: side, image: nginx:1.29, tty: true}
      """
    And an application "web" of repository "web" for "member-1" with '{"ignoreDifferences": [<ignores>]}'
    And application "web" syncs
    And application "web" is Synced and Healthy
    When the administrator of "member-1" applies
      """
      apiVersion: apps/v1
      kind: Deployment
      metadata:
        name: web
      spec:
        template:
          spec:
            containers:
              - {name: side, image: nginx:1.30}
      """
    Then object "Deployment/{apps}/web" of "member-1" has
      | field                                 | value                   |
      | spec.template.spec.containers.1.image | nginx:1.30 |
    When application "web" is refreshed
    Then application "web" is Synced and Healthy
    And the diagnosis finds nothing

    @guide:argocd-diffing/application/jq
    Examples:
      | what            | ignores                                                                                                           |
      | a jq expression | {"group": "apps", "kind": "Deployment", "jqPathExpressions": [".spec.template.spec.containers[] \| select(.tty)"]} |

    @guide:argocd-diffing/application/managers
    Examples:
      | what                  | ignores                                                              |
      | a rule of its manager | {"group": "*", "kind": "*", "managedFieldsManagers": ["fleetdrill"]} |

  @AR-OS-004
  @drift:argocd-diffing/jq-timeout/message
  Scenario: A jq expression takes too long, and the difference stays without a word
    Given a repository "web" with "settings.yaml"
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: settings
        labels: {colour: blue}
      """
    And an application "web" of repository "web" for "member-1" with '{"ignoreDifferences": [{"kind": "ConfigMap", "jqPathExpressions": [".metadata.labels.colour | select(last(range(1000000000)) > 0)"]}]}'
    And application "web" syncs
    And application "web" is Synced and Healthy
    When the administrator of "member-1" applies
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: settings
        labels: {colour: red}
      """
    And application "web" is refreshed
    Then application "web" reports
      | field           | value     |
      | sync            | OutOfSync |
      | ComparisonError | absent    |
      | UnknownError    | absent    |
    And the diagnosis of application "web" is AR-OS-004
    When application "web" gets '{"ignoreDifferences": [{"kind": "ConfigMap", "jqPathExpressions": [".metadata.labels.colour"]}]}'
    And application "web" is refreshed
    Then application "web" is Synced and Healthy
    And the diagnosis finds nothing

  @guide:argocd-diffing/reasons/random @drift:argocd-diffing/reasons/random-at-once
  Scenario: A chart has something random, which differs as soon as it is rendered again
    Given a repository "chart" with "Chart.yaml"
      """
      apiVersion: v2
      name: web
      version: 0.1.0
      """
    And repository "chart" also has "templates/settings.yaml"
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: settings
      data:
        token: {{ randAlphaNum 12 | quote }}
      """
    And an application "web" of repository "chart" for "member-1"
    When application "web" syncs
    Then the sync of application "web" succeeds
    # The manifests of a commit are rendered once.
    When application "web" is refreshed
    Then application "web" is Synced and Healthy
    When application "web" is hard-refreshed
    Then application "web" reports
      | field | value     |
      | sync  | OutOfSync |
      | phase | Succeeded |
    When "templates/settings.yaml" of repository "chart" is corrected to
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: settings
      data:
        token: {{ sha256sum .Release.Name | trunc 12 | quote }}
      """
    And application "web" syncs
    Then the sync of application "web" succeeds
    When application "web" is hard-refreshed
    Then application "web" is Synced and Healthy
    And the diagnosis finds nothing

  @drift:argocd-diffing/reasons/autoscaler-metrics
  Scenario: An autoscaler's metrics stay in the order of git
    Given a repository "web" with "autoscaler.yaml"
      """
      apiVersion: autoscaling/v2
      kind: HorizontalPodAutoscaler
      metadata:
        name: web
      spec:
        scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
        minReplicas: 1
        maxReplicas: 2
        metrics:
          - {type: Resource, resource: {name: memory, target: {type: Utilization, averageUtilization: 80}}}
          - {type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 80}}}
      """
    And an application "web" of repository "web" for "member-1"
    When application "web" syncs
    Then the sync of application "web" succeeds
    And object "HorizontalPodAutoscaler/{apps}/web" of "member-1" has
      | field                        | value  |
      | status.conditions.0.type     | *      |
      | spec.metrics.0.resource.name | memory |
    When application "web" is refreshed
    Then application "web" reports
      | field | value  |
      | sync  | Synced |
