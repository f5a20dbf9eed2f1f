//! Errors that keep scenarios from running on an external fleet.

use std::collections::BTreeMap;

use thiserror::Error;

/// An error that keeps scenarios from running on an external fleet. Nothing has been changed on the fleet then, except
/// with [`ExistingFleetError::Left`].
#[derive(Debug, Error)]
pub enum ExistingFleetError {
    /// A cluster doesn't answer.
    #[error("{cluster} can't be reached at {server}: {why}")]
    Unreachable {
        /// Name of the cluster in the fleet.
        cluster: String,
        /// Address of the cluster's API server.
        server: String,
        /// Cause.
        why: String,
    },
    /// Two contexts lead to the same cluster.
    #[error("{one} and {other} are the same cluster: namespace kube-system has the same UID in both")]
    Same {
        /// Name of one cluster in the fleet.
        one: String,
        /// Name of the other cluster in the fleet.
        other: String,
    },
    /// The hub has no KubeFleet.
    #[error("the hub's context leads to no KubeFleet hub: it has no {}", missing.join(" and no "))]
    NoHub {
        /// CRDs of KubeFleet that the hub doesn't have.
        missing: Vec<String>,
    },
    /// A member hasn't joined this hub.
    #[error("MemberCluster/{name} has not joined this hub; {}", joined_ones(joined))]
    NotJoined {
        /// Name that was given for the member.
        name: String,
        /// Names of the members that have joined.
        joined: Vec<String>,
    },
    /// Clusters aren't marked as disposable.
    #[error("{} not marked as disposable, and scenarios break things on purpose", are(clusters))]
    NotDisposable {
        /// Names of these clusters in the fleet.
        clusters: Vec<String>,
    },
    /// The credentials lack rights that scenarios need.
    #[error("rights are missing on {cluster}:{}", lines(rights))]
    Rights {
        /// Name of the cluster in the fleet.
        cluster: String,
        /// Refused verbs, by resource with its group.
        rights: BTreeMap<String, Vec<&'static str>>,
    },
    /// Another run uses the fleet.
    #[error("run {run} uses MemberCluster/{member}, or has died and left its annotation")]
    Busy {
        /// Name of the member.
        member: String,
        /// Id of the other run.
        run: String,
    },
    /// Objects that a run has made couldn't be deleted in time.
    #[error("what run {run} has made is still there after {seconds} s: {}", objects.join(", "))]
    Left {
        /// Id of the run.
        run: String,
        /// Time limit, in seconds.
        seconds: u64,
        /// Kinds and names of the objects, with their clusters.
        objects: Vec<String>,
    },
}

impl ExistingFleetError {
    /// True if the environment is at fault, not the request.
    #[must_use]
    pub fn is_environment(&self) -> bool {
        matches!(self, Self::Unreachable { .. } | Self::Left { .. })
    }
}

/// Formats one line for each resource: `configmaps: create, patch`.
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
        let error = ExistingFleetError::Rights { cluster: "hub".into(), rights };
        assert_eq!(
            error.to_string(),
            "rights are missing on hub:\nconfigmaps: create, patch\nworks.placement.kubernetes-fleet.io: delete"
        );
    }
}
