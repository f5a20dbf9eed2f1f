@argocd @takes-120s
Feature: An application isn't well, and no known cause fits
  What isn't well for longer than is usual is never left out, whether or not its cause is known.

  @AR-XX-001
  Scenario: An application that is deleted doesn't go
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
    And somebody's finalizer holds application "web"
    When application "web" is deleted
    # A deletion that began some seconds ago is on its way.
    Then the diagnosis finds nothing
    And within 90 seconds the diagnosis of application "web" is AR-XX-001
      | object             | value               |
      | Application/argocd/{web} |                     |
      | Application/argocd/{web} | example.com/protect |
    When somebody's finalizer releases application "web"
    Then the diagnosis finds nothing
