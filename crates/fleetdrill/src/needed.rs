//! What a scenario needs a version of KubeFleet to do.
//!
//! Tags say it: `@needs-run-states` and `@without-run-states`, on a feature, a scenario or its examples. All that there are must
//! hold. What is needed to so much as make the objects that a scenario speaks of, its steps say themselves. What a version can
//! do is found out from what is installed.

use std::collections::BTreeSet;
use std::fmt;

use fleet::capability::{Capabilities, Capability};
use gherkin::Step;

/// What begins a tag of something that a version has to be able to do.
const NEEDS: &str = "needs-";

/// What begins a tag of something that a version must not be able to do.
const WITHOUT: &str = "without-";

/// What a version has to be able to do, and what not; by default nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Needed {
    needs: BTreeSet<Capability>,
    without: BTreeSet<Capability>,
}

impl Needed {
    /// What tags (without `@`) say.
    ///
    /// # Errors
    /// When a tag that should name a capability doesn't, or no version satisfies all; the error is for people.
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

    /// What a scenario's steps need besides.
    ///
    /// # Errors
    /// When tags say that a version must not be able to do it; the error is for people.
    pub fn and_of<'a>(mut self, steps: impl IntoIterator<Item = &'a Step>) -> Result<Self, String> {
        for step in steps {
            for capability in implied(step) {
                if self.without.contains(&capability) {
                    return Err(format!("no version is both: tag @{WITHOUT}{capability}, and `{}`", step.value));
                }
                self.needs.insert(capability);
            }
        }
        Ok(self)
    }

    /// Whether a version that can do this will do.
    #[must_use]
    pub fn admits(&self, capabilities: &Capabilities) -> bool {
        self.needs.iter().all(|c| capabilities.can(*c)) && !self.without.iter().any(|c| capabilities.can(*c))
    }

    /// Whether all versions will do.
    #[must_use]
    pub fn is_all(&self) -> bool {
        *self == Self::default()
    }
}

/// What a step can't even begin without: the kinds of its objects, and the fields that it gives them.
fn implied(step: &Step) -> impl Iterator<Item = Capability> {
    let says = |text| step.value.contains(text);
    let rows = step.table.as_ref().map(|table| &table.rows[..]).unwrap_or_default();
    let before = rows.first().and_then(|header| header.iter().position(|column| column == "before"));
    let tasks = before.is_some_and(|column| rows[1..].iter().any(|row| !row[column].is_empty()));
    let all = [
        (says("a namespaced placement"), Capability::NamespacedPlacements),
        (says("ResourceEnvelope"), Capability::Envelopes),
        (says("staged update strategy") && tasks, Capability::BeforeStageTasks),
    ];
    all.into_iter().filter_map(|(is, capability)| is.then_some(capability))
}

/// `KubeFleet with run-states`, `KubeFleet without stuck-runs`.
impl fmt::Display for Needed {
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

    fn needed(tags: &[&str]) -> Result<Needed, String> {
        Needed::of(&tags.iter().map(ToString::to_string).collect::<Vec<_>>())
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
        let both = "    Given a namespaced placement \"web\"\n    When a ResourceEnvelope is wrong\n";
        assert_eq!(said(both), "KubeFleet with namespaced-placements, envelopes");
        let strategy = |before| {
            format!(
                "    Given a staged update strategy \"asks\"\n      | stage | before | after |\n      | one   | {before} | Approval |\n"
            )
        };
        assert_eq!(said(&strategy("Approval")), "KubeFleet with before-stage-tasks");
        assert_eq!(said(&strategy("        ")), "any KubeFleet");
        let error = of(both, &["without-envelopes"]).expect_err("nothing is left");
        assert_eq!(error, "no version is both: tag @without-envelopes, and `a ResourceEnvelope is wrong`");
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
