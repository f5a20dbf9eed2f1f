//! Start of an exercise: a fleet is made or taken, and broken.

use std::sync::Arc;
use std::time::Duration;

use clusters::state_dir;
use fleet::Fleet;
use jiff::SignedDuration;
use rand::RngExt as _;
use report::stderr_line;

use super::exercise::{self, Exercise, SkillLevel};
use super::running_exercise::RunningExercise;
use super::session::{SessionStart, TrainingSession, fleet_name};
use super::session_dir::SessionDir;
use super::session_event::SessionAction;
use super::set_up::set_up;
use super::start_claim::StartClaim;
use crate::cli::TrainStartArgs;
use crate::command_progress::CommandProgress;
use crate::component_version::ArgoCdRequest;
use crate::components::FleetToolchain;
use crate::error::CommandError;
use crate::fleet_source::options::ProviderName;
use crate::fleet_source::{FleetBuilder, FleetNeeds, FleetRequest, FleetUser, members_of, resolve};
use crate::output::training;
use crate::run_seed::new_id;

/// Time for which the fleet lives healthily before it is broken.
const HEALTHY: Duration = Duration::from_secs(5);

/// Number of members, at least, of a fleet to look around in.
pub(super) const LEAST_MEMBERS: usize = 2;

/// Finds the exercise that is to be started.
///
/// # Errors
/// Returns an error if there is none of that name or level, or if exercises can't be read.
pub fn choose(args: &TrainStartArgs) -> Result<Exercise, CommandError> {
    let from = args.from.exercises.as_deref();
    if let Some(name) = &args.exercise {
        return Ok(exercise::find(name, from)?);
    }
    let mut all = exercise::all(from)?;
    all.retain(|exercise| args.level.is_none_or(|level| exercise.level == SkillLevel::from(level)));
    if args.source.new.provider != ProviderName::Local {
        all.retain(|exercise| !exercise.suite().needs_argocd());
    }
    if all.is_empty() {
        let hint = "`fleetdrill train list` shows them all";
        return Err(CommandError::usage("no exercise is left to choose from", Some(hint)));
    }
    Ok(all.swap_remove(rand::rng().random_range(0..all.len())))
}

/// Claims a name for a start, which has to hold the claim until its page is printed. A dead session of that name is forgotten.
///
/// # Errors
/// Returns an error if an exercise of that name runs or is being started: nothing of it may be touched.
pub fn claim(name: &str) -> Result<StartClaim, CommandError> {
    let sessions = SessionDir::of_user()?;
    let Some(claim) = sessions.claim(name)? else {
        let hint = "wait for its page, or give the new one another --name";
        return Err(CommandError::usage(format!("exercise `{name}` is being started already"), Some(hint)));
    };
    if let Some(session) = sessions.open(name)? {
        if session.is_alive() {
            let hint = format!("end it (fleetdrill train stop --name {name}), or give the new one another --name");
            return Err(CommandError::usage(format!("exercise `{name}` is running already"), Some(&hint)));
        }
        sessions.forget(name)?;
    }
    Ok(claim)
}

/// Starts an exercise whose name is claimed, and breaks its fleet. `present` shows it to the trainee.
///
/// # Errors
/// Returns an error if the fleet can't be had or won't do, if a step fails, or if it can't be shown. What was changed on a fleet
/// that exists already is taken back then.
pub async fn start(
    args: &TrainStartArgs,
    name: &str,
    exercise: Exercise,
    components: &FleetToolchain,
    present: impl AsyncFnOnce(&RunningExercise) -> Result<(), CommandError>,
) -> Result<(), CommandError> {
    let (id, suite) = (new_id(), exercise.suite());
    let needs = FleetNeeds::of_suite(&suite, ArgoCdRequest::Default);
    let request = FleetRequest {
        name: fleet_name(name),
        run: &id,
        options: &args.source,
        members: members_of(&suite).max(LEAST_MEMBERS),
        needs: needs.clone(),
        user: FleetUser::Exercise { name: &exercise.name, suite: &suite },
    };
    let resolved = resolve(request, components).await?;
    let exercises = args.from.exercises.as_ref();
    let session = TrainingSession::new(SessionStart {
        name: name.to_owned(),
        id,
        exercise: &exercise,
        exercises: exercises.map(|dir| std::path::absolute(dir).unwrap_or_else(|_| dir.clone())),
        trainee: args.trainee.clone(),
        kubefleet: resolved.profile().kubefleet().version.clone(),
        provider: resolved.profile().provider().to_owned(),
        limit: SignedDuration::from_hours(i64::from(args.hours)),
        verified_on: None,
    });
    SessionDir::of_user()?.save(&session)?;
    let progress = Arc::new(CommandProgress::stderr());
    let builder = FleetBuilder { components: components.clone(), progress: Arc::clone(&progress) as _ };
    let fleet = resolved.probe(&builder).await?.prepare(&needs, &builder).await?.take().await?.fleet;
    if fleet.is_borrowed() {
        progress.suspend(|| {
            stderr_line!("should this be interrupted, remove what it has made with these contexts and");
            stderr_line!("  fleetdrill down --run {}", session.id);
        });
    }
    let id = session.id.clone();
    let limit = Duration::from_secs(u64::from(args.hours) * 3600);
    let started = async {
        let running = begin(session, exercise, fleet.clone(), limit, &progress).await?;
        progress.finish();
        present(&running).await
    };
    let started = started.await;
    if started.is_err() && fleet.is_borrowed() {
        fleet.sweep(&id).await?;
    }
    started
}

/// Breaks the fleet, which stays up from then on until its time is up.
async fn begin(
    mut session: TrainingSession,
    exercise: Exercise,
    fleet: Fleet,
    limit: Duration,
    progress: &CommandProgress,
) -> Result<RunningExercise, CommandError> {
    if exercise.needs().argocd {
        progress.say("starting Argo CD's API server");
        fleet.start_argocd_server().await?;
    }
    let faults = set_up(&session, &exercise, &fleet, HEALTHY, progress).await?;
    session.break_with(faults);
    let text = training::filled(&session, &exercise.page);
    session.note(SessionAction::PageShown { text });
    SessionDir::of_user()?.save(&session)?;
    fleet.end_after(limit).await?;
    fleet.keep().await?;
    Ok(RunningExercise { session, exercise, fleet })
}

/// Forgets a start that failed, once nothing of its fleet is left.
///
/// # Errors
/// Returns an error if its file can't be removed.
pub async fn give_up(name: &str) -> Result<(), CommandError> {
    state_dir::wait_until_gone(&fleet_name(name)).await;
    SessionDir::of_user()?.forget(name)
}
