//! Deletions that don't end because of somebody's finalizer, or of an API that doesn't answer: placed objects on a member, and what a terminating
//! namespace holds.

use serde_json::{Value, json};

use super::code::RuleCode;
use super::draft::{AffectedPart, FindingDraft};
use super::evidence_source::EvidenceSource;
use super::fleet::{FleetView, placement_of_work, subject};
use super::kubectl;
use super::outcome::DELETION_LIMIT;
use crate::kubefleet::{CLUSTER_GROUP, MEMBER_NAMESPACE_PREFIX, PLACEMENT_GROUP};
use crate::object::text_field;
use crate::{ClusterSnapshot, Condition, Evidence, Object};

/// Condition by which a terminating namespace says which objects it still has.
pub(super) const CONTENT_REMAINING: &str = "NamespaceContentRemaining";

/// Condition by which a terminating namespace says that the API server doesn't list all its APIs.
const DISCOVERY_FAILURE: &str = "NamespaceDeletionDiscoveryFailure";

pub(super) fn rule(fleet: FleetView<'_>) -> Vec<FindingDraft> {
    let members = fleet.hub.of_kind(CLUSTER_GROUP, "MemberCluster");
    let namespaces = members.filter_map(|member| undiscovered_member_namespace(fleet, member));
    let works = fleet.deleted_works().into_iter().filter_map(|work| held_work(fleet, work));
    works.chain(namespaces).collect()
}

/// Returns the condition by which a terminating namespace says that the API server doesn't list all its APIs, if nothing else keeps it: the
/// namespace controller doesn't know then that nothing is left in it.
pub(super) fn discovery_failure(namespace: Object<'_>) -> Option<Condition> {
    if namespace.deleted_at().is_none() || !namespace.list("/metadata/finalizers").is_empty() {
        return None;
    }
    let mut told = told_obstacles(namespace);
    let failure = told.next().filter(|condition| condition.type_ == DISCOVERY_FAILURE)?;
    told.next().is_none().then_some(failure)
}

/// KF-DL-007: the namespace of a member on the hub doesn't go, because the hub's API server doesn't list all its APIs.
fn undiscovered_member_namespace(fleet: FleetView<'_>, member: Object<'_>) -> Option<FindingDraft> {
    let namespace = fleet.member_namespace(member.name())?;
    let failure = discovery_failure(namespace)?;
    if fleet.age(namespace.deleted_at()?) < DELETION_LIMIT {
        return None;
    }
    let quote = fleet.quote();
    let mut evidence = holding_evidence(quote, namespace);
    if member.deleted_at().is_some() {
        evidence.extend([quote.deletion(member), quote.field(member, "metadata.finalizers")]);
    }
    let names = json!({
        "cluster": fleet.hub.name,
        "namespace": namespace.name(),
        "message": failure.message,
        "work": null,
        "placement": "",
        "leaving": member.deleted_at().map(|_| member.name()),
    });
    let draft = FindingDraft::new(RuleCode::KF_DL_007, subject(fleet, member, None, None), &names, evidence);
    let draft = draft.affects(AffectedPart::Member(member.name().to_owned()));
    Some(draft.affects(AffectedPart::object(&fleet.hub.name, namespace)))
}

/// KF-DL-001 and KF-DL-007: a Work is being deleted, and an object that it has placed on the member can't be deleted.
fn held_work(fleet: FleetView<'_>, work: Object<'_>) -> Option<FindingDraft> {
    // Finalizers of controllers that work are gone by then, and so are Pods that end in their own time.
    if fleet.age(work.deleted_at()?) < DELETION_LIMIT {
        return None;
    }
    let member = work.namespace()?.strip_prefix(MEMBER_NAMESPACE_PREFIX)?;
    let cluster = fleet.snapshot.member(member).filter(|cluster| cluster.unreachable.is_none())?;
    let applied = cluster.object(PLACEMENT_GROUP, "AppliedWork", None, work.name())?;
    let held = held_objects(cluster, applied);
    let first = held.first()?;
    let quote = EvidenceSource::from(&cluster.name);
    let mut evidence = vec![fleet.quote().deletion(work), fleet.quote().field(work, "metadata.finalizers")];
    evidence.extend(held.iter().flat_map(|object| holding_evidence(quote, *object)));
    let placement = placement_of_work(work);
    let failures: Option<Vec<_>> = held.iter().map(|object| discovery_failure(*object)).collect();
    let failure = failures.and_then(|failures| failures.into_iter().next());
    let code = if failure.is_some() { RuleCode::KF_DL_007 } else { RuleCode::KF_DL_001 };
    let names = json!({
        "cluster": cluster.name,
        "namespace": first.name(),
        "message": failure.map(|failure| failure.message),
        "leaving": null,
        "work": work.name(),
        "member": member,
        "placement": placement.map(|(_, name)| name).unwrap_or_default(),
        "object": first.path().to_string(),
        "holders": holders(&held),
        "holder_refs": references(&held),
        "is_namespace": held.iter().any(|object| object.kind() == "Namespace"),
    });
    let mut about = subject(fleet, work, None, Some(member));
    about.member = Some(member.to_owned());
    let draft = FindingDraft::new(code, about, &names, evidence);
    Some(match placement {
        Some((namespace, name)) => draft.affects(AffectedPart::WorkOn {
            namespace: namespace.map(str::to_owned),
            name: name.to_owned(),
            member: member.to_owned(),
        }),
        None => draft,
    })
}

/// Returns the objects that an `AppliedWork` lists which are being deleted and don't go.
pub(super) fn held_objects<'a>(cluster: &'a ClusterSnapshot, applied: Object<'a>) -> Vec<Object<'a>> {
    placed_objects(cluster, applied).filter(|object| is_held(*object)).collect()
}

/// Returns the objects that an `AppliedWork` lists, as far as the snapshot has them.
fn placed_objects<'a>(cluster: &'a ClusterSnapshot, applied: Object<'a>) -> impl Iterator<Item = Object<'a>> {
    applied.list("/status/appliedResources").iter().filter_map(|listed| {
        let [group, kind, name] = ["group", "kind", "name"].map(|field| text_field(listed, field));
        let namespace = Some(text_field(listed, "namespace")).filter(|namespace| !namespace.is_empty());
        cluster.object(group, kind, namespace, name)
    })
}

/// True if an object is being deleted and something holds it.
pub(super) fn is_held(object: Object<'_>) -> bool {
    let is_held = !object.list("/metadata/finalizers").is_empty() || told_obstacles(object).next().is_some();
    object.deleted_at().is_some() && is_held
}

/// Returns the conditions by which a terminating namespace says why it doesn't go; none of any other object. All of them are for something that
/// is wrong.
fn told_obstacles(object: Object<'_>) -> impl Iterator<Item = Condition> {
    let is_namespace = object.kind() == "Namespace" && object.group().is_empty();
    let conditions = if is_namespace { object.conditions() } else { Vec::new() };
    conditions.into_iter().filter(|condition| condition.status == "True")
}

/// Quotes the deletion of an object and what holds it.
pub(super) fn holding_evidence(quote: EvidenceSource<'_>, object: Object<'_>) -> Vec<Evidence> {
    let mut evidence = vec![quote.deletion(object)];
    if !object.list("/metadata/finalizers").is_empty() {
        evidence.push(quote.field(object, "metadata.finalizers"));
    }
    evidence.extend(told_obstacles(object).map(|condition| quote.condition(object, &condition)));
    evidence
}

/// Returns an object with its finalizers, for the templates.
fn holder(object: Object<'_>) -> Value {
    json!({
        "object": object.path().to_string(),
        "finalizers": object.finalizers().collect::<Vec<_>>().join(", "),
    })
}

/// Returns the objects in a terminating namespace of the hub that have finalizers and aren't Works, for the templates.
/// Works have a finalizer of KubeFleet; others are somebody else's.
pub(super) fn foreign_holders<'a>(fleet: FleetView<'a>, namespace: &'a str) -> Vec<Object<'a>> {
    fleet.hub.objects.in_namespace(namespace).filter(|object| object.kind() != "Work" && is_held(*object)).collect()
}

/// Returns objects with their finalizers, for the templates.
pub(super) fn holders(objects: &[Object<'_>]) -> Vec<Value> {
    objects.iter().map(|object| holder(*object)).collect()
}

/// Returns the words by which kubectl finds each of the objects.
pub(super) fn references(objects: &[Object<'_>]) -> Vec<Vec<String>> {
    objects.iter().map(|object| kubectl::reference(*object)).collect()
}
