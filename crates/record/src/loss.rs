//! Losses: what was on members, or belonged to a placement, and isn't there any more as it was.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ObjectPath;

/// A difference between what placements had put on members at one moment and what is there later.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct Loss {
    /// The object.
    pub object: ObjectPath,
    /// The member that had the object; none where the object is on the hub.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub member: Option<String>,
    /// The way in which it was lost.
    pub how: LossKind,
}

/// Kind of a loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LossKind {
    /// The object isn't there, or is being deleted.
    Deleted,
    /// An object of the same name has another uid.
    Recreated,
    /// Containers of the Pod have restarted.
    Restarted,
    /// The binding that the Work was made for isn't there.
    Orphaned,
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.object)?;
        self.member.iter().try_for_each(|member| write!(f, " on {member}"))?;
        f.write_str(match self.how {
            LossKind::Deleted => " was deleted",
            LossKind::Recreated => " was deleted and created again",
            LossKind::Restarted => " was restarted",
            LossKind::Orphaned => " belongs to no binding any more",
        })
    }
}
