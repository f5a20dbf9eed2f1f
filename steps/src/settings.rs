//! Steps about Argo CD's settings, and its components' flags.

use cucumber::{given, when};
use fleet::FleetError;
use fleet::argocd;
use fleet::kinds;
use kube::api::{Patch, PatchParams};
use serde_json::{Map, Value, json};

use crate::error::StepError;
use crate::params::ComponentParam;
use crate::scene::Scene;
use crate::world::World;

/// The ConfigMap with Argo CD's settings.
const CONFIG_MAP: &str = "argocd-cm";

/// Sets a setting of Argo CD (a key of ConfigMap argocd-cm) up to the end of the scenario. One that others would feel needs
/// a fleet of its own.
#[given(expr = "the setting {string} of Argo CD is {string}")]
#[when(expr = "the setting {string} of Argo CD is {string}")]
async fn is(world: &mut World, key: String, value: String) -> Result<(), StepError> {
    let scene = world.scene();
    let (key, value) = (scene.names.fill(&key), scene.names.fill(&value));
    set(scene, &key, &value).await?;
    scene.did(format!("ConfigMap/{CONFIG_MAP}: {key} set to {value}"));
    Ok(())
}

/// Tells Argo CD of another version of kustomize, of a name that Applications can ask for, where its repo-server has none.
#[given(expr = "the repo-server lacks the kustomize {string} that Argo CD is told of")]
async fn lacks(world: &mut World, name: String) -> Result<(), StepError> {
    let scene = world.scene();
    let real = scene.names.make(&name);
    let path = scene.fleet.tool_of_argocd(&format!("kustomize-{real}"));
    set(scene, &format!("kustomize.path.{real}"), &path.display().to_string()).await?;
    scene.induced(format!(
        "ConfigMap/{CONFIG_MAP}: kustomize.path.{real} leads to {}, where nothing is",
        path.display()
    ));
    Ok(())
}

/// Installs the version of kustomize that was missing.
#[when(expr = "the repo-server gets the kustomize {string}")]
async fn gets(world: &mut World, name: String) -> Result<(), StepError> {
    let scene = world.scene();
    let real = scene.names.get(&name)?;
    scene.fleet.install_kustomize(&format!("kustomize-{real}")).await?;
    scene.remedied(format!("kustomize-{real} installed for the repo-server"));
    Ok(())
}

/// Gives the repo-server a kustomize, of a name that Applications can ask for, that waits so long before it renders.
#[given(expr = "the repo-server has a kustomize {string} that takes {int} seconds")]
async fn has_slow(world: &mut World, name: String, seconds: u64) -> Result<(), StepError> {
    let scene = world.scene();
    let real = scene.names.make(&name);
    let program = format!("kustomize-{real}");
    scene.fleet.install_slow_kustomize(&program, seconds).await?;
    let path = scene.fleet.tool_of_argocd(&program);
    set(scene, &format!("kustomize.path.{real}"), &path.display().to_string()).await?;
    scene.induced(format!("ConfigMap/{CONFIG_MAP}: kustomize.path.{real} leads to {program}, which takes {seconds} s"));
    Ok(())
}

/// Restarts a component of Argo CD with these flags beside its own (`--sync-timeout=20`); of a flag that it has already,
/// these count. All scenarios on the fleet would feel it: have a fleet of its own.
#[given(expr = "the {component} of Argo CD is restarted with {string}")]
#[when(expr = "the {component} of Argo CD is restarted with {string}")]
async fn is_restarted(world: &mut World, component: ComponentParam, flags: String) -> Result<(), StepError> {
    let scene = world.scene();
    let all: Vec<String> = flags.split_whitespace().map(ToOwned::to_owned).collect();
    if let Some(wrong) = all.iter().find(|flag| !flag.starts_with("--") || !flag.contains('=')) {
        return Err(StepError::Feature(format!("`{wrong}` is not a flag like --sync-timeout=20")));
    }
    scene.fleet.restart_argocd_with(component.0, &all).await?;
    scene.did(format!("{} restarted with {flags}", component.0.process()));
    Ok(())
}

async fn set(scene: &mut Scene, key: &str, value: &str) -> Result<(), StepError> {
    scene.settings.push(key.to_owned());
    let data = Map::from_iter([(key.to_owned(), Value::from(value))]);
    patch(scene, data).await
}

/// Takes back the settings that the scenario has set.
pub(crate) async fn take_back(scene: &Scene) -> Result<(), StepError> {
    let data: Map<String, Value> = scene.settings.iter().map(|key| (key.clone(), Value::Null)).collect();
    if data.is_empty() { Ok(()) } else { patch(scene, data).await }
}

async fn patch(scene: &Scene, data: Map<String, Value>) -> Result<(), StepError> {
    let api = kinds::CONFIG_MAP.api(&scene.hub().client, Some(argocd::NAMESPACE));
    let patched = api.patch(CONFIG_MAP, &PatchParams::default(), &Patch::Merge(json!({"data": data}))).await;
    patched.map_err(FleetError::api("hub", format!("change ConfigMap/{CONFIG_MAP}")))?;
    Ok(())
}
