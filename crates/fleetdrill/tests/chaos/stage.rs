//! Directories for the series, with a small disk for the fleets, and commands that use them.

use std::fs::{self, File};
use std::io::Write as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::process::Signal;
use tempfile::TempDir;

use crate::proc;
use crate::processes;

/// Size of the disk for the fleets: a fleet of a hub and two members takes 300 MiB.
const DISK: &str = "size=700m,mode=700";

/// Interval at which a command is looked at.
pub const LOOK: Duration = Duration::from_millis(5);

/// Directory of a series: `state` is a disk of its own, `work` the working directory, `tmp` that of temporary files.
pub struct Stage {
    dir: TempDir,
}

/// Command that runs.
pub struct RunningCommand {
    child: Child,
    started: Instant,
    out: PathBuf,
    err: PathBuf,
}

/// Command that has ended.
#[derive(Clone, Debug, Default)]
pub struct EndedCommand {
    /// Exit code; none if a signal ended the command.
    pub code: Option<i32>,
    /// Signal that ended the command.
    pub signal: Option<i32>,
    pub stdout: String,
    pub stderr: String,
    pub seconds: f64,
    /// True if the command was killed because it didn't end.
    pub hung: bool,
}

impl Stage {
    /// Makes the directories. The disk goes with this mount namespace.
    pub fn new() -> std::io::Result<Self> {
        let dir = tempfile::Builder::new().prefix("fleetdrill-chaos-").tempdir()?;
        for name in ["state", "work", "tmp"] {
            fs::create_dir(dir.path().join(name))?;
        }
        let state = dir.path().join("state");
        let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", DISK, "tmpfs"]).arg(&state).status()?;
        if mounted.success() { Ok(Self { dir }) } else { Err(std::io::Error::other("mount failed")) }
    }

    pub fn state(&self) -> PathBuf {
        self.dir.path().join("state")
    }

    /// Path of a file in the working directory.
    pub fn work(&self, name: &str) -> PathBuf {
        self.dir.path().join("work").join(name)
    }

    fn tmp(&self) -> PathBuf {
        self.dir.path().join("tmp")
    }

    /// Starts fleetdrill.
    pub fn start(&self, args: &[&str]) -> RunningCommand {
        let (out, err) = (self.work("stdout"), self.work("stderr"));
        let file = |path: &Path| File::create(path).expect("a file");
        let mut command = Command::new(env!("CARGO_BIN_EXE_fleetdrill"));
        command.args(args).current_dir(self.work("")).stdin(Stdio::null()).stdout(file(&out)).stderr(file(&err));
        command.env("FLEETDRILL_STATE_DIR", self.state()).env("TMPDIR", self.tmp());
        command.env("KUBECONFIG", self.work("no-such-kubeconfig")).env("NO_COLOR", "1").env("LANG", "C.UTF-8");
        RunningCommand { child: command.spawn().expect("the command starts"), started: Instant::now(), out, err }
    }

    /// Runs fleetdrill to its end, or kills it.
    pub fn run(&self, args: &[&str], limit: Duration) -> EndedCommand {
        self.start(args).end(limit)
    }

    /// Lists what is left: processes, and files of fleets and of commands. Scores of exercises stay on purpose.
    pub fn left(&self) -> Vec<String> {
        let mut left: Vec<String> =
            processes::all_others().into_iter().map(|(id, line)| format!("process {id} {line}")).collect();
        let training = self.state().join("Training");
        for dir in [&self.state(), &self.tmp(), &training] {
            let entries = fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path());
            let entries = entries.filter(|path| *path != training && !path.ends_with("scores"));
            left.extend(entries.map(|path| path.display().to_string()));
        }
        left
    }

    /// Waits until nothing is left, and returns what still is.
    pub fn soon_left(&self, limit: Duration) -> Vec<String> {
        let started = Instant::now();
        loop {
            let left = self.left();
            if left.is_empty() || started.elapsed() > limit {
                return left;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Takes all space of the fleets' disk.
    pub fn fill(&self) {
        let mut file = File::create(self.filler()).expect("a file");
        let block = vec![0; 64 * 1024];
        while file.write_all(&block).is_ok() {}
        while file.write_all(&[0]).is_ok() {}
    }

    /// Gives the space back.
    pub fn free(&self) {
        let _ = fs::remove_file(self.filler());
    }

    fn filler(&self) -> PathBuf {
        self.state().join("filler")
    }

    /// Removes everything, so that the next blow begins with nothing.
    pub fn reset(&self) {
        processes::kill_all_others();
        self.free();
        for dir in [self.state(), self.tmp()] {
            for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
                let _ = fs::remove_dir_all(entry.path()).or_else(|_| fs::remove_file(entry.path()));
            }
        }
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        self.reset();
        let _ = Command::new("umount").arg(self.state()).status();
    }
}

impl RunningCommand {
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    pub fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// True if the command has ended.
    pub fn has_ended(&mut self) -> bool {
        self.child.try_wait().expect("it is ours").is_some()
    }

    /// Waits for the command, and kills it if it doesn't end.
    pub fn end(mut self, limit: Duration) -> EndedCommand {
        let mut hung = false;
        let status: ExitStatus = loop {
            if let Some(status) = self.child.try_wait().expect("it is ours") {
                break status;
            }
            if self.elapsed() > limit && !hung {
                hung = true;
                proc::kill(self.id(), Signal::KILL);
            }
            std::thread::sleep(LOOK);
        };
        let read = |path: &Path| String::from_utf8_lossy(&fs::read(path).unwrap_or_default()).into_owned();
        EndedCommand {
            code: status.code(),
            signal: status.signal(),
            stdout: read(&self.out),
            stderr: read(&self.err),
            seconds: self.started.elapsed().as_secs_f64(),
            hung,
        }
    }
}
