//! Command lines of a cluster's control plane, on this machine or in a container, and the wait until it is ready.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use kube::Client;

use crate::cluster::FleetRole;
use crate::error::ClusterError;
use crate::home::FleetHome;
use crate::pki::Pki;
use crate::supervisor::protocol::ProcessSpec;

/// Time limit for an API server to become ready. It takes 3 to 7 s if four start at once on two cores.
const READY_LIMIT: Duration = Duration::from_secs(120);

/// Time limit for an answer to the question whether an API server is ready.
const PROBE_LIMIT: Duration = Duration::from_secs(10);

/// Hubs run only these controllers: with the workload controllers, and no webhooks, a Deployment that a placement
/// selects would start pods on the hub.
const HUB_CONTROLLERS: &str = "namespace-controller,garbage-collector-controller,serviceaccount-controller";

/// Members run the controllers that the workloads of placements need: quotas and claims can keep their Pods from running,
/// and a finished Job may be deleted. Argo CD's documents say what the health of a `CronJob` is. The HPA controller writes `spec.replicas`,
/// which Argo CD applies, too; below `minReplicas` it needs no metrics.
const MEMBER_CONTROLLERS: &str = "namespace-controller,garbage-collector-controller,serviceaccount-controller,\
     deployment-controller,replicaset-controller,statefulset-controller,daemonset-controller,job-controller,\
     cronjob-controller,disruption-controller,resourcequota-controller,ttl-after-finished-controller,\
     horizontal-pod-autoscaler-controller,\
     persistentvolume-binder-controller,persistentvolumeclaim-protection-controller,\
     persistentvolume-protection-controller";

/// Addresses of Services, the same with every provider: scenarios name some below 10.0.1.0. Of a range of this size, Kubernetes gives none of
/// the first 256 to a Service that asks for no address of its own; of 256 addresses it would keep only 16.
pub(crate) const SERVICE_ADDRESSES: &str = "10.0.0.0/16";

/// Niceness of the members' processes, which leave the processors to the hub. At a fleet's start, more is installed on
/// the hub, and all members wait for it. The start takes 1.56 times as long as that of four bare API servers with
/// niceness 3, 1.47 times with 6 and 1.31 times with 10 (`make bench`, two processors). Later, a hub-agent whose
/// informer caches fall behind makes mistakes (docs/controllers.md).
pub(crate) const MEMBER_NICENESS: i32 = 10;

/// Variable for the growth of a process's heap, in percent, before Go collects garbage. Go's default is 100. With it, garbage collection
/// takes 17 % of the processor time of a hub's API server while 200 scenarios run (its own profile, `/debug/pprof/profile`, v1.36.3).
pub const GARBAGE_COLLECTION: (&str, &str) = ("GOGC", "400");

/// Flags of an API server that turn API Priority and Fairness on again, after those of [`apiserver`].
pub(crate) const PRIORITY_FLAGS: [&str; 2] =
    ["--enable-priority-and-fairness=true", "--runtime-config=flowcontrol.apiserver.k8s.io/v1=true"];

/// Location of a control plane, as its command lines need it: the address to listen on, and the paths of the fleet's
/// files.
pub(crate) struct ControlPlaneLocation {
    bind: &'static str,
    /// Directory of etcd's data and socket.
    data: PathBuf,
    /// Directory of the fleet's files in the container; `None` on this machine.
    moved_to: Option<PathBuf>,
    /// Files that the command lines name: path at this location, and path on this machine.
    files: BTreeMap<PathBuf, PathBuf>,
}

impl ControlPlaneLocation {
    /// Location on this machine: servers listen on loopback, and files keep their paths.
    pub(crate) fn here(home: &FleetHome) -> Self {
        Self { bind: "127.0.0.1", data: home.dir().to_owned(), moved_to: None, files: BTreeMap::new() }
    }

    /// Location in a container that has an empty directory `data` and the fleet's files in `moved_to`, and that others
    /// reach over its network.
    pub(crate) fn container(data: &Path, moved_to: &Path) -> Self {
        Self { bind: "0.0.0.0", data: data.to_owned(), moved_to: Some(moved_to.to_owned()), files: BTreeMap::new() }
    }

    /// Returns the path of one of this machine's files at this location, and records the file for [`ControlPlaneLocation::files`].
    pub(crate) fn file(&mut self, file: &Path) -> PathBuf {
        let moved = self.moved_to.as_ref().zip(file.file_name()).map(|(to, name)| to.join(name));
        let there = moved.unwrap_or_else(|| file.to_owned());
        self.files.insert(there.clone(), file.to_owned());
        there
    }

    /// Returns the recorded files: path at this location, and path on this machine.
    pub(crate) fn files(self) -> BTreeMap<PathBuf, PathBuf> {
        self.files
    }

    fn flag(&mut self, flag: &str, file: &Path) -> String {
        format!("--{flag}={}", self.file(file).display())
    }
}

/// Specification of etcd, which serves the whole fleet with a prefix for each cluster. etcd lives as long as the fleet
/// and is never needed after a crash, so it doesn't wait for the disk.
///
/// API servers reach etcd by a Unix socket in the fleet's directory, which other users can't enter. With TLS on
/// loopback instead, etcd took twice the processor time and the start of a fleet a quarter longer: an API server has a
/// connection for each kind of object.
pub(crate) fn etcd(
    program: &Path,
    site: &mut ControlPlaneLocation,
    pki: &Pki,
    peer: u16,
) -> Result<ProcessSpec, ClusterError> {
    let pair = pki.server("etcd")?;
    let peer = format!("https://127.0.0.1:{peer}");
    let args = [
        "--name=fleet".to_owned(),
        format!("--data-dir={}", site.data.join("etcd").display()),
        format!("--listen-client-urls={}", etcd_address(site)),
        // etcd requires a URL with a port for the other members of its cluster. There are none.
        "--advertise-client-urls=http://127.0.0.1:1".to_owned(),
        format!("--listen-peer-urls={peer}"),
        format!("--initial-advertise-peer-urls={peer}"),
        format!("--initial-cluster=fleet={peer}"),
        site.flag("peer-cert-file", &pair.certificate_file),
        site.flag("peer-key-file", &pair.key_file),
        "--peer-client-cert-auth=true".to_owned(),
        site.flag("peer-trusted-ca-file", &pki.ca_file()),
        "--socket-reuse-port=true".to_owned(),
        "--unsafe-no-fsync=true".to_owned(),
        "--log-level=warn".to_owned(),
    ];
    Ok(ProcessSpec {
        name: "etcd".into(),
        program: program.to_owned(),
        args: args.to_vec(),
        env: garbage_collection(),
        ..ProcessSpec::default()
    })
}

fn etcd_address(site: &ControlPlaneLocation) -> String {
    format!("unix://{}", etcd_socket(&site.data).display())
}

/// Returns the path of etcd's socket in the directory of its data.
pub(crate) fn etcd_socket(data: &Path) -> PathBuf {
    data.join("etcd.sock")
}

/// Returns the prefix of a cluster's keys in etcd, without a slash at its end.
pub(crate) fn etcd_prefix(cluster: &str, port: impl std::fmt::Display) -> String {
    format!("/{cluster}-{port}")
}

/// Specification of a cluster's API server. `host` is its additional host name on the fleet's network, if there is one.
pub(crate) fn apiserver(
    program: &Path,
    (cluster, role): (&str, FleetRole),
    site: &mut ControlPlaneLocation,
    pki: &Pki,
    (host, port): (Option<&str>, u16),
) -> Result<ProcessSpec, ClusterError> {
    let serving = pki.server_at(&format!("{cluster}-apiserver"), host)?;
    let (signing, verifying) = pki.service_account_keys(cluster)?;
    let mut args = vec![
        format!("--bind-address={}", site.bind),
        "--advertise-address=127.0.0.1".to_owned(),
        "--endpoint-reconciler-type=none".to_owned(),
        format!("--secure-port={port}"),
        "--permit-port-sharing=true".to_owned(),
        format!("--etcd-servers={}", etcd_address(site)),
        // A cluster that is recreated under the name of a deleted one starts empty.
        format!("--etcd-prefix={}", etcd_prefix(cluster, port)),
        site.flag("client-ca-file", &pki.ca_file()),
        site.flag("tls-cert-file", &serving.certificate_file),
        site.flag("tls-private-key-file", &serving.key_file),
        "--authorization-mode=RBAC".to_owned(),
        "--anonymous-auth=false".to_owned(),
        "--service-account-issuer=https://kubernetes.default.svc".to_owned(),
        site.flag("service-account-key-file", &verifying),
        site.flag("service-account-signing-key-file", &signing),
        format!("--service-cluster-ip-range={SERVICE_ADDRESSES}"),
        // KWOK simulates the pods here, so no pod needs a token to be mounted.
        "--disable-admission-plugins=ServiceAccount".to_owned(),
        // Nobody sets priorities of requests here, and what keeps them takes a sixth of the processor time of an API server's start:
        // 2.1 s with, 1.7 s without (1.36.3). Requests above the limits are still refused with 429.
        "--enable-priority-and-fairness=false".to_owned(),
        "--runtime-config=flowcontrol.apiserver.k8s.io/v1=false".to_owned(),
        "--profiling=false".to_owned(),
    ];
    if role == FleetRole::Member {
        // For the logs of pods, which a member's KWOK serves.
        let client = pki.client(&format!("{cluster}-kubelet-client"), "kube-apiserver-kubelet-client", None)?;
        args.extend([
            site.flag("kubelet-certificate-authority", &pki.ca_file()),
            site.flag("kubelet-client-certificate", &client.certificate_file),
            site.flag("kubelet-client-key", &client.key_file),
            "--kubelet-preferred-address-types=InternalIP".to_owned(),
        ]);
    }
    Ok(ProcessSpec {
        name: process(cluster, "kube-apiserver"),
        program: program.to_owned(),
        args,
        env: garbage_collection(),
        niceness: niceness(role),
    })
}

/// Specification of a cluster's kube-controller-manager.
pub(crate) fn controller_manager(program: &Path, (cluster, role): (&str, FleetRole), kubeconfig: &Path) -> ProcessSpec {
    let controllers = if role == FleetRole::Hub { HUB_CONTROLLERS } else { MEMBER_CONTROLLERS };
    let args = [
        format!("--kubeconfig={}", kubeconfig.display()),
        format!("--controllers={controllers}"),
        "--leader-elect=false".to_owned(),
        "--secure-port=0".to_owned(),
        "--kube-api-qps=200".to_owned(),
        "--kube-api-burst=400".to_owned(),
    ];
    ProcessSpec {
        name: process(cluster, "kube-controller-manager"),
        program: program.to_owned(),
        args: args.to_vec(),
        env: garbage_collection(),
        niceness: niceness(role),
    }
}

fn garbage_collection() -> Vec<(String, String)> {
    vec![(GARBAGE_COLLECTION.0.to_owned(), GARBAGE_COLLECTION.1.to_owned())]
}

fn niceness(role: FleetRole) -> i32 {
    if role == FleetRole::Hub { 0 } else { MEMBER_NICENESS }
}

/// Returns the name of a cluster's process.
pub(crate) fn process(cluster: &str, program: &str) -> String {
    format!("{cluster}-{program}")
}

/// Waits until an API server reports that it is ready. Fails as soon as one of `processes` has ended; the first of them
/// is the API server's own.
pub(crate) async fn ready(
    home: &FleetHome,
    cluster: &str,
    processes: &[&str],
    client: &Client,
) -> Result<(), ClusterError> {
    let started = Instant::now();
    let mut exits = home.first_exit();
    loop {
        let exit = exits.borrow_and_update().clone();
        if let Some(exit) = exit.filter(|e| e.name == "supervisor" || processes.contains(&e.name.as_str())) {
            let during = format!("cluster {cluster} was starting");
            return Err(ClusterError::Died { process: exit.name, during, status: exit.status, log: exit.log });
        }
        let request = http::Request::get("/readyz").body(Vec::new()).unwrap_or_default();
        // A process that is paused takes connections and never answers.
        let last = match tokio::time::timeout(PROBE_LIMIT, client.request_text(request)).await {
            Ok(Ok(_)) => return Ok(()),
            Ok(Err(error)) => error.to_string(),
            Err(_) => format!("no answer within {} s", PROBE_LIMIT.as_secs()),
        };
        if started.elapsed() > READY_LIMIT {
            let process = processes.first().copied().unwrap_or_default();
            return Err(ClusterError::NotReady {
                cluster: cluster.to_owned(),
                seconds: READY_LIMIT.as_secs(),
                last,
                process: process.to_owned(),
                log: home.supervisor().log_tail(process),
            });
        }
        // There is nothing to watch before the API server answers.
        let _ = tokio::time::timeout(Duration::from_millis(50), exits.changed()).await;
    }
}
