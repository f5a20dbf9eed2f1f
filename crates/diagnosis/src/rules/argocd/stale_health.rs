//! AR-HL-006: an Application isn't healthy, and all of its objects on the destination are, since after its last comparison. Argo CD compares
//! it when the application controller hears of a change (v3.2, v3.5). If that doesn't happen, nothing says so.

use jiff::{SignedDuration, Timestamp};
use serde_json::json;

use super::application::{ApplicationView, OperationState};
use super::application_health::name_of;
use super::live_objects::ManagedResource;
use super::resource_health::{has_known_check, has_no_check, is_observed, unhealthy};
use crate::rules::code::RuleCode;
use crate::rules::draft::FindingDraft;
use crate::{Evidence, Object};

/// Time for which an Application may show what its objects were like before. Argo CD writes it within 2 s of the object's change (v3.2,
/// v3.5), and a controller of many Applications has a queue.
const LIMIT: SignedDuration = SignedDuration::from_secs(60);

pub(super) fn rule(application: ApplicationView<'_>) -> Option<FindingDraft> {
    let object = application.object;
    let status = object.str("/status/health/status").unwrap_or_default();
    let is_steady =
        application.operation_state() == OperationState::Fine && application.operation_field("phase") != "Terminating";
    if !is_steady
        || object.str("/status/sync/status") != Some("Synced")
        || !["Degraded", "Progressing"].contains(&status)
    {
        return None;
    }
    let well = healthy_objects(application)?;
    let (last, changed) = well.iter().max_by_key(|(_, at)| *at).copied()?;
    let compared = application.compared_at()?;
    // A comparison after the change has another reason to say what it says. Both times are in whole seconds.
    if compared > changed || application.fleet.age(changed) <= LIMIT {
        return None;
    }
    let quote = application.quote();
    let evidence = vec![
        Evidence { at: application.health_since(), ..quote.field(object, "status.health.status") },
        Evidence { at: Some(compared), ..quote.field(object, "status.reconciledAt") },
        quote_health(application, last, changed),
    ];
    let names = json!({
        "object": name_of(last),
        "ref": crate::rules::kubectl::reference(last),
        "status": status,
        "changed_at": changed.to_string(),
        "compared_at": compared.to_string(),
        "minutes": application.fleet.age(changed).as_mins(),
    });
    let draft = application.draft_beside_sync(RuleCode::AR_HL_006, &names, evidence).common_cause("controller");
    Some(draft.depends_on(application.sync_part()))
}

/// Returns the objects that decide on an Application's health, with the time of the last write of their status, if all of them are
/// healthy. `None` if one isn't, or if it can't be told: an object that wasn't read, or a kind of which Argo CD may have another check.
fn healthy_objects(application: ApplicationView<'_>) -> Option<Vec<(Object<'_>, Timestamp)>> {
    let mut well = Vec::new();
    for resource in ManagedResource::all(application.object).filter(|resource| !resource.is_hook()) {
        let [group, kind] = ["group", "kind"].map(|field| resource.text(field));
        if has_no_check(group, kind) {
            continue;
        }
        let live = resource.live(application).filter(|live| live.deleted_at().is_none())?;
        if !has_known_check(group, kind) || unhealthy(live).is_some() || !is_observed(live) {
            return None;
        }
        well.push((live, live.written_at(Some("status")).or(live.created_at())?));
    }
    Some(well)
}

/// Quotes what shows that an object is healthy: a condition, if its kind has one for it.
fn quote_health(application: ApplicationView<'_>, object: Object<'_>, changed: Timestamp) -> Evidence {
    let quote = application.destination().quote();
    let conditions = ["Available", "Ready", "Complete"].into_iter();
    match conditions.filter_map(|type_| object.condition(type_)).find(|condition| condition.status == "True") {
        Some(condition) => Evidence { at: Some(changed), ..quote.condition(object, &condition) },
        None => Evidence { at: Some(changed), ..quote.field(object, "status") },
    }
}
