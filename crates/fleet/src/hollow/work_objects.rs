//! What the agents of hollow members read of a Work.

use std::borrow::Cow;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, ObjectMeta};
use kube::Resource;
use kube::core::NamespaceResourceScope;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use super::objects::{impl_resource, slim_metadata};
use crate::kinds::{ResourceKind, WORK};

/// A Work, without the contents of its manifests.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Work {
    #[serde(deserialize_with = "slim_metadata")]
    metadata: ObjectMeta,
    /// Request of the hub-agent.
    pub spec: WorkSpec,
    /// Status, written by the agent.
    #[serde(default)]
    pub status: WorkStatus,
}

const KIND: ResourceKind = WORK;
impl_resource!(Work, KIND);

/// Request of the hub-agent to an agent.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WorkSpec {
    /// How the manifests are applied.
    #[serde(default)]
    pub apply_strategy: ApplyStrategy,
    #[serde(default)]
    workload: Workload,
}

/// How manifests are applied.
#[derive(Clone, Debug, Default, Deserialize)]
pub(super) struct ApplyStrategy {
    #[serde(default, rename = "type")]
    type_: String,
}

impl ApplyStrategy {
    /// True if nothing is applied, and differences are reported.
    pub fn reports_differences(&self) -> bool {
        self.type_ == "ReportDiff"
    }
}

#[derive(Clone, Debug, Default, Deserialize)]
struct Workload {
    #[serde(default)]
    manifests: Vec<Manifest>,
}

/// What the status of a Work says of a manifest depends on this.
#[derive(Clone, Debug)]
pub(super) struct Manifest {
    /// API group; empty for the core group.
    pub group: String,
    /// Version of the API group.
    pub version: String,
    /// Kind of the object.
    pub kind: String,
    /// Namespace of the object; empty for cluster-scoped objects.
    pub namespace: String,
    /// Name of the object.
    pub name: String,
    /// Images of its containers, if it is a workload.
    pub images: Vec<String>,
    /// True for a Service of type `ExternalName`.
    pub is_external_name: bool,
}

impl Work {
    /// Manifests in their order.
    pub fn manifests(&self) -> &[Manifest] {
        &self.spec.workload.manifests
    }

    /// Generation of the Work.
    pub fn generation(&self) -> i64 {
        self.meta().generation.unwrap_or_default()
    }
}

impl<'de> Deserialize<'de> for Manifest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self::of(&Value::deserialize(deserializer)?))
    }
}

impl Manifest {
    /// Takes what is needed out of a manifest.
    pub fn of(object: &Value) -> Self {
        let text = |path: &str| object.pointer(path).and_then(Value::as_str).unwrap_or_default().to_owned();
        let api_version = text("/apiVersion");
        let (group, version) = api_version.split_once('/').unwrap_or(("", &api_version));
        let containers = ["/spec/template/spec/initContainers", "/spec/template/spec/containers"];
        let containers = containers.iter().filter_map(|path| object.pointer(path)?.as_array()).flatten();
        Self {
            group: group.to_owned(),
            version: version.to_owned(),
            kind: text("/kind"),
            namespace: text("/metadata/namespace"),
            name: text("/metadata/name"),
            images: containers.filter_map(|container| Some(container.get("image")?.as_str()?.to_owned())).collect(),
            is_external_name: text("/spec/type") == "ExternalName",
        }
    }
}

/// Status of a Work.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WorkStatus {
    /// Conditions of the whole Work.
    #[serde(default)]
    pub conditions: Vec<Condition>,
    /// Conditions of each manifest.
    #[serde(default)]
    pub manifest_conditions: Vec<ManifestCondition>,
}

/// Conditions of a manifest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct ManifestCondition {
    /// Object that the manifest is of.
    pub identifier: ManifestIdentifier,
    /// Conditions of the object.
    #[serde(default)]
    pub conditions: Vec<Condition>,
}

/// Object that a manifest is of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ManifestIdentifier {
    /// Position in the Work, from 0.
    #[serde(default)]
    pub ordinal: usize,
    /// API group; empty for the core group.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub group: String,
    /// Version of the API group.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub version: String,
    /// Kind of the object.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub kind: String,
    /// Plural name of the kind.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub resource: String,
    /// Namespace of the object.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub namespace: String,
    /// Name of the object.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
}
