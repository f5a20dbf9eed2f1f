//! Clusters in Docker: each cluster, and each of KubeFleet's agents, runs in an ordinary container without privileges.
//!
//! A cluster's container runs etcd, kube-apiserver, kube-controller-manager and, for pods, kube-scheduler and KWOK: the
//! same programs with the same flags as on this machine (`control_plane.rs`), in an image that is built from them
//! (`image.rs`). The containers are on the fleet's own network; API servers are published on 127.0.0.1. The fleet's
//! supervisor runs `docker logs --follow` as a process for each container, so that it has the log of each container and
//! notices its end.
//!
//! Containers and networks have the fleet's directory as a label. The supervisor removes them when the fleet ends;
//! [`sweep`] removes those that a killed supervisor has left.

mod container_control;
mod container_main;
mod image;
pub(crate) mod processes;

use std::collections::HashMap;
use std::fs::Permissions;
use std::net::IpAddr;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use tempfile::TempDir;
use tokio::sync::{Mutex, OnceCell};

use self::container_control::ControlCommand;
pub use self::container_control::control as control_inside;
pub use self::container_main::run as run_inside;
pub use self::image::ClusterImageContents;
use self::processes::ContainerProcess;
use crate::ability::ProviderAbility;
use crate::agents::deployment::AgentDeployment;
use crate::agents::{Agent, AgentImageSource, AgentImages, HubAccess};
use crate::cluster::{Cluster, FleetRole, HUB};
use crate::control_plane::{self, ControlPlaneLocation};
use crate::docker_images;
use crate::error::ClusterError;
use crate::etcd;
use crate::external_program::{DOCKER, SHORT};
use crate::home::FleetHome;
use crate::local::PodPrograms;
use crate::pods::{self, KWOK, KWOK_USER, SCHEDULER};
use crate::provider::Provider;
use crate::service_account_token::{self, SigningKey};
use crate::state_dir::{self, write_private};
use crate::supervisor::ProcessFault;
use crate::supervisor::protocol::{FaultCommands, ProcessSpec, ShutdownHook};

/// Time limit for a container to start.
const START_LIMIT: Duration = Duration::from_secs(120);

/// Label with the fleet's directory, on all objects of a fleet.
const FLEET_LABEL: &str = "fleetdrill.dev/fleet";

/// Label with a container's name in its fleet.
const NAME_LABEL: &str = "fleetdrill.dev/name";

/// Port of an API server in its container.
const API_PORT: u16 = 6443;

/// Port of etcd for peers in a cluster's container.
const PEER_PORT: u16 = 2380;
/// Port of KWOK for logs in a cluster's container.
const KUBELET_PORT: u16 = 10250;

/// Directory of a container's files.
const FILES: &str = "/fleet";

/// Name of the directory that is copied to [`FILES`].
const COPIED: &str = "files";

/// File in [`FILES`] with the list of processes that a cluster's container starts first.
const CONTROL_PLANE: &str = "control-plane.json";
/// File in [`FILES`] with the list of controllers, which are started later.
const CONTROLLERS: &str = "controllers.json";
/// File in [`FILES`] with the list of processes for pods, which are started later.
const PODS: &str = "pods.json";

/// File in [`FILES`] with the backup that a cluster is restored from.
const BACKUP: &str = "backup.json";

/// Maximum length of a container's name, which is its host name on the network.
const LONGEST: usize = 63;

/// Setup of a fleet's clusters in Docker.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct DockerSetup {
    /// Contents of the clusters' image.
    pub contents: ClusterImageContents,
    /// The agents' images.
    pub images: AgentImageSource,
}

/// Provider of clusters in Docker, for one fleet.
pub struct DockerProvider {
    home: Arc<FleetHome>,
    setup: DockerSetup,
    images: AgentImages,
    image: OnceCell<String>,
    pods: Mutex<()>,
}

/// Returns true if a fleet in Docker has this ability.
#[must_use]
pub fn can(ability: ProviderAbility) -> bool {
    // The hub's API server can't reach a webhook on this machine.
    let lacks = [
        ProviderAbility::LoadImages,
        ProviderAbility::CallWebhooks,
        ProviderAbility::PlayMembers,
        ProviderAbility::ServeWebhooks,
        ProviderAbility::ChangeHubCertificate,
    ];
    !lacks.contains(&ability) && ability.is_possible_here()
}

/// Checks that Docker is there.
///
/// # Errors
/// Returns an error if Docker isn't there, or doesn't answer.
pub async fn check() -> Result<(), ClusterError> {
    DOCKER.run(["version", "--format", "{{.Server.Version}}"], SHORT).await.map(drop)
}

/// Removes the containers and networks of fleets whose supervisor was killed, and returns the containers' names.
/// Objects that fleetdrill didn't create are left alone, and so are those of running fleets.
///
/// # Errors
/// Returns an error if Docker doesn't answer, or an object can't be removed.
pub async fn sweep() -> Result<Vec<String>, ClusterError> {
    let root = state_dir::root()?;
    let containers = leftovers(&root, ["ps", "--all"], "Names").await?;
    for container in &containers {
        remove(container).await?;
    }
    for network in leftovers(&root, ["network", "ls"], "Name").await? {
        DOCKER.run(["network", "rm", &network], SHORT).await?;
    }
    Ok(containers)
}

/// Lists the containers or networks of fleets in `root` that are no more, by the field with their names.
async fn leftovers(root: &Path, list: [&str; 2], name: &str) -> Result<Vec<String>, ClusterError> {
    let (filter, label) = (format!("label={FLEET_LABEL}"), format!("{{{{.Label \"{FLEET_LABEL}\"}}}}"));
    let format = format!("{{{{.{name}}}}}\t{label}");
    let listed = DOCKER.run([list[0], list[1], "--filter", &filter, "--format", &format], SHORT).await?;
    let named = listed.lines().filter_map(|line| line.split_once('\t'));
    let dead = named.filter(|(_, dir)| {
        let dir = Path::new(dir);
        dir.parent() == Some(root) && !state_dir::is_alive(dir)
    });
    Ok(dead.map(|(name, _)| name.to_owned()).collect())
}

/// Returns the address of this machine on a container's network, which is the container's gateway. Docker doesn't know the gateway of a
/// network that was created with a subnet and without a gateway, until Docker restarts (`docker network inspect` of 20.10).
pub(crate) async fn gateway(container: &str) -> Result<IpAddr, ClusterError> {
    let format = "{{range .NetworkSettings.Networks}}{{.Gateway}} {{end}}";
    let command = ["inspect", "--format", format, container];
    let gateways = DOCKER.run(command, SHORT).await?;
    let mut addresses = gateways.split_whitespace().filter_map(|text| text.parse::<IpAddr>().ok());
    let found = addresses.find(IpAddr::is_ipv4);
    found.ok_or_else(|| DOCKER.unexpected(&command, "the container has no IPv4 gateway", gateways))
}

async fn remove(container: &str) -> Result<(), ClusterError> {
    DOCKER.run(["rm", "--force", "--volumes", container], SHORT).await.map(drop)
}

/// Returns the prefix of a cluster's keys in the etcd of its container.
fn etcd_prefix(cluster: &str) -> String {
    format!("{}/", control_plane::etcd_prefix(cluster, API_PORT))
}

/// Path of a program in a cluster's container.
fn in_root(program: &str) -> PathBuf {
    Path::new("/").join(program)
}

/// Returns the shutdown hook that removes the fleet's containers and, when none is left, their network.
fn shutdown_hook(dir: &str, network: &str) -> ShutdownHook {
    // Select by label, because somebody else's network may have the same name.
    const SCRIPT: &str = "docker ps --all --quiet --filter \"label=$1\" | xargs -r docker rm --force --volumes\n\
                          docker network ls --quiet --filter \"label=$1\" | xargs -r docker network rm";
    const LEFT: &str = "docker ps --all --quiet --filter \"label=$1\"; docker network ls --quiet --filter \"label=$1\"";
    let label = format!("{FLEET_LABEL}={dir}");
    ShutdownHook { name: network.to_owned(), command: shell(SCRIPT, &label), left: shell(LEFT, &label) }
}

/// Command that runs a shell script with one argument.
fn shell(script: &str, argument: &str) -> Vec<String> {
    ["sh", "-c", script, "sh", argument].map(str::to_owned).to_vec()
}

impl DockerProvider {
    /// Creates the network of a new fleet.
    ///
    /// # Errors
    /// Returns an error if Docker can't create the network.
    pub async fn create(home: Arc<FleetHome>, setup: DockerSetup) -> Result<Self, ClusterError> {
        let made = Self::open(home, setup);
        let (network, dir) = (made.network(), made.home.dir().display().to_string());
        let label = format!("{FLEET_LABEL}={dir}");
        made.remove_what_another_left(&label).await?;
        made.home.supervisor().at_end(shutdown_hook(&dir, &network)).await?;
        DOCKER.run(["network", "create", "--label", &label, &network], SHORT).await?;
        Ok(made)
    }

    /// Creates the provider for a running fleet.
    #[must_use]
    pub fn open(home: Arc<FleetHome>, setup: DockerSetup) -> Self {
        let images = AgentImages::new(setup.images.clone());
        Self { home, setup, images, image: OnceCell::new(), pods: Mutex::default() }
    }

    /// Removes what an earlier fleet in the same directory has left because its supervisor was killed.
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

    /// Name of the fleet's network.
    fn network(&self) -> String {
        let fleet = self.home.dir().file_name().unwrap_or_default().to_string_lossy();
        format!("fleetdrill-{fleet}")
    }

    /// Name of one of the fleet's containers in Docker.
    fn container_name(&self, name: &str) -> String {
        format!("{}-{name}", self.network())
    }

    /// Address of a cluster's API server on the fleet's network.
    fn inner_server(&self, cluster: &str) -> String {
        format!("https://{}:{API_PORT}", self.container_name(cluster))
    }

    /// Starts a container of the fleet, without privileges and on the fleet's network, and makes the supervisor follow its log. `options`
    /// are more options of `docker create`, `args` the arguments of the image's program.
    async fn start(
        &self,
        name: &str,
        image: &str,
        options: &[String],
        args: &[String],
        files: ContainerFiles,
    ) -> Result<(), ClusterError> {
        let container = self.container_name(name);
        if container.len() > LONGEST {
            return Err(ClusterError::BadName(container));
        }
        let (network, fleet) = (self.network(), format!("{FLEET_LABEL}={}", self.home.dir().display()));
        let label = format!("{NAME_LABEL}={name}");
        let create = ["create", "--name", &container, "--network", &network, "--label", &fleet, "--label", &label];
        let unprivileged = ["--cap-drop", "ALL", "--security-opt", "no-new-privileges"];
        let words = create.iter().chain(&unprivileged).copied().chain(options.iter().map(String::as_str));
        docker_images::pull(image).await?;
        DOCKER.run(words.chain([image]).chain(args.iter().map(String::as_str)), SHORT).await?;
        self.copy(&container, files).await?;
        DOCKER.run(["start", &container], START_LIMIT).await?;
        self.home.supervisor().start(self.follow(name)).await
    }

    /// Copies files into a container, over those that are there.
    async fn copy(&self, container: &str, files: ContainerFiles) -> Result<(), ClusterError> {
        let copy = files.write(self.home.dir())?;
        let from = format!("{}/{COPIED}/.", copy.path().display());
        DOCKER.run(["cp", &from, &format!("{container}:{FILES}")], SHORT).await.map(drop)
    }

    /// Specification of the process that follows a container's log and ends with the container.
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

    /// Id of the clusters' image, which is built if Docker doesn't have it.
    async fn cluster_image(&self) -> Result<&str, ClusterError> {
        self.image.get_or_try_init(|| self.setup.contents.image()).await.map(String::as_str)
    }

    /// Returns the files that a cluster's container has in [`FILES`].
    fn cluster_files(&self, name: &str, role: FleetRole) -> Result<ContainerFiles, ClusterError> {
        let (pki, dir) = (self.home.pki(), self.home.dir());
        let mut site = ControlPlaneLocation::container(Path::new(container_main::DATA), Path::new(FILES));
        let server = format!("https://127.0.0.1:{API_PORT}");
        let container = self.container_name(name);

        let known_as = (Some(container.as_str()), API_PORT);
        let control_plane = [
            control_plane::etcd(&in_root("etcd"), &mut site, pki, PEER_PORT)?,
            control_plane::apiserver(&in_root("kube-apiserver"), (name, role), &mut site, pki, known_as)?,
        ];
        let (kubeconfig, _) = self.home.manager(name, &server)?;
        let kubeconfig = site.file(&kubeconfig);
        let manager = in_root("kube-controller-manager");
        let controllers = [control_plane::controller_manager(&manager, (name, role), &kubeconfig)];
        let mut files = ContainerFiles::default();
        files.processes(CONTROL_PLANE, &control_plane);
        files.processes(CONTROLLERS, &controllers);

        if role == FleetRole::Member {
            let pair = pki.client(&format!("{name}-scheduler"), "system:kube-scheduler", None)?;
            let (scheduler, _) = self.home.access(name, &server, "scheduler", pair)?;
            let scheduler = site.file(&scheduler);
            let config = pods::configure(dir, &mut site)?;
            let pair = pki.client(&format!("{name}-kwok"), KWOK_USER, None)?;
            let (kwok, _) = self.home.access(name, &server, KWOK, pair)?;
            let kwok = site.file(&kwok);
            let serving = (KUBELET_PORT, &pki.server(&format!("{name}-kubelet"))?);
            let pods = [
                pods::scheduler(&in_root(SCHEDULER), name, &scheduler),
                pods::kwok(&in_root(KWOK), name, (&kwok, &config), &mut site, serving),
            ];
            files.processes(PODS, &pods);
        }
        for (there, here) in site.files() {
            files.copy(there, &here)?;
        }
        Ok(files)
    }

    /// Starts a list of processes in a cluster's running container.
    async fn start_inside(&self, cluster: &str, processes: &str) -> Result<(), ClusterError> {
        let (container, list) = (self.container_name(cluster), format!("{FILES}/{processes}"));
        DOCKER
            .run(["exec", "--detach", &container, container_main::PROGRAM, container_main::COMMAND, &list], SHORT)
            .await
            .map(drop)
    }

    /// Runs a command in a cluster's container, and returns its output.
    async fn control(&self, cluster: &str, command: &ControlCommand) -> Result<String, ClusterError> {
        let words = self.control_words(cluster, command);
        DOCKER.run(&words[1..], SHORT).await
    }

    /// Gives a program of a cluster only a part of its processor time.
    async fn throttle(&self, cluster: &str, program: &str, percent: u8) -> Result<ProcessFault, ClusterError> {
        let process = ContainerProcess::of_program(&self.container_name(cluster), program).await?;
        let commands = process.throttle(percent).await?;
        self.home.supervisor().run_commands(&format!("{program} of {cluster}"), commands).await
    }

    /// Returns the command line that runs a command in a cluster's container, with `docker` as its first word.
    fn control_words(&self, cluster: &str, command: &ControlCommand) -> Vec<String> {
        let exec = [DOCKER.0.to_owned(), "exec".to_owned(), self.container_name(cluster)];
        exec.into_iter().chain(command.words()).collect()
    }

    /// Returns the file with an agent's kubeconfig for its own cluster. The hub-agent is its `ServiceAccount`, whose rights can be taken away; a
    /// member's agent is an administrator of its member, unless it has a kubeconfig of its own.
    fn agent_kubeconfig(&self, agent: &Agent) -> Result<PathBuf, ClusterError> {
        if let Some(kubeconfig) = &agent.kubeconfig {
            return Ok(kubeconfig.clone());
        }
        let (cluster, server) = (&agent.cluster.name, self.inner_server(&agent.cluster.name));
        if agent.hub.is_none() {
            return Ok(self.home.hub_agent(agent, &server)?.0);
        }
        let pair = self.home.pki().client(&format!("{}-user", agent.name), "fleetdrill", Some("system:masters"))?;
        Ok(self.home.access(cluster, &server, "agent", pair)?.0)
    }

    /// Starts a cluster's stopped API server with these flags after its own, and waits until it is ready.
    async fn start_api_server(&self, cluster: &str, flags: &[&str]) -> Result<(), ClusterError> {
        let flags = flags.iter().map(|flag| (*flag).to_owned()).collect();
        self.control(cluster, &ControlCommand::Start { program: API_SERVER.into(), flags }).await?;
        control_plane::ready(&self.home, cluster, &[cluster], &self.home.known(cluster).await?.client).await
    }

    async fn run_agent(&self, agent: &Agent) -> Result<(), ClusterError> {
        let image = self.images.image(agent).await?;
        let mut files = ContainerFiles::default();
        let cluster = &agent.cluster.name;
        let kubeconfig = self.agent_kubeconfig(agent)?;
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
        let variables = environment.into_iter().map(|(key, value)| format!("{key}={value}"));
        let mut options: Vec<String> = variables.flat_map(|variable| ["--env".to_owned(), variable]).collect();
        if let Some((host, address)) = agent.hub.as_ref().and_then(HubAccess::host_entry) {
            options.extend(["--add-host".to_owned(), format!("{host}:{address}")]);
        }
        if agent.hub.is_none() {
            AgentDeployment { cluster: agent.cluster.clone(), agent: agent.name.clone() }.grant().await?;
        }
        self.start(&agent.name, &image, &options, &args, files).await
    }
}

/// Program of a cluster's API server.
const API_SERVER: &str = "kube-apiserver";

/// Program of a cluster's etcd.
const ETCD: &str = "etcd";

/// Files for a container's directory [`FILES`]: path in the container, and contents.
#[derive(Default)]
struct ContainerFiles(Vec<(PathBuf, Vec<u8>)>);

impl ContainerFiles {
    fn copy(&mut self, there: PathBuf, here: &Path) -> Result<(), ClusterError> {
        let contents = std::fs::read(here).map_err(ClusterError::io("read", here))?;
        self.0.push((there, contents));
        Ok(())
    }

    fn processes(&mut self, name: &str, processes: &[ProcessSpec]) {
        self.0.push((Path::new(FILES).join(name), serde_json::to_vec(processes).unwrap_or_default()));
    }

    /// Writes the files into [`COPIED`] in a new temporary directory in `dir`, from which `docker cp` copies them with their modes. They are
    /// world-readable, because the container's process runs as an unprivileged user id that owns no files; on this machine, the directory
    /// that they are in isn't.
    fn write(self, dir: &Path) -> Result<TempDir, ClusterError> {
        let copy = tempfile::tempdir_in(dir).map_err(ClusterError::io("make a directory in", dir))?;
        let files = copy.path().join(COPIED);
        let may = |path: &Path, mode| std::fs::set_permissions(path, Permissions::from_mode(mode));
        for (there, contents) in self.0 {
            let file = files.join(there.strip_prefix(FILES).unwrap_or(&there));
            let parent = file.parent().unwrap_or(&files);
            std::fs::create_dir_all(parent)
                .and_then(|()| may(parent, 0o755))
                .and_then(|()| std::fs::write(&file, contents))
                .and_then(|()| may(&file, 0o444))
                .map_err(ClusterError::io("write", &file))?;
        }
        Ok(copy)
    }
}

/// Options of `docker create` for a cluster's container: the API server is published on loopback only, data is in memory, and a member
/// gets a lower share of the processors.
fn of_cluster(role: FleetRole) -> Vec<String> {
    let published = format!("127.0.0.1::{API_PORT}");
    let data = format!("{}:mode=1777", container_main::DATA);
    let shares = (role == FleetRole::Member).then_some(["--cpu-shares", MEMBER_SHARES]);
    let options = ["--publish", &published, "--tmpfs", &data].into_iter().chain(shares.into_iter().flatten());
    options.map(str::to_owned).collect()
}

/// CPU shares of a member's container; a hub's has Docker's default of 1024. A member's niceness gives about the same
/// share to local processes.
const MEMBER_SHARES: &str = "128";

#[async_trait]
impl Provider for DockerProvider {
    fn name(&self) -> &'static str {
        "docker"
    }

    fn can(&self, ability: ProviderAbility) -> bool {
        can(ability)
    }

    async fn start_cluster(&self, name: &str, role: FleetRole) -> Result<Cluster, ClusterError> {
        state_dir::check_name(name)?;
        let image = self.cluster_image().await?;
        let (files, args) = (self.cluster_files(name, role)?, [format!("{FILES}/{CONTROL_PLANE}")]);
        self.start(name, image, &of_cluster(role), &args, files).await?;
        let published = DOCKER.run(["port", &self.container_name(name), &format!("{API_PORT}/tcp")], SHORT).await?;
        let cluster = self.home.administered(name, &format!("https://{}", published.trim())).await?;
        control_plane::ready(&self.home, name, &[name], &cluster.client).await?;
        Ok(Cluster { inner_server: self.inner_server(name), ..cluster })
    }

    async fn start_controllers(&self, cluster: &Cluster, _: FleetRole) -> Result<(), ClusterError> {
        self.start_inside(&cluster.name, CONTROLLERS).await
    }

    async fn cluster(&self, name: &str) -> Result<Cluster, ClusterError> {
        Ok(Cluster { inner_server: self.inner_server(name), ..self.home.known(name).await? })
    }

    async fn stop_cluster(&self, name: &str) -> Result<(), ClusterError> {
        self.home.supervisor().remove(name).await?;
        remove(&self.container_name(name)).await
    }

    async fn throttle_api_server(&self, cluster: &str, percent: u8) -> Result<ProcessFault, ClusterError> {
        self.throttle(cluster, API_SERVER, percent).await
    }

    async fn throttle_storage(&self, percent: u8) -> Result<ProcessFault, ClusterError> {
        self.throttle(HUB, ETCD, percent).await
    }

    async fn defragment_storage(&self) -> Result<(), ClusterError> {
        self.control(HUB, &ControlCommand::DefragmentEtcd).await.map(drop)
    }

    async fn hang_api_server(&self, cluster: &str) -> Result<ProcessFault, ClusterError> {
        let [begin, end] = [
            ControlCommand::Pause { program: API_SERVER.into() },
            ControlCommand::Resume { program: API_SERVER.into() },
        ]
        .map(|command| self.control_words(cluster, &command));
        self.home.supervisor().run_commands(&format!("the API server of {cluster}"), FaultCommands { begin, end }).await
    }

    async fn run_api_server(&self, cluster: &str, running: bool) -> Result<(), ClusterError> {
        if running {
            return self.start_api_server(cluster, &[]).await;
        }
        self.control(cluster, &ControlCommand::Stop { program: API_SERVER.into() }).await.map(drop)
    }

    async fn shift_agent_clock(&self, name: &str, seconds: i32) -> Result<ProcessFault, ClusterError> {
        let commands = ContainerProcess::first(&self.container_name(name)).await?.shift_clock(seconds).await?;
        self.home.supervisor().run_commands(&format!("the clock of {name}"), commands).await
    }

    async fn shift_api_server_clock(&self, cluster: &str, seconds: i32) -> Result<ProcessFault, ClusterError> {
        let process = ContainerProcess::of_program(&self.container_name(cluster), API_SERVER).await?;
        let commands = process.shift_clock(seconds).await?;
        self.home.supervisor().run_commands(&format!("the clock of the API server of {cluster}"), commands).await
    }

    async fn hang_agent(&self, name: &str) -> Result<ProcessFault, ClusterError> {
        let container = self.container_name(name);
        let [begin, end] = ["SIGSTOP", "SIGCONT"]
            .map(|signal| [DOCKER.0, "kill", "--signal", signal, &container].map(str::to_owned).to_vec());
        self.home.supervisor().run_commands(name, FaultCommands { begin, end }).await
    }

    async fn limit_storage(&self, limited: bool) -> Result<(), ClusterError> {
        self.control(HUB, &ControlCommand::Stop { program: ETCD.into() }).await?;
        let flags = vec![etcd::quota_flag(limited)];
        self.control(HUB, &ControlCommand::Start { program: ETCD.into(), flags }).await?;
        if limited {
            return Ok(());
        }
        self.control(HUB, &ControlCommand::DisarmEtcd).await.map(drop)
    }

    async fn expiring_token(&self, cluster: &str, token: &str, at: Timestamp) -> Result<String, ClusterError> {
        let key = SigningKey::from_pem(&self.home.pki().service_account_key(cluster)?)?;
        service_account_token::expiring(token, at, &key)
    }

    async fn set_priorities(&self, cluster: &str) -> Result<(), ClusterError> {
        self.run_api_server(cluster, false).await?;
        self.start_api_server(cluster, &control_plane::PRIORITY_FLAGS).await
    }

    async fn back_up(&self, cluster: &Cluster, file: &Path) -> Result<(), ClusterError> {
        let prefix = etcd_prefix(&cluster.name);
        write_private(file, &self.control(&cluster.name, &ControlCommand::BackUp { prefix }).await?)
    }

    async fn restore(&self, cluster: &Cluster, file: &Path) -> Result<(), ClusterError> {
        let prefix = etcd_prefix(&cluster.name);
        let inside = Path::new(FILES).join(BACKUP);
        let mut files = ContainerFiles::default();
        files.copy(inside.clone(), file)?;
        self.copy(&self.container_name(&cluster.name), files).await?;
        self.run_api_server(&cluster.name, false).await?;
        self.control(&cluster.name, &ControlCommand::Restore { prefix, file: inside }).await?;
        self.run_api_server(&cluster.name, true).await
    }

    async fn machine_address(&self, cluster: &str) -> Result<IpAddr, ClusterError> {
        gateway(&self.container_name(cluster)).await
    }

    async fn start_pods(&self, cluster: &Cluster, _: Option<&PodPrograms>) -> Result<(), ClusterError> {
        // Scenarios that share a member may ask for its pods at the same time.
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
        // Stop following the container's log first. Otherwise the supervisor would report the end of the container as a
        // crash, and the fleet would count as broken.
        self.home.supervisor().stop(name).await?;
        DOCKER.run(["stop", "--time", "0", &self.container_name(name)], SHORT).await.map(drop)
    }

    async fn start_agent_again(&self, name: &str) -> Result<(), ClusterError> {
        let since = jiff::Timestamp::now().to_string();
        DOCKER.run(["start", &self.container_name(name)], SHORT).await?;
        self.home.supervisor().start_again_with(name, &["--since".into(), since]).await
    }

    async fn hand_over_token(&self, name: &str, token: &Path) -> Result<(), ClusterError> {
        let mut files = ContainerFiles::default();
        files.copy(Path::new(FILES).join("token"), token)?;
        self.copy(&self.container_name(name), files).await
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
        self.home.supervisor().remove(name).await?;
        remove(&self.container_name(name)).await
    }

    async fn agent_log(&self, name: &str) -> Result<String, ClusterError> {
        self.home.supervisor().read_log(name).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn at_its_end_a_fleet_takes_its_own_containers_with_it_and_no_others() {
        let shutdown_hook = shutdown_hook("/state/run-abcd", "fleetdrill-run-abcd");
        assert_eq!(shutdown_hook.command[4..], ["fleetdrill.dev/fleet=/state/run-abcd"]);
        assert!(shutdown_hook.command[2].contains("--filter \"label=$1\" | xargs -r docker rm"), "{shutdown_hook:?}");
        assert_eq!(shutdown_hook.left[4..], shutdown_hook.command[4..]);
    }
}
