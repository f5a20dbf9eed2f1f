//! The only places where a step lets time pass without watching something.

use std::time::Duration;

/// Waits between two reads of something that no watch tells. The step ends as soon as a read shows what is expected.
pub(crate) async fn between_reads(pause: Duration) {
    tokio::time::sleep(pause).await;
}

/// Lets a time pass whose end nothing tells that can be observed. The step declares it (`settles` in `#[needs(...)]`), and docs/steps.md
/// shows it.
pub(crate) async fn settle(time: Duration) {
    tokio::time::sleep(time).await;
}
