//! What can go wrong with a fleet.

use clusters::error::{ClusterError, last_lines, log_hint};
use clusters::keeper::protocol::Exit;
use thiserror::Error;

/// An error of this crate.
#[derive(Debug, Error)]
pub enum FleetError {
    /// The clusters failed.
    #[error(transparent)]
    Cluster(#[from] ClusterError),
    /// A request to an API server failed.
    #[error("failed to {action} on {cluster}")]
    Api {
        /// `hub` or a member's name.
        cluster: String,
        /// What was being done, e.g. `create ClusterResourcePlacement/web`.
        action: String,
        /// Why.
        #[source]
        source: Box<kube::Error>,
    },
    /// The hub didn't give what a diagnosis can't do without.
    #[error("failed to list on the hub what a diagnosis can't do without: {}", resources.join(", "))]
    Unlisted {
        /// The plurals of the kinds.
        resources: Vec<String>,
        /// Why the hub didn't give the first of them.
        #[source]
        source: Box<FleetError>,
    },
    /// A manifest or a file of KubeFleet could not be read.
    #[error("failed to read {what}: {why}")]
    Unreadable {
        /// Which one.
        what: String,
        /// Why.
        why: String,
    },
    /// Something that was waited for can't hold any more.
    #[error("{expectation}: can't hold any more after {seconds:.1} s: {why}\n  last seen: {last}")]
    Never {
        /// What was waited for.
        expectation: String,
        /// How long it was waited for.
        seconds: f64,
        /// Why it can't hold.
        why: String,
        /// The last state.
        last: String,
    },
    /// Something that was waited for didn't come in time.
    #[error("{expectation}: not so after {seconds:.0} s\n  last seen: {last}")]
    TimedOut {
        /// What was waited for.
        expectation: String,
        /// The wait's limit.
        seconds: f64,
        /// The last state.
        last: String,
    },
    /// Something that had to stay as it is changed.
    #[error("{expectation}: no longer so after {seconds:.1} s\n  now: {last}")]
    DidNotStay {
        /// What had to stay.
        expectation: String,
        /// How long it stayed.
        seconds: f64,
        /// The new state.
        last: String,
    },
    /// A component of the fleet ended.
    #[error("{} ended ({}){}", exit.name, exit.status, last_lines(&exit.log))]
    Broken {
        /// Which, how, and its log.
        exit: Exit,
    },
    /// The fleet was made without Argo CD.
    #[error("fleet `{0}` has no Argo CD: no scenario is tagged @argocd, nor was it brought up with --argocd")]
    NoArgoCd(String),
    /// The hub has an Argo CD that fleetdrill didn't install.
    #[error("namespace argocd is on the hub already, and fleetdrill didn't make it: nothing in it was touched")]
    OtherArgoCd,
    /// An Application's operation is in progress.
    #[error("an operation of Application/{0} is in progress already")]
    Busy(String),
    /// No operation of an Application is in progress.
    #[error("no operation of Application/{0} is in progress")]
    Idle(String),
    /// git refused.
    #[error("failed to run git {command} in {}: {why}", dir.display())]
    Git {
        /// Its arguments.
        command: String,
        /// The repository.
        dir: std::path::PathBuf,
        /// What it said.
        why: String,
    },
    /// Scenarios can't run on a fleet that exists already.
    #[error(transparent)]
    Existing(#[from] crate::existing::ExistingError),
    /// There is no member of that name.
    #[error("there is no member `{0}` in this fleet")]
    NoSuchMember(String),
}

impl FleetError {
    /// What to do about it, where something can be said.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Cluster(error) => error.hint(),
            Self::Existing(error) => Some(error.hint()),
            Self::Broken { exit } if exit.name == "keeper" && exit.log.trim().is_empty() => Some(
                "it was killed from outside, by a person or for want of memory; the fleet has ended with it".into(),
            ),
            Self::Broken { exit } => log_hint(&exit.log),
            Self::OtherArgoCd => {
                Some("delete the namespace if nothing of it is needed, or use a fleet of another name".into())
            }
            Self::Unlisted { .. } | Self::Api { .. } if self.is_refused() => Some(READER_HINT.into()),
            _ => None,
        }
    }

    /// Whether the environment is at fault and not what was tested.
    #[must_use]
    pub fn is_environment(&self) -> bool {
        match self {
            Self::Existing(error) => error.is_environment(),
            Self::Cluster(_) | Self::Broken { .. } | Self::Unreadable { .. } | Self::OtherArgoCd | Self::Git { .. } => {
                true
            }
            _ => false,
        }
    }

    /// For `map_err` on a request.
    pub fn api(cluster: &str, action: impl Into<String>) -> impl FnOnce(kube::Error) -> Self {
        let (cluster, action) = (cluster.to_owned(), action.into());
        move |source| Self::Api { cluster, action, source: Box::new(source) }
    }

    /// Whether an API server refused the credentials, or what they ask for.
    #[must_use]
    pub fn is_refused(&self) -> bool {
        self.status().is_some_and(|status| [401, 403].contains(&status.code))
    }

    /// The API server's refusal, when it was one.
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

/// What to do about credentials that are refused.
pub const READER_HINT: &str = "check the context's user (kubectl auth whoami) and its rights: the role in docs/own-fleet.md is \
    enough for `fleetdrill diagnose` and `collect`";

/// An error with all its causes on one line. Of an API server's refusal, its message.
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

/// An error's own words without its causes. Of an API server's refusal, the server's message.
#[must_use]
pub fn message(error: &(dyn std::error::Error + 'static)) -> String {
    refusal(error).map_or_else(|| error.to_string(), |status| status.message.clone())
}

/// kube's own text of a refusal has the whole status in it, twice.
fn refusal<'a>(error: &'a (dyn std::error::Error + 'static)) -> Option<&'a kube::core::Status> {
    let boxed = error.downcast_ref::<Box<kube::Error>>().map(AsRef::as_ref);
    match boxed.or(error.downcast_ref::<kube::Error>())? {
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
