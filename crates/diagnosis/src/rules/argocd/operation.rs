//! Operations that failed or don't end: which resources failed, and which rule knows the reason.

use std::collections::BTreeMap;

use super::application::{ApplicationView, OperationState, ResourceResult};
use super::{
    admission, destination_failure, hook, immutable, missing_crd, project, rbac, shared_resource, undeclared_field,
    unrecognized, wave,
};
use crate::rules::apply_error::{is_immutable_field, read_denial, read_refusal};
use crate::rules::draft::FindingDraft;

/// Cause of a resource's failure. The API server's message is matched in this order, because a webhook's message may
/// contain any words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum FailureCause {
    Destination,
    Project,
    MissingCrd,
    Admission,
    Rbac,
    Immutable,
    Undeclared,
    Hook,
    SyncFailHook,
    Wave,
    Other,
}

pub(super) fn rule(application: ApplicationView<'_>) -> Vec<FindingDraft> {
    match application.operation_state() {
        OperationState::Fine => Vec::new(),
        OperationState::Running => wave::waiting_operation(application).into_iter().collect(),
        OperationState::Failed if application.is_repaired() => Vec::new(),
        OperationState::Failed => failed(application),
    }
}

/// Returns one finding for each cause, with all resources that failed for that cause.
fn failed(application: ApplicationView<'_>) -> Vec<FindingDraft> {
    let mut by_cause: BTreeMap<FailureCause, Vec<ResourceResult<'_>>> = BTreeMap::new();
    // An operation may be terminated for any reason, and its resources keep the state of that moment.
    let failed = application.results().filter(|r| r.has_failed() && !unrecognized::is_terminated(application));
    for result in failed {
        by_cause.entry(cause(result)).or_default().push(result);
    }
    if by_cause.is_empty() {
        return vec![without_result(application)];
    }
    by_cause.into_iter().map(|(cause, results)| draft(application, cause, &results)).collect()
}

fn draft(application: ApplicationView<'_>, cause: FailureCause, results: &[ResourceResult<'_>]) -> FindingDraft {
    match cause {
        FailureCause::Destination => destination_failure::failed_operation(application)
            .unwrap_or_else(|| unrecognized::failed_resources(application, results)),
        FailureCause::Project => project::failed_resources(application, results),
        FailureCause::MissingCrd => missing_crd::draft(application, results),
        FailureCause::Admission => admission::draft(application, results),
        FailureCause::Rbac => rbac::failed_resources(application, results),
        FailureCause::Immutable => immutable::draft(application, results),
        FailureCause::Undeclared => undeclared_field::failed_resources(application, results),
        FailureCause::Hook => hook::draft(application, results),
        // A SyncFail hook runs because something else failed before it.
        FailureCause::SyncFailHook => {
            hook::draft(application, results).affects_nothing().depends_on(application.sync_part())
        }
        FailureCause::Wave => wave::unhealthy_resources(application, results),
        FailureCause::Other => unrecognized::failed_resources(application, results),
    }
}

fn cause(result: ResourceResult<'_>) -> FailureCause {
    let message = result.message();
    match (result.is_refused(), result.is_hook()) {
        (true, _) if destination_failure::read_failure(message).is_some() => FailureCause::Destination,
        (true, _) if project::is_forbidden(result) => FailureCause::Project,
        (true, _) if missing_crd::is_missing_kind(message) => FailureCause::MissingCrd,
        (true, _) if read_denial(message).is_some() => FailureCause::Admission,
        (true, _) if read_refusal(message).is_some() => FailureCause::Rbac,
        (true, _) if is_immutable_field(message) => FailureCause::Immutable,
        (true, _) if undeclared_field::is_undeclared(message) => FailureCause::Undeclared,
        (true, _) => FailureCause::Other,
        (false, true) if result.text("hookType") == "SyncFail" => FailureCause::SyncFailHook,
        (false, true) => FailureCause::Hook,
        (false, false) => FailureCause::Wave,
    }
}

/// Creates the finding for an operation that ended before it touched any resource.
fn without_result(application: ApplicationView<'_>) -> FindingDraft {
    shared_resource::failed(application)
        .or_else(|| destination_failure::failed_operation(application))
        .or_else(|| rbac::failed_operation(application))
        .unwrap_or_else(|| unrecognized::failed_operation(application))
}
