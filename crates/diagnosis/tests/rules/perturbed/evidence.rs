//! Evidence, compared with the snapshot that it quotes.

use diagnosis::{ClusterSnapshot, Evidence, Finding, Object, Snapshot};
use record::{ObjectPath, QuotedCondition};
use serde_json::Value;

/// Text of evidence about a field that the object doesn't have.
const ABSENT: &str = "(absent)";

/// Text of evidence about objects of a kind of which there are none.
const NONE: &str = "(none)";

/// Words between the fields that a value is made of.
const GLUE: [&str; 16] = [
    "absent",
    "after",
    "application",
    "applied",
    "applies",
    "generation",
    "hook",
    "hub",
    "member",
    "nothing",
    "of",
    "on",
    "placement",
    "step",
    "the",
    "true",
];

/// Checks that each finding is about an object that is there, or whose absence it quotes, and that each quoted value is there.
///
/// # Errors
/// Returns an error with the first finding that isn't so.
pub fn check(snapshot: &Snapshot) -> Result<(), String> {
    let findings = diagnosis::diagnose(snapshot);
    for finding in findings.iter().flat_map(Finding::flatten) {
        check_finding(snapshot, finding)
            .map_err(|problem| format!("{} {}: {problem}", finding.code, finding.subject))?;
    }
    Ok(())
}

fn check_finding(snapshot: &Snapshot, finding: &Finding) -> Result<(), String> {
    let (subject, path) = (&finding.subject, finding.subject.path());
    let is_quoted_as_absent =
        finding.evidence.iter().any(|e| e.is_absent && e.cluster == subject.cluster && e.object == path);
    // Nobody reads the hub-agent itself. What it hasn't done shows that it has stopped.
    let is_hub_agent = subject.kind == "Deployment" && subject.name == "hub-agent";
    // The Service of the API server stands for it. Each cluster has one.
    let is_api_server = subject.kind == "Service" && subject.name == "kubernetes";
    // A webhook is called by the API server, so that it has a configuration. Where that wasn't read, the webhook's name stands for it.
    let is_of_webhook = subject.kind == "ValidatingWebhookConfiguration";
    let is_known = is_quoted_as_absent || is_hub_agent || is_api_server || is_of_webhook;
    if !is_known && find(snapshot, &subject.cluster, &path).is_empty() {
        return Err("there is no such object".to_owned());
    }
    finding.evidence.iter().try_for_each(|evidence| check_evidence(snapshot, evidence))
}

fn check_evidence(snapshot: &Snapshot, evidence: &Evidence) -> Result<(), String> {
    let Evidence { cluster, object, path, value, .. } = evidence;
    let place = format!("{object} on {cluster}, {path}");
    let objects = find(snapshot, cluster, object);
    // The name is empty only if a field that the API server requires was removed.
    if evidence.is_absent && object.name.is_empty() {
        return Ok(());
    }
    if evidence.is_absent {
        return if objects.is_empty() { Ok(()) } else { Err(format!("{place}: the object is there")) };
    }
    if objects.is_empty() && value == NONE {
        return Ok(());
    }
    if objects.is_empty() {
        return Err(format!("{place}: there is no such object"));
    }
    if let Some(container) = path.strip_prefix("the last lines of container ") {
        let mut logs = snapshot.clusters.iter().filter(|one| one.name == *cluster).flat_map(|one| &one.logs);
        let is_there = logs.any(|log| {
            (log.pod.as_str(), log.container.as_str()) == (&object.name, container) && log.text.contains(value)
        });
        return if is_there { Ok(()) } else { Err(format!("{place}: there is no such log")) };
    }
    let objects: Vec<Value> = objects.iter().map(|object| object.value().to_value()).collect();
    let found: Vec<Value> = objects.iter().flat_map(|object| values(object, path)).collect();
    let is_there = match &evidence.condition {
        Some(condition) => found.iter().any(|found| is_condition(found, condition)) && *value == condition.text(),
        None if value == ABSENT || value == NONE => found.iter().all(is_empty),
        None => found.iter().any(|found| text(found) == *value) || is_made_of(value, snapshot),
    };
    if is_there { Ok(()) } else { Err(format!("{place}: {value} is quoted, {found:?} is there")) }
}

/// Returns the objects with this path; several groups may have a kind of the same name. A path without a name stands for all objects of
/// the kind.
fn find<'a>(snapshot: &'a Snapshot, cluster: &str, path: &ObjectPath) -> Vec<Object<'a>> {
    let is_meant = |object: &Object<'_>| {
        if path.name.is_empty() { object.kind() == path.kind } else { object.path() == *path }
    };
    let cluster = snapshot.clusters.iter().find(|one| one.name == cluster);
    cluster.into_iter().flat_map(ClusterSnapshot::objects).filter(is_meant).collect()
}

/// True for a value like that of a field that isn't there.
fn is_empty(value: &Value) -> bool {
    value.as_array().is_some_and(Vec::is_empty) || value.is_null()
}

/// True if a value consists of what the snapshot says, as `Running: waiting for healthy state` does, or `3 (applied: 1)`. The places of its
/// parts aren't compared: what such a value is put together from differs from rule to rule.
fn is_made_of(value: &str, snapshot: &Snapshot) -> bool {
    let mut texts = Vec::new();
    let objects = snapshot.clusters.iter().flat_map(ClusterSnapshot::objects);
    objects.for_each(|object| add_texts(&object.value().to_value(), &mut texts));
    let mut words = value.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.all(|word| GLUE.contains(&word) || texts.iter().any(|text| text.contains(word)))
}

fn add_texts(value: &Value, all: &mut Vec<String>) {
    match value {
        Value::Array(list) => list.iter().for_each(|element| add_texts(element, all)),
        Value::Object(fields) => fields.iter().for_each(|(_, field)| add_texts(field, all)),
        Value::String(text) if text.is_empty() => {}
        other => all.push(text(other)),
    }
}

fn is_condition(value: &Value, condition: &QuotedCondition) -> bool {
    let has = |field: &str, text: &str| value[field].as_str().unwrap_or_default() == text;
    has("status", &condition.status) && has("reason", &condition.reason) && has("message", &condition.message)
}

/// Returns a value as evidence quotes it.
fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Returns the values at a path as evidence has it, e.g. `status.conditions[Applied].reason`: an element of a list is named by its
/// position or by what tells it apart, and a key may have dots.
fn values(value: &Value, path: &str) -> Vec<Value> {
    let path = path.strip_prefix('.').unwrap_or(path);
    if path.is_empty() {
        return vec![value.clone()];
    }
    if let Some((selector, rest)) = path.strip_prefix('[').and_then(|path| path.split_once(']')) {
        return match value {
            Value::Array(list) => {
                let selected = list.iter().enumerate().filter(|(at, one)| is_selected(one, *at, selector));
                selected.flat_map(|(_, one)| values(one, rest)).collect()
            }
            _ => value.get(selector).map(|one| values(one, rest)).unwrap_or_default(),
        };
    }
    let fields = value.as_object().into_iter().flatten();
    let rests = fields.filter_map(|(key, field)| Some((field, path.strip_prefix(key.as_str())?)));
    // The place of a condition is `conditions[Type]` also where the object has one condition, in a field `condition`.
    let rests = rests.map(|(field, rest)| (field, rest.strip_prefix("s[").map_or(rest, |_| "")));
    let ended = rests.filter(|(_, rest)| rest.is_empty() || rest.starts_with(['.', '[']));
    ended.flat_map(|(field, rest)| values(field, rest)).collect()
}

fn is_selected(element: &Value, position: usize, selector: &str) -> bool {
    let object = element.get("identifier").or_else(|| element.get("resourceIdentifier")).unwrap_or(element);
    selector == "*"
        || position.to_string() == selector
        // A member that couldn't be chosen has no name.
        || (selector == "(none)" && element.get("clusterName").is_none())
        || element.as_object().into_iter().flatten().any(|(_, field)| field == selector)
        || in_words(object) == selector
        || element.get("envelope").is_some_and(|envelope| format!("{} in {}", in_words(object), in_words(envelope)) == selector)
}

fn in_words(object: &Value) -> String {
    let field = |name: &str| object[name].as_str().unwrap_or_default();
    // The kind of an envelope is its `type`.
    let kind = if object.get("kind").is_some() { "kind" } else { "type" };
    ObjectPath::new(field(kind), object["namespace"].as_str(), field("name")).in_words()
}
