//! KubeFleet's agents, and the flags that they are started with.
//!
//! Each version knows other flags. `--help` of a program lists the flags that it knows, and only these are given:
//! v0.3.1 exits at once on a flag that it no longer knows.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use clusters::agents::{Agent, HUB_AGENT, HubAccess, member_agent_name};
use clusters::cluster::Cluster;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::capability::{self, Capabilities};
use crate::error::FleetError;
use crate::install::read_crds;

/// Flags for the hub-agent. Only the flags that its version knows are given.
///
/// The webhooks are off: they need a Service, and one port of the machine. [`WEBHOOK_FLAGS`] turn them on.
/// The last two intervals are 30 s and 15 s by default on v0.1.2: with these defaults a new snapshot appears up to 45 s
/// after a change.
const HUB_FLAGS: &[(&str, &str)] = &[
    ("enable-webhook", "false"),
    ("leader-elect", "false"),
    ("enable-v1beta1-apis", "true"),
    ("enable-cluster-inventory-apis", "false"),
    ("metrics-bind-address", "0"),
    ("health-probe-bind-address", "127.0.0.1:0"),
    ("resource-snapshot-creation-minimum-interval", "0s"),
    ("resource-changes-collection-duration", "0s"),
    ("hub-api-qps", "200"),
    ("hub-api-burst", "400"),
];

/// Flags that turn the webhooks on, as the chart's values do (v0.1.2, v0.3.1). Flags of older versions have the same names.
const WEBHOOK_FLAGS: &[(&str, &str)] = &[
    ("enable-webhook", "true"),
    ("webhook-client-connection-type", "service"),
    ("webhook-service-name", WEBHOOK_SERVICE),
    ("enable-guard-rail", "true"),
    ("whitelisted-users", "system:serviceaccount:fleet-system:hub-agent"),
];

/// Name of the Service in [`SYSTEM`](clusters::agents::SYSTEM) by which the API server reaches the webhooks. It is the only one that older
/// versions know.
pub(crate) const WEBHOOK_SERVICE: &str = "fleetwebhook";

/// Flags for the member-agent. Only the flags that its version knows are given.
///
/// With the default backoff of v0.1.2 a change of availability may be seen up to 15 min late. Each reconcile of a Work
/// writes the Work's status, changed or not, and each write makes the hub-agent reconcile the placement. Works that are
/// available already are therefore requeued less often.
const MEMBER_FLAGS: &[(&str, &str)] = &[
    ("leader-elect", "false"),
    ("tls-insecure", "false"),
    ("enable-v1alpha1-apis", "false"),
    ("enable-v1beta1-apis", "true"),
    ("metrics-bind-address", "0"),
    ("hub-metrics-bind-address", "0"),
    ("health-probe-bind-address", "127.0.0.1:0"),
    ("hub-health-probe-bind-address", "127.0.0.1:0"),
    ("work-applier-requeue-rate-limiter-max-fast-backoff-delay-seconds", "20"),
    ("work-applier-requeue-rate-limiter-max-slow-backoff-delay-seconds", "5"),
];

/// Programs of a KubeFleet version, with their flags and capabilities.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct KubeFleetPrograms {
    /// Version of KubeFleet, e.g. `v0.1.2`.
    pub version: String,
    /// Capabilities of this version.
    pub capabilities: Capabilities,
    /// Path of the hub-agent.
    pub hub_agent: PathBuf,
    /// Path of the member-agent.
    pub member_agent: PathBuf,
    /// Files with the version's CRDs, one CRD in each file.
    pub crds: Vec<PathBuf>,
    hub_flags: BTreeSet<String>,
    member_flags: BTreeSet<String>,
}

impl KubeFleetPrograms {
    /// Finds out the version's capabilities, and the flags that its programs know.
    ///
    /// # Errors
    /// Returns an error if a CRD can't be read, or a program doesn't run or lists no flags.
    pub async fn probe(
        version: String,
        hub_agent: PathBuf,
        member_agent: PathBuf,
        crds: Vec<PathBuf>,
    ) -> Result<Self, FleetError> {
        let (hub_flags, member_flags, hub_program, member_program, read) = tokio::try_join!(
            flags(&hub_agent),
            flags(&member_agent),
            program(&hub_agent),
            program(&member_agent),
            read_crds(crds.clone())
        )?;
        let capabilities = capability::detect(&read, &hub_program, &member_program);
        Ok(Self { version, capabilities, hub_agent, member_agent, crds, hub_flags, member_flags })
    }

    /// Capabilities of these agents on a hub with these CRDs.
    ///
    /// # Errors
    /// Returns an error if an agent's file can't be read.
    pub async fn with_crds(&self, crds: &[Value]) -> Result<Capabilities, FleetError> {
        let (hub_program, member_program) = tokio::try_join!(program(&self.hub_agent), program(&self.member_agent))?;
        Ok(capability::detect(crds, &hub_program, &member_program))
    }

    /// Describes the hub-agent to start for `hub`, with or without KubeFleet's webhooks.
    #[must_use]
    pub fn hub(&self, hub: &Cluster, webhooks: bool) -> Agent {
        let mut flags = known(HUB_FLAGS, &self.hub_flags);
        if webhooks {
            // The last of two equal flags counts.
            flags.extend(known(WEBHOOK_FLAGS, &self.hub_flags));
        }
        Agent {
            name: HUB_AGENT.into(),
            version: self.version.clone(),
            program: self.hub_agent.clone(),
            flags,
            cluster: hub.clone(),
            kubeconfig: None,
            hub: None,
            webhooks,
        }
    }

    /// Describes the member-agent to start for `member`, which authenticates to the hub with the token in the file
    /// `token`.
    #[must_use]
    pub fn member(&self, hub: &Cluster, member: &Cluster, token: PathBuf) -> Agent {
        Agent {
            name: member_agent_name(&member.name),
            version: self.version.clone(),
            program: self.member_agent.clone(),
            flags: known(MEMBER_FLAGS, &self.member_flags),
            cluster: member.clone(),
            kubeconfig: None,
            hub: Some(HubAccess { cluster: hub.clone(), token, address: None }),
            webhooks: false,
        }
    }
}

fn known(wanted: &[(&str, &str)], flags: &BTreeSet<String>) -> Vec<String> {
    let known = wanted.iter().filter(|(flag, _)| flags.contains(*flag));
    known.map(|(flag, value)| format!("--{flag}={value}")).collect()
}

async fn program(path: &Path) -> Result<Vec<u8>, FleetError> {
    tokio::fs::read(path).await.map_err(|e| FleetError::unreadable(path.display().to_string(), e.to_string()))
}

async fn flags(program: &Path) -> Result<BTreeSet<String>, FleetError> {
    let what = format!("the flags of {}", program.display());
    let output = tokio::process::Command::new(program)
        .arg("--help")
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output()
        .await
        .map_err(|e| FleetError::unreadable(&what, e.to_string()))?;
    let flags = parse_flags(&format!(
        "{}\n{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    ));
    if flags.is_empty() { Err(FleetError::unreadable(what, "--help names none")) } else { Ok(flags) }
}

/// Parses the flags in a Go program's usage text, of package flag (`  -name type`) or pflag (`      --name type`).
fn parse_flags(usage: &str) -> BTreeSet<String> {
    usage.lines().filter_map(parse_flag).collect()
}

fn parse_flag(line: &str) -> Option<String> {
    let rest = line.trim_start().strip_prefix('-')?;
    let rest = rest.strip_prefix('-').unwrap_or(rest);
    let name: String = rest.chars().take_while(|c| c.is_ascii_alphanumeric() || "-_".contains(*c)).collect();
    (line.starts_with(' ') && !name.is_empty()).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::parse_flags;

    #[test]
    fn flags_of_both_flag_packages_are_understood() {
        let go = "Usage of hub-agent:\n  -enable-webhook\n    \tIf set (default true)\n  -v value\n";
        let pflag = "Flags:\n      --leader-elect   Start a leader election\n";
        assert_eq!(parse_flags(go).into_iter().collect::<Vec<_>>(), ["enable-webhook", "v"]);
        assert_eq!(parse_flags(pflag).into_iter().collect::<Vec<_>>(), ["leader-elect"]);
    }
}
