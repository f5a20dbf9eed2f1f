//! The only places where a step lets time pass without watching something.

use std::time::Duration;

use tokio::time::Instant;

use crate::error::StepError;

/// Interval between two reads.
const INTERVAL: Duration = Duration::from_millis(500);

/// Reads again and again until what is read is as expected. Returns the last error if it still differs after `limit`, and every other
/// error at once.
pub(crate) async fn read_until_as_expected(
    limit: Duration,
    read: impl AsyncFn() -> Result<(), StepError>,
) -> Result<(), StepError> {
    let deadline = Instant::now() + limit;
    loop {
        let last = is_last_read(deadline);
        match read().await {
            Err(StepError::Differs(_)) if !last => between_reads(INTERVAL).await,
            result => return result,
        }
    }
}

/// True if a read that begins now is the last one before a step gives up. A read may take half a minute while the processors are busy. One that
/// began before the deadline and ended after it says nothing about the time in between, so that another one follows it.
pub(crate) fn is_last_read(deadline: Instant) -> bool {
    Instant::now() >= deadline
}

/// Waits between two reads of something that no watch tells. The step ends as soon as a read shows what is expected.
pub(crate) async fn between_reads(pause: Duration) {
    tokio::time::sleep(pause).await;
}

/// Lets a time pass whose end nothing tells that can be observed. The step declares it (`settles` in `#[needs(...)]`), and docs/steps.md
/// shows it.
pub(crate) async fn settle(time: Duration) {
    tokio::time::sleep(time).await;
}
