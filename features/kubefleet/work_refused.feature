@kubefleet
Feature: The controller can't make the Work
  The guide "Work Synchronization Failure TSG", first cause: "the controller encounters an error while trying to
  generate the corresponding work object", and its last resolution: temporary errors resolve by themselves. In these
  scenarios the API server refuses the Work because of a policy on the hub. The controller retries after up to a minute.

  @KF-WS-009
  @guide:work-synchronized/controller-error @guide:work-synchronized/resolution/wait
  @guide:azure-work-synchronized/controller-error @guide:azure-work-synchronized/resolution/wait
  Scenario Outline: A policy on the hub refuses the Works of <placement>
    Given <placement> "web" has put its resources on "member-1"
    When a policy on the hub begins to refuse the Works of placement "web"
    And the resources of placement "web" change
    Then placement "web" reports
      | on       | condition        | status | reason                 | message                                                               |
      |          | WorkSynchronized | False  | WorkNotSynchronizedYet | 1 cluster(s) which have not finished creating or updating work(s) yet |
      | member-1 | WorkSynchronized | False  | SyncWorkFailed         | Failed to synchronize the work to the latest:                         |
      | member-1 | WorkSynchronized | False  | SyncWorkFailed         | denied request: each manifest of a Work needs the label owner         |
    # An error may be temporary: the diagnosis reports an error only if it is at least 15 seconds old.
    And within 60 seconds the diagnosis of placement "web" is KF-WS-009 for "member-1"
      | object             | value                                                       |
      | Placement/<object> | ValidatingAdmissionPolicy '{web}' with binding '{web}' denied |
    When the policy on the hub that refuses the Works of placement "web" is deleted
    Then placement "web" becomes available on "member-1"
    And the diagnosis finds nothing
    And a change to the resources of placement "web" arrives on "member-1"

    Examples:
      | placement                  | object          |
      | a cluster-scoped placement | {web}           |
      | a namespaced placement     | {web}-app/{web} |
