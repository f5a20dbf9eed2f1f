//! Members without a heartbeat or stuck in leaving, and placements that wait for a silent member.

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::availability::PATIENCE;
use super::code::RuleCode;
use super::draft::{AffectedPart, FindingDraft};
use super::evidence_source::EvidenceSource;
use super::fleet::{FleetView, subject};
use super::kubectl;
use crate::kubefleet::{CLUSTER_GROUP, member_namespace};
use crate::object::text_field;
use crate::{Evidence, Object};

/// Heartbeat period in seconds, for a `MemberCluster` that sets none.
const DEFAULT_PERIOD_SECONDS: i64 = 60;
/// Time without a heartbeat after which an agent counts as silent although it seems to have all that it needs. On a
/// busy machine, heartbeats with a period of 15 s have been seen almost a minute late (v0.1.2). The hub itself counts a
/// member as lost after 5 min.
const SILENCE_LIMIT: SignedDuration = SignedDuration::from_secs(120);
/// Time that a member may take to leave.
const LEAVE_LIMIT: SignedDuration = SignedDuration::from_secs(30);

pub(super) fn rule(fleet: FleetView<'_>) -> Vec<FindingDraft> {
    let mut drafts = Vec::new();
    for member in fleet.hub.of_kind(CLUSTER_GROUP, "MemberCluster") {
        drafts.extend(if member.deleted_at().is_some() {
            leaving_deadlock(fleet, member)
        } else {
            silent_member(fleet, member)
        });
    }
    for placement in fleet.placements() {
        for status in placement.clusters() {
            let applying = status.condition("Applied").filter(|c| c.status != "True" && c.reason == "ApplyInProgress");
            let Some(applying) = applying.filter(|_| status.failed().is_empty()) else { continue };
            let lost = fleet
                .hub
                .object(CLUSTER_GROUP, "MemberCluster", None, status.member)
                .and_then(|m| overdue_heartbeat(fleet, m));
            let works = placement.works(fleet, status.member);
            let mut waiting = works.iter().filter(|w| w.current_condition("Applied").is_none()).peekable();
            let since = applying.last_transition_time;
            let long = since.is_some_and(|s| fleet.now().duration_since(s) > PATIENCE) && waiting.peek().is_some();
            if lost.is_none() && !long {
                continue;
            }
            let quote = fleet.quote();
            let mut evidence = vec![quote.condition_in(placement.object, status.place(), &applying)];
            evidence.extend(waiting.map(|work| quote_unapplied(quote, *work)));
            let names = json!({"placement": placement.full_name(), "member": status.member});
            let draft =
                FindingDraft::new(RuleCode::KF_AP_001, placement.subject(fleet, Some(status.member)), &names, evidence);
            let draft = draft
                .affects(placement.part_on(status.member))
                .depends_on(AffectedPart::Member(status.member.to_owned()));
            drafts.push(draft.depends_on(AffectedPart::MemberNamespace(status.member.to_owned())));
        }
    }
    drafts
}

/// Returns the index of the member agent's status and its last heartbeat, if the heartbeat of a joined member is more
/// than three periods old. The `MemberCluster`'s conditions don't change when the agent stops (v0.1.2), so only the
/// heartbeat shows it.
fn overdue_heartbeat(fleet: FleetView<'_>, member: Object<'_>) -> Option<(usize, Timestamp)> {
    member.condition("Joined").filter(|c| c.status == "True")?;
    let agents = member.list("/status/agentStatus");
    let (index, agent) = agents.iter().enumerate().find(|(_, agent)| text_field(agent, "type") == "MemberAgent")?;
    let period = member.at("/spec/heartbeatPeriodSeconds").and_then(Value::as_i64).unwrap_or(DEFAULT_PERIOD_SECONDS);
    let last: Timestamp = text_field(agent, "lastReceivedHeartbeat").parse().ok()?;
    (fleet.now().duration_since(last) > SignedDuration::from_secs(3 * period)).then_some((index, last))
}

/// KF-MC-001 to 003: no heartbeat, because of missing rights, a missing identity, or the agent itself.
fn silent_member(fleet: FleetView<'_>, member: Object<'_>) -> Option<FindingDraft> {
    let (_, last) = overdue_heartbeat(fleet, member)?;
    let quote = fleet.quote();
    let name = member.name();
    let namespace = member_namespace(name);
    let terminating = fleet.member_namespace(name).is_some_and(|n| n.deleted_at().is_some());
    let account = member.at("/spec/identity").unwrap_or(&Value::Null);
    let [account_kind, account_namespace, account_name] =
        ["kind", "namespace", "name"].map(|field| text_field(account, field));

    let mut evidence =
        vec![quote.text(member, "status.agentStatus[MemberAgent].lastReceivedHeartbeat", last.to_string(), Some(last))];
    evidence.push(quote.field(member, "spec.heartbeatPeriodSeconds"));
    evidence.extend(member.condition("Joined").map(|c| quote.condition(member, &c)));

    let rbac = "rbac.authorization.k8s.io";
    // An object counts as missing only if objects of its kind could be read.
    let roles_read = ["Role", "RoleBinding"].iter().any(|k| fleet.hub.of_kind(rbac, k).next().is_some());
    let bound = fleet.hub.of_kind(rbac, "RoleBinding").any(|b| {
        b.namespace() == Some(namespace.as_str())
            && b.list("/subjects").iter().any(|s| s.get("name").and_then(Value::as_str) == Some(account_name))
    });
    let accounts_read = fleet.hub.of_kind("", "ServiceAccount").next().is_some();
    let account_gone = account_kind == "ServiceAccount"
        && accounts_read
        && fleet.hub.object("", "ServiceAccount", Some(account_namespace), account_name).is_none();
    let code = if account_gone {
        evidence.push(quote.absent("ServiceAccount", Some(account_namespace), account_name));
        RuleCode::KF_MC_003
    } else if roles_read && !bound {
        let role_binding = format!("fleet-rolebinding-{name}");
        evidence.push(quote.absent("RoleBinding", Some(&namespace), &role_binding));
        RuleCode::KF_MC_002
    } else if fleet.now().duration_since(last) > SILENCE_LIMIT {
        RuleCode::KF_MC_001
    } else {
        return None;
    };
    evidence.extend(waiting_works(fleet, name));
    let period = member.at("/spec/heartbeatPeriodSeconds").and_then(Value::as_i64).unwrap_or(DEFAULT_PERIOD_SECONDS);
    let names = json!({
        "member": name,
        "namespace": namespace,
        "terminating": terminating,
        "account": account_name,
        "account_namespace": account_namespace,
        "seconds": fleet.now().duration_since(last).as_secs(),
        "period": period,
        "other_period": if period < 600 { period + 1 } else { period - 1 },
    });
    let draft = FindingDraft::new(code, subject(fleet, member, None, None), &names, evidence);
    // The member's rights are deleted with its namespace, which explains the missing heartbeat.
    Some(
        draft.affects(AffectedPart::Member(name.to_owned())).depends_on(AffectedPart::MemberNamespace(name.to_owned())),
    )
}

/// Returns evidence of Works that no agent has applied yet.
fn waiting_works(fleet: FleetView<'_>, member: &str) -> Vec<Evidence> {
    let works = fleet.works(member);
    let waiting = works.iter().filter(|w| w.deleted_at().is_none() && w.current_condition("Applied").is_none());
    let quote = fleet.quote();
    waiting.map(|work| quote_unapplied(quote, *work)).collect()
}

/// Quotes the absence of a Work's Applied condition.
fn quote_unapplied(quote: EvidenceSource<'_>, work: Object<'_>) -> Evidence {
    quote.text(work, "status.conditions[Applied]", "(absent)".to_owned(), None)
}

/// KF-MC-004: the member can't leave, because its namespace was being deleted before the member was.
fn leaving_deadlock(fleet: FleetView<'_>, member: Object<'_>) -> Option<FindingDraft> {
    let leaving = member.deleted_at()?;
    let namespace = fleet.member_namespace(member.name())?;
    let terminating = namespace.deleted_at().filter(|t| *t <= leaving)?;
    if fleet.now().duration_since(leaving) < LEAVE_LIMIT && terminating == leaving {
        return None;
    }
    let works = fleet.works(member.name());
    let held: Vec<_> = works.iter().filter(|w| !w.list("/metadata/finalizers").is_empty()).collect();
    let quote = fleet.quote();
    let mut evidence =
        vec![quote.deletion(member), quote.field(member, "metadata.finalizers"), quote.deletion(namespace)];
    evidence.extend(held.iter().map(|w| quote.field(**w, "metadata.finalizers")));
    let names = json!({
        "member": member.name(),
        "namespace": namespace.name(),
        "held": held.iter().map(|w| kubectl::reference(**w)).collect::<Vec<_>>(),
    });
    let draft = FindingDraft::new(RuleCode::KF_MC_004, subject(fleet, member, None, None), &names, evidence);
    Some(draft.depends_on(AffectedPart::MemberNamespace(member.name().to_owned())))
}
