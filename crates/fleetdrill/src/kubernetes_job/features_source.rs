//! Features that the Pods of a Job read from a git repository.

use std::str::FromStr;

/// A git repository with features: `URL`, `URL#REF`, `URL#REF:DIR` or `URL#:DIR`, as `docker build` takes its context.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GitSource {
    /// URL of the repository.
    pub url: String,
    /// Branch or tag; the repository's default branch without one.
    pub reference: Option<String>,
    /// Directory in the repository; its root without one.
    pub directory: Option<String>,
}

impl FromStr for GitSource {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (url, rest) = text.split_once('#').unwrap_or((text, ""));
        let (reference, directory) = rest.split_once(':').unwrap_or((rest, ""));
        if url.is_empty() || url.starts_with('-') {
            return Err(format!("`{text}` has no URL: write it as https://example.com/drills.git#main:features"));
        }
        if reference.starts_with('-') {
            return Err(format!("`{reference}` is no branch or tag"));
        }
        let has_password = url.split_once("://").is_some_and(|(_, rest)| {
            let authority = rest.split('/').next().unwrap_or_default();
            authority.rsplit_once('@').is_some_and(|(user, _)| user.contains(':'))
        });
        if has_password {
            return Err("the URL has a password, which everybody who may read the Job would see".to_owned());
        }
        if directory.split('/').any(|part| part == "..") {
            return Err(format!("`{directory}` leads out of the repository"));
        }
        let given = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
        let directory = given(directory.trim_matches('/'));
        Ok(Self { url: url.to_owned(), reference: given(reference), directory })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reference_and_a_directory_may_follow_the_url() {
        let parsed = |text: &str| {
            let GitSource { url, reference, directory } = text.parse().unwrap();
            (url, reference.unwrap_or_default(), directory.unwrap_or_default())
        };
        let url = "https://example.com/drills.git";
        let expected = |reference: &str, directory: &str| (url.to_owned(), reference.to_owned(), directory.to_owned());
        assert_eq!(parsed(url), expected("", ""));
        assert_eq!(parsed(&format!("{url}#v1")), expected("v1", ""));
        assert_eq!(parsed(&format!("{url}#v1:a/b/")), expected("v1", "a/b"));
        assert_eq!(parsed(&format!("{url}#:a")), expected("", "a"));
    }

    #[test]
    fn what_git_would_take_for_an_option_or_what_is_secret_is_refused() {
        for bad in ["", "#main", "--upload-pack=x", "https://e.com/a#--x", "https://me:secret@e.com/a", "u#:../x"] {
            assert!(bad.parse::<GitSource>().is_err(), "{bad}");
        }
        assert!("ssh://git@e.com/a".parse::<GitSource>().is_ok(), "a user is no secret");
    }
}
