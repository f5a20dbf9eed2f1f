@argocd @AR-OS-007
Feature: A manifest has a field that the schema doesn't have, and Argo CD's server-side apply refuses it
  A client-side apply drops such a field, and the Application is OutOfSync for ever. A server-side apply fails: in the sync if the object
  isn't there yet, and in each comparison if it is.

  Scenario: A custom resource is applied on the server side
    Given the administrator of "member-2" applies
      """
      apiVersion: apiextensions.k8s.io/v1
      kind: CustomResourceDefinition
      metadata:
        name: paints.example-{suffix}.io
      spec:
        group: example-{suffix}.io
        scope: Namespaced
        names: {kind: Paint, plural: paints, singular: paint, listKind: PaintList}
        versions:
          - name: v1
            served: true
            storage: true
            schema:
              openAPIV3Schema:
                type: object
                properties:
                  spec:
                    type: object
                    properties:
                      colour: {type: string}
      """
    And a repository "web" with "paint.yaml"
      """
      apiVersion: example-{suffix}.io/v1
      kind: Paint
      metadata:
        name: blue
      spec:
        color: blue
      """
    And an application "web" of repository "web" for "member-2" with '{"syncPolicy": {"syncOptions": ["ServerSideApply=true"]}}'
    When application "web" syncs
    Then the sync of application "web" fails
    And the sync of application "web" reports of its resources
      | resource   | status     | phase  | message                                  |
      | Paint/blue | SyncFailed | Failed | .spec.color: field not declared in schema |
    And the diagnosis of application "web" is AR-OS-007
      | object                   | value                                     |
      | Application/argocd/{web} | .spec.color: field not declared in schema |
      | Application/argocd/{web} | ServerSideApply=true                      |
    When "paint.yaml" of repository "web" is corrected to
      """
      apiVersion: example-{suffix}.io/v1
      kind: Paint
      metadata:
        name: blue
      spec:
        colour: blue
      """
    And application "web" syncs
    Then the sync of application "web" succeeds
    And application "web" is Synced and Healthy
    And the diagnosis finds nothing

  Scenario: A new commit adds the field to what was applied on the server side
    Given a repository "web" with "settings.yaml"
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: settings
      data: {colour: blue}
      """
    And an application "web" of repository "web" for "member-1" with '{"syncPolicy": {"syncOptions": ["ServerSideApply=true"]}}'
    When application "web" syncs
    Then the sync of application "web" succeeds
    And application "web" is Synced and Healthy
    When "settings.yaml" of repository "web" becomes
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: settings
      data: {colour: blue}
      datum: {size: large}
      """
    And application "web" is refreshed
    # Argo CD doesn't say which object it is.
    Then application "web" reports
      | field           | value                                                         |
      | sync            | Unknown                                                       |
      | health          | Healthy                                                       |
      | ComparisonError | error building typed value from config resource: .datum: field not declared in schema |
    And the diagnosis of application "web" is AR-OS-007
      | object                    | value                                |
      | Application/argocd/{web}  | .datum: field not declared in schema |
      | Application/argocd/{web}  | ServerSideApply=true                 |
      | ConfigMap/{apps}/settings | (absent)                             |
    When "settings.yaml" of repository "web" is corrected to
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: settings
      data: {colour: blue, size: large}
      """
    And application "web" syncs
    Then the sync of application "web" succeeds
    And application "web" is Synced and Healthy
    And the diagnosis finds nothing

  @disruptive
  Scenario: Only the comparison is on the server side
    Given a fleet of its own with 1 member and Argo CD
    And a repository "web" with "settings.yaml"
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: settings
      data: {colour: blue}
      datum: {size: large}
      """
    And an application "web" of repository "web" for "member-1"
    When the administrator of the hub applies
      """
      apiVersion: argoproj.io/v1alpha1
      kind: Application
      metadata:
        name: web-{suffix}
        namespace: argocd
        annotations:
          argocd.argoproj.io/compare-options: ServerSideDiff=true
      """
    And application "web" syncs
    # The apply is on the client's side, and drops the field.
    Then the sync of application "web" succeeds
    When application "web" is hard-refreshed
    Then application "web" reports
      | field           | value                                                                                   |
      | sync            | Unknown                                                                                 |
      | health          | Healthy                                                                                 |
      | ComparisonError | error running server side apply in dryrun mode for resource ConfigMap/settings          |
      | ComparisonError | .datum: field not declared in schema                                                    |
    And the diagnosis of application "web" is AR-OS-007
      | object                    | value                                |
      | Application/argocd/{web}  | .datum: field not declared in schema |
      | Application/argocd/{web}  | ServerSideDiff=true                  |
      | ConfigMap/{apps}/settings | (absent)                             |
    When "settings.yaml" of repository "web" is corrected to
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: settings
      data: {colour: blue, size: large}
      """
    And application "web" syncs
    Then the sync of application "web" succeeds
    And application "web" is Synced and Healthy
    And the diagnosis finds nothing

  @healthy
  Scenario: The schema has each field of a manifest that is applied on the server side
    Given a repository "web" with "settings.yaml"
      """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: settings
      data: {datum: large}
      """
    And an application "web" of repository "web" for "member-1" with '{"syncPolicy": {"syncOptions": ["ServerSideApply=true"]}}'
    When application "web" syncs
    Then the sync of application "web" succeeds
    And application "web" is Synced and Healthy
    When application "web" is refreshed
    Then application "web" is Synced and Healthy
    And the diagnosis finds nothing
