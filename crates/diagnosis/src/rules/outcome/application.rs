//! States of Argo CD's applications that aren't well.

use jiff::{SignedDuration, Timestamp};

use super::{DELETION_LIMIT, UnwellState};
use crate::object::text_field;
use crate::rules::argocd::approved_at;
use crate::rules::availability::PATIENCE;
use crate::rules::fleet::{FleetView, subject};
use crate::{APPLICATION, Evidence, Object};

/// Time that an error of comparing or of the spec may last: a repository or a destination that doesn't answer for a
/// moment.
pub(crate) const ERROR_LIMIT: SignedDuration = SignedDuration::from_secs(60);

pub(super) fn states(fleet: FleetView<'_>) -> Vec<UnwellState<'_>> {
    let applications = fleet.hub.of_kind(APPLICATION.group, APPLICATION.kind);
    applications.filter_map(|application| state_of(fleet, application)).collect()
}

fn state_of<'a>(fleet: FleetView<'a>, application: Object<'a>) -> Option<UnwellState<'a>> {
    if let Some(state) = UnwellState::deletion(fleet, application) {
        // Argo CD begins with the deletion when the operation has ended that was running.
        let [started, ended] = ["/status/operationState/startedAt", "/status/operationState/finishedAt"]
            .map(|field| application.time(field));
        let since = if started <= state.since { state.since.max(ended) } else { state.since };
        // It goes on when a person has confirmed it.
        let since = since.max(approved_at(application));
        return Some(UnwellState { usual: DELETION_LIMIT, depends_on: Vec::new(), since, ..state });
    }
    let (evidence, since, usual) =
        error(fleet, application).or_else(|| operation(fleet, application)).or_else(|| health(fleet, application))?;
    Some(UnwellState {
        object: application,
        subject: subject(fleet, application, None, None),
        evidence: vec![evidence],
        since,
        usual,
        part: None,
        depends_on: Vec::new(),
    })
}

type State = (Evidence, Option<Timestamp>, SignedDuration);

/// Returns the first condition of an error. Conditions of applications have no status.
fn error(fleet: FleetView<'_>, application: Object<'_>) -> Option<State> {
    let conditions = application.list("/status/conditions").iter();
    let condition = conditions.into_iter().find(|condition| text_field(*condition, "type").ends_with("Error"))?;
    let since = text_field(condition, "lastTransitionTime").parse().ok();
    let path = format!("status.conditions[{}]", text_field(condition, "type"));
    let message = text_field(condition, "message").to_owned();
    Some((fleet.quote().text(application, &path, message, since), since, ERROR_LIMIT))
}

/// Time that an operation may take. Each of its waves, hooks and retries may take minutes; the rules tell of those that
/// are late.
const OPERATION_LIMIT: SignedDuration = SignedDuration::from_mins(30);

/// Returns the last operation if it is still running, or has failed and nothing has made up for it.
fn operation(fleet: FleetView<'_>, application: Object<'_>) -> Option<State> {
    let is = |pointer: &str, value: &str| application.str(pointer) == Some(value);
    let is_well = is("/status/sync/status", "Synced") && is("/status/health/status", "Healthy");
    let phase = application.str("/status/operationState/phase")?;
    let (pointer, usual) = match phase {
        "Failed" | "Error" if !is_well => ("/status/operationState/finishedAt", SignedDuration::ZERO),
        "Running" => ("/status/operationState/startedAt", OPERATION_LIMIT),
        _ => return None,
    };
    let since = application.time(pointer);
    let evidence = fleet.quote().field(application, "status.operationState.phase");
    Some((Evidence { at: since, ..evidence }, since, usual))
}

/// Returns the health of an application that has been degraded or in progress for some time.
fn health(fleet: FleetView<'_>, application: Object<'_>) -> Option<State> {
    let status = application.str("/status/health/status")?;
    if !["Degraded", "Progressing"].contains(&status) {
        return None;
    }
    let since = application.time("/status/health/lastTransitionTime");
    let evidence = fleet.quote().field(application, "status.health.status");
    Some((Evidence { at: since, ..evidence }, since, PATIENCE))
}
