//! AR-AS-007 and AR-AS-008: progressive syncs of an ApplicationSet (strategy `RollingSync`). The controller has no time limit for a step, and
//! reports no error when one doesn't end (v3.2.11 and v3.5.7).

use jiff::Timestamp;
use serde_json::json;

use super::application::{ApplicationView, OperationState};
use super::application_set::quote_state;
use super::application_set_view::ApplicationSetView;
use crate::object::text_field;
use crate::rules::code::RuleCode;
use crate::rules::draft::FindingDraft;
use crate::{Evidence, JsonRef, PATIENCE};

/// Step of Applications that match no step.
const NO_STEP: &str = "-1";

/// Entry of `status.applicationStatus`.
#[derive(Clone, Copy)]
struct RolloutEntry<'a>(JsonRef<'a>);

impl<'a> RolloutEntry<'a> {
    fn text(self, field: &str) -> &'a str {
        text_field(self.0, field)
    }

    fn name(self) -> &'a str {
        self.text("application")
    }

    /// Number of the step, which begins with 1; `None` for an Application that matches no step.
    fn step(self) -> Option<u32> {
        self.text("step").parse().ok()
    }

    fn is_healthy(self) -> bool {
        self.text("status") == "Healthy"
    }

    fn since(self) -> Option<Timestamp> {
        self.text("lastTransitionTime").parse().ok()
    }

    fn quote(self, set: ApplicationSetView<'_>) -> Evidence {
        let path = format!("status.applicationStatus[{}]", self.name());
        let value = format!("step {}, {}: {}", self.text("step"), self.text("status"), self.text("message"));
        set.quote().text(set.object, &path, value, self.since())
    }
}

pub(super) fn rule(set: ApplicationSetView<'_>) -> Vec<FindingDraft> {
    if set.object.str("/spec/strategy/type") != Some("RollingSync") {
        return Vec::new();
    }
    let entries: Vec<RolloutEntry<'_>> =
        set.object.list("/status/applicationStatus").iter().map(RolloutEntry).collect();
    stopped(set, &entries).into_iter().chain(without_step(set, &entries)).collect()
}

/// AR-AS-007: an Application of a step doesn't become healthy, so later steps wait.
fn stopped(set: ApplicationSetView<'_>, entries: &[RolloutEntry<'_>]) -> Option<FindingDraft> {
    let step = entries.iter().filter(|entry| !entry.is_healthy()).filter_map(|entry| entry.step()).min()?;
    let blocking: Vec<_> = entries.iter().copied().filter(|e| e.step() == Some(step) && !e.is_healthy()).collect();
    let applications: Vec<ApplicationView<'_>> =
        blocking.iter().filter_map(|entry| set.application(entry.name())).collect();
    let waiting: Vec<_> = entries.iter().copied().filter(|e| e.step().is_some_and(|other| other > step)).collect();
    let is_overdue = blocking.iter().any(|e| e.since().is_some_and(|at| set.fleet.age(at) > PATIENCE));
    // Nothing syncs the Application again after a sync that has failed for good.
    let has_failed = applications.iter().any(|a| a.operation_state() == OperationState::Failed);
    let mut evidence: Vec<Evidence> = blocking.iter().map(|entry| entry.quote(set)).collect();
    for application in &applications {
        evidence.extend(quote_state(*application));
        if application.operation_state() == OperationState::Failed {
            evidence.push(application.quote_operation());
        }
    }
    evidence.extend(waiting.iter().map(|entry| entry.quote(set)));
    let rollout = set.object.condition("RolloutProgressing");
    evidence.extend(rollout.map(|condition| set.quote().condition(set.object, &condition)));
    let names = json!({
        "step": step,
        "steps": set.object.list("/spec/strategy/rollingSync/steps").len(),
        "blocking": names(&blocking),
        "blocking_state": states(&applications),
        "refs": applications.iter().map(|application| application.reference()).collect::<Vec<_>>(),
        "waiting": names(&waiting),
        "failed": has_failed,
        "syncs": applications.iter().flat_map(|a| super::names::sync_commands(*a)).collect::<Vec<_>>(),
    });
    let draft = set.draft(RuleCode::AR_AS_007, &names, evidence);
    let draft = applications.iter().fold(draft, |draft, application| draft.depends_on(application.sync_part()));
    // Within the time that a rollout may take, only another finding shows that it won't end by itself.
    Some(if is_overdue || has_failed { draft } else { draft.only_as_consequence() })
}

/// AR-AS-008: Applications that no step selects. The strategy has switched their automated sync off.
fn without_step(set: ApplicationSetView<'_>, entries: &[RolloutEntry<'_>]) -> Option<FindingDraft> {
    let outside: Vec<_> = entries.iter().copied().filter(|entry| entry.text("step") == NO_STEP).collect();
    if outside.is_empty() {
        return None;
    }
    let applications: Vec<ApplicationView<'_>> =
        outside.iter().filter_map(|entry| set.application(entry.name())).collect();
    let mut evidence: Vec<Evidence> = outside.iter().map(|entry| entry.quote(set)).collect();
    for application in &applications {
        evidence.push(application.quote().field(application.object, "metadata.labels"));
        evidence.push(application.quote().field(application.object, "status.sync.status"));
    }
    evidence.push(set.quote().field(set.object, "spec.strategy.rollingSync.steps"));
    let is_behind = applications.iter().any(|a| a.object.str("/status/sync/status") != Some("Synced"));
    let names = json!({
        "applications": names(&outside),
        "behind": is_behind,
        "syncs": applications.iter().flat_map(|a| super::names::sync_commands(*a)).collect::<Vec<_>>(),
    });
    let draft = set.draft(RuleCode::AR_AS_008, &names, evidence);
    Some(if is_behind { draft } else { draft.into_notice() })
}

fn names(entries: &[RolloutEntry<'_>]) -> String {
    entries.iter().map(|entry| entry.name()).collect::<Vec<_>>().join(", ")
}

/// Returns the sync and health status of Applications for a sentence.
fn states(applications: &[ApplicationView<'_>]) -> String {
    let state = |application: &ApplicationView<'_>| {
        let field = |pointer: &str| application.object.str(pointer).unwrap_or("unknown").to_owned();
        format!("{} and {}", field("/status/sync/status"), field("/status/health/status"))
    };
    let mut all: Vec<String> = applications.iter().map(state).collect();
    all.dedup();
    all.join(", ")
}
