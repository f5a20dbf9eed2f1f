//! Steps about placements and the resources that they put on members.

use std::collections::BTreeMap;

use cucumber::{given, then, when};
use diagnosis::{Condition, Object};
use fleet::FleetError;
use fleet::capability::Capability;
use fleet::kinds;
use fleet::observe::{Objects, Verdict, Watched};
use kube::api::ListParams;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::binding;
use crate::envelope::ENVELOPE;
use crate::error::StepError;
use crate::limits;
use crate::objects::{PARENT, Placement, Scope};
use crate::params::{Members, NewPlacement};
use crate::scene::Scene;
use crate::world::World;

/// The ConfigMap that stands for a placement's workload.
pub(crate) const SETTINGS: &str = "settings";

/// The Deployment that a placement may have too.
pub(crate) const DEPLOYMENT: &str = "app";

/// A placement (strategy RollingUpdate) with a namespace of its own to place, whose resources are available on the
/// members.
#[given(expr = "{placement} {string} has put its resources on {members}")]
async fn has_put(world: &mut World, new: NewPlacement, name: String, members: Members) -> Result<(), StepError> {
    let scene = world.scene();
    create(scene, new, &name, &members.0, "RollingUpdate", pick_all).await?;
    available_on(scene, &name, &members.0).await
}

/// A placement (strategy RollingUpdate) with a namespace of its own to place. What comes of it is for other steps to
/// say.
#[given(expr = "{placement} {string} selects {members}")]
#[when(expr = "{placement} {string} selects {members}")]
async fn selects(world: &mut World, new: NewPlacement, name: String, members: Members) -> Result<(), StepError> {
    create(world.scene(), new, &name, &members.0, "RollingUpdate", pick_all).await
}

/// A placement with strategy External: nothing is rolled out until an update run does it. Waits until its members are
/// scheduled and, where KubeFleet takes one by itself (before v0.3), its first resource snapshot is there.
#[given(expr = "{placement} {string} with strategy External selects {members}")]
async fn selects_external(
    world: &mut World,
    new: NewPlacement,
    name: String,
    members: Members,
) -> Result<(), StepError> {
    create_external(world.scene(), new, &name, &members.0, pick_all).await
}

/// A placement with strategy External whose policy no member satisfies.
#[given(expr = "{placement} {string} with strategy External selects no member")]
async fn selects_none(world: &mut World, new: NewPlacement, name: String) -> Result<(), StepError> {
    create_external(world.scene(), new, &name, &[], pick_all).await
}

/// Changes the policy in a way that makes a new policy snapshot, and waits until the placement is scheduled by it.
#[when(expr = "the policy of placement {string} changes")]
async fn policy_changes(world: &mut World, name: String) -> Result<(), StepError> {
    let scene = world.scene();
    let term = json!({"preferredDuringSchedulingIgnoredDuringExecution": [
        {"weight": 10, "preference": {"labelSelector": {"matchLabels": {"fleetdrill.dev/preferred": "true"}}}}
    ]});
    change_spec(scene, &name, "its policy changed", json!({"policy": {"affinity": {"clusterAffinity": term}}})).await?;
    scheduled(scene, &name).await
}

/// Changes how the placement applies resources.
#[when(expr = "the apply strategy of placement {string} changes")]
async fn apply_strategy_changes(world: &mut World, name: String) -> Result<(), StepError> {
    let spec = json!({"strategy": {"applyStrategy": {"whenToTakeOver": "Never"}}});
    change_spec(world.scene(), &name, "its applyStrategy.whenToTakeOver changed to Never", spec).await
}

/// Gives the placement strategy RollingUpdate instead of External.
#[when(expr = "placement {string} gets strategy RollingUpdate")]
async fn gets_rolling_update(world: &mut World, name: String) -> Result<(), StepError> {
    let spec = json!({"strategy": {"type": "RollingUpdate"}});
    change_spec(world.scene(), &name, "its strategy changed from External to RollingUpdate", spec).await
}

/// Leaves the placement's rollout to update runs. Waits until the hub-agent has seen it.
#[when(expr = "placement {string} gets strategy External")]
async fn gets_external(world: &mut World, name: String) -> Result<(), StepError> {
    let scene = world.scene();
    let p = patch_spec(scene, &name, json!({"strategy": {"type": "External"}})).await?;
    scene.remedied(format!("{p}: its strategy changed to External"));
    noticed(scene, &name).await
}

/// Tries to give the placement strategy RollingUpdate. The API server has to refuse it, with this in what it says.
#[then(expr = "giving placement {string} strategy RollingUpdate is refused with {string}")]
async fn rolling_update_is_refused(world: &mut World, name: String, why: String) -> Result<(), StepError> {
    let scene = world.scene();
    let p = scene.placement(&name)?;
    let spec = json!({"spec": {"strategy": {"type": "RollingUpdate"}}});
    let patched = scene.patch(p.scope.placement(), p.scope.namespace(), &p.name, spec).await;
    scene.refused(patched, &why)
}

/// Gives one more member the label by which the placement's policy selects.
#[when(expr = "placement {string} selects {string} too")]
async fn selects_too(world: &mut World, name: String, member: String) -> Result<(), StepError> {
    let scene = world.scene();
    let placement = scene.placement(&name)?;
    let real = scene.names.get(&member)?;
    scene.label_member(&real, json!({ label(&placement.name): "true" })).await?;
    scene.induced(format!("{member} got the label that {} selects by", placement.name));
    Ok(())
}

/// The placement itself still says that it is scheduled, and the clusters that it names are these.
#[then(expr = "placement {string} is scheduled to {members}")]
async fn is_scheduled(world: &mut World, name: String, members: Members) -> Result<(), StepError> {
    let scene = world.scene();
    let placement = scene.placement(&name)?;
    let real: Result<Vec<String>, _> = members.0.iter().map(|m| scene.names.get(m)).collect();
    let mut real = real?;
    real.sort();
    let watched = placement.watched();
    let hub = scene.hub();
    let expectation = format!("{} is scheduled to {}", placement.name, real.join(", "));
    scene
        .wait(&hub, &watched, &expectation, limits::REPORTED, |objects| {
            let Some(value) = objects.get(&placement.name) else { return absent(objects, &placement.name) };
            let on = clusters(Object::new(value));
            if on == real { Verdict::Holds } else { Verdict::Pending(format!("it is scheduled to {}", on.join(", "))) }
        })
        .await?;
    Ok(())
}

/// Changes the placement's policy to other members, as the guide's first resolution says.
#[when(expr = "placement {string} selects {members} instead")]
async fn selects_instead(world: &mut World, name: String, members: Members) -> Result<(), StepError> {
    let scene = world.scene();
    let placement = scene.placement(&name)?;
    let choice = choose(scene, &format!("{}-instead", placement.name), &members.0)?;
    let patch = json!({"spec": {"policy": {"affinity": affinity(&choice)}}});
    let (kind, namespace) = (placement.scope.placement(), placement.scope.namespace());
    if namespace.is_some() {
        // Its namespace has to be there first.
        let of_namespace = namespace_placement(&placement.name);
        scene.patch(kinds::CLUSTER_RESOURCE_PLACEMENT, None, &of_namespace, patch.clone()).await?;
    }
    scene.patch(kind, namespace, &placement.name, patch).await?;
    scene.remedied(format!("{}/{} selects {} instead", kind.kind, placement.name, members.0.join(", ")));
    Ok(())
}

/// Deletes the placement and waits until it is gone.
#[when(expr = "placement {string} is deleted")]
async fn is_deleted(world: &mut World, name: String) -> Result<(), StepError> {
    let scene = world.scene();
    let p = scene.placement(&name)?;
    scene.did(format!("{}/{} deleted", p.scope.placement().kind, p.name));
    delete_placement(scene, &p).await
}

/// Waits until the placement's bindings and Works are gone: what it had made on the hub is collected.
#[then(expr = "no binding and no Work of placement {string} is left")]
async fn collected(world: &mut World, name: String) -> Result<(), StepError> {
    let scene = world.scene();
    let p = scene.placement(&name)?;
    let hub = scene.hub();
    let labels = format!("{PARENT}={}", p.name);
    for (kind, namespace) in [(p.scope.binding(), p.scope.namespace()), (kinds::WORK, None)] {
        let watched = Watched::labelled("hub", kind, namespace, &labels);
        let expectation = format!("no {} of {} is left", kind.kind, p.name);
        scene
            .wait(&hub, &watched, &expectation, limits::AVAILABLE, |objects| {
                let left: Vec<&str> = objects.keys().map(String::as_str).collect();
                if left.is_empty() { Verdict::Holds } else { Verdict::Pending(format!("{} is left", left.join(", "))) }
            })
            .await?;
    }
    Ok(())
}

/// Waits until the placement says that it is available at its present generation, on these members and no others, and
/// the resources are really there.
#[given(expr = "placement {string} becomes available on {members}")]
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
    let watched = placement.watched();
    let expectation = format!("{} says that it is available", placement.name);
    let hub = scene.hub();
    scene
        .wait(&hub, &watched, &expectation, limits::REPORTED, |objects| says_available(&placement, objects, None))
        .await?;
    Ok(())
}

/// Waits until the placement's resources are no longer on the member.
#[then(expr = "the resources of placement {string} are gone from {string}")]
async fn are_gone(world: &mut World, name: String, member: String) -> Result<(), StepError> {
    let scene = world.scene();
    let placement = scene.placement(&name)?;
    let member = scene.fleet.member(&scene.names.get(&member)?).await?.cluster;
    let watched = Watched::one(&member.name, kinds::CONFIG_MAP, Some(&placement.content), SETTINGS);
    let expectation = format!("ConfigMap/{}/{SETTINGS} is gone from {}", placement.content, member.name);
    scene.wait(&member, &watched, &expectation, limits::WITHDRAWN, |objects| Verdict::gone(objects, SETTINGS)).await?;
    Ok(())
}

/// Waits until the placement's resources are on the members as they are on the hub.
#[given(expr = "the resources of placement {string} are on {members}")]
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

pub(crate) async fn create(
    scene: &mut Scene,
    new: NewPlacement,
    name: &str,
    members: &[String],
    strategy: &str,
    policy: impl Fn(&Choice) -> Value,
) -> Result<(), StepError> {
    create_with(scene, new, name, members, json!({"type": strategy}), policy).await
}

/// With strategy External. Waits until it is scheduled and, where KubeFleet takes one by itself, its first resource snapshot
/// is there. Its bindings are [held](binding::hold).
pub(crate) async fn create_external(
    scene: &mut Scene,
    new: NewPlacement,
    name: &str,
    members: &[String],
    policy: impl Fn(&Choice) -> Value,
) -> Result<(), StepError> {
    create(scene, new, name, members, "External", policy).await?;
    loop {
        scheduled(scene, name).await?;
        binding::hold(scene, name).await?;
        first_snapshot(scene, name).await?;
        if scene.placement(name)?.snapshots <= 1 {
            return Ok(());
        }
        // Scenarios ask for snapshots by their indexes.
        make_again(scene, name).await?;
    }
}

/// Creates a placement again of which nothing has been rolled out yet: its snapshots are counted from 0 again.
async fn make_again(scene: &mut Scene, name: &str) -> Result<(), StepError> {
    let mut p = scene.placement(name)?;
    let (kind, namespace) = (p.scope.placement(), p.scope.namespace().map(ToOwned::to_owned));
    let failed = FleetError::api("hub", format!("read {}/{}", kind.kind, p.name));
    let object = kind.api(&scene.hub().client, namespace.as_deref()).get(&p.name).await.map_err(failed)?;
    delete_placement(scene, &p).await?;
    let again = json!({"metadata": {"name": p.name}, "spec": object.data.get("spec")});
    scene.make(kind, namespace.as_deref(), again).await?;
    let there = |objects: &Objects| match objects.get(&p.name) {
        Some(_) => Verdict::Holds,
        None => Verdict::Pending("not yet".into()),
    };
    scene.wait(&scene.hub(), &p.watched(), &format!("{} is there", p.name), limits::REPORTED, there).await?;
    scene.did(format!("{}/{} is created again: all of its resource snapshots are to be whole", kind.kind, p.name));
    p.snapshots = 1;
    scene.placements.insert(name.to_owned(), p);
    Ok(())
}

/// Deletes a placement and waits until it is gone.
async fn delete_placement(scene: &Scene, p: &Placement) -> Result<(), StepError> {
    scene.delete(p.scope.placement(), p.scope.namespace(), &p.name).await?;
    let expectation = format!("{} is gone", p.name);
    let gone = |objects: &Objects| Verdict::gone(objects, &p.name);
    scene.wait(&scene.hub(), &p.watched(), &expectation, limits::AVAILABLE, gone).await?;
    Ok(())
}

/// With a whole strategy, and a policy made from the label that the members get.
pub(crate) async fn create_with(
    scene: &mut Scene,
    new: NewPlacement,
    name: &str,
    members: &[String],
    strategy: Value,
    policy: impl Fn(&Choice) -> Value,
) -> Result<(), StepError> {
    let real = scene.names.make(name);
    let content = format!("{real}-app");
    scene.make(kinds::NAMESPACE, None, json!({"metadata": {"name": content}})).await?;
    scene
        .make(kinds::CONFIG_MAP, Some(&content), json!({"metadata": {"name": SETTINGS}, "data": {"revision": "0"}}))
        .await?;
    let choice = choose(scene, &real, members)?;
    let scope = if new.namespaced { Scope::Namespace(content.clone()) } else { Scope::Cluster };
    if new.namespaced {
        place_namespace(scene, &real, &content, &choice).await?;
    }
    let (kind, namespace) = (scope.placement(), scope.namespace().map(ToOwned::to_owned));
    let hub = scene.hub();
    scene.follow(&hub, &Watched::one("hub", kind, namespace.as_deref(), &real));
    let selectors = if new.namespaced {
        // In a namespace, everything that a scenario may put there.
        json!([
            {"group": "", "version": "v1", "kind": "ConfigMap", "name": SETTINGS},
            {"group": "apps", "version": "v1", "kind": "Deployment", "name": DEPLOYMENT},
            {"group": kinds::ENVELOPE.group, "version": "v1beta1", "kind": "ResourceEnvelope", "name": ENVELOPE},
        ])
    } else {
        let envelope = format!("{real}-{ENVELOPE}");
        json!([
            {"group": "", "version": "v1", "kind": "Namespace", "name": content},
            {"group": kinds::ENVELOPE.group, "version": "v1beta1", "kind": "ClusterResourceEnvelope", "name": envelope},
        ])
    };
    scene
        .make(
            kind,
            namespace.as_deref(),
            json!({
                "metadata": {"name": real},
                "spec": {"resourceSelectors": selectors, "policy": policy(&choice), "strategy": strategy},
            }),
        )
        .await?;
    let on = if members.is_empty() { "no member".to_owned() } else { members.join(", ") };
    let type_ = strategy["type"].as_str().unwrap_or_default();
    scene.did(format!("{}/{real} (strategy {type_}) selects what is in namespace {content} for {on}", kind.kind));
    let snapshots_by_runs = type_ == "External" && scene.fleet.capabilities().can(Capability::SnapshotsByRuns);
    let snapshots = u32::from(!snapshots_by_runs);
    let placement = Placement {
        name: real.clone(),
        scope,
        content,
        choice,
        revision: 0,
        snapshots,
        snapshots_by_runs,
        enveloped: false,
    };
    scene.placements.insert(name.to_owned(), placement);
    Ok(())
}

/// A ResourcePlacement places what is in a namespace, not the namespace: that has to be on the members already.
pub(crate) async fn place_namespace(
    scene: &mut Scene,
    real: &str,
    content: &str,
    choice: &Choice,
) -> Result<(), StepError> {
    let selector = json!({
        "group": "", "version": "v1", "kind": "Namespace", "name": content, "selectionScope": "NamespaceOnly",
    });
    let spec =
        json!({"resourceSelectors": [selector], "policy": pick_all(choice), "strategy": {"type": "RollingUpdate"}});
    let name = namespace_placement(real);
    scene.make(kinds::CLUSTER_RESOURCE_PLACEMENT, None, json!({"metadata": {"name": name}, "spec": spec})).await
}

/// The name of the placement that puts the namespace of a ResourcePlacement on the members.
fn namespace_placement(real: &str) -> String {
    format!("{real}-ns")
}

pub(crate) fn pick_all(choice: &Choice) -> Value {
    json!({"placementType": "PickAll", "affinity": affinity(choice)})
}

pub(crate) async fn change_spec(scene: &mut Scene, name: &str, what: &str, spec: Value) -> Result<(), StepError> {
    let p = patch_spec(scene, name, spec).await?;
    scene.induced(format!("{p}: {what}"));
    Ok(())
}

/// Merges this into a placement's spec; gives the placement as `Kind/name`, to say so.
pub(crate) async fn patch_spec(scene: &Scene, name: &str, spec: Value) -> Result<String, StepError> {
    let p = scene.placement(name)?;
    let kind = p.scope.placement();
    scene.patch(kind, p.scope.namespace(), &p.name, json!({"spec": spec})).await?;
    Ok(format!("{}/{}", kind.kind, p.name))
}

/// Waits for a resource snapshot with the ConfigMap in it, where one comes by itself.
///
/// A hub-agent whose cache is behind takes the first one without it, and a second one a moment later. A run would roll out what was
/// asked for by its index: nothing but the namespace (v0.1.2, once in some twenty runs of all scenarios).
pub(crate) async fn first_snapshot(scene: &mut Scene, name: &str) -> Result<(), StepError> {
    let mut p = scene.placement(name)?;
    if p.snapshots_by_runs {
        return Ok(());
    }
    let labels = format!("{PARENT}={}", p.name);
    let watched = Watched::labelled("hub", p.scope.resource_snapshot(), p.scope.namespace(), &labels);
    let expectation = format!("{} has a resource snapshot with ConfigMap/{SETTINGS}", p.name);
    let (hub, mut index) = (scene.hub(), None);
    scene
        .wait(&hub, &watched, &expectation, limits::REPORTED, |objects| {
            let whole = objects.values().map(|o| Object::new(o)).filter(|o| has_settings(*o));
            index = whole.filter_map(|o| o.label(INDEX)?.parse::<u32>().ok()).max();
            if index.is_some() { Verdict::Holds } else { Verdict::Pending("no such snapshot".into()) }
        })
        .await?;
    if let Some(index) = index.filter(|index| *index > 0) {
        let first = "KubeFleet hadn't heard of ConfigMap";
        scene.did(format!("{first}/{SETTINGS} when it took resource snapshot 0 of {}: {index} has it", p.name));
        p.snapshots = index + 1;
        scene.placements.insert(name.to_owned(), p);
    }
    Ok(())
}

/// Whether a resource snapshot has the placement's ConfigMap in it.
fn has_settings(snapshot: Object<'_>) -> bool {
    let mut resources = snapshot.list("/spec/selectedResources").iter().map(Object::new);
    resources.any(|resource| resource.kind() == "ConfigMap" && resource.name() == SETTINGS)
}

/// The resources differ from the latest snapshot: waits for the next one, where one comes by itself.
pub(crate) async fn changed(scene: &mut Scene, name: &str) -> Result<(), StepError> {
    let placement =
        scene.placements.get_mut(name).ok_or_else(|| StepError::Feature(format!("\"{name}\" is no placement")))?;
    if placement.snapshots_by_runs {
        return Ok(());
    }
    placement.snapshots += 1;
    let index = placement.snapshots - 1;
    snapshot_exists(scene, name, index).await
}

fn clusters(object: Object<'_>) -> Vec<&str> {
    let mut on: Vec<&str> =
        object.list("/status/placementStatuses").iter().filter_map(|s| s.get("clusterName")?.as_str()).collect();
    on.sort_unstable();
    on
}

/// The members that a policy selects: these, and those that get its label.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Choice {
    label: String,
    members: Vec<String>,
}

fn label(name: &str) -> String {
    format!("fleetdrill.dev/{name}")
}

pub(crate) fn choose(scene: &Scene, name: &str, members: &[String]) -> Result<Choice, StepError> {
    let members = members.iter().map(|m| scene.names.get(m)).collect::<Result<_, _>>()?;
    Ok(Choice { label: label(name), members })
}

pub(crate) fn affinity(choice: &Choice) -> Value {
    let mut terms = vec![json!({"labelSelector": {"matchLabels": {&choice.label: "true"}}})];
    if !choice.members.is_empty() {
        terms.push(json!({"labelSelector": named(&choice.members)}));
    }
    json!({"clusterAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"clusterSelectorTerms": terms}}})
}

/// A label selector of members by their real names.
pub(crate) fn named(members: &[String]) -> Value {
    json!({"matchExpressions": [{"key": fleet::MEMBER_LABEL, "operator": "In", "values": members}]})
}

async fn change_resources(scene: &mut Scene, name: &str) -> Result<(), StepError> {
    let mut placement = scene.placement(name)?;
    placement.revision += 1;
    let data = json!({"data": {"revision": placement.revision.to_string()}});
    scene.patch(kinds::CONFIG_MAP, Some(&placement.content), SETTINGS, data).await?;
    scene.did(format!("ConfigMap/{}/{SETTINGS} changed to revision {}", placement.content, placement.revision));
    scene.placements.insert(name.to_owned(), placement);
    changed(scene, name).await
}

/// Waits until the placement says that it is scheduled. A run that comes sooner fails to initialize.
pub(crate) async fn scheduled(scene: &Scene, name: &str) -> Result<(), StepError> {
    says_scheduled(scene, name, |p| format!("{p} is scheduled"), |c| c.status == "True").await
}

/// Waits until the hub-agent has seen the placement's spec as it is now. A run that is made sooner may still be judged by
/// the spec before: the hub-agent hears of runs and of placements one by one.
pub(crate) async fn noticed(scene: &Scene, name: &str) -> Result<(), StepError> {
    says_scheduled(scene, name, |p| format!("the hub-agent has seen the change of {p}"), |_| true).await
}

async fn says_scheduled(
    scene: &Scene,
    name: &str,
    expectation: impl Fn(&str) -> String,
    fits: impl Fn(&Condition) -> bool,
) -> Result<(), StepError> {
    let p = scene.placement(name)?;
    let (hub, watched) = (scene.hub(), p.watched());
    let expectation = expectation(&p.name);
    scene
        .wait(&hub, &watched, &expectation, limits::REPORTED, |objects| {
            let Some(value) = objects.get(&p.name) else { return absent(objects, &p.name) };
            match Object::new(value).current_condition(&p.condition("Scheduled")) {
                Some(c) if fits(&c) => Verdict::Holds,
                Some(c) => Verdict::Pending(format!("Scheduled is {} {}", c.status, c.reason)),
                None => Verdict::Pending("Scheduled isn't there at this generation".into()),
            }
        })
        .await?;
    Ok(())
}

/// The label with a resource snapshot's index.
pub(crate) const INDEX: &str = "kubernetes-fleet.io/resource-index";

/// The greatest index of the placement's resource snapshots; none where it has none.
pub(crate) async fn latest_snapshot(scene: &Scene, p: &Placement) -> Result<Option<u32>, StepError> {
    let hub = scene.hub();
    let params = ListParams::default().labels(&format!("{PARENT}={}", p.name));
    let listed = p.scope.resource_snapshot().api(&hub.client, p.scope.namespace()).list_metadata(&params).await;
    let listed = listed.map_err(FleetError::api("hub", format!("list the resource snapshots of {}", p.name)))?;
    let index = |labels: &BTreeMap<String, String>| labels.get(INDEX)?.parse().ok();
    Ok(listed.items.iter().filter_map(|snapshot| index(snapshot.metadata.labels.as_ref()?)).max())
}

/// Waits until the placement has a resource snapshot of this index.
pub(crate) async fn snapshot_exists(scene: &Scene, name: &str, index: u32) -> Result<(), StepError> {
    let p = scene.placement(name)?;
    let labels = format!("{PARENT}={}", p.name);
    let watched = Watched::labelled("hub", p.scope.resource_snapshot(), p.scope.namespace(), &labels);
    let expectation = format!("{} has a resource snapshot with index {index}", p.name);
    let index = index.to_string();
    let has = |o: &Value| Object::new(o).label(INDEX) == Some(&index);
    let hub = scene.hub();
    let held = scene
        .wait(&hub, &watched, &expectation, limits::REPORTED, |objects| {
            if objects.values().any(|o| has(o)) { Verdict::Holds } else { Verdict::Pending("no such snapshot".into()) }
        })
        .await?;
    if !held.after.is_zero() {
        tokio::time::sleep(limits::CACHED).await;
    }
    Ok(())
}

async fn available_on(scene: &Scene, name: &str, members: &[String]) -> Result<(), StepError> {
    let placement = scene.placement(name)?;
    let real: Result<Vec<String>, _> = members.iter().map(|m| scene.names.get(m)).collect();
    let mut real = real?;
    real.sort();
    let watched = placement.watched();
    let expectation = format!("{} becomes available on {}", placement.name, real.join(", "));
    let hub = scene.hub();
    scene
        .wait(&hub, &watched, &expectation, limits::AVAILABLE, |objects| {
            says_available(&placement, objects, Some(&real))
        })
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
    let on = clusters(object);
    match members {
        Some(members) if on != members => Verdict::Pending(format!("it is on {}", on.join(", "))),
        _ => Verdict::Holds,
    }
}

/// An object that was deleted won't come back; one that was just made may not have been seen yet.
pub(crate) fn absent(objects: &fleet::observe::Objects, name: &str) -> Verdict {
    if objects.is_gone(name) {
        Verdict::Never("it is gone".into())
    } else {
        Verdict::Pending("it isn't there yet".into())
    }
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
