//! Other people's programs: `docker` and `kind`, as a user calls them.

use std::ffi::OsStr;
use std::io::ErrorKind;
use std::process::Stdio;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::process::Command;

use crate::error::ClusterError;

/// How many telling lines of a failed command are shown.
const LINES: usize = 12;

/// A program in `PATH`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outside(pub(crate) &'static str);

impl Outside {
    /// Runs a command, for so long at most, and gives what it prints on standard output.
    ///
    /// # Errors
    /// When there is no such program, it fails, or it doesn't end in time.
    pub(crate) async fn run(
        self,
        args: impl IntoIterator<Item: AsRef<OsStr>>,
        limit: Duration,
    ) -> Result<String, ClusterError> {
        let mut command = Command::new(self.0);
        // A group of its own: what it has started goes with it, and a Ctrl-C in the terminal is ours to handle.
        command.args(args).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
        let words = command.as_std().get_args().map(|arg| arg.to_string_lossy().into_owned());
        let told = std::iter::once(self.0.to_owned()).chain(words).collect::<Vec<_>>().join(" ");
        let failed = |how: String, said: String| ClusterError::Outside { command: told.clone(), how, said };
        let child = match command.spawn() {
            Ok(child) => child,
            Err(error) if error.kind() == ErrorKind::NotFound => return Err(ClusterError::NoProgram(self.0)),
            Err(error) => return Err(failed(error.to_string(), String::new())),
        };
        let group = Group(child.id());
        let output = match tokio::time::timeout(limit, child.wait_with_output()).await {
            Ok(Ok(output)) => output,
            Ok(Err(error)) => return Err(failed(error.to_string(), String::new())),
            Err(_) => return Err(failed(format!("no end after {} s", limit.as_secs()), String::new())),
        };
        group.has_ended();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        if output.status.success() {
            return Ok(text(&output.stdout));
        }
        let said = telling(&(text(&output.stdout) + &text(&output.stderr)));
        Err(failed(output.status.to_string(), said))
    }
}

/// The process group of a command that may still run: it is killed when nobody waits for it any more.
struct Group(Option<u32>);

impl Group {
    fn has_ended(mut self) {
        self.0 = None;
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let leader = self.0.and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        // It may have ended in between.
        let _ = leader.map(|leader| kill_process_group(leader, Signal::KILL));
    }
}

/// The lines that say why a command failed: those that speak of errors, or else the last ones.
fn telling(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect();
    let speaks = |line: &&&str| {
        let line = line.to_lowercase();
        ["error", "fail", "fatal", "timed out", "denied", "no such", "not found", "unable"]
            .iter()
            .any(|word| line.contains(word))
    };
    let mut telling: Vec<&str> = lines.iter().filter(speaks).copied().collect();
    if telling.is_empty() {
        telling.extend(lines.iter().rev().take(LINES).rev());
    }
    // The first says what failed, the last why.
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
