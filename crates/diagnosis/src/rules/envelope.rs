//! Objects in envelopes that can't be put into a Work.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::json;

use super::code::RuleCode;
use super::draft::FindingDraft;
use super::fleet::{FleetView, MemberPlacement, PlacementView};
use super::kubectl;
use super::pattern::{group, pattern_of_any_case};
use crate::kubefleet::{ENVELOPE_NAME, ENVELOPE_NAMESPACE, PLACEMENT_GROUP};
use crate::{Condition, Object};

/// Error message with which the controller refuses an envelope's content. Only the message names the envelope and the
/// key.
struct EnvelopeRefusal {
    code: RuleCode,
    pattern: Regex,
    kind: &'static str,
}

fn refusal(code: RuleCode, kind: &'static str, pattern: &str) -> EnvelopeRefusal {
    EnvelopeRefusal { code, pattern: pattern_of_any_case(pattern), kind }
}

static REFUSALS: LazyLock<[EnvelopeRefusal; 5]> = LazyLock::new(|| {
    [
        refusal(
            RuleCode::KF_WS_005,
            "ResourceEnvelope",
            r"namespaced object (?<key>\S+) \((?<object>[^)]*)\) (in )?has been wrapped in a resource envelope from another namespace \(?(?<envelope>[a-z0-9./-]+)",
        ),
        refusal(
            RuleCode::KF_WS_003,
            "ClusterResourceEnvelope",
            r"namespaced object (?<key>\S+) \((?<object>[^)]*)\) has been wrapped in a cluster resource envelope (?<envelope>[a-z0-9./-]+)",
        ),
        refusal(
            RuleCode::KF_WS_004,
            "ResourceEnvelope",
            r"cluster[ -]scoped? object (?<key>\S+) \((?<object>[^)]*)\) has been wrapped in a resource envelope (?<envelope>[a-z0-9./-]+)",
        ),
        refusal(
            RuleCode::KF_WS_002,
            "",
            r"failed to parse the wrapped manifest.*manifestKey=(?<key>[^,)]*),\s*envelopeObjRef=(?<envelope>[a-z0-9./-]+)",
        ),
        // v0.14.0 uses ConfigMaps as envelopes, and its messages name neither the ConfigMap nor the key.
        refusal(
            RuleCode::KF_WS_002,
            "ConfigMap",
            r"manifest key `?(?<key>[^\s`]*)`? in (the )?envelope (config|configmap) `?(?<envelope>[a-z0-9./-]+)|object 'kind' is missing|malformat|: yaml: |manifests\[[0-9]+\]\.kind: Required value",
        ),
    ]
});

/// KF-WS-002 to 005: the envelope's content is wrong.
pub(super) fn finding(
    fleet: FleetView<'_>,
    placement: PlacementView<'_>,
    status: MemberPlacement<'_>,
    failed: &Condition,
) -> Option<FindingDraft> {
    let (refusal, captures) = REFUSALS.iter().find_map(|r| Some((r, r.pattern.captures(&failed.message)?)))?;
    let [key, name, object] = ["key", "envelope", "object"].map(|name| group(&captures, name).trim_end_matches('.'));
    let envelope = find_envelope(fleet, refusal.kind, name);
    let quote = fleet.quote();
    let mut evidence = placement.symptom(fleet, status, failed);
    if let Some(envelope) = envelope {
        let content =
            envelope.at("/data").and_then(|d| d.get(key)).map(|content| content.to_string()).unwrap_or_default();
        evidence.push(quote.text(envelope, &format!("data[{key}]"), content, None));
    }
    let names = json!({
        "placement": placement.full_name(),
        "member": status.member,
        "key": key,
        "object": object,
        "envelope": if name.is_empty() { "(unknown)" } else { name },
        "envelope_ref": envelope.map(kubectl::reference).unwrap_or_default(),
    });
    let draft = FindingDraft::new(refusal.code, placement.subject(fleet, Some(status.member)), &names, evidence);
    Some(draft.affects(placement.part_on(status.member)))
}

/// Returns a placement's Works for a member that were made from an envelope such as `c1` or `apps/r1`. The applied Work
/// comes first, because the objects on the member belong to that Work and are deleted with it.
pub(super) fn works_of_envelope<'a>(
    fleet: FleetView<'a>,
    placement: PlacementView<'a>,
    status: MemberPlacement<'a>,
    envelope: &str,
) -> Vec<Object<'a>> {
    let (namespace, name) = split_full_name(envelope);
    let mut works = placement.works(fleet, status.member);
    works.retain(|w| w.label(ENVELOPE_NAME) == Some(name) && w.label(ENVELOPE_NAMESPACE) == namespace);
    works.sort_by_key(|w| w.condition("Applied").is_none_or(|c| c.status != "True"));
    works
}

/// Splits a full name such as `c1` or `apps/r1` into namespace and name.
fn split_full_name(full_name: &str) -> (Option<&str>, &str) {
    full_name.split_once('/').map_or((None, full_name), |(namespace, name)| (Some(namespace), name))
}

/// Returns the envelope of a name such as `c1` or `apps/r1`.
fn find_envelope<'a>(fleet: FleetView<'a>, kind: &str, name: &str) -> Option<Object<'a>> {
    let (namespace, name) = split_full_name(name);
    match (kind, namespace) {
        ("ConfigMap", namespace) => fleet.hub.object("", "ConfigMap", namespace, name),
        (_, Some(_)) => fleet.hub.object(PLACEMENT_GROUP, "ResourceEnvelope", namespace, name),
        (_, None) => fleet.hub.object(PLACEMENT_GROUP, "ClusterResourceEnvelope", None, name),
    }
}
