//! Processes of this PID namespace, and the signals that hit them.

use std::fs;
use std::path::Path;

use rustix::process::Signal;

use crate::proc;

/// Process of a fleet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FleetProcess {
    pub id: u32,
    /// Name that its supervisor has for it, e.g. `hub-kube-apiserver`; `supervisor` for the supervisor itself.
    pub name: String,
}

/// Name of a supervisor among the processes of its fleet.
pub const SUPERVISOR: &str = "supervisor";

/// Returns the processes whose fleets are in a state directory: supervisors first, then what they run, by name.
pub fn of_fleets(state: &Path) -> Vec<FleetProcess> {
    let mut found: Vec<FleetProcess> = proc::belonging_to(state)
        .into_iter()
        .filter_map(|(id, line)| {
            let name = if line.contains("supervisor serve") { SUPERVISOR.to_owned() } else { component(id, state)? };
            Some(FleetProcess { id, name })
        })
        .collect();
    found.sort_by_key(|process| (process.name != SUPERVISOR, process.name.clone(), process.id));
    found
}

/// Returns the name of a fleet's process: its standard output is the log of that name.
fn component(id: u32, state: &Path) -> Option<String> {
    let output = fs::read_link(format!("/proc/{id}/fd/1")).ok()?;
    let is_log = output.starts_with(state) && output.parent().is_some_and(|dir| dir.ends_with("logs"));
    is_log.then(|| output.file_stem().map(|name| name.to_string_lossy().into_owned()))?
}

/// Lists what runs in this namespace except this process, its parents and what has ended.
pub fn all_others() -> Vec<(u32, String)> {
    let mut own = vec![1, std::process::id()];
    while let Some(parent) = own.last().and_then(|id| parent(*id)).filter(|id| *id > 1) {
        own.push(parent);
    }
    let mut others = proc::belonging_to(Path::new("/"));
    others.retain(|(id, _)| !own.contains(id));
    others
}

fn parent(id: u32) -> Option<u32> {
    let text = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    text.rsplit_once(") ")?.1.split(' ').nth(1)?.parse().ok()
}

/// Kills everything else in this namespace, so that the next blow begins with nothing.
pub fn kill_all_others() {
    for _ in 0..100 {
        let others = all_others();
        if others.is_empty() {
            return;
        }
        for (id, _) in others {
            proc::kill(id, Signal::KILL);
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
}
