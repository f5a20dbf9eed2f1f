@argocd
Feature: A project forbids what an Application wants
  A project limits where its Applications may deploy, from where, and which kinds. Argo CD refuses an Application that goes beyond that
  before it compares anything.

  Background:
    Given a repository "web" with "settings.yaml"
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: settings
      """

  @AR-PJ-001
  Scenario: The project has other destinations
    Given a project "shop" with
      """
      sourceRepos: ["*"]
      destinations: [{name: member-2, namespace: "*"}]
      """
    And an application "web" of repository "web" for "member-1" with '{"project": "{shop}"}'
    Then application "web" reports
      | field            | value                                                                 |
      | sync             | Unknown                                                               |
      | InvalidSpecError | do not match any of the allowed destinations in project '{shop}'      |
    And the diagnosis of application "web" is AR-PJ-001
      | object                    | value                                            |
      | Application/argocd/{web}  | do not match any of the allowed destinations     |
      | AppProject/argocd/{shop}  | member-2                                         |
    When project "shop" gets '{"destinations": [{"name": "member-1", "namespace": "*"}]}'
    And application "web" is refreshed
    # A sync takes the conditions of the last comparison. While the condition is there, the sync ends in an error.
    Then application "web" reports
      | field | value     |
      | sync  | OutOfSync |
    When application "web" syncs
    Then the sync of application "web" succeeds
    And application "web" is Synced and Healthy
    And the diagnosis finds nothing

  @AR-PJ-002
  Scenario: The project has other repositories
    Given a project "shop" with
      """
      sourceRepos: ["https://git.example.com/*"]
      destinations: [{name: "*", namespace: "*"}]
      """
    And an application "web" of repository "web" for "member-1" with '{"project": "{shop}"}'
    Then application "web" reports
      | field            | value                                  |
      | sync             | Unknown                                |
      | InvalidSpecError | is not permitted in project '{shop}'   |
    And the diagnosis of application "web" is AR-PJ-002
      | object                   | value                                |
      | Application/argocd/{web} | is not permitted in project '{shop}' |
      | AppProject/argocd/{shop} | https://git.example.com/*            |
    When project "shop" gets '{"sourceRepos": ["*"]}'
    And application "web" is refreshed
    # A sync takes the conditions of the last comparison. While the condition is there, the sync ends in an error.
    Then application "web" reports
      | field | value     |
      | sync  | OutOfSync |
    When application "web" syncs
    Then the sync of application "web" succeeds
    And application "web" is Synced and Healthy
    And the diagnosis finds nothing

  @AR-PJ-003
  Scenario: The project doesn't exist
    Given an application "web" of repository "web" for "member-1" with '{"project": "nobodys-{suffix}"}'
    Then application "web" reports
      | field            | value                                                           |
      | sync             | Unknown                                                         |
      | InvalidSpecError | referencing project nobodys-{suffix} which does not exist       |
    And the diagnosis of application "web" is AR-PJ-003
      | object                   | value                                                     |
      | Application/argocd/{web} | referencing project nobodys-{suffix} which does not exist |
    When application "web" gets '{"project": "default"}'
    # A sync takes the conditions of the last comparison. While the condition is there, the sync ends in an error.
    Then application "web" reports
      | field | value     |
      | sync  | OutOfSync |
    When application "web" syncs
    Then the sync of application "web" succeeds
    And application "web" is Synced and Healthy
    And the diagnosis finds nothing

  @AR-PJ-004
  Scenario: The project forbids a kind
    Given a project "shop" with
      """
      sourceRepos: ["*"]
      destinations: [{name: "*", namespace: "*"}]
      namespaceResourceBlacklist: [{group: "", kind: Service}]
      """
    And repository "web" also has "service.yaml"
      """
      apiVersion: v1
      kind: Service
      metadata:
        name: web
      spec:
        clusterIP: None
        ports: [{port: 80}]
      """
    And an application "web" of repository "web" for "member-1" with '{"project": "{shop}"}'
    When application "web" syncs
    Then the sync of application "web" fails
    And application "web" reports
      | field   | value                                          |
      | sync    | OutOfSync                                      |
      | phase   | Failed                                         |
      | message | one or more synchronization tasks are not valid |
    And the sync of application "web" reports of its resources
      | resource    | status     | phase | message                                           |
      | Service/web | SyncFailed |       | resource :Service is not permitted in project {shop} |
    And "ConfigMap/settings" is not on "member-1"
    And the diagnosis of application "web" is AR-PJ-004
      | object                   | value                                                |
      | Application/argocd/{web} | resource :Service is not permitted in project {shop} |
      | AppProject/argocd/{shop} | Service                                              |
    When project "shop" gets '{"namespaceResourceBlacklist": null}'
    And application "web" syncs
    Then the sync of application "web" succeeds
    And application "web" is Synced and Healthy
    And the diagnosis finds nothing

  @AR-PJ-005
  Scenario: A sync window that is open all day holds automated sync back
    Given a project "shop" with
      """
      sourceRepos: ["*"]
      destinations: [{name: "*", namespace: "*"}]
      syncWindows:
        - {kind: deny, schedule: "0 0 * * *", duration: 24h, applications: ["*"], manualSync: true}
      """
    And an application "web" of repository "web" for "member-1" with '{"project": "{shop}", "syncPolicy": {"automated": {}}}'
    Then application "web" reports
      | field | value     |
      | sync  | OutOfSync |
      | phase | absent    |
    And the diagnosis of application "web" is AR-PJ-005
      | object                   | value     |
      | Application/argocd/{web} | OutOfSync |
      | AppProject/argocd/{shop} | 0 0 * * * |
    When project "shop" gets '{"syncWindows": null}'
    And application "web" is refreshed
    Then application "web" is Synced and Healthy
    And the diagnosis finds nothing

  @AR-PJ-005
  Scenario: A requested sync waits for the end of a window
    Given a project "shop" with
      """
      sourceRepos: ["*"]
      destinations: [{name: "*", namespace: "*"}]
      syncWindows:
        - {kind: deny, schedule: "0 0 * * *", duration: 24h, applications: ["*"]}
      """
    And an application "web" of repository "web" for "member-1" with '{"project": "{shop}"}'
    When application "web" syncs
    Then application "web" reports
      | field   | value                                  |
      | phase   | Running                                |
      | message | Sync operation blocked by sync window  |
    And the diagnosis of application "web" is AR-PJ-005
      | object                   | value                                 |
      | Application/argocd/{web} | Sync operation blocked by sync window |
      | AppProject/argocd/{shop} | 0 0 * * *                             |
    When project "shop" gets '{"syncWindows": null}'
    And application "web" is refreshed
    Then the sync of application "web" succeeds
    And application "web" is Synced and Healthy
    And the diagnosis finds nothing

  @AR-PJ-006
  @guide:argocd-faq/orphaned/warning
  Scenario: An object in the namespace belongs to no application
    Given a project "shop" with
      """
      sourceRepos: ["*"]
      destinations: [{name: "*", namespace: "*"}]
      orphanedResources: {warn: true}
      """
    And an application "web" of repository "web" for "member-1" with '{"project": "{shop}"}'
    And application "web" syncs
    And the sync of application "web" succeeds
    When the administrator of "member-1" applies
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: left-behind
      """
    And application "web" is refreshed
    Then application "web" reports
      | field                   | value              |
      | OrphanedResourceWarning | orphaned resources |
    And the diagnosis of application "web" is AR-PJ-006
      | object                   | value              |
      | Application/argocd/{web} | orphaned resources |
    When project "shop" gets '{"orphanedResources": null}'
    And application "web" is refreshed
    Then application "web" is Synced and Healthy
    And the diagnosis finds nothing

  @healthy
  Scenario: A project allows what its application wants, within a window that is closed
    Given a project "shop" with
      """
      # A star ends at a slash, two stars do not.
      sourceRepos: ["file:///**", "http://**"]
      destinations: [{name: member-1, namespace: "*"}]
      syncWindows:
        - {kind: deny, schedule: "0 0 1 1 *", duration: 1m, applications: ["*"]}
      """
    And an application "web" of repository "web" for "member-1" with '{"project": "{shop}", "syncPolicy": {"automated": {}}}'
    Then application "web" is Synced and Healthy
    And the diagnosis finds nothing
