@kubefleet
Feature: WorkSynchronized of a ResourcePlacement is False
  The guide "Work Synchronization Failure TSG", section "General Notes": for a ResourcePlacement the investigation is
  the same, and its Work is in the member's namespace too.

  # Once the namespace is gone, it stays away until the hub-agent's next attempt: KF-WS-007 for some seconds.
  @disruptive @takes-130s @KF-WS-001 @passes:KF-WS-007
  @guide:work-synchronized/condition @guide:work-synchronized/terminating-namespace @guide:work-synchronized/general-notes
  @guide:azure-work-synchronized/sample @guide:azure-work-synchronized/symptoms
  @guide:azure-work-synchronized/general-notes
  @guide:work-synchronized/resolution/other-cluster @guide:azure-work-synchronized/resolution/other-cluster
  @guide:work-synchronized/resolution/delete-placement @guide:azure-work-synchronized/resolution/delete-placement
  Scenario: The member's namespace is being deleted, and a ResourcePlacement can't get through
    Given a member "east" of its own
    And a namespaced placement "first" has put its resources on "east"
    When the hub's namespace of member "east" is deleted while it holds a Work
    And a namespaced placement "second" selects "east"
    And a namespaced placement "third" selects "east"
    Then placement "second" reports
      | on   | condition        | status | reason                    | message                                                                                      |
      |      | Scheduled        | True   | SchedulingPolicyFulfilled |                                                                                              |
      |      | RolloutStarted   | True   | RolloutStarted            |                                                                                              |
      |      | Overridden       | True   | NoOverrideSpecified       |                                                                                              |
      |      | WorkSynchronized | False  | WorkNotSynchronizedYet    | 1 cluster(s) which have not finished creating or updating work(s) yet                        |
      |      | Applied          | absent |                           |                                                                                              |
      | east | Scheduled        | True   | Scheduled                 |                                                                                              |
      | east | RolloutStarted   | True   | RolloutStarted            |                                                                                              |
      | east | Overridden       | True   | NoOverrideSpecified       |                                                                                              |
      | east | WorkSynchronized | False  | SyncWorkFailed            | unable to create new content in namespace fleet-member-{east} because it is being terminated |
    And the binding of placement "second" for "east" reports
      | condition        | status | reason         | message                                   |
      | WorkSynchronized | False  | SyncWorkFailed | "{second}-app.{second}-work" is forbidden: unable to create new content in namespace fleet-member-{east} |
    And the hub's namespace of member "east" reports
      | condition                    | status | reason               | message                             |
      | NamespaceContentRemaining    | True   | SomeResourcesRemain  | works.placement.kubernetes-fleet.io |
      | NamespaceFinalizersRemaining | True   | SomeFinalizersRemain | kubernetes-fleet.io/work-cleanup    |
    And the diagnosis of placement "second" is KF-WS-001 for "east"
      | object                                  | value                             |
      | ResourcePlacement/{second}-app/{second} | SyncWorkFailed                    |
      | Namespace/fleet-member-{east}           | NamespaceFinalizersRemaining=True |
    And the resources of placement "first" are gone from "east"
    # Another cluster.
    When placement "second" selects "member-1" instead
    Then placement "second" becomes available on "member-1"
    And a change to the resources of placement "second" arrives on "member-1"
    # Or the placement is deleted.
    When placement "second" is deleted
    Then no binding and no Work of placement "second" is left
    And the resources of placement "second" are gone from "member-1"
    # Or what holds the namespace is released.
    When the Works that hold the hub's namespace of member "east" are released
    Then the hub's namespace of member "east" is back
    And placement "third" becomes available on "east"
    And placement "first" becomes available on "east"
    And the diagnosis finds nothing
    And a change to the resources of placement "third" arrives on "east"
    And a change to the resources of placement "first" arrives on "east"
