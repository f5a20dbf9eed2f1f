@argocd
Feature: The network between Argo CD and what it reads and deploys to fails
  No guide describes this. Argo CD shows a destination from its cache: while nobody syncs, an Application stays Synced and Healthy, whatever
  happens to the network (docs/resilience.md).

  @disruptive @AR-CL-001
  Scenario Outline: The network to the destination <fails>
    Given a member "east" of its own
    And Argo CD reaches member "east" over a network that can fail
    And a repository "web" with "settings.yaml"
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: settings
      """
    And an application "web" of repository "web" for "east"
    And application "web" syncs
    And application "web" is Synced and Healthy
    When the network between Argo CD and member "east" <fails>
    Then application "web" is Synced and Healthy
    When repository "web" also has "more.yaml"
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: more
      """
    And application "web" syncs
    Then the sync of application "web" fails
    And the diagnosis of application "web" is AR-CL-001
      | object                   | value  |
      | Application/argocd/{web} | <said> |
    When the network between Argo CD and member "east" works again
    And application "web" syncs
    Then application "web" is Synced and Healthy
    And "ConfigMap/more" is on "east"
    And the diagnosis finds nothing

    Examples:
      | fails                       | said                     |
      | loses everything            | TLS handshake timeout    |
      | loses what Argo CD sends    | TLS handshake timeout    |
      | loses what the server sends | TLS handshake timeout    |
      | refuses connections         | connection refused       |
      | resets connections          | connection reset by peer |

  @disruptive @healthy
  Scenario Outline: The network to the destination <is bad>
    Given a member "east" of its own
    And Argo CD reaches member "east" over a network that can fail
    And a repository "web" with "settings.yaml"
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: settings
      """
    And an application "web" of repository "web" for "east"
    When the network between Argo CD and member "east" <is bad>
    And application "web" syncs
    Then the sync of application "web" succeeds
    And application "web" is Synced and Healthy
    And the diagnosis finds nothing

    Examples:
      | is bad                                            |
      | takes 500 ms longer each way, give or take 250 ms |
      | passes 100 kB/s                                   |

  @AR-RP-004
  Scenario Outline: The network to the repository <fails>
    Given a repository "web" with "settings.yaml"
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: settings
      """
    And repository "web" is served over HTTP and asks for a password
    And Argo CD reaches repository "web" over a network that can fail
    And Argo CD gets the new password of repository "web"
    And an application "web" of repository "web" for "member-1"
    And application "web" syncs
    And application "web" is Synced and Healthy
    When the network between Argo CD and repository "web" <fails>
    And application "web" is hard-refreshed
    Then application "web" reports
      | field           | value   |
      | sync            | Unknown |
      | health          | Healthy |
      | ComparisonError | <said>  |
    And the diagnosis of application "web" is AR-RP-004
      | object                   | value  |
      | Application/argocd/{web} | <said> |
    When the network between Argo CD and repository "web" works again
    And application "web" is refreshed
    Then application "web" is Synced and Healthy
    And the diagnosis finds nothing

    Examples:
      | fails                    | said                      |
      | loses everything         | context deadline exceeded |
      | loses what Argo CD sends | context deadline exceeded |
      | refuses connections      | connection refused        |
      | resets connections       | connection reset by peer  |

  @healthy
  Scenario Outline: The network to the repository <is bad>
    Given a repository "web" with "settings.yaml"
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: settings
      """
    And repository "web" is served over HTTP and asks for a password
    And Argo CD reaches repository "web" over a network that can fail
    And Argo CD gets the new password of repository "web"
    And the network between Argo CD and repository "web" <is bad>
    And an application "web" of repository "web" for "member-1"
    And application "web" syncs
    Then application "web" is Synced and Healthy
    And the diagnosis finds nothing

    Examples:
      | is bad                                            |
      | takes 500 ms longer each way, give or take 250 ms |
      | passes 20 kB/s                                    |

  # Redis holds what Argo CD can read again. Nothing that an Application says depends on it; it takes longer.
  @healthy @takes-90s
  Scenario Outline: The network to redis <fails>
    Given a fleet of its own with 1 member and Argo CD
    And Argo CD reaches its redis over a network that can fail
    And a repository "web" with "settings.yaml"
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: settings
      """
    And an application "web" of repository "web" for "member-1"
    And application "web" syncs
    And application "web" is Synced and Healthy
    When the network between Argo CD and its redis <fails>
    And repository "web" also has "more.yaml"
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: more
      """
    And application "web" syncs
    Then the sync of application "web" succeeds
    And "ConfigMap/more" is on "member-1"
    And application "web" is Synced and Healthy
    And the diagnosis finds nothing
    When the network between Argo CD and its redis works again
    And application "web" is hard-refreshed
    Then application "web" is Synced and Healthy
    And the diagnosis finds nothing

    Examples:
      | fails                                             |
      | loses everything                                  |
      | refuses connections                               |
      | takes 500 ms longer each way, give or take 250 ms |
