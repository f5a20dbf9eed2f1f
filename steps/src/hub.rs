//! Steps about the hub itself: its agent, its etcd, and what its API server refuses. Stops and restarts of agents are in `member.rs`.

use cucumber::gherkin::Step;
use cucumber::{then, when};
use fleet::{faults, kinds};
use kube::api::{Patch, PatchParams};
use record::{Action, ObjectPath};
use serde_json::json;

use crate::api_server::SLOW;
use crate::context::{FaultyProcess, ScenarioContext};
use crate::destination::manifest_to_try;
use crate::error::StepError;
use crate::limits;
use crate::needs::{ProviderAbility, StepCall, needs};
use crate::pauses::read_until_as_expected;
use crate::phrases::{EtcdChange, HangChange, RightsChange};
use crate::world::World;

/// `hangs`: the hub-agent's process stays, and does nothing: no controller works, no webhook answers, the connections stay open. `works on`:
/// it goes on where it was, as the end of the scenario does. Every scenario on the fleet would feel it: use a fleet of its own.
#[needs(ability: |_| Some(ProviderAbility::HangAgents))]
#[when(expr = "the hub-agent {hangs or works on}")]
async fn hangs(world: &mut World, change: HangChange) -> Result<(), StepError> {
    let context = world.context();
    context.check_own_fleet("the hub is")?;
    if change.hangs {
        context.process_faults.insert(FaultyProcess::HubAgent, context.fleet.hang_hub_agent().await?);
        context.induced("hub-agent paused: its process gets no processor time");
    } else {
        context.end_process_fault(&FaultyProcess::HubAgent).await?;
        context.remedied("hub-agent goes on");
    }
    Ok(())
}

/// `loses its rights`: deletes the `ClusterRoleBinding` that grants the hub-agent its rights. `gets its rights back`: creates it again. Every
/// scenario on the fleet would feel it: use a fleet of its own.
#[needs(ability: |_| Some(ProviderAbility::LimitHubAgent))]
#[when(expr = "the hub-agent {loses or gets back its rights}")]
async fn rights(world: &mut World, change: RightsChange) -> Result<(), StepError> {
    let context = world.context();
    context.check_own_fleet("the hub is")?;
    if change.lost {
        let names = faults::take_hub_agent_rights(&context.hub()).await?;
        let [name, ..] = &names[..] else {
            return Err(StepError::Feature("no ClusterRoleBinding grants the hub-agent its rights".into()));
        };
        let path = ObjectPath::new(kinds::CLUSTER_ROLE_BINDING.kind, None, name);
        context.induced(Action::new(format!("{path} deleted on the hub")).on(path));
    } else {
        faults::give_hub_agent_rights(&context.hub()).await?;
        context.remedied("the hub-agent has the rights of cluster-admin again");
    }
    Ok(())
}

/// `runs out of space`: restarts the hub's etcd with a quota (`--quota-backend-bytes`) that is smaller than what it stores, as if it had
/// grown to its quota: etcd raises its alarm NOSPACE with the next write, and takes reads and deletions only. `has space again`: restarts it
/// with its usual quota, and disarms the alarm. `gets slow`: gives it a tenth of its processor time, as an API server that gets slow; `is as
/// fast as before`, as the end of the scenario does, gives it back. `is defragmented`: has it write its file anew, as `etcdctl defrag` does. On
/// a local fleet, the members have the same etcd. Every scenario on the fleet would feel it: use a fleet of its own.
#[needs(ability: |call| Some(etcd_ability(call)))]
#[when(expr = "the hub's etcd {etcd change}")]
async fn etcd(world: &mut World, change: EtcdChange) -> Result<(), StepError> {
    let context = world.context();
    context.check_own_fleet("the hub is")?;
    match change {
        EtcdChange::OutOfSpace => {
            context.fleet.limit_storage(true).await?;
            context.induced("the quota of the hub's etcd is smaller than what it stores");
        }
        EtcdChange::Space => {
            context.fleet.limit_storage(false).await?;
            // An API server may still send a write to the etcd of before.
            written(context, "a write works again", Result::is_ok).await?;
            context.remedied("the hub's etcd has its usual quota, and its alarm is disarmed");
        }
        EtcdChange::Slow => {
            context.process_faults.insert(FaultyProcess::Etcd, context.fleet.throttle_storage(SLOW).await?);
            context.induced(format!("the hub's etcd gets {SLOW} % of its processor time"));
        }
        EtcdChange::Fast => {
            context.end_process_fault(&FaultyProcess::Etcd).await?;
            context.remedied("the hub's etcd has its processor time back");
        }
        EtcdChange::Defragmented => {
            context.fleet.defragment_storage().await?;
            context.did("the hub's etcd defragmented");
        }
    }
    Ok(())
}

/// Ability that a provider needs for a change of etcd.
fn etcd_ability(call: &StepCall<'_>) -> ProviderAbility {
    match call.parameter() {
        Some(EtcdChange::OutOfSpace | EtcdChange::Space) => ProviderAbility::LimitStorage,
        Some(EtcdChange::Defragmented) => ProviderAbility::DefragmentStorage,
        _ => ProviderAbility::SlowStorage,
    }
}

/// The hub's API server refuses a change of an object, an annotation of the namespace `fleet-system`, with a message that has this in it.
/// Tries until it does: an etcd without space takes the first writes.
#[then(expr = "the hub takes no writes: {string}")]
async fn takes_no_writes(world: &mut World, message: String) -> Result<(), StepError> {
    let refused = |answer: &Result<(), kube::Error>| match answer {
        Err(kube::Error::Api(status)) => status.message.contains(&message),
        Err(_) | Ok(()) => false,
    };
    written(world.context(), "a write is refused", refused).await
}

/// Changes an annotation of the namespace `fleet-system` on the hub until the answer is as wanted.
async fn written(
    context: &ScenarioContext,
    wanted: &str,
    is_wanted: impl Fn(&Result<(), kube::Error>) -> bool,
) -> Result<(), StepError> {
    let api = kinds::NAMESPACE.api(&context.hub().client, None);
    read_until_as_expected(limits::REPORTED, async || {
        let patch = json!({"metadata": {"annotations": {"fleetdrill.dev/tried": jiff::Timestamp::now().to_string()}}});
        let answer = api.patch(fleet::SYSTEM, &PatchParams::default(), &Patch::Merge(&patch)).await.map(drop);
        if is_wanted(&answer) {
            return Ok(());
        }
        let answer = answer.err().map_or_else(|| "it was written".to_owned(), |error| error.to_string());
        let object = fleet::SYSTEM;
        Err(StepError::Differs(format!("{wanted}: a change of Namespace/{object} gets: {answer}")))
    })
    .await
}

/// The hub's API server would create an object, the step's text as YAML. Nothing is created (`--dry-run=server`). Waits until it would.
#[then(expr = "the hub would create")]
async fn would_create(world: &mut World, step: &Step) -> Result<(), StepError> {
    let context = world.context();
    let hub = context.hub();
    let (target, manifest) = manifest_to_try(context, &hub, step).await?;
    read_until_as_expected(limits::REPORTED, async || {
        let tried = target.try_to_create(&manifest).await;
        tried.map_err(|error| StepError::Differs(format!("the hub refuses it with \"{error}\"")))
    })
    .await
}
