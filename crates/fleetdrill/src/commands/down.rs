//! `fleetdrill down`.

use clusters::error::ClusterError;
use clusters::keeper::Keeper;
use clusters::state_dir;
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
    let ending: Vec<String> = if args.all { fleets } else { vec![args.name.clone()] };
    if ending.is_empty() {
        eprintln!("no fleet is up");
    }
    for name in ending {
        let keeper = match Keeper::connect(&state_dir::fleet(&name)?) {
            // It ended by itself, since it was listed.
            Err(ClusterError::NoSuchFleet(_)) if args.all => continue,
            keeper => keeper?,
        };
        keeper.end().await?;
        eprintln!("fleet `{name}` ended");
    }
    Ok(Exit::Fine)
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
    match swept {
        0 => eprintln!("run {run} has left nothing"),
        n => eprintln!("{n} objects of run {run} removed"),
    }
    Ok(Exit::Fine)
}
