//! AR-HL-007: an Application is healthy, and a custom resource of it says that it isn't ready. Argo CD has checks for some kinds; every
//! other custom resource has no health at all, and doesn't count (v3.2, v3.5).

use jiff::Timestamp;
use serde_json::json;

use super::application::ApplicationView;
use super::live_objects::{MOST_OF_APPLICATION, ManagedResource, object_names, wanted_among};
use super::resource_health::not_ready;
use crate::rules::code::RuleCode;
use crate::rules::draft::FindingDraft;
use crate::rules::kubectl;
use crate::rules::message::for_sentence;
use crate::rules::wanted_objects::WantedObjects;
use crate::{Condition, Object, PATIENCE};

/// ConfigMap with the checks that an administrator has added.
const SETTINGS: &str = "argocd-cm";

/// Check of the condition Ready, in Lua, as in Argo CD's documents.
const CHECK: &str = "hs = {status = \"Progressing\", message = \"\"}
if obj.status ~= nil and obj.status.conditions ~= nil then
  for _, condition in ipairs(obj.status.conditions) do
    if condition.type == \"Ready\" then
      hs.message = condition.message
      if condition.status == \"True\" then hs.status = \"Healthy\" end
      if condition.status == \"False\" then hs.status = \"Degraded\" end
    end
  end
end
return hs
";

/// Custom resource that isn't ready.
struct UnreadyObject<'a> {
    resource: ManagedResource<'a>,
    live: Object<'a>,
    condition: Condition,
    since: Timestamp,
}

/// Asks for the custom resources of an Application in which nothing fails.
pub(super) fn wanted(application: ApplicationView<'_>) -> Vec<WantedObjects> {
    wanted_among(application, custom_resources(application))
}

pub(super) fn rule(application: ApplicationView<'_>) -> Option<FindingDraft> {
    if !application.is_synced_and_healthy() {
        return None;
    }
    let all: Vec<_> = custom_resources(application)
        .filter_map(|resource| UnreadyObject::read(application, resource))
        .filter(|unready| application.fleet.age(unready.since) > PATIENCE)
        .collect();
    let first = all.first()?;
    let health = application.quote().field(application.object, "status.health.status");
    let mut evidence = vec![health];
    let quote = application.destination().quote();
    evidence.extend(all.iter().map(|unready| quote.condition(unready.live, &unready.condition)));
    let resources: Vec<_> = all.iter().map(|unready| unready.resource).collect();
    let (group, kind) = (first.resource.text("group"), first.resource.text("kind"));
    let key = format!("resource.customizations.health.{group}_{kind}");
    let reference = kubectl::reference_by_name("", "ConfigMap", application.object.namespace(), SETTINGS);
    let names = json!({
        "objects": object_names(&resources),
        "refs": resources.iter().map(|resource| resource.reference()).collect::<Vec<_>>(),
        "kind": kind,
        "says": for_sentence(&format!("{}: {}", first.condition.reason, first.condition.message)),
        "since": first.since.to_string(),
        "check": [kubectl::patch_command(reference, &json!({"data": {key: CHECK}}))],
    });
    Some(application.draft_beside_sync(RuleCode::AR_HL_007, &names, evidence))
}

fn custom_resources(application: ApplicationView<'_>) -> impl Iterator<Item = ManagedResource<'_>> {
    let all = ManagedResource::all(application.object);
    all.filter(|resource| resource.is_custom() && !resource.is_hook()).take(MOST_OF_APPLICATION)
}

impl<'a> UnreadyObject<'a> {
    fn read(application: ApplicationView<'a>, resource: ManagedResource<'a>) -> Option<Self> {
        let live = resource.live(application).filter(|live| live.deleted_at().is_none())?;
        let condition = not_ready(live)?;
        let since = condition.last_transition_time.or(live.created_at())?;
        Some(Self { resource, live, condition, since })
    }
}
