//! Bundles of failed scenarios: the state of the fleet before anything is cleaned up.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use fleet::Fleet;
use fleet::bundle::{Bundle, BundleError, BundleSource, path_part};
use fleet::error::in_full;
use record::RecordedEvent;
use steps::Recorder;
use tokio::sync::Semaphore;

/// Time limit for the clusters' answers. A broken cluster doesn't answer.
const LIMIT: Duration = Duration::from_secs(10);

/// Maximum number of fleets that are read at the same time: many scenarios may fail at once, and each bundle contains
/// the whole fleet.
const READ_AT_ONCE: usize = 4;

/// Maximum number of bundles that are packed at the same time: each needs a processor while other scenarios still run.
const PACKED_AT_ONCE: usize = 2;

/// Saves bundles of fleets. Clones share their limits.
#[derive(Clone)]
pub(crate) struct BundleSaver {
    dir: PathBuf,
    reading: Arc<Semaphore>,
    packing: Arc<Semaphore>,
}

impl BundleSaver {
    pub(crate) fn new(dir: &Path) -> Self {
        Self {
            dir: dir.to_owned(),
            reading: Arc::new(Semaphore::new(READ_AT_ONCE)),
            packing: Arc::new(Semaphore::new(PACKED_AT_ONCE)),
        }
    }

    /// Reads the current state of a fleet.
    pub(super) async fn take(&self, fleet: &Fleet, about: String) -> Bundle {
        let _permit = self.reading.acquire().await;
        let bundle = Bundle::collect(&BundleSource::of(fleet).await, LIMIT).await;
        Bundle { about: Some(about), ..bundle }
    }

    /// Saves a bundle and adds its path to the scenarios' records.
    pub(super) async fn keep(&self, bundle: Bundle, name: &str, recorders: &[Recorder]) {
        if let Some(path) = self.save(bundle, name).await {
            for recorder in recorders {
                recorder.add(RecordedEvent::Collected { path: path.clone() });
            }
        }
    }

    /// Writes a bundle and returns its path. A bundle that can't be written is only a warning: what it is about has
    /// failed already.
    pub(crate) async fn save(&self, bundle: Bundle, name: &str) -> Option<PathBuf> {
        let _permit = self.packing.acquire().await;
        let path = self.dir.join(format!("{}.tar.gz", path_part(name)));
        let to = path.clone();
        // Packing takes a while, and scenarios share this thread.
        let written = tokio::task::spawn_blocking(move || write(&bundle, &to)).await;
        match written {
            Ok(Ok(())) => return Some(path),
            Ok(Err(error)) => tracing::warn!("failed to leave a bundle: {}", in_full(&error)),
            Err(error) => tracing::warn!("failed to leave a bundle: {error}"),
        }
        None
    }
}

fn write(bundle: &Bundle, path: &Path) -> Result<(), BundleError> {
    if let Some(dir) = path.parent() {
        std::fs::create_dir_all(dir).map_err(|source| BundleError::Write { path: dir.to_owned(), source })?;
    }
    bundle.write(path)
}
