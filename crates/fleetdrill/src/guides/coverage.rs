//! Coverage of each guide: statements that hold or differ on each version of its product, and statements that no
//! scenario reaches.

use std::collections::BTreeMap;
use std::fmt;

use fleet::capability::Capabilities;
use record::{ConditionTemplate, Outcome, Product, RunRecord, ShownStatementState};
use serde::Serialize;

use super::measured::MeasuredResults;
use super::statement::{Statement, StatementClaim, StatementScope, TroubleshootingGuide};
use super::tags::{self, TagError};
use crate::capability_needs::CapabilityNeeds;
use crate::suite::{self, Suite};

/// Coverage of a guide: its statements with their states.
#[derive(Clone, Debug, Serialize)]
pub struct GuideCoverage {
    /// Short name of the guide.
    pub name: String,
    /// Title of the guide.
    pub title: String,
    /// Address of the published guide.
    pub url: String,
    /// Product that the guide is about. The statements' states are by version of this product.
    pub product: Product,
    /// Statements in the guide's order.
    pub statements: Vec<StatementCoverage>,
    /// Ids of the statements that differ on some version.
    pub differs: Vec<String>,
    /// Ids of the statements that no scenario names, or that apply to a measured version and weren't seen on it.
    pub unreached: Vec<String>,
}

/// Statement with its state on each version.
#[derive(Clone, Debug, Serialize)]
pub struct StatementCoverage {
    /// Id of the statement.
    pub id: String,
    /// Section of the guide.
    pub section: String,
    /// Scope of the kinds that the statement is about; `None` if the scope makes no difference.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope: Option<StatementScope>,
    /// Object that has the condition, e.g. `ResourcePlacement on a cluster`; empty for a behaviour.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub object: String,
    /// Text of the guide, with the names of its example.
    pub says: String,
    /// Description of the check, for a behaviour.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub check: Option<String>,
    /// Note for readers, where the statement differs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Product that the statement is about.
    #[serde(skip)]
    pub product: Product,
    /// States by the product's version.
    pub versions: BTreeMap<String, CoverageState>,
    /// Capabilities of KubeFleet by version.
    #[serde(skip)]
    pub can: BTreeMap<String, Capabilities>,
    /// Scenarios that show the statement.
    pub scenarios: Vec<CoveringScenario>,
}

/// State of a statement on a version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum CoverageState {
    /// The controller behaves as the guide says.
    Holds,
    /// The controller behaves differently.
    Differs {
        /// Condition that the controller wrote, with holes for names.
        #[serde(skip_serializing_if = "Option::is_none")]
        seen: Option<ConditionTemplate>,
        /// Description of the real behaviour.
        #[serde(skip_serializing_if = "Option::is_none")]
        instead: Option<String>,
    },
    /// No scenario has shown the statement.
    Unreached,
    /// The statement can't apply to this version.
    DoesNotApply {
        /// Reason.
        because: String,
    },
}

/// Scenario that shows a statement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CoveringScenario {
    /// Name of the scenario.
    pub scenario: String,
    /// File of the feature.
    pub file: String,
    /// Capabilities that a version needs for the scenario.
    #[serde(skip)]
    pub needed: CapabilityNeeds,
}

/// Scenarios by the ids of the statements that they show.
#[derive(Clone, Debug, Default)]
pub struct ScenariosByStatement(BTreeMap<String, Vec<CoveringScenario>>);

impl ScenariosByStatement {
    /// Collects the scenarios of a suite by their tags.
    ///
    /// # Errors
    /// Returns an error if a tag names no statement.
    pub fn of_suite(suite: &Suite) -> Result<Self, TagError> {
        let mut showers = Self::default();
        for (feature, scenario) in suite.scenarios() {
            let needed = CapabilityNeeds::of(&suite::tags(feature, scenario)).unwrap_or_default();
            let shower = CoveringScenario { scenario: scenario.name.clone(), file: suite::file(feature), needed };
            for named in tags::named(feature, scenario)? {
                showers.add(&named.statement.id, shower.clone());
            }
        }
        Ok(showers)
    }

    /// Collects the scenarios that passed in some runs, by the statements that the records list.
    #[must_use]
    pub fn of_runs(runs: &[RunRecord]) -> Self {
        let mut showers = Self::default();
        for record in runs.iter().flat_map(|run| &run.scenarios).filter(|s| s.outcome == Outcome::Passed) {
            let needed = CapabilityNeeds::default();
            let shower = CoveringScenario { scenario: record.scenario.clone(), file: record.file.clone(), needed };
            for shown in &record.statements {
                showers.add(&shown.statement, shower.clone());
            }
        }
        showers
    }

    fn add(&mut self, statement: &str, shower: CoveringScenario) {
        self.0.entry(statement.to_owned()).or_default().push(shower);
    }
}

impl GuideCoverage {
    /// Computes a guide's coverage from the results measured on some versions.
    #[must_use]
    pub fn of(guide: &TroubleshootingGuide, measured: &[MeasuredResults], showers: &ScenariosByStatement) -> Self {
        let measured: Vec<&MeasuredResults> = measured.iter().filter(|m| m.product == guide.product).collect();
        let covered: Vec<StatementCoverage> = guide.statements.iter().map(|s| covered(s, &measured, showers)).collect();
        let differ = covered.iter().filter(|c| c.versions.values().any(|v| matches!(v, CoverageState::Differs { .. })));
        let differs = differ.map(|c| c.id.clone()).collect();
        let unreached = covered
            .iter()
            .filter(|c| c.scenarios.is_empty() || c.versions.values().any(|v| *v == CoverageState::Unreached));
        let unreached = unreached.map(|c| c.id.clone()).collect();
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

    /// Returns the statements that differ. Statements that say the same and differ in the same way form a group.
    #[must_use]
    pub fn differences(&self) -> Vec<Vec<&StatementCoverage>> {
        let mut groups: Vec<Vec<&StatementCoverage>> = Vec::new();
        for statement in self.statements.iter().filter(|s| self.differs.contains(&s.id)) {
            match groups.iter_mut().find(|group| group[0].differs_like(statement)) {
                Some(group) => group.push(statement),
                None => groups.push(vec![statement]),
            }
        }
        groups
    }

    /// Returns the number of statements per state, by version: `12 hold, 1 differ, 0 unreached, 3 don't apply`.
    #[must_use]
    pub fn counts(&self) -> BTreeMap<&str, StatementCounts> {
        let mut counts: BTreeMap<&str, StatementCounts> = BTreeMap::new();
        for (version, standing) in self.statements.iter().flat_map(|s| &s.versions) {
            let count = counts.entry(version).or_default();
            *match standing {
                CoverageState::Holds => &mut count.hold,
                CoverageState::Differs { .. } => &mut count.differ,
                CoverageState::Unreached => &mut count.unreached,
                CoverageState::DoesNotApply { .. } => &mut count.do_not_apply,
            } += 1;
        }
        counts
    }
}

/// Number of statements per state on a version.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StatementCounts {
    /// Statements that hold.
    pub hold: usize,
    /// Statements that differ.
    pub differ: usize,
    /// Statements that no scenario has shown.
    pub unreached: usize,
    /// Statements that can't apply to the version.
    pub do_not_apply: usize,
}

impl fmt::Display for StatementCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} hold, {} differ, {} unreached", self.hold, self.differ, self.unreached)?;
        if self.do_not_apply > 0 {
            write!(f, ", {} don't apply", self.do_not_apply)?;
        }
        Ok(())
    }
}

impl StatementCoverage {
    /// Returns the id without the guide's name.
    #[must_use]
    pub fn short_id(&self) -> &str {
        self.id.split_once('/').map_or(&self.id, |(_, rest)| rest)
    }

    /// True if both statements say the same and differ in the same way.
    fn differs_like(&self, other: &Self) -> bool {
        (&self.object, &self.says, &self.versions) == (&other.object, &other.says, &other.versions)
    }

    /// Returns the command that shows the statement on a version.
    #[must_use]
    pub fn command(&self, version: &str) -> Option<String> {
        let can = self.can.get(version).filter(|_| self.product == Product::KubeFleet);
        let shower = self.scenarios.iter().find(|s| can.is_none_or(|can| s.needed.admits(can)));
        let scenario = shower?.scenario.as_str();
        // Single quotes if a shell would interpret a character of the name within double quotes.
        let quote = if scenario.contains(['"', '$', '`', '\\', '!']) { '\'' } else { '"' };
        let scenario = if quote == '\'' { scenario.replace('\'', r"'\''") } else { scenario.to_owned() };
        Some(format!("fleetdrill run --{} {version} {quote}{scenario}{quote}", self.product.component()))
    }
}

/// State of a statement on a version; `instead` is the behaviour that the steps assert where the statement differs.
fn standing(statement: &Statement, measured: &MeasuredResults, instead: Option<&String>) -> CoverageState {
    if !statement.applies_to(&measured.can) {
        return CoverageState::DoesNotApply { because: statement.because.clone().unwrap_or_default() };
    }
    match measured.state(&statement.id) {
        Some(ShownStatementState::Holds) => CoverageState::Holds,
        Some(ShownStatementState::Differs { seen }) => CoverageState::Differs { seen, instead: instead.cloned() },
        None => CoverageState::Unreached,
    }
}

fn covered(statement: &Statement, measured: &[&MeasuredResults], showers: &ScenariosByStatement) -> StatementCoverage {
    let (check, instead) = match &statement.claim {
        StatementClaim::Behaviour { check, instead, .. } => (Some(check.clone()), instead.clone()),
        StatementClaim::Condition { .. } => (None, None),
    };
    StatementCoverage {
        id: statement.id.clone(),
        product: statement.product,
        section: statement.section.clone(),
        scope: statement.scope,
        object: statement.object(),
        says: statement.says(),
        check,
        note: statement.note.clone(),
        versions: measured.iter().map(|m| (m.version.clone(), standing(statement, m, instead.as_ref()))).collect(),
        can: measured.iter().map(|m| (m.version.clone(), m.can.clone())).collect(),
        scenarios: showers.0.get(&statement.id).cloned().unwrap_or_default(),
    }
}

#[cfg(test)]
pub(crate) mod fixture {
    //! Fixture: a guide of six statements. On v0.1.2 one holds, two differ in the same way and one differs in another
    //! way; the other two are measured only on v0.3.1.

    use super::*;

    pub(crate) fn guides() -> Vec<GuideCoverage> {
        let can = |version: &str| MeasuredResults::committed(Product::KubeFleet, version).expect("measured").can;
        let measured = |version: &str, differs: &[(&str, Option<&str>)], holds: &[&str]| MeasuredResults {
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
        let mut showers = ScenariosByStatement::default();
        for id in [first, second, label, holds, stopped, delete] {
            let scenario = format!("Something that shows \"{}\"", id.split('/').nth(1).unwrap_or_default());
            let file = "kubefleet/some.feature".to_owned();
            showers.add(id, CoveringScenario { scenario, file, needed: CapabilityNeeds::default() });
        }
        vec![GuideCoverage::of(&guide, &measured, &showers)]
    }

    fn seen_as(message: &str) -> ConditionTemplate {
        let reason = "UpdateRunInitializedSuccessfully".to_owned();
        ConditionTemplate { status: "True".into(), reason, message: message.to_owned() }
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
        let all = GuideCoverage::of(guide, &[], &ScenariosByStatement::default());
        assert_eq!(all.unreached.len(), guide.statements.len());
    }
}
