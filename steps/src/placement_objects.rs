//! Placements on the hub as steps create, change and watch them.

use std::time::Duration;

use diagnosis::kubefleet::RESOURCE_INDEX;
use diagnosis::{Condition, Object};
use fleet::FleetError;
use fleet::capability::Capability;
use fleet::kinds;
use fleet::observe::{Verdict, WatchSelection};
use record::{Action, ControllerRace, ObjectPath};
use serde_json::{Value, json};

use crate::binding;
use crate::context::ScenarioContext;
use crate::error::StepError;
use crate::limits;
use crate::objects::{ENVELOPE, PARENT, Placement, PlacementScope};
use crate::params::NewPlacement;
use crate::pauses::settle;
use crate::selected_members::{SelectedMembers, label, pick_all};

/// The ConfigMap that stands for a placement's workload.
pub(crate) const SETTINGS: &str = "settings";

/// The Deployment that a placement may have too.
pub(crate) const DEPLOYMENT: &str = "app";

pub(crate) async fn create(
    context: &mut ScenarioContext,
    new: NewPlacement,
    name: &str,
    members: &[String],
    strategy: &str,
    policy: impl Fn(&SelectedMembers) -> Value,
) -> Result<(), StepError> {
    create_with(context, new, name, members, json!({"type": strategy}), policy, &json!({})).await
}

/// Creates a placement with strategy External. Waits until the placement is scheduled and, where KubeFleet takes one by itself, its
/// first resource snapshot is there. Its bindings are [held](binding::hold).
pub(crate) async fn create_external(
    context: &mut ScenarioContext,
    new: NewPlacement,
    name: &str,
    members: &[String],
    policy: impl Fn(&SelectedMembers) -> Value,
) -> Result<(), StepError> {
    create(context, new, name, members, "External", policy).await?;
    loop {
        scheduled(context, name).await?;
        binding::hold(context, name).await?;
        first_snapshot(context, name).await?;
        if context.placement(name)?.snapshots <= 1 {
            return Ok(());
        }
        // Scenarios ask for snapshots by their indexes.
        make_again(context, name).await?;
    }
}

/// Creates a placement again of which nothing has been rolled out yet: its snapshots are counted from 0 again.
async fn make_again(context: &mut ScenarioContext, name: &str) -> Result<(), StepError> {
    let mut p = context.placement(name)?;
    let (kind, namespace) = (p.scope.placement(), p.scope.namespace().map(ToOwned::to_owned));
    let failed = FleetError::api("hub", format!("read {}/{}", kind.kind, p.name));
    let object = kind.api(&context.hub().client, namespace.as_deref()).get(&p.name).await.map_err(failed)?;
    delete_placement(context, &p).await?;
    let again = json!({"metadata": {"name": p.name}, "spec": object.data.get("spec")});
    context.make(kind, namespace.as_deref(), again).await?;
    let (hub, watched, expectation) = (context.hub(), p.watched(), format!("{} is there", p.name));
    context
        .wait(&hub, &watched, &expectation, limits::REPORTED, |objects| match objects.get(&p.name) {
            Some(_) => Verdict::Holds,
            None => Verdict::Pending("not yet".into()),
        })
        .await?;
    let sentence = format!("{} is created again: all of its resource snapshots are to be whole", p.kind_and_name());
    context.did(Action::new(sentence).on(p.path()));
    p.snapshots = 1;
    context.ledger.placements.insert(name.to_owned(), p);
    Ok(())
}

/// Deletes a placement and waits until it is gone.
pub(crate) async fn delete_placement(context: &ScenarioContext, p: &Placement) -> Result<(), StepError> {
    context.delete(p.scope.placement(), p.scope.namespace(), &p.name).await?;
    if context.holds(fleet::HUB, p.scope.placement(), &p.path()) {
        return Ok(());
    }
    let (hub, watched, expectation) = (context.hub(), p.watched(), format!("{} is gone", p.name));
    context.wait(&hub, &watched, &expectation, limits::AVAILABLE, |objects| Verdict::gone(objects, &p.name)).await?;
    Ok(())
}

/// Creates a placement with a whole strategy, with a policy made from the label that the members get, and with `changes` merged into its spec
/// (JSON merge patch).
pub(crate) async fn create_with(
    context: &mut ScenarioContext,
    new: NewPlacement,
    name: &str,
    members: &[String],
    strategy: Value,
    policy: impl Fn(&SelectedMembers) -> Value,
    changes: &Value,
) -> Result<(), StepError> {
    let real = context.ledger.names.make(name);
    let content = format!("{real}-app");
    context.make(kinds::NAMESPACE, None, json!({"metadata": {"name": content}})).await?;
    context
        .make(kinds::CONFIG_MAP, Some(&content), json!({"metadata": {"name": SETTINGS}, "data": {"revision": "0"}}))
        .await?;
    let choice = choose(context, &real, members)?;
    let scope = if new.namespaced { PlacementScope::Namespace(content.clone()) } else { PlacementScope::Cluster };
    if new.namespaced {
        place_namespace(context, &real, &content, &choice).await?;
    }
    let (kind, namespace) = (scope.placement(), scope.namespace().map(ToOwned::to_owned));
    let hub = context.hub();
    context.follow(&hub, &WatchSelection::one("hub", kind, namespace.as_deref(), &real));
    // A selector of a kind that isn't there is refused by KubeFleet's webhook.
    let has_envelopes = context.fleet.capabilities().can(Capability::Envelopes);
    let selectors = if new.namespaced {
        // In a namespace, everything that a scenario may put there.
        json!([
            {"group": "", "version": "v1", "kind": "ConfigMap", "name": SETTINGS},
            {"group": "apps", "version": "v1", "kind": "Deployment", "name": DEPLOYMENT},
            {"group": kinds::ENVELOPE.group, "version": "v1beta1", "kind": "ResourceEnvelope", "name": ENVELOPE},
        ])
    } else {
        let envelope = format!("{real}-{ENVELOPE}");
        let envelope = json!(
            {"group": kinds::ENVELOPE.group, "version": "v1beta1", "kind": "ClusterResourceEnvelope", "name": envelope}
        );
        let namespace = json!({"group": "", "version": "v1", "kind": "Namespace", "name": content});
        json!([namespace].into_iter().chain(has_envelopes.then_some(envelope)).collect::<Vec<_>>())
    };
    let mut spec = json!({"resourceSelectors": selectors, "policy": policy(&choice), "strategy": strategy});
    json_patch::merge(&mut spec, changes);
    let type_ = spec["strategy"]["type"].as_str().unwrap_or_default().to_owned();
    context.make(kind, namespace.as_deref(), json!({"metadata": {"name": real}, "spec": spec})).await?;
    let on = if members.is_empty() { "no member".to_owned() } else { members.join(", ") };
    let path = ObjectPath::new(kind.kind, namespace.as_deref(), &real);
    let sentence = format!("{}/{real} (strategy {type_}) selects what is in namespace {content} for {on}", kind.kind);
    context.did(Action::new(sentence).on(path));
    let snapshots_by_runs = type_ == "External" && context.fleet.capabilities().can(Capability::SnapshotsByRuns);
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
    context.ledger.placements.insert(name.to_owned(), placement);
    Ok(())
}

/// A ResourcePlacement places what is in a namespace, not the namespace: that has to be on the members already.
pub(crate) async fn place_namespace(
    context: &mut ScenarioContext,
    real: &str,
    content: &str,
    choice: &SelectedMembers,
) -> Result<(), StepError> {
    let selector = json!({
        "group": "", "version": "v1", "kind": "Namespace", "name": content, "selectionScope": "NamespaceOnly",
    });
    let spec =
        json!({"resourceSelectors": [selector], "policy": pick_all(choice), "strategy": {"type": "RollingUpdate"}});
    let name = namespace_placement(real);
    context.make(kinds::CLUSTER_RESOURCE_PLACEMENT, None, json!({"metadata": {"name": name}, "spec": spec})).await
}

/// The name of the placement that puts the namespace of a ResourcePlacement on the members.
pub(crate) fn namespace_placement(real: &str) -> String {
    format!("{real}-ns")
}

pub(crate) async fn change_spec(
    context: &mut ScenarioContext,
    name: &str,
    what: &str,
    spec: Value,
) -> Result<(), StepError> {
    let p = patch_spec(context, name, spec).await?;
    context.induced(Action::new(format!("{}: {what}", p.kind_and_name())).on(p.path()));
    Ok(())
}

/// Merges this into a placement's spec; returns the placement.
pub(crate) async fn patch_spec(context: &ScenarioContext, name: &str, spec: Value) -> Result<Placement, StepError> {
    let p = context.placement(name)?;
    context.patch(p.scope.placement(), p.scope.namespace(), &p.name, json!({"spec": spec})).await?;
    Ok(p)
}

/// Waits for a resource snapshot with the ConfigMap in it, where one comes by itself.
///
/// A hub-agent whose cache is behind takes the first one without it, and a second one a moment later. A run would roll out what was
/// asked for by its index: nothing but the namespace (v0.1.2, once in some twenty runs of all scenarios).
pub(crate) async fn first_snapshot(context: &mut ScenarioContext, name: &str) -> Result<(), StepError> {
    let mut p = context.placement(name)?;
    if p.snapshots_by_runs {
        return Ok(());
    }
    let index = snapshot_with(context, &p, &[(kinds::CONFIG_MAP.kind.into(), SETTINGS.into())]).await?;
    if let Some(index) = index.filter(|index| *index > 0) {
        let first = "KubeFleet hadn't heard of ConfigMap";
        let sentence = format!("{first}/{SETTINGS} when it took resource snapshot 0 of {}: {index} has it", p.name);
        context.worked_around(ControllerRace::IncompleteSnapshot, sentence);
        p.snapshots = index + 1;
        context.ledger.placements.insert(name.to_owned(), p);
    }
    Ok(())
}

/// Waits for a resource snapshot of a placement that contains these objects (kind and name). Returns the index of the latest.
pub(crate) async fn snapshot_with(
    context: &ScenarioContext,
    p: &Placement,
    included: &[(String, String)],
) -> Result<Option<u32>, StepError> {
    let labels = format!("{PARENT}={}", p.name);
    let watched = WatchSelection::labelled("hub", p.scope.resource_snapshot(), p.scope.namespace(), &labels);
    let objects: Vec<String> = included.iter().map(|(kind, name)| format!("{kind}/{name}")).collect();
    let expectation = format!("{} has a resource snapshot with {}", p.name, objects.join(", "));
    let (hub, mut index) = (context.hub(), None);
    context
        .wait(&hub, &watched, &expectation, limits::REPORTED, |objects| {
            let whole = objects.values().map(Object::new).filter(|snapshot| has_all(*snapshot, included));
            index = whole.filter_map(|o| o.label(RESOURCE_INDEX)?.parse::<u32>().ok()).max();
            if index.is_some() { Verdict::Holds } else { Verdict::Pending("no such snapshot".into()) }
        })
        .await?;
    Ok(index)
}

fn has_all(snapshot: Object<'_>, included: &[(String, String)]) -> bool {
    let resources = snapshot.list("/spec/selectedResources");
    included.iter().all(|(kind, name)| {
        resources.iter().map(Object::new).any(|resource| resource.kind() == kind && resource.name() == name)
    })
}

/// The resources differ from the latest snapshot: waits for the next one, where one comes by itself.
pub(crate) async fn changed(context: &mut ScenarioContext, name: &str) -> Result<(), StepError> {
    let placement = context
        .ledger
        .placements
        .get_mut(name)
        .ok_or_else(|| StepError::Feature(format!("\"{name}\" is no placement")))?;
    if placement.snapshots_by_runs {
        return Ok(());
    }
    placement.snapshots += 1;
    let index = placement.snapshots - 1;
    snapshot_exists(context, name, index).await
}

fn clusters(object: Object<'_>) -> Vec<&str> {
    let mut on: Vec<&str> =
        object.list("/status/placementStatuses").iter().filter_map(|s| s.get("clusterName")?.as_str()).collect();
    on.sort_unstable();
    on
}

pub(crate) fn choose(context: &ScenarioContext, name: &str, members: &[String]) -> Result<SelectedMembers, StepError> {
    let members = members.iter().map(|m| context.ledger.names.get(m)).collect::<Result<_, _>>()?;
    Ok(SelectedMembers { label: label(name), members })
}

pub(crate) async fn change_resources(context: &mut ScenarioContext, name: &str) -> Result<(), StepError> {
    let mut placement = context.placement(name)?;
    placement.revision += 1;
    let data = json!({"data": {"revision": placement.revision.to_string()}});
    context.patch(kinds::CONFIG_MAP, Some(&placement.content), SETTINGS, data).await?;
    let path = ObjectPath::new(kinds::CONFIG_MAP.kind, Some(&placement.content), SETTINGS);
    context.did(Action::new(format!("{path} changed to revision {}", placement.revision)).on(path));
    context.ledger.placements.insert(name.to_owned(), placement);
    changed(context, name).await
}

/// Waits until the placement says that it is scheduled. A run that comes sooner fails to initialize.
pub(crate) async fn scheduled(context: &ScenarioContext, name: &str) -> Result<(), StepError> {
    says_scheduled(context, name, |p| format!("{p} is scheduled"), |c| c.status == "True").await
}

/// Waits until the hub-agent has seen the placement's spec as it is now. A run that is made sooner may still be judged by
/// the spec before: the hub-agent hears of runs and of placements one by one.
pub(crate) async fn noticed(context: &ScenarioContext, name: &str) -> Result<(), StepError> {
    says_scheduled(context, name, |p| format!("the hub-agent has seen the change of {p}"), |_| true).await
}

async fn says_scheduled(
    context: &ScenarioContext,
    name: &str,
    expectation: impl Fn(&str) -> String,
    fits: impl Fn(&Condition) -> bool,
) -> Result<(), StepError> {
    let p = context.placement(name)?;
    let (hub, watched) = (context.hub(), p.watched());
    let expectation = expectation(&p.name);
    context
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

/// Waits until the placement has a resource snapshot of this index.
pub(crate) async fn snapshot_exists(context: &ScenarioContext, name: &str, index: u32) -> Result<(), StepError> {
    let p = context.placement(name)?;
    let labels = format!("{PARENT}={}", p.name);
    let watched = WatchSelection::labelled("hub", p.scope.resource_snapshot(), p.scope.namespace(), &labels);
    let expectation = format!("{} has a resource snapshot with index {index}", p.name);
    let index = index.to_string();
    let hub = context.hub();
    let held = context
        .wait(&hub, &watched, &expectation, limits::REPORTED, |objects| {
            let exists = objects.values().any(|o| Object::new(o).label(RESOURCE_INDEX) == Some(&index));
            if exists { Verdict::Holds } else { Verdict::Pending("no such snapshot".into()) }
        })
        .await?;
    if !held.after.is_zero() {
        // The hub-agent writes nothing by which its informer cache could be seen to have the snapshot.
        settle(limits::CACHED).await;
    }
    Ok(())
}

pub(crate) async fn available_on(
    context: &ScenarioContext,
    name: &str,
    members: &[String],
    limit: Duration,
) -> Result<(), StepError> {
    let placement = context.placement(name)?;
    let real: Result<Vec<String>, _> = members.iter().map(|m| context.ledger.names.get(m)).collect();
    let mut real = real?;
    real.sort();
    let watched = placement.watched();
    let expectation = format!("{} becomes available on {}", placement.name, real.join(", "));
    let hub = context.hub();
    context
        .wait(&hub, &watched, &expectation, limit, |objects| says_available(&placement, objects, Some(&real)))
        .await?;
    resources_on(context, &placement, members).await
}

pub(crate) fn says_available(
    placement: &Placement,
    objects: &fleet::observe::WatchedObjects,
    members: Option<&[String]>,
) -> Verdict {
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

/// Says why an object isn't there. One that was deleted may have been created again, and the watch may be behind.
pub(crate) fn absent(objects: &fleet::observe::WatchedObjects, name: &str) -> Verdict {
    Verdict::Pending(if objects.is_gone(name) { "it is gone" } else { "it isn't there yet" }.into())
}

pub(crate) async fn resources_on(
    context: &ScenarioContext,
    placement: &Placement,
    members: &[String],
) -> Result<(), StepError> {
    let revision = placement.revision.to_string();
    for member in members {
        let member = context.fleet.member(&context.ledger.names.get(member)?).await?.cluster;
        let watched = WatchSelection::one(&member.name, kinds::CONFIG_MAP, Some(&placement.content), SETTINGS);
        let expectation = format!("revision {revision} of {} is on {}", placement.content, member.name);
        context
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
