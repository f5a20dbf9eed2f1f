//! Clusters in Docker: each in one ordinary container without privileges, KubeFleet's agents in containers beside them.
//!
//! A container runs etcd, kube-apiserver, kube-controller-manager and, for pods, kube-scheduler and KWOK: the same programs with the
//! same flags as on this machine (`control_plane.rs`), of an image that is made of them (`image.rs`). Containers are started by
//! testcontainers, on a network of the fleet's own; their API servers are published on 127.0.0.1. `docker logs --follow` of each is a
//! process of the fleet's keeper: what they log and that they have ended is known as of processes here.
//!
//! Containers and network carry the fleet's directory as a label. The keeper removes them at its end; [`sweep`] finds what a keeper
//! that was killed has left.

mod image;
mod inside;

use std::collections::HashMap;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use testcontainers::bollard::models::{HostConfig, PortBinding};
use testcontainers::core::{IntoContainerPort, Mount};
use testcontainers::runners::AsyncRunner;
use testcontainers::{
    ContainerAsync, ContainerRequest, CopyTargetOptions, GenericImage, ImageExt, ReuseDirective, TestcontainersError,
};
use tokio::sync::{Mutex, OnceCell};

pub use self::image::Contents;
pub use self::inside::run as run_inside;
use crate::cluster::{Cluster, Role};
use crate::control_plane::{self, Site};
use crate::error::ClusterError;
use crate::home::Home;
use crate::images::{DOCKER, Images, Ready, SHORT, split};
use crate::keeper::protocol::{Farewell, ProcessSpec};
use crate::local::PodPrograms;
use crate::pods::{self, KWOK, KWOK_USER, SCHEDULER};
use crate::provider::{Ability, Agent, Provider};
use crate::state_dir;

/// How long a container may take to start, without its image.
const START_LIMIT: Duration = Duration::from_secs(120);

/// The label with the fleet's directory, on all that is a fleet's.
const FLEET_LABEL: &str = "fleetdrill.dev/fleet";

/// The label with a container's name in its fleet.
const NAME_LABEL: &str = "fleetdrill.dev/name";

/// The port of an API server in its container.
const API_PORT: u16 = 6443;

/// etcd's port for peers in a cluster's container, and KWOK's for logs.
const PEER_PORT: u16 = 2380;
/// As [`PEER_PORT`].
const KUBELET_PORT: u16 = 10250;

/// Where a cluster's container has its data, in memory, and where containers have their files.
const DATA: &str = "/data";
/// As [`DATA`].
const FILES: &str = "/fleet";

/// What a cluster's container runs from its start on, and what is started in it later: lists of processes among its files.
const CONTROL_PLANE: &str = "control-plane.json";
/// As [`CONTROL_PLANE`].
const CONTROLLERS: &str = "controllers.json";
/// As [`CONTROL_PLANE`].
const PODS: &str = "pods.json";

/// A container's name is its host name on the network, which has 63 characters at most.
const LONGEST: usize = 63;

/// How clusters are made.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Setup {
    /// What the clusters' image is made of.
    pub contents: Contents,
    /// The agents' images.
    pub images: Images,
}

/// The clusters of one fleet.
pub struct InDocker {
    home: Arc<Home>,
    setup: Setup,
    images: Ready,
    image: OnceCell<String>,
    pods: Mutex<()>,
}

/// What a fleet in Docker can do.
#[must_use]
pub fn can(ability: Ability) -> bool {
    // Its hub's API server can't reach a webhook on this machine.
    ability != Ability::RunArgoCd
}

/// Sees that Docker is there.
///
/// # Errors
/// When it isn't, or doesn't answer.
pub async fn check() -> Result<(), ClusterError> {
    DOCKER.run(["version", "--format", "{{.Server.Version}}"], SHORT).await.map(drop)
}

/// Removes the containers and networks of fleets that are no more: their keepers were killed before they could. Gives the names of
/// the containers. What fleetdrill didn't make is left alone, and so is what belongs to fleets that are up.
///
/// # Errors
/// When Docker doesn't answer, or one can't be removed.
pub async fn sweep() -> Result<Vec<String>, ClusterError> {
    let root = state_dir::root()?;
    let is_dead = |dir: &str| Path::new(dir).parent() == Some(&root) && !state_dir::is_alive(Path::new(dir));
    let dead = async |objects: [&str; 2], name: &str| {
        let (filter, label) = (format!("label={FLEET_LABEL}"), format!("{{{{.Label \"{FLEET_LABEL}\"}}}}"));
        let format = format!("{{{{.{name}}}}}\t{label}");
        let listed = DOCKER.run([objects[0], objects[1], "--filter", &filter, "--format", &format], SHORT).await?;
        let dead = listed.lines().filter_map(|line| line.split_once('\t')).filter(|(_, dir)| is_dead(dir));
        Ok::<_, ClusterError>(dead.map(|(name, _)| name.to_owned()).collect::<Vec<_>>())
    };
    let containers = dead(["ps", "--all"], "Names").await?;
    for container in &containers {
        remove(container).await?;
    }
    for network in dead(["network", "ls"], "Name").await? {
        DOCKER.run(["network", "rm", &network], SHORT).await?;
    }
    Ok(containers)
}

async fn remove(container: &str) -> Result<(), ClusterError> {
    DOCKER.run(["rm", "--force", "--volumes", container], SHORT).await.map(drop)
}

/// What the keeper does at its end: it removes the fleet's containers and, when none is left, their network.
fn farewell(dir: &str, network: &str) -> Farewell {
    // A network of somebody else's may have the name.
    const SCRIPT: &str = "docker ps --all --quiet --filter \"label=$1\" | xargs -r docker rm --force --volumes\n\
                          docker network ls --quiet --filter \"label=$1\" | xargs -r docker network rm";
    const LEFT: &str = "docker ps --all --quiet --filter \"label=$1\"; docker network ls --quiet --filter \"label=$1\"";
    let label = format!("{FLEET_LABEL}={dir}");
    let shell = |script: &str| ["sh", "-c", script, "sh", &label].map(str::to_owned).to_vec();
    Farewell { name: network.to_owned(), command: shell(SCRIPT), left: shell(LEFT) }
}

impl InDocker {
    /// Makes the network of a new fleet.
    ///
    /// # Errors
    /// When Docker can't make it.
    pub async fn create(home: Arc<Home>, setup: Setup) -> Result<Self, ClusterError> {
        let made = Self::open(home, setup);
        let (network, dir) = (made.network(), made.home.dir().display().to_string());
        let label = format!("{FLEET_LABEL}={dir}");
        made.remove_what_another_left(&label).await?;
        made.home.keeper().at_end(farewell(&dir, &network)).await?;
        DOCKER.run(["network", "create", "--label", &label, &network], SHORT).await?;
        Ok(made)
    }

    /// The clusters of a fleet that is up.
    #[must_use]
    pub fn open(home: Arc<Home>, setup: Setup) -> Self {
        let images = Ready::new(setup.images.clone());
        Self { home, setup, images, image: OnceCell::new(), pods: Mutex::default() }
    }

    /// Removes what a fleet left that was in the same directory, and whose keeper was killed.
    async fn remove_what_another_left(&self, label: &str) -> Result<(), ClusterError> {
        let filter = format!("label={label}");
        let list = ["--quiet", "--filter", &filter];
        for container in DOCKER.run(["ps", "--all"].iter().chain(&list), SHORT).await?.lines() {
            remove(container).await?;
        }
        for network in DOCKER.run(["network", "ls"].iter().chain(&list), SHORT).await?.lines() {
            DOCKER.run(["network", "rm", network], SHORT).await?;
        }
        Ok(())
    }

    /// The fleet's network.
    fn network(&self) -> String {
        let fleet = self.home.dir().file_name().unwrap_or_default().to_string_lossy();
        format!("fleetdrill-{fleet}")
    }

    /// What Docker calls a container of the fleet's.
    fn container_name(&self, name: &str) -> String {
        format!("{}-{name}", self.network())
    }

    /// The address of a cluster's API server on the fleet's network.
    fn inner_server(&self, cluster: &str) -> String {
        format!("https://{}:{API_PORT}", self.container_name(cluster))
    }

    /// A container of this image, as all of the fleet's are: without privileges, on its network, gone with the fleet and not with
    /// whoever has started it.
    fn request(&self, name: &str, image: &str, files: Files) -> Result<ContainerRequest<GenericImage>, ClusterError> {
        let container = self.container_name(name);
        if container.len() > LONGEST {
            return Err(ClusterError::BadName(container));
        }
        let (repository, tag) = split(image);
        let mut request = GenericImage::new(repository, tag)
            .with_container_name(container)
            .with_network(self.network())
            .with_label(FLEET_LABEL, self.home.dir().display().to_string())
            .with_label(NAME_LABEL, name)
            .with_cap_drop("ALL")
            .with_security_opt("no-new-privileges")
            .with_startup_timeout(START_LIMIT)
            .with_reuse(ReuseDirective::Always);
        for (path, contents) in files.0 {
            // Its process is nobody's, here and there.
            request =
                request.with_copy_to(CopyTargetOptions::new(path.display().to_string()).with_mode(0o444), contents);
        }
        Ok(request)
    }

    /// Starts a container and lets the keeper follow what it logs.
    async fn start(
        &self,
        name: &str,
        request: ContainerRequest<GenericImage>,
    ) -> Result<ContainerAsync<GenericImage>, ClusterError> {
        let started = request.start().await.map_err(|error| not_started(&self.container_name(name), error))?;
        self.home.keeper().start(self.follow(name)).await?;
        Ok(started)
    }

    /// The process that has a container's log, and ends with the container.
    fn follow(&self, name: &str) -> ProcessSpec {
        let of_docker = std::env::vars().filter(|(key, _)| key.starts_with("DOCKER_"));
        let mut env: HashMap<String, String> = of_docker.collect();
        if let (false, Ok(home)) = (env.contains_key("DOCKER_CONFIG"), std::env::var("HOME")) {
            env.insert("DOCKER_CONFIG".into(), format!("{home}/.docker"));
        }
        ProcessSpec {
            name: name.to_owned(),
            program: DOCKER.0.into(),
            args: ["logs", "--follow", &self.container_name(name)].map(str::to_owned).to_vec(),
            env: env.into_iter().collect(),
            niceness: 0,
        }
    }

    /// The image of clusters.
    async fn cluster_image(&self) -> Result<&str, ClusterError> {
        self.image.get_or_try_init(|| self.setup.contents.image()).await.map(String::as_str)
    }

    /// What a cluster's container has in [`FILES`].
    fn cluster_files(&self, name: &str, role: Role) -> Result<Files, ClusterError> {
        let (pki, dir) = (self.home.pki(), self.home.dir());
        let mut site = Site::container(Path::new(DATA), Path::new(FILES));
        let inside = |program: &str| PathBuf::from("/").join(program);
        let server = format!("https://127.0.0.1:{API_PORT}");
        let container = self.container_name(name);

        let known_as = (Some(container.as_str()), API_PORT);
        let control_plane = [
            control_plane::etcd(&inside("etcd"), &mut site, pki, PEER_PORT)?,
            control_plane::apiserver(&inside("kube-apiserver"), (name, role), &mut site, pki, known_as)?,
        ];
        let (kubeconfig, _) = self.home.manager(name, &server)?;
        let kubeconfig = site.file(&kubeconfig);
        let manager = inside("kube-controller-manager");
        let controllers = [control_plane::controller_manager(&manager, (name, role), &kubeconfig)];
        let mut files = Files::default();
        files.processes(CONTROL_PLANE, &control_plane);
        files.processes(CONTROLLERS, &controllers);

        if role == Role::Member {
            let pair = pki.client(&format!("{name}-scheduler"), "system:kube-scheduler", None)?;
            let (scheduler, _) = self.home.access(name, &server, "scheduler", pair)?;
            let scheduler = site.file(&scheduler);
            let config = pods::configure(dir, &mut site)?;
            let pair = pki.client(&format!("{name}-kwok"), KWOK_USER, None)?;
            let (kwok, _) = self.home.access(name, &server, KWOK, pair)?;
            let kwok = site.file(&kwok);
            let serving = (KUBELET_PORT, &pki.server(&format!("{name}-kubelet"))?);
            let pods = [
                pods::scheduler(&inside(SCHEDULER), name, &scheduler),
                pods::kwok(&inside(KWOK), name, (&kwok, &config), &mut site, serving),
            ];
            files.processes(PODS, &pods);
        }
        for (there, here) in site.files() {
            files.copy(there, &here)?;
        }
        Ok(files)
    }

    /// Starts processes in a cluster's container that runs.
    async fn start_inside(&self, cluster: &str, processes: &str) -> Result<(), ClusterError> {
        let (container, list) = (self.container_name(cluster), format!("{FILES}/{processes}"));
        DOCKER.run(["exec", "--detach", &container, inside::PROGRAM, inside::COMMAND, &list], SHORT).await.map(drop)
    }

    async fn run_agent(&self, agent: &Agent) -> Result<(), ClusterError> {
        let image = self.images.image(agent).await?;
        let mut files = Files::default();
        let (cluster, pki) = (&agent.cluster.name, self.home.pki());
        let pair = pki.client(&format!("{}-user", agent.name), "fleetdrill", Some("system:masters"))?;
        let (kubeconfig, _) = self.home.access(cluster, &self.inner_server(cluster), "agent", pair)?;
        let inside = Path::new(FILES).join("kubeconfig");
        let mut args = agent.flags.clone();
        args.push(format!("--kubeconfig={}", inside.display()));
        files.copy(inside, &kubeconfig)?;
        let mut environment = Vec::new();
        if let Some(hub) = &agent.hub {
            let token = Path::new(FILES).join("token");
            environment.extend(hub.environment(cluster, &token));
            files.copy(token, &hub.token)?;
        }
        let mut request = self.request(&agent.name, &image, files)?.with_cmd(args);
        for (key, value) in environment {
            request = request.with_env_var(key, value);
        }
        self.start(&agent.name, request).await.map(drop)
    }
}

/// Files of a container: their paths there, and what is in them.
#[derive(Default)]
struct Files(Vec<(PathBuf, Vec<u8>)>);

impl Files {
    fn copy(&mut self, there: PathBuf, here: &Path) -> Result<(), ClusterError> {
        let contents = std::fs::read(here).map_err(ClusterError::io("read", here))?;
        self.0.push((there, contents));
        Ok(())
    }

    fn processes(&mut self, name: &str, processes: &[ProcessSpec]) {
        self.0.push((Path::new(FILES).join(name), serde_json::to_vec(processes).unwrap_or_default()));
    }
}

fn not_started(container: &str, error: TestcontainersError) -> ClusterError {
    ClusterError::Container { container: container.to_owned(), source: Box::new(error) }
}

/// A cluster's container gets its data in memory, its API server on loopback, and, where it is a member's, less of the processors.
fn of_cluster(role: Role) -> impl Fn(&mut HostConfig) + Send + Sync + 'static {
    move |config| {
        let loopback = PortBinding { host_ip: Some("127.0.0.1".into()), host_port: None };
        config.publish_all_ports = None;
        config.port_bindings = Some([(format!("{API_PORT}/tcp"), Some(vec![loopback]))].into());
        config.cpu_shares = (role == Role::Member).then_some(MEMBER_SHARES);
    }
}

/// A member's share of the processors, where a hub has Docker's 1024: about what its niceness gives it on this machine.
const MEMBER_SHARES: i64 = 128;

#[async_trait]
impl Provider for InDocker {
    fn name(&self) -> &'static str {
        "docker"
    }

    fn can(&self, ability: Ability) -> bool {
        can(ability)
    }

    async fn start_cluster(&self, name: &str, role: Role) -> Result<Cluster, ClusterError> {
        state_dir::check_name(name)?;
        let image = self.cluster_image().await?;
        let request = self
            .request(name, image, self.cluster_files(name, role)?)?
            .with_cmd([format!("{FILES}/{CONTROL_PLANE}")])
            .with_mapped_port(0, API_PORT.tcp())
            .with_mount(Mount::tmpfs_mount(DATA).with_mode(0o1777))
            .with_host_config_modifier(of_cluster(role));
        let container = self.start(name, request).await?;
        let port = container.get_host_port_ipv4(API_PORT.tcp()).await;
        let port = port.map_err(|error| not_started(&self.container_name(name), error))?;
        let cluster = self.home.administered(name, &format!("https://127.0.0.1:{port}")).await?;
        control_plane::ready(&self.home, name, &[name], &cluster.client).await?;
        Ok(Cluster { inner_server: self.inner_server(name), ..cluster })
    }

    async fn start_controllers(&self, cluster: &Cluster, _: Role) -> Result<(), ClusterError> {
        self.start_inside(&cluster.name, CONTROLLERS).await
    }

    async fn cluster(&self, name: &str) -> Result<Cluster, ClusterError> {
        Ok(Cluster { inner_server: self.inner_server(name), ..self.home.known(name).await? })
    }

    async fn stop_cluster(&self, name: &str) -> Result<(), ClusterError> {
        self.home.keeper().remove(name).await?;
        remove(&self.container_name(name)).await
    }

    async fn start_pods(&self, cluster: &Cluster, _: Option<&PodPrograms>) -> Result<(), ClusterError> {
        // Scenarios that share a member ask for its pods at the same time.
        let _turn = self.pods.lock().await;
        pods::prepare(cluster).await?;
        let container = self.container_name(&cluster.name);
        let running = DOCKER.run(["top", &container, "-o", "pid,comm"], SHORT).await?;
        if running.lines().any(|line| line.ends_with(KWOK)) {
            return Ok(());
        }
        self.start_inside(&cluster.name, PODS).await
    }

    async fn start_agent(&self, agent: &Agent) -> Result<(), ClusterError> {
        self.run_agent(agent).await
    }

    async fn stop_agent(&self, name: &str) -> Result<(), ClusterError> {
        // Before it ends: an end that nobody asked for would be the fleet's.
        self.home.keeper().stop(name).await?;
        DOCKER.run(["stop", "--time", "0", &self.container_name(name)], SHORT).await.map(drop)
    }

    async fn start_agent_again(&self, name: &str) -> Result<(), ClusterError> {
        let since = jiff::Timestamp::now().to_string();
        DOCKER.run(["start", &self.container_name(name)], SHORT).await?;
        self.home.keeper().start_again_with(name, &["--since".into(), since]).await
    }

    async fn hand_over_token(&self, name: &str, token: &Path) -> Result<(), ClusterError> {
        // Docker copies owner and rights as well, and the agent is nobody of this machine's.
        let readable = tempfile::NamedTempFile::new_in(self.home.dir());
        let readable = readable.map_err(ClusterError::io("make a file in", self.home.dir()))?;
        std::fs::copy(token, readable.path())
            .and_then(|_| std::fs::set_permissions(readable.path(), Permissions::from_mode(0o644)))
            .map_err(ClusterError::io("copy", token))?;
        let there = format!("{}:{FILES}/token", self.container_name(name));
        DOCKER.run(["cp", &readable.path().display().to_string(), &there], SHORT).await.map(drop)
    }

    async fn exchange_agent(&self, agent: &Agent) -> Result<bool, ClusterError> {
        let container = self.container_name(&agent.name);
        let state = DOCKER.run(["inspect", "--format", "{{.State.Running}}", &container], SHORT).await?;
        let runs = state.trim() == "true";
        self.remove_agent(&agent.name).await?;
        self.run_agent(agent).await?;
        if !runs {
            self.stop_agent(&agent.name).await?;
        }
        Ok(runs)
    }

    async fn remove_agent(&self, name: &str) -> Result<(), ClusterError> {
        self.home.keeper().remove(name).await?;
        remove(&self.container_name(name)).await
    }

    async fn agent_log(&self, name: &str) -> Result<String, ClusterError> {
        self.home.keeper().read_log(name).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn at_its_end_a_fleet_takes_its_own_containers_with_it_and_no_others() {
        let farewell = farewell("/state/run-abcd", "fleetdrill-run-abcd");
        assert_eq!(farewell.command[4..], ["fleetdrill.dev/fleet=/state/run-abcd"]);
        assert!(farewell.command[2].contains("--filter \"label=$1\" | xargs -r docker rm"), "{farewell:?}");
        assert_eq!(farewell.left[4..], farewell.command[4..]);
    }
}
