//! `fleetdrill explain`.

use diagnosis::{Entry, Guide, Remedy, Severity};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::cli::{Explain, Format};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::output::style::Look;
use crate::output::{data, explained};

/// How many codes are named when one is unknown.
const NEAREST: usize = 3;

/// A code, as `explain CODE -o json` shows it. The texts have the names of an example.
#[derive(Debug, Serialize)]
struct Explained<'a> {
    /// The code.
    code: &'a str,
    /// The failure in a few words.
    title: &'a str,
    /// Whether it is a failure or a notice.
    severity: Severity,
    /// One sentence.
    cause: String,
    /// What is or may be lost.
    #[serde(skip_serializing_if = "Option::is_none")]
    data_loss: Option<String>,
    /// What to look for, in order.
    evidence: &'a [String],
    /// Ordered, the first being the one to try first.
    remedies: Vec<Remedy>,
    /// The guide that describes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    guide: Option<&'a Guide>,
    /// The names in the texts.
    example: &'a Map<String, Value>,
}

/// A code, as `explain -o json` lists it.
#[derive(Debug, Serialize)]
struct Listed<'a> {
    /// The code.
    code: &'a str,
    /// The failure in a few words.
    title: &'a str,
    /// Whether it is a failure or a notice.
    severity: Severity,
    /// The guide that describes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    guide: Option<&'a Guide>,
}

pub(super) fn explain(args: &Explain) -> Result<Exit, CommandError> {
    let Some(code) = &args.code else {
        list(args.output);
        return Ok(Exit::Fine);
    };
    let entry = diagnosis::entry(code).ok_or_else(|| unknown(code))?;
    // Every entry's example is tested.
    let texts = entry.example().map_err(|e| CommandError::Environment { message: e.to_string(), hint: None })?;
    match args.output {
        Format::Text => data::print_text(&explained::render(entry, &texts, Look::from_locale().width)),
        format => data::print(
            format,
            &Explained {
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
    Ok(Exit::Fine)
}

fn list(format: Format) {
    let listed = |entry: &'static Entry| Listed {
        code: &entry.code.0,
        title: &entry.title,
        severity: entry.severity,
        guide: entry.guide.as_ref(),
    };
    match format {
        Format::Text => data::print_text(&explained::list(diagnosis::catalogue())),
        format => data::print(format, &diagnosis::catalogue().iter().map(listed).collect::<Vec<_>>()),
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

/// The codes that are written alike, or whose titles have the word that was given instead of a code.
fn nearest(code: &str) -> Vec<&'static Entry> {
    let asked = code.to_ascii_uppercase();
    let word = code.to_lowercase();
    let distance = |entry: &Entry| strsim::damerau_levenshtein(&entry.code.0, &asked);
    let mut near: Vec<_> = diagnosis::catalogue().iter().filter(|entry| distance(entry) <= 3).collect();
    near.sort_by_key(|entry| distance(entry));
    if near.is_empty() && word.len() > 2 {
        near.extend(diagnosis::catalogue().iter().filter(|entry| entry.title.to_lowercase().contains(&word)));
    }
    near.truncate(NEAREST);
    near
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
