//! Update runs that wait for a cluster that doesn't finish.

use jiff::SignedDuration;
use serde_json::json;

use super::availability::{PATIENCE, Trail};
use super::draft::{Draft, Topic};
use super::fleet::{Fleet, Placement, Run, StageCluster};
use super::kubectl;
use super::preemption::{Taken, run_named};
use crate::{Condition, Evidence};

/// For how long a run may have given a cluster its resources without saying so.
const UNRECORDED: SignedDuration = SignedDuration::from_secs(60);

pub(super) fn rule(fleet: Fleet<'_>) -> Vec<Draft> {
    fleet.runs().filter(|run| !run.is_over()).flat_map(|run| stuck(fleet, run)).collect()
}

/// Whether a run is stuck waiting for a placement's resources on a member.
pub(super) fn waits(fleet: Fleet<'_>, placement: Placement<'_>, member: &str) -> bool {
    let of_it = |run: &Run<'_>| run.placement(fleet).is_some_and(|p| p.full_name() == placement.full_name());
    let mut runs = fleet.runs().filter(|run| !run.is_over()).filter(of_it);
    runs.any(|run| at_fault(fleet, run).iter().any(|c| c.member == member))
}

fn stuck(fleet: Fleet<'_>, run: Run<'_>) -> Vec<Draft> {
    at_fault(fleet, run).into_iter().map(|cluster| cause(fleet, run, cluster, said(run).as_ref())).collect()
}

/// What the run itself says.
fn said(run: Run<'_>) -> Option<Condition> {
    run.condition("Progressing").filter(|c| c.status == "False" && c.reason == "UpdateRunStuck")
}

/// The clusters for which a run has waited too long.
fn at_fault<'a>(fleet: Fleet<'a>, run: Run<'a>) -> Vec<StageCluster<'a>> {
    if run.condition("Progressing").is_some_and(|c| c.reason == "UpdateRunStopped") {
        return Vec::new();
    }
    let updating =
        |c: &StageCluster<'_>| c.started_at().is_some() && c.condition("Succeeded").is_none_or(|c| c.status != "True");
    let clusters: Vec<_> = run.stages().flat_map(|s| s.clusters().collect::<Vec<_>>()).filter(updating).collect();
    // v0.14.0 has no word for it, and later versions may say so up to 43 s late: the time tells.
    let long = |c: &StageCluster<'_>| c.started_at().is_some_and(|s| fleet.now().duration_since(s) > PATIENCE);
    let any_long = clusters.iter().any(long);
    let waits = clusters.into_iter().filter(|c| if any_long { long(c) } else { said(run).is_some() });
    waits.chain(unrecorded(fleet, run)).collect()
}

/// The clusters that a run has given its resources without a record of it. It takes what isn't available there for an error
/// before it writes the record, each time (v0.1.2).
fn unrecorded<'a>(fleet: Fleet<'a>, run: Run<'a>) -> Vec<StageCluster<'a>> {
    let Some(progressing) = run.condition("Progressing").filter(|c| c.status == "True") else { return Vec::new() };
    if progressing.last_transition_time.is_none_or(|since| fleet.now().duration_since(since) < UNRECORDED) {
        return Vec::new();
    }
    let given = |c: &StageCluster<'_>| {
        let Some(binding) = run.binding(fleet, c.member) else { return false };
        let is = |type_: &str, status: &str| binding.current_condition(type_).filter(|c| c.status == status);
        is("RolloutStarted", "True").is_some_and(|c| run_named(&c.message) == Some(run.object.name()))
            && is("Available", "False").is_some()
    };
    let clusters = run.stages().flat_map(|s| s.clusters().collect::<Vec<_>>());
    clusters.filter(|c| c.started_at().is_none() && c.condition("Succeeded").is_none()).filter(given).collect()
}

fn cause(fleet: Fleet<'_>, run: Run<'_>, cluster: StageCluster<'_>, said: Option<&Condition>) -> Draft {
    let mut evidence = symptom(fleet, run, cluster, said);
    let started = cluster.condition("Started");
    // A newer run has taken the cluster and finished: this one waits for nothing and will fail at its next look.
    if let (Some(taken), Some(symptom)) = (Taken::from(fleet, run, Some(fleet.now())), said.or(started.as_ref()))
        && taken.cluster.member == cluster.member
        && taken.code(Some(fleet.now())) == "KF-UR-005"
    {
        return taken.draft(fleet, run, symptom, Some(fleet.now()));
    }
    let at_ours = |b: &crate::Object<'_>| b.str("/spec/resourceSnapshotName") == run.resource_snapshot().as_deref();
    let binding = run.binding(fleet, cluster.member).filter(at_ours);
    let done = binding.and_then(|b| Some((b, b.current_condition("Available").filter(|c| c.status == "True")?)));
    let (code, trail) = if let Some((binding, available)) = done {
        evidence.push(fleet.quote().condition(binding, &available));
        ("KF-UR-007", Trail::default())
    } else {
        let code = if started.is_some() { "KF-UR-006" } else { "KF-UR-008" };
        let placement = run.placement(fleet);
        (code, placement.map(|p| Trail::of(fleet, p, cluster.member)).unwrap_or_default())
    };
    evidence.extend(trail.evidence);
    let names = json!({
        "run": run.object.name(),
        "run_ref": run.reference(),
        "placement": run.placement_name(),
        "placement_ref": run.placement(fleet).map(|p| kubectl::reference(p.object)).unwrap_or_default(),
        "stage": cluster.stage,
        "member": cluster.member,
        "objects": trail.objects.join(", "),
        "reason": trail.image.map(|i| i.reason).unwrap_or_default(),
        "state": run.object.str("/spec/state").unwrap_or_default(),
        "minutes": cluster.started_at().map(|s| fleet.now().duration_since(s).as_mins()).unwrap_or_default(),
        "again": kubectl::again(fleet, run, None),
    });
    let subject = run.subject(fleet, Some(cluster.stage), Some(cluster.member));
    Draft::new(code, subject, &names, evidence).follows(Topic::Member(cluster.member.to_owned())).follows(
        Topic::PlacementOn {
            namespace: run.object.namespace().map(str::to_owned),
            name: run.placement_name().to_owned(),
            member: cluster.member.to_owned(),
        },
    )
}

fn symptom(fleet: Fleet<'_>, run: Run<'_>, cluster: StageCluster<'_>, said: Option<&Condition>) -> Vec<Evidence> {
    let quote = fleet.quote();
    let mut evidence: Vec<_> = said.iter().map(|c| quote.condition(run.object, c)).collect();
    if let Some(started) = cluster.condition("Started") {
        evidence.push(quote.condition_in(run.object, &cluster.path(), &started));
        return evidence;
    }
    // What it says instead, and what it has done.
    evidence.extend(run.condition("Progressing").map(|c| quote.condition(run.object, &c)));
    if let Some(binding) = run.binding(fleet, cluster.member) {
        evidence.extend(binding.current_condition("RolloutStarted").map(|c| quote.condition(binding, &c)));
    }
    evidence
}
