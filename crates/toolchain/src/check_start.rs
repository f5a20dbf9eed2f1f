//! Checks that a program that a user wants to add runs on this machine at all.

use std::io;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{Child, Command};
use tokio::time::{Instant, sleep, timeout_at};

use crate::error::ToolchainError;
use crate::process_group::ProcessGroup;

/// Time limit for a program to print its help and version.
pub(crate) const LIMIT: Duration = Duration::from_secs(20);

/// Maximum number of bytes that are read from each of a program's output streams.
const OUTPUT: u64 = 1 << 20;

/// Runs a program with `--help` and, if that fails, with `--version`. One of the two must succeed. `shown` is the path
/// for the error message: the user's path, not that of the copy in the cache.
pub(crate) async fn check_start(program: &Path, shown: &Path, limit: Duration) -> Result<(), ToolchainError> {
    let deadline = Instant::now() + limit;
    let mut last = None;
    for argument in ["--help", "--version"] {
        match timeout_at(deadline, run(program, argument)).await {
            Err(_) => {
                let why = format!("with {argument} it didn't end within {} s", limit.as_secs_f64());
                return Err(does_not_start(shown, why, ""));
            }
            Ok(Err(cause)) => return Err(does_not_start(shown, cause.to_string(), "")),
            Ok(Ok((status, _))) if status.success() => return Ok(()),
            Ok(Ok((status, output))) => {
                last = last.or(Some(does_not_start(shown, format!("with {argument} it ended with {status}"), &output)));
            }
        }
    }
    last.map_or(Ok(()), Err)
}

fn does_not_start(program: &Path, why: String, output: &str) -> ToolchainError {
    ToolchainError::DoesNotStart { path: program.to_owned(), why, output: last_lines(output) }
}

async fn run(program: &Path, argument: &str) -> io::Result<(ExitStatus, String)> {
    let group = ProcessGroup::new()?;
    // Some programs create files in their working directory before they read their flags.
    let dir = tempfile::tempdir()?;
    let mut child = spawn(program, argument, dir.path(), &group).await?;
    let (out, err) = (child.stdout.take(), child.stderr.take());
    let (out, err) = tokio::try_join!(read(out), read(err))?;
    Ok((child.wait().await?, out + &err))
}

async fn spawn(program: &Path, argument: &str, dir: &Path, group: &ProcessGroup) -> io::Result<Child> {
    let mut tries = 0;
    loop {
        let mut command = Command::new(program);
        command.arg(argument).current_dir(dir).process_group(group.id()).kill_on_drop(true);
        match command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn() {
            // The copy was written a moment ago, and a process forked in the meantime may still have it open.
            Err(error) if error.kind() == io::ErrorKind::ExecutableFileBusy && tries < 100 => {
                tries += 1;
                sleep(Duration::from_millis(10)).await;
            }
            result => return result,
        }
    }
}

async fn read(stream: Option<impl AsyncRead + Unpin>) -> io::Result<String> {
    let mut bytes = Vec::new();
    if let Some(stream) = stream {
        stream.take(OUTPUT).read_to_end(&mut bytes).await?;
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn last_lines(output: &str) -> Vec<String> {
    let lines: Vec<String> = output.lines().map(str::to_owned).collect();
    crate::go_output::tail(&lines, 20)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    async fn check(script: &str, limit: Duration) -> Result<(), String> {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let path = dir.path().join("program");
        fs::write(&path, script).expect("written");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("set");
        let shown = Path::new("/my/program");
        check_start(&path, shown, limit).await.map_err(|error| error.to_string())
    }

    #[tokio::test]
    async fn one_of_the_two_is_enough() {
        assert_eq!(check("#!/bin/sh\n[ $1 = --version ]", LIMIT).await, Ok(()));
        assert_eq!(check("#!/bin/sh\n[ $1 = --help ]", LIMIT).await, Ok(()));
    }

    #[tokio::test]
    async fn a_failure_is_shown_with_its_output() {
        assert_eq!(
            check("#!/bin/sh\necho no libfoo.so >&2; exit 127", LIMIT).await,
            Err("/my/program doesn't start: with --help it ended with exit status: 127\n  no libfoo.so".into())
        );
    }

    #[tokio::test]
    async fn one_that_does_not_end_is_ended() {
        assert_eq!(
            check("#!/bin/sh\nsleep 60", Duration::from_millis(300)).await,
            Err("/my/program doesn't start: with --help it didn't end within 0.3 s".into())
        );
    }

    #[tokio::test]
    async fn a_program_for_another_machine_is_refused() {
        let error = check("\u{7f}ELF nonsense", LIMIT).await.expect_err("refused");
        assert!(error.contains("Exec format error"), "{error}");
    }
}
