//! Failed comparisons (AR-SF-012) and operations (AR-SF-013) that no other rule knows. The findings quote the message.

use serde_json::json;

use super::application::{ApplicationView, ResourceResult};
use super::names::object_names;
use super::project::project_name;
use crate::Evidence;
use crate::rules::code::RuleCode;
use crate::rules::draft::FindingDraft;
use crate::rules::message::for_sentence;

/// AR-SF-012: the destination, the project or the Application itself prevents the comparison.
pub(super) fn failed_comparison(
    application: ApplicationView<'_>,
    message: &str,
    evidence: Vec<Evidence>,
) -> FindingDraft {
    let names = json!({"message": for_sentence(message), "project": project_name(application)});
    application.draft(RuleCode::AR_SF_012, &names, evidence)
}

/// AR-SF-013: resources were refused for a reason that no rule knows.
pub(super) fn failed_resources(application: ApplicationView<'_>, results: &[ResourceResult<'_>]) -> FindingDraft {
    let mut evidence = vec![application.quote_operation()];
    evidence.extend(results.iter().map(|r| application.quote_result(*r)));
    let message = for_sentence(results.first().map_or("", |r| r.message()));
    let names = json!({
        "objects": object_names(results), "message": message, "project": project_name(application), "terminated": false,
        "applied": true,
    });
    application.draft(RuleCode::AR_SF_013, &names, evidence)
}

/// AR-SF-013: an operation ended although no resource failed, or somebody terminated it. A terminated operation
/// isn't a failure.
pub(super) fn failed_operation(application: ApplicationView<'_>) -> FindingDraft {
    let terminated = is_terminated(application);
    let names = json!({
        "objects": "", "message": for_sentence(application.operation_field("message")), "project": project_name(application),
        "terminated": terminated, "applied": application.results().next().is_some(),
    });
    let draft = application.draft(RuleCode::AR_SF_013, &names, vec![application.quote_operation()]);
    if terminated { draft.into_notice() } else { draft }
}

/// True if somebody terminated the operation. Only the operation's message shows it.
pub(super) fn is_terminated(application: ApplicationView<'_>) -> bool {
    application.operation_field("message").starts_with("Operation terminated")
}
