@kubefleet
Feature: Which placement put this object here?
  `fleetdrill who` follows an object on a member to its placement: the AppliedWork that owns the object, the Work on the hub, the binding,
  the resource snapshot and the overrides.

  @healthy
  Scenario Outline: An object of <placement> leads to its Work, binding and snapshot
    Given <placement> "web" has put its resources on "member-1"
    Then the origin of object "ConfigMap/{web}-app/settings" of "member-1" has
      | field                        | value                                    |
      | exists                       | true                                     |
      | placedBy.0.appliedWork       | AppliedWork/*                            |
      | placedBy.0.work              | Work/fleet-member-{member-1}/*           |
      | placedBy.0.workExists        | true                                     |
      | placedBy.0.placement         | <path>/{web}                             |
      | placedBy.0.placementExists   | true                                     |
      | placedBy.0.binding           | <binding>/{web}-{member-1}-*             |
      | placedBy.0.resourceSnapshot  | <snapshot>/{web}-*                       |
      | placedBy.0.overrides         | absent                                   |
      | placedBy.0.manifest.status   | True                                     |
      | writers.0.manager            | work-api-agent                           |
      | wantedBy                     | absent                                   |

    Examples:
      | placement                  | path                            | binding                              | snapshot                                |
      | a cluster-scoped placement | ClusterResourcePlacement        | ClusterResourceBinding               | ClusterResourceSnapshot                 |
      | a namespaced placement     | ResourcePlacement/{web}-app     | ResourceBinding/{web}-app            | ResourceSnapshot/{web}-app              |

  @healthy
  Scenario: An object that an override has changed leads to the override
    Given a placement "web" has put its resources on "member-1"
    When an override "colour" of placement "web" has the rule '{"clusterSelector": {"clusterSelectorTerms": []}, "jsonPatchOverrides": [{"op": "add", "path": "/data/colour", "value": "blue"}]}'
    Then the origin of object "ConfigMap/{web}-app/settings" of "member-1" has
      | field                  | value                                           |
      | placedBy.0.overrides.0 | ResourceOverrideSnapshot/{web}-app/{colour}-0   |

  @healthy
  Scenario: An object in an envelope leads to the envelope
    Given a placement "web" has put its resources on "member-1"
    When the resources of placement "web" include a ResourceEnvelope with '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"wrapped","namespace":"{web}-app"}}'
    Then the origin of object "ConfigMap/{web}-app/wrapped" of "member-1" has
      | field                | value                                 |
      | placedBy.0.placement | ClusterResourcePlacement/{web}        |
      | placedBy.0.envelope  | ResourceEnvelope/{web}-app/envelope   |

  @KF-AP-002
  Scenario: An object that was there before is nobody's in the fleet
    Given "member-1" has a ConfigMap already where placement "web" will put one
    And a placement "web" selects "member-1" and applies with '{"whenToTakeOver": "Never"}'
    Then placement "web" reports
      | on       | condition | status | reason                    |
      | member-1 | Applied   | False  | NotAllWorkHaveBeenApplied |
    And the diagnosis of placement "web" is KF-AP-002 for "member-1"
    And the origin of object "ConfigMap/{web}-app/settings" of "member-1" has
      | field                      | value                          |
      | exists                     | true                           |
      | placedBy                   | absent                         |
      | wantedBy.0.placement       | ClusterResourcePlacement/{web} |
      | wantedBy.0.manifest.status | False                          |
      | wantedBy.0.manifest.reason | NotTakenOver                   |
    When placement "web" gets '{"strategy": {"applyStrategy": {"whenToTakeOver": "Always"}}}'
    Then placement "web" becomes available on "member-1"
    And the origin of object "ConfigMap/{web}-app/settings" of "member-1" has
      | field                | value                          |
      | placedBy.0.placement | ClusterResourcePlacement/{web} |
      | wantedBy             | absent                         |

  @healthy
  Scenario: An object that the member's administrator has made leads to no placement
    Given the administrator of "member-1" applies
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: own
      data:
        colour: blue
      """
    Then the origin of object "ConfigMap/{apps}/own" of "member-1" has
      | field             | value      |
      | exists            | true       |
      | placedBy          | absent     |
      | wantedBy          | absent     |
      | writers.0.manager | fleetdrill |
