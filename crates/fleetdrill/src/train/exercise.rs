//! Exercises, from `exercises/*.yaml`. Each exercise names the scenarios that break its fleet, and has the texts for a
//! trainee.

use std::path::{Path, PathBuf};

use fleet::capability::Capabilities;
use gherkin::{Feature, Step, StepType};
use include_dir::{Dir, include_dir};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use steps::{AllowedDifferences, StepRole, needs};
use thiserror::Error;

use super::fault_names::MOST_FAULTS;
use crate::cli::ExerciseLevel;
use crate::failure_codes;
use crate::suite::{self, Suite, SuiteError};

/// Built-in exercises.
static BUILT_IN: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../exercises");

/// Placeholder for the number of a check in its steps, so that each check creates objects with names of their own.
const CHECK: &str = "{check}";

/// Error about an exercise that can't be used.
#[derive(Debug, Error)]
pub enum ExerciseError {
    /// A file can't be read.
    #[error("failed to read {}", path.display())]
    Read {
        /// Path of the file or directory.
        path: PathBuf,
        /// Underlying I/O error.
        #[source]
        source: std::io::Error,
    },
    /// A file isn't a valid exercise.
    #[error("{file}: {why}")]
    Malformed {
        /// Path of the file.
        file: String,
        /// Description of the problem.
        why: String,
    },
    /// A feature or step that the exercise names can't be used.
    #[error("{file}: {source}")]
    Steps {
        /// File of the exercise.
        file: String,
        /// Underlying error.
        source: SuiteError,
    },
    /// No exercise has this name.
    #[error("there is no exercise `{name}`")]
    Unknown {
        /// Requested name.
        name: String,
        /// Similar names.
        nearest: Vec<String>,
    },
    /// The exercise doesn't apply to this version of KubeFleet.
    #[error("exercise `{name}` can't be done with KubeFleet {version}, which never gets into its trouble")]
    OtherVersion {
        /// Name of the exercise.
        name: String,
        /// Version of KubeFleet.
        version: String,
    },
}

impl ExerciseError {
    /// Returns a hint for the user.
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

/// Knowledge that an exercise requires.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, JsonSchema, Serialize, Deserialize, strum::Display)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum SkillLevel {
    /// The guide has the answer, and the object says it.
    Beginner,
    /// Several objects have to be looked at.
    Intermediate,
    /// The symptom leads astray, or there is more than one cause.
    Expert,
}

impl From<ExerciseLevel> for SkillLevel {
    fn from(level: ExerciseLevel) -> Self {
        match level {
            ExerciseLevel::Beginner => Self::Beginner,
            ExerciseLevel::Intermediate => Self::Intermediate,
            ExerciseLevel::Expert => Self::Expert,
        }
    }
}

/// Exercise as read from its file.
#[derive(Clone, Debug)]
pub struct Exercise {
    /// Name of the exercise and stem of its file; it doesn't reveal the cause.
    pub name: String,
    /// Title of a few words; it doesn't reveal the cause.
    pub title: String,
    /// Knowledge that the exercise requires.
    pub level: SkillLevel,
    /// Expected duration in minutes.
    pub minutes: u32,
    /// Short description that doesn't reveal the cause.
    pub about: String,
    /// Text about the cause, shown after the exercise.
    pub teaches: String,
    /// Guides that help, by their short names.
    pub guides: Vec<String>,
    /// Text of the page (the alert). `{name}` is replaced by the real name of the scenario's object `name`, `{time}` by
    /// the time when the fleet was broken.
    pub page: String,
    /// Hints: where to look, which field, what it means.
    pub hints: [String; 3],
    /// True if nothing is broken, which is the right answer then.
    pub healthy: bool,
    /// Faults, or the appearance of faults if nothing is broken.
    pub faults: Vec<Fault>,
}

/// Fault of an exercise.
#[derive(Clone, Debug)]
pub struct Fault {
    /// Features with one scenario each that induces the fault, for different versions of KubeFleet.
    candidates: Vec<Feature>,
    /// Step after the remedy at which the scenario begins another subject; it and later steps are cut off.
    until: Option<String>,
    /// Failure codes that name the cause.
    pub codes: Vec<String>,
    /// Words that name the cause, too: all words of one entry have to stand near each other in an answer.
    pub words: Vec<String>,
    /// Symptom, as described on the page.
    pub symptom: String,
    /// Seconds that a check waits for the symptom to disappear.
    pub patience: u64,
    /// Steps that assert the repaired state.
    again: String,
    /// Steps of a fresh change that has to reach the members.
    fresh: String,
    /// Objects that the remedy deletes or changes.
    pub may: AllowedDifferences,
    /// Remedy as commands for a shell: `train solution` prints them, `train verify` runs them.
    pub commands: Vec<String>,
    /// Tempting repairs that don't pass the check.
    pub wrong: Vec<WrongRepair>,
}

/// Repair that doesn't pass the check.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WrongRepair {
    /// Description in a few words.
    pub name: String,
    /// Steps of the repair.
    steps: String,
}

/// Needs of an exercise's fleet besides KubeFleet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ExerciseNeeds {
    /// True if the fleet needs Argo CD.
    pub argocd: bool,
    /// True if the fleet needs something that simulates or runs pods.
    pub pods: bool,
}

/// Steps of a fault on one version of KubeFleet.
#[derive(Clone, Debug)]
pub struct FaultSteps {
    /// Feature with one scenario.
    pub feature: Feature,
    /// Steps that create the healthy state.
    pub healthy: Vec<Step>,
    /// Steps that induce and assert the fault.
    pub broken: Vec<Step>,
    /// Steps of the scenario's remedy and its assertions.
    pub remedy: Vec<Step>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawExercise {
    title: String,
    level: SkillLevel,
    minutes: u32,
    about: String,
    teaches: String,
    guides: Vec<String>,
    page: String,
    hints: [String; 3],
    #[serde(default)]
    healthy: bool,
    faults: Vec<RawFault>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawFault {
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
    may: AllowedDifferences,
    commands: Vec<String>,
    wrong: Vec<WrongRepair>,
}

/// Default patience: controllers report within a second, and a fleet needs a few more seconds to recover.
fn patience() -> u64 {
    30
}

/// Returns all exercises, built-in or of a directory, ordered by level and name.
///
/// # Errors
/// Returns an error if a file can't be read or isn't a valid exercise.
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

/// Returns the exercise of this name.
///
/// # Errors
/// Returns an error if there is no such exercise, or for the reasons of [`all`].
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
    let mut exercises = Vec::new();
    for entry in std::fs::read_dir(dir).map_err(|source| unread(dir, source))? {
        let path = entry.map_err(|source| unread(dir, source))?.path();
        if path.extension().is_some_and(|extension| extension == "yaml") {
            let text = std::fs::read_to_string(&path).map_err(|source| unread(&path, source))?;
            exercises.push(read(&path, &text, Some(dir), features)?);
        }
    }
    if exercises.is_empty() {
        let why = "no exercise is in this directory: files that end with .yaml".to_owned();
        return Err(malformed(&dir.display().to_string(), why));
    }
    Ok(exercises)
}

fn malformed(file: &str, why: impl Into<String>) -> ExerciseError {
    ExerciseError::Malformed { file: file.to_owned(), why: why.into() }
}

fn wrong_steps(file: &str, source: SuiteError) -> ExerciseError {
    ExerciseError::Steps { file: file.to_owned(), source }
}

fn unread(path: &Path, source: std::io::Error) -> ExerciseError {
    ExerciseError::Read { path: path.to_owned(), source }
}

fn read(path: &Path, text: &str, dir: Option<&Path>, features: &[Feature]) -> Result<Exercise, ExerciseError> {
    let file = path.display().to_string();
    let written: RawExercise = serde_saphyr::from_str(text).map_err(|error| malformed(&file, error.to_string()))?;
    let name = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default().to_owned();
    if clusters::state_dir::check_name(&name).is_err() {
        return Err(malformed(&file, "the file's name becomes a fleet's: lower-case letters, digits and dashes"));
    }
    if written.faults.is_empty() {
        return Err(malformed(&file, "it has no faults: an exercise names one scenario at least"));
    }
    if written.faults.len() > MOST_FAULTS {
        let why = format!("it has {} faults: an exercise has at most {}", written.faults.len(), MOST_FAULTS);
        return Err(malformed(&file, why));
    }
    let faults =
        written.faults.into_iter().map(|fault| read_fault(fault, dir, features, &file)).collect::<Result<_, _>>()?;
    let RawExercise { title, level, minutes, about, teaches, guides, page, hints, healthy, .. } = written;
    Ok(Exercise { name, title, level, minutes, about, teaches, guides, page, hints, healthy, faults })
}

fn read_fault(fault: RawFault, dir: Option<&Path>, features: &[Feature], file: &str) -> Result<Fault, ExerciseError> {
    let own = dir.map(|dir| dir.join(&fault.feature)).filter(|path| path.exists());
    let own = own.map(|path| suite::read_file(&path)).transpose().map_err(|e| wrong_steps(file, e))?;
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
        return Err(malformed(file, why));
    }
    if let Some(until) = &fault.until
        && let Some(other) = candidates.iter().find(|feature| !has_step(feature, until))
    {
        let path = other.path.as_deref().unwrap_or(&fault.feature).display();
        let why = format!("`until: {until}` is no step of scenario \"{}\" in {path}", fault.scenario);
        return Err(malformed(file, why));
    }
    let RawFault { until, codes, words, symptom, patience, again, fresh, may, commands, wrong, .. } = fault;
    let fault = Fault { candidates, until, codes, words, symptom, patience, again, fresh, may, commands, wrong };
    let texts = [fault.again.as_str(), &fault.fresh.replace(CHECK, "1")];
    for text in texts.into_iter().chain(fault.wrong.iter().map(|wrong| wrong.steps.as_str())) {
        let feature = as_feature(text, file).map_err(|e| wrong_steps(file, e))?;
        if let Some(feature) = feature {
            Suite { features: vec![feature] }.check_later_steps().map_err(|e| wrong_steps(file, e))?;
        }
    }
    if let Some(unknown) = fault.codes.iter().find_map(|code| failure_codes::check(code).err()) {
        return Err(malformed(file, unknown.to_string()));
    }
    Ok(fault)
}

/// True if the feature's only scenario has a step with this text.
fn has_step(feature: &Feature, text: &str) -> bool {
    suite::steps(feature, &feature.scenarios[0]).any(|step| step.value == text)
}

/// Parses the steps of an exercise as a feature; `None` for an empty text.
fn as_feature(text: &str, file: &str) -> Result<Option<Feature>, SuiteError> {
    if text.trim().is_empty() {
        return Ok(None);
    }
    suite::parse(Path::new(file), &format!("Feature: an exercise\n  Scenario: its steps\n{text}\n")).map(Some)
}

/// Returns the steps of a text that was parsed successfully before.
fn parsed(text: &str) -> Vec<Step> {
    let feature = as_feature(text, "exercise").ok().flatten();
    feature.into_iter().flat_map(|feature| feature.scenarios).flat_map(|scenario| scenario.steps).collect()
}

impl WrongRepair {
    /// Returns the steps of the repair.
    #[must_use]
    pub fn steps(&self) -> Vec<Step> {
        parsed(&self.steps)
    }
}

impl Fault {
    /// Returns the steps that assert the repaired state.
    #[must_use]
    pub fn again(&self) -> Vec<Step> {
        parsed(&self.again)
    }

    /// Returns the steps of the fresh change for a check with this number, counted from 1.
    #[must_use]
    pub fn fresh(&self, check: usize) -> Vec<Step> {
        parsed(&self.fresh.replace(CHECK, &check.to_string()))
    }

    /// Returns the scenario's steps on a version of KubeFleet; `None` if the version can't have this fault.
    #[must_use]
    pub fn script(&self, kubefleet: &Capabilities) -> Option<FaultSteps> {
        let mut candidates = self.candidates.iter();
        let feature = candidates.find(|feature| {
            suite::needed(feature, &feature.scenarios[0]).is_ok_and(|needed| needed.admits(kubefleet))
        })?;
        let feature = feature.clone();
        let mut steps: Vec<Step> = suite::steps(&feature, &feature.scenarios[0]).cloned().collect();
        if let Some(until) = &self.until {
            let end = steps.iter().position(|step| step.value == *until);
            steps.truncate(end.unwrap_or(steps.len()));
        }
        let mut remedy = steps.split_off(suite::remedy(&steps).unwrap_or(steps.len()));
        // The check tests itself whether a fresh change goes through.
        remedy.truncate(
            remedy.iter().position(|step| needs(step).role == Some(StepRole::ChangesResources)).unwrap_or(remedy.len()),
        );
        let fault = steps.iter().position(|step| step.ty != StepType::Given).unwrap_or(steps.len());
        let broken = steps.split_off(fault);
        Some(FaultSteps { feature, healthy: steps, broken, remedy })
    }
}

impl Exercise {
    /// Returns the steps of all faults on a version of KubeFleet.
    ///
    /// # Errors
    /// Returns an error if the version can't have one of the faults.
    pub fn scripts(&self, kubefleet: &Capabilities, version: &str) -> Result<Vec<FaultSteps>, ExerciseError> {
        let scripts: Option<Vec<FaultSteps>> = self.faults.iter().map(|fault| fault.script(kubefleet)).collect();
        scripts.ok_or_else(|| ExerciseError::OtherVersion { name: self.name.clone(), version: version.to_owned() })
    }

    /// Returns the needs of the exercise's fleet besides KubeFleet.
    #[must_use]
    pub fn needs(&self) -> ExerciseNeeds {
        let suite = self.suite();
        ExerciseNeeds { argocd: suite.needs_argocd(), pods: suite.needs_pods() }
    }

    /// Returns the scenarios that the exercise may need, for all versions.
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
        // The guides on single conditions are shown by scenarios; their failures aren't exercises.
        let trained = [
            "argocd-sync-failed",
            "azure-work-synchronized",
            "staged-update-run-2025",
            "staged-update-run-2026",
            "work-synchronized",
        ];
        assert!(trained.iter().all(|guide| guides.contains(guide)), "{guides:?}");
        let levels: BTreeSet<SkillLevel> = exercises.iter().map(|e| e.level).collect();
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
    fn an_until_that_is_no_step_of_the_scenario_is_an_error() {
        let text = include_str!("../../../../exercises/silent-treatment.yaml");
        let broken = text.replace("until: the ServiceAccount of", "until: the ServiceAcount of");
        assert_ne!(broken, text);
        let features = suite::built_in().expect("the built-in features");
        let error = read(Path::new("silent-treatment.yaml"), &broken, None, &features).expect_err("no such step");
        assert_eq!(
            error.to_string(),
            "silent-treatment.yaml: `until: the ServiceAcount of member \"east\" on the hub is deleted` is no step of \
             scenario \"The member's rights on the hub are gone, then its identity\" in kubefleet/silent_member.feature"
        );
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
        is(text.replace("[KF-UR-001]", "[KF-UR-999]"), "there is no failure code KF-UR-999; the nearest one is");
        is(text.replace("Then placement \"web\" becomes", "Then placement \"web\" became"), "can't be run");
    }
}
