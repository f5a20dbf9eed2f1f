//! Guide by guide, which statements hold on which version of its product, which differ, and which no scenario reaches.

use fleet::capability::Capabilities;
use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;
use steps::record::{Outcome, RunRecord, Seen, ShownState};

use super::measured::Measured;
use super::product::Product;
use super::statement::{Claim, Guide, Scope, Statement};
use super::tags::{self, TagError};
use crate::needed::Needed;
use crate::suite::{self, Suite};

/// A guide with its statements' states.
#[derive(Clone, Debug, Serialize)]
pub struct GuideCoverage {
    /// Its short name.
    pub name: String,
    /// Its own title.
    pub title: String,
    /// Where it is published.
    pub url: String,
    /// What it is about, of whose versions its statements' states are.
    pub product: Product,
    /// In the guide's order.
    pub statements: Vec<Covered>,
    /// The ids of those that differ on some version.
    pub differs: Vec<String>,
    /// The ids of those that no scenario names, or that apply to a measured version and weren't seen on it.
    pub unreached: Vec<String>,
}

/// A statement with its state on each version.
#[derive(Clone, Debug, Serialize)]
pub struct Covered {
    /// Its id.
    pub id: String,
    /// The guide's section.
    pub section: String,
    /// Which kinds it is about, where that makes a difference.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope: Option<Scope>,
    /// What has the condition, e.g. `ResourcePlacement on a cluster`; nothing for a behaviour.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub object: String,
    /// The guide's words, with the names of its example.
    pub says: String,
    /// How it is checked, where it is no condition.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub check: Option<String>,
    /// What one must know where it isn't so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// What it is about.
    #[serde(skip)]
    pub product: Product,
    /// Its state by the product's version.
    pub versions: BTreeMap<String, Standing>,
    /// What those versions of KubeFleet can do.
    #[serde(skip)]
    pub can: BTreeMap<String, Capabilities>,
    /// The scenarios that show it.
    pub scenarios: Vec<Shower>,
}

/// How a statement stands on a version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum Standing {
    /// It is so.
    Holds,
    /// It is otherwise.
    Differs {
        /// What the controller wrote, with holes for names.
        #[serde(skip_serializing_if = "Option::is_none")]
        seen: Option<Seen>,
        /// What is so instead.
        #[serde(skip_serializing_if = "Option::is_none")]
        instead: Option<String>,
    },
    /// No scenario has shown it.
    Unreached,
    /// It can't be so.
    DoesNotApply {
        /// Why.
        because: String,
    },
}

/// A scenario that shows a statement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Shower {
    /// Its name.
    pub scenario: String,
    /// Its file.
    pub file: String,
    /// What it needs a version to do.
    #[serde(skip)]
    pub needed: Needed,
}

/// Scenarios by the ids of the statements that they show.
#[derive(Clone, Debug, Default)]
pub struct Showers(BTreeMap<String, Vec<Shower>>);

impl Showers {
    /// What a suite's tags say.
    ///
    /// # Errors
    /// When a tag names no statement.
    pub fn of_suite(suite: &Suite) -> Result<Self, TagError> {
        let mut showers = Self::default();
        for (feature, scenario) in suite.scenarios() {
            let needed = Needed::of(&suite::tags(feature, scenario)).unwrap_or_default();
            let shower = Shower { scenario: scenario.name.clone(), file: suite::file(feature), needed };
            for named in tags::named(feature, scenario)? {
                showers.add(&named.statement.id, shower.clone());
            }
        }
        Ok(showers)
    }

    /// What runs have shown.
    #[must_use]
    pub fn of_runs(runs: &[RunRecord]) -> Self {
        let mut showers = Self::default();
        for record in runs.iter().flat_map(|run| &run.scenarios).filter(|s| s.outcome == Outcome::Passed) {
            let needed = Needed::default();
            let shower = Shower { scenario: record.scenario.clone(), file: record.file.clone(), needed };
            for shown in &record.statements {
                showers.add(&shown.statement, shower.clone());
            }
        }
        showers
    }

    fn add(&mut self, statement: &str, shower: Shower) {
        self.0.entry(statement.to_owned()).or_default().push(shower);
    }
}

impl GuideCoverage {
    /// A guide's coverage by what was measured on some versions.
    #[must_use]
    pub fn of(guide: &Guide, measured: &[Measured], showers: &Showers) -> Self {
        let measured: Vec<&Measured> = measured.iter().filter(|m| m.product == guide.product).collect();
        let covered: Vec<Covered> = guide.statements.iter().map(|s| covered(s, &measured, showers)).collect();
        let ids = |fits: &dyn Fn(&Covered) -> bool| {
            covered.iter().filter(|c| fits(c)).map(|c| c.id.clone()).collect::<Vec<_>>()
        };
        let differs = ids(&|c| c.versions.values().any(|v| matches!(v, Standing::Differs { .. })));
        let unreached = ids(&|c| c.scenarios.is_empty() || c.versions.values().any(|v| *v == Standing::Unreached));
        Self {
            name: guide.name.clone(),
            title: guide.title.clone(),
            url: guide.url.clone(),
            product: guide.product,
            differs,
            unreached,
            statements: covered,
        }
    }

    /// What differs; statements that say the same and differ in the same way stand together.
    #[must_use]
    pub fn differences(&self) -> Vec<Vec<&Covered>> {
        let mut groups: Vec<Vec<&Covered>> = Vec::new();
        for statement in self.statements.iter().filter(|s| self.differs.contains(&s.id)) {
            let same = |other: &Covered| {
                (&other.object, &other.says, &other.versions)
                    == (&statement.object, &statement.says, &statement.versions)
            };
            match groups.iter_mut().find(|group| same(group[0])) {
                Some(group) => group.push(statement),
                None => groups.push(vec![statement]),
            }
        }
        groups
    }

    /// How many statements stand in which way, by version: `12 hold, 1 differs, 0 unreached, 3 don't apply`.
    #[must_use]
    pub fn counts(&self) -> BTreeMap<&str, Counts> {
        let mut counts: BTreeMap<&str, Counts> = BTreeMap::new();
        for (version, standing) in self.statements.iter().flat_map(|s| &s.versions) {
            let count = counts.entry(version).or_default();
            *match standing {
                Standing::Holds => &mut count.hold,
                Standing::Differs { .. } => &mut count.differ,
                Standing::Unreached => &mut count.unreached,
                Standing::DoesNotApply { .. } => &mut count.do_not_apply,
            } += 1;
        }
        counts
    }
}

/// How many statements stand in which way on a version.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// They are so.
    pub hold: usize,
    /// They are otherwise.
    pub differ: usize,
    /// No scenario has shown them.
    pub unreached: usize,
    /// They can't be so.
    pub do_not_apply: usize,
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} hold, {} differ, {} unreached", self.hold, self.differ, self.unreached)?;
        if self.do_not_apply > 0 {
            write!(f, ", {} don't apply", self.do_not_apply)?;
        }
        Ok(())
    }
}

impl Covered {
    /// The part of the id after the guide's name.
    #[must_use]
    pub fn short_id(&self) -> &str {
        self.id.split_once('/').map_or(&self.id, |(_, rest)| rest)
    }

    /// The command that shows it on a version.
    #[must_use]
    pub fn command(&self, version: &str) -> Option<String> {
        let can = self.can.get(version).filter(|_| self.product == Product::KubeFleet);
        let fits = |s: &&Shower| can.is_none_or(|can| s.needed.admits(can));
        let scenario = self.scenarios.iter().find(fits)?.scenario.as_str();
        // In the quotes that a shell takes the name whole in.
        let quote = if scenario.contains(['"', '$', '`', '\\', '!']) { '\'' } else { '"' };
        let scenario = if quote == '\'' { scenario.replace('\'', r"'\''") } else { scenario.to_owned() };
        Some(format!("fleetdrill run --{} {version} {quote}{scenario}{quote}", self.product.component()))
    }
}

fn covered(statement: &Statement, measured: &[&Measured], showers: &Showers) -> Covered {
    let (check, instead) = match &statement.claim {
        Claim::Behaviour { check, instead, .. } => (Some(check.clone()), instead.clone()),
        Claim::Condition { .. } => (None, None),
    };
    let standing = |m: &Measured| {
        if !statement.applies_to(&m.can) {
            return Standing::DoesNotApply { because: statement.because.clone().unwrap_or_default() };
        }
        match m.state(&statement.id) {
            Some(ShownState::Holds) => Standing::Holds,
            Some(ShownState::Differs { seen }) => Standing::Differs { seen, instead: instead.clone() },
            None => Standing::Unreached,
        }
    };
    Covered {
        id: statement.id.clone(),
        product: statement.product,
        section: statement.section.clone(),
        scope: statement.scope,
        object: statement.object(),
        says: statement.says(),
        check,
        note: statement.note.clone(),
        versions: measured.iter().map(|m| (m.version.clone(), standing(m))).collect(),
        can: measured.iter().map(|m| (m.version.clone(), m.can.clone())).collect(),
        scenarios: showers.0.get(&statement.id).cloned().unwrap_or_default(),
    }
}

#[cfg(test)]
pub(crate) mod fixture {
    //! A guide of four statements, of which one holds, two differ alike, one differs otherwise and one isn't reached.

    use super::*;

    pub(crate) fn guides() -> Vec<GuideCoverage> {
        let can = |version: &str| Measured::committed(Product::KubeFleet, version).expect("measured").can;
        let measured = |version: &str, differs: &[(&str, Option<&str>)], holds: &[&str]| Measured {
            product: Product::KubeFleet,
            version: version.into(),
            can: can(version),
            holds: holds.iter().map(ToString::to_string).collect(),
            differs: differs.iter().map(|(id, seen)| ((*id).to_owned(), seen.map(seen_as))).collect(),
        };
        let first = "staged-update-run-2026/placement-deleted/initialized/cluster";
        let second = "staged-update-run-2026/concurrent/initialized/cluster";
        let label = "staged-update-run-2026/approval-labels/task-type/cluster";
        let holds = "staged-update-run-2026/external/scheduled/cluster";
        let stopped = "staged-update-run-2026/state-stop/stopped/cluster";
        let delete = "staged-update-run-2026/stuck-resolution/delete/cluster";
        let text = Some("ClusterStagedUpdateRun initialized successfully");
        let measured = [
            measured("v0.1.2", &[(first, text), (second, text), (label, None)], &[holds]),
            measured("v0.3.1", &[(label, None)], &[first, second, holds, stopped, delete]),
        ];
        let mut guide = crate::guides::guide("staged-update-run-2026").expect("a guide").clone();
        guide.statements.retain(|s| [first, second, label, holds, stopped, delete].contains(&s.id.as_str()));
        let mut showers = Showers::default();
        for id in [first, second, label, holds, stopped, delete] {
            let scenario = format!("Something that shows \"{}\"", id.split('/').nth(1).unwrap_or_default());
            let file = "kubefleet/some.feature".to_owned();
            showers.add(id, Shower { scenario, file, needed: Needed::default() });
        }
        vec![GuideCoverage::of(&guide, &measured, &showers)]
    }

    fn seen_as(message: &str) -> Seen {
        let reason = "UpdateRunInitializedSuccessfully".to_owned();
        Seen { status: "True".into(), reason, message: message.to_owned() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_holds_differs_and_is_not_reached() {
        let guide = &fixture::guides()[0];
        assert_eq!(guide.unreached, ["staged-update-run-2026/stuck-resolution/delete/cluster"]);
        let counts: Vec<String> = guide.counts().iter().map(|(version, c)| format!("{version}: {c}")).collect();
        assert_eq!(
            counts,
            ["v0.1.2: 1 hold, 3 differ, 1 unreached, 1 don't apply", "v0.3.1: 5 hold, 1 differ, 0 unreached"]
        );
        let groups: Vec<usize> = guide.differences().iter().map(Vec::len).collect();
        assert_eq!(groups, [2, 1]);
    }

    #[test]
    fn as_json() {
        insta::assert_json_snapshot!(fixture::guides());
    }

    #[test]
    fn what_no_scenario_names_is_unreached_although_it_was_measured() {
        let guide = crate::guides::guide("work-synchronized").unwrap();
        let all = GuideCoverage::of(guide, &[], &Showers::default());
        assert_eq!(all.unreached.len(), guide.statements.len());
    }
}
