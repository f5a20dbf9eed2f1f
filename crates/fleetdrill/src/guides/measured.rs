//! Results measured on a version: `guides/measured/VERSION.yaml` for KubeFleet, `guides/measured/argocd-VERSION.yaml`
//! for Argo CD. `fleetdrill guides GUIDE --from RUN.json -o measured` writes them.

use std::collections::{BTreeMap, BTreeSet};

use fleet::capability::Capabilities;
use record::{ConditionTemplate, Outcome, Product, RunRecord, ShownStatement, ShownStatementState};
use serde::{Deserialize, Serialize};

use super::statement::{Statement, guides, measured_file, measured_files};

/// Results of one version, by the statements' ids.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "MeasuredResultsFile", into = "MeasuredResultsFile")]
pub struct MeasuredResults {
    /// Product that was measured.
    pub product: Product,
    /// Version of the product.
    pub version: String,
    /// Capabilities of the version, if the product is KubeFleet.
    pub can: Capabilities,
    /// Statements that differ, with the text that was seen instead; a behaviour has no text.
    pub differs: BTreeMap<String, Option<ConditionTemplate>>,
    /// Statements that hold.
    pub holds: BTreeSet<String>,
}

/// Form of [`MeasuredResults`] in a file, with a field for each product's version.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct MeasuredResultsFile {
    #[serde(skip_serializing_if = "Option::is_none", default)]
    kubefleet: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    argocd: Option<String>,
    #[serde(skip_serializing_if = "Capabilities::is_empty", default)]
    can: Capabilities,
    differs: BTreeMap<String, Option<ConditionTemplate>>,
    holds: BTreeSet<String>,
}

impl TryFrom<MeasuredResultsFile> for MeasuredResults {
    type Error = &'static str;

    fn try_from(
        MeasuredResultsFile { kubefleet, argocd, can, differs, holds }: MeasuredResultsFile,
    ) -> Result<Self, Self::Error> {
        let (product, version) = match (kubefleet, argocd) {
            (Some(version), None) => (Product::KubeFleet, version),
            (None, Some(version)) => (Product::ArgoCd, version),
            _ => return Err("it is about one version, of `kubefleet` or of `argocd`"),
        };
        Ok(Self { product, version, can, differs, holds })
    }
}

impl From<MeasuredResults> for MeasuredResultsFile {
    fn from(MeasuredResults { product, version, can, differs, holds }: MeasuredResults) -> Self {
        let (kubefleet, argocd) = match product {
            Product::KubeFleet => (Some(version), None),
            Product::ArgoCd => (None, Some(version)),
        };
        Self { kubefleet, argocd, can, differs, holds }
    }
}

/// Versions that run, each with the results measured on it before.
#[derive(Clone, Debug, Default)]
pub struct KnownResults {
    /// Capabilities of KubeFleet.
    pub kubefleet: Capabilities,
    versions: Vec<(Product, String, Option<MeasuredResults>)>,
}

impl KnownResults {
    /// Loads the committed results of some versions.
    pub fn of(kubefleet: Capabilities, versions: impl IntoIterator<Item = (Product, String)>) -> Self {
        let versions = versions.into_iter().map(|(product, version)| {
            let measured = MeasuredResults::committed(product, &version);
            (product, version, measured)
        });
        Self { kubefleet, versions: versions.collect() }
    }

    /// Uses these results instead of the committed ones.
    pub fn measured(measured: impl IntoIterator<Item = MeasuredResults>) -> Self {
        let mut known = Self::default();
        for one in measured {
            if one.product == Product::KubeFleet {
                known.kubefleet = one.can.clone();
            }
            known.versions.push((one.product, one.version.clone(), Some(one)));
        }
        known
    }

    /// Returns the version that a statement is compared with, if it is known.
    #[must_use]
    pub fn version(&self, statement: &Statement) -> Option<&str> {
        self.versions.iter().find(|(product, ..)| *product == statement.product).map(|(_, version, _)| version.as_str())
    }

    /// Returns the measured state of a statement.
    #[must_use]
    pub fn state(&self, statement: &Statement) -> Option<ShownStatementState> {
        let (.., measured) = self.versions.iter().find(|(product, ..)| *product == statement.product)?;
        measured.as_ref()?.state(&statement.id)
    }
}

impl MeasuredResults {
    /// Collects the results of scenarios on a version with these capabilities.
    pub fn of(
        product: Product,
        version: &str,
        can: Capabilities,
        shown: impl IntoIterator<Item = ShownStatement>,
    ) -> Self {
        let version = version.to_owned();
        let mut measured = Self { product, version, can, differs: BTreeMap::new(), holds: BTreeSet::new() };
        for ShownStatement { statement, state } in shown {
            match state {
                ShownStatementState::Holds => drop(measured.holds.insert(statement)),
                ShownStatementState::Differs { seen } => drop(measured.differs.insert(statement, seen)),
            }
        }
        measured
    }

    /// Collects the results of several runs of one version of a product, e.g. of the shards of one run. Statements that
    /// only an older fleetdrill knew are left out.
    ///
    /// # Errors
    /// Returns an error text if two scenarios contradict each other, or the runs don't have exactly one version
    /// of the product.
    pub fn of_runs(product: Product, runs: &[RunRecord]) -> Result<Self, String> {
        let component = product.component();
        let versions = runs.iter().filter_map(|run| run.versions.iter().find(|(name, _)| name == component));
        let mut versions: Vec<String> = versions.map(|(_, version)| version.clone()).collect();
        versions.sort();
        versions.dedup();
        let [version] = &versions[..] else {
            let found = if versions.is_empty() { "none".to_owned() } else { versions.join(", ") };
            return Err(format!("the runs have to be of one version of {}, and have: {found}", product.name()));
        };
        let known = known(product);
        let mut first: BTreeMap<&str, (&ShownStatement, &str)> = BTreeMap::new();
        let scenarios = runs.iter().flat_map(|run| &run.scenarios).filter(|s| s.outcome == Outcome::Passed);
        for scenario in scenarios {
            for shown in scenario.statements.iter().filter(|s| known.contains(s.statement.as_str())) {
                let (before, by) = first.entry(&shown.statement).or_insert((shown, &scenario.scenario));
                if before.state != shown.state {
                    let id = &shown.statement;
                    return Err(format!("\"{by}\" and \"{}\" show statement {id} differently", scenario.scenario));
                }
            }
        }
        let can = match product {
            Product::KubeFleet => runs.first().map(|run| run.capabilities.clone()).unwrap_or_default(),
            Product::ArgoCd => Capabilities::default(),
        };
        Ok(Self::of(product, version, can, first.into_values().map(|(shown, _)| shown.clone())))
    }

    /// Returns the committed results of a version.
    ///
    /// # Panics
    /// Never in a build that passed its tests: the files are part of the binary.
    #[must_use]
    pub fn committed(product: Product, version: &str) -> Option<Self> {
        Self::in_file(&file_name(product, version))
    }

    /// Returns all committed results, by product and version.
    #[must_use]
    pub fn all() -> Vec<Self> {
        let mut all: Vec<_> = measured_files().iter().filter_map(|name| Self::in_file(name)).collect();
        all.sort_by(|a, b| (a.product, &a.version).cmp(&(b.product, &b.version)));
        all
    }

    fn in_file(name: &str) -> Option<Self> {
        let text = measured_file(name)?;
        Some(serde_saphyr::from_str(text).unwrap_or_else(|e| panic!("guides/measured/{name}.yaml: {e}")))
    }

    /// Returns the measured state of a statement.
    #[must_use]
    pub fn state(&self, statement: &str) -> Option<ShownStatementState> {
        if self.holds.contains(statement) {
            return Some(ShownStatementState::Holds);
        }
        self.differs.get(statement).map(|seen| ShownStatementState::Differs { seen: seen.clone() })
    }

    /// Returns the ids that no guide has any more.
    #[must_use]
    pub fn unknown(&self) -> Vec<&str> {
        let known = known(self.product);
        let ids = self.holds.iter().chain(self.differs.keys()).map(String::as_str);
        ids.filter(|id| !known.contains(id)).collect()
    }
}

/// Returns the ids of all statements about a product.
fn known(product: Product) -> BTreeSet<&'static str> {
    let about = guides().iter().filter(|g| g.product == product);
    about.flat_map(|g| &g.statements).map(|s| s.id.as_str()).collect()
}

/// Returns the name of the file with the results measured on a version, without extension.
fn file_name(product: Product, version: &str) -> String {
    match product {
        Product::KubeFleet => version.to_owned(),
        Product::ArgoCd => format!("{}-{version}", product.component()),
    }
}

#[cfg(test)]
mod tests {
    use report::run::fixture;

    use super::*;

    #[test]
    fn what_is_committed_is_about_statements_that_there_are() {
        for measured in MeasuredResults::all() {
            assert!(measured.unknown().is_empty(), "{}: {:?}", measured.version, measured.unknown());
        }
    }

    #[test]
    fn scenarios_that_contradict_each_other_are_no_measure() {
        let id = "work-synchronized/resolution/wait";
        let with = |state| {
            let mut run = fixture::run();
            let gone =
                ShownStatement { statement: "work-synchronized/gone/gone".into(), state: ShownStatementState::Holds };
            run.scenarios[0].statements = vec![ShownStatement { statement: id.into(), state }, gone];
            run
        };
        let (holds, differs) = (with(ShownStatementState::Holds), with(ShownStatementState::Differs { seen: None }));
        let measured = MeasuredResults::of_runs(Product::KubeFleet, &[holds.clone(), holds.clone()]).unwrap();
        assert_eq!(measured.holds.iter().collect::<Vec<_>>(), [id]);
        let error = MeasuredResults::of_runs(Product::KubeFleet, &[holds.clone(), differs]).unwrap_err();
        assert!(error.ends_with(&format!("show statement {id} differently")), "{error}");
        let mut other = holds.clone();
        other.versions[0].1 = "v0.3.1".into();
        let error = MeasuredResults::of_runs(Product::KubeFleet, &[holds, other]).unwrap_err();
        assert_eq!(error, "the runs have to be of one version of KubeFleet, and have: v0.1.2, v0.3.1");
    }

    #[test]
    fn a_file_says_what_it_is_a_version_of() {
        for (product, first) in [(Product::KubeFleet, "kubefleet: v1.0.0\n"), (Product::ArgoCd, "argocd: v1.0.0\n")] {
            let measured = MeasuredResults::of(product, "v1.0.0", Capabilities::default(), []);
            let text = serde_saphyr::to_string(&measured).unwrap();
            assert!(text.starts_with(first), "{text}");
            assert_eq!(serde_saphyr::from_str::<MeasuredResults>(&text).unwrap(), measured);
        }
        let neither = serde_saphyr::from_str::<MeasuredResults>("differs: {}\nholds: []\n").unwrap_err().to_string();
        assert!(neither.contains("it is about one version, of `kubefleet` or of `argocd`"), "{neither}");
    }
}
