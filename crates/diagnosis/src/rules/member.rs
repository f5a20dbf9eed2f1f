//! Members that have fallen silent, and what that does to placements.

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::availability::PATIENCE;
use super::draft::{Draft, Topic};
use super::fleet::{CLUSTER, Fleet, member_namespace, subject};
use super::kubectl;
use crate::{Evidence, Object};

/// The heartbeat's period where the `MemberCluster` doesn't say, in seconds.
const PERIOD: i64 = 60;
/// How long an agent may be silent that seems to have all that it needs. On a busy machine, heartbeats with a period of
/// 15 s have been seen almost a minute late (v0.1.2); the hub itself counts a member as lost after 5 min.
const SILENT: SignedDuration = SignedDuration::from_secs(120);
/// For how long a member may take to leave.
const LEAVING: SignedDuration = SignedDuration::from_secs(30);

pub(super) fn rule(fleet: Fleet<'_>) -> Vec<Draft> {
    let mut drafts = Vec::new();
    for member in fleet.hub.of_kind(CLUSTER, "MemberCluster") {
        drafts.extend(if member.deleted_at().is_some() { deadlock(fleet, member) } else { silent(fleet, member) });
    }
    for placement in fleet.placements() {
        for on in placement.clusters() {
            let applying = on.condition("Applied").filter(|c| c.status != "True" && c.reason == "ApplyInProgress");
            let Some(applying) = applying.filter(|_| on.failed().is_empty()) else { continue };
            let lost = fleet.hub.object(CLUSTER, "MemberCluster", None, on.member).and_then(|m| overdue(fleet, m));
            let works = placement.works(fleet, on.member);
            let mut waiting = works.iter().filter(|w| w.current_condition("Applied").is_none()).peekable();
            let since = applying.last_transition_time;
            let long = since.is_some_and(|s| fleet.now().duration_since(s) > PATIENCE) && waiting.peek().is_some();
            if lost.is_none() && !long {
                continue;
            }
            let quote = fleet.quote();
            let mut evidence = vec![quote.condition_in(placement.object, &on.path(), &applying)];
            let absent = |w: &Object<'_>| quote.text(*w, "status.conditions[Applied]", "(absent)".to_owned(), None);
            evidence.extend(waiting.map(absent));
            let names = json!({"placement": placement.full_name(), "member": on.member});
            let draft = Draft::new("KF-AP-001", placement.subject(fleet, Some(on.member)), &names, evidence);
            let draft = draft.about(placement.on(on.member)).follows(Topic::Member(on.member.to_owned()));
            drafts.push(draft.follows(Topic::MemberNamespace(on.member.to_owned())));
        }
    }
    drafts
}

/// The last heartbeat of a joined member, when it is more than three periods old. The `MemberCluster`'s conditions stay
/// as they are whatever happens to the agent (v0.1.2), so the heartbeat is all there is.
fn overdue(fleet: Fleet<'_>, member: Object<'_>) -> Option<(usize, Timestamp)> {
    member.condition("Joined").filter(|c| c.status == "True")?;
    let last = |agent: &Value| agent.get("lastReceivedHeartbeat")?.as_str()?.parse::<Timestamp>().ok();
    let agents = member.list("/status/agentStatus");
    let is_member_agent = |a: &Value| a.get("type").and_then(Value::as_str) == Some("MemberAgent");
    let (index, agent) = agents.iter().enumerate().find(|(_, a)| is_member_agent(a))?;
    let period = member.at("/spec/heartbeatPeriodSeconds").and_then(Value::as_i64).unwrap_or(PERIOD);
    let last = last(agent)?;
    (fleet.now().duration_since(last) > SignedDuration::from_secs(3 * period)).then_some((index, last))
}

/// KF-MC-001 to 003: no heartbeat, because of missing rights, a missing identity, or the agent itself.
fn silent(fleet: Fleet<'_>, member: Object<'_>) -> Option<Draft> {
    let (_, last) = overdue(fleet, member)?;
    let quote = fleet.quote();
    let name = member.name();
    let namespace = member_namespace(name);
    let terminating = fleet.member_namespace(name).is_some_and(|n| n.deleted_at().is_some());
    let text = |pointer: &str| member.str(pointer).unwrap_or_default();
    let account = Object::new(member.at("/spec/identity").unwrap_or(&Value::Null));
    let (account_kind, account_name) = (account.kind(), text("/spec/identity/name"));
    let account_namespace = text("/spec/identity/namespace");

    let mut evidence =
        vec![quote.text(member, "status.agentStatus[MemberAgent].lastReceivedHeartbeat", last.to_string(), Some(last))];
    evidence.push(quote.field(member, "spec.heartbeatPeriodSeconds"));
    evidence.extend(member.condition("Joined").map(|c| quote.condition(member, &c)));

    let rbac = "rbac.authorization.k8s.io";
    // What was never read isn't missing.
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
        "KF-MC-003"
    } else if roles_read && !bound {
        let role_binding = format!("fleet-rolebinding-{name}");
        evidence.push(quote.absent("RoleBinding", Some(&namespace), &role_binding));
        "KF-MC-002"
    } else if fleet.now().duration_since(last) > SILENT {
        "KF-MC-001"
    } else {
        return None;
    };
    evidence.extend(waiting_works(fleet, name));
    let period = member.at("/spec/heartbeatPeriodSeconds").and_then(Value::as_i64).unwrap_or(PERIOD);
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
    let draft = Draft::new(code, subject(fleet, member, None, None), &names, evidence);
    // With its namespace the member loses its rights: that explains the silence.
    Some(draft.about(Topic::Member(name.to_owned())).follows(Topic::MemberNamespace(name.to_owned())))
}

/// Works that nobody has picked up.
fn waiting_works(fleet: Fleet<'_>, member: &str) -> Vec<Evidence> {
    let works = fleet.works(member);
    let waiting = works.iter().filter(|w| w.deleted_at().is_none() && w.current_condition("Applied").is_none());
    let quote = fleet.quote();
    waiting.map(|w| quote.text(*w, "status.conditions[Applied]", "(absent)".to_owned(), None)).collect()
}

/// KF-MC-004: the member can't leave, because its namespace was being deleted before it was told to.
fn deadlock(fleet: Fleet<'_>, member: Object<'_>) -> Option<Draft> {
    let leaving = member.deleted_at()?;
    let namespace = fleet.member_namespace(member.name())?;
    let terminating = namespace.deleted_at().filter(|t| *t <= leaving)?;
    if fleet.now().duration_since(leaving) < LEAVING && terminating == leaving {
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
    let draft = Draft::new("KF-MC-004", subject(fleet, member, None, None), &names, evidence);
    Some(draft.follows(Topic::MemberNamespace(member.name().to_owned())))
}
