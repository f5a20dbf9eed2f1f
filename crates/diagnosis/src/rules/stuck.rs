//! Update runs that wait for a cluster whose update doesn't finish.

use jiff::SignedDuration;
use serde_json::json;

use super::availability::{FailureTrail, PATIENCE};
use super::code::RuleCode;
use super::draft::{AffectedPart, FindingDraft};
use super::fleet::{FleetView, PlacementView, StageCluster, UpdateRunView};
use super::index::PlacementKey;
use super::kubectl;
use super::preemption::{PreemptedCluster, run_in_message};
use crate::{Condition, Evidence};

/// Time that a run may take to record in its status that it has updated a cluster's binding.
const RECORD_LIMIT: SignedDuration = SignedDuration::from_secs(60);

pub(super) fn rule(fleet: FleetView<'_>) -> Vec<FindingDraft> {
    fleet.runs().filter(|run| !run.is_finished()).flat_map(|run| stuck_clusters(fleet, run)).collect()
}

/// True if an update run is stuck waiting for a placement's resources on a member.
pub(super) fn is_stuck_on(fleet: FleetView<'_>, placement: PlacementView<'_>, member: &str) -> bool {
    let overdue = fleet.index.overdue.get_or_init(|| {
        let runs = fleet.runs().filter(|run| !run.is_finished());
        let overdue = runs.flat_map(|run| {
            overdue_clusters(fleet, run)
                .into_iter()
                .map(move |cluster| overdue_key(run.placement_key(), cluster.member))
        });
        overdue.collect()
    });
    !overdue.is_empty() && overdue.contains(&overdue_key(placement.key(), member))
}

fn overdue_key((namespace, placement): PlacementKey<'_>, member: &str) -> [String; 3] {
    [namespace.unwrap_or_default(), placement, member].map(str::to_owned)
}

fn stuck_clusters(fleet: FleetView<'_>, run: UpdateRunView<'_>) -> Vec<FindingDraft> {
    overdue_clusters(fleet, run)
        .into_iter()
        .map(|cluster| stuck_cluster(fleet, run, cluster, stuck_condition(run).as_ref()))
        .collect()
}

/// Returns the condition by which the run itself reports that it is stuck.
fn stuck_condition(run: UpdateRunView<'_>) -> Option<Condition> {
    run.condition("Progressing").filter(|c| c.status == "False" && c.reason == "UpdateRunStuck")
}

/// Returns the clusters for which a run has waited too long.
fn overdue_clusters<'a>(fleet: FleetView<'a>, run: UpdateRunView<'a>) -> Vec<StageCluster<'a>> {
    if run.condition("Progressing").is_some_and(|c| c.reason == "UpdateRunStopped") {
        return Vec::new();
    }
    let clusters: Vec<_> = run
        .stages()
        .flat_map(|s| s.clusters().collect::<Vec<_>>())
        .filter(|c| c.started_at().is_some() && c.condition("Succeeded").is_none_or(|c| c.status != "True"))
        .collect();
    // v0.14.0 doesn't report a stuck run, and later versions report it up to 43 s late, so the elapsed time decides.
    let any_overdue = clusters.iter().any(|c| is_overdue(fleet, *c));
    let waits = clusters
        .into_iter()
        .filter(|c| if any_overdue { is_overdue(fleet, *c) } else { stuck_condition(run).is_some() });
    waits.chain(unrecorded_starts(fleet, run)).collect()
}

/// True if a run has waited for a cluster for longer than resources may take to become available.
fn is_overdue(fleet: FleetView<'_>, cluster: StageCluster<'_>) -> bool {
    cluster.started_at().is_some_and(|since| fleet.now().duration_since(since) > PATIENCE)
}

/// Returns the clusters whose binding a run has updated without a record in the run's status. The controller takes an
/// unavailable resource there for an error and returns before it writes the record, at each reconcile (v0.1.2).
fn unrecorded_starts<'a>(fleet: FleetView<'a>, run: UpdateRunView<'a>) -> Vec<StageCluster<'a>> {
    let Some(progressing) = run.condition("Progressing").filter(|c| c.status == "True") else { return Vec::new() };
    let last = progressing.last_transition_time.max(run.last_change());
    if last.is_none_or(|since| fleet.age(since) < RECORD_LIMIT) {
        return Vec::new();
    }
    run.stages()
        .flat_map(|s| s.clusters().collect::<Vec<_>>())
        .filter(|c| c.started_at().is_none() && c.condition("Succeeded").is_none())
        .filter(|c| has_unavailable_binding(fleet, run, *c))
        .collect()
}

/// True if a run has started the rollout of a cluster's binding and the resources aren't available.
fn has_unavailable_binding(fleet: FleetView<'_>, run: UpdateRunView<'_>, cluster: StageCluster<'_>) -> bool {
    let Some(binding) = run.binding(fleet, cluster.member) else { return false };
    let started = binding.current_condition("RolloutStarted").filter(|c| c.status == "True");
    started.is_some_and(|c| run_in_message(&c.message) == Some(run.object.name()))
        && binding.current_condition("Available").is_some_and(|c| c.status == "False")
}

fn stuck_cluster(
    fleet: FleetView<'_>,
    run: UpdateRunView<'_>,
    cluster: StageCluster<'_>,
    reported: Option<&Condition>,
) -> FindingDraft {
    let mut evidence = symptom(fleet, run, cluster, reported);
    let started = cluster.condition("Started");
    // A newer run has taken the cluster over and finished. This run will fail at its next reconcile.
    if let (Some(preempted), Some(symptom)) =
        (PreemptedCluster::find(fleet, run, Some(fleet.now())), reported.or(started.as_ref()))
        && preempted.cluster.member == cluster.member
        && preempted.code(Some(fleet.now())) == RuleCode::KF_UR_005
    {
        return preempted.draft(fleet, run, symptom, Some(fleet.now()));
    }
    let binding = run
        .binding(fleet, cluster.member)
        .filter(|b| b.str("/spec/resourceSnapshotName") == run.resource_snapshot().as_deref());
    let done = binding.and_then(|b| Some((b, b.current_condition("Available").filter(|c| c.status == "True")?)));
    let (code, trail) = if let Some((binding, available)) = done {
        evidence.push(fleet.quote().condition(binding, &available));
        (RuleCode::KF_UR_007, FailureTrail::default())
    } else {
        let code = if started.is_some() { RuleCode::KF_UR_006 } else { RuleCode::KF_UR_008 };
        let placement = run.placement(fleet);
        (code, placement.map(|p| FailureTrail::collect(fleet, p, cluster.member)).unwrap_or_default())
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
        "snapshots": kubectl::kind_reference(run.scope.resource_snapshot(), run.object.namespace()),
        "again": kubectl::rerun_command(fleet, run, Some("")),
    });
    let subject = run.subject(fleet, Some(cluster.stage), Some(cluster.member));
    FindingDraft::new(code, subject, &names, evidence)
        .depends_on(AffectedPart::Member(cluster.member.to_owned()))
        .depends_on(AffectedPart::PlacementOn {
            namespace: run.object.namespace().map(str::to_owned),
            name: run.placement_name().to_owned(),
            member: cluster.member.to_owned(),
        })
}

fn symptom(
    fleet: FleetView<'_>,
    run: UpdateRunView<'_>,
    cluster: StageCluster<'_>,
    reported: Option<&Condition>,
) -> Vec<Evidence> {
    let quote = fleet.quote();
    let mut evidence: Vec<_> = reported.iter().map(|c| quote.condition(run.object, c)).collect();
    if let Some(started) = cluster.condition("Started") {
        evidence.push(quote.condition_in(run.object, cluster.place(), &started));
        return evidence;
    }
    // Without a record in the run, its Progressing condition and the binding are the evidence.
    evidence.extend(run.condition("Progressing").map(|c| quote.condition(run.object, &c)));
    if let Some(binding) = run.binding(fleet, cluster.member) {
        evidence.extend(binding.current_condition("RolloutStarted").map(|c| quote.condition(binding, &c)));
    }
    evidence
}
