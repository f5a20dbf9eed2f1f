//! The comparison for a fleet's start: four API servers as a user starts them by hand, with only the flags that they
//! need, on one etcd without TLS. No code of fleetdrill runs here.

use std::net::TcpListener;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use clusters::local::ControlPlanePrograms;
use futures::future::try_join_all;
use tokio::process::{Child, Command};

use super::BenchError;

/// Measures the time until four API servers are ready.
pub async fn four_api_servers(programs: &ControlPlanePrograms) -> Result<Duration, BenchError> {
    let dir = tempfile::tempdir()?;
    let (private, public) = (dir.path().join("accounts.key"), dir.path().join("accounts.pub"));
    let key = rcgen::KeyPair::generate()?;
    std::fs::write(&private, key.serialize_pem())?;
    std::fs::write(&public, key.public_key_pem())?;
    let accounts = format!(
        "--service-account-issuer=https://kubernetes.default.svc --service-account-signing-key-file={} --service-account-key-file={}",
        private.display(),
        public.display()
    );

    let started = Instant::now();
    let (clients, peers) = (free_port()?, free_port()?);
    let etcd = format!(
        "--data-dir={} --listen-client-urls=http://127.0.0.1:{clients} --advertise-client-urls=http://127.0.0.1:{clients} \
         --listen-peer-urls=http://127.0.0.1:{peers}",
        dir.path().join("etcd").display()
    );
    let _etcd = start(&programs.etcd, &etcd, dir.path())?;
    let api_server = |n: usize| {
        let (accounts, dir) = (&accounts, dir.path());
        async move {
            let port = free_port()?;
            let args = format!(
                "--etcd-servers=http://127.0.0.1:{clients} --etcd-prefix=/{n} --bind-address=127.0.0.1 --secure-port={port} \
                 --cert-dir={}/{n} --authorization-mode=RBAC {accounts}",
                dir.display()
            );
            let child = start(&programs.apiserver, &args, dir)?;
            ready(port).await?;
            Ok::<_, BenchError>(child)
        }
    };
    // The servers end when they are dropped.
    let _servers = try_join_all((1..=4).map(api_server)).await?;
    Ok(started.elapsed())
}

async fn ready(port: u16) -> Result<(), BenchError> {
    let mut config = kube::Config::new(format!("https://127.0.0.1:{port}").parse()?);
    config.accept_invalid_certs = true;
    let client = kube::Client::try_from(config)?;
    let started = Instant::now();
    while client.request_text(http::Request::get("/readyz").body(Vec::new())?).await.is_err() {
        if started.elapsed() > Duration::from_secs(120) {
            return Err(format!("the API server on port {port} isn't ready after two minutes").into());
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    Ok(())
}

fn start(program: &Path, args: &str, dir: &Path) -> Result<Child, BenchError> {
    let mut command = Command::new(program);
    command.args(args.split_whitespace()).current_dir(dir).kill_on_drop(true);
    Ok(command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?)
}

fn free_port() -> Result<u16, BenchError> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}
