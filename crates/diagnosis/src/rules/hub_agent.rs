//! The hub-agent: a process that has stopped, hangs, or has lost its rights, so that no controller of the hub works; and what its webhooks
//! do then.

use jiff::{SignedDuration, Timestamp};
use serde_json::json;

use super::code::RuleCode;
use super::draft::{AffectedPart, FindingDraft};
use super::evidence_source::{EvidenceSource, STATUS_WRITE};
use super::fleet::{FleetView, subject as object_subject};
use super::heartbeat::UncopiedHeartbeat;
use super::kubectl;
use crate::kinds::{CLUSTER_ROLE_BINDING, SERVICE_ACCOUNT, WEBHOOK_CONFIGURATION};
use crate::kubefleet::{CLUSTER_GROUP, VALIDATING_WEBHOOKS};
use crate::object::{list_field, text_field};
use crate::{Evidence, GroupKind, InProgress, JsonRef, Object, Subject};

/// Time in which the hub-agent reacts to a new or changed object. It takes less than a second (v0.1.2); after a restart,
/// some seconds.
pub(super) const REACTION_LIMIT: SignedDuration = SignedDuration::from_secs(30);

/// Time in which a hub-agent that works looks at everything again after its restart.
pub(super) const CATCH_UP_LIMIT: SignedDuration = SignedDuration::from_mins(5);

/// Time in which a hub-agent recovers that has got its rights back: a heartbeat comes once a minute by default.
const RIGHTS_LIMIT: SignedDuration = SignedDuration::from_secs(90);

/// Time that each member adds to the time for which the hub-agent may write nothing.
const SILENCE_PER_MEMBER: SignedDuration = SignedDuration::from_millis(500);

/// Number of objects that a finding quotes.
const MAX_QUOTED: usize = 3;

/// Number of members that a finding names.
const MAX_NAMED: usize = 3;

/// Namespace of the hub-agent.
const SYSTEM: &str = "fleet-system";

/// Name of the hub-agent's Deployment as KubeFleet's chart names it, and the beginning of the name of its `ServiceAccount`.
const NAME: &str = "hub-agent";

/// KF-HA-001 and 003: the hub-agent doesn't copy the heartbeats that members send, and writes nothing else either; KF-HA-002: its webhooks
/// refuse what they can't check then.
pub(super) fn rule(fleet: FleetView<'_>) -> Vec<FindingDraft> {
    let uncopied = overdue_copies(fleet);
    let Some(longest) = uncopied.iter().map(|heartbeat| heartbeat.lag).max() else { return Vec::new() };
    if last_write(fleet).is_some_and(|(_, at)| fleet.age(at) < silence_limit(fleet)) || new_rights(fleet).is_some() {
        return Vec::new();
    }
    let ignored = ignored_objects(fleet);
    let quote = fleet.quote();
    let without_rights = account_without_rights(fleet);
    let mut evidence: Vec<_> = uncopied.iter().take(MAX_QUOTED).flat_map(|h| h.evidence(quote)).collect();
    evidence.extend(ignored.iter().take(MAX_QUOTED).map(|ignored| ignored.evidence(quote)));
    if let Some(account) = without_rights {
        evidence.push(quote.field(account, "metadata.name"));
        let (GroupKind { group, kind }, name) = (CLUSTER_ROLE_BINDING, binding_name(account));
        evidence.push(match fleet.hub.object(group, kind, None, &name) {
            Some(binding) => quote.field(binding, "subjects"),
            None => quote.absent(kind, None, &name),
        });
    }
    let names = json!({
        "seconds": longest.as_secs(),
        "members": named(&uncopied),
        "ignored": ignored.len(),
        "account": without_rights.map(|account| account.name()),
        "binding": without_rights.map(binding_name),
    });
    let code = if without_rights.is_some() { RuleCode::KF_HA_003 } else { RuleCode::KF_HA_001 };
    let draft = FindingDraft::new(code, subject(fleet), &names, evidence);
    let mut drafts = vec![draft.affects(AffectedPart::HubAgent).depends_on(AffectedPart::HubWrites)];
    // A hub-agent without rights still answers as a webhook.
    if without_rights.is_none() {
        drafts.extend(refusing_webhooks(fleet));
    }
    drafts
}

/// Returns the hub-agent's `ServiceAccount` if no `ClusterRoleBinding` names it. `None` if there is no account of such a name, or the
/// bindings couldn't be read.
fn account_without_rights(fleet: FleetView<'_>) -> Option<Object<'_>> {
    let mut accounts = fleet.hub.in_namespace("", SERVICE_ACCOUNT.kind, SYSTEM);
    let account = accounts.find(|account| account.name().starts_with(NAME));
    let is_bound = bindings(fleet).next().is_some();
    account.filter(|_| !is_bound && fleet.hub.could_list(CLUSTER_ROLE_BINDING, "clusterrolebindings"))
}

/// Returns the `ClusterRoleBinding`s that name a `ServiceAccount` of the hub-agent.
fn bindings(fleet: FleetView<'_>) -> impl Iterator<Item = Object<'_>> {
    let is_of_hub_agent = |subject: JsonRef<'_>| {
        text_field(subject, "kind") == SERVICE_ACCOUNT.kind
            && text_field(subject, "namespace") == SYSTEM
            && text_field(subject, "name").starts_with(NAME)
    };
    let all = fleet.hub.of_kind(CLUSTER_ROLE_BINDING.group, CLUSTER_ROLE_BINDING.kind);
    all.filter(move |binding| binding.list("/subjects").iter().any(is_of_hub_agent))
}

/// Returns the `ClusterRoleBinding` that gave the hub-agent its rights a short time ago, with the time. It tries again what was refused
/// before, at the next heartbeat at the latest.
fn new_rights(fleet: FleetView<'_>) -> Option<(Object<'_>, Timestamp)> {
    let created = bindings(fleet).filter_map(|binding| Some((binding, binding.created_at()?)));
    // A hub-agent that has written something since has recovered.
    let is_unused = |at: Timestamp| last_write(fleet).is_none_or(|(_, written_at)| written_at < at);
    created.min_by_key(|(_, at)| *at).filter(|(_, at)| fleet.age(*at) < RIGHTS_LIMIT && is_unused(*at))
}

/// Returns the name of the `ClusterRoleBinding` that KubeFleet's chart makes for an account: `hub-agent-role-binding` for `hub-agent-sa`.
fn binding_name(account: Object<'_>) -> String {
    format!("{}-role-binding", account.name().trim_end_matches("-sa"))
}

/// KF-HA-002: webhooks of the hub-agent that fail closed. Nobody answers them while the hub-agent has stopped or hangs.
fn refusing_webhooks(fleet: FleetView<'_>) -> Option<FindingDraft> {
    let kind = WEBHOOK_CONFIGURATION;
    let configuration = fleet.hub.object(kind.group, kind.kind, None, VALIDATING_WEBHOOKS)?;
    let webhooks = configuration.list("/webhooks").iter();
    let closed: Vec<JsonRef<'_>> = webhooks.filter(|webhook| text_field(*webhook, "failurePolicy") == "Fail").collect();
    let quote = fleet.quote();
    let evidence = closed.iter().map(|webhook| {
        let path = format!("webhooks[{}].failurePolicy", text_field(*webhook, "name"));
        quote.text(configuration, &path, "Fail".to_owned(), configuration.created_at())
    });
    let evidence: Vec<_> = evidence.collect();
    let resources: Vec<&str> = closed.iter().flat_map(|webhook| resources(*webhook)).collect();
    if resources.is_empty() {
        return None;
    }
    let names = json!({
        "webhooks": VALIDATING_WEBHOOKS,
        "webhooks_ref": kubectl::reference(configuration),
        "resources": resources.join(", "),
        "pods": resources.contains(&"pods"),
    });
    let subject = object_subject(fleet, configuration, None, None);
    let draft = FindingDraft::new(RuleCode::KF_HA_002, subject, &names, evidence);
    Some(draft.depends_on(AffectedPart::HubAgent))
}

/// Returns the resources that a webhook is asked about.
fn resources(webhook: JsonRef<'_>) -> Vec<&str> {
    let rules = list_field(webhook, "rules").iter();
    rules.flat_map(|rule| list_field(rule, "resources").iter().filter_map(JsonRef::as_str)).collect()
}

/// Returns the state of a hub-agent that works, but is behind: it hasn't copied heartbeats that are overdue, and has written something else
/// not long ago, or has got its rights not long ago. After a restart, and with hundreds of members, the hub-agent needs minutes to look at everything again (v0.1.2).
pub(super) fn catching_up(fleet: FleetView<'_>) -> Option<InProgress> {
    let lag = overdue_copies(fleet).iter().map(|heartbeat| heartbeat.lag).max()?;
    let written = last_write(fleet).filter(|(_, at)| fleet.age(*at) < silence_limit(fleet));
    let written = written.map(|(object, at)| (object, STATUS_WRITE, at));
    let rights = || new_rights(fleet).map(|(binding, at)| (binding, "metadata.creationTimestamp", at));
    let (object, path, at) = written.or_else(rights)?;
    let time = fleet.quote().text(object, path, at.to_string(), Some(at));
    Some(InProgress {
        subject: subject(fleet),
        waits_for: Some(time),
        since: fleet.now().checked_sub(lag).ok(),
        seconds: Some(lag.as_secs()),
        usual_seconds: Some(CATCH_UP_LIMIT.as_secs()),
    })
}

/// Returns the time for which a hub-agent that works may write nothing. At its start, it lists everything on the hub first: with 202 members
/// and a hub whose API server has a tenth of its processor time, that takes more than 40 s (v0.1.2).
fn silence_limit(fleet: FleetView<'_>) -> SignedDuration {
    let members = fleet.hub.of_kind(CLUSTER_GROUP, "MemberCluster").count();
    let more = SILENCE_PER_MEMBER * i32::try_from(members).unwrap_or(i32::MAX);
    REACTION_LIMIT.saturating_add(more).min(CATCH_UP_LIMIT)
}

/// Returns the object to which the hub-agent has written last, with the time. It alone writes the status of placements, runs and
/// `MemberCluster`s.
fn last_write(fleet: FleetView<'_>) -> Option<(Object<'_>, Timestamp)> {
    let placements = fleet.placements().map(|placement| placement.object);
    let objects = placements.chain(fleet.runs().map(|run| run.object));
    let objects = objects.chain(fleet.hub.of_kind(CLUSTER_GROUP, "MemberCluster"));
    let written = objects.filter_map(|object| Some((object, object.written_at(Some("status"))?)));
    written.max_by_key(|(object, at)| (*at, object.kind(), object.namespace(), object.name()))
}

/// Returns `member-1, member-2, member-3 and 47 more`.
fn named(heartbeats: &[UncopiedHeartbeat<'_>]) -> String {
    let names: Vec<_> = heartbeats.iter().take(MAX_NAMED).map(|heartbeat| heartbeat.member.name()).collect();
    match heartbeats.len() - names.len() {
        0 => names.join(", "),
        more => format!("{} and {more} more", names.join(", ")),
    }
}

/// Returns the heartbeats that the hub-agent should have copied.
fn overdue_copies(fleet: FleetView<'_>) -> Vec<UncopiedHeartbeat<'_>> {
    let members = fleet.hub.of_kind(CLUSTER_GROUP, "MemberCluster").filter(|m| m.deleted_at().is_none());
    let ignored = ignored_objects(fleet);
    // Objects that are ignored for as long show that it isn't the heartbeat which was late.
    let limit = if ignored.is_empty() { REACTION_LIMIT } else { REACTION_LIMIT / 2 };
    let mut members: Vec<_> = members.collect();
    members.sort_by_key(Object::name);
    let uncopied: Vec<_> = members
        .into_iter()
        .filter_map(|member| UncopiedHeartbeat::of(fleet, member))
        .filter(|heartbeat| heartbeat.lag > limit)
        .collect();
    // A heartbeat that was late itself may have arrived a moment ago.
    let has_waited = !ignored.is_empty() || uncopied.iter().any(UncopiedHeartbeat::has_waited);
    if has_waited { uncopied } else { Vec::new() }
}

/// Returns the hub-agent's Deployment as KubeFleet's chart names it.
pub(super) fn subject(fleet: FleetView<'_>) -> Subject {
    Subject {
        cluster: fleet.hub.name.clone(),
        kind: "Deployment".to_owned(),
        namespace: Some(SYSTEM.to_owned()),
        name: NAME.to_owned(),
        stage: None,
        member: None,
    }
}

/// Object whose present generation no controller has reported on.
pub(super) struct IgnoredObject<'a> {
    object: Object<'a>,
    /// Time of the object's last change; `None` if the snapshot doesn't tell.
    pub since: Option<Timestamp>,
}

impl<'a> IgnoredObject<'a> {
    /// Returns the object if none of its conditions is of the present generation.
    pub fn new(object: Object<'a>) -> Option<Self> {
        let conditions = object.conditions();
        let seen = conditions.iter().any(|condition| condition.observed_generation >= object.generation());
        (!seen).then(|| Self { object, since: object.changed_at() })
    }

    /// Quotes the absence of conditions, or the generation that they are of.
    pub fn evidence(&self, quote: EvidenceSource<'_>) -> Evidence {
        let last = self.object.conditions().iter().map(|condition| condition.observed_generation).max();
        match last {
            Some(seen) => quote.older_generation(self.object, "status.conditions[*]", seen, self.since),
            None => quote.text(self.object, "status.conditions", "(absent)".to_owned(), self.since),
        }
    }
}

/// Returns placements and update runs that the hub-agent should have reported on.
fn ignored_objects(fleet: FleetView<'_>) -> Vec<IgnoredObject<'_>> {
    let placements = fleet.placements().map(|placement| placement.object);
    let runs = fleet.runs().map(|run| run.object);
    let mut objects: Vec<_> = placements.chain(runs).collect();
    objects.sort_by_key(|object| (object.kind(), object.namespace(), object.name()));
    objects
        .into_iter()
        .filter_map(IgnoredObject::new)
        .filter(|ignored| ignored.since.is_some_and(|since| fleet.age(since) > REACTION_LIMIT))
        .collect()
}
