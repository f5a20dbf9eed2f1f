//! Documents that an earlier command has written: the number of their schema tells whether this fleetdrill can read them.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use thiserror::Error;

/// Number of documents that have none: they are of versions of fleetdrill that didn't number them yet.
const FIRST: u32 = 1;

/// Fields that a document of any version of fleetdrill has.
#[derive(Clone, Debug, Deserialize)]
pub struct DocumentHeader {
    /// Number of the schema.
    #[serde(default = "first")]
    schema: u32,
    /// Version of the fleetdrill that wrote the document.
    #[serde(default)]
    fleetdrill: Option<String>,
}

/// Document that can't be read.
#[derive(Debug, Error)]
pub enum DocumentError {
    /// It has another form.
    #[error(transparent)]
    OtherForm(#[from] serde_json::Error),
    /// It has a number of the future, or none that ever was.
    #[error("it has schema {schema}, and this fleetdrill reads schemas up to {known}")]
    UnknownSchema {
        /// The document's number.
        schema: u32,
        /// The highest number that can be read.
        known: u32,
        /// Version of the fleetdrill that wrote the document.
        fleetdrill: Option<String>,
    },
}

fn first() -> u32 {
    FIRST
}

impl DocumentHeader {
    /// Checks that the number is one of those from 1 to `known`.
    ///
    /// # Errors
    /// Returns an error if it is another.
    pub fn check(self, known: u32) -> Result<(), DocumentError> {
        let Self { schema, fleetdrill } = self;
        if (FIRST..=known).contains(&schema) {
            return Ok(());
        }
        Err(DocumentError::UnknownSchema { schema, known, fleetdrill })
    }
}

impl DocumentError {
    /// Returns what to do about it, if the document has a number that this fleetdrill doesn't know.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::OtherForm(_) => None,
            Self::UnknownSchema { fleetdrill: Some(version), .. } => {
                Some(format!("fleetdrill {version} wrote it: use that version or a newer one"))
            }
            Self::UnknownSchema { .. } => {
                Some("use the version of fleetdrill that wrote it, or a newer one".to_owned())
            }
        }
    }
}

/// Parses a document whose number is at most `known`. The number is checked first: other fields of a later schema may have another form.
///
/// # Errors
/// Returns an error if the document has another number or another form.
pub fn parse<T: DeserializeOwned>(text: &str, known: u32) -> Result<T, DocumentError> {
    serde_json::from_str::<DocumentHeader>(text)?.check(known)?;
    Ok(serde_json::from_str(text)?)
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::parse;

    #[test]
    fn numbers_that_are_not_known_are_refused_with_what_to_do() {
        let refused = |text: &str| {
            let error = parse::<Value>(text, 3).unwrap_err();
            (error.to_string(), error.hint())
        };
        assert_eq!(
            refused(r#"{"schema": 4, "fleetdrill": "9.0.0", "versions": 7}"#),
            (
                "it has schema 4, and this fleetdrill reads schemas up to 3".to_owned(),
                Some("fleetdrill 9.0.0 wrote it: use that version or a newer one".to_owned())
            )
        );
        let hint = Some("use the version of fleetdrill that wrote it, or a newer one".to_owned());
        assert_eq!(refused(r#"{"schema": 0}"#).1, hint);
        assert_eq!(refused(r#"{"schema": "four"}"#).1, None);
        for text in ["{}", r#"{"schema": 1}"#, r#"{"schema": 3}"#] {
            parse::<Value>(text, 3).unwrap();
        }
    }
}
