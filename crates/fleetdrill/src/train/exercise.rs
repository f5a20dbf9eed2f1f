//! Exercises, from `exercises/*.yaml`: each names the scenarios that break its fleet and adds what a trainee reads.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use fleet::capability::Capabilities;
use gherkin::{Feature, Step, StepType};
use include_dir::{Dir, include_dir};
use serde::{Deserialize, Serialize};
use steps::MayDiffer;
use thiserror::Error;

use super::stage;
use crate::suite::{self, Suite, SuiteError};

/// The built-in exercises.
static BUILT_IN: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../exercises");

/// What stands for the number of a check in its steps, so that what each makes has a name of its own.
const CHECK: &str = "{check}";

/// An exercise that can't be used.
#[derive(Debug, Error)]
pub enum ExerciseError {
    /// A file can't be read.
    #[error("failed to read {}", path.display())]
    Read {
        /// The file or directory.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// A file isn't an exercise.
    #[error("{file}: {why}")]
    Malformed {
        /// The file.
        file: String,
        /// What is wrong.
        why: String,
    },
    /// A feature or step that it names can't be used.
    #[error("{file}: {source}")]
    Steps {
        /// The exercise's file.
        file: String,
        /// What is wrong.
        source: SuiteError,
    },
    /// No exercise has that name.
    #[error("there is no exercise `{name}`")]
    Unknown {
        /// The name.
        name: String,
        /// Names that are near to it.
        nearest: Vec<String>,
    },
    /// It isn't for this version of KubeFleet.
    #[error("exercise `{name}` can't be done with KubeFleet {version}, which never gets into its trouble")]
    OtherVersion {
        /// The exercise.
        name: String,
        /// The version.
        version: String,
    },
}

impl ExerciseError {
    /// What to do about it.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Unknown { nearest, .. } if !nearest.is_empty() => {
                Some(format!("did you mean {}?", nearest.join(" or ")))
            }
            Self::Unknown { .. } => Some("`fleetdrill train list` shows them".into()),
            Self::Malformed { .. } => Some("docs/writing-exercises.md says what an exercise is made of".into()),
            Self::Steps { source, .. } => source.hint(),
            Self::OtherVersion { .. } => Some("--kubefleet takes another version".into()),
            Self::Read { .. } => None,
        }
    }
}

/// How much one has to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ValueEnum, strum::Display)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum Level {
    /// The guide has the answer, and the object says it.
    Beginner,
    /// Several objects have to be looked at.
    Intermediate,
    /// The symptom leads astray, or there is more than one cause.
    Expert,
}

/// An exercise.
#[derive(Clone, Debug)]
pub struct Exercise {
    /// Its name, which is its file's and says nothing of the cause.
    pub name: String,
    /// A few words that say as little.
    pub title: String,
    /// How much one has to know.
    pub level: Level,
    /// How long it should take.
    pub minutes: u32,
    /// What it is about, without the cause.
    pub about: String,
    /// What one has learned after it.
    pub teaches: String,
    /// The guides that help, by their short names.
    pub guides: Vec<String>,
    /// What the page at night says; `{name}` stands for the real name of what the scenario calls so, `{time}` for when it began.
    pub page: String,
    /// Where to look, which field, what it means.
    pub hints: [String; 3],
    /// Whether nothing is broken, which is the right answer.
    pub healthy: bool,
    /// What is broken, or looks so.
    pub faults: Vec<Fault>,
}

/// One fault of an exercise.
#[derive(Clone, Debug)]
pub struct Fault {
    /// The features with one scenario each that induce it, for different versions of KubeFleet.
    candidates: Vec<Feature>,
    /// A step of the scenario, behind the remedy, that begins something else.
    until: Option<String>,
    /// The failure codes that name its cause.
    pub codes: Vec<String>,
    /// Words that name it, too: all words of one of these have to stand near each other in an answer.
    pub words: Vec<String>,
    /// What is wrong, as the page says it.
    pub symptom: String,
    /// How many seconds it is waited for the symptom to be gone.
    pub patience: u64,
    /// What has to be so again, in steps.
    again: String,
    /// A fresh change that has to go through the whole path, in steps.
    fresh: String,
    /// What the remedy takes away or changes.
    pub may: MayDiffer,
    /// The remedy as commands for a shell: `train solution` prints them, `train verify` runs them.
    pub commands: Vec<String>,
    /// Repairs that tempt and don't hold.
    pub wrong: Vec<Wrong>,
}

/// A repair that doesn't hold.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wrong {
    /// What is done, in a few words.
    pub name: String,
    /// In steps.
    steps: String,
}

/// What a fleet needs for an exercise beside KubeFleet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ExerciseNeeds {
    /// Argo CD.
    pub argocd: bool,
    /// Something that plays or runs pods.
    pub pods: bool,
}

/// The steps of a fault on one version.
#[derive(Clone, Debug)]
pub struct Script {
    /// The feature, with one scenario.
    pub feature: Feature,
    /// Everything is well.
    pub healthy: Vec<Step>,
    /// The fault comes, and is there.
    pub broken: Vec<Step>,
    /// What the scenario does against it, and asserts.
    pub remedy: Vec<Step>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    title: String,
    level: Level,
    minutes: u32,
    about: String,
    teaches: String,
    guides: Vec<String>,
    page: String,
    hints: [String; 3],
    #[serde(default)]
    healthy: bool,
    faults: Vec<WrittenFault>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenFault {
    feature: PathBuf,
    scenario: String,
    #[serde(default)]
    until: Option<String>,
    codes: Vec<String>,
    words: Vec<String>,
    symptom: String,
    #[serde(default = "patience")]
    patience: u64,
    again: String,
    #[serde(default)]
    fresh: String,
    #[serde(default)]
    may: MayDiffer,
    commands: Vec<String>,
    wrong: Vec<Wrong>,
}

/// Controllers report within a second, and a fleet needs a few more to be well again.
fn patience() -> u64 {
    30
}

/// All exercises, built in or those of a directory, in the order of their levels and names.
///
/// # Errors
/// When a file can't be read or isn't an exercise.
pub fn all(dir: Option<&Path>) -> Result<Vec<Exercise>, ExerciseError> {
    let features = suite::built_in().map_err(|source| ExerciseError::Steps { file: "features".into(), source })?;
    let mut exercises = match dir {
        Some(dir) => read_dir(dir, &features)?,
        None => BUILT_IN
            .files()
            .map(|file| read(file.path(), file.contents_utf8().unwrap_or_default(), None, &features))
            .collect::<Result<_, _>>()?,
    };
    exercises.sort_by(|a: &Exercise, b| (a.level, &a.name).cmp(&(b.level, &b.name)));
    Ok(exercises)
}

/// The exercise of that name.
///
/// # Errors
/// When there is none; as [`all`].
pub fn find(name: &str, dir: Option<&Path>) -> Result<Exercise, ExerciseError> {
    let mut exercises = all(dir)?;
    if let Some(found) = exercises.iter().position(|exercise| exercise.name == name) {
        return Ok(exercises.swap_remove(found));
    }
    let mut near: Vec<(f64, String)> = exercises
        .into_iter()
        .map(|e| (strsim::jaro_winkler(name, &e.name), e.name))
        .filter(|(like, _)| *like > 0.7)
        .collect();
    near.sort_by(|a, b| b.0.total_cmp(&a.0));
    let nearest = near.into_iter().take(2).map(|(_, name)| format!("`{name}`")).collect();
    Err(ExerciseError::Unknown { name: name.to_owned(), nearest })
}

fn read_dir(dir: &Path, features: &[Feature]) -> Result<Vec<Exercise>, ExerciseError> {
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |source| ExerciseError::Read { path, source }
    };
    let mut exercises = Vec::new();
    for entry in std::fs::read_dir(dir).map_err(failed(dir))? {
        let path = entry.map_err(failed(dir))?.path();
        if path.extension().is_some_and(|extension| extension == "yaml") {
            let text = std::fs::read_to_string(&path).map_err(failed(&path))?;
            exercises.push(read(&path, &text, Some(dir), features)?);
        }
    }
    if exercises.is_empty() {
        let why = "no exercise is in this directory: files that end with .yaml".to_owned();
        return Err(ExerciseError::Malformed { file: dir.display().to_string(), why });
    }
    Ok(exercises)
}

fn read(path: &Path, text: &str, dir: Option<&Path>, features: &[Feature]) -> Result<Exercise, ExerciseError> {
    let file = path.display().to_string();
    let malformed = |why: String| ExerciseError::Malformed { file: file.clone(), why };
    let written: Written = serde_saphyr::from_str(text).map_err(|error| malformed(error.to_string()))?;
    let name = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default().to_owned();
    if clusters::state_dir::check_name(&name).is_err() {
        return Err(malformed("the file's name becomes a fleet's: lower-case letters, digits and dashes".into()));
    }
    if written.faults.is_empty() {
        return Err(malformed("it has no faults: an exercise names one scenario at least".into()));
    }
    if written.faults.len() > stage::MOST_FAULTS {
        let why = format!("it has {} faults: an exercise has at most {}", written.faults.len(), stage::MOST_FAULTS);
        return Err(malformed(why));
    }
    let faults =
        written.faults.into_iter().map(|fault| read_fault(fault, dir, features, &file)).collect::<Result<_, _>>()?;
    let Written { title, level, minutes, about, teaches, guides, page, hints, healthy, .. } = written;
    Ok(Exercise { name, title, level, minutes, about, teaches, guides, page, hints, healthy, faults })
}

fn read_fault(
    fault: WrittenFault,
    dir: Option<&Path>,
    features: &[Feature],
    file: &str,
) -> Result<Fault, ExerciseError> {
    let wrong_steps = |source| ExerciseError::Steps { file: file.to_owned(), source };
    let own = dir.map(|dir| dir.join(&fault.feature)).filter(|path| path.exists());
    let own: Vec<Feature> =
        own.map(|path| suite::read_file(&path)).transpose().map_err(wrong_steps)?.into_iter().collect();
    let of_file =
        features.iter().filter(|feature| feature.path.as_ref().is_some_and(|path| path.ends_with(&fault.feature)));
    let candidates: Vec<Feature> = own
        .iter()
        .chain(of_file)
        .flat_map(|feature| feature.scenarios.iter().map(move |scenario| (feature, scenario)))
        .filter(|(_, scenario)| scenario.name == fault.scenario)
        .map(|(feature, scenario)| Feature { scenarios: vec![scenario.clone()], ..feature.clone() })
        .collect();
    if candidates.is_empty() {
        let why = format!("{} has no scenario \"{}\"", fault.feature.display(), fault.scenario);
        return Err(ExerciseError::Malformed { file: file.to_owned(), why });
    }
    let WrittenFault { until, codes, words, symptom, patience, again, fresh, may, commands, wrong, .. } = fault;
    let fault = Fault { candidates, until, codes, words, symptom, patience, again, fresh, may, commands, wrong };
    let texts = [fault.again.as_str(), &fault.fresh.replace(CHECK, "1")];
    for text in texts.into_iter().chain(fault.wrong.iter().map(|wrong| wrong.steps.as_str())) {
        let feature = as_feature(text, file).map_err(wrong_steps)?;
        if let Some(feature) = feature {
            Suite { features: vec![feature] }.check_later_steps().map_err(wrong_steps)?;
        }
    }
    if let Some(code) = fault.codes.iter().find(|code| diagnosis::entry(code).is_none()) {
        return Err(ExerciseError::Malformed { file: file.to_owned(), why: format!("{code} is no failure code") });
    }
    Ok(fault)
}

/// Steps as they stand in an exercise, as a feature's.
fn as_feature(text: &str, file: &str) -> Result<Option<Feature>, SuiteError> {
    if text.trim().is_empty() {
        return Ok(None);
    }
    suite::parse(Path::new(file), &format!("Feature: an exercise\n  Scenario: its steps\n{text}\n")).map(Some)
}

/// The steps of a text that was read before.
fn parsed(text: &str) -> Vec<Step> {
    let feature = as_feature(text, "exercise").ok().flatten();
    feature.into_iter().flat_map(|feature| feature.scenarios).flat_map(|scenario| scenario.steps).collect()
}

impl Wrong {
    /// What is done.
    #[must_use]
    pub fn steps(&self) -> Vec<Step> {
        parsed(&self.steps)
    }
}

impl Fault {
    /// What has to be so again.
    #[must_use]
    pub fn again(&self) -> Vec<Step> {
        parsed(&self.again)
    }

    /// The fresh change of a check, counted from 1.
    #[must_use]
    pub fn fresh(&self, check: usize) -> Vec<Step> {
        parsed(&self.fresh.replace(CHECK, &check.to_string()))
    }

    /// The scenario's steps on a version of KubeFleet; none where it can't get into this.
    #[must_use]
    pub fn script(&self, kubefleet: &Capabilities) -> Option<Script> {
        let fits = |feature: &&Feature| {
            suite::needed(feature, &feature.scenarios[0]).is_ok_and(|needed| needed.admits(kubefleet))
        };
        let feature = self.candidates.iter().find(fits)?.clone();
        let mut steps: Vec<Step> = suite::steps(&feature, &feature.scenarios[0]).cloned().collect();
        if let Some(until) = &self.until {
            let end = steps.iter().position(|step| step.value == *until);
            steps.truncate(end.unwrap_or(steps.len()));
        }
        let mut remedy = steps.split_off(suite::remedy(&steps).unwrap_or(steps.len()));
        // Whether a fresh change goes through is what a check finds out.
        remedy.truncate(remedy.iter().position(is_fresh_change).unwrap_or(remedy.len()));
        let fault = steps.iter().position(|step| step.ty != StepType::Given).unwrap_or(steps.len());
        let broken = steps.split_off(fault);
        Some(Script { feature, healthy: steps, broken, remedy })
    }
}

/// Whether a scenario proves here that the whole path works.
fn is_fresh_change(step: &Step) -> bool {
    let text = step.value.as_str();
    (text.starts_with("the resources of placement") && text.ends_with("change"))
        || text.starts_with("a change to the resources")
}

impl Exercise {
    /// The steps of all its faults on a version of KubeFleet.
    ///
    /// # Errors
    /// When the version can't get into it.
    pub fn scripts(&self, kubefleet: &Capabilities, version: &str) -> Result<Vec<Script>, ExerciseError> {
        let scripts: Option<Vec<Script>> = self.faults.iter().map(|fault| fault.script(kubefleet)).collect();
        scripts.ok_or_else(|| ExerciseError::OtherVersion { name: self.name.clone(), version: version.to_owned() })
    }

    /// What a fleet needs for it beside KubeFleet.
    #[must_use]
    pub fn needs(&self) -> ExerciseNeeds {
        let suite = self.suite();
        ExerciseNeeds { argocd: suite.needs_argocd(), pods: suite.needs_pods() }
    }

    /// The scenarios that it may need, of any version.
    #[must_use]
    pub fn suite(&self) -> Suite {
        Suite { features: self.faults.iter().flat_map(|fault| fault.candidates.clone()).collect() }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn built_in() -> Vec<Exercise> {
        all(None).expect("usable exercises")
    }

    #[test]
    fn there_are_exercises_over_all_guides_and_levels() {
        let exercises = built_in();
        assert!(exercises.len() >= 12);
        let guides: BTreeSet<&str> = exercises.iter().flat_map(|e| &e.guides).map(String::as_str).collect();
        let known: BTreeSet<&str> = crate::guides::guides().iter().map(|guide| guide.name.as_str()).collect();
        assert_eq!(guides, known);
        let levels: BTreeSet<Level> = exercises.iter().map(|e| e.level).collect();
        assert_eq!(levels.len(), 3);
        assert!(exercises.iter().filter(|e| e.faults.len() > 1).count() >= 2);
        assert_eq!(exercises.iter().filter(|e| e.healthy).count(), 1);
    }

    #[test]
    fn each_has_two_wrong_repairs_and_commands_for_the_right_one() {
        for exercise in built_in() {
            for fault in &exercise.faults {
                assert!(fault.wrong.len() >= 2, "{}", exercise.name);
                assert!(!fault.commands.is_empty() && !fault.words.is_empty(), "{}", exercise.name);
            }
        }
    }

    #[test]
    fn what_is_told_before_the_solution_does_not_name_the_cause() {
        for exercise in built_in() {
            let told =
                [&exercise.name, &exercise.title, &exercise.about, &exercise.page].map(String::as_str).join("\n");
            for fault in exercise.faults.iter().filter(|_| !exercise.healthy) {
                assert!(!fault.is_named_by(&told), "{} names {:?}", exercise.name, fault.codes);
                assert!(!fault.is_named_by(&fault.symptom), "{} names {:?}", exercise.name, fault.codes);
            }
        }
    }

    #[test]
    fn the_readme_solves_no_exercise() {
        let readme = include_str!("../../../../README.md");
        let codes = crate::train::answer::codes(readme);
        assert!(!codes.is_empty(), "the README shows a finding");
        for fault in built_in().iter().flat_map(|exercise| &exercise.faults) {
            assert!(!codes.iter().any(|code| fault.codes.iter().any(|own| own == code)), "{:?}", fault.codes);
            for scenario in fault.candidates.iter().flat_map(|feature| &feature.scenarios) {
                assert!(!readme.contains(&scenario.name), "{}", scenario.name);
            }
        }
    }

    #[test]
    fn hints_go_from_where_to_what() {
        for exercise in built_in() {
            let [first, _, last] = &exercise.hints;
            for fault in exercise.faults.iter().filter(|_| !exercise.healthy) {
                assert!(!fault.is_named_by(first), "{}: the first hint names {:?}", exercise.name, fault.codes);
                assert!(fault.is_named_by(last), "{}: the last hint doesn't name {:?}", exercise.name, fault.codes);
            }
        }
    }

    #[test]
    fn a_scenario_is_cut_where_the_fault_and_the_remedy_begin() {
        let exercise = find("wrong-turn", None).expect("an exercise");
        let can = Capabilities::default();
        let script = exercise.faults[0].script(&can).expect("a script");
        let last = |steps: &[Step]| steps.last().map(|step| step.value.clone()).unwrap_or_default();
        assert_eq!(last(&script.healthy), "a resource snapshot of placement \"web\" is taken");
        assert_eq!(last(&script.broken), "the diagnosis of update run \"release\" is KF-UR-001");
        assert_eq!(script.remedy[0].value, "update run \"release\" is deleted");
        assert_eq!(last(&script.remedy), "the diagnosis finds nothing");
    }

    #[test]
    fn an_unknown_exercise_has_neighbours() {
        let error = find("half-release", None).expect_err("no such exercise");
        assert_eq!(error.to_string(), "there is no exercise `half-release`");
        assert!(
            error.hint().is_some_and(|hint| hint.starts_with("did you mean `half-a-release`")),
            "{:?}",
            error.hint()
        );
    }

    #[test]
    fn what_is_wrong_with_an_exercise_is_said_with_its_file() {
        let text = include_str!("../../../../exercises/wrong-turn.yaml");
        let dir = tempfile::tempdir().expect("a directory");
        let is = |text: String, part: &str| {
            std::fs::write(dir.path().join("mine.yaml"), text).expect("written");
            let error = all(Some(dir.path())).expect_err("malformed").to_string();
            assert!(error.contains("mine.yaml") && error.contains(part), "{error}");
        };
        is(text.replace("minutes: 8", "minutes: soon"), "minutes");
        is(text.replace("teaches:", "teach:"), "teach");
        is(text.replace("snapshot index that doesn't exist", "snapshot index"), "has no scenario");
        let (head, fault) = text.split_once("faults:\n").expect("faults");
        is(format!("{head}faults:\n{}", fault.repeat(27)), "it has 27 faults: an exercise has at most 26");
        is(text.replace("[KF-UR-001]", "[KF-UR-999]"), "KF-UR-999 is no failure code");
        is(text.replace("Then placement \"web\" becomes", "Then placement \"web\" became"), "can't be run");
    }
}
