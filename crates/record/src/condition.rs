//! Conditions: where in an object one stands, and how its state changes.

use std::cmp::Ordering;
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ObjectPath;

/// The part of an object that has a condition.
///
/// Places are ordered as reports list them: the object, then each member with its failed placements, then each stage with its
/// members.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, JsonSchema, Serialize, Deserialize)]
#[serde(tag = "in", rename_all = "snake_case")]
pub enum ConditionPlace {
    /// The object itself: `status.conditions`.
    #[default]
    Object,
    /// A member of a placement: `status.placementStatuses[]`.
    Member {
        /// The member's name; `(none)` where the controller names no cluster.
        member: String,
    },
    /// A resource that couldn't be placed on a member: `status.placementStatuses[].failedPlacements[]`.
    FailedPlacement {
        /// The member's name.
        member: String,
        /// The resource.
        resource: ObjectPath,
        /// The envelope that the resource came in.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        envelope: Option<ObjectPath>,
    },
    /// A stage of an update run: `status.stagesStatus[]`.
    Stage {
        /// The stage's name.
        stage: String,
    },
    /// A cluster in a stage of an update run: `status.stagesStatus[].clusters[]`.
    StageMember {
        /// The stage's name.
        stage: String,
        /// The member's name.
        member: String,
    },
    /// A resource in the result of an Application's last operation: `status.operationState.syncResult.resources[]`.
    SyncResult {
        /// The resource.
        resource: ObjectPath,
    },
    /// A manifest of a Work: `status.manifestConditions[]`. Its generations are those of the object on the member.
    Manifest {
        /// The object that the manifest is of.
        resource: ObjectPath,
    },
}

impl ConditionPlace {
    /// True for a condition of the object itself.
    #[must_use]
    pub fn is_object(&self) -> bool {
        *self == Self::Object
    }

    /// True for a place in a stage of an update run.
    #[must_use]
    pub fn is_in_stage(&self) -> bool {
        self.stage().is_some()
    }

    /// The stage of an update run that the place is in.
    #[must_use]
    pub fn stage(&self) -> Option<&str> {
        match self {
            Self::Stage { stage } | Self::StageMember { stage, .. } => Some(stage),
            Self::Object
            | Self::Member { .. }
            | Self::FailedPlacement { .. }
            | Self::SyncResult { .. }
            | Self::Manifest { .. } => None,
        }
    }

    /// The member that the place is about.
    #[must_use]
    pub fn member(&self) -> Option<&str> {
        match self {
            Self::Member { member } | Self::FailedPlacement { member, .. } | Self::StageMember { member, .. } => {
                Some(member)
            }
            Self::Object | Self::Stage { .. } | Self::SyncResult { .. } | Self::Manifest { .. } => None,
        }
    }

    /// True for a place whose text has a comma.
    #[must_use]
    pub fn has_two_names(&self) -> bool {
        match self {
            Self::FailedPlacement { .. } | Self::StageMember { .. } => true,
            Self::Object
            | Self::Member { .. }
            | Self::Stage { .. }
            | Self::SyncResult { .. }
            | Self::Manifest { .. } => false,
        }
    }

    fn order(&self) -> (u8, Option<&str>, Option<&str>, Option<&ObjectPath>, Option<&ObjectPath>) {
        match self {
            Self::Object => (0, None, None, None, None),
            Self::Member { member } => (1, None, Some(member), None, None),
            Self::FailedPlacement { member, resource, envelope } => {
                (1, None, Some(member), Some(resource), envelope.as_ref())
            }
            Self::Stage { stage } => (2, Some(stage), None, None, None),
            Self::StageMember { stage, member } => (2, Some(stage), Some(member), None, None),
            Self::SyncResult { resource } => (3, None, None, Some(resource), None),
            Self::Manifest { resource } => (4, None, None, Some(resource), None),
        }
    }

    /// The path of the field in the object that holds the conditions, e.g. `status.stagesStatus[staging].clusters[member-1]`. List
    /// elements are named by what tells them apart.
    #[must_use]
    pub fn field_path(&self) -> String {
        match self {
            Self::Object => "status".to_owned(),
            Self::Member { member } => format!("status.placementStatuses[{member}]"),
            Self::FailedPlacement { member, resource, envelope } => {
                let envelope = envelope.as_ref().map(|envelope| format!(" in {}", envelope.in_words()));
                let resource = resource.in_words();
                format!(
                    "status.placementStatuses[{member}].failedPlacements[{resource}{}]",
                    envelope.unwrap_or_default()
                )
            }
            Self::Stage { stage } => format!("status.stagesStatus[{stage}]"),
            Self::StageMember { stage, member } => format!("status.stagesStatus[{stage}].clusters[{member}]"),
            Self::SyncResult { resource } => {
                format!("status.operationState.syncResult.resources[{}]", resource.in_words())
            }
            Self::Manifest { resource } => format!("status.manifestConditions[{}]", resource.in_words()),
        }
    }
}

impl Ord for ConditionPlace {
    fn cmp(&self, other: &Self) -> Ordering {
        self.order().cmp(&other.order())
    }
}

impl PartialOrd for ConditionPlace {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// For people: `member-1`, `member-1, Deployment web/app`, `stage staging, member-1`; empty for the object itself.
impl fmt::Display for ConditionPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Object => Ok(()),
            Self::Member { member } => f.write_str(member),
            Self::FailedPlacement { member, resource, envelope } => {
                write!(f, "{member}, {}", resource.in_words())?;
                envelope.iter().try_for_each(|envelope| write!(f, " in {}", envelope.in_words()))
            }
            Self::Stage { stage } => write!(f, "stage {stage}"),
            Self::StageMember { stage, member } => write!(f, "stage {stage}, {member}"),
            Self::SyncResult { resource } | Self::Manifest { resource } => f.write_str(&resource.in_words()),
        }
    }
}

/// Type that an object's deletion has as a condition: it is True from the deletion's request until the object is gone.
pub const DELETION: &str = "(deletion)";

/// Change of one condition of one object.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct Transition {
    /// The cluster that holds the object: `hub` or a member's name.
    pub cluster: String,
    /// The object.
    pub object: ObjectPath,
    /// The part of the object that has the condition.
    #[serde(skip_serializing_if = "ConditionPlace::is_object", default)]
    pub place: ConditionPlace,
    /// Type of the condition.
    pub condition: String,
    /// The state before; none where the condition wasn't there.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub from: Option<ConditionState>,
    /// The state after; none where the condition went away.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub to: Option<ConditionState>,
}

/// State of a condition.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct ConditionState {
    /// `True`, `False` or `Unknown`.
    pub status: String,
    /// CamelCase.
    pub reason: String,
    /// The controller's words.
    pub message: String,
    /// The generation that the controller had seen.
    pub observed_generation: i64,
}

impl fmt::Display for ConditionState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.status, self.reason)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn member(name: &str) -> ConditionPlace {
        ConditionPlace::Member { member: name.into() }
    }

    #[test]
    fn each_place_has_a_text_a_field_path_and_a_form_in_json() {
        let (stage, member_1) = ("staging".to_owned(), "member-1".to_owned());
        let deployment = ObjectPath::new("Deployment", Some("web"), "app");
        let envelope = Some(ObjectPath::new("ResourceEnvelope", Some("web"), "all"));
        for (place, text, path, form) in [
            (ConditionPlace::Object, "", "status", json!({"in": "object"})),
            (
                member("member-1"),
                "member-1",
                "status.placementStatuses[member-1]",
                json!({"in": "member", "member": "member-1"}),
            ),
            (
                ConditionPlace::FailedPlacement { member: member_1.clone(), resource: deployment.clone(), envelope },
                "member-1, Deployment web/app in ResourceEnvelope web/all",
                "status.placementStatuses[member-1].failedPlacements[Deployment web/app in ResourceEnvelope web/all]",
                json!({"in": "failed_placement", "member": "member-1", "resource": "Deployment/web/app",
                    "envelope": "ResourceEnvelope/web/all"}),
            ),
            (
                ConditionPlace::Stage { stage: stage.clone() },
                "stage staging",
                "status.stagesStatus[staging]",
                json!({"in": "stage", "stage": "staging"}),
            ),
            (
                ConditionPlace::StageMember { stage, member: member_1 },
                "stage staging, member-1",
                "status.stagesStatus[staging].clusters[member-1]",
                json!({"in": "stage_member", "stage": "staging", "member": "member-1"}),
            ),
            (
                ConditionPlace::SyncResult { resource: deployment.clone() },
                "Deployment web/app",
                "status.operationState.syncResult.resources[Deployment web/app]",
                json!({"in": "sync_result", "resource": "Deployment/web/app"}),
            ),
            (
                ConditionPlace::Manifest { resource: deployment },
                "Deployment web/app",
                "status.manifestConditions[Deployment web/app]",
                json!({"in": "manifest", "resource": "Deployment/web/app"}),
            ),
        ] {
            assert_eq!(place.to_string(), text);
            assert_eq!(place.field_path(), path);
            assert_eq!(serde_json::to_value(&place).unwrap(), form);
            assert_eq!(serde_json::from_value::<ConditionPlace>(form).unwrap(), place);
        }
    }
}
