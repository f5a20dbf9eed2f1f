//! Failure codes as constants, so that a typo in a rule is a compile error.

use crate::{CatalogueEntry, entry};

/// Failure code that has an entry in the catalogue. build.rs writes a constant for each code, e.g.
/// `RuleCode::KF_WS_001`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct RuleCode(&'static str);

include!(concat!(env!("OUT_DIR"), "/codes.rs"));

impl RuleCode {
    /// Returns the entry of the code.
    pub(super) fn entry(self) -> &'static CatalogueEntry {
        entry(self.0).expect("build.rs reads the codes from the catalogue")
    }
}

#[cfg(test)]
mod tests {
    use super::RuleCode;

    #[test]
    fn every_entry_of_the_catalogue_has_a_constant() {
        let constants: Vec<&str> = RuleCode::ALL.iter().map(|code| code.0).collect();
        let entries: Vec<&str> = crate::catalogue().iter().map(|entry| entry.code.0.as_str()).collect();
        assert_eq!(constants, entries);
    }
}
