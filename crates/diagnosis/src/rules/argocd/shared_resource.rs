//! AR-SF-007: a resource that another application has, too.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::json;

use super::application::Application;
use super::destination::{TRACKING_ID, tracking_id};
use crate::rules::draft::Draft;
use crate::rules::kubectl;
use crate::{APPLICATION, Evidence, Object};

/// The condition that tells of it.
const WARNING: &str = "SharedResourceWarning";
/// The sync option that makes it a failure.
const FAIL: &str = "FailOnSharedResource=true";

static SHARED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?<kind>\w+)/(?<name>\S+) is part of applications (?<this>\S+) and (?<other>[^\s;,]+)")
        .expect("a valid pattern")
});

/// A sync that was to fail on it and did.
pub(super) fn failed(application: Application<'_>) -> Option<Draft> {
    let message = application.state("message");
    let warned = application.said(WARNING).next().is_some();
    let told = application.has_option(FAIL) && application.state("syncResult/revision").is_empty();
    let refused = SHARED.is_match(message) || (warned && told);
    refused.then(|| draft(application, true))
}

/// One that only warns, or that warns after all went well.
pub(super) fn warning(application: Application<'_>) -> Option<Draft> {
    application.said(WARNING).next()?;
    let message = application.state("message");
    if application.operation() == super::application::Operation::Failed && SHARED.is_match(message) {
        return None;
    }
    Some(draft(application, false).noticed())
}

fn draft(application: Application<'_>, failed: bool) -> Draft {
    let destination = application.destination();
    let mut evidence: Vec<Evidence> = Vec::new();
    if failed {
        evidence.push(application.quote_operation());
        let path = "status.operationState.operation.sync.syncOptions";
        evidence.push(application.quote().field(application.object, path));
    }
    let said: Vec<_> = application.said(WARNING).collect();
    evidence.extend(said.iter().map(|s| application.quote_said(*s)));
    // A warning that is gone since leaves the operation's words.
    let message = said.first().map_or(application.state("message"), |s| s.message);
    let found = SHARED.captures(message);
    let part = |name: &str| found.as_ref().and_then(|c| c.name(name)).map_or("", |m| m.as_str());
    let (kind, name, other) = (part("kind"), part("name"), part("other"));
    let live = live(application, kind, name);
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
        "live_ref": kubectl::named(format!("{}/{name}", kind.to_lowercase()), namespace),
        "tracking_id": id.unwrap_or_default(),
    });
    application.draft("AR-SF-007", &names, evidence)
}

/// The object on the destination, where its kind is read.
fn live<'a>(application: Application<'a>, kind: &str, name: &str) -> Option<Object<'a>> {
    let cluster = application.destination().cluster?;
    let mut all = cluster.objects().filter(|o| o.kind() == kind && o.name() == name && tracking_id(*o).is_some());
    let namespace = application.destination().namespace();
    let first = all.next()?;
    std::iter::once(first).chain(all).find(|o| o.namespace() == Some(namespace)).or(Some(first))
}

/// The other application: `namespace/name`, or a name in the namespace of Argo CD.
fn other_application<'a>(application: Application<'a>, other: &str) -> Option<Object<'a>> {
    let (namespace, name) = other.split_once('/').map_or((None, other), |(namespace, name)| (Some(namespace), name));
    let hub = application.fleet.hub;
    let is = |o: &Object<'_>| o.name() == name && namespace.is_none_or(|n| o.namespace() == Some(n));
    hub.of_kind(APPLICATION.group, APPLICATION.kind).find(is)
}
