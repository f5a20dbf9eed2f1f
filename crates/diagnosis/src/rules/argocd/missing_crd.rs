//! AR-SF-003: a kind, or a version of it, that the destination doesn't have.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::json;

use super::application::{Application, Outcome};
use super::names::objects;
use crate::Object;
use crate::rules::draft::Draft;

const CRD: (&str, &str) = ("apiextensions.k8s.io", "CustomResourceDefinition");

/// Argo CD's own words, kubectl's, and the API server's.
static MISSING: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?i)could not find .* for requested resource|no matches for kind|server could not find the requested resource|ensure CRDs are installed",
    )
    .expect("a valid pattern")
});
static INSTALLED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"(?i)version "(?<version>[^"]+)" of (?:(?<group>[^\s/]*)/)?\S+ is installed"#)
        .expect("a valid pattern")
});

pub(super) fn is(message: &str) -> bool {
    MISSING.is_match(message)
}

pub(super) fn draft(application: Application<'_>, outcomes: &[Outcome<'_>]) -> Draft {
    let destination = application.destination();
    let first = outcomes[0];
    let (group, kind) = (first.text("group"), first.text("kind"));
    let found = INSTALLED.captures(first.message());
    let part = |name: &str| found.as_ref().and_then(|c| c.name(name)).map_or("", |m| m.as_str());
    // Argo CD looks for the kind alone, and calls one of another group another version.
    let elsewhere = Some(part("group")).filter(|g| !part("version").is_empty() && *g != group);
    let installed = if elsewhere.is_some() { "" } else { part("version") };
    // A name is all that is known of it: PLURAL.GROUP.
    let crd = format!("{}.{group}", plural(kind));
    let there = destination.object(CRD.0, CRD.1, None, &crd);
    let mut evidence = vec![application.quote_operation()];
    evidence.extend(outcomes.iter().map(|o| application.quote_outcome(*o)));
    let any = destination.of_kind(CRD.0, CRD.1).next().is_some();
    match there {
        Some(there) => evidence.push(destination.quote().field(there, "metadata.creationTimestamp")),
        // What was never read isn't missing.
        None if any => evidence.push(destination.quote().absent(CRD.1, None, &crd)),
        None => {}
    }
    let names = json!({
        "objects": objects(outcomes),
        // With SkipDryRunOnMissingResource it is found missing by the apply, when others may be through.
        "before": first.text("hookPhase").is_empty(),
        "kind": kind,
        "group": group,
        "version": first.text("version"),
        "installed": installed,
        "elsewhere": elsewhere.unwrap_or_default(),
        "crd": crd,
        "there": installed.is_empty() && there.is_some_and(|crd| came_later(crd, application)),
    });
    application.draft("AR-SF-003", &names, evidence)
}

/// Whether the definition was made after the operation had begun.
fn came_later(crd: Object<'_>, application: Application<'_>) -> bool {
    crd.created_at().zip(application.started_at()).is_some_and(|(made, began)| made >= began)
}

/// As almost all definitions have it.
fn plural(kind: &str) -> String {
    let kind = kind.to_lowercase();
    match kind.strip_suffix('y') {
        Some(stem) if !stem.ends_with(['a', 'e', 'o']) => format!("{stem}ies"),
        _ if kind.ends_with(['s', 'x']) || kind.ends_with("ch") => format!("{kind}es"),
        _ => format!("{kind}s"),
    }
}
