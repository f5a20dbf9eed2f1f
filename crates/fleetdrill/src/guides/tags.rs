//! Tags by which scenarios name the statements that they show.
//!
//! `@guide:GUIDE/CASE` names all statements of a case, `@guide:GUIDE/CASE/STATEMENT` names one. A tag doesn't contain
//! the scope: the scenario's placements decide whether the cluster-scoped or the namespaced statements are meant.
//! `@drift:...` names a behaviour that the scenario shows to differ from the guide.

use std::collections::BTreeSet;

use gherkin::{Feature, Scenario, Step};
use steps::needs;
use thiserror::Error;

use super::statement::{Statement, StatementClaim, StatementScope, guides};

/// Prefix of a tag that names a statement.
const GUIDE: &str = "guide:";

/// Prefix of a tag that names a behaviour which differs from the guide.
const DRIFT: &str = "drift:";

/// Statement that a scenario names.
#[derive(Clone, Copy, Debug)]
pub struct NamedStatement {
    /// The statement.
    pub statement: &'static Statement,
    /// True if the scenario shows that the statement doesn't hold.
    pub otherwise: bool,
}

/// Error about a tag that names no statement.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("tag @{tag} {why}")]
pub struct TagError {
    tag: String,
    why: String,
    /// Tag that may have been meant.
    pub nearest: Option<String>,
}

/// Returns the case or statement that a tag (without `@`) names; `None` for other tags.
#[must_use]
pub fn statements(tag: &str) -> Option<&str> {
    tag.strip_prefix(GUIDE).or_else(|| tag.strip_prefix(DRIFT))
}

/// Returns the statements that a scenario names, in the guides' order.
///
/// # Errors
/// Returns an error if a tag names no statement.
pub fn named(feature: &Feature, scenario: &Scenario) -> Result<Vec<NamedStatement>, TagError> {
    let tags: Vec<&String> = feature.tags.iter().chain(&scenario.tags).collect();
    let steps = feature.background.iter().flat_map(|b| &b.steps).chain(&scenario.steps);
    let scopes = scopes(steps);
    of(&tags, &scopes)
}

fn of(tags: &[&String], scopes: &BTreeSet<StatementScope>) -> Result<Vec<NamedStatement>, TagError> {
    let mut said = BTreeSet::new();
    let mut otherwise = BTreeSet::new();
    for tag in tags {
        if let Some(name) = tag.strip_prefix(GUIDE) {
            said.extend(called(tag, name)?.into_iter().map(|s| &s.id));
        } else if let Some(name) = tag.strip_prefix(DRIFT) {
            let statements = called(tag, name)?;
            if !statements.iter().all(|s| matches!(&s.claim, StatementClaim::Behaviour { instead: Some(_), .. })) {
                let why = "is for behaviours that have an `instead`: where conditions differ is measured".to_owned();
                return Err(TagError { tag: (*tag).clone(), why, nearest: Some(format!("@{GUIDE}{name}")) });
            }
            otherwise.extend(statements.into_iter().map(|s| &s.id));
        }
    }
    let all = guides().iter().flat_map(|g| &g.statements);
    let all = all.filter(|s| s.scope.is_none_or(|scope| scopes.contains(&scope)));
    let named = all.filter(|s| said.contains(&s.id) || otherwise.contains(&s.id));
    Ok(named.map(|statement| NamedStatement { statement, otherwise: otherwise.contains(&statement.id) }).collect())
}

/// Returns the statements of both scopes that a tag names.
fn called(tag: &str, name: &str) -> Result<Vec<&'static Statement>, TagError> {
    let called = guides()
        .iter()
        .flat_map(|g| &g.statements)
        .filter(|s| s.id.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')));
    let called: Vec<_> = called.collect();
    if !called.is_empty() && name.contains('/') {
        return Ok(called);
    }
    let cases: BTreeSet<&str> = guides().iter().flat_map(|g| &g.statements).map(|s| case(&s.id)).collect();
    let rated = cases.into_iter().map(|case| (strsim::normalized_damerau_levenshtein(case, name), case));
    let nearest = rated.max_by(|a, b| a.0.total_cmp(&b.0)).filter(|(likeness, _)| *likeness > 0.5);
    let why = "names no statement of a guide".to_owned();
    Err(TagError { tag: tag.to_owned(), why, nearest: nearest.map(|(_, case)| format!("@{GUIDE}{case}")) })
}

/// Returns the guide and the case of an id.
fn case(id: &str) -> &str {
    id.match_indices('/').nth(1).map_or(id, |(end, _)| &id[..end])
}

/// Returns the scopes of the placements that a scenario's steps make.
fn scopes<'a>(steps: impl Iterator<Item = &'a Step>) -> BTreeSet<StatementScope> {
    let made = steps.filter_map(|step| needs(step).placement_scope);
    made.map(|new| if new.namespaced { StatementScope::Namespaced } else { StatementScope::Cluster }).collect()
}

#[cfg(test)]
mod tests {
    use gherkin::GherkinEnv;

    use super::*;

    fn ids(tags: &[&str], scopes: &[StatementScope]) -> Result<Vec<String>, TagError> {
        let tags: Vec<String> = tags.iter().map(ToString::to_string).collect();
        let named = of(&tags.iter().collect::<Vec<_>>(), &scopes.iter().copied().collect())?;
        let sign = |n: &NamedStatement| if n.otherwise { "!" } else { "" };
        Ok(named.iter().map(|n| format!("{}{}", sign(n), n.statement.id)).collect())
    }

    #[test]
    fn a_tag_names_a_case_or_one_statement_in_the_scenario_s_scope() {
        let case = "guide:staged-update-run-2026/initialization-failure";
        let cluster = ids(&[case], &[StatementScope::Cluster]).unwrap();
        let namespaced = ids(&[case], &[StatementScope::Namespaced]).unwrap();
        assert!(cluster.len() > 2 && cluster.iter().all(|id| !id.ends_with("/namespaced")), "{cluster:?}");
        assert!(
            namespaced.contains(&"staged-update-run-2026/initialization-failure/initialized/namespaced".to_owned())
        );
        let one = format!("{case}/initialized");
        assert_eq!(ids(&[&one, "drill"], &[StatementScope::Cluster]).unwrap().len(), 1);
        assert_eq!(ids(&[&one], &[]).unwrap().len(), 0);
    }

    #[test]
    fn what_is_shown_to_be_otherwise_is_not_also_so() {
        let tags = ["guide:work-synchronized/resolution", "drift:work-synchronized/resolution/rejoin"];
        let ids = ids(&tags, &[StatementScope::Cluster]).unwrap();
        assert!(ids.contains(&"!work-synchronized/resolution/rejoin".to_owned()), "{ids:?}");
        assert!(ids.len() > 2, "{ids:?}");
    }

    #[test]
    fn a_tag_that_names_nothing_is_an_error() {
        let error = |tag: &str| ids(&[tag], &[StatementScope::Cluster]).unwrap_err();
        let unknown = error("guide:work-synchronised/resolution");
        assert_eq!(unknown.to_string(), "tag @guide:work-synchronised/resolution names no statement of a guide");
        assert_eq!(unknown.nearest.as_deref(), Some("@guide:work-synchronized/resolution"));
        assert!(error("guide:work-synchronized").to_string().contains("names no statement"));
        assert!(error("guide:work-synchronized/terminating-name").to_string().contains("names no statement"));
        let condition = error("drift:work-synchronized/terminating-namespace/member-work-synchronized");
        assert!(condition.to_string().contains("is for behaviours"), "{condition}");
    }

    #[test]
    fn the_steps_say_the_scope() {
        let scopes = |steps: &[&str]| {
            let text = format!("Feature: f\n  Scenario: s\n    Given {}\n", steps.join("\n    And "));
            let feature = Feature::parse(text, GherkinEnv::default()).expect("a feature");
            scopes(feature.scenarios[0].steps.iter()).into_iter().collect::<Vec<_>>()
        };
        assert_eq!(scopes(&["a placement \"web\" selects \"m\"", "x"]), [StatementScope::Cluster]);
        assert_eq!(scopes(&["a namespaced placement \"web\" selects \"m\""]), [StatementScope::Namespaced]);
        assert_eq!(scopes(&["a member \"east\" of its own"]), []);
    }
}
