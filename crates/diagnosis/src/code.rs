//! Words that are meant as failure codes, right or wrong.

use crate::catalogue;

/// True if a word is meant as a failure code: it begins with a product of the catalogue and a hyphen.
#[must_use]
pub fn is_meant_as_code(word: &str) -> bool {
    word.split_once('-').is_some_and(|(product, _)| catalogue().iter().any(|entry| entry.code.product() == product))
}

#[cfg(test)]
mod tests {
    use super::is_meant_as_code;

    #[test]
    fn a_wrong_code_is_still_meant_as_one() {
        for meant in ["KF-WS-001", "KF-WS-01", "AR-nonsense"] {
            assert!(is_meant_as_code(meant), "{meant}");
        }
        for other in ["KF", "drill", "guide:work-synchronized/resolution", "takes-150s", "XY-WS-001"] {
            assert!(!is_meant_as_code(other), "{other}");
        }
    }
}
