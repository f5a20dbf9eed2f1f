//! Update runs that end in failure: Succeeded is False.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::{Value, json};

use super::code::RuleCode;
use super::draft::FindingDraft;
use super::fleet::{FleetView, PlacementView, UpdateRunView};
use super::pattern::pattern_of_any_case;
use super::preemption::PreemptedCluster;
use super::superseded::successor;
use super::{initialization, kubectl};
use crate::apply_strategy::is_default;
use crate::kubefleet::POLICY_INDEX;
use crate::{Condition, Evidence, JsonFields, JsonRef};

pub(super) fn rule(fleet: FleetView<'_>) -> Vec<FindingDraft> {
    let mut drafts = Vec::new();
    for run in fleet.runs() {
        let failed = run.condition("Succeeded").filter(|c| c.status == "False");
        let draft = failed.map(|failed| run_failure(fleet, run, &failed));
        drafts.extend(draft.map(|draft| match successor(fleet, run) {
            Some(successor) => draft.superseded_by(successor),
            None => draft,
        }));
    }
    drafts
}

/// Change of an object during a run that makes the controller fail the run. The controller names only the first change,
/// and so does the finding.
struct RunInputChange {
    code: RuleCode,
    /// Pattern of the controller's message, in the words of all versions.
    pattern: Regex,
    /// True if the message can't stand for the deletion of the placement.
    precedes_deletion: bool,
    /// True if the objects show the change. Used for messages that no pattern matches.
    shows_in_objects: fn(FleetView<'_>, UpdateRunView<'_>) -> bool,
    /// Fields of the placement, the run and the latest policy snapshot that show the change.
    placement: &'static [&'static str],
    run: &'static [&'static str],
    policy: &'static [&'static str],
}

static CHANGES: LazyLock<[RunInputChange; 5]> = LazyLock::new(|| {
    [
        RunInputChange {
            code: RuleCode::KF_UR_034,
            pattern: pattern_of_any_case("does not have an external rollout strategy"),
            precedes_deletion: true,
            shows_in_objects: |fleet, run| run.placement(fleet).is_some_and(|p| !p.is_external()),
            placement: &["spec.strategy.type"],
            run: &[],
            policy: &[],
        },
        RunInputChange {
            code: RuleCode::KF_UR_031,
            pattern: pattern_of_any_case("apply ?strategy .*outdated"),
            precedes_deletion: true,
            shows_in_objects: |fleet, run| {
                let now = run.placement(fleet).and_then(|p| p.object.at("/spec/strategy/applyStrategy"));
                differ_in_common_field(now, run.object.at("/status/appliedStrategy"))
            },
            placement: &["spec.strategy.applyStrategy"],
            run: &["status.appliedStrategy"],
            policy: &[],
        },
        RunInputChange {
            code: RuleCode::KF_UR_030,
            pattern: pattern_of_any_case("policy snapshot index .*outdated"),
            precedes_deletion: true,
            shows_in_objects: |fleet, run| {
                let latest = run.policy_snapshot(fleet).and_then(|s| s.label(POLICY_INDEX));
                let used = run.object.str("/status/policySnapshotIndexUsed").filter(|i| !i.is_empty());
                latest.is_some() && used.is_some() && latest != used
            },
            placement: &["spec.policy"],
            run: &["status.policySnapshotIndexUsed"],
            policy: &[],
        },
        RunInputChange {
            code: RuleCode::KF_UR_032,
            // If the placement asks for more clusters than exist, it isn't scheduled any more, and the message says so
            // instead.
            pattern: pattern_of_any_case(
                "cluster count .*outdated|number of selected bindings .*observed cluster count",
            ),
            precedes_deletion: false,
            shows_in_objects: |fleet, run| {
                let now = run.placement(fleet).and_then(|p| p.object.at("/spec/policy/numberOfClusters")?.as_i64());
                let then = run.object.at("/status/policyObservedClusterCount").and_then(JsonRef::as_i64);
                now.is_some() && then.is_some() && now != then
            },
            placement: &["spec.policy.numberOfClusters"],
            run: &["status.policyObservedClusterCount"],
            policy: &["metadata.annotations"],
        },
        RunInputChange {
            code: RuleCode::KF_UR_033,
            pattern: pattern_of_any_case(
                "(number of (stages|clusters)|cluster in the|stage name) .*changed|not placed in any stage|\
                 appears in more than one|sorting label .*not valid",
            ),
            precedes_deletion: false,
            shows_in_objects: |fleet, run| {
                let assignment = initialization::StageAssignment::new(fleet, run);
                !assignment.unmatched.is_empty() || !assignment.matched_twice.is_empty()
            },
            placement: &[],
            run: &[],
            policy: &[],
        },
    ]
});

fn run_failure(fleet: FleetView<'_>, run: UpdateRunView<'_>, failed: &Condition) -> FindingDraft {
    let at = failed.last_transition_time;
    if let Some(draft) = foreign_request(fleet, run, failed) {
        return draft;
    }
    let placement = fleet.placement_object(run.scope.placement(), run.object.namespace(), run.placement_name());
    // The placement may have been deleted, or made anew, after the run had failed for another reason.
    if let Some(change) = CHANGES.iter().find(|c| c.precedes_deletion && c.pattern.is_match(&failed.message)) {
        return input_change(fleet, run, failed, change);
    }
    // While a placement is being deleted, its snapshots or bindings may be deleted first. The message then names a
    // snapshot or a binding.
    if placement.is_none_or(|p| p.deleted_at().is_some()) || is_newer(placement, failed) {
        return deleted_placement(fleet, run, failed);
    }
    if let Some(change) = CHANGES.iter().find(|c| c.pattern.is_match(&failed.message)) {
        return input_change(fleet, run, failed, change);
    }
    if let Some(preempted) = PreemptedCluster::find(fleet, run, at) {
        return preempted.draft(fleet, run, failed, at);
    }
    if let Some(change) = CHANGES.iter().find(|c| (c.shows_in_objects)(fleet, run)) {
        return input_change(fleet, run, failed, change);
    }
    let evidence = vec![fleet.quote().condition(run.object, failed)];
    let draft = FindingDraft::new(
        RuleCode::KF_UR_039,
        run.subject(fleet, None, None),
        &template_names(fleet, run, failed),
        evidence,
    );
    follows_placement(fleet, run, draft)
}

/// Makes the placement's own finding the root, if the placement asks for more clusters than exist: the placement has to
/// be fixed first.
fn follows_placement(fleet: FleetView<'_>, run: UpdateRunView<'_>, draft: FindingDraft) -> FindingDraft {
    match run.placement(fleet) {
        Some(placement) => draft.depends_on(placement.part()),
        None => draft,
    }
}

/// Returns the names for the templates of this file's codes.
fn template_names(fleet: FleetView<'_>, run: UpdateRunView<'_>, failed: &Condition) -> Value {
    json!({
        "run": run.object.name(),
        "run_ref": run.reference(),
        "placement": run.placement_name(),
        "placement_ref": kubectl::placement_reference(
            run.scope.placement(), run.object.namespace(), run.placement_name()
        ),
        "message": failed.message,
        "again": kubectl::rerun_command(fleet, run, None),
        "unrecorded": is_unrecorded(fleet, run),
    })
}

/// True if a run has no apply strategy recorded, and its placement has none of its own. v0.14.0 records the placement's
/// strategy as it is, v0.1.2 with the defaults filled in.
fn is_unrecorded(fleet: FleetView<'_>, run: UpdateRunView<'_>) -> bool {
    run.object.at("/status/appliedStrategy").is_none_or(JsonRef::is_null)
        && run.placement(fleet).is_some_and(|p| is_default(p.object.at("/spec/strategy/applyStrategy")))
}

/// KF-UR-002: the placement was deleted while the run was executing.
fn deleted_placement(fleet: FleetView<'_>, run: UpdateRunView<'_>, failed: &Condition) -> FindingDraft {
    let quote = fleet.quote();
    let mut evidence = vec![quote.condition(run.object, failed), quote.field(run.object, "spec.placementName")];
    let kind = run.scope.placement();
    evidence.push(match fleet.placement_object(kind, run.object.namespace(), run.placement_name()) {
        Some(placement) if placement.deleted_at().is_some() => quote.deletion(placement),
        Some(placement) => quote.field(placement, "metadata.creationTimestamp"),
        None => quote.absent(kind, run.object.namespace(), run.placement_name()),
    });
    FindingDraft::new(
        RuleCode::KF_UR_002,
        run.subject(fleet, None, None),
        &template_names(fleet, run, failed),
        evidence,
    )
}

/// True if the placement was created after the run had failed: it only has the same name as the run's placement.
fn is_newer(placement: Option<crate::Object<'_>>, failed: &Condition) -> bool {
    let created = placement.and_then(|p| p.created_at());
    created.zip(failed.last_transition_time).is_some_and(|(created, at)| created > at)
}

fn input_change(
    fleet: FleetView<'_>,
    run: UpdateRunView<'_>,
    failed: &Condition,
    change: &RunInputChange,
) -> FindingDraft {
    let quote = fleet.quote();
    let mut evidence = vec![quote.condition(run.object, failed)];
    evidence.extend(change.run.iter().map(|path| quote.field(run.object, path)));
    if let Some(placement) = run.placement(fleet) {
        evidence.extend(change.placement.iter().map(|path| quote.field(placement.object, path)));
    }
    if let Some(policy) = run.policy_snapshot(fleet) {
        if change.code == RuleCode::KF_UR_030 {
            let index = policy.label(POLICY_INDEX).unwrap_or_default().to_owned();
            evidence.push(quote.text(policy, &format!("metadata.labels[{POLICY_INDEX}]"), index, None));
        }
        evidence.extend(change.policy.iter().map(|path| quote.field(policy, path)));
    }
    if change.code == RuleCode::KF_UR_033 {
        evidence.extend(stage_evidence(fleet, run));
    }
    let draft =
        FindingDraft::new(change.code, run.subject(fleet, None, None), &template_names(fleet, run, failed), evidence);
    match change.code {
        RuleCode::KF_UR_032 => follows_placement(fleet, run, draft),
        RuleCode::KF_UR_034 => {
            // On v0.14.0, the hub-agent decides nothing on the placement before its resources change.
            let placement = run.placement(fleet).filter(|placement| !placement.is_external());
            placement.into_iter().flat_map(PlacementView::parts).fold(draft, FindingDraft::affects)
        }
        _ => draft,
    }
}

/// Returns evidence of the members in the run's stages, and of the labels by which the stages would choose members now.
fn stage_evidence(fleet: FleetView<'_>, run: UpdateRunView<'_>) -> Vec<Evidence> {
    let quote = fleet.quote();
    let mut evidence = Vec::new();
    for stage in run.stages() {
        let members: Vec<_> = stage.clusters().map(|c| c.member).collect();
        evidence.push(quote.text(
            run.object,
            &format!("{}.clusters", stage.place().field_path()),
            members.join(", "),
            None,
        ));
    }
    let assignment = initialization::StageAssignment::new(fleet, run);
    for member in assignment.members {
        evidence.push(quote.field(member, "metadata.labels"));
    }
    evidence
}

/// KF-UR-041: an approval request with the name that the run needs exists already, for another run or stage.
fn foreign_request(fleet: FleetView<'_>, run: UpdateRunView<'_>, failed: &Condition) -> Option<FindingDraft> {
    static NAMED: LazyLock<Regex> = LazyLock::new(|| pattern_of_any_case("approval ?request .*is targeting"));
    let quote = fleet.quote();
    let (stage, request) = run
        .stages()
        .find_map(|stage| {
            let request = stage.requests().find_map(|name| {
                fleet.placement_object(run.scope.request(), run.object.namespace(), name).filter(|request| {
                    request.str("/spec/parentStageRollout") != Some(run.object.name())
                        || request.str("/spec/targetStage") != Some(stage.name)
                })
            });
            Some((stage, request?))
        })
        .map_or_else(
            || {
                // The request may have been deleted since, but the message still names it.
                let stage = run.stages().find(|s| s.condition("Succeeded").is_some_and(|c| c.status == "False"));
                NAMED.is_match(&failed.message).then_some((stage, None))
            },
            |(stage, request)| {
                let at_fault = stage.condition("Succeeded").is_some_and(|c| c.status == "False");
                (at_fault || NAMED.is_match(&failed.message)).then_some((Some(stage), Some(request)))
            },
        )?;
    let mut evidence = vec![quote.condition(run.object, failed)];
    if let Some(request) = request {
        evidence.push(quote.field(request, "spec.parentStageRollout"));
        evidence.push(quote.field(request, "spec.targetStage"));
    }
    let stage_name = stage.map(|s| s.name);
    let names = json!({
        "run": run.object.name(),
        "stage": stage_name.unwrap_or_default(),
        "request": request.map(|r| r.path()).unwrap_or_default(),
        "request_ref": request.map(kubectl::reference).unwrap_or_default(),
        "run_ref": run.reference(),
        "other_run": request.and_then(|r| r.str("/spec/parentStageRollout")).unwrap_or_default(),
        "other_stage": request.and_then(|r| r.str("/spec/targetStage")).unwrap_or_default(),
        "again": kubectl::rerun_command(fleet, run, None),
    });
    Some(FindingDraft::new(RuleCode::KF_UR_041, run.subject(fleet, stage_name, None), &names, evidence))
}

/// True if two objects differ in a field that both have. A field that one object lacks may have its default value.
fn differ_in_common_field(a: Option<JsonRef<'_>>, b: Option<JsonRef<'_>>) -> bool {
    let fields = a.and_then(JsonRef::as_object).into_iter().flat_map(JsonFields::iter);
    fields.into_iter().any(|(key, value)| b.and_then(|b| b.get(key)).is_some_and(|other| other != value))
}
