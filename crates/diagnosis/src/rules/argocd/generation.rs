//! Failed comparisons. While the comparison fails, nothing can be applied.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::json;

use super::application::{ApplicationView, OperationState, ResourceResult};
use super::{destination_failure, project, rbac, repository_failure, undeclared_field, unrecognized};
use crate::Evidence;
use crate::rules::code::RuleCode;
use crate::rules::draft::FindingDraft;
use crate::rules::message::{for_sentence, last_description};
use crate::rules::outcome::ERROR_LIMIT;
use crate::rules::pattern::{pattern, pattern_of_any_case};

/// Types of the conditions with which Argo CD doesn't start an operation.
const ERROR_CONDITIONS: [&str; 3] = ["InvalidSpecError", "ComparisonError", "UnknownError"];

static OF_OPERATION: LazyLock<Regex> = LazyLock::new(|| pattern("^(?:ComparisonError|InvalidSpecError): "));
static GENERATION: LazyLock<Regex> =
    LazyLock::new(|| pattern_of_any_case(r"load target state|generat\w* (?:the )?manifest|manifest generation"));
static CACHED: LazyLock<Regex> = LazyLock::new(|| pattern_of_any_case(r"manifest generation error \(cached\)"));
/// Errors that no commit can fix: a missing program, the network, a clock, credentials.
static OUTSIDE: LazyLock<Regex> = LazyLock::new(|| {
    pattern_of_any_case(
        r"executable file not found|fork/exec \S+: |no such host|connection re(?:fused|set)|no route to host|i/o timeout|deadline ?exceeded|tls handshake|x509:|authentication (?:required|failed)|permission denied|no space left|repository not found|failed to initialize repository|failed to (?:fetch|list refs)",
    )
});

/// AR-SF-001, 010 and 012, AR-RP if a source can't be read, AR-OS-007 if a schema doesn't have a field, and AR-SF-008 if Argo CD isn't
/// allowed to read the live state.
pub(super) fn rule(application: ApplicationView<'_>) -> Option<FindingDraft> {
    let conditions = ERROR_CONDITIONS.into_iter().flat_map(|type_| application.conditions(type_)).collect::<Vec<_>>();
    if let Some(first) = conditions.first() {
        if project::names_existing(application, first.message)
            && first.at.is_some_and(|at| application.fleet.age(at) < ERROR_LIMIT)
        {
            return None;
        }
        let mut evidence: Vec<Evidence> = conditions.iter().map(|s| application.quote_condition(*s)).collect();
        evidence.push(application.quote().field(application.object, "status.sync.status"));
        if application.operation_state() == OperationState::Failed {
            evidence.push(application.quote_operation());
        }
        return Some(draft(application, first.message, false, evidence));
    }
    // After an automatic refresh, the condition for the first error may be missing for up to 180 s. The operation has
    // the error at once.
    let message = application.operation_field("message");
    let failed_operation = application.operation_state() == OperationState::Failed && OF_OPERATION.is_match(message);
    // A sync compares once more when it goes on, e.g. before its next wave: then it has results, and none of them failed.
    if !failed_operation || application.results().any(ResourceResult::has_failed) || application.is_repaired() {
        return None;
    }
    let evidence = vec![
        application.quote_operation(),
        application.quote().text(application.object, "status.conditions[ComparisonError]", "(absent)".to_owned(), None),
    ];
    let draft = draft(application, message, true, evidence);
    Some(if application.is_synced_and_healthy() { draft.into_notice() } else { draft })
}

fn draft(application: ApplicationView<'_>, message: &str, gone: bool, evidence: Vec<Evidence>) -> FindingDraft {
    // Argo CD asks the destination for its version before it asks the repo-server for manifests, and names both for the "target state".
    if destination_failure::is_about_destination(message) || !GENERATION.is_match(message) {
        return undeclared_field::failed_comparison(application, message, &evidence)
            .or_else(|| rbac::failed_comparison(application, message, &evidence))
            .or_else(|| destination_failure::failed_comparison(application, message, evidence.clone()))
            .or_else(|| project::failed_comparison(application, message, evidence.clone()))
            .unwrap_or_else(|| unrecognized::failed_comparison(application, message, evidence));
    }
    if let Some(draft) = repository_failure::failed_comparison(application, message, gone, evidence.clone()) {
        return draft;
    }
    let cached = CACHED.is_match(message);
    let outside = OUTSIDE.is_match(message);
    let why = last_description(message);
    let applied = gone && application.results().next().is_some();
    let names = json!({
        "why": for_sentence(why), "cached": cached, "outside": outside, "gone": gone, "applied": applied,
    });
    // An error that only an earlier operation has is no longer being reported.
    let code = if cached && outside && !gone { RuleCode::AR_SF_010 } else { RuleCode::AR_SF_001 };
    application.draft(code, &names, evidence)
}
