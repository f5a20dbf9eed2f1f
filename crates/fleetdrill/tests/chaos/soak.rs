//! A fleet that stays up: scenarios run on it again and again, and its supervisor's memory and descriptors must not grow.

use std::fs;
use std::time::{Duration, Instant};

use serde::Serialize;

use crate::blow::HitCommand;
use crate::processes::{SUPERVISOR, of_fleets};
use crate::series::{FEATURE, FEATURE_FILE, NAME, arguments};
use crate::stage::{EndedCommand, Stage};
use crate::verdict::tail;

/// Time limit for a command.
const LIMIT: Duration = Duration::from_secs(600);

/// Growth of the memory that is no growth: the allocator's pages, in KiB.
const MEMORY_NOISE: u64 = 2048;

/// State of the supervisor after a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SupervisorSize {
    /// Seconds since the fleet is up.
    pub seconds: u64,
    /// Number of runs so far.
    pub runs: usize,
    /// Resident memory, in KiB.
    pub memory: u64,
    /// Number of open descriptors.
    pub descriptors: usize,
    /// Number of threads.
    pub threads: u64,
}

/// Keeps a fleet up for some minutes, and prints the size of its supervisor after each run of the scenarios.
pub fn run(minutes: &str) -> Result<(), String> {
    let minutes: u64 = minutes.parse().map_err(|_| format!("MINUTES={minutes} is no number of minutes"))?;
    let stage = Stage::new().map_err(|error| format!("the directories: {error}"))?;
    fs::write(stage.work(FEATURE_FILE), FEATURE).map_err(|error| error.to_string())?;
    succeeds("up", &stage.run(arguments(HitCommand::Up), LIMIT))?;
    let supervisor = of_fleets(&stage.state()).into_iter().find(|process| process.name == SUPERVISOR);
    let id = supervisor.ok_or("there is no supervisor")?.id;
    let started = Instant::now();
    let mut sizes = Vec::new();
    println!("{:>8} {:>5} {:>10} {:>11} {:>7}", "seconds", "runs", "KiB", "descriptors", "threads");
    while started.elapsed() < Duration::from_secs(minutes * 60) {
        succeeds("run", &stage.run(&["run", FEATURE_FILE, "--fleet", NAME], LIMIT))?;
        succeeds("status", &stage.run(&["status", NAME], LIMIT))?;
        let size = size(id, started.elapsed().as_secs(), sizes.len() + 1)?;
        let SupervisorSize { seconds, runs, memory, descriptors, threads } = size;
        println!("{seconds:>8} {runs:>5} {memory:>10} {descriptors:>11} {threads:>7}");
        sizes.push(size);
    }
    succeeds("down", &stage.run(arguments(HitCommand::Down), LIMIT))?;
    match growth(&sizes) {
        None => Ok(()),
        Some(growth) => Err(growth),
    }
}

fn succeeds(name: &str, ended: &EndedCommand) -> Result<(), String> {
    let failed = || format!("`{name}` ended with {:?}: {}", ended.code, tail(&ended.stderr));
    if ended.code == Some(0) { Ok(()) } else { Err(failed()) }
}

fn size(id: u32, seconds: u64, runs: usize) -> Result<SupervisorSize, String> {
    let gone = |error: std::io::Error| format!("the supervisor can't be looked at: {error}");
    let status = fs::read_to_string(format!("/proc/{id}/status")).map_err(gone)?;
    let value = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        line.split_whitespace().next()?.parse().ok()
    };
    let descriptors = fs::read_dir(format!("/proc/{id}/fd")).map_err(gone)?.count();
    let (memory, threads) = (value("VmRSS:").unwrap_or_default(), value("Threads:").unwrap_or_default());
    Ok(SupervisorSize { seconds, runs, memory, descriptors, threads })
}

/// Quantity of a supervisor: name, value, and growth that is no growth.
type Quantity = (&'static str, fn(&SupervisorSize) -> u64, u64);

/// Says what grows: what is greater throughout the last third than it ever was in the second.
pub fn growth(sizes: &[SupervisorSize]) -> Option<String> {
    let third = sizes.len() / 3;
    let (middle, last) = (&sizes[third..2 * third], &sizes[2 * third..]);
    let most = |of: fn(&SupervisorSize) -> u64| middle.iter().map(of).max();
    let least = |of: fn(&SupervisorSize) -> u64| last.iter().map(of).min();
    let quantities: [Quantity; 3] = [
        ("memory (KiB)", |size| size.memory, MEMORY_NOISE),
        ("descriptors", |size| size.descriptors as u64, 0),
        ("threads", |size| size.threads, 0),
    ];
    let grown = quantities.into_iter().filter_map(|(name, of, noise)| {
        let (most, least) = (most(of)?, least(of)?);
        (least > most + noise).then(|| format!("{name} grow from {most} to {least}"))
    });
    let grown: Vec<String> = grown.collect();
    (!grown.is_empty()).then(|| grown.join(", "))
}
