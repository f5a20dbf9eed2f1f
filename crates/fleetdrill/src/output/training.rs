//! Texts for a trainee: the page, hints, results of checks, scores. Only lines to be copied are wider than the page.

use std::path::PathBuf;

use diagnosis::Finding;
use jiff::Timestamp;
use owo_colors::OwoColorize;
use report::finding::text::{self, heading};
use report::text::TextPage;
use report::text::style::{BOLD, ERROR, HINT, OutputLayout, PLAIN, SUCCESS, WARNING};
use serde::Serialize;

use crate::guides;
use crate::train::answer::AnswerJudgement;
use crate::train::exercise::{Exercise, ExerciseNeeds, SkillLevel};
use crate::train::score::{ExerciseOutcome, Score};
use crate::train::session::TrainingSession;
use crate::train::solution::ShellSetup;
use crate::train::trials::TrialResult;

/// Kubeconfig contexts that a trainee can use.
#[derive(Clone, Debug)]
pub struct TraineeContexts {
    /// Environment for the commands.
    pub setup: ShellSetup,
    /// Names of the contexts.
    pub names: Vec<String>,
    /// Versions of what runs on the fleet, in a few words.
    pub versions: String,
}

/// Lines of a solution, ready for a shell.
#[derive(Clone, Debug)]
pub struct SolutionLines {
    /// Lines that export the environment.
    pub exports: Vec<String>,
    /// Commands, each of one or more lines.
    pub commands: Vec<String>,
}

/// Score and the file that stores it.
pub type SavedScore = (PathBuf, Score);

/// Exercise in the output of `train list -o json`.
#[derive(Debug, Serialize)]
pub struct ListedExercise<'a> {
    name: &'a str,
    title: &'a str,
    level: SkillLevel,
    minutes: u32,
    about: &'a str,
    guides: &'a [String],
    needs: ExerciseNeeds,
}

impl<'a> ListedExercise<'a> {
    /// Returns the facts about an exercise that a trainee may know before it starts.
    #[must_use]
    pub fn of(exercise: &'a Exercise) -> Self {
        let Exercise { name, title, level, minutes, about, guides, .. } = exercise;
        Self { name, title, level: *level, minutes: *minutes, about, guides, needs: exercise.needs() }
    }
}

/// Returns all exercises by level.
#[must_use]
pub fn list(exercises: &[Exercise], width: usize) -> String {
    let mut page = TextPage::new(width);
    let longest = exercises.iter().map(|exercise| exercise.name.len()).max().unwrap_or_default();
    let mut level = None;
    for exercise in exercises {
        if level != Some(exercise.level) {
            page.blank();
            heading(&mut page, &exercise.level.to_string());
            level = Some(exercise.level);
        }
        let label = format!("  {:longest$}  {:>2} min  ", exercise.name, exercise.minutes);
        page.item(&label, PLAIN, label.len(), &format!("{}{}", exercise.about, needs(exercise.needs())));
    }
    page.blank();
    page.text("Start one with `fleetdrill train start NAME`, or any with `--random --level LEVEL`.");
    page.finish()
}

/// Returns ` (needs Argo CD)`; empty if the exercise needs nothing besides KubeFleet.
fn needs(needs: ExerciseNeeds) -> String {
    let named = [(needs.argocd, "Argo CD"), (needs.pods, "pods")];
    let named: Vec<&str> = named.into_iter().filter(|(needed, _)| *needed).map(|(_, name)| name).collect();
    if named.is_empty() { String::new() } else { format!(" (needs {})", named.join(" and ")) }
}

/// Formats a time as `14:02 UTC`.
#[must_use]
pub fn clock(at: Timestamp) -> String {
    at.strftime("%H:%M UTC").to_string()
}

/// Formats seconds as `3 min 20 s`.
fn time(seconds: f64) -> String {
    let seconds = seconds.round().max(0.0);
    let (minutes, rest) = ((seconds / 60.0).floor(), seconds % 60.0);
    if minutes > 0.0 { format!("{minutes} min {rest} s") } else { format!("{rest} s") }
}

/// Fills the names of an exercise's objects into a text. Each scene of the exercise has names of its own.
#[must_use]
pub fn filled(room: &TrainingSession, text: &str) -> String {
    let begun = room.broken_at.unwrap_or(room.started_at);
    let text = text.replace("{time}", &clock(begun));
    room.parts.iter().enumerate().fold(text, |text, (n, part)| {
        // `{2:web}` is the name of `web` in the second scene. Without a number the first scene that knows the name
        // fills it in.
        let marked = text.replace(&format!("{{{}:", n + 1), "{");
        part.scene.fill(&marked)
    })
}

/// Returns the page that reports the broken fleet (the alert), and the commands for the trainee.
#[must_use]
pub fn page(room: &TrainingSession, exercise: &Exercise, contexts: &TraineeContexts, width: usize) -> String {
    let mut page = TextPage::new(width);
    let gone = Timestamp::now().duration_since(room.broken_at.unwrap_or(room.started_at));
    heading(&mut page, &format!("{} ({}, {} min)", exercise.title, exercise.level, exercise.minutes));
    page.blank();
    for paragraph in filled(room, &exercise.page).split("\n\n") {
        page.indented(2, |page| page.text(&paragraph.split_whitespace().collect::<Vec<_>>().join(" ")));
        page.blank();
    }
    if gone.as_secs() > 10 || room.resets > 0 {
        let resets = if room.resets == 0 { String::new() } else { format!(", {}", count(room.resets, "reset")) };
        page.text(&format!("{} have gone by, {} of 3 hints{resets}.", time(gone.as_secs_f64()), room.hints));
        page.blank();
    }
    if room.over == Some(ExerciseOutcome::Solution) {
        page.text("The solution was asked for, and the score is kept; the commands can still be tried.");
        page.blank();
    }
    page.text(&format!("Contexts: {}. {}.", contexts.names.join(", "), contexts.versions));
    for export in contexts.setup.exports() {
        page.unwrapped(&format!("  {export}"));
    }
    page.unwrapped("  kubectl --context hub get memberclusters");
    if contexts.setup.argocd_config.is_some() {
        page.unwrapped("  argocd app list");
    }
    for repository in room.parts.iter().flat_map(|part| part.scene.repositories()) {
        page.unwrapped(&format!("  git -C {} log -p", repository.display()));
    }
    page.blank();
    write_commands(&mut page, &named(room));
    page.blank();
    page.text(&format!("Left alone, it ends itself at {}.", clock(room.ends_at)));
    page.finish()
}

/// Writes the commands of an exercise, each with its meaning in a second column.
fn write_commands(page: &mut TextPage, name: &str) {
    let commands = [
        ("hint", "the next of three"),
        ("diagnose CODE-OR-WORDS", "say what the cause is"),
        ("restart AGENT", "the hub-agent, or a member's"),
        ("check", "once it is repaired"),
        ("reset", "set it up again, as it was"),
        ("solution", "give up; `stop` ends it without"),
    ];
    let commands = commands.map(|(command, what)| (format!("  fleetdrill train {command}{name}"), what));
    let widest = commands.iter().map(|(command, _)| command.len()).max().unwrap_or_default();
    for (command, what) in commands {
        page.unwrapped(&format!("{command:widest$}  {what}"));
    }
}

/// Returns the option that selects this exercise in a command; empty if it isn't needed.
fn named(room: &TrainingSession) -> String {
    if room.name == room.exercise { String::new() } else { format!(" --name {}", room.name) }
}

/// Returns the text of a hint.
#[must_use]
pub fn hint(room: &TrainingSession, exercise: &Exercise, number: usize, width: usize) -> String {
    let mut page = TextPage::new(width);
    let label = format!("hint {} of {}: ", number + 1, exercise.hints.len());
    page.item(&label, HINT, 2, &filled(room, &exercise.hints[number]));
    page.finish()
}

/// Returns the text for a trainee who has had all hints: the hints, and the command for the solution.
#[must_use]
pub fn no_more_hints(room: &TrainingSession, exercise: &Exercise, width: usize) -> String {
    let mut page = TextPage::new(width);
    page.text(&format!("There are no more hints than these {}:", exercise.hints.len()));
    for number in 0..exercise.hints.len() {
        page.item(&format!("{}. ", number + 1), HINT, 3, &filled(room, &exercise.hints[number]));
    }
    page.text(&format!("`fleetdrill train solution{}` shows the solution.", named(room)));
    page.finish()
}

/// Returns the text that follows an answer: whether it is right, and what to do next.
#[must_use]
pub fn answered(room: &TrainingSession, exercise: &Exercise, judged: &AnswerJudgement, width: usize) -> String {
    let mut page = TextPage::new(width);
    let (named, all) = (room.named().len(), exercise.faults.len());
    let right = matches!(judged, AnswerJudgement::Names(names) if !names.is_empty());
    match (right, named == all) {
        (false, _) if *judged == AnswerJudgement::TooBroad => {
            page.item(
                "no: ",
                ERROR,
                2,
                "an answer names one cause, in one or two sentences; this one has several, or is too long.",
            );
        }
        (false, _) => page.item("no: ", ERROR, 2, "that isn't the cause."),
        (true, true) if exercise.healthy => {
            page.item("right: ", SUCCESS, 2, "so there is nothing to repair. `fleetdrill train check` ends it.");
        }
        (true, true) => page.item("right: ", SUCCESS, 2, "now repair it, then `fleetdrill train check`."),
        (true, false) => page.item("right: ", SUCCESS, 2, "but it isn't all that is wrong."),
    }
    page.finish()
}

/// Returns the result of a check.
#[must_use]
pub fn checked(
    room: &TrainingSession,
    exercise: &Exercise,
    missing: &[String],
    kept: Option<&SavedScore>,
    next: Option<&Exercise>,
    look: OutputLayout,
) -> String {
    let mut page = TextPage::new(look.width);
    if missing.is_empty() {
        let (holds, why) = if exercise.healthy {
            ("that was it", "nothing was broken, and you left it so.")
        } else {
            ("it holds", "the symptom is gone and stays gone, and a fresh change goes through.")
        };
        page.item(&format!("{} {holds}: ", look.symbols.passed), SUCCESS, 2, why);
        page.blank();
        page.text(&exercise.teaches);
        write_guides(&mut page, exercise);
    } else {
        page.item(&format!("{} not yet", look.symbols.failed), ERROR, 2, "");
        for line in missing {
            page.item("  - ", PLAIN, 4, line);
        }
    }
    write_score(&mut page, room, kept);
    if let Some(next) = next {
        page.blank();
        let about = format!("{} ({}, {} min){}", next.title, next.level, next.minutes, needs(next.needs()));
        page.item("next: ", BOLD, 2, &about);
        page.unwrapped(&format!("  fleetdrill train start {}", next.name));
    }
    page.finish()
}

/// Returns the text of `train status` about an exercise whose repair has passed the check.
#[must_use]
pub fn done(room: &TrainingSession, exercise: &Exercise, look: OutputLayout) -> String {
    let mut page = TextPage::new(look.width);
    let title = format!("{} ({}, {} min)", exercise.title, exercise.level, exercise.minutes);
    page.item(&format!("{} done: ", look.symbols.passed), SUCCESS, 2, &title);
    page.item("score: ", BOLD, 2, &line(&room.score(exercise, ExerciseOutcome::Repaired)));
    page.text(&format!("Its fleet stays up for a look until {}, or until:", clock(room.ends_at)));
    page.unwrapped(&format!("  fleetdrill train stop{}", named(room)));
    page.finish()
}

/// Writes the titles and addresses of the exercise's guides.
fn write_guides(page: &mut TextPage, exercise: &Exercise) {
    let guides: Vec<_> = exercise.guides.iter().filter_map(|name| guides::guide(name)).collect();
    if guides.is_empty() {
        return;
    }
    page.blank();
    heading(page, if guides.len() == 1 { "the guide:" } else { "the guides:" });
    for guide in guides {
        page.unwrapped(&format!("  {}", guide.title));
        page.unwrapped(&format!("  {}", guide.url));
    }
}

fn write_score(page: &mut TextPage, room: &TrainingSession, kept: Option<&SavedScore>) {
    let Some((path, score)) = kept else { return };
    page.blank();
    page.item("score: ", BOLD, 2, &line(score));
    page.unwrapped(&format!("  {}", path.display()));
    page.unwrapped("  fleetdrill train debrief");
    page.unwrapped(&format!("  fleetdrill train stop{}", named(room)));
}

/// Formats a score as `repaired after 12 min 3 s, the cause named after 5 min 10 s, 1 hint, 0 wrong answers, 1 failed
/// check`.
#[must_use]
pub fn line(score: &Score) -> String {
    let how = match (score.outcome, score.seconds_to_repair) {
        (ExerciseOutcome::Repaired, Some(seconds)) => format!("repaired after {}", time(seconds)),
        (ExerciseOutcome::Repaired, None) => "repaired".into(),
        (ExerciseOutcome::Solution, _) => "the solution was asked for".into(),
        (ExerciseOutcome::Stopped, _) => "stopped".into(),
    };
    let cause = match score.seconds_to_diagnosis {
        Some(seconds) => format!("the cause named after {}", time(seconds)),
        None => "the cause not named".into(),
    };
    let mut counts = vec![
        count(score.hints, "hint"),
        count(score.wrong_answers, "wrong answer"),
        count(score.failed_checks, "failed check"),
    ];
    if score.resets > 0 {
        counts.push(count(score.resets, "reset"));
    }
    format!("{how}, {cause}, {}", counts.join(", "))
}

/// Returns `1 hint`, `2 hints`.
fn count(n: usize, one: &str) -> String {
    format!("{n} {one}{}", if n == 1 { "" } else { "s" })
}

/// Returns a finding without its remedies: not every remedy of the diagnosis passes the check of an exercise.
fn without_remedies(finding: &Finding) -> Finding {
    let consequences = finding.consequences.iter().map(without_remedies).collect();
    Finding { remedies: Vec::new(), consequences, ..finding.clone() }
}

/// Returns the evidence and the commands of the solution.
#[must_use]
pub fn solution(
    room: &TrainingSession,
    exercise: &Exercise,
    found: &[Finding],
    lines: &SolutionLines,
    kept: Option<&SavedScore>,
    width: usize,
) -> String {
    let mut page = TextPage::new(width);
    page.text(&exercise.teaches);
    page.blank();
    let evidence: Vec<&Finding> = found.iter().filter(|finding| is_about(exercise, finding)).collect();
    for finding in &evidence {
        text::write(&mut page, &without_remedies(finding), None);
        page.blank();
    }
    if evidence.is_empty() && !exercise.healthy {
        page.text("The diagnosis finds nothing of it any more; this is what it was:");
        let codes = exercise.faults.iter().flat_map(|fault| &fault.codes);
        for entry in codes.filter_map(|code| diagnosis::entry(code)) {
            page.item(&format!("  {}  ", entry.code), PLAIN, 4, &entry.title);
        }
        page.blank();
    }
    heading(&mut page, "what repairs it here:");
    page.blank();
    // The commands aren't indented, because the end of a here-document has to stand at the beginning of its line.
    lines.exports.iter().chain(&lines.commands).for_each(|line| page.unwrapped(line));
    page.blank();
    let check = format!("`fleetdrill train check{}`", named(room));
    write_guides(&mut page, exercise);
    page.blank();
    page.text(&format!("The exercise is scored. Its fleet stays up: try the commands, then {check}."));
    match kept {
        Some(kept) => write_score(&mut page, room, Some(kept)),
        None => page.unwrapped(&format!("  fleetdrill train stop{}", named(room))),
    }
    page.finish()
}

fn is_about(exercise: &Exercise, finding: &Finding) -> bool {
    let codes: Vec<&String> = exercise.faults.iter().flat_map(|fault| &fault.codes).collect();
    finding.flatten().any(|found| codes.iter().any(|code| **code == found.code.0))
}

/// Minutes and seconds, `2:05`; `-` for none.
fn minutes(seconds: Option<f64>) -> String {
    seconds.map_or("-".to_owned(), report::debrief::minutes)
}

/// Returns the scores as a table, one line each.
#[must_use]
pub fn report(scores: &[Score], width: usize) -> String {
    let mut page = TextPage::new(width);
    if scores.is_empty() {
        page.text("No exercise has ended so far.");
        return page.finish();
    }
    let who = scores.iter().map(|s| s.trainee.chars().count()).max().unwrap_or_default().max(3);
    let what = scores.iter().map(|s| s.exercise.len()).max().unwrap_or_default().max(8);
    let heads = format!("{:who$}  {:what$}  {:>9}  {:>9}  hints  wrong  failed", "who", "exercise", "cause", "repair");
    page.styled(&heads.style(BOLD).to_string());
    let mut sorted: Vec<&Score> = scores.iter().collect();
    sorted.sort_by(|a, b| a.exercise.cmp(&b.exercise).then(a.started_at.cmp(&b.started_at)));
    for score in sorted {
        let repair = match score.outcome {
            ExerciseOutcome::Repaired => minutes(score.seconds_to_repair),
            outcome => outcome.to_string(),
        };
        page.styled(&format!(
            "{:who$}  {:what$}  {:>9}  {repair:>9}  {:>5}  {:>5}  {:>6}",
            report::text::clean(&score.trainee),
            report::text::clean(&score.exercise),
            minutes(score.seconds_to_diagnosis),
            score.hints,
            score.wrong_answers,
            score.failed_checks
        ));
    }
    page.finish()
}

/// Returns the result of each try of an exercise.
#[must_use]
pub fn tried(all: &[TrialResult], look: OutputLayout) -> String {
    let mut page = TextPage::new(look.width);
    let mut exercise = None;
    for tried in all {
        if exercise != Some(&tried.exercise) {
            page.blank();
            heading(&mut page, &tried.exercise);
            exercise = Some(&tried.exercise);
        }
        let good = tried.is_as_it_should();
        let (sign, style) = if good { (look.symbols.passed, SUCCESS) } else { (look.symbols.failed, ERROR) };
        page.item(&format!("{sign} "), style, 4, &format!("{}: {}", tried.deed, trial_outcome(tried)));
    }
    page.blank();
    let bad = all.iter().filter(|tried| !tried.is_as_it_should()).count();
    let style = if bad == 0 { SUCCESS } else { WARNING };
    page.item("", style, 0, &format!("{} as they should be, {bad} not", all.len() - bad));
    for tried in all.iter().filter(|tried| !tried.is_as_it_should()) {
        page.item("", ERROR, 2, &format!("{}: {}: {}", tried.exercise, tried.deed, trial_outcome(tried)));
    }
    page.finish()
}

/// Says in words what came of a try.
fn trial_outcome(tried: &TrialResult) -> String {
    match (&tried.error, tried.missing.first()) {
        (Some(error), _) => format!("couldn't be tried: {error}"),
        (None, None) => "passes the check".to_owned(),
        (None, Some(missing)) => format!("doesn't pass: {missing}"),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use report::text::style::WIDTH;

    use super::*;
    use crate::train::exercise;
    use crate::train::score::SCHEMA;

    fn plain(text: &str) -> String {
        anstream::adapter::strip_str(text).to_string()
    }

    /// Returns a score with a hint and two failed checks.
    pub(crate) fn score(trainee: &str, exercise: &str, outcome: ExerciseOutcome) -> Score {
        let repaired = outcome == ExerciseOutcome::Repaired;
        Score {
            schema: SCHEMA,
            id: "abcd".into(),
            exercise: exercise.into(),
            level: SkillLevel::Beginner,
            trainee: trainee.into(),
            kubefleet: "v0.1.2".into(),
            provider: "local".into(),
            started_at: Timestamp::UNIX_EPOCH,
            outcome,
            seconds_to_diagnosis: repaired.then_some(310.4),
            seconds_to_repair: repaired.then_some(723.0),
            hints: 1,
            wrong_answers: 0,
            failed_checks: 2,
            resets: 0,
            events: Vec::new(),
        }
    }

    #[test]
    fn the_list() {
        let exercises = exercise::all(None).expect("exercises");
        insta::assert_snapshot!(plain(&list(&exercises, WIDTH)));
    }

    #[test]
    fn scores_side_by_side() {
        let scores = [
            score("ann", "empty-shop", ExerciseOutcome::Repaired),
            score("ben", "empty-shop", ExerciseOutcome::Solution),
            score("ann", "friday-release", ExerciseOutcome::Stopped),
        ];
        let report = plain(&report(&scores, WIDTH));
        assert!(report.lines().all(|line| line.chars().count() <= WIDTH), "{report}");
        insta::assert_snapshot!(report);
    }

    #[test]
    fn a_score_s_line() {
        insta::assert_snapshot!(line(&score("ann", "empty-shop", ExerciseOutcome::Repaired)));
        let reset = Score { resets: 2, ..score("ann", "empty-shop", ExerciseOutcome::Repaired) };
        assert!(line(&reset).ends_with(", 2 failed checks, 2 resets"), "{}", line(&reset));
    }

    fn room(name: &str, over: Option<ExerciseOutcome>) -> TrainingSession {
        let at = Timestamp::UNIX_EPOCH;
        TrainingSession {
            name: name.into(),
            id: "abcd".into(),
            exercise: "half-a-release".into(),
            exercises: None,
            trainee: "ann".into(),
            kubefleet: "v0.1.2".into(),
            provider: "local".into(),
            started_at: at,
            broken_at: Some(at),
            ends_at: at + jiff::SignedDuration::from_hours(4),
            parts: Vec::new(),
            hints: 3,
            answers: Vec::new(),
            checks: 1,
            over,
            repaired_at: over.map(|_| at + jiff::SignedDuration::from_secs(723)),
            resets: 1,
            is_resetting: false,
            events: Vec::new(),
            verified_on: None,
        }
    }

    #[test]
    fn the_commands_of_an_exercise_are_in_columns_whatever_its_name() {
        let mut page = TextPage::new(WIDTH);
        for name in ["", " --name red", " --name a-very-long-name-of-a-whole-team"] {
            write_commands(&mut page, name);
            page.blank();
        }
        insta::assert_snapshot!(plain(&page.finish()));
    }

    #[test]
    fn an_exercise_that_is_done() {
        let exercise = exercise::find("half-a-release", None).expect("an exercise");
        let done = done(&room("red", Some(ExerciseOutcome::Repaired)), &exercise, OutputLayout::default());
        insta::assert_snapshot!(plain(&done));
    }

    #[test]
    fn after_the_last_hint() {
        let exercise = exercise::find("half-a-release", None).expect("an exercise");
        insta::assert_snapshot!(plain(&no_more_hints(&room("red", None), &exercise, WIDTH)));
    }

    #[test]
    fn checks() {
        let exercise = exercise::find("half-a-release", None).expect("an exercise");
        let next = exercise::find("last-mile", None).expect("an exercise");
        let missing =
            ["ClusterResourcePlacement/web-abcd was changed\nspec.strategy.type: External -> RollingUpdate".into()];
        let room = room("red", None);
        let failed = checked(&room, &exercise, &missing, None, None, OutputLayout::default());
        let kept = ("/state/score.json".into(), score("ann", "half-a-release", ExerciseOutcome::Repaired));
        let passed = checked(&room, &exercise, &[], Some(&kept), Some(&next), OutputLayout::default());
        insta::assert_snapshot!(plain(&format!("{failed}\n{passed}")));
    }

    #[test]
    fn answers() {
        let exercise = exercise::find("half-a-release", None).expect("an exercise");
        let judged = [AnswerJudgement::TooBroad, AnswerJudgement::Names(Vec::new()), AnswerJudgement::Names(vec![0])];
        let said = judged.map(|judged| answered(&room("red", None), &exercise, &judged, WIDTH));
        insta::assert_snapshot!(plain(&said.concat()));
    }

    #[test]
    fn a_solution_can_be_pasted_as_it_stands() {
        let exercise = exercise::find("half-a-release", None).expect("an exercise");
        let lines = SolutionLines {
            exports: vec!["export KUBECONFIG=/state/kubeconfig".into()],
            commands: vec!["kubectl apply -f - <<EOF\nkind: ConfigMap\nEOF".into(), "argocd app sync web".into()],
        };
        let solution = plain(&solution(&room("red", None), &exercise, &[], &lines, None, WIDTH));
        let all = [lines.exports, lines.commands].concat().join("\n");
        assert!(solution.contains(&format!("\n\n{all}\n\n")), "{solution}");
        insta::assert_snapshot!(solution);
    }

    #[test]
    fn tries() {
        let tried = |deed: &str, should_pass: bool, missing: &[&str]| TrialResult {
            exercise: "empty-shop".into(),
            deed: deed.into(),
            should_pass,
            missing: missing.iter().map(ToString::to_string).collect(),
            error: None,
        };
        let all = [
            tried("the remedy", true, &[]),
            tried("nothing", false, &["it is still so: first-abcd isn't there"]),
            tried("the placement is deleted", false, &[]),
        ];
        insta::assert_snapshot!(plain(&super::tried(&all, OutputLayout::default())));
    }
}
