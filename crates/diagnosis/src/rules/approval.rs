//! Approvals that don't take effect.

use serde_json::json;

use super::draft::Draft;
use super::fleet::{Fleet, Run, Stage};
use super::kubectl;
use crate::command::{Command, KubectlVerb, Word};
use crate::{Condition, HUB, Object};

pub(super) fn rule(fleet: Fleet<'_>) -> Vec<Draft> {
    let mut drafts = Vec::new();
    for (scope, request) in fleet.requests() {
        let run = fleet.runs().find(|run| {
            run.scope == scope
                && run.object.namespace() == request.namespace()
                && request.str("/spec/parentStageRollout") == Some(run.object.name())
        });
        let Some(run) = run.filter(|run| !run.is_over()) else { continue };
        let stage = run.stages().find(|s| request.str("/spec/targetStage") == Some(s.name));
        let stage = stage.filter(|s| !s.has_passed(request.name()));
        let Some((stage, waiting)) = stage.and_then(|s| Some((s, waiting(run, s)?))) else { continue };
        let draft = stale(fleet, request, run, stage, &waiting);
        drafts.extend(draft.or_else(|| missing(fleet, request, run, stage, &waiting)));
    }
    drafts
}

/// The condition by which a run waits for a stage's tasks, and where it stands. v0.14.0 has it on the stage only.
struct Waiting {
    holder: String,
    condition: Condition,
}

fn waiting(run: Run<'_>, stage: Stage<'_>) -> Option<Waiting> {
    if stage.condition("Succeeded").is_some_and(|c| c.status == "True") {
        return None;
    }
    let of_stage = stage.condition("Progressing").filter(|c| c.status == "False" && c.reason.ends_with("Waiting"));
    let of_run = run.condition("Progressing").filter(|c| c.status == "False" && c.reason == "UpdateRunWaiting");
    let names_stage = |c: &Condition| c.message.split(|c: char| !c.is_ascii_alphanumeric()).any(|w| w == stage.name);
    match (of_run, of_stage) {
        (Some(condition), Some(_)) => Some(Waiting { holder: "status".to_owned(), condition }),
        (Some(condition), None) if names_stage(&condition) => Some(Waiting { holder: "status".to_owned(), condition }),
        (_, Some(condition)) => Some(Waiting { holder: stage.path(), condition }),
        _ => None,
    }
}

/// KF-UR-004: the approval speaks of another generation than the request has, so it is ignored.
fn stale(fleet: Fleet<'_>, request: Object<'_>, run: Run<'_>, stage: Stage<'_>, waiting: &Waiting) -> Option<Draft> {
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
        quote.condition_in(run.object, &waiting.holder, &waiting.condition),
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
        "approve": approve(request),
    });
    Some(Draft::new("KF-UR-004", run.subject(fleet, Some(stage.name), None), &names, evidence))
}

/// KF-UR-040: nobody has approved.
fn missing(fleet: Fleet<'_>, request: Object<'_>, run: Run<'_>, stage: Stage<'_>, waiting: &Waiting) -> Option<Draft> {
    let approved = request.condition("Approved");
    if approved.as_ref().is_some_and(|c| c.status == "True") {
        return None;
    }
    let quote = fleet.quote();
    let evidence = vec![
        quote.condition_in(run.object, &waiting.holder, &waiting.condition),
        match &approved {
            Some(approved) => quote.condition(request, approved),
            None => quote.text(request, "status.conditions[Approved]", "(absent)".to_owned(), None),
        },
    ];
    let names = json!({
        "run": run.object.name(),
        "stage": stage.name,
        "request": request.name(),
        "request_kind": request.kind(),
        "approve": approve(request),
    });
    Some(Draft::new("KF-UR-040", run.subject(fleet, Some(stage.name), None), &names, evidence))
}

/// What stands for the time at which the command is run.
const PRESENT_TIME: &str = "PRESENT_TIME";

/// The command that approves a request as the controller wants it.
fn approve(request: Object<'_>) -> Command {
    let condition = json!({
        "type": "Approved",
        "status": "True",
        "reason": "approved",
        "message": "approved",
        "observedGeneration": request.generation(),
        "lastTransitionTime": PRESENT_TIME,
    });
    let patch = json!({"status": {"conditions": [condition]}}).to_string();
    // Only the shell knows what time it will be.
    let patch = match patch.split_once(PRESENT_TIME) {
        Some((before, after)) => Word::Timed { before: before.to_owned(), after: after.to_owned() },
        None => patch.into(),
    };
    let reference = kubectl::reference(request).into_iter().map(Word::from);
    let options = ["--subresource=status", "--type=merge", "-p"].map(Word::from);
    Command::kubectl(HUB, KubectlVerb::Patch, reference.chain(options).chain([patch]))
}
