//! `fleetdrill down`.

use std::collections::BTreeMap;

use clusters::error::ClusterError;
use clusters::supervisor::SupervisorClient;
use clusters::{docker, kind, state_dir};
use fleet::existing::{SweepResult, UnlistableKind};
use fleet::{HUB, existing};
use report::stderr_line;

use crate::cli::DownArgs;
use crate::error::CommandError;
use crate::exit::CommandExitCode;
use crate::fleet_source::contexts;
use crate::fleet_source::options::ContextOptions;

pub(super) async fn down(args: &DownArgs) -> Result<CommandExitCode, CommandError> {
    if let Some(run) = &args.run {
        return sweep(run, &args.contexts).await;
    }
    // `fleets()` also removes the leftovers of dead fleets.
    let fleets = state_dir::fleets().await?;
    let ending: Vec<String> = if args.all { fleets } else { vec![args.fleet_name().to_owned()] };
    let none = ending.is_empty();
    for name in ending {
        let supervisor = match SupervisorClient::connect(&state_dir::fleet(&name)?) {
            // The fleet has ended by itself since it was listed.
            Err(ClusterError::NoSuchFleet(_)) if args.all => continue,
            supervisor => supervisor?,
        };
        supervisor.end().await?;
        stderr_line!("fleet `{name}` ended");
    }
    let left = if args.all { left_in_docker().await? } else { Vec::new() };
    for gone in &left {
        stderr_line!("{gone} of a fleet that had died is deleted");
    }
    if none && left.is_empty() {
        stderr_line!("no fleet is up");
    }
    Ok(CommandExitCode::Fine)
}

/// Deletes leftovers in Docker of fleets whose supervisors were killed; returns none if there is no Docker.
async fn left_in_docker() -> Result<Vec<String>, CommandError> {
    if let Err(ClusterError::NoProgram(_) | ClusterError::Outside { .. }) = docker::check().await {
        // Without Docker there are no leftovers in Docker.
        return Ok(Vec::new());
    }
    let containers = docker::sweep().await?;
    let clusters = match kind::sweep().await {
        // Without kind there are no kind clusters.
        Err(ClusterError::NoProgram(_)) => Vec::new(),
        swept => swept?,
    };
    let containers = containers.into_iter().map(|name| format!("container `{name}`"));
    Ok(containers.chain(clusters.into_iter().map(|name| format!("kind cluster `{name}`"))).collect())
}

/// Removes the objects that a run left on an existing fleet.
async fn sweep(run: &str, given: &ContextOptions) -> Result<CommandExitCode, CommandError> {
    if given.hub.is_none() {
        return Err(CommandError::Usage {
            message: "--run needs the contexts that the run had".into(),
            hint: Some(format!("fleetdrill down --run {run} --hub CONTEXT --member NAME=CONTEXT")),
        });
    }
    let contexts = contexts(given)?;
    // The hub comes first: objects that placements have put on members are removed with the placements.
    let members = contexts.of.keys().filter(|name| *name != HUB);
    let mut clusters = vec![contexts.cluster(HUB).await?];
    for member in members {
        clusters.push(contexts.cluster(member).await?);
    }
    let swept = existing::sweep(&clusters, run).await?;
    stderr_line!("{}", outcome(run, &swept));
    if swept.unseen.is_empty() {
        return Ok(CommandExitCode::Fine);
    }
    stderr_line!("warning: what may not be listed can't be removed either. These kinds weren't looked at:");
    for (cluster, kinds) in by_cluster(&swept) {
        stderr_line!("  on {cluster}: {}", kinds.join(", "));
    }
    stderr_line!("\nhint: use contexts of an administrator of each cluster");
    Ok(CommandExitCode::Incomplete)
}

/// Returns the result of a sweep in a sentence.
fn outcome(run: &str, swept: &SweepResult) -> String {
    match (swept.objects, swept.unseen.is_empty()) {
        (0, true) => format!("run {run} has left nothing"),
        (0, false) => format!("nothing of run {run} is among what these credentials may list"),
        (n, true) => format!("{n} objects of run {run} removed"),
        (n, false) => format!("{n} objects of run {run} removed; there may be more"),
    }
}

fn by_cluster(swept: &SweepResult) -> BTreeMap<&str, Vec<&str>> {
    let mut clusters: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for UnlistableKind { cluster, resource } in &swept.unseen {
        clusters.entry(cluster).or_default().push(resource);
    }
    clusters
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_said_to_be_left_only_by_who_could_look() {
        let unseen =
            |cluster: &str, resource: &str| UnlistableKind { cluster: cluster.into(), resource: resource.into() };
        let mut swept = SweepResult::default();
        assert_eq!(outcome("xyz", &swept), "run xyz has left nothing");
        swept.unseen = [unseen("hub", "pods"), unseen("hub", "secrets"), unseen("east", "pods")].into();
        assert_eq!(outcome("xyz", &swept), "nothing of run xyz is among what these credentials may list");
        assert_eq!(by_cluster(&swept), [("hub", vec!["pods", "secrets"]), ("east", vec!["pods"])].into());
        swept.objects = 3;
        assert_eq!(outcome("xyz", &swept), "3 objects of run xyz removed; there may be more");
    }
}
