//! Steps about Argo CD's settings, and its components' flags.

use cucumber::{given, when};
use fleet::argocd::{self, KustomizeFault};
use fleet::kinds;
use record::{Action, ObjectPath};
use serde_json::{Map, Value};

use crate::argocd_settings::{CONFIG_MAP, patch};
use crate::context::ScenarioContext;
use crate::error::StepError;
use crate::needs::{ProviderAbility, needs};
use crate::params::ComponentParam;
use crate::phrases::{ComponentChange, ToolChange, ToolFault};
use crate::world::World;

/// Sets a setting of Argo CD (a key of ConfigMap argocd-cm) up to the end of the scenario. Every scenario on the fleet would feel it, since
/// Argo CD reads all clusters again after a change of most settings: use a fleet of its own.
#[given(expr = "the setting {string} of Argo CD is {string}")]
#[when(expr = "the setting {string} of Argo CD is {string}")]
async fn is(world: &mut World, key: String, value: String) -> Result<(), StepError> {
    let context = world.context();
    context.check_own_fleet("the settings are")?;
    let (key, value) = (context.ledger.names.fill(&key), context.ledger.names.fill(&value));
    set(context, &key, &value).await?;
    context.did(Action::new(format!("ConfigMap/{CONFIG_MAP}: {key} set to {value}")).on(config_map()));
    Ok(())
}

/// `lacks`: tells Argo CD of another version of kustomize, of a name that Applications can ask for, where its repo-server has none. `gets`:
/// installs it there.
#[needs(ability: |_| Some(ProviderAbility::RunArgoCdHere))]
#[given(expr = "the repo-server {lacks or gets} the kustomize {string}")]
#[when(expr = "the repo-server {lacks or gets} the kustomize {string}")]
async fn kustomize_changes(world: &mut World, change: ToolChange, name: String) -> Result<(), StepError> {
    let context = world.context();
    if change.installed {
        let real = context.ledger.names.get(&name)?;
        context.fleet.install_kustomize(&format!("kustomize-{real}")).await?;
        context.remedied(format!("kustomize-{real} installed for the repo-server"));
        return Ok(());
    }
    let real = context.ledger.names.make(&name);
    let path = context.fleet.tool_of_argocd(&format!("kustomize-{real}"));
    set(context, &format!("kustomize.path.{real}"), &path.display().to_string()).await?;
    let sentence =
        format!("ConfigMap/{CONFIG_MAP}: kustomize.path.{real} leads to {}, where nothing is", path.display());
    context.induced(Action::new(sentence).on(config_map()));
    Ok(())
}

/// Gives the repo-server a kustomize, of a name that Applications can ask for, that waits so long before it renders, or that is killed as it
/// begins to render: with SIGKILL, as the kernel does with a program for which a container's memory isn't enough.
#[needs(ability: |_| Some(ProviderAbility::RunArgoCdHere))]
#[given(expr = "the repo-server has a kustomize {string} that {takes time or is killed}")]
async fn has_faulty(world: &mut World, name: String, fault: ToolFault) -> Result<(), StepError> {
    let context = world.context();
    let real = context.ledger.names.make(&name);
    let program = format!("kustomize-{real}");
    context.fleet.install_faulty_kustomize(&program, fault.0).await?;
    let path = context.fleet.tool_of_argocd(&program);
    set(context, &format!("kustomize.path.{real}"), &path.display().to_string()).await?;
    let what = match fault.0 {
        KustomizeFault::Slow(seconds) => format!("takes {seconds} s"),
        KustomizeFault::Killed => "is killed as it renders".to_owned(),
    };
    let sentence = format!("ConfigMap/{CONFIG_MAP}: kustomize.path.{real} leads to {program}, which {what}");
    context.induced(Action::new(sentence).on(config_map()));
    Ok(())
}

/// Kills a component of Argo CD, starts it again, or restarts it with flags. Every scenario on the fleet would feel it: use a fleet of
/// its own.
#[given(expr = "the {component} of Argo CD {component change}")]
#[when(expr = "the {component} of Argo CD {component change}")]
async fn component_changes(
    world: &mut World,
    component: ComponentParam,
    change: ComponentChange,
) -> Result<(), StepError> {
    let context = world.context();
    let process = component.0.process();
    match change {
        ComponentChange::Killed => {
            context.fleet.stop_argocd(component.0).await?;
            context.induced(format!("{process} killed"));
        }
        ComponentChange::Started => {
            context.fleet.start_argocd_again(component.0).await?;
            context.remedied(format!("{process} started again"));
        }
        ComponentChange::Restarted(flags) => {
            let all: Vec<String> = flags.split_whitespace().map(ToOwned::to_owned).collect();
            if let Some(wrong) = all.iter().find(|flag| !flag.starts_with("--") || !flag.contains('=')) {
                return Err(StepError::Feature(format!("`{wrong}` is not a flag like --sync-timeout=20")));
            }
            context.fleet.restart_argocd_with(component.0, &all).await?;
            context.did(format!("{process} restarted with {flags}"));
        }
    }
    Ok(())
}

fn config_map() -> ObjectPath {
    ObjectPath::new(kinds::CONFIG_MAP.kind, Some(argocd::NAMESPACE), CONFIG_MAP)
}

async fn set(context: &mut ScenarioContext, key: &str, value: &str) -> Result<(), StepError> {
    context.ledger.settings.push(key.to_owned());
    let data = Map::from_iter([(key.to_owned(), Value::from(value))]);
    patch(&context.hub(), data).await
}
