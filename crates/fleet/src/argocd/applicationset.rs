//! Argo CD's ApplicationSet controller, for scenarios and users that have ApplicationSets. A fleet starts without it: it takes 110 MB of
//! memory and a second to start, and most scenarios make their Applications themselves.

use clusters::cluster::Cluster;
use clusters::home::FleetHome;
use clusters::state_dir;
use clusters::state_dir::write_private;
use clusters::supervisor::protocol::ProcessSpec;
use serde_json::{Value, json};

use super::accounts::{cluster_role_binding, service_account};
use super::processes::{ArgoCdComponent, ArgoCdPaths};
use super::{ArgoCdPrograms, NAMESPACE};
use crate::error::FleetError;
use crate::kinds::{CLUSTER_ROLE, CLUSTER_ROLE_BINDING, SERVICE_ACCOUNT};
use crate::member::account_token;
use crate::objects::create;
use crate::port::{self, listens};

/// The controller's ServiceAccount, and the name of its ClusterRole.
const ACCOUNT: &str = "argocd-applicationset-controller";

/// File with the kubeconfig by which the controller reaches the hub.
const KUBECONFIG: &str = "applicationset.kubeconfig";

/// File with the port on which the controller answers once it runs.
pub(super) const PROBE_PORT: &str = "applicationset.port";

/// Starts the controller unless it runs, with progressive syncs, and waits until it listens.
pub(crate) async fn start(home: &FleetHome, hub: &Cluster, programs: &ArgoCdPrograms) -> Result<(), FleetError> {
    let process = ArgoCdComponent::ApplicationSetController.process();
    if home.supervisor().processes().await?.iter().any(|p| p.name == process) {
        return Ok(());
    }
    create(hub, SERVICE_ACCOUNT, Some(NAMESPACE), service_account(ACCOUNT)).await?;
    create(hub, CLUSTER_ROLE, None, role()).await?;
    let binding = cluster_role_binding(ACCOUNT, ACCOUNT, (NAMESPACE, ACCOUNT));
    create(hub, CLUSTER_ROLE_BINDING, None, binding).await?;
    let place = ArgoCdPaths::of(home);
    for dir in ["conf/applicationset", "conf/applicationset/tls"] {
        state_dir::make_private(&place.dir(dir))?;
    }
    write_private(&place.dir("conf/applicationset/tls/ca.crt"), home.ca())?;
    let token = account_token(hub, NAMESPACE, ACCOUNT).await?;
    place.write_kubeconfig(KUBECONFIG, hub, &token)?;
    let [metrics, probe, webhook] = home.supervisor().reserve().await?;
    port::write(&place.dir(PROBE_PORT), probe)?;
    home.supervisor().start(controller(&place, programs, [metrics, probe, webhook])?).await?;
    listens(home, process, probe).await
}

/// Process of the controller. Its manager reads the kubeconfig from the environment; the flag `--kubeconfig` doesn't count for it
/// (v3.2.11 and v3.5.7).
fn controller(place: &ArgoCdPaths, programs: &ArgoCdPrograms, ports: [u16; 3]) -> Result<ProcessSpec, FleetError> {
    let process = ArgoCdComponent::ApplicationSetController.process();
    let [metrics, probe, webhook] = ports;
    let args = [
        format!("--namespace={NAMESPACE}"),
        format!("--argocd-repo-server=127.0.0.1:{}", place.repo_server_port()?),
        format!("--metrics-addr=127.0.0.1:{metrics}"),
        format!("--probe-addr=127.0.0.1:{probe}"),
        format!("--webhook-addr=127.0.0.1:{webhook}"),
        "--enable-progressive-syncs".to_owned(),
    ];
    let mut env = place.env(process, KUBECONFIG);
    env.extend(place.trust_in_repo_server("APPLICATIONSET_CONTROLLER", "applicationset"));
    Ok(ProcessSpec {
        name: process.into(),
        program: programs.argocd.clone(),
        args: args.to_vec(),
        env,
        ..ProcessSpec::default()
    })
}

/// Rights as in Argo CD's `manifests/cluster-rbac/applicationset-controller`, which are the same in v3.2.11 and v3.5.7, without the leases for
/// a leader election: there is one controller.
fn role() -> Value {
    let all = ["create", "delete", "get", "list", "patch", "update", "watch"];
    let rule = |group: &str, resources: &[&str], verbs: &[&str]| json!({"apiGroups": [group], "resources": resources, "verbs": verbs});
    json!({
        "apiVersion": CLUSTER_ROLE.api_version(), "kind": CLUSTER_ROLE.kind, "metadata": {"name": ACCOUNT},
        "rules": [
            rule("argoproj.io", &["applications", "applicationsets", "applicationsets/finalizers"], &all),
            rule("argoproj.io", &["applicationsets/status"], &["get", "patch", "update"]),
            rule("argoproj.io", &["appprojects"], &["get", "list", "watch"]),
            rule("", &["events"], &["create", "get", "list", "patch", "watch"]),
            rule("", &["secrets", "configmaps"], &["get", "list", "watch"]),
        ],
    })
}
