//! KubeFleet's own charts, rendered by helm: `--chart DIR`, the directory that has `hub-agent` and `member-agent`.
//!
//! What helm renders is applied as what fleetdrill makes itself is: a chart's namespace and CRDs are there already, and helm would
//! refuse what it hasn't made. Flags that no value of the chart stands for are appended to its own; of two, an agent takes the last.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use serde_saphyr::DuplicateKeyPolicy;

use crate::error::ClusterError;
use crate::images::{self, SHORT};
use crate::kubeconfig::base64;
use crate::outside::Outside;
use crate::provider::{Agent, SYSTEM};
use crate::state_dir::write_private;

/// helm's command.
const HELM: Outside = Outside("helm");

/// Flags of ours that a chart's probes and ports don't go with.
const BOUND_TO_PROBES: &str = "-bind-address";

/// Sees that helm is there, and that a directory has KubeFleet's charts.
pub(super) async fn check(dir: &Path) -> Result<(), ClusterError> {
    HELM.run(["version", "--short"], SHORT).await?;
    for agent in [true, false] {
        let chart = chart(dir, agent);
        let file = chart.join("Chart.yaml");
        tokio::fs::metadata(&file).await.map_err(|_| ClusterError::NoChart(chart))?;
    }
    Ok(())
}

fn chart(dir: &Path, hub: bool) -> PathBuf {
    dir.join(if hub { "hub-agent" } else { "member-agent" })
}

/// The objects of an agent, of its chart; `image` is its own, `refresh_token` that of the container that keeps a member's token.
pub(super) async fn objects(
    (dir, home): (&Path, &Path),
    agent: &Agent,
    image: &str,
    refresh_token: &str,
    replicas: i32,
) -> Result<Vec<Value>, ClusterError> {
    let values = home.join(format!("{}-values.json", agent.name));
    write_private(&values, &self::values(agent, image, refresh_token).to_string())?;
    let (chart, values) = (chart(dir, agent.hub.is_none()).display().to_string(), values.display().to_string());
    let args = ["template", &agent.name, &chart, "--namespace", SYSTEM, "--values", &values];
    let rendered = HELM.run(args, SHORT).await?;
    let documents = parse(&rendered).map_err(|said| ClusterError::Outside {
        command: format!("helm {}", args.join(" ")),
        how: "what it rendered is not YAML".into(),
        said,
    })?;
    Ok(documents
        .into_iter()
        .filter(is_to_be_applied)
        .map(|object| ours(object, &agent.name, &agent.flags, replicas))
        .collect())
}

/// The documents of what helm renders. The member-agent's chart has `ports` twice in one container (v0.1.2, v0.3.1): as for helm, the
/// last of two counts.
fn parse(rendered: &str) -> Result<Vec<Value>, String> {
    let options = serde_saphyr::options! { duplicate_keys: DuplicateKeyPolicy::LastWins };
    serde_saphyr::from_multiple_with_options(rendered, options).map_err(|e| e.to_string())
}

/// The namespace and the CRDs are there.
fn is_to_be_applied(object: &Value) -> bool {
    !matches!(object["kind"].as_str(), None | Some("Namespace" | "CustomResourceDefinition"))
}

/// The values under which a chart makes what a fleet needs (v0.1.2 and v0.3.1; others don't mind them).
fn values(agent: &Agent, of_agent: &str, refresh_token: &str) -> Value {
    let image = |image: &str| {
        let (repository, tag) = images::split(image);
        json!({"repository": repository, "tag": tag, "pullPolicy": "IfNotPresent"})
    };
    let mut values = json!({
        "fullnameOverride": agent.name, "nameOverride": agent.name, "namespace": SYSTEM,
        "image": image(of_agent),
        // Left out of its values, and named in its templates (v0.1.2).
        "logFileMaxSize": 0,
        // What the machine has is shared by several nodes.
        "resources": null,
    });
    match &agent.hub {
        None => {
            values["enableWebhook"] = false.into();
            values["enableGuardRail"] = false.into();
        }
        Some(hub) => {
            values["refreshtoken"] = image(refresh_token);
            values["tlsClientInsecure"] = false.into();
            values["secret"] = json!({"name": agent.name, "namespace": SYSTEM});
            values["config"] = json!({
                "provider": "secret", "memberClusterName": agent.cluster.name,
                "hubURL": hub.cluster.inner_server, "hubCA": base64(&hub.cluster.ca),
            });
        }
    }
    values
}

/// An object of a chart as a fleet has it: an agent ends at once, has our flags after its chart's, and no other beside it while it
/// is exchanged.
fn ours(mut object: Value, agent: &str, flags: &[String], replicas: i32) -> Value {
    if object["kind"] != "Deployment" {
        return object;
    }
    let spec = &mut object["spec"];
    spec["replicas"] = replicas.into();
    spec["strategy"] = json!({"type": "Recreate"});
    let pod = &mut spec["template"]["spec"];
    pod["terminationGracePeriodSeconds"] = 2.into();
    let containers = pod["containers"].as_array_mut().into_iter().flatten();
    for container in containers.filter(|container| container["name"] == *agent) {
        if let Some(args) = container["args"].as_array_mut() {
            let more = flags.iter().filter(|flag| !flag.contains(BOUND_TO_PROBES));
            args.extend(more.cloned().map(Value::from));
        }
    }
    object
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_of_a_chart_has_our_flags_last_and_its_own_probes() {
        let chart = json!({"kind": "Deployment", "spec": {"template": {"spec": {"containers": [
            {"name": "member-1-member-agent", "args": ["--leader-elect=true"]},
            {"name": "refresh-token", "args": ["secret"]},
        ]}}}});
        let flags = ["--leader-elect=false", "--health-probe-bind-address=127.0.0.1:0"].map(str::to_owned).to_vec();
        insta::assert_snapshot!(
            serde_json::to_string_pretty(&ours(chart, "member-1-member-agent", &flags, 1)).expect("JSON")
        );
    }

    #[test]
    fn of_two_keys_of_a_chart_the_last_counts() {
        let parsed = parse("---\n# Source: a\nkind: A\nports: [1]\nports: [2]\n---\nkind: B\n").expect("YAML");
        assert_eq!(parsed, [json!({"kind": "A", "ports": [2]}), json!({"kind": "B"})]);
    }

    #[test]
    fn a_chart_s_namespace_and_crds_are_left_out() {
        let of = |kind: &str| is_to_be_applied(&json!({"kind": kind}));
        assert!(of("Deployment") && of("ClusterRole"));
        assert!(!of("Namespace") && !of("CustomResourceDefinition") && !is_to_be_applied(&Value::Null));
    }
}
