@kubefleet
Feature: Resources are applied and never become available
  The guides "Availability Failure TSG" and "Staged Update Run TSG" follow a failure to resources that aren't available.
  Where no Pod shows the reason, only the placement shows the failure, with a condition that each rollout has for a moment.

  # The case study of the guide. No message on the hub says what is wrong with the Deployment: the Pod on the member does.
  @pods @takes-40s @KF-AV-001
  @guide:placement-available/condition @guide:placement-available/causes/image
  @guide:placement-available/general-notes @guide:azure-placement-available/general-notes
  @guide:azure-placement-available/symptoms @guide:azure-placement-available/causes/image
  Scenario Outline: A Deployment of <placement> has an image without a valid name
    Given member "member-1" has pods
    And <placement> "web" selects 1 of "member-1"
    And the resources of placement "web" are on "member-1"
    And the resources of placement "web" include a Deployment with image "nginx:not a tag"
    Then placement "web" reports
      | on       | condition        | status | reason                    |
      |          | Scheduled        | True   | SchedulingPolicyFulfilled |
      |          | RolloutStarted   | True   | RolloutStarted            |
      |          | Overridden       | True   | NoOverrideSpecified       |
      |          | WorkSynchronized | True   | WorkSynchronized          |
      |          | Applied          | True   | ApplySucceeded            |
      |          | Available        | False  | ResourceNotAvailableYet   |
      | member-1 | Scheduled        | True   | Scheduled                 |
      | member-1 | RolloutStarted   | True   | RolloutStarted            |
      | member-1 | Overridden       | True   | NoOverrideSpecified       |
      | member-1 | WorkSynchronized | True   | AllWorkSynced             |
      | member-1 | Applied          | True   | AllWorkHaveBeenApplied    |
      | member-1 | Available        | False  | NotAllWorkAreAvailable    |
    And placement "web" has
      | field                                                               | value                                                         |
      | status.observedResourceIndex                                        | 1                                                             |
      | status.selectedResources.<ordinal>.group                            | apps                                                          |
      | status.selectedResources.<ordinal>.version                          | v1                                                            |
      | status.selectedResources.<ordinal>.kind                             | Deployment                                                    |
      | status.selectedResources.<ordinal>.namespace                        | {web}-app                                                     |
      | status.selectedResources.<ordinal>.name                             | app                                                           |
      | status.selectedResources.0.kind                                     | <first>                                                       |
      | status.placementStatuses.0.failedPlacements.0.group                 | apps                                                          |
      | status.placementStatuses.0.failedPlacements.0.version               | v1                                                            |
      | status.placementStatuses.0.failedPlacements.0.kind                  | Deployment                                                    |
      | status.placementStatuses.0.failedPlacements.0.namespace             | {web}-app                                                     |
      | status.placementStatuses.0.failedPlacements.0.name                  | app                                                           |
      | status.placementStatuses.0.failedPlacements.0.condition.type        | Available                                                     |
      | status.placementStatuses.0.failedPlacements.0.condition.message     | Manifest is not yet available; Fleet will check again later   |
      | status.placementStatuses.0.failedPlacements.1                       | absent                                                        |
    And placement "web" lists as failed
      | on       | object         | envelope | condition | status | reason                  | message                       |
      | member-1 | Deployment app |          | Available | False  | ManifestNotAvailableYet | Manifest is not yet available |
    And the Work of placement "web" for "member-1" reports
      | condition | status | reason                       | message                                |
      | Applied   | True   | AllManifestsApplied          |                                        |
      | Available | False  | SomeManifestsAreNotAvailable | (<ready> of <all> manifests are available) |
    And the Work of placement "web" for "member-1" has
      | field                                                    | value                                                       |
      | status.manifestConditions.<ordinal>.identifier.group     | apps                                                        |
      | status.manifestConditions.<ordinal>.identifier.version   | v1                                                          |
      | status.manifestConditions.<ordinal>.identifier.kind      | Deployment                                                  |
      | status.manifestConditions.<ordinal>.identifier.resource  | deployments                                                 |
      | status.manifestConditions.<ordinal>.identifier.namespace | {web}-app                                                   |
      | status.manifestConditions.<ordinal>.identifier.name      | app                                                         |
      | status.manifestConditions.<ordinal>.identifier.ordinal   | <ordinal>                                                   |
      | status.manifestConditions.<ordinal>.conditions.0.type    | Applied                                                     |
      | status.manifestConditions.<ordinal>.conditions.0.status  | True                                                        |
      | status.manifestConditions.<ordinal>.conditions.0.reason  | Applied                                                     |
      | status.manifestConditions.<ordinal>.conditions.1.type    | Available                                                   |
      | status.manifestConditions.<ordinal>.conditions.1.status  | False                                                       |
      | status.manifestConditions.<ordinal>.conditions.1.reason  | ManifestNotAvailableYet                                     |
      | status.manifestConditions.<ordinal>.conditions.1.message | Manifest is not yet available; Fleet will check again later |
      | status.manifestConditions.0.identifier.kind              | <first>                                                     |
      | status.manifestConditions.0.conditions.1.status          | True                                                        |
      | status.manifestConditions.0.conditions.1.reason          | Available                                                   |
      | status.manifestConditions.0.conditions.1.message         | Manifest is available                                       |
    And the Deployment of placement "web" on "member-1" has no available replica
    And the Pod of placement "web" on "member-1" waits with "InvalidImageName"
    And the diagnosis of placement "web" is KF-AV-001 for "member-1"
      | object                | value                        |
      | ResourcePlacement/    | NotAllWorkAreAvailable       |
      | ResourcePlacement/    | ManifestNotAvailableYet      |
      | Work/                 | SomeManifestsAreNotAvailable |
      | Deployment/{web}-app/ | MinimumReplicasUnavailable   |
      | Pod/{web}-app/        | nginx:not a tag              |
    When the Deployment in the resources of placement "web" gets image "nginx:1.29"
    Then placement "web" becomes available on "member-1"
    And the Work of placement "web" for "member-1" reports
      | condition | status | reason                |
      | Available | True   | AllManifestsAvailable |
    And the Pod of placement "web" on "member-1" runs
    And a change to the resources of placement "web" arrives on "member-1"
    And the diagnosis finds nothing

    @guide:placement-available/case-study @guide:placement-available/work-status
    @guide:placement-available/case-study-text/work-not-available
    @drift:placement-available/case-study-text/clear-message @drift:placement-available/case-study-text/flagged
    @drift:placement-available/work-status/available-names-manifest @drift:placement-available/work-status/manifest-applied
    @drift:placement-available/work-status/namespace-available
    @drift:placement-available/work-status/deployment-not-available
    @guide:placement-available/resolution/deployment-on-member @drift:placement-available/resolution/message-names-image
    @guide:placement-available/resolution/correct-manifest @guide:placement-available/resolution/propagates
    @guide:azure-placement-available/case-study @guide:azure-placement-available/work-status
    @drift:azure-placement-available/case-study-text
    @drift:azure-placement-available/work-status/available-names-manifest
    @drift:azure-placement-available/work-status/manifest-applied
    @drift:azure-placement-available/work-status/namespace-available
    @drift:azure-placement-available/work-status/deployment-not-available
    @guide:azure-placement-available/resolution/deployment-on-member
    @drift:azure-placement-available/resolution/message-names-image
    @guide:azure-placement-available/resolution/correct-manifest @guide:azure-placement-available/resolution/propagates
    @needs-namespaced-placements
    Examples:
      | placement                  | first     | ordinal | ready | all |
      | a cluster-scoped placement | Namespace | 2       | 2     | 3   |

    # v0.14.0 has the same resources in another order.
    @without-namespaced-placements
    Examples:
      | placement                  | first     | ordinal | ready | all |
      | a cluster-scoped placement | Namespace | 1       | 2     | 3   |

    Examples:
      | placement              | first     | ordinal | ready | all |
      | a namespaced placement | ConfigMap | 1       | 1     | 2   |

  @pods @disruptive @takes-60s @passes:KF-AV-001
  @drift:placement-available/logs @drift:azure-placement-available/logs
  Scenario: The member agent's log doesn't say why a Deployment isn't available
    Given a member "east" of its own
    And member "east" has pods
    And the agent of member "east" logs at level 2
    And a placement "web" has put its resources on "east"
    And the resources of placement "web" include a Deployment with image "nginx:not a tag"
    Then placement "web" reports
      | on   | condition | status | reason                 |
      | east | Available | False  | NotAllWorkAreAvailable |
    And the agent of member "east" has logged "Deployment is not ready yet" in a line with "{web}-app/app"
    And the agent of member "east" has logged "{web}-app/app" in no line with "nginx:not a tag"
    When the Deployment in the resources of placement "web" gets image "nginx:1.29"
    Then placement "web" becomes available on "east"
    And the agent of member "east" has logged "Deployment is available" in a line with "{web}-app/app"

  @pods @takes-40s @KF-AV-002
  Scenario Outline: A Deployment of <placement> has an image that <what>
    Given member "member-1" has pods
    And <placement> "web" has put its resources on "member-1"
    And the resources of placement "web" include a Deployment with image "<image>"
    Then placement "web" reports
      | on       | condition | status | reason                 |
      | member-1 | Applied   | True   | AllWorkHaveBeenApplied |
      | member-1 | Available | False  | NotAllWorkAreAvailable |
    And the diagnosis of placement "web" is KF-AV-002 for "member-1"
      | object                | value                        |
      | ResourcePlacement/    | NotAllWorkAreAvailable       |
      | ResourcePlacement/    | ManifestNotAvailableYet      |
      | Work/                 | SomeManifestsAreNotAvailable |
      | Pod/{web}-app/        | <image>                      |
    When the Deployment in the resources of placement "web" gets image "nginx:1.29"
    Then placement "web" becomes available on "member-1"
    And a change to the resources of placement "web" arrives on "member-1"
    And the diagnosis finds nothing

    Examples:
      | placement                  | what            | image                  |
      | a cluster-scoped placement | no registry has | nginx:unpullable       |
      | a namespaced placement     | no registry has | registry.invalid/app:1 |

  @pods @healthy
  Scenario Outline: A Deployment of <placement> has a good image
    Given member "member-1" has pods
    And <placement> "web" selects 1 of "member-1"
    And the resources of placement "web" are on "member-1"
    And the resources of placement "web" include a Deployment with image "nginx:1.29"
    Then placement "web" becomes available on "member-1"
    And the Pod of placement "web" on "member-1" runs
    And the diagnosis finds nothing

    Examples:
      | placement                  |
      | a cluster-scoped placement |
      | a namespaced placement     |

  @KF-AV-003
  Scenario Outline: A Service of <placement> waits for a load balancer that nothing gives it
    Given <placement> "web" has put its resources on "member-1"
    When the resources of placement "web" include a ResourceEnvelope with '{"apiVersion":"v1","kind":"Service","metadata":{"name":"x","namespace":"{web}-app"},"spec":{"type":"LoadBalancer","ports":[{"port":80}]}}'
    Then placement "web" reports
      | on       | condition | status | reason                  | message              |
      |          | Applied   | True   | ApplySucceeded          |                      |
      |          | Available | False  | ResourceNotAvailableYet |                      |
      | member-1 | Applied   | True   | AllWorkHaveBeenApplied  |                      |
      | member-1 | Available | False  | NotAllWorkAreAvailable  | is not yet available |
    And placement "web" lists as failed
      | on       | object    | envelope                  | condition | status | reason                  |
      | member-1 | Service x | ResourceEnvelope envelope | Available | False  | ManifestNotAvailableYet |
    And the diagnosis finds nothing
    When placement "web" hasn't been available on "member-1" for five minutes
    Then the diagnosis of placement "web" is KF-AV-003 for "member-1"
      | object             | value                        |
      | ResourcePlacement/ | NotAllWorkAreAvailable       |
      | ResourcePlacement/ | ManifestNotAvailableYet      |
      | Work/              | SomeManifestsAreNotAvailable |
    When the ResourceEnvelope of placement "web" is corrected to '{"apiVersion":"v1","kind":"Service","metadata":{"name":"x","namespace":"{web}-app"},"spec":{"type":"ClusterIP","ports":[{"port":80}]}}'
    Then placement "web" becomes available on "member-1"
    And the diagnosis finds nothing

    Examples:
      | placement                  |
      | a cluster-scoped placement |
      | a namespaced placement     |
