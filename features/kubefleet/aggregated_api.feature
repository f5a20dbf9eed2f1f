@kubefleet @disruptive
Feature: An aggregated API doesn't answer
  No guide describes this. An APIService is left without the server that answered for it, such as a metrics server that was removed. The API server
  doesn't list all its APIs then. What is placed goes on working, and no namespace of that cluster can be deleted: Kubernetes' namespace controller
  doesn't know that nothing is left in it.

  @KF-DL-007 @takes-130s
  Scenario: An API of the hub keeps a member from leaving
    Given a fleet of its own with 2 members
    And a placement "web" has put its resources on "member-1" and "member-2"
    And the hub's API server has an aggregated API that doesn't answer
    Then a change to the resources of placement "web" arrives on "member-1" and "member-2"
    And the diagnosis finds nothing
    When member "member-1" is deleted
    Then member "member-1" is still leaving after 30 seconds
    And within 120 seconds the diagnosis of member "member-1" is KF-DL-007
      | object                            | value                                  |
      | Namespace/fleet-member-{member-1} | NamespaceDeletionDiscoveryFailure=True |
      | MemberCluster/{member-1}          | membercluster-finalizer                |
    When the hub's API server has that API no more
    Then member "member-1" has left
    And the diagnosis finds nothing

  @KF-DL-007 @takes-200s
  Scenario: An API of a member keeps the namespace of a deleted placement
    Given a member "east" of its own
    And a placement "web" has put its resources on "east"
    And the API server of member "east" has an aggregated API that doesn't answer
    Then a change to the resources of placement "web" arrives on "east"
    And the diagnosis finds nothing
    When placement "web" is deleted
    Then within 120 seconds the diagnosis of the Work of placement "web" for "east" is KF-DL-007
      | object                              | value                                  |
      | Work/fleet-member-{east}/{web}-work | work-cleanup                           |
      | Namespace/{web}-app                 | NamespaceDeletionDiscoveryFailure=True |
    When the API server of member "east" has that API no more
    Then no binding and no Work of placement "web" is left
    And the diagnosis finds nothing
