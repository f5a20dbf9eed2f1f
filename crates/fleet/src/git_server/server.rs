//! The git server: HTTP or HTTPS on loopback with a password, and `git http-backend` as CGI program.

use std::convert::Infallible;
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{ExitCode, Stdio};
use std::sync::Arc;

use clusters::kubeconfig::base64;
use clusters::{state_dir, stderr_line};
use futures::FutureExt as _;
use futures::future::BoxFuture;
use http::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue, WWW_AUTHENTICATE};
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::{Bytes, Incoming};
use tokio::io::AsyncWriteExt as _;
use tokio::process::Command;

use crate::argocd::{GIT_USER, password_file};
use crate::local_server::{self, ConnectionErrors, ServerError, listen_at, serve_http, serve_listener, tls_acceptor};

/// Limit for the size of a request, in bytes. A fetch asks for commits by their hashes.
const REQUEST: usize = 1 << 20;

/// Directory of the repositories, and the program `git`.
struct Served {
    repositories: PathBuf,
    git: PathBuf,
    /// Whether a repository without a password is served.
    access: Access,
}

/// Repositories that a server serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Access {
    /// Only those that have a password, for whoever knows it.
    WithPassword,
    /// Those without a password, too, for everybody who reaches the server.
    Open,
}

/// Serves repositories until the process is killed. `args` are port, directory of the repositories, path of `git`, and for HTTPS
/// certificate file and key file.
#[must_use]
pub fn serve(args: &[String]) -> ExitCode {
    let ([port, repositories, git], tls) = match args {
        [port, repositories, git] => ([port, repositories, git], None),
        [port, repositories, git, certificate, key] => ([port, repositories, git], Some((certificate, key))),
        _ => {
            stderr_line!(
                "error: git serve takes a port, a directory of repositories, the path of git, and a certificate and a key or neither"
            );
            return ExitCode::from(2);
        }
    };
    let served = Served { repositories: repositories.into(), git: git.into(), access: Access::WithPassword };
    local_server::run("git server", async {
        let tls = tls.map(|(certificate, key)| tls_acceptor(certificate.as_ref(), key.as_ref())).transpose()?;
        serve_http(port.parse()?, tls, answers(served)).await
    })
}

/// Serves repositories to Pods until the process is killed: on loopback and on one more address of this machine, those without a password
/// to everybody. `args` are port, directory of the repositories, path of `git`, and the address.
#[must_use]
pub fn serve_pods(args: &[String]) -> ExitCode {
    let [port, repositories, git, address] = args else {
        stderr_line!(
            "error: git serve-pods takes a port, a directory of repositories, the path of git, and an address"
        );
        return ExitCode::from(2);
    };
    let served = Served { repositories: repositories.into(), git: git.into(), access: Access::Open };
    local_server::run("git server", async {
        let answer = answers(served);
        let (port, address) = (port.parse()?, address.parse()?);
        // Loopback is where the fleet looks whether the server runs.
        let on_loopback = serve_http(port, None, answer.clone());
        let on_address =
            serve_listener(listen_at(SocketAddr::new(address, port))?, None, ConnectionErrors::Print, answer);
        tokio::select! {
            ended = on_loopback => ended,
            ended = on_address => Ok(ended?),
        }
    })
}

/// Returns what answers requests.
fn answers(
    served: Served,
) -> impl Fn(Request<Incoming>) -> BoxFuture<'static, Result<Response<Full<Bytes>>, Infallible>> + Clone + Send + 'static
{
    let served = Arc::new(served);
    move |request| {
        let served = Arc::clone(&served);
        async move { answer(request, &served).await }.boxed()
    }
}

async fn answer(request: Request<Incoming>, served: &Served) -> Result<Response<Full<Bytes>>, Infallible> {
    let path = request.uri().path().to_owned();
    let response = match asked(request, served).await {
        Ok(response) => response,
        Err(error) => {
            stderr_line!("{path}: {error}");
            let mut response = Response::new(Full::from(error.to_string()));
            *response.status_mut() = StatusCode::BAD_REQUEST;
            response
        }
    };
    stderr_line!("{path}: {}", response.status());
    Ok(response)
}

/// Answers a request, if it has the repository's password.
async fn asked(request: Request<Incoming>, served: &Served) -> Result<Response<Full<Bytes>>, ServerError> {
    let name = request.uri().path().trim_start_matches('/').split('/').next().unwrap_or_default();
    state_dir::check_name(name)?;
    if !may_read(request.headers(), &served.repositories.join(name), served.access).await? {
        let mut response = Response::new(Full::default());
        *response.status_mut() = StatusCode::UNAUTHORIZED;
        response.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Basic realm=\"fleetdrill\""));
        return Ok(response);
    }
    let (parts, body) = request.into_parts();
    let body = Limited::new(body, REQUEST).collect().await?.to_bytes();
    response_of(&backend(&parts, &body, served).await?)
}

async fn may_read(headers: &HeaderMap, repository: &Path, access: Access) -> Result<bool, ServerError> {
    let password = match tokio::fs::read_to_string(password_file(repository)).await {
        Err(error) if access == Access::Open && error.kind() == ErrorKind::NotFound => return Ok(true),
        password => password?,
    };
    let wanted = format!("Basic {}", base64(&format!("{GIT_USER}:{password}")));
    Ok(headers.get(AUTHORIZATION).is_some_and(|given| given.as_bytes() == wanted.as_bytes()))
}

/// Runs `git http-backend` for a request, and returns what it prints.
async fn backend(parts: &http::request::Parts, body: &[u8], served: &Served) -> Result<Vec<u8>, ServerError> {
    let header = |name: &str| parts.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let mut git = Command::new(&served.git)
        .arg("http-backend")
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_PROJECT_ROOT", &served.repositories)
        .env("GIT_HTTP_EXPORT_ALL", "1")
        .env("REQUEST_METHOD", parts.method.as_str())
        .env("PATH_INFO", parts.uri.path())
        .env("QUERY_STRING", parts.uri.query().unwrap_or_default())
        .env("CONTENT_TYPE", header("content-type"))
        .env("CONTENT_LENGTH", body.len().to_string())
        .env("HTTP_CONTENT_ENCODING", header("content-encoding"))
        .env("HTTP_GIT_PROTOCOL", header("git-protocol"))
        // git would let a user push who has given a password, and a configuration of the repository everybody.
        .env("GIT_CONFIG_COUNT", "1")
        .env("GIT_CONFIG_KEY_0", "http.receivepack")
        .env("GIT_CONFIG_VALUE_0", "false")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()?;
    let mut stdin = git.stdin.take().ok_or("git http-backend has no standard input")?;
    // git may end before it has read everything; what it prints says why.
    let write = async move {
        let _ = stdin.write_all(body).await;
    };
    let ((), output) = tokio::join!(write, git.wait_with_output());
    Ok(output?.stdout)
}

/// Reads the response that a CGI program prints: headers, an empty line, the body. The header `Status` is the response's status, 200 if
/// there is none.
fn response_of(printed: &[u8]) -> Result<Response<Full<Bytes>>, ServerError> {
    let end = printed.windows(4).position(|bytes| bytes == b"\r\n\r\n").ok_or("git http-backend printed no headers")?;
    let (head, body) = (std::str::from_utf8(&printed[..end])?, &printed[end + 4..]);
    let mut response = Response::new(Full::from(body.to_vec()));
    for line in head.lines() {
        let (name, value) = line.split_once(':').ok_or("git http-backend printed a line that is no header")?;
        let value = value.trim();
        if name.eq_ignore_ascii_case("status") {
            *response.status_mut() = value.split(' ').next().unwrap_or_default().parse()?;
        } else {
            response.headers_mut().insert(HeaderName::try_from(name)?, HeaderValue::from_str(value)?);
        }
    }
    Ok(response)
}

#[cfg(test)]
mod tests {
    use http::Request;
    use http::header::HeaderMap;

    use super::{Access, Served, backend, may_read, response_of};
    use crate::argocd::{Repository, password_file};

    #[test]
    fn a_status_is_no_header() {
        let plain = response_of(b"Content-Type: text/plain\r\n\r\nrefs\r\n\r\nmore").expect("a response");
        assert_eq!((plain.status().as_u16(), plain.headers().len()), (200, 1));
        let missing = response_of(b"Status: 404 Not Found\r\n\r\n").expect("a response");
        assert_eq!((missing.status().as_u16(), missing.headers().len()), (404, 0));
        assert!(response_of(b"fatal: no").is_err());
    }

    #[tokio::test]
    async fn nobody_can_push() {
        let dir = tempfile::tempdir().expect("a directory");
        let git = std::path::PathBuf::from("git");
        let web = Repository::create(&git, dir.path().join("web")).await.expect("a repository");
        web.commit(&[("a.yaml", Some("a"))]).await.expect("a commit");
        for access in [Access::Open, Access::WithPassword] {
            let served = Served { repositories: dir.path().to_owned(), git: git.clone(), access };
            for (service, status) in [("git-upload-pack", 200), ("git-receive-pack", 403)] {
                let request =
                    Request::get(format!("/web/.git/info/refs?service={service}")).body(()).expect("a request");
                let printed = backend(&request.into_parts().0, b"", &served).await.expect("an answer");
                assert_eq!(
                    response_of(&printed).expect("a response").status().as_u16(),
                    status,
                    "{service}, {access:?}"
                );
            }
        }
    }

    #[tokio::test]
    async fn only_an_open_server_serves_a_repository_without_a_password() {
        let dir = tempfile::tempdir().expect("a directory");
        let (repository, headers) = (dir.path().join("web"), HeaderMap::new());
        assert!(may_read(&headers, &repository, Access::Open).await.expect("an answer"));
        assert!(may_read(&headers, &repository, Access::WithPassword).await.is_err());
        std::fs::write(password_file(&repository), "secret").expect("written");
        for access in [Access::Open, Access::WithPassword] {
            assert!(!may_read(&headers, &repository, access).await.expect("an answer"), "{access:?}");
        }
    }
}
