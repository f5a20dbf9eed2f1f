//! `fleetdrill down`.

use std::collections::BTreeMap;

use clusters::error::ClusterError;
use clusters::keeper::Keeper;
use clusters::stderr_line;
use clusters::{docker, kind, state_dir};
use fleet::existing::{Swept, UnseenKind};
use fleet::{HUB, existing};

use super::target::contexts;
use crate::cli::{Contexts, Down};
use crate::error::CommandError;
use crate::exit::Exit;

pub(super) async fn down(args: &Down) -> Result<Exit, CommandError> {
    if let Some(run) = &args.run {
        return sweep(run, &args.contexts).await;
    }
    // This also removes what dead fleets left behind.
    let fleets = state_dir::fleets()?;
    let ending: Vec<String> = if args.all { fleets } else { vec![args.fleet_name().to_owned()] };
    let none = ending.is_empty();
    for name in ending {
        let keeper = match Keeper::connect(&state_dir::fleet(&name)?) {
            // It ended by itself, since it was listed.
            Err(ClusterError::NoSuchFleet(_)) if args.all => continue,
            keeper => keeper?,
        };
        keeper.end().await?;
        stderr_line!("fleet `{name}` ended");
    }
    let left = if args.all { left_in_docker().await? } else { Vec::new() };
    for gone in &left {
        stderr_line!("{gone} of a fleet that had died is deleted");
    }
    if none && left.is_empty() {
        stderr_line!("no fleet is up");
    }
    Ok(Exit::Fine)
}

/// Deletes what fleets in Docker left whose keepers were killed; nothing where there is no Docker.
async fn left_in_docker() -> Result<Vec<String>, CommandError> {
    if let Err(ClusterError::NoProgram(_) | ClusterError::Outside { .. }) = docker::check().await {
        // Whoever has no Docker has nothing there.
        return Ok(Vec::new());
    }
    let containers = docker::sweep().await?;
    let clusters = match kind::sweep().await {
        // Nor has who has no kind.
        Err(ClusterError::NoProgram(_)) => Vec::new(),
        swept => swept?,
    };
    let containers = containers.into_iter().map(|name| format!("container `{name}`"));
    Ok(containers.chain(clusters.into_iter().map(|name| format!("kind cluster `{name}`"))).collect())
}

/// Removes what a run left on a fleet that existed before it.
async fn sweep(run: &str, given: &Contexts) -> Result<Exit, CommandError> {
    if given.hub.is_none() {
        return Err(CommandError::Usage {
            message: "--run needs the contexts that the run had".into(),
            hint: Some(format!("fleetdrill down --run {run} --hub CONTEXT --member NAME=CONTEXT")),
        });
    }
    let contexts = contexts(given)?;
    // The hub comes first: what placements have put on members goes with them.
    let members = contexts.of.keys().filter(|name| *name != HUB);
    let mut clusters = vec![contexts.cluster(HUB).await?];
    for member in members {
        clusters.push(contexts.cluster(member).await?);
    }
    let swept = existing::sweep(&clusters, run).await?;
    stderr_line!("{}", outcome(run, &swept));
    if swept.unseen.is_empty() {
        return Ok(Exit::Fine);
    }
    stderr_line!("warning: what may not be listed can't be removed either. These kinds weren't looked at:");
    for (cluster, kinds) in by_cluster(&swept) {
        stderr_line!("  on {cluster}: {}", kinds.join(", "));
    }
    stderr_line!("\nhint: use contexts of an administrator of each cluster");
    Ok(Exit::Incomplete)
}

/// What a sweep came to, in a sentence.
fn outcome(run: &str, swept: &Swept) -> String {
    match (swept.objects, swept.unseen.is_empty()) {
        (0, true) => format!("run {run} has left nothing"),
        (0, false) => format!("nothing of run {run} is among what these credentials may list"),
        (n, true) => format!("{n} objects of run {run} removed"),
        (n, false) => format!("{n} objects of run {run} removed; there may be more"),
    }
}

fn by_cluster(swept: &Swept) -> BTreeMap<&str, Vec<&str>> {
    let mut clusters: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for UnseenKind { cluster, resource } in &swept.unseen {
        clusters.entry(cluster).or_default().push(resource);
    }
    clusters
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_said_to_be_left_only_by_who_could_look() {
        let unseen = |cluster: &str, resource: &str| UnseenKind { cluster: cluster.into(), resource: resource.into() };
        let mut swept = Swept::default();
        assert_eq!(outcome("xyz", &swept), "run xyz has left nothing");
        swept.unseen = [unseen("hub", "pods"), unseen("hub", "secrets"), unseen("east", "pods")].into();
        assert_eq!(outcome("xyz", &swept), "nothing of run xyz is among what these credentials may list");
        assert_eq!(by_cluster(&swept), [("hub", vec!["pods", "secrets"]), ("east", vec!["pods"])].into());
        swept.objects = 3;
        assert_eq!(outcome("xyz", &swept), "3 objects of run xyz removed; there may be more");
    }
}
