//! The network of a bundle's API server: HTTPS on loopback, a token, and a kubeconfig.

use std::convert::Infallible;
use std::fs::{OpenOptions, Permissions};
use std::io::{self, Write as _};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use clusters::error::ClusterError;
use clusters::kubeconfig::{self, TokenAccess};
use clusters::pki::Pki;
use futures::{StreamExt as _, stream};
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderValue, WARNING};
use http::{Request, Response};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Full, Limited, StreamBody};
use hyper::body::{Bytes, Frame, Incoming};
use jiff::Timestamp;
use rand::distr::{Alphanumeric, SampleString as _};
use serde_json::Value;
use tempfile::{TempDir, TempPath};
use thiserror::Error;
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use super::answer::{ApiResponse, ResponseBody};
use super::cluster::ServedBundle;
use super::request::{ApiQuery, ApiRequest, Route, prefers_table};
use super::status::ApiError;
use crate::local_server::{self, ConnectionErrors, serve_listener, tls_acceptor};

/// Path below which the clusters are served.
const CLUSTERS: &str = "/clusters/";

/// Limit for the size of a request, in bytes: a review of access is the only one with a content.
const REQUEST_LIMIT: usize = 1 << 20;

/// Time without a limit of the client's after which a watch ends, as an API server ends it. The client then begins a new one.
const WATCH_SECONDS: u64 = 3600;

/// Content of an answer.
type Body = UnsyncBoxBody<Bytes, Infallible>;

/// An error that occurs while starting to serve a bundle.
#[derive(Debug, Error)]
pub enum BundleServerError {
    /// The address isn't the loopback address.
    #[error("a bundle is served on 127.0.0.1 only, not on {0}")]
    NotLoopback(IpAddr),
    /// The port can't be used.
    #[error("failed to listen on {address}: {source}")]
    Listen {
        /// Address and port.
        address: SocketAddr,
        /// Cause.
        #[source]
        source: io::Error,
    },
    /// The kubeconfig exists already.
    #[error("{} already exists", .0.display())]
    KubeconfigExists(PathBuf),
    /// The kubeconfig, or the directory for it, can't be written.
    #[error("failed to write {}: {source}", path.display())]
    Write {
        /// Path of the file or directory.
        path: PathBuf,
        /// Cause.
        #[source]
        source: io::Error,
    },
    /// The certificates can't be made.
    #[error(transparent)]
    Certificates(#[from] ClusterError),
    /// The certificates can't be used.
    #[error("failed to set up TLS: {0}")]
    Tls(String),
}

/// API server of a bundle's clusters. Dropping it removes its files.
pub struct BundleServer {
    bundle: Arc<ServedBundle>,
    listener: TcpListener,
    tls: TlsAcceptor,
    token: String,
    kubeconfig: TempPath,
    /// Directory of the certificates, and of the kubeconfig if no other path was given.
    directory: TempDir,
}

impl BundleServer {
    /// Listens on an address of loopback, and writes a kubeconfig with a context for each cluster: to `kubeconfig`, or to a temporary
    /// directory. Only the owner may read it.
    ///
    /// # Errors
    /// Returns an error if the address isn't 127.0.0.1, the port can't be used, or the kubeconfig exists or can't be written. Nothing is
    /// left behind then.
    pub async fn bind(
        bundle: ServedBundle,
        address: SocketAddr,
        kubeconfig: Option<&Path>,
    ) -> Result<Self, BundleServerError> {
        if address.ip() != Ipv4Addr::LOCALHOST {
            return Err(BundleServerError::NotLoopback(address.ip()));
        }
        let bound = local_server::bind(address).await;
        let (address, listener) = bound.map_err(|source| BundleServerError::Listen { address, source })?;
        let directory = temporary_directory()?;
        let pki = Pki::create(&directory.path().join("pki"))?;
        let certificate = pki.server("bundle")?;
        let tls = tls_acceptor(&certificate.certificate_file, &certificate.key_file)
            .map_err(|error| BundleServerError::Tls(error.to_string()))?;
        let token = Alphanumeric.sample_string(&mut rand::rng(), 43);
        let contexts = bundle.contexts().into_iter().map(|context| TokenAccess {
            name: context.to_owned(),
            server: format!("https://{address}{CLUSTERS}{context}"),
            ca: pki.ca().to_owned(),
            token: token.clone(),
        });
        let text = kubeconfig::text(&kubeconfig::with_tokens(&contexts.collect::<Vec<_>>()));
        let path = kubeconfig.map_or_else(|| directory.path().join("kubeconfig"), Path::to_owned);
        let kubeconfig = write_new(&path, &text)?;
        Ok(Self { bundle: Arc::new(bundle), listener, tls, token, kubeconfig, directory })
    }

    /// Path of the kubeconfig.
    #[must_use]
    pub fn kubeconfig(&self) -> &Path {
        &self.kubeconfig
    }

    /// The served bundle.
    #[must_use]
    pub fn bundle(&self) -> &ServedBundle {
        &self.bundle
    }

    /// Answers requests until the future is dropped, and removes the kubeconfig then.
    ///
    /// # Errors
    /// Returns an error if no connection can be accepted any more.
    pub async fn serve(self) -> io::Result<Infallible> {
        let Self { bundle, listener, tls, token, kubeconfig, directory } = self;
        // Moved into this future, so that they live as long as it does.
        let _files = (kubeconfig, directory);
        let token: Arc<str> = token.into();
        let answer = move |request: Request<Incoming>| {
            let (bundle, token) = (Arc::clone(&bundle), Arc::clone(&token));
            async move { Ok(response(answered(request, &bundle, &token).await)) }
        };
        serve_listener(listener, Some(tls), ConnectionErrors::Ignore, answer).await
    }
}

async fn answered(request: Request<Incoming>, bundle: &ServedBundle, token: &str) -> ApiResponse {
    match parsed(request, token).await {
        Ok((context, request)) => bundle.answer(&context, &request, Timestamp::now()),
        Err(error) => error.into(),
    }
}

/// Parses a request, and returns it with the context of its cluster.
async fn parsed(request: Request<Incoming>, token: &str) -> Result<(String, ApiRequest), ApiError> {
    let header = |name| request.headers().get(name).and_then(|value: &HeaderValue| value.to_str().ok());
    if header(AUTHORIZATION).and_then(|value| value.strip_prefix("Bearer ")) != Some(token) {
        return Err(ApiError::Unauthorized);
    }
    let as_table = header(ACCEPT).is_some_and(prefers_table);
    let below = request.uri().path().strip_prefix(CLUSTERS).ok_or(ApiError::NoResource)?;
    let (context, path) = below.split_once('/').unwrap_or((below, ""));
    let (context, route) = (context.to_owned(), Route::parse(path));
    let query = ApiQuery::parse(request.uri().query().unwrap_or_default());
    let method = request.method().clone();
    let body = Limited::new(request.into_body(), REQUEST_LIMIT).collect().await;
    let body = body.map_err(|error| ApiError::BadRequest(format!("the request can't be read: {error}")))?;
    let body = body.to_bytes().to_vec();
    Ok((context, ApiRequest { method, route, query, as_table, body }))
}

fn response(answer: ApiResponse) -> Response<Body> {
    let (content_type, body) = match answer.body {
        ResponseBody::Json(value) => ("application/json", whole(value.to_string())),
        ResponseBody::Text(text) => ("text/plain", whole(text)),
        ResponseBody::Watch { events, seconds } => ("application/json", watch(&events, seconds)),
    };
    let mut response = Response::new(body);
    *response.status_mut() = answer.status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    if let Some(warning) = answer.warning.as_deref().and_then(warning_header) {
        response.headers_mut().insert(WARNING, warning);
    }
    response
}

fn whole(text: String) -> Body {
    Full::new(Bytes::from(text)).boxed_unsync()
}

/// Returns the events of a watch, one on a line. The body ends after some time.
fn watch(events: &[Value], seconds: Option<u64>) -> Body {
    let lines: Vec<Bytes> = events.iter().map(|event| Bytes::from(format!("{event}\n"))).collect();
    let limit = Duration::from_secs(seconds.unwrap_or(WATCH_SECONDS));
    let end = stream::once(tokio::time::sleep(limit)).filter_map(|()| std::future::ready(None));
    let frames = stream::iter(lines).chain(end).map(|line| Ok(Frame::data(line)));
    StreamBody::new(frames).boxed_unsync()
}

/// Returns the header that has clients print a warning; `None` if no header can hold the text.
fn warning_header(text: &str) -> Option<HeaderValue> {
    let text: String = text.chars().map(|c| if c.is_ascii_graphic() || c == ' ' { c } else { '?' }).collect();
    let text = text.replace('\\', "\\\\").replace('"', "\\\"");
    HeaderValue::from_str(&format!("299 - \"{text}\"")).ok()
}

fn temporary_directory() -> Result<TempDir, BundleServerError> {
    let mut builder = tempfile::Builder::new();
    builder.prefix("fleetdrill-bundle-").permissions(Permissions::from_mode(0o700));
    builder.tempdir().map_err(|source| BundleServerError::Write { path: std::env::temp_dir(), source })
}

/// Writes a file that isn't there yet, readable for its owner only. Dropping the path removes the file.
fn write_new(path: &Path, text: &str) -> Result<TempPath, BundleServerError> {
    let failed = |source: io::Error| match source.kind() {
        io::ErrorKind::AlreadyExists => BundleServerError::KubeconfigExists(path.to_owned()),
        _ => BundleServerError::Write { path: path.to_owned(), source },
    };
    // The path is printed for a shell that may be in another directory.
    let path_from_root = std::path::absolute(path).map_err(failed)?;
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path).map_err(failed)?;
    let path = TempPath::try_from_path(path_from_root).map_err(failed)?;
    file.write_all(text.as_bytes()).map_err(|source| BundleServerError::Write { path: path.to_path_buf(), source })?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warning_is_one_line_of_ascii() {
        let header = warning_header("not all \"pods\":\n\u{e9}").expect("a header");
        assert_eq!(header.to_str().expect("ASCII"), r#"299 - "not all \"pods\":??""#);
    }
}
