@argocd @AR-SF-007
Feature: Two Applications have the same object
  Each Application puts its own tracking id on the object. A sync takes the object over, and puts a warning on the other
  Application. With the option FailOnSharedResource, the sync fails instead.

  Background:
    Given a repository "blue" with "shared.yaml"
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: shared
      data:
        colour: blue
      """
    And a repository "green" with "shared.yaml"
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: shared
      data:
        colour: green
      """
    And an application "blue" of repository "blue" for "member-1"
    And application "blue" syncs
    And application "blue" is Synced and Healthy

  @guide:argocd-sync-failed/shared-resource/warning @guide:argocd-sync-options/shared/default
  Scenario: The sync takes the object over, and the warning moves to the other
    Given an application "green" of repository "green" for "member-1"
    When application "green" is refreshed
    Then application "green" reports
      | field                 | value                                                                |
      | SharedResourceWarning | ConfigMap/shared is part of applications argocd/{green} and {blue} |
    And the diagnosis of application "green" is AR-SF-007
    When application "green" syncs
    Then the sync of application "green" succeeds
    When application "blue" is refreshed
    Then application "blue" reports
      | field                 | value                                                                |
      | sync                  | OutOfSync                                                            |
      | SharedResourceWarning | ConfigMap/shared is part of applications argocd/{blue} and {green} |
    And the diagnosis of application "blue" is AR-SF-007
    When "shared.yaml" is removed from repository "blue"
    And repository "blue" also has "own.yaml"
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: own
      """
    And application "blue" syncs with "--prune"
    Then the sync of application "blue" succeeds
    And application "blue" is Synced and Healthy
    And "ConfigMap/shared" is on "member-1"
    When application "green" is refreshed
    Then application "green" is Synced and Healthy
    And the diagnosis finds nothing

  @guide:argocd-sync-failed/shared-resource/failed @guide:argocd-sync-failed/shared-resource/only-with-option @drift:argocd-sync-failed/shared-resource/one-owner
  @guide:argocd-sync-options/shared/option
  Scenario: The sync fails, and the object has to be adopted once
    Given an application "green" of repository "green" for "member-1" with '{"syncPolicy": {"syncOptions": ["FailOnSharedResource=true"]}}'
    When application "green" syncs
    Then the sync of application "green" fails
    And application "green" reports
      | field                 | value                                                                                   |
      | sync                  | OutOfSync                                                                               |
      | phase                 | Failed                                                                                  |
      | message               | Shared resource found: ConfigMap/shared is part of applications argocd/{green} and {blue} |
      | SharedResourceWarning | ConfigMap/shared is part of applications argocd/{green} and {blue}                        |
    And the sync of application "green" reports of its resources
      | resource         | status |
      | ConfigMap/shared | absent |
    And the diagnosis of application "green" is AR-SF-007
      | object                     | value                     |
      | Application/argocd/{green} | FailOnSharedResource=true |
      | Application/argocd/{green} | {blue}                    |
      | Application/argocd/{blue}  | Synced                    |
    # The guide's fix: one Application gives the object up. The object keeps that Application's tracking id.
    When "shared.yaml" is removed from repository "blue"
    And repository "blue" also has "own.yaml"
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: own
      """
    And application "blue" syncs
    And the sync of application "blue" succeeds
    And application "green" syncs
    Then the sync of application "green" fails
    And the diagnosis of application "green" is AR-SF-007
    When application "green" syncs with "--sync-option FailOnSharedResource=false"
    Then the sync of application "green" succeeds
    And application "green" is Synced and Healthy
    When application "green" syncs
    Then the sync of application "green" succeeds
    When application "blue" syncs with "--prune"
    Then the sync of application "blue" succeeds
    And application "blue" is Synced and Healthy
    And "ConfigMap/shared" is on "member-1"
    And the diagnosis finds nothing
