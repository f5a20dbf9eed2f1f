//! Suffixes of the names of a fault's objects.

/// Number of faults that an exercise may have: each has a letter in the names of its objects.
pub const MOST_FAULTS: usize = 26;

/// Returns the end of the names of one fault's objects: the beginning of the exercise's or the trial's id, a letter for the fault, and a
/// number for how often it was set up again.
///
/// `fault` is below [`MOST_FAULTS`].
#[must_use]
pub fn name_suffix(id: &str, fault: usize, resets: usize) -> String {
    let letter = u32::try_from(fault + 10).ok().and_then(|digit| char::from_digit(digit, 36)).unwrap_or('z');
    let again = if resets == 0 { String::new() } else { resets.to_string() };
    format!("{id}{letter}{again}")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{MOST_FAULTS, name_suffix};

    #[test]
    fn each_fault_and_each_reset_has_a_suffix_of_its_own() {
        assert_eq!(name_suffix("kv", 0, 0), "kva");
        assert_eq!(name_suffix("kv", 4, 12), "kve12");
        let all: BTreeSet<String> = (0..MOST_FAULTS).map(|fault| name_suffix("kv", fault, 0)).collect();
        assert_eq!(all.len(), MOST_FAULTS);
    }
}
