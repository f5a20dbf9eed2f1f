@kubefleet @disruptive @takes-90s
Feature: A cluster is restored from a backup
  The hub has its objects of some time ago again, or a member has. No guide describes this. The agents get over both by themselves, in seconds
  (measured on v0.1.2): a member gets the hub's present resources again. What a placement has put on members that is newer than the hub's
  backup stays there, if the hub-agent makes its Work again from its informer cache (docs/resilience.md). That depends on which objects it
  lists first. Only a diagnosis that reads everything finds it: KF-DL-006.

  Scenario: The hub is restored
    Given a fleet of its own with 1 member
    And a placement "kept" has put its resources on "member-1"
    And the hub is backed up
    And a placement "newer" has put its resources on "member-1"
    When the resources of placement "kept" change
    Then a change to the resources of placement "kept" arrives on "member-1"
    When the hub is restored from its backup
    Then the resources of placement "kept" are on "member-1"
    And placement "kept" becomes available on "member-1"
    And within 120 seconds the diagnosis finds nothing
    And a change to the resources of placement "kept" arrives on "member-1"

  Scenario: A member is restored
    Given a fleet of its own with 1 member
    And a placement "kept" has put its resources on "member-1"
    And "member-1" is backed up
    And a placement "newer" has put its resources on "member-1"
    When the resources of placement "kept" change
    Then a change to the resources of placement "kept" arrives on "member-1"
    When "member-1" is restored from its backup
    Then the resources of placement "kept" are on "member-1"
    And placement "kept" becomes available on "member-1"
    And placement "newer" becomes available on "member-1"
    And within 120 seconds the diagnosis finds nothing
    And a change to the resources of placement "newer" arrives on "member-1"
