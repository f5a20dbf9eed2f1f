//! `fleetdrill list`.

use serde::Serialize;

use crate::cli::{Format, List};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::guides::tags::statements;
use crate::output::data;
use crate::output::stdout::stdout_line;
use crate::suite;

/// A scenario, as `list -o json` shows it.
#[derive(Debug, Serialize)]
struct Listed {
    /// The feature's name.
    feature: String,
    /// Its file.
    file: String,
    /// The scenario's line in it.
    line: usize,
    /// The scenario's name.
    scenario: String,
    /// The failure codes that it provokes.
    codes: Vec<String>,
    /// The cases and statements of guides that it shows, or shows to be otherwise.
    guides: Vec<String>,
    /// All tags.
    tags: Vec<String>,
    /// What it needs beside a fleet.
    needs: Vec<String>,
}

pub(super) fn list(args: &List) -> Result<Exit, CommandError> {
    if args.steps {
        match args.output {
            Format::Text => data::print_text(include_str!("../../../../docs/steps.md")),
            format => data::print(format, &steps::vocabulary::shapes()),
        }
        return Ok(Exit::Fine);
    }
    let suite = args.scenarios.load(None)?;
    let listed: Vec<Listed> = suite.scenarios().map(|(f, s)| listed(f, s)).collect();
    match args.output {
        Format::Text => text(&listed),
        format => data::print(format, &listed),
    }
    Ok(Exit::Fine)
}

fn listed(feature: &gherkin::Feature, scenario: &gherkin::Scenario) -> Listed {
    let tags = suite::tags(feature, scenario);
    let needs = [
        ("disruptive", "a member of its own"),
        ("pods", "pods"),
        ("no-pods", "members without pods"),
        ("argocd", "Argo CD"),
    ];
    let needs = needs.iter().filter(|(tag, _)| tags.iter().any(|t| t == tag)).map(|(_, need)| (*need).to_owned());
    let versions = suite::needed(feature, scenario).ok().filter(|needed| !needed.is_all());
    Listed {
        feature: feature.name.clone(),
        file: suite::file(feature),
        line: scenario.position.line,
        scenario: scenario.name.clone(),
        codes: tags.iter().filter(|tag| suite::is_code(tag)).cloned().collect(),
        guides: tags.iter().filter_map(|tag| statements(tag)).map(ToOwned::to_owned).collect(),
        needs: needs.chain(versions.map(|needed| needed.to_string())).collect(),
        tags,
    }
}

fn text(listed: &[Listed]) {
    let mut feature = "";
    for one in listed {
        if feature != one.feature {
            let gap = if feature.is_empty() { "" } else { "\n" };
            stdout_line!("{gap}{} ({})", one.feature, one.file);
            feature = &one.feature;
        }
        let codes = if one.codes.is_empty() { "healthy".to_owned() } else { one.codes.join(", ") };
        stdout_line!("  {codes:<10}  {}", one.scenario);
        let plain = |t: &&String| !one.codes.contains(t) && statements(t).is_none();
        let tags: Vec<String> = one.tags.iter().filter(plain).map(|t| format!("@{t}")).collect();
        let needs = if one.needs.is_empty() { String::new() } else { format!("; needs {}", one.needs.join(" and ")) };
        stdout_line!("  {:<10}  {}{needs}", "", tags.join(" "));
        if !one.guides.is_empty() {
            stdout_line!("  {:<10}  guides: {}", "", one.guides.join(", "));
        }
    }
    stdout_line!("\n{} scenarios", listed.len());
}
