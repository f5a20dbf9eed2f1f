//! AR-KF-004 and AR-KF-005: a placement carries Applications to a member. On the member nothing comes of them without an Argo CD there.

use jiff::SignedDuration;
use serde_json::json;

use super::application::is_compared;
use crate::kinds::{APP_PROJECT, APPLICATION, APPLICATION_SET, CRD, NAMESPACE};
use crate::object::text_field;
use crate::rules::code::RuleCode;
use crate::rules::draft::{AffectedPart, FindingDraft};
use crate::rules::evidence_source::EvidenceSource;
use crate::rules::fleet::{FleetView, MemberPlacement, PlacementView, full_name};
use crate::rules::index::{resource_key, resource_name};
use crate::rules::kubectl;
use crate::rules::wanted_objects::WantedObjects;
use crate::{Condition, JsonRef, Object, ObjectSelection};

/// Time for which an Application on a member may have no status. Argo CD compares a new Application within 2 s; one that is placed together with
/// its Argo CD waits until that runs.
const NEW: SignedDuration = SignedDuration::from_mins(1);

/// Time for which a kind may be missing without counting as a failure: its definition may come a moment later.
const TRANSIENT_LIMIT: SignedDuration = SignedDuration::from_secs(15);

/// Number of Applications of each placement that are read from a member.
const MOST_OF_PLACEMENT: usize = 10;

pub(super) fn rule(fleet: FleetView<'_>) -> Vec<FindingDraft> {
    let mut drafts = Vec::new();
    for placement in fleet.placements().filter(|placement| carries_argo_cd(*placement)) {
        for status in placement.clusters() {
            drafts.extend(unknown_kinds(fleet, placement, status));
            drafts.extend(not_taken_up(fleet, placement, status));
        }
    }
    drafts
}

/// Returns the Applications on members that placements have put there.
pub(super) fn wanted(fleet: FleetView<'_>) -> Vec<WantedObjects> {
    let mut wanted = Vec::new();
    for placement in fleet.placements().filter(|placement| carries_argo_cd(*placement)) {
        for status in placement.clusters().filter(|status| is_applied(*status)) {
            let objects = applications(placement)
                .take(MOST_OF_PLACEMENT)
                .map(|reference| WantedObjects::whole(status.member, reference));
            let is_member = fleet.snapshot.member(status.member).is_some_and(|cluster| cluster.unreachable.is_none());
            wanted.extend(objects.filter(|_| is_member));
        }
    }
    wanted
}

fn is_argo_cds(reference: JsonRef<'_>) -> bool {
    let [group, kind] = ["group", "kind"].map(|field| text_field(reference, field));
    [APPLICATION, APPLICATION_SET, APP_PROJECT].iter().any(|known| (known.group, known.kind) == (group, kind))
}

fn carries_argo_cd(placement: PlacementView<'_>) -> bool {
    placement.object.list("/status/selectedResources").iter().any(is_argo_cds)
}

/// Returns the references to the Applications that a placement has selected.
fn applications(placement: PlacementView<'_>) -> impl Iterator<Item = JsonRef<'_>> {
    let selected = placement.object.list("/status/selectedResources").iter();
    selected.filter(|reference| is_argo_cds(*reference) && text_field(*reference, "kind") == APPLICATION.kind)
}

fn is_applied(status: MemberPlacement<'_>) -> bool {
    status.condition("Applied").is_some_and(|condition| condition.status == "True")
}

/// AR-KF-004: the member doesn't know Argo CD's kinds.
fn unknown_kinds<'a>(
    fleet: FleetView<'a>,
    placement: PlacementView<'a>,
    status: MemberPlacement<'a>,
) -> Option<FindingDraft> {
    let applied = status.condition("Applied").filter(|condition| condition.status == "False")?;
    let failure = |entry: JsonRef<'a>| entry.get("condition").and_then(Condition::read);
    // v0.1.2 to v0.3.1: `DecodingErred` is the reason if the member has no such kind.
    let failed: Vec<(JsonRef<'a>, Condition)> = status
        .failed()
        .iter()
        .filter(|entry| is_argo_cds(*entry))
        .filter_map(|entry| Some((entry, failure(entry)?)))
        .filter(|(_, condition)| condition.type_ == "Applied" && condition.reason == "DecodingErred")
        .collect();
    let (_, first) = failed.first()?;
    let since = first.last_transition_time.or(applied.last_transition_time)?;
    if fleet.age(since) < TRANSIENT_LIMIT {
        return None;
    }
    let quote = fleet.quote();
    let mut evidence = vec![quote.condition_in(placement.object, status.place(), &applied)];
    for (entry, condition) in &failed {
        let path = format!("{}.failedPlacements[{}]", status.place().field_path(), resource_name(*entry));
        let value = format!("{}: {}", condition.reason, condition.message);
        evidence.push(quote.text(placement.object, &path, value, condition.last_transition_time));
    }
    let crds = [APPLICATION, APPLICATION_SET, APP_PROJECT]
        .into_iter()
        .filter(|kind| failed.iter().any(|(entry, _)| text_field(*entry, "kind") == kind.kind));
    let crd_names: Vec<String> = crds.map(|kind| format!("{}.{}", kubectl::plural(kind.kind), kind.group)).collect();
    let names = json!({
        "placement": placement.full_name(),
        "placement_ref": kubectl::reference(placement.object),
        "member": status.member,
        "objects": failed.iter().map(|(entry, _)| resource_name(*entry)).collect::<Vec<_>>().join(", "),
        "hub_refs": failed.iter().map(|(entry, _)| kubectl::reference_of(*entry)).collect::<Vec<_>>(),
        "crds": crd_names.join(", "),
        "crd_refs": crd_names
            .iter()
            .map(|name| kubectl::reference_by_name(CRD.group, CRD.kind, None, name))
            .collect::<Vec<_>>(),
    });
    let draft = FindingDraft::new(RuleCode::AR_KF_004, placement.subject(fleet, Some(status.member)), &names, evidence);
    let draft = draft.depends_on(AffectedPart::Member(status.member.to_owned()));
    let are_all =
        status.failed().iter().all(|entry| failed.iter().any(|(known, _)| resource_key(*known) == resource_key(entry)));
    Some(if are_all { draft.affects(placement.objects_on(status.member)) } else { draft })
}

/// AR-KF-005: the Applications are on the member, and nothing has ever compared them.
fn not_taken_up<'a>(
    fleet: FleetView<'a>,
    placement: PlacementView<'a>,
    status: MemberPlacement<'a>,
) -> Option<FindingDraft> {
    let cluster = fleet.snapshot.member(status.member)?;
    let carried = applications(placement).next().filter(|_| is_applied(status))?;
    // A member that no rule asks for anything isn't read.
    cluster.ask(NAMESPACE.group, NAMESPACE.kind, || ObjectSelection::Named {
        namespace: None,
        name: text_field(carried, "namespace").to_owned(),
    });
    let on_member = |reference: JsonRef<'a>| {
        let [namespace, name] = ["namespace", "name"].map(|field| text_field(reference, field));
        cluster.objects.find(APPLICATION.group, APPLICATION.kind, Some(namespace), name)
    };
    let idle: Vec<Object<'a>> = applications(placement)
        .filter_map(on_member)
        .filter(|application| application.deleted_at().is_none() && !is_compared(*application))
        .filter(|application| application.created_at().is_some_and(|at| fleet.age(at) >= NEW))
        .collect();
    let first = idle.first()?;
    let quote = EvidenceSource::from(&cluster.name);
    let mut evidence = Vec::new();
    for application in idle.iter().take(MOST_OF_PLACEMENT) {
        let created = quote.field(*application, "metadata.creationTimestamp");
        evidence.push(crate::Evidence { at: application.created_at(), ..created });
        evidence.push(quote.field(*application, "status"));
    }
    let applied = status.condition("Applied");
    evidence.extend(applied.map(|c| fleet.quote().condition_in(placement.object, status.place(), &c)));
    let available = status.condition("Available");
    evidence.extend(available.map(|c| fleet.quote().condition_in(placement.object, status.place(), &c)));
    let on_hub = fleet.hub.object(APPLICATION.group, APPLICATION.kind, first.namespace(), first.name());
    let runs_on_hub = on_hub.filter(|application| is_compared(*application));
    evidence.extend(runs_on_hub.map(|application| fleet.quote().field(application, "status.sync.status")));
    let namespace = first.namespace().unwrap_or_default();
    let names = json!({
        "placement": placement.full_name(),
        "placement_ref": kubectl::reference(placement.object),
        "member": status.member,
        "objects": idle.iter().map(|object| full_name(object.namespace(), object.name())).collect::<Vec<_>>().join(", "),
        "refs": idle.iter().map(|object| kubectl::reference(*object)).collect::<Vec<_>>(),
        "namespace": namespace,
        "namespace_ref": kubectl::reference_by_name(NAMESPACE.group, NAMESPACE.kind, None, namespace),
        "runs_on_hub": runs_on_hub.is_some(),
    });
    Some(FindingDraft::new(RuleCode::AR_KF_005, placement.subject(fleet, Some(status.member)), &names, evidence))
}
