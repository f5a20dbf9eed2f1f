//! The end of what a scenario has made.

use std::time::Duration;

use fleet::FleetError;
use fleet::argocd;
use fleet::kinds;
use fleet::objects;
use kube::api::ListParams;
use serde_json::Value;

use super::{ObjectHandle, ScenarioContext};
use crate::argocd_settings;
use crate::error::StepError;
use crate::finalizer::FINALIZER;

/// CRDs that a scenario made. While one goes, Argo CD can't read its cluster (`failed to load initial state
/// of resource`, v3.2.11), and no Application that has it as its destination can be compared: they go when all scenarios
/// have ended.
#[derive(Default)]
#[must_use]
pub struct DeferredCrds(Vec<ObjectHandle>);

impl DeferredCrds {
    /// Deletes them. What can't be deleted is logged and left.
    pub async fn delete(self) {
        for made in self.0 {
            made.delete().await;
        }
    }
}

impl ObjectHandle {
    async fn delete(&self) {
        let deleted = objects::delete(&self.cluster, self.kind, self.namespace.as_deref(), &self.name).await;
        if let Err(error) = deleted {
            tracing::warn!(%error, kind = self.kind.kind, name = self.name, "failed to clean up");
        }
    }

    async fn release(&self) {
        let namespace = self.namespace.as_deref();
        let released = objects::remove_finalizer(&self.cluster, self.kind, namespace, &self.name, FINALIZER).await;
        if let Err(error) = released {
            tracing::warn!(%error, kind = self.kind.kind, name = self.name, "failed to take finalizers off");
        }
    }
}

impl ScenarioContext {
    /// Deletes what this scenario made, in the order in which an operator would: runs and placements first,
    /// so that members are emptied, then members of its own. What can't be deleted is logged and left; the fleet's end
    /// takes it. Where the fleet doesn't stay, so are namespaces with what they hold, once no placement selects them: to empty
    /// one takes an API server some hundred requests. So are members' labels, each of which lets the hub-agent schedule all
    /// placements anew.
    ///
    /// Gives what has to wait until all scenarios have ended.
    pub async fn cleanup(&mut self, fleet_stays: bool) -> DeferredCrds {
        if self.owns_fleet {
            if let Err(error) = self.fleet.end().await {
                tracing::warn!(%error, fleet = self.fleet.name(), "failed to end a scenario's own fleet");
            }
            return DeferredCrds::default();
        }
        let mut definitions = Vec::new();
        let cleanup = async {
            self.release_held().await;
            definitions.extend(self.cleanup_argocd().await);
            let costly = [kinds::NAMESPACE, kinds::CONFIG_MAP];
            let resolved = self.resolved().await;
            for made in resolved.into_iter().rev().filter(|made| fleet_stays || !costly.contains(&made.kind)) {
                if made.kind == kinds::CRD {
                    definitions.push(made);
                } else {
                    made.delete().await;
                }
            }
            for (member, keys) in &self.ledger.labels {
                if !fleet_stays || self.ledger.own_members.contains(member) {
                    continue;
                }
                let labels = Value::Object(keys.iter().map(|key| (key.clone(), Value::Null)).collect());
                if let Err(error) = self.fleet.label_member(member, &labels).await {
                    tracing::warn!(%error, member, "failed to take labels away");
                }
            }
            for member in &self.ledger.own_members {
                // A member leaves only if its agent reaches the hub.
                if let Err(error) = self.fleet.repair_networks_of(member).await {
                    tracing::warn!(%error, member, "failed to repair its networks");
                }
                // Works that were left in a namespace that is being deleted would keep the member for ever.
                if let Err(error) = fleet::faults::release_works(&self.hub(), member).await {
                    tracing::warn!(%error, member, "failed to release its Works");
                }
                if let Err(error) = self.fleet.remove_member(member).await {
                    tracing::warn!(%error, member, "failed to remove a member");
                }
            }
        };
        if tokio::time::timeout(Duration::from_secs(60), cleanup).await.is_err() {
            tracing::warn!(scenario = self.info.suffix, "cleaning up took more than 60 s and was given up");
        }
        DeferredCrds(definitions)
    }

    /// Takes the finalizers off the objects that the scenario holds. What can't be released is logged and left.
    async fn release_held(&self) {
        for held in self.resolve(&self.ledger.held).await {
            held.release().await;
        }
    }

    /// Takes back what the scenario made in Argo CD: its settings, its ApplicationSets, its Applications with what they made outside of the
    /// scenario's own namespaces, and its repositories. What can't be is logged and left. Gives the CRDs.
    async fn cleanup_argocd(&self) -> Vec<ObjectHandle> {
        let mut definitions = Vec::new();
        if let Err(error) = argocd_settings::take_back(&self.hub(), &self.ledger.settings).await {
            tracing::warn!(%error, "failed to take settings of Argo CD back");
        }
        for host in &self.ledger.trusted_hosts {
            if let Err(error) = self.fleet.trust_host(host, false).await {
                tracing::warn!(%error, host, "failed to take the trust in a host back");
            }
        }
        for host in &self.ledger.trusted_host_keys {
            if let Err(error) = self.fleet.trust_host_key(host, false).await {
                tracing::warn!(%error, host, "failed to take the trust in a host key back");
            }
        }
        // A set that is still there would make its Applications again.
        let generated = self.cleanup_application_sets().await.unwrap_or_else(|error| {
            tracing::warn!(%error, "failed to delete ApplicationSets");
            Vec::new()
        });
        for name in generated {
            if let Err(error) = self.cleanup_application(&name, None).await {
                tracing::warn!(%error, name, "failed to clean up an Application");
            }
        }
        for application in self.ledger.applications.values() {
            match self.cleanup_application(&application.name, application.member.as_deref()).await {
                Ok(made) => definitions.extend(made),
                Err(error) => tracing::warn!(%error, name = application.name, "failed to clean up an Application"),
            }
        }
        for repository in self.ledger.repositories.values() {
            if let Err(error) = repository.remove().await {
                tracing::warn!(%error, url = repository.url(), "failed to remove a repository");
            }
        }
        definitions
    }

    /// Deletes the ApplicationSets, and returns the names of the Applications that they own and no step has named.
    async fn cleanup_application_sets(&self) -> Result<Vec<String>, StepError> {
        let sets: Vec<&String> = self.ledger.application_sets.values().collect();
        if sets.is_empty() {
            return Ok(Vec::new());
        }
        let hub = self.hub();
        for set in &sets {
            objects::delete(&hub, kinds::APPLICATION_SET, Some(argocd::NAMESPACE), set).await?;
        }
        let api = kinds::APPLICATION.api(&hub.client, Some(argocd::NAMESPACE));
        let all = api.list(&ListParams::default()).await.map_err(FleetError::api("hub", "list Applications"))?;
        let owned = all.items.into_iter().filter(|application| {
            let owners = application.metadata.owner_references.iter().flatten();
            owners
                .into_iter()
                .any(|owner| owner.kind == kinds::APPLICATION_SET.kind && sets.iter().any(|set| **set == owner.name))
        });
        let names = owned.filter_map(|application| application.metadata.name);
        let named = |name: &String| self.ledger.applications.values().any(|application| application.name == *name);
        Ok(names.filter(|name| !named(name)).collect())
    }

    /// Deletes an Application and what it made that lies in no namespace; the rest goes with the scenario's namespaces. Gives the
    /// CRDs that it made.
    async fn cleanup_application(&self, name: &str, member: Option<&str>) -> Result<Vec<ObjectHandle>, StepError> {
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
            let name = text(resource, "name");
            let kind = kinds::find(text(resource, "group"), text(resource, "kind"));
            let Some(kind) = kind.filter(|k| !k.namespaced && name.contains(self.ledger.names.suffix())) else {
                continue;
            };
            if kind == kinds::CRD {
                let (cluster, name) = (cluster.clone(), name.to_owned());
                definitions.push(ObjectHandle { cluster, kind, namespace: None, name });
            } else {
                objects::delete(&cluster, kind, None, name).await?;
            }
        }
        Ok(definitions)
    }
}

fn text<'a>(resource: &'a Value, field: &str) -> &'a str {
    resource.get(field).and_then(Value::as_str).unwrap_or_default()
}
