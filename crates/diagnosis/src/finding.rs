//! What a diagnosis says: one record that feeds the terminal, JSON, `JUnit`'s failure text and HTML.

use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::Guide;

/// A failure code: stable across versions of fleetdrill, of `KubeFleet` and of Argo CD, e.g. `KF-WS-001`.
///
/// Every code has an entry in the catalogue ([`crate::entry`]).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Code(pub String);

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The object that has failed, and where in it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Subject {
    /// The cluster that holds the object: `hub` or a member's name.
    pub cluster: String,
    /// The kind, e.g. `ClusterResourcePlacement`.
    pub kind: String,
    /// The namespace, where the kind has one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub namespace: Option<String>,
    /// The object's name.
    pub name: String,
    /// The stage of an update run that the finding is about.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub stage: Option<String>,
    /// The member cluster that the finding is about.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub member: Option<String>,
}

impl fmt::Display for Subject {
    /// `ClusterResourcePlacement/web (member-1)`; a namespace stands before the name.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/", self.kind)?;
        if let Some(namespace) = &self.namespace {
            write!(f, "{namespace}/")?;
        }
        f.write_str(&self.name)?;
        match (&self.stage, &self.member) {
            (Some(stage), Some(member)) => write!(f, " (stage {stage}, {member})"),
            (Some(stage), None) => write!(f, " (stage {stage})"),
            (None, Some(member)) => write!(f, " ({member})"),
            (None, None) => Ok(()),
        }
    }
}

/// One thing that was read, and where: a person can look it up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    /// The cluster that it was read from.
    pub cluster: String,
    /// `Kind/name` or `Kind/namespace/name`.
    pub object: String,
    /// The field's path, e.g. `status.conditions[Progressing].reason`.
    pub path: String,
    /// The value as read; conditions as `Type=Status Reason: message`.
    pub value: String,
    /// When the value came to be, where the object says so.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub at: Option<Timestamp>,
}

/// One way out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Remedy {
    /// What to do, in one sentence.
    pub action: String,
    /// What the remedy destroys beyond the object that its action speaks of.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub data_loss: Option<String>,
    /// The commands, ready to be pasted into a POSIX shell, for the contexts of the [`Access`](crate::Access).
    pub commands: Vec<String>,
    /// What to expect after it: does the object recover by itself, is a new one needed, how long does it take.
    pub expect: String,
}

/// How much a finding weighs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Something has failed, or will not go on by itself.
    #[default]
    Failure,
    /// Nothing has failed, but nothing will happen until somebody acts. Does not count as a failure in exit codes.
    Notice,
}

impl Severity {
    /// Whether this is a failure.
    #[must_use]
    pub fn is_failure(&self) -> bool {
        *self == Severity::Failure
    }
}

/// A named cause with what it rests on and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// The failure code.
    pub code: Code,
    /// The failure in a few words, from the catalogue.
    pub title: String,
    /// How much it weighs. Files of fleetdrill 0.1.0 leave it out where it is a failure.
    #[serde(default)]
    pub severity: Severity,
    /// The object that has failed.
    pub subject: Subject,
    /// One sentence, names filled in.
    pub cause: String,
    /// What is or may be lost; shown before everything else.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub data_loss: Option<String>,
    /// In the order in which a person would follow it.
    pub evidence: Vec<Evidence>,
    /// Ordered, the first being the one to try first.
    pub remedies: Vec<Remedy>,
    /// The guide and section that describe it; none where no guide does.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub guide: Option<Guide>,
    /// Findings that this one explains.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub consequences: Vec<Finding>,
}

impl Finding {
    /// This finding and everything that hangs under it, roots first.
    pub fn flatten(&self) -> impl Iterator<Item = &Finding> {
        let mut open = vec![self];
        std::iter::from_fn(move || {
            let next = open.pop()?;
            open.extend(next.consequences.iter().rev());
            Some(next)
        })
    }

    /// Whether this finding or one that hangs under it is a failure rather than a notice.
    #[must_use]
    pub fn is_failure(&self) -> bool {
        self.flatten().any(|f| f.severity.is_failure())
    }

    /// Whether this finding or one that hangs under it tells of a loss of data.
    #[must_use]
    pub fn loses_data(&self) -> bool {
        self.flatten().any(|f| f.data_loss.is_some())
    }
}
