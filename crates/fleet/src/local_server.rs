//! Servers that fleetdrill itself runs: on loopback for a fleet, each as a process under the fleet's supervisor, and in the process of a
//! command.

use std::convert::Infallible;
use std::error::Error;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use clusters::stderr_line;
use clusters::supervisor::protocol::ProcessSpec;
use http::header::{CONTENT_TYPE, HeaderValue};
use http::{Method, Request, Response, StatusCode};
use http_body_util::Full;
use hyper::body::{Body, Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpSocket};
use tokio::sync::Mutex;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

use crate::Fleet;
use crate::error::FleetError;
use crate::port::{self, listens};

/// Error that ends a server.
pub(crate) type ServerError = Box<dyn Error + Send + Sync>;

/// Runs a server until the process is killed, on a runtime of its own. `name` is for the error.
pub(crate) fn run(name: &str, server: impl Future<Output = Result<Infallible, ServerError>>) -> ExitCode {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let ended = runtime.map_err(ServerError::from).and_then(|runtime| runtime.block_on(server));
    match ended {
        Ok(never) => match never {},
        Err(error) => {
            stderr_line!("error: the {name} failed: {error}");
            ExitCode::from(3)
        }
    }
}

/// Listens on a port that the supervisor holds, so that no other program gets it. `SO_REUSEPORT` lets this process share
/// the port.
pub(crate) fn listen(port: u16) -> std::io::Result<TcpListener> {
    listen_at(SocketAddr::from((Ipv4Addr::LOCALHOST, port)))
}

/// Listens on an IPv4 address as [`listen`] does on loopback.
pub(crate) fn listen_at(address: SocketAddr) -> std::io::Result<TcpListener> {
    let socket = TcpSocket::new_v4()?;
    socket.set_reuseaddr(true)?;
    socket.set_reuseport(true)?;
    socket.bind(address)?;
    socket.listen(128)
}

/// Listens on an address whose port may be 0 for any free one, and returns it with the port.
pub(crate) async fn bind(address: SocketAddr) -> std::io::Result<(SocketAddr, TcpListener)> {
    let listener = TcpListener::bind(address).await?;
    Ok((listener.local_addr()?, listener))
}

/// Returns what makes connections secure with this certificate and key, each in a PEM file.
pub(crate) fn tls_acceptor(certificate: &Path, key: &Path) -> Result<TlsAcceptor, ServerError> {
    let chain = CertificateDer::pem_file_iter(certificate)?.collect::<Result<Vec<_>, _>>()?;
    let key = PrivateKeyDer::from_pem_file(key)?;
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(chain, key)?;
    Ok(TlsAcceptor::from(Arc::new(config)))
}

/// Answers HTTP requests on a port until the process is killed, over TLS if there is an acceptor.
pub(crate) async fn serve_http<A>(
    port: u16,
    tls: Option<TlsAcceptor>,
    answer: impl Fn(Request<Incoming>) -> A + Clone + Send + 'static,
) -> Result<Infallible, ServerError>
where
    A: Future<Output = Result<Response<Full<Bytes>>, Infallible>> + Send + 'static,
{
    Ok(serve_listener(listen(port)?, tls, ConnectionErrors::Print, answer).await?)
}

/// Answers GET requests on a listener with texts, as long as the future is polled; other paths than those that have a text get 404.
/// `text` returns the text of a path.
///
/// # Errors
/// Returns an error if no connection can be accepted any more.
pub async fn serve_text(
    listener: TcpListener,
    content_type: &'static str,
    text: impl Fn(&str) -> Option<String> + Clone + Send + 'static,
) -> std::io::Result<Infallible> {
    let answer = move |request: Request<Incoming>| {
        let found = Some(request.uri().path()).filter(|_| request.method() == Method::GET).and_then(&text);
        let (status, body) = match found {
            Some(text) => (StatusCode::OK, text),
            None => (StatusCode::NOT_FOUND, "not found\n".to_owned()),
        };
        let mut response = Response::new(Full::new(Bytes::from(body)));
        *response.status_mut() = status;
        if status == StatusCode::OK {
            response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
        }
        std::future::ready(Ok(response))
    };
    serve_listener(listener, None, ConnectionErrors::Print, answer).await
}

/// What to do with the error of a connection that breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ConnectionErrors {
    /// Print it to stderr.
    Print,
    /// Ignore it: clients end their watches in this way.
    Ignore,
}

/// Answers HTTP requests on a listener as long as the future is polled, over TLS if there is an acceptor.
pub(crate) async fn serve_listener<A, B>(
    listener: TcpListener,
    tls: Option<TlsAcceptor>,
    errors: ConnectionErrors,
    answer: impl Fn(Request<Incoming>) -> A + Clone + Send + 'static,
) -> std::io::Result<Infallible>
where
    A: Future<Output = Result<Response<B>, Infallible>> + Send + 'static,
    B: Body<Data = Bytes, Error = Infallible> + Send + 'static,
{
    loop {
        let (stream, _) = listener.accept().await?;
        let (tls, answer) = (tls.clone(), answer.clone());
        tokio::spawn(async move {
            let Some(tls) = tls else { return serve_connection(stream, errors, answer).await };
            // A client that only checks whether the port is open connects and sends nothing. One that doesn't trust the certificate
            // says so itself.
            if let Ok(stream) = tls.accept(stream).await {
                serve_connection(stream, errors, answer).await;
            }
        });
    }
}

async fn serve_connection<A, B>(
    stream: impl AsyncRead + AsyncWrite + Unpin,
    errors: ConnectionErrors,
    answer: impl Fn(Request<Incoming>) -> A,
) where
    A: Future<Output = Result<Response<B>, Infallible>>,
    B: Body<Data = Bytes, Error = Infallible> + 'static,
{
    let served = http1::Builder::new().serve_connection(TokioIo::new(stream), service_fn(answer)).await;
    if let (Err(error), ConnectionErrors::Print) = (served, errors) {
        stderr_line!("a connection failed: {error}");
    }
}

/// Server of a fleet.
pub(crate) struct LocalServer<'a> {
    /// Name of its process.
    pub process: &'a str,
    /// Words that have fleetdrill be the server, before the port.
    pub command: [&'a str; 2],
    /// File with its port: another command may have started the server.
    pub port_file: &'a Path,
    /// Keeps two callers from starting a server each.
    pub turn: &'a Mutex<()>,
}

impl Fleet {
    /// Returns the port on which a server listens, and starts the server unless it runs. `args` are its arguments after the port.
    pub(crate) async fn local_server(
        &self,
        server: LocalServer<'_>,
        args: impl FnOnce() -> Result<Vec<String>, FleetError>,
    ) -> Result<u16, FleetError> {
        let LocalServer { process, command, port_file, turn } = server;
        let _turn = turn.lock().await;
        let supervisor = self.supervisor();
        if supervisor.processes().await?.iter().any(|p| p.name == process && p.pid.is_some()) {
            return port::read(port_file);
        }
        let [port] = supervisor.reserve().await?;
        let args = command.map(str::to_owned).into_iter().chain([port.to_string()]).chain(args()?);
        port::write(port_file, port)?;
        let spec = ProcessSpec {
            name: process.into(),
            program: self.0.home.program().0.clone(),
            args: args.collect(),
            ..ProcessSpec::default()
        };
        supervisor.start(spec).await?;
        listens(&self.0.home, process, port).await?;
        Ok(port)
    }
}
