//! Objects in strings: JSON, also within JSON, and YAML of several lines.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;

/// Bytes of YAML that are parsed. A longer text is treated as plain text.
const LARGEST_YAML: usize = 1 << 20;

/// An object that a string contains, and how it is written.
pub(super) enum Embedded {
    Json(Value),
    /// Documents of a YAML file.
    Yaml(Vec<Value>),
}

impl Embedded {
    /// Parses a string as JSON or YAML; `None` if it is neither, or a single word or sentence.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let begin = text.trim_start();
        if begin.starts_with(['{', '[', '"'])
            && let Ok(value) = serde_json::from_str(text)
        {
            return Some(Self::Json(value));
        }
        let is_yaml = begin.starts_with(['{', '[']) || (text.trim_end().contains('\n') && LIKE_YAML.is_match(text));
        if !is_yaml || text.len() > LARGEST_YAML {
            return None;
        }
        let documents: Vec<Value> = serde_saphyr::from_multiple(text).ok()?;
        let has_structure = documents.iter().any(|document| document.is_object() || document.is_array());
        has_structure.then_some(Self::Yaml(documents))
    }

    /// Writes the object as it was written before; `None` if that isn't possible.
    pub(super) fn write(&self) -> Option<String> {
        match self {
            Self::Json(value) => Some(value.to_string()),
            Self::Yaml(documents) => {
                let texts: Result<Vec<String>, _> = documents.iter().map(serde_saphyr::to_string).collect();
                Some(texts.ok()?.join("---\n"))
            }
        }
    }

    pub(super) fn is_json(&self) -> bool {
        matches!(self, Self::Json(_))
    }

    /// The object, or the documents.
    pub(super) fn values(&mut self) -> &mut [Value] {
        match self {
            Self::Json(value) => std::slice::from_mut(value),
            Self::Yaml(documents) => documents,
        }
    }
}

/// True if a text that can't be parsed, because it was cut for example, may have data of a Secret.
pub(super) fn may_have_data(text: &str) -> bool {
    let is_json = text.trim_start().starts_with(['{', '[']);
    (is_json && (text.contains(r#""Secret""#) || text.contains(r#""data""#)))
        || (["Secret", "stringData"].iter().any(|hint| text.contains(hint)) && SECRET_AS_YAML.is_match(text))
}

static SECRET_AS_YAML: LazyLock<Regex> =
    LazyLock::new(|| super::regex(r"(?m)^\s*(?:-\s+)?(?:kind:\s*.?Secret\b|stringData:)"));

/// A key, or an item of a list with one, at the beginning of the first line that isn't empty or a comment.
static LIKE_YAML: LazyLock<Regex> = LazyLock::new(|| {
    super::regex(
        r#"\A(?:\s*(?:#[^\n]*|---|%[^\n]*)?\n)*(?:---[ \t]+)?[ \t]*(?:- +)*["']?[A-Za-z0-9_./-]+["']?:(?:\s|\z)"#,
    )
});
