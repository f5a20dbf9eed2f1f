//! A state directory for one test, and commands that use it.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::process::Signal;
use tempfile::TempDir;

use crate::proc;

/// The program under test.
pub const PROGRAM: &str = env!("CARGO_BIN_EXE_fleetdrill");

/// Time limit for everything that a test waits for. It is no measure of speed: the machine may be busy.
pub const LIMIT: Duration = Duration::from_secs(180);

/// A temporary directory for a test's fleets and files. Dropping it kills the processes that still run in it.
pub struct Place {
    dir: TempDir,
}

/// Exit code and output of a command.
#[derive(Debug)]
pub struct Said {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Place {
    pub fn new() -> Self {
        let dir = tempfile::Builder::new().prefix("fleetdrill-test-").tempdir().expect("a directory");
        Self { dir }
    }

    /// Path of a file in the test's directory.
    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Writes a file to the test's directory, and returns its path.
    pub fn write(&self, name: &str, text: &str) -> String {
        let path = self.path(name);
        std::fs::write(&path, text).expect("written");
        path.display().to_string()
    }

    /// Path of the state directory.
    pub fn state(&self) -> PathBuf {
        self.path("state")
    }

    /// Command with all variables set that could differ between machines.
    pub fn command<S: AsRef<std::ffi::OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Command {
        let mut command = Command::new(PROGRAM);
        self.environment(&mut command);
        command.args(args);
        command
    }

    /// Sets the variables of [`Place::command`] for another program that starts fleetdrill.
    pub fn environment(&self, command: &mut Command) {
        command.env("FLEETDRILL_STATE_DIR", self.state()).env("KUBECONFIG", self.path("no-such-kubeconfig"));
        command.env("NO_COLOR", "1").env("LANG", "C.UTF-8").env_remove("COLUMNS").env_remove("FLEETDRILL_LOG");
        // Runs write their bundles below their working directory.
        command.current_dir(self.dir.path()).stdin(Stdio::null());
    }

    /// Runs the command to its end.
    pub fn run<S: AsRef<std::ffi::OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Said {
        Said::from(self.command(args).output().expect("the command starts"))
    }

    /// Ids and command lines of processes that belong to this directory.
    pub fn processes(&self) -> Vec<(u32, String)> {
        proc::belonging_to(self.dir.path())
    }

    /// Waits for a process whose command line contains `part`, and returns its id.
    pub fn process(&self, part: &str) -> u32 {
        until(&format!("a process {part}"), || {
            self.processes().into_iter().find(|(_, line)| line.contains(part)).map(|(id, _)| id)
        })
    }

    /// Lists the processes and files that fleets and exercises have left, except for scores, which are kept on purpose.
    pub fn left(&self) -> Vec<String> {
        let mut left: Vec<String> = self.processes().into_iter().map(|(id, line)| format!("{id} {line}")).collect();
        let [state, training] = [self.state(), self.state().join("Training")];
        let entries = [&state, &training].map(|dir| std::fs::read_dir(dir).into_iter().flatten().flatten());
        let paths = entries.into_iter().flatten().map(|entry| entry.path());
        left.extend(paths.filter(|p| *p != training && !p.ends_with("scores")).map(|p| p.display().to_string()));
        left
    }

    /// Asserts that nothing is left.
    #[track_caller]
    pub fn nothing_is_left(&self) {
        assert_eq!(self.left(), Vec::<String>::new());
    }

    /// Waits until nothing is left.
    #[track_caller]
    pub fn soon_nothing_is_left(&self) {
        until_or("nothing is left", || self.left().is_empty().then_some(()), || format!("{:#?}", self.left()));
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        for _ in 0..20 {
            let left = self.processes();
            if left.is_empty() {
                break;
            }
            for (id, _) in left {
                proc::kill(id, Signal::KILL);
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

impl From<Output> for Said {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

impl Said {
    /// Asserts the exit code, and that stderr contains all `parts`.
    #[track_caller]
    pub fn expect(&self, code: i32, parts: &[&str]) -> &Self {
        let missing: Vec<_> = parts.iter().filter(|part| !self.stderr.contains(**part)).collect();
        assert!(
            self.code == Some(code) && missing.is_empty(),
            "expected exit code {code} and was {:?}; missing on stderr: {missing:?}\nstdout:\n{}\nstderr:\n{}",
            self.code,
            self.stdout,
            self.stderr
        );
        self
    }
}

/// Lets tests that start fleets run one at a time. More fleets at once only make each other wait for processors.
pub fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    // A failed test must not make the others fail.
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Polls until `found` returns a value.
#[track_caller]
pub fn until<T>(what: &str, found: impl FnMut() -> Option<T>) -> T {
    until_or(what, found, String::new)
}

/// Polls until `found` returns a value. At the time limit, fails with the text of `instead`.
#[track_caller]
pub fn until_or<T>(what: &str, mut found: impl FnMut() -> Option<T>, instead: impl Fn() -> String) -> T {
    let started = Instant::now();
    loop {
        if let Some(found) = found() {
            return found;
        }
        assert!(started.elapsed() < LIMIT, "{what}: not so after {} s; {}", LIMIT.as_secs(), instead());
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Paths and modes of the directory and of everything below it.
pub fn modes(dir: &Path) -> Vec<(PathBuf, u32)> {
    use std::os::unix::fs::PermissionsExt;
    let mut found = Vec::new();
    let mut paths = vec![dir.to_owned()];
    while let Some(path) = paths.pop() {
        // A file may be deleted meanwhile.
        let Ok(metadata) = std::fs::symlink_metadata(&path) else { continue };
        if metadata.is_dir() {
            paths.extend(std::fs::read_dir(&path).into_iter().flatten().flatten().map(|entry| entry.path()));
        }
        found.push((path, metadata.permissions().mode() & 0o777));
    }
    found
}
