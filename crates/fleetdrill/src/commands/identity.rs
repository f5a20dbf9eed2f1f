//! Whether contexts lead to the clusters that they are given for.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use fleet::snapshot::Asked;
use fleet::{HUB, kinds, member_namespace};
use futures::future::join_all;
use kube::api::ListParams;

use super::target::unusable;
use crate::error::CommandError;

/// How long a cluster may take to say what it is. One that takes longer isn't checked.
const LIMIT: Duration = Duration::from_secs(10);

/// How many `AppliedWork` objects are enough to tell a member.
const APPLIED_WORKS: u32 = 100;

/// What a cluster tells about itself. Who may not list something is told nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Identity {
    /// The UID of namespace kube-system.
    system: Option<String>,
    /// The namespaces on the hub from which the cluster's member-agent has applied Works.
    works_from: BTreeSet<String>,
}

/// Asks clusters, by name, what they are.
pub(super) async fn ask(clusters: impl Iterator<Item = (String, Asked)>) -> BTreeMap<String, Identity> {
    let asked = clusters.map(|(name, cluster)| async move {
        let identity = tokio::time::timeout(LIMIT, identity(&cluster)).await;
        (name, identity.unwrap_or_default())
    });
    join_all(asked).await.into_iter().collect()
}

async fn identity(cluster: &Asked) -> Identity {
    let system = ListParams::default().fields("metadata.name=kube-system");
    let some = ListParams::default().limit(APPLIED_WORKS);
    let (namespaces, works) =
        (kinds::NAMESPACE.api(&cluster.client, None), kinds::APPLIED_WORK.api(&cluster.client, None));
    let (system, works) = futures::join!(namespaces.list(&system), works.list(&some));
    let system = system.ok().and_then(|list| list.items.into_iter().find_map(|namespace| namespace.metadata.uid));
    let works = works.map(|list| list.items).unwrap_or_default();
    let namespace =
        |work: &kube::api::DynamicObject| work.data.pointer("/spec/workNamespace")?.as_str().map(ToOwned::to_owned);
    Identity { system, works_from: works.iter().filter_map(namespace).collect() }
}

/// Sees that the members are those of this hub, that no two clusters are the same, and that none was taken for another.
///
/// # Errors
/// When one of it isn't so.
pub(super) fn check(
    identities: &BTreeMap<String, Identity>,
    contexts: &BTreeMap<String, String>,
    joined: &[&str],
) -> Result<(), CommandError> {
    let context = |name: &str| contexts.get(name).map_or("", String::as_str);
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
            return Err(unusable(&format!("there is no MemberCluster `{name}` on the hub"), Some(&hint)));
        }
    }
    let mut systems: BTreeMap<&str, &str> = BTreeMap::new();
    for (name, identity) in identities {
        let Some(system) = &identity.system else { continue };
        if let Some(other) = systems.insert(system, name) {
            let message = format!(
                "{other} (context `{}`) and {name} (context `{}`) are the same cluster: namespace kube-system has the same UID",
                context(other),
                context(name)
            );
            return Err(unusable(
                &message,
                Some("give each cluster a context of its own: --hub CONTEXT --member NAME=CONTEXT"),
            ));
        }
    }
    for (name, identity) in identities.iter().filter(|(name, _)| *name != HUB) {
        if identity.works_from.contains(&member_namespace(name)) {
            continue;
        }
        // Works of a member that has left the fleet may have stayed.
        if let Some(other) = joined.iter().find(|other| identity.works_from.contains(&member_namespace(other))) {
            let message = format!(
                "context `{}` is given for {name} and leads to {other}: what its member-agent has applied comes from {}",
                context(name),
                member_namespace(other)
            );
            return Err(unusable(&message, Some("name the members by the MemberClusters of their contexts")));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identity(system: Option<&str>, works_from: &[&str]) -> Identity {
        Identity {
            system: system.map(ToOwned::to_owned),
            works_from: works_from.iter().map(ToString::to_string).collect(),
        }
    }

    #[test]
    fn clusters_that_are_not_what_they_are_given_for_are_named() {
        let contexts = ["hub", "east", "west"].map(|name| (name.to_owned(), format!("aks-{name}")));
        let checked = |hub: Identity, east: Identity, west: Identity, joined: &[&str]| {
            let identities = [("hub", hub), ("east", east), ("west", west)].map(|(name, of)| (name.to_owned(), of));
            check(&identities.into(), &contexts.clone().into(), joined).map_err(|error| error.to_string())
        };
        let of_east = "fleet-member-east";
        let nobody = || identity(None, &[]);
        let both = ["east", "west"];
        // What can't be told isn't held against anybody, nor are Works of a member that has left.
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
