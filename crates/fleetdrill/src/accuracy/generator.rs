//! Makes drills from a seed: which faults, which healthy traffic, and when each begins.
//!
//! A drill depends on the seed, its number, the catalogue and nothing else. The generator's random numbers are the same on
//! all machines.

use std::collections::BTreeSet;
use std::time::Duration;

use rand::rngs::ChaCha8Rng;
use rand::seq::IndexedRandom as _;
use rand::{RngExt as _, SeedableRng as _};
use report::accuracy::{DrillPlan, PlannedScenario};

use super::catalogue::DrillCatalogue;

/// Greatest number of faults of a drill.
const MOST_FAULTS: u32 = 3;

/// Greatest number of healthy scenarios of a drill.
const MOST_HEALTHY: u32 = 2;

/// Greatest number of scenarios of a drill for which members join: each starts a control plane, and stays until the drill's
/// end.
const MOST_JOINING: usize = 2;

/// Scenarios start at multiples of this.
const OFFSET_UNIT: Duration = Duration::from_millis(500);

/// Greatest offset of a scenario's first step, in units.
const MOST_OFFSET_UNITS: u32 = 20;

/// Greatest number of scenarios of a drill.
pub const MOST_SCENARIOS: u32 = MOST_FAULTS + MOST_HEALTHY;

/// Greatest number of drills of a seed.
pub const MOST_DRILLS: u32 = 5000;

/// Drill: scenarios that begin at different times and run beside each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Drill {
    /// Number of the drill, counted from 1.
    pub number: u32,
    /// Faults of the catalogue.
    pub faults: Vec<DrillPart>,
    /// Healthy scenarios of the catalogue.
    pub healthy: Vec<DrillPart>,
}

/// Scenario of a drill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DrillPart {
    /// Index in the catalogue's list.
    pub case: usize,
    /// Time from the start of the drill to the scenario's first step.
    pub offset: Duration,
}

impl Drill {
    /// Makes the drill of this number. Each failure code has the same chance, however many scenarios induce it. No scenario
    /// is in a drill twice. A catalogue without faults gives drills without faults.
    #[must_use]
    pub fn new(catalogue: &DrillCatalogue, seed: u64, number: u32) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(u64::from(number));
        let (faults, healthy) = (rng.random_range(1..=MOST_FAULTS), rng.random_range(0..=MOST_HEALTHY));
        let mut drill = Self { number, faults: Vec::new(), healthy: Vec::new() };
        for _ in 0..faults {
            let free = drill.free_faults(catalogue);
            let codes: BTreeSet<&str> = free.iter().flat_map(|case| catalogue.faults[*case].codes()).collect();
            let codes: Vec<&str> = codes.into_iter().collect();
            let Some(code) = codes.choose(&mut rng) else { break };
            let of_code: Vec<usize> =
                free.into_iter().filter(|case| catalogue.faults[*case].codes().contains(code)).collect();
            drill
                .faults
                .extend(of_code.choose(&mut rng).map(|case| DrillPart { case: *case, offset: offset(&mut rng) }));
        }
        for _ in 0..healthy {
            let free = drill.free_healthy(catalogue);
            drill.healthy.extend(free.choose(&mut rng).map(|case| DrillPart { case: *case, offset: offset(&mut rng) }));
        }
        drill
    }

    /// Returns the faults that can be added: of scenarios that the drill doesn't have.
    fn free_faults(&self, catalogue: &DrillCatalogue) -> Vec<usize> {
        let may_join = self.joining(catalogue) < MOST_JOINING;
        let is_free = |case: &usize| {
            let fault = &catalogue.faults[*case];
            let is_new = !self.faults.iter().any(|part| catalogue.faults[part.case].place == fault.place);
            is_new && (may_join || !fault.joins_member)
        };
        (0..catalogue.faults.len()).filter(is_free).collect()
    }

    fn free_healthy(&self, catalogue: &DrillCatalogue) -> Vec<usize> {
        let may_join = self.joining(catalogue) < MOST_JOINING;
        let is_free = |case: &usize| {
            let is_new = !self.healthy.iter().any(|part| part.case == *case);
            is_new && (may_join || !catalogue.healthy[*case].joins_member)
        };
        (0..catalogue.healthy.len()).filter(is_free).collect()
    }

    /// Returns the number of scenarios for which members join.
    fn joining(&self, catalogue: &DrillCatalogue) -> usize {
        let faults = self.faults.iter().filter(|part| catalogue.faults[part.case].joins_member);
        let healthy = self.healthy.iter().filter(|part| catalogue.healthy[part.case].joins_member);
        faults.count() + healthy.count()
    }

    /// Returns the drill's plan, for reports.
    #[must_use]
    pub fn plan(&self, catalogue: &DrillCatalogue) -> DrillPlan {
        let faults = self.faults.iter().map(|part| {
            let fault = &catalogue.faults[part.case];
            let codes = fault.codes().into_iter().map(str::to_owned).collect();
            PlannedScenario { scenario: fault.place.clone(), codes, offset: part.offset.as_secs_f64() }
        });
        let healthy = self.healthy.iter().map(|part| {
            let scenario = catalogue.healthy[part.case].place.clone();
            PlannedScenario { scenario, codes: Vec::new(), offset: part.offset.as_secs_f64() }
        });
        DrillPlan { number: self.number, faults: faults.collect(), healthy: healthy.collect() }
    }
}

fn offset(rng: &mut ChaCha8Rng) -> Duration {
    OFFSET_UNIT * rng.random_range(0..=MOST_OFFSET_UNITS)
}

#[cfg(test)]
mod tests {
    use super::super::catalogue::tests::built_in;
    use super::*;

    fn drills(seed: u64, n: u32) -> Vec<Drill> {
        let catalogue = built_in();
        (1..=n).map(|number| Drill::new(&catalogue, seed, number)).collect()
    }

    #[test]
    fn the_same_seed_gives_the_same_drills_and_another_seed_others() {
        assert_eq!(drills(7, 20), drills(7, 20));
        assert_ne!(drills(7, 20), drills(8, 20));
        assert_eq!(drills(7, 20)[11], Drill::new(&built_in(), 7, 12), "a drill doesn't depend on those before it");
        let numbers: BTreeSet<String> =
            drills(7, 20).iter().map(|d| format!("{:?}", (&d.faults, &d.healthy))).collect();
        assert_eq!(numbers.len(), 20, "the drills of a seed differ");
    }

    #[test]
    fn random_numbers_are_the_same_on_all_machines() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        rng.set_stream(2);
        let numbers: Vec<u32> = (0..8).map(|_| rng.random_range(0..=100)).collect();
        assert_eq!(numbers, [57, 88, 92, 68, 25, 34, 13, 51]);
    }

    #[test]
    fn drills_have_one_to_three_faults_and_two_joining_members_at_most() {
        let catalogue = built_in();
        let drills = drills(3, 400);
        let faults: BTreeSet<usize> = drills.iter().map(|drill| drill.faults.len()).collect();
        let healthy: BTreeSet<usize> = drills.iter().map(|drill| drill.healthy.len()).collect();
        assert_eq!((faults, healthy), (BTreeSet::from([1, 2, 3]), BTreeSet::from([0, 1, 2])));
        for drill in &drills {
            assert!(drill.joining(&catalogue) <= MOST_JOINING);
            let places: BTreeSet<_> = drill.faults.iter().map(|part| &catalogue.faults[part.case].place).collect();
            assert_eq!(places.len(), drill.faults.len(), "no scenario twice");
        }
        let offsets: BTreeSet<Duration> = drills.iter().flat_map(|d| &d.faults).map(|part| part.offset).collect();
        assert_eq!(offsets.first(), Some(&Duration::ZERO));
        assert_eq!(offsets.last(), Some(&Duration::from_secs(10)));
    }

    #[test]
    fn many_drills_have_every_code() {
        let catalogue = built_in();
        let all: BTreeSet<&str> = catalogue.faults.iter().flat_map(|fault| fault.codes()).collect();
        let drills = drills(5, 1200);
        let parts = drills.iter().flat_map(|drill| &drill.faults);
        let had: BTreeSet<&str> = parts.flat_map(|part| catalogue.faults[part.case].codes()).collect();
        assert_eq!(had, all);
    }

    #[test]
    fn an_empty_catalogue_gives_empty_drills() {
        let drill = Drill::new(&DrillCatalogue::default(), 1, 1);
        assert_eq!(drill, Drill { number: 1, faults: Vec::new(), healthy: Vec::new() });
    }
}
