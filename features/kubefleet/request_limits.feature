@kubefleet @disruptive
Feature: The hub's API server leaves hardly a share to an agent
  No guide describes this. A FlowSchema and its priority level (API Priority and Fairness) have no share for an agent: the API server takes one of
  its requests at a time, and refuses what is more with 429. The agents get over it: client-go tries again after a second, ten times, before
  it gives up (measured on v0.1.2; docs/resilience.md).

  @healthy @takes-90s
  Scenario Outline: The hub takes one request at a time of <agent>
    Given a fleet of its own with 1 member
    And a placement "first" has put its resources on "member-1"
    When the hub's API server takes one request at a time of <agent>
    # The API server was restarted: the change shows that the hub-agent has its informer caches again.
    Then a change to the resources of placement "first" arrives on "member-1"
    When a placement "second" selects "member-1"
    Then placement "second" becomes available on "member-1"
    And within 120 seconds the diagnosis finds nothing
    When the hub's API server takes all requests of <agent>
    Then a change to the resources of placement "second" arrives on "member-1"
    And the diagnosis finds nothing

    Examples:
      | agent                          |
      | the agent of member "member-1" |
      | the hub-agent                  |
