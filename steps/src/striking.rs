//! The end of what a scenario has made in Argo CD. The rest is the scene's own to strike.

use fleet::FleetError;
use fleet::argocd;
use fleet::kinds;
use serde_json::Value;

use crate::error::StepError;
use crate::scene::{self, Scene};
use crate::settings;

impl Scene {
    /// Takes back what the scenario made in Argo CD: its settings, its Applications with what they made outside of the
    /// scenario's own namespaces, and its repositories. What can't be is logged and left.
    pub(crate) async fn strike_argocd(&self) {
        if let Err(error) = settings::take_back(self).await {
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
