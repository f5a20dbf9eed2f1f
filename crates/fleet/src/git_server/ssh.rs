//! The git server for SSH: on loopback, for whoever has the fleet's client key; `git upload-pack` does git's part.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::{ExitCode, Stdio};
use std::sync::Arc;

use clusters::{state_dir, stderr_line};
use russh::keys::{PrivateKey, PublicKey};
use russh::server::{Auth, ChannelOpenHandle, Config, Handler, Msg, Session, VerifiedPublicKey, run_stream};
use russh::{Channel, ChannelId};
use tokio::process::{Child, Command};

use crate::local_server::{self, ServerError, listen};

/// Directory of the repositories, the program `git`, and the key that clients have.
struct Served {
    repositories: PathBuf,
    git: PathBuf,
    client: PublicKey,
}

/// Serves repositories until the process is killed. `args` are port, directory of the repositories, path of `git`, and the files of the
/// host's and the client's private key.
#[must_use]
pub fn serve_ssh(args: &[String]) -> ExitCode {
    let [port, repositories, git, host_key, client_key] = args else {
        stderr_line!(
            "error: git serve-ssh takes a port, a directory of repositories, the path of git, a host key and a client's key"
        );
        return ExitCode::from(2);
    };
    local_server::run("git server", async {
        let client = PrivateKey::read_openssh_file(client_key)?.public_key().clone();
        let served = Arc::new(Served { repositories: repositories.into(), git: git.into(), client });
        let config = Config { keys: vec![PrivateKey::read_openssh_file(host_key)?], ..Config::default() };
        let (config, listener) = (Arc::new(config), listen(port.parse()?)?);
        loop {
            let (stream, _) = listener.accept().await?;
            let connection = Connection { served: Arc::clone(&served), channels: HashMap::new() };
            let config = Arc::clone(&config);
            // A client that doesn't trust the host key, or only checks whether the port is open, ends the connection.
            tokio::spawn(async move {
                if let Ok(session) = run_stream(config, stream, connection).await {
                    let _ = session.await;
                }
            });
        }
    })
}

/// Connection of a client, with the channels on which it hasn't asked for anything yet.
struct Connection {
    served: Arc<Served>,
    channels: HashMap<ChannelId, Channel<Msg>>,
}

impl Handler for Connection {
    type Error = russh::Error;

    async fn auth_publickey(&mut self, _user: &str, key: VerifiedPublicKey<'_>) -> Result<Auth, Self::Error> {
        let is_client = key.public_key.key_data() == self.served.client.key_data();
        Ok(if is_client { Auth::Accept } else { Auth::reject() })
    }

    async fn channel_open_session(
        &mut self,
        channel: Channel<Msg>,
        reply: ChannelOpenHandle,
        _session: &mut Session,
    ) -> Result<(), Self::Error> {
        self.channels.insert(channel.id(), channel);
        reply.accept().await;
        Ok(())
    }

    async fn exec_request(&mut self, id: ChannelId, command: &[u8], session: &mut Session) -> Result<(), Self::Error> {
        let command = String::from_utf8_lossy(command);
        let Some(channel) = self.channels.remove(&id) else { return session.channel_failure(id) };
        match upload_pack(&command, &self.served) {
            Ok(git) => {
                session.channel_success(id)?;
                tokio::spawn(async move {
                    if let Err(error) = connect(channel, git).await {
                        stderr_line!("a fetch failed: {error}");
                    }
                });
                Ok(())
            }
            Err(error) => {
                stderr_line!("{command}: {error}");
                session.channel_failure(id)
            }
        }
    }
}

/// Starts what a client asks for, which may be `git-upload-pack '/NAME'` only.
fn upload_pack(command: &str, served: &Served) -> Result<Child, ServerError> {
    let words = shlex::split(command).ok_or("not a command")?;
    let [program, path] = words.as_slice() else { return Err("not a command of git".into()) };
    if program != "git-upload-pack" {
        return Err("only git-upload-pack is served".into());
    }
    let name = path.trim_start_matches('/');
    state_dir::check_name(name)?;
    let git = Command::new(&served.git)
        .args([Path::new("upload-pack"), &served.repositories.join(name)])
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()?;
    Ok(git)
}

/// Connects git with the channel of a client until git ends.
async fn connect(channel: Channel<Msg>, mut git: Child) -> Result<(), ServerError> {
    let (Some(mut stdin), Some(mut stdout)) = (git.stdin.take(), git.stdout.take()) else {
        return Err("git has no standard input or output".into());
    };
    let (mut read, write) = channel.split();
    let requests = tokio::spawn(async move {
        // git may end before it has read everything; its exit code says why.
        let _ = tokio::io::copy(&mut read.make_reader(), &mut stdin).await;
    });
    tokio::io::copy(&mut stdout, &mut write.make_writer()).await?;
    let status = git.wait().await?;
    requests.abort();
    write.exit_status(status.code().and_then(|code| u32::try_from(code).ok()).unwrap_or(1)).await?;
    write.eof().await?;
    Ok(write.close().await?)
}
