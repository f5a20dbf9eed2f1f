//! Diagnosis of a live hub with a generated fleet, beside kubectl's lists of the same hub.
//!
//! The hub's API server and etcd are real. Its agent is stopped, so that nobody changes the generated objects.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use clusters::provider_spec::ProviderSpec;
use clusters::supervisor::SupervisorProgram;
use fleet::{Fleet, kinds};
use futures::{StreamExt as _, TryStreamExt as _, stream};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{Api, DynamicObject, Patch, PatchParams, PostParams};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::runtime::Runtime;

use super::generated_fleet::{FleetState, generate};
use super::{Measured, SEED, growth, measured};
use crate::{BenchError, components, program, seconds};

/// Objects that are created at the same time.
const AT_ONCE: usize = 32;

/// Attempts for each request, and the pause after one.
const ATTEMPTS: usize = 5;
const PAUSE: Duration = Duration::from_secs(2);

/// Measurements of a state, of which the fastest counts.
const MEASUREMENTS: usize = 3;

/// Memory at which an API server collects garbage before it takes more.
const APISERVER_MEMORY: &str = "14GiB";

/// Kinds with an object for each pair.
const NUMEROUS: [&str; 2] =
    ["works.placement.kubernetes-fleet.io", "clusterresourcebindings.placement.kubernetes-fleet.io"];

/// First lists of a diagnosis, as kubectl names them.
const FIRST_LISTS: [&str; 9] = [
    "clusterresourceplacements.v1beta1.placement.kubernetes-fleet.io",
    "resourceplacements.v1beta1.placement.kubernetes-fleet.io",
    "clusterstagedupdateruns.v1beta1.placement.kubernetes-fleet.io",
    "stagedupdateruns.v1beta1.placement.kubernetes-fleet.io",
    "clusterapprovalrequests.v1beta1.placement.kubernetes-fleet.io",
    "approvalrequests.v1beta1.placement.kubernetes-fleet.io",
    "memberclusters.v1beta1.cluster.kubernetes-fleet.io",
    "internalmemberclusters.v1beta1.cluster.kubernetes-fleet.io",
    "namespaces",
];

/// Measures a live diagnosis of fleets of these sizes, and prints a line for each.
pub fn live(pairs: &[usize]) -> Result<(), BenchError> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    println!("\ndiagnosis of a live hub, by pairs of a placement and a member");
    println!(
        "  {:<30} {:>8} {:>9} {:>9} {:>9} {:>9} {:>9} {:>7} {:>7}",
        "fleet", "pairs", "requests", "objects", "sent", "time", "memory", "growth", "kubectl"
    );
    let mut last = FleetState::ALL.map(|_| None);
    for pairs in pairs {
        let mut hub = runtime.block_on(GeneratedHub::start())?;
        for (state, last) in FleetState::ALL.into_iter().zip(&mut last) {
            let measured = runtime.block_on(hub.become_state(*pairs, state)).and_then(|()| hub.measure(&runtime));
            let (Measured { took, peak_kib, stdout }, sent, lists) = match measured {
                Ok(measured) => measured,
                Err(error) => {
                    runtime.block_on(hub.fleet.end())?;
                    return Err(error);
                }
            };
            let report: Value = serde_json::from_slice(&stdout)?;
            println!(
                "  {:<30} {pairs:>8} {:>9} {:>9} {:>6.1} MB {:>7.2} s {:>6} MB {:>7} {:>7.2}",
                state.name(),
                report["reads"]["requests"].as_u64().unwrap_or_default(),
                report["reads"]["objects"].as_u64().unwrap_or_default(),
                sent / 1e6,
                seconds(took),
                peak_kib / 1_000,
                growth(took, *last),
                seconds(took) / seconds(lists)
            );
            *last = Some(took);
        }
        runtime.block_on(hub.fleet.end())?;
    }
    Ok(())
}

/// Hub with generated objects.
struct GeneratedHub {
    fleet: Fleet,
    /// Directory of the script that starts the API server.
    _programs: TempDir,
    /// Hashes of the objects that were written, by kind, namespace and name.
    written: HashMap<String, u64>,
}

impl GeneratedHub {
    /// Starts a fleet of one member, and stops the hub-agent.
    async fn start() -> Result<Self, BenchError> {
        let mut options = components().await?.fleet_options("bench-scale".into(), 1, SupervisorProgram(program()));
        let programs = tempfile::tempdir()?;
        limit_memory(&mut options.recipe, programs.path())?;
        let fleet = Fleet::create(options, Arc::new(|_| {})).await?;
        fleet.stop_hub_agent().await?;
        for name in NUMEROUS {
            serve_one_version(&fleet, name).await?;
        }
        Ok(Self { fleet, _programs: programs, written: HashMap::new() })
    }

    /// Writes the generated objects of a state, as far as they differ from those that were written.
    async fn become_state(&mut self, pairs: usize, state: FleetState) -> Result<(), BenchError> {
        let (now, started) = (jiff::Timestamp::now(), Instant::now());
        let mut count = 0;
        // Namespaces come before what is in them.
        for namespaces in [true, false] {
            count += self.write_all(pairs, state, now, namespaces).await?;
        }
        eprintln!("{pairs} pairs, {}: {count} objects written in {:.0} s", state.name(), seconds(started.elapsed()));
        Ok(())
    }

    /// Writes the namespaces of a state, or its other objects, while they are generated. Returns their number.
    async fn write_all(
        &mut self,
        pairs: usize,
        state: FleetState,
        now: jiff::Timestamp,
        namespaces: bool,
    ) -> Result<usize, BenchError> {
        let (sender, receiver) = tokio::sync::mpsc::channel(AT_ONCE);
        let mut written = std::mem::take(&mut self.written);
        let generator = tokio::task::spawn_blocking(move || {
            let generated = generate(pairs, state, SEED, &format!("{now:.0}"), |objects| {
                for object in objects.into_iter().filter(|object| (object["kind"] == "Namespace") == namespaces) {
                    if is_new(&mut written, &object) {
                        sender.blocking_send(object)?;
                    }
                }
                Ok(())
            });
            generated.map(|()| written).map_err(|error| error.to_string())
        });
        let objects = stream::unfold(receiver, async |mut receiver| Some((receiver.recv().await?, receiver)));
        let (fleet, mut count) = (&self.fleet, 0);
        objects.inspect(|_| count += 1).map(Ok).try_for_each_concurrent(AT_ONCE, |object| write(fleet, object)).await?;
        self.written = generator.await??;
        Ok(count)
    }

    /// Diagnoses the hub. Returns the figures, the bytes that the API server has sent for one diagnosis, and the time of kubectl's lists. Both
    /// times are the fastest of some attempts, because the API server is still busy after so many writes.
    fn measure(&self, runtime: &Runtime) -> Result<(Measured, f64, Duration), BenchError> {
        let kubeconfig = self.fleet.kubeconfig_file();
        let before = runtime.block_on(sent_bytes(&self.fleet))?;
        let mut fastest = diagnose(&kubeconfig, &[])?;
        let sent = runtime.block_on(sent_bytes(&self.fleet))? - before;
        let mut lists = kubectl_lists(&kubeconfig)?;
        for _ in 1..MEASUREMENTS {
            let measured = diagnose(&kubeconfig, &[])?;
            if measured.took < fastest.took {
                fastest = measured;
            }
            lists = lists.min(kubectl_lists(&kubeconfig)?);
        }
        Ok((fastest, sent, lists))
    }
}

/// Notes that an object is written. Returns false if it was written in the same form before.
fn is_new(written: &mut HashMap<String, u64>, object: &Value) -> bool {
    let metadata = &object["metadata"];
    let key = format!("{} {} {}", object["kind"], metadata["namespace"], metadata["name"]);
    let mut hasher = DefaultHasher::new();
    object.to_string().hash(&mut hasher);
    let hash = hasher.finish();
    written.insert(key, hash) != Some(hash)
}

/// Limits the memory of a local fleet's API servers, by a script in this directory. Without a limit, the one of a hub with 100,000 Works and
/// bindings takes all of 24 GB (Kubernetes v1.36.3): Go collects garbage when it is as much as what is in use.
fn limit_memory(recipe: &mut ProviderSpec, directory: &Path) -> Result<(), BenchError> {
    let ProviderSpec::Local(programs) = recipe else { return Ok(()) };
    let script = directory.join("kube-apiserver");
    let program = programs.apiserver.to_str().ok_or("the path of kube-apiserver is no UTF-8")?;
    let text = format!("#!/bin/sh\nGOMEMLIMIT={APISERVER_MEMORY} exec {} \"$@\"\n", shlex::try_quote(program)?);
    std::fs::write(&script, text)?;
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o700))?;
    programs.apiserver = script;
    Ok(())
}

/// Makes the API server serve a kind in the version of the generated objects only. It has a cache of all objects for each version that
/// it serves.
async fn serve_one_version(fleet: &Fleet, name: &str) -> Result<(), BenchError> {
    let api: Api<CustomResourceDefinition> = Api::all(fleet.hub().client.clone());
    let mut definition = api.get(name).await?;
    for version in &mut definition.spec.versions {
        version.served = version.name == "v1beta1";
    }
    api.replace(name, &PostParams::default(), &definition).await?;
    Ok(())
}

/// Writes an object with its status. The API server takes the status of a new object only from a second request.
async fn write(fleet: &Fleet, mut object: Value) -> Result<(), BenchError> {
    let text = |pointer: &str| object.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned();
    let (api_version, kind, name) = (text("/apiVersion"), text("/kind"), text("/metadata/name"));
    let group = api_version.split_once('/').map_or("", |(group, _)| group);
    let kind = kinds::find(group, &kind).ok_or_else(|| format!("{kind} is no kind of a generated fleet"))?;
    let namespace = text("/metadata/namespace");
    let api = kind.api(&fleet.hub().client, Some(namespace.as_str()).filter(|namespace| !namespace.is_empty()));
    let status = object.as_object_mut().and_then(|fields| fields.remove("status"));
    if let Some(metadata) = object["metadata"].as_object_mut() {
        metadata.retain(|field, _| ["name", "namespace", "labels"].contains(&field.as_str()));
    }
    let created: DynamicObject = serde_json::from_value(object)?;
    again(|| async {
        match api.create(&PostParams::default(), &created).await {
            Err(kube::Error::Api(status)) if status.code == 409 => Ok(()),
            result => result.map(drop),
        }
    })
    .await?;
    if let Some(status) = status.filter(|_| !group.is_empty()) {
        let patch = Patch::Merge(json!({"status": status}));
        let parameters = PatchParams::default();
        again(|| api.patch_status(&name, &parameters, &patch)).await?;
    }
    Ok(())
}

/// Repeats a request that a busy API server has dropped or refused.
async fn again<T>(request: impl AsyncFn() -> Result<T, kube::Error>) -> Result<T, kube::Error> {
    for _ in 1..ATTEMPTS {
        match request().await {
            Err(kube::Error::Service(_) | kube::Error::HyperError(_)) => tokio::time::sleep(PAUSE).await,
            // etcd's answer may come too late.
            Err(kube::Error::Api(status)) if status.code >= 500 => tokio::time::sleep(PAUSE).await,
            result => return result,
        }
    }
    request().await
}

/// Number of bytes that the hub's API server has sent as answers to GET and LIST, from its metrics. Others than the diagnosis send few
/// such requests while the hub-agent is stopped.
async fn sent_bytes(fleet: &Fleet) -> Result<f64, BenchError> {
    let metrics = fleet.hub().client.request_text(http::Request::get("/metrics").body(Vec::new())?).await?;
    let sums = metrics.lines().filter(|line| line.starts_with("apiserver_response_sizes_sum"));
    Ok(sums.filter_map(|line| line.rsplit_once(' ')?.1.parse::<f64>().ok()).sum())
}

/// Diagnoses the fleet of a kubeconfig, whose hub has the context `hub`, with these members.
pub(super) fn diagnose(kubeconfig: &Path, members: &[&str]) -> Result<Measured, BenchError> {
    let mut command = Command::new(program());
    command.args(["diagnose", "--output", "json", "--hub", "hub", "--kubeconfig"]).arg(kubeconfig);
    command.args(members.iter().flat_map(|member| ["--member", member]));
    measured(command)
}

/// Returns the time that kubectl takes for the first lists, one after the other.
fn kubectl_lists(kubeconfig: &Path) -> Result<Duration, BenchError> {
    let started = Instant::now();
    for list in FIRST_LISTS {
        let mut command = Command::new("kubectl");
        command.args(["get", list, "--all-namespaces", "--output", "json", "--context", "hub", "--kubeconfig"]);
        let status = command.arg(kubeconfig).stdout(Stdio::null()).status()?;
        if !status.success() {
            return Err(format!("kubectl get {list} ended with {status}").into());
        }
    }
    Ok(started.elapsed())
}
