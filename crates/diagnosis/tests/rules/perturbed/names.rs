//! Snapshots with other names: each name is replaced wherever it stands, also in messages and within longer names.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use proptest::collection::btree_set;
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use regex::Regex;
use serde_json::Value;

use super::{clusters, diagnose, map_texts, objects};

/// Names that mean something to a controller, to a rule or to an API server.
const GIVEN: &[&str] = &[
    "hub",
    "default",
    "in-cluster",
    "kube-system",
    "fleet-system",
    "hub-agent",
    "kubernetes",
    "argocd",
    "argocd-cm",
    "cpu",
    "memory",
    "hub-agent-sa",
    "fleet-validating-webhook-configuration",
    // Words of messages, too.
    "one",
    "strategy",
];

/// Fields whose values are no names, although they may look like one.
fn has_no_names(key: &str) -> bool {
    const KEYS: &[&str] = &[
        "apiVersion",
        "kind",
        "group",
        "version",
        "type",
        "status",
        "reason",
        "role",
        "code",
        "title",
        "severity",
        "guide",
        "verb",
    ];
    KEYS.contains(&key)
}

static NAME: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^[a-z](?:[-a-z0-9.]*[a-z0-9])?$").expect("a valid pattern"));

/// New names by old ones. They have the same order, so that lists which are sorted by name keep theirs.
#[derive(Clone, Debug)]
pub struct Renaming(BTreeMap<String, String>);

impl Renaming {
    fn apply(&self, value: &Value) -> Value {
        if self.0.is_empty() {
            return value.clone();
        }
        let variables = self.0.iter().map(|(old, new)| (variable(old), variable(new)));
        let mut names: Vec<(String, String)> = self.0.clone().into_iter().chain(variables).collect();
        names.sort_by_key(|(old, _)| std::cmp::Reverse(old.len()));
        let rename = |text: &str| renamed(text, &names);
        let mut value = value.clone();
        map_texts(&mut value, has_no_names, &rename);
        value
    }
}

/// Replaces names in a text where they stand as words, or between hyphens and underscores.
fn renamed(text: &str, names: &[(String, String)]) -> String {
    let mut new_text = String::new();
    let mut at = 0;
    while let Some(next) = text[at..].chars().next() {
        let is_start = !text[..at].ends_with(char::is_alphanumeric);
        let is_here =
            |name: &str| text[at..].strip_prefix(name).is_some_and(|rest| !rest.starts_with(char::is_alphanumeric));
        if let Some((old, new)) = names.iter().find(|(old, _)| is_start && is_here(old)) {
            new_text.push_str(new);
            at += old.len();
        } else {
            new_text.push(next);
            at += next.len_utf8();
        }
    }
    new_text
}

/// Returns a name as it stands in the variable that a command has for a member's context.
fn variable(name: &str) -> String {
    name.to_uppercase().replace(['-', '.'], "_")
}

/// Renamings of the names in a snapshot.
pub fn renamings(fleet: &Value) -> impl Strategy<Value = Vec<String>> + use<> {
    let count = names(fleet).len();
    // They come behind the given names in each order.
    btree_set("[r-y][a-z0-9]{2,9}", count).prop_map(|names| names.into_iter().collect())
}

/// Checks that the findings are the same, with other names.
///
/// The snapshot's own names may be words of the catalogue's texts, or of a path. So the texts are compared between two renamed snapshots.
pub fn same_with_other_names(fleet: &Value, new: &[String]) -> Result<(), TestCaseError> {
    // A sync window has patterns of names.
    if clusters(fleet).iter().flat_map(objects).any(|object| object.pointer("/spec/syncWindows").is_some()) {
        return Ok(());
    }
    let old = names(fleet);
    let unusual: Vec<String> = (0..old.len()).map(|number| format!("z{number:03}z")).collect();
    let to_unusual = Renaming(old.into_iter().zip(unusual.iter().cloned()).collect());
    let fleet_with_unusual = to_unusual.apply(fleet);
    let findings = diagnose(&fleet_with_unusual);
    prop_assert_eq!(subjects(&findings), subjects(&to_unusual.apply(&diagnose(fleet))));
    let to_new = Renaming(unusual.into_iter().zip(new.iter().cloned()).collect());
    prop_assert_eq!(diagnose(&to_new.apply(&fleet_with_unusual)), to_new.apply(&findings));
    Ok(())
}

/// Returns the codes and subjects of findings, those of consequences below them.
fn subjects(diagnosis: &Value) -> Vec<String> {
    fn add(findings: &Value, depth: usize, all: &mut Vec<String>) {
        for finding in findings.as_array().into_iter().flatten() {
            all.push(format!("{}{} {}", " ".repeat(depth), finding["code"], finding["subject"]));
            add(&finding["consequences"], depth + 1, all);
        }
    }
    let mut all = Vec::new();
    add(&diagnosis["findings"], 0, &mut all);
    all
}

/// Returns the names in a snapshot: of objects, and in fields that hold names. Names that contain another one, such as
/// `fleet-member-east`, are left out: they are renamed with it.
fn names(fleet: &Value) -> BTreeSet<String> {
    fn add(value: &Value, key: &str, all: &mut BTreeSet<String>) {
        match value {
            Value::Object(fields) => fields.iter().for_each(|(key, value)| add(value, key, all)),
            Value::Array(list) => list.iter().for_each(|element| add(element, key, all)),
            Value::String(text) if is_name(key, text) => {
                all.insert(text.strip_prefix("fleet-member-").unwrap_or(text).to_owned());
            }
            _ => {}
        }
    }
    let mut all = BTreeSet::new();
    add(fleet, "", &mut all);
    let is_within = |part: &str, name: &str| {
        part != name
            && name.match_indices(part).any(|(at, _)| {
                !name[..at].ends_with(char::is_alphanumeric)
                    && !name[at + part.len()..].starts_with(char::is_alphanumeric)
            })
    };
    all.iter().filter(|name| !all.iter().any(|part| is_within(part, name))).cloned().collect()
}

fn is_name(key: &str, text: &str) -> bool {
    let key = key.to_lowercase();
    (key.ends_with("name") || key.ends_with("namespace")) && NAME.is_match(text) && !GIVEN.contains(&text)
}
