//! Approvals that are missing or don't take effect.

use record::ConditionPlace;
use serde_json::json;

use super::code::RuleCode;
use super::draft::FindingDraft;
use super::fleet::{FleetView, RunStage, UpdateRunView};
use super::kubectl;
use crate::command::{CommandWord, KubectlVerb, RemedyCommand};
use crate::{Condition, HUB, Object};

pub(super) fn rule(fleet: FleetView<'_>) -> Vec<FindingDraft> {
    let mut drafts = Vec::new();
    for (scope, request) in fleet.requests() {
        let name = request.str("/spec/parentStageRollout").unwrap_or_default();
        let run = fleet
            .placement_object(scope.run(), request.namespace(), name)
            .map(|object| UpdateRunView { scope, object });
        let run = run.filter(|run| run.object.deleted_at().is_none() && !run.is_finished());
        let Some(run) = run else { continue };
        let stage = run.stages().find(|s| request.str("/spec/targetStage") == Some(s.name));
        let stage = stage.filter(|s| !s.has_recorded_approval(request.name()));
        let Some((stage, waiting)) = stage.and_then(|s| Some((s, stage_wait(run, s)?))) else { continue };
        let draft = stale_approval(fleet, request, run, stage, &waiting);
        drafts.extend(draft.or_else(|| missing_approval(fleet, request, run, stage, &waiting)));
    }
    drafts
}

/// Condition by which a run reports that it waits for a stage's tasks, and the part that has the condition. v0.14.0
/// has the condition on the stage only.
struct StageWait {
    place: ConditionPlace,
    condition: Condition,
}

fn stage_wait(run: UpdateRunView<'_>, stage: RunStage<'_>) -> Option<StageWait> {
    if stage.condition("Succeeded").is_some_and(|c| c.status == "True") {
        return None;
    }
    let of_stage = stage.condition("Progressing").filter(|c| c.status == "False" && c.reason.ends_with("Waiting"));
    let of_run = run.condition("Progressing").filter(|c| c.status == "False" && c.reason == "UpdateRunWaiting");
    match (of_run, of_stage) {
        (Some(condition), Some(_)) => Some(StageWait { place: ConditionPlace::Object, condition }),
        (Some(condition), None) if has_word(&condition.message, stage.name) => {
            Some(StageWait { place: ConditionPlace::Object, condition })
        }
        (_, Some(condition)) => Some(StageWait { place: stage.place(), condition }),
        _ => None,
    }
}

/// True if a message contains a name as a whole word.
fn has_word(message: &str, name: &str) -> bool {
    message.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| word == name)
}

/// KF-UR-004: the approval is ignored, because its observed generation isn't the request's generation.
fn stale_approval(
    fleet: FleetView<'_>,
    request: Object<'_>,
    run: UpdateRunView<'_>,
    stage: RunStage<'_>,
    waiting: &StageWait,
) -> Option<FindingDraft> {
    let approved = request.condition("Approved").filter(|c| c.status == "True")?;
    if approved.observed_generation == request.generation() {
        return None;
    }
    let accepted = request.condition("ApprovalAccepted");
    if accepted.as_ref().is_some_and(|c| c.status == "True") {
        return None;
    }
    let quote = fleet.quote();
    let observed = approved.observed_generation;
    let mut evidence = vec![
        quote.condition_in(run.object, waiting.place.clone(), &waiting.condition),
        quote.condition(request, &approved),
        quote.text(
            request,
            "status.conditions[Approved].observedGeneration",
            observed.to_string(),
            approved.last_transition_time,
        ),
        quote.field(request, "metadata.generation"),
    ];
    evidence.push(match &accepted {
        Some(accepted) => quote.condition(request, accepted),
        None => quote.text(request, "status.conditions[ApprovalAccepted]", "(absent)".to_owned(), None),
    });
    let names = json!({
        "run": run.object.name(),
        "stage": stage.name,
        "request": request.name(),
        "request_kind": request.kind(),
        "request_ref": kubectl::reference(request),
        "observed": observed,
        "generation": request.generation(),
        "approve": approve_command(request),
    });
    Some(FindingDraft::new(RuleCode::KF_UR_004, run.subject(fleet, Some(stage.name), None), &names, evidence))
}

/// KF-UR-040: nobody has approved the request.
fn missing_approval(
    fleet: FleetView<'_>,
    request: Object<'_>,
    run: UpdateRunView<'_>,
    stage: RunStage<'_>,
    waiting: &StageWait,
) -> Option<FindingDraft> {
    let approved = request.condition("Approved");
    if approved.as_ref().is_some_and(|c| c.status == "True") {
        return None;
    }
    let quote = fleet.quote();
    let mut evidence = vec![quote.condition_in(run.object, waiting.place.clone(), &waiting.condition)];
    let is_empty = stage.clusters().next().is_none();
    if is_empty {
        let path = format!("{}.clusters", stage.place().field_path());
        evidence.push(quote.text(run.object, &path, "(none)".to_owned(), None));
    }
    evidence.push(match &approved {
        Some(approved) => quote.condition(request, approved),
        None => quote.text(request, "status.conditions[Approved]", "(absent)".to_owned(), None),
    });
    let names = json!({
        "run": run.object.name(),
        "stage": stage.name,
        "is_empty": is_empty,
        "request": request.name(),
        "request_kind": request.kind(),
        "approve": approve_command(request),
    });
    Some(FindingDraft::new(RuleCode::KF_UR_040, run.subject(fleet, Some(stage.name), None), &names, evidence))
}

/// Placeholder for the time at which the command is run.
const PRESENT_TIME: &str = "PRESENT_TIME";

/// Returns the command that approves a request in the form that the controller accepts.
fn approve_command(request: Object<'_>) -> RemedyCommand {
    let condition = json!({
        "type": "Approved",
        "status": "True",
        "reason": "approved",
        "message": "approved",
        "observedGeneration": request.generation(),
        "lastTransitionTime": PRESENT_TIME,
    });
    let patch = json!({"status": {"conditions": [condition]}}).to_string();
    // Only the shell knows the time at which the command is run.
    let patch = match patch.split_once(PRESENT_TIME) {
        Some((before, after)) => CommandWord::Timed { before: before.to_owned(), after: after.to_owned() },
        None => patch.into(),
    };
    let reference = kubectl::reference(request).into_iter().map(CommandWord::from);
    let options = ["--subresource=status", "--type=merge", "-p"].map(CommandWord::from);
    RemedyCommand::kubectl(HUB, KubectlVerb::Patch, reference.chain(options).chain([patch]))
}
