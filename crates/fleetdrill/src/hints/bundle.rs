//! Hints for bundles that can't be read or written.

use fleet::bundle::BundleError;

/// Returns a hint, where one can be given.
#[must_use]
pub fn for_bundle(error: &BundleError) -> Option<String> {
    match error {
        BundleError::NotABundle { .. } => {
            Some("name the directory or the .tar.gz file that `fleetdrill collect` wrote".into())
        }
        BundleError::Newer { fleetdrill, .. } => {
            Some(format!("fleetdrill {fleetdrill} wrote it: use that version or a newer one"))
        }
        BundleError::TooLarge { mebibytes, .. } => Some(format!(
            "if it comes from somebody you trust, raise the limit of {mebibytes} MiB: --from-limit MIB, or \
             FLEETDRILL_FROM_LIMIT; reading takes up to five times as much memory"
        )),
        BundleError::Truncated { .. } => Some("copy it again, or collect a new one".into()),
        BundleError::WithoutHub { .. } => {
            Some("collect a new one when that can be read; what else this one has can be looked at as it is".into())
        }
        BundleError::Exists(_) => Some("give it another name with --bundle".into()),
        BundleError::Read { .. } | BundleError::Write { .. } => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hint_names_what_the_error_holds() {
        let newer = BundleError::Newer { path: "b".into(), schema: 2, fleetdrill: "9.0.0".into() };
        assert!(for_bundle(&newer).is_some_and(|hint| hint.contains("fleetdrill 9.0.0")));
        let large =
            BundleError::TooLarge { path: "b".into(), what: "it has more than 2048 objects".into(), mebibytes: 64 };
        assert!(for_bundle(&large).is_some_and(|hint| hint.contains("64 MiB") && hint.contains("--from-limit MIB")));
    }
}
