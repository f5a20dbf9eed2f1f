//! What no other rule knows, quoted: a comparison (AR-SF-012) or an operation (AR-SF-013) that failed.

use serde_json::json;

use super::application::{Application, Outcome};
use super::names::{objects, sentence};
use crate::Evidence;
use crate::rules::draft::Draft;

/// The destination, the project or the application itself doesn't let it be compared.
pub(super) fn of_comparison(application: Application<'_>, message: &str, evidence: Vec<Evidence>) -> Draft {
    let names = json!({"message": sentence(message), "project": project(application)});
    application.draft("AR-SF-012", &names, evidence)
}

/// Resources that were refused for a reason that has no rule.
pub(super) fn of_resources(application: Application<'_>, outcomes: &[Outcome<'_>]) -> Draft {
    let mut evidence = vec![application.quote_operation()];
    evidence.extend(outcomes.iter().map(|o| application.quote_outcome(*o)));
    let message = sentence(outcomes.first().map_or("", |o| o.message()));
    let names = json!({
        "objects": objects(outcomes), "message": message, "project": project(application), "terminated": false,
    });
    application.draft("AR-SF-013", &names, evidence)
}

/// An operation that ended without a word about any resource, or that somebody ended, which is no failure.
pub(super) fn of_operation(application: Application<'_>) -> Draft {
    let terminated = is_terminated(application);
    let names = json!({
        "objects": "", "message": sentence(application.state("message")), "project": project(application),
        "terminated": terminated,
    });
    let draft = application.draft("AR-SF-013", &names, vec![application.quote_operation()]);
    if terminated { draft.noticed() } else { draft }
}

/// Whether somebody ended the operation: nothing but its message tells.
pub(super) fn is_terminated(application: Application<'_>) -> bool {
    application.state("message").starts_with("Operation terminated")
}

fn project(application: Application<'_>) -> &str {
    application.object.str("/spec/project").filter(|p| !p.is_empty()).unwrap_or("default")
}
