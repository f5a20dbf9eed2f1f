//! Steps about the policy by which a placement chooses members.

use cucumber::{given, when};
use fleet::kinds::{CLUSTER_POLICY_SNAPSHOT, POLICY_SNAPSHOT};
use fleet::observe::{Verdict, Watched};
use serde_json::{Value, json};

use crate::error::StepError;
use crate::limits;
use crate::objects::{PARENT, Scope};
use crate::params::{Members, NewPlacement};
use crate::placement::{Choice, affinity, create, create_external, first_snapshot, noticed, patch_spec};
use crate::scene::Scene;
use crate::world::World;

/// A placement (strategy RollingUpdate) with policy PickFixed. A name that nothing has in this scenario is used as it stands:
/// a member that doesn't exist.
#[given(expr = "{placement} {string} names {members}")]
#[when(expr = "{placement} {string} names {members}")]
async fn names(world: &mut World, new: NewPlacement, name: String, members: Members) -> Result<(), StepError> {
    let scene = world.scene();
    let named = known(scene, &members);
    let existing: Vec<String> = members.0.iter().filter(|m| scene.names.get(m).is_ok()).cloned().collect();
    let policy = |_: &Choice| json!({"placementType": "PickFixed", "clusterNames": named});
    create(scene, new, &name, &existing, "RollingUpdate", policy).await
}

/// Changes the names in a PickFixed policy. Waits until the hub-agent has seen it.
#[when(expr = "placement {string} names {members} instead")]
async fn names_instead(world: &mut World, name: String, members: Members) -> Result<(), StepError> {
    let scene = world.scene();
    let p = patch_spec(scene, &name, json!({"policy": {"clusterNames": known(scene, &members)}})).await?;
    scene.remedied(format!("{p} names {} instead", members.0.join(", ")));
    noticed(scene, &name).await
}

fn known(scene: &Scene, members: &Members) -> Vec<String> {
    members.0.iter().map(|m| scene.names.get(m).unwrap_or_else(|_| m.clone())).collect()
}

/// A placement with strategy External and policy PickN that asks for some of the members. Waits until it is scheduled and,
/// where KubeFleet takes one by itself (before v0.3), its first resource snapshot is there.
#[given(expr = "{placement} {string} with strategy External picks {int} of {members}")]
async fn picks(
    world: &mut World,
    new: NewPlacement,
    name: String,
    count: usize,
    members: Members,
) -> Result<(), StepError> {
    create_external(world.scene(), new, &name, &members.0, pick(count)).await
}

/// A placement with strategy External and policy PickN that asks for more members than can be had.
#[given(expr = "{placement} {string} with strategy External asks for {int} members of {members}")]
async fn asks_too_much(
    world: &mut World,
    new: NewPlacement,
    name: String,
    count: usize,
    members: Members,
) -> Result<(), StepError> {
    let scene = world.scene();
    create(scene, new, &name, &members.0, "External", pick(count)).await?;
    first_snapshot(scene, &name).await
}

/// A placement (strategy RollingUpdate) with policy PickN.
#[given(expr = "{placement} {string} asks for {int} members of {members}")]
async fn asks(
    world: &mut World,
    new: NewPlacement,
    name: String,
    count: usize,
    members: Members,
) -> Result<(), StepError> {
    let scene = world.scene();
    create(scene, new, &name, &members.0, "RollingUpdate", pick(count)).await
}

/// Changes the number of members that a PickN policy asks for. Waits until the hub-agent has seen it.
#[when(expr = "placement {string} asks for {int} members")]
async fn asks_for(world: &mut World, name: String, count: usize) -> Result<(), StepError> {
    let scene = world.scene();
    let p = patch_spec(scene, &name, json!({"policy": {"numberOfClusters": count}})).await?;
    scene.did(format!("{p}: spec.policy.numberOfClusters changed to {count}"));
    noticed(scene, &name).await
}

fn pick(count: usize) -> impl Fn(&Choice) -> Value {
    move |choice| json!({"placementType": "PickN", "numberOfClusters": count, "affinity": affinity(choice)})
}

/// Deletes the placement's policy snapshots, as somebody may who takes them for leftovers, and waits until they are gone.
#[when(expr = "the policy snapshots of placement {string} are deleted")]
async fn snapshots_deleted(world: &mut World, name: String) -> Result<(), StepError> {
    let scene = world.scene();
    let p = scene.placement(&name)?;
    let kind = if matches!(p.scope, Scope::Cluster) { CLUSTER_POLICY_SNAPSHOT } else { POLICY_SNAPSHOT };
    let watched = Watched::labelled("hub", kind, p.scope.namespace(), &format!("{PARENT}={}", p.name));
    let hub = scene.hub();
    let held = scene
        .wait(&hub, &watched, "there is a policy snapshot", limits::REPORTED, |objects| {
            if objects.is_empty() { Verdict::Pending("there is none".into()) } else { Verdict::Holds }
        })
        .await?;
    for snapshot in held.objects.keys() {
        scene.delete(kind, p.scope.namespace(), snapshot).await?;
        scene.induced(format!("{}/{snapshot} deleted", kind.kind));
    }
    let expectation = format!("{} has no policy snapshot", p.name);
    scene
        .wait(&hub, &watched, &expectation, limits::REPORTED, |objects| {
            if objects.is_empty() { Verdict::Holds } else { Verdict::Pending("one is still there".into()) }
        })
        .await?;
    Ok(())
}
