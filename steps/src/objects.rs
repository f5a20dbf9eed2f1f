//! The objects that scenarios speak of, with their kinds in both scopes, and how to find them.

use std::time::Instant;

use diagnosis::Object;
use fleet::argocd;
use fleet::capability::Capabilities;
use fleet::kinds::{self, Kind};
use fleet::observe::Watched;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::StepError;
use crate::params::ObjectRef;
use crate::placement::Choice;
use crate::scene::Scene;
use crate::wording;

/// The label by which a placement's bindings, snapshots and Works name it.
pub(crate) const PARENT: &str = "kubernetes-fleet.io/parent-CRP";

/// Cluster-scoped or namespaced: placements, runs, strategies and approval requests come in both.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Scope {
    /// ClusterResourcePlacement, ClusterStagedUpdateRun and so on.
    Cluster,
    /// ResourcePlacement, StagedUpdateRun and so on, in this namespace.
    Namespace(String),
}

impl Scope {
    /// The namespace, where there is one.
    #[must_use]
    pub fn namespace(&self) -> Option<&str> {
        match self {
            Self::Cluster => None,
            Self::Namespace(namespace) => Some(namespace),
        }
    }

    fn pick(&self, cluster: Kind, namespaced: Kind) -> Kind {
        match self {
            Self::Cluster => cluster,
            Self::Namespace(_) => namespaced,
        }
    }

    /// The placement's kind.
    #[must_use]
    pub fn placement(&self) -> Kind {
        self.pick(kinds::CLUSTER_RESOURCE_PLACEMENT, kinds::RESOURCE_PLACEMENT)
    }

    /// The binding's kind.
    #[must_use]
    pub fn binding(&self) -> Kind {
        self.pick(kinds::CLUSTER_RESOURCE_BINDING, kinds::RESOURCE_BINDING)
    }

    /// The resource snapshot's kind.
    #[must_use]
    pub fn resource_snapshot(&self) -> Kind {
        self.pick(kinds::CLUSTER_RESOURCE_SNAPSHOT, kinds::RESOURCE_SNAPSHOT)
    }

    /// The run's kind.
    #[must_use]
    pub fn run(&self) -> Kind {
        self.pick(kinds::CLUSTER_RUN, kinds::RUN)
    }

    /// The strategy's kind.
    #[must_use]
    pub fn strategy(&self) -> Kind {
        self.pick(kinds::CLUSTER_STRATEGY, kinds::STRATEGY)
    }

    /// The approval request's kind.
    #[must_use]
    pub fn approval_request(&self) -> Kind {
        self.pick(kinds::CLUSTER_APPROVAL_REQUEST, kinds::APPROVAL_REQUEST)
    }
}

/// A placement of a scenario.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Placement {
    /// Its real name.
    pub name: String,
    /// Its scope.
    pub scope: Scope,
    /// The namespace whose contents it places.
    pub content: String,
    /// The members that it selected at first.
    pub(crate) choice: Choice,
    /// How often its ConfigMap has been changed.
    pub revision: u32,
    /// How many resource snapshots there should be.
    pub snapshots: u32,
    /// Whether its Deployment, if it has one, is wrapped in a ResourceEnvelope.
    pub enveloped: bool,
    /// Whether only update runs take its resource snapshots: strategy External, from v0.3 on.
    pub snapshots_by_runs: bool,
}

impl Placement {
    /// The condition type of the placement itself: `WorkSynchronized` is `ClusterResourcePlacementWorkSynchronized` on a
    /// ClusterResourcePlacement.
    #[must_use]
    pub fn condition(&self, type_: &str) -> String {
        format!("{}{type_}", self.scope.placement().kind)
    }

    /// What to watch for it.
    pub(crate) fn watched(&self) -> Watched {
        Watched::one("hub", self.scope.placement(), self.scope.namespace(), &self.name)
    }
}

/// An update run of a scenario.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct UpdateRun {
    /// Its real name.
    pub name: String,
    /// The placement's name in the feature.
    pub placement: String,
    /// Its scope, which is the placement's.
    pub scope: Scope,
    /// Since when it waits for the cluster whose stuck threshold has passed; none before it has.
    #[serde(skip)]
    pub waits_since: Option<Instant>,
    /// What the version could do under which it was made. It names its approval requests once, and keeps the names through an upgrade.
    pub(crate) made_under: Capabilities,
}

impl UpdateRun {
    /// What to watch for it.
    pub(crate) fn watched(&self) -> Watched {
        Watched::one("hub", self.scope.run(), self.scope.namespace(), &self.name)
    }
}

/// An Application of a scenario.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Application {
    /// Its real name.
    pub name: String,
    /// The repository's name in the feature.
    pub repository: String,
    /// The member that it deploys to; none for the hub.
    pub member: Option<String>,
}

impl Application {
    /// What to watch for it.
    pub(crate) fn watched(&self) -> Watched {
        Watched::one("hub", kinds::APPLICATION, Some(argocd::NAMESPACE), &self.name)
    }
}

/// An object found by its words in a feature.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    pub watched: Watched,
    pub kind: Kind,
    /// The prefix of condition types on the object itself.
    pub prefix: &'static str,
    /// Which of the watched objects it is: by name, or by the member that a binding targets.
    by: By,
}

#[derive(Clone, Debug)]
enum By {
    Name(String),
    TargetCluster(String),
    /// Whether a Work was made of an envelope.
    Enveloped(bool),
}

impl Found {
    /// Its name, where it is found by that.
    pub fn name(&self) -> Option<&str> {
        match &self.by {
            By::Name(name) => Some(name),
            By::TargetCluster(_) | By::Enveloped(_) => None,
        }
    }

    /// The object among those that are watched.
    pub fn pick<'a>(&self, objects: &'a fleet::observe::Objects) -> Option<&'a Value> {
        let mut all = objects.values().map(AsRef::as_ref);
        match &self.by {
            By::Name(name) => objects.get(name).map(AsRef::as_ref),
            By::TargetCluster(member) => {
                all.find(|o: &&Value| o.pointer("/spec/targetCluster").and_then(Value::as_str) == Some(member))
            }
            By::Enveloped(enveloped) => {
                all.find(|o| Object::new(o).label("kubernetes-fleet.io/envelope-name").is_some() == *enveloped)
            }
        }
    }
}

impl Scene {
    /// A placement that was made before.
    pub(crate) fn placement(&self, name: &str) -> Result<Placement, StepError> {
        self.names.get(name)?;
        self.placements.get(name).cloned().ok_or_else(|| StepError::Feature(format!("\"{name}\" is no placement")))
    }

    /// An update run that was made before.
    pub(crate) fn run(&self, name: &str) -> Result<UpdateRun, StepError> {
        self.names.get(name)?;
        self.runs.get(name).cloned().ok_or_else(|| StepError::Feature(format!("\"{name}\" is no update run")))
    }

    /// An Application that was made before.
    pub(crate) fn application(&self, name: &str) -> Result<Application, StepError> {
        self.names.get(name)?;
        let found = self.applications.get(name).cloned();
        found.ok_or_else(|| StepError::Feature(format!("\"{name}\" is no application")))
    }

    /// Where an object is, and what to watch for it.
    pub(crate) fn find(&self, object: &ObjectRef) -> Result<Found, StepError> {
        let one = |kind: Kind, namespace: Option<&str>, name: &str, prefix| Found {
            watched: Watched::one("hub", kind, namespace, name),
            kind,
            prefix,
            by: By::Name(name.to_owned()),
        };
        Ok(match object {
            ObjectRef::Placement(name) => {
                let p = self.placement(name)?;
                let kind = p.scope.placement();
                one(kind, p.scope.namespace(), &p.name, kind.kind)
            }
            ObjectRef::UpdateRun(name) => {
                let run = self.run(name)?;
                one(run.scope.run(), run.scope.namespace(), &run.name, "")
            }
            ObjectRef::ApprovalRequest { run, when, stage } => {
                let run = self.run(run)?;
                let name = wording::request(&run.made_under, &run.name, when, stage);
                one(run.scope.approval_request(), run.scope.namespace(), &name, "")
            }
            ObjectRef::MemberNamespace(member) => {
                one(kinds::NAMESPACE, None, &fleet::member_namespace(&self.names.get(member)?), "")
            }
            ObjectRef::Application(name) => {
                one(kinds::APPLICATION, Some(argocd::NAMESPACE), &self.application(name)?.name, "")
            }
            ObjectRef::Member(member) => one(kinds::MEMBER_CLUSTER, None, &self.names.get(member)?, ""),
            ObjectRef::Binding { placement, member } => {
                let p = self.placement(placement)?;
                let label = format!("{PARENT}={}", p.name);
                let kind = p.scope.binding();
                let by = By::TargetCluster(self.names.get(member)?);
                Found { watched: Watched::labelled("hub", kind, p.scope.namespace(), &label), kind, prefix: "", by }
            }
            ObjectRef::Work { placement, member, enveloped } => {
                let p = self.placement(placement)?;
                let label = format!("{PARENT}={}", p.name);
                let namespace = fleet::member_namespace(&self.names.get(member)?);
                let watched = Watched::labelled("hub", kinds::WORK, Some(&namespace), &label);
                Found { watched, kind: kinds::WORK, prefix: "", by: By::Enveloped(*enveloped) }
            }
        })
    }
}
