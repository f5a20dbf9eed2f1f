//! Exec credential plugins whose credentials are used as they are: one run of the plugin for one client.
//!
//! kube runs a plugin three times for each client (v5.0.0), and again when the credentials expire. A client that only
//! reads for some minutes needs them once; hundreds of members would otherwise start hundreds of programs too many.

use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use kube::config::{AuthInfo, ExecConfig, ExecInteractiveMode};
use serde::Deserialize;
use serde_json::json;
use tokio::process::Command;
use tokio::sync::{Semaphore, SemaphorePermit};

use crate::credentials::CredentialError;
use crate::kubeconfig::base64;

/// Credential plugins that run at the same time. Each is a program that may take a processor for a second.
const AT_ONCE: u32 = 8;

static RUNNING: Semaphore = Semaphore::const_new(AT_ONCE as usize);

/// True after the first plugin that may ask a person. It runs alone: the others find the login that it leaves.
static ASKED: AtomicBool = AtomicBool::new(false);

#[derive(Deserialize)]
struct ExecCredential {
    status: Option<ExecCredentialStatus>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ExecCredentialStatus {
    token: Option<String>,
    client_certificate_data: Option<String>,
    client_key_data: Option<String>,
}

/// Waits until the plugin may run.
async fn turn(may_ask: bool) -> Option<SemaphorePermit<'static>> {
    let alone = may_ask && !ASKED.swap(true, Ordering::Relaxed);
    // The semaphore is never closed.
    RUNNING.acquire_many(if alone { AT_ONCE } else { 1 }).await.ok()
}

/// Runs a user's plugin, and puts its credentials in its place.
///
/// # Errors
/// Returns an error if the plugin fails, doesn't end within `limit`, or prints no credentials.
pub(crate) async fn replace(
    user: &mut AuthInfo,
    exec: &ExecConfig,
    limit: Duration,
    may_ask: bool,
) -> Result<(), CredentialError> {
    let status = {
        let _turn = turn(may_ask).await;
        run(exec, limit).await?
    };
    user.exec = None;
    match (status.token, status.client_certificate_data, status.client_key_data) {
        (token, Some(certificate), Some(key)) => {
            user.client_certificate_data = Some(base64(&certificate));
            user.client_key_data = Some(base64(&key).into());
            user.token = token.map(Into::into);
        }
        (Some(token), _, _) => user.token = Some(token.into()),
        _ => return Err(unusable(exec, "its answer has neither a token nor a certificate with its key")),
    }
    Ok(())
}

async fn run(exec: &ExecConfig, limit: Duration) -> Result<ExecCredentialStatus, CredentialError> {
    let program = exec.command.clone().unwrap_or_default();
    let interactive = exec.interactive_mode != Some(ExecInteractiveMode::Never);
    let mut command = Command::new(&program);
    command.args(exec.args.iter().flatten()).kill_on_drop(true).stdout(Stdio::piped());
    let variables = exec.env.iter().flatten().filter_map(|variable| variable.get("name").zip(variable.get("value")));
    command.envs(variables).env("KUBERNETES_EXEC_INFO", request(exec, interactive)?);
    for name in exec.drop_env.iter().flatten() {
        command.env_remove(name);
    }
    if interactive {
        command.stdin(Stdio::inherit()).stderr(Stdio::inherit());
    } else {
        command.stdin(Stdio::null()).stderr(Stdio::piped());
    }
    let child = command.spawn();
    let child = child.map_err(|source| CredentialError::NotStarted {
        program: program.clone(),
        install_hint: exec.install_hint.clone(),
        source,
    })?;
    let output = match tokio::time::timeout(limit, child.wait_with_output()).await {
        Ok(Ok(output)) => output,
        Ok(Err(error)) => return Err(unusable(exec, &error.to_string())),
        Err(_) => return Err(CredentialError::TimedOut { program, seconds: limit.as_secs() }),
    };
    if !output.status.success() {
        return Err(CredentialError::ended(program, output.status, &output.stderr));
    }
    // Some plugins print YAML. A parser's message could quote a token.
    let credential: Result<ExecCredential, _> = serde_saphyr::from_slice(&output.stdout);
    let credential = credential.map_err(|_| unusable(exec, "its answer is no ExecCredential"))?;
    credential.status.ok_or_else(|| unusable(exec, "its answer has no status"))
}

/// Returns the value of `KUBERNETES_EXEC_INFO`.
fn request(exec: &ExecConfig, interactive: bool) -> Result<String, CredentialError> {
    let mut spec = json!({"interactive": interactive});
    if exec.provide_cluster_info {
        let cluster = exec.cluster.as_ref().ok_or_else(|| unusable(exec, "the kubeconfig lacks its cluster"))?;
        spec["cluster"] = serde_json::to_value(cluster).map_err(|error| unusable(exec, &error.to_string()))?;
    }
    Ok(json!({"apiVersion": exec.api_version, "kind": "ExecCredential", "spec": spec}).to_string())
}

fn unusable(exec: &ExecConfig, why: &str) -> CredentialError {
    CredentialError::Unusable { program: exec.command.clone().unwrap_or_default(), why: why.to_owned() }
}
