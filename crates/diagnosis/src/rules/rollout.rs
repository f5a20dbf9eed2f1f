//! Rollouts that don't get to a member's Works: overrides that fail, and limits of the placement itself.

use std::cell::LazyCell;

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::availability::PATIENCE;
use super::draft::{Draft, Topic};
use super::fleet::{Fleet, PLACEMENT, PlacedOn, Placement};
use super::kubectl;
use crate::Condition;

/// For how long a rollout may be held back: members are updated one after the other, and each takes a moment.
const TRANSIENT: SignedDuration = SignedDuration::from_secs(15);

/// How many of the members that use up the limit are named and quoted.
const NAMED: usize = 3;

pub(super) fn rule(fleet: Fleet<'_>) -> Vec<Draft> {
    let mut drafts = Vec::new();
    for placement in fleet.placements() {
        let unavailable = LazyCell::new(|| placement.clusters().filter_map(Unavailable::of).collect::<Vec<_>>());
        for on in placement.clusters() {
            drafts.extend(override_failed(fleet, placement, on));
            if let Some(held) = on.condition("RolloutStarted").filter(|c| c.status == "False") {
                drafts.extend(held_back(fleet, placement, on, &held, &unavailable));
            }
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
fn held_back(
    fleet: Fleet<'_>,
    placement: Placement<'_>,
    on: PlacedOn<'_>,
    held: &Condition,
    unavailable: &[Unavailable<'_>],
) -> Option<Draft> {
    let since = held.last_transition_time?;
    if fleet.now().duration_since(since) < TRANSIENT {
        return None;
    }
    let others: Vec<&Unavailable<'_>> = unavailable.iter().filter(|other| other.on.member != on.member).collect();
    let mut named: Vec<String> = others.iter().take(NAMED).map(|other| other.on.member.to_owned()).collect();
    if others.len() > NAMED {
        named.push(format!("{} more", others.len() - NAMED));
    }
    let quote = fleet.quote();
    let mut evidence = placement.symptom(fleet, on, held);
    evidence.extend(
        others.iter().take(NAMED).filter_map(|other| {
            Some(quote.condition_in(placement.object, &other.on.path(), other.condition.as_ref()?))
        }),
    );
    evidence.push(quote.field(placement.object, "spec.strategy.rollingUpdate"));
    evidence.push(quote.field(placement.object, "spec.policy"));
    let wanted = placement.object.at("/spec/policy/numberOfClusters").and_then(Value::as_u64);
    let names = |is_explained: bool| {
        json!({
            "placement": placement.full_name(),
            "placement_ref": kubectl::reference(placement.object),
            "member": on.member,
            "wanted": wanted.map(|n| n.to_string()).unwrap_or_default(),
            "found": placement.clusters().count(),
            "limit": placement.object.at("/spec/strategy/rollingUpdate/maxUnavailable").map_or("25%".to_owned(), shown),
            "unavailable": named,
            "is_short": wanted.is_some_and(|wanted| wanted > placement.clusters().count() as u64),
            "is_explained": is_explained,
        })
    };
    let draft = Draft::new("KF-RO-002", placement.subject(fleet, Some(on.member)), &names(false), evidence)
        .told_when_explained(&names(true))
        // Members that can't be found count as unavailable.
        .follows(placement.topic());
    let draft = others.iter().fold(draft, |draft, other| {
        draft.follows(placement.on(other.on.member)).follows(Topic::Member(other.on.member.to_owned()))
    });
    // A rollout that is on its way elsewhere goes on by itself.
    let is_on_its_way = others.iter().any(|other| other.is_young(fleet));
    Some(if is_on_its_way { draft.only_as_consequence() } else { draft })
}

/// A member to which the placement is rolled out and on which it isn't available.
struct Unavailable<'a> {
    on: PlacedOn<'a>,
    /// The first condition behind the rollout that isn't True; none where there is none yet.
    condition: Option<Condition>,
    /// When the rollout or that condition came to be.
    since: Option<Timestamp>,
}

impl<'a> Unavailable<'a> {
    fn of(on: PlacedOn<'a>) -> Option<Self> {
        let started = on.condition("RolloutStarted").filter(|c| c.status == "True")?;
        if on.condition("Available").is_some_and(|c| c.status == "True") {
            return None;
        }
        let behind = ["Overridden", "WorkSynchronized", "Applied", "Available"];
        let condition = behind.into_iter().filter_map(|type_| on.condition(type_)).find(|c| c.status != "True");
        let since = condition.as_ref().map_or(started.last_transition_time, |c| c.last_transition_time);
        Some(Self { on, condition, since })
    }

    /// Whether it may still become available without anybody's help.
    fn is_young(&self, fleet: Fleet<'_>) -> bool {
        self.since.is_some_and(|since| fleet.now().duration_since(since) <= PATIENCE)
    }
}

fn shown(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
