//! Update runs that can't be initialized: Initialized is False.

use std::sync::LazyLock;

use record::ObjectPath;
use regex::{Captures, Regex};
use serde_json::json;

use super::code::RuleCode;
use super::draft::{AffectedPart, FindingDraft};
use super::fleet::{FleetView, UpdateRunView};
use super::matching::selects;
use super::pattern::{group, pattern_of_any_case};
use super::superseded::successor;
use super::{evidence_source::EvidenceSource, kubectl};
use crate::kubefleet::{CLUSTER_GROUP, PARENT_PLACEMENT, PLACEMENT_GROUP, RESOURCE_INDEX};
use crate::{Condition, Evidence, JsonList, JsonRef, Object};

pub(super) fn rule(fleet: FleetView<'_>) -> Vec<FindingDraft> {
    let mut drafts = Vec::new();
    for run in fleet.runs() {
        let failed = run.condition("Initialized").filter(|c| c.status == "False");
        let draft = failed.map(|failed| initialization_failure(fleet, run, &failed));
        drafts.extend(draft.map(|draft| match successor(fleet, run) {
            Some(successor) => draft.superseded_by(successor),
            None => draft,
        }));
    }
    drafts
}

/// Check that the controller makes before it initializes a run. The controller stops at the first failed check and
/// names only that one.
struct InitializationCheck {
    code: RuleCode,
    /// Pattern of the controller's message, in the words of all versions. Its groups `stage`, `member` and `label` are
    /// read.
    pattern: Regex,
    /// True if the objects show that the check fails. Used for messages that no pattern matches.
    shows_in_objects: fn(FleetView<'_>, UpdateRunView<'_>) -> bool,
    evidence: fn(FleetView<'_>, UpdateRunView<'_>, &MessageNames) -> Vec<Evidence>,
}

/// Names that only the controller's message has.
#[derive(Default)]
struct MessageNames {
    stage: String,
    member: String,
    label: String,
}

fn check(
    code: RuleCode,
    pattern: &str,
    shows_in_objects: fn(FleetView<'_>, UpdateRunView<'_>) -> bool,
    evidence: fn(FleetView<'_>, UpdateRunView<'_>, &MessageNames) -> Vec<Evidence>,
) -> InitializationCheck {
    InitializationCheck { code, pattern: pattern_of_any_case(pattern), shows_in_objects, evidence }
}

/// Checks in the controller's order.
static CHECKS: LazyLock<Vec<InitializationCheck>> = LazyLock::new(|| {
    vec![
        check(RuleCode::KF_UR_010, "parent .*placement not found", |f, r| r.placement(f).is_none(), placement),
        check(
            RuleCode::KF_UR_011,
            "does not have an external rollout strategy",
            |f, r| r.placement(f).is_some_and(|p| !p.is_external()),
            |f, r, _| from_placement(f, r, &["spec.strategy.type"]),
        ),
        check(
            RuleCode::KF_UR_012,
            "not fully scheduled|no latest policy snapshot|more than one .*latest policy snapshot",
            unscheduled,
            scheduling,
        ),
        check(
            RuleCode::KF_UR_013,
            "no scheduled or to-be-deleted .*bindings",
            |f, r| r.placement(f).is_some_and(|p| p.clusters().next().is_none()),
            scheduling,
        ),
        check(RuleCode::KF_UR_014, "strategy not found", |f, r| r.strategy(f).is_none(), strategy),
        check(
            RuleCode::KF_UR_016,
            "stage: (?<stage>[a-z0-9]+).*wait (duration|time)",
            |f, r| wait_time(f, r).is_some(),
            tasks,
        ),
        check(
            RuleCode::KF_UR_015,
            "stage tasks are invalid.*stage: (?<stage>[a-z0-9]+)|tasks? of the same type",
            |f, r| repeated_task(f, r).is_some(),
            tasks,
        ),
        check(RuleCode::KF_UR_017, "label selector is invalid.*stage: (?<stage>[a-z0-9]+)", |_, _| false, selector),
        check(
            RuleCode::KF_UR_018,
            "cluster `?(?<member>[a-z0-9.-]+)`? appears in more than one",
            |f, r| !StageAssignment::new(f, r).matched_twice.is_empty(),
            assignment_evidence,
        ),
        check(
            RuleCode::KF_UR_019,
            "sorting label `?(?<label>[^:`]*):[^`]*`? on cluster `?(?<member>[a-z0-9.-]+)",
            |_, _| false,
            sorting,
        ),
        check(
            RuleCode::KF_UR_020,
            "not placed in any stage",
            |f, r| !StageAssignment::new(f, r).unmatched.is_empty(),
            assignment_evidence,
        ),
        check(
            RuleCode::KF_UR_021,
            "invalid resource ?snapshot index",
            |_, r| r.requested_index().is_some_and(|i| i.parse::<u64>().is_err()),
            |f, r, _| vec![f.quote().field(r.object, "spec.resourceSnapshotIndex")],
        ),
        check(
            RuleCode::KF_UR_001,
            "no (cluster)?resource ?snapshots? with index",
            // The controller compares the label as text: `00` matches no snapshot although index 0 exists.
            |f, r| r.requested_index().is_some_and(|i| !r.indices(f).contains(&i)),
            indices,
        ),
    ]
});

fn initialization_failure(fleet: FleetView<'_>, run: UpdateRunView<'_>, failed: &Condition) -> FindingDraft {
    let by_message = CHECKS.iter().find_map(|c| Some((c, message_names(&c.pattern.captures(&failed.message)?))));
    let check = by_message
        .or_else(|| Some((CHECKS.iter().find(|c| (c.shows_in_objects)(fleet, run))?, MessageNames::default())));
    let mut evidence = vec![fleet.quote().condition(run.object, failed)];
    let (code, message) = match check {
        Some((check, message)) => {
            evidence.extend((check.evidence)(fleet, run, &message));
            (check.code, message)
        }
        None => (RuleCode::KF_UR_029, MessageNames::default()),
    };
    let indices = run.indices(fleet);
    let latest = indices.last().copied().unwrap_or_default();
    let assignment = StageAssignment::new(fleet, run);
    let names = json!({
        "run": run.object.name(),
        "run_ref": run.reference(),
        "message": failed.message,
        "placement": run.placement_name(),
        "placement_ref": kubectl::placement_reference(
            run.scope.placement(), run.object.namespace(), run.placement_name()
        ),
        "rollout": run.placement(fleet).map(super::fleet::PlacementView::rollout).unwrap_or_default(),
        "scheduled": run.placement(fleet).and_then(|p| p.condition("Scheduled")).is_some_and(|c| c.status == "True"),
        "chosen": run.placement(fleet).is_some_and(|p| p.clusters().next().is_some()),
        "strategy": run.strategy_name(),
        "strategy_ref": kubectl::reference_by_name(
            PLACEMENT_GROUP, run.scope.strategy(), run.object.namespace(), run.strategy_name()
        ),
        "was_there": strategy_was_there(fleet, run),
        "stage": message.stage,
        "member": if message.member.is_empty() { joined_names(&assignment.matched_twice) } else { message.member },
        "label": message.label,
        "nowhere": joined_names(&assignment.unmatched),
        "asked": run.requested_index().unwrap_or_default(),
        "indices": indices,
        "latest": latest,
        "again": kubectl::rerun_command(fleet, run, None),
        "again_latest": kubectl::rerun_command(fleet, run, Some(latest)),
    });
    let draft = FindingDraft::new(code, run.subject(fleet, None, None), &names, evidence);
    match code {
        RuleCode::KF_UR_012 | RuleCode::KF_UR_013 => draft.depends_on(AffectedPart::Placement {
            namespace: run.object.namespace().map(str::to_owned),
            name: run.placement_name().to_owned(),
        }),
        _ => draft,
    }
}

fn joined_names(objects: &[Object<'_>]) -> String {
    objects.iter().map(Object::name).collect::<Vec<_>>().join(", ")
}

fn message_names(captures: &Captures<'_>) -> MessageNames {
    MessageNames {
        stage: group(captures, "stage").to_owned(),
        member: group(captures, "member").to_owned(),
        label: group(captures, "label").to_owned(),
    }
}

/// Assignment of a placement's chosen members to a run's stages, by the members' present labels.
pub(super) struct StageAssignment<'a> {
    /// Members that the placement has chosen.
    pub members: Vec<Object<'a>>,
    /// Chosen members that match no stage.
    pub unmatched: Vec<Object<'a>>,
    /// Chosen members that match more than one stage.
    pub matched_twice: Vec<Object<'a>>,
}

impl<'a> StageAssignment<'a> {
    /// Assigns members by the stages in the run's status, or else by the stages of the strategy that the run names.
    pub fn new(fleet: FleetView<'a>, run: UpdateRunView<'a>) -> Self {
        let stages = run.stage_specs(fleet);
        let members: Vec<_> = fleet
            .hub
            .of_kind(CLUSTER_GROUP, "MemberCluster")
            .filter(|m| run.binding(fleet, m.name()).is_some_and(|b| b.deleted_at().is_none()))
            .collect();
        let known = !stages.is_empty();
        let unmatched = members.iter().filter(|m| known && count_matches(stages, **m) == 0).copied().collect();
        let matched_twice = members.iter().filter(|m| count_matches(stages, **m) > 1).copied().collect();
        Self { members, unmatched, matched_twice }
    }
}

/// Returns the number of stages that select a member.
fn count_matches(stages: JsonList<'_>, member: Object<'_>) -> usize {
    stages.iter().filter(|stage| selects(stage.get("labelSelector"), member)).count()
}

fn from_placement(fleet: FleetView<'_>, run: UpdateRunView<'_>, paths: &[&str]) -> Vec<Evidence> {
    let placement = run.placement(fleet);
    placement.iter().flat_map(|p| paths.iter().map(|path| fleet.quote().field(p.object, path))).collect()
}

fn placement(fleet: FleetView<'_>, run: UpdateRunView<'_>, _: &MessageNames) -> Vec<Evidence> {
    let quote = fleet.quote();
    let mut evidence = vec![quote.field(run.object, "spec.placementName")];
    if run.placement(fleet).is_none() {
        evidence.push(quote.absent(run.scope.placement(), run.object.namespace(), run.placement_name()));
    }
    evidence
}

fn unscheduled(fleet: FleetView<'_>, run: UpdateRunView<'_>) -> bool {
    let snapshot = run.policy_snapshot(fleet).and_then(|s| s.current_condition("Scheduled"));
    let placement = run.placement(fleet).and_then(|p| p.condition("Scheduled"));
    snapshot.or(placement).is_some_and(|c| c.status != "True")
}

fn scheduling(fleet: FleetView<'_>, run: UpdateRunView<'_>, _: &MessageNames) -> Vec<Evidence> {
    let quote = fleet.quote();
    let mut evidence = from_placement(fleet, run, &["spec.policy"]);
    if let Some(placement) = run.placement(fleet) {
        evidence.extend(placement.condition("Scheduled").map(|c| quote.condition(placement.object, &c)));
    }
    if let Some(snapshot) = run.policy_snapshot(fleet) {
        evidence.extend(snapshot.current_condition("Scheduled").map(|c| quote.condition(snapshot, &c)));
    }
    evidence
}

fn strategy(fleet: FleetView<'_>, run: UpdateRunView<'_>, _: &MessageNames) -> Vec<Evidence> {
    let quote = fleet.quote();
    let mut evidence = vec![quote.field(run.object, "spec.stagedRolloutStrategyName")];
    match run.strategy(fleet) {
        Some(strategy) => {
            evidence.push(quote.field(strategy, CREATED));
            evidence.push(quote.field(run.object, CREATED));
        }
        None => evidence.push(quote.absent(run.scope.strategy(), run.object.namespace(), run.strategy_name())),
    }
    evidence
}

const CREATED: &str = "metadata.creationTimestamp";

/// True if the strategy isn't younger than the run that doesn't find it. Creation times have whole seconds.
fn strategy_was_there(fleet: FleetView<'_>, run: UpdateRunView<'_>) -> bool {
    let strategy = run.strategy(fleet).and_then(|strategy| strategy.created_at());
    strategy.zip(run.object.created_at()).is_some_and(|(strategy, run)| strategy <= run)
}

/// Returns evidence of a field of one stage of the strategy.
fn stage_field(quote: EvidenceSource<'_>, strategy: Object<'_>, stage: JsonRef<'_>, field: &str) -> Evidence {
    let name = stage.get("name").and_then(JsonRef::as_str).unwrap_or_default();
    let value = stage.get(field).map_or_else(|| "(absent)".to_owned(), |value| value.to_string());
    quote.text(strategy, &format!("spec.stages[{name}].{field}"), value, None)
}

/// Returns evidence of a field of the stage that the message names, or of all stages if the message names none.
fn stage_fields(fleet: FleetView<'_>, run: UpdateRunView<'_>, message: &MessageNames, field: &str) -> Vec<Evidence> {
    let Some(strategy) = run.strategy(fleet) else { return Vec::new() };
    let stages = strategy.list("/spec/stages").iter();
    let named =
        stages.filter(|s| message.stage.is_empty() || s.get("name").and_then(JsonRef::as_str) == Some(&message.stage));
    named.map(|s| stage_field(fleet.quote(), strategy, s, field)).collect()
}

fn tasks(fleet: FleetView<'_>, run: UpdateRunView<'_>, message: &MessageNames) -> Vec<Evidence> {
    stage_fields(fleet, run, message, "afterStageTasks")
}

fn selector(fleet: FleetView<'_>, run: UpdateRunView<'_>, message: &MessageNames) -> Vec<Evidence> {
    stage_fields(fleet, run, message, "labelSelector")
}

fn sorting(fleet: FleetView<'_>, run: UpdateRunView<'_>, message: &MessageNames) -> Vec<Evidence> {
    let mut evidence = stage_fields(fleet, run, message, "sortingLabelKey");
    let member = fleet.hub.object(CLUSTER_GROUP, "MemberCluster", None, &message.member);
    evidence.extend(member.map(|m| fleet.quote().field(m, "metadata.labels")));
    evidence
}

fn assignment_evidence(fleet: FleetView<'_>, run: UpdateRunView<'_>, message: &MessageNames) -> Vec<Evidence> {
    let mut evidence = stage_fields(fleet, run, message, "labelSelector");
    let StageAssignment { unmatched, matched_twice, .. } = StageAssignment::new(fleet, run);
    let named = fleet.hub.object(CLUSTER_GROUP, "MemberCluster", None, &message.member);
    let at_fault = named.map_or_else(|| [unmatched, matched_twice].concat(), |m| vec![m]);
    evidence.extend(at_fault.iter().map(|m| fleet.quote().field(*m, "metadata.labels")));
    evidence
}

fn indices(fleet: FleetView<'_>, run: UpdateRunView<'_>, _: &MessageNames) -> Vec<Evidence> {
    let quote = fleet.quote();
    let indices = run.indices(fleet);
    let listed = Evidence {
        object: ObjectPath::new(run.scope.resource_snapshot(), None, ""),
        path: format!("metadata.labels[{RESOURCE_INDEX}] where {PARENT_PLACEMENT}={}", run.placement_name()),
        value: if indices.is_empty() { "(none)".to_owned() } else { indices.join(", ") },
        ..quote.field(run.object, "spec.placementName")
    };
    vec![quote.field(run.object, "spec.resourceSnapshotIndex"), listed]
}

/// Returns the type of a task that a stage has twice.
fn repeated_task(fleet: FleetView<'_>, run: UpdateRunView<'_>) -> Option<String> {
    run.strategy(fleet)?.list("/spec/stages").iter().find_map(|stage| {
        let tasks = stage.get("afterStageTasks")?.as_array()?;
        let types: Vec<_> = tasks.iter().filter_map(|t| t.get("type")?.as_str()).collect();
        let repeated = types.iter().enumerate().find(|(i, t)| types[..*i].contains(t))?;
        Some((*repeated.1).to_owned())
    })
}

/// Returns the first wait time that is negative or zero.
fn wait_time<'a>(fleet: FleetView<'a>, run: UpdateRunView<'a>) -> Option<&'a str> {
    run.strategy(fleet)?.list("/spec/stages").iter().find_map(|stage| {
        let tasks = stage.get("afterStageTasks")?.as_array()?;
        let waits = tasks.iter().filter(|t| t.get("type").and_then(JsonRef::as_str) == Some("TimedWait"));
        waits.filter_map(|t| t.get("waitTime")?.as_str()).find(|w| w.starts_with('-') || is_zero(w))
    })
}

/// True if a duration is zero, e.g. `0s` or `0h0m`.
fn is_zero(duration: &str) -> bool {
    !duration.contains(|c: char| c.is_ascii_digit() && c != '0')
}
