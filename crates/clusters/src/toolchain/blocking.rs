//! Work that blocks, kept off the threads that poll futures.

use std::panic::resume_unwind;

/// Runs a closure on a thread where it may block. Its panic goes on here.
pub(crate) async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    match tokio::task::spawn_blocking(work).await {
        Ok(value) => value,
        Err(error) => resume_unwind(error.into_panic()),
    }
}
