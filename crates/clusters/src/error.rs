//! What can go wrong with clusters, in words for the person who has to do something about it.

use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::credentials::CredentialError;
use crate::machine::OPEN_FILES;
use crate::provider::Ability;

/// An error of this crate, apart from the toolchain's own.
#[derive(Debug, Error)]
pub enum ClusterError {
    /// A file or directory could not be read or written.
    #[error("failed to {action} {}", path.display())]
    Io {
        /// E.g. `write`.
        action: &'static str,
        /// The path.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// The keeper could not be started or didn't answer.
    #[error("the fleet's keeper doesn't answer: {0}")]
    Keeper(String),
    /// The keeper refused a request.
    #[error("the fleet's keeper refused to {action}: {reason}")]
    Refused {
        /// What it was asked, e.g. `start hub-kube-apiserver`.
        action: String,
        /// Its words.
        reason: String,
    },
    /// A process ended although it should run.
    #[error("{process} ended while {during} ({status}){}", last_lines(log))]
    Died {
        /// E.g. `hub-kube-apiserver`.
        process: String,
        /// What was going on.
        during: String,
        /// Exit status or signal.
        status: String,
        /// The end of its log.
        log: String,
    },
    /// A cluster was not ready in time.
    #[error("cluster {cluster} was not ready after {seconds} s: {last}; {process}'s last lines:\n{log}")]
    NotReady {
        /// The cluster's name.
        cluster: String,
        /// The limit, in seconds.
        seconds: u64,
        /// The last answer of its API server.
        last: String,
        /// The process that was waited for.
        process: String,
        /// The end of its log.
        log: String,
    },
    /// A certificate could not be made.
    #[error("failed to make a certificate")]
    Certificate(#[from] rcgen::Error),
    /// A client could not be made, or a request failed.
    #[error("the API server of {cluster} refused a request")]
    Api {
        /// The cluster's name.
        cluster: String,
        /// Why.
        #[source]
        source: Box<kube::Error>,
    },
    /// The credentials of a kubeconfig can't be had or used.
    #[error("failed to get credentials for {cluster}: {source}")]
    Credentials {
        /// The cluster's name.
        cluster: String,
        /// Why.
        #[source]
        source: Box<CredentialError>,
    },
    /// A kubeconfig that can't be used.
    #[error("failed to use the kubeconfig of {cluster}")]
    Kubeconfig {
        /// The cluster's name.
        cluster: String,
        /// Why.
        #[source]
        source: Box<kube::config::KubeconfigError>,
    },
    /// A kubeconfig doesn't have the context.
    #[error("the kubeconfig has no context `{context}`, only: {}", contexts.join(", "))]
    NoContext {
        /// The context.
        context: String,
        /// Those that it has.
        contexts: Vec<String>,
    },
    /// A program that fleetdrill doesn't build isn't there.
    #[error("there is no program `{0}`")]
    NoProgram(&'static str),
    /// Such a program failed.
    #[error("`{command}` failed ({how}){}{said}", if said.is_empty() { "" } else { ":\n" })]
    Outside {
        /// The program and its arguments.
        command: String,
        /// Exit status, or that it didn't end.
        how: String,
        /// Its telling lines.
        said: String,
    },
    /// There is no chart of KubeFleet's where it should be.
    #[error("there is no chart in {}", .0.display())]
    NoChart(PathBuf),
    /// A container didn't start.
    #[error("container {container} didn't start")]
    Container {
        /// Its name.
        container: String,
        /// Why.
        #[source]
        source: Box<testcontainers::TestcontainersError>,
    },
    /// A cluster of somebody else's has the name that ours would have.
    #[error("there is a kind cluster `{0}` already, which this fleet didn't make")]
    ClusterTaken(String),
    /// A node never got ready.
    #[error("the node of cluster {cluster} was not ready after {seconds} s: {why}")]
    NodeNotReady {
        /// The cluster's name.
        cluster: String,
        /// The limit, in seconds.
        seconds: u64,
        /// What the node says of itself.
        why: String,
    },
    /// An agent's pod never ran.
    #[error("{agent} doesn't run in cluster {cluster}: {why}")]
    AgentNotRunning {
        /// The agent.
        agent: String,
        /// Its cluster.
        cluster: String,
        /// What its pod says.
        why: String,
    },
    /// Local clusters were made without what pods need.
    #[error("members of this fleet can't have pods: no scenario is tagged @pods, nor was it brought up with --pods")]
    NoPodPrograms,
    /// A provider can't do what is asked of it.
    #[error("provider {provider} can't {ability}")]
    Cannot {
        /// The provider.
        provider: &'static str,
        /// What it can't do.
        ability: Ability,
    },
    /// The limit of open files is too low for local clusters.
    #[error("a process may have {limit} open files here, and local clusters need {OPEN_FILES}")]
    FewFiles {
        /// The limit.
        limit: u64,
    },
    /// Processes on this machine can't reach each other.
    #[error("a connection over 127.0.0.1 fails, and local clusters need it")]
    Loopback(#[source] std::io::Error),
    /// There is no fleet of that name.
    #[error("there is no fleet `{0}`")]
    NoSuchFleet(String),
    /// A fleet of that name exists already.
    #[error("a fleet `{0}` is up already")]
    FleetExists(String),
    /// A name that can't be a fleet's or a cluster's.
    #[error(
        "`{0}` can't be a name here: use lower-case letters, digits and dashes, at most 40, starting with a letter"
    )]
    BadName(String),
}

impl ClusterError {
    /// What to do about it, where something can be said.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Io { source, .. } if source.kind() == std::io::ErrorKind::StorageFull => Some(DISK_FULL.into()),
            Self::Credentials { source, .. } => source.hint(),
            Self::Io { .. } => Some("set FLEETDRILL_STATE_DIR to a directory that you may write to".into()),
            Self::Died { log, .. } | Self::NotReady { log, .. } => log_hint(log),
            Self::Keeper(why) if why.contains("SUN_LEN") => {
                Some("the keeper's socket has too long a path: set FLEETDRILL_STATE_DIR to a shorter one".into())
            }
            Self::Keeper(why) => log_hint(why),
            Self::Refused { reason, .. } => log_hint(reason),
            Self::NoSuchFleet(_) => {
                Some("`fleetdrill status` lists the fleets there are; `fleetdrill up` makes one".into())
            }
            Self::NoProgram("kind") => Some(
                "kind makes clusters in Docker: https://kind.sigs.k8s.io/docs/user/quick-start/#installation; without it, \
                 --provider local needs neither"
                    .into(),
            ),
            Self::NoProgram("helm") => Some("helm renders charts: https://helm.sh/docs/intro/install; --chart needs it".into()),
            Self::NoChart(_) => {
                Some("--chart takes the directory `charts` of KubeFleet's repository, with hub-agent and member-agent".into())
            }
            Self::NoProgram(_) => Some("install Docker, or use --provider local, which needs none".into()),
            Self::Outside { said, .. } if said.contains("Cannot connect to the Docker daemon") => {
                Some("start Docker, or set DOCKER_HOST to where it listens".into())
            }
            Self::Outside { said, .. } if said.contains("permission denied") => {
                Some("you need the right to use Docker: be in the group docker, or set DOCKER_HOST".into())
            }
            Self::Outside { command, .. } if command.starts_with("docker pull") => Some(
                "name images that can be had (--hub-agent-image, --member-agent-image), or have them built from the \
                 toolchain's programs: --build-images"
                    .into(),
            ),
            Self::Outside { command, said, .. }
                if command.starts_with("docker network create") && said.contains("already exists") =>
            {
                Some("something else on this machine uses it, perhaps a fleet of another state directory: take another name".into())
            }
            Self::Container { source, .. } if source.to_string().contains("is already in use") => {
                Some("if a fleet that died left it: fleetdrill down --all; otherwise take another name".into())
            }
            Self::ClusterTaken(name) => Some(format!(
                "it is left alone; if a fleet that died left it: fleetdrill down --all; otherwise: kind delete cluster --name {name}"
            )),
            Self::FewFiles { .. } => Some("raise the limit: ulimit -n 4096".into()),
            Self::Loopback(_) => Some("bring the loopback interface up: ip link set lo up".into()),
            Self::FleetExists(name) => Some(format!("take another name, or end that fleet: fleetdrill down {name}")),
            _ => None,
        }
    }

    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { action, path, source }
    }
}

const DISK_FULL: &str = "the disk is full: free some space, or set FLEETDRILL_STATE_DIR to a directory on another disk; \
     a fleet takes about 200 MiB";

/// The end of a log as the end of a sentence; nothing where the log is empty.
#[must_use]
pub fn last_lines(log: &str) -> String {
    if log.trim().is_empty() { String::new() } else { format!("; its last lines:\n{log}") }
}

/// What a program's last lines say about the machine that it runs on.
#[must_use]
pub fn log_hint(log: &str) -> Option<String> {
    let log = log.to_lowercase();
    let says = |text: &str| log.contains(text);
    if says("no space left on device") || says("database space exceeded") {
        Some(DISK_FULL.into())
    } else if says("address already in use") {
        Some("another program took a port in the same moment: run the command again".into())
    } else if says("too many open files") {
        Some("raise the limit of open files: ulimit -n 4096".into())
    } else if says("cannot allocate memory") || says("signal: killed") {
        Some("the machine is out of memory: a fleet of a hub and three members needs about 3 GiB".into())
    } else {
        None
    }
}
