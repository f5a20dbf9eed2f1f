//! `fleetdrill up`.

use std::sync::Arc;

use clusters::error::ClusterError;
use clusters::keeper::{Keeper, Program};
use clusters::state_dir;
use clusters::stderr_line;
use fleet::{Fleet, FleetError};
use futures::future::try_join_all;
use serde_json::json;

use super::progress::Progress;
use super::target::unusable;
use super::{interruptible, open_fleet, versions};
use crate::cli::{Provider, Up};
use crate::components::{self, Clusters, Extras};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::output::stdout::stdout_line;

pub(super) async fn up(mut args: Up) -> Result<Exit, CommandError> {
    args.name = args.fleet_name().to_owned();
    state_dir::check_name(&args.name)?;
    let clusters = clusters(&args)?;
    let name = args.name.clone();
    let is_up = state_dir::fleets()?.contains(&name);
    let result = interruptible(bring_up(args, clusters, is_up)).await;
    let exists = matches!(result, Err(CommandError::Fleet(FleetError::Cluster(ClusterError::FleetExists(_)))));
    if !is_up && !exists && !matches!(result, Ok(Exit::Fine)) {
        end_what_was_started(&name).await;
    }
    result
}

/// Where the clusters of a new fleet are to come from.
fn clusters(args: &Up) -> Result<Clusters, CommandError> {
    if args.provider != Provider::Local && (args.argocd.is_some() || args.argocd_server) {
        return Err(unusable(
            "--argocd goes with --provider local only",
            Some("fleetdrill's Argo CD runs beside local clusters"),
        ));
    }
    let clusters = args.images.clusters(args.provider).map_err(|why| unusable(why, Some(IN_DOCKER)))?;
    Ok(clusters.unwrap_or(Clusters::Local))
}

/// Which providers have images.
pub(super) const IN_DOCKER: &str = "clusters in Docker: --provider docker, or with real nodes: --provider kind";

/// Ends a fleet that didn't get ready, whatever of it there is, and waits until nothing is left.
async fn end_what_was_started(name: &str) {
    let Ok(dir) = state_dir::fleet(name) else { return };
    if let Ok(keeper) = Keeper::connect(&dir) {
        // It may be ending by itself, since its owner has let go.
        let _ = keeper.end().await;
    }
    state_dir::wait_until_gone(name).await;
}

async fn bring_up(args: Up, clusters: Clusters, is_up: bool) -> Result<Exit, CommandError> {
    let progress = Arc::new(Progress::stderr());
    let argocd = args.argocd.as_deref().map(|version| Some(version).filter(|v| !v.is_empty()));
    let argocd = argocd.or(args.argocd_server.then_some(None));
    let fleet = if is_up {
        let fleet = open_fleet(&args.name).await?;
        if let Some(version) = args.kubefleet.as_deref().filter(|v| **v != *fleet.version()) {
            return Err(CommandError::Usage {
                message: format!("fleet `{}` is up with KubeFleet {}, not {version}", args.name, fleet.version()),
                hint: Some(format!("end it first (fleetdrill down {}), or give the new one another name", args.name)),
            });
        }
        if args.provider != Provider::Local && fleet.provider() != clusters.provider() {
            return Err(CommandError::Usage {
                message: format!(
                    "fleet `{}` is up with provider {}, not {}",
                    args.name,
                    fleet.provider(),
                    clusters.provider()
                ),
                hint: Some(format!("end it first (fleetdrill down {}), or give the new one another name", args.name)),
            });
        }
        if args.pods && fleet.is_local() {
            let (programs, _) = components::ensure_pods(&|event| progress.build(&event)).await?;
            fleet.allow_pods(programs).await?;
        }
        if let Some(version) = &argocd {
            bring_argocd(&fleet, *version, &progress).await?;
        }
        resize(&fleet, usize::from(args.members), &progress).await?;
        fleet
    } else {
        clusters.check().await?;
        let building = Arc::clone(&progress);
        let build = move |event| building.build(&event);
        let components =
            components::ensure(args.kubefleet.as_deref(), &clusters, Extras { pods: args.pods, argocd }, &build)
                .await?;
        progress.say("starting the fleet");
        let options = components.options(args.name.clone(), usize::from(args.members), Program::this()?);
        let starting = Arc::clone(&progress);
        let fleet = Fleet::create(options, Arc::new(move |stage| starting.fleet(&stage))).await?;
        fleet.keep().await?;
        fleet
    };
    let members: Vec<String> = fleet.members().await.into_keys().collect();
    if args.pods {
        progress.say("starting a scheduler and a kubelet for each member");
        try_join_all(members.iter().map(|member| fleet.start_pods(member))).await?;
    }
    let cli = if args.argocd_server {
        progress.say("starting Argo CD's API server");
        Some(fleet.start_argocd_server().await?)
    } else {
        None
    };
    progress.finish();
    let argocd = fleet.argocd_version().await;
    let versions = versions(&fleet.version(), argocd.as_deref());
    stderr_line!("fleet `{}` is up: hub, {} ({versions})", args.name, members.join(", "));
    stderr_line!("  kubectl --context hub get memberclusters");
    if argocd.is_some() {
        stderr_line!("  kubectl --context hub --namespace argocd get applications");
    }
    if let Some(cli) = cli {
        stderr_line!("  ARGOCD_CONFIG_DIR={} {} app list", cli.config_dir.display(), cli.program.display());
    }
    stderr_line!(
        "  fleetdrill diagnose --fleet {0}\n  fleetdrill down {0}\nkubeconfig, with a context for each cluster:",
        args.name
    );
    // The one thing on stdout: export KUBECONFIG=$(fleetdrill up)
    stdout_line!("{}", fleet.kubeconfig_file().display());
    Ok(Exit::Fine)
}

/// Joins the members that are missing and takes away those that are too many.
async fn resize(fleet: &Fleet, members: usize, progress: &Progress) -> Result<(), CommandError> {
    let wanted: Vec<String> = (1..=members).map(|n| format!("member-{n}")).collect();
    let there = fleet.members().await;
    for name in wanted.iter().filter(|name| !there.contains_key(*name)) {
        progress.say(&format!("{name} joins"));
        fleet.add_member(name, &json!({})).await?;
    }
    for name in there.keys().filter(|name| !wanted.contains(name)) {
        progress.say(&format!("{name} leaves"));
        fleet.remove_member(name).await?;
    }
    Ok(())
}

/// Starts Argo CD on a fleet that is up, unless it runs there.
async fn bring_argocd(fleet: &Fleet, version: Option<&str>, progress: &Progress) -> Result<(), CommandError> {
    if let Some(there) = fleet.argocd_version().await {
        if version.is_none_or(|version| version == there) {
            return Ok(());
        }
        return Err(CommandError::Usage {
            message: format!("fleet `{}` has Argo CD {there}, not {}", fleet.name(), version.unwrap_or_default()),
            hint: Some(format!("end it first (fleetdrill down {}), or give the new one another name", fleet.name())),
        });
    }
    let programs = components::ensure_argocd(version, &|event| progress.build(&event)).await?;
    progress.say("starting Argo CD on the hub");
    Ok(fleet.start_argocd(programs).await?)
}
