@argocd
Feature: KubeFleet and Argo CD want the same object on a member
  A placement puts an object on a member, and an Application with the member as destination has the same object in git. Each side reports
  its own half, or nothing. The member agent makes its AppliedWork the owner of what it applies, and Argo CD doesn't compare an Application
  when an object with an owner changes: the Application says Synced until its next comparison. The diagnosis names both writers in one
  finding, with what each side reports below it.

  @AR-KF-001 @AR-OS-004
  Scenario: The member agent writes over what Argo CD has applied
    Given a placement "shop" selects "member-1"
    And the resources of placement "shop" also include
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: shared
        labels: {colour: hub}
      """
    And placement "shop" becomes available on "member-1"
    And a repository "web" with "shared.yaml"
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: shared
        namespace: {shop}-app
        labels: {colour: git}
      """
    And an application "web" of repository "web" for "member-1"
    When application "web" syncs
    Then the sync of application "web" succeeds
    And object "ConfigMap/{shop}-app/shared" of "member-1" has
      | field                                                                    | value                             |
      | metadata.annotations.argocd.argoproj.io/tracking-id                      | {web}:/ConfigMap:{shop}-app/shared |
      | metadata.labels.colour                                                   | hub                               |
    # The placement is available. The Application may say Synced: whether the comparison after the sync is before or after the member
    # agent's write isn't certain.
    And placement "shop" becomes available on "member-1"
    And the diagnosis of application "web" is AR-KF-001
      | object                             | value                                           |
      | ConfigMap/{shop}-app/shared       | work-api-agent (Update)                         |
      | ConfigMap/{shop}-app/shared       | argocd-controller (Update)                      |
      | ConfigMap/{shop}-app/shared       | the placement applies hub, the application git  |
      | ConfigMap/{shop}-app/shared       | {shop}-work                                    |
      | ConfigMap/{shop}-app/shared       | {web}:/ConfigMap:{shop}-app/shared             |
      | ClusterResourcePlacement/{shop}   | AllWorkHaveBeenApplied                          |
      | Application/argocd/{web}           | Succeeded                                       |
    When application "web" is refreshed
    Then application "web" reports
      | field | value     |
      | sync  | OutOfSync |
      | phase | Succeeded |
    And the diagnosis of application "web" is AR-OS-004, because of AR-KF-001
    # The placement keeps the object: Argo CD prunes no object with an owner.
    When "shared.yaml" is removed from repository "web"
    And repository "web" also has "own.yaml"
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: own
      """
    And application "web" syncs with "--prune"
    Then the sync of application "web" succeeds
    And application "web" is Synced and Healthy
    And object "ConfigMap/{shop}-app/shared" of "member-1" has
      | field                  | value |
      | metadata.labels.colour | hub   |
    And the diagnosis finds nothing

  @AR-KF-001
  Scenario: Self-heal fights with the member agent
    Given a placement "shop" selects "member-1"
    And the resources of placement "shop" also include
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: shared
        labels: {colour: hub}
      """
    And placement "shop" becomes available on "member-1"
    And a repository "web" with "shared.yaml"
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: shared
        namespace: {shop}-app
        labels: {colour: git}
      """
    And an application "web" of repository "web" for "member-1" with '{"syncPolicy": {"automated": {"selfHeal": true}}}'
    And the sync of application "web" succeeds
    And object "ConfigMap/{shop}-app/shared" of "member-1" has
      | field                                               | value                               |
      | metadata.annotations.argocd.argoproj.io/tracking-id | {web}:/ConfigMap:{shop}-app/shared |
      | metadata.labels.colour                              | hub                                 |
    When application "web" is refreshed
    Then application "web" has
      | field                                                        | value |
      | status.operationState.operation.sync.autoHealAttemptsCount  | 1     |
      | status.operationState.phase                                  | Succeeded |
    And object "ConfigMap/{shop}-app/shared" of "member-1" has
      | field                  | value |
      | metadata.labels.colour | hub   |
    And the diagnosis of application "web" is AR-KF-001
      | object                           | value                      |
      | ConfigMap/{shop}-app/shared     | work-api-agent (Update)    |
      | ConfigMap/{shop}-app/shared     | argocd-controller (Update) |
      | Application/argocd/{web}         | true                       |
      | Application/argocd/{web}         | 1                          |
    # The Application keeps the object. Until it is compared, it says Synced without the object.
    When object "ConfigMap/{shop}-app/shared" of the hub is deleted
    Then object "ConfigMap/{shop}-app/shared" of "member-1" is gone
    When application "web" syncs
    Then the sync of application "web" succeeds
    And application "web" is Synced and Healthy
    And object "ConfigMap/{shop}-app/shared" of "member-1" has
      | field                    | value  |
      | metadata.labels.colour   | git    |
      | metadata.ownerReferences | absent |
    And the diagnosis finds nothing

  @AR-KF-001 @KF-AP-016
  Scenario: A server-side apply of the member agent fails because of Argo CD's fields
    Given a placement "shop" selects "member-1" and applies with '{"type": "ServerSideApply"}'
    And the resources of placement "shop" also include
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: shared
        labels: {colour: hub}
      """
    And placement "shop" becomes available on "member-1"
    And a repository "web" with "shared.yaml"
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: shared
        namespace: {shop}-app
        labels: {colour: git}
      """
    And an application "web" of repository "web" for "member-1"
    When application "web" syncs
    Then the sync of application "web" succeeds
    # The member agent applies at once what changes on the hub. By itself it looks again every 20 s, and later on a busy machine.
    When the resources of placement "shop" change
    Then placement "shop" reports
      | on       | condition | status | reason                    |
      | member-1 | Applied   | False  | NotAllWorkHaveBeenApplied |
    And application "web" is Synced and Healthy
    And the diagnosis of placement "shop" is KF-AP-016, because of AR-KF-001
    And the diagnosis of application "web" is AR-KF-001
      | object                           | value                           |
      | ConfigMap/{shop}-app/shared     | work-api-agent                  |
      | ConfigMap/{shop}-app/shared     | argocd-controller (Update)      |
      | ConfigMap/{shop}-app/shared     | {shop}-work                    |
      | ClusterResourcePlacement/{shop} | conflict with "argocd-controller" |
      | ClusterResourcePlacement/{shop} | ServerSideApply                 |
      | Application/argocd/{web}         | Synced                          |
    When "shared.yaml" is removed from repository "web"
    And repository "web" also has "own.yaml"
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: own
      """
    And application "web" syncs
    Then the sync of application "web" succeeds
    # Argo CD's fields stay in managedFields, so that KubeFleet alone can't take them.
    And the diagnosis of placement "shop" is KF-AP-016
    When placement "shop" gets '{"strategy": {"applyStrategy": {"serverSideApplyConfig": {"force": true}}}}'
    Then placement "shop" becomes available on "member-1"
    And object "ConfigMap/{shop}-app/shared" of "member-1" has
      | field                  | value |
      | metadata.labels.colour | hub   |
    And application "web" is Synced and Healthy
    And the diagnosis finds nothing

  @AR-KF-001 @KF-AP-004
  Scenario: What Argo CD has applied counts as a drift
    Given a placement "shop" selects "member-1" and applies with '{"whenToApply": "IfNotDrifted"}'
    And the resources of placement "shop" also include
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: shared
        labels: {colour: hub}
      """
    And placement "shop" becomes available on "member-1"
    And a repository "web" with "shared.yaml"
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: shared
        namespace: {shop}-app
        labels: {colour: git}
      """
    And an application "web" of repository "web" for "member-1"
    When application "web" syncs
    Then the sync of application "web" succeeds
    And application "web" is Synced and Healthy
    And placement "shop" reports
      | on       | condition | status | reason                    |
      | member-1 | Applied   | False  | NotAllWorkHaveBeenApplied |
    And the diagnosis of placement "shop" is KF-AP-004, because of AR-KF-001
    And the diagnosis of application "web" is AR-KF-001
      | object                           | value                                          |
      | ConfigMap/{shop}-app/shared     | work-api-agent                                 |
      | ConfigMap/{shop}-app/shared     | argocd-controller                              |
      | ConfigMap/{shop}-app/shared     | the placement applies hub, the application git |
      | ClusterResourcePlacement/{shop} | FoundDrifts                                    |
      | ClusterResourcePlacement/{shop} | IfNotDrifted                                   |
    When "shared.yaml" is removed from repository "web"
    And repository "web" also has "own.yaml"
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: own
      """
    And application "web" syncs
    Then the sync of application "web" succeeds
    When placement "shop" gets '{"strategy": {"applyStrategy": {"whenToApply": "Always"}}}'
    Then placement "shop" becomes available on "member-1"
    And object "ConfigMap/{shop}-app/shared" of "member-1" has
      | field                  | value |
      | metadata.labels.colour | hub   |
    And the diagnosis finds nothing

  @AR-KF-002 @KF-AP-002
  Scenario Outline: A placement doesn't take over what an Application has put there
    Given a placement "shop" selects "member-1" and applies with '{"whenToTakeOver": "<takeover>"}'
    And placement "shop" becomes available on "member-1"
    And a repository "web" with "shared.yaml"
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: shared
        namespace: {shop}-app
        labels: {colour: git}
      """
    And an application "web" of repository "web" for "member-1"
    And application "web" syncs
    And the sync of application "web" succeeds
    When the resources of placement "shop" also include
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: shared
        labels: {colour: hub}
      """
    Then placement "shop" lists as failed
      | on       | object                       | condition | status | reason   |
      | member-1 | ConfigMap shared | Applied   | False  | <reason> |
    And application "web" is Synced and Healthy
    And the diagnosis of placement "shop" is KF-AP-002, because of AR-KF-002
    And the diagnosis of application "web" is AR-KF-002
      | object                           | value                               |
      | ConfigMap/{shop}-app/shared     | argocd-controller (Update)          |
      | ConfigMap/{shop}-app/shared     | {web}:/ConfigMap:{shop}-app/shared |
      | ClusterResourcePlacement/{shop} | <reason>                            |
      | ClusterResourcePlacement/{shop} | <takeover>                          |
      | Application/argocd/{web}         | Synced                              |
    # The Application keeps the object, because the member agent deletes only what it owns.
    When object "ConfigMap/{shop}-app/shared" of the hub is deleted
    Then placement "shop" becomes available on "member-1"
    And object "ConfigMap/{shop}-app/shared" of "member-1" has
      | field                  | value |
      | metadata.labels.colour | git   |
    And the diagnosis finds nothing

    Examples:
      | takeover | reason           |
      | Never    | NotTakenOver     |
      | IfNoDiff | FailedToTakeOver |

  @AR-KF-002
  Scenario: The placement takes over what an Application has put there
    Given a placement "shop" selects "member-1" and applies with '{"whenToTakeOver": "Never"}'
    And placement "shop" becomes available on "member-1"
    And a repository "web" with "shared.yaml"
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: shared
        namespace: {shop}-app
        labels: {colour: git}
      """
    And an application "web" of repository "web" for "member-1"
    And application "web" syncs
    And the sync of application "web" succeeds
    When the resources of placement "shop" also include
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: shared
        labels: {colour: hub}
      """
    Then the diagnosis of application "web" is AR-KF-002
    When placement "shop" gets '{"strategy": {"applyStrategy": {"whenToTakeOver": "Always"}}}'
    Then placement "shop" becomes available on "member-1"
    And the diagnosis of application "web" is AR-KF-001
    When "shared.yaml" is removed from repository "web"
    And repository "web" also has "own.yaml"
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: own
      """
    And application "web" syncs with "--prune"
    Then the sync of application "web" succeeds
    And application "web" is Synced and Healthy
    And object "ConfigMap/{shop}-app/shared" of "member-1" has
      | field                  | value |
      | metadata.labels.colour | hub   |
    And the diagnosis finds nothing

  @healthy
  Scenario: Both want the same content
    Given a placement "shop" selects "member-1"
    And the resources of placement "shop" also include
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: shared
        labels: {colour: blue}
      """
    And placement "shop" becomes available on "member-1"
    And a repository "web" with "shared.yaml"
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: shared
        namespace: {shop}-app
        labels: {colour: blue}
      """
    And an application "web" of repository "web" for "member-1"
    When application "web" syncs
    Then the sync of application "web" succeeds
    And application "web" is Synced and Healthy
    When application "web" is refreshed
    Then application "web" is Synced and Healthy
    And the diagnosis finds nothing
