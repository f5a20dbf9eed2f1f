//! Kinds that couldn't be listed, with the reason in the form that snapshots have.

use std::collections::{BTreeMap, BTreeSet};

use diagnosis::{UnreadKind, UnreadReason};
use futures::future::join_all;
use kube::Client;

use crate::error::{FleetError, in_full};
use crate::kinds::ResourceKind;

/// Finds the reasons why kinds couldn't be listed. Asks the API server which kinds it serves where the error alone
/// doesn't say: a kind that it doesn't serve is 403 for credentials without rights, and 404 in any other version.
pub async fn unread(client: &Client, failed: &[(ResourceKind, &FleetError)]) -> Vec<UnreadKind> {
    let code = |error: &FleetError| error.status().map_or(0, |status| status.code);
    let refused = failed.iter().filter(|(_, error)| code(error) == 403).map(|(kind, _)| *kind);
    let plurals = served_plurals(client, refused).await;
    let is_absent = |(kind, error): &(ResourceKind, &FleetError)| match code(error) {
        404 => true,
        403 => plurals.get(&kind.api_version()).is_some_and(|plurals| !plurals.contains(kind.plural)),
        _ => false,
    };
    let versions = if failed.iter().any(is_absent) { served_versions(client).await } else { BTreeMap::new() };
    let kinds = failed.iter().map(|failure| {
        let (kind, error) = failure;
        let other_versions = versions.get(kind.group).filter(|versions| !versions.iter().any(|v| v == kind.version));
        let unread = of_error(*kind, error);
        match (is_absent(failure), other_versions) {
            (true, Some(versions)) => {
                let versions = versions.join(", ");
                let message = format!("{} is served in {versions}, not in {}", kind.group, kind.version);
                UnreadKind { reason: UnreadReason::OtherVersion, message, ..unread }
            }
            (true, None) => UnreadKind { reason: UnreadReason::NotServed, message: String::new(), ..unread },
            (false, _) => unread,
        }
    });
    kinds.collect()
}

/// Returns the reason that an error has by itself.
pub(crate) fn of_error(kind: ResourceKind, error: &FleetError) -> UnreadKind {
    let reason = if error.is_refused() { UnreadReason::Forbidden } else { UnreadReason::Failed };
    let message = error.status().map_or_else(|| in_full(error), |status| status.message.clone());
    UnreadKind { group: kind.group.to_owned(), resource: kind.plural.to_owned(), reason, message }
}

/// Versions that the API server serves, by group.
async fn served_versions(client: &Client) -> BTreeMap<String, Vec<String>> {
    let groups = client.list_api_groups().await.map(|list| list.groups).unwrap_or_default();
    let versions = groups.into_iter().map(|group| {
        let versions = group.versions.into_iter().map(|version| version.version).collect();
        (group.name, versions)
    });
    versions.collect()
}

/// Plural names that the API server serves in the groups of these kinds, by group and version, as far as it tells them.
async fn served_plurals(
    client: &Client,
    kinds: impl Iterator<Item = ResourceKind>,
) -> BTreeMap<String, BTreeSet<String>> {
    let versions: BTreeSet<(bool, String)> = kinds.map(|kind| (kind.group.is_empty(), kind.api_version())).collect();
    let asked = versions.into_iter().map(|(is_core, version)| async move {
        let resources = if is_core {
            client.list_core_api_resources(&version).await
        } else {
            client.list_api_group_resources(&version).await
        };
        match resources {
            Ok(list) => Some((version, list.resources.into_iter().map(|resource| resource.name).collect())),
            Err(kube::Error::Api(status)) if status.code == 404 => Some((version, BTreeSet::new())),
            Err(_) => None,
        }
    });
    join_all(asked).await.into_iter().flatten().collect()
}
