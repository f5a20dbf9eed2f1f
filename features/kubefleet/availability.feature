@kubefleet
Feature: Resources are applied and never become available
  The guide "Staged Update Run TSG" follows a stuck run to resources that aren't available. Without a run, and without a
  Pod that shows the reason, only the placement shows the failure, with a condition that each rollout has for a moment.

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
