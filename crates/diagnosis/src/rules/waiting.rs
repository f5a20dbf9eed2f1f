//! Update runs and placements that wait until somebody acts: nothing has failed, and nothing will happen by itself.

use jiff::SignedDuration;
use serde_json::json;

use super::code::RuleCode;
use super::draft::{AffectedPart, FindingDraft};
use super::fleet::{FleetView, MemberPlacement, PlacementView, UpdateRunView};
use super::hub_agent::REACTION_LIMIT;
use super::kubectl;
use crate::Condition;
use crate::kubefleet::PLACEMENT_GROUP;

/// Time for which a member may be selected and not rolled out to, before somebody has to be told that no run will do it.
const LATE_MEMBER_LIMIT: SignedDuration = SignedDuration::from_secs(5);

/// `spec.state` of a binding that the scheduler has made and that no rollout has taken up.
const SCHEDULED: &str = "Scheduled";

/// Time for which a run may stay initialized without progress. v0.1.2 ignores `spec.state`, but reports a run as
/// initialized for an instant before it goes on.
const INITIALIZED_LIMIT: SignedDuration = SignedDuration::from_secs(2);

pub(super) fn rule(fleet: FleetView<'_>) -> Vec<FindingDraft> {
    let runs = fleet.runs().filter_map(|run| {
        left_at_initialize(fleet, run).or_else(|| begun_without_state(fleet, run)).or_else(|| stopped(fleet, run))
    });
    let placements = fleet.placements().flat_map(|placement| {
        let without_run = without_run(fleet, placement);
        let late = if without_run.is_some() { Vec::new() } else { late_members(fleet, placement) };
        without_run.into_iter().chain(late)
    });
    runs.chain(placements).collect()
}

/// KF-UR-050: the run is initialized, and `spec.state` doesn't let it go on.
fn left_at_initialize(fleet: FleetView<'_>, run: UpdateRunView<'_>) -> Option<FindingDraft> {
    let initialized = run.condition("Initialized").filter(|c| c.status == "True")?;
    let moves = run.condition("Progressing").is_some() || run.condition("Succeeded").is_some();
    let state = run.object.str("/spec/state")?;
    let since = initialized.last_transition_time?;
    if moves || state != "Initialize" || fleet.now().duration_since(since) < INITIALIZED_LIMIT {
        return None;
    }
    let quote = fleet.quote();
    let evidence = vec![quote.field(run.object, "spec.state"), quote.condition(run.object, &initialized)];
    Some(FindingDraft::new(RuleCode::KF_UR_050, run.subject(fleet, None, None), &names(run, false), evidence))
}

/// KF-UR-050: a version that ignores `spec.state` has begun the run, and the hub has been upgraded to one that doesn't. The
/// run's `spec.state` is Initialize by default, and nothing happens when its stage is approved. Seen in an upgrade from v0.1.2 to
/// v0.3.1.
fn begun_without_state(fleet: FleetView<'_>, run: UpdateRunView<'_>) -> Option<FindingDraft> {
    let progressing = run.condition("Progressing")?;
    if run.is_finished() || run.object.str("/spec/state") != Some("Initialize") {
        return None;
    }
    let (request, approved) = run.requests(fleet).find_map(|request| {
        let approved = request.condition("Approved").filter(|c| c.status == "True")?;
        let is_valid = approved.observed_generation == request.generation();
        let is_accepted = request.condition("ApprovalAccepted").is_some_and(|c| c.status == "True");
        let is_late = approved.last_transition_time.is_some_and(|at| fleet.age(at) > REACTION_LIMIT);
        (is_valid && !is_accepted && is_late).then_some((request, approved))
    })?;
    let quote = fleet.quote();
    let evidence = vec![
        quote.field(run.object, "spec.state"),
        quote.condition(run.object, &progressing),
        quote.condition(request, &approved),
        quote.text(request, "status.conditions[ApprovalAccepted]", "(absent)".to_owned(), None),
    ];
    let draft = FindingDraft::new(RuleCode::KF_UR_050, run.subject(fleet, None, None), &names(run, true), evidence);
    Some(draft.into_failure().depends_on(AffectedPart::HubAgent))
}

/// KF-UR-051: somebody has stopped the run.
fn stopped(fleet: FleetView<'_>, run: UpdateRunView<'_>) -> Option<FindingDraft> {
    let stopped = run.condition("Progressing").filter(|c| c.status == "False" && c.reason == "UpdateRunStopped")?;
    let quote = fleet.quote();
    let evidence = vec![quote.field(run.object, "spec.state"), quote.condition(run.object, &stopped)];
    Some(FindingDraft::new(RuleCode::KF_UR_051, run.subject(fleet, None, None), &names(run, false), evidence))
}

/// Names of a run; `begun` if it has rolled out something.
fn names(run: UpdateRunView<'_>, begun: bool) -> serde_json::Value {
    json!({
        "begun": begun,
        "run": run.object.name(),
        "run_ref": run.reference(),
        "placement": run.placement_name(),
    })
}

/// KF-RO-001: the placement is rolled out by update runs only, and has none. A stuck rollout has a run.
fn without_run(fleet: FleetView<'_>, placement: PlacementView<'_>) -> Option<FindingDraft> {
    let runs_unread = fleet.hub.is_unread(PLACEMENT_GROUP, &kubectl::plural(placement.scope.run()));
    if runs_unread || !placement.is_external() || placement.runs(fleet).next().is_some() {
        return None;
    }
    placement.condition("Scheduled").filter(|c| c.status == "True")?;
    let rollout = placement.condition("RolloutStarted").filter(|c| c.status == "Unknown")?;
    let waiting: Vec<_> = placement
        .clusters()
        .filter_map(|c| Some((c, c.condition("RolloutStarted").filter(|r| r.status == "Unknown")?)))
        .collect();
    if waiting.is_empty() || waiting.len() < placement.clusters().count() {
        return None;
    }
    let quote = fleet.quote();
    let mut evidence =
        vec![quote.field(placement.object, "spec.strategy.type"), quote.condition(placement.object, &rollout)];
    evidence.extend(waiting.iter().map(|(status, c)| quote.condition_in(placement.object, status.place(), c)));
    let names = json!({
        "placement": placement.full_name(),
        "placement_ref": kubectl::reference(placement.object),
        "run_kind": placement.scope.run(),
        "members": waiting.iter().map(|(status, _)| status.member).collect::<Vec<_>>().join(", "),
        "create": kubectl::first_run_command(placement),
    });
    let draft = FindingDraft::new(RuleCode::KF_RO_001, placement.subject(fleet, None), &names, evidence);
    Some(draft.affects(placement.part()))
}

/// KF-UR-052: the placement has selected members to which its runs, which have all ended, haven't rolled it out (kubefleet#804).
fn late_members(fleet: FleetView<'_>, placement: PlacementView<'_>) -> Vec<FindingDraft> {
    let runs_unread = fleet.hub.is_unread(PLACEMENT_GROUP, &kubectl::plural(placement.scope.run()));
    if runs_unread || !placement.is_external() || placement.condition("Scheduled").is_none_or(|c| c.status != "True") {
        return Vec::new();
    }
    let runs: Vec<_> = placement.runs(fleet).collect();
    // What a run still has to do shows on the run, and so does why it has failed.
    let Some(last) = runs.iter().copied().max_by_key(|run| run.object.created_at()) else { return Vec::new() };
    let Some(succeeded) = last.condition("Succeeded").filter(|c| c.status == "True") else { return Vec::new() };
    if runs.iter().any(|run| !run.is_finished()) {
        return Vec::new();
    }
    let quote = fleet.quote();
    let drafts = placement.clusters().filter_map(|status| {
        let rollout = not_rolled_out(fleet, status)?;
        // v0.14.0 says of each member that doesn't have the latest snapshot that its rollout is Unknown.
        let binding = placement.binding(fleet, status.member).filter(|b| b.str("/spec/state") == Some(SCHEDULED))?;
        let evidence = vec![
            quote.field(placement.object, "spec.strategy.type"),
            quote.condition_in(placement.object, status.place(), &rollout),
            quote.field(binding, "spec.state"),
            quote.condition(last.object, &succeeded),
        ];
        let names = json!({
            "placement": placement.full_name(),
            "member": status.member,
            "run": last.object.name(),
            "rerun": kubectl::rerun_command(fleet, last, None),
        });
        let subject = placement.subject(fleet, Some(status.member));
        Some(FindingDraft::new(RuleCode::KF_UR_052, subject, &names, evidence))
    });
    drafts.collect()
}

/// Returns the condition by which the placement reports that nothing has been rolled out to a member, unless the member was selected just
/// now.
fn not_rolled_out(fleet: FleetView<'_>, status: MemberPlacement<'_>) -> Option<Condition> {
    let rollout = status.condition("RolloutStarted").filter(|c| c.status == "Unknown")?;
    rollout.last_transition_time.is_none_or(|at| fleet.age(at) > LATE_MEMBER_LIMIT).then_some(rollout)
}
