//! Update runs that wait for a cluster that doesn't finish.

use serde_json::json;

use super::availability::{PATIENCE, Trail};
use super::draft::{Draft, Topic};
use super::fleet::{Fleet, Placement, Run, StageCluster};
use super::kubectl;
use super::preemption::Taken;
use crate::{Condition, Evidence};

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
    clusters.into_iter().filter(|c| if any_long { long(c) } else { said(run).is_some() }).collect()
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
        let placement = run.placement(fleet);
        ("KF-UR-006", placement.map(|p| Trail::of(fleet, p, cluster.member)).unwrap_or_default())
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
    let started = cluster.condition("Started");
    evidence.extend(started.map(|c| quote.condition_in(run.object, &cluster.path(), &c)));
    evidence
}
