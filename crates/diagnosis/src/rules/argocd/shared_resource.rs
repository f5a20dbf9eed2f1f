//! AR-SF-007: another Application has the same resource.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::json;

use super::application::ApplicationView;
use super::destination::{TRACKING_ID, tracking_id};
use crate::rules::code::RuleCode;
use crate::rules::draft::FindingDraft;
use crate::rules::kubectl;
use crate::rules::pattern::{group, pattern};
use crate::{APPLICATION, Evidence, Object};

/// Type of the condition that warns of a shared resource.
pub(super) const SHARED_RESOURCE_WARNING: &str = "SharedResourceWarning";
/// Sync option that makes a shared resource a failure.
const FAIL_OPTION: &str = "FailOnSharedResource=true";

static SHARED: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?<kind>\w+)/(?<name>\S+) is part of applications (?<this>\S+) and (?<other>[^\s;,]+)"));

/// Creates the finding for a sync that failed because of the option [`FAIL_OPTION`].
pub(super) fn failed(application: ApplicationView<'_>) -> Option<FindingDraft> {
    let message = application.operation_field("message");
    let warned = application.conditions(SHARED_RESOURCE_WARNING).next().is_some();
    let has_option =
        application.has_option(FAIL_OPTION) && application.operation_field("syncResult/revision").is_empty();
    let refused = SHARED.is_match(message) || (warned && has_option);
    refused.then(|| draft(application, true))
}

/// Creates the notice for an Application that has only the warning.
pub(super) fn warning(application: ApplicationView<'_>) -> Option<FindingDraft> {
    application.conditions(SHARED_RESOURCE_WARNING).next()?;
    let message = application.operation_field("message");
    if application.operation_state() == super::application::OperationState::Failed && SHARED.is_match(message) {
        return None;
    }
    Some(draft(application, false).into_notice())
}

fn draft(application: ApplicationView<'_>, failed: bool) -> FindingDraft {
    let destination = application.destination();
    let mut evidence: Vec<Evidence> = Vec::new();
    if failed {
        evidence.push(application.quote_operation());
        let path = "status.operationState.operation.sync.syncOptions";
        evidence.push(application.quote().field(application.object, path));
    }
    let conditions: Vec<_> = application.conditions(SHARED_RESOURCE_WARNING).collect();
    evidence.extend(conditions.iter().map(|s| application.quote_condition(*s)));
    // If the warning is gone, the operation's message still has the names.
    let message = conditions.first().map_or(application.operation_field("message"), |s| s.message);
    let found = SHARED.captures(message);
    let [kind, name, other] =
        ["kind", "name", "other"].map(|part| found.as_ref().map_or("", |captures| group(captures, part)));
    let live = live_object(application, kind, name);
    let id = live.and_then(tracking_id);
    if let (Some(live), Some(id)) = (live, id) {
        let path = format!("metadata.annotations[{TRACKING_ID}]");
        evidence.push(destination.quote().text(live, &path, id.to_owned(), None));
    }
    let other_object = other_application(application, other);
    evidence.extend(other_object.map(|o| application.quote().field(o, "status.sync.status")));
    let namespace = live.and_then(|o| o.namespace()).or(Some(destination.namespace())).filter(|n| !n.is_empty());
    let names = json!({
        "failed": failed,
        "object": if name.is_empty() { "a resource".to_owned() } else { format!("{kind} {name}") },
        "other": if other.is_empty() { "another application" } else { other },
        "other_ref": other_object.map(kubectl::reference).unwrap_or_default(),
        "live_ref": kubectl::reference_words(format!("{}/{name}", kind.to_lowercase()), namespace),
        "tracking_id": id.unwrap_or_default(),
    });
    let draft = application.draft(RuleCode::AR_SF_007, &names, evidence);
    let placed = live.and_then(|live| super::kubefleet::placed_part(destination.name(), live));
    placed.into_iter().fold(draft, FindingDraft::depends_on)
}

/// Returns the shared object on the destination, if its kind is read.
fn live_object<'a>(application: ApplicationView<'a>, kind: &str, name: &str) -> Option<Object<'a>> {
    let cluster = application.destination().cluster?;
    let mut all = cluster.objects().filter(|o| o.kind() == kind && o.name() == name && tracking_id(*o).is_some());
    let namespace = application.destination().namespace();
    let first = all.next()?;
    std::iter::once(first).chain(all).find(|o| o.namespace() == Some(namespace)).or(Some(first))
}

/// Returns the other Application by `namespace/name`, or by a name in Argo CD's namespace.
fn other_application<'a>(application: ApplicationView<'a>, other: &str) -> Option<Object<'a>> {
    let (namespace, name) = other.split_once('/').map_or((None, other), |(namespace, name)| (Some(namespace), name));
    let hub = application.fleet.hub;
    hub.of_kind(APPLICATION.group, APPLICATION.kind)
        .find(|o| o.name() == name && namespace.is_none_or(|n| o.namespace() == Some(n)))
}
