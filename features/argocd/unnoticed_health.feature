@argocd
Feature: A custom resource isn't ready, and the Application is healthy
  Argo CD computes health for the kinds that it has a check for. A custom resource of another kind has no health, and doesn't count.

  @AR-HL-007
  Scenario: A custom resource without a check isn't ready
    Given the administrator of "member-2" applies
      """
      apiVersion: apiextensions.k8s.io/v1
      kind: CustomResourceDefinition
      metadata:
        name: boilers.example-{suffix}.io
      spec:
        group: example-{suffix}.io
        scope: Namespaced
        names: {kind: Boiler, plural: boilers, singular: boiler, listKind: BoilerList}
        versions:
          - name: v1
            served: true
            storage: true
            schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
      """
    And a repository "web" with "boiler.yaml"
      """
      apiVersion: example-{suffix}.io/v1
      kind: Boiler
      metadata:
        name: north
      """
    And an application "web" of repository "web" for "member-2"
    When application "web" syncs
    Then the sync of application "web" succeeds
    # As the controller of such objects does.
    When the administrator of "member-2" applies
      """
      apiVersion: example-{suffix}.io/v1
      kind: Boiler
      metadata:
        name: north
      status:
        conditions:
          - {type: Ready, status: "False", reason: NoGas, message: the pipe is empty, lastTransitionTime: "2026-01-08T11:50:00Z"}
      """
    And application "web" is refreshed
    Then application "web" is Synced and Healthy
    And the diagnosis of application "web" is AR-HL-007
      | object                   | value                    |
      | Application/argocd/{web} | Healthy                  |
      | Boiler/{apps}/north      | NoGas: the pipe is empty |
    When the administrator of "member-2" applies
      """
      apiVersion: example-{suffix}.io/v1
      kind: Boiler
      metadata:
        name: north
      status:
        conditions:
          - {type: Ready, status: "True", reason: Hot, message: "", lastTransitionTime: "2026-01-08T12:00:00Z"}
      """
    Then application "web" is Synced and Healthy
    And the diagnosis finds nothing

  @disruptive @AR-HL-007
  Scenario: Argo CD gets a check for a custom resource that isn't ready
    # The check that repairs it counts for all Applications.
    Given a fleet of its own with 1 member and Argo CD
    And the administrator of "member-1" applies
      """
      apiVersion: apiextensions.k8s.io/v1
      kind: CustomResourceDefinition
      metadata:
        name: valves.example.io
      spec:
        group: example.io
        scope: Namespaced
        names: {kind: Valve, plural: valves, singular: valve, listKind: ValveList}
        versions:
          - name: v1
            served: true
            storage: true
            schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
      """
    And a repository "web" with "valve.yaml"
      """
      apiVersion: example.io/v1
      kind: Valve
      metadata:
        name: north
      spec:
        pressure: high
      """
    And an application "web" of repository "web" for "member-1"
    When application "web" syncs
    Then the sync of application "web" succeeds
    # As the controller of such objects does.
    When the administrator of "member-1" applies
      """
      apiVersion: example.io/v1
      kind: Valve
      metadata:
        name: north
      status:
        conditions:
          - type: Ready
            status: "False"
            reason: NoPressure
            message: the pipe is empty
            lastTransitionTime: "2026-01-08T11:50:00Z"
      """
    And application "web" is refreshed
    Then application "web" lists its resources
      | resource    | status |
      | Valve/north | Synced |
    And application "web" is Synced and Healthy
    And the diagnosis of application "web" is AR-HL-007
      | object                   | value                         |
      | Application/argocd/{web} | Healthy                       |
      | Valve/{apps}/north       | NoPressure: the pipe is empty |
    When the setting "resource.customizations.health.example.io_Valve" of Argo CD is "hs = {status = 'Progressing'}; for _, c in ipairs((obj.status or {}).conditions or {}) do if c.type == 'Ready' then hs.status = c.status == 'True' and 'Healthy' or 'Degraded' end end; return hs"
    And application "web" is hard-refreshed
    Then application "web" reports
      | field  | value    |
      | sync   | Synced   |
      | health | Degraded |
    And the diagnosis of application "web" is AR-HL-003
      | object                   | value                         |
      | Application/argocd/{web} | Degraded                      |
      | Valve/{apps}/north       | NoPressure: the pipe is empty |
    When the administrator of "member-1" applies
      """
      apiVersion: example.io/v1
      kind: Valve
      metadata:
        name: north
      status:
        conditions:
          - {type: Ready, status: "True", reason: Open, message: "", lastTransitionTime: "2026-01-08T12:00:00Z"}
      """
    Then application "web" is Synced and Healthy
    And the diagnosis finds nothing

  @healthy
  Scenario: A custom resource without a check is ready
    Given the administrator of "member-2" applies
      """
      apiVersion: apiextensions.k8s.io/v1
      kind: CustomResourceDefinition
      metadata:
        name: pumps.example-{suffix}.io
      spec:
        group: example-{suffix}.io
        scope: Namespaced
        names: {kind: Pump, plural: pumps, singular: pump, listKind: PumpList}
        versions:
          - name: v1
            served: true
            storage: true
            schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
      """
    And a repository "web" with "pump.yaml"
      """
      apiVersion: example-{suffix}.io/v1
      kind: Pump
      metadata:
        name: south
      """
    And an application "web" of repository "web" for "member-2"
    When application "web" syncs
    Then the sync of application "web" succeeds
    When the administrator of "member-2" applies
      """
      apiVersion: example-{suffix}.io/v1
      kind: Pump
      metadata:
        name: south
      status:
        conditions:
          - {type: Ready, status: "True", reason: Runs, message: "", lastTransitionTime: "2026-01-08T11:50:00Z"}
      """
    And application "web" is refreshed
    Then application "web" is Synced and Healthy
    And the diagnosis finds nothing
