//! KubeFleet's agents: which flags of a version to use.
//!
//! What a version can do is found out from the program: its `--help` names its flags, and only those are given.
//! v0.3.1 ends at once on a flag that it no longer knows.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use clusters::cluster::Cluster;
use clusters::provider::{Agent, HUB_AGENT, Hub, member_agent_name};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::capability::Capabilities;
use crate::error::FleetError;
use crate::install::read_crds;

/// Flags for the hub-agent, as far as it knows them.
///
/// Webhooks would need certificates and a Service; none of them concerns runs, approvals or bindings. The two intervals
/// are 30 s and 15 s by default on v0.1.2: with them, a new snapshot comes up to 45 s after a change.
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

/// Flags for the member-agent, as far as it knows them.
///
/// With the default backoff of v0.1.2 a change of availability may be seen up to 15 min late. Each look at a Work writes its
/// status anew, changed or not, and the hub-agent looks at the placement each time: what is available already is looked at
/// less often.
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

/// KubeFleet's programs and what they can do.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Agents {
    /// E.g. `v0.1.2`.
    pub version: String,
    /// What this version can do.
    pub capabilities: Capabilities,
    /// hub-agent's path.
    pub hub_agent: PathBuf,
    /// member-agent's path.
    pub member_agent: PathBuf,
    /// The version's CRDs, one a file.
    pub crds: Vec<PathBuf>,
    hub_flags: BTreeSet<String>,
    member_flags: BTreeSet<String>,
}

impl Agents {
    /// Finds out what the version can do, and asks the programs for their flags.
    ///
    /// # Errors
    /// When a CRD can't be read, or a program doesn't run or names no flags.
    pub async fn probe(
        version: String,
        hub_agent: PathBuf,
        member_agent: PathBuf,
        crds: Vec<PathBuf>,
    ) -> Result<Self, FleetError> {
        let (hub_flags, member_flags, hub_program, read) =
            tokio::try_join!(flags(&hub_agent), flags(&member_agent), program(&hub_agent), read_crds(crds.clone()))?;
        let capabilities = Capabilities::of(&read, &hub_program);
        Ok(Self { version, capabilities, hub_agent, member_agent, crds, hub_flags, member_flags })
    }

    /// What this version can do on a hub with these CRDs.
    ///
    /// # Errors
    /// When the program can't be read.
    pub async fn with_crds(&self, crds: &[Value]) -> Result<Capabilities, FleetError> {
        Ok(Capabilities::of(crds, &program(&self.hub_agent).await?))
    }

    /// The hub-agent on `hub`.
    #[must_use]
    pub fn hub(&self, hub: &Cluster) -> Agent {
        Agent {
            name: HUB_AGENT.into(),
            version: self.version.clone(),
            program: self.hub_agent.clone(),
            flags: known(HUB_FLAGS, &self.hub_flags),
            cluster: hub.clone(),
            hub: None,
        }
    }

    /// The member-agent of `member`, which reaches the hub with the token in the file `token`.
    #[must_use]
    pub fn member(&self, hub: &Cluster, member: &Cluster, token: PathBuf) -> Agent {
        Agent {
            name: member_agent_name(&member.name),
            version: self.version.clone(),
            program: self.member_agent.clone(),
            flags: known(MEMBER_FLAGS, &self.member_flags),
            cluster: member.clone(),
            hub: Some(Hub { cluster: hub.clone(), token }),
        }
    }
}

fn known(wanted: &[(&str, &str)], flags: &BTreeSet<String>) -> Vec<String> {
    let known = wanted.iter().filter(|(flag, _)| flags.contains(*flag));
    known.map(|(flag, value)| format!("--{flag}={value}")).collect()
}

async fn program(path: &Path) -> Result<Vec<u8>, FleetError> {
    let unreadable =
        |e: std::io::Error| FleetError::Unreadable { what: path.display().to_string(), why: e.to_string() };
    tokio::fs::read(path).await.map_err(unreadable)
}

async fn flags(program: &Path) -> Result<BTreeSet<String>, FleetError> {
    let unreadable = |why: String| FleetError::Unreadable { what: format!("the flags of {}", program.display()), why };
    let output = tokio::process::Command::new(program)
        .arg("--help")
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output()
        .await
        .map_err(|e| unreadable(e.to_string()))?;
    let flags = parse_flags(&format!(
        "{}\n{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    ));
    if flags.is_empty() { Err(unreadable("--help names none".into())) } else { Ok(flags) }
}

/// The flags in a Go program's usage text, of package flag (`  -name type`) or pflag (`      --name type`).
fn parse_flags(usage: &str) -> BTreeSet<String> {
    let flag = |line: &str| {
        let rest = line.trim_start().strip_prefix('-')?;
        let rest = rest.strip_prefix('-').unwrap_or(rest);
        let name: String = rest.chars().take_while(|c| c.is_ascii_alphanumeric() || "-_".contains(*c)).collect();
        (line.starts_with(' ') && !name.is_empty()).then_some(name)
    };
    usage.lines().filter_map(flag).collect()
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
