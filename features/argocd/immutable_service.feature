@argocd @AR-SF-002
Feature: A sync fails because a Service's address can't be changed
  A Service's clusterIP is set once. A recreated Service gets another clusterIP if its manifest doesn't set one.

  Background:
    Given a repository "shop" with "service.yaml"
      """
      apiVersion: v1
      kind: Service
      metadata:
        name: shop
      spec:
        clusterIP: None
        selector: {app: shop}
        ports: [{port: 80}]
      """
    And an application "shop" of repository "shop" for "member-1"
    And application "shop" syncs
    And application "shop" is Synced and Healthy

  Scenario Outline: The clusterIP of a Service, and <remedy>
    When "service.yaml" of repository "shop" becomes
      """
      apiVersion: v1
      kind: Service
      metadata:
        name: shop
      spec:
        clusterIP: "{own address}"
        selector: {app: shop}
        ports: [{port: 80}]
      """
    And application "shop" syncs
    Then the sync of application "shop" fails
    And application "shop" reports
      | field   | value                                                                 |
      | sync    | OutOfSync                                                             |
      | message | one or more objects failed to apply, reason:                          |
      | message | Service "shop" is invalid: spec.clusterIPs[0]: Invalid value: ["{own address}"]: may not change once set |
    And the sync of application "shop" reports of its resources
      | resource     | status     | phase  | message                                                        |
      | Service/shop | SyncFailed | Failed | spec.clusterIPs[0]: Invalid value: ["{own address}"]: may not change once set |
    And the diagnosis of application "shop" is AR-SF-002
      | object                    | value                   |
      | Application/argocd/{shop} | may not change once set |
      | Service/{apps}/shop       | None                    |
    When application "shop" syncs with "--replace"
    Then the sync of application "shop" fails
    And the diagnosis of application "shop" is AR-SF-002
    When application "shop" syncs with "<flags>"
    Then the sync of application "shop" succeeds
    And application "shop" is Synced and Healthy
    And the diagnosis finds nothing

    Examples:
      | remedy             | flags             |
      | Force with Replace | --force --replace |
      | Force alone        | --force           |

  Scenario: The clusterIP of a Service, which is deleted first
    When "service.yaml" of repository "shop" becomes
      """
      apiVersion: v1
      kind: Service
      metadata:
        name: shop
      spec:
        clusterIP: "{own address}"
        selector: {app: shop}
        ports: [{port: 80}]
      """
    And application "shop" syncs
    Then the sync of application "shop" fails
    And the diagnosis of application "shop" is AR-SF-002
    When the administrator of "member-1" deletes "Service/shop"
    And application "shop" syncs
    Then the sync of application "shop" succeeds
    And application "shop" is Synced and Healthy
    And the diagnosis finds nothing
