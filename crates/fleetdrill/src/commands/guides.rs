//! `fleetdrill guides`.

use std::path::Path;

use serde::Serialize;
use steps::record::RunRecord;

use crate::cli::{Format, Guides, GuidesFormat};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::guides::coverage::Showers;
use crate::guides::{self, Guide, GuideCoverage, Measured, Product};
use crate::output::style::Look;
use crate::output::{coverage, data, drift};
use crate::suite::{Selection, Suite};

/// Coverage, as `guides -o json` shows it.
#[derive(Debug, Serialize)]
struct Covered<'a> {
    /// The versions that something is known of, of what the guides are about.
    versions: Vec<&'a str>,
    /// The guides that were asked for.
    guides: &'a [GuideCoverage],
}

pub(super) fn guides(args: &Guides) -> Result<Exit, CommandError> {
    let wanted = wanted(args.guide.as_deref())?;
    let (measured, showers) = if !args.from.is_empty() {
        let runs = args.from.iter().map(|path| read(path)).collect::<Result<Vec<_>, _>>()?;
        (of_runs(&wanted, &runs)?, Showers::of_runs(&runs))
    } else if args.output == GuidesFormat::Measured {
        return Err(CommandError::Usage {
            message: "there is no run to take the measured results of".into(),
            hint: Some("fleetdrill run --json run.json && fleetdrill guides --from run.json -o measured".into()),
        });
    } else {
        let suite = Suite::load(&Selection::default())?;
        let named = |e: guides::tags::TagError| CommandError::Usage { message: e.to_string(), hint: e.nearest };
        (Measured::all(), Showers::of_suite(&suite).map_err(named)?)
    };
    let covered: Vec<GuideCoverage> = wanted.iter().map(|g| GuideCoverage::of(g, &measured, &showers)).collect();
    match args.output {
        GuidesFormat::Text if args.guide.is_some() || args.all => {
            data::print_text(&coverage::render(&covered, Look::from_locale().width));
        }
        GuidesFormat::Text => data::print_text(&coverage::summary(&covered, Look::from_locale().width)),
        GuidesFormat::Json => {
            let about = |m: &&Measured| wanted.iter().any(|guide| guide.product == m.product);
            let versions = measured.iter().filter(about).map(|m| m.version.as_str()).collect();
            data::print(Format::Json, &Covered { versions, guides: &covered });
        }
        GuidesFormat::Markdown => data::print_text(&drift::render(&covered)),
        GuidesFormat::Measured => data::print(Format::Yaml, &measured[0]),
    }
    let complete = covered.iter().all(|g| g.unreached.is_empty());
    Ok(if complete || args.output == GuidesFormat::Measured { Exit::Fine } else { Exit::Found })
}

/// What runs have shown of each product that the guides are about and that took part. A file has one product's: that of
/// the guide that was asked for, or `KubeFleet`'s.
fn of_runs(wanted: &[&Guide], runs: &[RunRecord]) -> Result<Vec<Measured>, CommandError> {
    let ran = |product: Product| runs.iter().any(|run| run.versions.iter().any(|(c, _)| c == product.component()));
    let asked = |product: Product| wanted.iter().any(|guide| guide.product == product);
    let mut products: Vec<Product> = Product::ALL.into_iter().filter(|p| asked(*p) && ran(*p)).collect();
    if products.is_empty() {
        products.extend(wanted.first().map(|guide| guide.product));
    }
    let measured = products.into_iter().map(|product| Measured::of_runs(product, runs)).collect::<Result<Vec<_>, _>>();
    measured.map_err(|message| CommandError::Usage { message, hint: None })
}

fn wanted(name: Option<&str>) -> Result<Vec<&'static Guide>, CommandError> {
    let Some(name) = name else { return Ok(guides::guides().iter().collect()) };
    let unknown = || CommandError::Usage {
        message: format!("there is no guide `{name}`"),
        hint: Some(format!(
            "there are: {}",
            guides::guides().iter().map(|g| g.name.as_str()).collect::<Vec<_>>().join(", ")
        )),
    };
    Ok(vec![guides::guide(name).ok_or_else(unknown)?])
}

fn read(path: &Path) -> Result<RunRecord, CommandError> {
    let text = std::fs::read_to_string(path).map_err(|e| unusable(path, &e.to_string()))?;
    serde_json::from_str(&text).map_err(|e| unusable(path, &e.to_string()))
}

fn unusable(path: &Path, why: &str) -> CommandError {
    CommandError::Usage {
        message: format!("{} is not the record of a run: {why}", path.display()),
        hint: Some("`fleetdrill run --json FILE` writes one".into()),
    }
}
