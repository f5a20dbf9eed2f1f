//! Steps about placements and the resources that they put on members.

use std::time::Duration;

use cucumber::{given, then, when};
use fleet::kinds;
use fleet::observe::{Verdict, WatchSelection};
use record::{Action, ObjectPath};
use serde_json::json;

use crate::applying;
use crate::context::ScenarioContext;
use crate::error::StepError;
use crate::limits;
use crate::needs::{StepRole, needs};
use crate::objects::PARENT;
use crate::params::{Members, NewPlacement};
use crate::phrases::{
    AndAppliesWith, MemberSelection, PlacementSetting, RefusedWith, SelectionChange, WithExternal, WithinSeconds,
    WithoutNamespace,
};
use crate::placement_objects::{
    SETTINGS, available_on, change_resources, change_spec, choose, create, create_external, create_with,
    first_snapshot, namespace_placement, noticed, patch_spec, resources_on, says_available, scheduled,
};
use crate::policy;
use crate::selected_members::{affinity, label, pick_all};
use crate::world::World;

/// A placement (strategy RollingUpdate) with a namespace of its own to place, whose resources are available on the
/// members.
#[needs(placement_scope: |call| call.parameter())]
#[given(expr = "{placement} {string} has put its resources on {members}")]
async fn has_put(world: &mut World, new: NewPlacement, name: String, members: Members) -> Result<(), StepError> {
    let context = world.context();
    create(context, new, &name, &members.0, "RollingUpdate", pick_all).await?;
    available_on(context, &name, &members.0, limits::AVAILABLE).await
}

/// Creates a placement with a namespace of its own to place. Other steps say what comes of it.
///
/// Without more words, its strategy is RollingUpdate. With strategy External nothing is rolled out until an update run does it; the step then
/// waits until the placement is scheduled and, where KubeFleet takes one by itself (before v0.3), its first resource snapshot is there.
/// `, where its namespace isn't` is for a namespaced placement whose namespace nothing puts on the members.
#[needs(placement_scope: |call| call.parameter())]
#[given(
    expr = "{placement} {string}{with strategy External?} selects {selection}{and applies with?}{where its namespace isn't?}"
)]
#[when(
    expr = "{placement} {string}{with strategy External?} selects {selection}{and applies with?}{where its namespace isn't?}"
)]
async fn selects(
    world: &mut World,
    new: NewPlacement,
    name: String,
    external: WithExternal,
    selection: MemberSelection,
    applies: AndAppliesWith,
    without_namespace: WithoutNamespace,
) -> Result<(), StepError> {
    let context = world.context();
    if without_namespace.0 {
        let MemberSelection::Labelled(members) = selection else {
            return Err(StepError::Feature("a placement without its namespace selects members by a label".into()));
        };
        return applying::make_without_namespace(context, &name, &members).await;
    }
    let policy = policy::Policy::new(context, &selection);
    if external.0 {
        if policy.can_be_had() {
            return create_external(context, new, &name, policy.members(), |choice| policy.spec(choice)).await;
        }
        create(context, new, &name, policy.members(), "External", |choice| policy.spec(choice)).await?;
        return first_snapshot(context, &name).await;
    }
    let mut strategy = json!({"type": "RollingUpdate"});
    if let Some(apply_strategy) = applies.0 {
        strategy["applyStrategy"] = context.json(&apply_strategy)?;
    }
    create_with(context, new, &name, policy.members(), strategy, |choice| policy.spec(choice), &json!({})).await
}

/// Changes a setting of the placement: its policy, in a way that makes a new policy snapshot, and waits until the placement is scheduled
/// by it; or its apply strategy.
#[when(expr = "the {setting} of placement {string} changes")]
async fn setting_changes(world: &mut World, setting: PlacementSetting, name: String) -> Result<(), StepError> {
    let context = world.context();
    match setting {
        PlacementSetting::Policy => {
            let term = json!({"preferredDuringSchedulingIgnoredDuringExecution": [
                {"weight": 10, "preference": {"labelSelector": {"matchLabels": {"fleetdrill.dev/preferred": "true"}}}}
            ]});
            let spec = json!({"policy": {"affinity": {"clusterAffinity": term}}});
            change_spec(context, &name, "its policy changed", spec).await?;
            scheduled(context, &name).await
        }
        PlacementSetting::ApplyStrategy => {
            let spec = json!({"strategy": {"applyStrategy": {"whenToTakeOver": "Never"}}});
            change_spec(context, &name, "its applyStrategy.whenToTakeOver changed to Never", spec).await
        }
    }
}

/// Gives the placement another rollout strategy: RollingUpdate instead of External, or External, which leaves its rollout to update runs.
/// After a change to External, waits until the hub-agent has seen it.
#[when(expr = "placement {string} gets strategy {word}{which is refused with?}")]
#[then(expr = "placement {string} gets strategy {word}{which is refused with?}")]
async fn gets_strategy(
    world: &mut World,
    name: String,
    strategy: String,
    refused: RefusedWith,
) -> Result<(), StepError> {
    let context = world.context();
    let patched = patch_spec(context, &name, json!({"strategy": {"type": strategy}})).await;
    if let Some(why) = refused.0 {
        return context.refused(patched.map(drop), &why);
    }
    let p = patched?;
    if strategy == "External" {
        let sentence = format!("{}: its strategy changed to External", p.kind_and_name());
        context.remedied(Action::new(sentence).on(p.path()));
        return noticed(context, &name).await;
    }
    let sentence = format!("{}: its strategy changed from External to {strategy}", p.kind_and_name());
    context.induced(Action::new(sentence).on(p.path()));
    Ok(())
}

/// Changes the members that a placement selects. `instead`: changes its policy to other members, as the guide's first resolution says, or
/// the names in a PickFixed policy. `too`: gives one more member the label by which the placement's policy selects.
#[when(expr = "placement {string} selects {selection} {instead or too}")]
async fn selects_other(
    world: &mut World,
    name: String,
    selection: MemberSelection,
    change: SelectionChange,
) -> Result<(), StepError> {
    let context = world.context();
    match (selection, change) {
        (MemberSelection::Labelled(members), SelectionChange::Instead) => {
            select_instead(context, &name, &members).await
        }
        (MemberSelection::Named(members), SelectionChange::Instead) => {
            policy::name_instead(context, &name, &members).await
        }
        (MemberSelection::Labelled(members), SelectionChange::Too) => select_too(context, &name, &members).await,
        (MemberSelection::Hollow(_), _) => {
            Err(StepError::Feature("only a new placement selects hollow members by their number".into()))
        }
        (MemberSelection::Count(..), _) | (MemberSelection::Named(_), SelectionChange::Too) => Err(StepError::Feature(
            "another number of members is set by `placement \"...\" asks for ... members`".into(),
        )),
    }
}

async fn select_too(context: &mut ScenarioContext, name: &str, members: &[String]) -> Result<(), StepError> {
    let placement = context.placement(name)?;
    for member in members {
        let real = context.ledger.names.get(member)?;
        context.label_member(&real, json!({ label(&placement.name): "true" })).await?;
        let path = ObjectPath::new(kinds::MEMBER_CLUSTER.kind, None, &real);
        let sentence = format!("{member} got the label that {} selects by", placement.name);
        context.induced(Action::new(sentence).on(path));
    }
    Ok(())
}

async fn select_instead(context: &ScenarioContext, name: &str, members: &[String]) -> Result<(), StepError> {
    let placement = context.placement(name)?;
    let choice = choose(context, &format!("{}-instead", placement.name), members)?;
    let patch = json!({"spec": {"policy": {"affinity": affinity(&choice)}}});
    let (kind, namespace) = (placement.scope.placement(), placement.scope.namespace());
    if namespace.is_some() {
        // Its namespace has to be there first.
        let of_namespace = namespace_placement(&placement.name);
        context.patch(kinds::CLUSTER_RESOURCE_PLACEMENT, None, &of_namespace, patch.clone()).await?;
    }
    context.patch(kind, namespace, &placement.name, patch).await?;
    let sentence = format!("{} selects {} instead", placement.kind_and_name(), members.join(", "));
    context.remedied(Action::new(sentence).on(placement.path()));
    Ok(())
}

/// Waits until the placement's bindings and Works are gone: what it had made on the hub is collected.
#[then(expr = "no binding and no Work of placement {string} is left")]
async fn collected(world: &mut World, name: String) -> Result<(), StepError> {
    let context = world.context();
    let p = context.placement(&name)?;
    let hub = context.hub();
    let labels = format!("{PARENT}={}", p.name);
    for (kind, namespace) in [(p.scope.binding(), p.scope.namespace()), (kinds::WORK, None)] {
        let watched = WatchSelection::labelled("hub", kind, namespace, &labels);
        let expectation = format!("no {} of {} is left", kind.kind, p.name);
        context
            .wait(&hub, &watched, &expectation, limits::AVAILABLE, |objects| {
                let left: Vec<&str> = objects.keys().map(String::as_str).collect();
                if left.is_empty() { Verdict::Holds } else { Verdict::Pending(format!("{} is left", left.join(", "))) }
            })
            .await?;
    }
    Ok(())
}

/// Waits until the placement says that it is available at its present generation, on these members and no others, and
/// the resources are really there. `within 600 seconds `: for an agent that has failed for minutes, and tries again after as many.
#[given(expr = "{within?}placement {string} becomes available on {members}")]
#[then(expr = "{within?}placement {string} becomes available on {members}")]
async fn becomes_available(
    world: &mut World,
    limit: WithinSeconds,
    name: String,
    members: Members,
) -> Result<(), StepError> {
    let limit = limit.0.map_or(limits::AVAILABLE, Duration::from_secs);
    available_on(world.context(), &name, &members.0, limit).await
}

/// The placement says that all is well, and has said so for its present generation: for a placement that stays green
/// although it shouldn't.
#[then(expr = "placement {string} still says that it is available")]
async fn still_says(world: &mut World, name: String) -> Result<(), StepError> {
    let context = world.context();
    let placement = context.placement(&name)?;
    let watched = placement.watched();
    let expectation = format!("{} says that it is available", placement.name);
    let hub = context.hub();
    context
        .wait(&hub, &watched, &expectation, limits::REPORTED, |objects| says_available(&placement, objects, None))
        .await?;
    Ok(())
}

/// Waits until the placement's resources are no longer on the member.
#[then(expr = "the resources of placement {string} are gone from {string}")]
async fn are_gone(world: &mut World, name: String, member: String) -> Result<(), StepError> {
    let context = world.context();
    let placement = context.placement(&name)?;
    let member = context.fleet.member(&context.ledger.names.get(&member)?).await?.cluster;
    let watched = WatchSelection::one(&member.name, kinds::CONFIG_MAP, Some(&placement.content), SETTINGS);
    let expectation = format!("ConfigMap/{}/{SETTINGS} is gone from {}", placement.content, member.name);
    context
        .wait(&member, &watched, &expectation, limits::WITHDRAWN, |objects| Verdict::gone(objects, SETTINGS))
        .await?;
    Ok(())
}

/// Waits until the placement's resources are on the members as they are on the hub.
#[given(expr = "the resources of placement {string} are on {members}")]
#[then(expr = "the resources of placement {string} are on {members}")]
async fn are_on(world: &mut World, name: String, members: Members) -> Result<(), StepError> {
    let context = world.context();
    let placement = context.placement(&name)?;
    resources_on(context, &placement, &members.0).await
}

/// Changes the placement's resources on the hub, which makes a new resource snapshot.
#[needs(role: Some(StepRole::ChangesResources), settles: limits::CACHED)]
#[given(expr = "the resources of placement {string} change")]
#[when(expr = "the resources of placement {string} change")]
async fn change(world: &mut World, name: String) -> Result<(), StepError> {
    change_resources(world.context(), &name).await
}

/// Changes the placement's resources on the hub and waits until the change is on the members: the whole path works.
#[needs(role: Some(StepRole::ChangesResources), settles: limits::CACHED)]
#[then(expr = "a change to the resources of placement {string} arrives on {members}")]
async fn change_arrives(world: &mut World, name: String, members: Members) -> Result<(), StepError> {
    let context = world.context();
    change_resources(context, &name).await?;
    let placement = context.placement(&name)?;
    resources_on(context, &placement, &members.0).await?;
    available_on(context, &name, &members.0, limits::AVAILABLE).await
}
