//! `fleetdrill train`.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use clusters::keeper::Program;
use clusters::provider::{Ability, is_agent};
use clusters::state_dir;
use clusters::stderr_line;
use diagnosis::Finding;
use fleet::existing::Found;
use fleet::{Fleet, faults};
use jiff::{SignedDuration, Timestamp};
use rand::RngExt as _;
use steps::record::Recorder;
use steps::{Scene, World};

use super::progress::Progress;
use super::run::new_id;
use super::target::{self, unusable};
use super::up::IN_DOCKER;
use super::{explain, ground, interruptible, versions};
use crate::abilities;
use crate::cli::{Format, Going, Provider, Train, TrainStart, TrainVerify};
use crate::components::{self, Clusters, Extras};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::output::style::Look;
use crate::output::{data, training};
use crate::train::answer::{self, Judged};
use crate::train::exercise::{self, Exercise, Script};
use crate::train::judge::{Judge, failed_step, silent};
use crate::train::proof::{self, TrialGround};
use crate::train::room::{Answer, Part, Room, StartClaim};
use crate::train::score::{Outcome, Score};
use crate::train::script;
use crate::train::solution::{self, ShellSetup};
use crate::train::stage::{Stage, name_suffix};

/// How long the fleet lives healthily before it is broken.
const HEALTHY: Duration = Duration::from_secs(5);

/// How many members a fleet has to look around in, at least.
const MEMBERS: usize = 2;

pub(super) async fn train(args: Train) -> Result<Exit, CommandError> {
    match args {
        Train::List { from, output } => list(from.exercises.as_deref(), output),
        Train::Start(args) => Box::pin(start(args)).await,
        Train::Status(going) => interruptible(status(&going)).await,
        Train::Hint(going) => interruptible(hint(&going)).await,
        Train::Diagnose { answer, going } => interruptible(diagnose(&answer.join(" "), &going)).await,
        Train::Restart { agent, going } => interruptible(restart(&agent, &going)).await,
        Train::Check(going) => interruptible(check(&going)).await,
        Train::Reset(going) => interruptible(Box::pin(script::quietly(reset(&going)))).await,
        Train::Solution(going) => interruptible(solution(&going)).await,
        Train::Stop(going) => interruptible(stop(&going)).await,
        Train::Report { scores, output } => {
            let scores = Score::read(&scores)?;
            match output {
                Format::Text => data::print_text(&training::report(&scores, look().width)),
                format => data::print(format, &scores),
            }
            Ok(Exit::Fine)
        }
        Train::Verify(args) => verify(args).await,
    }
}

fn look() -> Look {
    Look::from_locale()
}

fn usage(message: String, hint: &str) -> CommandError {
    CommandError::Usage { message, hint: Some(hint.to_owned()) }
}

fn list(from: Option<&Path>, output: Format) -> Result<Exit, CommandError> {
    let exercises = exercise::all(from)?;
    match output {
        Format::Text => data::print_text(&training::list(&exercises, look().width)),
        format => data::print(format, &exercises.iter().map(training::Listed::of).collect::<Vec<_>>()),
    }
    Ok(Exit::Fine)
}

/// The exercise that is asked for.
fn chosen(args: &TrainStart) -> Result<Exercise, CommandError> {
    let from = args.from.exercises.as_deref();
    if let Some(name) = &args.exercise {
        return Ok(exercise::find(name, from)?);
    }
    let mut all = exercise::all(from)?;
    all.retain(|exercise| args.level.is_none_or(|level| exercise.level == level));
    if args.provider != Provider::Local {
        all.retain(|exercise| !exercise.suite().needs_argocd());
    }
    if all.is_empty() {
        return Err(usage("no exercise is left to choose from".into(), "`fleetdrill train list` shows them all"));
    }
    Ok(all.swap_remove(rand::rng().random_range(0..all.len())))
}

async fn start(args: TrainStart) -> Result<Exit, CommandError> {
    let exercise = chosen(&args)?;
    let name = args.name.clone().unwrap_or_else(|| exercise.name.clone());
    let clusters = args.images.clusters(args.provider).map_err(|why| unusable(why, Some(IN_DOCKER)))?;
    match &clusters {
        Some(clusters) if args.contexts.is_empty() => {
            able(&exercise, clusters.provider(), |ability| clusters.can(ability))?;
        }
        Some(_) => {
            return Err(usage("--kubeconfig, --hub and --member are for a fleet that exists already".into(), EXISTING));
        }
        None if args.contexts.hub.is_none() || !args.contexts.names_members() => {
            return Err(usage(
                "--provider existing needs the contexts of the hub and of one member at least".into(),
                EXISTING,
            ));
        }
        None => {}
    }
    // Held until the page is printed. Whoever doesn't get it touches nothing of the other one's.
    let Some(_claim) = StartClaim::take(&name)? else {
        let hint = "wait for its page, or give the new one another --name";
        return Err(usage(format!("exercise `{name}` is being started already"), hint));
    };
    if let Some(room) = Room::open(&name)? {
        if room.is_alive() {
            let hint = format!("end it (fleetdrill train stop --name {name}), or give the new one another --name");
            return Err(usage(format!("exercise `{name}` is running already"), &hint));
        }
        room.forget()?;
    }
    let hours = i64::from(args.hours);
    let now = Timestamp::now();
    let mut room = Room {
        name,
        id: new_id(),
        exercise: exercise.name.clone(),
        exercises: args.from.exercises.clone().map(|dir| std::path::absolute(&dir).unwrap_or(dir)),
        trainee: args.trainee.clone(),
        kubefleet: components::kubefleet(args.kubefleet.as_deref())?,
        provider: clusters.as_ref().map_or("existing", Clusters::provider).to_owned(),
        started_at: now,
        broken_at: None,
        ends_at: now + SignedDuration::from_hours(hours),
        parts: Vec::new(),
        hints: 0,
        answers: Vec::new(),
        checks: 0,
        over: None,
        repaired_at: None,
        resets: 0,
        is_resetting: false,
        verified_on: None,
    };
    if let Some(clusters) = &clusters {
        clusters.check().await?;
    }
    room.save()?;
    let time = Duration::from_secs(u64::from(args.hours) * 3600);
    let started = async {
        let progress = Arc::new(Progress::stderr());
        let fleet = match &clusters {
            Some(clusters) => fleet(room.fleet(), &room.kubefleet, clusters, &[&exercise], &progress).await?,
            None => borrow(&mut room, &exercise, &args, &progress).await?,
        };
        let begun = begin(&mut room, &exercise, &fleet, time, &progress).await;
        if begun.is_err() && fleet.is_borrowed() {
            fleet.sweep(&room.id).await?;
        }
        begun
    };
    let started = interruptible(Box::pin(script::quietly(started))).await;
    if !matches!(started, Ok(Exit::Fine)) {
        state_dir::wait_until_gone(&room.fleet()).await;
        room.forget()?;
    }
    started
}

/// How to name a fleet that exists already.
const EXISTING: &str =
    "exercises break things on purpose, so nothing is guessed: --provider existing --hub CONTEXT --member NAME=CONTEXT";

/// Sees to it that clusters of a provider can do what an exercise needs.
fn able(exercise: &Exercise, provider: &str, can: impl Fn(Ability) -> bool) -> Result<(), CommandError> {
    let suite = exercise.suite();
    match suite.scenarios().find_map(|(f, s)| abilities::lacking(f, s, &can)) {
        Some(ability) => {
            let message = format!("exercise `{}` can't be done on {provider}, which can't {ability}", exercise.name);
            Err(usage(message, "--provider local can"))
        }
        None => Ok(()),
    }
}

/// Takes a fleet that exists already for an exercise. One that isn't marked as disposable is refused.
async fn borrow(
    room: &mut Room,
    exercise: &Exercise,
    args: &TrainStart,
    progress: &Arc<Progress>,
) -> Result<Fleet, CommandError> {
    let found = Found::by(&room.fleet(), target::contexts(&args.contexts)?, &Program::this()?).await?;
    able(exercise, found.provider(), |ability| found.can(ability))?;
    let needed = members(exercise);
    if needed > found.members() {
        let message =
            format!("exercise `{}` needs {needed} members; this fleet has {}", exercise.name, found.members());
        return Err(usage(message, "name more of them: --member NAME=CONTEXT"));
    }
    room.kubefleet = ground::running(&found, args.kubefleet.as_deref()).await?;
    let building = Arc::clone(progress);
    let mut agents = components::ensure_agents(Some(&room.kubefleet), &move |event| building.build(&event)).await?;
    agents.capabilities = found.capabilities(&agents).await?;
    let fleet = found.take(room.fleet(), &room.id, agents).await?;
    progress.suspend(|| {
        stderr_line!("should this be interrupted, remove what it has made with these contexts and");
        stderr_line!("  fleetdrill down --run {}", room.id);
    });
    Ok(fleet)
}

/// How many shared members an exercise speaks of.
fn members(exercise: &Exercise) -> usize {
    exercise.suite().scenarios().map(|(f, s)| abilities::members(f, s)).max().unwrap_or_default()
}

/// What a fleet needs for some exercises: components, and how many members.
fn needs(exercises: &[&Exercise]) -> (Extras<'static>, usize) {
    let mut extras = Extras::default();
    let mut most = MEMBERS;
    for exercise in exercises {
        let suite = exercise.suite();
        extras.pods |= suite.needs_pods();
        if suite.needs_argocd() {
            extras.argocd = Some(None);
        }
        most = most.max(members(exercise));
    }
    (extras, most)
}

/// A fleet for exercises.
async fn fleet(
    name: String,
    kubefleet: &str,
    clusters: &Clusters,
    exercises: &[&Exercise],
    progress: &Arc<Progress>,
) -> Result<Fleet, CommandError> {
    let (extras, members) = needs(exercises);
    let building = Arc::clone(progress);
    let build = move |event| building.build(&event);
    let components = components::ensure(Some(kubefleet), clusters, extras, &build).await?;
    progress.say("starting the fleet");
    let starting = Arc::clone(progress);
    let options = components.options(name, members, Program::this()?);
    Ok(Fleet::create(options, Arc::new(move |stage| starting.fleet(&stage))).await?)
}

async fn begin(
    room: &mut Room,
    exercise: &Exercise,
    fleet: &Fleet,
    time: Duration,
    progress: &Progress,
) -> Result<Exit, CommandError> {
    if exercise.needs().argocd {
        progress.say("starting Argo CD's API server");
        fleet.start_argocd_server().await?;
    }
    room.parts = set_up(room, exercise, fleet, HEALTHY, progress).await?;
    room.broken_at = Some(Timestamp::now());
    room.save()?;
    fleet.end_after(time).await?;
    fleet.keep().await?;
    progress.finish();
    print_page(room, exercise, fleet).await
}

/// Runs the scenarios of an exercise up to their faults; `pause` is for how long all is well before.
async fn set_up(
    room: &Room,
    exercise: &Exercise,
    fleet: &Fleet,
    pause: Duration,
    progress: &Progress,
) -> Result<Vec<Part>, CommandError> {
    let scripts = exercise.scripts(&fleet.capabilities(), &fleet.version())?;
    let vocabulary = World::vocabulary();
    progress.say("the fleet gets something to do");
    let mut stages = Vec::new();
    for (n, script) in scripts.iter().enumerate() {
        let suffix = name_suffix(&room.id[..2], n, room.resets);
        stages.push(Stage::set(fleet, &room.id, suffix, script, &vocabulary).await?);
    }
    progress.say("all is well, for a moment");
    tokio::time::sleep(pause).await;
    progress.say("something happens (this may take a minute or two)");
    let mut parts = Vec::new();
    for (stage, script) in stages.iter_mut().zip(&scripts) {
        parts.push(stage.break_it(script, &vocabulary).await?);
    }
    Ok(parts)
}

async fn print_page(room: &Room, exercise: &Exercise, fleet: &Fleet) -> Result<Exit, CommandError> {
    let contexts = contexts(fleet).await?;
    data::print_text(&training::page(room, exercise, &contexts, look().width));
    Ok(Exit::Fine)
}

/// Where a trainee can look.
async fn contexts(fleet: &Fleet) -> Result<training::Contexts, CommandError> {
    Ok(training::Contexts {
        setup: setup(fleet).await?,
        names: std::iter::once("hub".to_owned()).chain(fleet.members().await.into_keys()).collect(),
        versions: versions(&fleet.version(), fleet.argocd_version().await.as_deref()),
    })
}

/// The environment in which the commands of a page work.
async fn setup(fleet: &Fleet) -> Result<ShellSetup, CommandError> {
    let has_argocd = fleet.argocd_version().await.is_some();
    let argocd = if has_argocd { Some(fleet.start_argocd_server().await?) } else { None };
    Ok(ShellSetup::new(fleet.kubeconfig_file(), argocd.as_ref(), components::kubectl_beside_path()?.as_deref()))
}

fn is_starting(room: &Room) -> CommandError {
    usage(
        format!("exercise `{}` is just starting", room.name),
        "wait for its page, or press Ctrl-C where it is started",
    )
}

/// An exercise that goes on, with its fleet.
struct Open {
    room: Room,
    exercise: Exercise,
    fleet: Fleet,
}

impl Going {
    fn room(&self) -> Result<Room, CommandError> {
        if let Some(name) = &self.name {
            let none = || usage(format!("no exercise `{name}` is running"), "`fleetdrill train start` starts one");
            return Room::open(name)?.ok_or_else(none);
        }
        let mut rooms = Room::all()?;
        match rooms.len() {
            0 => Err(usage(
                "no exercise is running".into(),
                "`fleetdrill train list` shows them, `train start` starts one",
            )),
            1 => Ok(rooms.remove(0)),
            _ => {
                let names: Vec<String> = rooms.iter().map(|room| format!("--name {}", room.name)).collect();
                Err(usage("several exercises are running".into(), &format!("say which: {}", names.join(", "))))
            }
        }
    }

    /// # Errors
    /// When there is none, or its fleet died underneath.
    async fn open(&self) -> Result<Open, CommandError> {
        let room = self.room()?;
        let exercise = exercise::find(&room.exercise, room.exercises.as_deref())?;
        let stop = format!("fleetdrill train stop --name {}", room.name);
        let gone = |why: &str| CommandError::Environment {
            message: format!("exercise `{}` can't be continued, and isn't scored: {why}", room.name),
            hint: Some(format!("clean up, then start it again: {stop}")),
        };
        if room.is_starting() {
            return Err(is_starting(&room));
        }
        if room.broken_at.is_none() {
            return Err(gone("its start was interrupted"));
        }
        if !room.is_alive() && Timestamp::now() >= room.ends_at {
            return Err(gone(&format!("its time was up at {}", training::clock(room.ends_at))));
        }
        if !room.is_alive() {
            return Err(gone("its fleet has died"));
        }
        if room.is_resetting {
            return Err(gone("its reset was interrupted"));
        }
        let fleet = Fleet::open(&room.fleet()).await?;
        let processes = fleet.keeper().processes().await?;
        // An agent that somebody ended is part of the game.
        let died = processes.iter().find(|process| process.exit.is_some() && !is_agent(&process.name));
        if let Some(process) = died {
            let how = process.exit.as_deref().unwrap_or_default();
            return Err(gone(&format!("its fleet has died: {} ended ({how})", process.name)));
        }
        Ok(Open { room, exercise, fleet })
    }

    /// As [`Going::open`], for what is possible only until the repair has passed the check. Who has asked for the solution may try it.
    async fn open_for_work(&self) -> Result<Open, CommandError> {
        let open = self.open().await?;
        if open.room.over.is_some_and(|over| over != Outcome::Solution) {
            let hint = format!("its fleet stays up until: fleetdrill train stop --name {}", open.room.name);
            return Err(usage(format!("exercise `{}` is over", open.room.name), &hint));
        }
        Ok(open)
    }
}

async fn status(going: &Going) -> Result<Exit, CommandError> {
    let Open { room, exercise, fleet } = going.open().await?;
    if room.over == Some(Outcome::Repaired) {
        data::print_text(&training::done(&room, &exercise, look()));
        return Ok(Exit::Fine);
    }
    print_page(&room, &exercise, &fleet).await
}

async fn hint(going: &Going) -> Result<Exit, CommandError> {
    let Open { mut room, exercise, .. } = going.open_for_work().await?;
    let number = room.hints;
    if number < exercise.hints.len() {
        room.hints += 1;
        room.save()?;
        data::print_text(&training::hint(&room, &exercise, number, look().width));
    } else {
        data::print_text(&training::no_more_hints(&room, &exercise, look().width));
    }
    Ok(Exit::Fine)
}

async fn diagnose(answer: &str, going: &Going) -> Result<Exit, CommandError> {
    // A code that doesn't exist is a slip, not a wrong answer.
    if let Some(code) = answer::codes(answer).into_iter().find(|code| diagnosis::entry(code).is_none()) {
        return Err(explain::unknown(code));
    }
    let Open { mut room, exercise, .. } = going.open_for_work().await?;
    let judged = answer::judge(answer, &exercise, &exercise::all(room.exercises.as_deref())?);
    let names = match &judged {
        Judged::Names(names) => names.clone(),
        Judged::TooBroad => Vec::new(),
    };
    let right = !names.is_empty();
    room.answers.push(Answer { at: Timestamp::now(), text: answer.to_owned(), names });
    room.save()?;
    data::print_text(&training::answered(&room, &exercise, &judged, look().width));
    Ok(if right { Exit::Fine } else { Exit::Found })
}

/// Sets the exercise up again on its fleet. Its clock, hints, answers and checks stay.
async fn reset(going: &Going) -> Result<Exit, CommandError> {
    let Open { mut room, exercise, fleet } = going.open_for_work().await?;
    let progress = Progress::stderr();
    room.resets += 1;
    room.is_resetting = true;
    room.save()?;
    for part in &room.parts {
        steps::start_stopped_agents(&fleet, &part.before).await.map_err(failed_step)?;
    }
    let fleet = Fleet::open(&room.fleet()).await?;
    progress.say("taking away what the exercise has made");
    for part in &room.parts {
        let away = Scene::take_away(fleet.clone(), part.scene.clone(), &part.before, Recorder::default(), silent());
        away.await.map_err(failed_step)?;
    }
    room.parts = set_up(&room, &exercise, &fleet, Duration::ZERO, &progress).await?;
    room.is_resetting = false;
    room.save()?;
    progress.finish();
    print_page(&room, &exercise, &fleet).await
}

async fn restart(agent: &str, going: &Going) -> Result<Exit, CommandError> {
    let Open { fleet, .. } = going.open_for_work().await?;
    if agent == "hub-agent" || agent == "hub" {
        fleet.restart_hub_agent().await?;
        stderr_line!("the hub-agent is restarted");
        return Ok(Exit::Fine);
    }
    let member = fleet.member(agent).await?;
    faults::stop_member_agent(&fleet, &member.cluster.name).await?;
    faults::start_member_agent(&fleet, &member.cluster.name).await?;
    stderr_line!("the agent of {agent} is restarted");
    Ok(Exit::Fine)
}

async fn check(going: &Going) -> Result<Exit, CommandError> {
    let Open { mut room, exercise, fleet } = going.open_for_work().await?;
    let number = room.checks + 1;
    let progress = Progress::stderr();
    let said = std::sync::Mutex::new(String::new());
    let tell = |text: &str| {
        let mut said = said.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        // Off a terminal each is a line.
        if *said != text {
            progress.say(text);
            text.clone_into(&mut said);
        }
    };
    let vocabulary = World::vocabulary();
    let named = room.named().len() == exercise.faults.len();
    let judge = Judge { fleet: &fleet, exercise: &exercise, number, named, vocabulary: &vocabulary, tell: &tell };
    let mut died = fleet.first_exit();
    let missing = tokio::select! {
        missing = script::quietly(judge.judge(&mut room.parts)) => missing?,
        Ok(exit) = died.wait_for(|exit| exit.as_ref().is_some_and(|exit| !is_agent(&exit.name))) => {
            let what = exit.as_ref().map(|exit| format!("{} ended ({})", exit.name, exit.status)).unwrap_or_default();
            return Err(CommandError::Environment {
                message: format!("the fleet has died, and the check doesn't count: {what}"),
                hint: Some(format!("fleetdrill train stop --name {}", room.name)),
            });
        }
    };
    progress.finish();
    room.checks = number;
    // Who has asked for the solution has a score already.
    let scored = missing.is_empty() && room.over.is_none();
    if scored {
        room.over = Some(Outcome::Repaired);
        room.repaired_at = Some(Timestamp::now());
    }
    room.save()?;
    let kept = if scored {
        let score = room.score(&exercise, Outcome::Repaired);
        Some((score.keep()?, score))
    } else {
        None
    };
    let next = if missing.is_empty() { next(&room, &exercise) } else { None };
    data::print_text(&training::checked(&room, &exercise, &missing, kept.as_ref(), next.as_ref(), look()));
    Ok(if missing.is_empty() { Exit::Fine } else { Exit::Found })
}

/// The next exercise in the list, of those that the fleet's provider can do and whose repair hasn't passed a check here.
fn next(room: &Room, exercise: &Exercise) -> Option<Exercise> {
    // It is only a suggestion: a score that can't be read doesn't matter.
    let scores = Score::read(&[]).unwrap_or_default();
    let is_done = |name: &str| scores.iter().any(|s| s.exercise == name && s.outcome == Outcome::Repaired);
    let mut left = exercise::all(room.exercises.as_deref()).unwrap_or_default();
    left.retain(|other| other.name != exercise.name && !is_done(&other.name));
    left.retain(|other| room.provider == "local" || !other.needs().argocd);
    let later = left.iter().position(|other| (other.level, &other.name) > (exercise.level, &exercise.name));
    if left.is_empty() { None } else { Some(left.swap_remove(later.unwrap_or_default())) }
}

async fn solution(going: &Going) -> Result<Exit, CommandError> {
    let Open { mut room, exercise, fleet } = going.open().await?;
    let first = room.over.is_none();
    let kept = if first {
        room.over = Some(Outcome::Solution);
        room.save()?;
        let score = room.score(&exercise, Outcome::Solution);
        Some((score.keep()?, score))
    } else {
        None
    };
    let findings: Vec<Finding> = diagnosis::diagnose(&*fleet.snapshot().await?);
    let lines = training::SolutionLines {
        exports: setup(&fleet).await?.exports(),
        commands: solution::commands(&room, &exercise),
    };
    data::print_text(&training::solution(&room, &exercise, &findings, &lines, kept.as_ref(), look().width));
    Ok(Exit::Fine)
}

async fn stop(going: &Going) -> Result<Exit, CommandError> {
    let room = going.room()?;
    if room.is_starting() {
        return Err(is_starting(&room));
    }
    if room.is_alive() {
        if room.over.is_none() && room.broken_at.is_some() {
            let exercise = exercise::find(&room.exercise, room.exercises.as_deref())?;
            let score = room.score(&exercise, Outcome::Stopped);
            score.keep()?;
        }
        let keeper = clusters::keeper::Keeper::connect(&state_dir::fleet(&room.fleet())?)?;
        match Fleet::open(&room.fleet()).await {
            Ok(fleet) if fleet.is_borrowed() => {
                stderr_line!("removing what the exercise has made");
                fleet.sweep(&room.id).await?;
            }
            _ => stderr_line!("ending the fleet"),
        }
        keeper.end().await?;
    }
    state_dir::wait_until_gone(&room.fleet()).await;
    room.forget()?;
    room.release_dead_claim()?;
    stderr_line!("exercise `{}` ended", room.name);
    Ok(Exit::Fine)
}

async fn verify(args: TrainVerify) -> Result<Exit, CommandError> {
    let from = args.from.exercises.as_deref();
    let exercises = if args.names.is_empty() {
        exercise::all(from)?
    } else {
        args.names.iter().map(|name| exercise::find(name, from)).collect::<Result<_, _>>()?
    };
    let kubefleet = components::kubefleet(args.kubefleet.as_deref())?;
    let id = new_id();
    let name = format!("verify-{id}");
    let verified = async {
        let progress = Arc::new(Progress::stderr());
        let all: Vec<&Exercise> = exercises.iter().collect();
        let building = Arc::clone(&progress);
        let kubectl = components::ensure_kubectl(&move |event| building.build(&event)).await?;
        let fleet = fleet(name.clone(), &kubefleet, &Clusters::Local, &all, &progress).await?;
        let with_scripts: Result<Vec<(Exercise, Vec<Script>)>, _> = exercises
            .iter()
            .map(|exercise| Ok((exercise.clone(), exercise.scripts(&fleet.capabilities(), &fleet.version())?)))
            .collect::<Result<_, exercise::ExerciseError>>();
        progress.say("trying the exercises out");
        let tell = |tried: &proof::Tried, done: usize, all: usize| {
            let why = tried.error.as_ref().or(tried.missing.first()).map_or("it passes", String::as_str);
            let how = if tried.is_as_it_should() {
                "as it should be".to_owned()
            } else {
                format!("NOT as it should be: {why}")
            };
            progress.say(&format!("{done} of {all}: {}, {}: {how}", tried.exercise, tried.deed));
        };
        let setup = setup(&fleet).await?;
        let ground = TrialGround { fleet: &fleet, run: &id, exercises: from, setup, programs: programs(&kubectl)? };
        let tried = script::quietly(proof::prove(&ground, &with_scripts?, usize::from(args.jobs), tell)).await;
        progress.finish();
        fleet.end().await?;
        match args.output {
            Format::Text => data::print_text(&training::tried(&tried, look())),
            format => data::print(format, &tried),
        }
        Ok(if tried.iter().all(proof::Tried::is_as_it_should) { Exit::Fine } else { Exit::Found })
    };
    let verified = interruptible(verified).await;
    state_dir::wait_until_gone(&name).await;
    verified
}

/// The directories of the programs that a trainee has: this one, and `kubectl`.
fn programs(kubectl: &Path) -> Result<Vec<PathBuf>, CommandError> {
    let this = std::env::current_exe().map_err(|error| CommandError::Environment {
        message: format!("this program's path can't be found: {error}"),
        hint: None,
    })?;
    Ok([this.as_path(), kubectl].iter().filter_map(|program| program.parent()).map(Path::to_owned).collect())
}
