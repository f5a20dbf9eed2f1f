@kubefleet @takes-200s
Feature: The network between a member and the hub fails
  No guide describes this. The member's agent runs and its token is valid, but what it sends doesn't arrive, or the answers don't. All that
  the hub can tell is that heartbeats are missing: the MemberCluster stays Joined, and placements say "being applied" forever. As soon as the
  network works again, the agent connects again by itself (measured on v0.1.2; docs/resilience.md).

  Background:
    Given a member "east" of its own, on a network that can fail
    And a placement "first" has put its resources on "east"

  # A new Work whose agent hasn't heard of its own AppliedWork fails once (KF-AP-009, docs/controllers.md).
  @disruptive @KF-MC-001 @KF-AP-001 @passes:KF-AP-009
  Scenario Outline: The network <fails>
    When the network between member "east" and the hub <fails>
    And a placement "second" selects "east"
    Then placement "second" reports
      | on   | condition        | status | reason           |
      |      | WorkSynchronized | True   | WorkSynchronized |
      |      | Applied          | False  | ApplyFailed      |
      | east | Applied          | False  | ApplyInProgress  |
    And within 200 seconds the diagnosis of member "east" is KF-MC-001
      | object               | value       |
      | MemberCluster/{east} | Joined=True |
    And the diagnosis of placement "second" is KF-AP-001 for "east", because of KF-MC-001
    And placement "first" still says that it is available
    When the network between member "east" and the hub works again
    Then placement "second" becomes available on "east"
    # The next heartbeat comes when the agent's backoff has ended: after at most as long again as the failure has lasted.
    And within 300 seconds the diagnosis finds nothing
    And a change to the resources of placement "first" arrives on "east"

    Examples:
      | fails                      |
      | loses everything           |
      | loses what the agent sends |
      | loses what the hub sends   |
      | refuses connections        |
      | resets connections         |

  # The twins: a network that is bad, and good enough.
  @disruptive
  Scenario Outline: The network <is bad>
    When the network between member "east" and the hub <is bad>
    And a placement "second" selects "east"
    Then the diagnosis finds nothing while placement "second" becomes available on "east"
    And a change to the resources of placement "first" arrives on "east"
    And the diagnosis finds nothing

    Examples:
      | is bad                                             |
      | takes 1000 ms longer each way, give or take 500 ms |
      | passes 20 kB/s                                     |
      | closes each connection after 50 kB                 |
