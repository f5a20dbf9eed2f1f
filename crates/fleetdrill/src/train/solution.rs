//! Lines for a trainee's shell: the environment that a page names, and the commands of a solution.
//!
//! A page prints these lines, and `train verify` runs the same ones.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use diagnosis::quoted;
use fleet::argocd::Cli;
use tokio::process::Command;

use super::exercise::Exercise;
use super::room::{Part, Room};
use crate::error::CommandError;

/// How long the commands of a solution may take: `argocd app sync` has no limit of its own.
const LIMIT: Duration = Duration::from_secs(180);

/// Stands for the name that an exercise was started under.
const EXERCISE: &str = "{exercise}";

/// The environment in which the commands of a page work.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShellSetup {
    /// The kubeconfig with all contexts.
    pub kubeconfig: PathBuf,
    /// The configuration of the `argocd` command, where the fleet has Argo CD's API server.
    pub argocd_config: Option<PathBuf>,
    /// Directories for the beginning of the PATH.
    pub program_dirs: Vec<PathBuf>,
}

impl ShellSetup {
    /// The environment for a fleet's kubeconfig, its `argocd` command, and a `kubectl` where the PATH has none.
    #[must_use]
    pub fn new(kubeconfig: PathBuf, argocd: Option<&Cli>, kubectl: Option<&Path>) -> Self {
        let programs = argocd.map(|cli| cli.program.as_path()).into_iter().chain(kubectl);
        let program_dirs = programs.filter_map(Path::parent).map(Path::to_owned).collect();
        Self { kubeconfig, argocd_config: argocd.map(|cli| cli.config_dir.clone()), program_dirs }
    }

    /// `export` lines for a POSIX shell.
    #[must_use]
    pub fn exports(&self) -> Vec<String> {
        let word = |path: &Path| quoted(&path.display().to_string());
        let mut lines = vec![format!("export KUBECONFIG={}", word(&self.kubeconfig))];
        lines.extend(self.argocd_config.as_deref().map(|dir| format!("export ARGOCD_CONFIG_DIR={}", word(dir))));
        let dirs: String = self.program_dirs.iter().flat_map(|dir| [word(dir), ":".to_owned()]).collect();
        if !dirs.is_empty() {
            lines.push(format!("export PATH={dirs}\"$PATH\""));
        }
        lines
    }
}

/// The commands that repair an exercise, in the order of its faults. Each may have several lines.
#[must_use]
pub fn commands(room: &Room, exercise: &Exercise) -> Vec<String> {
    let filled = |command: &str, part: &Part| part.scene.fill(command).replace(EXERCISE, &room.name);
    let faults = exercise.faults.iter().zip(&room.parts);
    faults.flat_map(|(fault, part)| fault.commands.iter().map(|command| filled(command, part))).collect()
}

/// Runs lines in a shell as a trainee would who pastes them, and ends at the first command that fails.
///
/// `programs` are directories with what a trainee has on the PATH: this program, and a `kubectl`.
///
/// # Errors
/// With what the shell said, when a command fails or the time is up.
pub async fn paste(lines: &[String], programs: &[PathBuf]) -> Result<(), CommandError> {
    let failed = |why: String| CommandError::Environment {
        message: format!("the printed solution doesn't run: {why}"),
        hint: None,
    };
    let inherited = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths(programs.iter().cloned().chain(std::env::split_paths(&inherited)));
    let mut shell = Command::new("bash");
    shell
        .args(["-e", "-c", &lines.join("\n")])
        .env("PATH", path.map_err(|error| failed(error.to_string()))?)
        .env_remove("KUBECONFIG")
        .env_remove("ARGOCD_CONFIG_DIR")
        // Whoever commits has an identity; nothing else of this machine's configuration of git counts.
        .envs(["GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME"].map(|key| (key, "trainee")))
        .envs(["GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"].map(|key| (key, "trainee@localhost")))
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .stdin(Stdio::null())
        .kill_on_drop(true);
    let ended = tokio::time::timeout(LIMIT, shell.output()).await;
    let ended = ended.map_err(|_| failed(format!("it takes more than {} s", LIMIT.as_secs())))?;
    let ended = ended.map_err(|error| failed(format!("bash: {error}")))?;
    if ended.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&ended.stderr);
    Err(failed(format!("{}: {}", ended.status, said.trim())))
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    fn cli() -> Cli {
        Cli { program: "/cache/argocd/argocd".into(), config_dir: "/state/my fleet/cli".into() }
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
