//! Masks names in a controller's texts by the kind of the named object, so that texts of two runs can be compared.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use diagnosis::kubefleet::MEMBER_NAMESPACE_PREFIX;
use record::{ConditionPlace, ObjectPath, Transition};
use regex::{Captures, Regex};

/// Names in a scenario's transitions, each with a word for the kind of the named object.
#[derive(Clone, Debug)]
pub struct NameMasker {
    known: BTreeMap<String, &'static str>,
    suffix: String,
    /// Id of the run: the names of a scenario's objects end with it and with the scenario's number.
    run: String,
}

impl NameMasker {
    /// Collects the names in some transitions. The names of objects that the scenario creates end with `suffix`.
    #[must_use]
    pub fn of<'a>(transitions: impl Iterator<Item = &'a Transition>, suffix: &str) -> Self {
        let mut names = Self { known: BTreeMap::new(), suffix: format!("-{suffix}"), run: suffix.to_owned() };
        for transition in transitions {
            let Transition { object, place, .. } = transition;
            names.know(&object.name, word(&object.kind));
            names.know_namespace(object);
            match place {
                ConditionPlace::Object => {}
                ConditionPlace::Member { member } | ConditionPlace::FailedPlacement { member, .. } => {
                    names.know(member, "member");
                }
                ConditionPlace::Stage { stage } => names.know(stage, "stage"),
                ConditionPlace::StageMember { stage, member } => {
                    names.know(stage, "stage");
                    names.know(member, "member");
                }
                ConditionPlace::SyncResult { resource } | ConditionPlace::Manifest { resource } => {
                    names.know_namespace(resource);
                    names.know(&resource.name, "name");
                }
            }
        }
        names
    }

    fn know_namespace(&mut self, object: &ObjectPath) {
        self.know(object.namespace.as_deref().unwrap_or_default(), "namespace");
    }

    fn know(&mut self, name: &str, word: &'static str) {
        if !name.is_empty() {
            self.known.entry(name.to_owned()).or_insert(word);
        }
    }

    /// Returns the text with holes instead of names and numbers.
    #[must_use]
    pub fn mask(&self, text: &str) -> String {
        static WORD: LazyLock<Regex> =
            LazyLock::new(|| Regex::new("[A-Za-z0-9]+(?:[.-]+[A-Za-z0-9]+)*").expect("a pattern"));
        WORD.replace_all(text, |word: &Captures<'_>| self.masked(&word[0])).into_owned()
    }

    /// True for the end of a scenario's names by itself, as in the template `{{.name}}-abcd1` of an ApplicationSet.
    fn is_suffix(&self, word: &str) -> bool {
        let number = word.strip_prefix(&self.run).filter(|_| !self.run.is_empty());
        number.is_some_and(|number| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()))
    }

    fn masked(&self, word: &str) -> String {
        if let Some(member) = word.strip_prefix(MEMBER_NAMESPACE_PREFIX) {
            return format!("{MEMBER_NAMESPACE_PREFIX}{}", self.masked(member));
        }
        match self.known.get(word) {
            Some(known) => format!("{{{known}}}"),
            None if word.contains(&self.suffix) => "{name}".to_owned(),
            None if self.is_suffix(word) => "{suffix}".to_owned(),
            None if is_pod(word) => "{pod}".to_owned(),
            None if word.bytes().all(|b| b.is_ascii_digit()) => "{number}".to_owned(),
            None if is_hash(word) => "{hash}".to_owned(),
            None if word.parse::<std::net::Ipv4Addr>().is_ok() => "{address}".to_owned(),
            None if is_clock(word) => "{number}".to_owned(),
            None if is_pointer(word) => "{pointer}".to_owned(),
            None if word.parse::<jiff::civil::Date>().is_ok() => "{date}".to_owned(),
            None => word.to_owned(),
        }
    }
}

/// True for the name of a Deployment's Pod: the Deployment's name, the hash of its template, and five letters.
fn is_pod(word: &str) -> bool {
    let mut parts = word.rsplitn(3, '-');
    let [Some(end), Some(hash), Some(_)] = [parts.next(), parts.next(), parts.next()] else { return false };
    end.len() == 5 && (8..=10).contains(&hash.len()) && is_random(end) && is_random(hash)
}

/// True for characters of a random part of a name: no vowels and no characters that look like vowels
/// (`SafeEncodeString` of k8s.io/apimachinery).
fn is_random(part: &str) -> bool {
    part.bytes().all(|b| b"bcdfghjklmnpqrstvwxz2456789".contains(&b))
}

/// True for the hash of a commit, or the random name of a directory.
fn is_hash(word: &str) -> bool {
    let digits = word.bytes().filter(u8::is_ascii_hexdigit).count();
    digits >= 20 && word.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-') && word.bytes().any(|b| b.is_ascii_digit())
}

/// True for the text after the colon of a time such as 3:04PM.
fn is_clock(word: &str) -> bool {
    let digits = word.strip_suffix("AM").or(word.strip_suffix("PM"));
    digits.is_some_and(|d| d.len() == 2 && d.bytes().all(|b| b.is_ascii_digit()))
}

/// True for a memory address that a Go program printed: v0.14.0 prints one with a binding.
fn is_pointer(word: &str) -> bool {
    let digits = word.strip_prefix("0x").unwrap_or_default();
    digits.len() >= 8 && digits.bytes().all(|b| b.is_ascii_hexdigit())
}

/// Returns the word that stands in holes for names of this kind.
fn word(kind: &str) -> &'static str {
    match kind {
        "ClusterResourcePlacement" | "ResourcePlacement" => "placement",
        "ClusterStagedUpdateRun" | "StagedUpdateRun" => "run",
        "ClusterResourceBinding" | "ResourceBinding" => "binding",
        "ClusterApprovalRequest" | "ApprovalRequest" => "request",
        "Namespace" => "namespace",
        "MemberCluster" => "member",
        "Application" => "application",
        _ => "name",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(object: &str, place: ConditionPlace) -> Transition {
        Transition {
            cluster: "hub".into(),
            object: object.into(),
            place,
            condition: "Ready".into(),
            from: None,
            to: None,
        }
    }

    #[test]
    fn names_and_numbers_become_holes() {
        let seen = [
            seen("ResourcePlacement/web-abcd1-app/web-abcd1", ConditionPlace::Member { member: "member-1".into() }),
            seen(
                "StagedUpdateRun/web-abcd1-app/old-abcd1",
                ConditionPlace::StageMember { stage: "staging".into(), member: "east-abcd1".into() },
            ),
        ];
        let names = NameMasker::of(seen.iter(), "abcd1");
        for (text, masked) in [
            ("index `7` of `web-abcd1-app/web-abcd1`.", "index `{number}` of `{namespace}/{placement}`."),
            ("in stage staging, updateRun: old-abcd1", "in stage {stage}, updateRun: {run}"),
            ("execute {{.name}}-abcd12", "execute {{.name}}-{suffix}"),
            ("binding web-abcd1-member-1-0f3c2a11 on member-1", "binding {name} on {member}"),
            ("in namespace fleet-member-east-abcd1", "in namespace fleet-member-{member}"),
            ("works.placement.kubernetes-fleet.io v1", "works.placement.kubernetes-fleet.io v1"),
            ("at 10:04PM on 127.0.0.1:6443", "at {number}:{number} on {address}:{number}"),
            ("ClusterScore:0x2ad29afa09e0 at:2026-11-22 04:05", "ClusterScore:{pointer} at:{date} {number}:{number}"),
            ("Pod/app-78b674c4b7-knq4l on a-node", "Pod/{pod} on a-node"),
            ("/tmp/0b4e1a52-77aa-4f52-8a3e-1f0c9d2b3a4c", "/tmp/{hash}"),
            ("to [9be1d377a1b04d2b9a0d6a6b0ce5f0cf9be1d377]", "to [{hash}]"),
        ] {
            assert_eq!(names.mask(text), masked);
        }
    }
}
