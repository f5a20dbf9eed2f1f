@argocd
Feature: What Argo CD's documents say about health
  Argo CD computes an object's health from the object alone, by a check of its kind, and an Application's health from its objects' health.

  @pods @AR-OS-002
  @drift:argocd-health/job/field @guide:argocd-health/job/suspended @guide:argocd-diagnosing/axes/out-of-sync-healthy
  Scenario: A Job is suspended by spec.suspend, and not by spec.suspended
    Given a repository "web" with "job.yaml"
      """
      apiVersion: batch/v1
      kind: Job
      metadata:
        name: import
      spec:
        suspended: true
        backoffLimit: 0
        template:
          spec:
            restartPolicy: Never
            containers: [{name: import, image: nginx:1.29}]
      """
    And member "member-1" has simulated pods
    And an application "web" of repository "web" for "member-1"
    When application "web" syncs
    Then the sync of application "web" succeeds
    # The API server drops a field that it doesn't know, and the Job runs.
    And application "web" reports
      | field  | value     |
      | sync   | OutOfSync |
      | health | Healthy   |
    And the diagnosis of application "web" is AR-OS-002
    When "job.yaml" is removed from repository "web"
    And repository "web" also has "again.yaml"
      """
      apiVersion: batch/v1
      kind: Job
      metadata:
        name: import-again
      spec:
        suspend: true
        backoffLimit: 0
        template:
          spec:
            restartPolicy: Never
            containers: [{name: import, image: nginx:1.29}]
      """
    And application "web" syncs with "--prune"
    Then the sync of application "web" succeeds
    And application "web" reports
      | field  | value     |
      | sync   | Synced    |
      | health | Suspended |
    And the diagnosis finds nothing
    When "again.yaml" of repository "web" is corrected to
      """
      apiVersion: batch/v1
      kind: Job
      metadata:
        name: import-again
      spec:
        suspend: false
        backoffLimit: 0
        template:
          spec:
            restartPolicy: Never
            containers: [{name: import, image: nginx:1.29}]
      """
    And application "web" syncs
    Then the sync of application "web" succeeds
    And application "web" is Synced and Healthy
    And the diagnosis finds nothing

  @guide:argocd-health/claim/bound
  Scenario: A claim is healthy once it is bound
    Given a repository "web" with "claim.yaml"
      """
      apiVersion: v1
      kind: PersistentVolumeClaim
      metadata:
        name: data
      spec:
        storageClassName: ""
        accessModes: [ReadWriteOnce]
        resources: {requests: {storage: 1Mi}}
      """
    And an application "web" of repository "web" for "member-1"
    When application "web" syncs
    Then the sync of application "web" succeeds
    And application "web" reports
      | field  | value       |
      | sync   | Synced      |
      | health | Progressing |
    And the diagnosis finds nothing
    When the administrator of "member-1" applies
      """
      apiVersion: v1
      kind: PersistentVolume
      metadata:
        name: data-{suffix}
      spec:
        storageClassName: ""
        accessModes: [ReadWriteOnce]
        capacity: {storage: 1Mi}
        hostPath: {path: /tmp/data-{suffix}}
        claimRef: {namespace: "{apps}", name: data}
      """
    Then object "PersistentVolumeClaim/{apps}/data" of "member-1" has
      | field        | value |
      | status.phase | Bound |
    And application "web" is Synced and Healthy
    And the diagnosis finds nothing

  @healthy
  @guide:argocd-health/application/ignored
  Scenario: The health of a Service without an address doesn't count
    Given a repository "web" with "service.yaml"
      """
      apiVersion: v1
      kind: Service
      metadata:
        name: web
        annotations:
          argocd.argoproj.io/ignore-healthcheck: "true"
      spec:
        type: LoadBalancer
        selector: {app: web}
        ports: [{port: 80}]
      """
    And an application "web" of repository "web" for "member-1"
    When application "web" syncs
    Then the sync of application "web" succeeds
    And application "web" is Synced and Healthy
    And the diagnosis finds nothing

  @pods @AR-HL-003 @AR-HL-004 @takes-60s
  @guide:argocd-health/application/worst @guide:argocd-health/application/degraded-and-missing
  @guide:argocd-degraded/meaning/worst @guide:argocd-degraded/meaning/one
  Scenario: An application is as unhealthy as its worst object
    Given member "member-1" has simulated pods
    And a repository "web" with "service.yaml"
      """
      apiVersion: v1
      kind: Service
      metadata:
        name: public
      spec:
        type: LoadBalancer
        selector: {app: web}
        ports: [{port: 80}]
      """
    And repository "web" also has "internal.yaml"
      """
      apiVersion: v1
      kind: Service
      metadata:
        name: internal
      spec:
        selector: {app: web}
        ports: [{port: 80}]
      """
    And an application "web" of repository "web" for "member-1"
    And application "web" syncs
    And the sync of application "web" succeeds
    Then application "web" reports
      | field  | value       |
      | health | Progressing |
    When repository "web" also has "job.yaml"
      """
      apiVersion: batch/v1
      kind: Job
      metadata:
        name: import
      spec:
        backoffLimit: 0
        template:
          metadata:
            annotations: {fleetdrill.dev/exit-code: "3"}
          spec:
            restartPolicy: Never
            containers: [{name: import, image: nginx:1.29}]
      """
    And application "web" syncs
    Then the sync of application "web" succeeds
    And application "web" reports
      | field  | value    |
      | sync   | Synced   |
      | health | Degraded |
    When the administrator of "member-1" deletes "Service/internal"
    And application "web" is refreshed
    Then application "web" reports
      | field  | value     |
      | sync   | OutOfSync |
      | health | Degraded  |
    When "job.yaml" is removed from repository "web"
    And "service.yaml" is removed from repository "web"
    And application "web" syncs with "--prune"
    Then the sync of application "web" succeeds
    And application "web" is Synced and Healthy
    And the diagnosis finds nothing

  @pods @AR-HL-002
  @guide:argocd-health/pod/ready @guide:argocd-health/pod/error @guide:argocd-health/pod/runs
  Scenario: A Pod of its own is unhealthy without its image, and one that should end isn't healthy while it runs
    Given a repository "web" with "pod.yaml"
      """
      apiVersion: v1
      kind: Pod
      metadata:
        name: web
      spec:
        containers: [{name: web, image: registry.invalid/web:1}]
      """
    And member "member-1" has pods
    And an application "web" of repository "web" for "member-1"
    When application "web" syncs
    Then the sync of application "web" succeeds
    And application "web" reports
      | field  | value    |
      | sync   | Synced   |
      | health | Degraded |
    When "pod.yaml" of repository "web" is corrected to
      """
      apiVersion: v1
      kind: Pod
      metadata:
        name: web
      spec:
        containers: [{name: web, image: nginx:1.29}]
      """
    And application "web" syncs
    Then the sync of application "web" succeeds
    And application "web" is Synced and Healthy
    And the diagnosis finds nothing
    When repository "web" also has "once.yaml"
      """
      apiVersion: v1
      kind: Pod
      metadata:
        name: once
      spec:
        restartPolicy: Never
        containers: [{name: once, image: nginx:1.29}]
      """
    And application "web" syncs
    Then the sync of application "web" succeeds
    And object "Pod/{apps}/once" of "member-1" has
      | field                              | value   |
      | status.phase                       | Running |
      | status.conditions.type=Ready.status | True    |
    And application "web" reports
      | field  | value       |
      | sync   | Synced      |
      | health | Progressing |

  @pods
  @drift:argocd-faq/progressing/on-delete @drift:argocd-health/workload/updated @guide:argocd-health/application/not-inherited
  Scenario: A DaemonSet with OnDelete is healthy whatever its Pods are
    Given a repository "web" with "agent.yaml"
      """
      apiVersion: apps/v1
      kind: DaemonSet
      metadata:
        name: agent
      spec:
        updateStrategy: {type: OnDelete}
        selector:
          matchLabels: {app: agent}
        template:
          metadata:
            labels: {app: agent}
          spec:
            containers: [{name: agent, image: nginx:1.29}]
      """
    And member "member-1" has pods
    And an application "web" of repository "web" for "member-1"
    And application "web" syncs
    And application "web" is Synced and Healthy
    When "agent.yaml" of repository "web" becomes
      """
      apiVersion: apps/v1
      kind: DaemonSet
      metadata:
        name: agent
      spec:
        updateStrategy: {type: OnDelete}
        selector:
          matchLabels: {app: agent}
        template:
          metadata:
            labels: {app: agent}
          spec:
            containers: [{name: agent, image: registry.invalid/agent:2}]
      """
    And application "web" syncs
    Then the sync of application "web" succeeds
    And object "DaemonSet/{apps}/agent" of "member-1" has
      | field                         | value  |
      | status.observedGeneration     | 2      |
      | status.desiredNumberScheduled | 1      |
      | status.updatedNumberScheduled | absent |
    And application "web" is Synced and Healthy
    And the diagnosis finds nothing

  @pods @takes-90s
  @drift:argocd-health/cronjob/failed @drift:argocd-health/cronjob/running
  Scenario: A CronJob of which no Job has succeeded so far is healthy
    Given a repository "web" with "cronjob.yaml"
      """
      apiVersion: batch/v1
      kind: CronJob
      metadata:
        name: fails
      spec:
        schedule: "* * * * *"
        jobTemplate:
          spec:
            backoffLimit: 0
            template:
              metadata:
                annotations: {fleetdrill.dev/exit-code: "3"}
              spec:
                restartPolicy: Never
                containers: [{name: report, image: nginx:1.29}]
      ---
      apiVersion: batch/v1
      kind: CronJob
      metadata:
        name: runs
      spec:
        schedule: "* * * * *"
        concurrencyPolicy: Forbid
        jobTemplate:
          spec:
            backoffLimit: 0
            template:
              spec:
                restartPolicy: Never
                containers: [{name: report, image: registry.invalid/report:1}]
      """
    And member "member-1" has simulated pods
    And an application "web" of repository "web" for "member-1"
    When application "web" syncs
    Then the sync of application "web" succeeds
    And object "CronJob/{apps}/fails" of "member-1" has
      | field                     | value  |
      | status.lastScheduleTime   | *      |
      | status.active             | absent |
      | status.lastSuccessfulTime | absent |
    And object "CronJob/{apps}/runs" of "member-1" has
      | field                   | value |
      | status.lastScheduleTime | *     |
      | status.active.0.kind    | Job   |
    When application "web" is refreshed
    Then application "web" is Synced and Healthy
    And the diagnosis finds nothing
