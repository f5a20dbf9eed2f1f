//! Steps about an admission webhook that answers, as a policy engine's does.

use cucumber::{given, when};
use fleet::kinds;
use fleet::webhook::RequiredLabelRule;
use record::{Action, ObjectPath};
use serde_json::json;

use crate::destination::namespace_on;
use crate::error::StepError;
use crate::needs::{ProviderAbility, needs};
use crate::world::World;

/// Makes a ValidatingWebhookConfiguration on the member, with one webhook `{NAME}.example.com` that fails closed and is asked
/// about these resources (e.g. `configmaps`) in the namespace `{apps}` only. The webhook is served by the fleet itself, and denies
/// what hasn't the label, with these words. The API server takes it into account a second or two later.
#[needs(ability: |_| Some(ProviderAbility::CallWebhooks))]
#[given(expr = "an admission webhook {string} on {string} denies {string} without the label {string}: {string}")]
async fn denies(
    world: &mut World,
    name: String,
    member: String,
    resources: String,
    label: String,
    message: String,
) -> Result<(), StepError> {
    let context = world.context();
    let member = context.ledger.names.get(&member)?;
    let namespace = namespace_on(context, &member).await?;
    let real = context.ledger.names.make(&name);
    let rule = RequiredLabelRule { label, message, enforced: true };
    let client_config = context.fleet.set_webhook_rule(&real, &rule).await?;
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
    let cluster = context.fleet.member(&member).await?.cluster;
    let configuration = json!({"metadata": {"name": real}, "webhooks": [webhook]});
    context.make_on(&cluster, kinds::WEBHOOK_CONFIGURATION, None, configuration).await?;
    context.ledger.webhooks.insert(name, rule);
    let path = ObjectPath::new(kinds::WEBHOOK_CONFIGURATION.kind, None, &real);
    context.induced(Action::new(format!("{path} denies {resources} without a label on {member}")).on(path));
    Ok(())
}

/// Changes the webhook's rule so that it admits what it denied, with its words as a warning. This counts from the next question on.
#[when(expr = "the rule of admission webhook {string} is relaxed to a warning")]
async fn is_relaxed(world: &mut World, name: String) -> Result<(), StepError> {
    let context = world.context();
    let real = context.ledger.names.get(&name)?;
    let rule = context.ledger.webhooks.get_mut(&name);
    let rule =
        rule.ok_or_else(|| StepError::Feature(format!("there is no admission webhook \"{name}\" in this scenario")))?;
    rule.enforced = false;
    context.fleet.set_webhook_rule(&real, rule).await?;
    context.remedied(format!("the rule of webhook {real}.example.com only warns"));
    Ok(())
}
