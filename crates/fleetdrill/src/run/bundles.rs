//! What each failed scenario leaves behind: a bundle of the fleet as it was, before anything is cleaned up.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use fleet::Fleet;
use fleet::bundle::{Bundle, BundleError, Source, path_part};
use fleet::error::in_full;
use steps::record::{Recorder, What};
use tokio::sync::Semaphore;

/// How long clusters may take for their answers. A cluster that is at its end gives none.
const LIMIT: Duration = Duration::from_secs(10);

/// How many are read at the same time: many scenarios may fail at once, and each bundle has the whole fleet in it.
const READ_AT_ONCE: usize = 4;

/// How many are packed at the same time, which takes a processor each while other scenarios still run.
const PACKED_AT_ONCE: usize = 2;

/// Makes bundles of fleets. Clones share their limits.
#[derive(Clone)]
pub(super) struct Bundles {
    dir: PathBuf,
    reading: Arc<Semaphore>,
    packing: Arc<Semaphore>,
}

impl Bundles {
    pub(super) fn new(dir: &Path) -> Self {
        let limited = |to| Arc::new(Semaphore::new(to));
        Self { dir: dir.to_owned(), reading: limited(READ_AT_ONCE), packing: limited(PACKED_AT_ONCE) }
    }

    /// Reads a fleet as it is now.
    pub(super) async fn take(&self, fleet: &Fleet, about: String) -> Bundle {
        let _permit = self.reading.acquire().await;
        let bundle = Bundle::collect(&Source::of(fleet).await, LIMIT).await;
        Bundle { about: Some(about), ..bundle }
    }

    /// Writes a bundle and tells the scenarios' records where it is. That it can't be written fails nothing: the
    /// scenarios have failed already.
    pub(super) async fn keep(&self, bundle: Bundle, name: &str, recorders: &[Recorder]) {
        let _permit = self.packing.acquire().await;
        let path = self.dir.join(format!("{}.tar.gz", path_part(name)));
        let to = path.clone();
        // Scenarios share this thread, and packing takes its time.
        let written = tokio::task::spawn_blocking(move || write(&bundle, &to)).await;
        match written {
            Ok(Ok(())) => recorders.iter().for_each(|r| r.add(What::Collected { path: path.clone() })),
            Ok(Err(error)) => tracing::warn!("failed to leave a bundle: {}", in_full(&error)),
            Err(error) => tracing::warn!("failed to leave a bundle: {error}"),
        }
    }
}

fn write(bundle: &Bundle, path: &Path) -> Result<(), BundleError> {
    if let Some(dir) = path.parent() {
        std::fs::create_dir_all(dir).map_err(|source| BundleError::Write { path: dir.to_owned(), source })?;
    }
    bundle.write(path)
}
