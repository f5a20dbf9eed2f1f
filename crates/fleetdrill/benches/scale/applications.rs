//! Diagnosis of a live hub with 2,000 Applications of Argo CD on 20 destinations.
//!
//! The hub, and the member that is one of the destinations, are real. The other destinations are names alone. The Applications have the
//! statuses that Argo CD writes; its controllers are stopped, so that nobody changes them.

use std::sync::Arc;
use std::time::Duration;

use clusters::cluster::Cluster;
use clusters::supervisor::SupervisorProgram;
use fleet::argocd::ArgoCdComponent;
use fleet::{Fleet, kinds};
use fleetdrill::component_version::ArgoCdRequest;
use fleetdrill::fleet_source::FleetNeeds;
use futures::{StreamExt as _, TryStreamExt as _, stream};
use kube::api::{DynamicObject, Patch, PatchParams};
use serde_json::{Value, json};

use super::live::diagnose;
use super::{Measured, growth};
use crate::{BenchError, components_for, program, seconds};

/// Applications in all, ten times as many each time up to the last.
const APPLICATIONS: [usize; 3] = [20, 200, 2_000];
const DESTINATIONS: usize = 20;
/// Destination that is a real cluster.
const MEMBER: &str = "member-1";

/// Objects that are written at the same time.
const AT_ONCE: usize = 16;
/// Time after which a change of an object counts as one that stays.
const LASTING: Duration = Duration::from_secs(32);

/// Measurements of a state, of which the fastest counts.
const MEASUREMENTS: usize = 3;

const COMMIT: &str = "5a7c2d6c8a0c1f6c2b7f4f5a3f6a4a6c7d8e9f00";
const SERVER: &str = "https://10.0.0.7:6443";

/// What is wrong with the Applications.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ApplicationsState {
    /// Nothing.
    Healthy,
    /// Argo CD can't reach one of the destinations.
    LostDestination,
    /// Somebody has changed the objects of all Applications of the real member.
    ChangedObjects,
}

impl ApplicationsState {
    const ALL: [Self; 3] = [Self::Healthy, Self::LostDestination, Self::ChangedObjects];

    fn name(self) -> &'static str {
        match self {
            Self::Healthy => "healthy",
            Self::LostDestination => "one destination is lost",
            Self::ChangedObjects => "objects of one are changed",
        }
    }

    /// Number of the destination whose Applications aren't well.
    fn failing(self) -> Option<usize> {
        match self {
            Self::Healthy => None,
            Self::LostDestination => Some(1),
            Self::ChangedObjects => Some(0),
        }
    }
}

/// Measures `fleetdrill diagnose` on a live hub with Applications, and prints a line for each state.
pub fn applications() -> Result<(), BenchError> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    println!("\ndiagnosis of a live hub with Applications on {DESTINATIONS} destinations");
    println!(
        "  {:<28} {:>6} {:>9} {:>9} {:>9} {:>9} {:>7} {:>9}",
        "applications", "", "requests", "objects", "time", "memory", "growth", "findings"
    );
    let fleet = runtime.block_on(start())?;
    let result = measure_all(&runtime, &fleet);
    runtime.block_on(fleet.end())?;
    result
}

fn measure_all(runtime: &tokio::runtime::Runtime, fleet: &Fleet) -> Result<(), BenchError> {
    let mut last: [Option<Duration>; 3] = [None; 3];
    for count in APPLICATIONS {
        for (state, last) in ApplicationsState::ALL.into_iter().zip(&mut last) {
            runtime.block_on(become_state(fleet, count, state))?;
            if state == ApplicationsState::ChangedObjects {
                std::thread::sleep(LASTING);
            }
            let mut fastest = diagnose(&fleet.kubeconfig_file(), &[MEMBER])?;
            for _ in 1..MEASUREMENTS {
                let measured = diagnose(&fleet.kubeconfig_file(), &[MEMBER])?;
                if measured.took < fastest.took {
                    fastest = measured;
                }
            }
            let Measured { took, peak_kib, stdout } = fastest;
            let report: Value = serde_json::from_slice(&stdout)?;
            println!(
                "  {:<28} {count:>6} {:>9} {:>9} {:>7.2} s {:>6} MB {:>7} {:>9}",
                state.name(),
                report["reads"]["requests"].as_u64().unwrap_or_default(),
                report["reads"]["objects"].as_u64().unwrap_or_default(),
                seconds(took),
                peak_kib / 1_000,
                growth(took, *last),
                report["findings"].as_array().map_or(0, Vec::len),
            );
            *last = Some(took);
        }
    }
    Ok(())
}

/// Starts a fleet of one member with Argo CD, and stops the controllers that would change generated objects.
async fn start() -> Result<Fleet, BenchError> {
    let needs = FleetNeeds { argocd: ArgoCdRequest::of_version(None), ..FleetNeeds::default() };
    let options = components_for(&needs).await?;
    let options = options.fleet_options("bench-applications".into(), 1, SupervisorProgram(program()));
    let fleet = Fleet::create(options, Arc::new(|_| {})).await?;
    fleet.stop_argocd(ArgoCdComponent::Controller).await?;
    Ok(fleet)
}

/// Writes the Applications of a state, and the objects of those that deploy to the real member.
async fn become_state(fleet: &Fleet, count: usize, state: ApplicationsState) -> Result<(), BenchError> {
    let members = fleet.members().await;
    let member = &members.get(MEMBER).ok_or("the fleet has no member-1")?.cluster;
    let now = jiff::Timestamp::now();
    let since = now - jiff::SignedDuration::from_mins(10);
    let names: Vec<usize> = (0..count).collect();
    stream::iter(names)
        .map(Ok::<_, BenchError>)
        .try_for_each_concurrent(AT_ONCE, |number| async move {
            let destination = number % DESTINATIONS;
            let fails = state.failing() == Some(destination);
            apply(fleet.hub(), application(number, fails, state, &format!("{since:.0}"))).await?;
            if destination == 0 {
                apply(member, object(number, fails)).await?;
            }
            Ok(())
        })
        .await
}

/// Writes an object, with its status. The kinds here have no status of their own path.
async fn apply(cluster: &Cluster, object: Value) -> Result<(), BenchError> {
    let text = |pointer: &str| object.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned();
    let (api_version, kind, name, namespace) =
        (text("/apiVersion"), text("/kind"), text("/metadata/name"), text("/metadata/namespace"));
    let group = api_version.split_once('/').map_or("", |(group, _)| group);
    let kind = kinds::find(group, &kind).ok_or_else(|| format!("{kind} is no kind that is written here"))?;
    let object: DynamicObject = serde_json::from_value(object)?;
    let parameters = PatchParams::apply("bench").force();
    kind.api(&cluster.client, Some(&namespace)).patch(&name, &parameters, &Patch::Apply(&object)).await?;
    Ok(())
}

fn application(number: usize, fails: bool, state: ApplicationsState, since: &str) -> Value {
    let destination = number % DESTINATIONS;
    let destination = if destination == 0 { MEMBER.to_owned() } else { format!("destination-{destination:02}") };
    let name = format!("app-{number:04}");
    let lost = fails && state == ApplicationsState::LostDestination;
    let sync = match (fails, lost) {
        (_, true) => "Unknown",
        (true, _) => "OutOfSync",
        _ => "Synced",
    };
    let source = json!({"repoURL": "https://git.example/apps.git", "path": name, "targetRevision": "main"});
    let resource = json!({"version": "v1", "kind": "ConfigMap", "namespace": "default", "name": name, "status": sync});
    let result = json!({"version": "v1", "kind": "ConfigMap", "namespace": "default", "name": name, "group": "",
        "status": "Synced", "syncPhase": "Sync", "hookPhase": "Running", "message": "configmap/app configured"});
    let conditions = if lost {
        let message = format!(
            "Failed to load live state: failed to get cluster info for \"{SERVER}\": error synchronizing cache state : \
             Get \"{SERVER}/version?timeout=32s\": dial tcp 10.0.0.7:6443: connect: connection refused"
        );
        json!([{"type": "ComparisonError", "message": message, "lastTransitionTime": since}])
    } else {
        json!([])
    };
    json!({
        "apiVersion": "argoproj.io/v1alpha1", "kind": "Application",
        "metadata": {"name": name, "namespace": "argocd"},
        "spec": {"project": "default", "source": source, "destination": {"name": destination, "namespace": "default"}},
        "status": {
            "sync": {"status": sync, "revision": COMMIT, "comparedTo": {"source": source,
                "destination": {"name": destination, "namespace": "default"}}},
            "health": {"status": "Healthy", "lastTransitionTime": since},
            "reconciledAt": since, "conditions": conditions, "resources": [resource],
            "operationState": {"operation": {"sync": {"revision": COMMIT}}, "phase": "Succeeded",
                "message": "successfully synced (all tasks run)", "startedAt": since, "finishedAt": since,
                "syncResult": {"revision": COMMIT, "source": source, "resources": [result]}},
        },
    })
}

/// Returns the object of an Application on the real member, as it was applied, or as somebody has changed it since.
fn object(number: usize, is_changed: bool) -> Value {
    let name = format!("app-{number:04}");
    let tracking = format!("{name}:/ConfigMap:default/{name}");
    let applied = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "default",
        "annotations": {"argocd.argoproj.io/tracking-id": tracking}, "labels": {"colour": "blue"}}});
    json!({"apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": "default", "labels": {"colour": if is_changed { "red" } else { "blue" }},
            "annotations": {"argocd.argoproj.io/tracking-id": tracking,
                "kubectl.kubernetes.io/last-applied-configuration": applied.to_string()}}})
}
