//! What can go wrong with clusters. What to do about it says crate `fleetdrill`, which knows the command line.

use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::ability::ProviderAbility;
use crate::credentials::CredentialError;

/// An error that occurs while making or using clusters; the toolchain has errors of its own.
#[derive(Debug, Error)]
pub enum ClusterError {
    /// A file or directory could not be read or written.
    #[error("failed to {action} {}", path.display())]
    Io {
        /// Verb for the failed operation, e.g. `write`.
        action: &'static str,
        /// Path of the file or directory.
        path: PathBuf,
        /// Cause of the error.
        #[source]
        source: std::io::Error,
    },
    /// The fleet's supervisor could not be started, or it didn't answer.
    #[error("the fleet's supervisor doesn't answer: {0}")]
    Supervisor(String),
    /// The fleet's supervisor runs and didn't answer in time, for example because it is paused.
    #[error(
        "the fleet's supervisor{} doesn't answer within {seconds} s",
        process.map(|id| format!(" (process {id})")).unwrap_or_default()
    )]
    SupervisorHangs {
        /// Time limit, in seconds.
        seconds: u64,
        /// Process id of the supervisor.
        process: Option<u32>,
    },
    /// A cluster can't be backed up, or restored.
    #[error("failed to back up or restore {cluster}")]
    Backup {
        /// Name of the cluster.
        cluster: String,
        /// Cause of the error.
        #[source]
        source: std::io::Error,
    },
    /// The supervisor can't have its socket in the fleet's directory.
    #[error("the fleet's supervisor can't have its socket {}", path.display())]
    Socket {
        /// Path of the socket.
        path: PathBuf,
        /// The reason, e.g. that the path is too long.
        #[source]
        source: std::io::Error,
    },
    /// The fleet's supervisor refused a request.
    #[error("the fleet's supervisor refused to {action}: {reason}")]
    Refused {
        /// Refused request, e.g. `start hub-kube-apiserver`.
        action: String,
        /// Reason that the supervisor gave.
        reason: String,
    },
    /// A process ended that should still run.
    #[error("{process} ended while {during} ({status}){}", last_lines(log))]
    Died {
        /// Name of the process, e.g. `hub-kube-apiserver`.
        process: String,
        /// Work during which the process ended.
        during: String,
        /// Exit status or signal of the process.
        status: String,
        /// Last lines of the process's log.
        log: String,
    },
    /// A cluster was not ready in time.
    #[error("cluster {cluster} was not ready after {seconds} s: {last}; {process}'s last lines:\n{log}")]
    NotReady {
        /// The cluster's name.
        cluster: String,
        /// Time limit, in seconds.
        seconds: u64,
        /// Last answer of the cluster's API server.
        last: String,
        /// Name of the process for which fleetdrill was waiting.
        process: String,
        /// Last lines of the process's log.
        log: String,
    },
    /// A certificate could not be made.
    #[error("failed to make a certificate")]
    Certificate(#[from] rcgen::Error),
    /// A token could not be signed.
    #[error("failed to sign a token: {0}")]
    Token(String),
    /// etcd refused to be defragmented.
    #[error("failed to have etcd defragmented")]
    Defragmentation(#[source] std::io::Error),
    /// A client could not be created, or a request failed.
    #[error("the API server of {cluster} refused a request")]
    Api {
        /// The cluster's name.
        cluster: String,
        /// Cause of the error.
        #[source]
        source: Box<kube::Error>,
    },
    /// The credentials of a kubeconfig can't be obtained or used.
    #[error("failed to get credentials for {cluster}: {source}")]
    Credentials {
        /// The cluster's name.
        cluster: String,
        /// Cause of the error.
        #[source]
        source: Box<CredentialError>,
    },
    /// A kubeconfig can't be used.
    #[error("failed to use the kubeconfig of {cluster}")]
    Kubeconfig {
        /// The cluster's name.
        cluster: String,
        /// Cause of the error.
        #[source]
        source: Box<kube::config::KubeconfigError>,
    },
    /// A kubeconfig doesn't have the requested context.
    #[error("the kubeconfig has no context `{context}`, only: {}", contexts.join(", "))]
    NoContext {
        /// Requested context.
        context: String,
        /// Contexts of the kubeconfig.
        contexts: Vec<String>,
    },
    /// An external program is missing: one that fleetdrill doesn't build.
    #[error("there is no program `{0}`")]
    NoProgram(&'static str),
    /// An external program failed.
    #[error("`{}` failed ({how}){}{said}", command.join(" "), if said.is_empty() { "" } else { ":\n" })]
    Outside {
        /// The program and its arguments.
        command: Vec<String>,
        /// Exit status, or another reason, such as a time limit.
        how: String,
        /// Lines of the program's output that explain the failure.
        said: String,
    },
    /// A directory for KubeFleet's charts lacks one of them.
    #[error("there is no chart in {}", .0.display())]
    NoChart(PathBuf),
    /// A cluster that this fleet didn't make has the name that a new cluster needs.
    #[error("there is a kind cluster `{0}` already, which this fleet didn't make")]
    ClusterTaken(String),
    /// A node didn't become ready in time.
    #[error("the node of cluster {cluster} was not ready after {seconds} s: {why}")]
    NodeNotReady {
        /// The cluster's name.
        cluster: String,
        /// Time limit, in seconds.
        seconds: u64,
        /// Message of the node's `Ready` condition, or the failed request.
        why: String,
    },
    /// An agent's pod doesn't run.
    #[error("{agent} doesn't run in cluster {cluster}: {why}")]
    AgentNotRunning {
        /// Name of the agent.
        agent: String,
        /// Name of the agent's cluster.
        cluster: String,
        /// Reason why the agent doesn't run.
        why: String,
    },
    /// A fleet of local clusters was made without the programs that pods need.
    #[error("members of this fleet can't have pods")]
    NoPodPrograms,
    /// A provider lacks a requested ability.
    #[error("provider {provider} can't {ability}")]
    Cannot {
        /// Name of the provider.
        provider: &'static str,
        /// Missing ability.
        ability: ProviderAbility,
    },
    /// The limit of open files is too low for local clusters.
    #[error("a process may have {limit} open files here, and local clusters need {needed}")]
    FewFiles {
        /// Number of files that a process may have open.
        limit: u64,
        /// The smallest limit that will do.
        needed: u64,
    },
    /// A connection over the loopback interface failed.
    #[error("a connection over 127.0.0.1 fails, and local clusters need it")]
    Loopback(#[source] std::io::Error),
    /// There is no fleet of this name.
    #[error("there is no fleet `{0}`")]
    NoSuchFleet(String),
    /// A fleet of this name exists already.
    #[error("a fleet `{0}` is up already")]
    FleetExists(String),
    /// A name isn't valid for a fleet or a cluster.
    #[error(
        "`{0}` can't be a name here: use lower-case letters, digits and dashes, at most 40, starting with a letter"
    )]
    BadName(String),
}

impl ClusterError {
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { action, path, source }
    }
}

/// Formats the end of a log as the end of a sentence; empty if the log is empty.
#[must_use]
pub fn last_lines(log: &str) -> String {
    if log.trim().is_empty() { String::new() } else { format!("; its last lines:\n{log}") }
}
