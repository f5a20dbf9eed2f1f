//! The command lines of a cluster's control plane.

use std::path::Path;

use crate::cluster::Role;
use crate::error::ClusterError;
use crate::home::Home;
use crate::keeper::protocol::ProcessSpec;
use crate::pki::Pair;

/// Hubs run only these controllers: with the workload controllers, and no webhooks, a Deployment that a placement
/// selects would start pods on the hub.
const HUB_CONTROLLERS: &str = "namespace-controller,garbage-collector-controller,serviceaccount-controller";

/// Members run what the workloads of placements need.
const MEMBER_CONTROLLERS: &str = "namespace-controller,garbage-collector-controller,serviceaccount-controller,\
     deployment-controller,replicaset-controller,statefulset-controller,daemonset-controller,job-controller,\
     disruption-controller";

/// The niceness of what belongs to members: it stands back for the hub. On a start, more is installed there, and all members
/// wait for it: a fleet's start takes 1.56 times what four bare API servers take with 3, 1.47 times with 6, 1.31 times with 10
/// (`make bench`, two processors). Later, a hub-agent whose caches fall behind makes mistakes (docs/controllers.md).
pub(super) const MEMBER_NICENESS: i32 = 10;

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
    (cluster, role): (&str, Role),
    home: &Home,
    port: u16,
) -> Result<ProcessSpec, ClusterError> {
    let (dir, pki) = (home.dir(), home.pki());
    let serving = pki.server(&format!("{cluster}-apiserver"))?;
    let (signing, verifying) = pki.signing_key(&format!("{cluster}-service-accounts"))?;
    let mut args = vec![
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
    if role == Role::Member {
        // For pods' logs, which a member's KWOK serves.
        let client = pki.client(&format!("{cluster}-kubelet-client"), "kube-apiserver-kubelet-client", None)?;
        args.extend([
            format!("--kubelet-certificate-authority={}", pki.ca_file().display()),
            format!("--kubelet-client-certificate={}", client.certificate_file.display()),
            format!("--kubelet-client-key={}", client.key_file.display()),
            "--kubelet-preferred-address-types=InternalIP".to_owned(),
        ]);
    }
    Ok(ProcessSpec {
        name: process(cluster, "kube-apiserver"),
        program: program.to_owned(),
        args,
        niceness: niceness(role),
        ..ProcessSpec::default()
    })
}

/// A cluster's controllers.
pub(super) fn controller_manager(program: &Path, (cluster, role): (&str, Role), kubeconfig: &Path) -> ProcessSpec {
    let controllers = if role == Role::Hub { HUB_CONTROLLERS } else { MEMBER_CONTROLLERS };
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
        niceness: niceness(role),
        ..ProcessSpec::default()
    }
}

fn niceness(role: Role) -> i32 {
    if role == Role::Hub { 0 } else { MEMBER_NICENESS }
}

/// The name of a cluster's process.
pub(super) fn process(cluster: &str, program: &str) -> String {
    format!("{cluster}-{program}")
}
