//! Clusters that `kind` makes: real nodes and kubelets in Docker, KubeFleet's agents as Deployments.
//!
//! `kind` and `docker` are called as a user calls them, each cluster with a kubeconfig of its own, so that the user's isn't
//! touched. A cluster is called `fleetdrill-FLEET-CLUSTER` and its node has a directory of its fleet's mounted: by that it is known
//! as ours. The fleet's keeper deletes it at its end; [`sweep`] finds what a keeper that was killed has left.

mod chart;
mod deployment;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use k8s_openapi::api::core::v1::Node;
use kube::api::{Api, ListParams};
use kube::config::Kubeconfig;
use serde::{Deserialize, Serialize};

use crate::cluster::{Cluster, Role};
use crate::docker;
use crate::error::ClusterError;
use crate::existing::Contexts;
use crate::home::Home;
use crate::images::{self, DOCKER, Images, Ready, SHORT};
use crate::keeper::protocol::Farewell;
use crate::kubeconfig;
use crate::local::PodPrograms;
use crate::outside::Outside;
use crate::provider::{Ability, Agent, Provider, served_by};
use crate::state_dir::{self, write_private};

/// kind's command.
const KIND: Outside = Outside("kind");

/// How long a cluster may take until its API server answers. Four at once took 43 s on two processors, and longer where the node
/// image has to come first.
const CREATE_LIMIT: Duration = Duration::from_secs(600);

/// How long a node may take to get ready after that.
const NODE_LIMIT: Duration = Duration::from_secs(180);

/// How long a cluster may take to go.
const DELETE_LIMIT: Duration = Duration::from_secs(60);

/// How long an image may take into a node.
const LOAD_LIMIT: Duration = Duration::from_secs(120);

/// The empty directory in a fleet's by which its nodes are known, and where they have it.
const MARK: (&str, &str) = ("kind", "/fleetdrill");

/// The label that kind gives its nodes' containers, with the cluster's name.
const CLUSTER_LABEL: &str = "io.x-k8s.kind.cluster";

/// What the names of our clusters begin with.
const PREFIX: &str = "fleetdrill-";

/// A cluster's name becomes part of its node's host name, which has 63 characters at most.
const LONGEST: usize = 49;

/// The image that scenarios take for one that can be had. Its nodes get it without a registry: what runs is kind's own pause
/// container.
const GOOD_IMAGE: &str = "docker.io/library/nginx:1.29";

/// How clusters are made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Setup {
    /// The nodes' image; without it kind's own.
    pub node_image: Option<String>,
    /// The agents' images.
    pub images: Images,
    /// KubeFleet's charts, of which the agents' Deployments are to be made.
    pub charts: Option<Charts>,
}

/// KubeFleet's charts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Charts {
    /// The directory that has `hub-agent` and `member-agent`.
    pub dir: PathBuf,
    /// The image of the container that keeps a member's token; the published one of KubeFleet's version without it.
    pub refresh_token: Option<String>,
}

/// The clusters of one fleet.
pub struct InKind {
    home: Arc<Home>,
    setup: Setup,
    images: Ready,
}

/// What a fleet of kind's clusters can do.
#[must_use]
pub fn can(ability: Ability) -> bool {
    !matches!(ability, Ability::RunArgoCd | Ability::LeavePodsOut)
}

/// Sees that kind and Docker are there, and where charts are asked for, these and helm.
///
/// # Errors
/// When one isn't, or Docker doesn't answer.
pub async fn check(charts: Option<&Charts>) -> Result<(), ClusterError> {
    KIND.run(["version"], SHORT).await?;
    docker::check().await?;
    match charts {
        Some(charts) => chart::check(&charts.dir).await,
        None => Ok(()),
    }
}

/// How many inotify instances a user may have, where the system says so, and how many of them nodes take: each some 25, for its
/// systemd, containerd, kubelet and kube-proxy.
const INSTANCES: (&str, u32) = ("/proc/sys/fs/inotify/max_user_instances", 512);

/// What is wrong with this system for more than a few nodes, in a sentence. With Debian's 128 instances of inotify for each user, the
/// kube-proxy of the sixth node ends with `too many open files` over and over, and its agent doesn't find the API server.
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

/// Deletes the clusters of fleets that are no more: their keepers were killed before they could. Gives their names. Clusters that
/// fleetdrill didn't make are left alone, whatever they are called, and so are those of fleets that are up.
///
/// # Errors
/// When Docker doesn't answer, or one can't be deleted.
pub async fn sweep() -> Result<Vec<String>, ClusterError> {
    let root = state_dir::root()?;
    let mounted =
        format!("{{{{range .Mounts}}}}{{{{if eq .Destination \"{}\"}}}}{{{{.Source}}}}{{{{end}}}}{{{{end}}}}", MARK.1);
    let mut swept = Vec::new();
    let nodes = DOCKER.run(["ps", "--all", "--quiet", "--filter", &format!("label={CLUSTER_LABEL}")], SHORT).await?;
    for node in nodes.lines() {
        let format = format!("{{{{index .Config.Labels \"{CLUSTER_LABEL}\"}}}}\n{mounted}");
        // It may have gone since.
        let Ok(about) = DOCKER.run(["inspect", "--format", &format, node], SHORT).await else { continue };
        let mut lines = about.lines();
        let mark = |line| Path::new(line).parent().filter(|dir| dir.parent() == Some(&root));
        let (Some(cluster), Some(dir)) = (lines.next(), lines.next().and_then(mark)) else { continue };
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

/// With a kubeconfig of their own: deletions at the same time wait for the lock of the user's and fail.
fn delete_arguments(cluster: &str, kubeconfig: &Path) -> Vec<String> {
    let kubeconfig = kubeconfig.display().to_string();
    ["delete", "cluster", "--name", cluster, "--kubeconfig", &kubeconfig].map(str::to_owned).to_vec()
}

/// How a cluster is ended by the fleet's keeper.
fn farewell(cluster: &str, name: &str, kubeconfig: &Path) -> Farewell {
    let label = format!("label={CLUSTER_LABEL}={name}");
    let left = [DOCKER.0, "ps", "--all", "--quiet", "--filter", &label];
    Farewell {
        name: cluster.to_owned(),
        command: std::iter::once(KIND.0.to_owned()).chain(delete_arguments(name, kubeconfig)).collect(),
        left: left.map(str::to_owned).to_vec(),
    }
}

impl InKind {
    /// The clusters of a fleet, which are there or will be made.
    #[must_use]
    pub fn new(home: Arc<Home>, setup: Setup) -> Self {
        let images = Ready::new(setup.images.clone());
        Self { home, setup, images }
    }

    /// What kind calls a cluster.
    fn name_of(&self, cluster: &str) -> String {
        let fleet = self.home.dir().file_name().unwrap_or_default().to_string_lossy();
        format!("{PREFIX}{fleet}-{cluster}")
    }

    /// The file that kind writes its context to.
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
        self.home.keeper().at_end(farewell(cluster, &name, &kubeconfig)).await?;
        let config = self.home.dir().join(format!("{cluster}-kind.json"));
        let mark = self.home.dir().join(MARK.0);
        state_dir::make_private(&mark)?;
        write_private(&config, &configuration(&mark, self.setup.node_image.as_deref()))?;
        let (config, kubeconfig) = (config.display().to_string(), kubeconfig.display().to_string());
        let args = ["create", "cluster", "--name", &name, "--config", &config, "--kubeconfig", &kubeconfig];
        KIND.run(args, CREATE_LIMIT).await.map(drop)
    }

    /// The cluster by the context that kind has written, under its name in the fleet.
    async fn reach(&self, cluster: &str) -> Result<Cluster, ClusterError> {
        let name = self.name_of(cluster);
        let contexts = Contexts {
            kubeconfig: Some(self.written_by_kind(cluster)),
            of: [(cluster.to_owned(), format!("kind-{name}"))].into(),
        };
        let file = self.home.dir().join(format!("{cluster}-admin.kubeconfig"));
        let config: Kubeconfig = contexts.one(cluster)?;
        write_private(&file, &kubeconfig::text(&config))?;
        let reached = Cluster::of(cluster, config, file).await?;
        Ok(Cluster { inner_server: format!("https://{}:6443", node(&name)), ..reached })
    }

    /// Makes an agent's Deployment with so many pods, or changes it into this one, and gives its cluster the images that it needs.
    async fn deploy(&self, agent: &Agent, replicas: i32) -> Result<deployment::Deployed, ClusterError> {
        let image = self.images.image(agent).await?;
        self.load(agent, &image).await?;
        let deployed = self.deployed(&agent.name).await?;
        let Some(charts) = &self.setup.charts else {
            deployed.make(agent, &image, replicas).await?;
            return Ok(deployed);
        };
        let refresh_token = charts.refresh_token.clone().unwrap_or_else(|| images::refresh_token(&agent.version));
        if agent.hub.is_some() {
            self.images.named(&refresh_token).await?;
            self.load(agent, &refresh_token).await?;
        }
        let objects = chart::objects((&charts.dir, self.home.dir()), agent, &image, &refresh_token, replicas).await?;
        deployed.make_of(agent, objects).await?;
        Ok(deployed)
    }

    /// Gives an agent's cluster an image.
    async fn load(&self, agent: &Agent, image: &str) -> Result<(), ClusterError> {
        let name = self.name_of(&agent.cluster.name);
        KIND.run(["load", "docker-image", image, "--name", &name], LOAD_LIMIT).await.map(drop)
    }

    /// The cluster that an agent serves, and its Deployment there.
    async fn deployed(&self, agent: &str) -> Result<deployment::Deployed, ClusterError> {
        Ok(deployment::Deployed { cluster: self.cluster(served_by(agent)).await?, agent: agent.to_owned() })
    }
}

/// The one node of a cluster.
fn node(name: &str) -> String {
    format!("{name}-control-plane")
}

/// What kind is to make: one node, with the mark in it. JSON is YAML, too.
fn configuration(mark: &Path, image: Option<&str>) -> String {
    let mounts = serde_json::json!([{"hostPath": mark, "containerPath": MARK.1, "readOnly": true}]);
    let mut node = serde_json::json!({"role": "control-plane", "extraMounts": mounts});
    if let Some(image) = image {
        node["image"] = image.into();
    }
    let config = serde_json::json!({
        "kind": "Cluster", "apiVersion": "kind.x-k8s.io/v1alpha4",
        "networking": {"apiServerAddress": "127.0.0.1"}, "nodes": [node],
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
impl Provider for InKind {
    fn name(&self) -> &'static str {
        "kind"
    }

    fn can(&self, ability: Ability) -> bool {
        can(ability)
    }

    async fn start_cluster(&self, name: &str, _: Role) -> Result<Cluster, ClusterError> {
        state_dir::check_name(name)?;
        self.create(name).await?;
        self.reach(name).await
    }

    async fn start_controllers(&self, _: &Cluster, _: Role) -> Result<(), ClusterError> {
        Ok(())
    }

    async fn cluster(&self, name: &str) -> Result<Cluster, ClusterError> {
        self.reach(name).await
    }

    async fn stop_cluster(&self, name: &str) -> Result<(), ClusterError> {
        delete(&self.name_of(name), &self.written_by_kind(name)).await?;
        self.home.keeper().not_at_end(name).await
    }

    async fn start_pods(&self, cluster: &Cluster, _: Option<&PodPrograms>) -> Result<(), ClusterError> {
        node_ready(cluster).await?;
        let node = node(&self.name_of(&cluster.name));
        let images = ["exec", &node, "ctr", "--namespace", "k8s.io", "images"];
        let listed = DOCKER.run(images.iter().chain(&["list", "--quiet"]), SHORT).await?;
        let pause = listed.lines().find(|image| image.contains("/pause:"));
        let Some(pause) = pause.filter(|_| !listed.lines().any(|image| image == GOOD_IMAGE)) else { return Ok(()) };
        DOCKER.run(images.iter().chain(&["tag", pause, GOOD_IMAGE]), SHORT).await.map(drop)
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
