@argocd
Feature: An application is in sync and not healthy
  The sync has applied everything, and something of it doesn't become healthy, or is healthy no more. The Application says only that, and
  not which object or why.

  @healthy @pods
  Scenario: Its Pods become ready
    Given a repository "web" with "deployment.yaml"
      """
      apiVersion: apps/v1
      kind: Deployment
      metadata:
        name: web
      spec:
        selector:
          matchLabels: {app: web}
        template:
          metadata:
            labels: {app: web}
          spec:
            containers:
              - name: web
                image: nginx:1.29
      """
    And member "member-1" has pods
    And an application "web" of repository "web" for "member-1"
    When application "web" syncs
    Then the sync of application "web" succeeds
    And application "web" is Synced and Healthy
    And the diagnosis finds nothing

  @AR-HL-002 @pods
  @drift:argocd-health/workload/updated @drift:argocd-degraded/progress-deadline/updated @drift:argocd-diagnosing/axes/deployment
  @guide:argocd-degraded/progress-deadline/progressing @guide:argocd-degraded/progress-deadline/default
  Scenario: An image can't be had
    Given a repository "web" with "deployment.yaml"
      """
      apiVersion: apps/v1
      kind: Deployment
      metadata:
        name: web
      spec:
        selector:
          matchLabels: {app: web}
        template:
          metadata:
            labels: {app: web}
          spec:
            containers:
              - name: web
                image: registry.invalid/web:1
      """
    And member "member-1" has pods
    And an application "web" of repository "web" for "member-1"
    When application "web" syncs
    Then the sync of application "web" succeeds
    And object "Deployment/{apps}/web" of "member-1" has
      | field                        | value  |
      | spec.progressDeadlineSeconds | 600    |
      | status.observedGeneration    | 1      |
      | status.updatedReplicas       | 1      |
      | status.availableReplicas     | absent |
    And application "web" reports
      | field  | value       |
      | sync   | Synced      |
      | health | Progressing |
    And the diagnosis of application "web" is AR-HL-002
      | object                   | value       |
      | Application/argocd/{web} | Progressing |
      | Deployment/{apps}/web    | 0 of 1      |
    When "deployment.yaml" of repository "web" is corrected to
      """
      apiVersion: apps/v1
      kind: Deployment
      metadata:
        name: web
      spec:
        selector:
          matchLabels: {app: web}
        template:
          metadata:
            labels: {app: web}
          spec:
            containers:
              - name: web
                image: nginx:1.29
      """
    And application "web" syncs
    Then the sync of application "web" succeeds
    And application "web" is Synced and Healthy
    And the diagnosis finds nothing

  @AR-HL-002 @pods @takes-60s
  @guide:argocd-degraded/meaning/applied @guide:argocd-degraded/meaning/sync-again @guide:argocd-diagnosing/axes/synced-degraded
  @guide:argocd-degraded/progress-deadline/condition @guide:argocd-degraded/progress-deadline/degraded
  Scenario: A Pod fits nowhere, and the progress deadline passes
    Given a repository "web" with "deployment.yaml"
      """
      apiVersion: apps/v1
      kind: Deployment
      metadata:
        name: web
      spec:
        progressDeadlineSeconds: 5
        selector:
          matchLabels: {app: web}
        template:
          metadata:
            labels: {app: web}
          spec:
            containers:
              - name: web
                image: nginx:1.29
                resources:
                  requests: {cpu: "2000"}
      """
    And member "member-1" has pods
    And an application "web" of repository "web" for "member-1"
    When application "web" syncs
    Then the sync of application "web" succeeds
    And application "web" reports
      | field  | value    |
      | sync   | Synced   |
      | health | Degraded |
    And the diagnosis of application "web" is AR-HL-002
      | object                   | value                    |
      | Application/argocd/{web} | Degraded                 |
      | Deployment/{apps}/web    | ProgressDeadlineExceeded |
    When application "web" syncs
    Then the sync of application "web" succeeds
    And application "web" reports
      | field  | value    |
      | sync   | Synced   |
      | health | Degraded |
    When "deployment.yaml" of repository "web" is corrected to
      """
      apiVersion: apps/v1
      kind: Deployment
      metadata:
        name: web
      spec:
        progressDeadlineSeconds: 5
        selector:
          matchLabels: {app: web}
        template:
          metadata:
            labels: {app: web}
          spec:
            containers:
              - name: web
                image: nginx:1.29
      """
    And application "web" syncs
    Then the sync of application "web" succeeds
    And application "web" is Synced and Healthy
    And the diagnosis finds nothing

  @AR-HL-001
  @guide:argocd-health/service/load-balancer
  Scenario: A Service gets no address
    Given a repository "web" with "service.yaml"
      """
      apiVersion: v1
      kind: Service
      metadata:
        name: web
      spec:
        type: LoadBalancer
        selector: {app: web}
        ports: [{port: 80}]
      """
    And an application "web" of repository "web" for "member-1"
    When application "web" syncs
    Then the sync of application "web" succeeds
    And application "web" reports
      | field  | value       |
      | sync   | Synced      |
      | health | Progressing |
    # A load balancer takes its time.
    And the diagnosis finds nothing
    When application "web" hasn't been healthy for five minutes
    Then the diagnosis of application "web" is AR-HL-001
      | object                   | value       |
      | Application/argocd/{web} | Progressing |
      | Service/{apps}/web       | (absent)    |
    When "service.yaml" of repository "web" is corrected to
      """
      apiVersion: v1
      kind: Service
      metadata:
        name: web
      spec:
        type: ClusterIP
        selector: {app: web}
        ports: [{port: 80}]
      """
    And application "web" syncs
    Then the sync of application "web" succeeds
    And application "web" is Synced and Healthy
    And the diagnosis finds nothing

  @AR-HL-003 @pods @takes-60s
  Scenario: A Job fails that is no hook
    Given a repository "web" with "job.yaml"
      """
      apiVersion: batch/v1
      kind: Job
      metadata:
        name: import
      spec:
        backoffLimit: 0
        template:
          metadata:
            annotations:
              fleetdrill.dev/exit-code: "3"
          spec:
            restartPolicy: Never
            containers:
              - name: import
                image: nginx:1.29
      """
    And member "member-1" has simulated pods
    And an application "web" of repository "web" for "member-1"
    When application "web" syncs
    Then the sync of application "web" succeeds
    And application "web" reports
      | field  | value    |
      | sync   | Synced   |
      | health | Degraded |
    And the diagnosis of application "web" is AR-HL-003
      | object                   | value                |
      | Application/argocd/{web} | Degraded             |
      | Job/{apps}/import        | BackoffLimitExceeded |
    When "job.yaml" is removed from repository "web"
    And repository "web" also has "again.yaml"
      """
      apiVersion: batch/v1
      kind: Job
      metadata:
        name: import-again
      spec:
        backoffLimit: 0
        template:
          metadata:
            annotations:
              fleetdrill.dev/exit-code: "0"
          spec:
            restartPolicy: Never
            containers:
              - name: import
                image: nginx:1.29
      """
    And application "web" syncs with "--prune"
    Then the sync of application "web" succeeds
    And application "web" is Synced and Healthy
    And the diagnosis finds nothing

  @AR-HL-004
  Scenario: Somebody deletes one of its objects
    Given a repository "web" with "settings.yaml"
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: settings
      """
    And repository "web" also has "service.yaml"
      """
      apiVersion: v1
      kind: Service
      metadata:
        name: web
      spec:
        selector: {app: web}
        ports: [{port: 80}]
      """
    And an application "web" of repository "web" for "member-1"
    And application "web" syncs
    And application "web" is Synced and Healthy
    When the administrator of "member-1" deletes "Service/web"
    And application "web" is refreshed
    # Missing on v3.2; since v3.4 only if no object is left.
    Then application "web" reports
      | field | value     |
      | sync  | OutOfSync |
      | phase | Succeeded |
    And the diagnosis of application "web" is AR-HL-004
      | object                   | value            |
      | Application/argocd/{web} | OutOfSync        |
      | Service/{apps}/web       | (no such object) |
      | Application/argocd/{web} | Succeeded        |
    When application "web" syncs
    Then the sync of application "web" succeeds
    And application "web" is Synced and Healthy
    And the diagnosis finds nothing

  @AR-HL-005
  Scenario: Somebody has paused a Deployment
    Given a repository "web" with "deployment.yaml"
      """
      apiVersion: apps/v1
      kind: Deployment
      metadata:
        name: web
      spec:
        replicas: 0
        selector:
          matchLabels: {app: web}
        template:
          metadata:
            labels: {app: web}
          spec:
            containers:
              - name: web
                image: nginx:1.29
      """
    And an application "web" of repository "web" for "member-1"
    And application "web" syncs
    And application "web" is Synced and Healthy
    When the administrator of "member-1" applies
      """
      apiVersion: apps/v1
      kind: Deployment
      metadata:
        name: web
      spec:
        paused: true
      """
    # Git has no such field, so that the application stays Synced.
    Then application "web" reports
      | field  | value     |
      | sync   | Synced    |
      | health | Suspended |
    And the diagnosis finds nothing
    When application "web" hasn't been healthy for five minutes
    Then the diagnosis of application "web" is AR-HL-005
      | object                   | value     |
      | Application/argocd/{web} | Suspended |
      | Deployment/{apps}/web    | true      |
    When the administrator of "member-1" applies
      """
      apiVersion: apps/v1
      kind: Deployment
      metadata:
        name: web
      spec:
        paused: false
      """
    Then application "web" is Synced and Healthy
    And the diagnosis finds nothing
