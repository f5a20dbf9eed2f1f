//! Names in what a controller wrote, replaced by what they are names of, so that texts of two runs can be compared.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::{Captures, Regex};
use steps::record::Transition;

/// What a controller calls a member's namespace on the hub, before the member's name.
const MEMBER_NAMESPACE: &str = "fleet-member-";

/// The names that a scenario's transitions show, each with what it is a name of.
#[derive(Clone, Debug)]
pub struct Names {
    known: BTreeMap<String, &'static str>,
    suffix: String,
}

impl Names {
    /// The names in some transitions. What a scenario makes ends with `suffix`.
    #[must_use]
    pub fn of<'a>(transitions: impl Iterator<Item = &'a Transition>, suffix: &str) -> Self {
        let mut names = Self { known: BTreeMap::new(), suffix: format!("-{suffix}") };
        for transition in transitions {
            let mut path = transition.object.split('/');
            let kind = path.next().unwrap_or_default();
            let (namespace, name) = match (path.next(), path.next()) {
                (Some(namespace), Some(name)) => (Some(namespace), name),
                (name, _) => (None, name.unwrap_or_default()),
            };
            names.know(name, word(kind));
            names.know(namespace.unwrap_or_default(), "namespace");
            let part = transition.part.as_deref().unwrap_or_default();
            // A resource of an Application: `Kind name` or `Kind namespace/name`.
            if let Some((_, resource)) = part.split_once(' ').filter(|_| kind == "Application") {
                let (namespace, name) = resource.split_once('/').unwrap_or(("", resource));
                names.know(namespace, "namespace");
                names.know(name, "name");
                continue;
            }
            let (first, second) = part.split_once(", ").unwrap_or((part, ""));
            match first.strip_prefix("stage ") {
                Some(stage) => {
                    names.know(stage, "stage");
                    names.know(second, "member");
                }
                None => names.know(first, "member"),
            }
        }
        names
    }

    fn know(&mut self, name: &str, word: &'static str) {
        if !name.is_empty() {
            self.known.entry(name.to_owned()).or_insert(word);
        }
    }

    /// The text with holes instead of names and numbers.
    #[must_use]
    pub fn mask(&self, text: &str) -> String {
        static WORD: LazyLock<Regex> =
            LazyLock::new(|| Regex::new("[A-Za-z0-9]+(?:[.-]+[A-Za-z0-9]+)*").expect("a pattern"));
        WORD.replace_all(text, |word: &Captures<'_>| self.masked(&word[0])).into_owned()
    }

    fn masked(&self, word: &str) -> String {
        if let Some(member) = word.strip_prefix(MEMBER_NAMESPACE) {
            return format!("{MEMBER_NAMESPACE}{}", self.masked(member));
        }
        match self.known.get(word) {
            Some(known) => format!("{{{known}}}"),
            None if word.contains(&self.suffix) => "{name}".to_owned(),
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

/// What a Deployment's Pod is called: the Deployment's name, its template's hash, and five letters.
fn is_pod(word: &str) -> bool {
    let is_random = |part: &str, length: std::ops::RangeInclusive<usize>| {
        // Without vowels and what looks like one (`SafeEncodeString` of k8s.io/apimachinery).
        length.contains(&part.len()) && part.bytes().all(|b| b"bcdfghjklmnpqrstvwxz2456789".contains(&b))
    };
    let mut parts = word.rsplitn(3, '-');
    let [Some(end), Some(hash), Some(_)] = [parts.next(), parts.next(), parts.next()] else { return false };
    is_random(end, 5..=5) && is_random(hash, 8..=10)
}

/// A commit, or a directory's random name.
fn is_hash(word: &str) -> bool {
    let digits = word.bytes().filter(u8::is_ascii_hexdigit).count();
    digits >= 20 && word.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-') && word.bytes().any(|b| b.is_ascii_digit())
}

/// What stands behind the colon of a time such as 3:04PM.
fn is_clock(word: &str) -> bool {
    let digits = word.strip_suffix("AM").or(word.strip_suffix("PM"));
    digits.is_some_and(|d| d.len() == 2 && d.bytes().all(|b| b.is_ascii_digit()))
}

/// Where a Go program had something in its memory: v0.14.0 prints it with a binding.
fn is_pointer(word: &str) -> bool {
    let digits = word.strip_prefix("0x").unwrap_or_default();
    digits.len() >= 8 && digits.bytes().all(|b| b.is_ascii_hexdigit())
}

/// What an object of a kind is called in holes.
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

    fn seen(object: &str, part: &str) -> Transition {
        Transition {
            cluster: "hub".into(),
            object: object.into(),
            part: Some(part.to_owned()).filter(|p| !p.is_empty()),
            condition: "Ready".into(),
            from: None,
            to: None,
        }
    }

    #[test]
    fn names_and_numbers_become_holes() {
        let seen = [
            seen("ResourcePlacement/web-abcd1-app/web-abcd1", "member-1"),
            seen("StagedUpdateRun/web-abcd1-app/old-abcd1", "stage staging, east-abcd1"),
        ];
        let names = Names::of(seen.iter(), "abcd1");
        for (text, masked) in [
            ("index `7` of `web-abcd1-app/web-abcd1`.", "index `{number}` of `{namespace}/{placement}`."),
            ("in stage staging, updateRun: old-abcd1", "in stage {stage}, updateRun: {run}"),
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
