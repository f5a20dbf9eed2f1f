//! Seeds of runs, and what follows from them: a run's id, from which the names of its objects are made, and the order of its scenarios.

use gherkin::Feature;
use rand::rngs::ChaCha8Rng;
use rand::seq::SliceRandom as _;
use rand::{RngExt as _, SeedableRng as _};

/// Letters of ids: neither `l` nor `o`, which look like digits.
const LETTERS: &[u8] = b"abcdefghijkmnpqrstuvwxyz";

/// Streams of random numbers of one seed, so that the order doesn't depend on how the id is made.
const ID_STREAM: u64 = 0;
const ORDER_STREAM: u64 = 1;

/// Seed of a run. Runs with the same seed give their objects the same names, and start their scenarios in the same order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunSeed(pub u32);

impl RunSeed {
    /// Returns a seed that no other run has, but for chance.
    #[must_use]
    pub fn random() -> Self {
        Self(rand::rng().random())
    }

    /// Returns four characters that tell runs apart.
    #[must_use]
    pub fn id(self) -> String {
        let mut rng = self.rng(ID_STREAM);
        (0..4).map(|_| char::from(LETTERS[rng.random_range(0..LETTERS.len())])).collect()
    }

    /// Shuffles features that may start in any order, and the scenarios of each.
    pub fn shuffle(self, features: &mut [Feature]) {
        let mut rng = self.rng(ORDER_STREAM);
        features.shuffle(&mut rng);
        for feature in features {
            feature.scenarios.shuffle(&mut rng);
        }
    }

    fn rng(self, stream: u64) -> ChaCha8Rng {
        let mut rng = ChaCha8Rng::seed_from_u64(self.0.into());
        rng.set_stream(stream);
        rng
    }
}

/// Returns four characters that tell runs apart, for a run without a seed.
#[must_use]
pub fn new_id() -> String {
    RunSeed::random().id()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn features() -> Vec<Feature> {
        let feature = |name: &str| {
            let scenarios =
                (0..4).map(|n| format!("  Scenario: {name}{n}\n    Given a\n")).collect::<Vec<_>>().concat();
            Feature::parse(format!("Feature: {name}\n{scenarios}"), gherkin::GherkinEnv::default()).expect("a feature")
        };
        ["a", "b", "c", "d"].map(feature).to_vec()
    }

    fn names(features: &[Feature]) -> Vec<&str> {
        features.iter().flat_map(|feature| &feature.scenarios).map(|scenario| scenario.name.as_str()).collect()
    }

    #[test]
    fn a_seed_repeats_the_id_and_the_order() {
        let shuffled = |seed: u32| {
            let mut features = features();
            RunSeed(seed).shuffle(&mut features);
            features
        };
        assert_eq!(RunSeed(7).id(), RunSeed(7).id());
        assert_ne!(RunSeed(7).id(), RunSeed(8).id());
        assert_eq!(names(&shuffled(7)), names(&shuffled(7)));
        assert_ne!(names(&shuffled(7)), names(&shuffled(8)));
        let all = shuffled(7);
        let mut sorted = names(&all);
        sorted.sort_unstable();
        assert_eq!(sorted, names(&features()));
    }
}
