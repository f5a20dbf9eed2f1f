//! Findings of a diagnosis: the one record that the terminal, JSON, `JUnit` and HTML print.

use std::fmt;

use jiff::Timestamp;
use jiff::civil::Date;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{ConditionPlace, ObjectPath};

/// A failure code: stable across versions of fleetdrill, of KubeFleet and of Argo CD, e.g. `KF-WS-001`.
///
/// Every code has an entry in the catalogue, which `fleetdrill explain` prints.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, JsonSchema, Serialize, Deserialize)]
#[serde(transparent)]
#[schemars(extend("pattern" = "^[A-Z]{2}-[A-Z]{2}-[0-9]{3}$"))]
pub struct FailureCode(pub String);

impl FailureCode {
    /// Regular expression of a failure code as a word of its own: product, family and number.
    pub const PATTERN: &str = r"\b[A-Z]{2}-[A-Z]{2}-[0-9]{3}\b";

    /// Parses a failure code. The catalogue needn't have it.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let [product, family, number] = text.split('-').collect::<Vec<_>>().try_into().ok()?;
        let is_shaped =
            [product, family].iter().all(|part| part.len() == 2 && part.bytes().all(|b| b.is_ascii_uppercase()))
                && number.len() == 3
                && number.bytes().all(|b| b.is_ascii_digit());
        is_shaped.then(|| Self(text.to_owned()))
    }

    /// Returns the product that the code is about: `KF` or `AR`.
    #[must_use]
    pub fn product(&self) -> &str {
        self.0.split_once('-').map_or(&self.0, |(product, _)| product)
    }
}

impl fmt::Display for FailureCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The object that has failed, and where in it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, JsonSchema, Serialize, Deserialize)]
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

impl Subject {
    /// The object, without the part of it.
    #[must_use]
    pub fn path(&self) -> ObjectPath {
        ObjectPath::new(&self.kind, self.namespace.as_deref(), &self.name)
    }

    /// The part of the object, e.g. ` (stage staging, member-1)`; empty for the whole object.
    #[must_use]
    pub fn part(&self) -> String {
        match (&self.stage, &self.member) {
            (Some(stage), Some(member)) => format!(" (stage {stage}, {member})"),
            (Some(stage), None) => format!(" (stage {stage})"),
            (None, Some(member)) => format!(" ({member})"),
            (None, None) => String::new(),
        }
    }
}

impl fmt::Display for Subject {
    /// `ClusterResourcePlacement/web (member-1)`; a namespace stands before the name.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.path(), self.part())
    }
}

/// Value that was read, with the place where a person can look it up.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct Evidence {
    /// The cluster that it was read from.
    pub cluster: String,
    /// The object that has the value.
    pub object: ObjectPath,
    /// The field's path, e.g. `status.conditions[Progressing].reason`.
    pub path: String,
    /// The value as read; conditions as `Type=Status Reason: message`.
    pub value: String,
    /// The condition that the value is, by its parts; none for other fields.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub condition: Option<QuotedCondition>,
    /// Time of the value's last change, where the object has it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub at: Option<Timestamp>,
    /// True if there is no such object.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub is_absent: bool,
}

/// A condition that is quoted as evidence.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct QuotedCondition {
    /// The part of the object that has the condition.
    #[serde(skip_serializing_if = "ConditionPlace::is_object", default)]
    pub place: ConditionPlace,
    /// The condition's type.
    #[serde(rename = "type")]
    pub type_: String,
    /// `True`, `False` or `Unknown`.
    pub status: String,
    /// CamelCase; empty where the controller gave none.
    #[serde(skip_serializing_if = "String::is_empty", default)]
    pub reason: String,
    /// The controller's words; empty where there are none.
    #[serde(skip_serializing_if = "String::is_empty", default)]
    pub message: String,
}

impl QuotedCondition {
    /// The field's path, e.g. `status.stagesStatus[staging].conditions[Progressing]`.
    #[must_use]
    pub fn path(&self) -> String {
        format!("{}.conditions[{}]", self.place.field_path(), self.type_)
    }

    /// `Type=Status Reason: message`, without the parts that are empty.
    #[must_use]
    pub fn text(&self) -> String {
        let colon = if self.message.is_empty() { "" } else { ": " };
        format!("{}={}{colon}{}", self.type_, self.state(), self.message)
    }

    /// `Status Reason`, or the status alone where there is no reason.
    #[must_use]
    pub fn state(&self) -> String {
        let space = if self.reason.is_empty() { "" } else { " " };
        format!("{}{space}{}", self.status, self.reason)
    }
}

/// The guide that describes a failure, and where in it.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct GuideSection {
    /// The guide's short name, e.g. `kubefleet-work-synchronized`.
    pub name: String,
    /// Heading of the guide's section.
    pub section: String,
    /// URL of the published guide.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub url: Option<String>,
}

/// Remedy: an action with its commands and what to expect.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct Remedy {
    /// Action in one sentence.
    pub action: String,
    /// Data that the remedy destroys beyond the object that its action names.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub data_loss: Option<String>,
    /// The commands, ready to be pasted into a POSIX shell, for the contexts that the diagnosis was given.
    pub commands: Vec<String>,
    /// The commands for the first subject alone, if `commands` are for several and others than these.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub commands_of_first: Vec<String>,
    /// Expectation after the remedy: the object recovers by itself, or a new one is needed, and after how long.
    pub expect: String,
}

/// Severity of a finding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Something has failed, or is stuck and won't recover by itself.
    #[default]
    Failure,
    /// Nothing has failed, but the object waits until somebody acts. A notice doesn't count as a failure in exit codes.
    Notice,
}

impl Severity {
    /// True if the severity is [`Severity::Failure`].
    #[must_use]
    pub fn is_failure(&self) -> bool {
        *self == Severity::Failure
    }
}

/// Waiver of a finding: the failure is accepted until a day.
#[derive(Clone, Debug, PartialEq, Eq, Hash, JsonSchema, Serialize, Deserialize)]
pub struct FindingWaiver {
    /// Why the failure is accepted.
    pub reason: String,
    /// Last day, in UTC, on which it is accepted.
    pub until: Date,
}

/// A named cause with what it rests on and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct Finding {
    /// The failure code.
    pub code: FailureCode,
    /// The failure in a few words, from the catalogue.
    pub title: String,
    /// Severity. Files of fleetdrill 0.1.0 leave it out for a failure.
    #[serde(default)]
    pub severity: Severity,
    /// The object that has failed.
    pub subject: Subject,
    /// Further subjects of the same failure with the same cause, if findings were put together by cause. The texts, the evidence and the
    /// time are those of the first ones.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub other_subjects: Vec<Subject>,
    /// Cause in one sentence, with the names filled in.
    pub cause: String,
    /// Time at which the failure began, as far as the evidence tells; none in files of fleetdrill 0.1.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub since: Option<Timestamp>,
    /// Later object of the same kind that has succeeded, so that the failure matters no longer: another update run or
    /// eviction.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub superseded_by: Option<ObjectPath>,
    /// Waiver of the finding; one of a finding also covers the findings that it explains.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub waived: Option<FindingWaiver>,
    /// Data that is or may be lost; reports show it before everything else.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub data_loss: Option<String>,
    /// In the order in which a person would follow it.
    pub evidence: Vec<Evidence>,
    /// Remedies, in the order to try them.
    pub remedies: Vec<Remedy>,
    /// The guide and section that describe it; none where no guide does.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub guide: Option<GuideSection>,
    /// Findings that this one explains.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub consequences: Vec<Finding>,
}

impl Finding {
    /// This finding and everything that hangs under it, roots first.
    pub fn flatten(&self) -> impl Iterator<Item = &Finding> {
        self.flatten_where(|_| true)
    }

    /// This finding and everything that hangs under it, roots first, without waived findings and what hangs under these.
    pub fn unwaived(&self) -> impl Iterator<Item = &Finding> {
        self.flatten_where(|finding| finding.waived.is_none())
    }

    fn flatten_where(&self, is_wanted: fn(&Finding) -> bool) -> impl Iterator<Item = &Finding> {
        let mut open: Vec<&Finding> = Some(self).into_iter().filter(|finding| is_wanted(finding)).collect();
        std::iter::from_fn(move || {
            let next = open.pop()?;
            open.extend(next.consequences.iter().rev().filter(|finding| is_wanted(finding)));
            Some(next)
        })
    }

    /// All subjects: the first, and those with the same cause.
    pub fn subjects(&self) -> impl Iterator<Item = &Subject> {
        std::iter::once(&self.subject).chain(&self.other_subjects)
    }

    /// True if this finding, or a consequence of it, is a failure rather than a notice, and isn't waived.
    #[must_use]
    pub fn is_failure(&self) -> bool {
        self.unwaived().any(|f| f.severity.is_failure())
    }

    /// True if this finding, or a consequence of it, reports a loss of data.
    #[must_use]
    pub fn loses_data(&self) -> bool {
        self.flatten().any(|f| f.data_loss.is_some())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{FailureCode, Finding, FindingWaiver};

    fn finding(code: &str, consequences: Vec<Finding>) -> Finding {
        let subject = json!({"cluster": "hub", "kind": "Namespace", "name": "web"});
        let mut finding: Finding = serde_json::from_value(json!({"code": code, "title": "", "subject": subject,
            "cause": "", "evidence": [], "remedies": []}))
        .unwrap();
        finding.consequences = consequences;
        finding
    }

    #[test]
    fn a_waiver_covers_what_a_finding_explains() {
        let waiver = FindingWaiver { reason: "accepted".into(), until: "2027-01-31".parse().unwrap() };
        let codes = |finding: &Finding| finding.unwaived().map(|f| f.code.0.clone()).collect::<Vec<_>>();
        let mut root = finding("A", vec![finding("B", vec![finding("C", Vec::new())]), finding("D", Vec::new())]);
        assert_eq!(codes(&root), ["A", "B", "C", "D"]);
        root.consequences[0].waived = Some(waiver.clone());
        assert_eq!(codes(&root), ["A", "D"]);
        assert!(root.is_failure());
        root.waived = Some(waiver);
        assert!(codes(&root).is_empty() && !root.is_failure());
    }

    #[test]
    fn a_code_has_a_product_a_family_and_a_number() {
        assert_eq!(FailureCode::parse("KF-WS-001").map(|code| code.product().to_owned()).as_deref(), Some("KF"));
        for wrong in ["KF-WS-01", "KF-WS-0011", "kf-ws-001", "@KF-WS-001", "KF-WS-001 AR-SF-001", ""] {
            assert_eq!(FailureCode::parse(wrong), None, "{wrong}");
        }
    }
}
