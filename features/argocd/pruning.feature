@argocd
Feature: What git doesn't have any more stays
  A resource that is removed from git is deleted only by a sync that is asked to prune. The sync options of the object may forbid that, or
  demand a confirmation.

  Background:
    Given a repository "web" with "settings.yaml"
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: settings
      """

  @healthy
  Scenario: A sync with pruning deletes it
    Given repository "web" also has "old.yaml"
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: old
      """
    And an application "web" of repository "web" for "member-1"
    And application "web" syncs
    And application "web" is Synced and Healthy
    When "old.yaml" is removed from repository "web"
    And application "web" syncs with "--prune"
    Then the sync of application "web" succeeds
    And application "web" is Synced and Healthy
    And "ConfigMap/old" is not on "member-1"
    And the diagnosis finds nothing

  @AR-DL-006
  @guide:argocd-diffing/reasons/unpruned
  Scenario: A sync without pruning leaves it
    Given repository "web" also has "old.yaml"
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: old
      """
    And an application "web" of repository "web" for "member-1"
    And application "web" syncs
    And application "web" is Synced and Healthy
    When "old.yaml" is removed from repository "web"
    And application "web" syncs
    Then the sync of application "web" succeeds
    And the sync of application "web" reports of its resources
      | resource      | status       | message                    |
      | ConfigMap/old | PruneSkipped | ignored (requires pruning) |
    And application "web" reports
      | field | value     |
      | sync  | OutOfSync |
      | phase | Succeeded |
    And the diagnosis of application "web" is AR-DL-006
      | object                   | value                      |
      | Application/argocd/{web} | true                       |
      | Application/argocd/{web} | ignored (requires pruning) |
    When application "web" syncs with "--prune"
    Then the sync of application "web" succeeds
    And application "web" is Synced and Healthy
    And the diagnosis finds nothing

  @AR-DL-006
  Scenario: Automated sync without pruning doesn't sync the commit
    Given repository "web" also has "old.yaml"
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: old
      """
    And an application "web" of repository "web" for "member-1" with '{"syncPolicy": {"automated": {}}}'
    And application "web" is Synced and Healthy
    When "old.yaml" is removed from repository "web"
    And application "web" is refreshed
    Then the diagnosis of application "web" is AR-DL-006
      | object                   | value |
      | Application/argocd/{web} | true  |
      | Application/argocd/{web} | {}    |
    When application "web" gets '{"syncPolicy": {"automated": {"prune": true}}}'
    And application "web" is refreshed
    Then application "web" is Synced and Healthy
    And "ConfigMap/old" is not on "member-1"
    And the diagnosis finds nothing

  @AR-DL-006
  @guide:argocd-sync-options/no-prune
  Scenario: The object is to stay
    Given repository "web" also has "old.yaml"
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: old
        annotations:
          argocd.argoproj.io/sync-options: Prune=false
      """
    And an application "web" of repository "web" for "member-1"
    And application "web" syncs
    And application "web" is Synced and Healthy
    When "old.yaml" is removed from repository "web"
    And application "web" syncs with "--prune"
    Then the sync of application "web" succeeds
    And the sync of application "web" reports of its resources
      | resource      | status       | message            |
      | ConfigMap/old | PruneSkipped | ignored (no prune) |
    And application "web" reports
      | field | value     |
      | sync  | OutOfSync |
    And the diagnosis of application "web" is AR-DL-006
      | object                   | value              |
      | Application/argocd/{web} | true               |
      | Application/argocd/{web} | ignored (no prune) |
      | ConfigMap/{apps}/old     | Prune=false        |
    When the administrator of "member-1" deletes "ConfigMap/old"
    And application "web" is refreshed
    Then application "web" is Synced and Healthy
    And the diagnosis finds nothing

  @AR-DL-007
  @guide:argocd-sync-options/prune-confirm
  Scenario: A sync waits for a confirmation
    Given repository "web" also has "old.yaml"
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: old
        annotations:
          argocd.argoproj.io/sync-options: Prune=confirm
      """
    And an application "web" of repository "web" for "member-1"
    And application "web" syncs
    And application "web" is Synced and Healthy
    When "old.yaml" is removed from repository "web"
    And repository "web" also has "new.yaml"
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: new
      """
    And application "web" syncs with "--prune"
    Then the sync of application "web" still runs after 5 seconds: "aiting for pruning confirmation of "
    # Nothing else of the wave is applied meanwhile.
    And "ConfigMap/new" is not on "member-1"
    And the diagnosis of application "web" is AR-DL-007
      | object                   | value                             |
      | Application/argocd/{web} | aiting for pruning confirmation of |
    When the deletions of application "web" are confirmed
    Then the sync of application "web" succeeds
    And application "web" is Synced and Healthy
    And "ConfigMap/old" is not on "member-1"
    And "ConfigMap/new" is on "member-1"
    And the diagnosis finds nothing
