//! KubeFleet's own charts, rendered by helm. The directory of `--chart DIR` has the charts `hub-agent` and
//! `member-agent`.
//!
//! fleetdrill applies the rendered objects like its own. A chart's namespace and CRDs exist already, and helm would
//! refuse to take over objects that it hasn't created. Flags for which the chart has no value are appended to the
//! chart's own flags; an agent uses the last of two equal flags.

use std::path::Path;

use serde_json::{Value, json};
use serde_saphyr::DuplicateKeyPolicy;

use super::deployment::host_aliases;
use super::{Agent, HUB_AGENT, HubAccess, MEMBER_AGENT, SYSTEM};
use crate::docker_images;
use crate::error::ClusterError;
use crate::external_program::{ExternalProgram, SHORT};
use crate::kubeconfig::base64;
use crate::state_dir::write_private;

/// Command of helm.
const HELM: ExternalProgram = ExternalProgram("helm");

/// Part of the names of fleetdrill's flags that contradict a chart's probes and ports.
const BOUND_TO_PROBES: &str = "-bind-address";

/// Checks that helm is there, and that a directory has KubeFleet's charts.
pub(crate) async fn check(dir: &Path) -> Result<(), ClusterError> {
    HELM.run(["version", "--short"], SHORT).await?;
    for agent in [HUB_AGENT, MEMBER_AGENT] {
        let chart = dir.join(agent);
        let file = chart.join("Chart.yaml");
        tokio::fs::metadata(&file).await.map_err(|_| ClusterError::NoChart(chart))?;
    }
    Ok(())
}

/// Renders the objects of an agent's chart. `image` is the agent's image, and `refresh_token` the image of the
/// container that refreshes a member's token.
pub(crate) async fn objects(
    (dir, home): (&Path, &Path),
    agent: &Agent,
    image: &str,
    refresh_token: &str,
    replicas: i32,
) -> Result<Vec<Value>, ClusterError> {
    let values = home.join(format!("{}-values.json", agent.name));
    write_private(&values, &self::values(agent, image, refresh_token).to_string())?;
    let (chart, values) = (dir.join(agent.component()).display().to_string(), values.display().to_string());
    let args = ["template", &agent.name, &chart, "--namespace", SYSTEM, "--values", &values];
    let rendered = HELM.run(args, SHORT).await?;
    let documents = parse(&rendered).map_err(|said| ClusterError::Outside {
        command: std::iter::once(HELM.0).chain(args).map(str::to_owned).collect(),
        how: "what it rendered is not YAML".into(),
        said,
    })?;
    let hub = agent.hub.as_ref().and_then(HubAccess::host_entry);
    let hub = hub.as_ref().map(|(host, address)| host_aliases(host, *address));
    let applied = documents.into_iter().filter(is_to_be_applied);
    Ok(applied.map(|object| ours(object, (&agent.name, &agent.flags), hub.as_ref(), replicas)).collect())
}

/// Parses the documents that helm renders. The member-agent's chart has `ports` twice in one container (v0.1.2,
/// v0.3.1); the last one counts, as it does for helm.
fn parse(rendered: &str) -> Result<Vec<Value>, String> {
    let options = serde_saphyr::options! { duplicate_keys: DuplicateKeyPolicy::LastWins };
    serde_saphyr::from_multiple_with_options(rendered, options).map_err(|e| e.to_string())
}

/// Returns true unless the object is a namespace or a CRD, which exist already.
fn is_to_be_applied(object: &Value) -> bool {
    !matches!(object["kind"].as_str(), None | Some("Namespace" | "CustomResourceDefinition"))
}

/// Returns the values with which a chart renders what a fleet needs (v0.1.2 and v0.3.1; other versions accept these
/// values too).
fn values(agent: &Agent, of_agent: &str, refresh_token: &str) -> Value {
    let mut values = json!({
        "fullnameOverride": agent.name, "nameOverride": agent.name, "namespace": SYSTEM,
        "image": image_values(of_agent),
        // The chart's templates use this value, but its values don't contain it (v0.1.2).
        "logFileMaxSize": 0,
        // No requests and limits: several nodes share the resources of this machine.
        "resources": null,
    });
    match &agent.hub {
        None => {
            values["enableWebhook"] = false.into();
            values["enableGuardRail"] = false.into();
        }
        Some(hub) => {
            values["refreshtoken"] = image_values(refresh_token);
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

/// Returns an image's values in a chart.
fn image_values(image: &str) -> Value {
    let (repository, tag) = docker_images::split(image);
    json!({"repository": repository, "tag": tag, "pullPolicy": "IfNotPresent"})
}

/// Adapts an object of a chart to a fleet. An agent ends after a short grace period, has fleetdrill's flags after the
/// chart's, and never runs beside the pod that replaces it.
fn ours(mut object: Value, (agent, flags): (&str, &[String]), host_aliases: Option<&Value>, replicas: i32) -> Value {
    if object["kind"] != "Deployment" {
        return object;
    }
    let spec = &mut object["spec"];
    spec["replicas"] = replicas.into();
    spec["strategy"] = json!({"type": "Recreate"});
    let pod = &mut spec["template"]["spec"];
    pod["terminationGracePeriodSeconds"] = 2.into();
    if let Some(host_aliases) = host_aliases {
        pod["hostAliases"].clone_from(host_aliases);
    }
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
            serde_json::to_string_pretty(&ours(chart, ("member-1-member-agent", &flags), None, 1)).expect("JSON")
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
