//! Makes scenarios in flight: the fleet is upgraded between their fault and their remedy.

use gherkin::{Feature, Scenario, Step, StepType};

use record::Product;
use steps::upgrade::upgrade_step;
use steps::{StepRole, needs};

use crate::suite::{Suite, has_tag, remedy, steps};

/// Returns the same scenarios with an upgrade in each of them: after the failure was induced and asserted, before its
/// remedy. A scenario that has such a step already is unchanged. Scenarios that don't use the product are left out: its
/// upgrade doesn't concern them.
#[must_use]
pub fn in_flight(suite: &Suite, product: Product) -> Suite {
    let mut suite = suite.clone();
    let _ = suite.part(|feature, scenario| uses(feature, scenario, product));
    for scenario in suite.features.iter_mut().flat_map(|feature| &mut feature.scenarios) {
        if scenario.steps.iter().any(|step| upgraded_by(step).is_some()) {
            continue;
        }
        let at = remedy(&scenario.steps).unwrap_or(scenario.steps.len());
        if let Some(step) = upgrade_before(scenario, at, product) {
            scenario.steps.insert(at, step);
        }
    }
    suite
}

/// True if a scenario uses a product, and upgrades no other.
fn uses(feature: &Feature, scenario: &Scenario, product: Product) -> bool {
    if steps(feature, scenario).filter_map(upgraded_by).any(|other| other != product) {
        return false;
    }
    let argocd = has_tag(feature, scenario, "argocd");
    match product {
        Product::KubeFleet => !argocd || steps(feature, scenario).any(|step| needs(step).placement_scope.is_some()),
        Product::ArgoCd => argocd,
    }
}

/// Product that a step upgrades; `None` for other steps.
fn upgraded_by(step: &Step) -> Option<Product> {
    match needs(step).role {
        Some(StepRole::Upgrades(product)) => Some(product),
        _ => None,
    }
}

fn upgrade_before(scenario: &Scenario, at: usize, product: Product) -> Option<Step> {
    let near = scenario.steps.get(at).or(scenario.steps.last())?;
    Some(Step {
        keyword: "When ".into(),
        ty: StepType::When,
        value: upgrade_step(product).into(),
        docstring: None,
        table: None,
        ..near.clone()
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::selection::ScenarioSelection;

    /// Returns the steps of a feature's only scenario, in flight.
    fn told(text: &str) -> Vec<String> {
        told_of(text, Product::KubeFleet)
    }

    fn told_of(text: &str, product: Product) -> Vec<String> {
        let dir = tempfile::tempdir().expect("a directory");
        let file = dir.path().join("own.feature");
        std::fs::write(&file, format!("Feature: f\n  Scenario: s\n{text}")).expect("written");
        let suite =
            Suite::load(&ScenarioSelection { select: &[file.display().to_string()], ..ScenarioSelection::default() });
        let suite = in_flight(&suite.expect("a suite"), product);
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
        let found = in_flight(&all, Product::KubeFleet);
        let [both, argocd] =
            select.map(|file| (of(&all, &format!("argocd/{file}")), of(&found, &format!("argocd/{file}"))));
        assert!(both.0 > 0 && both.1 == both.0 && argocd.0 > 0 && argocd.1 == 0, "{both:?} {argocd:?}");
    }

    #[test]
    fn argo_cd_is_upgraded_under_what_uses_it() {
        let select = ["placement.feature", "retries.feature"].map(ToOwned::to_owned);
        let all = Suite::load(&ScenarioSelection::default()).expect("the built-in features");
        let found = in_flight(&all, Product::ArgoCd);
        let files: BTreeSet<String> = found.scenarios().map(|(feature, _)| crate::suite::file(feature)).collect();
        assert!(files.iter().all(|file| file.starts_with("argocd/")), "{files:?}");
        assert!(select.iter().all(|name| files.iter().any(|file| file.ends_with(name))), "{files:?}");
        let upgrades = |(_, scenario): (&Feature, &Scenario)| {
            scenario.steps.iter().filter(|step| upgraded_by(step) == Some(Product::ArgoCd)).count() == 1
        };
        assert!(found.scenarios().all(upgrades));
    }

    #[test]
    fn a_scenario_that_upgrades_the_other_product_is_left_out() {
        let own = "    When Argo CD is upgraded\n    Then the diagnosis finds nothing\n";
        assert!(told(own).is_empty());
        assert!(
            told_of("    When KubeFleet is upgraded\n    Then the diagnosis finds nothing\n", Product::ArgoCd)
                .is_empty()
        );
    }

    #[test]
    fn without_a_remedy_it_comes_at_the_end_and_never_twice() {
        assert_eq!(told("    Then the diagnosis finds nothing\n")[1..], ["When KubeFleet is upgraded"]);
        let own = "    When KubeFleet is upgraded\n    Then the diagnosis finds nothing\n";
        assert_eq!(told(own), ["When KubeFleet is upgraded", "Then the diagnosis finds nothing"]);
    }
}
