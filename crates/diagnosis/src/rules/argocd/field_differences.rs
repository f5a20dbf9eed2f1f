//! Fields in which a live object differs from what Argo CD has applied, and the managers that have written the object.
//!
//! A client-side apply stores the applied manifest in the annotation [`LAST_APPLIED`]. Fields that the manifest doesn't set don't count,
//! as in Argo CD's own comparison (v3.2, v3.5).

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::object::text_field;
use crate::rules::quantity;
use crate::{JsonRef, Object};

/// Annotation in which a client-side apply stores the applied manifest.
pub(super) const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// Field manager of Argo CD's applies (v3.2, v3.5).
const ARGO_CD_MANAGER: &str = "argocd-controller";

/// Keys by which Kubernetes merges lists of objects in its own kinds, in the order in which they are tried.
const MERGE_KEYS: [&str; 7] = ["name", "mountPath", "devicePath", "containerPort", "port", "topologyKey", "ip"];

/// Field in which a live object differs from the applied manifest.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct FieldDifference {
    steps: Vec<PathStep>,
    pub applied: Value,
    /// Value on the destination; `None` if the object lacks the field.
    pub live: Option<Value>,
}

/// Step on the way from an object to one of its fields.
#[derive(Clone, Debug, PartialEq)]
enum PathStep {
    Field(String),
    /// Entry of a list with a merge key.
    Entry {
        key: &'static str,
        value: String,
        is_text: bool,
    },
}

/// Write of an object, as `metadata.managedFields` records it: the last one of each manager, operation and subresource.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct FieldWrite<'a> {
    pub manager: &'a str,
    pub operation: &'a str,
    /// Subresource; empty for the object itself.
    pub subresource: &'a str,
    pub at: Option<Timestamp>,
}

/// Differences between an object and its last applied manifest.
pub(super) struct FieldDifferences {
    pub all: Vec<FieldDifference>,
}

impl FieldDifferences {
    /// Compares an object with its last applied manifest; `None` if it has none.
    pub fn read(live: Object<'_>) -> Option<Self> {
        Some(Self::between(live, &last_applied(live)?))
    }

    /// Compares an object with a manifest of it.
    pub fn between(live: Object<'_>, applied: &Value) -> Self {
        // Kubernetes' own kinds merge lists by key, and Argo CD normalizes their values.
        let of_built_in_kind = is_built_in(live.group());
        let compare = |normalizes| {
            let mut found = Vec::new();
            let comparison = Comparison { merges: of_built_in_kind, normalizes };
            for part in applied.as_object().into_iter().flatten().filter(|(name, _)| is_compared(name)) {
                let (name, value) = part;
                if name == "metadata" {
                    for field in ["labels", "annotations"] {
                        let Some(value) = value.get(field) else { continue };
                        let live = live.at(&format!("/metadata/{field}"));
                        let steps = [PathStep::Field(name.clone()), PathStep::Field(field.to_owned())];
                        comparison.compare(&steps, value, live, &mut found);
                    }
                } else {
                    comparison.compare(&[PathStep::Field(name.clone())], value, live.value().get(name), &mut found);
                }
            }
            found
        };
        // Argo CD normalizes built-in kinds, too, so that what differs only in its notation isn't the cause, unless nothing else is.
        let normalized = compare(of_built_in_kind);
        let all = if normalized.is_empty() { compare(false) } else { normalized };
        Self { all }
    }

    /// True if the object lacks every field that differs.
    pub fn are_all_absent(&self) -> bool {
        !self.all.is_empty() && self.all.iter().all(|difference| difference.live.is_none())
    }

    /// Returns the difference at a path of plain names.
    pub fn at(&self, path: &str) -> Option<&FieldDifference> {
        self.all.iter().find(|difference| difference.path() == path)
    }
}

impl FieldDifference {
    /// Returns the path as evidence has it, e.g. `spec.containers[name=web].image`.
    pub fn path(&self) -> String {
        let mut path = String::new();
        for step in &self.steps {
            match step {
                PathStep::Field(name) if name.contains(['.', '/']) => path.extend(["[", name, "]"]),
                PathStep::Field(name) => {
                    if !path.is_empty() {
                        path.push('.');
                    }
                    path += name;
                }
                PathStep::Entry { key, value, .. } => path.extend(["[", key, "=", value, "]"]),
            }
        }
        path
    }

    /// Returns what the object has in place of what was applied, as text.
    pub fn live_text(&self) -> String {
        self.live.as_ref().map_or_else(|| "(absent)".to_owned(), |value| JsonRef::from(value).to_text())
    }

    /// Returns the entry of `spec.ignoreDifferences` that covers this field of an object: a JSON pointer where the path has names
    /// only, and otherwise a jq expression.
    pub fn ignored(&self, object: Object<'_>) -> Value {
        let mut entry = json!({"kind": object.kind(), "name": object.name()});
        if !object.group().is_empty() {
            entry["group"] = object.group().into();
        }
        let has_entries = self.steps.iter().any(|step| matches!(step, PathStep::Entry { .. }));
        if has_entries {
            entry["jqPathExpressions"] = json!([self.jq()]);
        } else {
            entry["jsonPointers"] = json!([self.pointer()]);
        }
        entry
    }

    fn pointer(&self) -> String {
        let names = self.steps.iter().filter_map(|step| match step {
            PathStep::Field(name) => Some(format!("/{}", name.replace('~', "~0").replace('/', "~1"))),
            PathStep::Entry { .. } => None,
        });
        names.collect()
    }

    fn jq(&self) -> String {
        let parts = self.steps.iter().map(|step| match step {
            PathStep::Field(name) => format!(".\"{name}\""),
            PathStep::Entry { key, value, is_text: true } => format!("[] | select(.{key} == \"{value}\") | "),
            PathStep::Entry { key, value, is_text: false } => format!("[] | select(.{key} == {value}) | "),
        });
        parts.collect::<String>().trim_end_matches(" | ").to_owned()
    }
}

impl<'a> FieldWrite<'a> {
    /// Returns the recorded writes of an object, except those of its status.
    pub fn all(object: Object<'a>) -> impl Iterator<Item = Self> {
        let writes = object.list("/metadata/managedFields").iter().map(|write| Self {
            manager: text_field(write, "manager"),
            operation: text_field(write, "operation"),
            subresource: text_field(write, "subresource"),
            at: text_field(write, "time").parse().ok(),
        });
        writes.filter(|write| write.subresource != "status")
    }

    pub fn is_argo_cds(self) -> bool {
        self.manager == ARGO_CD_MANAGER
    }

    /// Returns e.g. `kube-controller-manager (Update, scale)`.
    pub fn text(self) -> String {
        let parts: Vec<_> = [self.operation, self.subresource].into_iter().filter(|part| !part.is_empty()).collect();
        format!("{} ({})", self.manager, parts.join(", "))
    }
}

/// Returns the manifest that was last applied by a client-side apply.
pub(super) fn last_applied(live: Object<'_>) -> Option<Value> {
    serde_json::from_str(live.annotation(LAST_APPLIED)?).ok()
}

/// True for the fields of an object that Argo CD compares.
fn is_compared(field: &str) -> bool {
    !["apiVersion", "kind", "status"].contains(&field)
}

/// True for the groups of Kubernetes' own kinds: those without a dot, and those of `k8s.io` that aren't made of CRDs.
pub(super) fn is_built_in(group: &str) -> bool {
    const OWN: [&str; 12] = [
        "admissionregistration",
        "apiextensions",
        "apiregistration",
        "authentication",
        "authorization",
        "certificates",
        "coordination",
        "discovery",
        "networking",
        "rbac.authorization",
        "scheduling",
        "storage",
    ];
    !group.contains('.') || group.strip_suffix(".k8s.io").is_some_and(|name| OWN.contains(&name))
}

#[derive(Clone, Copy)]
struct Comparison {
    /// Lists of objects are merged by key; otherwise a list is one value.
    merges: bool,
    /// Values that differ in their notation alone are equal.
    normalizes: bool,
}

impl Comparison {
    fn compare(self, steps: &[PathStep], applied: &Value, live: Option<JsonRef<'_>>, found: &mut Vec<FieldDifference>) {
        let difference = |live: Option<JsonRef<'_>>| FieldDifference {
            steps: steps.to_vec(),
            applied: applied.clone(),
            live: live.map(JsonRef::to_value),
        };
        let Some(live) = live.filter(|live| !live.is_null()) else {
            if !(applied.is_null() || self.normalizes && is_empty(applied)) {
                found.push(difference(None));
            }
            return;
        };
        match applied {
            Value::Object(fields) if live.as_object().is_some() => {
                for (name, value) in fields {
                    let steps: Vec<_> = steps.iter().cloned().chain([PathStep::Field(name.clone())]).collect();
                    self.compare(&steps, value, live.get(name), found);
                }
            }
            Value::Array(entries) if live.as_array().is_some() => {
                self.compare_list(steps, entries, live, difference(Some(live)), found);
            }
            _ => {
                if !self.are_equal(applied, &live.to_value()) {
                    found.push(difference(Some(live)));
                }
            }
        }
    }

    /// Compares a list: entry by entry if it belongs to a built-in kind and has a merge key, and otherwise as one value, of which the entries
    /// may have got defaults: Argo CD calls such an object Synced, custom resources too (v3.5.7).
    fn compare_list(
        self,
        steps: &[PathStep],
        entries: &[Value],
        live: JsonRef<'_>,
        whole: FieldDifference,
        found: &mut Vec<FieldDifference>,
    ) {
        let Some(key) = merge_key(entries).filter(|_| self.merges) else {
            if !includes(&live.to_value(), &Value::Array(entries.to_vec())) {
                found.push(whole);
            }
            return;
        };
        for entry in entries {
            let Some(value) = entry.get(key) else { continue };
            let text = JsonRef::from(value).to_text();
            let step = PathStep::Entry { key, value: text, is_text: value.is_string() };
            let steps: Vec<_> = steps.iter().cloned().chain([step]).collect();
            let mut live = live.as_array().unwrap_or_default().iter();
            let live = live.find(|live| live.get(key).is_some_and(|live| live.to_value() == *value));
            self.compare(&steps, entry, live, found);
        }
    }

    fn are_equal(self, applied: &Value, live: &Value) -> bool {
        if applied == live || applied.as_f64().is_some() && applied.as_f64() == live.as_f64() {
            return true;
        }
        let number = |value: &Value| match value {
            Value::String(text) => quantity::parse(text),
            other => other.as_f64(),
        };
        self.normalizes && number(applied).zip(number(live)).is_some_and(|(a, b)| (a - b).abs() <= a.abs() * 1e-9)
    }
}

/// Returns the merge key that all entries of a list have.
fn merge_key(entries: &[Value]) -> Option<&'static str> {
    MERGE_KEYS.into_iter().find(|key| !entries.is_empty() && entries.iter().all(|entry| entry.get(key).is_some()))
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Object(fields) => fields.is_empty(),
        Value::Array(entries) => entries.is_empty(),
        Value::String(text) => text.is_empty(),
        Value::Bool(is_set) => !is_set,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::Null => true,
    }
}

/// True if a value has everything of another one: objects may have more fields, lists have the same number of entries.
fn includes(value: &Value, part: &Value) -> bool {
    match (value, part) {
        (Value::Object(fields), Value::Object(part)) => {
            part.iter().all(|(name, part)| fields.get(name).is_some_and(|field| includes(field, part)))
        }
        (Value::Array(entries), Value::Array(part)) => {
            entries.len() == part.len() && entries.iter().zip(part).all(|(entry, part)| includes(entry, part))
        }
        _ => value == part,
    }
}
