//! What a trainee reads: the page, hints, what a check says, scores. Nothing is wider than the page but what is copied.

use std::path::PathBuf;

use diagnosis::Finding;
use fleet::argocd::Cli;
use jiff::Timestamp;
use owo_colors::OwoColorize;
use serde::Serialize;

use super::Page;
use super::findings::{self, heading};
use super::style::{BOLD, ERROR, HINT, Look, PLAIN, SUCCESS, WARNING};
use crate::train::exercise::{Exercise, Level};
use crate::train::proof::Tried;
use crate::train::room::Room;
use crate::train::score::{Outcome, Score};

/// Where a trainee can look.
#[derive(Clone, Debug)]
pub struct Contexts {
    /// The kubeconfig.
    pub kubeconfig: PathBuf,
    /// Its contexts.
    pub names: Vec<String>,
    /// What runs there, in a few words.
    pub versions: String,
}

/// A score and the file that it is kept in.
pub type Kept = (PathBuf, Score);

/// An exercise, as `train list -o json` shows it.
#[derive(Debug, Serialize)]
pub struct Listed<'a> {
    name: &'a str,
    title: &'a str,
    level: Level,
    minutes: u32,
    about: &'a str,
    guides: &'a [String],
}

impl<'a> Listed<'a> {
    /// What may be told of it.
    #[must_use]
    pub fn of(exercise: &'a Exercise) -> Self {
        let Exercise { name, title, level, minutes, about, guides, .. } = exercise;
        Self { name, title, level: *level, minutes: *minutes, about, guides }
    }
}

/// All exercises by their levels.
#[must_use]
pub fn list(exercises: &[Exercise], width: usize) -> String {
    let mut page = Page::new(width);
    let longest = exercises.iter().map(|exercise| exercise.name.len()).max().unwrap_or_default();
    let mut level = None;
    for exercise in exercises {
        if level != Some(exercise.level) {
            page.blank();
            heading(&mut page, &exercise.level.to_string());
            level = Some(exercise.level);
        }
        let label = format!("  {:longest$}  {:>2} min  ", exercise.name, exercise.minutes);
        page.item(&label, PLAIN, label.len(), &exercise.about);
    }
    page.blank();
    page.text("Start one with `fleetdrill train start NAME`, or any with `--random --level LEVEL`.");
    page.finish()
}

/// `14:02 UTC`.
#[must_use]
pub fn clock(at: Timestamp) -> String {
    at.strftime("%H:%M UTC").to_string()
}

/// `3 min 20 s`.
fn time(seconds: f64) -> String {
    let seconds = seconds.round().max(0.0);
    let (minutes, rest) = ((seconds / 60.0).floor(), seconds % 60.0);
    if minutes > 0.0 { format!("{minutes} min {rest} s") } else { format!("{rest} s") }
}

/// A text of an exercise with its scenes' names in it; several scenes have different ones.
fn filled(room: &Room, text: &str) -> String {
    let begun = room.broken_at.unwrap_or(room.started_at);
    let text = text.replace("{time}", &clock(begun));
    room.parts.iter().enumerate().fold(text, |text, (n, part)| {
        // `{2:web}` is what the second scene calls web; without a number it is the first that knows the name.
        let marked = text.replace(&format!("{{{}:", n + 1), "{");
        part.scene.fill(&marked)
    })
}

/// The page at night, and how to go on from there.
#[must_use]
pub fn page(room: &Room, exercise: &Exercise, contexts: &Contexts, cli: Option<&Cli>, width: usize) -> String {
    let mut page = Page::new(width);
    let gone = Timestamp::now().duration_since(room.broken_at.unwrap_or(room.started_at));
    heading(&mut page, &format!("{} ({}, {} min)", exercise.title, exercise.level, exercise.minutes));
    page.blank();
    for paragraph in filled(room, &exercise.page).split("\n\n") {
        page.indented(2, |page| page.text(&paragraph.split_whitespace().collect::<Vec<_>>().join(" ")));
        page.blank();
    }
    if gone.as_secs() > 10 {
        page.text(&format!("{} have gone by, {} of 3 hints.", time(gone.as_secs_f64()), room.hints));
        page.blank();
    }
    page.text(&format!("Contexts: {}. {}.", contexts.names.join(", "), contexts.versions));
    page.unwrapped(&format!("  export KUBECONFIG={}", contexts.kubeconfig.display()));
    page.unwrapped("  kubectl --context hub get memberclusters");
    if let Some(cli) = cli {
        page.unwrapped(&format!("  ARGOCD_CONFIG_DIR={} {} app list", cli.config_dir.display(), cli.program.display()));
    }
    for repository in room.parts.iter().flat_map(|part| part.scene.repositories().collect::<Vec<_>>()) {
        page.unwrapped(&format!("  git -C {} log -p", repository.trim_start_matches("file://")));
    }
    page.blank();
    let name = named(room);
    for (command, what) in [
        ("hint", "the next of three"),
        ("diagnose CODE-OR-WORDS", "say what the cause is"),
        ("restart AGENT", "the hub-agent, or a member's"),
        ("check", "once it is repaired"),
        ("solution", "give up; `stop` ends it without"),
    ] {
        let command = format!("fleetdrill train {command}{name}");
        page.item(&format!("  {command:<44}"), PLAIN, 46, what);
    }
    page.blank();
    page.text(&format!("Left alone, it ends itself at {}.", clock(room.ends_at)));
    page.finish()
}

/// What tells this exercise from others in a command, where it needs that.
fn named(room: &Room) -> String {
    if room.name == room.exercise { String::new() } else { format!(" --name {}", room.name) }
}

/// One hint.
#[must_use]
pub fn hint(room: &Room, exercise: &Exercise, number: usize, width: usize) -> String {
    let mut page = Page::new(width);
    let label = format!("hint {} of {}: ", number + 1, exercise.hints.len());
    page.item(&label, HINT, 2, &filled(room, &exercise.hints[number]));
    page.finish()
}

/// What becomes of an answer.
#[must_use]
pub fn answered(room: &Room, exercise: &Exercise, right: bool, width: usize) -> String {
    let mut page = Page::new(width);
    let (named, all) = (room.named().len(), exercise.faults.len());
    match (right, named == all) {
        (false, _) => page.item("no: ", ERROR, 2, "that isn't what is behind it."),
        (true, true) if exercise.healthy => {
            page.item("right: ", SUCCESS, 2, "so there is nothing to repair. `fleetdrill train check` ends it.");
        }
        (true, true) => page.item("right: ", SUCCESS, 2, "now repair it, then `fleetdrill train check`."),
        (true, false) => page.item("right: ", SUCCESS, 2, "but it isn't all that is wrong."),
    }
    page.finish()
}

/// What a check says.
#[must_use]
pub fn checked(room: &Room, exercise: &Exercise, missing: &[String], kept: Option<&Kept>, look: Look) -> String {
    let mut page = Page::new(look.width);
    if missing.is_empty() {
        let (holds, why) = if exercise.healthy {
            ("that was it", "nothing was broken, and you left it so.")
        } else {
            ("it holds", "the symptom is gone and stays gone, and a fresh change goes through.")
        };
        page.item(&format!("{} {holds}: ", look.symbols.passed), SUCCESS, 2, why);
        page.blank();
        page.text(&exercise.teaches);
    } else {
        page.item(&format!("{} not yet", look.symbols.failed), ERROR, 2, "");
        for line in missing {
            page.item("  - ", PLAIN, 4, line);
        }
    }
    write_score(&mut page, room, kept);
    page.finish()
}

fn write_score(page: &mut Page, room: &Room, kept: Option<&Kept>) {
    let Some((path, score)) = kept else { return };
    page.blank();
    page.item("score: ", BOLD, 2, &line(score));
    page.unwrapped(&format!("  {}", path.display()));
    page.unwrapped(&format!("  fleetdrill train stop{}", named(room)));
}

/// `repaired after 12 min 3 s, cause named after 5 min 10 s, 1 hint, 0 wrong answers, 1 failed check`.
fn line(score: &Score) -> String {
    let how = match (score.outcome, score.seconds_to_repair) {
        (Outcome::Repaired, Some(seconds)) => format!("repaired after {}", time(seconds)),
        (Outcome::Repaired, None) => "repaired".into(),
        (Outcome::Solution, _) => "the solution was asked for".into(),
        (Outcome::Stopped, _) => "stopped".into(),
    };
    let cause = match score.seconds_to_diagnosis {
        Some(seconds) => format!("the cause named after {}", time(seconds)),
        None => "the cause not named".into(),
    };
    let count = |n: usize, one: &str| format!("{n} {one}{}", if n == 1 { "" } else { "s" });
    let counts = [
        count(score.hints, "hint"),
        count(score.wrong_answers, "wrong answer"),
        count(score.failed_checks, "failed check"),
    ];
    format!("{how}, {cause}, {}", counts.join(", "))
}

/// The evidence and the commands.
#[must_use]
pub fn solution(room: &Room, exercise: &Exercise, found: &[Finding], kept: Option<&Kept>, width: usize) -> String {
    let mut page = Page::new(width);
    page.text(&exercise.teaches);
    page.blank();
    let evidence: Vec<&Finding> = found.iter().filter(|finding| is_about(exercise, finding)).collect();
    for finding in &evidence {
        findings::write(&mut page, finding);
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
    for (fault, part) in exercise.faults.iter().zip(&room.parts) {
        for command in &fault.commands {
            page.unwrapped(&format!("  {}", part.scene.fill(command)));
        }
    }
    page.blank();
    page.text("The exercise is over; its fleet stays up for a look.");
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

/// Scores side by side: one line each.
#[must_use]
pub fn report(scores: &[Score], width: usize) -> String {
    let mut page = Page::new(width);
    if scores.is_empty() {
        page.text("No exercise has ended so far.");
        return page.finish();
    }
    let widest = |of: fn(&Score) -> usize, least: usize| scores.iter().map(of).max().unwrap_or_default().max(least);
    let (who, what) = (widest(|s| s.trainee.chars().count(), 3), widest(|s| s.exercise.len(), 8));
    let heads = format!("{:who$}  {:what$}  {:>9}  {:>9}  hints  wrong  failed", "who", "exercise", "cause", "repair");
    page.styled(&heads.style(BOLD).to_string());
    let mut sorted: Vec<&Score> = scores.iter().collect();
    sorted.sort_by(|a, b| a.exercise.cmp(&b.exercise).then(a.started_at.cmp(&b.started_at)));
    for score in sorted {
        let short = |seconds: Option<f64>, other: &str| {
            seconds.map_or(other.to_owned(), |s| format!("{}:{:02}", (s / 60.0).floor(), (s % 60.0).floor()))
        };
        let repair = match score.outcome {
            Outcome::Repaired => short(score.seconds_to_repair, "-"),
            outcome => outcome.to_string(),
        };
        page.styled(&format!(
            "{:who$}  {:what$}  {:>9}  {repair:>9}  {:>5}  {:>5}  {:>6}",
            super::clean(&score.trainee),
            super::clean(&score.exercise),
            short(score.seconds_to_diagnosis, "-"),
            score.hints,
            score.wrong_answers,
            score.failed_checks
        ));
    }
    page.finish()
}

/// What each try of an exercise has shown.
#[must_use]
pub fn tried(all: &[Tried], look: Look) -> String {
    let mut page = Page::new(look.width);
    let mut exercise = None;
    for tried in all {
        if exercise != Some(&tried.exercise) {
            page.blank();
            heading(&mut page, &tried.exercise);
            exercise = Some(&tried.exercise);
        }
        let good = tried.is_as_it_should();
        let (sign, style) = if good { (look.symbols.passed, SUCCESS) } else { (look.symbols.failed, ERROR) };
        let is = match (&tried.error, tried.missing.first()) {
            (Some(error), _) => format!("couldn't be tried: {error}"),
            (None, None) => "passes the check".to_owned(),
            (None, Some(missing)) => format!("doesn't pass: {missing}"),
        };
        page.item(&format!("{sign} "), style, 4, &format!("{}: {is}", tried.deed));
    }
    page.blank();
    let bad = all.iter().filter(|tried| !tried.is_as_it_should()).count();
    let style = if bad == 0 { SUCCESS } else { WARNING };
    page.item("", style, 0, &format!("{} as they should be, {bad} not", all.len() - bad));
    page.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::style::WIDTH;
    use crate::train::exercise;

    fn plain(text: &str) -> String {
        anstream::adapter::strip_str(text).to_string()
    }

    fn score(trainee: &str, exercise: &str, outcome: Outcome) -> Score {
        let repaired = outcome == Outcome::Repaired;
        Score {
            id: "abcd".into(),
            exercise: exercise.into(),
            level: Level::Beginner,
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
            score("ann", "empty-shop", Outcome::Repaired),
            score("ben", "empty-shop", Outcome::Solution),
            score("ann", "friday-release", Outcome::Stopped),
        ];
        let report = plain(&report(&scores, WIDTH));
        assert!(report.lines().all(|line| line.chars().count() <= WIDTH), "{report}");
        insta::assert_snapshot!(report);
    }

    #[test]
    fn a_score_s_line() {
        insta::assert_snapshot!(line(&score("ann", "empty-shop", Outcome::Repaired)));
    }

    #[test]
    fn tries() {
        let tried = |deed: &str, should_pass: bool, missing: &[&str]| Tried {
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
        insta::assert_snapshot!(plain(&super::tried(&all, Look::default())));
    }
}
