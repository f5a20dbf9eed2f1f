@argocd
Feature: A Service that is deleted loses its address
  A Service that can't be changed is deleted and recreated. If its manifest sets no address, it gets any free address.

  @passes:AR-HL-004 @guide:argocd-sync-failed/diagnose/service-ip
  Scenario: Somebody else has the address by the time the Service is synced again
    Given a repository "shop" with "service.yaml"
      """
      apiVersion: v1
      kind: Service
      metadata:
        name: shop
      spec:
        selector: {app: shop}
        ports: [{port: 80}]
      """
    And an application "shop" of repository "shop" for "member-1"
    And application "shop" syncs
    And application "shop" is Synced and Healthy
    And the clusterIP of "Service/shop" on "member-1" is called "address"
    When the administrator of "member-1" deletes "Service/shop"
    And the administrator of "member-1" applies
      """
      apiVersion: v1
      kind: Service
      metadata:
        name: other
      spec:
        clusterIP: "{address}"
        ports: [{port: 80}]
      """
    And application "shop" syncs
    Then the sync of application "shop" succeeds
    And application "shop" is Synced and Healthy
    And the clusterIP of "Service/shop" on "member-1" is another than "address"
    And the diagnosis finds nothing
