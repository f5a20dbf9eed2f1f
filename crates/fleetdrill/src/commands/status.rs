//! `fleetdrill status`.

use clusters::keeper::Keeper;
use clusters::keeper::protocol::ProcessStatus;
use clusters::state_dir;
use fleet::Fleet;
use serde::Serialize;

use super::versions;
use crate::cli::{Format, Status};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::output::data;
use crate::output::stdout::stdout_line;

/// A fleet, as `status -o json` shows it.
#[derive(Debug, Serialize)]
struct Shown {
    /// Its name.
    name: String,
    /// KubeFleet's version; none while it starts.
    kubefleet: Option<String>,
    /// Argo CD's version; none without it.
    argocd: Option<String>,
    /// Where its clusters come from; none while it starts.
    provider: Option<&'static str>,
    /// Its members.
    members: Vec<String>,
    /// The kubeconfig with all its contexts.
    kubeconfig: Option<String>,
    /// Its processes.
    processes: Vec<ProcessStatus>,
}

pub(super) async fn status(args: &Status) -> Result<Exit, CommandError> {
    let names = match args.fleet_name() {
        Some(name) => vec![name.to_owned()],
        None => state_dir::fleets()?,
    };
    let mut fleets = Vec::new();
    for name in names {
        match shown(&name).await {
            Ok(shown) => fleets.push(shown),
            // It ended since it was listed.
            Err(_) if args.fleet_name().is_none() && !state_dir::is_alive(&state_dir::fleet(&name)?) => {}
            Err(error) => return Err(error),
        }
    }
    match args.output {
        Format::Text => text(&fleets),
        format => data::print(format, &fleets),
    }
    let healthy = fleets.iter().flat_map(|f| &f.processes).all(|p| p.exit.is_none());
    Ok(if healthy { Exit::Fine } else { Exit::Environment })
}

async fn shown(name: &str) -> Result<Shown, CommandError> {
    let processes = Keeper::connect(&state_dir::fleet(name)?)?.processes().await?;
    // A fleet that is just starting has a keeper and processes, and no more yet.
    let fleet = Fleet::open(name).await.ok();
    let mut shown = Shown {
        name: name.to_owned(),
        kubefleet: None,
        argocd: None,
        provider: None,
        members: Vec::new(),
        kubeconfig: None,
        processes,
    };
    if let Some(fleet) = fleet {
        shown.kubefleet = Some(fleet.version());
        shown.argocd = fleet.argocd_version().await;
        shown.provider = Some(fleet.provider());
        shown.members = fleet.members().await.into_keys().collect();
        shown.kubeconfig = Some(fleet.kubeconfig_file().display().to_string());
    }
    Ok(shown)
}

fn text(fleets: &[Shown]) {
    if fleets.is_empty() {
        stdout_line!("no fleet is up");
    }
    for fleet in fleets {
        let version = fleet.kubefleet.as_deref();
        let version = version.map_or("starting".into(), |kubefleet| versions(kubefleet, fleet.argocd.as_deref()));
        stdout_line!("{} ({version}): hub, {}", fleet.name, fleet.members.join(", "));
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
