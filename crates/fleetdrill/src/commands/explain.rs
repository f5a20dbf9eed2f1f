//! `fleetdrill explain`.

use diagnosis::{CatalogueEntry, GuideSection, Remedy, Severity};
use report::finding::code_explanation;
use report::text::style::OutputLayout;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::cli::{ExplainArgs, OutputFormat};
use crate::error::CommandError;
use crate::exit::CommandExitCode;
use crate::output::data;

/// Maximum number of similar codes in the hint about an unknown code.
const NEAREST: usize = 3;

/// Failure code in the output of `explain CODE -o json`. The texts have the names of an example.
#[derive(Debug, Serialize)]
struct ExplainedCode<'a> {
    /// The code.
    code: &'a str,
    /// The failure in a few words.
    title: &'a str,
    /// Severity: failure or notice.
    severity: Severity,
    /// Cause in one sentence.
    cause: String,
    /// Data that is or may be lost.
    #[serde(skip_serializing_if = "Option::is_none")]
    data_loss: Option<String>,
    /// Evidence to look for, in order.
    evidence: &'a [String],
    /// Remedies, in the order to try them.
    remedies: Vec<Remedy>,
    /// Guide that describes the failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    guide: Option<&'a GuideSection>,
    /// Names in the texts.
    example: &'a Map<String, Value>,
}

/// Failure code in the output of `explain -o json`.
#[derive(Debug, Serialize)]
struct ListedCode<'a> {
    /// The code.
    code: &'a str,
    /// The failure in a few words.
    title: &'a str,
    /// Severity: failure or notice.
    severity: Severity,
    /// Guide that describes the failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    guide: Option<&'a GuideSection>,
}

impl<'a> ListedCode<'a> {
    /// Returns the line of a catalogue's entry.
    fn of(entry: &'a CatalogueEntry) -> Self {
        let (code, title) = (&entry.code.0, &entry.title);
        Self { code, title, severity: entry.severity, guide: entry.guide.as_ref() }
    }
}

pub(super) fn explain(args: &ExplainArgs) -> Result<CommandExitCode, CommandError> {
    let Some(code) = &args.code else {
        list(args.output);
        return Ok(CommandExitCode::Fine);
    };
    let entry = diagnosis::entry(code).ok_or_else(|| unknown(code))?;
    // Tests render every entry's example.
    let texts = entry.example().map_err(|e| CommandError::Environment { message: e.to_string(), hint: None })?;
    match args.output {
        OutputFormat::Text => {
            data::print_text(&code_explanation::render(entry, &texts, OutputLayout::from_locale().width));
        }
        format => data::print(
            format,
            &ExplainedCode {
                code: &entry.code.0,
                title: &entry.title,
                severity: entry.severity,
                cause: texts.cause,
                data_loss: texts.data_loss,
                evidence: &entry.evidence,
                remedies: texts.remedies,
                guide: entry.guide.as_ref(),
                example: &entry.example,
            },
        ),
    }
    Ok(CommandExitCode::Fine)
}

fn list(format: OutputFormat) {
    match format {
        OutputFormat::Text => data::print_text(&code_explanation::list(diagnosis::catalogue())),
        format => data::print(format, &diagnosis::catalogue().iter().map(ListedCode::of).collect::<Vec<_>>()),
    }
}

pub(super) fn unknown(code: &str) -> CommandError {
    let near: Vec<String> = nearest(code).into_iter().map(|entry| format!("{} {}", entry.code, entry.title)).collect();
    let hint = if near.is_empty() {
        "`fleetdrill explain` lists the codes there are".to_owned()
    } else {
        format!("the nearest ones, of those that `fleetdrill explain` lists:\n{}", near.join("\n"))
    };
    CommandError::Usage { message: format!("there is no failure code `{code}`"), hint: Some(hint) }
}

/// Returns similar codes, or codes whose titles contain the word that was given instead of a code.
fn nearest(code: &str) -> Vec<&'static CatalogueEntry> {
    let asked = code.to_ascii_uppercase();
    let word = code.to_lowercase();
    let mut near: Vec<_> = diagnosis::catalogue().iter().filter(|entry| distance(entry, &asked) <= 3).collect();
    near.sort_by_key(|entry| distance(entry, &asked));
    if near.is_empty() && word.len() > 2 {
        near.extend(diagnosis::catalogue().iter().filter(|entry| entry.title.to_lowercase().contains(&word)));
    }
    near.truncate(NEAREST);
    near
}

/// Number of edits between an entry's code and what was typed.
fn distance(entry: &CatalogueEntry, typed: &str) -> usize {
    strsim::damerau_levenshtein(&entry.code.0, typed)
}

#[cfg(test)]
mod tests {
    use super::nearest;

    fn codes(asked: &str) -> Vec<&'static str> {
        nearest(asked).into_iter().map(|entry| entry.code.0.as_str()).collect()
    }

    #[test]
    fn what_is_written_alike_is_near() {
        assert_eq!(codes("KF-WS-01")[0], "KF-WS-001");
        assert_eq!(codes("kf-sw-001")[0], "KF-WS-001");
        assert!(codes("KF-WS-999").iter().all(|code| code.starts_with("KF-WS-")));
    }

    #[test]
    fn a_word_of_a_title_finds_codes() {
        assert!(codes("namespace").contains(&"KF-WS-001"));
        assert!(codes("xyzzy").is_empty());
    }
}
