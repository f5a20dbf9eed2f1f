@kubefleet
Feature: Applied is False
  The guide "Work-Application Failure TSG" and its Azure edition: an object exists on a member already, another placement has it, or the
  member refuses it. The Work is on the hub, and its status says which manifest isn't applied and why.

  @healthy
  @guide:placement-applied/general-notes-cluster
  @drift:placement-applied/case-study/unscheduled @drift:placement-applied/case-study/existing-namespace
  @drift:azure-placement-applied/case-study/unscheduled @drift:azure-placement-applied/case-study/existing-namespace
  Scenario: An existing namespace is taken over without an apply strategy
    Given "member-1" has a ConfigMap already where placement "web" will put one
    And a cluster-scoped placement "web" selects by name "member-1" and "member-2"
    Then placement "web" reports
      | condition | status | reason                    | message                                                                    |
      | Scheduled | True   | SchedulingPolicyFulfilled | found all cluster needed as specified by the scheduling policy, found 2 cluster(s) |
      | Applied   | True   | ApplySucceeded            |                                                                            |
    And placement "web" becomes available on "member-1" and "member-2"
    And placement "web" has
      | field                           | value     |
      | status.selectedResources.0.kind | Namespace |
      | status.selectedResources.1.kind | ConfigMap |
    And the diagnosis finds nothing
    And a change to the resources of placement "web" arrives on "member-1" and "member-2"

  @KF-AP-002
  @guide:placement-applied/condition @guide:placement-applied/scenarios/existing @guide:placement-applied/investigation/work
  @guide:placement-applied/investigation/work-status @guide:placement-applied/case-study @guide:placement-applied/work-status
  @guide:azure-placement-applied/symptoms @guide:azure-placement-applied/cause/existing @guide:azure-placement-applied/steps/work
  @guide:azure-placement-applied/steps/work-status @guide:azure-placement-applied/case-study
  @guide:azure-placement-applied/work-status
  @drift:placement-applied/investigation/member-condition @drift:azure-placement-applied/steps/member-condition
  @drift:placement-applied/case-study/unscheduled @drift:placement-applied/case-study/existing-namespace
  @drift:azure-placement-applied/case-study/unscheduled @drift:azure-placement-applied/case-study/existing-namespace
  @drift:placement-applied/work-status/available @drift:placement-applied/work-status/manifest-availability
  @drift:azure-placement-applied/work-status/available @drift:azure-placement-applied/work-status/manifest-availability
  @drift:placement-applied/resolution/co-ownership @drift:azure-placement-applied/cause/co-ownership
  @drift:azure-placement-applied/resolution/co-ownership
  Scenario: A namespace exists on one of two members and may not be taken over
    Given a cluster-scoped placement "web" selects no member and applies with '{"whenToTakeOver": "Never"}'
    And the resources of placement "web" also include
      """
      apiVersion: apps/v1
      kind: Deployment
      metadata: {name: idle}
      spec:
        replicas: 0
        selector: {matchLabels: {app: idle}}
        template:
          metadata: {labels: {app: idle}}
          spec: {containers: [{name: idle, image: "nginx:1.29"}]}
      """
    And the administrator of "member-1" applies
      """
      apiVersion: v1
      kind: Namespace
      metadata: {name: "{web}-app"}
      """
    When placement "web" selects "member-1" and "member-2" instead
    Then placement "web" reports
      | on       | condition        | status | reason                    | message                                  |
      |          | Scheduled        | True   | SchedulingPolicyFulfilled |                                          |
      |          | RolloutStarted   | True   | RolloutStarted            |                                          |
      |          | Overridden       | True   | NoOverrideSpecified       |                                          |
      |          | WorkSynchronized | True   | WorkSynchronized          |                                          |
      |          | Applied          | False  | ApplyFailed               |                                          |
      | member-1 | Scheduled        | True   | Scheduled                 |                                          |
      | member-1 | RolloutStarted   | True   | RolloutStarted            |                                          |
      | member-1 | Overridden       | True   | NoOverrideSpecified       |                                          |
      | member-1 | WorkSynchronized | True   | AllWorkSynced             |                                          |
      | member-1 | Applied          | False  | NotAllWorkHaveBeenApplied | {web}-work has failed to apply           |
      | member-1 | ResourceApplied  | absent |                           |                                          |
      | member-1 | ClusterResourcePlacementApplied | absent |            |                                          |
      | member-2 | Applied          | True   | AllWorkHaveBeenApplied    |                                          |
      | member-2 | Available        | True   | AllWorkAreAvailable       |                                          |
    And placement "web" lists as failed
      | on       | object              | envelope | condition | status | reason       | message            |
      | member-1 | Namespace {web}-app |          | Applied   | False  | NotTakenOver | takeover is needed |
    And the Work of placement "web" for "member-1" reports
      | on                                  | condition | status | reason                     | message            |
      |                                     | Applied   | False  | SomeManifestsAreNotApplied |                    |
      |                                     | Available | absent |                            |                    |
      | manifest Namespace/{web}-app        | Applied   | False  | NotTakenOver               | takeover is needed |
      | manifest Namespace/{web}-app        | Available | absent |                            |                    |
      | manifest Deployment/{web}-app/idle  | Applied   | True   | Applied                    |                    |
      | manifest Deployment/{web}-app/idle  | Available | True   | Available                  |                    |
    And object "Deployment/{web}-app/idle" of "member-1" has
      | field                   | value |
      | metadata.labels.missing | absent |
    And the diagnosis of placement "web" is KF-AP-002 for "member-1"
      | object                    | value        |
      | ResourcePlacement/        | NotTakenOver |
    # What the guides advise changes nothing.
    When placement "web" gets '{"strategy": {"applyStrategy": {"allowCoOwnership": true}}}'
    Then placement "web" reports for 10 seconds
      | on       | condition | status | reason                    | message                        |
      | member-1 | Applied   | False  | NotAllWorkHaveBeenApplied | {web}-work has failed to apply |
    When placement "web" gets '{"strategy": {"applyStrategy": {"whenToTakeOver": "Always", "allowCoOwnership": false}}}'
    Then placement "web" becomes available on "member-1" and "member-2"
    And the diagnosis finds nothing
    And a change to the resources of placement "web" arrives on "member-1" and "member-2"

  @KF-AP-002
  @guide:placement-applied/condition @guide:placement-applied/general-notes/same-work
  @guide:placement-applied/general-notes/own-namespace
  Scenario: A ResourcePlacement's Work says the same
    Given "member-1" has a ConfigMap already where placement "web" will put one
    And a namespaced placement "web" selects "member-1" and applies with '{"whenToTakeOver": "Never"}'
    Then placement "web" reports
      | on       | condition | status | reason                    | message             |
      |          | Applied   | False  | ApplyFailed               |                     |
      | member-1 | Applied   | False  | NotAllWorkHaveBeenApplied | has failed to apply |
    And the Work of placement "web" for "member-1" reports
      | on                                    | condition | status | reason                     | message            |
      |                                       | Applied   | False  | SomeManifestsAreNotApplied |                    |
      | manifest ConfigMap/{web}-app/settings | Applied   | False  | NotTakenOver               | takeover is needed |
    And placement "web" has
      | field                                | value     |
      | status.selectedResources.0.namespace | {web}-app |
      | status.selectedResources.1           | absent    |
    And the diagnosis of placement "web" is KF-AP-002 for "member-1"
    When placement "web" gets '{"strategy": {"applyStrategy": {"whenToTakeOver": "Always"}}}'
    Then placement "web" becomes available on "member-1"
    And the diagnosis finds nothing

  @KF-AP-007
  Scenario Outline: Something outside the fleet owns the object already: <placement>
    Given "member-1" has a ConfigMap already where placement "web" will put one
    And something on "member-1" owns the ConfigMap of placement "web"
    When <placement> "web" selects "member-1"
    Then placement "web" reports
      | on       | condition        | status | reason                    | message             |
      |          | WorkSynchronized | True   | WorkSynchronized          |                     |
      | member-1 | Applied          | False  | NotAllWorkHaveBeenApplied | has failed to apply |
    And the diagnosis of placement "web" is KF-AP-007 for "member-1"
      | object             | value                                                        |
      | ResourcePlacement/ | FailedToTakeOver                                             |
      | ResourcePlacement/ | already owned by some other sources(s) and co-ownership is disallowed |
    When placement "web" gets '{"strategy": {"applyStrategy": {"allowCoOwnership": true}}}'
    Then placement "web" becomes available on "member-1"
    And the diagnosis finds nothing
    And a change to the resources of placement "web" arrives on "member-1"

    Examples:
      | placement                  |
      | a cluster-scoped placement |
      | a namespaced placement     |

  @KF-AP-007
  Scenario: Something outside the fleet becomes an owner of a placed object
    Given a cluster-scoped placement "web" has put its resources on "member-1"
    When something on "member-1" owns the ConfigMap of placement "web"
    Then placement "web" reports
      | on       | condition | status | reason                    | message             |
      | member-1 | Applied   | False  | NotAllWorkHaveBeenApplied | has failed to apply |
    And the diagnosis of placement "web" is KF-AP-007 for "member-1"
      | object             | value                              |
      | ResourcePlacement/ | ManifestApplyFailed                |
      | ResourcePlacement/ | co-ownership has been disallowed   |
    When placement "web" gets '{"strategy": {"applyStrategy": {"allowCoOwnership": true}}}'
    Then placement "web" becomes available on "member-1"
    And the diagnosis finds nothing
    And a change to the resources of placement "web" arrives on "member-1"

  @healthy
  Scenario Outline: An owner beside the fleet is no failure where co-ownership is allowed: <placement>
    Given "member-1" has a ConfigMap already where placement "web" will put one
    And something on "member-1" owns the ConfigMap of placement "web"
    When <placement> "web" selects "member-1" and applies with '{"allowCoOwnership": true}'
    Then the diagnosis finds nothing while placement "web" becomes available on "member-1"

    Examples:
      | placement                  |
      | a cluster-scoped placement |
      | a namespaced placement     |

  @KF-AP-003
  @guide:placement-applied/logs @drift:placement-applied/scenarios/another-placement
  @drift:azure-placement-applied/cause/another-placement @drift:azure-placement-applied/resolution/logs
  Scenario: Another placement with the same apply strategy has the object, and co-ownership doesn't help
    Given a cluster-scoped placement "base" has put its resources on "member-1"
    When a cluster-scoped placement "web" selects what placement "base" places, for "member-1"
    Then placement "web" reports
      | on       | condition | status | reason                    | message             |
      | member-1 | Applied   | False  | NotAllWorkHaveBeenApplied | has failed to apply |
    And the agent of member "member-1" has logged "Failed to take over a pre-existing object" in a line with "{web}-work"
    And the agent of member "member-1" has logged "Failed to take over a pre-existing object" in no line with "apply_controller.go"
    When placement "web" gets '{"strategy": {"applyStrategy": {"allowCoOwnership": true}}}'
    Then the diagnosis of placement "web" is KF-AP-003 for "member-1"
      | object             | value                              |
      | ResourcePlacement/ | FailedToTakeOver                   |
      | ResourcePlacement/ | another Fleet AppliedWork object   |
    When placement "base" is deleted
    Then placement "web" becomes available on "member-1"
    And the diagnosis finds nothing
