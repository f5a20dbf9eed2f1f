//! Steps about members.

use cucumber::{given, then, when};
use fleet::FleetError;
use fleet::faults;
use fleet::kinds;
use fleet::observe::{Verdict, Watched};
use serde_json::{Value, json};

use crate::error::StepError;
use crate::limits;
use crate::params::ObjectRef;
use crate::placement::absent;
use crate::world::World;

/// Starts a fleet that no other scenario uses, with a hub and this many members, for what all of them would feel. It ends
/// with the scenario. Must be the first step.
#[given(expr = "a fleet of its own with {int} member(s)")]
async fn fleet_of_its_own(world: &mut World, members: usize) -> Result<(), StepError> {
    let scene = world.scene();
    scene.move_to_own_fleet(members, false).await?;
    scene.did(format!("fleet {} started", scene.fleet.name()));
    Ok(())
}

/// As without it, with Argo CD on its hub.
#[given(expr = "a fleet of its own with {int} member(s) and Argo CD")]
async fn fleet_with_argocd(world: &mut World, members: usize) -> Result<(), StepError> {
    let scene = world.scene();
    scene.move_to_own_fleet(members, true).await?;
    scene.did(format!("fleet {} started with Argo CD", scene.fleet.name()));
    Ok(())
}

/// Joins a member that no other scenario uses, for faults that would disturb others. It leaves at the end.
#[given(expr = "a member {string} of its own")]
async fn of_its_own(world: &mut World, name: String) -> Result<(), StepError> {
    let scene = world.scene();
    let real = scene.names.make(&name);
    scene.own(real.clone());
    scene.fleet.add_member(&real, &json!({})).await?;
    scene.did(format!("member {real} joined, with a cluster of its own"));
    Ok(())
}

/// Gives the member a scheduler and a simulated kubelet, unless it has them or, on kind, real ones: without, its workloads get no pods that run.
/// No container runs. A pod is ready at once unless its image can't be had: a name that no kubelet accepts
/// (`nginx:not a tag`), a registry in the domain `.invalid`, or the tag `unpullable`. A Job's pod ends after a second, with
/// the exit code in its annotation `fleetdrill.dev/exit-code`. Tag the scenario `@pods`.
#[given(expr = "member {string} has pods")]
async fn has_pods(world: &mut World, member: String) -> Result<(), StepError> {
    let scene = world.scene();
    let real = scene.names.get(&member)?;
    scene.fleet.start_pods(&real).await?;
    let what = if scene.fleet.provider() == "kind" {
        "real nodes run pods"
    } else {
        "a scheduler and a simulated kubelet (KWOK) run"
    };
    scene.did(format!("{what} for {real}"));
    Ok(())
}

/// Deletes the member's namespace on the hub, as a mistaken `kubectl delete namespace` does, and waits until the hub
/// says that a Work holds it. Its namespace controller empties it first: the member loses its rights with that. Which goes
/// first, the rights or the Works, is left to chance; here the rights do, without which the agent can't let a Work go (that of
/// v0.14.0 does so within milliseconds). See docs/controllers.md.
#[given(expr = "the hub's namespace of member {string} is deleted while it holds a Work")]
#[when(expr = "the hub's namespace of member {string} is deleted while it holds a Work")]
async fn namespace_deleted(world: &mut World, member: String) -> Result<(), StepError> {
    let scene = world.scene();
    let real = scene.names.get(&member)?;
    let found = scene.find(&ObjectRef::MemberNamespace(member))?;
    let hub = scene.hub();
    scene.follow(&hub, &found.watched);
    let namespace = fleet::member_namespace(&real);
    scene.delete(kinds::ROLE_BINDING, Some(&namespace), &role_binding(&real)).await?;
    faults::delete_member_namespace(&hub, &real).await?;
    scene.induced(format!("Namespace/{namespace} deleted on the hub, its RoleBinding first"));
    scene
        .wait(&hub, &found.watched, "the namespace is terminating", limits::REPORTED, |objects| {
            match found.pick(objects) {
                Some(o) if diagnosis::Object::new(o).deleted_at().is_some() => Verdict::Holds,
                Some(_) => Verdict::Pending("not yet".into()),
                None if objects.is_gone(&fleet::member_namespace(&real)) => {
                    Verdict::Never("it is gone: it held no Work".into())
                }
                None => Verdict::Pending("it isn't seen yet".into()),
            }
        })
        .await?;
    Ok(())
}

/// Deletes the member's namespace on the hub and takes its own finalizer off at once, as a script does that is meant for
/// namespaces which don't go away. Waits until it is gone; what was in it stays stored.
#[when(expr = "the hub's namespace of member {string} is deleted by force")]
async fn namespace_forced(world: &mut World, member: String) -> Result<(), StepError> {
    let scene = world.scene();
    let real = scene.names.get(&member)?;
    let found = scene.find(&ObjectRef::MemberNamespace(member))?;
    let (hub, namespace) = (scene.hub(), fleet::member_namespace(&real));
    faults::delete_member_namespace_by_force(&hub, &real).await?;
    scene.induced(format!("Namespace/{namespace} deleted on the hub, and its finalizers emptied"));
    let expectation = format!("Namespace/{namespace} is gone");
    scene
        .wait(&hub, &found.watched, &expectation, limits::REPORTED, |objects| Verdict::gone(objects, &namespace))
        .await?;
    Ok(())
}

/// Gives the member's identity the right to work on Works in all namespaces of the hub, which outlasts the member's own
/// namespace there.
#[given(expr = "the identity of member {string} may work on Works whatever becomes of its namespace")]
async fn has_rights(world: &mut World, member: String) -> Result<(), StepError> {
    let scene = world.scene();
    let real = scene.names.get(&member)?;
    let name = format!("works-of-{real}");
    let rules = json!([{"apiGroups": [kinds::WORK.group], "resources": ["works", "works/status"], "verbs": ["*"]}]);
    scene.make(kinds::CLUSTER_ROLE, None, json!({"metadata": {"name": name}, "rules": rules})).await?;
    let role = json!({"apiGroup": kinds::CLUSTER_ROLE.group, "kind": "ClusterRole", "name": name});
    let account = json!({"kind": "ServiceAccount", "namespace": fleet::SYSTEM, "name": fleet::identity(&real)});
    let binding = json!({"metadata": {"name": name}, "roleRef": role, "subjects": [account]});
    scene.make(kinds::CLUSTER_ROLE_BINDING, None, binding).await?;
    scene.did(format!("ClusterRoleBinding/{name} gives the identity of {real} all rights on Works"));
    Ok(())
}

/// Takes the finalizers off the Works that hold the member's namespace on the hub.
#[when(expr = "the Works that hold the hub's namespace of member {string} are released")]
async fn works_released(world: &mut World, member: String) -> Result<(), StepError> {
    let scene = world.scene();
    let real = scene.names.get(&member)?;
    let hub = scene.hub();
    let released = faults::release_works(&hub, &real).await?;
    if released == 0 {
        return Err(StepError::Differs(format!("no Work in {} is being deleted", fleet::member_namespace(&real))));
    }
    let namespace = fleet::member_namespace(&real);
    scene.remedied(format!("finalizer {} taken off {released} Work(s) in {namespace}", faults::WORK_FINALIZER));
    Ok(())
}

/// Waits until the member's namespace on the hub is there and not being deleted.
#[then(expr = "the hub's namespace of member {string} is back")]
async fn namespace_back(world: &mut World, member: String) -> Result<(), StepError> {
    let scene = world.scene();
    let found = scene.find(&ObjectRef::MemberNamespace(member))?;
    let hub = scene.hub();
    scene
        .wait(&hub, &found.watched, "the namespace is active", limits::AVAILABLE, |objects| match found.pick(objects) {
            Some(o) if diagnosis::Object::new(o).deleted_at().is_none() => Verdict::Holds,
            Some(_) => Verdict::Pending("it is being deleted".into()),
            None => Verdict::Pending("it is gone".into()),
        })
        .await?;
    Ok(())
}

/// Stops the member's agent, as a crash or a lost node does.
#[given(expr = "the agent of member {string} stops")]
#[when(expr = "the agent of member {string} stops")]
async fn agent_stops(world: &mut World, member: String) -> Result<(), StepError> {
    let scene = world.scene();
    let real = scene.names.get(&member)?;
    faults::stop_member_agent(&scene.fleet, &real).await?;
    scene.induced(format!("member-agent of {real} stopped"));
    Ok(())
}

/// Starts the member's agent, or restarts it where it runs, and waits until it has sent a heartbeat.
#[when(expr = "the agent of member {string} is restarted")]
async fn agent_restarted(world: &mut World, member: String) -> Result<(), StepError> {
    let scene = world.scene();
    let real = scene.names.get(&member)?;
    let before = kinds::MEMBER_CLUSTER.api(&scene.hub().client, None).get(&real).await;
    let before = before.map_err(FleetError::api("hub", format!("read MemberCluster/{real}")))?;
    let before = heartbeat(&before.data).cloned();
    faults::stop_member_agent(&scene.fleet, &real).await?;
    faults::start_member_agent(&scene.fleet, &real).await?;
    scene.remedied(format!("member-agent of {real} restarted"));
    let (hub, watched) = (scene.hub(), Watched::one("hub", kinds::MEMBER_CLUSTER, None, &real));
    let expectation = format!("{real} sends a heartbeat");
    scene
        .wait(&hub, &watched, &expectation, limits::REPORTED, |objects| {
            match objects.get(&real).and_then(|o| heartbeat(o)) {
                Some(now) if before.as_ref() != Some(now) => Verdict::Holds,
                _ => Verdict::Pending("none since its agent was restarted".into()),
            }
        })
        .await?;
    Ok(())
}

/// When the hub last heard of a member.
fn heartbeat(member: &Value) -> Option<&Value> {
    member.pointer("/status/agentStatus/0/lastReceivedHeartbeat")
}

/// Kills the hub-agent and starts it again, as `kubectl rollout restart` does. All scenarios on the fleet would feel it:
/// have a fleet of its own.
#[when("the hub-agent is restarted")]
async fn hub_agent_restarted(world: &mut World) -> Result<(), StepError> {
    let scene = world.scene();
    scene.fleet.restart_hub_agent().await?;
    scene.remedied("hub-agent restarted");
    Ok(())
}

/// The name of the RoleBinding by which a member's identity has its rights on the hub.
fn role_binding(member: &str) -> String {
    format!("fleet-rolebinding-{member}")
}

/// Deletes the RoleBinding that gives the member's identity its rights on the hub.
#[when(expr = "the RoleBinding of member {string} on the hub is deleted")]
async fn role_binding_deleted(world: &mut World, member: String) -> Result<(), StepError> {
    let scene = world.scene();
    let real = scene.names.get(&member)?;
    let (namespace, name) = (fleet::member_namespace(&real), role_binding(&real));
    scene.delete(kinds::ROLE_BINDING, Some(&namespace), &name).await?;
    scene.induced(format!("RoleBinding/{namespace}/{name} deleted on the hub"));
    Ok(())
}

/// Deletes the ServiceAccount that the member's agent is on the hub; its token is refused from then on.
#[when(expr = "the ServiceAccount of member {string} on the hub is deleted")]
async fn account_deleted(world: &mut World, member: String) -> Result<(), StepError> {
    let scene = world.scene();
    let real = scene.names.get(&member)?;
    let name = fleet::identity(&real);
    scene.delete(kinds::SERVICE_ACCOUNT, Some(fleet::SYSTEM), &name).await?;
    scene.induced(format!("ServiceAccount/{}/{name} deleted on the hub", fleet::SYSTEM));
    Ok(())
}

/// Creates the member's ServiceAccount on the hub again and gives its agent a token for it. The agent has to be restarted to
/// read it at once.
#[when(expr = "member {string} gets its ServiceAccount back, with a new token")]
async fn account_back(world: &mut World, member: String) -> Result<(), StepError> {
    let scene = world.scene();
    let real = scene.names.get(&member)?;
    scene.fleet.rejoin(&real, &json!({})).await?;
    scene.remedied(format!(
        "ServiceAccount/{}/{} created again, and a token for it",
        fleet::SYSTEM,
        fleet::identity(&real)
    ));
    Ok(())
}

/// Changes the MemberCluster's spec by a second in its heartbeat period, upon which the hub-agent creates again what is
/// missing in the member's namespace.
#[when(expr = "the spec of member {string} is touched")]
async fn touched(world: &mut World, member: String) -> Result<(), StepError> {
    let scene = world.scene();
    let real = scene.names.get(&member)?;
    scene.patch(kinds::MEMBER_CLUSTER, None, &real, json!({"spec": {"heartbeatPeriodSeconds": 16}})).await?;
    scene.remedied(format!("MemberCluster/{real}: heartbeatPeriodSeconds changed to 16"));
    Ok(())
}

/// Deletes the MemberCluster and doesn't wait for its end.
#[when(expr = "member {string} is asked to leave")]
async fn asked_to_leave(world: &mut World, member: String) -> Result<(), StepError> {
    let scene = world.scene();
    let real = scene.names.get(&member)?;
    let hub = scene.hub();
    scene.follow(&hub, &Watched::one("hub", kinds::MEMBER_CLUSTER, None, &real));
    scene.delete(kinds::MEMBER_CLUSTER, None, &real).await?;
    scene.did(format!("MemberCluster/{real} deleted"));
    Ok(())
}

/// The MemberCluster is still there, being deleted, for that long.
#[then(expr = "member {string} is still leaving after {int} seconds")]
async fn still_leaving(world: &mut World, member: String, seconds: u64) -> Result<(), StepError> {
    let scene = world.scene();
    let real = scene.names.get(&member)?;
    let watched = Watched::one("hub", kinds::MEMBER_CLUSTER, None, &real);
    let hub = scene.hub();
    let expectation = format!("MemberCluster/{real} is being deleted and doesn't go");
    let leaving = |objects: &fleet::observe::Objects| match objects.get(&real) {
        Some(o) if diagnosis::Object::new(o).deleted_at().is_some() => Verdict::Holds,
        Some(_) => Verdict::Pending("it isn't being deleted".into()),
        None => absent(objects, &real),
    };
    scene.wait(&hub, &watched, &expectation, limits::REPORTED, leaving).await?;
    let time = std::time::Duration::from_secs(seconds);
    scene.stays(&hub, &watched, &expectation, time, leaving).await
}

/// Waits until the MemberCluster and the member's namespace on the hub are gone.
#[then(expr = "member {string} has left")]
async fn has_left(world: &mut World, member: String) -> Result<(), StepError> {
    let scene = world.scene();
    let real = scene.names.get(&member)?;
    let hub = scene.hub();
    for (kind, name) in [(kinds::MEMBER_CLUSTER, real.clone()), (kinds::NAMESPACE, fleet::member_namespace(&real))] {
        let watched = Watched::one("hub", kind, None, &name);
        let expectation = format!("{}/{name} is gone", kind.kind);
        scene.wait(&hub, &watched, &expectation, limits::AVAILABLE, |objects| Verdict::gone(objects, &name)).await?;
    }
    Ok(())
}

/// Joins the member again, with the cluster, agent and identity that it has.
#[when(expr = "member {string} joins again")]
async fn joins_again(world: &mut World, member: String) -> Result<(), StepError> {
    let scene = world.scene();
    let real = scene.names.get(&member)?;
    let labels = scene.labels_of(&real);
    scene.fleet.rejoin(&real, &labels).await?;
    scene.remedied(format!("MemberCluster/{real} created again, and joined"));
    Ok(())
}
