//! Downloads an archive from an address that its owner gives.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use ring::digest::{Context, SHA256};
use rustls::crypto::ring::default_provider;
use thiserror::Error;
use ureq::Agent;
use ureq::http::header::LOCATION;
use ureq::tls::{RootCerts, TlsConfig};

use super::LIMIT;
use crate::disk::human_size;

/// Time for the connection, and then for the answer's head.
const ANSWER_LIMIT: Duration = Duration::from_secs(60);

/// Time for the whole content.
const CONTENT_LIMIT: Duration = Duration::from_secs(3600);

/// Redirects that are followed, from https to https only.
const REDIRECTS: u32 = 10;

/// Bytes that are read at once.
const CHUNK: usize = 256 << 10;

/// Reason why an archive can't be downloaded.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum DownloadFailure {
    /// The address can't be parsed.
    #[error("it is no address of an archive")]
    BadUrl,
    /// The server answered with an error.
    #[error("the server answered {0}")]
    Status(u16),
    /// The address leads to one without encryption, or one without encryption leads to another.
    #[error("it redirects, and only redirects from https to https are followed")]
    InsecureRedirect,
    /// The server can't be reached over TLS, or its certificate isn't trusted.
    #[error("no secure connection: {0}")]
    Tls(String),
    /// The content ended too early.
    #[error("the download was cut off after {read} of {size} bytes")]
    Cut {
        /// Bytes that were read.
        read: u64,
        /// Bytes that the server announced.
        size: u64,
    },
    /// The content is larger than any archive.
    #[error("it is larger than {}", human_size(*limit))]
    TooLarge {
        /// Limit in bytes.
        limit: u64,
    },
    /// The server can't be reached, or the connection broke.
    #[error("{0}")]
    Connection(String),
    /// The downloaded file can't be written.
    #[error("failed to write {path}: {why}")]
    Write {
        /// Path of the file.
        path: String,
        /// Reason.
        why: String,
    },
}

/// Bytes that have been downloaded, for another thread.
#[derive(Debug, Default)]
pub(super) struct DownloadProgress {
    read: AtomicU64,
    /// Size that the server announced; 0 if it is unknown.
    size: AtomicU64,
}

impl DownloadProgress {
    /// Bytes that were read, and the size that the server announced, if it is known.
    pub(super) fn get(&self) -> (u64, Option<u64>) {
        let size = self.size.load(Ordering::Relaxed);
        (self.read.load(Ordering::Relaxed), (size > 0).then_some(size))
    }
}

/// True if a text is an address to download from, not the path of a file.
#[must_use]
pub fn is_url(text: &str) -> bool {
    text.starts_with("https://") || text.starts_with("http://")
}

/// Returns an address without what may be secret: user, password and parameters.
pub(super) fn without_secrets(url: &str) -> String {
    let url = url.split(['?', '#']).next().unwrap_or_default();
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    let (authority, path) = rest.split_once('/').map_or((rest, None), |(authority, path)| (authority, Some(path)));
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    path.map_or_else(|| format!("{scheme}://{host}"), |path| format!("{scheme}://{host}/{path}"))
}

/// Writes what an address has to a new file, and returns its SHA-256. Blocks the thread.
pub(super) fn download(url: &str, to: &Path, progress: &DownloadProgress) -> Result<String, DownloadFailure> {
    let response = agent(url.starts_with("https://")).get(url).call().map_err(|error| failure(&error))?;
    let status = response.status();
    if status.is_redirection() && response.headers().contains_key(LOCATION) {
        return Err(DownloadFailure::InsecureRedirect);
    }
    if !status.is_success() {
        return Err(DownloadFailure::Status(status.as_u16()));
    }
    let size = response.body().content_length();
    progress.size.store(size.unwrap_or_default(), Ordering::Relaxed);
    if size.is_some_and(|size| size > LIMIT) {
        return Err(DownloadFailure::TooLarge { limit: LIMIT });
    }
    let unwritten =
        |error: io::Error| DownloadFailure::Write { path: to.display().to_string(), why: error.to_string() };
    let mut file = File::create_new(to).map_err(unwritten)?;
    let mut content = response.into_body().into_reader();
    let (mut context, mut chunk, mut read) = (Context::new(&SHA256), vec![0; CHUNK], 0_u64);
    loop {
        let count = match content.read(&mut chunk) {
            Ok(0) => break,
            Ok(count) => count,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(broken(&error, read, size)),
        };
        read += count as u64;
        if read > LIMIT {
            return Err(DownloadFailure::TooLarge { limit: LIMIT });
        }
        context.update(&chunk[..count]);
        file.write_all(&chunk[..count]).map_err(unwritten)?;
        progress.read.store(read, Ordering::Relaxed);
    }
    match size.filter(|size| *size != read) {
        Some(size) => Err(DownloadFailure::Cut { read, size }),
        None => Ok(hex::encode(context.finish())),
    }
}

fn agent(is_https: bool) -> Agent {
    let tls = TlsConfig::builder()
        .root_certs(RootCerts::PlatformVerifier)
        .unversioned_rustls_crypto_provider(Arc::new(default_provider()))
        .build();
    let config = Agent::config_builder()
        .https_only(is_https)
        .max_redirects(if is_https { REDIRECTS } else { 0 })
        .http_status_as_error(false)
        .timeout_connect(Some(ANSWER_LIMIT))
        .timeout_recv_response(Some(ANSWER_LIMIT))
        .timeout_recv_body(Some(CONTENT_LIMIT))
        .user_agent(concat!("fleetdrill/", env!("CARGO_PKG_VERSION")))
        .tls_config(tls);
    config.build().new_agent()
}

/// Returns the reason for an error before the content.
fn failure(error: &ureq::Error) -> DownloadFailure {
    match error {
        ureq::Error::BadUri(_) | ureq::Error::Http(_) => DownloadFailure::BadUrl,
        ureq::Error::RequireHttpsOnly(_) => DownloadFailure::InsecureRedirect,
        ureq::Error::Rustls(error) => DownloadFailure::Tls(error.to_string()),
        ureq::Error::Io(error) => match tls_error(error) {
            Some(error) => DownloadFailure::Tls(error.to_string()),
            None => DownloadFailure::Connection(error.to_string()),
        },
        error => DownloadFailure::Connection(error.to_string()),
    }
}

fn tls_error(error: &io::Error) -> Option<&rustls::Error> {
    error.get_ref()?.downcast_ref()
}

/// Returns the reason for a content that ended with an error.
fn broken(error: &io::Error, read: u64, size: Option<u64>) -> DownloadFailure {
    match size {
        Some(size) if read < size && error.kind() != ErrorKind::TimedOut => DownloadFailure::Cut { read, size },
        _ => DownloadFailure::Connection(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead as _, BufReader};
    use std::net::TcpListener;

    use super::*;

    /// Address of a server that answers every request with this text, and closes the connection.
    fn server(answer: &'static str) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let lines = BufReader::new(stream.try_clone().unwrap()).lines().map_while(Result::ok);
                lines.take_while(|line| !line.is_empty()).for_each(drop);
                let _ = stream.write_all(answer.as_bytes());
            }
        });
        format!("http://{address}")
    }

    fn downloaded(url: &str) -> Result<String, DownloadFailure> {
        let dir = tempfile::tempdir().unwrap();
        let to = dir.path().join("archive");
        let checksum = download(url, &to, &DownloadProgress::default())?;
        assert_eq!(std::fs::read_to_string(to).unwrap(), "hello");
        Ok(checksum)
    }

    #[test]
    fn a_content_is_written_and_its_checksum_is_computed() {
        let url = server("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello");
        let expected = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";
        assert_eq!(downloaded(&url), Ok(expected.to_owned()));
    }

    #[test]
    fn what_goes_wrong_is_named() {
        let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        for (url, expected) in [
            (server("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"), "the server answered 404"),
            (
                server("HTTP/1.1 302 Found\r\nLocation: https://example.com/\r\nContent-Length: 0\r\n\r\n"),
                "it redirects, and only redirects from https to https are followed",
            ),
            (
                server("HTTP/1.1 200 OK\r\nContent-Length: 9\r\nConnection: close\r\n\r\nhello"),
                "the download was cut off after 5 of 9 bytes",
            ),
            (server("HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\nhello"), "it is larger than 8.0 GiB"),
            ("http://".to_owned(), "it is no address of an archive"),
            (format!("http://{closed}"), "Connection refused (os error 111)"),
        ] {
            let failure = downloaded(&url).unwrap_err().to_string();
            assert!(failure.ends_with(expected), "{url}: {failure}");
        }
    }

    #[test]
    fn a_server_without_tls_or_with_an_unknown_certificate_is_not_trusted() {
        let plain = server("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello").replace("http://", "https://");
        assert!(matches!(downloaded(&plain), Err(DownloadFailure::Tls(_))));

        let rcgen::CertifiedKey { cert, signing_key } =
            rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
        let key = rustls::pki_types::PrivateKeyDer::Pkcs8(signing_key.serialize_der().into());
        let config = rustls::ServerConfig::builder_with_provider(Arc::new(default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![cert.der().clone()], key)
            .unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("https://{}", listener.local_addr().unwrap());
        std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut connection = rustls::ServerConnection::new(Arc::new(config)).unwrap();
            let _ = connection.complete_io(&mut stream);
        });
        match downloaded(&url) {
            Err(DownloadFailure::Tls(why)) => assert!(why.contains("invalid peer certificate"), "{why}"),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn what_may_be_secret_in_an_address_is_not_shown() {
        for (url, expected) in [
            ("https://me:pw@example.com/a/b.tar.gz?sig=x#y", "https://example.com/a/b.tar.gz"),
            ("http://127.0.0.1:80", "http://127.0.0.1:80"),
        ] {
            assert_eq!(without_secrets(url), expected);
            assert!(is_url(url));
        }
        assert!(!is_url("toolchain.tar.gz") && !is_url("-") && !is_url("ftp://example.com"));
    }
}
