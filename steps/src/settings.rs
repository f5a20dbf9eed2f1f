//! Steps about Argo CD's settings, and the end of what a scenario has made in it.

use cucumber::{given, when};
use fleet::FleetError;
use fleet::argocd;
use fleet::kinds;
use kube::api::{Patch, PatchParams};
use serde_json::{Map, Value, json};

use crate::error::StepError;
use crate::scene::{self, Scene};
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

async fn set(scene: &mut Scene, key: &str, value: &str) -> Result<(), StepError> {
    scene.settings.push(key.to_owned());
    let data = Map::from_iter([(key.to_owned(), Value::from(value))]);
    patch(scene, data).await
}

async fn patch(scene: &Scene, data: Map<String, Value>) -> Result<(), StepError> {
    let api = kinds::CONFIG_MAP.api(&scene.hub().client, Some(argocd::NAMESPACE));
    let patched = api.patch(CONFIG_MAP, &PatchParams::default(), &Patch::Merge(json!({"data": data}))).await;
    patched.map_err(FleetError::api("hub", format!("change ConfigMap/{CONFIG_MAP}")))?;
    Ok(())
}

impl Scene {
    /// Takes back what the scenario made in Argo CD: its settings, its Applications with what they made outside of the
    /// scenario's own namespaces, and its repositories. What can't be is logged and left.
    pub(crate) async fn strike_argocd(&self) {
        let data: Map<String, Value> = self.settings.iter().map(|key| (key.clone(), Value::Null)).collect();
        if !data.is_empty()
            && let Err(error) = patch(self, data).await
        {
            tracing::warn!(%error, "failed to take settings of Argo CD back");
        }
        for application in self.applications.values() {
            if let Err(error) = self.strike_application(&application.name, application.member.as_deref()).await {
                tracing::warn!(%error, name = application.name, "failed to clean up an Application");
            }
        }
        for repository in self.repositories.values() {
            if let Err(error) = repository.remove().await {
                tracing::warn!(%error, url = repository.url(), "failed to remove a repository");
            }
        }
    }

    /// Deletes an Application and what it made that lies in no namespace; the rest goes with the scenario's namespaces.
    async fn strike_application(&self, name: &str, member: Option<&str>) -> Result<(), StepError> {
        let hub = self.hub();
        let api = kinds::APPLICATION.api(&hub.client, Some(argocd::NAMESPACE));
        let failed = FleetError::api("hub", format!("read Application/{name}"));
        let Some(application) = api.get_opt(name).await.map_err(failed)? else { return Ok(()) };
        scene::delete(&hub, kinds::APPLICATION, Some(argocd::NAMESPACE), name).await?;
        let resources = application.data.pointer("/status/resources").and_then(Value::as_array);
        let cluster = match member {
            Some(member) => self.fleet.member(member).await?.cluster,
            None => hub,
        };
        for resource in resources.into_iter().flatten().filter(|r| r.get("namespace").is_none()) {
            let text = |key: &str| resource.get(key).and_then(Value::as_str).unwrap_or_default();
            let kind = kinds::find(text("group"), text("kind"));
            if let Some(kind) = kind.filter(|k| !k.namespaced && text("name").contains(self.names.suffix())) {
                scene::delete(&cluster, kind, None, text("name")).await?;
            }
        }
        Ok(())
    }
}
