//! Members whose agent never came, is silent, or can't leave, and placements that wait for such a member.

use jiff::SignedDuration;
use serde_json::json;

use super::availability::PATIENCE;
use super::clock::{self, ApiServerClock};
use super::code::RuleCode;
use super::deletion::{foreign_holders, holding_evidence, references};
use super::draft::{AffectedPart, FindingDraft};
use super::evidence_source::EvidenceSource;
use super::fleet::{FleetView, MemberPlacement, PlacementView, subject};
use super::foreign_finalizer::is_held_by_others;
use super::heartbeat::{Heartbeat, period_seconds};
use super::hub_agent::REACTION_LIMIT;
use super::member_health::Unhealthy;
use super::{deletion, kubectl, outcome};
use crate::kinds::{ROLE, ROLE_BINDING, SERVICE_ACCOUNT};
use crate::kubefleet::{CLUSTER_GROUP, member_namespace};
use crate::object::text_field;
use crate::{Evidence, JsonRef, Object};

/// Time without a heartbeat after which an agent counts as silent although it seems to have all that it needs. On a
/// busy machine, heartbeats with a period of 15 s have been seen almost a minute late (v0.1.2). The hub itself counts a
/// member as lost after 5 min.
const SILENCE_LIMIT: SignedDuration = SignedDuration::from_secs(120);
/// Time without a heartbeat after which the agent of a member that leaves counts as silent. An agent that works answers within seconds, and
/// sends no heartbeat when it has left.
const LEAVING_SILENCE_LIMIT: SignedDuration = SignedDuration::from_secs(60);
/// Time that a member may take to leave.
const LEAVE_LIMIT: SignedDuration = SignedDuration::from_secs(30);
/// Time that the namespace of a member that leaves may take to go when nothing is seen in it that holds it. It has been seen to take
/// more than 31 s on a busy hub (v0.3.1).
const EMPTY_NAMESPACE_LIMIT: SignedDuration = SignedDuration::from_secs(120);
/// Time that a member's agent may take to answer for the first time after its `MemberCluster` was created. On kind with two
/// processors, an agent whose image had to be loaded first took more than 60 s (v0.1.2).
pub(super) const JOIN_LIMIT: SignedDuration = SignedDuration::from_secs(120);
/// Time that resources may take to be applied, when a member doesn't seem well, before the delay counts.
const APPLY_LIMIT: SignedDuration = SignedDuration::from_secs(30);

pub(super) fn rule(fleet: FleetView<'_>) -> Vec<FindingDraft> {
    let mut drafts = Vec::new();
    for member in fleet.hub.of_kind(CLUSTER_GROUP, "MemberCluster") {
        drafts.extend(if member.deleted_at().is_some() {
            held_namespace(fleet, member)
                .or_else(|| leaving_deadlock(fleet, member))
                .or_else(|| leaves_without_agent(fleet, member))
        } else {
            silent_member(fleet, member)
                .or_else(|| never_joined(fleet, member))
                .or_else(|| Unhealthy::of(fleet, member).map(|unhealthy| unhealthy.finding(fleet, member)))
                .or_else(|| clock::of_member(fleet, member).filter(|_| !ApiServerClock::is_wrong(fleet)))
        });
    }
    for placement in fleet.placements() {
        drafts.extend(placement.clusters().filter_map(|status| waiting_placement(fleet, placement, status)));
    }
    drafts
}

/// True if a member was deleted a short time ago and the hub-agent deletes its namespace for that reason. Placements that select the member
/// can't create Works for it until the scheduler has dropped it, which is no failure.
pub(super) fn is_leaving(fleet: FleetView<'_>, member: &str) -> bool {
    let left_at = fleet.hub.object(CLUSTER_GROUP, "MemberCluster", None, member).and_then(|member| member.deleted_at());
    let namespace_deleted_at = fleet.member_namespace(member).map(|namespace| namespace.deleted_at());
    left_at.is_some_and(|left_at| {
        let is_consequence = namespace_deleted_at.is_none_or(|deleted_at| deleted_at.is_some_and(|at| at >= left_at));
        is_consequence && fleet.age(left_at) < outcome::LEAVE_LIMIT
    })
}

/// True if a member isn't in the fleet any more. The hub-agent takes it out of the status of placements within a second. A hub without members is
/// rather one whose members couldn't be read.
pub(super) fn has_left(fleet: FleetView<'_>, member: &str) -> bool {
    let has_members = fleet.hub.of_kind(CLUSTER_GROUP, "MemberCluster").next().is_some();
    has_members && fleet.hub.object(CLUSTER_GROUP, "MemberCluster", None, member).is_none()
}

/// KF-MC-002, 003, 005 and 006: a member can't leave, because its agent, which has to agree, doesn't answer.
fn leaves_without_agent(fleet: FleetView<'_>, member: Object<'_>) -> Option<FindingDraft> {
    if fleet.age(member.deleted_at()?) < LEAVE_LIMIT {
        return None;
    }
    silent_member(fleet, member).or_else(|| never_joined(fleet, member))
}

/// KF-AP-001: the member's agent applies nothing of the placement.
fn waiting_placement(
    fleet: FleetView<'_>,
    placement: PlacementView<'_>,
    status: MemberPlacement<'_>,
) -> Option<FindingDraft> {
    let applying = status.condition("Applied").filter(|c| c.status != "True" && status.failed().is_empty())?;
    let age = fleet.age(applying.last_transition_time?);
    if age < APPLY_LIMIT {
        return None;
    }
    let works = placement.works(fleet, status.member);
    let waiting: Vec<_> = works.iter().filter(|w| w.current_condition("Applied").is_none()).collect();
    // `ApplyInProgress` alone says that the agent hasn't answered. Another reason may stand for a Work that it has
    // answered for: a changed Work keeps the conditions of its last generation.
    if applying.reason != "ApplyInProgress" && waiting.is_empty() {
        return None;
    }
    let member = fleet.hub.object(CLUSTER_GROUP, "MemberCluster", None, status.member);
    let lost = member.and_then(|m| Heartbeat::of(fleet, m)).is_some_and(|heartbeat| heartbeat.is_overdue())
        || member.is_some_and(|member| Unhealthy::of(fleet, member).is_some());
    let long = age > PATIENCE && !waiting.is_empty();
    if !(lost || long) {
        return None;
    }
    let quote = fleet.quote();
    let mut evidence = vec![quote.condition_in(placement.object, status.place(), &applying)];
    evidence.extend(waiting.iter().map(|work| quote_unapplied(quote, **work)));
    let names = json!({"placement": placement.full_name(), "member": status.member});
    let draft = FindingDraft::new(RuleCode::KF_AP_001, placement.subject(fleet, Some(status.member)), &names, evidence)
        .affects(placement.part_on(status.member))
        .depends_on(AffectedPart::Member(status.member.to_owned()))
        .depends_on(AffectedPart::MemberNamespace(status.member.to_owned()));
    // A Work that hasn't been applied for a short time says nothing by itself.
    Some(if long { draft } else { draft.only_as_consequence() })
}

/// KF-MC-001 to 003 and 006: no heartbeat, because of missing rights, a missing identity, or the agent itself.
fn silent_member(fleet: FleetView<'_>, member: Object<'_>) -> Option<FindingDraft> {
    let heartbeat = Heartbeat::of(fleet, member).filter(Heartbeat::is_overdue)?;
    let quote = fleet.quote();
    let name = member.name();
    let namespace = member_namespace(name);
    let terminating = fleet.member_namespace(name).is_some_and(|n| n.deleted_at().is_some());
    let account = member.at("/spec/identity").unwrap_or(JsonRef::NULL);
    let [account_kind, account_namespace, account_name] =
        ["kind", "namespace", "name"].map(|field| text_field(account, field));

    let mut evidence = heartbeat.evidence(quote);
    evidence.push(quote.field(member, "spec.heartbeatPeriodSeconds"));
    evidence.extend(member.condition("Joined").map(|c| quote.condition(member, &c)));

    let rbac = "rbac.authorization.k8s.io";
    // An object counts as missing only if objects of its kind could be read.
    let roles_read = [(ROLE, "roles"), (ROLE_BINDING, "rolebindings")]
        .into_iter()
        .any(|(kind, resource)| fleet.hub.could_list(kind, resource));
    let bound = fleet
        .hub
        .in_namespace(rbac, ROLE_BINDING.kind, &namespace)
        .any(|b| b.list("/subjects").iter().any(|s| s.get("name").and_then(JsonRef::as_str) == Some(account_name)));
    let accounts_read = fleet.hub.could_list(SERVICE_ACCOUNT, "serviceaccounts");
    let account_gone = account_kind == "ServiceAccount"
        && accounts_read
        && fleet.hub.object("", "ServiceAccount", Some(account_namespace), account_name).is_none();
    // The hub-agent usually creates a namespace that is gone again, with the RoleBinding, within a minute.
    let is_settled = fleet.member_namespace(name).is_some_and(|namespace| {
        terminating || namespace.created_at().is_none_or(|created_at| fleet.age(created_at) > REACTION_LIMIT)
    });
    let code = if account_gone {
        evidence.push(quote.absent("ServiceAccount", Some(account_namespace), account_name));
        RuleCode::KF_MC_003
    } else if roles_read && !bound && (is_settled || heartbeat.age > SILENCE_LIMIT) {
        let role_binding = format!("fleet-rolebinding-{name}");
        // A binding that is there and gives the permissions to somebody else isn't missing.
        evidence.push(match fleet.hub.object(rbac, ROLE_BINDING.kind, Some(&namespace), &role_binding) {
            Some(binding) => quote.field(binding, "subjects"),
            None => quote.absent(ROLE_BINDING.kind, Some(&namespace), &role_binding),
        });
        RuleCode::KF_MC_002
    } else if member.deleted_at().is_some() && heartbeat.age > LEAVING_SILENCE_LIMIT {
        evidence.extend([quote.deletion(member), quote.field(member, "metadata.finalizers")]);
        RuleCode::KF_MC_006
    } else if heartbeat.age > SILENCE_LIMIT && Unhealthy::of(fleet, member).is_none() {
        RuleCode::KF_MC_001
    } else {
        return None;
    };
    evidence.extend(waiting_works(fleet, name));
    let period = period_seconds(member);
    let names = json!({
        "member": name,
        "namespace": namespace,
        "terminating": terminating,
        "account": account_name,
        "account_namespace": account_namespace,
        "seconds": heartbeat.age.as_secs(),
        "period": period,
        "other_period": if period < 600 { period + 1 } else { period - 1 },
        "held": held_works(fleet, name).map(kubectl::reference).collect::<Vec<_>>(),
    });
    let draft = FindingDraft::new(code, subject(fleet, member, None, None), &names, evidence);
    // The member's rights are deleted with its namespace, which explains the missing heartbeat.
    Some(
        draft
            .common_cause("no heartbeats")
            .affects(AffectedPart::Member(name.to_owned()))
            .depends_on(AffectedPart::HubWrites)
            .depends_on(AffectedPart::MemberNamespace(name.to_owned())),
    )
}

/// KF-MC-005: no agent has ever answered for the member.
fn never_joined(fleet: FleetView<'_>, member: Object<'_>) -> Option<FindingDraft> {
    let joined = member.condition("Joined");
    if joined.as_ref().is_some_and(|c| c.status == "True") || !member.list("/status/agentStatus").is_empty() {
        return None;
    }
    let age = fleet.age(member.created_at()?);
    // A hub-agent that works creates the namespace and its objects within a second.
    let ready = member.condition("ReadyToJoin").filter(|c| c.status == "True")?;
    if age < JOIN_LIMIT {
        return None;
    }
    let quote = fleet.quote();
    let name = member.name();
    let created = quote.field(member, "metadata.creationTimestamp");
    let mut evidence = vec![created, quote.condition(member, &ready)];
    evidence.push(match &joined {
        Some(joined) => quote.condition(member, joined),
        None => quote.text(member, "status.conditions[Joined]", "(absent)".to_owned(), None),
    });
    evidence.push(quote.text(member, "status.agentStatus", "(absent)".to_owned(), None));
    evidence.push(quote.field(member, "spec.identity"));
    let account = member.at("/spec/identity").unwrap_or(JsonRef::NULL);
    let names = json!({
        "member": name,
        "namespace": member_namespace(name),
        "leaving": member.deleted_at().is_some(),
        "minutes": age.as_mins(),
        "identity_kind": text_field(account, "kind"),
        "identity": text_field(account, "name"),
    });
    let draft = FindingDraft::new(RuleCode::KF_MC_005, subject(fleet, member, None, None), &names, evidence);
    Some(draft.common_cause("never joined").affects(AffectedPart::Member(name.to_owned())))
}

/// Returns evidence of Works that no agent has applied yet.
fn waiting_works(fleet: FleetView<'_>, member: &str) -> Vec<Evidence> {
    let works = fleet.works(member);
    let waiting = works.iter().filter(|w| w.deleted_at().is_none() && w.current_condition("Applied").is_none());
    let quote = fleet.quote();
    waiting.map(|work| quote_unapplied(quote, *work)).collect()
}

/// Quotes the absence of a Work's Applied condition, or the older generation that it is of.
fn quote_unapplied(quote: EvidenceSource<'_>, work: Object<'_>) -> Evidence {
    match work.condition("Applied") {
        None => quote.text(work, "status.conditions[Applied]", "(absent)".to_owned(), None),
        Some(old) => {
            let value = format!("{} (generation: {})", old.observed_generation, work.generation());
            quote.text(work, "status.conditions[Applied].observedGeneration", value, None)
        }
    }
}

/// KF-MC-007: the member's agent has agreed, and somebody's object holds the member's namespace, which the hub-agent deletes then.
fn held_namespace(fleet: FleetView<'_>, member: Object<'_>) -> Option<FindingDraft> {
    let namespace = fleet.member_namespace(member.name())?;
    if fleet.age(namespace.deleted_at()?) < outcome::DELETION_LIMIT {
        return None;
    }
    let holders = holders_of_others(fleet, namespace);
    if holders.is_empty() {
        return None;
    }
    let quote = fleet.quote();
    let mut evidence = vec![quote.deletion(member), quote.field(member, "metadata.finalizers")];
    evidence.extend(holding_evidence(quote, namespace));
    evidence.extend(holders.iter().flat_map(|holder| holding_evidence(quote, *holder)));
    let names = json!({
        "member": member.name(),
        "namespace": namespace.name(),
        "holders": deletion::holders(&holders),
        "holder_refs": references(&holders),
    });
    let draft = FindingDraft::new(RuleCode::KF_MC_007, subject(fleet, member, None, None), &names, evidence);
    Some(draft.affects(AffectedPart::Member(member.name().to_owned())))
}

/// Returns the objects in a member's namespace that finalizers hold which aren't `KubeFleet`'s.
fn holders_of_others<'a>(fleet: FleetView<'a>, namespace: Object<'a>) -> Vec<Object<'a>> {
    foreign_holders(fleet, namespace.name()).into_iter().filter(|holder| is_held_by_others(*holder)).collect()
}

/// Returns the Works for a member that have finalizers.
fn held_works<'a>(fleet: FleetView<'a>, member: &str) -> impl Iterator<Item = Object<'a>> {
    let works = fleet.works(member).iter().copied();
    works.filter(|work| !work.list("/metadata/finalizers").is_empty())
}

/// KF-MC-004: the member can't leave, because its namespace was being deleted before the member was.
fn leaving_deadlock(fleet: FleetView<'_>, member: Object<'_>) -> Option<FindingDraft> {
    let leaving = member.deleted_at()?;
    let namespace = fleet.member_namespace(member.name())?;
    let terminating = namespace.deleted_at().filter(|t| *t <= leaving)?;
    let held: Vec<_> = held_works(fleet, member.name()).collect();
    // The hub-agent may have deleted it in the same second, as it should.
    let limit = if held.is_empty() { EMPTY_NAMESPACE_LIMIT } else { LEAVE_LIMIT };
    if fleet.now().duration_since(leaving) < limit && terminating == leaving {
        return None;
    }
    // Another rule tells of it, later.
    let has_other_cause =
        || deletion::discovery_failure(namespace).is_some() || !holders_of_others(fleet, namespace).is_empty();
    if held.is_empty() && has_other_cause() {
        return None;
    }
    let quote = fleet.quote();
    let mut evidence =
        vec![quote.deletion(member), quote.field(member, "metadata.finalizers"), quote.deletion(namespace)];
    evidence.extend(held.iter().map(|work| quote.field(*work, "metadata.finalizers")));
    let names = json!({
        "member": member.name(),
        "namespace": namespace.name(),
        "held": held.iter().map(|work| kubectl::reference(*work)).collect::<Vec<_>>(),
    });
    let draft = FindingDraft::new(RuleCode::KF_MC_004, subject(fleet, member, None, None), &names, evidence);
    Some(draft.depends_on(AffectedPart::MemberNamespace(member.name().to_owned())))
}
