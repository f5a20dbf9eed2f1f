//! Free disk space.

use std::path::Path;

/// Returns the bytes that can still be written in a folder, or in the nearest existing folder above it.
pub(crate) fn free(dir: &Path) -> Option<u64> {
    let existing = dir.ancestors().find(|dir| dir.exists())?;
    let stat = rustix::fs::statvfs(existing).ok()?;
    Some(stat.f_bavail.saturating_mul(stat.f_frsize))
}

/// Returns a size for people: `512 MiB`, `2.5 GiB`.
#[must_use]
pub fn human_size(bytes: u64) -> String {
    let mib = bytes / (1024 * 1024);
    if mib < 1024 {
        return format!("{mib} MiB");
    }
    let tenths = mib * 10 / 1024;
    format!("{}.{} GiB", tenths / 10, tenths % 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_for_people() {
        assert_eq!(human_size(5 << 20), "5 MiB");
        assert_eq!(human_size(2560 << 20), "2.5 GiB");
    }

    #[test]
    fn a_folder_that_is_not_there_yet_has_its_parents_room() {
        assert!(free(Path::new("/nowhere/at/all")).is_some_and(|bytes| bytes > 0));
    }
}
