//! File with the behaviour of hollow members, in the fleet's directory.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use clusters::state_dir::replace_private;
use clusters::stderr_line;
use futures::Stream;
use tokio::sync::watch;

use super::behaviour::HollowBehaviours;
use crate::error::FleetError;

/// Name of the file.
pub const FILE: &str = "hollow-members.json";

/// Interval at which the file is looked at.
const INTERVAL: Duration = Duration::from_millis(500);

/// Path of the file of a fleet.
pub(super) fn path(dir: &Path) -> PathBuf {
    dir.join(FILE)
}

/// Reads the file. Without a file, all members behave well.
pub(super) fn read(dir: &Path) -> Result<HollowBehaviours, FleetError> {
    let path = path(dir);
    match std::fs::read_to_string(&path) {
        Ok(text) => parse(&path, &text),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(HollowBehaviours::default()),
        Err(error) => Err(FleetError::unreadable(path.display().to_string(), error.to_string())),
    }
}

/// Writes the file, which the process may read at any moment.
pub(super) fn write(dir: &Path, behaviours: &HollowBehaviours) -> Result<(), FleetError> {
    behaviours.check()?;
    let path = path(dir);
    let text = serde_json::to_string_pretty(behaviours);
    let text = text.map_err(|e| FleetError::unreadable(path.display().to_string(), e.to_string()))?;
    Ok(replace_private(&path, &(text + "\n"))?)
}

fn parse(path: &Path, text: &str) -> Result<HollowBehaviours, FleetError> {
    let behaviours: HollowBehaviours =
        serde_json::from_str(text).map_err(|e| FleetError::unreadable(path.display().to_string(), e.to_string()))?;
    behaviours.check()?;
    Ok(behaviours)
}

/// Follows the file. A file that can't be read is logged, and the behaviours stay as they were.
pub(super) fn follow(dir: PathBuf) -> watch::Receiver<Arc<HollowBehaviours>> {
    let (sender, receiver) = watch::channel(Arc::default());
    tokio::spawn(async move {
        let mut last = Err(String::new());
        while !sender.is_closed() {
            let now = read(&dir).map_err(|error| error.to_string());
            if now != last {
                match &now {
                    Ok(behaviours) => drop(sender.send_replace(Arc::new(behaviours.clone()))),
                    Err(error) => stderr_line!("error: {error}; the behaviours stay as they were"),
                }
                last = now;
            }
            tokio::time::sleep(INTERVAL).await;
        }
    });
    receiver
}

/// Stream with an item for each change of the behaviours.
pub(super) fn changes(receiver: watch::Receiver<Arc<HollowBehaviours>>) -> impl Stream<Item = ()> + Send + 'static {
    futures::stream::unfold(receiver, |mut receiver| async move {
        receiver.changed().await.ok()?;
        Some(((), receiver))
    })
}
