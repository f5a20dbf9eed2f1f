//! `fleetdrill list`.

use report::stdout_line;
use serde::Serialize;

use crate::cli::{ListArgs, OutputFormat};
use crate::error::CommandError;
use crate::exit::CommandExitCode;
use crate::guides::tags::statements;
use crate::output::data;
use crate::suite::{self, Suite};

/// Scenario in the output of `list -o json`.
#[derive(Debug, Serialize)]
struct ListedScenario {
    /// Name of the feature.
    feature: String,
    /// File of the feature.
    file: String,
    /// Line of the scenario.
    line: usize,
    /// Name of the scenario.
    scenario: String,
    /// Failure codes that the scenario provokes.
    codes: Vec<String>,
    /// Cases and statements of guides that the scenario shows, or shows to differ.
    guides: Vec<String>,
    /// All tags.
    tags: Vec<String>,
    /// Needs besides a fleet.
    needs: Vec<String>,
}

pub(super) fn list(args: &ListArgs) -> Result<CommandExitCode, CommandError> {
    if args.steps {
        match args.output {
            OutputFormat::Text => data::print_text(include_str!("../../../../docs/steps.md")),
            format => data::print(format, &steps::vocabulary::shapes()),
        }
        return Ok(CommandExitCode::Fine);
    }
    let suite = Suite::load(&args.scenarios.selection(None))?;
    let listed: Vec<ListedScenario> = suite.scenarios().map(|(f, s)| listed(f, s)).collect();
    match args.output {
        OutputFormat::Text => text(&listed),
        format => data::print(format, &listed),
    }
    Ok(CommandExitCode::Fine)
}

fn listed(feature: &gherkin::Feature, scenario: &gherkin::Scenario) -> ListedScenario {
    let tags = suite::tags(feature, scenario);
    let needs = [
        ("disruptive", "a member of its own"),
        ("pods", "pods"),
        ("no-pods", "members without pods"),
        ("argocd", "Argo CD"),
    ];
    let needs = needs.iter().filter(|(tag, _)| tags.iter().any(|t| t == tag)).map(|(_, need)| (*need).to_owned());
    let versions = suite::needed(feature, scenario).ok().filter(|needed| !needed.is_all());
    ListedScenario {
        feature: feature.name.clone(),
        file: suite::file(feature),
        line: scenario.position.line,
        scenario: scenario.name.clone(),
        codes: suite::codes(feature, scenario).collect(),
        guides: tags.iter().filter_map(|tag| statements(tag)).map(ToOwned::to_owned).collect(),
        needs: needs.chain(versions.map(|needed| needed.to_string())).collect(),
        tags,
    }
}

fn text(listed: &[ListedScenario]) {
    let mut feature = "";
    for one in listed {
        if feature != one.feature {
            let gap = if feature.is_empty() { "" } else { "\n" };
            stdout_line!("{gap}{} ({})", one.feature, one.file);
            feature = &one.feature;
        }
        let codes = if one.codes.is_empty() { "healthy".to_owned() } else { one.codes.join(", ") };
        stdout_line!("  {codes:<10}  {}", one.scenario);
        let others = one.tags.iter().filter(|tag| !one.codes.contains(tag) && statements(tag).is_none());
        let tags: Vec<String> = others.map(|tag| format!("@{tag}")).collect();
        let needs = if one.needs.is_empty() { String::new() } else { format!("; needs {}", one.needs.join(" and ")) };
        stdout_line!("  {:<10}  {}{needs}", "", tags.join(" "));
        if !one.guides.is_empty() {
            stdout_line!("  {:<10}  guides: {}", "", one.guides.join(", "));
        }
    }
    stdout_line!("\n{} scenarios", listed.len());
}
