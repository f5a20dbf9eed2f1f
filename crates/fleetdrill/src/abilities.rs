//! What a scenario needs of the fleet that it runs on, apart from KubeFleet's version: members, and what only some providers can do.

use std::sync::LazyLock;

use clusters::provider::Ability;
use gherkin::{Feature, Scenario};
use regex::Regex;

use crate::suite::{has_tag, steps};

/// What words of a step need.
static NEEDS: LazyLock<[(Regex, Ability); 4]> = LazyLock::new(|| {
    let words = |pattern: &str| Regex::new(pattern).expect("a valid pattern");
    [
        (words("^a (member .*|fleet) of its own"), Ability::MakeClusters),
        (words("^the agent of member .* (stops|is restarted)"), Ability::StopAgents),
        (words("^the hub-agent is restarted"), Ability::StopAgents),
        (words("^the hub-agent has logged"), Ability::ReadAgentLogs),
    ]
});

/// What features call a shared member.
static MEMBER: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\bmember-(\d+)\b").expect("a valid pattern"));

/// Whether a scenario makes clusters of its own.
pub fn makes_clusters(feature: &Feature, scenario: &Scenario) -> bool {
    lacking(feature, scenario, |ability| ability != Ability::MakeClusters).is_some()
}

/// The first thing that a scenario needs and the fleet's provider can't do.
pub fn lacking(feature: &Feature, scenario: &Scenario, can: impl Fn(Ability) -> bool) -> Option<Ability> {
    let tags = [("argocd", Ability::RunArgoCd), ("pods", Ability::RunPods), ("no-pods", Ability::LeavePodsOut)];
    let by_tags = tags.into_iter().filter(|(tag, _)| has_tag(feature, scenario, tag)).map(|(_, ability)| ability);
    let by_steps = steps(feature, scenario)
        .flat_map(|step| NEEDS.iter().filter(|(words, _)| words.is_match(&step.value)).map(|(_, ability)| *ability));
    by_tags.chain(by_steps).find(|ability| !can(*ability))
}

/// How many members a scenario speaks of, by the greatest of their numbers.
pub fn members(feature: &Feature, scenario: &Scenario) -> usize {
    let texts = steps(feature, scenario).flat_map(|step| {
        let cells = step.table.iter().flat_map(|table| table.rows.iter().flatten());
        std::iter::once(&step.value).chain(cells)
    });
    let numbers = texts.flat_map(|text| MEMBER.captures_iter(text).filter_map(|found| found[1].parse().ok()));
    numbers.max().unwrap_or_default()
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
        let lacks = |can: &[Ability]| lacking(&feature, &feature.scenarios[0], |ability| can.contains(&ability));
        assert_eq!(lacks(&[]), Some(Ability::RunPods));
        assert_eq!(lacks(&[Ability::RunPods]), Some(Ability::MakeClusters));
        assert_eq!(lacks(&[Ability::RunPods, Ability::MakeClusters]), Some(Ability::StopAgents));
        assert_eq!(lacks(&[Ability::RunPods, Ability::MakeClusters, Ability::StopAgents]), None);
        assert!(makes_clusters(&feature, &feature.scenarios[0]));

        let text = "Feature: f\n  @no-pods\n  Scenario: s\n    Given a placement \"web\" selects \"member-1\"\n";
        let feature = Feature::parse(text, gherkin::GherkinEnv::default()).expect("a feature");
        assert_eq!(lacking(&feature, &feature.scenarios[0], |_| false), Some(Ability::LeavePodsOut));
        assert!(!makes_clusters(&feature, &feature.scenarios[0]));
    }

    #[test]
    fn members_are_counted_in_tables_too() {
        let feature = scenario("    Given a strategy\n      | stage | members  |\n      | one   | member-2 |\n");
        assert_eq!(members(&feature, &feature.scenarios[0]), 2);
        let feature = scenario("    Given a placement \"web\" selects \"east\"\n");
        assert_eq!(members(&feature, &feature.scenarios[0]), 0);
    }
}
