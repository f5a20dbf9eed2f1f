//! `WorkSynchronized` False: a placement's Work can't be created for a member.

use std::sync::LazyLock;

use jiff::SignedDuration;
use regex::Regex;
use serde_json::{Value, json};

use super::draft::{Draft, Topic};
use super::fleet::{CLUSTER, Fleet, PlacedOn, Placement, member_namespace, placement_of_work};
use super::{envelope, kubectl};
use crate::command::{Command, KubectlVerb};
use crate::{Condition, Evidence, HUB, Object};

/// What keeps a Work in a namespace that is being deleted.
const WORK_FINALIZER: &str = "kubernetes-fleet.io/work-cleanup";
/// For how long the making of a Work may fail without being a failure.
const TRANSIENT: SignedDuration = SignedDuration::from_secs(15);
/// For how long a namespace may be terminating before it counts as one that nobody works on.
const UNATTENDED: SignedDuration = SignedDuration::from_secs(30);

pub(super) fn rule(fleet: Fleet<'_>) -> Vec<Draft> {
    let mut drafts = Vec::new();
    for placement in fleet.placements() {
        for cluster in placement.clusters() {
            let Some(failed) = cluster.condition("WorkSynchronized").filter(|c| c.status == "False") else { continue };
            // What the manifests themselves lack is named even while something else is wrong with the member.
            let draft = envelope::finding(fleet, placement, cluster, &failed)
                .or_else(|| terminating(fleet, placement, cluster, &failed))
                .or_else(|| other(fleet, placement, cluster, &failed));
            drafts.extend(draft);
        }
    }
    drafts.extend(fleet.placements().flat_map(|p| losing(fleet, p)));
    drafts
}

/// KF-WS-008: the placement says that all is well on a member, while its Work there is being deleted.
fn losing(fleet: Fleet<'_>, placement: Placement<'_>) -> Vec<Draft> {
    let quote = fleet.quote();
    let mut drafts = Vec::new();
    for on in placement.clusters() {
        let Some(namespace) = fleet.member_namespace(on.member).filter(|n| n.deleted_at().is_some()) else { continue };
        let Some(available) = on.condition("Available").filter(|c| c.status == "True") else { continue };
        let mut works = placement.works(fleet, on.member);
        works.retain(|w| w.deleted_at().is_some());
        if works.is_empty() {
            continue;
        }
        let mut evidence = vec![quote.condition_in(placement.object, &on.path(), &available)];
        evidence.extend(works.iter().map(|w| quote.deletion(*w)));
        evidence.push(quote.deletion(namespace));
        let names = json!({
            "placement": placement.full_name(),
            "placement_ref": kubectl::reference(placement.object),
            "member": on.member,
            "namespace": namespace.name(),
            "held": works.iter().map(|w| kubectl::reference(*w)).collect::<Vec<_>>(),
        });
        let draft = Draft::new("KF-WS-008", placement.subject(fleet, Some(on.member)), &names, evidence);
        let namespace = Topic::MemberNamespace(on.member.to_owned());
        drafts.push(draft.about(namespace.clone()).follows(namespace));
    }
    drafts
}

/// KF-WS-006, 007, 009 and 010: whatever else keeps a Work from being made.
fn other(fleet: Fleet<'_>, placement: Placement<'_>, on: PlacedOn<'_>, failed: &Condition) -> Option<Draft> {
    static REFUSED: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"(?i)\bis invalid: spec\.workload").expect("a valid pattern"));
    static NO_NAMESPACE: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r#"(?i)namespaces? "?fleet-member-\S+ not found"#).expect("a valid pattern"));
    static DUPLICATE: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"(?i)\bwork objects found for the same envelope (?<envelope>[^\s,]+)").expect("a valid pattern")
    });
    let mut evidence = placement.symptom(fleet, on, failed);
    let namespace = member_namespace(on.member);
    let mut twins = Vec::new();
    let member = fleet.hub.object(CLUSTER, "MemberCluster", None, on.member);
    let code = if REFUSED.is_match(&failed.message) {
        "KF-WS-006"
    } else if NO_NAMESPACE.is_match(&failed.message) && fleet.member_namespace(on.member).is_none() {
        evidence.push(fleet.quote().absent("Namespace", None, &namespace));
        "KF-WS-007"
    } else if let Some(said) = DUPLICATE.captures(&failed.message) {
        twins = envelope::works(fleet, placement, on, &said["envelope"]);
        evidence.extend(twins.iter().map(|w| match w.condition("Applied") {
            Some(applied) => fleet.quote().condition(*w, &applied),
            None => fleet.quote().field(*w, "metadata.creationTimestamp"),
        }));
        "KF-WS-010"
    } else {
        // The controller tries again, and conflicts and short outages pass.
        let since = failed.last_transition_time?;
        if fleet.now().duration_since(since) < TRANSIENT {
            return None;
        }
        "KF-WS-009"
    };
    let period = member.and_then(|m| m.at("/spec/heartbeatPeriodSeconds")?.as_i64()).unwrap_or(60);
    let names = json!({
        "placement": placement.full_name(),
        "placement_ref": kubectl::reference(placement.object),
        "member": on.member,
        "namespace": namespace,
        "message": failed.message,
        "surplus": twins.iter().skip(1).map(|w| kubectl::reference(*w)).collect::<Vec<_>>(),
        "other_period": if period < 600 { period + 1 } else { period - 1 },
    });
    let draft = Draft::new(code, placement.subject(fleet, Some(on.member)), &names, evidence);
    Some(draft.about(placement.on(on.member)).follows(Topic::Member(on.member.to_owned())))
}

/// KF-WS-001: the member's namespace on the hub is being deleted.
fn terminating(fleet: Fleet<'_>, placement: Placement<'_>, on: PlacedOn<'_>, failed: &Condition) -> Option<Draft> {
    let namespace = fleet.member_namespace(on.member)?;
    let since = namespace.deleted_at()?;
    let works = fleet.works(on.member);
    let mine = |w: &&Object<'_>| placement.owns(**w);
    let others = |deleted: bool| {
        let mut names: Vec<_> = works
            .iter()
            .filter(|w| !mine(w) && w.deleted_at().is_some() == deleted)
            .filter_map(|w| placement_of_work(*w))
            .map(|(namespace, name)| namespace.map_or_else(|| name.to_owned(), |n| format!("{n}/{name}")))
            .collect();
        names.sort();
        names.dedup();
        names
    };
    let held: Vec<_> = works.iter().filter(|w| !w.list("/metadata/finalizers").is_empty()).collect();
    let held_refs: Vec<_> = held.iter().map(|w| kubectl::reference(**w)).collect();
    let unattended = namespace.conditions().is_empty() && fleet.now().duration_since(since) > UNATTENDED;
    let member = fleet.hub.object(CLUSTER, "MemberCluster", None, on.member);
    let names = json!({
        "placement": placement.full_name(),
        "placement_ref": kubectl::reference(placement.object),
        "member": on.member,
        "namespace": member_namespace(on.member),
        "lost": others(true).join(", "),
        "at_risk": others(false).join(", "),
        "held": held_refs,
        "unattended": unattended,
        "elsewhere": elsewhere(fleet, placement, on.member),
        "member_copy": member.map(|m| kubectl::create(copy_of_member(m))),
    });
    let draft = Draft::new(
        "KF-WS-001",
        placement.subject(fleet, Some(on.member)),
        &names,
        evidence(fleet, placement, on, failed, namespace, &works),
    );
    Some(draft.about(placement.on(on.member)).about(Topic::MemberNamespace(on.member.to_owned())))
}

fn evidence(
    fleet: Fleet<'_>,
    placement: Placement<'_>,
    on: PlacedOn<'_>,
    failed: &Condition,
    namespace: Object<'_>,
    works: &[Object<'_>],
) -> Vec<Evidence> {
    let quote = fleet.quote();
    let mut evidence = placement.symptom(fleet, on, failed);
    evidence.push(quote.deletion(namespace));
    for type_ in ["NamespaceContentRemaining", "NamespaceFinalizersRemaining"] {
        if let Some(condition) = namespace.condition(type_).filter(|c| c.status == "True") {
            evidence.push(quote.condition(namespace, &condition));
        }
    }
    for work in works.iter().filter(|w| w.list("/metadata/finalizers").iter().any(|f| f == WORK_FINALIZER)) {
        let finalizers = quote.field(*work, "metadata.finalizers");
        evidence.push(Evidence { at: work.deleted_at(), ..finalizers });
    }
    evidence
}

/// How the placement is told to leave the member out; empty where its policy has to be edited by hand.
fn elsewhere(fleet: Fleet<'_>, placement: Placement<'_>, member: &str) -> Vec<Command> {
    let patch =
        |policy: &Value| kubectl::patch(kubectl::reference(placement.object), &json!({"spec": {"policy": policy}}));
    let policy = placement.object.at("/spec/policy");
    let type_ = placement.object.str("/spec/policy/placementType").unwrap_or("PickAll");
    if type_ == "PickFixed" {
        let mut names: Vec<_> = placement
            .object
            .list("/spec/policy/clusterNames")
            .iter()
            .filter_map(Value::as_str)
            .filter(|n| *n != member)
            .collect();
        if names.is_empty() {
            let other = fleet
                .hub
                .of_kind(CLUSTER, "MemberCluster")
                .filter(|m| m.name() != member && m.deleted_at().is_none())
                .filter(|m| fleet.member_namespace(m.name()).is_none_or(|n| n.deleted_at().is_none()))
                .map(|m| m.name())
                .min();
            names.extend(other);
        }
        return if names.is_empty() { Vec::new() } else { vec![patch(&json!({"clusterNames": names}))] };
    }
    if policy.is_some_and(|p| p.get("affinity").is_some()) {
        // A merge patch would throw away the terms that are there.
        return vec![Command::kubectl(HUB, KubectlVerb::Edit, kubectl::reference(placement.object))];
    }
    let key = "unavailable";
    let terms = json!([{"labelSelector": {"matchExpressions": [{"key": key, "operator": "DoesNotExist"}]}}]);
    let affinity = json!({"clusterAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": {"clusterSelectorTerms": terms}
    }});
    let mut wanted = json!({"placementType": type_, "affinity": affinity});
    if policy.is_some_and(|p| p.get("placementType").is_some()) {
        wanted.as_object_mut().map(|w| w.remove("placementType"));
    }
    let mut label = kubectl::resource(CLUSTER, "MemberCluster", None, member);
    label.push(format!("{key}=true"));
    vec![Command::kubectl(HUB, KubectlVerb::Label, label), patch(&wanted)]
}

/// What of a `MemberCluster` is needed to make it again.
fn copy_of_member(member: Object<'_>) -> Value {
    let mut metadata = json!({"name": member.name()});
    if let (Some(labels), Some(metadata)) = (member.at("/metadata/labels"), metadata.as_object_mut()) {
        metadata.insert("labels".to_owned(), labels.clone());
    }
    json!({
        "apiVersion": member.at("/apiVersion"),
        "kind": "MemberCluster",
        "metadata": metadata,
        "spec": member.at("/spec"),
    })
}
