//! `fleetdrill up`.

use std::sync::Arc;

use clusters::ability::ProviderAbility;
use clusters::error::ClusterError;
use clusters::state_dir;
use clusters::supervisor::SupervisorClient;
use fleet::argocd::ArgoCdCli;
use fleet::{Fleet, FleetError};
use futures::future::try_join_all;
use report::stderr_line;
use report::stdout_line;
use serde_json::json;

use super::{hollow_members, interruptible, versions};
use crate::cli::UpArgs;
use crate::command_progress::CommandProgress;
use crate::components::FleetToolchain;
use crate::error::CommandError;
use crate::exit::CommandExitCode;
use crate::fleet_source::options::ProviderName;
use crate::fleet_source::{ClusterSource, FleetBuilder, FleetNeeds, FleetPlan, RunningFleet};

pub(super) async fn up(args: UpArgs) -> Result<CommandExitCode, CommandError> {
    let name = args.fleet_name().to_owned();
    state_dir::check_name(&name)?;
    let needs = FleetNeeds { pods: args.pods, network_faults: false, argocd: args.argocd_request() };
    // Its parser takes no other providers.
    let clusters = ClusterSource::of_options(&args.new)?.unwrap_or(ClusterSource::Local);
    check_hollow_members(&args, &clusters)?;
    let is_up = state_dir::fleets().await?.contains(&name);
    let result = interruptible(bring_up(&args, &name, clusters, &needs, is_up)).await;
    let exists = matches!(result, Err(CommandError::Fleet(FleetError::Cluster(ClusterError::FleetExists(_)))));
    if !is_up && !exists && !matches!(result, Ok(CommandExitCode::Fine)) {
        end_what_was_started(&name).await;
    }
    result
}

/// Checks that the provider can have hollow members, if any are requested.
fn check_hollow_members(args: &UpArgs, clusters: &ClusterSource) -> Result<(), CommandError> {
    if args.hollow_members.unwrap_or_default() == 0 || clusters.can(ProviderAbility::PlayMembers) {
        return Ok(());
    }
    Err(CommandError::usage(
        format!("provider {} can't have hollow members", clusters.provider()),
        Some("leave out --hollow-members, or use --provider local"),
    ))
}

/// Ends a fleet whose start failed, and waits until nothing of it is left.
async fn end_what_was_started(name: &str) {
    let Ok(dir) = state_dir::fleet(name) else { return };
    if let Ok(supervisor) = SupervisorClient::connect(&dir) {
        // The fleet may be ending by itself, because its owner was dropped.
        let _ = supervisor.end().await;
    }
    state_dir::wait_until_gone(name).await;
}

async fn bring_up(
    args: &UpArgs,
    name: &str,
    clusters: ClusterSource,
    needs: &FleetNeeds,
    is_up: bool,
) -> Result<CommandExitCode, CommandError> {
    let progress = Arc::new(CommandProgress::stderr());
    let builder = FleetBuilder { components: FleetToolchain::open()?, progress: Arc::clone(&progress) as _ };
    let requested = args.new.version.named();
    let members = usize::from(args.members);
    let fleet = if is_up {
        let running = RunningFleet::open(name).await?;
        let provider = Some(clusters.provider()).filter(|_| args.new.provider != ProviderName::Local);
        running.check(requested, provider)?;
        running.extend(needs, &builder).await?;
        resize(&running.fleet, members, &progress).await?;
        running.fleet
    } else {
        let kubefleet = builder.components.kubefleet(requested)?;
        let plan = FleetPlan { name: name.to_owned(), members, clusters, kubefleet };
        let new = plan.check(needs, &builder.components).await?;
        let fleet = new.probe(&builder).await?.build(needs, &builder).await?.start(&builder).await?;
        fleet.keep().await?;
        fleet
    };
    if let Some(count) = args.hollow_members.map(usize::from) {
        let say = |there: usize| progress.say(&format!("{there} hollow members have joined, {count} are requested"));
        fleet.set_hollow_members(count, &say).await?;
    }
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
    print_fleet(&fleet, &members, cli.as_ref()).await;
    Ok(CommandExitCode::Fine)
}

/// Prints how a fleet that is up is used.
async fn print_fleet(fleet: &Fleet, members: &[String], argocd_cli: Option<&ArgoCdCli>) {
    let (name, argocd) = (fleet.name(), fleet.argocd_version().await);
    let versions = versions(&fleet.version(), argocd.as_deref());
    let hollow = hollow_members(fleet.hollow_members().await);
    stderr_line!("fleet `{name}` is up: hub, {}{hollow} ({versions})", members.join(", "));
    stderr_line!("  kubectl --context hub get memberclusters");
    if argocd.is_some() {
        stderr_line!("  kubectl --context hub --namespace argocd get applications");
    }
    if let Some(cli) = argocd_cli {
        stderr_line!("  ARGOCD_CONFIG_DIR={} {} app list", cli.config_dir.display(), cli.program.display());
    }
    stderr_line!(
        "  fleetdrill diagnose --fleet {name}\n  fleetdrill down {name}\nkubeconfig, with a context for each cluster:"
    );
    // The only line on stdout, for: export KUBECONFIG=$(fleetdrill up)
    stdout_line!("{}", fleet.kubeconfig_file().display());
}

/// Adds missing members and removes surplus ones.
async fn resize(fleet: &Fleet, members: usize, progress: &CommandProgress) -> Result<(), CommandError> {
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
