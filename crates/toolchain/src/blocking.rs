//! Blocking work, kept off the threads that poll futures.

use std::panic::resume_unwind;

/// Runs a closure on a thread where it may block. A panic of the closure continues in the caller.
pub(crate) async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    match tokio::task::spawn_blocking(work).await {
        Ok(value) => value,
        Err(error) => resume_unwind(error.into_panic()),
    }
}
