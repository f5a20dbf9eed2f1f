//! Checks a scenario's steps without a fleet: each step has to be defined, and its names, failure codes and columns
//! have to be known.

use std::sync::LazyLock;

use diagnosis::FailureCode;
use gherkin::{Step, StepType};
use regex::Regex;
use steps::vocabulary::{StepShape, shapes};
use steps::{Mention, StepNeeds, mentions, needs, step_match};

use crate::failure_codes;

/// Similarity above which a step is taken for a misspelt shape; 1 is the same text.
const ALIKE: f64 = 0.6;

static QUOTED: LazyLock<Regex> = LazyLock::new(|| Regex::new("\"([^\"]*)\"").expect("a valid pattern"));
static NUMBER: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\b[0-9]+\b").expect("a valid pattern"));
static CODE: LazyLock<Regex> = LazyLock::new(|| Regex::new(FailureCode::PATTERN).expect("a valid pattern"));

/// Words of a shape that may be left out.
static OPTIONAL: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\{[^}]*\?\}").expect("a valid pattern"));

/// Parameters of shapes, and words that may stand for them.
const PHRASES: [(&str, &str); 7] = [
    ("{members}", "{string}"),
    ("{selection}", "{string}"),
    ("{placement}", "a placement"),
    ("{placement of run}", "placement {string}"),
    ("{strategy}", "strategy {string}"),
    ("{agent}", "the agent of member {string}"),
    ("{end}", "succeeds"),
];

/// Text of the scenario's earlier steps.
#[derive(Clone, Debug)]
pub(crate) enum EarlierText {
    /// All of the text.
    Known(String),
    /// Unknown text: any name may be in it.
    Anything,
}

impl Default for EarlierText {
    fn default() -> Self {
        Self::Known(String::new())
    }
}

/// Returns a line about the problem of a step; `None` if the step can be run. Steps have to be checked in their order.
pub(crate) fn problem(step: &Step, earlier: &mut EarlierText) -> Option<String> {
    let problem = match step_match(step) {
        Ok(Some(_)) => {
            let needs = needs(step);
            unknown_code(&needs)
                .or_else(|| needs.table.and_then(|table| table.problem(step)))
                .or_else(|| if needs.names_ahead { None } else { unknown_name(step, earlier) })
        }
        Ok(None) => Some(undefined(step)),
        Err(ambiguous) => Some(ambiguous.to_string()),
    };
    earlier.add(step);
    problem
}

impl EarlierText {
    fn add(&mut self, step: &Step) {
        let Self::Known(known) = self else { return };
        let cells = step.table.iter().flat_map(|table| table.rows.iter().flatten());
        for text in std::iter::once(&step.value).chain(&step.docstring).chain(cells) {
            known.push_str(text);
            known.push('\n');
        }
    }
}

/// A failure code that the catalogue doesn't have, in the diagnosis that a step asserts.
fn unknown_code(needs: &StepNeeds) -> Option<String> {
    needs.codes.iter().find_map(|code| failure_codes::check(code).err()).map(|unknown| unknown.to_string())
}

/// Returns a message about an object that no earlier step names.
fn unknown_name(step: &Step, earlier: &EarlierText) -> Option<String> {
    let EarlierText::Known(earlier) = earlier else { return None };
    let missing = mentions(step).into_iter();
    let mut missing = missing.filter(|m| !m.is_new && !m.name.is_empty() && !earlier.contains(&m.name));
    let Mention { noun, name, .. } = missing.next()?;
    let quoted = QUOTED.captures_iter(earlier).filter_map(|found| Some(found.get(1)?.as_str()));
    let near = quoted.max_by(|a, b| strsim::jaro_winkler(a, &name).total_cmp(&strsim::jaro_winkler(b, &name)));
    let near = near.map(|near| format!("; the nearest name there is \"{near}\"")).unwrap_or_default();
    Some(format!("no step before this one speaks of {noun} \"{name}\"{near}"))
}

fn keyword(ty: StepType) -> &'static str {
    match ty {
        StepType::Given => "Given",
        StepType::When => "When",
        StepType::Then => "Then",
    }
}

/// Returns the reason why no definition matches a step: it is defined under another keyword, or it isn't defined; then
/// the reason names the most similar shape.
fn undefined(step: &Step) -> String {
    let others = [StepType::Given, StepType::When, StepType::Then].into_iter().filter(|ty| *ty != step.ty);
    let under = others.filter(|ty| {
        let other = Step { ty: *ty, ..step.clone() };
        !matches!(step_match(&other), Ok(None))
    });
    let under: Vec<&str> = under.map(keyword).collect();
    if !under.is_empty() {
        let stands = keyword(step.ty);
        return format!("this step is defined under {}, and stands under {stands} here", under.join(" and "));
    }
    match nearest(&step.value) {
        Some(StepShape { shape, keywords, .. }) => {
            format!("no step is defined like this; the nearest one is ({}): {shape}", keywords.join(", "))
        }
        None => "no step is defined like this".to_owned(),
    }
}

/// The shape that is most like a step's text, without the words that may be left out.
fn nearest(text: &str) -> Option<&'static StepShape> {
    let text = NUMBER.replace_all(&QUOTED.replace_all(text, "{string}"), "{int}").to_lowercase();
    let text = CODE.replace_all(&text, "{code}");
    let rated = shapes().iter().map(|shape| (shape, likeness(&text, shape)));
    rated.filter(|(_, likeness)| *likeness > ALIKE).max_by(|a, b| a.1.total_cmp(&b.1)).map(|(shape, _)| shape)
}

/// Similarity of a step's text and a shape, from 0 to 1.
fn likeness(text: &str, shape: &StepShape) -> f64 {
    let plain = OPTIONAL.replace_all(&shape.shape, "").into_owned();
    let plain = PHRASES.iter().fold(plain, |plain, (name, words)| plain.replace(name, words));
    let objects = ["placement {string}", "update run {string}", "application {string}"];
    let plain = objects.map(|object| plain.replace("{object}", object).to_lowercase());
    plain.iter().map(|plain| strsim::normalized_damerau_levenshtein(text, plain)).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the problem of the last step.
    fn told(steps: &str) -> Option<String> {
        let text = format!("Feature: f\n  Scenario: s\n{steps}\n");
        let feature = gherkin::Feature::parse(text, gherkin::GherkinEnv::default()).expect("a feature");
        let mut earlier = EarlierText::default();
        feature.scenarios[0].steps.iter().filter_map(|step| problem(step, &mut earlier)).last()
    }

    #[test]
    fn a_typo_is_answered_with_the_nearest_step() {
        assert_eq!(
            told("Given a placment \"web\" selects \"member-1\""),
            Some("no step is defined like this; the nearest one is (Given, When): {placement} {string}{with strategy External?} selects {selection}{and applies with?}{where its namespace isn't?}".to_owned())
        );
        assert_eq!(told("Given the moon is full"), Some("no step is defined like this".to_owned()));
    }

    #[test]
    fn a_step_under_another_keyword_says_under_which_it_is_defined() {
        assert_eq!(
            told("Given an update run \"x\"\nWhen update run \"x\" succeeds"),
            Some("this step is defined under Given and Then, and stands under When here".to_owned())
        );
    }

    #[test]
    fn a_code_that_the_catalogue_does_not_have_is_answered_with_the_nearest() {
        let given = "Given a placement \"web\" selects \"member-1\"\n";
        let with = |code: &str| told(&format!("{given}Then the diagnosis of placement \"web\" is {code}"));
        for code in ["KF-WS-091", "KF-WS-01"] {
            assert_eq!(with(code), failure_codes::check(code).err().map(|unknown| unknown.to_string()));
        }
        assert_eq!(with("KF-WS-001"), None);
    }

    #[test]
    fn a_name_that_nothing_has_is_found_before_the_run() {
        let given = "Given a placement \"web\" selects \"member-1\"\n";
        assert_eq!(told(&format!("{given}Then placement \"web\" becomes available on \"member-1\"")), None);
        assert_eq!(
            told(&format!("{given}Then placement \"wep\" becomes available on \"member-1\"")),
            Some("no step before this one speaks of placement \"wep\"; the nearest name there is \"web\"".to_owned())
        );
    }
}
