@kubefleet @pods
Feature: KubeFleet doesn't track what becomes of a Job
  A placement is available as soon as its Jobs are applied, whether they succeed or fail (kubefleet#805). A Job that deletes itself
  after its end is made again by the member agent (kubefleet#806). The Job controller's conditions have no observedGeneration.

  @takes-60s @KF-AV-011
  Scenario Outline: A Job of <placement> fails, and the placement is available
    Given member "member-1" has simulated pods
    And <placement> "web" has put its resources on "member-1"
    # After a Work that isn't tracked, the next change waits for this long: 60 s by default.
    And placement "web" gets '{"strategy": {"rollingUpdate": {"unavailablePeriodSeconds": 1}}}'
    When the resources of placement "web" also include
      """
      apiVersion: batch/v1
      kind: Job
      metadata: {name: migrate}
      spec:
        backoffLimit: 0
        template:
          spec: {restartPolicy: Never, containers: [{name: migrate, image: "nginx:1.29", env: [{name: DATABASE_URL, value: ""}]}]}
      """
    Then object "Job/{web}-app/migrate" of "member-1" reports
      | condition | status | reason               | observedGeneration |
      | Failed    | True   | BackoffLimitExceeded | stale              |
    And placement "web" becomes available on "member-1"
    And the Work of placement "web" for "member-1" reports
      | condition | status | reason           |
      | Available | True   | WorkNotTrackable |
    And the diagnosis of placement "web" is KF-AV-011 for "member-1"
      | object                | value                |
      | ResourcePlacement/    | Available=True       |
      | Job/{web}-app/migrate | BackoffLimitExceeded |
      | Pod/{web}-app/migrate | 1                    |
    When object "Job/{web}-app/migrate" of the hub is deleted
    And the resources of placement "web" also include
      """
      apiVersion: batch/v1
      kind: Job
      metadata: {name: migrate-2}
      spec:
        backoffLimit: 0
        template:
          spec: {restartPolicy: Never, containers: [{name: migrate, image: "nginx:1.29", env: [{name: DATABASE_URL, value: "postgres://db/shop"}]}]}
      """
    Then object "Job/{web}-app/migrate-2" of "member-1" reports
      | condition | status | reason             | observedGeneration |
      | Complete  | True   | CompletionsReached | stale              |
    And placement "web" becomes available on "member-1"
    And a change to the resources of placement "web" arrives on "member-1"
    And the diagnosis finds nothing

    Examples:
      | placement                  |
      | a cluster-scoped placement |
      | a namespaced placement     |

  # The member agent looks at a Work that is available every 20 s here, and every 15 min with its defaults.
  @takes-60s @KF-AV-012
  Scenario Outline: A Job of <placement> is deleted after its end, and runs again and again
    Given member "member-1" has simulated pods
    And <placement> "web" has put its resources on "member-1"
    # After a Work that isn't tracked, the next change waits for this long: 60 s by default.
    And placement "web" gets '{"strategy": {"rollingUpdate": {"unavailablePeriodSeconds": 1}}}'
    When the resources of placement "web" also include
      """
      apiVersion: batch/v1
      kind: Job
      metadata: {name: report}
      spec:
        ttlSecondsAfterFinished: 5
        template:
          spec: {restartPolicy: Never, containers: [{name: app, image: "nginx:1.29"}]}
      """
    Then object "Job/{web}-app/report" of "member-1" reports
      | condition | status | reason             | observedGeneration |
      | Complete  | True   | CompletionsReached | stale              |
    And placement "web" becomes available on "member-1"
    And the diagnosis of placement "web" is KF-AV-012 for "member-1"
      | object               | value |
      | Work/                | True  |
      | Job/{web}-app/report | 5     |
      | Job/{web}-app/report |       |
    When object "Job/{web}-app/report" of the hub gets '{"ttlSecondsAfterFinished": null}'
    Then object "Job/{web}-app/report" of "member-1" has
      | field                        | value  |
      | spec.ttlSecondsAfterFinished | absent |
      | status.succeeded             | 1      |
    And the diagnosis finds nothing

    Examples:
      | placement                  |
      | a cluster-scoped placement |
      | a namespaced placement     |

  @healthy
  Scenario Outline: A Job of <placement> runs once
    Given member "member-1" has simulated pods
    And <placement> "web" has put its resources on "member-1"
    When the resources of placement "web" also include
      """
      apiVersion: batch/v1
      kind: Job
      metadata: {name: report}
      spec:
        template:
          spec: {restartPolicy: Never, containers: [{name: app, image: "nginx:1.29"}]}
      """
    Then object "Job/{web}-app/report" of "member-1" reports
      | condition | status | reason             | observedGeneration |
      | Complete  | True   | CompletionsReached | stale              |
    And placement "web" becomes available on "member-1"
    And the diagnosis finds nothing

    Examples:
      | placement                  |
      | a cluster-scoped placement |
      | a namespaced placement     |
