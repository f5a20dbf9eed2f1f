@kubefleet @takes-120s
Feature: Something isn't well, and no known cause fits
  What isn't well for longer than is usual is never left out, whether or not its cause is known.

  @KF-XX-001
  Scenario: A placement that is deleted doesn't go
    Given a placement "web" has put its resources on "member-1"
    And somebody's finalizer holds placement "web"
    When placement "web" is deleted
    # A deletion that began some seconds ago is on its way.
    Then the diagnosis finds nothing
    And within 90 seconds the diagnosis of placement "web" is KF-XX-001
      | object                         | value               |
      | ClusterResourcePlacement/{web} |                     |
      | ClusterResourcePlacement/{web} | example.com/protect |
    When somebody's finalizer releases placement "web"
    Then no binding and no Work of placement "web" is left
    And the diagnosis finds nothing
