//! Requests that answer the queries of the rules: few lists where many objects are wanted, single objects otherwise.

use std::collections::{BTreeMap, BTreeSet};

use diagnosis::{GroupKind, ObjectQuery, ObjectSelection};

use crate::kinds::{
    self, CLUSTER_RESOURCE_PLACEMENT, CLUSTER_RESOURCE_SNAPSHOT, RESOURCE_PLACEMENT, RESOURCE_SNAPSHOT, ResourceKind,
};
use crate::pages::{ListQuery, PAGE_SIZE};

/// Number of objects of a namespace that are read one by one. More of them are read by a list of the namespace.
const SINGLE_OBJECTS: usize = 8;

/// Number of namespaces in which objects with the same label are listed one by one.
const SINGLE_NAMESPACES: usize = 4;

/// Number of namespaces of a kind that are listed one by one. More of them are read by a list of everything.
const MOST_NAMESPACES: usize = 200;

/// Objects of a page of placements. A placement on a hundred members has some 150 kB.
const PLACEMENTS_OF_PAGE: u32 = 100;

/// Request that answers one or several queries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PlannedRequest {
    pub(super) kind: ResourceKind,
    pub(super) target: RequestTarget,
    pub(super) answers: Vec<ObjectQuery>,
}

/// Objects that a request asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum RequestTarget {
    /// List, page by page.
    List(ListQuery),
    /// One object.
    Object { namespace: Option<String>, name: String },
    /// Objects that are being deleted, unless there are as many objects as expected.
    Deleting { expected: usize },
}

/// Returns the list query for objects of a kind, with as much of each object as the rules read.
pub(super) fn list_of(kind: ResourceKind) -> ListQuery {
    let is_large = [CLUSTER_RESOURCE_PLACEMENT, RESOURCE_PLACEMENT].contains(&kind);
    ListQuery {
        metadata_only: is_metadata_only(kind),
        page_size: if is_large { PLACEMENTS_OF_PAGE } else { PAGE_SIZE },
        ..ListQuery::all_of(kind)
    }
}

/// True if the rules read nothing but metadata of a kind. The resources of snapshots are large.
pub(super) fn is_metadata_only(kind: ResourceKind) -> bool {
    ListQuery::all_of(kind).metadata_only || [CLUSTER_RESOURCE_SNAPSHOT, RESOURCE_SNAPSHOT].contains(&kind)
}

/// Plans the requests for some queries.
pub(super) fn plan(queries: Vec<ObjectQuery>) -> Vec<PlannedRequest> {
    let mut by_kind: BTreeMap<GroupKind, Vec<ObjectQuery>> = BTreeMap::new();
    for query in queries {
        by_kind.entry(query.kind).or_default().push(query);
    }
    let of_kind = |(kind, queries): (GroupKind, Vec<ObjectQuery>)| Some((kinds::find(kind.group, kind.kind)?, queries));
    by_kind.into_iter().filter_map(of_kind).flat_map(|(kind, queries)| plan_kind(kind, queries)).collect()
}

fn plan_kind(kind: ResourceKind, queries: Vec<ObjectQuery>) -> Vec<PlannedRequest> {
    let group_kind = GroupKind { group: kind.group, kind: kind.kind };
    let everything = |mut answers: Vec<ObjectQuery>| {
        answers.push(ObjectQuery::all(group_kind));
        vec![PlannedRequest { kind, target: RequestTarget::List(list_of(kind)), answers }]
    };
    if queries.iter().any(|query| query.selection == ObjectSelection::All) {
        return everything(queries);
    }
    let (mut namespaces, mut objects) = (BTreeSet::new(), BTreeMap::<_, Vec<ObjectQuery>>::new());
    let (mut labels, mut others) = (BTreeMap::<_, Vec<ObjectQuery>>::new(), Vec::new());
    for query in queries.iter().cloned() {
        match &query.selection {
            ObjectSelection::InNamespace(namespace) => drop(namespaces.insert(namespace.clone())),
            ObjectSelection::Named { namespace, .. } => objects.entry(namespace.clone()).or_default().push(query),
            ObjectSelection::Labeled { key, value, .. } => {
                labels.entry((key.clone(), value.clone())).or_default().push(query);
            }
            ObjectSelection::All | ObjectSelection::Deleting { .. } => others.push(query),
        }
    }
    let many = |queries: &[ObjectQuery]| queries.len() > SINGLE_OBJECTS;
    let of_cluster = objects.get(&None).is_some_and(|queries| many(queries));
    if of_cluster || namespaces.len() + objects.len() > MOST_NAMESPACES {
        return everything(queries);
    }
    let mut requests = Vec::new();
    for (namespace, queries) in objects {
        match namespace {
            Some(namespace) if many(&queries) => drop(namespaces.insert(namespace)),
            _ => requests.extend(queries.into_iter().map(|query| single_object(kind, query))),
        }
    }
    requests.extend(namespaces.into_iter().map(|namespace| {
        let query = ListQuery { namespace: Some(namespace.clone()), ..list_of(kind) };
        let answers = vec![ObjectQuery { kind: group_kind, selection: ObjectSelection::InNamespace(namespace) }];
        PlannedRequest { kind, target: RequestTarget::List(query), answers }
    }));
    requests.extend(labels.into_iter().flat_map(|(label, queries)| labeled(kind, label, queries)));
    requests.extend(others.into_iter().filter_map(|query| match query.selection {
        ObjectSelection::Deleting { expected } => {
            Some(PlannedRequest { kind, target: RequestTarget::Deleting { expected }, answers: vec![query] })
        }
        _ => None,
    }));
    requests
}

fn single_object(kind: ResourceKind, query: ObjectQuery) -> PlannedRequest {
    let (namespace, name) = match &query.selection {
        ObjectSelection::Named { namespace, name } => (namespace.clone(), name.clone()),
        _ => (None, String::new()),
    };
    PlannedRequest { kind, target: RequestTarget::Object { namespace, name }, answers: vec![query] }
}

/// Returns the lists of objects with one label: one for each namespace, or one for all if there are many.
fn labeled(kind: ResourceKind, (key, value): (String, String), queries: Vec<ObjectQuery>) -> Vec<PlannedRequest> {
    let selector = format!("{key}={value}");
    let list = |namespace: Option<String>, answers| {
        let query = ListQuery { namespace, labels: Some(selector.clone()), ..list_of(kind) };
        PlannedRequest { kind, target: RequestTarget::List(query), answers }
    };
    let namespace_of = |query: &ObjectQuery| match &query.selection {
        ObjectSelection::Labeled { namespace, .. } => namespace.clone(),
        _ => None,
    };
    if queries.len() > SINGLE_NAMESPACES || queries.iter().any(|query| namespace_of(query).is_none()) {
        let of_all = ObjectQuery {
            kind: GroupKind { group: kind.group, kind: kind.kind },
            selection: ObjectSelection::Labeled { namespace: None, key, value },
        };
        let answers = queries.into_iter().chain([of_all]).collect();
        return vec![list(None, answers)];
    }
    queries.into_iter().map(|query| list(namespace_of(&query), vec![query])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn query(selection: ObjectSelection) -> ObjectQuery {
        ObjectQuery { kind: diagnosis::kinds::WORK, selection }
    }

    fn labeled(namespace: &str, placement: &str) -> ObjectQuery {
        let (key, value) = ("placement".to_owned(), placement.to_owned());
        query(ObjectSelection::Labeled { namespace: Some(namespace.to_owned()), key, value })
    }

    fn named(namespace: &str, name: String) -> ObjectQuery {
        query(ObjectSelection::Named { namespace: Some(namespace.to_owned()), name })
    }

    /// Requests in words, each with the number of queries that it answers.
    fn planned(queries: impl IntoIterator<Item = ObjectQuery>) -> Vec<String> {
        let words = |request: PlannedRequest| {
            let target = match request.target {
                RequestTarget::List(ListQuery { namespace, labels, .. }) => {
                    format!("list {} {}", namespace.as_deref().unwrap_or("*"), labels.unwrap_or_default())
                }
                RequestTarget::Object { namespace, name } => format!("get {}/{name}", namespace.unwrap_or_default()),
                RequestTarget::Deleting { expected } => format!("deleting unless {expected}"),
            };
            format!("{} ({})", target.trim_end(), request.answers.len())
        };
        plan(queries.into_iter().collect()).into_iter().map(words).collect()
    }

    #[test]
    fn a_few_objects_are_read_one_by_one_and_many_by_a_list() {
        assert_eq!(planned((0..2).map(|n| named("m-1", format!("w-{n}")))), ["get m-1/w-0 (1)", "get m-1/w-1 (1)"]);
        assert_eq!(planned((0..9).map(|n| named("m-1", format!("w-{n}")))), ["list m-1 (1)"]);
    }

    #[test]
    fn works_of_a_placement_on_many_members_are_one_list() {
        let of_members = |count: usize| (0..count).map(|n| labeled(&format!("m-{n}"), "web"));
        assert_eq!(planned(of_members(2)), ["list m-0 placement=web (1)", "list m-1 placement=web (1)"]);
        assert_eq!(planned(of_members(5)), ["list * placement=web (6)"]);
    }

    #[test]
    fn a_list_of_everything_answers_all_queries() {
        let all = ObjectQuery::all(diagnosis::kinds::WORK);
        assert_eq!(planned([named("m-1", "w".to_owned()), all, labeled("m-1", "web")]), ["list * (4)"]);
        let namespaces = (0..=MOST_NAMESPACES).map(|n| query(ObjectSelection::InNamespace(format!("m-{n}"))));
        assert_eq!(planned(namespaces), [format!("list * ({})", MOST_NAMESPACES + 2)]);
        assert_eq!(planned([query(ObjectSelection::Deleting { expected: 7 })]), ["deleting unless 7 (1)"]);
    }
}
