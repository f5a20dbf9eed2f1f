//! Features: reads them, checks them before anything is started, and selects scenarios.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use cucumber::feature::Ext as _;
use fleet::capability::Capabilities;
use gherkin::tagexpr::TagOperation;
use gherkin::{Feature, GherkinEnv, Scenario, Step, StepType};
use include_dir::{Dir, include_dir};
use report::text::shorten;
use steps::{StepRole, needs};
use thiserror::Error;

use crate::abilities;
use crate::capability_needs::CapabilityNeeds;
use crate::failure_codes;
use crate::guides::tags::{self as guide_tags, TagError};
use crate::run_seed::RunSeed;
use crate::selection::{ScenarioDurations, ScenarioSelection, Shard};
use crate::step_check::{self, EarlierText};

/// Built-in features.
static BUILT_IN: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../features");

/// Prefix of a tag with the approximate duration of a scenario, such as `@takes-150s`.
const TAKES: &str = "takes-";

/// Prefix of a tag with a failure code that a scenario provokes on its way, such as `@passes:KF-UR-006`: no step asserts it.
const PASSES: &str = "passes:";

/// Tag of scenarios in which healthy traffic only moves, and in which every finding with the weight of a failure is a false alarm.
const HEALTHY: &str = "healthy";

/// Seconds that most scenarios need at most; more if a scenario has a member of its own, whose cluster has to start.
const USUAL: u32 = 30;
const USUAL_DISRUPTIVE: u32 = 60;

/// Maximum number of lines of a feature's file. The Gherkin parser's time grows with the square of the number of lines:
/// half a second for this many.
const MOST_LINES: usize = 20_000;

/// Maximum length of a tag expression in bytes.
const LONGEST_EXPRESSION: usize = 500;

/// Maximum number of characters that are quoted of a wrong tag expression.
const MOST_QUOTED: usize = 80;

/// Error about features that can't be used.
#[derive(Debug, Error)]
pub enum SuiteError {
    /// A file can't be read.
    #[error("failed to read {}", path.display())]
    Read {
        /// Path of the file or directory.
        path: PathBuf,
        /// Underlying I/O error.
        #[source]
        source: std::io::Error,
    },
    /// A file isn't valid Gherkin.
    #[error("{place} isn't Gherkin: {why}")]
    Syntax {
        /// Path of the file, with line and column if they are known.
        place: String,
        /// Description of the problem.
        why: String,
    },
    /// Steps without a definition or with several definitions, and scenarios without steps.
    #[error("{}", undefined_text(.0))]
    Undefined(Vec<InvalidStep>),
    /// The path isn't a regular file but a device or a pipe, whose reading may never end.
    #[error("{} is no regular file", .0.display())]
    NotAFile(PathBuf),
    /// A file has more lines than a feature may have.
    #[error("{} has {lines} lines, and a feature has {MOST_LINES} at most", path.display())]
    TooLong {
        /// Path of the file.
        path: PathBuf,
        /// Number of its lines.
        lines: usize,
    },
    /// The name of a scenario is empty, e.g. an unset variable in a script.
    #[error("the name of a scenario is empty")]
    EmptyName,
    /// A tag expression can't be parsed.
    #[error("`{expression}` is not a tag expression: {why}")]
    Tags {
        /// The expression.
        expression: String,
        /// Description of the problem.
        why: String,
    },
    /// A tag about versions of KubeFleet or about a scenario's duration is invalid.
    #[error("{place}: {why}")]
    Tag {
        /// File and line of the scenario.
        place: String,
        /// Description of the problem.
        why: String,
    },
    /// A tag that should name a statement of a guide doesn't.
    #[error("{place}: {wrong}")]
    Statement {
        /// File and line of the scenario.
        place: String,
        /// Underlying error.
        wrong: TagError,
    },
    /// No scenario is selected.
    #[error("no scenario is selected by {what}")]
    Empty {
        /// The selection.
        what: String,
        /// Similar name of a scenario.
        nearest: Option<String>,
    },
}

/// Step that can't be run.
#[derive(Debug)]
pub struct InvalidStep {
    /// File of the feature.
    pub file: String,
    /// Line of the step.
    pub line: usize,
    /// Keyword and text of the step.
    pub step: String,
    /// Description of the problem.
    pub why: String,
}

fn undefined_text(undefined: &[InvalidStep]) -> String {
    let lines =
        undefined.iter().map(|InvalidStep { file, line, step, why }| format!("\n  {file}:{line}: {step}\n    {why}"));
    let n = undefined.len();
    format!("{n} {} of the features can't be run:{}", if n == 1 { "line" } else { "lines" }, lines.collect::<String>())
}

impl SuiteError {
    /// Returns a hint for the user.
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

/// Features with only the selected scenarios; outlines are expanded.
#[derive(Clone, Debug)]
pub struct Suite {
    /// Features, ordered by the names of their files.
    pub features: Vec<Feature>,
}

impl Suite {
    /// Reads features, selects scenarios, and checks that every step of the selected scenarios is defined.
    ///
    /// # Errors
    /// Returns an error if a file can't be read or isn't valid Gherkin, a step is undefined, a tag is invalid, or no
    /// scenario is selected.
    pub fn load(selection: &ScenarioSelection<'_>) -> Result<Self, SuiteError> {
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
        // A scenario is identified by its file and line: no file may be read twice.
        let mut known = HashSet::new();
        files.retain(|file| known.insert(std::fs::canonicalize(file).unwrap_or_else(|_| PathBuf::from(file))));
        for file in files {
            features.push(read_file(Path::new(file))?);
        }
        features.iter_mut().for_each(number_namesakes);
        let all_names: Vec<String> = scenario_names(&features);
        if let Some(name) = names.iter().find(|name| !features.iter().any(|feature| has_named(feature, name))) {
            let nearest = nearest(name, &all_names);
            return Err(SuiteError::Empty { what: format!("\"{name}\""), nearest });
        }
        select(&mut features, selection.tags, &names)?;
        if let Some(shard) = selection.shard {
            take_shard(&mut features, shard, selection.durations);
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

    /// Removes and returns the scenarios that don't apply to a version of KubeFleet with these capabilities.
    #[must_use]
    pub fn part_off(&mut self, kubefleet: &Capabilities) -> Self {
        self.part(|feature, scenario| needed(feature, scenario).is_ok_and(|needed| needed.admits(kubefleet)))
    }

    /// Removes and returns the scenarios that take too long in real time, tagged `@fast-forward`.
    #[must_use]
    pub fn part_off_fast_forward(&mut self) -> Self {
        self.part(|feature, scenario| !has_tag(feature, scenario, "fast-forward"))
    }

    /// Removes and returns the scenarios in which the fleet is upgraded, tagged `@upgrade`.
    #[must_use]
    pub fn part_off_upgrades(&mut self) -> Self {
        self.part(|feature, scenario| !has_tag(feature, scenario, "upgrade"))
    }

    /// Removes and returns the scenarios with hundreds of members, tagged `@scale`.
    #[must_use]
    pub fn part_off_scale(&mut self) -> Self {
        self.part(|feature, scenario| !has_tag(feature, scenario, record::SCALE_TAG))
    }

    /// Keeps scenarios that show all failure codes, and none of which the others make needless; removes and returns the other
    /// scenarios with a code. Of several scenarios with the same codes, one on the shared fleet stays before one with a member of its own,
    /// and that before one with a fleet of its own, then the shortest, by tags; of equally long ones, the first.
    #[must_use]
    pub fn part_off_repeated_codes(&mut self, real_time: bool) -> Self {
        let mut cheapest_first: Vec<(&Feature, &Scenario)> = self.scenarios().filter(|(f, s)| has_code(f, s)).collect();
        cheapest_first.sort_by_key(|(f, s)| cost(f, s, real_time));
        // By code, how many of the scenarios that stay show it.
        let mut showing: BTreeMap<String, usize> = BTreeMap::new();
        for (feature, scenario) in &cheapest_first {
            for code in codes(feature, scenario) {
                *showing.entry(code).or_default() += 1;
            }
        }
        let mut repeated = HashSet::new();
        for (feature, scenario) in cheapest_first.into_iter().rev() {
            if codes(feature, scenario).all(|code| showing[&code] > 1) {
                codes(feature, scenario).for_each(|code| *showing.entry(code).or_default() -= 1);
                repeated.insert(place(feature, scenario));
            }
        }
        self.part(|feature, scenario| !repeated.contains(&place(feature, scenario)))
    }

    /// Of the scenarios without a code, keeps the cheapest of each feature file; removes and returns the others.
    #[must_use]
    pub fn part_off_repeated_files(&mut self, real_time: bool) -> Self {
        let mut cheapest_first: Vec<(&Feature, &Scenario)> =
            self.scenarios().filter(|(f, s)| !has_code(f, s)).collect();
        cheapest_first.sort_by_key(|(f, s)| cost(f, s, real_time));
        let mut files = HashSet::new();
        let mut repeated = HashSet::new();
        for (feature, scenario) in cheapest_first {
            if !files.insert(feature.path.clone()) {
                repeated.insert(place(feature, scenario));
            }
        }
        self.part(|feature, scenario| !repeated.contains(&place(feature, scenario)))
    }

    /// Keeps the scenarios for which `is_for` is true; removes and returns the others.
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

    /// Returns the scenarios with their features.
    pub fn scenarios(&self) -> impl Iterator<Item = (&Feature, &Scenario)> {
        self.features.iter().flat_map(|f| f.scenarios.iter().map(move |s| (f, s)))
    }

    /// Returns the features in the order in which their scenarios begin: those that `first` selects, then all others, the longest of each
    /// first. A run takes as long as its longest scenario only if that scenario doesn't wait for a slot. A feature appears once for each
    /// duration of its scenarios. Those that are equal in both stand in an order that follows from the seed, or in that of their files.
    ///
    /// Tags state a scenario's duration with fast-forward; in real time the controllers' thresholds are added.
    #[must_use]
    pub fn in_starting_order(
        &self,
        real_time: bool,
        seed: Option<RunSeed>,
        first: impl Fn(&Feature, &Scenario) -> bool,
    ) -> Vec<Feature> {
        let rank = |f: &Feature, s: &Scenario| (first(f, s), seconds(f, s, real_time));
        let ranks: BTreeSet<(bool, u32)> = self.scenarios().map(|(f, s)| rank(f, s)).collect();
        let mut features = Vec::new();
        for of_rank in ranks.into_iter().rev() {
            let mut equal = self.clone().part(|f, s| rank(f, s) != of_rank).features;
            if let Some(seed) = seed {
                seed.shuffle(&mut equal);
            }
            features.extend(equal);
        }
        features
    }

    /// Returns the number of scenarios that wait for minutes in real time, and do nothing meanwhile.
    #[must_use]
    pub fn waiting_in_real_time(&self) -> usize {
        self.scenarios().filter(|(_, scenario)| !waited_out(scenario).is_zero()).count()
    }

    /// True if a scenario needs members with pods.
    #[must_use]
    pub fn needs_pods(&self) -> bool {
        self.scenarios().any(|(feature, scenario)| has_tag(feature, scenario, "pods"))
    }

    /// True if a scenario breaks the network of a member.
    #[must_use]
    pub fn breaks_networks(&self) -> bool {
        self.scenarios().any(|(feature, scenario)| abilities::breaks_networks(feature, scenario))
    }

    /// True if a scenario needs Argo CD.
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
            guide_tags::named(feature, scenario)
                .map_err(|wrong| SuiteError::Statement { place: place(feature, scenario), wrong })?;
        }
        Ok(())
    }

    /// Checks that every step can be run.
    fn check_steps(&self) -> Result<(), SuiteError> {
        self.check_steps_after(&EarlierText::default())
    }

    /// Checks steps like [`Suite::check_steps`], but allows any names: the steps follow others that aren't known here.
    pub(crate) fn check_later_steps(&self) -> Result<(), SuiteError> {
        self.check_steps_after(&EarlierText::Anything)
    }

    fn check_steps_after(&self, before: &EarlierText) -> Result<(), SuiteError> {
        let mut undefined = Vec::new();
        for (feature, scenario) in self.scenarios() {
            if scenario.steps.is_empty() {
                // A scenario without steps would pass without showing anything.
                undefined.push(InvalidStep {
                    file: file(feature),
                    line: scenario.position.line,
                    step: format!("{}: {}", scenario.keyword.trim(), scenario.name),
                    why: "it has no steps: lines that don't begin with a keyword are read as its description".into(),
                });
            }
            for tag in &tags(feature, scenario) {
                let code =
                    tag.strip_prefix(PASSES).or(Some(tag.as_str()).filter(|tag| diagnosis::is_meant_as_code(tag)));
                let Some(Err(unknown)) = code.map(failure_codes::check) else { continue };
                let (file, line) = (file(feature), scenario.position.line);
                undefined.push(InvalidStep { file, line, step: format!("@{tag}"), why: unknown.to_string() });
            }
            let mut earlier = before.clone();
            for step in steps(feature, scenario) {
                let Some(why) = step_check::problem(step, &mut earlier) else { continue };
                let step_text = format!("{} {}", step.keyword.trim(), step.value);
                undefined.push(InvalidStep { file: file(feature), line: step.position.line, step: step_text, why });
            }
        }
        // A problem in a feature's tag or background is reported once, not for each of its scenarios.
        let mut known = HashSet::new();
        undefined.retain(|one: &InvalidStep| known.insert((one.file.clone(), one.line, one.step.clone())));
        if undefined.is_empty() { Ok(()) } else { Err(SuiteError::Undefined(undefined)) }
    }
}

/// Returns the path of the feature's file for display: relative to the built-in features, or as given.
#[must_use]
pub fn file(feature: &Feature) -> String {
    feature.path.as_ref().map(|p| p.display().to_string()).unwrap_or_default()
}

/// Returns the tags of a scenario and its feature, without `@`.
#[must_use]
pub fn tags(feature: &Feature, scenario: &Scenario) -> Vec<String> {
    feature.tags.iter().chain(&scenario.tags).cloned().collect()
}

/// Returns the failure codes that a scenario asserts, by its tags.
pub fn codes(feature: &Feature, scenario: &Scenario) -> impl Iterator<Item = String> {
    tags(feature, scenario).into_iter().filter(|tag| diagnosis::is_meant_as_code(tag))
}

/// True if a scenario asserts a failure code, by its tags.
#[must_use]
pub fn has_code(feature: &Feature, scenario: &Scenario) -> bool {
    codes(feature, scenario).next().is_some()
}

/// Returns the failure codes that a scenario provokes on its way, by its tags; no step asserts them.
pub fn passed_codes(feature: &Feature, scenario: &Scenario) -> impl Iterator<Item = String> {
    tags(feature, scenario).into_iter().filter_map(|tag| tag.strip_prefix(PASSES).map(str::to_owned))
}

/// True if nothing that a scenario does may be taken for a failure, by its tags.
#[must_use]
pub fn is_healthy(feature: &Feature, scenario: &Scenario) -> bool {
    tags(feature, scenario).iter().any(|tag| tag == HEALTHY)
}

/// Returns the approximate duration of a scenario in seconds by its tags. The last such tag counts, because the
/// scenario's own tags come last.
fn takes(tags: &[String]) -> Result<u32, String> {
    let usual = if tags.iter().any(|t| t == "disruptive") { USUAL_DISRUPTIVE } else { USUAL };
    let Some(time) = tags.iter().rev().find_map(|t| t.strip_prefix(TAKES)) else { return Ok(usual) };
    let seconds = time.strip_suffix('s').and_then(|n| n.parse().ok());
    seconds.ok_or_else(|| format!("tag @{TAKES}{time} says no time: write it like @{TAKES}150s"))
}

/// Returns what a scenario costs, to compare with others: the clusters that it starts, then the seconds that it takes.
fn cost(feature: &Feature, scenario: &Scenario, real_time: bool) -> (bool, bool, u32) {
    (
        abilities::has_own_fleet(feature, scenario),
        abilities::makes_clusters(feature, scenario),
        seconds(feature, scenario, real_time),
    )
}

/// Returns about how many seconds a scenario takes, fast-forwarded or in real time.
fn seconds(feature: &Feature, scenario: &Scenario, real_time: bool) -> u32 {
    let waited = if real_time { waited_out(scenario) } else { Duration::ZERO };
    takes(&tags(feature, scenario)).unwrap_or(USUAL) + u32::try_from(waited.as_secs()).unwrap_or(u32::MAX)
}

/// Returns how long a scenario waits for controllers' thresholds in real time: one threshold passes under all of its steps.
fn waited_out(scenario: &Scenario) -> Duration {
    scenario.steps.iter().filter_map(|step| needs(step).waits_out).max().unwrap_or_default()
}

/// True if a scenario or its feature has a tag; `tag` has no `@`.
#[must_use]
pub fn has_tag(feature: &Feature, scenario: &Scenario, tag: &str) -> bool {
    feature.tags.iter().chain(&scenario.tags).any(|t| t == tag)
}

/// Returns a scenario's steps, after those of its background.
pub(crate) fn steps<'a>(feature: &'a Feature, scenario: &'a Scenario) -> impl Iterator<Item = &'a Step> {
    feature.background.iter().flat_map(|background| &background.steps).chain(&scenario.steps)
}

/// Returns the index at which the remedy begins: the first When after the diagnosis of a failure, or, in a scenario
/// without a diagnosis, after a Then. A failure that takes several steps to induce may have assertions before the
/// diagnosis.
#[must_use]
pub fn remedy(steps: &[Step]) -> Option<usize> {
    let diagnosed = steps.iter().position(|step| needs(step).role == Some(StepRole::AssertsDiagnosis));
    let asserted = diagnosed.or_else(|| steps.iter().position(|step| step.ty == StepType::Then))?;
    let behind = steps[asserted..].iter().position(|step| step.ty == StepType::When)?;
    Some(asserted + behind)
}

/// Returns the file and line of a scenario, for people.
fn place(feature: &Feature, scenario: &Scenario) -> String {
    format!("{}:{}", file(feature), scenario.position.line)
}

/// Returns the capabilities of KubeFleet that a scenario needs.
///
/// # Errors
/// Returns an error if a tag that should name a capability doesn't; never for a scenario of a [`Suite`].
pub fn needed(feature: &Feature, scenario: &Scenario) -> Result<CapabilityNeeds, String> {
    CapabilityNeeds::of(&tags(feature, scenario))?.and_of(steps(feature, scenario))
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
        for entry in std::fs::read_dir(&dir).map_err(|source| unread(&dir, source))? {
            let path = entry.map_err(|source| unread(&dir, source))?.path();
            if path.is_dir() {
                // A mounted ConfigMap has its files once more in `..data`.
                if !path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"..")) {
                    dirs.push(path);
                }
            } else if path.extension().is_some_and(|e| e == "feature") {
                files.push(path);
            }
        }
    }
    files.sort();
    files.iter().map(|f| read_file(f)).collect()
}

fn unread(path: &Path, source: std::io::Error) -> SuiteError {
    SuiteError::Read { path: path.to_owned(), source }
}

pub(crate) fn read_file(path: &Path) -> Result<Feature, SuiteError> {
    let metadata = std::fs::metadata(path).map_err(|source| unread(path, source))?;
    if !metadata.is_file() && !metadata.is_dir() {
        return Err(SuiteError::NotAFile(path.to_owned()));
    }
    parse(path, &std::fs::read_to_string(path).map_err(|source| unread(path, source))?)
}

pub(crate) fn parse(path: &Path, text: &str) -> Result<Feature, SuiteError> {
    // Editors on Windows begin a file with a byte order mark.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.trim().is_empty() {
        return Err(no_gherkin(path, "", "it is empty"));
    }
    let lines = text.lines().count();
    if lines > MOST_LINES {
        return Err(SuiteError::TooLong { path: path.to_owned(), lines });
    }
    let mut feature = match Feature::parse(text, GherkinEnv::default()) {
        Ok(feature) => feature,
        Err(error) => {
            let error = error.to_string();
            // The parser's message lists the names of its own rules, which don't help a user.
            let place = error.strip_prefix("Error at ").and_then(|e| e.split_once(": ")).map_or("", |(place, _)| place);
            let why = "that line, or the one before it, doesn't begin with a keyword such as Scenario, Given or Then";
            return Err(no_gherkin(path, &format!(":{place}"), why));
        }
    };
    if let Some(rule) = feature.rules.first() {
        let place = format!(":{}", rule.position.line);
        let why = "rules aren't supported: write their scenarios into the feature itself";
        return Err(no_gherkin(path, &place, why));
    }
    if feature.scenarios.is_empty() {
        let why = "it has no scenarios: lines that don't begin with a keyword are read as the feature's description";
        return Err(no_gherkin(path, "", why));
    }
    feature.path = Some(path.to_owned());
    feature.expand_examples().map_err(|error| no_gherkin(path, "", &error.to_string()))
}

/// Reports what is wrong at a place of a file: `:LINE:COLUMN`, or nothing where that isn't known.
fn no_gherkin(path: &Path, place: &str, why: &str) -> SuiteError {
    SuiteError::Syntax { place: format!("{}{place}", path.display()), why: why.to_owned() }
}

/// Numbers scenarios of the same name, e.g. those of an outline without a placeholder in its name: reports identify a
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

/// Parses a tag expression.
fn tag_expression(expression: &str) -> Result<TagOperation, SuiteError> {
    // The parser recurses for each parenthesis and each `not`.
    let parsed = if expression.len() > LONGEST_EXPRESSION {
        Err(format!("it has {} characters, and {LONGEST_EXPRESSION} are the most", expression.len()))
    } else {
        TagOperation::from_str(expression).map_err(|error| error.to_string())
    };
    parsed.map_err(|why| SuiteError::Tags { expression: shorten(expression, MOST_QUOTED), why })
}

fn select(features: &mut [Feature], tags: Option<&str>, names: &[&String]) -> Result<(), SuiteError> {
    let tags = tags.map(tag_expression).transpose()?;
    for feature in features {
        let feature_tags = feature.tags.clone();
        let by_feature = names.is_empty() || names.iter().any(|name| is_feature_named(feature, name));
        feature.scenarios.retain(|scenario| {
            let all: Vec<String> = feature_tags.iter().chain(&scenario.tags).cloned().collect();
            tags.as_ref().is_none_or(|t| cucumber::tag::Ext::eval(t, &all))
                && (by_feature || names.iter().any(|name| has_part(&scenario.name, name)))
        });
    }
    Ok(())
}

/// True if a name has this part; upper and lower case are the same.
fn has_part(name: &str, part: &str) -> bool {
    name.to_lowercase().contains(&part.to_lowercase())
}

/// True if the name of a feature or of its file has this part.
fn is_feature_named(feature: &Feature, part: &str) -> bool {
    let file = feature.path.as_deref().and_then(Path::file_stem).unwrap_or_default();
    has_part(&feature.name, part) || has_part(&file.to_string_lossy(), part)
}

/// True if this part selects a feature or one of its scenarios.
fn has_named(feature: &Feature, part: &str) -> bool {
    is_feature_named(feature, part) || feature.scenarios.iter().any(|scenario| has_part(&scenario.name, part))
}

/// Keeps a shard of the scenarios. They are dealt so that all shards take about equally long: the longest first, each to the shard that has
/// least so far. Durations are those that were measured, or else those of the tags.
fn take_shard(features: &mut [Feature], shard: Shard, measured: Option<&ScenarioDurations>) {
    let mut longest_first: Vec<(ScenarioIndex, f64)> = Vec::new();
    for (f, feature) in features.iter().enumerate() {
        for (s, scenario) in feature.scenarios.iter().enumerate() {
            let known = measured.and_then(|measured| measured.seconds(&file(feature), &scenario.name));
            longest_first.push(((f, s), known.unwrap_or_else(|| f64::from(seconds(feature, scenario, false)))));
        }
    }
    longest_first.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    // More shards than scenarios are empty.
    let mut totals = vec![0.0_f64; shard.of.min(longest_first.len())];
    let mut kept = HashSet::<ScenarioIndex>::new();
    for (index, seconds) in longest_first {
        let Some(least) = (0..totals.len()).min_by(|a, b| totals[*a].total_cmp(&totals[*b])) else { continue };
        totals[least] += seconds;
        if least == shard.index - 1 {
            kept.insert(index);
        }
    }
    for (f, feature) in features.iter_mut().enumerate() {
        let mut s = 0..;
        feature.scenarios.retain(|_| s.next().is_some_and(|s| kept.contains(&(f, s))));
    }
}

/// Index of a feature, and of a scenario in it.
type ScenarioIndex = (usize, usize);

fn scenario_names(features: &[Feature]) -> Vec<String> {
    features.iter().flat_map(|f| f.scenarios.iter().map(|s| s.name.clone())).collect()
}

fn empty(selection: &ScenarioSelection<'_>, names: &[&String], all: &[String]) -> SuiteError {
    let mut what: Vec<String> = names.iter().map(|n| format!("\"{n}\"")).collect();
    what.extend(selection.tags.map(|t| format!("--tags '{t}'")));
    what.extend(selection.features.map(|d| format!("--features {}", d.display())));
    what.extend(selection.shard.map(|s| format!("--shard {}/{}", s.index, s.of)));
    let nearest = names.first().and_then(|name| nearest(name, all));
    SuiteError::Empty { what: if what.is_empty() { "this".into() } else { what.join(" ") }, nearest }
}

/// Returns the name that is most similar to another one, if any is.
fn nearest(name: &str, all: &[String]) -> Option<String> {
    // Jaro-Winkler isn't used here, because it rates all sentences with the same beginning as similar.
    let candidates = all.iter().map(|candidate| {
        (strsim::normalized_damerau_levenshtein(&name.to_lowercase(), &candidate.to_lowercase()), candidate)
    });
    let (likeness, nearest) = candidates.max_by(|(a, _), (b, _)| a.total_cmp(b))?;
    (likeness > 0.5).then(|| nearest.clone())
}

#[cfg(test)]
mod tests {
    use fleet::capability::Capability;

    use super::*;

    #[test]
    fn the_built_in_features_are_defined_to_the_last_step() {
        let suite = Suite::load(&ScenarioSelection::default()).expect("usable features");
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
        let names = |first: &dyn Fn(&Scenario) -> bool| {
            scenario_names(&suite.in_starting_order(false, None, |_, scenario| first(scenario)))
        };
        assert_eq!(names(&|_| false), ["c2", "b2", "a1", "a2", "b1", "c1"]);
        assert_eq!(
            names(&|scenario| ["a1", "b2"].contains(&scenario.name.as_str())),
            ["b2", "a1", "c2", "a2", "b1", "c1"]
        );
    }

    #[test]
    fn in_real_time_those_begin_first_that_wait_for_a_threshold() {
        let text = "Feature: f\n  Scenario: one\n    Given a\n  @takes-150s\n  Scenario: two\n    Given a\n  Scenario: three\n    \
                    When the stuck threshold of update run \"a\" passes on \"b\"\n";
        let suite = Suite { features: vec![parse(Path::new("f"), text).expect("a feature")] };
        let names = |real_time| scenario_names(&suite.in_starting_order(real_time, None, |_, _| false));
        assert_eq!(names(false), ["two", "one", "three"]);
        assert_eq!(names(true), ["three", "two", "one"]);
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
        let error =
            Suite::load(&ScenarioSelection { select: &[path.display().to_string()], ..ScenarioSelection::default() });
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
        let error =
            Suite::load(&ScenarioSelection { select: &[path.display().to_string()], ..ScenarioSelection::default() });
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
    fn the_fewest_scenarios_stay_that_show_each_code() {
        let text = "Feature: mine
  @KF-WS-001 @takes-90s
  Scenario: long
    Given a member \"east\" of its own
  @KF-WS-001
  Scenario: short
    Given a member \"east\" of its own
  @KF-WS-001
  Scenario: short again
    Given a member \"east\" of its own
  @KF-WS-001 @KF-WS-007
  Scenario: with another code
    Given a member \"east\" of its own
  Scenario: without a code
    Given a member \"east\" of its own
";
        let mut suite = Suite { features: vec![parse(Path::new("mine.feature"), text).expect("a feature")] };
        let off = suite.part_off_repeated_codes(false);
        assert_eq!(scenario_names(&suite.features), ["with another code", "without a code"]);
        assert_eq!(scenario_names(&off.features), ["long", "short", "short again"]);
    }

    #[test]
    fn one_of_each_code_leaves_out_a_third_of_the_built_in_scenarios_and_no_code() {
        let mut suite = Suite { features: built_in().expect("features") };
        let all: BTreeSet<String> = suite.scenarios().flat_map(|(f, s)| codes(f, s)).collect();
        let off = suite.part_off_repeated_codes(false);
        let kept: BTreeSet<String> = suite.scenarios().flat_map(|(f, s)| codes(f, s)).collect();
        assert_eq!(kept, all);
        assert!(off.scenarios().count() > suite.scenarios().count() / 2, "{}", suite.scenarios().count());
    }

    #[test]
    fn a_tag_without_a_capability_is_named_with_its_place() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("own.feature");
        let text = "Feature: mine\n  @needs-magic\n  Scenario: one\n    Given a member \"east\" of its own\n";
        std::fs::write(&path, text).expect("written");
        let error =
            Suite::load(&ScenarioSelection { select: &[path.display().to_string()], ..ScenarioSelection::default() });
        let error = error.expect_err("malformed").to_string();
        assert!(
            error.contains(
                "own.feature:3: tag @needs-magic names nothing that a version of KubeFleet can or can't do; there are: "
            ),
            "{error}"
        );
    }

    #[test]
    fn features_of_a_mounted_config_map_are_read_once() {
        let mount = tempfile::tempdir().unwrap();
        let version = mount.path().join("..2026_11_28");
        std::fs::create_dir(&version).unwrap();
        std::fs::write(version.join("a.feature"), "Feature: a\n  Scenario: b\n    Given a hub\n").unwrap();
        std::os::unix::fs::symlink("..2026_11_28", mount.path().join("..data")).unwrap();
        std::os::unix::fs::symlink("..data/a.feature", mount.path().join("a.feature")).unwrap();
        assert_eq!(read_dir(mount.path()).unwrap().len(), 1);
    }

    #[test]
    fn shards_are_all_of_it_and_do_not_overlap() {
        let all = scenario_names(&built_in().expect("features"));
        let mut dealt = Vec::new();
        for index in 1..=3 {
            let mut part = built_in().expect("features");
            take_shard(&mut part, Shard { index, of: 3 }, None);
            dealt.extend(scenario_names(&part));
        }
        dealt.sort();
        let mut all = all;
        all.sort();
        assert_eq!(dealt, all);
    }

    #[test]
    fn shards_take_equally_long() {
        let all = || {
            let mut features = built_in().expect("features");
            features.truncate(1);
            features[0].scenarios.truncate(3);
            features
        };
        let file = file(&all()[0]);
        let mut run = report::run::fixture::run();
        run.scenarios.truncate(1);
        run.scenarios.resize(3, run.scenarios[0].clone());
        for ((name, record), seconds) in scenario_names(&all()).iter().zip(&mut run.scenarios).zip([50.0, 100.0, 60.0])
        {
            record.file.clone_from(&file);
            record.scenario.clone_from(name);
            record.seconds = seconds;
        }
        let durations = ScenarioDurations::of_runs(&[run]);
        let names = scenario_names(&all());
        let dealt = |index, of| {
            let mut part = all();
            take_shard(&mut part, Shard { index, of }, Some(&durations));
            scenario_names(&part)
        };
        assert_eq!(dealt(1, 2), [names[1].clone()]);
        assert_eq!(dealt(2, 2), [names[0].clone(), names[2].clone()]);
        assert_eq!(dealt(4, usize::MAX), [""; 0]);
    }
}
