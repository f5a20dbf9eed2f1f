//! Waivers: failures that somebody accepts until a day. The caller knows which day it is.

use glob::{Pattern, PatternError};
use jiff::civil::Date;
use record::{FailureCode, Finding, FindingWaiver, Subject};

/// Waiver of a failure code, for all objects or for some.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiver {
    /// The failure code.
    pub code: FailureCode,
    /// Objects that it is for, as `Kind/name` or `Kind/namespace/name`; all by default.
    pub object: Option<ObjectPattern>,
    /// Members that it is for; all by default.
    pub member: Option<ObjectPattern>,
    /// Why the failure is accepted.
    pub reason: String,
    /// Last day, in UTC, on which it is accepted.
    pub until: Date,
}

/// Pattern of names, with `*`, `?` and `[a-c]`. `*` also stands for `/`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectPattern(Pattern);

impl ObjectPattern {
    /// Compiles a pattern.
    ///
    /// # Errors
    /// Returns an error if the text is no pattern, e.g. because a bracket isn't closed.
    pub fn new(text: &str) -> Result<Self, PatternError> {
        Pattern::new(text).map(Self)
    }

    /// The pattern as it was written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    fn matches(&self, name: &str) -> bool {
        self.0.matches(name)
    }
}

impl Waiver {
    /// True if the waiver counts on a day.
    #[must_use]
    pub fn counts_on(&self, day: Date) -> bool {
        day <= self.until
    }

    /// True if the waiver is for a finding: for its code and all its subjects.
    #[must_use]
    pub fn covers(&self, finding: &Finding) -> bool {
        self.code == finding.code && finding.subjects().all(|subject| self.covers_subject(subject))
    }

    fn covers_subject(&self, subject: &Subject) -> bool {
        let is_object = self.object.as_ref().is_none_or(|object| object.matches(&subject.path().to_string()));
        let is_on_member = self.member.as_ref().is_none_or(|member| {
            subject.member.as_deref().is_some_and(|name| member.matches(name)) || member.matches(&subject.cluster)
        });
        is_object && is_on_member
    }

    /// Returns the mark of the findings that the waiver covers.
    #[must_use]
    pub fn mark(&self) -> FindingWaiver {
        FindingWaiver { reason: self.reason.clone(), until: self.until }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn waiver(object: Option<&str>, member: Option<&str>) -> Waiver {
        let pattern = |text: &str| ObjectPattern::new(text).unwrap();
        Waiver {
            code: FailureCode("KF-AP-004".into()),
            object: object.map(pattern),
            member: member.map(pattern),
            reason: "the team edits it by hand".into(),
            until: "2027-01-31".parse().unwrap(),
        }
    }

    fn finding(code: &str, namespace: Option<&str>, name: &str, member: Option<&str>) -> Finding {
        let subject = json!({"cluster": "hub", "kind": "ResourcePlacement", "namespace": namespace, "name": name,
            "member": member});
        serde_json::from_value(json!({"code": code, "title": "", "subject": subject, "cause": "", "evidence": [],
            "remedies": []}))
        .unwrap()
    }

    #[test]
    fn a_waiver_covers_a_code_on_the_objects_and_members_that_it_names() {
        let east = finding("KF-AP-004", Some("shop"), "web", Some("east"));
        for (object, member, is_covered) in [
            (None, None, true),
            (Some("ResourcePlacement/shop/web"), None, true),
            (Some("ResourcePlacement/*"), Some("e*"), true),
            (Some("ResourcePlacement/web"), None, false),
            (Some("ResourcePlacement/shop/web"), Some("west"), false),
            (None, Some("hub"), true),
        ] {
            assert_eq!(waiver(object, member).covers(&east), is_covered, "{object:?} {member:?}");
        }
        assert!(!waiver(None, None).covers(&finding("KF-AP-001", Some("shop"), "web", Some("east"))));
        assert!(!waiver(None, Some("*st")).covers(&finding("KF-AP-004", None, "web", None)));
    }

    #[test]
    fn a_finding_with_several_subjects_is_covered_if_all_of_them_are() {
        let mut both = finding("KF-AP-004", None, "web", Some("east"));
        both.other_subjects.push(Subject { member: Some("west".into()), ..both.subject.clone() });
        assert!(waiver(None, Some("*st")).covers(&both));
        assert!(!waiver(None, Some("east")).covers(&both));
    }

    #[test]
    fn the_last_day_counts() {
        let counts = |day: &str| waiver(None, None).counts_on(day.parse().unwrap());
        assert_eq!(["2027-01-30", "2027-01-31", "2027-02-01"].map(counts), [true, true, false]);
    }
}
