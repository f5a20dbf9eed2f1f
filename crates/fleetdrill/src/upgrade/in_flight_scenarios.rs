//! Makes scenarios in flight: the fleet is upgraded between their fault and their remedy.

use gherkin::{Scenario, Step, StepType};

use steps::upgrade::UPGRADE_STEP;
use steps::{StepRole, needs};

use crate::suite::{Suite, has_tag, remedy, steps};

/// Returns the same scenarios with an upgrade in each of them: after the failure was induced and asserted, before its
/// remedy. A scenario that has such a step already is unchanged. Scenarios that use only Argo CD are left out: an
/// upgrade of KubeFleet doesn't concern them.
#[must_use]
pub fn in_flight(suite: &Suite) -> Suite {
    let mut suite = suite.clone();
    let _ = suite.part(|feature, scenario| {
        !has_tag(feature, scenario, "argocd")
            || steps(feature, scenario).any(|step| needs(step).placement_scope.is_some())
    });
    for scenario in suite.features.iter_mut().flat_map(|feature| &mut feature.scenarios) {
        if scenario.steps.iter().any(|step| needs(step).role == Some(StepRole::Upgrades)) {
            continue;
        }
        let at = remedy(&scenario.steps).unwrap_or(scenario.steps.len());
        if let Some(step) = upgrade_before(scenario, at) {
            scenario.steps.insert(at, step);
        }
    }
    suite
}

fn upgrade_before(scenario: &Scenario, at: usize) -> Option<Step> {
    let near = scenario.steps.get(at).or(scenario.steps.last())?;
    Some(Step {
        keyword: "When ".into(),
        ty: StepType::When,
        value: UPGRADE_STEP.into(),
        docstring: None,
        table: None,
        ..near.clone()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::selection::ScenarioSelection;

    /// Returns the steps of a feature's only scenario, in flight.
    fn told(text: &str) -> Vec<String> {
        let dir = tempfile::tempdir().expect("a directory");
        let file = dir.path().join("own.feature");
        std::fs::write(&file, format!("Feature: f\n  Scenario: s\n{text}")).expect("written");
        let suite =
            Suite::load(&ScenarioSelection { select: &[file.display().to_string()], ..ScenarioSelection::default() });
        let suite = in_flight(&suite.expect("a suite"));
        let steps = suite.scenarios().flat_map(|(_, scenario)| &scenario.steps);
        steps.map(|step| format!("{}{}", step.keyword, step.value)).collect()
    }

    #[test]
    fn the_upgrade_comes_between_failure_and_remedy() {
        let found = told(
            "    Given member \"member-1\" has pods\n    Then the diagnosis finds nothing\n    And the diagnosis finds nothing\n    \
             When the hub-agent is restarted\n    Then the diagnosis finds nothing\n",
        );
        assert_eq!(found[3..5], ["When KubeFleet is upgraded", "When the hub-agent is restarted"]);
    }

    #[test]
    fn a_failure_that_takes_several_steps_is_induced_before_the_upgrade() {
        let found = told(
            "    Given a placement \"web\" selects \"member-1\"\n    When the hub-agent is restarted\n    Then the diagnosis finds nothing\n    \
             When the hub-agent is restarted\n    Then the diagnosis of placement \"web\" is KF-WS-001\n    \
             When the hub-agent is restarted\n    Then the diagnosis finds nothing\n",
        );
        assert_eq!(found[5], "When KubeFleet is upgraded");
    }

    #[test]
    fn what_only_argo_cd_does_is_left_out() {
        let select = ["placement.feature", "retries.feature"].map(ToOwned::to_owned);
        let all = Suite::load(&ScenarioSelection::default()).expect("the built-in features");
        let of = |suite: &Suite, file: &str| {
            suite.scenarios().filter(|(feature, _)| crate::suite::file(feature).ends_with(file)).count()
        };
        let found = in_flight(&all);
        let [both, argocd] =
            select.map(|file| (of(&all, &format!("argocd/{file}")), of(&found, &format!("argocd/{file}"))));
        assert!(both.0 > 0 && both.1 == both.0 && argocd.0 > 0 && argocd.1 == 0, "{both:?} {argocd:?}");
    }

    #[test]
    fn without_a_remedy_it_comes_at_the_end_and_never_twice() {
        assert_eq!(told("    Then the diagnosis finds nothing\n")[1..], ["When KubeFleet is upgraded"]);
        let own = "    When KubeFleet is upgraded\n    Then the diagnosis finds nothing\n";
        assert_eq!(told(own), ["When KubeFleet is upgraded", "Then the diagnosis finds nothing"]);
    }
}
