//! Steps about an admission webhook that answers, as a policy engine's does.

use cucumber::{given, when};
use fleet::kinds;
use fleet::webhook::Rule;
use serde_json::json;

use crate::destination::namespace_on;
use crate::error::StepError;
use crate::world::World;

/// Makes a ValidatingWebhookConfiguration on the member, with one webhook `{NAME}.example.com` that fails closed and is asked
/// about these resources (e.g. `configmaps`) in the namespace `{apps}` only. The webhook is served by the fleet itself, and denies
/// what hasn't the label, with these words. The API server takes it into account a second or two later.
#[given(expr = "an admission webhook {string} on {string} denies {string} without the label {string}: {string}")]
async fn denies(
    world: &mut World,
    name: String,
    member: String,
    resources: String,
    label: String,
    message: String,
) -> Result<(), StepError> {
    let scene = world.scene();
    let member = scene.names.get(&member)?;
    let namespace = namespace_on(scene, &member).await?;
    let real = scene.names.make(&name);
    let rule = Rule { label, message, enforced: true };
    let client_config = scene.fleet.set_webhook_rule(&real, &rule).await?;
    let webhook = json!({
        "name": format!("{real}.example.com"),
        "admissionReviewVersions": ["v1"], "sideEffects": "None", "failurePolicy": "Fail", "timeoutSeconds": 10,
        "clientConfig": client_config,
        // Nobody else on the fleet feels it.
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}},
        "rules": [{
            "apiGroups": ["*"], "apiVersions": ["*"], "operations": ["CREATE", "UPDATE"], "resources": [resources],
        }],
    });
    let cluster = scene.fleet.member(&member).await?.cluster;
    let configuration = json!({"metadata": {"name": real}, "webhooks": [webhook]});
    scene.make_on(&cluster, kinds::WEBHOOK_CONFIGURATION, None, configuration).await?;
    scene.webhooks.insert(name, rule);
    scene.induced(format!("ValidatingWebhookConfiguration/{real} denies {resources} without a label on {member}"));
    Ok(())
}

/// Changes the webhook's rule so that it admits what it denied, with its words as a warning. This counts from the next question on.
#[when(expr = "the rule of admission webhook {string} is relaxed to a warning")]
async fn is_relaxed(world: &mut World, name: String) -> Result<(), StepError> {
    let scene = world.scene();
    let real = scene.names.get(&name)?;
    let rule = scene.webhooks.get_mut(&name);
    let rule =
        rule.ok_or_else(|| StepError::Feature(format!("there is no admission webhook \"{name}\" in this scenario")))?;
    rule.enforced = false;
    scene.fleet.set_webhook_rule(&real, rule).await?;
    scene.remedied(format!("the rule of webhook {real}.example.com only warns"));
    Ok(())
}
