//! Time and peak memory of a diagnosis of large fleets, and how both grow.

mod applications;
mod generated_fleet;
mod live;

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

pub use applications::applications;
use generated_fleet::{FleetState, write_bundle};

use crate::{BenchError, kib_of, seconds};

/// Pairs of a placement and a member, ten times as many each time.
const PAIRS: [usize; 3] = [1_000, 10_000, 100_000];
const SEED: u64 = 1;

/// Pairs on a live hub. A hundred thousand take a quarter of an hour to create, and 20 GB of memory.
const LIVE_PAIRS: [usize; 3] = [1_000, 10_000, 100_000];

/// Measures `fleetdrill diagnose` on a live hub with generated fleets.
pub fn live_hub() -> Result<(), BenchError> {
    live::live(&LIVE_PAIRS)
}

/// Measures `fleetdrill diagnose --from` on generated bundles.
pub fn scale() -> Result<(), BenchError> {
    println!("\ndiagnosis of a bundle, by pairs of a placement and a member");
    println!("  {:<30} {:>8} {:>9} {:>9} {:>9} {:>7}", "fleet", "pairs", "bundle", "time", "memory", "growth");
    for state in FleetState::ALL {
        let mut last: Option<Duration> = None;
        for pairs in PAIRS {
            let directory = tempfile::tempdir()?;
            let bytes = write_bundle(directory.path(), pairs, state, SEED)?;
            let Measured { took, peak_kib, .. } = diagnose(directory.path())?;
            let growth = growth(took, last);
            println!(
                "  {:<30} {pairs:>8} {:>6} MB {:>7.2} s {:>6} MB {growth:>7}",
                state.name(),
                bytes / 1_000_000,
                seconds(took),
                peak_kib / 1_000
            );
            last = Some(took);
        }
    }
    Ok(())
}

/// Returns how many times as long a diagnosis took as the one of the fleet before, which has a tenth of the pairs.
fn growth(took: Duration, last: Option<Duration>) -> String {
    last.map(|last| format!("{:.1}", seconds(took) / seconds(last))).unwrap_or_default()
}

/// Diagnoses a bundle.
fn diagnose(bundle: &Path) -> Result<Measured, BenchError> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fleetdrill"));
    command.args(["diagnose", "--from-limit", "4096", "--from"]).arg(bundle);
    measured(command)
}

/// Figures of a diagnosis.
struct Measured {
    took: Duration,
    /// Peak of the memory, in KiB.
    peak_kib: u64,
    stdout: Vec<u8>,
}

/// Runs a diagnosis, and measures it while it runs.
fn measured(mut command: Command) -> Result<Measured, BenchError> {
    let output = tempfile::NamedTempFile::new()?;
    let started = Instant::now();
    let mut child = command.stdout(output.reopen()?).stderr(Stdio::null()).spawn()?;
    let mut peak_kib = 0;
    let status = loop {
        // The figures of a process are readable as long as it runs.
        peak_kib = kib_of(child.id().into(), "status", "VmHWM:").unwrap_or_default().max(peak_kib);
        if let Some(status) = child.try_wait()? {
            break status;
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    let took = started.elapsed();
    match status.code() {
        Some(0 | 1 | 4) => Ok(Measured { took, peak_kib, stdout: std::fs::read(output.path())? }),
        _ => Err(format!("the diagnosis ended with {status}").into()),
    }
}
