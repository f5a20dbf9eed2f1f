//! Parts of HTML pages that all reports share: the page's frame, its style, drawings of conditions over time, and findings.
//!
//! A page is one file that requests nothing. Everything that is written into a template is escaped, so that texts of objects can't
//! become markup.

pub(crate) mod condition_spans;
pub(crate) mod finding_view;
mod state_class;
pub(crate) mod timeline;

use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, UndefinedBehavior};
use serde::Serialize;

use crate::run::ReportError;
use crate::text::clean;

/// Templates that pages extend, include or import from.
const SHARED: [(&str, &str); 7] = [
    ("frame.html", include_str!("frame.html")),
    ("style.css", include_str!("style.css")),
    ("timeline.html", include_str!("timeline.html")),
    ("finding.html", include_str!("finding.html")),
    ("difference.html", include_str!("difference.html")),
    ("guide_link.html", include_str!("guide_link.html")),
    ("changes.html", include_str!("../runs/changes.html")),
];

/// Fills a page's template.
///
/// # Errors
/// Returns an error if the template can't be filled: a bug.
pub(crate) fn render(template: &str, known: &impl Serialize) -> Result<String, ReportError> {
    fill(template, known).map_err(|source| ReportError::Format { format: "HTML", source: source.into() })
}

fn fill(template: &str, known: &impl Serialize) -> Result<String, minijinja::Error> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    let syntax = environment.syntax().to_builder().trim_blocks(true).lstrip_blocks(true).build()?;
    environment.set_syntax(syntax);
    for (name, text) in SHARED {
        environment.add_template(name, text)?;
    }
    environment.add_template("page", template)?;
    let page = environment.get_template("page")?.render(Serde(known))?;
    // Controllers' messages may contain characters that are invalid in HTML.
    Ok(clean(&page) + "\n")
}
