//! Sentences about what couldn't be read of the clusters.

use std::collections::BTreeSet;

use diagnosis::{SnapshotRole, UnreadReason, codes_that_need};

use super::cluster_report::ClusterReport;
use crate::text::{clean, some_names};

/// Number of clusters that a sentence names.
const NAMED: usize = 3;

/// Unreachable members that have a sentence each; more have one together.
const SINGLE_SENTENCES: usize = 3;

/// Kind that every version of KubeFleet's hub serves.
const MEMBER_CLUSTERS: &str = "memberclusters.cluster.kubernetes-fleet.io";
/// End of all groups of KubeFleet's kinds.
const KUBEFLEET_DOMAIN: &str = ".kubernetes-fleet.io";

/// Returns a sentence for each gap, about all clusters that have it.
pub(super) fn sentences(clusters: &[ClusterReport<'_>]) -> Vec<String> {
    let mut gaps = unread(clusters);
    gaps.extend(unreachable(clusters));
    gaps
}

/// Returns sentences about clusters of which nothing could be read.
fn unreachable(clusters: &[ClusterReport<'_>]) -> Vec<String> {
    let unreachable = clusters.iter().filter_map(|cluster| Some((cluster.role, cluster.name, cluster.reason?)));
    let (hub, members): (Vec<_>, Vec<_>) = unreachable.partition(|(role, ..)| *role == SnapshotRole::Hub);
    let sentence = |name: &str, reason: &str| format!("not read: {name}, nothing of it: {}", clean(reason));
    let mut sentences: Vec<String> = hub.into_iter().map(|(_, name, reason)| sentence(name, reason)).collect();
    if members.len() <= SINGLE_SENTENCES {
        let hidden = "failures of workloads on it aren't found";
        sentences.extend(members.into_iter().map(|(_, name, reason)| format!("{}; {hidden}", sentence(name, reason))));
        return sentences;
    }
    let names: Vec<&str> = members.iter().map(|(_, name, _)| *name).collect();
    let (_, first, reason) = members[0];
    sentences.push(format!(
        "not read: {} members, nothing of them: {}; failures of workloads on them aren't found. The reason for {first}: {}",
        members.len(),
        some_names(&names, NAMED),
        clean(reason)
    ));
    sentences
}

/// Returns sentences about kinds that couldn't be read of clusters, although others could.
fn unread(clusters: &[ClusterReport<'_>]) -> Vec<String> {
    let reasons = [
        (UnreadReason::Forbidden, "not read on", "these credentials may not list"),
        (UnreadReason::Failed, "not read on", "the request failed for"),
        (UnreadReason::OtherVersion, "not read on", "the API server serves other versions only of"),
        (UnreadReason::NotServed, "not there on", "the API server doesn't know"),
    ];
    let mut gaps: Vec<(&str, String, Vec<&str>)> = Vec::new();
    for cluster in clusters.iter().filter(|cluster| cluster.reason.is_none()) {
        for (reason, what, why) in reasons {
            let mut kinds = cluster.unread_kinds(reason);
            // One fact is enough about an Argo CD's cluster without KubeFleet.
            if reason == UnreadReason::NotServed && kinds.contains(&MEMBER_CLUSTERS) {
                kinds.retain(|kind| !kind.ends_with(KUBEFLEET_DOMAIN));
                kinds.insert(0, "KubeFleet's kinds");
            }
            if kinds.is_empty() {
                continue;
            }
            let text = format!("{why} {}{}", kinds.join(", "), hidden(cluster, reason));
            match gaps.iter_mut().find(|(of, about, _)| *of == what && *about == text) {
                Some((_, _, names)) => names.push(cluster.name),
                None => gaps.push((what, text, vec![cluster.name])),
            }
        }
    }
    gaps.into_iter().map(|(what, text, names)| format!("{what} {}: {text}", some_names(&names, NAMED))).collect()
}

/// Returns `; without them KF-MC-002 isn't found`; empty if no code needs the kinds, or nothing is hidden.
fn hidden(cluster: &ClusterReport<'_>, reason: UnreadReason) -> String {
    let unread = cluster.unread.iter().filter(|unread| unread.reason == reason && reason != UnreadReason::NotServed);
    let codes: BTreeSet<_> = unread.flat_map(|unread| codes_that_need(&unread.kind)).copied().collect();
    let codes: Vec<_> = codes.into_iter().collect();
    if codes.is_empty() { String::new() } else { format!("; without them these aren't found: {}", codes.join(", ")) }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use diagnosis::{ClusterSnapshot, ObjectList, UnreadKind};

    use super::*;

    fn sentences_of(members: usize, change: impl Fn(&mut ClusterSnapshot)) -> Vec<String> {
        let hub = ClusterSnapshot::new("hub", SnapshotRole::Hub, ObjectList::default());
        sentences_with(hub, members, change)
    }

    fn sentences_with(hub: ClusterSnapshot, members: usize, change: impl Fn(&mut ClusterSnapshot)) -> Vec<String> {
        let mut clusters = vec![hub];
        for number in 1..=members {
            let name = format!("m-{number:03}");
            let mut cluster = ClusterSnapshot::new(&name, SnapshotRole::Member, ObjectList::default());
            change(&mut cluster);
            clusters.push(cluster);
        }
        let contexts = BTreeMap::new();
        sentences(&clusters.iter().map(|cluster| ClusterReport::of(cluster, &contexts)).collect::<Vec<_>>())
    }

    #[test]
    fn few_unreachable_members_have_a_sentence_each_and_many_have_one() {
        let gone = |cluster: &mut ClusterSnapshot| cluster.unreachable = Some(format!("no route to {}", cluster.name));
        let three = sentences_of(3, gone);
        assert_eq!(three.len(), 3);
        assert_eq!(
            three[2],
            "not read: m-003, nothing of it: no route to m-003; failures of workloads on it aren't found"
        );
        assert_eq!(
            sentences_of(30, gone),
            [
                "not read: 30 members, nothing of them: m-001, m-002, m-003 (and 27 more); failures of workloads on them \
              aren't found. The reason for m-001: no route to m-001"
            ]
        );
    }

    #[test]
    fn an_unreachable_hub_is_named_beside_many_unreachable_members() {
        let gone = |cluster: &mut ClusterSnapshot| cluster.unreachable = Some(format!("no route to {}", cluster.name));
        let mut hub = ClusterSnapshot::new("hub", SnapshotRole::Hub, ObjectList::default());
        gone(&mut hub);
        let sentences = sentences_with(hub, 30, gone);
        assert_eq!(sentences.len(), 2, "{sentences:?}");
        assert_eq!(sentences[0], "not read: hub, nothing of it: no route to hub");
        assert!(sentences[1].starts_with("not read: 30 members"), "{sentences:?}");
    }

    #[test]
    fn a_hub_without_kubefleet_has_no_list_of_its_kinds() {
        let mut hub = ClusterSnapshot::new("hub", SnapshotRole::Hub, ObjectList::default());
        for (group, resource) in [
            ("placement.kubernetes-fleet.io", "clusterresourceplacements"),
            ("cluster.kubernetes-fleet.io", "memberclusters"),
            ("argoproj.io", "appprojects"),
        ] {
            let (group, resource, message) = (group.to_owned(), resource.to_owned(), String::new());
            hub.unread.push(UnreadKind { group, resource, reason: UnreadReason::NotServed, message });
        }
        assert_eq!(
            sentences_with(hub, 0, |_| ()),
            ["not there on hub: the API server doesn't know KubeFleet's kinds, appprojects.argoproj.io"]
        );
    }

    #[test]
    fn a_kind_that_many_members_refuse_has_one_sentence() {
        let refuse = |cluster: &mut ClusterSnapshot| {
            cluster.unread.push(UnreadKind {
                group: String::new(),
                resource: "pods".into(),
                reason: UnreadReason::Forbidden,
                message: format!("pods is forbidden on {}", cluster.name),
            });
        };
        let sentences = sentences_of(100, refuse);
        assert_eq!(sentences.len(), 1, "{sentences:?}");
        let expected = "not read on m-001, m-002, m-003 (and 97 more): these credentials may not list pods";
        assert!(sentences[0].starts_with(expected), "{sentences:?}");
    }
}
