//! Outcome of each placement, update run, eviction, member, Work and application: healthy, in progress, explained by a finding, or
//! not explained.
//!
//! A state that isn't well counts as in progress until it has lasted for longer than is usual. After that a finding
//! explains it, or it becomes the finding KF-XX-001 or AR-XX-001.

mod application;
mod placement;
mod run;

pub(super) use application::ERROR_LIMIT;

use std::collections::{HashMap, HashSet};

use jiff::{SignedDuration, Timestamp};
use record::ObjectPath;
use serde_json::json;

use super::code::RuleCode;
use super::draft::{AffectedPart, FindingDraft};
use super::fleet::{FleetView, subject};
use super::hub_agent::{self, CATCH_UP_LIMIT, IgnoredObject, REACTION_LIMIT};
use super::member::JOIN_LIMIT;
use super::{eviction, kubectl};
use crate::kinds::APPLIED_WORK;
use crate::kubefleet::{CLUSTER_GROUP, MEMBER_NAMESPACE_PREFIX, PLACEMENT_GROUP};
use crate::{Evidence, InProgress, Object, Subject};

/// Time in which a deleted object is usually gone, with everything that it has made.
pub(super) const DELETION_LIMIT: SignedDuration = SignedDuration::from_secs(60);

/// Usual time of a state that lasts as long as another one, which has a limit of its own.
pub(super) const UNLIMITED: SignedDuration = SignedDuration::MAX;

/// Longest interval between two attempts of the member agent (v0.1.2).
const MEMBER_AGENT_INTERVAL: SignedDuration = SignedDuration::from_mins(16);

/// Time in which a member usually leaves. It took 8.5 s with a few Works (v0.1.2).
pub(super) const LEAVE_LIMIT: SignedDuration = SignedDuration::from_secs(120);

/// State of an object, or of a part of one, that isn't well.
pub(super) struct UnwellState<'a> {
    pub object: Object<'a>,
    pub subject: Subject,
    /// Conditions and fields that show the state, the decisive one first.
    pub evidence: Vec<Evidence>,
    /// Time at which the state began, on the hub's clock; `None` if the objects don't tell.
    pub since: Option<Timestamp>,
    /// Time for which the state may last without counting as a failure.
    pub usual: SignedDuration,
    /// Part of the fleet that is in this state. A finding that affects the part explains the state.
    pub part: Option<AffectedPart>,
    /// Parts whose findings have the state as a consequence.
    pub depends_on: Vec<AffectedPart>,
}

impl<'a> UnwellState<'a> {
    /// Creates the state of an object whose deletion hasn't ended; `None` if the object isn't being deleted.
    pub fn deletion(fleet: FleetView<'a>, object: Object<'a>) -> Option<Self> {
        let deleted_at = object.deleted_at()?;
        let quote = fleet.quote();
        Some(Self {
            object,
            subject: subject(fleet, object, None, None),
            evidence: vec![quote.deletion(object), quote.field(object, "metadata.finalizers")],
            since: Some(deleted_at),
            usual: DELETION_LIMIT,
            part: None,
            depends_on: vec![AffectedPart::HubAgent],
        })
    }

    /// Creates the state of an object that no controller has reported on; `None` if one has.
    pub fn ignored(fleet: FleetView<'a>, object: Object<'a>) -> Option<Self> {
        let ignored = IgnoredObject::new(object)?;
        Some(Self {
            object,
            subject: subject(fleet, object, None, None),
            evidence: vec![ignored.evidence(fleet.quote())],
            since: ignored.since,
            usual: REACTION_LIMIT,
            part: None,
            depends_on: vec![AffectedPart::HubAgent],
        })
    }

    /// Returns the time for which the state has lasted.
    fn age(&self, fleet: FleetView<'_>) -> Option<SignedDuration> {
        self.since.map(|since| fleet.age(since))
    }

    /// True if the state may still pass by itself. A state of unknown age counts as young.
    fn is_young(&self, fleet: FleetView<'_>) -> bool {
        self.age(fleet).is_none_or(|age| age <= self.usual)
    }

    fn is_made_by_controller(&self) -> bool {
        ["Work", "ClusterResourceBinding", "ResourceBinding"].contains(&self.object.kind())
    }

    fn in_progress(&self, fleet: FleetView<'_>) -> InProgress {
        InProgress {
            subject: self.subject.clone(),
            waits_for: self.evidence.first().cloned(),
            since: self.since,
            seconds: self.age(fleet).map(|age| age.as_secs().max(0)),
            usual_seconds: (self.usual != UNLIMITED).then(|| self.usual.as_secs()),
        }
    }

    fn unexplained(self, fleet: FleetView<'_>, code: RuleCode) -> FindingDraft {
        let (path, value) = self.evidence.first().map(|e| (e.path.clone(), e.value.clone())).unwrap_or_default();
        let names = json!({
            "object": self.object.path().to_string(),
            "object_ref": kubectl::reference(self.object),
            "member": self.subject.member.as_deref().unwrap_or_default(),
            "path": path,
            "state": value,
            "duration": in_words(self.age(fleet).unwrap_or_default()),
            "usual": in_words(self.usual),
            "is_explained": false,
        });
        let draft = FindingDraft::new(code, self.subject, &names, self.evidence).with_texts_if_explained(&names);
        let draft = self.part.into_iter().fold(draft, FindingDraft::affects);
        self.depends_on.into_iter().fold(draft, FindingDraft::depends_on)
    }
}

/// Formats a duration as `41 s` or `7 min`.
fn in_words(duration: SignedDuration) -> String {
    let seconds = duration.as_secs().max(0);
    if seconds < 120 { format!("{seconds} s") } else { format!("{} min", seconds / 60) }
}

/// What the findings are about, for those that don't need another finding to explain them.
struct Explanations<'a> {
    /// Findings by kind, namespace and name of the subject.
    by_subject: HashMap<(&'a str, Option<&'a str>, &'a str), Vec<&'a Subject>>,
    parts: HashSet<&'a AffectedPart>,
    /// Objects that findings quote.
    quoted: HashSet<&'a ObjectPath>,
}

impl<'a> Explanations<'a> {
    fn new(drafts: &'a [FindingDraft]) -> Self {
        let mut explanations = Self { by_subject: HashMap::new(), parts: HashSet::new(), quoted: HashSet::new() };
        for draft in drafts.iter().filter(|draft| !draft.is_only_consequence()) {
            let subject = &draft.finding.subject;
            let object = (subject.kind.as_str(), subject.namespace.as_deref(), subject.name.as_str());
            explanations.by_subject.entry(object).or_default().push(subject);
            explanations.parts.extend(draft.affected_parts());
            explanations.quoted.extend(draft.finding.evidence.iter().map(|evidence| &evidence.object));
        }
        explanations
    }

    /// True if a finding is about the object, and about the same member where both name one.
    fn explain(&self, state: &UnwellState<'_>) -> bool {
        let own = &state.subject;
        let is_same_member =
            |other: &Subject| own.member.is_none() || other.member.is_none() || own.member == other.member;
        let same_object = self.by_subject.get(&(own.kind.as_str(), own.namespace.as_deref(), own.name.as_str()));
        same_object.is_some_and(|subjects| subjects.iter().any(|subject| is_same_member(subject)))
            || state.part.as_ref().is_some_and(|part| self.parts.contains(part))
            // A finding that quotes the deletion or the absence of a Work or a binding has looked at it.
            || (state.is_made_by_controller() && self.quoted.contains(&state.object.path()))
    }
}

/// Adds a finding for each state that isn't well for longer than is usual and that no draft explains, and returns the
/// states that are still in progress.
pub(super) fn judge(fleet: FleetView<'_>, drafts: &mut Vec<FindingDraft>) -> Vec<InProgress> {
    let explanations = Explanations::new(drafts);
    let catching_up = hub_agent::catching_up(fleet);
    let waits_for_hub_agent = |state: &UnwellState<'_>| {
        let is_within = state.age(fleet).is_none_or(|age| age <= CATCH_UP_LIMIT);
        catching_up.is_some() && is_within && state.depends_on.contains(&AffectedPart::HubAgent)
    };
    let mut in_progress = Vec::new();
    let mut unexplained = Vec::new();
    for (code, state) in states(fleet) {
        if explanations.explain(&state) {
            continue;
        }
        if state.is_young(fleet) || waits_for_hub_agent(&state) {
            in_progress.push(state.in_progress(fleet));
        } else {
            unexplained.push(state.unexplained(fleet, code));
        }
    }
    drafts.extend(unexplained);
    in_progress.extend(catching_up);
    in_progress
}

/// Returns all states that aren't well.
fn states(fleet: FleetView<'_>) -> Vec<(RuleCode, UnwellState<'_>)> {
    let kubefleet = placement::states(fleet)
        .into_iter()
        .chain(run::states(fleet))
        .chain(members(fleet))
        .chain(bindings_and_works(fleet))
        .chain(evictions(fleet))
        .map(|state| (RuleCode::KF_XX_001, state));
    let argocd = application::states(fleet).into_iter().map(|state| (RuleCode::AR_XX_001, state));
    kubefleet.chain(argocd).collect()
}

/// Returns the members whose deletion hasn't ended, or that the hub-agent doesn't report on.
fn members(fleet: FleetView<'_>) -> impl Iterator<Item = UnwellState<'_>> {
    fleet.hub.of_kind(CLUSTER_GROUP, "MemberCluster").filter_map(move |member| {
        let part = AffectedPart::Member(member.name().to_owned());
        let state = match UnwellState::deletion(fleet, member) {
            Some(state) => UnwellState { usual: LEAVE_LIMIT, ..state },
            None => UnwellState::ignored(fleet, member).or_else(|| unhealthy(fleet, member))?,
        };
        let namespace = AffectedPart::MemberNamespace(member.name().to_owned());
        Some(UnwellState { part: Some(part), depends_on: vec![AffectedPart::HubAgent, namespace], ..state })
    })
}

/// Returns the state of a member one of whose conditions isn't True.
fn unhealthy<'a>(fleet: FleetView<'a>, member: Object<'a>) -> Option<UnwellState<'a>> {
    let conditions = ["ReadyToJoin", "Joined", "Healthy"].into_iter().filter_map(|type_| member.condition(type_));
    let condition = conditions.into_iter().find(|condition| condition.status != "True")?;
    Some(UnwellState {
        object: member,
        subject: subject(fleet, member, None, None),
        evidence: vec![fleet.quote().condition(member, &condition)],
        since: condition.last_transition_time,
        usual: JOIN_LIMIT,
        part: None,
        depends_on: Vec::new(),
    })
}

/// Returns the bindings and Works whose deletion hasn't ended.
fn bindings_and_works(fleet: FleetView<'_>) -> impl Iterator<Item = UnwellState<'_>> {
    let objects = fleet.deleted_bindings().into_iter().chain(fleet.deleted_works());
    objects.filter_map(move |object| {
        let state = UnwellState::deletion(fleet, object)?;
        let member = match object.kind() {
            "Work" => object.namespace()?.strip_prefix(MEMBER_NAMESPACE_PREFIX)?,
            _ => object.str("/spec/targetCluster")?,
        };
        let subject = Subject { member: Some(member.to_owned()), ..state.subject };
        let depends_on = vec![
            AffectedPart::HubAgent,
            AffectedPart::Member(member.to_owned()),
            AffectedPart::MemberNamespace(member.to_owned()),
        ];
        let is_released = object.kind() == "Work" && is_gone_from_member(fleet, object, member);
        let usual = if is_released { MEMBER_AGENT_INTERVAL } else { state.usual };
        Some(UnwellState { subject, usual, depends_on, ..state })
    })
}

/// Returns the evictions that the hub-agent hasn't answered, or hasn't carried out.
fn evictions(fleet: FleetView<'_>) -> impl Iterator<Item = UnwellState<'_>> {
    eviction::evictions(fleet).filter_map(move |eviction| {
        if let Some(state) = UnwellState::ignored(fleet, eviction.object) {
            return Some(state);
        }
        let failed = eviction.failed();
        let usual = if failed.is_some() { SignedDuration::ZERO } else { REACTION_LIMIT };
        let condition = failed.or_else(|| eviction.object.condition("Valid")).filter(|_| !eviction.is_executed())?;
        Some(UnwellState {
            object: eviction.object,
            subject: subject(fleet, eviction.object, None, None),
            evidence: vec![fleet.quote().condition(eviction.object, &condition)],
            since: condition.last_transition_time,
            usual,
            part: None,
            depends_on: vec![AffectedPart::HubAgent],
        })
    })
}

/// True if a member was read and has nothing of a Work any more. What held the Work's objects is gone then, and the member agent
/// releases the Work at its next attempt.
fn is_gone_from_member(fleet: FleetView<'_>, work: Object<'_>, member: &str) -> bool {
    let cluster = fleet.snapshot.member(member).filter(|cluster| cluster.is_complete());
    cluster.is_some_and(|cluster| cluster.object(PLACEMENT_GROUP, APPLIED_WORK.kind, None, work.name()).is_none())
}
