//! `fleetdrill train`.

use std::path::{Path, PathBuf};

use clusters::state_dir;
use diagnosis::Finding;
use fleet::HUB;
use jiff::Timestamp;
use report::run::write_atomically;
use report::stderr_line;
use report::text::style::OutputLayout;

use super::{explain, interruptible, versions};
use crate::cli::{OutputFormat, TrainCommand, TrainStartArgs, TrainVerifyArgs};
use crate::components::FleetToolchain;
use crate::error::CommandError;
use crate::exit::CommandExitCode;
use crate::output::{data, training};
use crate::run_seed::new_id;
use crate::train::answer::{self, AnswerJudgement};
use crate::train::check::check;
use crate::train::debrief::debrief;
use crate::train::exercise;
use crate::train::reset::reset;
use crate::train::restart::restart;
use crate::train::running_exercise::{RunningExercise, find_session};
use crate::train::score::{ExerciseOutcome, Score};
use crate::train::session::TraineeAnswer;
use crate::train::session_event::SessionAction;
use crate::train::trials::TrialResult;
use crate::train::verify::{shell_setup, verify};
use crate::train::{solution, start, step_runner, stop};

pub(super) async fn train(args: TrainCommand) -> Result<CommandExitCode, CommandError> {
    match args {
        TrainCommand::List { from, output } => list(from.exercises.as_deref(), output),
        TrainCommand::Start(args) => Box::pin(start_and_show(args)).await,
        TrainCommand::Status(named) => interruptible(status(named.name.as_deref())).await,
        TrainCommand::Hint(named) => interruptible(hint(named.name.as_deref())).await,
        TrainCommand::Diagnose { answer, running } => {
            interruptible(diagnose(&answer.join(" "), running.name.as_deref())).await
        }
        TrainCommand::Restart { agent, running } => interruptible(restart_agent(&agent, running.name.as_deref())).await,
        TrainCommand::Check(named) => interruptible(check_and_show(named.name.as_deref())).await,
        TrainCommand::Reset(named) => {
            interruptible(Box::pin(step_runner::quietly(reset_and_show(named.name.as_deref())))).await
        }
        TrainCommand::Solution(named) => interruptible(show_solution(named.name.as_deref())).await,
        TrainCommand::Stop(named) => interruptible(stop_named(named.name.as_deref())).await,
        TrainCommand::Report { scores, output } => {
            let scores = Score::read(&scores)?;
            match output {
                OutputFormat::Text => data::print_text(&training::report(&scores, look().width)),
                format => data::print(format, &scores),
            }
            Ok(CommandExitCode::Fine)
        }
        TrainCommand::Debrief { score, html } => show_debrief(score, html.as_deref()),
        TrainCommand::Verify(args) => verify_and_show(args).await,
    }
}

fn look() -> OutputLayout {
    OutputLayout::from_locale()
}

fn list(from: Option<&Path>, output: OutputFormat) -> Result<CommandExitCode, CommandError> {
    let exercises = exercise::all(from)?;
    match output {
        OutputFormat::Text => data::print_text(&training::list(&exercises, look().width)),
        format => data::print(format, &exercises.iter().map(training::ListedExercise::of).collect::<Vec<_>>()),
    }
    Ok(CommandExitCode::Fine)
}

async fn start_and_show(args: TrainStartArgs) -> Result<CommandExitCode, CommandError> {
    let exercise = start::choose(&args)?;
    let name = args.name.clone().unwrap_or_else(|| exercise.name.clone());
    let _claim = start::claim(&name)?;
    let started = async {
        let components = FleetToolchain::open()?;
        start::start(&args, &name, exercise, &components, async |running| print_page(running, &components).await)
            .await?;
        Ok(CommandExitCode::Fine)
    };
    let started = interruptible(Box::pin(step_runner::quietly(started))).await;
    if !matches!(started, Ok(CommandExitCode::Fine)) {
        start::give_up(&name).await?;
    }
    started
}

/// Prints the page of an exercise, and how to look around in its fleet.
async fn print_page(running: &RunningExercise, components: &FleetToolchain) -> Result<(), CommandError> {
    let RunningExercise { session, exercise, fleet } = running;
    let contexts = training::TraineeContexts {
        setup: shell_setup(fleet, components).await?,
        names: std::iter::once(HUB.to_owned()).chain(fleet.members().await.into_keys()).collect(),
        versions: versions(&fleet.version(), fleet.argocd_version().await.as_deref()),
    };
    data::print_text(&training::page(session, exercise, &contexts, look().width));
    Ok(())
}

async fn status(name: Option<&str>) -> Result<CommandExitCode, CommandError> {
    let running = RunningExercise::open(name).await?;
    if running.session.over == Some(ExerciseOutcome::Repaired) {
        data::print_text(&training::done(&running.session, &running.exercise, look()));
    } else {
        print_page(&running, &FleetToolchain::open()?).await?;
    }
    Ok(CommandExitCode::Fine)
}

async fn hint(name: Option<&str>) -> Result<CommandExitCode, CommandError> {
    let mut running = RunningExercise::open_for_work(name).await?;
    let number = running.session.hints;
    let given = number < running.exercise.hints.len();
    if given {
        running.session.hints += 1;
        let text = training::filled(&running.session, &running.exercise.hints[number]);
        running.session.note(SessionAction::HintShown { text });
        running.save()?;
    }
    let RunningExercise { session, exercise, .. } = &running;
    data::print_text(&if given {
        training::hint(session, exercise, number, look().width)
    } else {
        training::no_more_hints(session, exercise, look().width)
    });
    Ok(CommandExitCode::Fine)
}

async fn diagnose(answer: &str, name: Option<&str>) -> Result<CommandExitCode, CommandError> {
    // A code that doesn't exist is a typing error, not a wrong answer.
    if let Some(code) = answer::codes(answer).into_iter().find(|code| diagnosis::entry(code).is_none()) {
        return Err(explain::unknown(code));
    }
    let mut running = RunningExercise::open_for_work(name).await?;
    let all = exercise::all(running.session.exercises.as_deref())?;
    let judged = answer::judge(answer, &running.exercise, &all);
    let names = match &judged {
        AnswerJudgement::Names(names) => names.clone(),
        AnswerJudgement::TooBroad => Vec::new(),
    };
    let right = !names.is_empty();
    let faults = names.iter().filter_map(|n| running.exercise.faults.get(*n));
    let codes = faults.flat_map(|fault| fault.codes.iter().cloned()).collect();
    running.session.note(SessionAction::Answered { text: answer.to_owned(), codes, right });
    running.session.answers.push(TraineeAnswer { at: Timestamp::now(), text: answer.to_owned(), names });
    running.save()?;
    data::print_text(&training::answered(&running.session, &running.exercise, &judged, look().width));
    Ok(if right { CommandExitCode::Fine } else { CommandExitCode::Found })
}

async fn reset_and_show(name: Option<&str>) -> Result<CommandExitCode, CommandError> {
    let mut running = RunningExercise::open_for_work(name).await?;
    reset(&mut running).await?;
    print_page(&running, &FleetToolchain::open()?).await?;
    Ok(CommandExitCode::Fine)
}

async fn restart_agent(agent: &str, name: Option<&str>) -> Result<CommandExitCode, CommandError> {
    let mut running = RunningExercise::open_for_work(name).await?;
    restart(&running.fleet, agent).await?;
    running.session.note(SessionAction::AgentRestarted { agent: agent.to_owned() });
    running.save()?;
    Ok(CommandExitCode::Fine)
}

async fn check_and_show(name: Option<&str>) -> Result<CommandExitCode, CommandError> {
    let mut running = RunningExercise::open_for_work(name).await?;
    let result = check(&mut running).await?;
    let (kept, next) = (result.kept.as_ref(), result.next.as_ref());
    let RunningExercise { session, exercise, .. } = &running;
    data::print_text(&training::checked(session, exercise, &result.missing, kept, next, look()));
    Ok(if result.missing.is_empty() { CommandExitCode::Fine } else { CommandExitCode::Found })
}

async fn show_solution(name: Option<&str>) -> Result<CommandExitCode, CommandError> {
    let mut running = RunningExercise::open(name).await?;
    running.session.note(SessionAction::SolutionShown);
    let kept = running.score(ExerciseOutcome::Solution)?;
    let RunningExercise { session, exercise, fleet } = &running;
    let findings: Vec<Finding> = diagnosis::diagnose(&*fleet.snapshot().await?);
    let lines = training::SolutionLines {
        exports: shell_setup(fleet, &FleetToolchain::open()?).await?.exports(),
        commands: solution::commands(session, exercise),
    };
    data::print_text(&training::solution(session, exercise, &findings, &lines, kept.as_ref(), look().width));
    Ok(CommandExitCode::Fine)
}

async fn stop_named(name: Option<&str>) -> Result<CommandExitCode, CommandError> {
    let session = find_session(name)?;
    stop::stop(&session).await?;
    stderr_line!("exercise `{}` ended", session.name);
    Ok(CommandExitCode::Fine)
}

/// Prints the debrief of a score, by default of the last one on this machine, or writes it as a page.
fn show_debrief(score: Option<PathBuf>, html: Option<&Path>) -> Result<CommandExitCode, CommandError> {
    let Some(score) = Score::read(&score.into_iter().collect::<Vec<_>>())?.pop() else {
        let hint = "an exercise is scored when its repair passes the check, and at `train solution` and `train stop`";
        return Err(CommandError::usage("no exercise has been scored on this machine", Some(hint)));
    };
    let debrief = debrief(&score);
    match html {
        None => data::print_text(&report::debrief::text(&debrief, look())),
        Some(file) => write_atomically(file, report::debrief::render(&debrief)?.as_bytes())?,
    }
    Ok(CommandExitCode::Fine)
}

async fn verify_and_show(args: TrainVerifyArgs) -> Result<CommandExitCode, CommandError> {
    let id = new_id();
    let name = format!("verify-{id}");
    let verified = async {
        let tried = verify(&args, &id, name.clone()).await?;
        match args.output {
            OutputFormat::Text => data::print_text(&training::tried(&tried, look())),
            format => data::print(format, &tried),
        }
        Ok(if tried.iter().all(TrialResult::is_as_it_should) { CommandExitCode::Fine } else { CommandExitCode::Found })
    };
    let verified = interruptible(verified).await;
    state_dir::wait_until_gone(&name).await;
    verified
}
