//! `fleetdrill status`.

use clusters::state_dir;
use clusters::supervisor::SupervisorClient;
use clusters::supervisor::protocol::ProcessStatus;
use fleet::Fleet;
use report::stdout_line;
use serde::Serialize;

use super::{hollow_members, versions};
use crate::cli::{OutputFormat, StatusArgs};
use crate::error::CommandError;
use crate::exit::CommandExitCode;
use crate::output::data;

/// Fleet in the output of `status -o json`.
#[derive(Debug, Serialize)]
struct FleetStatus {
    /// Name of the fleet.
    name: String,
    /// Version of KubeFleet; `None` while the fleet starts.
    kubefleet: Option<String>,
    /// Version of Argo CD; `None` without Argo CD.
    argocd: Option<String>,
    /// Provider of the clusters; `None` while the fleet starts.
    provider: Option<&'static str>,
    /// Names of the members.
    members: Vec<String>,
    /// Number of hollow members, which have no clusters: a process plays their agents.
    hollow_members: usize,
    /// Path of the kubeconfig with all contexts of the fleet.
    kubeconfig: Option<String>,
    /// Processes of the fleet.
    processes: Vec<ProcessStatus>,
}

pub(super) async fn status(args: &StatusArgs) -> Result<CommandExitCode, CommandError> {
    let names = match args.fleet_name() {
        Some(name) => vec![name.to_owned()],
        None => state_dir::fleets().await?,
    };
    let mut fleets = Vec::new();
    for name in names {
        match shown(&name).await {
            Ok(shown) => fleets.push(shown),
            // The fleet has ended since it was listed.
            Err(_) if args.fleet_name().is_none() && !state_dir::is_alive(&state_dir::fleet(&name)?) => {}
            Err(error) => return Err(error),
        }
    }
    match args.output {
        OutputFormat::Text => text(&fleets),
        format => data::print(format, &fleets),
    }
    let healthy = fleets.iter().flat_map(|f| &f.processes).all(|p| p.exit.is_none());
    Ok(if healthy { CommandExitCode::Fine } else { CommandExitCode::Environment })
}

async fn shown(name: &str) -> Result<FleetStatus, CommandError> {
    let processes = SupervisorClient::connect(&state_dir::fleet(name)?)?.processes().await?;
    // A fleet that is starting has only a supervisor and processes.
    let fleet = Fleet::open(name).await.ok();
    let mut shown = FleetStatus {
        name: name.to_owned(),
        kubefleet: None,
        argocd: None,
        provider: None,
        members: Vec::new(),
        hollow_members: 0,
        kubeconfig: None,
        processes,
    };
    if let Some(fleet) = fleet {
        shown.kubefleet = Some(fleet.version());
        shown.argocd = fleet.argocd_version().await;
        shown.provider = Some(fleet.provider());
        shown.members = fleet.members().await.into_keys().collect();
        shown.hollow_members = fleet.hollow_members().await;
        shown.kubeconfig = Some(fleet.kubeconfig_file().display().to_string());
    }
    Ok(shown)
}

fn text(fleets: &[FleetStatus]) {
    if fleets.is_empty() {
        stdout_line!("no fleet is up");
    }
    for fleet in fleets {
        let version = fleet.kubefleet.as_deref();
        let version = version.map_or("starting".into(), |kubefleet| versions(kubefleet, fleet.argocd.as_deref()));
        let hollow = hollow_members(fleet.hollow_members);
        stdout_line!("{} ({version}): hub, {}{hollow}", fleet.name, fleet.members.join(", "));
        if let Some(kubeconfig) = &fleet.kubeconfig {
            stdout_line!("  kubeconfig {kubeconfig}");
        }
        if let Some(provider) = fleet.provider.filter(|provider| *provider != "local") {
            stdout_line!("  on {provider}");
        }
        if fleet.processes.is_empty() {
            continue;
        }
        let running = fleet.processes.iter().filter(|p| p.pid.is_some()).count();
        stdout_line!("  {running} of {} processes run", fleet.processes.len());
        for process in fleet.processes.iter().filter(|p| p.pid.is_none()) {
            let how = process.exit.as_deref().unwrap_or("stopped");
            stdout_line!("  {} doesn't: {how}", process.name);
        }
    }
}
