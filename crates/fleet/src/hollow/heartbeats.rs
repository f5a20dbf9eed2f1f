//! Heartbeats of hollow members, and how they join and leave.
//!
//! The hub-agent asks an agent to join or to leave in the `spec` of its `InternalMemberCluster`. The agent answers in the
//! `status`, and again with each heartbeat.

use std::sync::Arc;
use std::time::Duration;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::api::{ListParams, Patch};
use kube::runtime::controller::Action;
use kube::{Api, Error};
use rand::RngExt as _;
use serde_json::{Value, json};

use super::agents::{Agents, as_member_agent, is_gone};
use super::conditions::{NewCondition, find, now};
use super::names::is_hollow;
use super::objects::{InternalMember, RequestedState};
use super::work_objects::Work;
use super::works::release;
use crate::member::member_namespace;

/// Answers the request in an `InternalMemberCluster`, and sends a heartbeat when one is due.
pub(super) async fn reconcile(internal: Arc<InternalMember>, agents: Arc<Agents>) -> Result<Action, Error> {
    let member = internal.member();
    // A change of the behaviours starts all reconciles again.
    if !is_hollow(&member) || !agents.behaviour(&member).heartbeats {
        return Ok(Action::await_change());
    }
    let done = match internal.spec.state {
        RequestedState::Join => join(&internal, &member, &agents).await,
        RequestedState::Leave => leave(&internal, &member, &agents).await,
    };
    match done {
        // The member has left, and its namespace is gone.
        Err(error) if is_gone(&error) => Ok(Action::await_change()),
        done => done,
    }
}

async fn join(internal: &InternalMember, member: &str, agents: &Agents) -> Result<Action, Error> {
    let generation = internal.generation();
    agents.join(member);
    if let Some(left) = agents.until_heartbeat(member, generation) {
        return Ok(Action::requeue(left));
    }
    let (time, conditions) = (now(), internal.conditions());
    let condition = |type_, reason| {
        NewCondition { type_, holds: true, reason, message: String::new(), generation: Some(generation) }
            .after(conditions, time)
    };
    let conditions =
        [condition("Healthy", "InternalMemberClusterHealthy"), condition("Joined", "InternalMemberClusterJoined")];
    let nothing = json!({"cpu": "0", "memory": "0"});
    let status = json!({
        "agentStatus": [{"type": "MemberAgent", "conditions": conditions, "lastReceivedHeartbeat": time.to_string()}],
        "properties": {"kubernetes-fleet.io/node-count": {"value": "0", "observationTime": time.to_string()}},
        "resourceUsage": {
            "allocatable": nothing, "available": nothing, "capacity": nothing, "observationTime": time.to_string(),
        },
    });
    write(agents, member, &status).await?;
    let next = with_jitter(Duration::from_secs(internal.spec.heartbeat_period_seconds.into()));
    agents.sent_heartbeat(member, generation, next);
    Ok(Action::requeue(next))
}

/// Lets a member leave: the agent gives up the finalizers of its Works, and deletes nothing on its cluster.
async fn leave(internal: &InternalMember, member: &str, agents: &Agents) -> Result<Action, Error> {
    let generation = internal.generation();
    agents.leave(member);
    let has_left = |c: &Condition| c.status == "False" && c.observed_generation == Some(generation);
    if find(internal.conditions(), "Joined").is_some_and(has_left) {
        return Ok(Action::await_change());
    }
    let works: Api<Work> = Api::namespaced(agents.client.clone(), &member_namespace(member));
    for work in works.list(&ListParams::default()).await? {
        release(&works, &work).await?;
    }
    let left = NewCondition {
        type_: "Joined",
        holds: false,
        reason: "InternalMemberClusterLeft",
        message: String::new(),
        generation: Some(generation),
    };
    let mut conditions: Vec<Condition> =
        internal.conditions().iter().filter(|condition| condition.type_ != "Joined").cloned().collect();
    conditions.push(left.after(internal.conditions(), now()));
    let time = now().to_string();
    let agent = json!({"type": "MemberAgent", "conditions": conditions, "lastReceivedHeartbeat": time});
    write(agents, member, &json!({"agentStatus": [agent]})).await?;
    Ok(Action::await_change())
}

async fn write(agents: &Agents, member: &str, status: &Value) -> Result<(), Error> {
    let api: Api<InternalMember> = Api::namespaced(agents.client.clone(), &member_namespace(member));
    let patch = Patch::Merge(json!({"status": status}));
    api.patch_status(member, &as_member_agent(), &patch).await.map(drop)
}

/// Changes a heartbeat's period at random by 5 % at most, as agents do (v0.1.2).
fn with_jitter(period: Duration) -> Duration {
    period.mul_f64(rand::rng().random_range(0.95..1.05))
}
