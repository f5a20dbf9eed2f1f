//! Tags by which scenarios name the statements that they show.
//!
//! `@guide:GUIDE/CASE` names all statements of a case, `@guide:GUIDE/CASE/STATEMENT` one. A tag leaves the scope out: the
//! scenario's placements decide which of both it is. `@drift:...` names a behaviour that the scenario shows to be otherwise.

use std::collections::BTreeSet;

use gherkin::{Feature, Scenario};
use thiserror::Error;

use super::statement::{Claim, Scope, Statement, guides};

/// What begins a tag of a statement that is shown.
const GUIDE: &str = "guide:";

/// What begins a tag of a behaviour that is shown to be otherwise.
const DRIFT: &str = "drift:";

/// A statement that a scenario names.
#[derive(Clone, Copy, Debug)]
pub struct Named {
    /// The statement.
    pub statement: &'static Statement,
    /// Whether the scenario shows that it isn't so.
    pub otherwise: bool,
}

/// A tag that names nothing.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("tag @{tag} {why}")]
pub struct TagError {
    tag: String,
    why: String,
    /// What may have been meant.
    pub nearest: Option<String>,
}

/// The case or statement that a tag (without `@`) names; nothing for other tags.
#[must_use]
pub fn statements(tag: &str) -> Option<&str> {
    tag.strip_prefix(GUIDE).or_else(|| tag.strip_prefix(DRIFT))
}

/// What a scenario names, in the guides' order.
///
/// # Errors
/// When a tag names no statement.
pub fn named(feature: &Feature, scenario: &Scenario) -> Result<Vec<Named>, TagError> {
    let tags: Vec<&String> = feature.tags.iter().chain(&scenario.tags).collect();
    let steps = feature.background.iter().flat_map(|b| &b.steps).chain(&scenario.steps);
    let scopes = scopes(steps.map(|step| step.value.as_str()));
    of(&tags, &scopes)
}

fn of(tags: &[&String], scopes: &BTreeSet<Scope>) -> Result<Vec<Named>, TagError> {
    let mut said = BTreeSet::new();
    let mut otherwise = BTreeSet::new();
    for tag in tags {
        if let Some(name) = tag.strip_prefix(GUIDE) {
            said.extend(called(tag, name)?.into_iter().map(|s| &s.id));
        } else if let Some(name) = tag.strip_prefix(DRIFT) {
            let statements = called(tag, name)?;
            if !statements.iter().all(|s| matches!(&s.claim, Claim::Behaviour { instead: Some(_), .. })) {
                let why = "is for behaviours that have an `instead`: where conditions differ is measured".to_owned();
                return Err(TagError { tag: (*tag).clone(), why, nearest: Some(format!("@{GUIDE}{name}")) });
            }
            otherwise.extend(statements.into_iter().map(|s| &s.id));
        }
    }
    let fits = |s: &&Statement| s.scope.is_none_or(|scope| scopes.contains(&scope));
    let all = guides().iter().flat_map(|g| &g.statements).filter(fits);
    let named = all.filter(|s| said.contains(&s.id) || otherwise.contains(&s.id));
    Ok(named.map(|statement| Named { statement, otherwise: otherwise.contains(&statement.id) }).collect())
}

/// The statements of both scopes that a tag names.
fn called(tag: &str, name: &str) -> Result<Vec<&'static Statement>, TagError> {
    let is = |s: &&Statement| s.id.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    let called: Vec<_> = guides().iter().flat_map(|g| &g.statements).filter(is).collect();
    if !called.is_empty() && name.contains('/') {
        return Ok(called);
    }
    let cases: BTreeSet<&str> = guides().iter().flat_map(|g| &g.statements).map(|s| case(&s.id)).collect();
    let likeness = |case: &&str| strsim::normalized_damerau_levenshtein(case, name);
    let nearest = cases.into_iter().max_by(|a, b| likeness(a).total_cmp(&likeness(b))).filter(|c| likeness(c) > 0.5);
    let why = "names no statement of a guide".to_owned();
    Err(TagError { tag: tag.to_owned(), why, nearest: nearest.map(|case| format!("@{GUIDE}{case}")) })
}

/// The guide and the case of an id.
fn case(id: &str) -> &str {
    id.match_indices('/').nth(1).map_or(id, |(end, _)| &id[..end])
}

/// Of which scopes a scenario's placements are; features call them `a placement`, `a cluster-scoped placement` or
/// `a namespaced placement`.
fn scopes<'a>(steps: impl Iterator<Item = &'a str>) -> BTreeSet<Scope> {
    let mut scopes = BTreeSet::new();
    for step in steps {
        if step.contains("a namespaced placement") {
            scopes.insert(Scope::Namespaced);
        }
        if step.contains("a cluster-scoped placement") || step.contains("a placement") {
            scopes.insert(Scope::Cluster);
        }
    }
    scopes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(tags: &[&str], scopes: &[Scope]) -> Result<Vec<String>, TagError> {
        let tags: Vec<String> = tags.iter().map(ToString::to_string).collect();
        let named = of(&tags.iter().collect::<Vec<_>>(), &scopes.iter().copied().collect())?;
        let sign = |n: &Named| if n.otherwise { "!" } else { "" };
        Ok(named.iter().map(|n| format!("{}{}", sign(n), n.statement.id)).collect())
    }

    #[test]
    fn a_tag_names_a_case_or_one_statement_in_the_scenario_s_scope() {
        let case = "guide:staged-update-run-2026/initialization-failure";
        let cluster = ids(&[case], &[Scope::Cluster]).unwrap();
        let namespaced = ids(&[case], &[Scope::Namespaced]).unwrap();
        assert!(cluster.len() > 2 && cluster.iter().all(|id| !id.ends_with("/namespaced")), "{cluster:?}");
        assert!(
            namespaced.contains(&"staged-update-run-2026/initialization-failure/initialized/namespaced".to_owned())
        );
        let one = format!("{case}/initialized");
        assert_eq!(ids(&[&one, "drill"], &[Scope::Cluster]).unwrap().len(), 1);
        assert_eq!(ids(&[&one], &[]).unwrap().len(), 0);
    }

    #[test]
    fn what_is_shown_to_be_otherwise_is_not_also_so() {
        let tags = ["guide:work-synchronized/resolution", "drift:work-synchronized/resolution/rejoin"];
        let ids = ids(&tags, &[Scope::Cluster]).unwrap();
        assert!(ids.contains(&"!work-synchronized/resolution/rejoin".to_owned()), "{ids:?}");
        assert!(ids.len() > 2, "{ids:?}");
    }

    #[test]
    fn a_tag_that_names_nothing_is_an_error() {
        let error = |tag: &str| ids(&[tag], &[Scope::Cluster]).unwrap_err();
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
        let scopes = |steps: &[&str]| scopes(steps.iter().copied()).into_iter().collect::<Vec<_>>();
        assert_eq!(scopes(&["a placement \"web\" selects \"m\"", "x"]), [Scope::Cluster]);
        assert_eq!(scopes(&["a namespaced placement \"web\" selects \"m\""]), [Scope::Namespaced]);
        assert_eq!(scopes(&["a member \"east\" of its own"]), []);
    }
}
