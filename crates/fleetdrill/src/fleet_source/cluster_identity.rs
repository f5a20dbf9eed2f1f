//! Checks that contexts lead to the clusters that they are given for.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use fleet::snapshot::ClusterAccess;
use fleet::{HUB, kinds, member_namespace};
use futures::{StreamExt, stream};
use kube::api::ListParams;

use crate::error::CommandError;

/// Time limit for a cluster's answer about its identity. A slower cluster isn't checked.
const LIMIT: Duration = Duration::from_secs(10);

/// Clusters that are asked at the same time.
const AT_ONCE: usize = 64;

/// Maximum number of `AppliedWork` objects that are read to identify a member.
const APPLIED_WORKS: u32 = 100;

/// Identity of a cluster. A field is empty if the credentials may not list its objects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ClusterIdentity {
    /// UID of namespace kube-system.
    system: Option<String>,
    /// Namespaces on the hub from which the cluster's member-agent has applied Works.
    works_from: BTreeSet<String>,
}

/// Reads the identities of clusters, by name.
pub(crate) async fn ask(clusters: impl Iterator<Item = (String, ClusterAccess)>) -> BTreeMap<String, ClusterIdentity> {
    let asked = clusters.map(|(name, cluster)| async move {
        let identity = tokio::time::timeout(LIMIT, identity(&cluster)).await;
        (name, identity.unwrap_or_default())
    });
    stream::iter(asked).buffer_unordered(AT_ONCE).collect().await
}

async fn identity(cluster: &ClusterAccess) -> ClusterIdentity {
    let system = ListParams::default().fields("metadata.name=kube-system");
    let some = ListParams::default().limit(APPLIED_WORKS);
    let (namespaces, works) =
        (kinds::NAMESPACE.api(&cluster.client, None), kinds::APPLIED_WORK.api(&cluster.client, None));
    let (system, works) = futures::join!(namespaces.list(&system), works.list(&some));
    let system = system.ok().and_then(|list| list.items.into_iter().find_map(|namespace| namespace.metadata.uid));
    let works = works.map(|list| list.items).unwrap_or_default();
    let namespace =
        |work: &kube::api::DynamicObject| work.data.pointer("/spec/workNamespace")?.as_str().map(ToOwned::to_owned);
    ClusterIdentity { system, works_from: works.iter().filter_map(namespace).collect() }
}

/// Checks that the members belong to this hub, that no two clusters are the same, and that no context leads to another
/// member.
///
/// # Errors
/// Returns an error if one of these conditions isn't met.
pub(crate) fn check(
    identities: &BTreeMap<String, ClusterIdentity>,
    contexts: &BTreeMap<String, String>,
    joined: &[&str],
) -> Result<(), CommandError> {
    for name in contexts.keys().filter(|name| *name != HUB) {
        if !joined.contains(&name.as_str()) {
            let hint = format!(
                "a member's name is that of its MemberCluster; {}",
                if joined.is_empty() {
                    "the hub has none".to_owned()
                } else {
                    format!("the hub has: {}", joined.join(", "))
                }
            );
            return Err(CommandError::usage(format!("there is no MemberCluster `{name}` on the hub"), Some(&hint)));
        }
    }
    let mut systems: BTreeMap<&str, &str> = BTreeMap::new();
    for (name, identity) in identities {
        let Some(system) = &identity.system else { continue };
        if let Some(other) = systems.insert(system, name) {
            let message = format!(
                "{other} (context `{}`) and {name} (context `{}`) are the same cluster: namespace kube-system has the same UID",
                context(contexts, other),
                context(contexts, name)
            );
            return Err(CommandError::usage(
                message,
                Some("give each cluster a context of its own: --hub CONTEXT --member NAME=CONTEXT"),
            ));
        }
    }
    for (name, identity) in identities.iter().filter(|(name, _)| *name != HUB) {
        if identity.works_from.contains(&member_namespace(name)) {
            continue;
        }
        // Works of a member that has left the fleet may still exist: only namespaces of joined members count.
        if let Some(other) = joined.iter().find(|other| identity.works_from.contains(&member_namespace(other))) {
            let message = format!(
                "context `{}` is given for {name} and leads to {other}: what its member-agent has applied comes from {}",
                context(contexts, name),
                member_namespace(other)
            );
            return Err(CommandError::usage(message, Some("name the members by the MemberClusters of their contexts")));
        }
    }
    Ok(())
}

/// Returns the context of a cluster.
fn context<'a>(contexts: &'a BTreeMap<String, String>, cluster: &str) -> &'a str {
    contexts.get(cluster).map_or("", String::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identity(system: Option<&str>, works_from: &[&str]) -> ClusterIdentity {
        ClusterIdentity {
            system: system.map(ToOwned::to_owned),
            works_from: works_from.iter().map(ToString::to_string).collect(),
        }
    }

    #[test]
    fn clusters_that_are_not_what_they_are_given_for_are_named() {
        let contexts = ["hub", "east", "west"].map(|name| (name.to_owned(), format!("aks-{name}")));
        let checked = |hub: ClusterIdentity, east: ClusterIdentity, west: ClusterIdentity, joined: &[&str]| {
            let identities = [("hub", hub), ("east", east), ("west", west)].map(|(name, of)| (name.to_owned(), of));
            check(&identities.into(), &contexts.clone().into(), joined).map_err(|error| error.to_string())
        };
        let of_east = "fleet-member-east";
        let nobody = || identity(None, &[]);
        let both = ["east", "west"];
        // An unknown identity is no error, nor are Works of a member that has left.
        assert_eq!(checked(nobody(), nobody(), nobody(), &both), Ok(()));
        let fine = identity(Some("b"), &[of_east, "fleet-member-west"]);
        assert_eq!(checked(identity(Some("a"), &[]), fine, identity(Some("c"), &["fleet-member-old"]), &both), Ok(()));
        for (east, west, joined, expected) in [
            (nobody(), nobody(), &["east"][..], "there is no MemberCluster `west` on the hub"),
            (
                identity(Some("a"), &[]),
                nobody(),
                &both,
                "east (context `aks-east`) and hub (context `aks-hub`) are the same cluster: namespace kube-system has the \
                 same UID",
            ),
            (
                nobody(),
                identity(None, &[of_east]),
                &both,
                "context `aks-west` is given for west and leads to east: what its member-agent has applied comes from \
                 fleet-member-east",
            ),
        ] {
            assert_eq!(checked(identity(Some("a"), &[]), east, west, joined), Err(expected.to_owned()));
        }
    }
}
