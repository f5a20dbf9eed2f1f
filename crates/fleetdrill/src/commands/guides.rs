//! `fleetdrill guides`.

use record::{Product, RunRecord};
use report::text::style::OutputLayout;
use serde::Serialize;

use crate::cli::{GuidesArgs, GuidesFormat, OutputFormat};
use crate::error::CommandError;
use crate::exit::CommandExitCode;
use crate::guides::coverage::ScenariosByStatement;
use crate::guides::{self, GuideCoverage, MeasuredResults, TroubleshootingGuide};
use crate::output::{coverage, data, drift};
use crate::run_file;
use crate::selection::ScenarioSelection;
use crate::suite::Suite;

/// Coverage in the output of `guides -o json`.
#[derive(Debug, Serialize)]
struct CoverageOutput<'a> {
    /// Versions of the guides' products that were measured.
    versions: Vec<&'a str>,
    /// The requested guides.
    guides: &'a [GuideCoverage],
}

pub(super) fn guides(args: &GuidesArgs) -> Result<CommandExitCode, CommandError> {
    let wanted = wanted(args.guide.as_deref())?;
    let (measured, showers) = if !args.from.is_empty() {
        let runs = run_file::read_all(&args.from)?;
        (of_runs(&wanted, &runs)?, ScenariosByStatement::of_runs(&runs))
    } else if args.output == GuidesFormat::Measured {
        return Err(CommandError::Usage {
            message: "there is no run to take the measured results of".into(),
            hint: Some("fleetdrill run --json run.json && fleetdrill guides --from run.json -o measured".into()),
        });
    } else {
        let suite = Suite::load(&ScenarioSelection::default())?;
        let showers = ScenariosByStatement::of_suite(&suite)
            .map_err(|error| CommandError::Usage { message: error.to_string(), hint: error.nearest })?;
        (MeasuredResults::all(), showers)
    };
    let covered: Vec<GuideCoverage> = wanted.iter().map(|g| GuideCoverage::of(g, &measured, &showers)).collect();
    match args.output {
        GuidesFormat::Text if args.guide.is_some() || args.all => {
            data::print_text(&coverage::render(&covered, OutputLayout::from_locale().width));
        }
        GuidesFormat::Text => data::print_text(&coverage::summary(&covered, OutputLayout::from_locale().width)),
        GuidesFormat::Json => {
            let measured = measured.iter().filter(|m| wanted.iter().any(|guide| guide.product == m.product));
            let versions = measured.map(|m| m.version.as_str()).collect();
            data::print(OutputFormat::Json, &CoverageOutput { versions, guides: &covered });
        }
        GuidesFormat::Markdown => data::print_text(&drift::render(&covered)),
        GuidesFormat::Measured => data::print(OutputFormat::Yaml, &measured[0]),
    }
    let complete = covered.iter().all(|g| g.unreached.is_empty());
    Ok(if complete || args.output == GuidesFormat::Measured { CommandExitCode::Fine } else { CommandExitCode::Found })
}

/// Collects the results of runs for each product that the guides are about and that the runs have. The format
/// `measured` has one product: that of the requested guide, or `KubeFleet`.
fn of_runs(wanted: &[&TroubleshootingGuide], runs: &[RunRecord]) -> Result<Vec<MeasuredResults>, CommandError> {
    let mut products = Product::ALL.to_vec();
    products.retain(|product| wanted.iter().any(|guide| guide.product == *product));
    products.retain(|product| runs.iter().any(|run| run.versions.iter().any(|(c, _)| c == product.component())));
    if products.is_empty() {
        products.extend(wanted.first().map(|guide| guide.product));
    }
    let measured =
        products.into_iter().map(|product| MeasuredResults::of_runs(product, runs)).collect::<Result<Vec<_>, _>>();
    measured.map_err(|message| CommandError::Usage { message, hint: None })
}

fn wanted(name: Option<&str>) -> Result<Vec<&'static TroubleshootingGuide>, CommandError> {
    let Some(name) = name else { return Ok(guides::guides().iter().collect()) };
    guides::guide(name).map(|guide| vec![guide]).ok_or_else(|| {
        let names: Vec<&str> = guides::guides().iter().map(|guide| guide.name.as_str()).collect();
        let hint = format!("there are: {}", names.join(", "));
        CommandError::usage(format!("there is no guide `{name}`"), Some(&hint))
    })
}
