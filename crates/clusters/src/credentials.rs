//! Clients for users of a kubeconfig. The user's credentials may come from a program: an exec credential plugin such as
//! kubelogin.
//!
//! kube runs such a program while it creates the client, and blocks until the program has ended.

use std::io::IsTerminal as _;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::time::Duration;

use kube::client::AuthError;
use kube::config::{ExecConfig, ExecInteractiveMode};
use kube::{Client, Config};
use rustix::process::{Pid, Signal, kill_process};
use thiserror::Error;
use tokio::sync::oneshot;

use crate::{exec_plugin, retry};

/// Time limit for a credential plugin.
const LIMIT: Duration = Duration::from_secs(10);

/// Time limit for a credential plugin that can ask a person at a terminal.
const LIMIT_AT_TERMINAL: Duration = Duration::from_secs(180);

/// An error that occurs while creating a client.
#[derive(Debug, Error)]
pub enum CredentialError {
    /// The credential plugin can't be started.
    #[error("failed to start the credential plugin `{program}`: {source}")]
    NotStarted {
        /// Name of the program.
        program: String,
        /// Install hint of the kubeconfig.
        install_hint: Option<String>,
        /// Cause of the failure.
        source: std::io::Error,
    },
    /// The credential plugin ended with an error.
    #[error("the credential plugin `{program}` ended with an error ({status}){}", after_colon(said))]
    Ended {
        /// Name of the program.
        program: String,
        /// Exit status of the program.
        status: ExitStatus,
        /// Last line that the program wrote to stderr; empty if the program writes to the user's own stderr.
        said: String,
    },
    /// The credential plugin didn't end in time.
    #[error("the credential plugin `{program}` didn't end within {seconds} s")]
    TimedOut {
        /// Name of the program.
        program: String,
        /// Time limit, in seconds.
        seconds: u64,
    },
    /// The credential plugin printed something that isn't credentials.
    #[error("the credential plugin `{program}` gave no credentials: {why}")]
    Unusable {
        /// Name of the program.
        program: String,
        /// Reason why the output can't be used.
        why: String,
    },
    /// The task that creates the client has ended.
    #[error("failed to get credentials: {0}")]
    Interrupted(String),
    /// The client couldn't be created for another reason.
    #[error(transparent)]
    Client(Box<kube::Error>),
}

impl CredentialError {
    /// Builds the error for a plugin that ended with an error, with the last line of what it wrote to stderr.
    pub(crate) fn ended(program: String, status: ExitStatus, stderr: &[u8]) -> Self {
        let said = String::from_utf8_lossy(stderr);
        let said = said.lines().map(str::trim).rfind(|line| !line.is_empty()).unwrap_or_default().to_owned();
        Self::Ended { program, status, said }
    }

    fn of(error: kube::Error, exec: Option<&ExecConfig>) -> Self {
        let Some(exec) = exec else { return Self::Client(Box::new(error)) };
        let program = exec.command.clone().unwrap_or_default();
        match error {
            kube::Error::Auth(AuthError::AuthExecStart(source)) => {
                Self::NotStarted { program, install_hint: exec.install_hint.clone(), source }
            }
            kube::Error::Auth(AuthError::AuthExecRun { out, .. }) => Self::ended(program, out.status, &out.stderr),
            kube::Error::Auth(error) => Self::Unusable { program, why: error.to_string() },
            error => Self::Client(Box::new(error)),
        }
    }
}

fn after_colon(said: &str) -> String {
    if said.is_empty() { String::new() } else { format!(": {said}") }
}

/// Creates a client for a configuration.
///
/// A credential plugin that exceeds its time limit is killed on Linux; elsewhere it keeps running.
///
/// # Errors
/// Returns an error if the credentials can't be obtained or used.
pub async fn client(config: Config) -> Result<Client, CredentialError> {
    let exec = config.auth_info.exec.clone();
    let limit = limit(exec.as_ref(), std::io::stdin().is_terminal());
    client_within(config, exec, limit).await
}

/// Creates a client for a command that only reads for some minutes: a credential plugin runs once, at most 8 plugins at
/// the same time, and its credentials aren't renewed. A plugin that exceeds its time limit is killed.
///
/// # Errors
/// Returns an error if the credentials can't be obtained or used.
pub async fn reading_client(mut config: Config) -> Result<Client, CredentialError> {
    if let Some(exec) = config.auth_info.exec.clone() {
        let has_terminal = std::io::stdin().is_terminal();
        let limit = limit(Some(&exec), has_terminal);
        exec_plugin::replace(&mut config.auth_info, &exec, limit, limit == LIMIT_AT_TERMINAL).await?;
    }
    retry::client(config).map_err(|error| CredentialError::of(error, None))
}

fn limit(exec: Option<&ExecConfig>, has_terminal: bool) -> Duration {
    let may_ask = exec.is_some_and(|exec| exec.interactive_mode != Some(ExecInteractiveMode::Never));
    if may_ask && has_terminal { LIMIT_AT_TERMINAL } else { LIMIT }
}

async fn client_within(config: Config, exec: Option<ExecConfig>, limit: Duration) -> Result<Client, CredentialError> {
    let Some(exec) = exec else { return retry::client(config).map_err(|error| CredentialError::of(error, None)) };
    let program = exec.command.clone().unwrap_or_default();
    let (made, client) = oneshot::channel();
    let (began, thread) = oneshot::channel();
    let runtime = tokio::runtime::Handle::current();
    // A thread of its own: at the end of the process, the runtime would wait for one of its blocking threads.
    let spawned = std::thread::Builder::new().name("credentials".into()).spawn(move || {
        let _entered = runtime.enter();
        // Send the thread's directory in /proc, if there is one. An error means that the caller has given up waiting.
        let _ = began.send(std::fs::read_link("/proc/thread-self").ok());
        let _ = made.send(retry::client(config));
    });
    if let Err(source) = spawned {
        return Err(CredentialError::NotStarted { program, install_hint: None, source });
    }
    let Ok(answer) = tokio::time::timeout(limit, client).await else {
        if let Ok(Some(thread)) = thread.await {
            kill_children(&PathBuf::from("/proc").join(thread));
        }
        return Err(CredentialError::TimedOut { program, seconds: limit.as_secs() });
    };
    match answer {
        Ok(made) => made.map_err(|error| CredentialError::of(error, Some(&exec))),
        Err(_) => Err(CredentialError::Unusable { program, why: "the thread that ran it has ended".into() }),
    }
}

/// Kills the processes that a thread has started.
fn kill_children(thread: &std::path::Path) {
    let children = std::fs::read_to_string(thread.join("children")).unwrap_or_default();
    let ids = children.split_whitespace().filter_map(|id| id.parse().ok()).filter_map(Pid::from_raw);
    for id in ids {
        // A process that has ended in the meantime needs no signal.
        let _ = kill_process(id, Signal::KILL);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plugin(command: &str, args: &[&str]) -> (Config, ExecConfig) {
        let mut exec: ExecConfig = serde_json::from_value(serde_json::json!({
            "apiVersion": "client.authentication.k8s.io/v1", "command": command, "args": args, "interactiveMode": "Never",
        }))
        .expect("a plugin");
        exec.install_hint = Some("get it from example.com".into());
        let mut config = Config::new("https://127.0.0.1:1".parse().expect("an address"));
        config.auth_info.exec = Some(exec.clone());
        (config, exec)
    }

    #[tokio::test]
    async fn a_reading_client_runs_its_plugin_once() {
        let dir = tempfile::tempdir().expect("a directory");
        let runs = dir.path().join("runs");
        let credential = r#"{"kind": "ExecCredential", "status": {"token": "t"}}"#;
        let script = format!("echo \"$KUBERNETES_EXEC_INFO\" >> '{}'; echo '{credential}'", runs.display());
        let (config, _) = plugin("sh", &["-c", &script]);
        assert!(reading_client(config).await.is_ok());
        let said = std::fs::read_to_string(&runs).expect("it ran");
        assert_eq!(
            said,
            "{\"apiVersion\":\"client.authentication.k8s.io/v1\",\"kind\":\"ExecCredential\",\"spec\":{\"interactive\":false}}\n"
        );
    }

    #[tokio::test]
    async fn a_reading_client_names_its_plugin_without_quoting_it() {
        for (script, expected) in [
            (
                "echo not logged in >&2; exit 3",
                "the credential plugin `sh` ended with an error (exit status: 3): not logged in",
            ),
            ("echo secret", "the credential plugin `sh` gave no credentials: its answer is no ExecCredential"),
            ("echo '{}'", "the credential plugin `sh` gave no credentials: its answer has no status"),
            (
                "echo '{\"status\": {}}'",
                "the credential plugin `sh` gave no credentials: its answer has neither a token nor a certificate with its key",
            ),
        ] {
            let error = reading_client(plugin("sh", &["-c", script]).0).await.err().expect("no credentials");
            assert_eq!(error.to_string(), expected);
        }
    }

    async fn refused(command: &str, args: &[&str], limit: Duration) -> CredentialError {
        let (config, exec) = plugin(command, args);
        match client_within(config, Some(exec), limit).await {
            Ok(_) => panic!("{command} gives no credentials"),
            Err(error) => error,
        }
    }

    #[tokio::test]
    async fn a_plugin_without_credentials_is_named() {
        for (command, args, expected) in [
            (
                "no-such-kubelogin",
                &[][..],
                "failed to start the credential plugin `no-such-kubelogin`: No such file or directory (os error 2)",
            ),
            ("/bin/false", &[], "the credential plugin `/bin/false` ended with an error (exit status: 1)"),
            (
                "sh",
                &["-c", "echo not logged in >&2; exit 3"],
                "the credential plugin `sh` ended with an error (exit status: 3): not logged in",
            ),
        ] {
            let error = refused(command, args, LIMIT).await;
            assert_eq!(error.to_string(), expected);
        }
        let error = refused("echo", &["hello"], LIMIT).await.to_string();
        assert!(error.starts_with("the credential plugin `echo` gave no credentials: "), "{error}");
    }

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn a_plugin_that_hangs_is_killed() {
        let dir = tempfile::tempdir().expect("a directory");
        let pipe = dir.path().join("pipe");
        rustix::fs::mknodat(
            rustix::fs::CWD,
            &pipe,
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::from_raw_mode(0o600),
            0,
        )
        .expect("a pipe");
        let script = format!("exec sleep 3600 > '{}'", pipe.display());
        let reader = std::thread::spawn(move || std::fs::read_to_string(pipe).expect("read"));
        let error = refused("sh", &["-c", &script], Duration::from_secs(1)).await;
        assert_eq!(error.to_string(), "the credential plugin `sh` didn't end within 1 s");
        // The pipe ends when no process has it open any more.
        assert_eq!(reader.join().expect("it ended"), "");
    }

    #[test]
    fn whoever_can_be_asked_has_more_time() {
        let (_, mut exec) = plugin("kubelogin", &[]);
        assert_eq!(limit(Some(&exec), true), LIMIT);
        exec.interactive_mode = Some(ExecInteractiveMode::IfAvailable);
        assert_eq!(limit(Some(&exec), true), LIMIT_AT_TERMINAL);
        assert_eq!(limit(Some(&exec), false), LIMIT);
    }
}
