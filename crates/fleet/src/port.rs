//! The ports on which processes of the fleet listen.

use std::path::Path;
use std::time::{Duration, Instant};

use clusters::home::FleetHome;
use clusters::state_dir::write_private;
use record::{FailedWait, Observation, WaitEnd};
use tokio::net::TcpStream;

use crate::error::FleetError;

/// Time limit until a component listens. All of Argo CD's components together take about 4 s here.
const LIMIT: Duration = Duration::from_secs(120);

/// Interval between two checks whether a component listens.
const INTERVAL: Duration = Duration::from_millis(50);

/// Writes a port to a file, for processes that are started later, maybe by another command.
pub(crate) fn write(file: &Path, port: u16) -> Result<(), FleetError> {
    Ok(write_private(file, &port.to_string())?)
}

/// Reads a port from its file.
pub(crate) fn read(file: &Path) -> Result<u16, FleetError> {
    let name = file.display().to_string();
    let text = std::fs::read_to_string(file).map_err(|e| FleetError::unreadable(&name, e.to_string()))?;
    text.parse().map_err(|_| FleetError::unreadable(name, format!("`{text}` is not a port")))
}

/// Waits until a process listens on a port of loopback. Fails as soon as this or another process of the fleet has
/// ended.
pub(crate) async fn listens(home: &FleetHome, process: &str, port: u16) -> Result<(), FleetError> {
    let started = Instant::now();
    let mut exits = home.first_exit();
    loop {
        if let Some(exit) = exits.borrow_and_update().clone() {
            return Err(FleetError::Broken { exit });
        }
        if TcpStream::connect(("127.0.0.1", port)).await.is_ok() {
            return Ok(());
        }
        if started.elapsed() > LIMIT {
            let log = home.supervisor().log_tail(process);
            let expectation = format!("{process} listens on port {port}");
            let pending = Some(format!("its last lines:\n{log}"));
            let (seconds, end) = (LIMIT.as_secs_f64(), WaitEnd::TimedOut { pending });
            return Err(FailedWait { expectation, seconds, end, last: Observation::NoObjects }.into());
        }
        // A port that opens can't be watched for, so poll.
        let _ = tokio::time::timeout(INTERVAL, exits.changed()).await;
    }
}
