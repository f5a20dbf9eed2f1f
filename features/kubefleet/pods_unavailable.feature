@kubefleet @pods
Feature: A placement isn't available because Pods on the member don't run
  The guide "Availability Failure TSG" lists what may keep resources from becoming available. The placement says the same of all of it:
  `Manifest is not yet available`. What is wrong stands in the objects on the member.

  @takes-60s
  Scenario Outline: A Deployment of <placement> <fault>
    Given member "member-1" has pods
    And <placement> "web" has put its resources on "member-1"
    When the resources of placement "web" also include
      """
      apiVersion: apps/v1
      kind: Deployment
      metadata: {name: app}
      spec:
        selector: {matchLabels: {app: app}}
        template:
          metadata: {labels: {app: app}}
          spec: <pod>
      """
    Then placement "web" reports
      | on       | condition | status | reason                  |
      |          | Applied   | True   | ApplySucceeded          |
      |          | Available | False  | ResourceNotAvailableYet |
      | member-1 | Applied   | True   | AllWorkHaveBeenApplied  |
      | member-1 | Available | False  | NotAllWorkAreAvailable  |
    And placement "web" lists as failed
      | on       | object         | condition | status | reason                  |
      | member-1 | Deployment app | Available | False  | ManifestNotAvailableYet |
    And the diagnosis of placement "web" is <code> for "member-1"
      | object             | value                        |
      | ResourcePlacement/ | NotAllWorkAreAvailable       |
      | ResourcePlacement/ | ManifestNotAvailableYet      |
      | Work/              | SomeManifestsAreNotAvailable |
      | Pod/{web}-app/app- | <says>                       |
      | Pod/{web}-app/app- | <rests on>                   |
    When object "Deployment/{web}-app/app" of the hub gets '{"template": {"spec": <corrected>}}'
    Then placement "web" becomes available on "member-1"
    And a change to the resources of placement "web" arrives on "member-1"
    And the diagnosis finds nothing

    @KF-AV-004
    @guide:placement-available/causes/capacity @guide:placement-available/resolution/capacity
    @guide:azure-placement-available/causes/capacity @guide:azure-placement-available/resolution/capacity
    Examples:
      | placement                  | fault                                | code      | says             | rests on         | pod                                                                                        | corrected                                                                                       |
      | a cluster-scoped placement | asks for more CPUs than any node has | KF-AV-004 | Insufficient cpu | {"cpu":"5k"}   | {containers: [{name: app, image: "nginx:1.29", resources: {requests: {cpu: "5000"}}}]} | {"containers": [{"name": "app", "image": "nginx:1.29", "resources": {"requests": {"cpu": "1"}}}]} |
      | a namespaced placement     | asks for more CPUs than any node has | KF-AV-004 | Insufficient cpu | {"cpu":"5k"}   | {containers: [{name: app, image: "nginx:1.29", resources: {requests: {cpu: "5000"}}}]} | {"containers": [{"name": "app", "image": "nginx:1.29", "resources": {"requests": {"cpu": "1"}}}]} |

    @KF-AV-005
    @guide:placement-available/resolution/configured-correctly @guide:azure-placement-available/resolution/configured-correctly
    Examples:
      | placement                  | fault                                 | code      | says                                     | rests on       | pod                                                                               | corrected              |
      | a cluster-scoped placement | asks for a node that the member lacks | KF-AV-005 | didn't match Pod's node affinity/selector | {"disk":"ssd"} | {nodeSelector: {disk: ssd}, containers: [{name: app, image: "nginx:1.29"}]} | {"nodeSelector": null} |
      | a namespaced placement     | asks for a node that the member lacks | KF-AV-005 | didn't match Pod's node affinity/selector | {"disk":"ssd"} | {nodeSelector: {disk: ssd}, containers: [{name: app, image: "nginx:1.29"}]} | {"nodeSelector": null} |

    @KF-AV-006
    @guide:placement-available/causes/missing @guide:azure-placement-available/causes/missing
    Examples:
      | placement                  | fault                                | code      | says                                                                    | rests on        | pod                                                                                                                                          | corrected                                                                                                                                                       |
      | a cluster-scoped placement | uses a ConfigMap that isn't there    | KF-AV-006 | CreateContainerConfigError: configmap "settings-absent" not found       | settings-absent | {containers: [{name: app, image: "nginx:1.29", env: [{name: COLOR, valueFrom: {configMapKeyRef: {name: settings-absent, key: revision}}}]}]} | {"containers": [{"name": "app", "image": "nginx:1.29", "env": [{"name": "COLOR", "valueFrom": {"configMapKeyRef": {"name": "settings", "key": "revision"}}}]}]} |
      | a namespaced placement     | uses a ConfigMap that isn't there    | KF-AV-006 | CreateContainerConfigError: configmap "settings-absent" not found       | settings-absent | {containers: [{name: app, image: "nginx:1.29", env: [{name: COLOR, valueFrom: {configMapKeyRef: {name: settings-absent, key: revision}}}]}]} | {"containers": [{"name": "app", "image": "nginx:1.29", "env": [{"name": "COLOR", "valueFrom": {"configMapKeyRef": {"name": "settings", "key": "revision"}}}]}]} |
      | a cluster-scoped placement | uses a Secret that isn't there       | KF-AV-006 | CreateContainerConfigError: secret "token-absent" not found             | token-absent    | {containers: [{name: app, image: "nginx:1.29", envFrom: [{secretRef: {name: token-absent}}]}]}                                               | {"containers": [{"name": "app", "image": "nginx:1.29"}]}                                                                                                        |
      | a namespaced placement     | uses a Secret that isn't there       | KF-AV-006 | CreateContainerConfigError: secret "token-absent" not found             | token-absent    | {containers: [{name: app, image: "nginx:1.29", envFrom: [{secretRef: {name: token-absent}}]}]}                                               | {"containers": [{"name": "app", "image": "nginx:1.29"}]}                                                                                                        |
      | a cluster-scoped placement | uses a volume claim that isn't there | KF-AV-006 | persistentvolumeclaim "data" not found                                  | data            | {volumes: [{name: disk, persistentVolumeClaim: {claimName: data}}], containers: [{name: app, image: "nginx:1.29"}]}                          | {"volumes": [{"name": "disk", "emptyDir": {}}]}                                                                                                                 |
      | a namespaced placement     | uses a volume claim that isn't there | KF-AV-006 | persistentvolumeclaim "data" not found                                  | data            | {volumes: [{name: disk, persistentVolumeClaim: {claimName: data}}], containers: [{name: app, image: "nginx:1.29"}]}                          | {"volumes": [{"name": "disk", "emptyDir": {}}]}                                                                                                                 |
      | a cluster-scoped placement | uses a key that its ConfigMap lacks  | KF-AV-006 | CreateContainerConfigError: couldn't find key color-absent in ConfigMap | color-absent    | {containers: [{name: app, image: "nginx:1.29", env: [{name: COLOR, valueFrom: {configMapKeyRef: {name: settings, key: color-absent}}}]}]}    | {"containers": [{"name": "app", "image": "nginx:1.29", "env": [{"name": "COLOR", "valueFrom": {"configMapKeyRef": {"name": "settings", "key": "revision"}}}]}]} |
      | a namespaced placement     | uses a key that its ConfigMap lacks  | KF-AV-006 | CreateContainerConfigError: couldn't find key color-absent in ConfigMap | color-absent    | {containers: [{name: app, image: "nginx:1.29", env: [{name: COLOR, valueFrom: {configMapKeyRef: {name: settings, key: color-absent}}}]}]}    | {"containers": [{"name": "app", "image": "nginx:1.29", "env": [{"name": "COLOR", "valueFrom": {"configMapKeyRef": {"name": "settings", "key": "revision"}}}]}]} |

  # The claim comes from somebody on the member, beside a volume for it.
  @KF-AV-006 @takes-60s
  @guide:placement-available/causes/missing @guide:azure-placement-available/causes/missing
  Scenario: A volume claim that Pods lack is made on the member
    Given member "member-1" has pods
    And a placement "web" has put its resources on "member-1"
    When the resources of placement "web" also include
      """
      apiVersion: apps/v1
      kind: Deployment
      metadata: {name: app}
      spec:
        selector: {matchLabels: {app: app}}
        template:
          metadata: {labels: {app: app}}
          spec: {volumes: [{name: disk, persistentVolumeClaim: {claimName: data}}], containers: [{name: app, image: "nginx:1.29"}]}
      """
    Then the diagnosis of placement "web" is KF-AV-006 for "member-1"
    When the administrator of "member-1" applies
      """
      apiVersion: v1
      kind: PersistentVolume
      metadata: {name: "{web}-data"}
      spec:
        capacity: {storage: 1Gi}
        accessModes: [ReadWriteOnce]
        persistentVolumeReclaimPolicy: Retain
        storageClassName: ""
        hostPath: {path: /data}
        claimRef: {namespace: "{web}-app", name: data}
      ---
      apiVersion: v1
      kind: PersistentVolumeClaim
      metadata: {name: data, namespace: "{web}-app"}
      spec:
        accessModes: [ReadWriteOnce]
        storageClassName: ""
        volumeName: "{web}-data"
        resources: {requests: {storage: 1Gi}}
      """
    Then placement "web" becomes available on "member-1"
    And the Pod of placement "web" on "member-1" runs
    And the diagnosis finds nothing

  @takes-60s @KF-AV-007
  @guide:placement-available/causes/quota @guide:azure-placement-available/causes/quota
  Scenario Outline: <limit> of the member refuses the Pods of <placement>
    Given member "member-1" has pods
    And <placement> "web" has put its resources on "member-1"
    And the administrator of "member-1" applies
      """
      apiVersion: v1
      kind: <kind>
      metadata: {name: small, namespace: "{web}-app"}
      spec: <spec>
      """
    When the resources of placement "web" also include
      """
      apiVersion: apps/v1
      kind: Deployment
      metadata: {name: app}
      spec:
        replicas: 2
        selector: {matchLabels: {app: app}}
        template:
          metadata: {labels: {app: app}}
          spec: {containers: [{name: app, image: "nginx:1.29", resources: {limits: {cpu: "200m"}, requests: {cpu: "100m"}}}]}
      """
    Then placement "web" reports
      | on       | condition | status | reason                 |
      | member-1 | Applied   | True   | AllWorkHaveBeenApplied |
      | member-1 | Available | False  | NotAllWorkAreAvailable |
    And the diagnosis of placement "web" is KF-AV-007 for "member-1"
      | object                   | value                        |
      | ResourcePlacement/       | NotAllWorkAreAvailable       |
      | ResourcePlacement/       | ManifestNotAvailableYet      |
      | Work/                    | SomeManifestsAreNotAvailable |
      | Deployment/{web}-app/app | <says>                       |
      | <kind>/{web}-app/small   | <rests on>                   |
    When object "Deployment/{web}-app/app" of the hub gets '{"template": {"spec": {"containers": [{"name": "app", "image": "nginx:1.29", "resources": {"limits": {"cpu": "20m"}, "requests": {"cpu": "20m"}}}]}}}'
    Then placement "web" becomes available on "member-1"
    And a change to the resources of placement "web" arrives on "member-1"
    And the diagnosis finds nothing

    Examples:
      | placement                  | limit         | kind          | spec                                              | says                                    | rests on                |
      | a cluster-scoped placement | A quota       | ResourceQuota | {hard: {requests.cpu: "150m"}}                    | exceeded quota: small                   | {"requests.cpu":"150m"} |
      | a namespaced placement     | A quota       | ResourceQuota | {hard: {requests.cpu: "150m"}}                    | exceeded quota: small                   | {"requests.cpu":"150m"} |
      | a cluster-scoped placement | A limit range | LimitRange    | {limits: [{type: Container, max: {cpu: "100m"}}]} | maximum cpu usage per Container is 100m | "max":{"cpu":"100m"}    |
      | a namespaced placement     | A limit range | LimitRange    | {limits: [{type: Container, max: {cpu: "100m"}}]} | maximum cpu usage per Container is 100m | "max":{"cpu":"100m"}    |

  # With minReadySeconds a container that runs for a second isn't available. Without, the placement may see it at that moment.
  @takes-60s @KF-AV-008
  Scenario Outline: A container of <placement> crashes
    Given member "member-1" has simulated pods
    And <placement> "web" has put its resources on "member-1"
    When the resources of placement "web" also include
      """
      apiVersion: apps/v1
      kind: Deployment
      metadata: {name: app}
      spec:
        minReadySeconds: 5
        selector: {matchLabels: {app: app}}
        template:
          metadata: {labels: {app: app}}
          spec: {containers: [{name: migrate, image: "nginx:1.29", env: [{name: DATABASE_URL, value: ""}]}]}
      """
    Then placement "web" reports
      | on       | condition | status | reason                 |
      | member-1 | Applied   | True   | AllWorkHaveBeenApplied |
      | member-1 | Available | False  | NotAllWorkAreAvailable |
    And the Pod of placement "web" on "member-1" waits with "CrashLoopBackOff"
    And the diagnosis of placement "web" is KF-AV-008 for "member-1"
      | object             | value                        |
      | ResourcePlacement/ | NotAllWorkAreAvailable       |
      | ResourcePlacement/ | ManifestNotAvailableYet      |
      | Work/              | SomeManifestsAreNotAvailable |
      | Pod/{web}-app/app- | 1                            |
    When object "Deployment/{web}-app/app" of the hub gets '{"template": {"spec": {"containers": [{"name": "migrate", "image": "nginx:1.29", "env": [{"name": "DATABASE_URL", "value": "postgres://db/shop"}]}]}}}'
    Then placement "web" becomes available on "member-1"
    And a change to the resources of placement "web" arrives on "member-1"
    And the diagnosis finds nothing

    Examples:
      | placement                  |
      | a cluster-scoped placement |
      | a namespaced placement     |

  @takes-60s @KF-AV-009
  Scenario Outline: The readiness probe of a container of <placement> asks another port
    Given member "member-1" has simulated pods
    And <placement> "web" has put its resources on "member-1"
    When the resources of placement "web" also include
      """
      apiVersion: apps/v1
      kind: Deployment
      metadata: {name: app}
      spec:
        selector: {matchLabels: {app: app}}
        template:
          metadata: {labels: {app: app}}
          spec: {containers: [{name: app, image: "nginx:1.29", ports: [{containerPort: 8080}], readinessProbe: {httpGet: {port: 8081}}}]}
      """
    Then placement "web" reports
      | on       | condition | status | reason                 |
      | member-1 | Applied   | True   | AllWorkHaveBeenApplied |
      | member-1 | Available | False  | NotAllWorkAreAvailable |
    And "kubectl get pods" on "member-1" shows of placement "web"
      | NAME  | READY | STATUS  | RESTARTS | AGE |
      | app-* | 0/1   | Running | 0        | *   |
    # Each Pod is so for a while.
    And the diagnosis finds nothing
    When placement "web" hasn't been available on "member-1" for five minutes
    Then the diagnosis of placement "web" is KF-AV-009 for "member-1"
      | object             | value                        |
      | ResourcePlacement/ | NotAllWorkAreAvailable       |
      | ResourcePlacement/ | ManifestNotAvailableYet      |
      | Work/              | SomeManifestsAreNotAvailable |
      | Pod/{web}-app/app- | ContainersNotReady           |
      | Pod/{web}-app/app- | "port":8081                  |
    When object "Deployment/{web}-app/app" of the hub gets '{"template": {"spec": {"containers": [{"name": "app", "image": "nginx:1.29", "ports": [{"containerPort": 8080}], "readinessProbe": {"httpGet": {"port": 8080}}}]}}}'
    Then placement "web" becomes available on "member-1"
    And a change to the resources of placement "web" arrives on "member-1"
    And the diagnosis finds nothing

    Examples:
      | placement                  |
      | a cluster-scoped placement |
      | a namespaced placement     |

  @takes-60s @KF-AV-010
  Scenario Outline: A Deployment of <placement> is paused
    Given member "member-1" has pods
    And <placement> "web" has put its resources on "member-1"
    When the resources of placement "web" also include
      """
      apiVersion: apps/v1
      kind: Deployment
      metadata: {name: app}
      spec:
        paused: true
        selector: {matchLabels: {app: app}}
        template:
          metadata: {labels: {app: app}}
          spec: {containers: [{name: app, image: "nginx:1.29"}]}
      """
    Then placement "web" reports
      | on       | condition | status | reason                 |
      | member-1 | Applied   | True   | AllWorkHaveBeenApplied |
      | member-1 | Available | False  | NotAllWorkAreAvailable |
    And the diagnosis of placement "web" is KF-AV-010 for "member-1"
      | object                   | value                        |
      | ResourcePlacement/       | NotAllWorkAreAvailable       |
      | ResourcePlacement/       | ManifestNotAvailableYet      |
      | Work/                    | SomeManifestsAreNotAvailable |
      | Deployment/{web}-app/app | true                         |
    When object "Deployment/{web}-app/app" of the hub gets '{"paused": false}'
    Then placement "web" becomes available on "member-1"
    And a change to the resources of placement "web" arrives on "member-1"
    And the diagnosis finds nothing

    Examples:
      | placement                  |
      | a cluster-scoped placement |
      | a namespaced placement     |

  # The healthy twin of all of them: a quota with room, a probe of the right port, a node that fits, objects that are there.
  @healthy
  Scenario Outline: Nothing keeps the Pods of <placement> from running
    Given member "member-1" has simulated pods
    And <placement> "web" has put its resources on "member-1"
    And the administrator of "member-1" applies
      """
      apiVersion: v1
      kind: ResourceQuota
      metadata: {name: large, namespace: "{web}-app"}
      spec: {hard: {requests.cpu: "10", pods: "10"}}
      """
    When the resources of placement "web" also include
      """
      apiVersion: apps/v1
      kind: Deployment
      metadata: {name: app}
      spec:
        replicas: 2
        selector: {matchLabels: {app: app}}
        template:
          metadata: {labels: {app: app}}
          spec:
            nodeSelector: {kubernetes.io/os: linux}
            containers:
              - name: migrate
                image: nginx:1.29
                resources: {requests: {cpu: "1"}}
                env:
                  - {name: DATABASE_URL, value: "postgres://db/shop"}
                  - {name: COLOR, valueFrom: {configMapKeyRef: {name: settings, key: color, optional: true}}}
                ports: [{name: web, containerPort: 8080}]
                readinessProbe: {httpGet: {port: web}}
      """
    Then the diagnosis finds nothing while placement "web" becomes available on "member-1"
    And the diagnosis finds nothing

    Examples:
      | placement                  |
      | a cluster-scoped placement |
      | a namespaced placement     |
