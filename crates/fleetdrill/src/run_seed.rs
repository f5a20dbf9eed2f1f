//! Ids of runs.

use rand::RngExt as _;

/// Letters of ids: neither `l` nor `o`, which look like digits.
const LETTERS: &[u8] = b"abcdefghijkmnpqrstuvwxyz";

/// Returns four characters that tell runs apart.
#[must_use]
pub fn new_id() -> String {
    let mut rng = rand::rng();
    (0..4).map(|_| char::from(LETTERS[rng.random_range(0..LETTERS.len())])).collect()
}
