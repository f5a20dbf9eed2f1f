@kubefleet @pods @takes-60s
Feature: An update run waits for a workload that is still starting
  A binding whose Deployment isn't ready yet is Available False with the reason NotAllWorkAreAvailable, as one whose Deployment will never be
  ready. KubeFleet's run can't tell the two apart before its threshold of five minutes, so it must not fail at its first look
  (kubefleet#670, kubefleet#672).

  @healthy
  Scenario: A run goes on while the Pods of a Deployment take half a minute to be ready
    Given member "member-1" has pods
    And a placement "web" with strategy External selects "member-1"
    And the resources of placement "web" include a Deployment with image "nginx:1.29" that takes 25 seconds
    And a staged update strategy "all" for placement "web"
      | stage   | members  |
      | staging | member-1 |
    When an update run "release" of placement "web" starts with strategy "all"
    Then the binding of placement "web" for "member-1" reports
      | condition | status | reason                 |
      | Applied   | True   | AllWorkHaveBeenApplied |
      | Available | False  | NotAllWorkAreAvailable |
    And update run "release" succeeds
    And placement "web" becomes available on "member-1"
    And the diagnosis finds nothing
