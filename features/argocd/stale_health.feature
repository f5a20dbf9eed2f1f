@argocd @pods
Feature: An Application shows the health that its objects had before
  Argo CD computes health when its application controller hears of a change. If the controller doesn't run, an object becomes healthy and
  the Application stays as it was. Nothing in the Application says so.

  @AR-HL-006 @takes-150s @passes:AR-HL-002
  @guide:argocd-degraded/diagnose/stale @drift:argocd-degraded/diagnose/hard-refresh
  Scenario: The controller doesn't run while a Deployment becomes healthy
    Given a fleet of its own with 1 member and Argo CD
    And member "member-1" has pods
    And a repository "web" with "web.yaml"
      """
      apiVersion: apps/v1
      kind: Deployment
      metadata:
        name: web
      spec:
        progressDeadlineSeconds: 3
        selector:
          matchLabels: {app: web}
        template:
          metadata:
            labels: {app: web}
          spec:
            containers:
              - {name: web, image: nginx:1.29}
      """
    And an application "web" of repository "web" for "member-1"
    And the administrator of "member-1" applies
      """
      apiVersion: v1
      kind: ResourceQuota
      metadata:
        name: closed
      spec:
        hard: {pods: "0"}
      """
    And object "ResourceQuota/{apps}/closed" of "member-1" has
      | field            | value |
      | status.hard.pods | 0     |
    When application "web" syncs
    Then the sync of application "web" succeeds
    And application "web" reports
      | field  | value    |
      | sync   | Synced   |
      | health | Degraded |
    When the application-controller of Argo CD is killed
    And the administrator of "member-1" deletes "ResourceQuota/closed"
    Then object "Deployment/{apps}/web" of "member-1" has
      | field                    | value |
      | status.availableReplicas | 1     |
    And application "web" reports
      | field  | value    |
      | sync   | Synced   |
      | health | Degraded |
    And within 120 seconds the diagnosis of application "web" is AR-HL-006
      | object                   | value    |
      | Application/argocd/{web} | Degraded |
      | Application/argocd/{web} | T        |
      | Deployment/{apps}/web    | True     |
    When the application-controller of Argo CD is started again
    # By itself, it would compare the Application up to 3 min after its last comparison.
    And application "web" is refreshed
    Then application "web" is Synced and Healthy
    And the diagnosis finds nothing

  @healthy
  Scenario: A Deployment becomes healthy, and the Application says so
    Given member "member-1" has pods
    And a repository "web" with "web.yaml"
      """
      apiVersion: apps/v1
      kind: Deployment
      metadata:
        name: web
      spec:
        progressDeadlineSeconds: 3
        selector:
          matchLabels: {app: web}
        template:
          metadata:
            labels: {app: web}
          spec:
            containers:
              - {name: web, image: nginx:1.29}
      """
    And an application "web" of repository "web" for "member-1"
    And the administrator of "member-1" applies
      """
      apiVersion: v1
      kind: ResourceQuota
      metadata:
        name: closed
      spec:
        hard: {pods: "0"}
      """
    And object "ResourceQuota/{apps}/closed" of "member-1" has
      | field            | value |
      | status.hard.pods | 0     |
    When application "web" syncs
    Then the sync of application "web" succeeds
    And application "web" reports
      | field  | value    |
      | sync   | Synced   |
      | health | Degraded |
    When the administrator of "member-1" deletes "ResourceQuota/closed"
    Then application "web" is Synced and Healthy
    And the diagnosis finds nothing
