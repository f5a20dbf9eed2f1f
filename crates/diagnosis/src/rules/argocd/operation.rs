//! An operation that failed or doesn't end: which resource it was, and which rule knows the reason.

use std::collections::BTreeMap;

use super::application::{Application, Operation, Outcome};
use super::{admission, hook, immutable, missing_crd, other, rbac, shared_resource, wave};
use crate::rules::draft::Draft;

/// Why a resource failed. What the API server said is looked at in this order: a webhook may say anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Cause {
    MissingCrd,
    Admission,
    Rbac,
    Immutable,
    Hook,
    SyncFailHook,
    Wave,
    Other,
}

pub(super) fn rule(application: Application<'_>) -> Vec<Draft> {
    match application.operation() {
        Operation::Fine => Vec::new(),
        Operation::Running => wave::waiting(application).into_iter().collect(),
        // What is as it should be by now, at another commit, has been repaired without a sync.
        Operation::Failed if application.is_well() && application.is_behind() => Vec::new(),
        Operation::Failed => failed(application),
    }
}

/// One finding for each reason, with all the resources that failed for it.
fn failed(application: Application<'_>) -> Vec<Draft> {
    let mut by_cause: BTreeMap<Cause, Vec<Outcome<'_>>> = BTreeMap::new();
    // What it was ended for may have been anything; its resources stand as they were then.
    let failed = application.outcomes().filter(|o| o.has_failed() && !other::is_terminated(application));
    for outcome in failed {
        by_cause.entry(cause(outcome)).or_default().push(outcome);
    }
    if by_cause.is_empty() {
        return vec![without_outcome(application)];
    }
    let draft = |(cause, outcomes): (Cause, Vec<Outcome<'_>>)| match cause {
        Cause::MissingCrd => missing_crd::draft(application, &outcomes),
        Cause::Admission => admission::draft(application, &outcomes),
        Cause::Rbac => rbac::of_resources(application, &outcomes),
        Cause::Immutable => immutable::draft(application, &outcomes),
        Cause::Hook => hook::draft(application, &outcomes),
        // It runs because of what failed before it.
        Cause::SyncFailHook => hook::draft(application, &outcomes).about_nothing().follows(application.sync()),
        Cause::Wave => wave::failed(application, &outcomes),
        Cause::Other => other::of_resources(application, &outcomes),
    };
    by_cause.into_iter().map(draft).collect()
}

fn cause(outcome: Outcome<'_>) -> Cause {
    let message = outcome.message();
    match (outcome.is_refused(), outcome.is_hook()) {
        (true, _) if missing_crd::is(message) => Cause::MissingCrd,
        (true, _) if admission::denial(message).is_some() => Cause::Admission,
        (true, _) if rbac::refusal(message).is_some() => Cause::Rbac,
        (true, _) if immutable::is(message) => Cause::Immutable,
        (true, _) => Cause::Other,
        (false, true) if outcome.text("hookType") == "SyncFail" => Cause::SyncFailHook,
        (false, true) => Cause::Hook,
        (false, false) => Cause::Wave,
    }
}

/// An operation that ended before it touched any resource.
fn without_outcome(application: Application<'_>) -> Draft {
    shared_resource::failed(application)
        .or_else(|| rbac::of_operation(application))
        .unwrap_or_else(|| other::of_operation(application))
}
