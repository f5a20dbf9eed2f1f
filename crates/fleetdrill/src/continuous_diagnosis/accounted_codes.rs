//! Failure codes that a scenario accounts for.

use std::collections::{BTreeMap, BTreeSet};

use gherkin::{Feature, Scenario};
use steps::{AssertedDiagnosis, ProviderAbility, needs};

use crate::abilities;
use crate::error::CommandError;
use crate::selection::ScenarioSelection;
use crate::suite::{self, Suite};

/// Family of the codes about members as a whole, whose agents are silent or have lost their rights.
const MEMBER_FAMILY: &str = "KF-MC-";

/// Codes of consequences that steps of features assert, by the code of their cause: `KF-AP-001` for `KF-MC-001`, where a step
/// says `... is KF-AP-001, because of KF-MC-001`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AssertedConsequences(BTreeMap<String, BTreeSet<String>>);

impl AssertedConsequences {
    /// Reads the steps of all built-in features, and those of a suite.
    ///
    /// # Errors
    /// Returns an error if a built-in feature can't be read.
    pub fn of_all_features(suite: &Suite) -> Result<Self, CommandError> {
        let mut all = Suite::load(&ScenarioSelection::default())?;
        all.features.extend(suite.features.iter().cloned());
        Ok(Self::new(&all))
    }

    /// Reads the steps of a suite.
    #[must_use]
    pub fn new(suite: &Suite) -> Self {
        let mut by_cause: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        let steps = suite.scenarios().flat_map(|(feature, scenario)| suite::steps(feature, scenario));
        for diagnosis in steps.filter_map(|step| needs(step).diagnosis) {
            if let Some(root) = diagnosis.root() {
                by_cause.entry(root.to_owned()).or_default().insert(diagnosis.code.clone());
            }
        }
        Self(by_cause)
    }
}

/// Failure codes that a scenario accounts for; none by default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AccountedCodes {
    /// Codes of causes, which are roots.
    pub causes: BTreeSet<String>,
    /// Codes of consequences, which hang under a cause, and of what a scenario provokes on its way. The diagnosis may take them
    /// for roots until it knows the cause.
    pub consequences: BTreeSet<String>,
    /// True if agents stop: then all codes about a member as a whole count as causes.
    pub disturbs_members: bool,
}

impl AccountedCodes {
    /// Adds what a step asserts.
    pub fn add(&mut self, diagnosis: &AssertedDiagnosis) {
        self.causes.insert(cause(diagnosis).to_owned());
        if diagnosis.root().is_some() {
            self.consequences.insert(diagnosis.code.clone());
        }
    }

    /// Adds what features assert as consequences of the causes.
    #[must_use]
    pub fn with(mut self, asserted: &AssertedConsequences) -> Self {
        for (cause, consequences) in &asserted.0 {
            if self.is_cause(cause) {
                self.consequences.extend(consequences.iter().cloned());
            }
        }
        self
    }

    /// True if a root with this code is accounted for as a cause.
    #[must_use]
    pub fn is_cause(&self, code: &str) -> bool {
        self.causes.contains(code) || (self.disturbs_members && is_about_member(code))
    }

    /// True if a root with this code is accounted for, as a cause or as a consequence of one.
    #[must_use]
    pub fn has(&self, code: &str) -> bool {
        self.is_cause(code) || self.consequences.contains(code)
    }
}

/// Returns the code of the cause that a diagnosis names.
#[must_use]
pub fn cause(diagnosis: &AssertedDiagnosis) -> &str {
    diagnosis.root().unwrap_or(&diagnosis.code)
}

/// What a scenario of a run accounts for, by its text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScenarioFaults {
    /// Codes in the scenario's tags, `@KF-WS-001` and `@passes:KF-UR-006`, and in steps that assert a diagnosis.
    pub codes: AccountedCodes,
    /// True if the scenario disturbs only clusters that it has made.
    pub has_own_clusters: bool,
    /// True if the scenario has the tag `@healthy`: nothing that it does may be taken for a failure.
    pub is_healthy: bool,
    /// True if the fleet's version changes: what a fault is called on another version is a difference, and no false alarm.
    pub versions_change: bool,
}

impl ScenarioFaults {
    /// Reads a scenario's tags and steps.
    #[must_use]
    pub fn new(feature: &Feature, scenario: &Scenario, asserted: &AssertedConsequences) -> Self {
        let mut codes = AccountedCodes::default();
        codes.causes.extend(suite::tags(feature, scenario).into_iter().filter(|tag| diagnosis::is_meant_as_code(tag)));
        for step in suite::steps(feature, scenario).map(needs) {
            step.diagnosis.iter().for_each(|diagnosis| codes.add(diagnosis));
            codes.disturbs_members |= step.ability.is_some_and(ProviderAbility::disturbs_members);
        }
        codes.consequences.extend(suite::passed_codes(feature, scenario));
        // Without its rights, an agent is silent for a while before the diagnosis can tell why.
        codes.disturbs_members |= codes.causes.iter().any(|code| is_about_member(code));
        Self {
            codes: codes.with(asserted),
            has_own_clusters: abilities::makes_clusters(feature, scenario),
            is_healthy: suite::is_healthy(feature, scenario),
            versions_change: false,
        }
    }

    /// Returns what the scenario accounts for while the fleet's version changes: every code as soon as it has induced something.
    #[must_use]
    pub fn while_versions_change(self) -> Self {
        Self { versions_change: true, ..self }
    }

    /// True if the scenario accounts for a root with this code about its objects. A scenario that names no code and isn't healthy
    /// accounts for every code as soon as it has induced something: no step says what the diagnosis makes of that.
    #[must_use]
    pub fn account_for(&self, code: &str, has_induced: bool) -> bool {
        let names_no_code = self.codes.causes.is_empty() || self.versions_change;
        self.codes.has(code) || (!self.is_healthy && names_no_code && has_induced)
    }

    /// True if the scenario accounts for a root with this code about objects of no scenario, such as the shared members.
    #[must_use]
    pub fn account_for_shared(&self, code: &str) -> bool {
        !self.has_own_clusters && self.codes.has(code)
    }
}

fn is_about_member(code: &str) -> bool {
    code.starts_with(MEMBER_FAMILY)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn faults(text: &str) -> ScenarioFaults {
        let feature = suite::parse(Path::new("f.feature"), &format!("Feature: f\n{text}")).expect("a feature");
        let consequences = ["KF-UR-006".to_owned()].into();
        let asserted = AssertedConsequences([("KF-MC-001".to_owned(), consequences)].into());
        ScenarioFaults::new(&feature, &feature.scenarios[0], &asserted)
    }

    #[test]
    fn tags_and_steps_name_the_codes() {
        let faults = faults(
            "  @KF-WS-001 @passes:KF-UR-006 @drill\n  Scenario: s
    Given a placement \"web\" selects \"member-1\"
    Then the diagnosis of placement \"web\" is KF-AP-001 for \"member-1\", because of KF-WS-009
",
        );
        assert_eq!(Vec::from_iter(&faults.codes.causes), ["KF-WS-001", "KF-WS-009"]);
        assert_eq!(Vec::from_iter(&faults.codes.consequences), ["KF-AP-001", "KF-UR-006"]);
        for code in ["KF-AP-001", "KF-UR-006", "KF-WS-001", "KF-WS-009"] {
            assert!(faults.account_for(code, false) && faults.account_for_shared(code), "{code}");
        }
        assert!(!faults.account_for("KF-RO-002", true), "another code, whatever was induced");
        assert!(!faults.account_for("KF-MC-001", true));
    }

    #[test]
    fn a_scenario_without_codes_is_held_to_silence_until_it_induces_something() {
        let faults = faults("  Scenario: s\n    Given a placement \"web\" selects \"member-1\"\n");
        assert_eq!(faults, ScenarioFaults::default());
        assert!(!faults.account_for("KF-RO-002", false));
        assert!(faults.account_for("KF-RO-002", true));
        assert!(!faults.account_for_shared("KF-RO-002"));
    }

    #[test]
    fn while_versions_change_a_fault_may_be_called_otherwise() {
        let faults = faults("  @KF-WS-001\n  Scenario: s\n    Given a placement \"web\" selects \"member-1\"\n");
        let faults = faults.while_versions_change();
        assert!(faults.account_for("KF-RO-002", true));
        assert!(!faults.account_for("KF-RO-002", false));
    }

    #[test]
    fn a_healthy_scenario_accounts_for_nothing_whatever_it_induces() {
        let faults = faults("  @healthy\n  Scenario: s\n    Given a placement \"web\" selects \"member-1\"\n");
        assert!(!faults.account_for("KF-RO-002", true));
    }

    #[test]
    fn consequences_are_what_steps_assert_because_of_a_cause() {
        let text = "Feature: f\n  Scenario: s
    Given a member \"east\" of its own
    And a placement \"web\" selects \"east\"
    Then the diagnosis of member \"east\" is KF-MC-001
    And the diagnosis of placement \"web\" is KF-AP-001 for \"east\", because of KF-MC-001
";
        let feature = suite::parse(Path::new("f.feature"), text).expect("a feature");
        let asserted = AssertedConsequences::new(&Suite { features: vec![feature] });
        assert_eq!(asserted.0, [("KF-MC-001".to_owned(), ["KF-AP-001".to_owned()].into())].into());
    }

    #[test]
    fn who_stops_agents_accounts_for_members_and_for_shared_ones_only_without_a_member_of_its_own() {
        let stops = "    When the agent of member \"east\" stops\n";
        let own = faults(&format!("  Scenario: s\n    Given a member \"east\" of its own\n{stops}"));
        assert!(own.account_for("KF-MC-001", false) && !own.account_for_shared("KF-MC-001"));
        assert!(own.account_for("KF-UR-006", false), "a consequence of KF-MC-001");
        assert!(!own.account_for("KF-AP-001", false));
        let shared = faults(&format!("  Scenario: s\n{stops}"));
        assert!(shared.account_for("KF-MC-004", false) && shared.account_for_shared("KF-MC-004"));
        assert!(!shared.account_for_shared("KF-AP-001"));
    }
}
