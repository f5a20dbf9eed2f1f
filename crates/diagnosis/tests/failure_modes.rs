//! Test of docs/failure-modes.md, which is written from the catalogue: every code with its cause, evidence, remedies
//! and guide.
//!
//! `make docs` writes the page (`UPDATE_EXPECT=1`). Without that variable the test compares the page.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use diagnosis::{CatalogueEntry, Severity};
use expect_test::expect_file;

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

/// Returns the names of feature files by the failure codes in their tags.
fn features() -> BTreeMap<String, Vec<String>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut by_code: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut dirs = vec![root.join("features")];
    let mut files = Vec::new();
    while let Some(dir) = dirs.pop() {
        for entry in fs::read_dir(dir).expect("the features") {
            let path = entry.expect("an entry").path();
            if path.is_dir() { dirs.push(path) } else { files.push(path) }
        }
    }
    files.sort();
    for file in files.iter().filter(|f| f.extension().is_some_and(|e| e == "feature")) {
        let text = fs::read_to_string(file).expect("a feature");
        let tags = text.lines().map(str::trim).filter(|l| l.starts_with('@')).flat_map(str::split_whitespace);
        let name = file.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        for code in tags.filter_map(|tag| tag.strip_prefix('@')) {
            let files = by_code.entry(code.to_owned()).or_default();
            if !files.contains(&name) {
                files.push(name.clone());
            }
        }
    }
    by_code
}
