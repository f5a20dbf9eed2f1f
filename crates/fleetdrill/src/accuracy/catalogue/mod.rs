//! Catalogue of what drills are made of: scenarios of features as faults and as healthy traffic.

#[cfg(test)]
pub(super) mod tests;

use std::collections::{BTreeMap, BTreeSet};

use clusters::ability::ProviderAbility;
use fleet::capability::Capabilities;
use gherkin::{Feature, Scenario, Step};
use report::accuracy::drill::ScenarioPlace;
use steps::{AssertedDiagnosis, StepRole, needs};

use crate::abilities;
use crate::continuous_diagnosis::accounted_codes::{AccountedCodes, AssertedConsequences, cause};
use crate::fleet_source::FleetProfile;
use crate::run::key;
use crate::suite::{self, Suite, has_tag};

/// Scenario up to the diagnosis of its failure.
#[derive(Clone, Debug)]
pub struct FaultCase {
    /// The scenario.
    pub place: ScenarioPlace,
    /// Steps up to the diagnosis, without those that assert what the diagnosis says.
    pub steps: Vec<Step>,
    /// Diagnoses that hold after the steps.
    pub diagnoses: Vec<AssertedDiagnosis>,
    /// Codes that may stand for something in the scenario.
    pub accounted: AccountedCodes,
    /// True if a member joins for the scenario.
    pub joins_member: bool,
}

/// Scenario in which nothing breaks.
#[derive(Clone, Debug)]
pub struct HealthyCase {
    /// The scenario.
    pub place: ScenarioPlace,
    /// Steps, without those that assert that nothing is found.
    pub steps: Vec<Step>,
    /// True if a member joins for the scenario.
    pub joins_member: bool,
    /// True if the scenario has the tag `@healthy`: nothing that its steps do is a fault.
    pub is_healthy: bool,
}

/// Scenarios that drills are made of.
#[derive(Clone, Debug, Default)]
pub struct DrillCatalogue {
    /// Faults, in the order of the features; one for each place where a scenario asserts a diagnosis.
    pub faults: Vec<FaultCase>,
    /// Healthy scenarios, in the order of the features.
    pub healthy: Vec<HealthyCase>,
    /// Numbers of scenarios that are neither, by reason.
    pub left_out: BTreeMap<String, usize>,
}

impl FaultCase {
    /// Returns the codes of the causes that have to be named.
    #[must_use]
    pub fn codes(&self) -> BTreeSet<&str> {
        self.diagnoses.iter().map(cause).collect()
    }
}

impl DrillCatalogue {
    /// Takes the scenarios of a suite that a fleet of this version and provider can run at the same time as others.
    #[must_use]
    pub fn new(suite: &Suite, kubefleet: &Capabilities, fleet: &dyn FleetProfile) -> Self {
        Self::of(suite, kubefleet, fleet.members(), |ability| fleet.can(ability))
    }

    fn of(
        suite: &Suite,
        kubefleet: &Capabilities,
        members: usize,
        can: impl Fn(ProviderAbility) -> bool + Copy,
    ) -> Self {
        let mut catalogue = Self::default();
        let asserted = AssertedConsequences::new(suite);
        for (feature, scenario) in suite.scenarios() {
            let left_out = obstacle(feature, scenario, kubefleet, members, can)
                .or_else(|| catalogue.add(feature, scenario, &asserted).err());
            if let Some(reason) = left_out {
                *catalogue.left_out.entry(reason).or_default() += 1;
            }
        }
        catalogue
    }

    /// Adds a scenario.
    ///
    /// # Errors
    /// Returns the reason why it is neither a fault nor healthy.
    fn add(&mut self, feature: &Feature, scenario: &Scenario, asserted: &AssertedConsequences) -> Result<(), String> {
        let steps: Vec<&Step> = suite::steps(feature, scenario).collect();
        let joins_member = abilities::makes_clusters(feature, scenario);
        let place = place(feature, scenario);
        let faults = faults(&place, &steps, joins_member);
        if !faults.is_empty() {
            self.faults.extend(faults.into_iter().map(|fault| {
                let mut accounted = fault.accounted.with(asserted);
                accounted.consequences.extend(suite::passed_codes(feature, scenario));
                FaultCase { accounted, ..fault }
            }));
            return Ok(());
        }
        let has_code = suite::has_code(feature, scenario);
        let is_healthy = suite::is_healthy(feature, scenario);
        if has_code || (!is_healthy && has_tag(feature, scenario, "disruptive")) {
            return Err("something breaks, and no step asserts its diagnosis".into());
        }
        if !steps.iter().any(|step| needs(step).role == Some(StepRole::AssertsNoFindings)) {
            return Err("no step asserts what the diagnosis says".into());
        }
        let steps = steps.into_iter().filter(|step| !is_about_diagnosis(step)).cloned().collect();
        self.healthy.push(HealthyCase { place, steps, joins_member, is_healthy });
        Ok(())
    }
}

/// Returns why a scenario can't be part of a drill, if it can't.
fn obstacle(
    feature: &Feature,
    scenario: &Scenario,
    kubefleet: &Capabilities,
    members: usize,
    can: impl Fn(ProviderAbility) -> bool,
) -> Option<String> {
    if has_tag(feature, scenario, "upgrade") {
        return Some("KubeFleet is upgraded".into());
    }
    if !suite::needed(feature, scenario).is_ok_and(|needed| needed.admits(kubefleet)) {
        return Some("for another version of KubeFleet".into());
    }
    if let Some(ability) = abilities::lacking(feature, scenario, can) {
        return Some(format!("the provider can't {ability}"));
    }
    if abilities::members(feature, scenario) > members {
        return Some("for more members".into());
    }
    let leaves = suite::steps(feature, scenario).any(|step| needs(step).role == Some(StepRole::LeavesSharedFleet));
    leaves.then(|| "on a fleet of its own".into())
}

fn place(feature: &Feature, scenario: &Scenario) -> ScenarioPlace {
    let (file, line) = key(feature, scenario);
    ScenarioPlace { file, line, name: scenario.name.clone() }
}

/// True if a step asserts what the diagnosis says; a drill judges that all the time.
fn is_about_diagnosis(step: &Step) -> bool {
    matches!(needs(step).role, Some(StepRole::AssertsDiagnosis | StepRole::AssertsNoFindings))
}

/// Returns a fault for each place of a scenario where steps assert diagnoses: with the steps up to there, and the diagnoses
/// that follow each other directly. Causes of earlier places stay accounted for, and agents that stop on the way there.
fn faults(place: &ScenarioPlace, steps: &[&Step], joins_member: bool) -> Vec<FaultCase> {
    let mut faults: Vec<FaultCase> = Vec::new();
    let (mut before, mut accounted) = (Vec::new(), AccountedCodes::default());
    let mut follows = false;
    for step in steps {
        if let Some(diagnosis) = needs(step).diagnosis {
            accounted.add(&diagnosis);
            match faults.last_mut().filter(|_| follows) {
                Some(fault) => {
                    fault.diagnoses.push(diagnosis);
                    fault.accounted = accounted.clone();
                }
                None => faults.push(FaultCase {
                    place: place.clone(),
                    steps: before.clone(),
                    diagnoses: vec![diagnosis],
                    accounted: accounted.clone(),
                    joins_member,
                }),
            }
            follows = true;
        } else if !is_about_diagnosis(step) {
            accounted.disturbs_members |= needs(step).ability.is_some_and(ProviderAbility::disturbs_members);
            before.push((*step).clone());
            follows = false;
        }
    }
    faults
}
