//! A state directory of a test's own, and the command that works in it.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::process::Signal;
use tempfile::TempDir;

use crate::proc;

/// The program under test.
pub const PROGRAM: &str = env!("CARGO_BIN_EXE_fleetdrill");

/// How long anything may take that is waited for here. It is no measure of speed: the machine may be busy.
pub const LIMIT: Duration = Duration::from_secs(180);

/// A directory for fleets and files. What still runs when it is dropped is killed.
pub struct Place {
    dir: TempDir,
}

/// How a command ended and what it said.
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

    /// A path for a file of the test's own.
    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Writes a file of the test's own.
    pub fn write(&self, name: &str, text: &str) -> String {
        let path = self.path(name);
        std::fs::write(&path, text).expect("written");
        path.display().to_string()
    }

    /// The state directory.
    pub fn state(&self) -> PathBuf {
        self.path("state")
    }

    /// The command, with everything set that could differ from machine to machine.
    pub fn command<S: AsRef<std::ffi::OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Command {
        let mut command = Command::new(PROGRAM);
        self.environment(&mut command);
        command.args(args);
        command
    }

    /// Sets the environment that [`Place::command`] sets for another command that starts ours.
    pub fn environment(&self, command: &mut Command) {
        command.env("FLEETDRILL_STATE_DIR", self.state()).env("KUBECONFIG", self.path("no-such-kubeconfig"));
        command.env("NO_COLOR", "1").env("LANG", "C.UTF-8").env_remove("COLUMNS").env_remove("FLEETDRILL_LOG");
        // Runs leave their bundles below the directory that they are started in.
        command.current_dir(self.dir.path()).stdin(Stdio::null());
    }

    /// Runs the command to its end.
    pub fn run<S: AsRef<std::ffi::OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Said {
        Said::from(self.command(args).output().expect("the command starts"))
    }

    /// The ids and command lines of processes that belong here.
    pub fn processes(&self) -> Vec<(u32, String)> {
        proc::belonging_to(self.dir.path())
    }

    /// The process whose command line has `part`, once there is one.
    pub fn process(&self, part: &str) -> u32 {
        until(&format!("a process {part}"), || {
            self.processes().into_iter().find(|(_, line)| line.contains(part)).map(|(id, _)| id)
        })
    }

    /// What is left of fleets and exercises: processes and files, but for scores, which are meant to stay.
    pub fn left(&self) -> Vec<String> {
        let mut left: Vec<String> = self.processes().into_iter().map(|(id, line)| format!("{id} {line}")).collect();
        let [state, training] = [self.state(), self.state().join("Training")];
        let entries = [&state, &training].map(|dir| std::fs::read_dir(dir).into_iter().flatten().flatten());
        let paths = entries.into_iter().flatten().map(|entry| entry.path());
        left.extend(paths.filter(|p| *p != training && !p.ends_with("scores")).map(|p| p.display().to_string()));
        left
    }

    /// Nothing may be left, now.
    #[track_caller]
    pub fn nothing_is_left(&self) {
        assert_eq!(self.left(), Vec::<String>::new());
    }

    /// Nothing may be left, soon.
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
    /// Checks the exit code and that stderr has all `parts`.
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

/// Tests that start fleets take their turns: two fleets more than a machine has cores for only wait for each other.
pub fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    // A test that failed in its turn must not fail the others.
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Polls until there is something.
#[track_caller]
pub fn until<T>(what: &str, found: impl FnMut() -> Option<T>) -> T {
    until_or(what, found, String::new)
}

/// Polls until there is something, and otherwise fails with what is there instead.
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

/// The names of all files below a directory, itself included, with their modes.
pub fn modes(dir: &Path) -> Vec<(PathBuf, u32)> {
    use std::os::unix::fs::PermissionsExt;
    let mut found = Vec::new();
    let mut paths = vec![dir.to_owned()];
    while let Some(path) = paths.pop() {
        // A file may go while we look.
        let Ok(metadata) = std::fs::symlink_metadata(&path) else { continue };
        if metadata.is_dir() {
            paths.extend(std::fs::read_dir(&path).into_iter().flatten().flatten().map(|entry| entry.path()));
        }
        found.push((path, metadata.permissions().mode() & 0o777));
    }
    found
}
