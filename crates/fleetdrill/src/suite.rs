//! Features: reading them, checking them before anything is started, and selecting scenarios.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use cucumber::feature::Ext as _;
use fleet::capability::Capabilities;
use gherkin::tagexpr::TagOperation;
use gherkin::{Feature, GherkinEnv, Scenario, Step, StepType};
use include_dir::{Dir, include_dir};
use steps::{World, real_time};
use thiserror::Error;

use crate::cli::Shard;
use crate::guides;
use crate::guides::tags::TagError;
use crate::needed::Needed;
use crate::output::shorten;
use crate::step_check::{self, EarlierText};

/// The built-in features.
static BUILT_IN: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../features");

/// What all steps say that assert a failure's diagnosis.
const DIAGNOSED: &str = "the diagnosis of ";

/// What begins a tag that says how long a scenario takes about, such as `@takes-150s`.
const TAKES: &str = "takes-";

/// The seconds that most scenarios take less than; with a member of its own, whose cluster has to start.
const USUAL: u32 = 30;
const USUAL_DISRUPTIVE: u32 = 60;

/// The lines that a feature's file may have. The parser of Gherkin takes time with the square of their number: half a second
/// for so many.
const MOST_LINES: usize = 20_000;

/// The characters that a tag expression may have.
const LONGEST_EXPRESSION: usize = 500;

/// The characters of a wrong tag expression that are quoted.
const MOST_QUOTED: usize = 80;

/// Features that can't be used.
#[derive(Debug, Error)]
pub enum SuiteError {
    /// A file can't be read.
    #[error("failed to read {}", path.display())]
    Read {
        /// The file or directory.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// A file isn't Gherkin.
    #[error("{place} isn't Gherkin: {why}")]
    Syntax {
        /// The file, with line and column where they are known.
        place: String,
        /// What is wrong there.
        why: String,
    },
    /// Steps that nothing defines, or that several definitions fit, and scenarios without steps.
    #[error("{}", undefined_text(.0))]
    Undefined(Vec<Undefined>),
    /// A file that isn't one: a pipe, which may never end, or a device.
    #[error("{} is no regular file", .0.display())]
    NotAFile(PathBuf),
    /// A file with more lines than a feature may have.
    #[error("{} has {lines} lines, and a feature has {MOST_LINES} at most", path.display())]
    TooLong {
        /// The file.
        path: PathBuf,
        /// How many it has.
        lines: usize,
    },
    /// A name that is empty, as a variable in a script that isn't set.
    #[error("the name of a scenario is empty")]
    EmptyName,
    /// A tag expression that can't be understood.
    #[error("`{expression}` is not a tag expression: {why}")]
    Tags {
        /// The expression.
        expression: String,
        /// Why.
        why: String,
    },
    /// A tag that should say for which versions of KubeFleet a scenario is, or how long it takes, and doesn't.
    #[error("{place}: {why}")]
    Tag {
        /// The scenario's file and line.
        place: String,
        /// What is wrong.
        why: String,
    },
    /// A tag that should name a guide's statement, and doesn't.
    #[error("{place}: {wrong}")]
    Statement {
        /// The scenario's file and line.
        place: String,
        /// What is wrong.
        wrong: TagError,
    },
    /// Nothing is left to run.
    #[error("no scenario is selected by {what}")]
    Empty {
        /// The selection.
        what: String,
        /// A name that is near to it.
        nearest: Option<String>,
    },
}

/// A step that can't be run.
#[derive(Debug)]
pub struct Undefined {
    /// The feature's file.
    pub file: String,
    /// The step's line.
    pub line: usize,
    /// Keyword and text.
    pub step: String,
    /// What is wrong with it.
    pub why: String,
}

fn undefined_text(undefined: &[Undefined]) -> String {
    let one = |u: &Undefined| format!("\n  {}:{}: {}\n    {}", u.file, u.line, u.step, u.why);
    let steps: String = undefined.iter().map(one).collect();
    let n = undefined.len();
    format!("{n} {} of the features can't be run:{steps}", if n == 1 { "line" } else { "lines" })
}

impl SuiteError {
    /// What to do about it.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Undefined(_) => Some("`fleetdrill list --steps` shows the steps there are".into()),
            Self::Tags { .. } => Some("write it like: @drill and not (@disruptive or @pods)".into()),
            Self::Statement { wrong: TagError { nearest: Some(nearest), .. }, .. } => {
                Some(format!("did you mean {nearest}?"))
            }
            Self::Statement { .. } => Some("`fleetdrill guides GUIDE` shows the statements there are".into()),
            Self::Empty { nearest: Some(nearest), .. } => Some(format!("did you mean \"{nearest}\"?")),
            Self::Empty { .. } => Some("`fleetdrill list` shows the scenarios there are".into()),
            Self::EmptyName => Some("leave it out to select all; is a variable in a script not set?".into()),
            Self::TooLong { .. } => {
                Some("split it into several files, and give their directory with --features".into())
            }
            Self::Read { .. } | Self::NotAFile(_) | Self::Syntax { .. } | Self::Tag { .. } => None,
        }
    }
}

/// What to select.
#[derive(Clone, Debug, Default)]
pub struct Selection<'a> {
    /// Parts of names, or files.
    pub select: &'a [String],
    /// A tag expression.
    pub tags: Option<&'a str>,
    /// A directory instead of the built-in features.
    pub features: Option<&'a Path>,
    /// A part of what is selected.
    pub shard: Option<Shard>,
}

/// Features with only the scenarios that were selected, outlines expanded.
#[derive(Clone, Debug)]
pub struct Suite {
    /// In the order of their files' names.
    pub features: Vec<Feature>,
}

impl Suite {
    /// Reads and selects, and checks that every step of what is selected is defined.
    ///
    /// # Errors
    /// When a file can't be read or isn't Gherkin, a step is undefined, or nothing is selected.
    pub fn load(selection: &Selection<'_>) -> Result<Self, SuiteError> {
        if selection.select.iter().any(|name| name.trim().is_empty()) {
            return Err(SuiteError::EmptyName);
        }
        let (mut files, names): (Vec<&String>, Vec<&String>) =
            selection.select.iter().partition(|s| Path::new(s).extension().is_some_and(|e| e == "feature"));
        let mut features = match selection.features {
            Some(dir) => read_dir(dir)?,
            None if files.is_empty() => built_in()?,
            None => Vec::new(),
        };
        // A scenario is known by its file and line.
        let mut known = HashSet::new();
        files.retain(|file| known.insert(std::fs::canonicalize(file).unwrap_or_else(|_| PathBuf::from(file))));
        for file in files {
            features.push(read_file(Path::new(file))?);
        }
        features.iter_mut().for_each(number_namesakes);
        let all_names: Vec<String> = scenario_names(&features);
        select(&mut features, selection.tags, &names)?;
        if let Some(shard) = selection.shard {
            take_shard(&mut features, shard);
        }
        features.retain(|f| !f.scenarios.is_empty());
        let suite = Self { features };
        if suite.scenarios().next().is_none() {
            return Err(empty(selection, &names, &all_names));
        }
        suite.check_tags()?;
        suite.check_steps()?;
        suite.check_statements()?;
        Ok(suite)
    }

    /// Parts off the scenarios that a version of KubeFleet which can do this won't do for.
    #[must_use]
    pub fn part_off(&mut self, kubefleet: &Capabilities) -> Self {
        self.part(|feature, scenario| needed(feature, scenario).is_ok_and(|needed| needed.admits(kubefleet)))
    }

    /// Parts off the scenarios that take too long in real time, tagged `@fast-forward`.
    #[must_use]
    pub fn part_off_fast_forward(&mut self) -> Self {
        self.part(|feature, scenario| !has_tag(feature, scenario, "fast-forward"))
    }

    /// Parts off the scenarios in which KubeFleet is upgraded, tagged `@upgrade`.
    #[must_use]
    pub fn part_off_upgrades(&mut self) -> Self {
        self.part(|feature, scenario| !has_tag(feature, scenario, "upgrade"))
    }

    /// Keeps some scenarios and gives the others.
    pub(crate) fn part(&mut self, is_for: impl Fn(&Feature, &Scenario) -> bool) -> Self {
        let mut off = self.clone();
        for (stays, goes) in self.features.iter_mut().zip(&mut off.features) {
            let feature = stays.clone();
            stays.scenarios.retain(|scenario| is_for(&feature, scenario));
            goes.scenarios.retain(|scenario| !is_for(&feature, scenario));
        }
        for features in [&mut self.features, &mut off.features] {
            features.retain(|f| !f.scenarios.is_empty());
        }
        off
    }

    /// The scenarios with their features.
    pub fn scenarios(&self) -> impl Iterator<Item = (&Feature, &Scenario)> {
        self.features.iter().flat_map(|f| f.scenarios.iter().map(move |s| (f, s)))
    }

    /// The features, with the scenarios that take longest first: a run takes as long as its longest scenario if that doesn't
    /// have to wait for a place. A feature is there once for each length that its scenarios have.
    ///
    /// Tags say how long a scenario takes fast-forwarded; in real time, thresholds are waited out beside that.
    #[must_use]
    pub fn longest_first(&self, real_time: bool) -> Vec<Feature> {
        let wait = u32::try_from(real_time::WAIT.as_secs()).unwrap_or_default();
        let seconds = |f: &Feature, s: &Scenario| {
            let waits = real_time && waits_out(s);
            takes(&tags(f, s)).unwrap_or(USUAL) + if waits { wait } else { 0 }
        };
        let lengths: BTreeSet<u32> = self.scenarios().map(|(f, s)| seconds(f, s)).collect();
        let of_length = |length: u32| {
            let part = move |f: &Feature| {
                let scenarios: Vec<_> = f.scenarios.iter().filter(|s| seconds(f, s) == length).cloned().collect();
                (!scenarios.is_empty()).then(|| Feature { scenarios, ..f.clone() })
            };
            self.features.iter().filter_map(part)
        };
        lengths.into_iter().rev().flat_map(of_length).collect()
    }

    /// How many scenarios wait for minutes in real time, and do nothing meanwhile.
    #[must_use]
    pub fn waiting_in_real_time(&self) -> usize {
        self.scenarios().filter(|(_, scenario)| waits_out(scenario)).count()
    }

    /// Whether a scenario needs members with pods.
    #[must_use]
    pub fn needs_pods(&self) -> bool {
        self.scenarios().any(|(feature, scenario)| has_tag(feature, scenario, "pods"))
    }

    /// Whether a scenario needs Argo CD.
    #[must_use]
    pub fn needs_argocd(&self) -> bool {
        self.scenarios().any(|(feature, scenario)| has_tag(feature, scenario, "argocd"))
    }

    fn check_tags(&self) -> Result<(), SuiteError> {
        for (feature, scenario) in self.scenarios() {
            let takes = takes(&tags(feature, scenario)).map(drop);
            let checked = needed(feature, scenario).map(drop).and(takes);
            checked.map_err(|why| SuiteError::Tag { place: place(feature, scenario), why })?;
        }
        Ok(())
    }

    fn check_statements(&self) -> Result<(), SuiteError> {
        for (feature, scenario) in self.scenarios() {
            guides::tags::named(feature, scenario)
                .map_err(|wrong| SuiteError::Statement { place: place(feature, scenario), wrong })?;
        }
        Ok(())
    }

    /// Sees to it that every step can be run.
    fn check_steps(&self) -> Result<(), SuiteError> {
        self.check_steps_after(&EarlierText::default())
    }

    /// As [`Suite::check_steps`], for steps that follow others: they may speak of anything.
    pub(crate) fn check_later_steps(&self) -> Result<(), SuiteError> {
        self.check_steps_after(&EarlierText::Anything)
    }

    fn check_steps_after(&self, before: &EarlierText) -> Result<(), SuiteError> {
        let vocabulary = World::vocabulary();
        let mut undefined = Vec::new();
        for (feature, scenario) in self.scenarios() {
            if scenario.steps.is_empty() {
                // It would pass, having shown nothing.
                undefined.push(Undefined {
                    file: file(feature),
                    line: scenario.position.line,
                    step: format!("{}: {}", scenario.keyword.trim(), scenario.name),
                    why: "it has no steps: lines that don't begin with a keyword are read as its description".into(),
                });
            }
            for tag in tags(feature, scenario).iter().filter(|tag| is_code(tag)) {
                let Some(why) = step_check::unknown_code(tag) else { continue };
                let (file, line) = (file(feature), scenario.position.line);
                undefined.push(Undefined { file, line, step: format!("@{tag}"), why });
            }
            let mut earlier = before.clone();
            for step in steps(feature, scenario) {
                let Some(why) = step_check::problem(&vocabulary, step, &mut earlier) else { continue };
                let step_text = format!("{} {}", step.keyword.trim(), step.value);
                undefined.push(Undefined { file: file(feature), line: step.position.line, step: step_text, why });
            }
        }
        // A feature's tag or background is wrong once, however many scenarios have it.
        let mut known = HashSet::new();
        undefined.retain(|one: &Undefined| known.insert((one.file.clone(), one.line, one.step.clone())));
        if undefined.is_empty() { Ok(()) } else { Err(SuiteError::Undefined(undefined)) }
    }
}

/// The feature's file as it is shown: relative to the built-in features, or as it was given.
#[must_use]
pub fn file(feature: &Feature) -> String {
    feature.path.as_ref().map(|p| p.display().to_string()).unwrap_or_default()
}

/// A scenario's tags and its feature's, without `@`.
#[must_use]
pub fn tags(feature: &Feature, scenario: &Scenario) -> Vec<String> {
    feature.tags.iter().chain(&scenario.tags).cloned().collect()
}

/// About how many seconds a scenario takes, as its tags say: the last one that does, which stands nearest to it.
fn takes(tags: &[String]) -> Result<u32, String> {
    let usual = if tags.iter().any(|t| t == "disruptive") { USUAL_DISRUPTIVE } else { USUAL };
    let Some(time) = tags.iter().rev().find_map(|t| t.strip_prefix(TAKES)) else { return Ok(usual) };
    let seconds = time.strip_suffix('s').and_then(|n| n.parse().ok());
    seconds.ok_or_else(|| format!("tag @{TAKES}{time} says no time: write it like @{TAKES}150s"))
}

/// Whether a controller's threshold has to pass in a scenario, which takes minutes in real time.
fn waits_out(scenario: &Scenario) -> bool {
    scenario.steps.iter().any(|step| real_time::is_waited_out(&step.value))
}

/// Whether a tag (without `@`) is meant as a failure code.
#[must_use]
pub fn is_code(tag: &str) -> bool {
    tag.starts_with("KF-") || tag.starts_with("AR-")
}

/// Whether a scenario or its feature has a tag; it is given without `@`.
#[must_use]
pub fn has_tag(feature: &Feature, scenario: &Scenario, tag: &str) -> bool {
    feature.tags.iter().chain(&scenario.tags).any(|t| t == tag)
}

/// A scenario's steps, its background's first.
pub(crate) fn steps<'a>(feature: &'a Feature, scenario: &'a Scenario) -> impl Iterator<Item = &'a Step> {
    feature.background.iter().flat_map(|background| &background.steps).chain(&scenario.steps)
}

/// Where the remedy begins: the first When behind the diagnosis of a failure, or, in a scenario that diagnoses none, behind a Then.
/// A failure that takes several steps to induce has asserted something before it is there.
#[must_use]
pub fn remedy(steps: &[Step]) -> Option<usize> {
    let is_diagnosis = |step: &Step| step.value.contains(DIAGNOSED);
    let asserted = steps.iter().position(is_diagnosis).or_else(|| {
        let is_then = |step: &Step| step.ty == StepType::Then;
        steps.iter().position(is_then)
    })?;
    let behind = steps[asserted..].iter().position(|step| step.ty == StepType::When)?;
    Some(asserted + behind)
}

/// Where a scenario is, for people: its file and line.
fn place(feature: &Feature, scenario: &Scenario) -> String {
    format!("{}:{}", file(feature), scenario.position.line)
}

/// What a scenario needs KubeFleet to do.
///
/// # Errors
/// When a tag that should say so doesn't; never for a scenario of a [`Suite`].
pub fn needed(feature: &Feature, scenario: &Scenario) -> Result<Needed, String> {
    Needed::of(&tags(feature, scenario))?.and_of(steps(feature, scenario))
}

pub(crate) fn built_in() -> Result<Vec<Feature>, SuiteError> {
    let mut files: Vec<_> = BUILT_IN.find("**/*.feature").into_iter().flatten().filter_map(|e| e.as_file()).collect();
    files.sort_by_key(|f| f.path());
    files.iter().map(|f| parse(f.path(), f.contents_utf8().unwrap_or_default())).collect()
}

fn read_dir(dir: &Path) -> Result<Vec<Feature>, SuiteError> {
    let mut files = Vec::new();
    let mut dirs = vec![dir.to_owned()];
    while let Some(dir) = dirs.pop() {
        let read = |source| SuiteError::Read { path: dir.clone(), source };
        for entry in std::fs::read_dir(&dir).map_err(read)? {
            let path = entry.map_err(|source| SuiteError::Read { path: dir.clone(), source })?.path();
            if path.is_dir() {
                dirs.push(path);
            } else if path.extension().is_some_and(|e| e == "feature") {
                files.push(path);
            }
        }
    }
    files.sort();
    files.iter().map(|f| read_file(f)).collect()
}

pub(crate) fn read_file(path: &Path) -> Result<Feature, SuiteError> {
    let failed = |source| SuiteError::Read { path: path.to_owned(), source };
    let metadata = std::fs::metadata(path).map_err(failed)?;
    if !metadata.is_file() && !metadata.is_dir() {
        return Err(SuiteError::NotAFile(path.to_owned()));
    }
    parse(path, &std::fs::read_to_string(path).map_err(failed)?)
}

pub(crate) fn parse(path: &Path, text: &str) -> Result<Feature, SuiteError> {
    let wrong = |place: &str, why: &str| {
        Err(SuiteError::Syntax { place: format!("{}{place}", path.display()), why: why.to_owned() })
    };
    // Editors on Windows begin a file with a byte order mark.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.trim().is_empty() {
        return wrong("", "it is empty");
    }
    let lines = text.lines().count();
    if lines > MOST_LINES {
        return Err(SuiteError::TooLong { path: path.to_owned(), lines });
    }
    let mut feature = match Feature::parse(text, GherkinEnv::default()) {
        Ok(feature) => feature,
        Err(error) => {
            let error = error.to_string();
            // What the parser expected comes as a set of its own rules' names, which helps nobody.
            let place = error.strip_prefix("Error at ").and_then(|e| e.split_once(": ")).map_or("", |(place, _)| place);
            let why = "that line, or the one before it, doesn't begin with a keyword such as Scenario, Given or Then";
            return wrong(&format!(":{place}"), why);
        }
    };
    if let Some(rule) = feature.rules.first() {
        let place = format!(":{}", rule.position.line);
        return wrong(&place, "rules aren't supported: write their scenarios into the feature itself");
    }
    if feature.scenarios.is_empty() {
        let why = "it has no scenarios: lines that don't begin with a keyword are read as the feature's description";
        return wrong("", why);
    }
    feature.path = Some(path.to_owned());
    feature.expand_examples().or_else(|error| wrong("", &error.to_string()))
}

/// Numbers scenarios of the same name, which the examples of an outline have whose name has no placeholder: reports know a
/// scenario by its file and name.
fn number_namesakes(feature: &mut Feature) {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for scenario in &feature.scenarios {
        *counts.entry(scenario.name.clone()).or_default() += 1;
    }
    let mut numbers: BTreeMap<String, usize> = BTreeMap::new();
    for scenario in feature.scenarios.iter_mut().filter(|scenario| counts[&scenario.name] > 1) {
        let number = numbers.entry(scenario.name.clone()).or_default();
        *number += 1;
        scenario.name = format!("{} #{number}", scenario.name);
    }
}

/// A tag expression, if it can be understood.
fn tag_expression(expression: &str) -> Result<TagOperation, SuiteError> {
    let wrong = |why: String| SuiteError::Tags { expression: shorten(expression, MOST_QUOTED), why };
    // The parser calls itself for each parenthesis and each `not`.
    if expression.len() > LONGEST_EXPRESSION {
        return Err(wrong(format!("it has {} characters, and {LONGEST_EXPRESSION} are the most", expression.len())));
    }
    TagOperation::from_str(expression).map_err(|error| wrong(error.to_string()))
}

fn select(features: &mut [Feature], tags: Option<&str>, names: &[&String]) -> Result<(), SuiteError> {
    let tags = tags.map(tag_expression).transpose()?;
    for feature in features {
        let (feature_tags, feature_name) = (feature.tags.clone(), feature.name.to_lowercase());
        feature.scenarios.retain(|scenario| {
            let all: Vec<String> = feature_tags.iter().chain(&scenario.tags).cloned().collect();
            let name = scenario.name.to_lowercase();
            let named =
                |part: &&String| name.contains(&part.to_lowercase()) || feature_name.contains(&part.to_lowercase());
            tags.as_ref().is_none_or(|t| cucumber::tag::Ext::eval(t, &all))
                && (names.is_empty() || names.iter().any(named))
        });
    }
    Ok(())
}

/// Parts are dealt out like cards, so that neighbours in a file, which often take as long, are spread.
fn take_shard(features: &mut [Feature], shard: Shard) {
    let mut n = 0;
    for feature in features {
        feature.scenarios.retain(|_| {
            n += 1;
            (n - 1) % shard.of == shard.index - 1
        });
    }
}

fn scenario_names(features: &[Feature]) -> Vec<String> {
    features.iter().flat_map(|f| f.scenarios.iter().map(|s| s.name.clone())).collect()
}

fn empty(selection: &Selection<'_>, names: &[&String], all: &[String]) -> SuiteError {
    let mut what: Vec<String> = names.iter().map(|n| format!("\"{n}\"")).collect();
    what.extend(selection.tags.map(|t| format!("--tags '{t}'")));
    what.extend(selection.features.map(|d| format!("--features {}", d.display())));
    what.extend(selection.shard.map(|s| format!("--shard {}/{}", s.index, s.of)));
    let nearest = names.first().and_then(|name| {
        // Not Jaro-Winkler: for it, all sentences that begin alike are near to each other.
        let likeness = |candidate: &&String| {
            strsim::normalized_damerau_levenshtein(&name.to_lowercase(), &candidate.to_lowercase())
        };
        all.iter().max_by(|a, b| likeness(a).total_cmp(&likeness(b))).filter(|c| likeness(c) > 0.5).cloned()
    });
    SuiteError::Empty { what: if what.is_empty() { "this".into() } else { what.join(" ") }, nearest }
}

#[cfg(test)]
mod tests {
    use fleet::capability::Capability;

    use super::*;

    #[test]
    fn the_built_in_features_are_defined_to_the_last_step() {
        let suite = Suite::load(&Selection::default()).expect("usable features");
        assert!(suite.scenarios().count() > 0);
    }

    #[test]
    fn the_longest_scenarios_begin_first() {
        let text = |name: &str, tag: &str| {
            format!("Feature: {name}\n  Scenario: {name}1\n    Given a\n  {tag}\n  Scenario: {name}2\n    Given a\n")
        };
        let parse = |name: &str, tag: &str| parse(Path::new(name), &text(name, tag)).expect("a feature");
        let suite =
            Suite { features: vec![parse("a", "@quick"), parse("b", "@disruptive"), parse("c", "@takes-150s")] };
        assert_eq!(scenario_names(&suite.longest_first(false)), ["c2", "b2", "a1", "a2", "b1", "c1"]);
    }

    #[test]
    fn in_real_time_those_begin_first_that_wait_for_a_threshold() {
        let text = "Feature: f\n  Scenario: one\n    Given a\n  @takes-150s\n  Scenario: two\n    Given a\n  Scenario: three\n    \
                    When the stuck threshold of update run \"a\" passes on \"b\"\n";
        let suite = Suite { features: vec![parse(Path::new("f"), text).expect("a feature")] };
        assert_eq!(scenario_names(&suite.longest_first(false)), ["two", "one", "three"]);
        assert_eq!(scenario_names(&suite.longest_first(true)), ["three", "two", "one"]);
        assert_eq!(suite.waiting_in_real_time(), 1);
    }

    #[test]
    fn the_nearest_tag_says_how_long_a_scenario_takes() {
        let takes = |tags: &[&str]| super::takes(&tags.iter().map(ToString::to_string).collect::<Vec<_>>());
        assert_eq!(takes(&["takes-90s", "disruptive", "takes-150s"]), Ok(150));
        assert_eq!(takes(&["disruptive"]), Ok(USUAL_DISRUPTIVE));
        assert_eq!(takes(&["pods"]), Ok(USUAL));
        let error = takes(&["takes-2m"]).expect_err("minutes");
        assert_eq!(error, "tag @takes-2m says no time: write it like @takes-150s");
    }

    #[test]
    fn an_undefined_step_is_named_with_its_place() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("own.feature");
        let text = "Feature: mine\n  Scenario: one\n    Given something that nobody defined\n";
        std::fs::write(&path, text).expect("written");
        let error = Suite::load(&Selection { select: &[path.display().to_string()], ..Selection::default() });
        let error = error.expect_err("undefined").to_string();
        assert!(error.contains("own.feature:3: Given something that nobody defined"), "{error}");
    }

    #[test]
    fn a_tag_that_names_no_statement_is_named_with_its_place() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("own.feature");
        let step = "Given a placement \"web\" selects \"member-1\"";
        let text = format!("Feature: mine\n  @guide:work-synchronized/resolutio\n  Scenario: one\n    {step}\n");
        std::fs::write(&path, text).expect("written");
        let error = Suite::load(&Selection { select: &[path.display().to_string()], ..Selection::default() });
        let error = error.expect_err("no such statement");
        assert!(
            error.to_string().contains("own.feature:3: tag @guide:work-synchronized/resolutio names no"),
            "{error}"
        );
        assert_eq!(error.hint().as_deref(), Some("did you mean @guide:work-synchronized/resolution?"));
    }

    #[test]
    fn a_syntax_error_is_named_with_its_place() {
        let text = "Feature: mine\n  Scenario: one\n    Given a\n    Wen b\n";
        let error = parse(Path::new("broken.feature"), text).expect_err("broken");
        assert!(error.to_string().starts_with("broken.feature:5:1 isn't Gherkin: that line, or"), "{error}");
    }

    #[test]
    fn scenarios_for_another_version_are_parted_off() {
        let text = "Feature: mine
  Scenario: for all
    Given a member \"east\" of its own
  @needs-run-states
  Scenario Outline: <what>
    Given a member \"east\" of its own
    Examples:
      | what        |
      | with states |
    @without-stuck-runs
    Examples:
      | what      |
      | with both |
";
        let feature = parse(Path::new("mine.feature"), text).expect("a feature");
        let parted = |can: &[Capability]| {
            let mut suite = Suite { features: vec![feature.clone()] };
            let off = suite.part_off(&can.iter().copied().collect());
            (scenario_names(&suite.features), scenario_names(&off.features))
        };
        let (all, states, both) = ("for all".to_owned(), "with states".to_owned(), "with both".to_owned());
        assert_eq!(parted(&[]), (vec![all.clone()], vec![states.clone(), both.clone()]));
        assert_eq!(parted(&[Capability::RunStates]), (vec![all.clone(), states.clone(), both.clone()], vec![]));
        assert_eq!(parted(&[Capability::RunStates, Capability::StuckRuns]), (vec![all, states], vec![both]));
    }

    #[test]
    fn a_tag_without_a_capability_is_named_with_its_place() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("own.feature");
        let text = "Feature: mine\n  @needs-magic\n  Scenario: one\n    Given a member \"east\" of its own\n";
        std::fs::write(&path, text).expect("written");
        let error = Suite::load(&Selection { select: &[path.display().to_string()], ..Selection::default() });
        let error = error.expect_err("malformed").to_string();
        assert!(
            error.contains(
                "own.feature:3: tag @needs-magic names nothing that a version of KubeFleet can or can't do; there are: "
            ),
            "{error}"
        );
    }

    #[test]
    fn shards_are_all_of_it_and_do_not_overlap() {
        let all = scenario_names(&built_in().expect("features"));
        let mut dealt = Vec::new();
        for index in 1..=3 {
            let mut part = built_in().expect("features");
            take_shard(&mut part, Shard { index, of: 3 });
            dealt.extend(scenario_names(&part));
        }
        dealt.sort();
        let mut all = all;
        all.sort();
        assert_eq!(dealt, all);
    }
}
