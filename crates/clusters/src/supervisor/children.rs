//! Starts, kills and watches the children of a supervisor.

use std::fs::OpenOptions;
use std::io::{Read, Seek, SeekFrom};
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{ExitCode, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::process::{Child, Command};

use super::protocol::{ProcessSpec, ShutdownHook};
use crate::stderr_line;

/// Maximum number of log lines in an [`super::protocol::ProcessExit`].
const LOG_LINES: usize = 15;

/// Maximum number of characters in such a log line.
const LINE_LENGTH: usize = 400;

/// Becomes the program given by `args` (parent's id, niceness, program, its arguments), tied to the life of its parent.
///
/// The supervisor starts every child through this function. The child itself has to set the parent death signal and the
/// niceness, between fork and exec, and safe Rust has no hook there. Both survive the exec.
#[must_use]
pub fn exec(args: &[String]) -> ExitCode {
    let [parent, niceness, program, args @ ..] = args else {
        stderr_line!("error: supervisor exec takes a process id, a niceness and a program");
        return ExitCode::from(2);
    };
    // Run the program even if the system refuses to set the niceness.
    let _ = niceness.parse().map(rustix::process::nice);
    #[cfg(target_os = "linux")]
    {
        if let Err(error) = rustix::process::set_parent_process_death_signal(Some(Signal::KILL)) {
            stderr_line!("error: failed to set the parent death signal: {error}");
            return ExitCode::from(3);
        }
        // The parent may have died before the signal was set. In that case the kernel never sends the signal.
        let parent_now = rustix::process::getppid().map(Pid::as_raw_nonzero).map(|p| p.get().to_string());
        if parent_now.as_deref() != Some(parent) {
            return ExitCode::from(3);
        }
    }
    let _ = parent;
    let error = std::process::Command::new(program).args(args).exec();
    stderr_line!("error: failed to start {program}: {error}");
    ExitCode::from(3)
}

/// Starts a child in a process group of its own and appends its output to `log`.
pub(super) fn start(spec: &ProcessSpec, dir: &Path, log: &Path) -> std::io::Result<Child> {
    let out = OpenOptions::new().create(true).append(true).mode(0o600).open(log)?;
    let mut command = Command::new(own_program()?);
    command
        .arg("supervisor")
        .arg("exec")
        .arg(std::process::id().to_string())
        .arg(spec.niceness.to_string())
        .arg(&spec.program)
        .args(&spec.args)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", dir)
        .env("TMPDIR", dir)
        .envs(spec.env.iter().map(|(k, v)| (k, v)))
        .current_dir(dir)
        .stdin(Stdio::null())
        .stdout(out.try_clone()?)
        .stderr(out)
        .process_group(0);
    command.spawn()
}

/// Time limit for a shutdown hook. The deletion of a kind cluster takes up to 2 s, or 20 s on a busy machine.
pub(super) const SHUTDOWN_HOOK_LIMIT: Duration = Duration::from_secs(60);

/// Runs a shutdown hook until its `left` command prints nothing. Errors are ignored, because nobody is left to report
/// them to. A later sweep recognises leftovers, because the fleet's directory is gone.
pub(super) async fn run_shutdown_hook(shutdown_hook: &ShutdownHook) {
    let end = async {
        loop {
            run(&shutdown_hook.command).await;
            let mut left = run(&shutdown_hook.left).await;
            if left.is_empty() && !shutdown_hook.left.is_empty() {
                tokio::time::sleep(SETTLED).await;
                left = run(&shutdown_hook.left).await;
            }
            if left.is_empty() {
                break;
            }
        }
    };
    let _ = tokio::time::timeout(SHUTDOWN_HOOK_LIMIT, end).await;
}

/// Delay before the `left` command runs a second time: a hook is done when the command prints nothing both times.
const SETTLED: Duration = Duration::from_secs(1);

/// Runs a command and returns its standard output, or nothing if the command can't be run.
async fn run(command: &[String]) -> Vec<u8> {
    let [program, args @ ..] = command else { return Vec::new() };
    let mut command = Command::new(program);
    command.args(args).stdin(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true);
    command.output().await.map(|output| output.stdout).unwrap_or_default()
}

/// Runs a command. The error names the command and has what it printed to standard error.
pub(super) async fn run_checked(words: &[String]) -> Result<(), String> {
    let [program, args @ ..] = words else { return Err("a command without a program".into()) };
    let mut command = Command::new(program);
    command.args(args).stdin(Stdio::null()).kill_on_drop(true);
    let failed = |why: &str| format!("`{}`: {}", words.join(" "), why.trim());
    let output = command.output().await.map_err(|error| failed(&error.to_string()))?;
    if output.status.success() {
        return Ok(());
    }
    Err(failed(&format!("{}: {}", output.status, String::from_utf8_lossy(&output.stderr))))
}

/// Returns a path to this program. On Linux, the path stays valid after the program's file was replaced.
fn own_program() -> std::io::Result<PathBuf> {
    if cfg!(target_os = "linux") { Ok(PathBuf::from("/proc/self/exe")) } else { std::env::current_exe() }
}

/// Returns the id of a running process.
pub(super) fn process_id(id: Option<u32>) -> Option<Pid> {
    Pid::from_raw(i32::try_from(id?).ok()?)
}

/// Kills a child's process group at once, without a grace period. No process of a fleet needs one: its data is removed
/// with the fleet, and hub-agent never ends on SIGTERM (v0.1.2).
pub(super) fn kill_group(id: Option<u32>) {
    if let Some(group) = process_id(id) {
        // The group may have ended by itself at this moment.
        let _ = kill_process_group(group, Signal::KILL);
    }
}

/// Returns the last lines of a program's log, or `(no log)` if the log can't be read.
pub(crate) fn log_tail(log: &Path) -> String {
    read_end(log).map_or_else(|_| String::from("(no log)"), |text| last_words(&text))
}

/// Reads the last 256 KiB of a file.
fn read_end(file: &Path) -> std::io::Result<String> {
    let mut file = std::fs::File::open(file)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(256 * 1024)))?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Returns the last lines of a log and shortens long ones. A Go program that panics first prints the reason and then
/// the stacks of all its goroutines; the stacks are left out.
fn last_words(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let end = lines.iter().rposition(|line| !is_of_a_stack(line)).map_or(0, |last| last + 1);
    // Another line may follow the reason, e.g. the line that names the signal.
    let has_given_up = lines[end.saturating_sub(3)..end].iter().any(|line| gives_up(line));
    let words = lines[..if has_given_up { end } else { lines.len() }].iter().rev().take(LOG_LINES);
    let mut words: Vec<String> = words.map(|line| line.chars().take(LINE_LENGTH).collect()).collect();
    words.reverse();
    words.join("\n")
}

/// True if a Go program ends after this line.
fn gives_up(line: &str) -> bool {
    let is_klog_fatal =
        line.starts_with('F') && line.len() > 5 && line[1..].bytes().take(4).all(|b| b.is_ascii_digit());
    line.starts_with("panic: ") || line.starts_with("fatal error: ") || is_klog_fatal
}

/// True if a line belongs to the stack of a goroutine.
fn is_of_a_stack(line: &str) -> bool {
    line.is_empty() || line.ends_with(')') || ["goroutine ", "\t", "created by "].iter().any(|s| line.starts_with(s))
}

#[cfg(test)]
mod tests {
    use super::{LINE_LENGTH, LOG_LINES, last_words};

    #[test]
    fn the_last_words_are_the_last_lines() {
        let text = (1..=100).fold(String::new(), |text, n| text + &format!("line {n}\n"));
        let words = last_words(&text);
        assert_eq!(words.lines().count(), LOG_LINES);
        assert!(words.starts_with("line 86\n") && words.ends_with("line 100"), "{words}");
        assert_eq!(last_words(&"ü".repeat(9999)).chars().count(), LINE_LENGTH);
        assert_eq!(last_words(""), "");
    }

    #[test]
    fn the_stacks_of_a_go_program_that_gives_up_are_left_out() {
        let stacks = "goroutine 1 [running]:\nmain.main()\n\tmain.go:1 +0x1\n\ngoroutine 2 [select]:\nmain.other()\n";
        let words = last_words(&format!("disk full\npanic: failed to create WAL\n\n{stacks}"));
        assert_eq!(words, "disk full\npanic: failed to create WAL");
        let fatal = "F1121 03:32:35.731320    1 main.go:7] no port";
        assert_eq!(last_words(&format!("{fatal}\n{stacks}")), fatal);
        // The program was started again after its fatal error.
        assert!(last_words(&format!("{fatal}\n{stacks}I am back\n")).ends_with("I am back"));
        // A stack that no fatal error precedes is kept like any other log line.
        assert!(last_words(&format!("E1121 recovered\n{stacks}I go on\n")).ends_with("I go on"));
    }
}
