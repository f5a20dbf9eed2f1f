//! Which scenarios a finding is about, by the suffixes of names.

use std::collections::BTreeSet;
use std::fmt::Display;

use diagnosis::{Finding, Subject};
use regex::Regex;

/// Suffixes of the names of a run's scenarios: the run's id and the scenario's number, e.g. `abcd12`.
#[derive(Clone, Debug)]
pub struct Suffixes {
    run: String,
    in_names: Regex,
}

impl Suffixes {
    /// Suffixes of a run, whose id has letters alone.
    ///
    /// # Panics
    /// If the id has characters that no name may have.
    #[must_use]
    pub fn new(run: &str) -> Self {
        let pattern = format!("-({}[0-9]+)(?:[^0-9a-z]|$)", regex::escape(run));
        Self { run: run.to_owned(), in_names: Regex::new(&pattern).expect("a valid pattern") }
    }

    /// Returns the suffix of the scenario with this number.
    #[must_use]
    pub fn nth(&self, number: impl Display) -> String {
        format!("{}{number}", self.run)
    }

    /// Returns the suffixes in the names of a finding: of its subject; if they have none, of its consequences; if these have
    /// none, of its evidence. Empty for a finding that is about nothing of any scenario.
    #[must_use]
    pub fn of(&self, finding: &Finding) -> BTreeSet<String> {
        let own = self.of_subject(&finding.subject);
        if !own.is_empty() {
            return own;
        }
        let consequences = finding.flatten().skip(1).flat_map(|finding| self.of_subject(&finding.subject));
        let consequences: BTreeSet<String> = consequences.collect();
        if !consequences.is_empty() {
            return consequences;
        }
        let evidence = finding.evidence.iter().flat_map(|evidence| {
            [self.of_text(&evidence.object.to_string()), self.of_text(&evidence.cluster)].concat()
        });
        evidence.collect()
    }

    fn of_subject(&self, subject: &Subject) -> BTreeSet<String> {
        let names = [Some(&subject.name), subject.namespace.as_ref(), subject.member.as_ref(), Some(&subject.cluster)];
        names.into_iter().flatten().flat_map(|name| self.of_text(name)).collect()
    }

    fn of_text(&self, text: &str) -> Vec<String> {
        self.in_names.captures_iter(text).map(|found| found[1].to_owned()).collect()
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use serde_json::{Value, json};

    use super::*;

    /// Finding of the severity of a failure about a placement, for tests.
    pub(crate) fn finding(code: &str, name: &str, member: Option<&str>, more: &Value) -> Finding {
        let mut finding = json!({
            "code": code, "title": "", "cause": "", "evidence": [], "remedies": [],
            "subject": {"cluster": "hub", "kind": "ClusterResourcePlacement", "name": name, "member": member},
        });
        for (key, value) in more.as_object().into_iter().flatten() {
            finding[key] = value.clone();
        }
        serde_json::from_value(finding).expect("a finding")
    }

    fn owners(finding: &Finding) -> Vec<String> {
        Suffixes::new("abcd").of(finding).into_iter().collect()
    }

    #[test]
    fn a_suffix_is_found_in_the_names_that_are_made_with_it() {
        let suffixes = Suffixes::new("abcd");
        assert_eq!(suffixes.nth(37), "abcd37");
        assert_eq!(owners(&finding("A", &format!("web-{}", suffixes.nth(37)), None, &json!({}))), ["abcd37"]);
    }

    #[test]
    fn a_finding_is_about_the_scenario_whose_suffix_its_subject_has() {
        assert_eq!(owners(&finding("A", "web-abcd001", None, &json!({}))), ["abcd001"]);
        assert_eq!(owners(&finding("A", "web-abcd001-work", None, &json!({}))), ["abcd001"]);
        assert_eq!(owners(&finding("A", "web", Some("east-abcd002"), &json!({}))), ["abcd002"]);
        assert_eq!(owners(&finding("A", "web-abcd001f", None, &json!({}))), [""; 0], "no number");
        assert_eq!(owners(&finding("A", "web-abce001", None, &json!({}))), [""; 0], "another run");
        assert_eq!(owners(&finding("A", "web-abcd-work", None, &json!({}))), [""; 0], "no number");
    }

    #[test]
    fn a_finding_about_a_shared_object_is_about_its_consequences_or_evidence() {
        let consequence = finding("B", "web-abcd003", None, &json!({}));
        let object = "Work/fleet-member-east-abcd004/w";
        let evidence = json!([{"cluster": "hub", "object": object, "path": "", "value": ""}]);
        let both =
            finding("A", "member-1", None, &json!({"consequences": [consequence], "evidence": evidence.clone()}));
        assert_eq!(owners(&both), ["abcd003"]);
        assert_eq!(owners(&finding("A", "member-1", None, &json!({"evidence": evidence}))), ["abcd004"]);
        assert_eq!(owners(&finding("A", "member-1", None, &json!({}))), [""; 0]);
    }
}
