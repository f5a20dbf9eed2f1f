//! Lines for a trainee's shell: the environment that a page names, and the commands of a solution.
//!
//! A page prints these lines, and `train verify` runs the same lines.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use diagnosis::quoted;
use fleet::argocd::ArgoCdCli;
use tokio::process::Command;

use super::exercise::Exercise;
use super::session::TrainingSession;
use crate::error::CommandError;

/// Time limit for the commands of a solution: `argocd app sync` has no limit of its own.
const LIMIT: Duration = Duration::from_secs(180);

/// Placeholder for the name under which an exercise was started.
const EXERCISE: &str = "{exercise}";

/// Environment in which the commands of a page work.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShellSetup {
    /// Kubeconfig with all contexts.
    pub kubeconfig: PathBuf,
    /// Configuration directory of the `argocd` command, if the fleet has Argo CD's API server.
    pub argocd_config: Option<PathBuf>,
    /// Directories to put at the beginning of the PATH.
    pub program_dirs: Vec<PathBuf>,
}

impl ShellSetup {
    /// Creates the environment for a fleet's kubeconfig, its `argocd` command, and a `kubectl` if the PATH has none.
    #[must_use]
    pub fn new(kubeconfig: PathBuf, argocd: Option<&ArgoCdCli>, kubectl: Option<&Path>) -> Self {
        let programs = argocd.map(|cli| cli.program.as_path()).into_iter().chain(kubectl);
        let program_dirs = programs.filter_map(Path::parent).map(Path::to_owned).collect();
        Self { kubeconfig, argocd_config: argocd.map(|cli| cli.config_dir.clone()), program_dirs }
    }

    /// Returns `export` lines for a POSIX shell.
    #[must_use]
    pub fn exports(&self) -> Vec<String> {
        let mut lines = vec![format!("export KUBECONFIG={}", shell_word(&self.kubeconfig))];
        lines.extend(self.argocd_config.as_deref().map(|dir| format!("export ARGOCD_CONFIG_DIR={}", shell_word(dir))));
        let dirs: String = self.program_dirs.iter().flat_map(|dir| [shell_word(dir), ":".to_owned()]).collect();
        if !dirs.is_empty() {
            lines.push(format!("export PATH={dirs}\"$PATH\""));
        }
        lines
    }
}

/// Returns a path as one word of a shell.
fn shell_word(path: &Path) -> String {
    quoted(&path.display().to_string())
}

/// Returns the commands that repair an exercise, in the order of its faults. A command may have several lines.
#[must_use]
pub fn commands(session: &TrainingSession, exercise: &Exercise) -> Vec<String> {
    let mut commands = Vec::new();
    for (fault, induced) in exercise.faults.iter().zip(&session.parts) {
        let filled = fault.commands.iter().map(|command| induced.scene.fill(command));
        commands.extend(filled.map(|command| command.replace(EXERCISE, &session.name)));
    }
    commands
}

/// Runs lines in a shell as if a trainee had pasted them, and stops at the first command that fails.
///
/// `programs` are the directories of the programs that a trainee has on the PATH: fleetdrill and a `kubectl`.
///
/// # Errors
/// Returns an error with the shell's stderr if a command fails, or an error if the time is up.
pub async fn paste(lines: &[String], programs: &[PathBuf]) -> Result<(), CommandError> {
    let inherited = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths(programs.iter().cloned().chain(std::env::split_paths(&inherited)));
    let mut shell = Command::new("bash");
    shell
        .args(["-e", "-c", &lines.join("\n")])
        .env("PATH", path.map_err(unpasted)?)
        .env_remove("KUBECONFIG")
        .env_remove("ARGOCD_CONFIG_DIR")
        // A trainee who commits has an identity. Git reads no other configuration of this machine.
        .envs(["GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME"].map(|key| (key, "trainee")))
        .envs(["GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"].map(|key| (key, "trainee@localhost")))
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .stdin(Stdio::null())
        .kill_on_drop(true);
    let ended = tokio::time::timeout(LIMIT, shell.output()).await;
    let ended = ended.map_err(|_| unpasted(format!("it takes more than {} s", LIMIT.as_secs())))?;
    let ended = ended.map_err(|error| unpasted(format!("bash: {error}")))?;
    if ended.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&ended.stderr);
    Err(unpasted(format!("{}: {}", ended.status, said.trim())))
}

/// Reports why the lines of a solution don't run.
fn unpasted(why: impl std::fmt::Display) -> CommandError {
    CommandError::Environment { message: format!("the printed solution doesn't run: {why}"), hint: None }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    fn cli() -> ArgoCdCli {
        ArgoCdCli { program: "/cache/argocd/argocd".into(), config_dir: "/state/my fleet/cli".into() }
    }

    #[test]
    fn exports_hold_what_the_commands_need() {
        let setup =
            ShellSetup::new("/state/my fleet/kubeconfig".into(), Some(&cli()), Some("/cache/k8s/kubectl".as_ref()));
        expect![[r#"
            export KUBECONFIG='/state/my fleet/kubeconfig'
            export ARGOCD_CONFIG_DIR='/state/my fleet/cli'
            export PATH=/cache/argocd:/cache/k8s:"$PATH""#]]
        .assert_eq(&setup.exports().join("\n"));
        let setup = ShellSetup::new("/state/kubeconfig".into(), None, None);
        assert_eq!(setup.exports(), ["export KUBECONFIG=/state/kubeconfig"]);
    }

    #[tokio::test]
    async fn pasted_lines_run_in_one_shell_and_end_at_the_first_failure() {
        let dir = tempfile::tempdir().expect("a directory");
        let file = dir.path().join("file");
        let setup = ShellSetup { kubeconfig: file.clone(), ..ShellSetup::default() };
        let mut lines = setup.exports();
        lines.push("cat > \"$KUBECONFIG\" <<EOF\ntext\nEOF".into());
        paste(&lines, &[]).await.expect("they run");
        assert_eq!(std::fs::read_to_string(&file).expect("read"), "text\n");
        lines.extend(["echo no such object >&2; false".into(), "rm \"$KUBECONFIG\"".into()]);
        let error = paste(&lines, &[]).await.expect_err("a command fails");
        assert_eq!(error.to_string(), "the printed solution doesn't run: exit status: 1: no such object");
        assert!(file.exists(), "nothing runs after the command that failed");
    }
}
