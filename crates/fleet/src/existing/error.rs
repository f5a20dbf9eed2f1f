//! Why scenarios can't run on a fleet that exists already.

use std::collections::BTreeMap;

use thiserror::Error;

use super::DISPOSABLE;

/// Why scenarios can't run on a fleet that exists already. Nothing of it was changed then, except for [`ExistingError::Left`].
#[derive(Debug, Error)]
pub enum ExistingError {
    /// A cluster doesn't answer.
    #[error("{cluster} can't be reached at {server}: {why}")]
    Unreachable {
        /// The cluster's name in the fleet.
        cluster: String,
        /// Its API server.
        server: String,
        /// Why.
        why: String,
    },
    /// Two contexts lead to one cluster.
    #[error("{one} and {other} are the same cluster: namespace kube-system has the same UID in both")]
    Same {
        /// One name.
        one: String,
        /// The other.
        other: String,
    },
    /// The hub has no KubeFleet.
    #[error("the hub's context leads to no KubeFleet hub: it has no {}", missing.join(" and no "))]
    NoHub {
        /// CRDs that it doesn't have.
        missing: Vec<String>,
    },
    /// A member isn't one of this hub.
    #[error("MemberCluster/{name} has not joined this hub; {}", joined_ones(joined))]
    NotJoined {
        /// The name that was given.
        name: String,
        /// Those that have joined.
        joined: Vec<String>,
    },
    /// Nobody has said that anything may be broken.
    #[error("{} not marked as disposable, and scenarios break things on purpose", are(clusters))]
    NotDisposable {
        /// The clusters' names in the fleet.
        clusters: Vec<String>,
    },
    /// Scenarios would be refused.
    #[error("rights are missing on {cluster}:{}", lines(rights))]
    Rights {
        /// The cluster's name in the fleet.
        cluster: String,
        /// The verbs that are refused, by resource with its group.
        rights: BTreeMap<String, Vec<&'static str>>,
    },
    /// Another run uses the fleet.
    #[error("run {run} uses MemberCluster/{member}, or has died and left its annotation")]
    Busy {
        /// The member.
        member: String,
        /// The other run.
        run: String,
    },
    /// What a run has made couldn't be removed.
    #[error("what run {run} has made is still there after {seconds} s: {}", objects.join(", "))]
    Left {
        /// The run.
        run: String,
        /// The limit, in seconds.
        seconds: u64,
        /// Kinds and names, with their clusters.
        objects: Vec<String>,
    },
}

impl ExistingError {
    /// Whether the environment is at fault, and not what was asked.
    #[must_use]
    pub fn is_environment(&self) -> bool {
        matches!(self, Self::Unreachable { .. } | Self::Left { .. })
    }

    /// What to do about it.
    #[must_use]
    pub fn hint(&self) -> String {
        match self {
            Self::Unreachable { .. } => "check that it runs, and the context's address: kubectl cluster-info".into(),
            Self::Same { .. } => "give each cluster a context of its own: --hub CONTEXT --member NAME=CONTEXT".into(),
            Self::NoHub { .. } => "name the hub's context with --hub CONTEXT".into(),
            Self::NotJoined { .. } => "a member's name is that of its MemberCluster: --member NAME=CONTEXT".into(),
            Self::NotDisposable { .. } => format!(
                "if nothing in them is needed, mark each: kubectl --context CONTEXT label namespace kube-system \
                 {DISPOSABLE}=true; `fleetdrill diagnose` and `collect` need no mark, they only read"
            ),
            Self::Rights { .. } => {
                "use contexts of an administrator of each cluster: scenarios make and delete objects; to \
                 read only, the role in docs/own-fleet.md is enough (fleetdrill diagnose, collect)"
                    .into()
            }
            Self::Busy { run, .. } => {
                format!("wait for it, or if it has died: fleetdrill down --run {run}, with the same contexts")
            }
            Self::Left { run, .. } => {
                format!("look at what holds them; then: fleetdrill down --run {run}, with the same contexts")
            }
        }
    }
}

/// One line for each resource: `configmaps: create, patch`.
fn lines(rights: &BTreeMap<String, Vec<&'static str>>) -> String {
    let lines: Vec<String> =
        rights.iter().map(|(resource, verbs)| format!("\n{resource}: {}", verbs.join(", "))).collect();
    lines.concat()
}

fn joined_ones(joined: &[String]) -> String {
    if joined.is_empty() { "none has".to_owned() } else { format!("these have: {}", joined.join(", ")) }
}

fn are(clusters: &[String]) -> String {
    let verb = if clusters.len() == 1 { "is" } else { "are" };
    format!("{} {verb}", clusters.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_rights_have_a_line_for_each_kind() {
        let rights = [("configmaps", vec!["create", "patch"]), ("works.placement.kubernetes-fleet.io", vec!["delete"])];
        let rights = rights.map(|(resource, verbs)| (resource.to_owned(), verbs)).into();
        let error = ExistingError::Rights { cluster: "hub".into(), rights };
        assert_eq!(
            error.to_string(),
            "rights are missing on hub:\nconfigmaps: create, patch\nworks.placement.kubernetes-fleet.io: delete"
        );
    }
}
