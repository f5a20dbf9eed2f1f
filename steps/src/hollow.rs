//! Steps about fleets with hundreds of members, which are hollow: one process plays their agents.
//!
//! Placements and update runs are made by the hundred here, without names of their own: what a step says, it says of all. Steps about
//! fleets, agents and single placements, which work with hollow members too, are in the files of their nouns.

use std::time::Duration;

use cucumber::gherkin::Step;
use cucumber::{given, then, when};
use diagnosis::{Finding, KubectlAccess, Object};
use fleet::hollow::{HollowBehaviour, HollowBehaviours, MOST_HOLLOW_MEMBERS, hollow_name, ring_of};
use fleet::kinds;
use fleet::observe::{Verdict, WatchSelection, WatchedObjects};
use record::{HOLLOW_LABEL, RecordedEvent};
use serde_json::json;
use tokio::time::Instant;

use crate::context::ScenarioContext;
use crate::data_table::DataTable;
use crate::error::StepError;
use crate::expected_finding::list;
use crate::limits;
use crate::member::heartbeat;
use crate::needs::{StepRole, TableShape, needs};
use crate::params::CodeParam;
use crate::pauses::{between_reads, is_last_read};
use crate::phrases::{CommonOutcome, WithExternal, WithRing};
use crate::selected_members::pick_named;
use crate::update_run::{in_ring, max_concurrency};
use crate::world::World;

/// Table of stages of all update runs.
const STAGES: TableShape = TableShape { rows: "stages", columns: &["stage", "ring", "at once"], optional: false };

/// Interval between two reads of a fleet of hundreds of members.
const PAUSE: Duration = Duration::from_secs(5);

/// Condition of a cluster-scoped placement that is available.
const AVAILABLE: &str = "ClusterResourcePlacementAvailable";

/// Condition of a cluster-scoped placement that is scheduled.
const SCHEDULED: &str = "ClusterResourcePlacementScheduled";

/// Label on the placements that the steps of this file make.
const ALL: &str = "fleetdrill.dev/of-many";

/// Joins hollow members to the scenario's own fleet, and puts the scenario's limit off: everything takes longer on a fleet of hundreds.
pub(crate) async fn join(context: &mut ScenarioContext, count: usize) -> Result<(), StepError> {
    context.put_off(limits::HUNDREDS);
    context.fleet.set_hollow_members(count, &|_| ()).await?;
    for name in (1..=count).map(hollow_name) {
        context.ledger.names.call(&name, name.clone());
    }
    Ok(())
}

/// Creates placements of a ConfigMap and a Deployment with this image, each for this many hollow members: the first placement for the
/// first members, the next one for those after them, and again from the first one. With strategy External if the step says so.
#[when(expr = "{int} placement(s){with strategy External?} put(s) image {string} on {int} hollow members each")]
#[given(expr = "{int} placement(s){with strategy External?} put(s) image {string} on {int} hollow members each")]
async fn placements(
    world: &mut World,
    count: usize,
    external: WithExternal,
    image: String,
    members: usize,
) -> Result<(), StepError> {
    let context = world.context();
    let there = context.fleet.hollow_members().await;
    let made = context.ledger.made.iter().filter(|made| made.kind() == Some(kinds::CLUSTER_RESOURCE_PLACEMENT)).count();
    for number in 0..count {
        let name = format!("many-{:03}", made + number);
        let content = format!("{name}-app");
        context.make(kinds::NAMESPACE, None, json!({"metadata": {"name": content}})).await?;
        let settings = json!({"metadata": {"name": "settings"}, "data": {"revision": "0"}});
        context.make(kinds::CONFIG_MAP, Some(&content), settings).await?;
        context.make(kinds::DEPLOYMENT, Some(&content), crate::workload::deployment(&image)).await?;
        let selected: Vec<String> =
            (0..members).map(|offset| hollow_name((number * members + offset) % there + 1)).collect();
        let spec = json!({
            "resourceSelectors": [{"group": "", "version": "v1", "kind": "Namespace", "name": content}],
            "policy": pick_named(&selected),
            "strategy": {"type": if external.0 { "External" } else { "RollingUpdate" }},
        });
        let labels = json!({ALL: if external.0 { "external" } else { "rolling" }});
        let placement = json!({"metadata": {"name": name, "labels": labels}, "spec": spec});
        context.make(kinds::CLUSTER_RESOURCE_PLACEMENT, None, placement).await?;
    }
    context.did(format!("{count} placements created, each for {members} of {there} hollow members"));
    Ok(())
}

/// Waits until everything that steps have made by the number is so: every placement is available, or every update run has succeeded.
#[given(expr = "within {int} seconds all {outcome}")]
#[then(expr = "within {int} seconds all {outcome}")]
async fn all_are(world: &mut World, seconds: u64, outcome: CommonOutcome) -> Result<(), StepError> {
    let context = world.context();
    let (kind, what, condition) = match outcome {
        CommonOutcome::Available => (kinds::CLUSTER_RESOURCE_PLACEMENT, "placements are available", AVAILABLE),
        CommonOutcome::RunsSucceed => (kinds::CLUSTER_RUN, "update runs succeed", "Succeeded"),
    };
    let watched = WatchSelection::labelled("hub", kind, None, ALL);
    let is = |o: Object<'_>| o.current_condition(condition).is_some_and(|c| c.status == "True");
    all(context, &watched, what, Duration::from_secs(seconds), is).await.map(drop)
}

/// Starts a staged update run of each placement with strategy External, at its latest snapshot. Columns: `stage`; `ring`, the label of the
/// members that are in it; `at once`, how many of them are updated at once: a number or a part in percent.
#[needs(table: |_| Some(STAGES))]
#[given(expr = "an update run of each placement with strategy External starts")]
#[when(expr = "an update run of each placement with strategy External starts")]
async fn runs_start(world: &mut World, step: &Step) -> Result<(), StepError> {
    let context = world.context();
    let table = DataTable::of(step, &STAGES)?;
    let mut stages = Vec::new();
    for row in table.rows() {
        let (selector, at_once) = (in_ring(row.needed("ring")?), max_concurrency(row.needed("at once")?));
        stages.push(json!({"name": row.needed("stage")?, "labelSelector": selector, "maxConcurrency": at_once}));
    }
    let strategy = json!({"metadata": {"name": "rings"}, "spec": {"stages": stages}});
    context.make(kinds::CLUSTER_STRATEGY, None, strategy).await?;
    // A run that begins before its placement is scheduled fails.
    let external = format!("{ALL}=external");
    let watched = WatchSelection::labelled("hub", kinds::CLUSTER_RESOURCE_PLACEMENT, None, &external);
    let is = |o: Object<'_>| o.current_condition(SCHEDULED).is_some_and(|c| c.status == "True");
    let scheduled = all(context, &watched, "placements are scheduled", limits::AVAILABLE, is).await?;
    let names: Vec<&String> = scheduled.keys().collect();
    for name in &names {
        let spec = json!({"placementName": name, "stagedRolloutStrategyName": "rings"});
        let run = json!({"metadata": {"name": format!("{name}-run"), "labels": {ALL: "run"}}, "spec": spec});
        context.make(kinds::CLUSTER_RUN, None, run).await?;
    }
    context.did(format!("{} update runs created", names.len()));
    Ok(())
}

/// Stops the agents of the first hollow members: they send no heartbeats, and their Works stay as they are.
pub(crate) fn stop_agents(context: &ScenarioContext, count: usize) -> Result<(), StepError> {
    add_behaviour(context, agents_run(count, false))?;
    context.induced(format!("the agents of {count} hollow members stopped"));
    Ok(())
}

/// Lets the agents of the first hollow members run again, and waits until the hub-agent has taken over a heartbeat of each.
pub(crate) async fn start_agents(context: &ScenarioContext, count: usize) -> Result<(), StepError> {
    let watched = WatchSelection::labelled("hub", kinds::MEMBER_CLUSTER, None, HOLLOW_LABEL);
    let hub = context.hub();
    let seen = context.wait(&hub, &watched, "members are there", limits::REPORTED, |_| Verdict::Holds).await?.objects;
    let behaviour = agents_run(count, true);
    let members = behaviour.names.clone();
    add_behaviour(context, behaviour)?;
    context.remedied(format!("the agents of {count} hollow members run again"));
    let of = |objects: &WatchedObjects, name: &str| objects.get(name).and_then(|o| heartbeat(o)).cloned();
    let check = |objects: &WatchedObjects| {
        let silent = |name: &&String| of(objects, name) == of(&seen, name);
        match members.iter().filter(silent).count() {
            0 => Verdict::Holds,
            silent => Verdict::Pending(format!("{silent} have sent none")),
        }
    };
    context.wait(&hub, &watched, "all agents send heartbeats again", limits::AVAILABLE, check).await.map(drop)
}

/// Behaviour of hollow members whose agents run, or have stopped.
fn agents_run(count: usize, run: bool) -> HollowBehaviour {
    let names = (1..=count).map(hollow_name).collect();
    HollowBehaviour { names, heartbeats: Some(run), works: Some(run), ..HollowBehaviour::default() }
}

/// Lets workloads with this image never become available on the first hollow members, as with an image that can't be pulled there. ` with
/// ring "broad"`: on the first ones that have this label.
#[given(expr = "image {string} fails on {int} hollow members{with ring?}")]
fn image_fails(world: &mut World, image: String, count: usize, ring: WithRing) -> Result<(), StepError> {
    let context = world.context();
    let numbers = (1..=MOST_HOLLOW_MEMBERS).map(usize::from);
    let fits = move |number: &usize| ring.0.as_deref().is_none_or(|ring| ring_of(*number) == ring);
    let names: Vec<String> = numbers.filter(fits).take(count).map(hollow_name).collect();
    if names.len() < count {
        return Err(StepError::Feature(format!("there are no {count} hollow members with this ring")));
    }
    let action = format!("workloads with image {image} don't become available on {count} hollow members");
    add_behaviour(context, HollowBehaviour { names, failing_images: Some(vec![image]), ..HollowBehaviour::default() })?;
    context.induced(action);
    Ok(())
}

fn add_behaviour(context: &ScenarioContext, behaviour: HollowBehaviour) -> Result<(), StepError> {
    let HollowBehaviours { mut members } = context.fleet.hollow_behaviours()?;
    members.push(behaviour);
    Ok(context.fleet.set_hollow_behaviours(&HollowBehaviours { members })?)
}

/// The diagnosis of the whole fleet, findings put together by cause, has this finding about this many objects, and no other root.
#[needs(role: Some(StepRole::AssertsDiagnosis))]
#[then(expr = "within {int} seconds the diagnosis is one finding {code} about {int} objects")]
async fn one_finding(world: &mut World, seconds: u64, code: CodeParam, count: usize) -> Result<(), StepError> {
    let context = world.context();
    let deadline = Instant::now() + Duration::from_secs(seconds);
    loop {
        let last = is_last_read(deadline);
        let snapshot = context.fleet.needed_snapshot().await?;
        let findings = diagnosis::examine_by_cause(&snapshot, &KubectlAccess::same_names_in(&snapshot)).findings;
        let is = matches!(&findings[..], [one] if one.code.to_string() == code.0 && subjects(one) == count);
        if is || last {
            let found = format!("the diagnosis finds {}", list(&findings));
            context.recorder.add(RecordedEvent::Diagnosed { findings });
            return if is { Ok(()) } else { Err(StepError::Differs(found)) };
        }
        between_reads(PAUSE).await;
    }
}

fn subjects(finding: &Finding) -> usize {
    1 + finding.other_subjects.len()
}

/// Waits until something holds of all objects, and returns them.
async fn all(
    context: &ScenarioContext,
    watched: &WatchSelection,
    what: &str,
    limit: Duration,
    is: impl Fn(Object<'_>) -> bool,
) -> Result<WatchedObjects, StepError> {
    let check = |objects: &WatchedObjects| {
        let there = objects.values().filter(|object| is(Object::new(&***object))).count();
        if there == objects.len() { Verdict::Holds } else { Verdict::Pending(format!("{there} of {}", objects.len())) }
    };
    let hub = context.hub();
    Ok(context.wait(&hub, watched, &format!("all {what}"), limit, check).await?.objects)
}
