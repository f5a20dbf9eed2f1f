//! What has to survive a repair: what a scene has made, what its placements have put on members, KubeFleet's agents; and who has
//! written the controllers' conditions.

use std::collections::{BTreeMap, BTreeSet};

use clusters::agents::{HUB_AGENT, is_agent, member_agent_name};
use fleet::kinds::{self, ResourceKind};
use fleet::placed_resources::PlacedResources;
use fleet::{Fleet, FleetError, faults};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ManagedFieldsEntry;
use kube::ResourceExt as _;
use kube::api::{DynamicObject, ListParams, Patch, PatchParams};
use record::{Loss, LossKind};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::context::ScenarioContext;
use crate::error::StepError;
use crate::field_change::{FieldChange, field_changes};
use crate::survival_baseline::{BaselineObject, SurvivalBaseline};

/// Kinds whose conditions only controllers write.
const REPORTED: [ResourceKind; 10] = [
    kinds::CLUSTER_RESOURCE_PLACEMENT,
    kinds::RESOURCE_PLACEMENT,
    kinds::CLUSTER_RESOURCE_BINDING,
    kinds::RESOURCE_BINDING,
    kinds::WORK,
    kinds::CLUSTER_RUN,
    kinds::RUN,
    kinds::MEMBER_CLUSTER,
    kinds::INTERNAL_MEMBER_CLUSTER,
    kinds::APPLICATION,
];

/// Kinds whose condition `Approved` people write, and no other.
const APPROVED: [ResourceKind; 2] = [kinds::CLUSTER_APPROVAL_REQUEST, kinds::APPROVAL_REQUEST];

/// The field manager of Argo CD's API server.
const ARGOCD_SERVER: &str = "argocd";

/// Fields of an Application's status that Argo CD's API server sends without content, whatever it changes of the Application: their
/// Go structs can't be left out of its JSON (seen with `argocd app sync`, v3.2.11).
const EMPTY_OF_SERVER: [&str; 2] = ["f:sourceHydrator", "f:summary"];

/// Something that a repair has destroyed, changed or forged.
#[derive(Clone, Debug, PartialEq)]
pub enum RepairLoss {
    /// An agent that ran before the fault doesn't run.
    AgentStopped {
        /// The agent's process.
        agent: String,
    },
    /// An object isn't there.
    ObjectGone {
        /// `Kind/name` or `Kind/namespace/name`.
        path: String,
    },
    /// An object has another uid.
    ObjectRecreated {
        /// `Kind/name` or `Kind/namespace/name`.
        path: String,
    },
    /// Fields outside of an object's metadata and status differ.
    ObjectChanged {
        /// `Kind/name` or `Kind/namespace/name`.
        path: String,
        /// The fields.
        fields: Vec<FieldChange>,
    },
    /// Something on a member differs.
    OnMember(Loss),
    /// A status was written by somebody who is no controller.
    StatusForged {
        /// `Kind/name` or `Kind/namespace/name`.
        path: String,
        /// The field manager that wrote it.
        writer: String,
    },
}

impl std::fmt::Display for RepairLoss {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::AgentStopped { agent } => write!(f, "{agent} doesn't run"),
            Self::ObjectGone { path } => write!(f, "{path} is gone"),
            Self::ObjectRecreated { path } => write!(f, "{path} was deleted and created again"),
            Self::ObjectChanged { path, fields } => {
                write!(f, "{path} was changed")?;
                fields.iter().try_for_each(|field| write!(f, "\n{field}"))
            }
            Self::OnMember(loss) => loss.fmt(f),
            Self::StatusForged { path, writer } => {
                write!(f, "the status of {path} was written by {writer}, which is no controller")
            }
        }
    }
}

/// Exceptions: objects that a repair may take away or change. Objects are named `Kind/name` or `Kind/namespace/name`, with
/// `{name}` for what the scenario calls so.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AllowedDifferences {
    /// Objects that may be deleted, and be created again.
    pub gone: Vec<String>,
    /// Objects that may be changed.
    pub changed: Vec<String>,
    /// True if objects on members may have been created again: the fault took them away.
    pub made_anew: bool,
}

impl ScenarioContext {
    /// Reads the present state of everything that a repair has to keep.
    ///
    /// # Errors
    /// When a cluster doesn't answer.
    pub async fn kept(&self) -> Result<SurvivalBaseline, StepError> {
        let ours = self.ours();
        let members = self.fleet.members().await;
        // Objects of other scenarios don't count: their statuses may be forged at this moment.
        let writers = self.writers(|name| name.contains(&ours) || members.contains_key(name)).await?;
        let mut kept = SurvivalBaseline {
            placed: PlacedResources::on(&self.fleet, &ours).await?,
            agents: self.agents().await?,
            writers: writers.into_values().flatten().collect(),
            ..SurvivalBaseline::default()
        };
        for belonging in self.belongings().await {
            let Some(object) = belonging.read().await? else { continue };
            let path = path(belonging.kind, &object);
            kept.objects.insert(
                path,
                BaselineObject { uid: object.uid().unwrap_or_default(), content: content(belonging.kind, &object) },
            );
        }
        Ok(kept)
    }

    /// Returns what a repair has destroyed, changed or forged since `before` (the fault) and `after` it.
    ///
    /// # Errors
    /// When a cluster doesn't answer.
    pub async fn lost(
        &self,
        before: &SurvivalBaseline,
        after: &SurvivalBaseline,
        may: &AllowedDifferences,
    ) -> Result<Vec<RepairLoss>, StepError> {
        let now = self.kept().await?;
        let stopped = before.agents.difference(&now.agents);
        let mut lost: Vec<RepairLoss> =
            stopped.map(|agent| RepairLoss::AgentStopped { agent: agent.clone() }).collect();
        for (path, was) in &after.objects {
            let may_go = self.is_among(&may.gone, path);
            let path = path.clone();
            let Some(is) = now.objects.get(&path) else {
                if !may_go {
                    lost.push(RepairLoss::ObjectGone { path });
                }
                continue;
            };
            if is.uid != was.uid && !may_go {
                lost.push(RepairLoss::ObjectRecreated { path });
            } else if is.content != was.content
                && before.objects.get(&path).is_none_or(|before| before.content != is.content)
                && !may_go
                && !self.is_among(&may.changed, &path)
            {
                lost.push(RepairLoss::ObjectChanged { path, fields: field_changes(&was.content, &is.content) });
            }
        }
        // Runs make Works whose bindings come and go; what counts is on the members.
        let on_members = before.placed.lost(&self.fleet).await?;
        lost.extend(
            on_members.into_iter().filter(|loss| !(may.made_anew && is_excused(loss))).map(RepairLoss::OnMember),
        );
        let known: BTreeSet<&String> = before.writers.union(&after.writers).collect();
        let ours = self.ours();
        for (path, writers) in self.writers(|name| name.contains(&ours)).await? {
            let forged = writers.into_iter().find(|writer| !known.contains(writer));
            lost.extend(forged.map(|writer| RepairLoss::StatusForged { path, writer }));
        }
        Ok(lost)
    }

    /// True if one of these paths, in which `{name}` stands for a real name, is this one.
    fn is_among(&self, paths: &[String], path: &str) -> bool {
        paths.iter().any(|named| self.ledger.names.fill(named) == path)
    }

    /// Gives the MemberClusters that the scene shares with others the fields back that they had before.
    pub(crate) async fn give_back_members(&self, before: &SurvivalBaseline) -> Result<(), StepError> {
        let now = self.kept().await?;
        let api = kinds::MEMBER_CLUSTER.api(&self.hub().client, None);
        for member in self.fleet.members().await.keys().filter(|member| !self.is_own(member)) {
            let path = format!("{}/{member}", kinds::MEMBER_CLUSTER.kind);
            let Some(was) = before.objects.get(&path) else { continue };
            let is = now.objects.get(&path);
            let is = is.ok_or_else(|| StepError::Differs(format!("{path} is gone, which a reset can't bring back")))?;
            if was.content != is.content {
                let patch: Patch<()> = Patch::Json(json_patch::diff(&is.content, &was.content));
                let failed = FleetError::api("hub", format!("change {path}"));
                api.patch(member, &PatchParams::default(), &patch).await.map_err(failed)?;
            }
        }
        Ok(())
    }

    /// KubeFleet's agents that run, where they are processes of the fleet.
    async fn agents(&self) -> Result<BTreeSet<String>, StepError> {
        let processes = self.fleet.supervisor().processes().await.map_err(FleetError::from)?;
        let running = processes.into_iter().filter(|process| process.pid.is_some() && is_agent(&process.name));
        let running = running.filter(|process| self.uses(&process.name));
        Ok(running.map(|process| process.name).collect())
    }

    /// Returns the field managers that have written into the status of each object on the hub whose name is `wanted`.
    async fn writers(&self, wanted: impl Fn(&str) -> bool) -> Result<BTreeMap<String, BTreeSet<String>>, StepError> {
        let mut all = BTreeMap::new();
        let hub = self.hub();
        for kind in REPORTED.into_iter().chain(APPROVED) {
            let failed = FleetError::api("hub", format!("list {}", kind.plural));
            let objects = match kind.api(&hub.client, None).list(&ListParams::default()).await {
                Ok(objects) => objects,
                // A version that doesn't have the kind.
                Err(kube::Error::Api(status)) if status.code == 404 => continue,
                Err(error) => return Err(failed(error).into()),
            };
            for object in objects.items.iter().filter(|object| wanted(&object.name_any())) {
                let wrote = object.managed_fields().iter().filter(|entry| {
                    wrote_status(entry, APPROVED.contains(&kind))
                        && !(kind == kinds::APPLICATION && is_empty_status_of_server(entry))
                });
                let writers = wrote.filter_map(|entry| entry.manager.clone()).collect();
                all.insert(path(kind, object), writers);
            }
        }
        Ok(all)
    }
}

/// Returns true if a loss on a member doesn't count where the fault itself took away what was there. A deleted object may still be on its
/// way back; the exercise's own steps check that it arrives.
fn is_excused(loss: &Loss) -> bool {
    match loss.how {
        LossKind::Deleted | LossKind::Recreated | LossKind::Restarted => true,
        LossKind::Orphaned => false,
    }
}

/// Returns true if these fields are of a status. In a kind that people approve, the condition Approved doesn't count.
fn wrote_status(entry: &ManagedFieldsEntry, approved: bool) -> bool {
    let Some(status) = entry.fields_v1.as_ref().and_then(|fields| fields.0.get("f:status")) else { return false };
    if !approved {
        return true;
    }
    let conditions = status.get("f:conditions").and_then(Value::as_object);
    conditions.into_iter().flatten().any(|(key, _)| key.starts_with("k:") && !key.contains("\"Approved\""))
}

/// Returns true if the entry is that of Argo CD's API server and has nothing of the status but [`EMPTY_OF_SERVER`], without content.
fn is_empty_status_of_server(entry: &ManagedFieldsEntry) -> bool {
    let whole_object = entry.operation.as_deref() == Some("Update") && entry.subresource.is_none();
    let status = entry.fields_v1.as_ref().and_then(|fields| fields.0.get("f:status")).and_then(Value::as_object);
    whole_object
        && entry.manager.as_deref() == Some(ARGOCD_SERVER)
        && status.into_iter().flatten().all(|(key, fields)| EMPTY_OF_SERVER.contains(&key.as_str()) && is_empty(fields))
}

/// True if managed fields have no content.
fn is_empty(fields: &Value) -> bool {
    fields.as_object().is_some_and(|fields| fields.keys().all(|key| key == "."))
}

fn path(kind: ResourceKind, object: &DynamicObject) -> String {
    match object.namespace() {
        Some(namespace) => format!("{}/{namespace}/{}", kind.kind, object.name_any()),
        None => format!("{}/{}", kind.kind, object.name_any()),
    }
}

/// Returns an object's content without the fields that the API server and the controllers add. The heartbeat's period doesn't count
/// either: it is changed to wake a controller. Empty fields of an ApplicationSet don't count: when its controller removes the annotation that
/// asks for a refresh, it writes the whole object, with an empty template in each generator and without `limit: 0` (v3.5.7).
fn content(kind: ResourceKind, object: &DynamicObject) -> Value {
    let mut content = object.data.clone();
    if let Some(fields) = content.as_object_mut() {
        fields.remove("status");
        fields.remove("operation");
        if let Some(spec) = fields.get_mut("spec").and_then(Value::as_object_mut) {
            spec.remove("heartbeatPeriodSeconds");
        }
    }
    if kind == kinds::APPLICATION_SET {
        remove_empty_fields(&mut content);
    }
    content
}

/// Removes all fields that Go's `omitempty` leaves out, and objects that have no other fields.
fn remove_empty_fields(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.values_mut().for_each(remove_empty_fields);
            fields.retain(|_, field| !is_go_empty(field));
        }
        Value::Array(items) => items.iter_mut().for_each(remove_empty_fields),
        _ => {}
    }
}

/// True for a value that Go's `omitempty` leaves out.
fn is_go_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(is) => !is,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
    }
}

/// Starts the agents of a fleet that ran before and don't run now.
///
/// The fleet reports an agent that has ended until the fleet is opened again.
///
/// # Errors
/// When an agent can't be started.
pub async fn start_stopped_agents(fleet: &Fleet, before: &SurvivalBaseline) -> Result<(), StepError> {
    let processes = fleet.supervisor().processes().await.map_err(FleetError::from)?;
    let running: BTreeSet<&str> = processes.iter().filter(|p| p.pid.is_some()).map(|p| p.name.as_str()).collect();
    let members = fleet.members().await;
    for stopped in before.agents.iter().filter(|agent| !running.contains(agent.as_str())) {
        match members.keys().find(|member| member_agent_name(member) == *stopped) {
            Some(member) => faults::start_member_agent(fleet, member).await?,
            None if stopped == HUB_AGENT => fleet.restart_hub_agent().await?,
            // It has left with its member.
            None => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use k8s_openapi::apimachinery::pkg::apis::meta::v1::ManagedFieldsEntry;
    use serde_json::json;

    use super::{is_empty_status_of_server, remove_empty_fields, wrote_status};

    fn entry(fields: &serde_json::Value) -> ManagedFieldsEntry {
        serde_json::from_value(json!({"manager": "kubectl-edit", "fieldsType": "FieldsV1", "fieldsV1": fields}))
            .expect("an entry")
    }

    #[test]
    fn what_go_leaves_out_is_no_change() {
        let empty_template = json!({"metadata": {}, "spec": {"destination": {}, "project": ""}});
        let mut rewritten =
            json!({"spec": {"generators": [{"list": {"elements": [{"name": ""}], "template": empty_template}}]}});
        let mut made =
            json!({"spec": {"generators": [{"list": {"elements": [{}]}}], "syncPolicy": {"retry": {"limit": 0}}}});
        remove_empty_fields(&mut rewritten);
        remove_empty_fields(&mut made);
        assert_eq!(rewritten, made);
        assert_eq!(made, json!({"spec": {"generators": [{"list": {"elements": [{}]}}]}}));
    }

    #[test]
    fn a_status_is_written_by_whoever_owns_a_field_of_it() {
        let run = entry(&json!({"f:status": {"f:conditions": {".": {}, "k:{\"type\":\"Succeeded\"}": {}}}}));
        assert!(wrote_status(&run, false));
        assert!(!wrote_status(&entry(&json!({"f:spec": {"f:state": {}}})), false));
    }

    #[test]
    fn who_approves_writes_one_condition_and_no_other() {
        let approved = entry(&json!({"f:status": {"f:conditions": {".": {}, "k:{\"type\":\"Approved\"}": {}}}}));
        assert!(!wrote_status(&approved, true));
        let accepted = entry(&json!({"f:status": {"f:conditions": {"k:{\"type\":\"ApprovalAccepted\"}": {}}}}));
        assert!(wrote_status(&accepted, true));
    }

    /// As `argocd app sync` leaves it, read from an Application's metadata.managedFields (Argo CD v3.2.11).
    #[test]
    fn argo_cd_s_server_writes_empty_fields_of_a_status() {
        let entry = |manager: &str, status: &serde_json::Value| -> ManagedFieldsEntry {
            serde_json::from_value(json!({
                "manager": manager, "operation": "Update", "fieldsType": "FieldsV1",
                "fieldsV1": {"f:operation": {".": {}, "f:sync": {}}, "f:status": status},
            }))
            .expect("an entry")
        };
        let empty = json!({"f:sourceHydrator": {}, "f:summary": {}});
        assert!(is_empty_status_of_server(&entry("argocd", &empty)));
        assert!(!is_empty_status_of_server(&entry("kubectl-edit", &empty)));
        for forged in [
            json!({"f:sourceHydrator": {}, "f:summary": {}, "f:operationState": {"f:phase": {}}}),
            json!({"f:summary": {"f:images": {}}}),
            json!({"f:sync": {"f:status": {}}}),
        ] {
            assert!(!is_empty_status_of_server(&entry("argocd", &forged)), "{forged}");
        }
        let mut on_status = entry("argocd", &empty);
        on_status.subresource = Some("status".into());
        assert!(!is_empty_status_of_server(&on_status));
    }
}
