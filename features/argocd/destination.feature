@argocd
Feature: A sync fails because of where it should go
  The manifests and their sources are correct. The cluster or the namespace that the Application names as its
  destination doesn't exist.

  Background:
    Given a repository "web" with "settings.yaml"
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: settings
      """

  @AR-CL-004
  Scenario: Argo CD knows no cluster of that name
    Given an application "web" of repository "web" for "member-1" with '{"destination": {"name": "nowhere"}}'
    When application "web" syncs
    Then the sync of application "web" ends in an error
    And application "web" reports
      | field            | value                                         |
      | sync             | Unknown                                       |
      | phase            | Error                                         |
      | InvalidSpecError | there are no clusters with this name: nowhere |
    And the diagnosis of application "web" is AR-CL-004
      | object                   | value                                         |
      | Application/argocd/{web} | there are no clusters with this name: nowhere |
    When application "web" gets '{"destination": {"name": "member-1"}}'
    And application "web" syncs
    Then the sync of application "web" succeeds
    And application "web" is Synced and Healthy
    And the diagnosis finds nothing

  @AR-SF-012
  Scenario: The destination has a name and an address
    Given an application "web" of repository "web" for "member-1" with '{"destination": {"server": "https://kubernetes.default.svc"}}'
    When application "web" syncs
    Then the sync of application "web" ends in an error
    And application "web" reports
      | field            | value                                                      |
      | sync             | Unknown                                                    |
      | phase            | Error                                                      |
      | InvalidSpecError | application destination can't have both name and server defined |
    And the diagnosis of application "web" is AR-SF-012
      | object                   | value                                                      |
      | Application/argocd/{web} | application destination can't have both name and server defined |
    When application "web" gets '{"destination": {"server": null}}'
    And application "web" syncs
    Then the sync of application "web" succeeds
    And application "web" is Synced and Healthy
    And the diagnosis finds nothing

  @AR-SF-013
  @guide:argocd-sync-options/namespace/missing
  Scenario: The namespace isn't there
    Given an application "web" of repository "web" for "member-1" with '{"destination": {"namespace": "shop-{suffix}"}}'
    When application "web" syncs
    Then the sync of application "web" fails
    And application "web" reports
      | field   | value                                |
      | sync    | OutOfSync                            |
      | phase   | Failed                               |
      | message | namespaces "shop-{suffix}" not found |
    And the sync of application "web" reports of its resources
      | resource           | status     | phase  | message                              |
      | ConfigMap/settings | SyncFailed | Failed | namespaces "shop-{suffix}" not found |
    And the diagnosis of application "web" is AR-SF-013
      | object                   | value                                |
      | Application/argocd/{web} | namespaces "shop-{suffix}" not found |
    # The sync option CreateNamespace=true would also create the namespace.
    When the administrator of "member-1" applies
      """
      apiVersion: v1
      kind: Namespace
      metadata:
        name: shop-{suffix}
      """
    And application "web" syncs
    Then the sync of application "web" succeeds
    And application "web" is Synced and Healthy
    And the diagnosis finds nothing
