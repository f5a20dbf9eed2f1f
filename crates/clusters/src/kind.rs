//! Clusters that `kind` creates: real nodes and kubelets in Docker, with KubeFleet's agents as Deployments.
//!
//! `kind` and `docker` are run in the way a user runs them. Each cluster has a kubeconfig of its own, so that the
//! user's isn't touched. A cluster is called `fleetdrill-FLEET-CLUSTER`. The cluster's node mounts a directory of its
//! fleet, which identifies the cluster as fleetdrill's. The fleet's supervisor deletes the cluster when the fleet ends;
//! [`sweep`] deletes clusters that a killed supervisor has left.

use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use jiff::Timestamp;
use k8s_openapi::api::core::v1::Node;
use kube::api::{Api, ListParams};
use kube::config::Kubeconfig;
use rustix::process::Pid;
use serde::{Deserialize, Serialize};

use crate::ability::ProviderAbility;
use crate::agents::chart;
use crate::agents::deployment::AgentDeployment;
use crate::agents::{self, Agent, AgentImageSource, AgentImages, served_by};
use crate::cluster::{Cluster, FleetRole, HUB};
use crate::control_plane::{self, SERVICE_ADDRESSES};
use crate::docker;
use crate::docker::processes::ContainerProcess;
use crate::error::ClusterError;
use crate::existing::ClusterContexts;
use crate::external_program::{DOCKER, ExternalProgram, SHORT};
use crate::home::FleetHome;
use crate::kubeconfig;
use crate::local::PodPrograms;
use crate::provider::Provider;
use crate::service_account_token::{self, SigningKey};
use crate::state_dir::{self, write_private};
use crate::supervisor::ProcessFault;
use crate::supervisor::protocol::{FaultCommands, ShutdownHook};

/// Command of kind.
const KIND: ExternalProgram = ExternalProgram("kind");

/// Time limit for a cluster until its API server answers. Four clusters at once took 43 s on two processors, and take
/// longer if the node image has to be pulled first.
const CREATE_LIMIT: Duration = Duration::from_secs(600);

/// Time limit for a node to become ready after that.
const NODE_LIMIT: Duration = Duration::from_secs(180);

/// Time limit for the deletion of a cluster.
const DELETE_LIMIT: Duration = Duration::from_secs(60);

/// Time limit for loading an image into a node.
const LOAD_LIMIT: Duration = Duration::from_secs(120);

/// Empty directory in a fleet's directory that identifies the fleet's nodes, and its mount point in a node.
const MARK: (&str, &str) = ("kind", "/fleetdrill");

/// Label that kind gives to the containers of its nodes; the value is the cluster's name.
const CLUSTER_LABEL: &str = "io.x-k8s.kind.cluster";

/// Prefix of the names of fleetdrill's clusters.
const PREFIX: &str = "fleetdrill-";

/// Maximum length of a cluster's name. The name becomes part of the node's host name, which has 63 characters at most.
const LONGEST: usize = 49;

/// Images that scenarios use as ones that can be pulled: one, and another version for an update. Nodes get them without
/// a registry, as tags of the image of kind's own pause container.
const GOOD_IMAGES: [&str; 2] = ["docker.io/library/nginx:1.29", "docker.io/library/nginx:1.30"];

/// Setup of a fleet's clusters in kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KindSetup {
    /// Image of the nodes; `None` stands for kind's default.
    pub node_image: Option<String>,
    /// The agents' images.
    pub images: AgentImageSource,
    /// KubeFleet's charts, from which the agents' Deployments are rendered.
    pub charts: Option<Charts>,
}

/// KubeFleet's charts, and the image that they need in addition to the agents' images.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Charts {
    /// The directory that has `hub-agent` and `member-agent`.
    pub dir: PathBuf,
    /// Image of the container that refreshes a member's token; `None` stands for the published one of KubeFleet's
    /// version.
    pub refresh_token: Option<String>,
}

/// Provider of clusters in kind, for one fleet.
pub struct KindProvider {
    home: Arc<FleetHome>,
    setup: KindSetup,
    images: AgentImages,
}

/// Returns true if a fleet in kind has this ability.
#[must_use]
pub fn can(ability: ProviderAbility) -> bool {
    let lacks = [
        ProviderAbility::CallWebhooks,
        ProviderAbility::SimulatePods,
        ProviderAbility::LeavePodsOut,
        ProviderAbility::PlayMembers,
        ProviderAbility::RestoreClusters,
        ProviderAbility::ServeWebhooks,
        ProviderAbility::LimitStorage,
        ProviderAbility::DefragmentStorage,
        ProviderAbility::ChangeHubCertificate,
        ProviderAbility::LimitAgents,
    ];
    !lacks.contains(&ability) && ability.is_possible_here()
}

/// Checks that kind and Docker are there and, if charts are requested, the charts and helm.
///
/// # Errors
/// Returns an error if one of them isn't there, or Docker doesn't answer.
pub async fn check(charts: Option<&Charts>) -> Result<(), ClusterError> {
    KIND.run(["version"], SHORT).await?;
    docker::check().await?;
    match charts {
        Some(charts) => chart::check(&charts.dir).await,
        None => Ok(()),
    }
}

/// File with the number of inotify instances that a user may have, and the number below which a warning is given. A
/// node takes some 25, for its systemd, containerd, kubelet and kube-proxy.
const INSTANCES: (&str, u32) = ("/proc/sys/fs/inotify/max_user_instances", 512);

/// Returns a warning if this system has too few inotify instances for more than a few nodes. With Debian's 128
/// instances for each user, the kube-proxy of the sixth node fails again and again with `too many open files`, and the
/// node's agent doesn't find the API server.
#[must_use]
pub fn few_watches() -> Option<String> {
    let allowed = std::fs::read_to_string(INSTANCES.0).ok()?.trim().parse::<u32>().ok()?;
    (allowed < INSTANCES.1).then(|| {
        format!(
            "fs.inotify.max_user_instances is {allowed}, which does for about five nodes: sudo sysctl \
             fs.inotify.max_user_instances={}",
            INSTANCES.1
        )
    })
}

/// Deletes the clusters of fleets whose supervisor was killed, and returns their names. Clusters that fleetdrill didn't
/// create are left alone, whatever their names, and so are those of running fleets.
///
/// # Errors
/// Returns an error if Docker doesn't answer, or a cluster can't be deleted.
pub async fn sweep() -> Result<Vec<String>, ClusterError> {
    let root = state_dir::root()?;
    let mounted =
        format!("{{{{range .Mounts}}}}{{{{if eq .Destination \"{}\"}}}}{{{{.Source}}}}{{{{end}}}}{{{{end}}}}", MARK.1);
    let mut swept = Vec::new();
    let nodes = DOCKER.run(["ps", "--all", "--quiet", "--filter", &format!("label={CLUSTER_LABEL}")], SHORT).await?;
    for node in nodes.lines() {
        let format = format!("{{{{index .Config.Labels \"{CLUSTER_LABEL}\"}}}}\n{mounted}");
        // The node may have been deleted in the meantime.
        let Ok(about) = DOCKER.run(["inspect", "--format", &format, node], SHORT).await else { continue };
        let mut lines = about.lines();
        let (cluster, mark) = (lines.next(), lines.next().map(Path::new));
        let dir = mark.and_then(Path::parent).filter(|dir| dir.parent() == Some(&root));
        let (Some(cluster), Some(dir)) = (cluster, dir) else { continue };
        if !state_dir::is_alive(dir) {
            delete(cluster, Path::new("/dev/null")).await?;
            swept.push(cluster.to_owned());
        }
    }
    Ok(swept)
}

async fn delete(cluster: &str, kubeconfig: &Path) -> Result<(), ClusterError> {
    KIND.run(delete_arguments(cluster, kubeconfig), DELETE_LIMIT).await.map(drop)
}

/// Returns the arguments of kind that delete a cluster. They name a kubeconfig, because deletions at the same time
/// would wait for the lock of the user's kubeconfig and fail.
fn delete_arguments(cluster: &str, kubeconfig: &Path) -> Vec<String> {
    let kubeconfig = kubeconfig.display().to_string();
    ["delete", "cluster", "--name", cluster, "--kubeconfig", &kubeconfig].map(str::to_owned).to_vec()
}

/// Returns the shutdown hook that deletes a cluster.
fn shutdown_hook(cluster: &str, name: &str, kubeconfig: &Path) -> ShutdownHook {
    let label = format!("label={CLUSTER_LABEL}={name}");
    let left = [DOCKER.0, "ps", "--all", "--quiet", "--filter", &label];
    ShutdownHook {
        name: cluster.to_owned(),
        command: std::iter::once(KIND.0.to_owned()).chain(delete_arguments(name, kubeconfig)).collect(),
        left: left.map(str::to_owned).to_vec(),
    }
}

impl KindProvider {
    /// Creates the provider for a fleet, whose clusters may exist already.
    #[must_use]
    pub fn new(home: Arc<FleetHome>, setup: KindSetup) -> Self {
        let images = AgentImages::new(setup.images.clone());
        Self { home, setup, images }
    }

    /// Name of a cluster in kind.
    fn name_of(&self, cluster: &str) -> String {
        let fleet = self.home.dir().file_name().unwrap_or_default().to_string_lossy();
        format!("{PREFIX}{fleet}-{cluster}")
    }

    /// File to which kind writes the cluster's context.
    fn written_by_kind(&self, cluster: &str) -> PathBuf {
        self.home.dir().join(format!("{cluster}-kind.kubeconfig"))
    }

    async fn create(&self, cluster: &str) -> Result<(), ClusterError> {
        let (name, kubeconfig) = (self.name_of(cluster), self.written_by_kind(cluster));
        if name.len() > LONGEST {
            return Err(ClusterError::BadName(name));
        }
        if KIND.run(["get", "clusters"], SHORT).await?.lines().any(|there| there == name) {
            return Err(ClusterError::ClusterTaken(name));
        }
        self.home.supervisor().at_end(shutdown_hook(cluster, &name, &kubeconfig)).await?;
        let config = self.home.dir().join(format!("{cluster}-kind.json"));
        let mark = self.home.dir().join(MARK.0);
        state_dir::make_private(&mark)?;
        write_private(&config, &configuration(&mark, self.setup.node_image.as_deref()))?;
        let (config, kubeconfig) = (config.display().to_string(), kubeconfig.display().to_string());
        let args = ["create", "cluster", "--name", &name, "--config", &config, "--kubeconfig", &kubeconfig];
        KIND.run(args, CREATE_LIMIT).await.map(drop)
    }

    /// Connects to a cluster by the context that kind has written, under the cluster's name in the fleet.
    async fn reach(&self, cluster: &str) -> Result<Cluster, ClusterError> {
        let name = self.name_of(cluster);
        let contexts = ClusterContexts {
            kubeconfig: Some(self.written_by_kind(cluster)),
            of: [(cluster.to_owned(), format!("kind-{name}"))].into(),
        };
        let file = self.home.dir().join(format!("{cluster}-admin.kubeconfig"));
        let config: Kubeconfig = contexts.one(cluster)?;
        write_private(&file, &kubeconfig::text(&config))?;
        let reached = Cluster::of(cluster, config, file).await?;
        Ok(Cluster { inner_server: format!("https://{}:6443", node(&name)), ..reached })
    }

    /// Applies an agent's Deployment with this number of pods, and loads the images that the Deployment needs into the
    /// cluster.
    async fn deploy(&self, agent: &Agent, replicas: i32) -> Result<AgentDeployment, ClusterError> {
        let image = self.images.image(agent).await?;
        self.load(&agent.cluster.name, &image).await?;
        let deployed = self.deployed(&agent.name).await?;
        let Some(charts) = &self.setup.charts else {
            deployed.make(agent, &image, replicas).await?;
            return Ok(deployed);
        };
        let refresh_token = charts.refresh_token.clone().unwrap_or_else(|| agents::refresh_token(&agent.version));
        if agent.hub.is_some() {
            self.images.named(&refresh_token).await?;
            self.load(&agent.cluster.name, &refresh_token).await?;
        }
        let objects = chart::objects((&charts.dir, self.home.dir()), agent, &image, &refresh_token, replicas).await?;
        deployed.make_of(agent, objects).await?;
        Ok(deployed)
    }

    /// Loads an image that Docker has into a cluster.
    async fn load(&self, cluster: &str, image: &str) -> Result<(), ClusterError> {
        let name = self.name_of(cluster);
        KIND.run(["load", "docker-image", image, "--name", &name], LOAD_LIMIT).await.map(drop)
    }

    /// Name of a cluster's node, which is a container.
    fn node_of(&self, cluster: &str) -> String {
        node(&self.name_of(cluster))
    }

    /// Returns the command line that runs a script in a cluster's node, with `docker` as its first word. In the script, `containers NAME`
    /// prints the ids of the containers of this name, `tasks NAME` the ids of the first processes of those that run, and `signal NAME SIGNAL` sends them a
    /// signal.
    fn script_in_node(&self, cluster: &str, script: &str) -> Vec<String> {
        let script = format!("{FUNCTIONS}{script}");
        [DOCKER.0, "exec", &self.node_of(cluster), "sh", "-e", "-c", &script].map(str::to_owned).to_vec()
    }

    /// Lets the containers of this name in a cluster hang. The kubelet is stopped meanwhile: it would restart one whose probe fails.
    async fn hang(&self, cluster: &str, container: &str) -> Result<ProcessFault, ClusterError> {
        let begin = self.script_in_node(cluster, &format!("systemctl stop kubelet\nsignal {container} SIGSTOP"));
        let end = self.script_in_node(cluster, &format!("systemctl start kubelet\nsignal {container} SIGCONT"));
        self.home.supervisor().run_commands(container, FaultCommands { begin, end }).await
    }

    /// Finds the first process of the only running container of this name in a cluster.
    async fn process(&self, cluster: &str, container: &str) -> Result<ContainerProcess, ClusterError> {
        let script = self.script_in_node(cluster, &format!("tasks {container}"));
        let listed = DOCKER.run(&script[1..], SHORT).await?;
        let found: Vec<Pid> = listed.lines().filter_map(|line| Pid::from_raw(line.trim().parse().ok()?)).collect();
        let [id] = found[..] else {
            let how = format!("{} running containers {container} instead of one", found.len());
            return Err(DOCKER.unexpected(&script[1..], how, listed));
        };
        Ok(ContainerProcess::inside(&self.node_of(cluster), id))
    }

    /// Gives a container in a cluster only a part of its processor time.
    async fn throttle(&self, cluster: &str, container: &str, percent: u8) -> Result<ProcessFault, ClusterError> {
        let commands = self.process(cluster, container).await?.throttle(percent).await?;
        self.home.supervisor().run_commands(&format!("{container} of {cluster}"), commands).await
    }

    /// Shifts the clock of a container in a cluster.
    async fn shift_clock(&self, cluster: &str, container: &str, seconds: i32) -> Result<ProcessFault, ClusterError> {
        let commands = self.process(cluster, container).await?.shift_clock(seconds).await?;
        self.home.supervisor().run_commands(&format!("the clock of {container}"), commands).await
    }

    /// Returns the Deployment of an agent, in the cluster that the agent serves.
    async fn deployed(&self, agent: &str) -> Result<AgentDeployment, ClusterError> {
        Ok(AgentDeployment { cluster: self.cluster(served_by(agent)).await?, agent: agent.to_owned() })
    }
}

/// Name of the container of a cluster's API server.
const API_SERVER: &str = "kube-apiserver";

/// Name of the container of a cluster's etcd.
const ETCD: &str = "etcd";

/// File in a node with the key by which the cluster's API server signs tokens.
const SIGNING_KEY: &str = "/etc/kubernetes/pki/sa.key";

/// Shell functions of [`KindProvider::script_in_node`]. containerd knows containers that have ended, too, and fails for them.
const FUNCTIONS: &str = r#"containers() {
    ctr --namespace k8s.io containers list --quiet "labels.\"io.kubernetes.container.name\"==$1"
}
signal() {
    sent=1
    for id in $(containers "$1"); do
        ctr --namespace k8s.io tasks kill --signal "$2" "$id" && sent=0
    done
    return $sent
}
tasks() {
    ids=" $(containers "$1" | tr '\n' ' ') "
    ctr --namespace k8s.io tasks list | while read -r id process state; do
        case "$ids" in *" $id "*) if [ "$state" = RUNNING ]; then echo "$process"; fi ;; esac
    done
}
"#;

/// Name of the only node of a cluster.
fn node(name: &str) -> String {
    format!("{name}-control-plane")
}

/// Returns kind's configuration of a cluster: one node, which mounts the fleet's mark. The text is JSON, which is YAML
/// too.
fn configuration(mark: &Path, image: Option<&str>) -> String {
    let mounts = serde_json::json!([{"hostPath": mark, "containerPath": MARK.1, "readOnly": true}]);
    let mut node = serde_json::json!({"role": "control-plane", "extraMounts": mounts});
    if let Some(image) = image {
        node["image"] = image.into();
    }
    let config = serde_json::json!({
        "kind": "Cluster", "apiVersion": "kind.x-k8s.io/v1alpha4",
        "networking": {"apiServerAddress": "127.0.0.1", "serviceSubnet": SERVICE_ADDRESSES}, "nodes": [node],
    });
    config.to_string()
}

/// Waits until the cluster's node is ready.
async fn node_ready(cluster: &Cluster) -> Result<(), ClusterError> {
    let api: Api<Node> = Api::all(cluster.client.clone());
    let started = Instant::now();
    loop {
        let nodes = api.list(&ListParams::default()).await;
        let why = match nodes {
            Ok(nodes) => {
                let conditions = nodes.items.into_iter().filter_map(|node| node.status?.conditions).flatten();
                match conditions.into_iter().find(|condition| condition.type_ == "Ready") {
                    Some(ready) if ready.status == "True" => return Ok(()),
                    Some(ready) => ready.message.unwrap_or_default(),
                    None => "it says nothing yet".to_owned(),
                }
            }
            Err(error) => error.to_string(),
        };
        if started.elapsed() > NODE_LIMIT {
            let (cluster, seconds) = (cluster.name.clone(), NODE_LIMIT.as_secs());
            return Err(ClusterError::NodeNotReady { cluster, seconds, why });
        }
        tokio::time::sleep(Duration::from_millis(250)).await;
    }
}

#[async_trait]
impl Provider for KindProvider {
    fn name(&self) -> &'static str {
        "kind"
    }

    fn can(&self, ability: ProviderAbility) -> bool {
        can(ability)
    }

    async fn start_cluster(&self, name: &str, _: FleetRole) -> Result<Cluster, ClusterError> {
        state_dir::check_name(name)?;
        self.create(name).await?;
        self.reach(name).await
    }

    async fn start_controllers(&self, _: &Cluster, _: FleetRole) -> Result<(), ClusterError> {
        Ok(())
    }

    async fn cluster(&self, name: &str) -> Result<Cluster, ClusterError> {
        self.reach(name).await
    }

    async fn stop_cluster(&self, name: &str) -> Result<(), ClusterError> {
        delete(&self.name_of(name), &self.written_by_kind(name)).await?;
        self.home.supervisor().not_at_end(name).await
    }

    async fn throttle_api_server(&self, cluster: &str, percent: u8) -> Result<ProcessFault, ClusterError> {
        self.throttle(cluster, API_SERVER, percent).await
    }

    async fn throttle_storage(&self, percent: u8) -> Result<ProcessFault, ClusterError> {
        self.throttle(HUB, ETCD, percent).await
    }

    async fn hang_api_server(&self, cluster: &str) -> Result<ProcessFault, ClusterError> {
        self.hang(cluster, API_SERVER).await
    }

    /// The kubelet is stopped with it: it would start the API server again.
    async fn run_api_server(&self, cluster: &str, running: bool) -> Result<(), ClusterError> {
        let stop = format!("systemctl stop kubelet\nsignal {API_SERVER} SIGKILL");
        let script = self.script_in_node(cluster, if running { "systemctl start kubelet" } else { &stop });
        DOCKER.run(&script[1..], SHORT).await?;
        if running {
            control_plane::ready(&self.home, cluster, &[], &self.cluster(cluster).await?.client).await?;
        }
        Ok(())
    }

    async fn shift_agent_clock(&self, name: &str, seconds: i32) -> Result<ProcessFault, ClusterError> {
        self.shift_clock(served_by(name), name, seconds).await
    }

    async fn shift_api_server_clock(&self, cluster: &str, seconds: i32) -> Result<ProcessFault, ClusterError> {
        self.shift_clock(cluster, API_SERVER, seconds).await
    }

    async fn hang_agent(&self, name: &str) -> Result<ProcessFault, ClusterError> {
        self.hang(served_by(name), name).await
    }

    async fn expiring_token(&self, cluster: &str, token: &str, at: Timestamp) -> Result<String, ClusterError> {
        let key = DOCKER.run(["exec", &self.node_of(cluster), "cat", SIGNING_KEY], SHORT).await?;
        service_account_token::expiring(token, at, &SigningKey::from_pem(&key)?)
    }

    /// The API servers of kind have API Priority and Fairness.
    async fn set_priorities(&self, _: &str) -> Result<(), ClusterError> {
        Ok(())
    }

    async fn start_pods(&self, cluster: &Cluster, _: Option<&PodPrograms>) -> Result<(), ClusterError> {
        node_ready(cluster).await?;
        let node = self.node_of(&cluster.name);
        let images = ["exec", &node, "ctr", "--namespace", "k8s.io", "images"];
        let listed = DOCKER.run(images.iter().chain(&["list", "--quiet"]), SHORT).await?;
        let Some(pause) = listed.lines().find(|image| image.contains("/pause:")) else { return Ok(()) };
        for image in GOOD_IMAGES.iter().filter(|good| !listed.lines().any(|image| image == **good)) {
            DOCKER.run(images.iter().chain(&["tag", pause, image]), SHORT).await?;
        }
        Ok(())
    }

    async fn load_image(&self, cluster: &str, image: &str) -> Result<(), ClusterError> {
        self.images.named(image).await?;
        self.load(cluster, image).await
    }

    async fn machine_address(&self, cluster: &str) -> Result<IpAddr, ClusterError> {
        docker::gateway(&self.node_of(cluster)).await
    }

    async fn start_agent(&self, agent: &Agent) -> Result<(), ClusterError> {
        let (deployed, ready) = tokio::join!(self.deploy(agent, 1), node_ready(&agent.cluster));
        ready?;
        deployed?.runs().await
    }

    async fn stop_agent(&self, name: &str) -> Result<(), ClusterError> {
        self.deployed(name).await?.stop().await
    }

    async fn start_agent_again(&self, name: &str) -> Result<(), ClusterError> {
        let deployed = self.deployed(name).await?;
        deployed.scale(1).await?;
        deployed.runs().await
    }

    async fn hand_over_token(&self, name: &str, token: &Path) -> Result<(), ClusterError> {
        self.deployed(name).await?.hand_over(token).await
    }

    async fn exchange_agent(&self, agent: &Agent) -> Result<bool, ClusterError> {
        let wanted = self.deployed(&agent.name).await?.replicas().await?;
        let deployed = self.deploy(agent, wanted).await?;
        if wanted == 0 {
            return Ok(false);
        }
        deployed.runs().await?;
        Ok(true)
    }

    async fn remove_agent(&self, name: &str) -> Result<(), ClusterError> {
        self.deployed(name).await?.delete().await
    }

    async fn agent_log(&self, name: &str) -> Result<String, ClusterError> {
        self.deployed(name).await?.log().await
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn a_cluster_has_one_node_that_knows_its_fleet() {
        let config = configuration(Path::new("/state/run-abcd/kind"), Some("kindest/node:v1.36.3"));
        let config: serde_json::Value = serde_json::from_str(&config).expect("JSON");
        insta::assert_snapshot!(serde_json::to_string_pretty(&config).expect("JSON"));
    }

    #[test]
    fn only_its_own_cluster_is_deleted_and_no_other_kubeconfig_touched() {
        let args = delete_arguments("fleetdrill-run-abcd-hub", Path::new("/state/run-abcd/hub-kind.kubeconfig"));
        let args = args.join(" ");
        assert_eq!(
            args,
            "delete cluster --name fleetdrill-run-abcd-hub --kubeconfig /state/run-abcd/hub-kind.kubeconfig"
        );
    }
}
