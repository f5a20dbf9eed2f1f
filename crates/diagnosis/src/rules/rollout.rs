//! Rollouts that don't get to a member's Works: overrides that fail, and limits of the placement itself.

use jiff::SignedDuration;
use serde_json::{Value, json};

use super::draft::Draft;
use super::fleet::{Fleet, PLACEMENT, PlacedOn, Placement};
use super::kubectl;

/// For how long a rollout may be held back: members are updated one after the other, and each takes a moment.
const TRANSIENT: SignedDuration = SignedDuration::from_secs(15);

pub(super) fn rule(fleet: Fleet<'_>) -> Vec<Draft> {
    let mut drafts = Vec::new();
    for placement in fleet.placements() {
        for on in placement.clusters() {
            drafts.extend(override_failed(fleet, placement, on));
            drafts.extend(held_back(fleet, placement, on));
        }
    }
    drafts
}

/// KF-OV-001: an override can't be applied.
fn override_failed(fleet: Fleet<'_>, placement: Placement<'_>, on: PlacedOn<'_>) -> Option<Draft> {
    let failed = on.condition("Overridden").filter(|c| c.status == "False")?;
    let mut evidence = placement.symptom(fleet, on, &failed);
    let mut refs = Vec::new();
    for field in ["applicableResourceOverrides", "applicableClusterResourceOverrides"] {
        for named in on.list(field) {
            // Placements name the snapshots of overrides: NAME-INDEX.
            let (namespace, snapshot) = match named {
                Value::String(name) => (None, name.as_str()),
                other => {
                    let text = |f: &str| other.get(f).and_then(Value::as_str);
                    (text("namespace"), text("name").unwrap_or_default())
                }
            };
            let name = snapshot.rsplit_once('-').map_or(snapshot, |(name, _)| name);
            let kind = if namespace.is_some() { "ResourceOverride" } else { "ClusterResourceOverride" };
            evidence.push(fleet.quote().text(
                placement.object,
                &format!("{}.{field}", on.path()),
                snapshot.to_owned(),
                None,
            ));
            refs.push(kubectl::resource(PLACEMENT, kind, namespace, name));
        }
    }
    let names = json!({
        "placement": placement.full_name(),
        "member": on.member,
        "message": failed.message,
        "overrides": refs,
    });
    let draft = Draft::new("KF-OV-001", placement.subject(fleet, Some(on.member)), &names, evidence);
    Some(draft.about(placement.on(on.member)))
}

/// KF-RO-002: the placement's own limits keep the rollout from the member.
fn held_back(fleet: Fleet<'_>, placement: Placement<'_>, on: PlacedOn<'_>) -> Option<Draft> {
    let held = on.condition("RolloutStarted").filter(|c| c.status == "False")?;
    let since = held.last_transition_time?;
    if fleet.now().duration_since(since) < TRANSIENT {
        return None;
    }
    let mut evidence = placement.symptom(fleet, on, &held);
    evidence.push(fleet.quote().field(placement.object, "spec.strategy.rollingUpdate"));
    evidence.push(fleet.quote().field(placement.object, "spec.policy"));
    let wanted = placement.object.at("/spec/policy/numberOfClusters").and_then(Value::as_u64);
    let names = json!({
        "placement": placement.full_name(),
        "placement_ref": kubectl::reference(placement.object),
        "member": on.member,
        "wanted": wanted.map(|n| n.to_string()).unwrap_or_default(),
        "found": placement.clusters().count(),
        "limit": placement.object.at("/spec/strategy/rollingUpdate/maxUnavailable").map_or("25%".to_owned(), shown),
    });
    let draft = Draft::new("KF-RO-002", placement.subject(fleet, Some(on.member)), &names, evidence);
    // Members that can't be found count as unavailable.
    Some(draft.follows(placement.topic()))
}

fn shown(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
