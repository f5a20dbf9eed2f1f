@kubefleet @without-envelopes
Feature: What a ConfigMap wraps isn't well formed
  The guide "Work Synchronization Failure TSG", second cause: "the enveloped object is not well formatted". In v0.14.0
  there is no kind for envelopes: a ConfigMap with an annotation is an envelope. Content that isn't YAML isn't retried
  until the ConfigMap changes.

  @guide:work-synchronized/condition @guide:work-synchronized/envelope
  @guide:azure-work-synchronized/symptoms @guide:azure-work-synchronized/envelope
  Scenario Outline: <mistake>
    Given a cluster-scoped placement "web" has put its resources on "member-1"
    When the resources of placement "web" include a ConfigMap with '<text>'
    Then placement "web" reports
      | on       | condition        | status | reason                 | message                                       |
      |          | WorkSynchronized | False  | WorkNotSynchronizedYet |                                               |
      | member-1 | WorkSynchronized | False  | SyncWorkFailed         | Failed to synchronize the work to the latest: |
      | member-1 | WorkSynchronized | False  | SyncWorkFailed         | <message>                                     |
    And the diagnosis of placement "web" is <code> for "member-1"
    When the ConfigMap of placement "web" is corrected to '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x","namespace":"{web}-app"}}'
    Then placement "web" becomes available on "member-1"
    And the diagnosis finds nothing
    And a change to the resources of placement "web" arrives on "member-1"

    @KF-WS-002
    Examples:
      | mistake                                | code      | text                                                                 | message        |
      | What the ConfigMap wraps is no YAML    | KF-WS-002 | kind: [                                                              | yaml           |
      | What the ConfigMap wraps has no kind   | KF-WS-002 | {"apiVersion":"v1","metadata":{"name":"x"}}                          | kind           |
    @KF-WS-006
    Examples:
      | mistake                                  | code      | text                                                                 | message                                               |
      | What the ConfigMap wraps has no apiVersion | KF-WS-006 | {"kind":"ConfigMap","metadata":{"name":"x","namespace":"{web}-app"}} | spec.workload.manifests[0].apiVersion: Required value |

  Scenario: What a ConfigMap wraps is well formed
    Given a cluster-scoped placement "web" has put its resources on "member-1"
    When the resources of placement "web" include a ConfigMap with '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x","namespace":"{web}-app"}}'
    Then placement "web" becomes available on "member-1"
    And the diagnosis finds nothing
