//! The comparison failed: nothing can be applied.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::json;

use super::application::{Application, Operation};
use super::names::sentence;
use super::{other, rbac};
use crate::Evidence;
use crate::rules::draft::Draft;

/// The conditions with which Argo CD doesn't even begin.
const CONDITIONS: [&str; 3] = ["InvalidSpecError", "ComparisonError", "UnknownError"];

static OF_OPERATION: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^(?:ComparisonError|InvalidSpecError): ").expect("a valid pattern"));
static GENERATION: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)load target state|generat\w* (?:the )?manifest|manifest generation").expect("a valid pattern")
});
static CACHED: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"(?i)manifest generation error \(cached\)").expect("a valid pattern"));
/// What no commit mends: a program that isn't there, a network, a clock, credentials.
static OUTSIDE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?i)executable file not found|fork/exec \S+: |no such host|connection re(?:fused|set)|no route to host|i/o timeout|deadline ?exceeded|tls handshake|x509:|authentication (?:required|failed)|permission denied|no space left|repository not found|failed to initialize repository|failed to (?:fetch|list refs)",
    )
    .expect("a valid pattern")
});

/// AR-SF-001, 010 and 012, and AR-SF-008 where reading the live state is forbidden.
pub(super) fn rule(application: Application<'_>) -> Option<Draft> {
    let said = CONDITIONS.into_iter().flat_map(|type_| application.said(type_)).collect::<Vec<_>>();
    if let Some(first) = said.first() {
        let mut evidence: Vec<Evidence> = said.iter().map(|s| application.quote_said(*s)).collect();
        evidence.push(application.quote().field(application.object, "status.sync.status"));
        if application.operation() == Operation::Failed {
            evidence.push(application.quote_operation());
        }
        return Some(draft(application, first.message, false, evidence));
    }
    // The first error of an automatic refresh isn't told as a condition for up to 180 s; the operation tells at once.
    let message = application.state("message");
    let of_operation = application.operation() == Operation::Failed && OF_OPERATION.is_match(message);
    if !of_operation || application.outcomes().next().is_some() || (application.is_well() && application.is_behind()) {
        return None;
    }
    let evidence = vec![
        application.quote_operation(),
        application.quote().text(application.object, "status.conditions[ComparisonError]", "(absent)".to_owned(), None),
    ];
    let draft = draft(application, message, true, evidence);
    Some(if application.is_well() { draft.noticed() } else { draft })
}

fn draft(application: Application<'_>, message: &str, gone: bool, evidence: Vec<Evidence>) -> Draft {
    if !GENERATION.is_match(message) {
        return rbac::of_comparison(application, message, &evidence)
            .unwrap_or_else(|| other::of_comparison(application, message, evidence));
    }
    let cached = CACHED.is_match(message);
    let outside = OUTSIDE.is_match(message);
    // The repo-server's own words stand behind those of everything that passed them on.
    let why = message.rsplit("desc = ").next().unwrap_or(message);
    let names = json!({"why": sentence(why), "cached": cached, "outside": outside, "gone": gone});
    // What only an earlier operation says is told by nobody any more.
    let code = if cached && outside && !gone { "AR-SF-010" } else { "AR-SF-001" };
    application.draft(code, &names, evidence)
}
