//! The end of what a scenario has made.

use std::time::Duration;

use fleet::FleetError;
use fleet::argocd;
use fleet::kinds;
use fleet::objects;
use serde_json::Value;

use super::{Made, Scene};
use crate::error::StepError;
use crate::settings;

/// CRDs that a scenario made. While one goes, Argo CD can't read its cluster (`failed to load initial state
/// of resource`, v3.2.11), and no Application that has it as its destination can be compared: they go when all scenarios
/// have ended.
#[derive(Default)]
#[must_use]
pub struct Definitions(Vec<Made>);

impl Definitions {
    /// Deletes them. What can't be deleted is logged and left.
    pub async fn delete(self) {
        for made in self.0 {
            made.delete().await;
        }
    }
}

impl Made {
    async fn delete(&self) {
        let deleted = objects::delete(&self.cluster, self.kind, self.namespace.as_deref(), &self.name).await;
        if let Err(error) = deleted {
            tracing::warn!(%error, kind = self.kind.kind, name = self.name, "failed to clean up");
        }
    }
}

impl Scene {
    /// Deletes what this scenario made, in the order in which an operator would: runs and placements first,
    /// so that members are emptied, then members of its own. What can't be deleted is logged and left; the fleet's end
    /// takes it. Where the fleet doesn't stay, so are namespaces with what they hold, once no placement selects them: to empty
    /// one takes an API server some hundred requests. So are members' labels, each of which lets the hub-agent schedule all
    /// placements anew.
    ///
    /// Gives what has to wait until all scenarios have ended.
    pub async fn strike(&mut self, fleet_stays: bool) -> Definitions {
        if self.owns_fleet {
            if let Err(error) = self.fleet.end().await {
                tracing::warn!(%error, fleet = self.fleet.name(), "failed to end a scenario's own fleet");
            }
            return Definitions::default();
        }
        let mut definitions = Vec::new();
        let strike = async {
            definitions.extend(self.strike_argocd().await);
            let costly = [kinds::NAMESPACE, kinds::CONFIG_MAP];
            for made in self.made.iter().rev().filter(|made| fleet_stays || !costly.contains(&made.kind)) {
                if made.kind == kinds::CRD {
                    definitions.push(made.clone());
                } else {
                    made.delete().await;
                }
            }
            for (member, keys) in &self.labels {
                if !fleet_stays || self.own_members.contains(member) {
                    continue;
                }
                let labels = Value::Object(keys.iter().map(|key| (key.clone(), Value::Null)).collect());
                if let Err(error) = self.fleet.label_member(member, &labels).await {
                    tracing::warn!(%error, member, "failed to take labels away");
                }
            }
            for member in &self.own_members {
                // Works that were left in a namespace that is being deleted would keep the member for ever.
                if let Err(error) = fleet::faults::release_works(&self.hub(), member).await {
                    tracing::warn!(%error, member, "failed to release its Works");
                }
                if let Err(error) = self.fleet.remove_member(member).await {
                    tracing::warn!(%error, member, "failed to remove a member");
                }
            }
        };
        if tokio::time::timeout(Duration::from_secs(60), strike).await.is_err() {
            tracing::warn!(scenario = self.info.suffix, "cleaning up took more than 60 s and was given up");
        }
        Definitions(definitions)
    }

    /// Takes back what the scenario made in Argo CD: its settings, its Applications with what they made outside of the
    /// scenario's own namespaces, and its repositories. What can't be is logged and left. Gives the CRDs.
    async fn strike_argocd(&self) -> Vec<Made> {
        let mut definitions = Vec::new();
        if let Err(error) = settings::take_back(self).await {
            tracing::warn!(%error, "failed to take settings of Argo CD back");
        }
        for application in self.applications.values() {
            match self.strike_application(&application.name, application.member.as_deref()).await {
                Ok(made) => definitions.extend(made),
                Err(error) => tracing::warn!(%error, name = application.name, "failed to clean up an Application"),
            }
        }
        for repository in self.repositories.values() {
            if let Err(error) = repository.remove().await {
                tracing::warn!(%error, url = repository.url(), "failed to remove a repository");
            }
        }
        definitions
    }

    /// Deletes an Application and what it made that lies in no namespace; the rest goes with the scenario's namespaces. Gives the
    /// CRDs that it made.
    async fn strike_application(&self, name: &str, member: Option<&str>) -> Result<Vec<Made>, StepError> {
        let hub = self.hub();
        let api = kinds::APPLICATION.api(&hub.client, Some(argocd::NAMESPACE));
        let failed = FleetError::api("hub", format!("read Application/{name}"));
        let Some(application) = api.get_opt(name).await.map_err(failed)? else { return Ok(Vec::new()) };
        objects::delete(&hub, kinds::APPLICATION, Some(argocd::NAMESPACE), name).await?;
        let resources = application.data.pointer("/status/resources").and_then(Value::as_array);
        let cluster = match member {
            Some(member) => self.fleet.member(member).await?.cluster,
            None => hub,
        };
        let mut definitions = Vec::new();
        for resource in resources.into_iter().flatten().filter(|r| r.get("namespace").is_none()) {
            let text = |key: &str| resource.get(key).and_then(Value::as_str).unwrap_or_default();
            let kind = kinds::find(text("group"), text("kind"));
            let Some(kind) = kind.filter(|k| !k.namespaced && text("name").contains(self.names.suffix())) else {
                continue;
            };
            if kind == kinds::CRD {
                let (cluster, name) = (cluster.clone(), text("name").to_owned());
                definitions.push(Made { cluster, kind, namespace: None, name });
            } else {
                objects::delete(&cluster, kind, None, text("name")).await?;
            }
        }
        Ok(definitions)
    }
}
