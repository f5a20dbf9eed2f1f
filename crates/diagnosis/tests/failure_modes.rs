//! Test of docs/failure-modes.md, which is written from the catalogue: every code with its cause, evidence, remedies
//! and guide.
//!
//! `make docs` writes the page (`UPDATE_EXPECT=1`). Without that variable the test compares the page.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use diagnosis::{CatalogueEntry, FailureCode, Severity};
use expect_test::expect_file;
use gherkin::{Feature, GherkinEnv, Scenario};
use regex::Regex;

const INTRODUCTION: &str = "\
# Failure modes

What `fleetdrill diagnose` can find, by failure code. Codes are stable: a failure keeps its code in all versions of
fleetdrill, of KubeFleet and of Argo CD. In a real finding the names of your own objects stand where this page has those of an
example (placement `web`, run `web-1`, application `web`, member `member-1`). Commands are for a kubeconfig with the contexts
`hub` and one per member; those of a real finding name your contexts and your kubeconfig, and have variables such as
`${HUB_CONTEXT:?}` where fleetdrill doesn't know them.

Remedies that only read come before those that change something. One that destroys more than the object that it speaks of says
so under \"Loss of data\".

A *failure* makes `fleetdrill diagnose` exit with 1. A *notice* tells of something that waits for you; it doesn't.
\"Provoked by\" names the features that induce the failure on real controllers.
";

const END: &str = "\n<!-- Written from crates/diagnosis/src/catalogue by `make docs`. Change the texts there. -->\n";

#[test]
fn docs_failure_modes_md_is_what_the_catalogue_says() {
    let catalogue = by_family();
    let features = features();
    let mut page = INTRODUCTION.to_owned();
    page.push_str("\n| code | what | weight | provoked by |\n|---|---|---|---|\n");
    for entry in &catalogue {
        let weight = if entry.severity == Severity::Notice { "notice" } else { "failure" };
        let provoked = features.get(&entry.code.0).map(|f| f.join(", ")).unwrap_or_default();
        let code = &entry.code;
        let anchor = code.0.to_lowercase();
        let _ = writeln!(page, "| [{code}](#{anchor}) | {} | {weight} | {provoked} |", entry.title);
    }
    for entry in catalogue {
        section(&mut page, entry);
    }
    page.push_str(END);
    expect_file!["../../../docs/failure-modes.md"].assert_eq(&page);
}

#[test]
fn a_feature_provokes_each_code() {
    let features = features();
    let missing: Vec<_> = diagnosis::catalogue().iter().filter(|e| !features.contains_key(&e.code.0)).collect();
    assert!(missing.is_empty(), "no scenario has the tag of {missing:?}");
}

/// A rule that is switched off makes a feature fail.
#[test]
fn a_feature_that_provokes_a_code_asserts_it() {
    let scenarios = scenarios();
    let is_asserted = |code: &String| scenarios.iter().any(|s| s.tags.contains(code) && s.asserted.contains(code));
    let missing: Vec<_> = diagnosis::catalogue().iter().map(|e| &e.code.0).filter(|code| !is_asserted(code)).collect();
    assert!(missing.is_empty(), "no scenario with the tag asserts {missing:?}");
}

/// Returns the catalogue sorted by family, families in the order in which they first appear, then by code.
fn by_family() -> Vec<&'static CatalogueEntry> {
    let family = |entry: &CatalogueEntry| entry.code.0.rsplit_once('-').map(|(family, _)| family.to_owned());
    let catalogue = diagnosis::catalogue();
    let mut entries: Vec<&CatalogueEntry> = catalogue.iter().collect();
    let first = |entry: &CatalogueEntry| catalogue.iter().position(|other| family(other) == family(entry));
    entries.sort_by_cached_key(|entry| (first(entry), entry.code.clone()));
    entries
}

fn section(page: &mut String, entry: &CatalogueEntry) {
    let texts = entry.example().unwrap_or_else(|e| panic!("{}: {e}", entry.code));
    let _ = writeln!(page, "\n## {}\n\n**{}.** {}", entry.code, entry.title, prose(&texts.cause));
    if let Some(loss) = &texts.data_loss {
        let _ = writeln!(page, "\n**Loss of data:** {}", prose(loss));
    }
    page.push_str("\nEvidence to look for:\n\n");
    for evidence in &entry.evidence {
        let _ = writeln!(page, "- {}", prose(evidence));
    }
    page.push_str("\nRemedies:\n\n");
    for (number, remedy) in texts.remedies.iter().enumerate() {
        let _ = writeln!(page, "{}. {}", number + 1, prose(&remedy.action));
        if let Some(loss) = &remedy.data_loss {
            let _ = writeln!(page, "\n   **Loss of data:** {}", prose(loss));
        }
        if !remedy.commands.is_empty() {
            let _ = writeln!(page, "\n   ```sh\n   {}\n   ```", remedy.commands.join("\n   "));
        }
        let _ = writeln!(page, "\n   {}", prose(&remedy.expect));
    }
    if let Some(guide) = &entry.guide {
        let section = &guide.section;
        let _ = match &guide.url {
            Some(url) => writeln!(page, "\nGuide: [{section}]({url})"),
            None => writeln!(page, "\nGuide: {}, {section}", guide.name),
        };
    }
}

/// Escapes a text so that nothing in it is taken for HTML.
fn prose(text: &str) -> String {
    text.replace('<', "&lt;")
}

/// Scenario of a feature.
struct ProvokingScenario {
    /// Name of the feature's file.
    file: String,
    /// Tags of the scenario, of its feature and of its examples.
    tags: BTreeSet<String>,
    /// Codes in the diagnoses that its steps assert.
    asserted: BTreeSet<String>,
}

/// Returns the scenarios of all features, sorted by file.
fn scenarios() -> Vec<ProvokingScenario> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut dirs = vec![root.join("features")];
    let mut files = Vec::new();
    while let Some(dir) = dirs.pop() {
        for entry in fs::read_dir(dir).expect("the features") {
            let path = entry.expect("an entry").path();
            if path.is_dir() { dirs.push(path) } else { files.push(path) }
        }
    }
    files.sort();
    let mut all = Vec::new();
    for file in files.iter().filter(|f| f.extension().is_some_and(|e| e == "feature")) {
        let feature = Feature::parse_path(file, GherkinEnv::default()).expect("a feature");
        let name = file.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        for (rule_tags, scenario) in tagged_scenarios(&feature) {
            let of_examples = scenario.examples.iter().flat_map(|examples| &examples.tags);
            let tags = feature.tags.iter().chain(rule_tags).chain(&scenario.tags).chain(of_examples);
            let (tags, asserted) = (tags.cloned().collect(), asserted_codes(scenario));
            all.push(ProvokingScenario { file: name.clone(), tags, asserted });
        }
    }
    all
}

/// Returns the scenarios of a feature with the tags of the rule that they stand under.
fn tagged_scenarios(feature: &Feature) -> impl Iterator<Item = (&[String], &Scenario)> {
    let under_rules = feature.rules.iter().flat_map(|rule| rule.scenarios.iter().map(|s| (&rule.tags[..], s)));
    feature.scenarios.iter().map(|scenario| (&[][..], scenario)).chain(under_rules)
}

/// Returns the codes in the diagnoses that a scenario's steps assert, those in its examples too.
fn asserted_codes(scenario: &Scenario) -> BTreeSet<String> {
    let code = Regex::new(FailureCode::PATTERN).expect("a valid pattern");
    let steps = || scenario.steps.iter().map(|step| &step.value).filter(|text| text.contains("the diagnosis"));
    let mut texts: Vec<String> = steps().cloned().collect();
    for table in scenario.examples.iter().filter_map(|examples| examples.table.as_ref()) {
        let Some((names, rows)) = table.rows.split_first() else { continue };
        for row in rows {
            texts.extend(steps().map(|text| {
                names.iter().zip(row).fold(text.clone(), |text, (name, cell)| text.replace(&format!("<{name}>"), cell))
            }));
        }
    }
    texts.iter().flat_map(|text| code.find_iter(text)).map(|code| code.as_str().to_owned()).collect()
}

/// Returns the names of feature files by the failure codes in their tags.
fn features() -> BTreeMap<String, Vec<String>> {
    let mut by_code: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for ProvokingScenario { file, tags, .. } in scenarios() {
        for tag in tags {
            let files = by_code.entry(tag).or_default();
            if !files.contains(&file) {
                files.push(file.clone());
            }
        }
    }
    by_code
}
