//! A guide's message as a template, with holes for the names of the guide's example, e.g. `in stage {stage=staging}`.

use std::fmt::Write as _;

use regex::Regex;
use thiserror::Error;

/// Pattern of the texts that fit into a hole: names of objects, numbers.
const HOLE: &str = "[A-Za-z0-9][A-Za-z0-9.-]*";

/// Name of the hole that stands for text that the guide leaves out. Any text fits into it.
const ANYTHING: &str = "...";

/// Message with holes for names.
#[derive(Clone, Debug)]
pub struct MessageTemplate {
    pieces: Vec<MessagePiece>,
    pattern: Regex,
}

#[derive(Clone, Debug)]
enum MessagePiece {
    Text(String),
    Hole { name: String, example: String },
}

/// Error about a template that can't be parsed.
#[derive(Debug, Error)]
#[error("the message `{template}` is not a template: {why}")]
pub struct MessageTemplateError {
    template: String,
    why: String,
}

impl MessageTemplateError {
    fn new(template: &str, why: impl Into<String>) -> Self {
        Self { template: template.to_owned(), why: why.into() }
    }
}

impl MessageTemplate {
    /// Parses a template: text with holes `{name=example}`, where `example` is the text in the guide, and `{...}` where
    /// the guide itself has three dots.
    ///
    /// # Errors
    /// Returns an error if a brace isn't closed, or a hole has no example.
    pub fn parse(template: &str) -> Result<Self, MessageTemplateError> {
        let mut pieces = Vec::new();
        let mut pattern = String::from("^");
        let mut rest = template;
        while let Some((text, behind)) = rest.split_once('{') {
            let end = behind.split_once('}');
            let (hole, behind) = end.ok_or_else(|| MessageTemplateError::new(template, "a brace isn't closed"))?;
            if hole == ANYTHING {
                let _ = write!(pattern, "{}(?s:.*)", regex::escape(text));
                pieces.push(MessagePiece::Text(format!("{text}{ANYTHING}")));
                rest = behind;
                continue;
            }
            let Some((name, example)) = hole.split_once('=') else {
                return Err(MessageTemplateError::new(template, format!("the hole {{{hole}}} has no example")));
            };
            let _ = write!(pattern, "{}{HOLE}", regex::escape(text));
            pieces.push(MessagePiece::Text(text.to_owned()));
            pieces.push(MessagePiece::Hole { name: name.to_owned(), example: example.to_owned() });
            rest = behind;
        }
        let _ = write!(pattern, "{}$", regex::escape(rest));
        pieces.push(MessagePiece::Text(rest.to_owned()));
        let pattern = Regex::new(&pattern).map_err(|e| MessageTemplateError::new(template, e.to_string()))?;
        Ok(Self { pieces, pattern })
    }

    /// True if a controller's message matches this template, whatever the names.
    #[must_use]
    pub fn is(&self, message: &str) -> bool {
        self.pattern.is_match(message)
    }

    /// Returns the message as in the guide, with the names of the guide's example.
    #[must_use]
    pub fn verbatim(&self) -> String {
        self.written(|_, example| example.to_owned())
    }

    /// Returns the message with its holes: `in stage {stage}`.
    #[must_use]
    pub fn masked(&self) -> String {
        self.written(|name, _| format!("{{{name}}}"))
    }

    fn written(&self, hole: impl Fn(&str, &str) -> String) -> String {
        let pieces = self.pieces.iter().map(|piece| match piece {
            MessagePiece::Text(text) => text.clone(),
            MessagePiece::Hole { name, example } => hole(name, example),
        });
        pieces.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::MessageTemplate;

    #[test]
    fn names_may_be_others_and_nothing_else() {
        let message =
            MessageTemplate::parse("no snapshots with index `{number=1}` for `/{placement=example}` (yet)").unwrap();
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
        let message = MessageTemplate::parse("webhook \"{name=w.example.com}\" denied: {...}").unwrap();
        assert_eq!(message.verbatim(), "webhook \"w.example.com\" denied: ...");
        assert!(message.is("webhook \"other\" denied: no\n(twice)") && message.is(&message.verbatim()));
        assert!(!message.is("the webhook \"other\" denied: no"));
    }

    #[test]
    fn what_is_no_template_says_why() {
        let why = |template: &str| MessageTemplate::parse(template).unwrap_err().to_string();
        assert_eq!(why("in {stage"), "the message `in {stage` is not a template: a brace isn't closed");
        assert_eq!(why("in {stage}"), "the message `in {stage}` is not a template: the hole {stage} has no example");
    }
}
