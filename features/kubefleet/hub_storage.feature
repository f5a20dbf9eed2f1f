@kubefleet @disruptive
Feature: The hub takes no writes
  The etcd of the hub has run out of space. The API server goes on to answer reads, and everything looks as before: no condition changes,
  because nobody can write one. No guide describes this.

  @KF-HA-004 @takes-150s
  Scenario: The hub's etcd has run out of space
    Given a fleet of its own with 1 member
    And a placement "web" has put its resources on "member-1"
    When the hub's etcd runs out of space
    Then the hub takes no writes: "etcdserver: mvcc: database space exceeded"
    And placement "web" still says that it is available
    And within 150 seconds the diagnosis is one finding KF-HA-004 about 1 objects
    # Space alone is not enough: etcd keeps its alarm until somebody disarms it.
    When the hub's etcd has space again
    Then a change to the resources of placement "web" arrives on "member-1"
    # The API server renews its lease every 10 s.
    And placement "web" reports for 15 seconds
      | condition | status |
      | Available | True   |
    And the diagnosis finds nothing

  # The twin: etcd is restarted, with its usual quota.
  @healthy @takes-60s
  Scenario: The hub's etcd is restarted
    Given a fleet of its own with 1 member
    And a placement "web" has put its resources on "member-1"
    When the hub's etcd has space again
    Then a change to the resources of placement "web" arrives on "member-1"
    And the diagnosis finds nothing

  # Behind, and not broken. On a local fleet, the members have the same etcd.
  @healthy @takes-60s
  Scenario: The hub's etcd is slow
    Given a fleet of its own with 1 member
    And a placement "first" has put its resources on "member-1"
    When the hub's etcd gets slow
    And a placement "web" selects "member-1"
    Then the diagnosis finds nothing while placement "web" becomes available on "member-1"
    When the hub's etcd is as fast as before
    Then a change to the resources of placement "first" arrives on "member-1"
    And the diagnosis finds nothing

  @healthy @takes-60s
  Scenario: The hub's etcd is defragmented while it is used
    Given a fleet of its own with 1 member
    And a placement "first" has put its resources on "member-1"
    When a placement "web" selects "member-1"
    And the hub's etcd is defragmented
    Then the diagnosis finds nothing while placement "web" becomes available on "member-1"
    And a change to the resources of placement "first" arrives on "member-1"
    And the diagnosis finds nothing
