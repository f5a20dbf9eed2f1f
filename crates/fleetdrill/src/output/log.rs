//! Log events as lines like those of other commands: `warning: failed to leave a bundle: ...`, without secrets.

use std::fmt;
use std::io::{self, Write};

use fleet::redact::Redactor;
use tracing::{Event, Level, Metadata, Subscriber};
use tracing_subscriber::fmt::FmtContext;
use tracing_subscriber::fmt::format::{FormatEvent, FormatFields, Writer};
use tracing_subscriber::registry::LookupSpan;

/// Target of the events with which kube's client logs the body of an answer: as a warning if the body can't be decoded,
/// at levels debug and trace if the answer is an error (`client/mod.rs` of kube-client 5.0).
const BODIES: &str = "kube_client::client";

/// True for events and spans that may be logged at their level. A body may be a list of Secrets, of which no text
/// tells what is secret if it can't be decoded, so it is never logged: whatever `FLEETDRILL_LOG` says. What failed is
/// in the error that the caller gets. Requests are logged by another target, `kube_client::client::builder`.
#[must_use]
pub fn has_no_body(metadata: &Metadata<'_>) -> bool {
    metadata.target() != BODIES
}

/// Writer that removes secrets from log events, such as an error that quotes a URL or the message of a webhook. The
/// subscriber writes each event at once, so that no secret is cut into two parts.
#[derive(Clone, Debug)]
pub struct RedactingWriter<W>(pub W);

impl<W: Write> Write for RedactingWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(bytes);
        self.0.write_all(Redactor::default().log(&text).as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Formats an event as one line: its level in a word, and its message. Time and module are left out; `FLEETDRILL_LOG`
/// shows them.
#[derive(Clone, Copy, Debug)]
pub struct LogLineFormatter;

impl<S, N> FormatEvent<S, N> for LogLineFormatter
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(&self, context: &FmtContext<'_, S, N>, mut writer: Writer<'_>, event: &Event<'_>) -> fmt::Result {
        let level = match *event.metadata().level() {
            Level::ERROR => "error: ",
            Level::WARN => "warning: ",
            _ => "note: ",
        };
        writer.write_str(level)?;
        context.format_fields(writer.by_ref(), event)?;
        writeln!(writer)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use std::io::Write as _;

    use tracing::Metadata;
    use tracing_subscriber::EnvFilter;
    use tracing_subscriber::filter::{FilterExt as _, FilterFn};
    use tracing_subscriber::layer::{Layer as _, SubscriberExt as _};

    use super::{LogLineFormatter, RedactingWriter, has_no_body};

    #[derive(Clone, Default)]
    struct Lines(Arc<Mutex<Vec<u8>>>);

    impl Lines {
        fn text(&self) -> String {
            String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
        }
    }

    impl std::io::Write for Lines {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_warning_is_one_line_that_says_so() {
        let lines = Lines::default();
        let writer = lines.clone();
        let subscriber = tracing_subscriber::fmt()
            .with_ansi(false)
            .event_format(LogLineFormatter)
            .with_writer(move || writer.clone())
            .finish();
        tracing::subscriber::with_default(subscriber, || tracing::warn!("failed to leave a bundle: no space"));
        assert_eq!(lines.text(), "warning: failed to leave a bundle: no space\n");
    }

    /// Subscriber that logs everything, as `FLEETDRILL_LOG=trace` does, except what a filter refuses.
    fn subscriber(lines: &Lines, filter: fn(&Metadata<'_>) -> bool) -> impl tracing::Subscriber + Send + Sync + use<> {
        let writer = lines.clone();
        let layer = tracing_subscriber::fmt::layer().with_ansi(false);
        let layer = layer.with_writer(move || RedactingWriter(writer.clone()));
        tracing_subscriber::registry().with(layer.with_filter(EnvFilter::new("trace").and(FilterFn::new(filter))))
    }

    #[test]
    fn no_event_has_a_secret_at_any_level() {
        let lines = Lines::default();
        tracing::subscriber::with_default(subscriber(&lines, has_no_body), || {
            let error = "failed to get https://tulip@host/api: refused password: tulip";
            tracing::debug!(%error, token = "tulip", "request failed");
            tracing::trace!("headers: {:?}", [("authorization", "Bearer tulip0123")]);
            tracing::warn!("Authorization: Bearer tulip0123");
        });
        let text = lines.text();
        assert!(text.contains("request failed") && text.matches("(removed)").count() >= 4, "{text}");
        assert!(!text.contains("tulip"), "{text}");
    }

    /// Client of an API server that gives the same answer to every request.
    fn client(status: &'static str, body: &'static str) -> kube::Client {
        use std::io::{BufRead, BufReader};
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let mut lines = BufReader::new(stream.try_clone().unwrap()).lines().map_while(Result::ok);
                lines.find(String::is_empty);
                let head = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len());
                stream.write_all(format!("{head}{body}").as_bytes()).unwrap();
            }
        });
        kube::Client::try_from(kube::Config::new(address.parse().unwrap())).unwrap()
    }

    #[tokio::test]
    async fn a_body_that_kube_can_not_decode_is_not_logged() {
        const BODY: &str = r#"{"kind":"SecretList","items":[{"data":{"any":"tulip"}},"#;
        for status in ["200 OK", "500 Internal Server Error"] {
            let client = client(status, BODY);
            for (filter, is_logged) in [(has_no_body as fn(&Metadata<'_>) -> bool, false), (|_| true, true)] {
                let lines = Lines::default();
                let guard = tracing::subscriber::set_default(subscriber(&lines, filter));
                let request = http::Request::get("/api/v1/secrets").body(Vec::new()).unwrap();
                client.request::<serde_json::Value>(request).await.unwrap_err();
                drop(guard);
                let text = lines.text();
                assert!(text.contains("requesting"), "{text}");
                assert_eq!(text.contains("tulip"), is_logged, "{status}: {text}");
            }
        }
    }
}
