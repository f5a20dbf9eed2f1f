//! Hints for credentials that can't be had.

use clusters::credentials::CredentialError;

/// Returns a hint, where one can be given.
#[must_use]
pub fn for_credentials(error: &CredentialError) -> Option<String> {
    match error {
        CredentialError::NotStarted { install_hint: Some(hint), .. } => Some(hint.clone()),
        CredentialError::NotStarted { program, .. } => {
            Some(format!("install {program}, or put the directory that it is in into PATH"))
        }
        CredentialError::Ended { .. } | CredentialError::TimedOut { .. } | CredentialError::Unusable { .. } => {
            Some("log in first; kubectl auth whoami with the same context shows whether it works".into())
        }
        CredentialError::Client(_) | CredentialError::Interrupted(_) => None,
    }
}
