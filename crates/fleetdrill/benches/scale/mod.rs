//! Time and peak memory of a diagnosis of large fleets, and how both grow.

mod generated_fleet;

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use generated_fleet::{FleetState, write_bundle};

use crate::{BenchError, kib_of, seconds};

/// Pairs of a placement and a member, ten times as many each time.
const PAIRS: [usize; 3] = [1_000, 10_000, 100_000];
const SEED: u64 = 1;

/// Measures `fleetdrill diagnose --from` on generated bundles.
pub fn scale() -> Result<(), BenchError> {
    println!("\ndiagnosis of a bundle, by pairs of a placement and a member");
    println!("  {:<30} {:>8} {:>9} {:>9} {:>9} {:>7}", "fleet", "pairs", "bundle", "time", "memory", "growth");
    for state in FleetState::ALL {
        let mut last: Option<Duration> = None;
        for pairs in PAIRS {
            let directory = tempfile::tempdir()?;
            let bytes = write_bundle(directory.path(), pairs, state, SEED)?;
            let (took, peak) = diagnose(directory.path())?;
            let growth = last.map(|last| format!("{:.1}", seconds(took) / seconds(last))).unwrap_or_default();
            println!(
                "  {:<30} {pairs:>8} {:>6} MB {:>7.2} s {:>6} MB {growth:>7}",
                state.name(),
                bytes / 1_000_000,
                seconds(took),
                peak / 1_000
            );
            last = Some(took);
        }
    }
    Ok(())
}

/// Diagnoses a bundle, and returns the time and the peak memory in kB.
fn diagnose(bundle: &Path) -> Result<(Duration, u64), BenchError> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fleetdrill"));
    command.args(["diagnose", "--from-limit", "4096", "--from"]).arg(bundle);
    let started = Instant::now();
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    let mut peak = 0;
    let status = loop {
        // The peak of a process is readable as long as it runs.
        peak = kib_of(child.id().into(), "status", "VmHWM:").unwrap_or_default().max(peak);
        if let Some(status) = child.try_wait()? {
            break status;
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    let took = started.elapsed();
    match status.code() {
        Some(0 | 1 | 4) => Ok((took, peak)),
        _ => Err(format!("the diagnosis ended with {status}").into()),
    }
}
