//! Bundles of large fleets, generated from a seed: as many members as placements, each placement on up to 100 of them.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;

use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};
use serde_json::{Value, json};

use crate::BenchError;

/// Time of all objects, in the past of [`TAKEN_AT`].
const SINCE: &str = "2026-01-08T10:00:00Z";
const TAKEN_AT: &str = "2026-01-08T12:00:00Z";
/// Heartbeat period in seconds. A live fleet takes minutes to create, and its members mustn't look silent then.
const PERIOD: u32 = 600;
const PLACEMENT_API: &str = "placement.kubernetes-fleet.io/v1beta1";
const CLUSTER_API: &str = "cluster.kubernetes-fleet.io/v1beta1";

/// Members that each placement selects, if there are as many.
const MEMBERS_OF_PLACEMENT: usize = 100;

/// What is wrong with a fleet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FleetState {
    /// Nothing.
    Healthy,
    /// One cause on up to 1,000 pairs: another manager owns a field of the object.
    OneCause,
    /// Up to 1,000 pairs fail in different ways.
    ManyCauses,
    /// One failure of each kind: three pairs, a silent member, a stuck update run, and a stale approval.
    OneOfEach,
}

impl FleetState {
    pub const ALL: [Self; 4] = [Self::Healthy, Self::OneCause, Self::ManyCauses, Self::OneOfEach];

    pub fn name(self) -> &'static str {
        match self {
            Self::Healthy => "healthy",
            Self::OneCause => "one cause on 1,000 pairs",
            Self::ManyCauses => "1,000 pairs, several causes",
            Self::OneOfEach => "one failure of each kind",
        }
    }
}

/// Pair of a placement and a member.
struct Pair {
    member: String,
    failure: Option<Failure>,
}

/// Failure of a pair, as the controllers report it.
#[derive(Clone, Copy)]
enum Failure {
    NotOwned,
    Manifest,
    Unavailable,
}

impl Failure {
    const ALL: [Self; 3] = [Self::Unavailable, Self::Manifest, Self::NotOwned];
}

/// Writes a bundle with `pairs` pairs of a placement and a member, and returns the number of bytes.
pub fn write_bundle(directory: &Path, pairs: usize, state: FleetState, seed: u64) -> Result<u64, BenchError> {
    let hub = directory.join("clusters/hub");
    fs::create_dir_all(&hub)?;
    let mut objects = ObjectWriter::new(&hub.join("objects.json"))?;
    generate(pairs, state, seed, TAKEN_AT, |generated| objects.write_all(&generated))?;
    let (count, bytes) = objects.finish()?;
    let manifest = json!({"bundle": "fleetdrill", "schema": 1, "fleetdrill": "bench", "fleet": "generated",
        "taken_at": TAKEN_AT, "logs": [], "missing": [],
        "clusters": [{"name": "hub", "role": "hub", "directory": "hub", "objects": count, "events": 0}]});
    fs::write(directory.join("bundle.json"), manifest.to_string())?;
    Ok(bytes)
}

/// Generates the hub's objects of a fleet with `pairs` pairs of a placement and a member, and gives them to `add`: those of one member or
/// of one placement at a time. The members' last heartbeats were at `now`.
pub fn generate(
    pairs: usize,
    state: FleetState,
    seed: u64,
    now: &str,
    mut add: impl FnMut(Vec<Value>) -> Result<(), BenchError>,
) -> Result<(), BenchError> {
    let mut rng = StdRng::seed_from_u64(seed);
    // Failures have numbers of their own, so that all states have the same placements on the same members.
    let mut failure_rng = StdRng::seed_from_u64(seed + 1);
    let placements = pairs.div_ceil(MEMBERS_OF_PLACEMENT);
    let members = placements.max(MEMBERS_OF_PLACEMENT);
    for member in 0..members {
        let is_silent = state == FleetState::OneOfEach && member == 0;
        add(member_objects(&name_of(member), if is_silent { SINCE } else { now }))?;
    }
    let mut left = pairs;
    let mut failing = match state {
        FleetState::Healthy => 0,
        FleetState::OneCause | FleetState::ManyCauses => 1_000.min(pairs / 10),
        FleetState::OneOfEach => Failure::ALL.len(),
    };
    for number in 0..placements {
        let first = rng.random_range(0..members);
        let count = MEMBERS_OF_PLACEMENT.min(left);
        left -= count;
        let pairs: Vec<Pair> = (0..count)
            .map(|n| {
                let fails = failing > 0 && n % 10 == 0;
                failing -= usize::from(fails);
                let failure = fails.then(|| match state {
                    FleetState::Healthy | FleetState::OneCause => Failure::NotOwned,
                    FleetState::ManyCauses => Failure::ALL[failure_rng.random_range(0..Failure::ALL.len())],
                    FleetState::OneOfEach => Failure::ALL[failing],
                });
                Pair { member: name_of((first + n) % members), failure }
            })
            .collect();
        if number == 0 && state == FleetState::OneOfEach {
            add(run_objects("placement-0000", &pairs))?;
        }
        add(placement_objects(&format!("placement-{number:04}"), &pairs))?;
    }
    Ok(())
}

fn name_of(member: usize) -> String {
    format!("m-{member:04}")
}

/// Writes a list of objects without holding it in memory.
struct ObjectWriter {
    file: BufWriter<File>,
    count: usize,
}

impl ObjectWriter {
    fn new(path: &Path) -> Result<Self, BenchError> {
        let mut file = BufWriter::new(File::create(path)?);
        file.write_all(b"[")?;
        Ok(Self { file, count: 0 })
    }

    fn write_all(&mut self, objects: &[Value]) -> Result<(), BenchError> {
        for object in objects {
            if self.count > 0 {
                self.file.write_all(b",\n")?;
            }
            serde_json::to_writer(&mut self.file, object)?;
            self.count += 1;
        }
        Ok(())
    }

    /// Returns the number of objects and of bytes.
    fn finish(mut self) -> Result<(usize, u64), BenchError> {
        self.file.write_all(b"]")?;
        let file = self.file.into_inner()?;
        Ok((self.count, file.metadata()?.len()))
    }
}

fn condition(type_: &str, status: &str, reason: &str, message: &str) -> Value {
    json!({"type": type_, "status": status, "reason": reason, "message": message, "observedGeneration": 1,
        "lastTransitionTime": SINCE})
}

fn met(type_: &str) -> Value {
    condition(type_, "True", &format!("{type_}Succeeded"), &format!("{type_} has succeeded for the latest resources"))
}

fn metadata(name: &str, namespace: Option<&str>, labels: &Value) -> Value {
    let mut metadata = json!({"name": name, "generation": 1, "creationTimestamp": SINCE, "labels": labels,
        "resourceVersion": "123456", "uid": "0fa1c0de-0000-4000-8000-000000000000",
        "managedFields": [{"manager": "hubagent", "operation": "Update", "time": SINCE, "subresource": "status",
            "apiVersion": PLACEMENT_API}]});
    if let Some(namespace) = namespace {
        metadata["namespace"] = namespace.into();
    }
    metadata
}

/// Changes the time of the last write in an object's metadata.
fn written_at(time: &str, mut metadata: Value) -> Value {
    metadata["managedFields"][0]["time"] = time.into();
    metadata
}

/// Returns what the hub has of a member: its `MemberCluster`, its heartbeats, its namespace and its rights.
fn member_objects(name: &str, now: &str) -> Vec<Value> {
    let namespace = format!("fleet-member-{name}");
    let account = format!("{name}-account");
    let agents = json!([{"type": "MemberAgent", "lastReceivedHeartbeat": now}]);
    let rbac = "rbac.authorization.k8s.io/v1";
    vec![
        json!({"apiVersion": CLUSTER_API, "kind": "MemberCluster", "metadata": metadata(name, None, &json!({})),
            "spec": {"heartbeatPeriodSeconds": PERIOD,
                "identity": {"kind": "ServiceAccount", "namespace": "fleet-system", "name": account}},
            "status": {"agentStatus": agents, "conditions": [met("ReadyToJoin"), met("Joined"), met("Healthy")]}}),
        json!({"apiVersion": CLUSTER_API, "kind": "InternalMemberCluster",
            "metadata": written_at(now, metadata(name, Some(&namespace), &json!({}))),
            "spec": {"state": "Join", "heartbeatPeriodSeconds": PERIOD}, "status": {"agentStatus": agents}}),
        json!({"apiVersion": "v1", "kind": "Namespace", "metadata": metadata(&namespace, None, &json!({}))}),
        json!({"apiVersion": "v1", "kind": "ServiceAccount",
            "metadata": metadata(&account, Some("fleet-system"), &json!({}))}),
        json!({"apiVersion": rbac, "kind": "RoleBinding",
            "metadata": metadata(&format!("fleet-rolebinding-{name}"), Some(&namespace), &json!({})),
            "subjects": [{"kind": "ServiceAccount", "namespace": "fleet-system", "name": account}],
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": format!("fleet-role-{name}")}}),
    ]
}

fn placement_objects(name: &str, pairs: &[Pair]) -> Vec<Value> {
    let labels = |more: Value| {
        let mut labels = json!({"kubernetes-fleet.io/parent-CRP": name});
        if let (Some(labels), Value::Object(more)) = (labels.as_object_mut(), more) {
            labels.extend(more);
        }
        labels
    };
    let all_well = pairs.iter().all(|pair| pair.failure.is_none());
    let prefix = "ClusterResourcePlacement";
    let of_all =
        ["Scheduled", "RolloutStarted", "Overridden", "WorkSynchronized", "Applied", "Available"].map(|type_| {
            match type_ {
                "Applied" | "Available" if !all_well => {
                    condition(&format!("{prefix}{type_}"), "False", "SomeClustersHaveNot", "not on all clusters")
                }
                _ => met(&format!("{prefix}{type_}")),
            }
        });
    let statuses: Vec<Value> = pairs.iter().map(member_status).collect();
    let snapshot = format!("{name}-0-snapshot");
    let index = json!({"kubernetes-fleet.io/resource-index": "0", "kubernetes-fleet.io/is-latest-snapshot": "true"});
    let policy = json!({"kubernetes-fleet.io/policy-index": "0", "kubernetes-fleet.io/is-latest-snapshot": "true"});
    let mut objects = vec![
        json!({"apiVersion": PLACEMENT_API, "kind": "ClusterResourcePlacement",
            "metadata": metadata(name, None, &json!({})),
            "spec": {"resourceSelectors": [{"group": "", "version": "v1", "kind": "Namespace", "name": name}],
                "policy": {"placementType": "PickN", "numberOfClusters": pairs.len()},
                "strategy": {"type": "RollingUpdate"}, "revisionHistoryLimit": 10},
            "status": {"conditions": of_all, "placementStatuses": statuses, "observedResourceIndex": "0",
                "selectedResources": [{"version": "v1", "kind": "Namespace", "name": name}]}}),
        json!({"apiVersion": PLACEMENT_API, "kind": "ClusterResourceSnapshot",
            "metadata": metadata(&snapshot, None, &labels(index)),
            "spec": {"selectedResources": [manifest(name)]}}),
        json!({"apiVersion": PLACEMENT_API, "kind": "ClusterSchedulingPolicySnapshot",
            "metadata": metadata(&format!("{name}-0"), None, &labels(policy)),
            "spec": {"policyHash": "aGFzaA=="},
            "status": {"observedCRPGeneration": 1, "conditions": [met("Scheduled")]}}),
    ];
    for pair in pairs {
        objects.push(json!({"apiVersion": PLACEMENT_API, "kind": "ClusterResourceBinding",
            "metadata": metadata(&format!("{name}-{}", pair.member), None, &labels(json!({}))),
            "spec": {"state": "Bound", "targetCluster": pair.member, "resourceSnapshotName": snapshot,
                "schedulingPolicySnapshotName": format!("{name}-0"),
                "clusterDecision": {"clusterName": pair.member, "selected": true, "reason": "picked by scheduling policy"}},
            "status": {"conditions": pair_conditions(pair)}}));
        objects.push(work(name, pair, &labels(json!({}))));
    }
    objects
}

/// Returns an update run of a placement that is stuck on a member, and one that waits for an approval which carries the wrong generation.
fn run_objects(placement: &str, pairs: &[Pair]) -> Vec<Value> {
    let started =
        |member: &Pair, conditions: &[Value]| json!([{"clusterName": member.member, "conditions": conditions}]);
    let run = |name: &str, progressing: Value, stage: Value| {
        json!({"apiVersion": PLACEMENT_API, "kind": "ClusterStagedUpdateRun", "metadata": metadata(name, None, &json!({})),
            "spec": {"placementName": placement, "resourceSnapshotIndex": "0", "stagedRolloutStrategyName": "strategy"},
            "status": {"conditions": [met("Initialized"), progressing], "stagesStatus": [stage],
                "resourceSnapshotIndexUsed": "0", "policySnapshotIndexUsed": "0"}})
    };
    let waiting = "The updateRun is waiting for after-stage tasks in stage canary to complete";
    let stuck = format!(
        "The updateRun is stuck waiting for {} cluster(s) in stage canary to finish updating, please check placement \
         status for potential errors",
        pairs[1].member
    );
    vec![
        run(
            "stuck",
            condition("Progressing", "False", "UpdateRunStuck", &stuck),
            json!({"stageName": "canary", "conditions": [], "clusters": started(&pairs[1], &[met("Started")])}),
        ),
        run(
            "waiting",
            condition("Progressing", "False", "UpdateRunWaiting", waiting),
            json!({"stageName": "canary", "clusters": started(&pairs[2], &[met("Started"), met("Succeeded")]),
                "conditions": [condition("Progressing", "False", "StageUpdatingWaiting", "")]}),
        ),
        json!({"apiVersion": PLACEMENT_API, "kind": "ClusterApprovalRequest",
            "metadata": metadata("waiting-after-canary", None, &json!({})),
            "spec": {"parentStageRollout": "waiting", "targetStage": "canary"},
            "status": {"conditions": [{"type": "Approved", "status": "True", "reason": "approved", "message": "",
                "observedGeneration": 0, "lastTransitionTime": SINCE}]}}),
    ]
}

fn pair_conditions(pair: &Pair) -> Vec<Value> {
    let mut conditions: Vec<Value> =
        ["Scheduled", "RolloutStarted", "Overridden", "WorkSynchronized"].map(met).into_iter().collect();
    conditions.extend(match pair.failure {
        None => vec![met("Applied"), met("Available")],
        Some(Failure::Unavailable) => {
            vec![met("Applied"), condition("Available", "False", "NotAllWorkAreAvailable", "Work is not available")]
        }
        Some(_) => vec![condition("Applied", "False", "NotAllWorkHaveBeenApplied", "Work is not applied")],
    });
    conditions
}

fn member_status(pair: &Pair) -> Value {
    let mut status =
        json!({"clusterName": pair.member, "conditions": pair_conditions(pair), "observedResourceIndex": "0"});
    let failed = |condition: Value| json!([{"version": "v1", "kind": "ConfigMap", "namespace": "app", "name": "settings", "condition": condition}]);
    match pair.failure {
        Some(Failure::NotOwned) => {
            let message = "failed to process an applied manifest: no ownership of the object in the member cluster";
            status["failedPlacements"] = failed(condition("Applied", "False", "FailedToTakeOver", message));
        }
        Some(Failure::Manifest) => {
            let message = format!("admission webhook denied the request for {}", pair.member);
            status["failedPlacements"] = failed(condition("Applied", "False", "FailedToApply", &message));
        }
        Some(Failure::Unavailable) => {
            let message = "Manifest is not yet available; Fleet will check again later";
            status["failedPlacements"] = failed(condition("Available", "False", "NotAvailableYet", message));
        }
        None => {}
    }
    status
}

fn work(placement: &str, pair: &Pair, labels: &Value) -> Value {
    let is_applied = !matches!(pair.failure, Some(Failure::NotOwned | Failure::Manifest));
    let applied = if is_applied { met("Applied") } else { condition("Applied", "False", "WorkAppliedFailed", "") };
    let manifest_condition = json!({"identifier": {"ordinal": 0, "version": "v1", "kind": "ConfigMap",
        "resource": "configmaps", "namespace": "app", "name": "settings"}, "conditions": [applied]});
    json!({"apiVersion": PLACEMENT_API, "kind": "Work",
        "metadata": metadata(&format!("{placement}-work"), Some(&format!("fleet-member-{}", pair.member)), labels),
        "spec": {"workload": {"manifests": [manifest(placement)]}},
        "status": {"conditions": [applied, met("Available")], "manifestConditions": [manifest_condition]}})
}

/// Returns a Deployment as a manifest, of a usual size.
fn manifest(name: &str) -> Value {
    let variables: Vec<Value> =
        (0..12).map(|n| json!({"name": format!("SETTING_{n}"), "value": "(removed)"})).collect();
    json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name, "namespace": name},
        "spec": {"replicas": 3, "selector": {"matchLabels": {"app": name}},
            "template": {"metadata": {"labels": {"app": name}},
                "spec": {"containers": [{"name": "app", "image": "registry.example/app:1.2.3", "env": variables}]}}}})
}
