@kubefleet
Feature: An enveloped object isn't well formed
  The guide "Work Synchronization Failure TSG", second cause: "the enveloped object is not well formatted". The
  scenarios show each message of v0.1.2 for it. Mistakes of scope recover as soon as the envelope is corrected. The
  others are retried with backoff, and a correction doesn't shorten the backoff.

  @guide:work-synchronized/condition @guide:work-synchronized/envelope
  @guide:azure-work-synchronized/symptoms @guide:azure-work-synchronized/envelope
  Scenario Outline: <mistake>, in <placement>
    Given <placement> "web" has put its resources on "member-1"
    When the resources of placement "web" include a <envelope> with '<object>'
    Then placement "web" reports
      | on       | condition        | status | reason                 | message                                              |
      |          | WorkSynchronized | False  | WorkNotSynchronizedYet |                                                      |
      | member-1 | WorkSynchronized | False  | SyncWorkFailed         | Failed to synchronize the work to the latest:        |
      | member-1 | WorkSynchronized | False  | SyncWorkFailed         | <message>                                            |
    And the diagnosis of placement "web" is <code> for "member-1"
    When the <envelope> of placement "web" is corrected to '<right>'
    Then placement "web" becomes available on "member-1"
    And the diagnosis finds nothing
    And a change to the resources of placement "web" arrives on "member-1"

    @KF-WS-002
    Examples:
      | placement                  | mistake                                | code      | envelope         | object                                       | message                       | right |
      | a cluster-scoped placement | The enveloped object has no kind       | KF-WS-002 | ResourceEnvelope | {"apiVersion":"v1","metadata":{"name":"x"}}  | Object 'Kind' is missing      | {"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x","namespace":"{web}-app"}} |
      | a namespaced placement     | The enveloped object has no kind       | KF-WS-002 | ResourceEnvelope | {"apiVersion":"v1","metadata":{"name":"x"}}  | Object 'Kind' is missing      | {"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x","namespace":"{web}-app"}} |
    @KF-WS-003
    Examples:
      | placement                  | mistake                                             | code      | envelope                | object                                                                                | message                                                         | right |
      | a cluster-scoped placement | A namespaced object is in a ClusterResourceEnvelope | KF-WS-003 | ClusterResourceEnvelope | {"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x","namespace":"{web}-app"}} | has been wrapped in a cluster resource envelope                 | {"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole","metadata":{"name":"{web}-x"}} |
    @KF-WS-004
    Examples:
      | placement                  | mistake                                          | code      | envelope         | object                                                                                         | message                                 | right |
      | a cluster-scoped placement | A cluster-scoped object is in a ResourceEnvelope | KF-WS-004 | ResourceEnvelope | {"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole","metadata":{"name":"{web}-x"}} | has been wrapped in a resource envelope | {"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x","namespace":"{web}-app"}} |
      | a namespaced placement     | A cluster-scoped object is in a ResourceEnvelope | KF-WS-004 | ResourceEnvelope | {"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole","metadata":{"name":"{web}-x"}} | has been wrapped in a resource envelope | {"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x","namespace":"{web}-app"}} |
    @KF-WS-005
    Examples:
      | placement                  | mistake                                             | code      | envelope         | object                                                                              | message                                                          | right |
      | a cluster-scoped placement | Another namespace's object is in a ResourceEnvelope | KF-WS-005 | ResourceEnvelope | {"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x","namespace":"default"}} | has been wrapped in a resource envelope from another namespace    | {"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x","namespace":"{web}-app"}} |
      | a namespaced placement     | Another namespace's object is in a ResourceEnvelope | KF-WS-005 | ResourceEnvelope | {"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x","namespace":"default"}} | has been wrapped in a resource envelope from another namespace    | {"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x","namespace":"{web}-app"}} |
    @KF-WS-006
    Examples:
      | placement                  | mistake                                | code      | envelope         | object                                                                   | message                                       | right |
      | a cluster-scoped placement | The enveloped object has no apiVersion | KF-WS-006 | ResourceEnvelope | {"kind":"ConfigMap","metadata":{"name":"x","namespace":"{web}-app"}}      | spec.workload.manifests[0].apiVersion: Required value | {"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x","namespace":"{web}-app"}} |
      | a namespaced placement     | The enveloped object has no apiVersion | KF-WS-006 | ResourceEnvelope | {"kind":"ConfigMap","metadata":{"name":"x","namespace":"{web}-app"}}      | spec.workload.manifests[0].apiVersion: Required value | {"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x","namespace":"{web}-app"}} |

  Scenario Outline: The enveloped object is well formed, in <placement>
    Given <placement> "web" has put its resources on "member-1"
    When the resources of placement "web" include a ResourceEnvelope with '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x","namespace":"{web}-app"}}'
    Then placement "web" becomes available on "member-1"
    And the diagnosis finds nothing

    Examples:
      | placement                  |
      | a cluster-scoped placement |
      | a namespaced placement     |

  # A busy hub-agent causes this failure itself: docs/controllers.md.
  @KF-WS-010
  Scenario Outline: Two Works are of the same envelope, of <placement>
    Given <placement> "web" has put its resources on "member-1"
    When the resources of placement "web" include a ResourceEnvelope with '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x","namespace":"{web}-app"}}'
    Then placement "web" becomes available on "member-1"
    When a second Work of the envelope of placement "web" is made for "member-1"
    And the resources of placement "web" change
    Then placement "web" reports
      | on       | condition        | status | reason                 | message                                    |
      |          | WorkSynchronized | False  | WorkNotSynchronizedYet |                                            |
      | member-1 | WorkSynchronized | False  | SyncWorkFailed         | 2 work objects found for the same envelope |
    And within 60 seconds the diagnosis of placement "web" is KF-WS-010 for "member-1"
      | object                                       | value          |
      | ResourcePlacement/                           | 2 work objects |
      | Work/fleet-member-member-1/                  | Applied=True   |
      | Work/fleet-member-member-1/{web}-second-work | Applied=False  |
    When the second Work of the envelope of placement "web" for "member-1" is deleted
    Then placement "web" becomes available on "member-1"
    And the diagnosis finds nothing
    And a change to the resources of placement "web" arrives on "member-1"

    Examples:
      | placement                  |
      | a cluster-scoped placement |
      | a namespaced placement     |
