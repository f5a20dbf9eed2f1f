//! Search for an object by its words in a feature.

use clusters::cluster::Cluster;
use diagnosis::Object;
use diagnosis::kubefleet::ENVELOPE_NAME;
use fleet::HUB;
use fleet::argocd;
use fleet::kinds::{self, ResourceKind};
use fleet::observe::WatchSelection;
use serde_json::Value;

use crate::context::ScenarioContext;
use crate::error::StepError;
use crate::names;
use crate::objects::{Application, PARENT, Placement, UpdateRun, second_work};
use crate::params::ObjectRef;
use crate::wording;

/// An object found by its words in a feature.
#[derive(Clone, Debug)]
pub(crate) struct ObjectLookup {
    pub watched: WatchSelection,
    pub kind: ResourceKind,
    /// The prefix of condition types on the object itself.
    pub prefix: &'static str,
    /// Criterion that selects it among the watched objects, e.g. the name, or the member that a binding targets.
    by: ObjectMatcher,
}

#[derive(Clone, Debug)]
enum ObjectMatcher {
    Name(String),
    TargetCluster(String),
    /// True for a Work that was made of an envelope, false for another.
    Enveloped(bool),
    /// Any of them.
    Any,
}

impl ObjectLookup {
    /// Object on the hub that is found by its name.
    fn by_name(kind: ResourceKind, namespace: Option<&str>, name: &str, prefix: &'static str) -> Self {
        let watched = WatchSelection::one("hub", kind, namespace, name);
        Self { watched, kind, prefix, by: ObjectMatcher::Name(name.to_owned()) }
    }

    /// Returns the object's name if the object is found by it.
    pub fn name(&self) -> Option<&str> {
        match &self.by {
            ObjectMatcher::Name(name) => Some(name),
            ObjectMatcher::TargetCluster(_) | ObjectMatcher::Enveloped(_) | ObjectMatcher::Any => None,
        }
    }

    /// The object among those that are watched.
    pub fn pick<'a>(&self, objects: &'a fleet::observe::WatchedObjects) -> Option<&'a Value> {
        let mut all = objects.values().map(AsRef::as_ref);
        match &self.by {
            ObjectMatcher::Name(name) => objects.get(name).map(AsRef::as_ref),
            ObjectMatcher::TargetCluster(member) => {
                all.find(|o: &&Value| o.pointer("/spec/targetCluster").and_then(Value::as_str) == Some(member))
            }
            ObjectMatcher::Any => all.next(),
            ObjectMatcher::Enveloped(enveloped) => {
                all.find(|o| Object::new(*o).label(ENVELOPE_NAME).is_some() == *enveloped)
            }
        }
    }
}

impl ScenarioContext {
    /// A placement that was made before.
    pub(crate) fn placement(&self, name: &str) -> Result<Placement, StepError> {
        self.ledger.names.get(name)?;
        self.ledger
            .placements
            .get(name)
            .cloned()
            .ok_or_else(|| StepError::Feature(format!("\"{name}\" is no placement")))
    }

    /// An update run that was made before.
    pub(crate) fn run(&self, name: &str) -> Result<UpdateRun, StepError> {
        self.ledger.names.get(name)?;
        self.ledger.runs.get(name).cloned().ok_or_else(|| StepError::Feature(format!("\"{name}\" is no update run")))
    }

    /// An Application that was made before.
    pub(crate) fn application(&self, name: &str) -> Result<Application, StepError> {
        self.ledger.names.get(name)?;
        let found = self.ledger.applications.get(name).cloned();
        found.ok_or_else(|| StepError::Feature(format!("\"{name}\" is no application")))
    }

    /// Returns how to find an object, and what to watch for it.
    pub(crate) fn find(&self, object: &ObjectRef) -> Result<ObjectLookup, StepError> {
        Ok(match object {
            ObjectRef::Placement(name) => {
                let p = self.placement(name)?;
                let kind = p.scope.placement();
                ObjectLookup::by_name(kind, p.scope.namespace(), &p.name, kind.kind)
            }
            ObjectRef::UpdateRun(name) => {
                let run = self.run(name)?;
                ObjectLookup::by_name(run.scope.run(), run.scope.namespace(), &run.name, "")
            }
            ObjectRef::ApprovalRequest { run, when, stage } => {
                let run = self.run(run)?;
                let name = wording::request(&run.made_under, &run.name, when, stage);
                ObjectLookup::by_name(run.scope.approval_request(), run.scope.namespace(), &name, "")
            }
            ObjectRef::MemberNamespace(member) => ObjectLookup::by_name(
                kinds::NAMESPACE,
                None,
                &fleet::member_namespace(&self.ledger.names.get(member)?),
                "",
            ),
            ObjectRef::ApplicationSet(name) => {
                let real = self.ledger.names.get(name)?;
                ObjectLookup::by_name(kinds::APPLICATION_SET, Some(argocd::NAMESPACE), &real, "")
            }
            ObjectRef::HubAgent => {
                ObjectLookup::by_name(kinds::DEPLOYMENT, Some(fleet::SYSTEM), clusters::agents::HUB_AGENT, "")
            }
            ObjectRef::RoleBinding(member) => {
                let real = self.ledger.names.get(member)?;
                ObjectLookup::by_name(
                    kinds::ROLE_BINDING,
                    Some(&fleet::member_namespace(&real)),
                    &names::role_binding(&real),
                    "",
                )
            }
            ObjectRef::ServiceAccount(member) => ObjectLookup::by_name(
                kinds::SERVICE_ACCOUNT,
                Some(fleet::SYSTEM),
                &fleet::identity(&self.ledger.names.get(member)?),
                "",
            ),
            ObjectRef::SecondWork { placement, member } => {
                let namespace = fleet::member_namespace(&self.ledger.names.get(member)?);
                ObjectLookup::by_name(kinds::WORK, Some(&namespace), &second_work(&self.placement(placement)?), "")
            }
            ObjectRef::RefusingPolicy(placement) => {
                ObjectLookup::by_name(kinds::ADMISSION_POLICY, None, &self.placement(placement)?.name, "")
            }
            ObjectRef::Eviction(name) => {
                ObjectLookup::by_name(kinds::EVICTION, None, &self.ledger.names.get(name)?, "")
            }
            ObjectRef::DisruptionBudget(placement) => {
                ObjectLookup::by_name(kinds::DISRUPTION_BUDGET, None, &self.placement(placement)?.name, "")
            }
            ObjectRef::PolicySnapshots(placement) => {
                let p = self.placement(placement)?;
                let kind = p.scope.policy_snapshot();
                let watched =
                    WatchSelection::labelled("hub", kind, p.scope.namespace(), &format!("{PARENT}={}", p.name));
                ObjectLookup { watched, kind, prefix: "", by: ObjectMatcher::Any }
            }
            ObjectRef::Application(name) => {
                ObjectLookup::by_name(kinds::APPLICATION, Some(argocd::NAMESPACE), &self.application(name)?.name, "")
            }
            ObjectRef::Project(name) => {
                ObjectLookup::by_name(kinds::APP_PROJECT, Some(argocd::NAMESPACE), &self.ledger.names.get(name)?, "")
            }
            ObjectRef::Member(member) => {
                ObjectLookup::by_name(kinds::MEMBER_CLUSTER, None, &self.ledger.names.get(member)?, "")
            }
            ObjectRef::Binding { placement, member } => {
                let p = self.placement(placement)?;
                let label = format!("{PARENT}={}", p.name);
                let kind = p.scope.binding();
                let by = ObjectMatcher::TargetCluster(self.ledger.names.get(member)?);
                ObjectLookup {
                    watched: WatchSelection::labelled("hub", kind, p.scope.namespace(), &label),
                    kind,
                    prefix: "",
                    by,
                }
            }
            ObjectRef::Work { placement, member, enveloped } => {
                let p = self.placement(placement)?;
                let label = format!("{PARENT}={}", p.name);
                let namespace = fleet::member_namespace(&self.ledger.names.get(member)?);
                let watched = WatchSelection::labelled("hub", kinds::WORK, Some(&namespace), &label);
                ObjectLookup { watched, kind: kinds::WORK, prefix: "", by: ObjectMatcher::Enveloped(*enveloped) }
            }
            ObjectRef::Named { path, member } => self.named(path, member.as_deref())?,
        })
    }

    /// Returns how to find an object by its path, `Kind/namespace/name` or `Kind/name`, on a member or on the hub.
    fn named(&self, path: &str, member: Option<&str>) -> Result<ObjectLookup, StepError> {
        let path = self.ledger.names.fill(path);
        let parts: Vec<&str> = path.split('/').collect();
        let (kind, namespace, name) = match parts[..] {
            [kind, name] => (kind, None, name),
            [kind, namespace, name] => (kind, Some(namespace), name),
            _ => return Err(StepError::Feature(format!("`{path}` is neither Kind/name nor Kind/namespace/name"))),
        };
        let known = kinds::ALL.iter().find(|known| known.kind == kind && known.namespaced == namespace.is_some());
        let kind = *known.ok_or_else(|| StepError::Feature(format!("`{path}`: steps don't know this kind")))?;
        let cluster = member.map_or_else(|| Ok(HUB.to_owned()), |member| self.ledger.names.get(member))?;
        let watched = WatchSelection::one(&cluster, kind, namespace, name);
        // As on a placement that is found by its name in the feature.
        let is_placement = [kinds::CLUSTER_RESOURCE_PLACEMENT, kinds::RESOURCE_PLACEMENT].contains(&kind);
        let prefix = if is_placement { kind.kind } else { "" };
        Ok(ObjectLookup { watched, kind, prefix, by: ObjectMatcher::Name(name.to_owned()) })
    }

    /// Returns the cluster of an object: the hub, for most.
    pub(crate) async fn cluster_of(&self, object: &ObjectLookup) -> Result<Cluster, StepError> {
        match object.watched.cluster.as_str() {
            HUB => Ok(self.hub()),
            member => Ok(self.fleet.member(member).await?.cluster),
        }
    }
}
