//! The ports on which processes of the fleet listen.

use std::path::Path;
use std::time::{Duration, Instant};

use clusters::home::Home;
use clusters::state_dir::write_private;
use tokio::net::TcpStream;

use crate::error::FleetError;

/// How long a component may take until it listens. All of Argo CD's together take about 4 s here.
const LIMIT: Duration = Duration::from_secs(120);

/// How often it is looked whether it does.
const INTERVAL: Duration = Duration::from_millis(50);

/// Writes a port down for what is started later, maybe by another command.
pub(crate) fn write(file: &Path, port: u16) -> Result<(), FleetError> {
    Ok(write_private(file, &port.to_string())?)
}

/// The port that was written down.
pub(crate) fn read(file: &Path) -> Result<u16, FleetError> {
    let unreadable = |why: String| FleetError::Unreadable { what: file.display().to_string(), why };
    let text = std::fs::read_to_string(file).map_err(|e| unreadable(e.to_string()))?;
    text.parse().map_err(|_| unreadable(format!("`{text}` is not a port")))
}

/// Waits until a process listens on a port of loopback, and fails as soon as it, or another of the fleet, has ended.
pub(crate) async fn listens(home: &Home, process: &str, port: u16) -> Result<(), FleetError> {
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
            let log = home.keeper().log_tail(process);
            let expectation = format!("{process} listens on port {port}");
            return Err(FleetError::TimedOut {
                expectation,
                seconds: LIMIT.as_secs_f64(),
                last: format!("its last lines:\n{log}"),
            });
        }
        // There is nothing to watch before it listens.
        let _ = tokio::time::timeout(INTERVAL, exits.changed()).await;
    }
}
