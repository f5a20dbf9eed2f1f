@argocd
Feature: Argo CD can't read a source
  Before anything is compared, the repo-server reads the Application's repository: with credentials, at a revision, in a path. A chart
  may need registries as well. Whatever fails there is a ComparisonError, and no commit to the manifests helps.

  @AR-RP-001
  Scenario: The repository's password has changed
    Given a repository "web" with "settings.yaml"
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: settings
      """
    And repository "web" is served over HTTP and asks for a password
    And an application "web" of repository "web" for "member-1"
    And application "web" syncs
    And application "web" is Synced and Healthy
    When the password of repository "web" changes
    # The references of a repository are cached for 3 min.
    And application "web" is hard-refreshed
    Then application "web" reports
      | field           | value                                                                                     |
      | sync            | Unknown                                                                                   |
      | health          | Healthy                                                                                   |
      | ComparisonError | code = Unknown desc = failed to list refs: authentication required |
    And the diagnosis of application "web" is AR-RP-001
      | object                   | value                   |
      | Application/argocd/{web} | authentication required |
      | Application/argocd/{web} | {url:web}               |
    When Argo CD gets the new password of repository "web"
    And application "web" is refreshed
    Then application "web" is Synced and Healthy
    And the diagnosis finds nothing

  @healthy
  Scenario: Argo CD has the repository's password
    Given a repository "web" with "settings.yaml"
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: settings
      """
    And repository "web" is served over HTTP and asks for a password
    And an application "web" of repository "web" for "member-1"
    And application "web" syncs
    And application "web" is Synced and Healthy
    When repository "web" also has "more.yaml"
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: more
      """
    And application "web" syncs
    Then the sync of application "web" succeeds
    And application "web" is Synced and Healthy
    And the diagnosis finds nothing

  @AR-RP-002
  Scenario Outline: The revision isn't there: <revision>
    Given a repository "web" with "settings.yaml"
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: settings
      """
    And an application "web" of repository "web" for "member-1"
    And application "web" syncs
    And application "web" is Synced and Healthy
    When application "web" gets '{"source": {"targetRevision": "<revision>"}}'
    Then application "web" reports
      | field           | value     |
      | sync            | Unknown   |
      | health          | Healthy   |
      | ComparisonError | <message> |
    And the diagnosis of application "web" is AR-RP-002
      | object                   | value      |
      | Application/argocd/{web} | <message>  |
      | Application/argocd/{web} | <revision> |
    When application "web" gets '{"source": {"targetRevision": "main"}}'
    Then application "web" is Synced and Healthy
    And the diagnosis finds nothing

    Examples:
      | revision                                 | message                                         |
      | release-2                                | unable to resolve 'release-2' to a commit SHA   |
      # A name of hexadecimal digits is taken for a commit.
      | deadbeef                                 | fatal: couldn't find remote ref deadbeef        |
      | deadbeefdeadbeefdeadbeefdeadbeefdeadbeef | fatal: remote error: upload-pack: not our ref   |

  @AR-RP-003
  Scenario: The path isn't there
    Given a repository "web" with "settings.yaml"
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: settings
      """
    And an application "web" of repository "web" for "member-1" with '{"source": {"path": "deploy"}}'
    Then application "web" reports
      | field           | value                         |
      | sync            | Unknown                       |
      | ComparisonError | deploy: app path does not exist |
    And the diagnosis of application "web" is AR-RP-003
      | object                   | value                           |
      | Application/argocd/{web} | deploy: app path does not exist |
    When application "web" is refreshed until it reports "Manifest generation error (cached)"
    Then application "web" reports
      | field           | value                                                               |
      | ComparisonError | Manifest generation error (cached): deploy: app path does not exist |
    And the diagnosis of application "web" is AR-RP-003
    # Another path is another entry of the cache, and so is another commit.
    When application "web" gets '{"source": {"path": "."}}'
    And application "web" syncs
    Then the sync of application "web" succeeds
    And application "web" is Synced and Healthy
    And the diagnosis finds nothing

  @AR-RP-004
  Scenario: A repository of two Applications is no longer at its address
    Given a repository "web" with "settings.yaml"
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: settings-{suffix}
      """
    And repository "web" is served over HTTP and asks for a password
    And an application "web" of repository "web" for "member-1"
    And an application "shop" of repository "web" for "member-2"
    And application "web" syncs
    And application "shop" syncs
    And application "web" is Synced and Healthy
    And application "shop" is Synced and Healthy
    When repository "web" vanishes
    And application "web" is hard-refreshed
    And application "shop" is hard-refreshed
    Then application "web" reports
      | field           | value                                       |
      | sync            | Unknown                                     |
      | health          | Healthy                                     |
      | ComparisonError | failed to list refs: repository not found   |
    And application "shop" reports
      | field           | value                                       |
      | ComparisonError | failed to list refs: repository not found   |
    And the diagnosis of application "web" is AR-RP-004
      | object                   | value                |
      | Application/argocd/{web} | repository not found |
      | Application/argocd/{web} | {url:web}            |
    And the diagnosis of application "shop" is AR-RP-004
    When repository "web" is back
    And application "web" is refreshed
    And application "shop" is refreshed
    Then application "web" is Synced and Healthy
    And application "shop" is Synced and Healthy
    And the diagnosis finds nothing

  @AR-RP-004
  Scenario: Nobody answers at the repository's address
    Given a repository "web" with "settings.yaml"
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: settings
      """
    And an application "web" of repository "web" for "member-1" with '{"source": {"repoURL": "http://127.0.0.1:1/{suffix}"}}'
    Then application "web" reports
      | field           | value                                                |
      | sync            | Unknown                                              |
      | ComparisonError | desc = failed to list refs: Get "http://127.0.0.1:1/ |
      | ComparisonError | dial tcp 127.0.0.1:1: connect: connection refused    |
    And the diagnosis of application "web" is AR-RP-004
      | object                   | value                       |
      | Application/argocd/{web} | connection refused          |
      | Application/argocd/{web} | http://127.0.0.1:1/{suffix} |

  @AR-RP-008
  Scenario: Argo CD doesn't trust the certificate of the repository's server
    Given a repository "web" with "settings.yaml"
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: settings
      """
    And repository "web" is served over HTTPS at localhost and asks for a password
    And an application "web" of repository "web" for "member-1"
    Then application "web" reports
      | field           | value                                                                            |
      | sync            | Unknown                                                                          |
      | ComparisonError | desc = failed to list refs: Get "https://localhost:                              |
      | ComparisonError | tls: failed to verify certificate: x509: certificate signed by unknown authority |
    And the diagnosis of application "web" is AR-RP-008
      | object                   | value                                         |
      | Application/argocd/{web} | x509: certificate signed by unknown authority |
      | Application/argocd/{web} | https://localhost:                            |
    When Argo CD trusts the certificate of repository "web"
    And application "web" is refreshed
    And application "web" syncs
    Then the sync of application "web" succeeds
    And application "web" is Synced and Healthy
    And the diagnosis finds nothing

  @healthy
  Scenario: Argo CD trusts the certificate of the repository's server
    Given a repository "web" with "settings.yaml"
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: settings
      """
    And repository "web" is served over HTTPS at 127.0.0.1 and asks for a password
    And Argo CD trusts the certificate of repository "web"
    And an application "web" of repository "web" for "member-1"
    And application "web" syncs
    Then the sync of application "web" succeeds
    And application "web" is Synced and Healthy
    And the diagnosis finds nothing

  @AR-RP-008
  Scenario: Argo CD doesn't know the SSH host key of the repository's server
    Given a repository "web" with "settings.yaml"
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: settings
      """
    And repository "web" is served over SSH at localhost and asks for a key
    And an application "web" of repository "web" for "member-1"
    Then application "web" reports
      | field           | value                                                                       |
      | sync            | Unknown                                                                     |
      | ComparisonError | desc = failed to list refs: ssh: handshake failed: knownhosts: key is unknown |
    And the diagnosis of application "web" is AR-RP-008
      | object                   | value                      |
      | Application/argocd/{web} | knownhosts: key is unknown |
      | Application/argocd/{web} | ssh://git@localhost:       |
    When Argo CD trusts the host key of repository "web"
    And application "web" is refreshed
    And application "web" syncs
    Then the sync of application "web" succeeds
    And application "web" is Synced and Healthy
    And the diagnosis finds nothing

  @healthy
  Scenario: Argo CD knows the SSH host key of the repository's server
    Given a repository "web" with "settings.yaml"
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: settings
      """
    And repository "web" is served over SSH at 127.0.0.1 and asks for a key
    And Argo CD trusts the host key of repository "web"
    And an application "web" of repository "web" for "member-1"
    And application "web" syncs
    Then the sync of application "web" succeeds
    And application "web" is Synced and Healthy
    And the diagnosis finds nothing

  @AR-RP-007
  @guide:argocd-faq/helm
  Scenario Outline: The registry of a chart's dependency doesn't answer: <registry>
    Given a repository "chart" with "Chart.yaml"
      """
      apiVersion: v2
      name: web
      version: 0.1.0
      dependencies:
        - name: base
          version: 1.0.0
          repository: <registry>
      """
    And repository "chart" also has "templates/settings.yaml"
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: settings
      """
    And an application "web" of repository "chart" for "member-1"
    Then application "web" reports
      | field           | value                                             |
      | sync            | Unknown                                           |
      | ComparisonError | error building helm chart dependencies:           |
      | ComparisonError | dial tcp 127.0.0.1:1: connect: connection refused |
    And the diagnosis of application "web" is AR-RP-007
      | object                   | value              |
      | Application/argocd/{web} | connection refused |
    When application "web" is refreshed until it reports "Manifest generation error (cached)"
    Then the diagnosis of application "web" is AR-RP-007
    # A new commit needs no hard refresh.
    When "Chart.yaml" of repository "chart" is corrected to
      """
      apiVersion: v2
      name: web
      version: 0.1.1
      """
    And application "web" syncs
    Then the sync of application "web" succeeds
    And application "web" is Synced and Healthy
    And the diagnosis finds nothing

    Examples:
      | registry                    |
      | https://127.0.0.1:1/charts  |
      | oci://127.0.0.1:1/charts    |

  @AR-RP-007
  Scenario: An OCI registry doesn't answer
    Given a repository "web" with "settings.yaml"
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: settings
      """
    And an application "web" of repository "web" for "member-1"
    And application "web" syncs
    And application "web" is Synced and Healthy
    When application "web" gets '{"source": {"repoURL": "oci://127.0.0.1:1/charts/web", "targetRevision": "1.0.0"}}'
    Then application "web" reports
      | field           | value                                             |
      | sync            | Unknown                                           |
      | health          | Healthy                                           |
      | ComparisonError | failed to resolve revision "1.0.0"                |
      | ComparisonError | dial tcp 127.0.0.1:1: connect: connection refused |
    And the diagnosis of application "web" is AR-RP-007
      | object                   | value                        |
      | Application/argocd/{web} | connection refused           |
      | Application/argocd/{web} | oci://127.0.0.1:1/charts/web |

  @AR-RP-006
  Scenario: The program that renders is killed
    Given the repo-server has a kustomize "large" that is killed as it renders
    And a repository "web" with "kustomization.yaml"
      """
      resources: [settings.yaml]
      """
    And repository "web" also has "settings.yaml"
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: settings
      """
    And an application "web" of repository "web" for "member-1" with '{"source": {"kustomize": {"version": "{large}"}}}'
    Then application "web" reports
      | field           | value                 |
      | sync            | Unknown               |
      | ComparisonError | failed signal: killed |
    And the diagnosis of application "web" is AR-RP-006
      | object                   | value                 |
      | Application/argocd/{web} | failed signal: killed |
    When application "web" is refreshed until it reports "Manifest generation error (cached)"
    Then the diagnosis of application "web" is AR-RP-006
    # The error is cached: without a hard refresh, it isn't run again for an hour.
    When the repo-server gets the kustomize "large"
    And application "web" is refreshed
    Then application "web" reports
      | field           | value                              |
      | ComparisonError | Manifest generation error (cached) |
    When application "web" is hard-refreshed
    And application "web" syncs
    Then the sync of application "web" succeeds
    And application "web" is Synced and Healthy
    And the diagnosis finds nothing

  @AR-RP-005 @takes-60s
  Scenario: The repo-server is killed while it renders
    Given a fleet of its own with 1 member and Argo CD
    And the repo-server has a kustomize "slow" that takes 8 seconds
    And a repository "web" with "kustomization.yaml"
      """
      resources: [settings.yaml]
      """
    And repository "web" also has "settings.yaml"
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: settings
      """
    And an application "web" of repository "web" for "member-1" with '{"source": {"kustomize": {"version": "{slow}"}}}'
    When "settings.yaml" of repository "web" becomes
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: settings
        labels: {colour: blue}
      """
    And application "web" syncs
    Then the repo-server of Argo CD has logged "build" in a line with "kustomize-{slow}"
    When the repo-server of Argo CD is killed
    # Argo CD asks again, and the last answer is that nobody is there.
    Then the sync of application "web" ends in an error
    And application "web" reports
      | field   | value                                      |
      | message | code = Unavailable desc = connection error |
    When application "web" is refreshed
    Then application "web" reports
      | field           | value                                      |
      | sync            | Unknown                                    |
      | ComparisonError | code = Unavailable desc = connection error |
    And the diagnosis of application "web" is AR-RP-005
      | object                   | value              |
      | Application/argocd/{web} | connection refused |
    When the repo-server of Argo CD is started again
    And application "web" syncs
    Then the sync of application "web" succeeds
    And application "web" is Synced and Healthy
    And the diagnosis finds nothing
