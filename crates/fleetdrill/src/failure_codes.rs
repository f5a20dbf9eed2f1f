//! Failure codes that features and exercises name: each has to be one of the catalogue's.

use std::fmt;

use diagnosis::CatalogueEntry;

/// Codes that differ in more letters than this aren't near.
const NEAR: usize = 3;

/// A failure code that the catalogue doesn't have.
#[derive(Clone, Debug)]
pub struct UnknownCode {
    code: String,
    nearest: Option<&'static CatalogueEntry>,
}

/// Checks that the catalogue has a code.
///
/// # Errors
/// Returns an error, with the nearest code, if the catalogue doesn't have it.
pub(crate) fn check(code: &str) -> Result<(), UnknownCode> {
    if diagnosis::entry(code).is_some() {
        return Ok(());
    }
    let rated = diagnosis::catalogue().iter().map(|entry| (strsim::damerau_levenshtein(&entry.code.0, code), entry));
    let nearest = rated.min_by_key(|(distance, _)| *distance).filter(|(distance, _)| *distance <= NEAR);
    Err(UnknownCode { code: code.to_owned(), nearest: nearest.map(|(_, entry)| entry) })
}

impl fmt::Display for UnknownCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "there is no failure code {}; ", self.code)?;
        match self.nearest {
            Some(entry) => write!(f, "the nearest one is {}: {}", entry.code, entry.title),
            None => f.write_str("`fleetdrill explain` lists those there are"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::check;

    #[test]
    fn a_code_that_the_catalogue_does_not_have_is_answered_with_the_nearest() {
        let told = |code: &str| check(code).err().map(|unknown| unknown.to_string());
        for code in ["KF-WS-091", "KF-WS-01", "KF-WS-0001"] {
            let told = told(code).expect("no such code");
            assert!(told.starts_with(&format!("there is no failure code {code}; the nearest one is KF-WS-")), "{told}");
        }
        let none = "there is no failure code KF-XXXXXX-999; `fleetdrill explain` lists those there are";
        assert_eq!(told("KF-XXXXXX-999").as_deref(), Some(none));
        assert_eq!(told("KF-WS-001"), None);
    }
}
