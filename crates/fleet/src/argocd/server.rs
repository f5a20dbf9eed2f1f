//! Argo CD's API server, for users of the `argocd` command. Nothing else here needs it.
//!
//! The server listens with TLS on loopback, with a certificate of the fleet's CA. At its first start it generates the
//! administrator's password. This password opens a session, whose token is written to a configuration for the command.
//! With this configuration the command verifies the server and needs no login, so neither password nor token is on a
//! command line.

use std::path::PathBuf;

use clusters::cluster::Cluster;
use clusters::home::FleetHome;
use clusters::kubeconfig::{self, base64};
use clusters::state_dir;
use clusters::state_dir::write_private;
use clusters::supervisor::protocol::ProcessSpec;
use k8s_openapi::api::core::v1::Secret;
use kube::Api;
use kube::config::Kubeconfig;
use serde_json::{Value, json};

use super::processes::{ArgoCdPaths, KUBECONFIG};
use super::{ArgoCdPrograms, NAMESPACE};
use crate::error::FleetError;
use crate::kinds::SECRET;
use crate::objects::create;
use crate::port::listens;

/// Name of the API server's process.
pub(super) const PROCESS: &str = "argocd-server";

/// Secret with the server's certificate. Without this Secret, Argo CD makes a certificate itself.
const CERTIFICATE_SECRET: &str = "argocd-server-tls";

/// Secret in which Argo CD stores the password that it generates for [`ADMIN`].
const PASSWORD_SECRET: &str = "argocd-initial-admin-secret";

/// Name of the administrator, the only user.
const ADMIN: &str = "admin";

/// Program and configuration for the `argocd` command on a fleet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArgoCdCli {
    /// Path of the command, which has the server's own version.
    pub program: PathBuf,
    /// Directory of the command's configuration, for `ARGOCD_CONFIG_DIR`.
    pub config_dir: PathBuf,
}

/// Starts the API server, unless it runs, and opens a session for the `argocd` command.
pub(crate) async fn start(home: &FleetHome, hub: &Cluster, programs: &ArgoCdPrograms) -> Result<ArgoCdCli, FleetError> {
    let place = ArgoCdPaths::of(home);
    let cli = ArgoCdCli { program: programs.argocd.clone(), config_dir: place.dir("cli") };
    if home.supervisor().processes().await?.iter().any(|p| p.name == PROCESS && p.pid.is_some()) {
        return Ok(cli);
    }
    for dir in ["cli", "conf/server", "conf/server/tls"] {
        state_dir::make_private(&place.dir(dir))?;
    }
    write_private(&place.dir("conf/server/tls/ca.crt"), home.ca())?;
    let serving = home.serving_certificate(PROCESS)?;
    let secret = json!({
        "apiVersion": "v1", "kind": "Secret", "type": "kubernetes.io/tls",
        "metadata": {"name": CERTIFICATE_SECRET, "labels": {"app.kubernetes.io/part-of": "argocd"}},
        "stringData": {"tls.crt": serving.certificate, "tls.key": serving.key},
    });
    create(hub, SECRET, Some(NAMESPACE), secret).await?;
    let [port, metrics] = home.supervisor().reserve().await?;
    home.supervisor().start(process(&place, programs, port, metrics)?).await?;
    listens(home, PROCESS, port).await?;
    let token = session(home, hub, port).await?;
    write_private(&place.dir("cli/config"), &config(port, home.ca(), &token).to_string())?;
    Ok(cli)
}

fn process(place: &ArgoCdPaths, programs: &ArgoCdPrograms, port: u16, metrics: u16) -> Result<ProcessSpec, FleetError> {
    let args = [
        "--address=127.0.0.1".to_owned(),
        format!("--port={port}"),
        "--metrics-address=127.0.0.1".to_owned(),
        format!("--metrics-port={metrics}"),
        format!("--redis={}", place.redis().display()),
        format!("--repo-server=127.0.0.1:{}", place.repo_server_port()?),
    ];
    let mut env = place.env(PROCESS, KUBECONFIG);
    env.extend(place.trust_in_repo_server("SERVER", "server"));
    Ok(ProcessSpec {
        name: PROCESS.into(),
        program: programs.argocd.clone(),
        args: args.to_vec(),
        env,
        ..ProcessSpec::default()
    })
}

/// Logs in as a user does, and returns the session's token, which Argo CD lets expire after a day.
async fn session(home: &FleetHome, hub: &Cluster, port: u16) -> Result<String, FleetError> {
    let secrets: Api<Secret> = Api::namespaced(hub.client.clone(), NAMESPACE);
    let secret = secrets.get(PASSWORD_SECRET).await;
    let secret = secret.map_err(FleetError::api(&hub.name, format!("read Secret/{PASSWORD_SECRET}")))?;
    let password = secret.data.and_then(|mut data| data.remove("password")).unwrap_or_default().0;
    let server = json!({
        "current-context": PROCESS,
        "contexts": [{"name": PROCESS, "context": {"cluster": PROCESS, "user": PROCESS}}],
        "clusters": [{"name": PROCESS, "cluster": {
            "server": format!("https://127.0.0.1:{port}"), "certificate-authority-data": base64(home.ca()),
        }}],
        "users": [{"name": PROCESS, "user": {}}],
    });
    let what = format!("the answer of {PROCESS}");
    let server: Kubeconfig =
        serde_json::from_value(server).map_err(|e| FleetError::unreadable(&what, e.to_string()))?;
    let client = kubeconfig::client(server, PROCESS).await?;
    let body = json!({"username": ADMIN, "password": String::from_utf8_lossy(&password)});
    let request = http::Request::post("/api/v1/session")
        .header("content-type", "application/json")
        .body(body.to_string().into_bytes());
    let answer: Result<Value, kube::Error> = client.request(request.unwrap_or_default()).await;
    let answer = answer.map_err(FleetError::api(PROCESS, "log in"))?;
    let token = answer.get("token").and_then(Value::as_str);
    token.map(ToOwned::to_owned).ok_or_else(|| FleetError::unreadable(what, "it has no token"))
}

/// Configuration of the `argocd` command.
fn config(port: u16, ca: &str, token: &str) -> Value {
    let server = format!("127.0.0.1:{port}");
    json!({
        "current-context": server,
        "contexts": [{"name": server, "server": server, "user": server}],
        "servers": [{"server": server, "certificate-authority-data": base64(ca), "grpc-web-root-path": ""}],
        "users": [{"name": server, "auth-token": token}],
    })
}
