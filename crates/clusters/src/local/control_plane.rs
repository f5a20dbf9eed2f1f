//! The command lines of a cluster's control plane.

use std::path::Path;

use super::pki::{Pair, Pki};
use crate::error::ClusterError;
use crate::keeper::protocol::ProcessSpec;

/// Hubs run only these controllers: with the workload controllers, and no webhooks, a Deployment that a placement
/// selects would start pods on the hub.
const HUB_CONTROLLERS: &str = "namespace-controller,garbage-collector-controller,serviceaccount-controller";

/// Members run what the workloads of placements need.
const MEMBER_CONTROLLERS: &str = "namespace-controller,garbage-collector-controller,serviceaccount-controller,\
     deployment-controller,replicaset-controller,statefulset-controller,daemonset-controller,job-controller,\
     disruption-controller";

/// etcd for the whole fleet, each cluster with a prefix of its own. It lives as long as the fleet and is never needed
/// after a crash, so it doesn't wait for the disk.
///
/// API servers reach it by a Unix socket in the fleet's directory, which other users can't enter. With TLS on loopback
/// instead, etcd took twice the processor time and the start of a fleet a quarter longer: an API server has a
/// connection for each kind of object.
pub(super) fn etcd(program: &Path, dir: &Path, ca: &Path, pair: &Pair, peer: u16) -> ProcessSpec {
    let peer = format!("https://127.0.0.1:{peer}");
    let args = [
        "--name=fleet".to_owned(),
        format!("--data-dir={}", dir.join("etcd").display()),
        format!("--listen-client-urls={}", etcd_address(dir)),
        // It wants one with a port, for other members of its cluster. There are none.
        "--advertise-client-urls=http://127.0.0.1:1".to_owned(),
        format!("--listen-peer-urls={peer}"),
        format!("--initial-advertise-peer-urls={peer}"),
        format!("--initial-cluster=fleet={peer}"),
        format!("--peer-cert-file={}", pair.certificate_file.display()),
        format!("--peer-key-file={}", pair.key_file.display()),
        "--peer-client-cert-auth=true".to_owned(),
        format!("--peer-trusted-ca-file={}", ca.display()),
        "--socket-reuse-port=true".to_owned(),
        "--unsafe-no-fsync=true".to_owned(),
        "--log-level=warn".to_owned(),
    ];
    ProcessSpec { name: "etcd".into(), program: program.to_owned(), args: args.to_vec(), ..ProcessSpec::default() }
}

fn etcd_address(dir: &Path) -> String {
    format!("unix://{}", dir.join("etcd.sock").display())
}

/// A cluster's API server.
pub(super) fn apiserver(
    program: &Path,
    cluster: &str,
    dir: &Path,
    pki: &Pki,
    port: u16,
) -> Result<ProcessSpec, ClusterError> {
    let serving = pki.server(&format!("{cluster}-apiserver"))?;
    let (signing, verifying) = pki.signing_key(&format!("{cluster}-service-accounts"))?;
    let args = [
        "--bind-address=127.0.0.1".to_owned(),
        "--advertise-address=127.0.0.1".to_owned(),
        "--endpoint-reconciler-type=none".to_owned(),
        format!("--secure-port={port}"),
        "--permit-port-sharing=true".to_owned(),
        format!("--etcd-servers={}", etcd_address(dir)),
        // A cluster that is made again under the name of one that is gone starts empty.
        format!("--etcd-prefix=/{cluster}-{port}"),
        format!("--client-ca-file={}", pki.ca_file().display()),
        format!("--tls-cert-file={}", serving.certificate_file.display()),
        format!("--tls-private-key-file={}", serving.key_file.display()),
        "--authorization-mode=RBAC".to_owned(),
        "--anonymous-auth=false".to_owned(),
        "--service-account-issuer=https://kubernetes.default.svc".to_owned(),
        format!("--service-account-key-file={}", verifying.display()),
        format!("--service-account-signing-key-file={}", signing.display()),
        "--service-cluster-ip-range=10.0.0.0/24".to_owned(),
        // Pods here are KWOK's: they need no token of their own to be mounted.
        "--disable-admission-plugins=ServiceAccount".to_owned(),
        "--profiling=false".to_owned(),
    ];
    let mut args = args.to_vec();
    args.extend(std::env::var("FD_ARGS").unwrap_or_default().split_whitespace().map(ToOwned::to_owned));
    let env = std::env::var("FD_ENV").unwrap_or_default();
    let env = env.split_whitespace().filter_map(|e| e.split_once('=')).map(|(a, b)| (a.to_owned(), b.to_owned()));
    Ok(ProcessSpec {
        name: process(cluster, "kube-apiserver"),
        program: program.to_owned(),
        args,
        env: env.collect(),
        niceness: if cluster == "hub" { 0 } else { std::env::var("FD_NICE").map_or(0, |n| n.parse().unwrap()) },
    })
}

/// A cluster's controllers.
pub(super) fn controller_manager(program: &Path, cluster: &str, hub: bool, kubeconfig: &Path) -> ProcessSpec {
    let controllers = if hub { HUB_CONTROLLERS } else { MEMBER_CONTROLLERS };
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
        ..ProcessSpec::default()
    }
}

/// The name of a cluster's process.
pub(super) fn process(cluster: &str, program: &str) -> String {
    format!("{cluster}-{program}")
}
