//! Needs of a scenario besides KubeFleet's version: members, and abilities that only some providers have.

use clusters::ability::ProviderAbility;
use gherkin::{Feature, Scenario};
use steps::needs::StepRole;
use steps::{names, needs};

use crate::suite::{has_tag, steps};

/// True if a scenario makes clusters of its own.
pub fn makes_clusters(feature: &Feature, scenario: &Scenario) -> bool {
    let makes = [
        ProviderAbility::MakeClusters,
        ProviderAbility::PlayMembers,
        ProviderAbility::ServeWebhooks,
        ProviderAbility::BreakNetworks,
    ];
    lacking(feature, scenario, |ability| !makes.contains(&ability)).is_some()
}

/// True if a scenario has a fleet of its own, with a hub.
pub fn has_own_fleet(feature: &Feature, scenario: &Scenario) -> bool {
    steps(feature, scenario).any(|step| needs(step).role == Some(StepRole::LeavesSharedFleet))
}

/// True if a scenario's own fleet has KubeFleet's webhooks, of which a machine can serve those of one fleet.
pub fn serves_webhooks(feature: &Feature, scenario: &Scenario) -> bool {
    needs_ability(feature, scenario, ProviderAbility::ServeWebhooks)
}

/// True if a scenario breaks the network of a member.
pub fn breaks_networks(feature: &Feature, scenario: &Scenario) -> bool {
    needs_ability(feature, scenario, ProviderAbility::BreakNetworks)
}

fn needs_ability(feature: &Feature, scenario: &Scenario, needed: ProviderAbility) -> bool {
    lacking(feature, scenario, |ability| ability != needed).is_some()
}

/// Returns the first ability that a scenario needs and the fleet's provider doesn't have.
pub fn lacking(
    feature: &Feature,
    scenario: &Scenario,
    can: impl Fn(ProviderAbility) -> bool,
) -> Option<ProviderAbility> {
    let tags = [
        ("argocd", ProviderAbility::RunArgoCd),
        ("pods", ProviderAbility::RunPods),
        ("no-pods", ProviderAbility::LeavePodsOut),
    ];
    let by_tags = tags.into_iter().filter(|(tag, _)| has_tag(feature, scenario, tag)).map(|(_, ability)| ability);
    let by_steps = steps(feature, scenario).filter_map(|step| needs(step).ability);
    by_tags.chain(by_steps).find(|ability| !can(*ability))
}

/// Returns the number of shared members that a scenario needs: the greatest number in the names of its members.
pub fn members(feature: &Feature, scenario: &Scenario) -> usize {
    let texts = steps(feature, scenario).flat_map(|step| {
        let cells = step.table.iter().flat_map(|table| table.rows.iter().flatten());
        std::iter::once(&step.value).chain(cells)
    });
    texts.flat_map(|text| names::shared_members(text)).max().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scenario(steps: &str) -> Feature {
        let text = format!("@kubefleet\nFeature: f\n  @pods\n  Scenario: s\n{steps}");
        Feature::parse(text, gherkin::GherkinEnv::default()).expect("a feature")
    }

    #[test]
    fn what_steps_and_tags_need_is_found() {
        let feature = scenario("    Given a member \"east\" of its own\n    When the agent of member \"east\" stops\n");
        let lacks =
            |can: &[ProviderAbility]| lacking(&feature, &feature.scenarios[0], |ability| can.contains(&ability));
        assert_eq!(lacks(&[]), Some(ProviderAbility::RunPods));
        assert_eq!(lacks(&[ProviderAbility::RunPods]), Some(ProviderAbility::MakeClusters));
        assert_eq!(
            lacks(&[ProviderAbility::RunPods, ProviderAbility::MakeClusters]),
            Some(ProviderAbility::StopAgents)
        );
        assert_eq!(
            lacks(&[ProviderAbility::RunPods, ProviderAbility::MakeClusters, ProviderAbility::StopAgents]),
            None
        );
        assert!(makes_clusters(&feature, &feature.scenarios[0]));

        let text = "Feature: f\n  @no-pods\n  Scenario: s\n    Given a placement \"web\" selects \"member-1\"\n";
        let feature = Feature::parse(text, gherkin::GherkinEnv::default()).expect("a feature");
        assert_eq!(lacking(&feature, &feature.scenarios[0], |_| false), Some(ProviderAbility::LeavePodsOut));
        assert!(!makes_clusters(&feature, &feature.scenarios[0]));
    }

    /// On the fleet that scenarios share, a member has pods until the fleet ends, and those with `@no-pods` need members without.
    #[test]
    fn only_the_first_of_the_shared_members_has_pods() {
        for feature in crate::suite::built_in().expect("valid features") {
            for scenario in &feature.scenarios {
                let steps: Vec<_> = crate::suite::steps(&feature, scenario).map(|step| step.value.as_str()).collect();
                let others_pods = steps.iter().find(|step| {
                    let has_pods = step.ends_with("has pods") || step.ends_with("has simulated pods");
                    has_pods && step.starts_with("member \"member-") && !step.starts_with("member \"member-1\"")
                });
                let has_own_fleet = steps.iter().any(|step| step.starts_with("a fleet of its own"));
                assert!(has_own_fleet || others_pods.is_none(), "{}: {others_pods:?}", scenario.name);
            }
        }
    }

    #[test]
    fn members_are_counted_in_tables_too() {
        let feature = scenario("    Given a strategy\n      | stage | members  |\n      | one   | member-2 |\n");
        assert_eq!(members(&feature, &feature.scenarios[0]), 2);
        let feature = scenario("    Given a placement \"web\" selects \"east\"\n");
        assert_eq!(members(&feature, &feature.scenarios[0]), 0);
    }
}
