//! When the hub-agent looks at an update run that waits for a cluster. It watches runs and approvals only, so what happens
//! on a cluster it sees at its next look.

use std::time::Duration;

/// The first look after a cluster's update started (v0.1.2: `clusterUpdatingWaitTime`).
const FIRST: Duration = Duration::from_secs(15);

/// The pause after the first look, doubled after each one, up to [`LONGEST`]: controller-runtime's own, since a cluster
/// whose binding counts as failed is an error to the hub-agent. Measured on v0.1.2: looks after 343, 670 and 1326 s.
const PAUSE: Duration = Duration::from_millis(5);

/// The longest pause.
const LONGEST: Duration = Duration::from_secs(1000);

/// After this long the hub-agent, at its next look, calls a cluster's update stuck (v0.1.2: `updateRunStuckThreshold`).
pub const STUCK: Duration = Duration::from_mins(5);

/// Maximum delay of a look after its time: each look takes a moment itself, and the moments add up.
pub const LATE: Duration = Duration::from_secs(5);

/// The times of all looks, counted from the start of a cluster's update that doesn't end well.
pub fn all() -> impl Iterator<Item = Duration> {
    let looks =
        std::iter::successors(Some((FIRST, PAUSE)), |(at, pause)| Some((*at + *pause, (*pause * 2).min(LONGEST))));
    looks.map(|(at, _)| at)
}

/// The first look that certainly hasn't been yet, `elapsed` after the start.
#[must_use]
pub fn next(elapsed: Duration) -> Duration {
    all().find(|at| *at + LATE > elapsed).unwrap_or(Duration::MAX)
}

#[cfg(test)]
mod tests {
    use super::{Duration, all, next};

    #[test]
    fn looks_come_when_they_were_measured() {
        let seconds: Vec<u64> = all().take(30).map(|at| at.as_secs()).collect();
        assert_eq!(seconds[0], 15);
        assert!([342, 670, 1325].iter().all(|at| seconds.contains(at)), "{seconds:?}");
        assert_eq!(seconds.iter().rposition(|at| *at < 3000), Some(19), "then every 1000 s");
    }

    #[test]
    fn a_look_that_may_be_late_is_still_to_come() {
        assert_eq!(next(Duration::from_secs(100)).as_secs(), 96);
        assert_eq!(next(Duration::from_secs(103)).as_secs(), 178);
    }
}
