//! A single object that is diagnosed: what isn't near it isn't read.

use diagnosis::kubefleet::PARENT_PLACEMENT;
use diagnosis::{ClusterSnapshot, GroupKind, ObjectQuery, ObjectSelection};

use super::plan::{PlannedRequest, RequestTarget, list_of, plan};
use crate::kinds::{
    APPLICATION, APPROVAL_REQUEST, CLUSTER_APPROVAL_REQUEST, CLUSTER_RESOURCE_BINDING, CLUSTER_RESOURCE_PLACEMENT,
    CLUSTER_RUN, RESOURCE_BINDING, RESOURCE_PLACEMENT, RUN, ResourceKind, WORK,
};
use crate::pages::ListQuery;

/// Single object that is diagnosed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Focus {
    /// Kind of the object.
    pub kind: ResourceKind,
    /// Namespace; `None` for all, and for cluster-scoped kinds.
    pub namespace: Option<String>,
    /// Name of the object.
    pub name: String,
}

/// Kinds of which a hub has many objects for each placement.
const OF_PLACEMENTS: [ResourceKind; 5] =
    [CLUSTER_RESOURCE_PLACEMENT, RESOURCE_PLACEMENT, CLUSTER_RESOURCE_BINDING, RESOURCE_BINDING, WORK];

impl Focus {
    /// Leaves out of the first requests what isn't near the object. Rules ask for what else they need of it.
    pub(super) fn narrow(&self, requests: &mut Vec<PlannedRequest>, hub: &mut ClusterSnapshot) {
        let narrowed: &[ResourceKind] = match self.kind {
            CLUSTER_RESOURCE_PLACEMENT
            | RESOURCE_PLACEMENT
            | CLUSTER_RUN
            | RUN
            | CLUSTER_APPROVAL_REQUEST
            | APPROVAL_REQUEST => &OF_PLACEMENTS,
            APPLICATION => &[APPLICATION],
            _ => &[],
        };
        requests.retain(|request| !narrowed.contains(&request.kind));
        for kind in narrowed {
            hub.read.narrow(group_kind(*kind));
        }
        if narrowed.contains(&self.kind) {
            requests.push(self.own_request());
        }
        requests.extend(self.bindings_and_works());
    }

    fn own_request(&self) -> PlannedRequest {
        let query = ListQuery {
            namespace: self.namespace.clone(),
            fields: Some(format!("metadata.name={}", self.name)),
            ..list_of(self.kind)
        };
        PlannedRequest { kind: self.kind, target: RequestTarget::List(query), answers: Vec::new() }
    }

    /// Returns the requests for the bindings and Works of a placement. Those that are being deleted show nowhere else.
    fn bindings_and_works(&self) -> Vec<PlannedRequest> {
        let binding = match self.kind {
            CLUSTER_RESOURCE_PLACEMENT => CLUSTER_RESOURCE_BINDING,
            RESOURCE_PLACEMENT => RESOURCE_BINDING,
            _ => return Vec::new(),
        };
        let of_placement = |kind: ResourceKind, namespace: Option<String>| ObjectQuery {
            kind: group_kind(kind),
            selection: ObjectSelection::Labeled {
                namespace,
                key: PARENT_PLACEMENT.to_owned(),
                value: self.name.clone(),
            },
        };
        plan(vec![of_placement(binding, self.namespace.clone()), of_placement(WORK, None)])
    }
}

fn group_kind(kind: ResourceKind) -> GroupKind {
    GroupKind { group: kind.group, kind: kind.kind }
}

#[cfg(test)]
mod tests {
    use diagnosis::{FIRST_HUB_KINDS, ObjectList, ReadRecord, SnapshotRole};

    use super::*;

    /// Kinds of the requests that are left, each with its selector.
    fn requests(kind: ResourceKind) -> Vec<String> {
        let mut hub = ClusterSnapshot {
            read: ReadRecord::nothing(),
            ..ClusterSnapshot::new("hub", SnapshotRole::Hub, ObjectList::default())
        };
        let mut requests = plan(FIRST_HUB_KINDS.iter().copied().map(ObjectQuery::all).collect());
        Focus { kind, namespace: None, name: "web".to_owned() }.narrow(&mut requests, &mut hub);
        let words = |request: PlannedRequest| match request.target {
            RequestTarget::List(ListQuery { fields, labels, .. }) => {
                format!("{} {}", request.kind.plural, fields.or(labels).unwrap_or_default()).trim_end().to_owned()
            }
            other => format!("{other:?}"),
        };
        requests.into_iter().map(words).collect()
    }

    #[test]
    fn of_other_placements_nothing_is_read() {
        let of_placement = requests(CLUSTER_RESOURCE_PLACEMENT);
        assert!(of_placement.contains(&"clusterresourceplacements metadata.name=web".to_owned()), "{of_placement:?}");
        assert!(!of_placement.iter().any(|request| request.starts_with("resourceplacements")), "{of_placement:?}");
        let bindings = "clusterresourcebindings kubernetes-fleet.io/parent-CRP=web".to_owned();
        assert!(of_placement.contains(&bindings), "{of_placement:?}");
        assert!(of_placement.contains(&"works kubernetes-fleet.io/parent-CRP=web".to_owned()), "{of_placement:?}");
        assert!(!requests(CLUSTER_RUN).iter().any(|request| request.contains("placements")));
        assert!(requests(APPLICATION).contains(&"applications metadata.name=web".to_owned()));
    }

    #[test]
    fn a_member_needs_all_placements() {
        assert_eq!(requests(crate::kinds::MEMBER_CLUSTER).len(), FIRST_HUB_KINDS.len());
    }
}
