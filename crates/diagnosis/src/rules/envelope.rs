//! Enveloped objects that can't be put into a Work.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::json;

use super::draft::Draft;
use super::fleet::{Fleet, PLACEMENT, PlacedOn, Placement};
use super::kubectl;
use crate::{Condition, Object};

/// The labels by which a Work names its envelope.
const ENVELOPE_NAME: &str = "kubernetes-fleet.io/envelope-name";
const ENVELOPE_NAMESPACE: &str = "kubernetes-fleet.io/envelope-namespace";

/// How the controller refuses an envelope's content. Which envelope and key it means stands in its message only.
struct Refusal {
    code: &'static str,
    pattern: Regex,
    kind: &'static str,
}

static REFUSALS: LazyLock<[Refusal; 5]> = LazyLock::new(|| {
    let refusal = |code, kind, pattern: &str| Refusal {
        code,
        pattern: Regex::new(&format!("(?i){pattern}")).expect("a valid pattern"),
        kind,
    };
    [
        refusal(
            "KF-WS-005",
            "ResourceEnvelope",
            r"namespaced object (?<key>\S+) \((?<object>[^)]*)\) (in )?has been wrapped in a resource envelope from another namespace \(?(?<envelope>[a-z0-9./-]+)",
        ),
        refusal(
            "KF-WS-003",
            "ClusterResourceEnvelope",
            r"namespaced object (?<key>\S+) \((?<object>[^)]*)\) has been wrapped in a cluster resource envelope (?<envelope>[a-z0-9./-]+)",
        ),
        refusal(
            "KF-WS-004",
            "ResourceEnvelope",
            r"cluster[ -]scoped? object (?<key>\S+) \((?<object>[^)]*)\) has been wrapped in a resource envelope (?<envelope>[a-z0-9./-]+)",
        ),
        refusal(
            "KF-WS-002",
            "",
            r"failed to parse the wrapped manifest.*manifestKey=(?<key>[^,)]*),\s*envelopeObjRef=(?<envelope>[a-z0-9./-]+)",
        ),
        // v0.14.0 has ConfigMaps for envelopes, and names neither them nor their keys.
        refusal(
            "KF-WS-002",
            "ConfigMap",
            r"manifest key `?(?<key>[^\s`]*)`? in (the )?envelope (config|configmap) `?(?<envelope>[a-z0-9./-]+)|object 'kind' is missing|malformat|: yaml: |manifests\[[0-9]+\]\.kind: Required value",
        ),
    ]
});

/// KF-WS-002 to 005: the envelope's content is at fault.
pub(super) fn finding(
    fleet: Fleet<'_>,
    placement: Placement<'_>,
    on: PlacedOn<'_>,
    failed: &Condition,
) -> Option<Draft> {
    let (refusal, said) = REFUSALS.iter().find_map(|r| Some((r, r.pattern.captures(&failed.message)?)))?;
    let group = |name| said.name(name).map(|m| m.as_str().trim_end_matches('.')).unwrap_or_default();
    let (key, name, object) = (group("key"), group("envelope"), group("object"));
    let envelope = find(fleet, refusal.kind, name);
    let quote = fleet.quote();
    let mut evidence = placement.symptom(fleet, on, failed);
    if let Some(envelope) = envelope {
        let content = envelope.at("/data").and_then(|d| d.get(key)).map(ToString::to_string).unwrap_or_default();
        evidence.push(quote.text(envelope, &format!("data[{key}]"), content, None));
    }
    let names = json!({
        "placement": placement.full_name(),
        "member": on.member,
        "key": key,
        "object": object,
        "envelope": if name.is_empty() { "(unknown)" } else { name },
        "envelope_ref": envelope.map(kubectl::reference).unwrap_or_default(),
    });
    let draft = Draft::new(refusal.code, placement.subject(fleet, Some(on.member)), &names, evidence);
    Some(draft.about(placement.on(on.member)))
}

/// A placement's Works for a member that are made of an envelope such as `c1` or `apps/r1`. The one that is applied comes
/// first: the objects on the member are its own, and go with it.
pub(super) fn works<'a>(
    fleet: Fleet<'a>,
    placement: Placement<'a>,
    on: PlacedOn<'a>,
    envelope: &str,
) -> Vec<Object<'a>> {
    let (namespace, name) = split(envelope);
    let mut works = placement.works(fleet, on.member);
    works.retain(|w| w.label(ENVELOPE_NAME) == Some(name) && w.label(ENVELOPE_NAMESPACE) == namespace);
    works.sort_by_key(|w| w.condition("Applied").is_none_or(|c| c.status != "True"));
    works
}

/// The namespace and name in a full name such as `c1` or `apps/r1`.
fn split(full_name: &str) -> (Option<&str>, &str) {
    full_name.split_once('/').map_or((None, full_name), |(namespace, name)| (Some(namespace), name))
}

/// The envelope of a name such as `c1` or `apps/r1`.
fn find<'a>(fleet: Fleet<'a>, kind: &str, name: &str) -> Option<Object<'a>> {
    let (namespace, name) = split(name);
    match (kind, namespace) {
        ("ConfigMap", namespace) => fleet.hub.object("", "ConfigMap", namespace, name),
        (_, Some(_)) => fleet.hub.object(PLACEMENT, "ResourceEnvelope", namespace, name),
        (_, None) => fleet.hub.object(PLACEMENT, "ClusterResourceEnvelope", None, name),
    }
}
