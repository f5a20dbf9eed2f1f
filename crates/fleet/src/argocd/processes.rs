//! Argo CD's components as processes: their command lines and where they keep things.

use std::ffi::OsString;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use clusters::cluster::Cluster;
use clusters::error::ClusterError;
use clusters::home::Home;
use clusters::keeper::protocol::ProcessSpec;
use clusters::state_dir;
use clusters::state_dir::write_private;
use serde_json::json;

use super::{NAMESPACE, Programs};
use crate::error::FleetError;
use crate::port::{self, listens};

/// A component of Argo CD that is always there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Component {
    /// The cache that the others share.
    Redis,
    /// Renders manifests.
    RepoServer,
    /// Compares and syncs.
    Controller,
}

impl Component {
    /// The name of its process.
    #[must_use]
    pub fn process(self) -> &'static str {
        match self {
            Self::Redis => "argocd-redis",
            Self::RepoServer => "argocd-repo-server",
            Self::Controller => "argocd-application-controller",
        }
    }
}

/// Argo CD's own directory in the fleet's.
const ROOT: &str = "argocd";

/// The file with the repo-server's port, for what is started later.
const REPO_SERVER_PORT: &str = "repo-server.port";

/// Where the repo-server's tools are, in the fleet's directory.
pub(super) fn tools(fleet: &Path) -> PathBuf {
    fleet.join(ROOT).join("bin")
}

/// Argo CD's own directory.
pub(super) struct Place {
    root: PathBuf,
    redis: PathBuf,
}

impl Place {
    /// The directory of a fleet, whether it is made already or not.
    pub fn of(home: &Home) -> Self {
        let fleet = home.dir();
        // Beside the keeper's own socket: a socket's path can't be long.
        Self { root: fleet.join(ROOT), redis: fleet.join("redis.sock") }
    }

    /// Makes the directory with all that the components look for in it.
    pub fn prepare(home: &Home, programs: &Programs) -> Result<Self, FleetError> {
        let place = Self::of(home);
        for dir in ["", "bin", "conf", "conf/reposerver", "conf/reposerver/tls", "conf/controller"] {
            state_dir::make_private(&place.root.join(dir))?;
        }
        for dir in ["conf/controller/tls", "gpg", "gnupg", "home", "plugins", "ssh", "tls", "tmp"] {
            state_dir::make_private(&place.root.join(dir))?;
        }
        let serving = home.serving_certificate("argocd-repo-server")?;
        for (file, text) in [
            ("conf/reposerver/tls/tls.crt", serving.certificate.as_str()),
            ("conf/reposerver/tls/tls.key", &serving.key),
            ("conf/controller/tls/ca.crt", home.ca()),
        ] {
            write_private(&place.root.join(file), text)?;
        }
        for (name, program) in [("kustomize", &programs.kustomize), ("helm", &programs.helm), ("git", &programs.git)] {
            let link = place.root.join("bin").join(name);
            match symlink(program, &link) {
                Err(source) if source.kind() != std::io::ErrorKind::AlreadyExists => {
                    return Err(ClusterError::Io { action: "write", path: link, source }.into());
                }
                _ => {}
            }
        }
        Ok(place)
    }

    /// Writes the kubeconfig by which the components reach the hub.
    pub fn write_kubeconfig(&self, hub: &Cluster, token: &str) -> Result<(), FleetError> {
        let ca = clusters::kubeconfig::base64(&hub.ca);
        let config = json!({
            "apiVersion": "v1", "kind": "Config", "current-context": "hub",
            "clusters": [{"name": "hub", "cluster": {"server": hub.server, "certificate-authority-data": ca}}],
            "users": [{"name": "argocd", "user": {"token": token}}],
            "contexts": [{"name": "hub", "context": {"cluster": "hub", "user": "argocd", "namespace": NAMESPACE}}],
        });
        Ok(write_private(&self.kubeconfig(), &config.to_string())?)
    }

    /// A file or directory of Argo CD's.
    pub fn dir(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }

    /// The cache's socket.
    pub fn redis(&self) -> &Path {
        &self.redis
    }

    /// Where the repo-server that runs listens.
    pub fn repo_server_port(&self) -> Result<u16, FleetError> {
        port::read(&self.root.join(REPO_SERVER_PORT))
    }

    fn kubeconfig(&self) -> PathBuf {
        self.root.join("kubeconfig")
    }

    pub fn env(&self, role: &str) -> Vec<(String, String)> {
        let at = |path: &str| self.root.join(path).display().to_string();
        let env = [
            ("ARGOCD_BINARY_NAME", role.to_owned()),
            // The hub is then `https://kubernetes.default.svc`, although nothing here runs in a pod.
            ("ARGOCD_FAKE_IN_CLUSTER", "true".into()),
            ("KUBECONFIG", self.kubeconfig().display().to_string()),
            ("ARGOCD_APP_CONF_PATH", at("conf")),
            ("ARGOCD_TLS_DATA_PATH", at("tls")),
            ("ARGOCD_SSH_DATA_PATH", at("ssh")),
            ("ARGOCD_GPG_ENABLED", "false".into()),
            ("ARGOCD_GPG_DATA_PATH", at("gpg")),
            ("ARGOCD_GNUPGHOME", at("gnupg")),
            ("ARGOCD_PLUGINSOCKFILEPATH", at("plugins")),
            // By default in /tmp, where a second fleet's, or another user's, may be.
            ("ARGOCD_ASK_PASS_SOCK", at("tmp/ask-pass.sock")),
            ("HOSTNAME", format!("{role}-0")),
            ("HOME", at("home")),
            ("TMPDIR", at("tmp")),
        ];
        env.map(|(key, value)| (key.to_owned(), value)).to_vec()
    }
}

/// Starts all components and waits until they listen.
pub(super) async fn start(home: &Home, place: &Place, programs: &Programs) -> Result<(), FleetError> {
    let keeper = home.keeper();
    let [repo_server, repo_server_metrics, controller_metrics] = keeper.reserve().await?;
    port::write(&place.root.join(REPO_SERVER_PORT), repo_server)?;
    keeper.start(redis(place, programs)).await?;
    keeper.start(self::repo_server(place, programs, repo_server, repo_server_metrics)).await?;
    keeper.start(controller(place, programs, repo_server, controller_metrics)).await?;
    for (component, port) in [(Component::RepoServer, repo_server), (Component::Controller, controller_metrics)] {
        listens(home, component.process(), port).await?;
    }
    Ok(())
}

/// The cache keeps nothing and is reached by a socket in the fleet's directory, which other users can't enter.
fn redis(place: &Place, programs: &Programs) -> ProcessSpec {
    let args = ["--port", "0", "--unixsocketperm", "700", "--save", "", "--appendonly", "no", "--unixsocket"];
    let mut args: Vec<String> = args.map(ToOwned::to_owned).to_vec();
    args.push(place.redis.display().to_string());
    ProcessSpec {
        name: Component::Redis.process().into(),
        program: programs.redis.clone(),
        args,
        ..ProcessSpec::default()
    }
}

fn repo_server(place: &Place, programs: &Programs, port: u16, metrics: u16) -> ProcessSpec {
    let args = [
        "--address=127.0.0.1".to_owned(),
        format!("--port={port}"),
        "--metrics-address=127.0.0.1".to_owned(),
        format!("--metrics-port={metrics}"),
        format!("--redis={}", place.redis.display()),
    ];
    let mut env = place.env("argocd-repo-server");
    env.push(("PATH".into(), path(place, &programs.git).to_string_lossy().into_owned()));
    ProcessSpec {
        name: Component::RepoServer.process().into(),
        program: programs.argocd.clone(),
        args: args.to_vec(),
        env,
        ..ProcessSpec::default()
    }
}

/// The controller serves its metrics on all interfaces, and no flag changes that (v3.2.11); they name Applications, and
/// hold no secrets.
fn controller(place: &Place, programs: &Programs, repo_server: u16, metrics: u16) -> ProcessSpec {
    let args = [
        format!("--kubeconfig={}", place.kubeconfig().display()),
        format!("--namespace={NAMESPACE}"),
        format!("--redis={}", place.redis.display()),
        format!("--repo-server=127.0.0.1:{repo_server}"),
        // Without it, the repo-server's certificate isn't verified.
        "--repo-server-strict-tls=true".to_owned(),
        format!("--metrics-port={metrics}"),
    ];
    ProcessSpec {
        name: Component::Controller.process().into(),
        program: programs.argocd.clone(),
        args: args.to_vec(),
        env: place.env("argocd-application-controller"),
        ..ProcessSpec::default()
    }
}

/// The repo-server finds the programs that it renders with, and what git itself calls; not the user's own.
fn path(place: &Place, git: &Path) -> OsString {
    let mut dirs = vec![place.root.join("bin"), "/usr/bin".into(), "/bin".into()];
    dirs.extend(git.parent().map(Path::to_owned));
    std::env::join_paths(dirs).unwrap_or_default()
}
