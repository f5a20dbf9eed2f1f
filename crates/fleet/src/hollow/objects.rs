//! What the agents of hollow members read of a member's `InternalMemberCluster`.
//!
//! Types of these few fields instead of whole objects, because the process keeps the objects of all members in its caches.

use std::borrow::Cow;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, ObjectMeta};
use kube::core::NamespaceResourceScope;
use kube::{Resource, ResourceExt as _};
use serde::{Deserialize, Deserializer};

use crate::kinds::{INTERNAL_MEMBER_CLUSTER, ResourceKind};

/// Implements [`Resource`] for a namespaced type with a field `metadata`.
macro_rules! impl_resource {
    ($type:ty, $kind:expr) => {
        impl Resource for $type {
            type DynamicType = ();
            type Scope = NamespaceResourceScope;

            fn kind((): &()) -> Cow<'_, str> {
                $kind.kind.into()
            }

            fn group((): &()) -> Cow<'_, str> {
                $kind.group.into()
            }

            fn version((): &()) -> Cow<'_, str> {
                $kind.version.into()
            }

            fn plural((): &()) -> Cow<'_, str> {
                $kind.plural.into()
            }

            fn meta(&self) -> &ObjectMeta {
                &self.metadata
            }

            fn meta_mut(&mut self) -> &mut ObjectMeta {
                &mut self.metadata
            }
        }
    };
}
pub(super) use impl_resource;

/// `InternalMemberCluster` of a member.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct InternalMember {
    #[serde(deserialize_with = "slim_metadata")]
    metadata: ObjectMeta,
    /// Request of the hub-agent.
    pub spec: InternalMemberSpec,
    /// Status, written by the agent.
    #[serde(default)]
    pub status: InternalMemberStatus,
}

const KIND: ResourceKind = INTERNAL_MEMBER_CLUSTER;
impl_resource!(InternalMember, KIND);

/// Request of the hub-agent to an agent.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct InternalMemberSpec {
    /// State that the agent should be in.
    pub state: RequestedState,
    /// Interval between heartbeats, in seconds.
    #[serde(default = "default_period")]
    pub heartbeat_period_seconds: u32,
}

/// KubeFleet's default (v0.1.2).
fn default_period() -> u32 {
    60
}

/// State that an agent should be in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub(super) enum RequestedState {
    /// It should be a member.
    Join,
    /// It should leave.
    Leave,
}

/// Status of an `InternalMemberCluster`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct InternalMemberStatus {
    #[serde(default)]
    agent_status: Vec<AgentStatus>,
}

/// Status of an agent.
#[derive(Clone, Debug, Deserialize)]
struct AgentStatus {
    #[serde(default)]
    conditions: Vec<Condition>,
}

impl InternalMember {
    /// Conditions of the member-agent.
    pub fn conditions(&self) -> &[Condition] {
        self.status.agent_status.first().map_or(&[], |agent| &agent.conditions)
    }

    /// Generation of the object.
    pub fn generation(&self) -> i64 {
        self.meta().generation.unwrap_or_default()
    }

    /// Name of the member.
    pub fn member(&self) -> String {
        self.name_any()
    }
}

/// Reads metadata without the fields that take the most memory.
pub(super) fn slim_metadata<'de, D: Deserializer<'de>>(deserializer: D) -> Result<ObjectMeta, D::Error> {
    let mut metadata = ObjectMeta::deserialize(deserializer)?;
    metadata.managed_fields = None;
    metadata.annotations = None;
    metadata.labels = None;
    Ok(metadata)
}
