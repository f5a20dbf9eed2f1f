//! Works that can't be created for a member (`WorkSynchronized` is False), and Works that are being deleted.

use std::sync::LazyLock;

use jiff::SignedDuration;
use regex::Regex;
use serde_json::{Value, json};

use super::code::RuleCode;
use super::draft::{AffectedPart, FindingDraft};
use super::fleet::{FleetView, MemberPlacement, PlacementView, full_name, placement_of_work};
use super::outcome::DELETION_LIMIT;
use super::pattern::pattern_of_any_case;
use super::{deletion, envelope, kubectl, member, resource_snapshot, work_recovery};
use crate::command::{KubectlVerb, RemedyCommand};
use crate::kubefleet::{CLUSTER_GROUP, WORK_CLEANUP_FINALIZER, member_namespace};
use crate::{Condition, Evidence, HUB, JsonRef, Object};

/// Time for which creating a Work may fail without counting as a failure.
const TRANSIENT_LIMIT: SignedDuration = SignedDuration::from_secs(15);
/// Time after which a terminating namespace without conditions counts as unattended by the namespace controller.
const UNATTENDED_LIMIT: SignedDuration = SignedDuration::from_secs(30);

pub(super) fn rule(fleet: FleetView<'_>) -> Vec<FindingDraft> {
    let mut drafts = Vec::new();
    for placement in fleet.placements() {
        for cluster in placement.clusters() {
            let Some(failed) = cluster.condition("WorkSynchronized").filter(|c| c.status == "False") else { continue };
            if member::is_leaving(fleet, cluster.member) || member::has_left(fleet, cluster.member) {
                continue;
            }
            // An error in the manifests is reported even while something else is wrong with the member.
            let draft = envelope::finding(fleet, placement, cluster, &failed)
                .or_else(|| terminating_namespace(fleet, placement, cluster, &failed))
                .or_else(|| other_failure(fleet, placement, cluster, &failed));
            drafts.extend(draft);
        }
    }
    drafts.extend(fleet.placements().flat_map(|p| deleted_while_available(fleet, p)));
    drafts
}

/// KF-WS-008: the placement reports that it is available on a member, while its Work there is being deleted.
fn deleted_while_available(fleet: FleetView<'_>, placement: PlacementView<'_>) -> Vec<FindingDraft> {
    let quote = fleet.quote();
    let mut drafts = Vec::new();
    for status in placement.clusters() {
        let Some(namespace) = fleet.member_namespace(status.member).filter(|n| n.deleted_at().is_some()) else {
            continue;
        };
        let Some(available) = status.condition("Available").filter(|c| c.status == "True") else { continue };
        let mut works = placement.works(fleet, status.member);
        works.retain(|w| w.deleted_at().is_some());
        if works.is_empty() {
            continue;
        }
        let mut evidence = vec![quote.condition_in(placement.object, status.place(), &available)];
        evidence.extend(works.iter().map(|w| quote.deletion(*w)));
        evidence.push(quote.deletion(namespace));
        let names = json!({
            "placement": placement.full_name(),
            "placement_ref": kubectl::reference(placement.object),
            "member": status.member,
            "namespace": namespace.name(),
            "held": works.iter().map(|w| kubectl::reference(*w)).collect::<Vec<_>>(),
        });
        let draft =
            FindingDraft::new(RuleCode::KF_WS_008, placement.subject(fleet, Some(status.member)), &names, evidence);
        let namespace = AffectedPart::MemberNamespace(status.member.to_owned());
        drafts.push(draft.affects(namespace.clone()).depends_on(namespace));
    }
    drafts
}

/// KF-WS-006, 007, 009 and 010: other reasons why a Work can't be created.
fn other_failure(
    fleet: FleetView<'_>,
    placement: PlacementView<'_>,
    status: MemberPlacement<'_>,
    failed: &Condition,
) -> Option<FindingDraft> {
    static REFUSED: LazyLock<Regex> = LazyLock::new(|| pattern_of_any_case(r"\bis invalid: spec\.workload"));
    static NO_NAMESPACE: LazyLock<Regex> =
        LazyLock::new(|| pattern_of_any_case(r#"namespaces? "?fleet-member-\S+ not found"#));
    static DUPLICATE: LazyLock<Regex> =
        LazyLock::new(|| pattern_of_any_case(r"\bwork objects found for the same envelope (?<envelope>[^\s,]+)"));
    let mut evidence = placement.symptom(fleet, status, failed);
    let namespace = member_namespace(status.member);
    let mut duplicates = Vec::new();
    let age = fleet.age(failed.last_transition_time?);
    let limit = work_recovery::time_after_namespace(fleet, status.member, failed).unwrap_or(TRANSIENT_LIMIT);
    let is_gone = fleet.member_namespace(status.member).is_none();
    let member = fleet.hub.object(CLUSTER_GROUP, "MemberCluster", None, status.member);
    let code = if REFUSED.is_match(&failed.message) {
        RuleCode::KF_WS_006
    } else if is_gone && (age > limit || (age > TRANSIENT_LIMIT && NO_NAMESPACE.is_match(&failed.message))) {
        evidence.push(fleet.quote().absent("Namespace", None, &namespace));
        RuleCode::KF_WS_007
    } else if let Some(captures) = DUPLICATE.captures(&failed.message) {
        duplicates = envelope::works_of_envelope(fleet, placement, status, &captures["envelope"]);
        evidence.extend(duplicates.iter().map(|w| match w.condition("Applied") {
            Some(applied) => fleet.quote().condition(*w, &applied),
            None => fleet.quote().field(*w, "metadata.creationTimestamp"),
        }));
        RuleCode::KF_WS_010
    } else {
        // The controller retries; conflicts and short outages pass.
        let waits = is_replacing_work(fleet, placement, status, failed);
        if age < limit || waits || resource_snapshot::missing_snapshot(fleet, placement, status.member).is_some() {
            return None;
        }
        RuleCode::KF_WS_009
    };
    let period = member.and_then(|m| m.at("/spec/heartbeatPeriodSeconds")?.as_i64()).unwrap_or(60);
    let names = json!({
        "placement": placement.full_name(),
        "placement_ref": kubectl::reference(placement.object),
        "member": status.member,
        "namespace": namespace,
        "message": failed.message,
        "surplus": duplicates.iter().skip(1).map(|w| kubectl::reference(*w)).collect::<Vec<_>>(),
        "other_period": if period < 600 { period + 1 } else { period - 1 },
    });
    let draft = FindingDraft::new(code, placement.subject(fleet, Some(status.member)), &names, evidence)
        .affects(placement.part_on(status.member))
        .depends_on(AffectedPart::Member(status.member.to_owned()));
    // A new Work can't be created while the one of the same name is being deleted.
    Some(draft.depends_on(placement.works_on(status.member)))
}

/// True if a Work of the placement for the member is being deleted, and may still go by itself. Another of the same name
/// can be created after that, at the hub-agent's next attempt: it doubles the time between two attempts.
fn is_replacing_work(
    fleet: FleetView<'_>,
    placement: PlacementView<'_>,
    status: MemberPlacement<'_>,
    failed: &Condition,
) -> bool {
    if let Some(time) = time_to_replace_work(fleet, placement, status, failed) {
        return failed.last_transition_time.is_some_and(|since| fleet.age(since) < time);
    }
    let works = placement.works(fleet, status.member);
    works.iter().filter_map(Object::deleted_at).any(|since| fleet.age(since) < DELETION_LIMIT)
}

/// Returns the time that a Work may need to be created again when the old one of the same name is gone; `None` if that isn't what the
/// condition waits for. The failure has lasted for as long as the deletion of the old one, and the next attempt comes after as long again.
pub(super) fn time_to_replace_work(
    fleet: FleetView<'_>,
    placement: PlacementView<'_>,
    status: MemberPlacement<'_>,
    failed: &Condition,
) -> Option<SignedDuration> {
    static OLD_WORK: LazyLock<Regex> = LazyLock::new(|| pattern_of_any_case(r"\bobject is being deleted: works\."));
    let works = placement.works(fleet, status.member);
    let is_gone = works.iter().all(|work| work.deleted_at().is_none());
    (is_gone && OLD_WORK.is_match(&failed.message)).then_some(DELETION_LIMIT * 2)
}

/// KF-WS-001: the member's namespace on the hub is being deleted.
fn terminating_namespace(
    fleet: FleetView<'_>,
    placement: PlacementView<'_>,
    status: MemberPlacement<'_>,
    failed: &Condition,
) -> Option<FindingDraft> {
    let namespace = fleet.member_namespace(status.member)?;
    let since = namespace.deleted_at()?;
    let works = fleet.works(status.member);
    let foreign = deletion::foreign_holders(fleet, namespace.name());
    let (lost, at_risk): (Vec<_>, Vec<_>) =
        works.iter().copied().filter(|w| !placement.owns(*w)).partition(|w| w.deleted_at().is_some());
    let held: Vec<_> = works.iter().filter(|w| !w.list("/metadata/finalizers").is_empty()).collect();
    let held_refs: Vec<_> = held.iter().map(|w| kubectl::reference(**w)).collect();
    let unattended = namespace.conditions().is_empty() && fleet.now().duration_since(since) > UNATTENDED_LIMIT;
    let member = fleet.hub.object(CLUSTER_GROUP, "MemberCluster", None, status.member);
    let names = json!({
        "placement": placement.full_name(),
        "placement_ref": kubectl::reference(placement.object),
        "member": status.member,
        "namespace": member_namespace(status.member),
        "lost": placement_names(&lost),
        "at_risk": placement_names(&at_risk),
        "held": held_refs,
        "foreign": deletion::holders(&foreign),
        "foreign_refs": deletion::references(&foreign),
        "unattended": unattended,
        "elsewhere": leave_member_out(fleet, placement, status.member),
        "member_copy": member.map(|m| kubectl::create_command(copy_of_member(m))),
    });
    let draft = FindingDraft::new(
        RuleCode::KF_WS_001,
        placement.subject(fleet, Some(status.member)),
        &names,
        evidence(fleet, placement, status, failed, namespace, works, &foreign),
    );
    Some(
        draft
            .common_cause(namespace.name())
            .affects(placement.part_on(status.member))
            .affects(AffectedPart::MemberNamespace(status.member.to_owned()))
            .depends_on(AffectedPart::object(&fleet.hub.name, namespace)),
    )
}

/// Returns the sorted names of the placements that Works belong to.
fn placement_names(works: &[Object<'_>]) -> String {
    let placements = works.iter().filter_map(|work| placement_of_work(*work));
    let mut names: Vec<_> = placements.map(|(namespace, name)| full_name(namespace, name)).collect();
    names.sort();
    names.dedup();
    names.join(", ")
}

fn evidence(
    fleet: FleetView<'_>,
    placement: PlacementView<'_>,
    status: MemberPlacement<'_>,
    failed: &Condition,
    namespace: Object<'_>,
    works: &[Object<'_>],
    foreign: &[Object<'_>],
) -> Vec<Evidence> {
    let quote = fleet.quote();
    let mut evidence = placement.symptom(fleet, status, failed);
    evidence.extend(deletion::holding_evidence(quote, namespace));
    evidence.extend(foreign.iter().flat_map(|object| deletion::holding_evidence(quote, *object)));
    for work in works.iter().filter(|w| w.list("/metadata/finalizers").iter().any(|f| f == WORK_CLEANUP_FINALIZER)) {
        let finalizers = quote.field(*work, "metadata.finalizers");
        evidence.push(Evidence { at: work.deleted_at(), ..finalizers });
    }
    evidence
}

/// Returns the commands that make the placement leave the member out; empty if the policy has to be edited by hand.
fn leave_member_out(fleet: FleetView<'_>, placement: PlacementView<'_>, member: &str) -> Vec<RemedyCommand> {
    let policy = placement.object.at("/spec/policy");
    let type_ = placement.object.str("/spec/policy/placementType").unwrap_or("PickAll");
    if type_ == "PickFixed" {
        let mut names: Vec<_> = placement
            .object
            .list("/spec/policy/clusterNames")
            .iter()
            .filter_map(JsonRef::as_str)
            .filter(|n| *n != member)
            .collect();
        if names.is_empty() {
            let other = fleet
                .hub
                .of_kind(CLUSTER_GROUP, "MemberCluster")
                .filter(|m| m.name() != member && m.deleted_at().is_none())
                .filter(|m| fleet.member_namespace(m.name()).is_none_or(|n| n.deleted_at().is_none()))
                .map(|m| m.name())
                .min();
            names.extend(other);
        }
        if names.is_empty() {
            return Vec::new();
        }
        return vec![patch_policy(placement, &json!({"clusterNames": names}))];
    }
    if policy.is_some_and(|p| p.get("affinity").is_some()) {
        // A merge patch would remove the policy's other terms.
        return vec![RemedyCommand::kubectl(HUB, KubectlVerb::Edit, kubectl::reference(placement.object))];
    }
    let key = "unavailable";
    let terms = json!([{"labelSelector": {"matchExpressions": [{"key": key, "operator": "DoesNotExist"}]}}]);
    let affinity = json!({"clusterAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": {"clusterSelectorTerms": terms}
    }});
    let mut wanted = json!({"placementType": type_, "affinity": affinity});
    if policy.is_some_and(|p| p.get("placementType").is_some()) {
        wanted.as_object_mut().map(|w| w.remove("placementType"));
    }
    let mut label = kubectl::reference_by_name(CLUSTER_GROUP, "MemberCluster", None, member);
    label.push(format!("{key}=true"));
    vec![RemedyCommand::kubectl(HUB, KubectlVerb::Label, label), patch_policy(placement, &wanted)]
}

/// Returns the command that changes a placement's policy by a merge patch.
fn patch_policy(placement: PlacementView<'_>, policy: &Value) -> RemedyCommand {
    kubectl::patch_command(kubectl::reference(placement.object), &json!({"spec": {"policy": policy}}))
}

/// Returns the parts of a `MemberCluster` that are needed to create it again.
fn copy_of_member(member: Object<'_>) -> Value {
    let mut metadata = json!({"name": member.name()});
    if let (Some(labels), Some(metadata)) = (member.at("/metadata/labels"), metadata.as_object_mut()) {
        metadata.insert("labels".to_owned(), labels.to_value());
    }
    json!({
        "apiVersion": member.at("/apiVersion"),
        "kind": "MemberCluster",
        "metadata": metadata,
        "spec": member.at("/spec"),
    })
}
