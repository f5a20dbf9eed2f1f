//! Argo CD's components as processes: their command lines, environment and files.

use std::ffi::OsString;
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use clusters::cluster::Cluster;
use clusters::error::ClusterError;
use clusters::home::FleetHome;
use clusters::local::GARBAGE_COLLECTION;
use clusters::state_dir;
use clusters::state_dir::write_private;
use clusters::supervisor::protocol::ProcessSpec;
use serde_json::json;

use super::{ArgoCdPrograms, NAMESPACE};
use crate::error::FleetError;
use crate::port::{self, listens};

/// A component of Argo CD, without the API server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArgoCdComponent {
    /// Redis, the cache that the other components share.
    Redis,
    /// The repo-server, which renders manifests.
    RepoServer,
    /// The application-controller, which compares and syncs Applications.
    Controller,
    /// The ApplicationSet controller, which makes Applications. It runs where a scenario or a user asks for it.
    ApplicationSetController,
}

impl ArgoCdComponent {
    /// All components, each before those that connect to it.
    pub(super) const ALL: [Self; 4] = [Self::Redis, Self::RepoServer, Self::Controller, Self::ApplicationSetController];

    /// Name of the component's process.
    #[must_use]
    pub fn process(self) -> &'static str {
        match self {
            Self::Redis => "argocd-redis",
            Self::RepoServer => "argocd-repo-server",
            Self::Controller => "argocd-application-controller",
            Self::ApplicationSetController => "argocd-applicationset-controller",
        }
    }
}

/// Name of Argo CD's directory in the fleet's directory.
const ROOT: &str = "argocd";

/// File with the kubeconfig of the components that always run.
pub(super) const KUBECONFIG: &str = "kubeconfig";

/// Redis's configuration file, which has its password: other users can read command lines.
const REDIS_CONFIG: &str = "redis.conf";

/// File with redis's password, for the environment of the other components.
const REDIS_PASSWORD: &str = "redis.password";

/// File with the repo-server's port, for processes that are started later.
pub(super) const REPO_SERVER_PORT: &str = "repo-server.port";

/// Name of the program that the repo-server calls for each commit since v3.5, also if no signatures are asked for. Argo CD's image has it,
/// a build from its module hasn't. Without it, each comparison fails with `permission denied`.
const VERIFY_PROGRAM: &str = "git-verify-wrapper.sh";

/// Prints what git says of a signature. A commit without one isn't an error.
const VERIFY_SCRIPT: &str = "\
#!/bin/sh
if git describe --exact-match \"$1\" >/dev/null 2>&1; then object=tag; else object=commit; fi
said=$(git verify-$object \"$1\" 2>&1)
status=$?
if [ $status -gt 1 ]; then echo \"$said\" >&2; exit $status; fi
case $said in error:*) ;; *) echo \"$said\" ;; esac
";

/// Path of the directory with the repo-server's tools, in the fleet's directory.
pub(crate) fn tools(fleet: &Path) -> PathBuf {
    fleet.join(ROOT).join("bin")
}

/// Argo CD's directory and its redis socket.
pub(crate) struct ArgoCdPaths {
    root: PathBuf,
    redis: PathBuf,
}

/// CA of the certificates that the repo-server asks its clients for (since v3.5).
const CLIENT_CA: &str = "conf/reposerver/mtls/client-ca.crt";
/// Certificate of the repo-server's clients.
const CLIENT_CERTIFICATE: &str = "conf/reposerver/mtls/client.crt";
/// Key of the repo-server's clients.
const CLIENT_KEY: &str = "conf/reposerver/mtls/client.key";

impl ArgoCdPaths {
    /// Paths for a fleet, whether the directory exists already or not.
    pub fn of(home: &FleetHome) -> Self {
        let fleet = home.dir();
        // In the fleet's own directory, like the supervisor's socket: the path of a socket can't be long.
        Self { root: fleet.join(ROOT), redis: fleet.join("redis.sock") }
    }

    /// Creates the directory with all files that the components need.
    pub fn prepare(home: &FleetHome, programs: &ArgoCdPrograms) -> Result<Self, FleetError> {
        let place = Self::of(home);
        for dir in
            ["", "bin", "conf", "conf/reposerver", "conf/reposerver/mtls", "conf/reposerver/tls", "conf/controller"]
        {
            state_dir::make_private(&place.root.join(dir))?;
        }
        for dir in ["conf/controller/tls", "gpg", "gnupg", "home", "plugins", "ssh", "tls", "tmp"] {
            state_dir::make_private(&place.root.join(dir))?;
        }
        let serving = home.serving_certificate("argocd-repo-server")?;
        let client = home.client_certificate("argocd-repo-server-client")?;
        let password = super::install::random();
        for (file, text) in [
            (CLIENT_CA, home.ca()),
            (CLIENT_CERTIFICATE, &client.certificate),
            (CLIENT_KEY, &client.key),
            ("conf/reposerver/tls/tls.crt", serving.certificate.as_str()),
            ("conf/reposerver/tls/tls.key", &serving.key),
            ("conf/controller/tls/ca.crt", home.ca()),
            (REDIS_CONFIG, &format!("requirepass {password}\n")),
            (REDIS_PASSWORD, &password),
            // Without the file, no repository can be read over SSH.
            ("ssh/ssh_known_hosts", ""),
        ] {
            write_private(&place.root.join(file), text)?;
        }
        place.link_tools(programs)?;
        let verify = place.root.join("bin").join(VERIFY_PROGRAM);
        write_private(&verify, VERIFY_SCRIPT)?;
        if let Err(source) = fs::set_permissions(&verify, Permissions::from_mode(0o700)) {
            return Err(ClusterError::Io { action: "write", path: verify, source }.into());
        }
        Ok(place)
    }

    /// Gives the repo-server the programs that it renders with, instead of those that it had before.
    pub fn link_tools(&self, programs: &ArgoCdPrograms) -> Result<(), FleetError> {
        let tools = [
            ("kustomize", &programs.kustomize),
            ("helm", &programs.helm),
            ("git", &programs.git),
            // git asks Argo CD itself for credentials, by this name.
            ("argocd", &programs.argocd),
        ];
        tools.into_iter().try_for_each(|(name, program)| self.link_tool(name, program))
    }

    /// Gives the repo-server a program under this name, instead of one that it had before.
    pub fn link_tool(&self, name: &str, program: &Path) -> Result<(), FleetError> {
        let (link, new) = (self.root.join("bin").join(name), self.root.join("tmp").join(name));
        // A link can't be replaced in place: the new one is renamed to the old one.
        let linked = symlink(program, &new).and_then(|()| fs::rename(&new, &link));
        Ok(linked.map_err(|source| ClusterError::Io { action: "write", path: link, source })?)
    }

    /// Writes a kubeconfig by which a component reaches the hub.
    pub fn write_kubeconfig(&self, file: &str, hub: &Cluster, token: &str) -> Result<(), FleetError> {
        let ca = clusters::kubeconfig::base64(&hub.ca);
        let config = json!({
            "apiVersion": "v1", "kind": "Config", "current-context": "hub",
            "clusters": [{"name": "hub", "cluster": {"server": hub.server, "certificate-authority-data": ca}}],
            "users": [{"name": "argocd", "user": {"token": token}}],
            "contexts": [{"name": "hub", "context": {"cluster": "hub", "user": "argocd", "namespace": NAMESPACE}}],
        });
        Ok(write_private(&self.dir(file), &config.to_string())?)
    }

    /// Path of a file or directory in Argo CD's directory.
    pub fn dir(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }

    /// Path of the redis socket.
    pub fn redis(&self) -> &Path {
        &self.redis
    }

    /// Port of the repo-server, as written when it was started.
    pub fn repo_server_port(&self) -> Result<u16, FleetError> {
        self.port(REPO_SERVER_PORT)
    }

    /// Port of a component, as written to this file when the component was started.
    pub fn port(&self, file: &str) -> Result<u16, FleetError> {
        port::read(&self.root.join(file))
    }

    fn display(&self, path: &str) -> String {
        self.root.join(path).display().to_string()
    }

    fn kubeconfig(&self) -> PathBuf {
        self.root.join(KUBECONFIG)
    }

    /// Variables by which a component verifies the repo-server's certificate and shows its own. `conf` is the component's directory below
    /// `conf/`, which holds the CA. The first variable is that of v3.2, deprecated in v3.5 for the second; a version ignores a variable that
    /// it doesn't know, but not a flag.
    pub fn trust_in_repo_server(&self, component: &str, conf: &str) -> [(String, String); 4] {
        [
            (format!("ARGOCD_{component}_REPO_SERVER_STRICT_TLS"), "true".to_owned()),
            (format!("ARGOCD_{component}_REPO_SERVER_CA_CERT_PATH"), self.display(&format!("conf/{conf}/tls/ca.crt"))),
            (format!("ARGOCD_{component}_REPO_SERVER_CLIENT_CERT_PATH"), self.display(CLIENT_CERTIFICATE)),
            (format!("ARGOCD_{component}_REPO_SERVER_CLIENT_CERT_KEY_PATH"), self.display(CLIENT_KEY)),
        ]
    }

    /// Environment of a component. `kubeconfig` is the file by which it reaches the hub.
    pub fn env(&self, role: &str, kubeconfig: &str) -> Vec<(String, String)> {
        let env = [
            ("ARGOCD_BINARY_NAME", role.to_owned()),
            // The hub is called `https://kubernetes.default.svc` then, although nothing here runs in a pod.
            ("ARGOCD_FAKE_IN_CLUSTER", "true".into()),
            ("KUBECONFIG", self.display(kubeconfig)),
            ("ARGOCD_APP_CONF_PATH", self.display("conf")),
            ("ARGOCD_TLS_DATA_PATH", self.display("tls")),
            ("ARGOCD_SSH_DATA_PATH", self.display("ssh")),
            ("ARGOCD_GPG_ENABLED", "false".into()),
            ("ARGOCD_GPG_DATA_PATH", self.display("gpg")),
            ("ARGOCD_GNUPGHOME", self.display("gnupg")),
            ("ARGOCD_PLUGINSOCKFILEPATH", self.display("plugins")),
            // The default is in /tmp, where the socket of a second fleet, or of another user, may be.
            ("ARGOCD_ASK_PASS_SOCK", self.display("tmp/ask-pass.sock")),
            (GARBAGE_COLLECTION.0, GARBAGE_COLLECTION.1.into()),
            ("HOSTNAME", format!("{role}-0")),
            ("HOME", self.display("home")),
            ("TMPDIR", self.display("tmp")),
        ];
        // A fleet that an earlier version of fleetdrill started has no password.
        let password = fs::read_to_string(self.dir(REDIS_PASSWORD)).ok().map(|password| ("REDIS_PASSWORD", password));
        env.into_iter().chain(password).map(|(key, value)| (key.to_owned(), value)).collect()
    }
}

/// Starts all components, and waits until the repo-server and the controller listen.
pub(super) async fn start(home: &FleetHome, place: &ArgoCdPaths, programs: &ArgoCdPrograms) -> Result<(), FleetError> {
    let supervisor = home.supervisor();
    let [repo_server, repo_server_metrics, controller_metrics] = supervisor.reserve().await?;
    port::write(&place.root.join(REPO_SERVER_PORT), repo_server)?;
    supervisor.start(redis(place, programs)).await?;
    supervisor.start(self::repo_server(place, programs, repo_server, repo_server_metrics)).await?;
    supervisor.start(controller(place, programs, repo_server, controller_metrics)).await?;
    for (component, port) in
        [(ArgoCdComponent::RepoServer, repo_server), (ArgoCdComponent::Controller, controller_metrics)]
    {
        listens(home, component.process(), port).await?;
    }
    Ok(())
}

/// Process of redis. It stores nothing on disk, and listens on a socket in the fleet's directory, which other users
/// can't enter.
fn redis(place: &ArgoCdPaths, programs: &ArgoCdPrograms) -> ProcessSpec {
    let (config, socket) = (place.display(REDIS_CONFIG), place.redis.display().to_string());
    let args = [
        &config,
        "--port",
        "0",
        "--unixsocketperm",
        "700",
        "--save",
        "",
        "--appendonly",
        "no",
        "--unixsocket",
        &socket,
    ];
    ProcessSpec {
        name: ArgoCdComponent::Redis.process().into(),
        program: programs.redis.clone(),
        args: args.map(ToOwned::to_owned).to_vec(),
        ..ProcessSpec::default()
    }
}

fn repo_server(place: &ArgoCdPaths, programs: &ArgoCdPrograms, port: u16, metrics: u16) -> ProcessSpec {
    let args = [
        "--address=127.0.0.1".to_owned(),
        format!("--port={port}"),
        "--metrics-address=127.0.0.1".to_owned(),
        format!("--metrics-port={metrics}"),
        format!("--redis={}", place.redis.display()),
    ];
    let mut env = place.env("argocd-repo-server", KUBECONFIG);
    env.push(("PATH".into(), path(place, &programs.git).to_string_lossy().into_owned()));
    // Whoever can call the repo-server can have it run programs as the fleet's user. v3.2 doesn't know the variable.
    env.push(("ARGOCD_REPO_SERVER_CLIENT_CA_PATH".into(), place.display(CLIENT_CA)));
    ProcessSpec {
        name: ArgoCdComponent::RepoServer.process().into(),
        program: programs.argocd.clone(),
        args: args.to_vec(),
        env,
        ..ProcessSpec::default()
    }
}

/// Process of the application-controller. It serves metrics on all interfaces, and no flag changes that (v3.2.11); the
/// metrics name Applications and hold no secrets.
fn controller(place: &ArgoCdPaths, programs: &ArgoCdPrograms, repo_server: u16, metrics: u16) -> ProcessSpec {
    let args = [
        format!("--kubeconfig={}", place.kubeconfig().display()),
        format!("--namespace={NAMESPACE}"),
        format!("--redis={}", place.redis.display()),
        format!("--repo-server=127.0.0.1:{repo_server}"),
        format!("--metrics-port={metrics}"),
    ];
    let mut env = place.env("argocd-application-controller", KUBECONFIG);
    env.extend(place.trust_in_repo_server("APPLICATION_CONTROLLER", "controller"));
    ProcessSpec {
        name: ArgoCdComponent::Controller.process().into(),
        program: programs.argocd.clone(),
        args: args.to_vec(),
        env,
        ..ProcessSpec::default()
    }
}

/// `PATH` of the repo-server: the programs that it renders with, and the programs that git calls, but not the user's
/// own.
fn path(place: &ArgoCdPaths, git: &Path) -> OsString {
    let mut dirs = vec![place.root.join("bin"), "/usr/bin".into(), "/bin".into()];
    dirs.extend(git.parent().map(Path::to_owned));
    std::env::join_paths(dirs).unwrap_or_default()
}
