//! States of placements that aren't well: as a whole, and on each member.

use jiff::{SignedDuration, Timestamp};

use super::{DELETION_LIMIT, UNLIMITED, UnwellState};
use crate::rules::availability::PATIENCE;
use crate::rules::draft::AffectedPart;
use crate::rules::fleet::{FleetView, MemberPlacement, PlacementView};
use crate::rules::hub_agent::REACTION_LIMIT;
use crate::rules::shortage::Shortage;
use crate::rules::{member, missing_namespace, rollout, stuck, work_recovery, work_synchronized};
use crate::{Condition, JsonList, JsonRef};

/// Time that a step of the hub-agent may take. What the member agent does may take longer: a silent one is told after some
/// periods of its heartbeat.
const STEP_LIMIT: SignedDuration = SignedDuration::from_secs(60);

/// Conditions of a placement on a member, in the order in which the controllers reach them, each with its usual time.
const STEPS: [(&str, SignedDuration); 6] = [
    ("RolloutStarted", STEP_LIMIT),
    ("Overridden", STEP_LIMIT),
    ("WorkSynchronized", STEP_LIMIT),
    ("Applied", PATIENCE),
    ("Available", PATIENCE),
    ("DiffReported", STEP_LIMIT),
];

pub(super) fn states(fleet: FleetView<'_>) -> Vec<UnwellState<'_>> {
    fleet.all_placements().flat_map(|placement| states_of(fleet, placement)).collect()
}

fn states_of<'a>(fleet: FleetView<'a>, placement: PlacementView<'a>) -> Vec<UnwellState<'a>> {
    let whole = |state: UnwellState<'a>| UnwellState { part: Some(placement.part()), ..state };
    if let Some(state) = UnwellState::deletion(fleet, placement.object) {
        return vec![UnwellState { usual: DELETION_LIMIT, ..whole(state) }];
    }
    if let Some(state) = UnwellState::ignored(fleet, placement.object) {
        return vec![whole(state)];
    }
    let on_members: Vec<_> =
        placement.clusters().filter_map(|status| state_on_member(fleet, placement, status)).collect();
    let scheduling = not_scheduled(fleet, placement);
    if scheduling.is_some() || !on_members.is_empty() {
        return scheduling.into_iter().chain(on_members).collect();
    }
    unwell_as_a_whole(fleet, placement).into_iter().collect()
}

fn not_scheduled<'a>(fleet: FleetView<'a>, placement: PlacementView<'a>) -> Option<UnwellState<'a>> {
    let condition = placement.condition("Scheduled").filter(|c| c.status != "True")?;
    let state = of_condition(fleet, placement, &condition, REACTION_LIMIT);
    // A member that joins, or that has just been given what the policy requires.
    let waits = (condition.status == "False").then(|| Shortage::of(fleet, placement).waits(fleet)).flatten();
    Some(match waits {
        Some((since, usual)) => UnwellState { since: Some(since), usual, ..state },
        None => state,
    })
}

/// Returns the state of a placement that has a condition which isn't True, although each of its members is well.
fn unwell_as_a_whole<'a>(fleet: FleetView<'a>, placement: PlacementView<'a>) -> Option<UnwellState<'a>> {
    let conditions = STEPS.into_iter().filter_map(|(type_, usual)| Some((placement.condition(type_)?, usual)));
    let (condition, usual) = conditions
        .into_iter()
        .find(|(condition, _)| condition.status != "True" && !waits_for_run(placement, condition))?;
    Some(of_condition(fleet, placement, &condition, usual))
}

fn of_condition<'a>(
    fleet: FleetView<'a>,
    placement: PlacementView<'a>,
    condition: &Condition,
    usual: SignedDuration,
) -> UnwellState<'a> {
    UnwellState {
        object: placement.object,
        subject: placement.subject(fleet, None),
        evidence: vec![fleet.quote().condition(placement.object, condition)],
        since: condition.last_transition_time,
        usual,
        part: Some(placement.part()),
        depends_on: vec![AffectedPart::HubAgent],
    }
}

/// True if a condition says that an update run decides on the rollout. What a run has left to do shows on the run.
fn waits_for_run(placement: PlacementView<'_>, condition: &Condition) -> bool {
    placement.is_external() && condition.type_.ends_with("RolloutStarted") && condition.status != "True"
}

/// Returns the state of a placement on a member where it isn't well.
fn state_on_member<'a>(
    fleet: FleetView<'a>,
    placement: PlacementView<'a>,
    status: MemberPlacement<'a>,
) -> Option<UnwellState<'a>> {
    // The run's finding says more.
    if stuck::is_stuck_on(fleet, placement, status.member) || member::has_left(fleet, status.member) {
        return None;
    }
    let conditions: Vec<_> =
        STEPS.into_iter().filter_map(|(type_, usual)| Some((status.condition(type_)?, usual))).collect();
    let unmet = conditions.iter().find(|(condition, _)| condition.status != "True");
    let quote = fleet.quote();
    let (evidence, since, usual) = match (unmet, conditions.last()) {
        (Some((condition, _)), _) if waits_for_run(placement, condition) => return None,
        (Some((condition, usual)), _) => (
            quote.condition_in(placement.object, status.place(), condition),
            condition.last_transition_time.max(last_start(placement, condition)),
            usual_time(fleet, placement, status, condition).unwrap_or(*usual),
        ),
        (None, Some((last, _))) if is_last_step(last) => return None,
        (None, Some((last, _))) if is_apply_only(placement, last) => return None,
        (None, Some((last, _))) => {
            let path = format!("{}.conditions", status.place().field_path());
            let value = format!("nothing after {}", last.type_);
            let since = last.last_transition_time.max(last_write(placement));
            (quote.text(placement.object, &path, value, since), since, STEP_LIMIT)
        }
        (None, None) => {
            let scheduled = placement.condition("Scheduled").and_then(|scheduled| scheduled.last_transition_time);
            let since = scheduled.max(last_write(placement));
            let path = format!("{}.conditions[RolloutStarted]", status.place().field_path());
            let older = status.condition_of_any_generation("RolloutStarted");
            (quote.no_current_condition(placement.object, &path, older.as_ref(), since), since, STEP_LIMIT)
        }
    };
    let member = status.member.to_owned();
    Some(UnwellState {
        object: placement.object,
        subject: placement.subject(fleet, Some(status.member)),
        evidence: vec![evidence],
        since,
        usual,
        part: Some(placement.part_on(status.member)),
        depends_on: vec![
            AffectedPart::HubAgent,
            AffectedPart::Member(member.clone()),
            AffectedPart::MemberNamespace(member),
            placement.part(),
        ],
    })
}

/// Returns the time at which the rollout was started on a member last, for a member on which it isn't decided yet: the rollout starts on
/// one member after the other.
fn last_start(placement: PlacementView<'_>, condition: &Condition) -> Option<Timestamp> {
    if condition.type_ != "RolloutStarted" || condition.status != "Unknown" {
        return None;
    }
    let started = |status: MemberPlacement<'_>| status.condition("RolloutStarted").filter(|c| c.status == "True");
    placement.clusters().filter_map(|status| started(status)?.last_transition_time).max()
}

/// Returns the time of the placement's last write. A condition that is absent may have been removed by it, and a condition
/// that stays True for a new generation keeps its transition time.
fn last_write(placement: PlacementView<'_>) -> Option<Timestamp> {
    placement.object.changed_at().max(placement.object.written_at(Some("status")))
}

/// Returns the usual time of a condition that waits for something else; `None` if it waits for nothing that is known.
fn usual_time(
    fleet: FleetView<'_>,
    placement: PlacementView<'_>,
    status: MemberPlacement<'_>,
    condition: &Condition,
) -> Option<SignedDuration> {
    if rollout::is_held_back_by_rollout(placement, fleet, status, condition) {
        return Some(UNLIMITED);
    }
    if let Some(hold_time) = rollout::usual_hold_time(placement, status, condition) {
        return Some(hold_time.max(STEP_LIMIT));
    }
    if condition.type_ == "Applied" {
        return missing_namespace::time_after_namespace(fleet, status, condition).map(|time| time.max(PATIENCE));
    }
    if condition.type_ == "Overridden" && condition.status == "Unknown" {
        let pause = work_recovery::pause_after_return(fleet, status.member, placement.binding(fleet, status.member)?);
        return pause.map(|pause| pause.max(STEP_LIMIT));
    }
    if condition.type_ != "WorkSynchronized" {
        return None;
    }
    let replaced = work_synchronized::time_to_replace_work(fleet, placement, status, condition);
    replaced.or_else(|| work_recovery::time_after_namespace(fleet, status.member, condition))
}

/// True if nothing follows a condition that is True.
fn is_last_step(condition: &Condition) -> bool {
    ["Available", "DiffReported"].contains(&condition.type_.as_str())
}

/// True if the placement's strategy ends with this condition: `ReportDiff` applies nothing.
fn is_apply_only(placement: PlacementView<'_>, last: &Condition) -> bool {
    let strategy = placement.object.str("/spec/strategy/applyStrategy/type");
    let selects_nothing =
        placement.object.at("/status/selectedResources").and_then(JsonRef::as_array).is_none_or(JsonList::is_empty);
    (strategy == Some("ReportDiff") && last.type_ == "DiffReported") || (selects_nothing && last.type_ == "Applied")
}
