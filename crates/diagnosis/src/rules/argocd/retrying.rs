//! Operations that keep syncing an old revision (AR-SF-009), and automated sync that has given up (AR-SF-011).

use serde_json::json;

use super::application::{ApplicationView, OperationState};
use super::wave;
use crate::JsonRef;
use crate::rules::code::RuleCode;
use crate::rules::draft::FindingDraft;
use crate::rules::message::for_sentence;

pub(super) fn rule(application: ApplicationView<'_>) -> Vec<FindingDraft> {
    old_revision(application).into_iter().chain(given_up_sync(application)).collect()
}

/// AR-SF-009: the operation goes on with an old commit, so a newer commit that fixes the failure isn't synced.
fn old_revision(application: ApplicationView<'_>) -> Option<FindingDraft> {
    if application.operation_field("phase") != "Running" || !application.is_behind() {
        return None;
    }
    let retries = application.operation_state() == OperationState::Failed || application.retries() > 0;
    let waits = wave::waiting_operation(application).is_some();
    let refreshes = application.object.at("/status/operationState/operation/retry/refresh").and_then(JsonRef::as_bool)
        == Some(true);
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
    let limit = application.object.at("/status/operationState/operation/retry/limit").and_then(JsonRef::as_i64);
    let names = json!({
        "wanted": abbreviated(&application.target_commits()),
        "operated": abbreviated(&application.operated_commits()),
        "retries": if retries { application.retries() } else { 0 },
        "limit": limit.unwrap_or_default(),
    });
    Some(application.draft_beside_sync(RuleCode::AR_SF_009, &names, evidence).affects(application.revision_part()))
}

/// AR-SF-011: automated sync doesn't try the commit again.
fn given_up_sync(application: ApplicationView<'_>) -> Option<FindingDraft> {
    let condition = application.conditions("SyncError").next()?;
    let mut evidence = vec![application.quote_condition(condition), application.quote_operation()];
    if application.operation_field("phase").is_empty() {
        evidence.pop();
    }
    let policy = "/spec/syncPolicy/retry";
    if application.object.at(policy).is_some() {
        evidence.push(application.quote().field(application.object, "spec.syncPolicy.retry"));
    }
    let names = json!({
        "message": for_sentence(condition.message),
        "wanted": abbreviated(&application.target_commits()),
        "failed": application.operation_state() == OperationState::Failed,
        "retries": application.retries(),
    });
    Some(application.draft_beside_sync(RuleCode::AR_SF_011, &names, evidence).depends_on(application.sync_part()))
}

/// Returns commits abbreviated to eight digits.
fn abbreviated(revisions: &[&str]) -> String {
    revisions.iter().map(|r| r.get(..8).unwrap_or(r)).collect::<Vec<_>>().join(", ")
}
