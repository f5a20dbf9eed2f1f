//! Update runs and placements that wait for somebody: nothing has failed, and nothing will happen by itself.

use jiff::SignedDuration;
use serde_json::json;

use super::draft::Draft;
use super::fleet::{Fleet, Placement, Run};
use super::kubectl;

/// On v0.1.2, where the state is ignored, a run is initialized for an instant before it goes on.
const INSTANT: SignedDuration = SignedDuration::from_secs(2);

pub(super) fn rule(fleet: Fleet<'_>) -> Vec<Draft> {
    let runs = fleet.runs().filter_map(|run| left_at_initialize(fleet, run).or_else(|| stopped(fleet, run)));
    runs.chain(fleet.placements().filter_map(|p| without_run(fleet, p))).collect()
}

/// KF-UR-050: initialized, and not told to run.
fn left_at_initialize(fleet: Fleet<'_>, run: Run<'_>) -> Option<Draft> {
    let initialized = run.condition("Initialized").filter(|c| c.status == "True")?;
    let moves = run.condition("Progressing").is_some() || run.condition("Succeeded").is_some();
    let state = run.object.str("/spec/state")?;
    let since = initialized.last_transition_time?;
    if moves || state != "Initialize" || fleet.now().duration_since(since) < INSTANT {
        return None;
    }
    let quote = fleet.quote();
    let evidence = vec![quote.field(run.object, "spec.state"), quote.condition(run.object, &initialized)];
    Some(Draft::new("KF-UR-050", run.subject(fleet, None, None), &names(run), evidence))
}

/// KF-UR-051: stopped by somebody.
fn stopped(fleet: Fleet<'_>, run: Run<'_>) -> Option<Draft> {
    let stopped = run.condition("Progressing").filter(|c| c.status == "False" && c.reason == "UpdateRunStopped")?;
    let quote = fleet.quote();
    let evidence = vec![quote.field(run.object, "spec.state"), quote.condition(run.object, &stopped)];
    Some(Draft::new("KF-UR-051", run.subject(fleet, None, None), &names(run), evidence))
}

fn names(run: Run<'_>) -> serde_json::Value {
    json!({
        "run": run.object.name(),
        "run_ref": run.reference(),
        "placement": run.placement_name(),
    })
}

/// KF-RO-001: its rollout is left to update runs, and there is none. A stuck rollout has a run.
fn without_run(fleet: Fleet<'_>, placement: Placement<'_>) -> Option<Draft> {
    if !placement.is_external() || placement.runs(fleet).next().is_some() {
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
    evidence.extend(waiting.iter().map(|(on, c)| quote.condition_in(placement.object, &on.path(), c)));
    let names = json!({
        "placement": placement.full_name(),
        "placement_ref": kubectl::reference(placement.object),
        "run_kind": placement.scope.run(),
        "members": waiting.iter().map(|(on, _)| on.member).collect::<Vec<_>>().join(", "),
        "create": kubectl::create(json!({
            "apiVersion": placement.object.at("/apiVersion"),
            "kind": placement.scope.run(),
            "metadata": match placement.object.namespace() {
                Some(namespace) => json!({"name": format!("{}-1", placement.object.name()), "namespace": namespace}),
                None => json!({"name": format!("{}-1", placement.object.name())}),
            },
            "spec": {
                "placementName": placement.object.name(),
                "stagedRolloutStrategyName": "STRATEGY",
            },
        })),
    });
    Some(Draft::new("KF-RO-001", placement.subject(fleet, None), &names, evidence))
}
