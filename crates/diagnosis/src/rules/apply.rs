//! Why a placement's objects aren't applied on a member: what the member's agent says of each of them.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use jiff::SignedDuration;
use regex::Regex;
use serde_json::{Value, json};

use super::draft::{Draft, Topic};
use super::fleet::{Fleet, PlacedOn, Placement, full_name};
use super::kubectl;
use super::quote::Quote;
use crate::{ClusterSnapshot, Condition, Evidence, MEMBER_KINDS, conditions};

/// For how long applying may fail without being a failure, where the reason may pass: a namespace may come a moment later.
const TRANSIENT: SignedDuration = SignedDuration::from_secs(15);

pub(super) fn rule(fleet: Fleet<'_>) -> Vec<Draft> {
    let mut drafts = Vec::new();
    for placement in fleet.placements() {
        for on in placement.clusters() {
            let Some(applied) = on.condition("Applied").filter(|c| c.status == "False") else { continue };
            drafts.extend(not_applied(fleet, placement, on, &applied));
        }
    }
    drafts
}

/// An object that isn't applied, as the placement lists it.
struct Failed<'a> {
    /// Its entry in failedPlacements.
    value: &'a Value,
    condition: Condition,
}

impl Failed<'_> {
    fn text(&self, field: &str) -> &str {
        self.value.get(field).and_then(Value::as_str).unwrap_or_default()
    }

    /// `Kind name` or `Kind namespace/name`.
    fn object(&self) -> String {
        format!("{} {}", self.text("kind"), full_name(self.namespace(), self.text("name")))
    }

    fn namespace(&self) -> Option<&str> {
        Some(self.text("namespace")).filter(|n| !n.is_empty())
    }

    /// The words by which kubectl finds it.
    fn reference(&self) -> Vec<String> {
        kubectl::resource(self.text("group"), self.text("kind"), self.namespace(), self.text("name"))
    }
}

/// KF-AP-002 to 009: one finding for each reason, with all the objects that it keeps away.
fn not_applied(fleet: Fleet<'_>, placement: Placement<'_>, on: PlacedOn<'_>, applied: &Condition) -> Vec<Draft> {
    let mut by_code: BTreeMap<&str, Vec<Failed<'_>>> = BTreeMap::new();
    for value in on.failed() {
        let listed = value.get("condition").cloned().map(|c| json!({"conditions": [c]}));
        let condition = conditions(listed.as_ref()).into_iter().find(|c| c.type_ == "Applied" && c.status == "False");
        let Some(condition) = condition else { continue };
        let code = code(&condition);
        let since = condition.last_transition_time.or(applied.last_transition_time);
        let young = since.is_some_and(|s| fleet.now().duration_since(s) < TRANSIENT);
        if young && matches!(code, "KF-AP-006" | "KF-AP-009") {
            continue;
        }
        by_code.entry(code).or_default().push(Failed { value, condition });
    }
    by_code.into_iter().map(|(code, failed)| draft(fleet, placement, on, applied, code, &failed)).collect()
}

/// The reasons are the member-agent's own; where one stands for several causes, its words tell them apart.
fn code(condition: &Condition) -> &'static str {
    static OWNED: LazyLock<Regex> =
        LazyLock::new(|| Regex::new("(?i)already owned by|co-?ownership is disallowed").expect("a valid pattern"));
    static NO_NAMESPACE: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r#"(?i)\bnamespaces? "[^"]+" not found"#).expect("a valid pattern"));
    match condition.reason.as_str() {
        "FailedToTakeOver" if OWNED.is_match(&condition.message) => "KF-AP-003",
        "FailedToTakeOver" | "NotTakenOver" => "KF-AP-002",
        "FoundDrifts" | "FoundDriftsInDegradedMode" => "KF-AP-004",
        "DecodingErred" => "KF-AP-005",
        _ if NO_NAMESPACE.is_match(&condition.message) => "KF-AP-006",
        _ => "KF-AP-009",
    }
}

fn draft(
    fleet: Fleet<'_>,
    placement: Placement<'_>,
    on: PlacedOn<'_>,
    applied: &Condition,
    code: &str,
    failed: &[Failed<'_>],
) -> Draft {
    let quote = fleet.quote();
    let path = on.path();
    let mut evidence = vec![quote.condition_in(placement.object, &path, applied)];
    for object in failed {
        let place = format!("{path}.failedPlacements[{}]", object.object());
        evidence.push(quote.condition_in(placement.object, &place, &object.condition));
    }
    if code == "KF-AP-004" {
        evidence.extend(on.list("driftedPlacements").iter().flat_map(|object| drifts(quote, placement, &path, object)));
    }
    let strategy = placement.object.at("/spec/strategy/applyStrategy");
    if matches!(code, "KF-AP-002" | "KF-AP-003" | "KF-AP-004") && strategy.is_some() {
        evidence.push(quote.field(placement.object, "spec.strategy.applyStrategy"));
    }
    let owners: Vec<Placement<'_>> = fleet
        .placements()
        .filter(|other| code == "KF-AP-003" && !same(*other, placement) && places_one_of(*other, failed))
        .collect();
    let namespaces_there = failed.iter().filter(|f| f.text("group").is_empty() && f.text("kind") == "Namespace");
    let names = json!({
        "placement": placement.full_name(),
        "placement_ref": kubectl::reference(placement.object),
        "member": on.member,
        "objects": failed.iter().map(Failed::object).collect::<Vec<_>>().join(", "),
        "refs": failed.iter().map(Failed::reference).collect::<Vec<_>>(),
        "namespaces": namespaces(failed),
        "owners": owners.iter().map(|owner| owner.full_name()).collect::<Vec<_>>().join(", "),
        "owner_refs": owners.iter().map(|owner| kubectl::reference(owner.object)).collect::<Vec<_>>(),
        "contents": namespaces_there.map(|f| contents(fleet, on.member, f.text("name"))).collect::<Vec<_>>(),
        "has_definition": failed.iter().any(|f| f.text("kind") == "CustomResourceDefinition"),
        "read_kinds": MEMBER_KINDS.iter().map(|kind| kind.kind).collect::<Vec<_>>().join(", "),
        "message": failed.first().map(|f| f.condition.message.clone()).unwrap_or_default(),
    });
    let draft = Draft::new(code, placement.subject(fleet, Some(on.member)), &names, evidence);
    draft.about(placement.on(on.member)).follows(Topic::Member(on.member.to_owned()))
}

/// What the snapshot has in a namespace of a member; Pods are left out, which come and go with their workloads.
fn contents(fleet: Fleet<'_>, member: &str, namespace: &str) -> Value {
    let cluster = fleet.snapshot.member(member).filter(|cluster| cluster.unreachable.is_none());
    let objects = cluster.into_iter().flat_map(ClusterSnapshot::objects);
    let there = objects.filter(|o| o.namespace() == Some(namespace) && o.kind() != "Pod");
    let mut names: Vec<String> = there.map(|o| format!("{} {}", o.kind(), o.name())).collect();
    names.sort();
    json!({"namespace": namespace, "is_read": cluster.is_some(), "objects": names.join(", ")})
}

/// What differs in an object, field by field.
fn drifts(quote: Quote<'_>, placement: Placement<'_>, path: &str, object: &Value) -> Vec<Evidence> {
    let name = object.get("name").and_then(Value::as_str).unwrap_or_default();
    let of = |drift: &Value| {
        let text = |name: &str| drift.get(name).and_then(Value::as_str).unwrap_or("(absent)");
        let value = format!("on the hub {}, on the member {}", text("valueInHub"), text("valueInMember"));
        quote.text(placement.object, &format!("{path}.driftedPlacements[{name}]{}", text("path")), value, None)
    };
    object.get("observedDrifts").and_then(Value::as_array).into_iter().flatten().map(of).collect()
}

fn same(a: Placement<'_>, b: Placement<'_>) -> bool {
    a.scope == b.scope && a.full_name() == b.full_name()
}

/// Whether another placement has selected one of these objects.
fn places_one_of(other: Placement<'_>, failed: &[Failed<'_>]) -> bool {
    other.object.list("/status/selectedResources").iter().any(|selected| {
        let text = |name: &str| selected.get(name).and_then(Value::as_str).unwrap_or_default();
        failed
            .iter()
            .any(|f| ["group", "kind", "namespace", "name"].into_iter().all(|field| text(field) == f.text(field)))
    })
}

fn namespaces(failed: &[Failed<'_>]) -> String {
    let mut names: Vec<&str> = failed.iter().map(|f| f.text("namespace")).filter(|n| !n.is_empty()).collect();
    names.sort_unstable();
    names.dedup();
    names.join(", ")
}
