//! Capabilities of KubeFleet that a scenario needs.
//!
//! Tags name them: `@needs-run-states` and `@without-run-states`, on a feature, a scenario or its examples. All of the
//! tags must hold. Capabilities that are needed to create a scenario's objects follow from its steps. The capabilities
//! of a version are detected from the installed components.

use std::collections::BTreeSet;
use std::fmt;

use fleet::capability::{Capabilities, Capability};
use gherkin::Step;

/// Prefix of a tag with a capability that a version must have.
const NEEDS: &str = "needs-";

/// Prefix of a tag with a capability that a version must not have.
const WITHOUT: &str = "without-";

/// Capabilities that a version must have, and must not have; none by default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CapabilityNeeds {
    needs: BTreeSet<Capability>,
    without: BTreeSet<Capability>,
}

impl CapabilityNeeds {
    /// Reads the needs from tags (without `@`).
    ///
    /// # Errors
    /// Returns an error text if a tag that should name a capability doesn't, or no version can satisfy all
    /// tags.
    pub fn of(tags: &[String]) -> Result<Self, String> {
        let mut needed = Self::default();
        for tag in tags {
            if let Some(name) = tag.strip_prefix(NEEDS) {
                needed.needs.insert(capability(tag, name)?);
            } else if let Some(name) = tag.strip_prefix(WITHOUT) {
                needed.without.insert(capability(tag, name)?);
            }
        }
        match needed.needs.intersection(&needed.without).next() {
            Some(both) => Err(format!("no version is both: tags @{NEEDS}{both} and @{WITHOUT}{both}")),
            None => Ok(needed),
        }
    }

    /// Adds the needs of a scenario's steps.
    ///
    /// # Errors
    /// Returns an error text if a step needs a capability that the tags exclude.
    pub fn and_of<'a>(mut self, steps: impl IntoIterator<Item = &'a Step>) -> Result<Self, String> {
        for step in steps {
            for capability in steps::needs(step).capabilities {
                if self.without.contains(&capability) {
                    return Err(format!("no version is both: tag @{WITHOUT}{capability}, and `{}`", step.value));
                }
                self.needs.insert(capability);
            }
        }
        Ok(self)
    }

    /// True if a version with these capabilities satisfies the needs.
    #[must_use]
    pub fn admits(&self, capabilities: &Capabilities) -> bool {
        self.needs.iter().all(|c| capabilities.can(*c)) && !self.without.iter().any(|c| capabilities.can(*c))
    }

    /// True if every version satisfies the needs.
    #[must_use]
    pub fn is_all(&self) -> bool {
        *self == Self::default()
    }
}

/// Formats the needs as `KubeFleet with run-states`, `KubeFleet without stuck-runs`.
impl fmt::Display for CapabilityNeeds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_all() {
            return f.write_str("any KubeFleet");
        }
        f.write_str("KubeFleet")?;
        let words = [("with", &self.needs), ("without", &self.without)];
        let groups = words.into_iter().filter(|(_, capabilities)| !capabilities.is_empty());
        for (n, (word, capabilities)) in groups.enumerate() {
            let names: Vec<String> = capabilities.iter().map(ToString::to_string).collect();
            write!(f, "{} {word} {}", if n == 0 { "" } else { " and" }, names.join(", "))?;
        }
        Ok(())
    }
}

fn capability(tag: &str, name: &str) -> Result<Capability, String> {
    name.parse().map_err(|_| {
        let known: Vec<String> = Capability::all().map(|c| c.to_string()).collect();
        format!("tag @{tag} names nothing that a version of KubeFleet can or can't do; there are: {}", known.join(", "))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn needed(tags: &[&str]) -> Result<CapabilityNeeds, String> {
        CapabilityNeeds::of(&tags.iter().map(ToString::to_string).collect::<Vec<_>>())
    }

    #[test]
    fn without_tags_every_version_will_do() {
        let needed = needed(&["drill", "KF-UR-001"]).expect("no need");
        assert!(needed.is_all() && needed.admits(&Capabilities::default()));
    }

    #[test]
    fn what_is_needed_has_to_be_there_and_the_other_must_not() {
        let old = Capabilities::from_iter([Capability::StuckRuns]);
        let new = Capabilities::from_iter([Capability::StuckRuns, Capability::RunStates]);
        for (tags, by_old, by_new) in [
            (&["needs-run-states"][..], false, true),
            (&["without-run-states"], true, false),
            (&["needs-stuck-runs", "without-run-states"], true, false),
            (&["needs-stuck-runs", "needs-run-states"], false, true),
        ] {
            let needed = needed(tags).expect("well-formed tags");
            assert_eq!((needed.admits(&old), needed.admits(&new)), (by_old, by_new), "{tags:?}");
        }
    }

    #[test]
    fn what_the_steps_speak_of_is_needed() {
        let of = |steps: &str, tags: &[&str]| {
            let text = format!("Feature: f\n  Scenario: s\n{steps}");
            let feature = gherkin::Feature::parse(text, gherkin::GherkinEnv::default()).expect("a feature");
            needed(tags)?.and_of(&feature.scenarios[0].steps)
        };
        let said = |steps: &str| of(steps, &[]).expect("no tags").to_string();
        assert_eq!(said("    Given a placement \"web\" selects \"member-1\"\n"), "any KubeFleet");
        let envelope = "the resources of placement \"web\" include a ResourceEnvelope with '{}'";
        let both = format!("    Given a namespaced placement \"web\" selects \"member-1\"\n    When {envelope}\n");
        assert_eq!(said(&both), "KubeFleet with namespaced-placements, envelopes");
        let strategy = |before| {
            format!(
                "    Given a staged update strategy \"asks\" for placement \"web\"\n      | stage | before | after |\n      | one   | {before} | Approval |\n"
            )
        };
        assert_eq!(said(&strategy("Approval")), "KubeFleet with before-stage-tasks");
        assert_eq!(said(&strategy("        ")), "any KubeFleet");
        let error = of(&both, &["without-envelopes"]).expect_err("nothing is left");
        assert_eq!(error, format!("no version is both: tag @without-envelopes, and `{envelope}`"));
    }

    #[test]
    fn it_is_said_in_words() {
        let tags = ["needs-stuck-runs", "needs-before-stage-tasks", "without-run-states"];
        let said = needed(&tags).expect("well-formed").to_string();
        assert_eq!(said, "KubeFleet with stuck-runs, before-stage-tasks and without run-states");
    }

    #[test]
    fn the_docs_have_them_all() {
        let docs = include_str!("../../../docs/writing-features.md");
        for capability in Capability::all() {
            assert!(docs.contains(&format!("\n| `{capability}` | ")), "{capability} isn't in docs/writing-features.md");
        }
    }

    #[test]
    fn a_tag_that_names_no_capability_is_an_error() {
        let error = needed(&["needs-magic"]).expect_err("there is no such thing");
        assert!(
            error
                .starts_with("tag @needs-magic names nothing that a version of KubeFleet can or can't do; there are: ")
        );
        assert!(error.contains("run-states"), "{error}");
        let error = needed(&["needs-run-states", "without-run-states"]).expect_err("nothing is left");
        assert_eq!(error, "no version is both: tags @needs-run-states and @without-run-states");
    }
}
