//! A guide's message as a template: names of the guide's example stand in holes, e.g. `in stage {stage=staging}`.

use std::fmt::Write as _;

use regex::Regex;
use thiserror::Error;

/// What fits into a hole: names of objects, numbers.
const HOLE: &str = "[A-Za-z0-9][A-Za-z0-9.-]*";

/// A hole of this name stands where the guide leaves something out: anything may be there.
const ANYTHING: &str = "...";

/// A message with holes for names.
#[derive(Clone, Debug)]
pub struct Message {
    pieces: Vec<Piece>,
    pattern: Regex,
}

#[derive(Clone, Debug)]
enum Piece {
    Text(String),
    Hole { name: String, example: String },
}

/// A template that can't be read.
#[derive(Debug, Error)]
#[error("the message `{template}` is not a template: {why}")]
pub struct MessageError {
    template: String,
    why: String,
}

impl Message {
    /// Reads a template: text with holes `{name=example}`, where `example` is what stands in the guide, and `{...}` where the
    /// guide itself has three dots.
    ///
    /// # Errors
    /// When a brace isn't closed, or a hole has no example.
    pub fn parse(template: &str) -> Result<Self, MessageError> {
        let wrong = |why: String| MessageError { template: template.to_owned(), why };
        let mut pieces = Vec::new();
        let mut pattern = String::from("^");
        let mut rest = template;
        while let Some((text, behind)) = rest.split_once('{') {
            let (hole, behind) = behind.split_once('}').ok_or_else(|| wrong("a brace isn't closed".into()))?;
            if hole == ANYTHING {
                let _ = write!(pattern, "{}(?s:.*)", regex::escape(text));
                pieces.push(Piece::Text(format!("{text}{ANYTHING}")));
                rest = behind;
                continue;
            }
            let (name, example) =
                hole.split_once('=').ok_or_else(|| wrong(format!("the hole {{{hole}}} has no example")))?;
            let _ = write!(pattern, "{}{HOLE}", regex::escape(text));
            pieces.push(Piece::Text(text.to_owned()));
            pieces.push(Piece::Hole { name: name.to_owned(), example: example.to_owned() });
            rest = behind;
        }
        let _ = write!(pattern, "{}$", regex::escape(rest));
        pieces.push(Piece::Text(rest.to_owned()));
        let pattern = Regex::new(&pattern).map_err(|e| wrong(e.to_string()))?;
        Ok(Self { pieces, pattern })
    }

    /// Whether a controller's message is this one, whatever the names.
    #[must_use]
    pub fn is(&self, message: &str) -> bool {
        self.pattern.is_match(message)
    }

    /// As it stands in the guide, with the names of its example.
    #[must_use]
    pub fn verbatim(&self) -> String {
        self.written(|_, example| example.to_owned())
    }

    /// With its holes: `in stage {stage}`.
    #[must_use]
    pub fn masked(&self) -> String {
        self.written(|name, _| format!("{{{name}}}"))
    }

    fn written(&self, hole: impl Fn(&str, &str) -> String) -> String {
        let piece = |piece: &Piece| match piece {
            Piece::Text(text) => text.clone(),
            Piece::Hole { name, example } => hole(name, example),
        };
        self.pieces.iter().map(piece).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::Message;

    #[test]
    fn names_may_be_others_and_nothing_else() {
        let message = Message::parse("no snapshots with index `{number=1}` for `/{placement=example}` (yet)").unwrap();
        assert_eq!(message.verbatim(), "no snapshots with index `1` for `/example` (yet)");
        assert_eq!(message.masked(), "no snapshots with index `{number}` for `/{placement}` (yet)");
        assert!(message.is(&message.verbatim()));
        assert!(message.is("no snapshots with index `7` for `/web-abcd1` (yet)"));
        for other in [
            "no snapshots with index `7` for `/web` (yet), please check",
            "No snapshots with index `7` for `/web` (yet)",
            "no snapshots with index `7` for `apps/web` (yet)",
            "no snapshots with index `7` for `/` (yet)",
        ] {
            assert!(!message.is(other), "{other}");
        }
    }

    #[test]
    fn where_the_guide_has_dots_anything_may_stand() {
        let message = Message::parse("webhook \"{name=w.example.com}\" denied: {...}").unwrap();
        assert_eq!(message.verbatim(), "webhook \"w.example.com\" denied: ...");
        assert!(message.is("webhook \"other\" denied: no\n(twice)") && message.is(&message.verbatim()));
        assert!(!message.is("the webhook \"other\" denied: no"));
    }

    #[test]
    fn what_is_no_template_says_why() {
        let why = |template: &str| Message::parse(template).unwrap_err().to_string();
        assert_eq!(why("in {stage"), "the message `in {stage` is not a template: a brace isn't closed");
        assert_eq!(why("in {stage}"), "the message `in {stage}` is not a template: the hole {stage} has no example");
    }
}
