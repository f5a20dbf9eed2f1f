//! Checks of a scenario's steps that need no fleet: whether each is defined, and whether the names, failure codes and columns
//! in it are known.

use std::sync::LazyLock;

use cucumber::step::Collection;
use gherkin::{Step, StepType};
use regex::Regex;
use steps::vocabulary::{StepShape, shapes};
use steps::{World, table_columns};

/// How like a shape a step must be to be taken for it: 1 is the same text.
const ALIKE: f64 = 0.6;

/// Failure codes that are further apart than this many letters aren't near.
const CODE_DISTANCE: usize = 3;

static QUOTED: LazyLock<Regex> = LazyLock::new(|| Regex::new("\"([^\"]*)\"").expect("a valid pattern"));
static NUMBER: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\b[0-9]+\b").expect("a valid pattern"));
static CODE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\b[A-Z]{2}-[A-Z]{2}-[0-9]{3}\b").expect("a valid pattern"));

/// A thing that a step speaks of as one that is there: `placement "web"`, but not `a placement "web"`.
static REFERENCE: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = r#"(?:^|(?P<article>\b(?:a|an|cluster-scoped|namespaced|update)) |[^ ] )(?P<noun>placement|update run|application) "(?P<name>[^"]*)""#;
    Regex::new(pattern).expect("a valid pattern")
});

/// What the steps of one scenario have spoken of so far.
#[derive(Clone, Debug)]
pub(crate) enum EarlierText {
    /// All of it.
    Known(String),
    /// It isn't known.
    Anything,
}

impl Default for EarlierText {
    fn default() -> Self {
        Self::Known(String::new())
    }
}

/// Tells what is wrong with a step, in a line; nothing where it can be run. Steps have to come in their order.
pub(crate) fn problem(vocabulary: &Collection<World>, step: &Step, earlier: &mut EarlierText) -> Option<String> {
    let problem = match vocabulary.find(step) {
        Ok(Some(_)) => unknown_code(&QUOTED.replace_all(&step.value, ""))
            .or_else(|| table_columns::problem(step))
            .or_else(|| unknown_name(&step.value, earlier)),
        Ok(None) => Some(undefined(vocabulary, step)),
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

/// A failure code in a text that the catalogue doesn't have.
pub(crate) fn unknown_code(text: &str) -> Option<String> {
    let code = CODE.find_iter(text).map(|found| found.as_str()).find(|code| diagnosis::entry(code).is_none())?;
    let distance = |entry: &&diagnosis::Entry| strsim::damerau_levenshtein(&entry.code.0, code);
    let nearest = diagnosis::catalogue().iter().min_by_key(distance).filter(|entry| distance(entry) <= CODE_DISTANCE);
    Some(match nearest {
        Some(entry) => format!("there is no failure code {code}; the nearest one is {}: {}", entry.code, entry.title),
        None => format!("there is no failure code {code}; `fleetdrill explain` lists those there are"),
    })
}

/// A thing that no step before has spoken of.
fn unknown_name(text: &str, earlier: &EarlierText) -> Option<String> {
    let EarlierText::Known(earlier) = earlier else { return None };
    // `where placement "web" will put one`: a later step makes it.
    if text.contains(" will ") {
        return None;
    }
    REFERENCE.captures_iter(text).find_map(|found| {
        let (noun, name) = (&found["noun"], &found["name"]);
        let known = found.name("article").is_some() || name.is_empty() || earlier.contains(name);
        (!known).then(|| {
            let quoted: Vec<&str> =
                QUOTED.captures_iter(earlier).filter_map(|found| Some(found.get(1)?.as_str())).collect();
            let near =
                quoted.iter().max_by(|a, b| strsim::jaro_winkler(a, name).total_cmp(&strsim::jaro_winkler(b, name)));
            let near = near.map(|near| format!("; the nearest name there is \"{near}\"")).unwrap_or_default();
            format!("no step before this one speaks of {noun} \"{name}\"{near}")
        })
    })
}

/// Why no definition fits a step: it is defined under another keyword, or what it is nearest to.
fn undefined(vocabulary: &Collection<World>, step: &Step) -> String {
    let keyword = |ty: StepType| match ty {
        StepType::Given => "Given",
        StepType::When => "When",
        StepType::Then => "Then",
    };
    let others = [StepType::Given, StepType::When, StepType::Then].into_iter().filter(|ty| *ty != step.ty);
    let under = others.filter(|ty| {
        let other = Step { ty: *ty, ..step.clone() };
        !matches!(vocabulary.find(&other), Ok(None))
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

/// The shape that is most like a step's text.
fn nearest(text: &str) -> Option<&'static StepShape> {
    let text = NUMBER.replace_all(&QUOTED.replace_all(text, "{string}"), "{int}").to_lowercase();
    let text = CODE.replace_all(&text, "{code}");
    let likeness = |shape: &StepShape| {
        let alike = |object: &str| {
            let shape = shape.shape.replace("{members}", "{string}").replace("{placement}", "a placement");
            strsim::normalized_damerau_levenshtein(&text, &shape.replace("{object}", object).to_lowercase())
        };
        ["placement {string}", "update run {string}", "application {string}"].map(alike).into_iter().fold(0.0, f64::max)
    };
    let rated = shapes().iter().map(|shape| (shape, likeness(shape)));
    rated.filter(|(_, likeness)| *likeness > ALIKE).max_by(|a, b| a.1.total_cmp(&b.1)).map(|(shape, _)| shape)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is wrong with the last of some steps.
    fn told(steps: &str) -> Option<String> {
        let text = format!("Feature: f\n  Scenario: s\n{steps}\n");
        let feature = gherkin::Feature::parse(text, gherkin::GherkinEnv::default()).expect("a feature");
        let (vocabulary, mut earlier) = (World::vocabulary(), EarlierText::default());
        feature.scenarios[0].steps.iter().filter_map(|step| problem(&vocabulary, step, &mut earlier)).last()
    }

    #[test]
    fn a_typo_is_answered_with_the_nearest_step() {
        assert_eq!(
            told("Given a placment \"web\" selects \"member-1\""),
            Some("no step is defined like this; the nearest one is (Given, When): {placement} {string} selects {members}".to_owned())
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
    fn a_code_that_there_is_none_of_is_answered_with_the_nearest() {
        let given = "Given a placement \"web\" selects \"member-1\"\n";
        assert_eq!(
            told(&format!("{given}Then the diagnosis of placement \"web\" is KF-WS-091")),
            unknown_code("KF-WS-091")
        );
        assert!(unknown_code("KF-WS-091").is_some_and(|told| told.contains("the nearest one is KF-WS-001: ")));
        assert_eq!(
            unknown_code("KF-XX-999").as_deref(),
            Some("there is no failure code KF-XX-999; `fleetdrill explain` lists those there are")
        );
        assert_eq!(unknown_code("KF-WS-001"), None);
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
