//! An operation that holds on to an old revision (AR-SF-009), and automated sync that has given up (AR-SF-011).

use serde_json::{Value, json};

use super::application::{Application, Operation};
use super::names::sentence;
use super::wave;
use crate::Subject;
use crate::rules::draft::Draft;

pub(super) fn rule(application: Application<'_>) -> Vec<Draft> {
    old_revision(application).into_iter().chain(gave_up(application)).collect()
}

/// AR-SF-009: it will go on with a commit that isn't the one that is wanted. A commit that mends it isn't looked at.
fn old_revision(application: Application<'_>) -> Option<Draft> {
    if application.state("phase") != "Running" || !application.is_behind() {
        return None;
    }
    let retries = application.operation() == Operation::Failed || application.retries() > 0;
    let waits = wave::waiting(application).is_some();
    let refreshes = application.object.at("/status/operationState/operation/retry/refresh") == Some(&Value::Bool(true));
    if !(retries && !refreshes || waits) {
        return None;
    }
    let quote = application.quote();
    let mut evidence = vec![application.quote_operation()];
    for path in ["status.operationState.syncResult.revision", "status.operationState.operation.sync.revision"] {
        let pointer = format!("/{}", path.replace('.', "/"));
        if application.object.str(&pointer).is_some_and(|r| !r.is_empty()) {
            evidence.push(quote.field(application.object, path));
            break;
        }
    }
    evidence.push(quote.field(application.object, "status.sync.revision"));
    if retries {
        evidence.push(quote.field(application.object, "status.operationState.retryCount"));
    }
    let limit = application.object.at("/status/operationState/operation/retry/limit").and_then(Value::as_i64);
    let names = json!({
        "wanted": short(&application.wanted()),
        "operated": short(&application.operated()),
        "retries": if retries { application.retries() } else { 0 },
        "limit": limit.unwrap_or_default(),
    });
    Some(draft("AR-SF-009", application, &names, evidence).about(application.revision()))
}

/// AR-SF-011: automated sync doesn't try this commit again.
fn gave_up(application: Application<'_>) -> Option<Draft> {
    let said = application.said("SyncError").next()?;
    let mut evidence = vec![application.quote_said(said), application.quote_operation()];
    if application.state("phase").is_empty() {
        evidence.pop();
    }
    let policy = "/spec/syncPolicy/retry";
    if application.object.at(policy).is_some() {
        evidence.push(application.quote().field(application.object, "spec.syncPolicy.retry"));
    }
    let names = json!({
        "message": sentence(said.message),
        "wanted": short(&application.wanted()),
        "failed": application.operation() == Operation::Failed,
        "retries": application.retries(),
    });
    Some(draft("AR-SF-011", application, &names, evidence).follows(application.sync()))
}

/// A finding that isn't about what failed in the sync, but about what is made of it.
fn draft(code: &str, application: Application<'_>, names: &Value, evidence: Vec<crate::Evidence>) -> Draft {
    let names = super::names::with(application, names);
    let subject: Subject = application.subject();
    Draft::new(code, subject, &names, evidence)
}

/// Commits as git abbreviates them.
fn short(revisions: &[&str]) -> String {
    revisions.iter().map(|r| r.get(..8).unwrap_or(r)).collect::<Vec<_>>().join(", ")
}
