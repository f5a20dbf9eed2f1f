//! Pods for a member without a kubelet: kube-scheduler and KWOK run as processes, and the member has one Node.
//!
//! No container ever runs. KWOK simulates the kubelet by the stages in `manifests/pods/stages`, which also define how
//! an image that can't be pulled looks, and serves the logs in `manifests/pods/logs`. A member has pods only if a
//! scenario asks for them.

use std::path::{Path, PathBuf};

use k8s_openapi::api::core::v1::Node;
use k8s_openapi::api::rbac::v1::{ClusterRole, ClusterRoleBinding};
use kube::Resource;
use kube::api::{Api, PostParams};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::cluster::Cluster;
use crate::control_plane::{ControlPlaneLocation, MEMBER_NICENESS, process};
use crate::error::ClusterError;
use crate::pki::CertificateKeyPair;
use crate::state_dir::write_private;
use crate::supervisor::protocol::ProcessSpec;

/// Name of the Node of a member that has pods.
pub const NODE: &str = "kwok-node";

/// Programs that run for pods, as they are named in process names.
pub(crate) const PROCESSES: [&str; 2] = [SCHEDULER, KWOK];
pub(crate) const SCHEDULER: &str = "kube-scheduler";
pub(crate) const KWOK: &str = "kwok";

/// User of KWOK, to whom `rights.yaml` grants what the stages need.
pub(crate) const KWOK_USER: &str = "kwok";

const NODE_MANIFEST: &str = include_str!("../../../manifests/pods/node.yaml");
const RIGHTS: &str = include_str!("../../../manifests/pods/rights.yaml");
const STAGES: [&str; 5] = [
    include_str!("../../../manifests/pods/stages/node.yaml"),
    include_str!("../../../manifests/pods/stages/pod.yaml"),
    include_str!("../../../manifests/pods/stages/pod-crash.yaml"),
    include_str!("../../../manifests/pods/stages/job.yaml"),
    include_str!("../../../manifests/pods/stages/pod-delete.yaml"),
];

/// Logs of the failing containers of Jobs, by container name. KWOK finds a log by the name of the container alone.
const LOGS: [(&str, &str); 2] = [
    ("migrate", include_str!("../../../manifests/pods/logs/migrate.log")),
    ("smoke-test", include_str!("../../../manifests/pods/logs/smoke-test.log")),
];

/// Programs that pods need.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PodPrograms {
    /// Path of kube-scheduler.
    pub scheduler: PathBuf,
    /// Path of KWOK.
    pub kwok: PathBuf,
}

/// Writes KWOK's configuration into a fleet's directory and returns its path as the member's KWOK sees it.
pub(crate) fn configure(dir: &Path, site: &mut ControlPlaneLocation) -> Result<PathBuf, ClusterError> {
    let config = dir.join("kwok.yaml");
    write_private(&config, &format!("{}---\n{}", STAGES.join("---\n"), logs(dir, site)?))?;
    Ok(site.file(&config))
}

/// Writes the log files and returns the configuration that assigns them to containers.
fn logs(dir: &Path, site: &mut ControlPlaneLocation) -> Result<String, ClusterError> {
    let mut logs = Vec::new();
    for (container, text) in LOGS {
        let file = dir.join(format!("{container}.log"));
        write_private(&file, text)?;
        // Each run of a container has logged the same.
        let file = site.file(&file);
        logs.push(serde_json::json!({"containers": [container], "logsFile": file, "previousLogsFile": file}));
    }
    let config = serde_json::json!({
        "apiVersion": "kwok.x-k8s.io/v1alpha1", "kind": "ClusterLogs",
        "metadata": {"name": "jobs"}, "spec": {"logs": logs},
    });
    Ok(config.to_string())
}

/// Creates KWOK's rights, then the Node. Without the rights, KWOK would wait out a backoff.
pub(crate) async fn prepare(cluster: &Cluster) -> Result<(), ClusterError> {
    let [role, binding] = documents(RIGHTS);
    create::<ClusterRole>(cluster, role).await?;
    create::<ClusterRoleBinding>(cluster, binding).await?;
    create::<Node>(cluster, NODE_MANIFEST).await
}

/// Splits a YAML file into its `N` documents.
fn documents<const N: usize>(text: &'static str) -> [&'static str; N] {
    let mut documents = text.split("\n---\n");
    std::array::from_fn(|_| documents.next().unwrap_or_default())
}

/// Creates an object, unless it exists.
async fn create<K>(cluster: &Cluster, manifest: &str) -> Result<(), ClusterError>
where
    K: Resource<DynamicType = ()> + Clone + std::fmt::Debug + DeserializeOwned + Serialize,
{
    let object = parse::<K>(manifest).map_err(ClusterError::Supervisor)?;
    match Api::<K>::all(cluster.client.clone()).create(&PostParams::default(), &object).await {
        Ok(_) => Ok(()),
        Err(kube::Error::Api(status)) if status.is_already_exists() => Ok(()),
        Err(source) => Err(ClusterError::Api { cluster: cluster.name.clone(), source: Box::new(source) }),
    }
}

fn parse<K: DeserializeOwned>(manifest: &str) -> Result<K, String> {
    let value: serde_json::Value = serde_saphyr::from_str(manifest).map_err(|e| e.to_string())?;
    serde_json::from_value(value).map_err(|e| e.to_string())
}

/// Specification of a member's kube-scheduler. The scheduler opens no port, and has the rights that Kubernetes grants
/// to its user.
pub(crate) fn scheduler(program: &Path, cluster: &str, kubeconfig: &Path) -> ProcessSpec {
    let args = [
        format!("--kubeconfig={}", kubeconfig.display()),
        "--leader-elect=false".to_owned(),
        "--secure-port=0".to_owned(),
        "--kube-api-qps=200".to_owned(),
        "--kube-api-burst=400".to_owned(),
    ];
    ProcessSpec {
        name: process(cluster, SCHEDULER),
        program: program.to_owned(),
        args: args.to_vec(),
        niceness: MEMBER_NICENESS,
        ..ProcessSpec::default()
    }
}

/// Specification of a member's KWOK. KWOK serves the given logs and requests no certificate (v0.8.0).
pub(crate) fn kwok(
    program: &Path,
    cluster: &str,
    (kubeconfig, config): (&Path, &Path),
    site: &mut ControlPlaneLocation,
    (port, serving): (u16, &CertificateKeyPair),
) -> ProcessSpec {
    let args = [
        format!("--kubeconfig={}", kubeconfig.display()),
        format!("--config={}", config.display()),
        "--manage-all-nodes=true".to_owned(),
        format!("--server-address=127.0.0.1:{port}"),
        format!("--node-port={port}"),
        format!("--tls-cert-file={}", site.file(&serving.certificate_file).display()),
        format!("--tls-private-key-file={}", site.file(&serving.key_file).display()),
        // The API server asks for logs at the node's address. The pods' range must not overlap that of the Services
        // (SERVICE_ADDRESSES).
        "--node-ip=127.0.0.1".to_owned(),
        "--cidr=10.244.0.0/16".to_owned(),
    ];
    ProcessSpec {
        name: process(cluster, KWOK),
        program: program.to_owned(),
        args: args.to_vec(),
        niceness: MEMBER_NICENESS,
        ..ProcessSpec::default()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::Value;

    use super::*;

    #[test]
    fn the_node_and_the_rights_are_what_is_created() {
        let node: Node = parse(NODE_MANIFEST).expect("a Node");
        assert_eq!(node.metadata.name.as_deref(), Some(NODE));
        assert!(node.status.and_then(|s| s.allocatable).is_some_and(|room| room.contains_key("pods")));
        let [role, binding] = documents(RIGHTS);
        let (role, binding): (ClusterRole, ClusterRoleBinding) =
            (parse(role).expect("a ClusterRole"), parse(binding).expect("a ClusterRoleBinding"));
        assert_eq!(role.metadata.name, Some(binding.role_ref.name));
        assert!(binding.subjects.is_some_and(|subjects| subjects.iter().any(|s| s.name == KWOK_USER)));
    }

    #[test]
    fn every_stage_file_is_compiled_in_and_the_stages_differ_in_name() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../manifests/pods/stages");
        let files: Vec<_> = std::fs::read_dir(folder).expect("the folder").flatten().collect();
        assert_eq!(files.len(), STAGES.len());
        let text = STAGES.join("---\n");
        let stages: Vec<Value> = serde_saphyr::from_multiple(&text).expect("YAML");
        assert!(stages.iter().all(|stage| stage["kind"] == "Stage"));
        let names: BTreeSet<&str> = stages.iter().filter_map(|stage| stage["metadata"]["name"].as_str()).collect();
        assert_eq!(names.len(), stages.len());
        assert!(names.contains("node-ready") && names.contains("pod-start"), "{names:?}");
    }

    #[test]
    fn logs_are_served_on_loopback_only() {
        let path = Path::new("/x");
        assert!(scheduler(path, "member-1", path).args.contains(&"--secure-port=0".to_owned()));
        let [certificate_file, key_file] = ["/x.crt", "/x.key"].map(PathBuf::from);
        let pair = CertificateKeyPair { certificate: String::new(), key: String::new(), certificate_file, key_file };
        let mut site = ControlPlaneLocation::container(path, Path::new("/there"));
        let kwok = kwok(path, "member-1", (path, path), &mut site, (7, &pair));
        for arg in
            ["--server-address=127.0.0.1:7", "--tls-cert-file=/there/x.crt", "--tls-private-key-file=/there/x.key"]
        {
            assert!(kwok.args.contains(&arg.to_owned()), "{arg}");
        }
        assert_eq!(kwok.name, "member-1-kwok");
    }

    #[test]
    fn what_a_job_s_container_logs_is_in_the_format_of_a_container_runtime() {
        for (container, text) in LOGS {
            for line in text.lines() {
                let parts: Vec<&str> = line.splitn(4, ' ').collect();
                assert!(parts.len() == 4 && parts[1] == "stderr" && parts[2] == "F", "{container}: {line}");
            }
        }
    }
}
