//! `train verify`: exercises are tried out on a fleet of their own.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use fleet::Fleet;

use super::exercise::{self, Exercise, ExerciseError, FaultSteps};
use super::solution::ShellSetup;
use super::start::LEAST_MEMBERS;
use super::step_runner;
use super::trials::{self, TrialFleet, TrialLimits, TrialResult};
use crate::cli::TrainVerifyArgs;
use crate::command_progress::CommandProgress;
use crate::component_version::ArgoCdRequest;
use crate::components::FleetToolchain;
use crate::error::CommandError;
use crate::fleet_source::{ClusterSource, FleetBuilder, FleetNeeds, FleetPlan, FleetProgress as _, members_of};

/// Tries exercises out, and returns each try. `id` is the run's, `name` the fleet's.
///
/// # Errors
/// Returns an error if an exercise can't be used, or if the fleet can't be had.
pub async fn verify(args: &TrainVerifyArgs, id: &str, name: String) -> Result<Vec<TrialResult>, CommandError> {
    let from = args.from.exercises.as_deref();
    let exercises = if args.names.is_empty() {
        exercise::all(from)?
    } else {
        args.names.iter().map(|name| exercise::find(name, from)).collect::<Result<_, _>>()?
    };
    let components = FleetToolchain::open()?;
    let kubefleet = components.kubefleet(args.version.named())?;
    let (mut needs, mut members) = (FleetNeeds::default(), LEAST_MEMBERS);
    for exercise in &exercises {
        let suite = exercise.suite();
        needs = needs.and(FleetNeeds::of_suite(&suite, ArgoCdRequest::Default));
        members = members.max(members_of(&suite));
    }
    let plan = FleetPlan { name, members, clusters: ClusterSource::Local, kubefleet };
    let new_fleet = plan.check(&needs, &components).await?;
    let progress = Arc::new(CommandProgress::stderr());
    let kubectl = components.kubectl(&|event| progress.build(event)).await?;
    let builder = FleetBuilder { components, progress: Arc::clone(&progress) as _ };
    let fleet = new_fleet.probe(&builder).await?.build(&needs, &builder).await?.start(&builder).await?;
    let scripted = with_scripts(exercises, &fleet)?;
    progress.say("trying the exercises out");
    let setup = shell_setup(&fleet, &builder.components).await?;
    let trial_fleet = TrialFleet { fleet: &fleet, run: id, exercises: from, setup, programs: programs(&kubectl)? };
    let limits = TrialLimits { jobs: usize::from(args.jobs), solutions_only: args.solutions };
    let tried = trials::prove(&trial_fleet, &scripted, limits, |tried, done, all| {
        progress.say(&format!("{done} of {all}: {}, {}: {}", tried.exercise, tried.deed, verdict(tried)));
    });
    let tried = step_runner::quietly(tried).await;
    progress.finish();
    fleet.end().await?;
    Ok(tried)
}

/// Adds the scripts of a fleet's version to exercises.
fn with_scripts(exercises: Vec<Exercise>, fleet: &Fleet) -> Result<Vec<(Exercise, Vec<FaultSteps>)>, ExerciseError> {
    let (capabilities, version) = (fleet.capabilities(), fleet.version());
    let mut scripted = Vec::new();
    for exercise in exercises {
        let scripts = exercise.scripts(&capabilities, &version)?;
        scripted.push((exercise, scripts));
    }
    Ok(scripted)
}

/// Says in words how a try ended.
fn verdict(tried: &TrialResult) -> String {
    if tried.is_as_it_should() {
        return "as it should be".to_owned();
    }
    let why = tried.error.as_ref().or(tried.missing.first()).map_or("it passes", String::as_str);
    format!("NOT as it should be: {why}")
}

/// Returns the environment in which the commands of a page work.
///
/// # Errors
/// Returns an error if Argo CD's API server can't be started.
pub async fn shell_setup(fleet: &Fleet, components: &FleetToolchain) -> Result<ShellSetup, CommandError> {
    let has_argocd = fleet.argocd_version().await.is_some();
    let argocd = if has_argocd { Some(fleet.start_argocd_server().await?) } else { None };
    Ok(ShellSetup::new(fleet.kubeconfig_file(), argocd.as_ref(), components.kubectl_beside_path().as_deref()))
}

/// Returns the directories of the programs that a trainee has: this one, and `kubectl`.
fn programs(kubectl: &Path) -> Result<Vec<PathBuf>, CommandError> {
    let this = std::env::current_exe().map_err(|error| CommandError::Environment {
        message: format!("this program's path can't be found: {error}"),
        hint: None,
    })?;
    Ok([this.as_path(), kubectl].iter().filter_map(|program| program.parent()).map(Path::to_owned).collect())
}
