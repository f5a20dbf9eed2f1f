//! A hub that answers reads and takes no writes, as one whose etcd has run out of space.

use jiff::{SignedDuration, Timestamp};
use serde_json::json;

use super::code::RuleCode;
use super::draft::{AffectedPart, FindingDraft};
use super::fleet::{FleetView, subject};
use super::heartbeat::{Heartbeat, MAX_QUOTED, period_seconds};
use crate::kinds::LEASE;
use crate::kubefleet::CLUSTER_GROUP;
use crate::{Object, ObjectSelection};

/// Time without a renewal after which an API server's own lease counts as not renewed. It is renewed every 10 s (Kubernetes 1.36).
const RENEWAL_LIMIT: SignedDuration = SignedDuration::from_secs(60);

/// Namespace of the API servers' leases.
const NAMESPACE: &str = "kube-system";

/// Label on the lease of an API server, with its value.
const LABEL: (&str, &str) = ("apiserver.kubernetes.io/identity", "kube-apiserver");

/// KF-HA-004: no member's heartbeat arrives, and not even the API server that answers has renewed its own lease.
pub(super) fn rule(fleet: FleetView<'_>) -> Vec<FindingDraft> {
    let members = fleet.hub.of_kind(CLUSTER_GROUP, "MemberCluster");
    let mut heartbeats: Vec<_> = members.filter_map(|member| Some((member, Heartbeat::of(fleet, member)?))).collect();
    heartbeats.sort_by_key(|(member, _)| member.name());
    // The leases are read only if nothing has arrived for a while.
    let is_silent = |(member, heartbeat): &(Object<'_>, Heartbeat<'_>)| {
        heartbeat.age > SignedDuration::from_secs(period_seconds(*member))
    };
    if heartbeats.is_empty() || !heartbeats.iter().all(is_silent) {
        return Vec::new();
    }
    let Some((lease, renewed_at)) = last_renewal(fleet) else { return Vec::new() };
    let age = fleet.age(renewed_at);
    if age < RENEWAL_LIMIT {
        return Vec::new();
    }
    let quote = fleet.quote();
    let mut evidence = vec![quote.text(lease, "spec.renewTime", renewed_at.to_string(), Some(renewed_at))];
    evidence.extend(heartbeats.iter().take(MAX_QUOTED).flat_map(|(_, heartbeat)| heartbeat.evidence(quote)));
    let names = json!({"seconds": age.as_secs(), "members": heartbeats.len(), "lease": lease.name()});
    let draft = FindingDraft::new(RuleCode::KF_HA_004, subject(fleet, lease, None, None), &names, evidence);
    vec![draft.affects(AffectedPart::HubWrites).affects(AffectedPart::HubAgent)]
}

/// Returns the lease of a hub's API server that was renewed last, with the time. A server that was replaced leaves a lease behind for an
/// hour.
fn last_renewal(fleet: FleetView<'_>) -> Option<(Object<'_>, Timestamp)> {
    let (key, value) = LABEL;
    fleet.hub.ask(LEASE.group, LEASE.kind, || ObjectSelection::Labeled {
        namespace: Some(NAMESPACE.to_owned()),
        key: key.to_owned(),
        value: value.to_owned(),
    });
    let leases = fleet.hub.objects.of_kind(LEASE.group, LEASE.kind);
    let leases = leases.filter(|lease| lease.namespace() == Some(NAMESPACE) && lease.label(key) == Some(value));
    let renewed = leases.filter_map(|lease| Some((lease, lease.time("/spec/renewTime")?)));
    renewed.max_by_key(|(lease, at)| (*at, lease.name()))
}
