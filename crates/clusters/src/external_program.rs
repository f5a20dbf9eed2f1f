//! External programs such as `docker` and `kind`, run in the way a user runs them.

use std::ffi::OsStr;
use std::io::ErrorKind;
use std::process::Stdio;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::process::Command;

use crate::error::ClusterError;

/// Command of Docker.
pub(crate) const DOCKER: ExternalProgram = ExternalProgram("docker");

/// Time limit for a command that downloads nothing, e.g. a query, or the build of an image of one file.
pub(crate) const SHORT: Duration = Duration::from_secs(60);

/// Maximum number of lines that the error of a failed command shows.
const LINES: usize = 12;

/// External program, found in `PATH`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ExternalProgram(pub(crate) &'static str);

impl ExternalProgram {
    /// Runs a command and returns its standard output. The command is killed when `limit` has passed.
    ///
    /// # Errors
    /// Returns an error if there is no such program, the command fails, or it exceeds the time limit.
    pub(crate) async fn run(
        self,
        args: impl IntoIterator<Item: AsRef<OsStr>>,
        limit: Duration,
    ) -> Result<String, ClusterError> {
        let mut command = Command::new(self.0);
        // A process group of its own: child processes of the command are killed with it, and a Ctrl-C in the terminal
        // doesn't reach it directly.
        command.args(args).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
        let words = command.as_std().get_args().map(|arg| arg.to_string_lossy().into_owned());
        let words: Vec<String> = std::iter::once(self.0.to_owned()).chain(words).collect();
        let failed = |how: String, said: String| ClusterError::Outside { command: words.clone(), how, said };
        let child = match command.spawn() {
            Ok(child) => child,
            Err(error) if error.kind() == ErrorKind::NotFound => return Err(ClusterError::NoProgram(self.0)),
            Err(error) => return Err(failed(error.to_string(), String::new())),
        };
        let group = CommandProcessGroup(child.id());
        let output = match tokio::time::timeout(limit, child.wait_with_output()).await {
            Ok(Ok(output)) => output,
            Ok(Err(error)) => return Err(failed(error.to_string(), String::new())),
            Err(_) => return Err(failed(format!("no end after {} s", limit.as_secs()), String::new())),
        };
        group.has_ended();
        let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
        if output.status.success() {
            return Ok(stdout);
        }
        let said = telling(&(stdout + &String::from_utf8_lossy(&output.stderr)));
        Err(failed(output.status.to_string(), said))
    }

    /// Returns the error of a command whose output isn't what it has to be.
    pub(crate) fn unexpected(self, args: &[impl AsRef<str>], how: impl Into<String>, said: String) -> ClusterError {
        let args = args.iter().map(|arg| arg.as_ref().to_owned());
        ClusterError::Outside {
            command: std::iter::once(self.0.to_owned()).chain(args).collect(),
            how: how.into(),
            said,
        }
    }
}

/// Process group of a command that may still run. Dropping this value kills the group, unless the command has ended.
struct CommandProcessGroup(Option<u32>);

impl CommandProcessGroup {
    fn has_ended(mut self) {
        self.0 = None;
    }
}

impl Drop for CommandProcessGroup {
    fn drop(&mut self) {
        let leader = self.0.and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        // The group may have ended in the meantime.
        let _ = leader.map(|leader| kill_process_group(leader, Signal::KILL));
    }
}

/// True if a line of output speaks of an error.
fn names_error(line: &str) -> bool {
    let line = line.to_lowercase();
    ["error", "fail", "fatal", "timed out", "denied", "no such", "not found", "unable"]
        .iter()
        .any(|word| line.contains(word))
}

/// Returns the lines that explain why a command failed: those that mention errors, or else the last ones.
fn telling(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect();
    let mut telling: Vec<&str> = lines.iter().filter(|line| names_error(line)).copied().collect();
    if telling.is_empty() {
        telling.extend(lines.iter().rev().take(LINES).rev());
    }
    // Keep the first line, which says what failed, and the last ones, which say why.
    if telling.len() > LINES {
        telling.drain(1..=telling.len() - LINES);
    }
    telling.join("\n")
}

#[cfg(test)]
mod tests {
    use super::{LINES, telling};

    #[test]
    fn of_a_long_log_the_lines_that_speak_of_errors_are_shown() {
        let log = "Creating cluster \"hub\" ...\n \u{2713} Ensuring node image\nERROR: failed to create cluster\n\nStack trace:\n";
        assert_eq!(telling(log), "ERROR: failed to create cluster");
        assert_eq!(telling("one\ntwo\n"), "one\ntwo");
        let many = (1..=99).fold(String::new(), |text, n| text + &format!("error {n}\n"));
        let told = telling(&many);
        assert_eq!(told.lines().count(), LINES);
        assert!(told.starts_with("error 1\nerror 89\n") && told.ends_with("error 99"), "{told}");
    }
}
