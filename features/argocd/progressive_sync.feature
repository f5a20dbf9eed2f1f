@argocd
Feature: Progressive syncs stop
  With the strategy RollingSync, an ApplicationSet's controller syncs its Applications step by step, and waits for each step without a limit.

  Background:
    Given Argo CD has the ApplicationSet controller
    And a repository "shop" with "east/settings.yaml"
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: east
      immutable: true
      data:
        colour: blue
      """
    And repository "shop" also has "west/settings.yaml"
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: west
      data:
        colour: blue
      """

  @AR-AS-007 @AR-SF-002
  @guide:argocd-applicationset-progressive-syncs/rolling/order @guide:argocd-applicationset-progressive-syncs/rolling/external
  @guide:argocd-applicationset-progressive-syncs/rolling/retry
  Scenario: The sync of the first step fails, and the second step waits
    Given an application set "shop" of repository "shop" for "member-1" with
      """
      generators:
        - list: {elements: [{name: east, stage: first}, {name: west, stage: second}]}
      strategy:
        type: RollingSync
        rollingSync:
          steps:
            - matchExpressions: [{key: stage, operator: In, values: [first]}]
            - matchExpressions: [{key: stage, operator: In, values: [second]}]
      template:
        metadata:
          labels: {stage: '{{.stage}}'}
        spec:
          syncPolicy: {retry: {limit: 0}}
      """
    Then application set "shop" owns applications "east" and "west"
    And application "east" is Synced and Healthy
    And application "west" is Synced and Healthy
    And application set "shop" has
      | field                                             | value                         |
      | status.conditions.type=RolloutProgressing.status  | False                         |
      | status.conditions.type=RolloutProgressing.reason  | ApplicationSetRolloutComplete |
    And the diagnosis finds nothing
    # Argo CD may compare an Application at any time. If "west" were out of sync first, it would be synced: the first step is complete.
    When "east/settings.yaml" of repository "shop" becomes
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: east
      immutable: true
      data:
        colour: green
      """
    And application "east" is refreshed
    Then application "east" has
      | field                         | value     |
      | status.sync.status            | OutOfSync |
      | status.operationState.phase   | Failed    |
    When repository "shop" also has "west/more.yaml"
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: west-more
      """
    And application "west" is refreshed
    Then application "west" reports
      | field | value     |
      | sync  | OutOfSync |
    And application set "shop" has
      | field                                            | value                                               |
      | status.conditions.type=ErrorOccurred.status      | False                                               |
      | status.conditions.type=RolloutProgressing.status | True                                                |
      | status.conditions.type=RolloutProgressing.message | ApplicationSet is performing rollout of step 1     |
    And the diagnosis of application set "shop" is AR-AS-007, because of AR-SF-002
      | object                       | value                 |
      | ApplicationSet/argocd/{shop} | step 1                |
      | Application/argocd/{east}    | OutOfSync             |
      | ApplicationSet/argocd/{shop} | step 2, Waiting       |
    When "east/settings.yaml" of repository "shop" becomes
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: east
        labels: {is: corrected}
      immutable: true
      data:
        colour: blue
      """
    And application "east" is refreshed
    # The ApplicationSet's controller syncs the new commit by itself.
    Then application "east" is Synced and Healthy
    When application "west" is refreshed
    Then application "west" is Synced and Healthy
    And "ConfigMap/west-more" is on "member-1"
    And application set "shop" has
      | field                                            | value |
      | status.conditions.type=RolloutProgressing.status | False |
    And the diagnosis finds nothing

  @AR-AS-008
  @guide:argocd-applicationset-progressive-syncs/rolling/no-step
  Scenario: An application matches no step
    When an application set "shop" of repository "shop" for "member-1" with
      """
      generators:
        - list: {elements: [{name: east, stage: first}, {name: west, stage: second}]}
      strategy:
        type: RollingSync
        rollingSync:
          steps:
            - matchExpressions: [{key: stage, operator: In, values: [first]}]
      template:
        metadata:
          labels: {stage: '{{.stage}}'}
      """
    Then application set "shop" owns applications "east" and "west"
    And application "east" is Synced and Healthy
    And application set "shop" has
      | field                                            | value                         |
      | status.conditions.type=RolloutProgressing.reason | ApplicationSetRolloutComplete |
    And the diagnosis of application set "shop" is AR-AS-008
      | object                       | value     |
      | ApplicationSet/argocd/{shop} | step -1   |
      | Application/argocd/{west}    | OutOfSync |
    When the spec of application set "shop" is corrected to
      """
      strategy:
        rollingSync:
          steps:
            - matchExpressions: [{key: stage, operator: In, values: [first]}]
            - matchExpressions: [{key: stage, operator: In, values: [second]}]
      """
    Then application "west" is Synced and Healthy
    And the diagnosis finds nothing
