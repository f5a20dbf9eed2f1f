//! Steps about placements and the resources that they put on members.

use cucumber::{given, then, when};
use diagnosis::Object;
use fleet::kinds;
use fleet::observe::{Verdict, Watched};
use serde_json::{Value, json};

use crate::error::StepError;
use crate::limits;
use crate::objects::{Placement, Scope};
use crate::params::Members;
use crate::scene::Scene;
use crate::world::World;

/// The ConfigMap that stands for a placement's workload.
const SETTINGS: &str = "settings";

/// A placement (strategy RollingUpdate) with a namespace of its own to place, whose resources are available on the
/// members.
#[given(expr = "a placement {string} has put its resources on {members}")]
async fn has_put(world: &mut World, name: String, members: Members) -> Result<(), StepError> {
    let scene = world.scene();
    create(scene, &name, &members.0, "RollingUpdate").await?;
    available_on(scene, &name, &members.0).await
}

/// A placement (strategy RollingUpdate) with a namespace of its own to place. What comes of it is for other steps to
/// say.
#[given(expr = "a placement {string} selects {members}")]
#[when(expr = "a placement {string} selects {members}")]
async fn selects(world: &mut World, name: String, members: Members) -> Result<(), StepError> {
    create(world.scene(), &name, &members.0, "RollingUpdate").await
}

/// A placement with strategy External: nothing is rolled out until an update run does it. Waits until its members are
/// scheduled and its first resource snapshot is there.
#[given(expr = "a placement {string} with strategy External selects {members}")]
async fn selects_external(world: &mut World, name: String, members: Members) -> Result<(), StepError> {
    let scene = world.scene();
    create(scene, &name, &members.0, "External").await?;
    snapshot_exists(scene, &name, 0).await
}

/// Changes the placement's policy to other members, as the guide's first resolution says.
#[when(expr = "placement {string} selects {members} instead")]
async fn selects_instead(world: &mut World, name: String, members: Members) -> Result<(), StepError> {
    let scene = world.scene();
    let placement = scene.placement(&name)?;
    let label = choose(scene, &format!("{}-instead", placement.name), &members.0).await?;
    let patch = json!({"spec": {"policy": {"affinity": affinity(&label)}}});
    let (kind, namespace) = (placement.scope.placement(), placement.scope.namespace());
    scene.patch(kind, namespace, &placement.name, patch).await?;
    scene.remedied(format!("{}/{} selects {} instead", kind.kind, placement.name, members.0.join(", ")));
    Ok(())
}

/// Deletes the placement and waits until it is gone.
#[when(expr = "placement {string} is deleted")]
async fn is_deleted(world: &mut World, name: String) -> Result<(), StepError> {
    let scene = world.scene();
    let p = scene.placement(&name)?;
    let (kind, namespace) = (p.scope.placement(), p.scope.namespace());
    scene.delete(kind, namespace, &p.name).await?;
    scene.did(format!("{}/{} deleted", kind.kind, p.name));
    let watched = Watched::one("hub", kind, namespace, &p.name);
    let hub = scene.hub();
    let gone = |there: bool| if there { Verdict::Pending("still there".into()) } else { Verdict::Holds };
    let expectation = format!("{} is gone", p.name);
    scene.wait(&hub, &watched, &expectation, limits::AVAILABLE, |objects| gone(objects.contains_key(&p.name))).await?;
    Ok(())
}

/// Waits until the placement says that it is available at its present generation, on these members and no others, and
/// the resources are really there.
#[then(expr = "placement {string} becomes available on {members}")]
async fn becomes_available(world: &mut World, name: String, members: Members) -> Result<(), StepError> {
    available_on(world.scene(), &name, &members.0).await
}

/// The placement says that all is well, and has said so for its present generation: for a placement that stays green
/// although it shouldn't.
#[then(expr = "placement {string} still says that it is available")]
async fn still_says(world: &mut World, name: String) -> Result<(), StepError> {
    let scene = world.scene();
    let placement = scene.placement(&name)?;
    let watched = Watched::one("hub", placement.scope.placement(), placement.scope.namespace(), &placement.name);
    let expectation = format!("{} says that it is available", placement.name);
    let hub = scene.hub();
    scene.wait(&hub, &watched, &expectation, limits::REPORTED, |objects| says_available(&placement, objects, None)).await?;
    Ok(())
}

/// Waits until the placement's resources are no longer on the member.
#[then(expr = "the resources of placement {string} are gone from {string}")]
async fn are_gone(world: &mut World, name: String, member: String) -> Result<(), StepError> {
    let scene = world.scene();
    let placement = scene.placement(&name)?;
    let member = scene.fleet.member(&scene.names.get(&member)?).await?.cluster;
    let watched = Watched::one(&member.name, kinds::NAMESPACE, None, &placement.content);
    let expectation = format!("Namespace/{} is gone from {}", placement.content, member.name);
    let check = |there: bool| if there { Verdict::Pending("still there".into()) } else { Verdict::Holds };
    scene
        .wait(&member, &watched, &expectation, limits::WITHDRAWN, |objects| check(objects.contains_key(&placement.content)))
        .await?;
    Ok(())
}

/// Waits until the placement's resources are on the members as they are on the hub.
#[then(expr = "the resources of placement {string} are on {members}")]
async fn are_on(world: &mut World, name: String, members: Members) -> Result<(), StepError> {
    let scene = world.scene();
    let placement = scene.placement(&name)?;
    resources_on(scene, &placement, &members.0).await
}

/// Changes the placement's resources on the hub, which makes a new resource snapshot.
#[given(expr = "the resources of placement {string} change")]
#[when(expr = "the resources of placement {string} change")]
async fn change(world: &mut World, name: String) -> Result<(), StepError> {
    change_resources(world.scene(), &name).await
}

/// Changes the placement's resources on the hub and waits until the change is on the members: the whole path works.
#[then(expr = "a change to the resources of placement {string} arrives on {members}")]
async fn change_arrives(world: &mut World, name: String, members: Members) -> Result<(), StepError> {
    let scene = world.scene();
    change_resources(scene, &name).await?;
    let placement = scene.placement(&name)?;
    resources_on(scene, &placement, &members.0).await?;
    available_on(scene, &name, &members.0).await
}

async fn create(scene: &mut Scene, name: &str, members: &[String], strategy: &str) -> Result<(), StepError> {
    let real = scene.names.make(name);
    let content = format!("{real}-app");
    scene.make(kinds::NAMESPACE, None, json!({"metadata": {"name": content}})).await?;
    scene.make(kinds::CONFIG_MAP, Some(&content), json!({"metadata": {"name": SETTINGS}, "data": {"revision": "0"}})).await?;
    let label = choose(scene, &real, members).await?;
    let placement = Placement { name: real.clone(), scope: Scope::Cluster, content: content.clone(), revision: 0 };
    let kind = placement.scope.placement();
    let hub = scene.hub();
    scene.follow(&hub, &Watched::one("hub", kind, None, &real));
    scene
        .make(kind, None, json!({
            "metadata": {"name": real},
            "spec": {
                "resourceSelectors": [{"group": "", "version": "v1", "kind": "Namespace", "name": content}],
                "policy": {"placementType": "PickAll", "affinity": affinity(&label)},
                "strategy": {"type": strategy},
            },
        }))
        .await?;
    scene.did(format!("{}/{real} (strategy {strategy}) selects Namespace/{content} for {}", kind.kind, members.join(", ")));
    scene.placements.insert(name.to_owned(), placement);
    Ok(())
}

/// Gives the members a label by which a policy can select them.
async fn choose(scene: &mut Scene, label: &str, members: &[String]) -> Result<String, StepError> {
    let key = format!("fleetdrill.dev/{label}");
    for member in members {
        let member = scene.names.get(member)?;
        scene.label_member(&member, json!({ &key: "true" })).await?;
    }
    Ok(key)
}

fn affinity(label: &str) -> Value {
    json!({"clusterAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"clusterSelectorTerms": [
        {"labelSelector": {"matchLabels": {label: "true"}}}
    ]}}})
}

async fn change_resources(scene: &mut Scene, name: &str) -> Result<(), StepError> {
    let mut placement = scene.placement(name)?;
    placement.revision += 1;
    let data = json!({"data": {"revision": placement.revision.to_string()}});
    scene.patch(kinds::CONFIG_MAP, Some(&placement.content), SETTINGS, data).await?;
    scene.did(format!("ConfigMap/{}/{SETTINGS} changed to revision {}", placement.content, placement.revision));
    let revision = placement.revision;
    scene.placements.insert(name.to_owned(), placement);
    snapshot_exists(scene, name, revision).await
}

/// Waits until the placement has a resource snapshot of this index.
async fn snapshot_exists(scene: &Scene, name: &str, index: u32) -> Result<(), StepError> {
    let p = scene.placement(name)?;
    let labels = format!("kubernetes-fleet.io/parent-CRP={}", p.name);
    let watched = Watched::labelled("hub", p.scope.resource_snapshot(), p.scope.namespace(), &labels);
    let expectation = format!("{} has a resource snapshot with index {index}", p.name);
    let index = index.to_string();
    let has = |o: &Value| Object::new(o).label("kubernetes-fleet.io/resource-index") == Some(&index);
    let hub = scene.hub();
    scene
        .wait(&hub, &watched, &expectation, limits::REPORTED, |objects| {
            if objects.values().any(|o| has(o)) { Verdict::Holds } else { Verdict::Pending("no such snapshot".into()) }
        })
        .await?;
    Ok(())
}

async fn available_on(scene: &Scene, name: &str, members: &[String]) -> Result<(), StepError> {
    let placement = scene.placement(name)?;
    let real: Result<Vec<String>, _> = members.iter().map(|m| scene.names.get(m)).collect();
    let mut real = real?;
    real.sort();
    let watched = Watched::one("hub", placement.scope.placement(), placement.scope.namespace(), &placement.name);
    let expectation = format!("{} becomes available on {}", placement.name, real.join(", "));
    let hub = scene.hub();
    scene
        .wait(&hub, &watched, &expectation, limits::AVAILABLE, |objects| says_available(&placement, objects, Some(&real)))
        .await?;
    resources_on(scene, &placement, members).await
}

fn says_available(placement: &Placement, objects: &fleet::observe::Objects, members: Option<&[String]>) -> Verdict {
    let Some(value) = objects.get(&placement.name) else {
        return absent(objects, &placement.name);
    };
    let object = Object::new(value);
    for type_ in ["Scheduled", "RolloutStarted", "WorkSynchronized", "Applied", "Available"] {
        match object.current_condition(&placement.condition(type_)) {
            Some(c) if c.status == "True" => {}
            Some(c) => return Verdict::Pending(format!("{type_} is {} {}: {}", c.status, c.reason, c.message)),
            None => return Verdict::Pending(format!("{type_} isn't there at this generation")),
        }
    }
    let mut on: Vec<&str> =
        object.list("/status/placementStatuses").iter().filter_map(|s| s.get("clusterName")?.as_str()).collect();
    on.sort_unstable();
    match members {
        Some(members) if on != members => Verdict::Pending(format!("it is on {}", on.join(", "))),
        _ => Verdict::Holds,
    }
}

/// An object that was deleted won't come back; one that was just made may not have been seen yet.
pub(crate) fn absent(objects: &fleet::observe::Objects, name: &str) -> Verdict {
    if objects.is_gone(name) { Verdict::Never("it is gone".into()) } else { Verdict::Pending("it isn't there yet".into()) }
}

async fn resources_on(scene: &Scene, placement: &Placement, members: &[String]) -> Result<(), StepError> {
    let revision = placement.revision.to_string();
    for member in members {
        let member = scene.fleet.member(&scene.names.get(member)?).await?.cluster;
        let watched = Watched::one(&member.name, kinds::CONFIG_MAP, Some(&placement.content), SETTINGS);
        let expectation = format!("revision {revision} of {} is on {}", placement.content, member.name);
        scene
            .wait(&member, &watched, &expectation, limits::AVAILABLE, |objects| {
                match objects.get(SETTINGS).and_then(|o| o.pointer("/data/revision")?.as_str()) {
                    Some(is) if is == revision => Verdict::Holds,
                    Some(is) => Verdict::Pending(format!("revision {is} is there")),
                    None => Verdict::Pending("no ConfigMap is there".into()),
                }
            })
            .await?;
    }
    Ok(())
}
