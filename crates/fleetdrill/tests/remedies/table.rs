//! Table `remedies.yaml`: for each remedy of the catalogue, what a person decides who follows it.

use std::collections::BTreeMap;

use gherkin::{Feature, GherkinEnv, Step};
use serde::Deserialize;

/// Rows by failure code.
pub type RemedyTable = BTreeMap<String, CodeRow>;

/// A failure code with its remedies.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CodeRow {
    /// Beginning of the name of the scenario that induces the fault; without it, the first scenario that has the code.
    #[serde(default)]
    pub scenario: String,
    /// Steps after the scenario's, which end in the fault, e.g. where a scenario lets a person wait.
    #[serde(default)]
    pub more: String,
    /// Members of the update run that is the fresh change, separated by commas; `member-1` by default.
    pub members: Option<String>,
    /// Steps of a fresh change, for all remedies that have none of their own.
    pub fresh: Option<String>,
    /// Reason why no remedy of the code is run.
    pub not_run: Option<String>,
    /// Reason why no remedy of the code is run on a version of KubeFleet that has no scenario with the code.
    pub not_on_version: Option<String>,
    /// Rows in the catalogue's order.
    #[serde(default)]
    pub remedies: Vec<RemedyRow>,
}

/// A remedy of the catalogue.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RemedyRow {
    /// Beginning of the name of the scenario that induces the fault, where it isn't the row's of the code.
    pub scenario: Option<String>,
    /// Steps after the scenario's, which end in the fault, where they aren't the row's of the code.
    pub more: Option<String>,
    /// Number of the remedy in the finding, from 1, where it isn't the number in the catalogue: a remedy that doesn't fit isn't
    /// printed.
    pub printed: Option<usize>,
    /// Reason why the remedy isn't run.
    pub not_run: Option<String>,
    /// True if the remedy only reads: its commands must succeed, and nothing recovers.
    #[serde(default)]
    pub looks_only: bool,
    /// Changes that the person makes in each `kubectl edit`, in their order: JSON merge patches, or arrays of JSON patch operations.
    /// `{name}` is replaced by the scenario's real name.
    #[serde(default)]
    pub edits: Vec<String>,
    /// Values that the person puts in place of words of the commands. `{name}` is replaced in both as in `edits`.
    #[serde(default)]
    pub values: BTreeMap<String, String>,
    /// Steps that the text asks for before the commands.
    #[serde(default)]
    pub first: String,
    /// Steps that the text asks for after the commands.
    #[serde(default)]
    pub then: String,
    /// Steps in place of `then` where the faults are old, as the text says.
    pub then_if_old: Option<String>,
    /// Steps of a fresh change; empty if nothing is left that could change.
    pub fresh: Option<String>,
    /// Seconds that the text promises for a recovery, without a controller's backoff.
    pub within: Option<f64>,
    /// Number of times that the recovery may take as long again as the fault has lasted, as the text says.
    #[serde(default)]
    pub backoff: u32,
    /// True if the text says that the failure passes by itself, so that it may be gone when it is old.
    #[serde(default)]
    pub passes: bool,
    /// Codes of findings that stay, as the text says; the fault's own code, if the remedy changes what the fault leads to.
    #[serde(default)]
    pub stays: Vec<String>,
}

impl RemedyRow {
    /// True if the remedy is run and something has to recover after it.
    pub fn acts(&self) -> bool {
        self.not_run.is_none() && !self.looks_only
    }
}

/// The table beside this file.
pub fn table() -> RemedyTable {
    serde_saphyr::from_str(include_str!("remedies.yaml")).expect("a valid table")
}

/// Parses steps; none for an empty text.
pub fn steps(text: &str) -> Vec<Step> {
    if text.trim().is_empty() {
        return Vec::new();
    }
    let feature = format!("Feature: a remedy\n  Scenario: its steps\n{text}\n");
    let feature = Feature::parse(&feature, GherkinEnv::default()).expect("valid steps");
    feature.scenarios.into_iter().flat_map(|scenario| scenario.steps).collect()
}

/// Returns what the table lacks, or has too much, compared with the catalogue of failure codes.
pub fn gaps(table: &RemedyTable) -> Vec<String> {
    let mut gaps = Vec::new();
    for entry in diagnosis::catalogue() {
        let (code, count) = (&entry.code.0, entry.remedy_count());
        match table.get(code) {
            None => gaps.push(format!("{code} isn't in the table")),
            Some(row) if row.not_run.is_some() && row.remedies.is_empty() => {}
            Some(row) if row.remedies.len() != count => {
                gaps.push(format!("{code} has {count} remedies, and {} rows", row.remedies.len()));
            }
            Some(_) => {}
        }
    }
    let unknown = table.keys().filter(|code| diagnosis::entry(code).is_none());
    gaps.extend(unknown.map(|code| format!("{code} isn't in the catalogue")));
    for (code, row) in table {
        let remedies = row.remedies.iter().enumerate();
        let untimed = remedies.filter(|(_, remedy)| remedy.acts() && row.not_run.is_none() && remedy.within.is_none());
        gaps.extend(untimed.map(|(n, _)| format!("{code} {}: `within` is missing", n + 1)));
    }
    gaps
}
