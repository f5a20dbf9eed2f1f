//! States of update runs that aren't well.

use jiff::{SignedDuration, Timestamp};

use super::{DELETION_LIMIT, UnwellState};
use crate::object::text_field;
use crate::rules::availability::PATIENCE;
use crate::rules::draft::AffectedPart;
use crate::rules::fleet::{FleetView, StageCluster, UpdateRunView};
use crate::{Evidence, JsonRef};

/// Time that a run may take between two clusters or stages, besides the times that its strategy sets. The controller
/// looks again after 15 s or 60 s if nothing has failed before (v0.1.2).
const STEP_LIMIT: SignedDuration = SignedDuration::from_secs(120);

pub(super) fn states(fleet: FleetView<'_>) -> Vec<UnwellState<'_>> {
    fleet.all_runs().filter_map(|run| state_of(fleet, run)).collect()
}

fn state_of<'a>(fleet: FleetView<'a>, run: UpdateRunView<'a>) -> Option<UnwellState<'a>> {
    if let Some(state) = UnwellState::deletion(fleet, run.object) {
        return Some(UnwellState { usual: DELETION_LIMIT, ..state });
    }
    if let Some(state) = UnwellState::ignored(fleet, run.object) {
        return Some(state);
    }
    // The rules have a finding for each run that has failed, was stopped, or waits to be started.
    if run.is_finished() {
        return None;
    }
    let (evidence, since) = last_progress(fleet, run)?;
    Some(UnwellState {
        object: run.object,
        subject: run.subject(fleet, None, None),
        evidence: vec![evidence],
        since: Some(since),
        usual: usual_time(run),
        part: None,
        depends_on: std::iter::once(AffectedPart::HubAgent).chain(updating_members(run)).collect(),
    })
}

/// Returns the last change of any condition of the run, and its time.
fn last_progress(fleet: FleetView<'_>, run: UpdateRunView<'_>) -> Option<(Evidence, Timestamp)> {
    let quote = fleet.quote();
    let mut changes = Vec::new();
    for condition in run.object.conditions() {
        changes.push((condition.last_transition_time?, quote.condition(run.object, &condition)));
    }
    for stage in run.stages() {
        for condition in stage.conditions() {
            changes.push((condition.last_transition_time?, quote.condition_in(run.object, stage.place(), &condition)));
        }
        for cluster in stage.clusters() {
            for condition in cluster.conditions() {
                let evidence = quote.condition_in(run.object, cluster.place(), &condition);
                changes.push((condition.last_transition_time?, evidence));
            }
        }
    }
    changes.into_iter().max_by_key(|(at, _)| *at).map(|(at, evidence)| (evidence, at))
}

/// Returns the time that the run may take until its next change: a cluster's update, or a timed wait of its strategy.
fn usual_time(run: UpdateRunView<'_>) -> SignedDuration {
    let is_updating = run.stages().any(|stage| stage.clusters().any(|cluster| cluster.is_updating()));
    let step = if is_updating { PATIENCE } else { STEP_LIMIT };
    let stages = run.object.list("/status/stagedUpdateStrategySnapshot/stages");
    let tasks = stages.iter().flat_map(|stage| {
        ["beforeStageTasks", "afterStageTasks"]
            .into_iter()
            .filter_map(move |field| stage.get(field)?.as_array())
            .flatten()
    });
    let longest = tasks.filter_map(wait_time).max().unwrap_or_default();
    step.saturating_add(longest)
}

/// Returns the time of a timed wait, which Kubernetes writes as `1h30m0s`.
fn wait_time(task: JsonRef<'_>) -> Option<SignedDuration> {
    text_field(task, "waitTime").parse().ok()
}

/// Returns the members that the run is updating.
fn updating_members(run: UpdateRunView<'_>) -> impl Iterator<Item = AffectedPart> {
    let clusters = run.stages().flat_map(|stage| stage.clusters().collect::<Vec<_>>());
    clusters.filter(StageCluster::is_updating).map(|cluster| AffectedPart::Member(cluster.member.to_owned()))
}
