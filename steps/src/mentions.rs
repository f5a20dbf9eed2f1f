//! Placements, update runs and applications that a step's text speaks of, in the vocabulary's grammar: `a placement "web"` is a new
//! placement, `placement "web"` is a placement that an earlier step has made.

use std::sync::LazyLock;

use cucumber::gherkin::Step;
use regex::Regex;

static MENTION: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = r#"(?:^|(?P<article>\b(?:a|an|cluster-scoped|namespaced|update)) |[^ ] )(?P<noun>placement|update run|application) "(?P<name>[^"]*)""#;
    Regex::new(pattern).expect("a valid pattern")
});

/// Something that a step speaks of by its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mention {
    /// `placement`, `update run` or `application`.
    pub noun: String,
    /// Name in the feature.
    pub name: String,
    /// True if the step makes it.
    pub is_new: bool,
}

/// Returns the placements, update runs and applications in a step's text.
#[must_use]
pub fn mentions(step: &Step) -> Vec<Mention> {
    let found = MENTION.captures_iter(&step.value).map(|found| Mention {
        noun: found["noun"].to_owned(),
        name: found["name"].to_owned(),
        is_new: found.name("article").is_some(),
    });
    found.collect()
}
