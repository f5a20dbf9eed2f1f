//! Steps about fleets with hundreds of members, which are hollow: one process plays their agents.
//!
//! Placements and update runs are made by the hundred here, without names of their own: what a step says, it says of all.

use std::time::Duration;

use cucumber::gherkin::Step;
use cucumber::{given, then, when};
use diagnosis::{Finding, KubectlAccess, Object};
use fleet::hollow::{HollowBehaviour, HollowBehaviours, hollow_name};
use fleet::kinds;
use fleet::observe::{Verdict, WatchSelection, WatchedObjects};
use record::{HOLLOW_LABEL, RecordedEvent};
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::context::ScenarioContext;
use crate::data_table::DataTable;
use crate::error::StepError;
use crate::expected_finding::list;
use crate::limits;
use crate::needs::{ProviderAbility, StepRole, TableShape, needs};
use crate::params::CodeParam;
use crate::pauses::between_reads;
use crate::phrases::{AgentsChange, WithExternal};
use crate::selected_members::named;
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

/// Starts a fleet that no other scenario uses, with a hub, this many members, and this many hollow members more. Hollow members have no
/// clusters: one process plays their agents, and says that Works are applied and available. The hub and its agent are real. The names
/// are `hollow-0001` and so on. The fleet ends with the scenario. Must be the first step. Tag the scenario `@scale`.
#[needs(ability: |_| Some(ProviderAbility::PlayMembers), role: Some(StepRole::LeavesSharedFleet))]
#[given(expr = "a fleet of its own with {int} member(s) and {int} hollow member(s)")]
async fn fleet_of_its_own(world: &mut World, members: usize, hollow: usize) -> Result<(), StepError> {
    let context = world.context();
    context.move_to_own_fleet(members, false).await?;
    context.fleet.set_hollow_members(hollow, &|_| ()).await?;
    let name = context.fleet.name();
    context.did(format!(
        "fleet {name} started, with {hollow} hollow members: no clusters, one process plays their agents"
    ));
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
        let term = json!([{"labelSelector": named(&selected)}]);
        let affinity = json!({"requiredDuringSchedulingIgnoredDuringExecution": {"clusterSelectorTerms": term}});
        let spec = json!({
            "resourceSelectors": [{"group": "", "version": "v1", "kind": "Namespace", "name": content}],
            "policy": {"placementType": "PickAll", "affinity": {"clusterAffinity": affinity}},
            "strategy": {"type": if external.0 { "External" } else { "RollingUpdate" }},
        });
        let labels = json!({ALL: if external.0 { "external" } else { "rolling" }});
        let placement = json!({"metadata": {"name": name, "labels": labels}, "spec": spec});
        context.make(kinds::CLUSTER_RESOURCE_PLACEMENT, None, placement).await?;
    }
    context.did(format!("{count} placements created, each for {members} of {there} hollow members"));
    Ok(())
}

/// Waits until every placement is available that a step has made by the number.
#[given(expr = "within {int} seconds all placements are available")]
#[then(expr = "within {int} seconds all placements are available")]
async fn all_available(world: &mut World, seconds: u64) -> Result<(), StepError> {
    let context = world.context();
    let watched = WatchSelection::labelled("hub", kinds::CLUSTER_RESOURCE_PLACEMENT, None, ALL);
    let is = |o: Object<'_>| o.current_condition(AVAILABLE).is_some_and(|c| c.status == "True");
    all(context, &watched, "placements are available", Duration::from_secs(seconds), is).await.map(drop)
}

/// Starts a staged update run of each placement with strategy External, at its latest snapshot. Columns: `stage`; `ring`, the label of the
/// members that are in it; `at once`, how many of them are updated at once: a number or a part in percent.
#[needs(table: |_| Some(STAGES))]
#[when(expr = "an update run of each placement with strategy External starts")]
async fn runs_start(world: &mut World, step: &Step) -> Result<(), StepError> {
    let context = world.context();
    let table = DataTable::of(step, &STAGES)?;
    let mut stages = Vec::new();
    for row in table.rows() {
        let at_once = row.needed("at once")?;
        let at_once: Value = at_once.parse::<u32>().map_or_else(|_| at_once.into(), Into::into);
        let selector = json!({"matchLabels": {"ring": row.needed("ring")?}});
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

/// Waits until all update runs have succeeded that a step has started for each placement.
#[then(expr = "within {int} seconds all update runs succeed")]
async fn runs_succeed(world: &mut World, seconds: u64) -> Result<(), StepError> {
    let context = world.context();
    let watched = WatchSelection::labelled("hub", kinds::CLUSTER_RUN, None, ALL);
    let is = |o: Object<'_>| o.current_condition("Succeeded").is_some_and(|c| c.status == "True");
    all(context, &watched, "update runs succeed", Duration::from_secs(seconds), is).await.map(drop)
}

/// Stops the agents of the first hollow members: they send no heartbeats, and their Works stay as they are. Or lets them run again, and
/// waits until the hub-agent has taken over a heartbeat of each.
#[when(expr = "the agents of {int} hollow members {stop or run again}")]
async fn agents(world: &mut World, count: usize, change: AgentsChange) -> Result<(), StepError> {
    let context = world.context();
    let behaviour = HollowBehaviour {
        names: (1..=count).map(hollow_name).collect(),
        heartbeats: Some(change.run),
        works: Some(change.run),
        ..HollowBehaviour::default()
    };
    let members: Vec<String> = behaviour.names.clone();
    if !change.run {
        add_behaviour(context, behaviour)?;
        context.induced(format!("the agents of {count} hollow members stopped"));
        return Ok(());
    }
    let watched = WatchSelection::labelled("hub", kinds::MEMBER_CLUSTER, None, HOLLOW_LABEL);
    let hub = context.hub();
    let seen = context.wait(&hub, &watched, "members are there", limits::REPORTED, |_| Verdict::Holds).await?.objects;
    add_behaviour(context, behaviour)?;
    context.remedied(format!("the agents of {count} hollow members run again"));
    let check = |objects: &WatchedObjects| {
        let silent = |name: &&String| heartbeat(objects, name) == heartbeat(&seen, name);
        match members.iter().filter(silent).count() {
            0 => Verdict::Holds,
            silent => Verdict::Pending(format!("{silent} have sent none")),
        }
    };
    context.wait(&hub, &watched, "all agents send heartbeats again", limits::AVAILABLE, check).await.map(drop)
}

/// Returns the time of a member's last heartbeat.
fn heartbeat<'a>(members: &'a WatchedObjects, name: &str) -> Option<&'a Value> {
    members.get(name)?.pointer("/status/agentStatus/0/lastReceivedHeartbeat")
}

/// Lets workloads with this image never become available on the first hollow members, as with an image that can't be pulled there.
#[given(expr = "image {string} fails on {int} hollow members")]
fn image_fails(world: &mut World, image: String, count: usize) -> Result<(), StepError> {
    let context = world.context();
    let action = format!("workloads with image {image} don't become available on {count} hollow members");
    let behaviour = HollowBehaviour {
        names: (1..=count).map(hollow_name).collect(),
        failing_images: Some(vec![image]),
        ..HollowBehaviour::default()
    };
    add_behaviour(context, behaviour)?;
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
        let snapshot = context.fleet.needed_snapshot().await?;
        let findings = diagnosis::examine_by_cause(&snapshot, &KubectlAccess::same_names()).findings;
        let is = matches!(&findings[..], [one] if one.code.to_string() == code.0 && subjects(one) == count);
        if is || Instant::now() > deadline {
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
