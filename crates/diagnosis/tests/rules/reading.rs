//! A hub that is read as the rules need it has the same findings as one of which everything was read.

use diagnosis::{
    ClusterSnapshot, FIRST_HUB_KINDS, GroupKind, KubectlAccess, Object, ObjectList, ObjectQuery, ObjectSelection,
    ReadRecord, Snapshot, SnapshotRole, UnreadKind, UnreadReason, WantedResource,
};
use serde_json::{Value, json};

use crate::shapes::{
    binding, condition, external, found, green, hub, member_cluster, member_namespace, placement, run, stage, with,
    work,
};

/// Kinds of which an empty list counts as one that wasn't allowed.
const EMPTY_IS_FORBIDDEN: [(&str, &str, &str); 4] = [
    ("", "ServiceAccount", "serviceaccounts"),
    ("rbac.authorization.k8s.io", "Role", "roles"),
    ("rbac.authorization.k8s.io", "RoleBinding", "rolebindings"),
    ("rbac.authorization.k8s.io", "ClusterRoleBinding", "clusterrolebindings"),
];

/// Checks that the findings of a snapshot don't depend on how it is read.
pub fn check(everything: &Snapshot) {
    let (read, _) = read_as_needed(everything);
    let findings = |snapshot| serde_json::to_value(diagnosis::examine(snapshot, &KubectlAccess::same_names()).findings);
    assert_eq!(findings(&read).expect("JSON"), findings(everything).expect("JSON"), "read as needed");
}

/// Reads a fleet that is in memory as the rules need it, and returns all queries with it.
fn read_as_needed(everything: &Snapshot) -> (Snapshot, Vec<ObjectQuery>) {
    let mut read = everything.clone();
    for (cluster, all) in read.clusters.iter_mut().zip(&everything.clusters) {
        cluster.objects = ObjectList::default();
        cluster.read = ReadRecord::nothing();
        for kind in EMPTY_IS_FORBIDDEN.iter().filter(|(group, kind, _)| all.of_kind(group, kind).next().is_none()) {
            let (group, resource) = (kind.0.to_owned(), kind.2.to_owned());
            let unread = UnreadKind { group, resource, reason: UnreadReason::Forbidden, message: String::new() };
            cluster.unread.extend(Some(unread).filter(|_| all.role == SnapshotRole::Hub));
        }
        if cluster.role == SnapshotRole::Hub {
            for kind in FIRST_HUB_KINDS {
                answer(cluster, all, ObjectQuery::all(*kind));
            }
        }
    }
    let mut asked = Vec::new();
    for _ in 0..20 {
        let queries = diagnosis::unanswered_queries(&read);
        if queries.is_empty() {
            add_wanted(&mut read, everything);
            return (read, asked);
        }
        for (name, queries) in queries {
            let cluster = read.clusters.iter_mut().find(|cluster| cluster.name == name).expect("a cluster");
            let all = everything.clusters.iter().find(|cluster| cluster.name == name).expect("a cluster");
            asked.extend(queries.iter().cloned());
            for query in queries {
                answer(cluster, all, query);
            }
        }
    }
    panic!("the rules ask for more in each round: {:?}", diagnosis::unanswered_queries(&read));
}

/// Adds the objects that the rules want besides the kinds which are read anyway.
fn add_wanted(read: &mut Snapshot, everything: &Snapshot) {
    for wanted in diagnosis::wanted_objects(read) {
        let all = everything.clusters.iter().find(|cluster| cluster.name == wanted.cluster).expect("a cluster");
        let is_wanted = |object: &Object<'_>| {
            let is_named = wanted.name.as_deref().is_none_or(|name| name == object.name());
            let is_of_kind = match &wanted.resource {
                WantedResource::Plural(plural) => format!("{}s", object.kind().to_lowercase()) == *plural,
                WantedResource::Kind(kind) => object.kind() == kind,
            };
            is_named
                && is_of_kind
                && object.group() == wanted.group
                && object.namespace() == wanted.namespace.as_deref()
        };
        let cluster = read.clusters.iter_mut().find(|cluster| cluster.name == wanted.cluster).expect("a cluster");
        let is_new = |object: &Object<'_>| {
            cluster.objects.find(object.group(), object.kind(), object.namespace(), object.name()).is_none()
        };
        let found: Vec<_> = all.objects().filter(is_wanted).filter(is_new).map(|o| o.value().to_value()).collect();
        cluster.objects.extend(found);
    }
}

fn answer(cluster: &mut ClusterSnapshot, all: &ClusterSnapshot, query: ObjectQuery) {
    let GroupKind { group, kind } = query.kind;
    let is_new = |object: &Object<'_>| {
        let known = cluster.objects.find(object.group(), object.kind(), object.namespace(), object.name());
        known.is_none()
    };
    let selected = all.of_kind(group, kind).filter(|object| selects(&query.selection, *object));
    let new: Vec<_> = selected.filter(is_new).map(|object| object.value().to_value()).collect();
    cluster.objects.extend(new);
    cluster.read.answer(query);
}

fn selects(selection: &ObjectSelection, object: Object<'_>) -> bool {
    let is_in = |namespace: &Option<String>| namespace.is_none() || object.namespace() == namespace.as_deref();
    match selection {
        ObjectSelection::All => true,
        ObjectSelection::InNamespace(namespace) => object.namespace() == Some(namespace),
        ObjectSelection::Labeled { namespace, key, value } => is_in(namespace) && object.label(key) == Some(value),
        ObjectSelection::Named { namespace, name } => {
            object.name() == name && object.namespace() == namespace.as_deref()
        }
        ObjectSelection::Deleting { .. } => object.deleted_at().is_some(),
    }
}

/// Queries that a fleet of these objects needs, without those for objects that are being deleted.
fn queries(objects: Vec<Value>) -> Vec<String> {
    let (_, asked) = read_as_needed(&hub(objects));
    let asked = asked.iter().filter(|query| !matches!(query.selection, ObjectSelection::Deleting { .. }));
    asked.map(|query| format!("{} {:?}", query.kind.kind, query.selection)).collect()
}

#[test]
fn a_healthy_fleet_needs_the_first_lists_only() {
    let selected = json!([{"version": "v1", "kind": "Namespace", "name": "shop"}]);
    let shop = with(external(green("shop", &["member-1"])), "/status/selectedResources", selected);
    let mut objects = vec![green("web", &["member-1", "member-2"]), shop];
    for member in ["member-1", "member-2"] {
        objects.extend([member_cluster(member), member_namespace(member), work(member, "web")]);
        objects.push(binding("web", member, "web-0-snapshot", json!([])));
    }
    let succeeded = condition("Succeeded", "True", "UpdateRunSucceeded", "");
    let done = stage("one", json!([succeeded]), &[("member-1", json!([succeeded]))]);
    objects.push(run("release", "shop", "0", json!([succeeded]), json!([done])));
    assert_eq!(queries(objects), Vec::<String>::new());
}

#[test]
fn bindings_and_works_are_counted_before_those_that_are_being_deleted_are_listed() {
    let fleet = hub(vec![green("web", &["member-1", "member-2"]), green("shop", &["member-1"])]);
    let (_, asked) = read_as_needed(&fleet);
    let expected: Vec<_> = asked
        .iter()
        .filter_map(|query| match query.selection {
            ObjectSelection::Deleting { expected } => Some((query.kind.kind, expected)),
            _ => None,
        })
        .collect();
    assert_eq!(expected, [("ClusterResourceBinding", 3), ("ResourceBinding", 0), ("Work", 3)]);
}

/// Hub without these resources, which couldn't be listed.
fn unread(objects: Vec<Value>, resource: &str) -> Snapshot {
    let mut snapshot = hub(objects);
    snapshot.clusters[0].unread.push(UnreadKind {
        group: "placement.kubernetes-fleet.io".to_owned(),
        resource: resource.to_owned(),
        reason: UnreadReason::Failed,
        message: "no answer within 120 s".to_owned(),
    });
    snapshot
}

#[test]
fn what_was_not_read_is_not_missing() {
    let failed = condition("Initialized", "False", "UpdateRunInitializedFailed", "parent placement not found");
    let run_alone = || vec![run("release", "web", "0", json!([failed]), json!([]))];
    assert_eq!(found(&hub(run_alone())), ["KF-UR-010 ClusterStagedUpdateRun/release"]);
    assert_eq!(found(&unread(run_alone(), "clusterresourceplacements")), [""; 0]);

    let waits = |type_: &str| condition(type_, "Unknown", "RolloutStartedUnknown", "");
    let scheduled = condition("ClusterResourcePlacementScheduled", "True", "SchedulingPolicyFulfilled", "");
    let top = json!([scheduled, waits("ClusterResourcePlacementRolloutStarted")]);
    let waiting = || vec![external(placement("web", top.clone(), &[("member-1", json!([waits("RolloutStarted")]))]))];
    assert_eq!(found(&hub(waiting())), ["KF-RO-001 ClusterResourcePlacement/web"]);
    assert_eq!(found(&unread(waiting(), "clusterstagedupdateruns")), [""; 0]);
}
