//! Policies on the hub that refuse objects when they are made or changed, as a policy engine's do.

use cucumber::when;
use fleet::FleetError;
use fleet::kinds;
use kube::api::{ListParams, Patch, PatchParams};
use record::{Action, ObjectPath};
use serde_json::json;

use crate::context::ScenarioContext;
use crate::error::StepError;
use crate::limits;
use crate::objects::PARENT;
use crate::pauses::read_until_as_expected;
use crate::world::World;

/// Makes a ValidatingAdmissionPolicy with its binding on the hub that refuses each Work of the placement whose manifests
/// don't all have the label `owner`, which they don't. Waits until the API server enforces it.
#[when(expr = "a policy on the hub begins to refuse the Works of placement {string}")]
async fn begins_to_refuse(world: &mut World, placement: String) -> Result<(), StepError> {
    let context = world.context();
    let placement = context.placement(&placement)?.name;
    let ours = format!(
        "has(object.metadata.labels) && '{PARENT}' in object.metadata.labels && \
         object.metadata.labels['{PARENT}'] == '{placement}'"
    );
    let spec = json!({
        "failurePolicy": "Fail",
        "matchConstraints": {"resourceRules": [{
            "apiGroups": [kinds::WORK.group], "apiVersions": ["*"], "operations": ["CREATE", "UPDATE"],
            "resources": [kinds::WORK.plural],
        }]},
        "matchConditions": [{"name": "ours", "expression": ours}],
        "validations": [{
            "expression": "object.spec.workload.manifests.all(m, has(m.metadata.labels) && 'owner' in m.metadata.labels)",
            "message": "each manifest of a Work needs the label owner",
        }],
    });
    let metadata = json!({"name": placement});
    context.make(kinds::ADMISSION_POLICY, None, json!({"metadata": metadata, "spec": spec})).await?;
    let spec = json!({"policyName": placement, "validationActions": ["Deny"]});
    context.make(kinds::ADMISSION_POLICY_BINDING, None, json!({"metadata": metadata, "spec": spec})).await?;
    let path = ObjectPath::new(kinds::ADMISSION_POLICY.kind, None, &placement);
    context.induced(Action::new(format!("{path} refuses Works of {placement} on the hub")).on(path));
    enforced(context, &placement).await
}

/// Tries a change of one of the placement's Works, without making it, until it is refused.
async fn enforced(context: &ScenarioContext, placement: &str) -> Result<(), StepError> {
    let hub = context.hub();
    let all = kinds::WORK.api(&hub.client, None);
    let works = all.list(&ListParams::default().labels(&format!("{PARENT}={placement}"))).await;
    let works = works.map_err(FleetError::api("hub", format!("list the Works of {placement}")))?;
    let Some(metadata) = works.items.into_iter().next().map(|w| w.metadata) else {
        return Err(StepError::Feature(format!("{placement} has no Work yet on which the policy could be tried")));
    };
    let (name, namespace) = (metadata.name.unwrap_or_default(), metadata.namespace.unwrap_or_default());
    let api = kinds::WORK.api(&hub.client, Some(&namespace));
    let try_only = PatchParams { dry_run: true, ..PatchParams::default() };
    let patch = Patch::Merge(json!({"metadata": {"annotations": {"fleetdrill.dev/tried": "true"}}}));
    // An API server takes a new policy into account within a second or two and says so nowhere.
    read_until_as_expected(limits::REPORTED, async || match api.patch(&name, &try_only, &patch).await {
        Err(kube::Error::Api(status)) if status.message.contains("denied request") => Ok(()),
        Err(error) => Err(FleetError::api("hub", format!("change the Works of {placement}"))(error).into()),
        Ok(_) => {
            let text = format!("the policy {placement} wasn't enforced within {} s", limits::REPORTED.as_secs());
            Err(StepError::Differs(text))
        }
    })
    .await
}
