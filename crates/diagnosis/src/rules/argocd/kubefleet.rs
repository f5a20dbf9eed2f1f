//! AR-KF-001 to AR-KF-003: a placement and an Application want the same object on a member.
//!
//! The member agent makes its `AppliedWork` an owner of what it applies. Argo CD doesn't compare an Application when an object with an owner
//! changes, and prunes no object with an owner (v3.2 and v3.5). So an Application may say Synced while the object has the placement's content,
//! or is gone.

use jiff::SignedDuration;
use serde_json::{Value, json};

use super::application::{ApplicationView, OperationState};
use super::destination::{self, TRACKING_ID, owning_application, qualified_name, tracking_id};
use super::field_differences::{FieldDifference, FieldDifferences, FieldWrite, last_applied};
use super::live_objects::ManagedResource;
use super::shared_resource::SHARED_RESOURCE_WARNING;
use crate::kinds::{APPLIED_WORK, NAMESPACE};
use crate::object::text_field;
use crate::rules::apply_error::ApplyError;
use crate::rules::code::RuleCode;
use crate::rules::draft::{AffectedPart, FindingDraft};
use crate::rules::evidence_source::EvidenceSource;
use crate::rules::fleet::{FleetView, MemberPlacement, PlacementView};
use crate::rules::index::{ResourceKey, resource_key};
use crate::rules::kubectl;
use crate::rules::wanted_objects::WantedObjects;
use crate::{APPLICATION, Condition, Evidence, JsonRef, Object};

/// Annotation in which the member agent's client-side apply stores the applied manifest.
const FLEET_LAST_APPLIED: &str = "kubernetes-fleet.io/last-applied-configuration";

/// Field managers of the member agent: one for its applies, one for the owner reference of an object that it takes over (v0.1.2).
const FLEET_MANAGERS: [&str; 2] = ["work-api-agent", "member-agent"];

/// Time after Argo CD's write within which the member agent usually looks at the object again: 5 s in a fleet that fleetdrill starts, and up
/// to 15 min with KubeFleet's defaults (v0.1.2).
const REACTION_LIMIT: SignedDuration = SignedDuration::from_secs(30);

/// Number of objects, and of differing fields of each, that are quoted.
const QUOTED: usize = 3;

/// How an Application and a placement stand to an object that both want.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Relation {
    /// Both write it, with different content.
    BothWrite,
    /// The Application has it, and the placement doesn't take it over.
    NotTakenOver,
    /// The placement has it, with the tracking id of an Application on the hub, because of which Argo CD calls it shared.
    ForeignTrackingId,
}

/// Object on a member that an Application and a placement want.
struct SharedObject<'a> {
    resource: ManagedResource<'a>,
    live: Object<'a>,
    placement: PlacementView<'a>,
    status: MemberPlacement<'a>,
    relation: Relation,
    /// Fields that both have applied with different values, as far as the snapshot shows values.
    fields: Vec<FieldDifference>,
}

pub(super) fn rule(application: ApplicationView<'_>) -> Vec<FindingDraft> {
    if application.operation_state() == OperationState::Running || application.is_behind() {
        return Vec::new();
    }
    let mut objects: Vec<SharedObject<'_>> = ManagedResource::all(application.object)
        .filter(|resource| !resource.is_hook() && !resource.requires_pruning())
        .filter_map(|resource| SharedObject::read(application, resource))
        .collect();
    objects.sort_by_key(|object| (object.relation, object.placement.full_name(), object.placement.scope));
    let same =
        |a: &SharedObject<'_>, b: &SharedObject<'_>| a.relation == b.relation && a.placement.is_same(b.placement);
    objects.chunk_by(same).filter_map(|objects| draft(application, objects)).collect()
}

/// Returns the live objects that an Application and a placement both have on a member, as far as the hub tells.
pub(super) fn wanted(fleet: FleetView<'_>) -> Vec<WantedObjects> {
    let mut wanted = Vec::new();
    for application in fleet.hub.of_kind(APPLICATION.group, APPLICATION.kind) {
        let Some(cluster) = destination::named_cluster(fleet, application) else { continue };
        if cluster.name == fleet.hub.name || cluster.unreachable.is_some() {
            continue;
        }
        let shared = ManagedResource::all(application)
            .filter(|resource| resource.is_to_be_read(cluster))
            .filter(|resource| placements_on(fleet, resource.key(), &cluster.name).next().is_some());
        wanted.extend(shared.take(super::live_objects::MOST_OF_APPLICATION).map(|resource| resource.wanted(cluster)));
    }
    wanted
}

/// Returns the part of an object that a placement may have put on a cluster, if its `AppliedWork` is an owner.
pub(super) fn placed_part(cluster: &str, live: Object<'_>) -> Option<AffectedPart> {
    applied_work(live).map(|_| AffectedPart::object(cluster, live))
}

/// Returns the placements that have selected a resource and put it on a member.
fn placements_on<'a>(
    fleet: FleetView<'a>,
    resource: ResourceKey<'_>,
    member: &str,
) -> impl Iterator<Item = (PlacementView<'a>, MemberPlacement<'a>)> {
    fleet.placements_of_resource(resource).filter_map(move |placement| {
        let status = placement.clusters().find(|status| status.member == member)?;
        Some((placement, status))
    })
}

/// Returns the name of the `AppliedWork` that owns an object: that of the Work which has put it there.
fn applied_work(live: Object<'_>) -> Option<&str> {
    let owners = live.list("/metadata/ownerReferences");
    let owner = owners.iter().find(|owner| text_field(*owner, "kind") == APPLIED_WORK.kind)?;
    Some(text_field(owner, "name"))
}

impl<'a> SharedObject<'a> {
    /// Reads an object that an Application lists; `None` unless a placement wants it, too, and the two don't agree.
    fn read(application: ApplicationView<'a>, resource: ManagedResource<'a>) -> Option<Self> {
        let member = application.destination().member()?;
        let (placement, status) = placements_on(application.fleet, resource.key(), member).next()?;
        let live = resource.live(application).filter(|live| live.deleted_at().is_none())?;
        let fields = conflicting_fields(live);
        let mut object = Self { resource, live, placement, status, relation: Relation::BothWrite, fields };
        object.relation = object.relation(application)?;
        Some(object)
    }

    fn relation(&self, application: ApplicationView<'_>) -> Option<Relation> {
        let is_own = |owner: &str| owner == application.object.name() || owner == qualified_name(application.object);
        let failure = self.failure();
        if applied_work(self.live).is_none() {
            let has_not_taken = failure.is_some_and(|c| ["NotTakenOver", "FailedToTakeOver"].contains(&&*c.reason));
            return (is_own(owning_application(self.live)) && has_not_taken).then_some(Relation::NotTakenOver);
        }
        let [fleets, argo_cds] = [self.last_write(is_fleets), self.last_write(|write| write.is_argo_cds())];
        let has_written = argo_cds.is_some();
        let written_at = |write: Option<FieldWrite<'_>>| write.and_then(|write| write.at);
        let is_written_back = written_at(fleets) >= written_at(argo_cds);
        // The member agent writes what it finds changed, at its next look.
        let stays =
            is_written_back || written_at(argo_cds).is_some_and(|at| application.fleet.age(at) > REACTION_LIMIT);
        let differs = !self.fields.is_empty() && stays || self.resource.is_out_of_sync() && is_written_back;
        if has_written && last_sync_succeeded(application) && (differs || failure.is_some()) {
            return Some(Relation::BothWrite);
        }
        let is_shared = application.conditions(SHARED_RESOURCE_WARNING).next().is_some();
        (is_shared && !has_written && owner_on_hub(application, self.live).is_some())
            .then_some(Relation::ForeignTrackingId)
    }

    /// Returns the reason for which the member agent doesn't apply the object.
    fn failure(&self) -> Option<Condition> {
        let entry = self.status.failed().iter().find(|entry| resource_key(*entry) == self.resource.key())?;
        entry.get("condition").and_then(Condition::read).filter(|c| c.type_ == "Applied" && c.status == "False")
    }

    /// Returns the last write of one of the two.
    fn last_write(&self, of: fn(&FieldWrite<'_>) -> bool) -> Option<FieldWrite<'a>> {
        FieldWrite::all(self.live).filter(of).max_by_key(|write| write.at)
    }

    fn evidence(&self, application: ApplicationView<'a>) -> Vec<Evidence> {
        let quote = application.destination().quote();
        let mut evidence = Vec::new();
        for write in [self.last_write(is_fleets), self.last_write(|write| write.is_argo_cds())].into_iter().flatten() {
            let path = format!("metadata.managedFields[{}]", write.manager);
            evidence.push(quote.text(self.live, &path, write.text(), write.at));
        }
        evidence.extend(self.fields.iter().take(QUOTED).map(|field| {
            let [hub, git] = [field.live_text(), JsonRef::from(&field.applied).to_text()];
            quote.text(self.live, &field.path(), format!("the placement applies {hub}, the application {git}"), None)
        }));
        if let Some(work) = applied_work(self.live) {
            evidence.push(quote.text(self.live, "metadata.ownerReferences[AppliedWork]", work.to_owned(), None));
        }
        if let Some(id) = tracking_id(self.live) {
            let path = format!("metadata.annotations[{TRACKING_ID}]");
            evidence.push(quote.text(self.live, &path, id.to_owned(), None));
        }
        evidence
    }
}

/// Returns the fields that Argo CD and the member agent have both applied with different values: each has stored what it applied.
/// If only Argo CD has, those in which the object differs from that.
fn conflicting_fields(live: Object<'_>) -> Vec<FieldDifference> {
    let Some(fleets) = live.annotation(FLEET_LAST_APPLIED) else {
        return FieldDifferences::read(live).map_or_else(Vec::new, |found| found.all);
    };
    let (Ok(fleets), Some(git)) = (serde_json::from_str::<Value>(fleets), last_applied(live)) else {
        return Vec::new();
    };
    let found = FieldDifferences::between(Object::new(&fleets), &git).all;
    // A field that only one of them applies stays as it is.
    found.into_iter().filter(|field| field.live.is_some()).collect()
}

fn is_fleets(write: &FieldWrite<'_>) -> bool {
    FLEET_MANAGERS.contains(&write.manager)
}

/// True if the last operation has ended well, so that what Argo CD has written is what the present commit has.
fn last_sync_succeeded(application: ApplicationView<'_>) -> bool {
    application.operation_field("phase") == "Succeeded"
}

/// Returns the Application with the hub as destination that an object's tracking id names.
fn owner_on_hub<'a>(application: ApplicationView<'a>, live: Object<'_>) -> Option<Object<'a>> {
    let owner = owning_application(live);
    let hub = application.fleet.hub;
    let mut all = hub.of_kind(APPLICATION.group, APPLICATION.kind);
    all.find(|other| {
        (other.name() == owner || qualified_name(*other) == owner) && destination::deploys_to_hub(*other, hub)
    })
}

/// True if everything that a placement reports of a member, failures and drifts, is about these objects or their namespaces.
fn explains_all(objects: &[SharedObject<'_>]) -> bool {
    let Some(first) = objects.first() else { return false };
    let reported = first.status.failed().iter().chain(first.status.list("driftedPlacements").iter());
    reported.map(resource_key).all(|key| {
        let [group, kind, _, name] = key;
        let is_namespace = (group, kind) == (NAMESPACE.group, NAMESPACE.kind);
        objects
            .iter()
            .any(|object| object.resource.key() == key || is_namespace && object.resource.namespace() == Some(name))
    })
}

fn draft<'a>(application: ApplicationView<'a>, objects: &[SharedObject<'a>]) -> Option<FindingDraft> {
    let first = objects.first()?;
    let code = match first.relation {
        Relation::BothWrite => RuleCode::AR_KF_001,
        Relation::NotTakenOver => RuleCode::AR_KF_002,
        Relation::ForeignTrackingId => RuleCode::AR_KF_003,
    };
    let names = names(application, objects);
    let mut draft = application.draft_beside_sync(code, &names, evidence(application, objects));
    if first.relation == Relation::ForeignTrackingId && application.operation_state() != OperationState::Failed {
        draft = draft.into_notice();
    }
    for object in objects {
        draft = draft.affects(AffectedPart::object(application.destination().name(), object.live));
    }
    if explains_all(objects) {
        draft = draft.affects(first.placement.objects_on(first.status.member));
    }
    Some(draft)
}

fn evidence<'a>(application: ApplicationView<'a>, objects: &[SharedObject<'a>]) -> Vec<Evidence> {
    let quote: EvidenceSource<'a> = application.quote();
    let Some(first) = objects.first() else { return Vec::new() };
    let mut evidence: Vec<Evidence> = objects.iter().take(QUOTED).flat_map(|o| o.evidence(application)).collect();
    if let Some(failure) = objects.iter().find_map(SharedObject::failure) {
        let path = format!("{}.failedPlacements[{}]", first.status.place().field_path(), first.resource.object());
        let value = format!("{}: {}", failure.reason, failure.message);
        evidence.push(quote.text(first.placement.object, &path, value, failure.last_transition_time));
    } else {
        let applied = first.status.condition("Applied");
        evidence.extend(applied.map(|c| quote.condition_in(first.placement.object, first.status.place(), &c)));
    }
    if first.placement.object.at("/spec/strategy/applyStrategy").is_some() {
        evidence.push(quote.field(first.placement.object, "spec.strategy.applyStrategy"));
    }
    evidence.push(quote.text(
        application.object,
        "status.sync.status",
        application.object.str("/status/sync/status").unwrap_or_default().to_owned(),
        application.compared_at(),
    ));
    evidence.push(application.quote_operation());
    if first.relation == Relation::ForeignTrackingId {
        evidence.extend(application.conditions(SHARED_RESOURCE_WARNING).map(|c| application.quote_condition(c)));
    }
    if first.relation == Relation::BothWrite && application.self_heals() {
        evidence.push(quote.field(application.object, "spec.syncPolicy.automated.selfHeal"));
        let count = "status.operationState.operation.sync.autoHealAttemptsCount";
        evidence.extend(application.heals().map(|_| quote.field(application.object, count)));
    }
    evidence
}

fn names(application: ApplicationView<'_>, objects: &[SharedObject<'_>]) -> Value {
    let Some(first) = objects.first() else { return Value::Null };
    let member = first.status.member;
    let text = |write: Option<FieldWrite<'_>>| write.and_then(|write| write.at).map(|at| at.to_string());
    let fields: Vec<String> =
        objects.iter().flat_map(|object| &object.fields).take(QUOTED).map(FieldDifference::path).collect();
    let failure = objects.iter().find_map(SharedObject::failure);
    let error = failure.as_ref().and_then(|failure| ApplyError::of(&failure.message));
    let is_conflict = matches!(error, Some(ApplyError::Conflict(_)));
    let strategy =
        if is_conflict { json!({"serverSideApplyConfig": {"force": true}}) } else { json!({"whenToApply": "Always"}) };
    let placement_ref = kubectl::reference(first.placement.object);
    let patch = json!({"spec": {"strategy": {"applyStrategy": strategy}}});
    json!({
        "member": member,
        "placement": first.placement.full_name(),
        "placement_ref": placement_ref,
        "work": objects.iter().find_map(|object| applied_work(object.live)).unwrap_or_default(),
        "work_namespace": crate::kubefleet::member_namespace(member),
        "objects": objects.iter().take(QUOTED).map(|o| o.resource.object()).collect::<Vec<_>>().join(", "),
        "refs": objects.iter().map(|object| object.resource.reference()).collect::<Vec<_>>(),
        "fields": fields.join(", "),
        "written_by_placement": text(first.last_write(is_fleets)).unwrap_or_default(),
        "written_by_argocd": text(first.last_write(|write| write.is_argo_cds())).unwrap_or_default(),
        "status": application.object.str("/status/sync/status").unwrap_or_default(),
        "self_heals": application.self_heals(),
        "heals": application.heals().unwrap_or_default(),
        "refused": failure.is_some(),
        "apply_anyway": if failure.is_some() { vec![kubectl::patch_command(placement_ref.clone(), &patch)] } else { Vec::new() },
        "owner": owner_on_hub(application, first.live).map(|owner| owner.name()).unwrap_or_default(),
        "failed": application.operation_state() == OperationState::Failed,
    })
}
