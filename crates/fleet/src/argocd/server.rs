//! Argo CD's API server, for those who want the `argocd` command. Nothing else here needs it.
//!
//! It is reached by TLS on loopback with a certificate of the fleet's CA. Its administrator's password is one that it makes
//! itself when it first starts. With that a session is opened, and a configuration written by which the command verifies the
//! server and needs no login: neither password nor token is on a command line.

use std::path::PathBuf;

use clusters::cluster::Cluster;
use clusters::home::Home;
use clusters::keeper::protocol::ProcessSpec;
use clusters::kubeconfig::{self, base64};
use clusters::state_dir;
use clusters::state_dir::write_private;
use k8s_openapi::api::core::v1::Secret;
use kube::Api;
use kube::config::Kubeconfig;
use serde_json::{Value, json};

use super::processes::Place;
use super::{NAMESPACE, Programs};
use crate::error::FleetError;
use crate::kinds::SECRET;
use crate::objects::create;
use crate::port::listens;

/// The API server's process.
const PROCESS: &str = "argocd-server";

/// Where Argo CD looks for a certificate that it isn't to make itself.
const CERTIFICATE_SECRET: &str = "argocd-server-tls";

/// Where it leaves the password that it makes for [`ADMIN`].
const PASSWORD_SECRET: &str = "argocd-initial-admin-secret";

/// The one user that there is.
const ADMIN: &str = "admin";

/// How the `argocd` command is used on a fleet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cli {
    /// The command, of the server's own version.
    pub program: PathBuf,
    /// The directory with its configuration, for `ARGOCD_CONFIG_DIR`.
    pub config_dir: PathBuf,
}

/// Starts the API server, unless it runs, and opens a session for the `argocd` command.
pub(super) async fn start(home: &Home, hub: &Cluster, programs: &Programs) -> Result<Cli, FleetError> {
    let place = Place::of(home);
    let cli = Cli { program: programs.argocd.clone(), config_dir: place.dir("cli") };
    if home.keeper().processes().await?.iter().any(|p| p.name == PROCESS && p.pid.is_some()) {
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
    let [port, metrics] = home.keeper().reserve().await?;
    home.keeper().start(process(&place, programs, port, metrics)?).await?;
    listens(home, PROCESS, port).await?;
    let token = session(home, hub, port).await?;
    write_private(&place.dir("cli/config"), &config(port, home.ca(), &token).to_string())?;
    Ok(cli)
}

fn process(place: &Place, programs: &Programs, port: u16, metrics: u16) -> Result<ProcessSpec, FleetError> {
    let args = [
        "--address=127.0.0.1".to_owned(),
        format!("--port={port}"),
        "--metrics-address=127.0.0.1".to_owned(),
        format!("--metrics-port={metrics}"),
        format!("--redis={}", place.redis().display()),
        format!("--repo-server=127.0.0.1:{}", place.repo_server_port()?),
        // Without it, the repo-server's certificate isn't verified.
        "--repo-server-strict-tls=true".to_owned(),
    ];
    Ok(ProcessSpec {
        name: PROCESS.into(),
        program: programs.argocd.clone(),
        args: args.to_vec(),
        env: place.env(PROCESS),
        ..ProcessSpec::default()
    })
}

/// Logs in as a user does, and returns the session's token. Argo CD lets it expire after a day.
async fn session(home: &Home, hub: &Cluster, port: u16) -> Result<String, FleetError> {
    let secrets: Api<Secret> = Api::namespaced(hub.client.clone(), NAMESPACE);
    let failed = || FleetError::api(&hub.name, format!("read Secret/{PASSWORD_SECRET}"));
    let secret = secrets.get(PASSWORD_SECRET).await.map_err(failed())?;
    let password = secret.data.and_then(|mut data| data.remove("password")).unwrap_or_default().0;
    let server = json!({
        "current-context": PROCESS,
        "contexts": [{"name": PROCESS, "context": {"cluster": PROCESS, "user": PROCESS}}],
        "clusters": [{"name": PROCESS, "cluster": {
            "server": format!("https://127.0.0.1:{port}"), "certificate-authority-data": base64(home.ca()),
        }}],
        "users": [{"name": PROCESS, "user": {}}],
    });
    let unreadable = |why: String| FleetError::Unreadable { what: format!("the answer of {PROCESS}"), why };
    let server: Kubeconfig = serde_json::from_value(server).map_err(|e| unreadable(e.to_string()))?;
    let client = kubeconfig::client(server, PROCESS).await?;
    let body = json!({"username": ADMIN, "password": String::from_utf8_lossy(&password)});
    let request = http::Request::post("/api/v1/session")
        .header("content-type", "application/json")
        .body(body.to_string().into_bytes());
    let answer: Result<Value, kube::Error> = client.request(request.unwrap_or_default()).await;
    let answer = answer.map_err(FleetError::api(PROCESS, "log in"))?;
    let token = answer.get("token").and_then(Value::as_str);
    token.map(ToOwned::to_owned).ok_or_else(|| unreadable("it has no token".into()))
}

/// The `argocd` command's configuration.
fn config(port: u16, ca: &str, token: &str) -> Value {
    let server = format!("127.0.0.1:{port}");
    json!({
        "current-context": server,
        "contexts": [{"name": server, "server": server, "user": server}],
        "servers": [{"server": server, "certificate-authority-data": base64(ca), "grpc-web-root-path": ""}],
        "users": [{"name": server, "auth-token": token}],
    })
}
