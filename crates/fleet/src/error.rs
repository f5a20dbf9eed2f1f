//! Errors of this crate.

use clusters::error::{ClusterError, last_lines};
use clusters::supervisor::protocol::ProcessExit;
use record::FailedWait;
use thiserror::Error;

use crate::existing_error::ExistingFleetError;
use crate::list_error::ListError;

/// An error of this crate.
#[derive(Debug, Error)]
pub enum FleetError {
    /// An error of the clusters.
    #[error(transparent)]
    Cluster(#[from] ClusterError),
    /// A request to an API server failed.
    #[error("failed to {action} on {cluster}")]
    Api {
        /// `hub` or a member's name.
        cluster: String,
        /// Request that failed, e.g. `create ClusterResourcePlacement/web`.
        action: String,
        /// Cause.
        #[source]
        source: Box<kube::Error>,
    },
    /// A list isn't whole, for another reason than a refusal.
    #[error("failed to list {resource} on {cluster}")]
    List {
        /// `hub` or a member's name.
        cluster: String,
        /// Plural name of the kind.
        resource: String,
        /// Cause.
        #[source]
        source: ListError,
    },
    /// The hub didn't return lists that a diagnosis needs.
    #[error("failed to list on the hub what a diagnosis can't do without: {}", resources.join(", "))]
    Unlisted {
        /// Plural names of the kinds.
        resources: Vec<String>,
        /// Cause for the first of the lists.
        #[source]
        source: Box<FleetError>,
    },
    /// A manifest, a file or an answer can't be read.
    #[error("failed to read {what}: {why}")]
    Unreadable {
        /// Name or description of what can't be read.
        what: String,
        /// Reason.
        why: String,
    },
    /// The program is built without its git server for SSH.
    #[error("this build of fleetdrill can't serve repositories over SSH")]
    WithoutSsh,
    /// A flood of requests doesn't use up its priority level.
    #[error("the requests of the flood are still served after {seconds} s: something else limits or answers them")]
    NoFlood {
        /// Time limit, in seconds.
        seconds: u64,
    },
    /// This machine has no free port for a server.
    #[error("failed to listen on {address}")]
    Listen {
        /// Address, with port 0 for any port.
        address: std::net::SocketAddr,
        /// Cause.
        #[source]
        source: std::io::Error,
    },
    /// The fleet's state can't be written as JSON.
    #[error("failed to save the state of fleet {fleet}")]
    NotSaved {
        /// The fleet's name.
        fleet: String,
        /// The reason, e.g. a path that isn't UTF-8.
        #[source]
        source: serde_json::Error,
    },
    /// Something that was waited for didn't hold.
    #[error("{0}")]
    Wait(Box<FailedWait>),
    /// A process of the fleet ended.
    #[error("{} ended ({}){}", exit.name, exit.status, last_lines(&exit.log))]
    Broken {
        /// Process that ended, with its exit status and its log.
        exit: ProcessExit,
    },
    /// The fleet was created without Argo CD.
    #[error("fleet `{0}` has no Argo CD")]
    NoArgoCd(String),
    /// The fleet was created without Toxiproxy.
    #[error("fleet `{0}` was started without Toxiproxy, which breaks networks")]
    NoToxiproxy(String),
    /// The repository with this name isn't served over HTTP, so no proxy can stand before it.
    #[error("repository {0} isn't served over HTTP")]
    NotServedOverHttp(String),
    /// Argo CD runs in Pods, where this can't be done.
    #[error("Argo CD runs in Pods here: fleetdrill can't {0}")]
    ArgoCdInPods(&'static str),
    /// The hub has an Argo CD that fleetdrill didn't install.
    #[error("namespace argocd is on the hub already, and fleetdrill didn't make it: nothing in it was touched")]
    OtherArgoCd,
    /// An Application's operation is in progress.
    #[error("an operation of Application/{0} is in progress already")]
    Busy(String),
    /// No operation of an Application is in progress.
    #[error("no operation of Application/{0} is in progress")]
    Idle(String),
    /// A git command failed.
    #[error("failed to run git {command} in {}: {why}", dir.display())]
    Git {
        /// Arguments of the command.
        command: String,
        /// Directory of the repository.
        dir: std::path::PathBuf,
        /// Output of the command.
        why: String,
    },
    /// Scenarios can't run on an external fleet.
    #[error(transparent)]
    Existing(#[from] ExistingFleetError),
    /// The fleet has no member of this name.
    #[error("there is no member `{0}` in this fleet")]
    NoSuchMember(String),
}

impl From<FailedWait> for FleetError {
    fn from(wait: FailedWait) -> Self {
        Self::Wait(Box::new(wait))
    }
}

impl FleetError {
    /// True if the environment is at fault, not the system under test.
    #[must_use]
    pub fn is_environment(&self) -> bool {
        match self {
            Self::Existing(error) => error.is_environment(),
            Self::Cluster(_)
            | Self::Broken { .. }
            | Self::Unreadable { .. }
            | Self::Listen { .. }
            | Self::NotSaved { .. }
            | Self::OtherArgoCd
            | Self::WithoutSsh
            | Self::Git { .. } => true,
            _ => false,
        }
    }

    /// Converts the error of a request to `action` on `cluster`, for `map_err`.
    pub fn api(cluster: &str, action: impl Into<String>) -> impl FnOnce(kube::Error) -> Self {
        let (cluster, action) = (cluster.to_owned(), action.into());
        move |source| Self::Api { cluster, action, source: Box::new(source) }
    }

    /// Builds the error for something that can't be read, e.g. a file.
    pub(crate) fn unreadable(what: impl Into<String>, why: impl Into<String>) -> Self {
        Self::Unreadable { what: what.into(), why: why.into() }
    }

    /// True if an API server doesn't serve the resource in this version. An object that isn't there is no error where objects are read.
    #[must_use]
    pub fn is_not_served(&self) -> bool {
        self.status().is_some_and(|status| status.code == 404)
    }

    /// True if an API server refused the credentials (401), or a request with these credentials (403).
    #[must_use]
    pub fn is_refused(&self) -> bool {
        self.status().is_some_and(|status| [401, 403].contains(&status.code))
    }

    /// Status in an API server's refusal, if the error is one.
    #[must_use]
    pub fn status(&self) -> Option<&kube::core::Status> {
        match self {
            Self::Api { source, .. } => match source.as_ref() {
                kube::Error::Api(status) => Some(status),
                _ => None,
            },
            Self::Unlisted { source, .. } => source.status(),
            _ => None,
        }
    }
}

/// Formats an error and all its causes on one line. For an API server's refusal, this is the server's message.
#[must_use]
pub fn in_full(error: &(dyn std::error::Error + 'static)) -> String {
    let mut text = String::new();
    let mut next = Some(error);
    while let Some(error) = next {
        let refusal = refusal(error);
        let said = message(error);
        if text.is_empty() {
            text = said;
        } else if !text.contains(&said) {
            text = format!("{text}: {said}");
        }
        next = if refusal.is_some() { None } else { error.source() };
    }
    text
}

/// Formats an error without its causes. For an API server's refusal, this is the server's message.
#[must_use]
pub fn message(error: &(dyn std::error::Error + 'static)) -> String {
    match (refusal(error), service_error(error)) {
        (Some(status), _) => status.message.clone(),
        // kube puts `ServiceError: ` before an error of the layers below it, such as a credential plugin's.
        (None, Some(inner)) => inner.to_string(),
        (None, None) => error.to_string(),
    }
}

/// Returns the error of a layer below kube.
fn service_error<'a>(error: &'a (dyn std::error::Error + 'static)) -> Option<&'a (dyn std::error::Error + 'static)> {
    match kube_error(error)? {
        kube::Error::Service(inner) => Some(inner.as_ref()),
        _ => None,
    }
}

fn kube_error<'a>(error: &'a (dyn std::error::Error + 'static)) -> Option<&'a kube::Error> {
    let boxed = error.downcast_ref::<Box<kube::Error>>().map(AsRef::as_ref);
    let of_list = error.downcast_ref::<ListError>().and_then(|error| match error {
        ListError::Request(error) => Some(error.as_ref()),
        _ => None,
    });
    boxed.or(of_list).or(error.downcast_ref::<kube::Error>())
}

/// Returns the status of an API server's refusal. kube's own text of a refusal contains the whole status twice.
fn refusal<'a>(error: &'a (dyn std::error::Error + 'static)) -> Option<&'a kube::core::Status> {
    match kube_error(error)? {
        kube::Error::Api(status) => Some(status),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{FleetError, in_full};

    #[test]
    fn a_refusal_is_told_once() {
        let status = kube::core::Status::failure("works is forbidden", "Forbidden").with_code(403);
        let error = FleetError::api("hub", "list works")(kube::Error::Api(status.boxed()));
        assert_eq!(in_full(&error), "failed to list works on hub: works is forbidden");
    }
}
