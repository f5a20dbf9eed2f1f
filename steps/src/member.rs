//! Steps about members.

use std::time::Duration;

use cucumber::gherkin::Step;
use cucumber::{given, then, when};
use fleet::agent_rights::limit_agent;
use fleet::faults;
use fleet::kinds;
use fleet::observe::{Verdict, WatchSelection, WatchedObjects};
use fleet::{ChildFleetParts, FleetError};
use record::{Action, ObjectPath};
use serde_json::{Value, json};

use crate::context::ScenarioContext;
use crate::error::StepError;
use crate::hollow;
use crate::limits;
use crate::names;
use crate::needs::{ProviderAbility, StepCall, StepRole, needs};
use crate::params::ObjectRef;
use crate::phrases::{AgentRef, FleetAddition, MemberDeparture, NamespaceDeletion, OwnMember, Rights};
use crate::placement_objects::absent;
use crate::repository::document;
use crate::world::World;

/// Time without a heartbeat after which the scheduler takes a member for disconnected (v0.1.2).
const DISCONNECTION_LIMIT: Duration = Duration::from_secs(300);

/// Starts a fleet that no other scenario uses, with a hub and this many members. For faults that every scenario on the fleet would
/// feel. The fleet ends with the scenario. Must be the first step.
///
/// ` and Argo CD`: with Argo CD on its hub. ` and KubeFleet's webhooks`: with the hub-agent's webhooks, as KubeFleet's chart has them; without,
/// fleets have none. One fleet at a time can have them on a machine: they have one port. ` and 200 hollow members`: with this many members more that have no clusters. One process plays
/// their agents, and says that Works are applied and available; the hub and its agent are real. Their names are `hollow-0001` and so on.
/// Tag the scenario `@scale`.
#[needs(ability: |call| Some(fleet_ability(call)), role: Some(StepRole::LeavesSharedFleet))]
#[given(expr = "a fleet of its own with {int} member(s){and what else?}")]
async fn fleet_of_its_own(world: &mut World, members: usize, addition: FleetAddition) -> Result<(), StepError> {
    let context = world.context();
    let parts =
        ChildFleetParts { argocd: addition == FleetAddition::ArgoCd, webhooks: addition == FleetAddition::Webhooks };
    context.move_to_own_fleet(members, parts).await?;
    let with = match addition {
        FleetAddition::Nothing => String::new(),
        FleetAddition::ArgoCd => " with Argo CD".to_owned(),
        FleetAddition::Webhooks => " with KubeFleet's webhooks".to_owned(),
        FleetAddition::HollowMembers(count) => {
            hollow::join(context, count).await?;
            format!(", with {count} hollow members: no clusters, one process plays their agents")
        }
    };
    context.did(format!("fleet {} started{with}", context.fleet.name()));
    Ok(())
}

/// Ability that a provider needs for a fleet of its own.
fn fleet_ability(call: &StepCall<'_>) -> ProviderAbility {
    match call.parameters.last().and_then(|text| text.parse().ok()) {
        Some(FleetAddition::HollowMembers(_)) => ProviderAbility::PlayMembers,
        Some(FleetAddition::Webhooks) => ProviderAbility::ServeWebhooks,
        _ => ProviderAbility::MakeClusters,
    }
}

/// Joins a member that no other scenario uses, for faults that would disturb others. It leaves at the end.
///
/// `, whose agent never comes`: registers the member on the hub, with its MemberCluster and the ServiceAccount of its agent, and starts
/// neither a cluster nor an agent. `, on a network that can fail`: its agent reaches the hub through a proxy (Toxiproxy), so that the network
/// between the two can be broken.
#[needs(ability: |call| Some(own_member_ability(call)))]
#[given(expr = "a member {string} of its own{what is special?}")]
#[when(expr = "a member {string} of its own{what is special?}")]
async fn of_its_own(world: &mut World, name: String, special: OwnMember) -> Result<(), StepError> {
    let context = world.context();
    let real = context.ledger.names.make(&name);
    if special == OwnMember::WithoutAgent {
        return register(context, &real).await;
    }
    context.own(real.clone());
    let mut what = format!("member {real} joined, with a cluster of its own");
    if special == OwnMember::OnNetwork {
        context.fleet.add_member_over_network(&real, &json!({})).await?;
        what.push_str(", over a proxy");
    } else {
        context.fleet.add_member(&real, &json!({})).await?;
    }
    let path = ObjectPath::new(kinds::MEMBER_CLUSTER.kind, None, &real);
    context.did(Action::new(what).on(path));
    Ok(())
}

/// Ability that a provider needs for a member of a scenario's own.
fn own_member_ability(call: &StepCall<'_>) -> ProviderAbility {
    match call.parameters.last().and_then(|text| text.parse().ok()) {
        Some(OwnMember::OnNetwork) => ProviderAbility::BreakNetworks,
        _ => ProviderAbility::MakeClusters,
    }
}

/// Creates what an agent of the member would need on the hub.
async fn register(context: &mut ScenarioContext, real: &str) -> Result<(), StepError> {
    let identity = fleet::identity(real);
    context.make(kinds::SERVICE_ACCOUNT, Some(fleet::SYSTEM), json!({"metadata": {"name": identity}})).await?;
    let spec = json!({
        "identity": {"kind": "ServiceAccount", "name": identity, "namespace": fleet::SYSTEM, "apiGroup": ""},
    });
    context.make(kinds::MEMBER_CLUSTER, None, json!({"metadata": {"name": real}, "spec": spec})).await?;
    let path = ObjectPath::new(kinds::MEMBER_CLUSTER.kind, None, real);
    context.induced(Action::new(format!("{path} created, without a member agent")).on(path));
    Ok(())
}

/// Gives the member a scheduler and a simulated kubelet, unless it has them or, on kind, real ones: without, its workloads get no pods that run.
/// No container runs. A pod is ready at once unless its image can't be had: a name that no kubelet accepts
/// (`nginx:not a tag`), a registry in the domain `.invalid`, or the tag `unpullable`; or unless a container has an environment variable from
/// a ConfigMap or Secret with `absent` in its name. Nodes, scheduling, quotas and volumes are real: the only Node has 1000 CPUs and 1 Ti of
/// memory. A Job's pod ends after a second, with the exit code in its annotation `fleetdrill.dev/exit-code`. Tag the scenario `@pods`.
#[given(expr = "member {string} has pods")]
async fn has_pods(world: &mut World, member: String) -> Result<(), StepError> {
    start_pods(world.context(), &member).await
}

/// Gives the member pods of which the scenario decides what their containers do, as `has pods` does where no real kubelet runs.
///
/// Containers crash if the pod's annotation `fleetdrill.dev/exit-code` isn't 0, or if one has an empty environment variable `DATABASE_URL`
/// (exit code 1): they end after a second, and are started again after 3 s (`CrashLoopBackOff`). Those of a Job's pod end anyway, and stay so.
/// A container isn't ready if it has a readiness probe (httpGet or tcpSocket) of a port that its `ports` don't have. Tag the scenario `@pods`.
#[needs(ability: |_| Some(ProviderAbility::SimulatePods))]
#[given(expr = "member {string} has simulated pods")]
async fn has_simulated_pods(world: &mut World, member: String) -> Result<(), StepError> {
    start_pods(world.context(), &member).await
}

async fn start_pods(context: &mut ScenarioContext, member: &str) -> Result<(), StepError> {
    let real = context.ledger.names.get(member)?;
    context.fleet.start_pods(&real).await?;
    let what = if context.fleet.provider() == "kind" {
        "real nodes run pods"
    } else {
        "a scheduler and a simulated kubelet (KWOK) run"
    };
    context.did(format!("{what} for {real}"));
    Ok(())
}

/// Deletes the member's namespace on the hub.
///
/// `while it holds a Work`: as a mistaken `kubectl delete namespace` does. Waits until the hub says that a Work holds the namespace. The
/// namespace controller empties the namespace first, and the member loses its rights with that. The rights or the Works may go first;
/// this step deletes the rights first, without which the agent can't release a Work (the agent of v0.14.0 does so within
/// milliseconds). See docs/controllers.md.
///
/// `by force`: also takes the namespace's own finalizer off at once, as scripts for namespaces that don't go away do. Waits until the
/// namespace is gone; the objects in it stay stored.
#[given(expr = "the hub's namespace of member {string} is deleted {how}")]
#[when(expr = "the hub's namespace of member {string} is deleted {how}")]
async fn namespace_deleted(world: &mut World, member: String, how: NamespaceDeletion) -> Result<(), StepError> {
    let context = world.context();
    if how.by_force {
        delete_namespace_by_force(context, member).await
    } else {
        delete_namespace_with_work(context, member).await
    }
}

async fn delete_namespace_with_work(context: &ScenarioContext, member: String) -> Result<(), StepError> {
    let real = context.ledger.names.get(&member)?;
    let found = context.find(&ObjectRef::MemberNamespace(member))?;
    let hub = context.hub();
    context.follow(&hub, &found.watched);
    let namespace = fleet::member_namespace(&real);
    let role_binding = ObjectPath::new(kinds::ROLE_BINDING.kind, Some(&namespace), &names::role_binding(&real));
    context.delete(kinds::ROLE_BINDING, Some(&namespace), &role_binding.name).await?;
    faults::delete_member_namespace(&hub, &real).await?;
    let path = ObjectPath::new(kinds::NAMESPACE.kind, None, &namespace);
    let sentence = format!("{path} deleted on the hub, its RoleBinding first");
    context.induced(Action::new(sentence).on(path).on(role_binding));
    context
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

async fn delete_namespace_by_force(context: &ScenarioContext, member: String) -> Result<(), StepError> {
    let real = context.ledger.names.get(&member)?;
    let found = context.find(&ObjectRef::MemberNamespace(member))?;
    let (hub, namespace) = (context.hub(), fleet::member_namespace(&real));
    faults::delete_member_namespace_by_force(&hub, &real).await?;
    let path = ObjectPath::new(kinds::NAMESPACE.kind, None, &namespace);
    context.induced(Action::new(format!("{path} deleted on the hub, and its finalizers emptied")).on(path));
    let expectation = format!("Namespace/{namespace} is gone");
    context
        .wait(&hub, &found.watched, &expectation, limits::REPORTED, |objects| Verdict::gone(objects, &namespace))
        .await?;
    Ok(())
}

/// Gives the member's identity the right to work on Works in all namespaces of the hub, which outlasts the member's own
/// namespace there.
#[given(expr = "the identity of member {string} may work on Works whatever becomes of its namespace")]
async fn has_rights(world: &mut World, member: String) -> Result<(), StepError> {
    let context = world.context();
    let real = context.ledger.names.get(&member)?;
    let name = format!("works-of-{real}");
    let rules = json!([{"apiGroups": [kinds::WORK.group], "resources": ["works", "works/status"], "verbs": ["*"]}]);
    context.make(kinds::CLUSTER_ROLE, None, json!({"metadata": {"name": name}, "rules": rules})).await?;
    let role = json!({"apiGroup": kinds::CLUSTER_ROLE.group, "kind": "ClusterRole", "name": name});
    let account = json!({"kind": "ServiceAccount", "namespace": fleet::SYSTEM, "name": fleet::identity(&real)});
    let binding = json!({"metadata": {"name": name}, "roleRef": role, "subjects": [account]});
    context.make(kinds::CLUSTER_ROLE_BINDING, None, binding).await?;
    let path = ObjectPath::new(kinds::CLUSTER_ROLE_BINDING.kind, None, &name);
    context.did(Action::new(format!("{path} gives the identity of {real} all rights on Works")).on(path));
    Ok(())
}

/// Takes the finalizers off the Works that hold the member's namespace on the hub.
#[when(expr = "the Works that hold the hub's namespace of member {string} are released")]
async fn works_released(world: &mut World, member: String) -> Result<(), StepError> {
    let context = world.context();
    let real = context.ledger.names.get(&member)?;
    let hub = context.hub();
    let released = faults::release_works(&hub, &real).await?;
    if released == 0 {
        return Err(StepError::Differs(format!("no Work in {} is being deleted", fleet::member_namespace(&real))));
    }
    let namespace = fleet::member_namespace(&real);
    context.remedied(format!(
        "finalizer {} taken off {released} Work(s) in {namespace}",
        diagnosis::kubefleet::WORK_CLEANUP_FINALIZER
    ));
    Ok(())
}

/// Waits until the member's namespace on the hub is there and not being deleted.
#[then(expr = "the hub's namespace of member {string} is back")]
async fn namespace_back(world: &mut World, member: String) -> Result<(), StepError> {
    let context = world.context();
    let found = context.find(&ObjectRef::MemberNamespace(member))?;
    let hub = context.hub();
    context
        .wait(&hub, &found.watched, "the namespace is active", limits::AVAILABLE, |objects| match found.pick(objects) {
            Some(o) if diagnosis::Object::new(o).deleted_at().is_none() => Verdict::Holds,
            Some(_) => Verdict::Pending("it is being deleted".into()),
            None => Verdict::Pending("it is gone".into()),
        })
        .await?;
    Ok(())
}

/// Stops an agent, as a crash or a lost node does. Every scenario on the fleet would feel the end of the hub-agent: use a fleet of its
/// own. Agents of hollow members send no heartbeats then, and their Works stay as they are.
#[needs(ability: |_| Some(ProviderAbility::StopAgents))]
#[given(expr = "{agent} stop(s)")]
#[when(expr = "{agent} stop(s)")]
async fn agent_stops(world: &mut World, agent: AgentRef) -> Result<(), StepError> {
    let context = world.context();
    match agent {
        AgentRef::Hub => {
            context.check_own_fleet("the hub-agent is")?;
            context.fleet.stop_hub_agent().await?;
            context.induced("hub-agent stopped");
        }
        AgentRef::Member(member) => {
            let real = context.ledger.names.get(&member)?;
            faults::stop_member_agent(&context.fleet, &real).await?;
            context.induced(format!("member-agent of {real} stopped"));
        }
        AgentRef::Hollow(count) => hollow::stop_agents(context, count)?,
    }
    Ok(())
}

/// Restarts an agent, or starts it where it doesn't run. Waits until the hub-agent has taken over a heartbeat of a member's agent, or the
/// member, if it is leaving, has left. Every scenario on the fleet would feel a restart of the hub-agent: use a fleet of its own.
#[needs(ability: |_| Some(ProviderAbility::StopAgents))]
#[when(expr = "{agent} is/are restarted")]
async fn agent_restarted(world: &mut World, agent: AgentRef) -> Result<(), StepError> {
    let context = world.context();
    match agent {
        AgentRef::Hub => {
            context.fleet.restart_hub_agent().await?;
            context.remedied("hub-agent restarted");
            Ok(())
        }
        AgentRef::Member(member) => restart_member_agent(context, &context.ledger.names.get(&member)?).await,
        AgentRef::Hollow(count) => hollow::start_agents(context, count).await,
    }
}

/// Restarts the hub-agent with the verbosity at which its controllers log what they decide (`--v=2`; KubeFleet's chart sets 5, the program's
/// default is 0). Every scenario on the fleet would feel it: use a fleet of its own.
#[needs(ability: |_| Some(ProviderAbility::SetHubAgentFlags))]
#[given(expr = "the hub-agent logs in detail")]
async fn hub_agent_logs_in_detail(world: &mut World) -> Result<(), StepError> {
    let context = world.context();
    context.fleet.restart_hub_agent_with(&["--v=2".to_owned()]).await?;
    context.did("hub-agent restarted with --v=2");
    Ok(())
}

/// `only these rights`: replaces the member's agent with one that is a ServiceAccount on the member (`member-agent-sa` in
/// `fleet-system`, as with KubeFleet's chart) and may do there only what the step's text allows: a list of rules, as in a ClusterRole.
/// Only on a member of the scenario's own. `all rights`: lets that ServiceAccount do everything; without a restart of the agent.
#[needs(ability: |_| Some(ProviderAbility::LimitAgents))]
#[given(expr = "the agent of member {string} has {rights}")]
#[when(expr = "the agent of member {string} has {rights}")]
async fn agent_has_rights(world: &mut World, member: String, rights: Rights, step: &Step) -> Result<(), StepError> {
    let context = world.context();
    let real = context.ledger.names.get(&member)?;
    if real == member {
        return Err(StepError::Feature(format!("{member} is everybody's: take a member of its own")));
    }
    if rights.all {
        let everything = json!([{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}]);
        limit_agent(&context.fleet, &real, &everything).await?;
        context.remedied(format!("the agent of {real} may do everything there"));
        return Ok(());
    }
    let text = document(context, step)?;
    let rules: Value =
        serde_saphyr::from_str(&text).map_err(|e| StepError::Feature(format!("these rules are no YAML: {e}")))?;
    limit_agent(&context.fleet, &real, &rules).await?;
    context.induced(format!("the agent of {real} may do little there"));
    Ok(())
}

async fn restart_member_agent(context: &ScenarioContext, real: &str) -> Result<(), StepError> {
    let before = kinds::MEMBER_CLUSTER.api(&context.hub().client, None).get(real).await;
    let before = before.map_err(FleetError::api("hub", format!("read MemberCluster/{real}")))?;
    let before = heartbeat(&before.data).cloned();
    faults::stop_member_agent(&context.fleet, real).await?;
    faults::start_member_agent(&context.fleet, real).await?;
    context.remedied(format!("member-agent of {real} restarted"));
    let (hub, watched) = (context.hub(), WatchSelection::one("hub", kinds::MEMBER_CLUSTER, None, real));
    let expectation = format!("{real} sends a heartbeat");
    context
        .wait(&hub, &watched, &expectation, limits::REPORTED, |objects| {
            match objects.get(real).and_then(|o| heartbeat(o)) {
                Some(now) if before.as_ref() != Some(now) => Verdict::Holds,
                // A member that leaves has left.
                None if objects.is_gone(real) => Verdict::Holds,
                _ => Verdict::Pending("none since its agent was restarted".into()),
            }
        })
        .await?;
    Ok(())
}

/// Lets five minutes pass without a heartbeat of the member, whose agent has been stopped. Moves the last heartbeat in the
/// MemberCluster six minutes into the past. With `--real-time` they are waited out.
#[needs(waits_out: Some(DISCONNECTION_LIMIT))]
#[given(expr = "the hub hasn't heard of member {string} for five minutes")]
#[when(expr = "the hub hasn't heard of member {string} for five minutes")]
async fn unheard(world: &mut World, member: String) -> Result<(), StepError> {
    let context = world.context();
    let real = context.ledger.names.get(&member)?;
    let (hub, watched) = (context.hub(), WatchSelection::one("hub", kinds::MEMBER_CLUSTER, None, &real));
    let there = |objects: &WatchedObjects| match objects.get(&real).and_then(|o| heartbeat(o)) {
        Some(_) => Verdict::Holds,
        None => Verdict::Pending("its agent has never sent a heartbeat".into()),
    };
    let expectation = format!("{real} has joined");
    let held = context.wait(&hub, &watched, &expectation, limits::REPORTED, there).await?;
    if context.real_time() {
        let heard = held.objects.get(&real).and_then(|o| heartbeat(o)?.as_str()?.parse::<jiff::Timestamp>().ok());
        let passed = heard.map_or(Duration::ZERO, |heard| jiff::Timestamp::now().duration_since(heard).unsigned_abs());
        // The scheduler compares times in whole seconds.
        let left = (DISCONNECTION_LIMIT + Duration::from_secs(5)).saturating_sub(passed);
        return context.wait_out(&hub, &watched, &expectation, left, there).await;
    }
    faults::was_heard_earlier(&hub, &real).await?;
    let path = ObjectPath::new(kinds::MEMBER_CLUSTER.kind, None, &real);
    context.fast_forwarded(Action::new(format!("the last heartbeat of {real} counts as six minutes older")).on(path));
    Ok(())
}

/// Gives the member a label (`key=value`; `{name}` stands for the real name of what the scenario calls so), as its administrator does
/// with `kubectl label membercluster`. It goes at the end of the scenario. Other scenarios use the member, too: take a key that has one
/// of the scenario's names in it.
#[given(expr = "member {string} gets the label {string}")]
#[when(expr = "member {string} gets the label {string}")]
async fn gets_label(world: &mut World, member: String, label: String) -> Result<(), StepError> {
    let context = world.context();
    let label = context.ledger.names.fill(&label);
    let Some((key, value)) = label.split_once('=') else {
        return Err(StepError::Feature(format!("`{label}` isn't `key=value`")));
    };
    let real = context.ledger.names.get(&member)?;
    context.label_member(&real, json!({ key: value })).await?;
    let path = ObjectPath::new(kinds::MEMBER_CLUSTER.kind, None, &real);
    context.did(Action::new(format!("{path}: label {label} set")).on(path));
    Ok(())
}

/// Returns the time of a member's last heartbeat.
pub(crate) fn heartbeat(member: &Value) -> Option<&Value> {
    member.pointer("/status/agentStatus/0/lastReceivedHeartbeat")
}

/// `has left`: waits until the MemberCluster and the member's namespace on the hub are gone. `is still leaving after 10 seconds`: the
/// MemberCluster is still there, being deleted, for that long.
#[then(expr = "member {string} {has left or is leaving}")]
async fn departs(world: &mut World, member: String, departure: MemberDeparture) -> Result<(), StepError> {
    let context = world.context();
    let real = context.ledger.names.get(&member)?;
    match departure.leaving_for {
        Some(seconds) => still_leaving(context, &real, seconds).await,
        None => has_left(context, &real).await,
    }
}

async fn still_leaving(context: &ScenarioContext, member: &str, seconds: u64) -> Result<(), StepError> {
    let watched = WatchSelection::one("hub", kinds::MEMBER_CLUSTER, None, member);
    let hub = context.hub();
    let expectation = format!("MemberCluster/{member} is being deleted and doesn't go");
    context.wait(&hub, &watched, &expectation, limits::REPORTED, |objects| is_leaving(objects, member)).await?;
    let time = std::time::Duration::from_secs(seconds);
    context.stays(&hub, &watched, &expectation, time, |objects| is_leaving(objects, member)).await
}

/// Holds while a MemberCluster is being deleted.
fn is_leaving(objects: &fleet::observe::WatchedObjects, member: &str) -> Verdict {
    match objects.get(member) {
        Some(o) if diagnosis::Object::new(o).deleted_at().is_some() => Verdict::Holds,
        Some(_) => Verdict::Pending("it isn't being deleted".into()),
        None => absent(objects, member),
    }
}

async fn has_left(context: &ScenarioContext, member: &str) -> Result<(), StepError> {
    let hub = context.hub();
    for (kind, name) in
        [(kinds::MEMBER_CLUSTER, member.to_owned()), (kinds::NAMESPACE, fleet::member_namespace(member))]
    {
        let watched = WatchSelection::one("hub", kind, None, &name);
        let expectation = format!("{}/{name} is gone", kind.kind);
        context.wait(&hub, &watched, &expectation, limits::AVAILABLE, |objects| Verdict::gone(objects, &name)).await?;
    }
    Ok(())
}

/// Joins the member again with the cluster and agent that it has: creates its MemberCluster and its ServiceAccount on the hub where
/// they are missing, and a new token for the agent, which the agent reads when it is restarted.
#[when(expr = "member {string} joins again")]
async fn joins_again(world: &mut World, member: String) -> Result<(), StepError> {
    let context = world.context();
    let real = context.ledger.names.get(&member)?;
    let labels = context.labels_of(&real);
    context.fleet.rejoin(&real, &labels).await?;
    context.remedied(format!("{real} joined again: its MemberCluster and ServiceAccount are there, with a new token"));
    Ok(())
}
