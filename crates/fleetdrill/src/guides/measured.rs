//! What was measured on a version: `guides/measured/VERSION.yaml` of KubeFleet, `guides/measured/argocd-VERSION.yaml` of
//! Argo CD, written by `fleetdrill guides GUIDE --from RUN.json -o measured`.

use std::collections::{BTreeMap, BTreeSet};

use fleet::capability::Capabilities;
use serde::{Deserialize, Serialize};
use steps::record::{Outcome, RunRecord, Seen, Shown, ShownState};

use super::product::Product;
use super::statement::{Statement, guides, measured_file, measured_files};

/// The results of one version, by the statements' ids.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "File", into = "File")]
pub struct Measured {
    /// What it is a version of.
    pub product: Product,
    /// The version.
    pub version: String,
    /// What the version can do, of KubeFleet.
    pub can: Capabilities,
    /// What differs, with the text that was seen instead; without one for behaviours.
    pub differs: BTreeMap<String, Option<Seen>>,
    /// What is as the guide says.
    pub holds: BTreeSet<String>,
}

/// As it is written: the version stands after its product.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(skip_serializing_if = "Option::is_none", default)]
    kubefleet: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    argocd: Option<String>,
    #[serde(skip_serializing_if = "Capabilities::is_empty", default)]
    can: Capabilities,
    differs: BTreeMap<String, Option<Seen>>,
    holds: BTreeSet<String>,
}

impl TryFrom<File> for Measured {
    type Error = &'static str;

    fn try_from(File { kubefleet, argocd, can, differs, holds }: File) -> Result<Self, Self::Error> {
        let (product, version) = match (kubefleet, argocd) {
            (Some(version), None) => (Product::KubeFleet, version),
            (None, Some(version)) => (Product::ArgoCd, version),
            _ => return Err("it is about one version, of `kubefleet` or of `argocd`"),
        };
        Ok(Self { product, version, can, differs, holds })
    }
}

impl From<Measured> for File {
    fn from(Measured { product, version, can, differs, holds }: Measured) -> Self {
        let of = |wanted| (product == wanted).then(|| version.clone());
        Self { kubefleet: of(Product::KubeFleet), argocd: of(Product::ArgoCd), can, differs, holds }
    }
}

/// The versions of what runs, with what was measured on them before.
#[derive(Clone, Debug, Default)]
pub struct Known {
    /// What KubeFleet can do.
    pub kubefleet: Capabilities,
    versions: Vec<(Product, String, Option<Measured>)>,
}

impl Known {
    /// What is committed for some versions.
    pub fn of(kubefleet: Capabilities, versions: impl IntoIterator<Item = (Product, String)>) -> Self {
        let known = |(product, version): (Product, String)| {
            let measured = Measured::committed(product, &version);
            (product, version, measured)
        };
        Self { kubefleet, versions: versions.into_iter().map(known).collect() }
    }

    /// What was measured on some versions.
    pub fn measured(measured: impl IntoIterator<Item = Measured>) -> Self {
        let mut known = Self::default();
        for one in measured {
            if one.product == Product::KubeFleet {
                known.kubefleet = one.can.clone();
            }
            known.versions.push((one.product, one.version.clone(), Some(one)));
        }
        known
    }

    /// The version that a statement is compared with, when it is known.
    #[must_use]
    pub fn version(&self, statement: &Statement) -> Option<&str> {
        self.versions.iter().find(|(product, ..)| *product == statement.product).map(|(_, version, _)| version.as_str())
    }

    /// What was measured of a statement.
    #[must_use]
    pub fn state(&self, statement: &Statement) -> Option<ShownState> {
        let (.., measured) = self.versions.iter().find(|(product, ..)| *product == statement.product)?;
        measured.as_ref()?.state(&statement.id)
    }
}

impl Measured {
    /// What scenarios have shown on a version that can do this.
    pub fn of(product: Product, version: &str, can: Capabilities, shown: impl IntoIterator<Item = Shown>) -> Self {
        let version = version.to_owned();
        let mut measured = Self { product, version, can, differs: BTreeMap::new(), holds: BTreeSet::new() };
        for Shown { statement, state } in shown {
            match state {
                ShownState::Holds => drop(measured.holds.insert(statement)),
                ShownState::Differs { seen } => drop(measured.differs.insert(statement, seen)),
            }
        }
        measured
    }

    /// What runs of one version have shown of a product, such as the parts of one that was split. What an older fleetdrill
    /// had for a statement is left out.
    ///
    /// # Errors
    /// When two scenarios contradict each other, or the runs don't say one version of the product; for people.
    pub fn of_runs(product: Product, runs: &[RunRecord]) -> Result<Self, String> {
        let is = |(component, _): &&(String, String)| component == product.component();
        let version = |run: &RunRecord| run.versions.iter().find(is).map(|(_, v)| v.clone());
        let mut versions: Vec<String> = runs.iter().filter_map(version).collect();
        versions.sort();
        versions.dedup();
        let [version] = &versions[..] else {
            let found = if versions.is_empty() { "none".to_owned() } else { versions.join(", ") };
            return Err(format!("the runs have to be of one version of {}, and have: {found}", product.name()));
        };
        let known = known(product);
        let mut first: BTreeMap<&str, (&Shown, &str)> = BTreeMap::new();
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

    /// What is committed for a version.
    ///
    /// # Panics
    /// Never in a build that passed its tests: the files are part of the binary.
    #[must_use]
    pub fn committed(product: Product, version: &str) -> Option<Self> {
        Self::in_file(&product.measured(version))
    }

    /// What is committed, by product and version.
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

    /// A statement's result.
    #[must_use]
    pub fn state(&self, statement: &str) -> Option<ShownState> {
        if self.holds.contains(statement) {
            return Some(ShownState::Holds);
        }
        self.differs.get(statement).map(|seen| ShownState::Differs { seen: seen.clone() })
    }

    /// Ids that no guide has any more.
    #[must_use]
    pub fn unknown(&self) -> Vec<&str> {
        let known = known(self.product);
        let ids = self.holds.iter().chain(self.differs.keys()).map(String::as_str);
        ids.filter(|id| !known.contains(id)).collect()
    }
}

/// The ids of all statements that there are about a product.
fn known(product: Product) -> BTreeSet<&'static str> {
    let about = guides().iter().filter(|g| g.product == product);
    about.flat_map(|g| &g.statements).map(|s| s.id.as_str()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reporter::fixture;

    #[test]
    fn what_is_committed_is_about_statements_that_there_are() {
        for measured in Measured::all() {
            assert!(measured.unknown().is_empty(), "{}: {:?}", measured.version, measured.unknown());
        }
    }

    #[test]
    fn scenarios_that_contradict_each_other_are_no_measure() {
        let id = "work-synchronized/resolution/wait";
        let with = |state| {
            let mut run = fixture::run();
            let gone = Shown { statement: "work-synchronized/gone/gone".into(), state: ShownState::Holds };
            run.scenarios[0].statements = vec![Shown { statement: id.into(), state }, gone];
            run
        };
        let (holds, differs) = (with(ShownState::Holds), with(ShownState::Differs { seen: None }));
        let measured = Measured::of_runs(Product::KubeFleet, &[holds.clone(), holds.clone()]).unwrap();
        assert_eq!(measured.holds.iter().collect::<Vec<_>>(), [id]);
        let error = Measured::of_runs(Product::KubeFleet, &[holds.clone(), differs]).unwrap_err();
        assert!(error.ends_with(&format!("show statement {id} differently")), "{error}");
        let mut other = holds.clone();
        other.versions[0].1 = "v0.3.1".into();
        let error = Measured::of_runs(Product::KubeFleet, &[holds, other]).unwrap_err();
        assert_eq!(error, "the runs have to be of one version of KubeFleet, and have: v0.1.2, v0.3.1");
    }

    #[test]
    fn a_file_says_what_it_is_a_version_of() {
        for (product, first) in [(Product::KubeFleet, "kubefleet: v1.0.0\n"), (Product::ArgoCd, "argocd: v1.0.0\n")] {
            let measured = Measured::of(product, "v1.0.0", Capabilities::default(), []);
            let text = serde_saphyr::to_string(&measured).unwrap();
            assert!(text.starts_with(first), "{text}");
            assert_eq!(serde_saphyr::from_str::<Measured>(&text).unwrap(), measured);
        }
        let neither = serde_saphyr::from_str::<Measured>("differs: {}\nholds: []\n").unwrap_err().to_string();
        assert!(neither.contains("it is about one version, of `kubefleet` or of `argocd`"), "{neither}");
    }
}
