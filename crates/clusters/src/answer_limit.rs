//! Limit for the answers of API servers. A cluster that is read may be somebody else's, and its answers may have no end.

use std::task::{Context, Poll};

use futures::future::MapOk;
use futures::{StreamExt as _, TryFutureExt as _};
use http::{Request, Response};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, BodyStream, StreamBody};
use hyper::body::{Body as HttpBody, Bytes};
use kube::client::Body;
use thiserror::Error;
use tower::{BoxError, Layer, Service};

/// Bytes that an answer may have, and a line of an answer that goes on for as long as the client wants it.
const ANSWER_BYTES: usize = 256 << 20;

/// An answer that is larger than the limit.
#[derive(Debug, Error)]
#[error("the answer has more than {} MiB", ANSWER_BYTES >> 20)]
pub(crate) struct AnswerTooLarge;

/// Layer of a client that limits answers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AnswerLimitLayer;

/// Client whose answers are limited.
#[derive(Clone, Debug)]
pub(crate) struct LimitedAnswers<S>(S);

impl<S> Layer<S> for AnswerLimitLayer {
    type Service = LimitedAnswers<S>;

    fn layer(&self, client: S) -> LimitedAnswers<S> {
        LimitedAnswers(client)
    }
}

impl<S, B> Service<Request<Body>> for LimitedAnswers<S>
where
    S: Service<Request<Body>, Response = Response<B>>,
    B: HttpBody<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    type Response = Response<UnsyncBoxBody<Bytes, BoxError>>;
    type Error = S::Error;
    type Future = MapOk<S::Future, Box<dyn FnOnce(Response<B>) -> Self::Response + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.0.poll_ready(context)
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let of_lines = is_endless(request.uri().query().unwrap_or_default());
        self.0.call(request).map_ok(Box::new(move |answer| answer.map(|body| limited(body, of_lines, ANSWER_BYTES))))
    }
}

/// True for a watch, and for a log that is followed: answers of lines that go on for hours.
fn is_endless(query: &str) -> bool {
    query.split('&').any(|parameter| matches!(parameter, "watch=true" | "watch=1" | "follow=true" | "follow=1"))
}

/// Returns a body that fails after `limit` bytes; of a body of lines, each line may have so many.
fn limited<B>(body: B, of_lines: bool, limit: usize) -> UnsyncBoxBody<Bytes, BoxError>
where
    B: HttpBody<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    let mut bytes = 0_usize;
    let frames = BodyStream::new(body).map(move |frame| {
        let frame = frame.map_err(Into::into)?;
        if let Some(data) = frame.data_ref() {
            let line_end = data.iter().rposition(|byte| *byte == b'\n').filter(|_| of_lines);
            bytes = line_end.map_or(bytes + data.len(), |end| data.len() - end - 1);
        }
        if bytes > limit { Err(AnswerTooLarge.into()) } else { Ok(frame) }
    });
    StreamBody::new(frames).boxed_unsync()
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::io::{BufRead as _, BufReader, Write as _};
    use std::net::TcpListener;

    use futures::stream;
    use hyper::body::Frame;
    use kube::api::{Api, ListParams};
    use kube::{Config, Error};

    use super::*;

    async fn read(parts: &'static [&'static str], of_lines: bool) -> Result<usize, String> {
        let frames = stream::iter(parts).map(|part| Ok::<_, Infallible>(Frame::data(Bytes::from(*part))));
        match limited(StreamBody::new(frames), of_lines, 8).collect().await {
            Ok(body) => Ok(body.to_bytes().len()),
            Err(error) => Err(error.to_string()),
        }
    }

    #[tokio::test]
    async fn an_answer_and_the_lines_of_a_watch_are_limited() {
        let too_large = Err("the answer has more than 256 MiB".to_owned());
        assert_eq!(read(&["1234", "5678"], false).await, Ok(8));
        assert_eq!(read(&["1234", "5678", "9"], false).await, too_large);
        assert_eq!(read(&["123\n", "567\n", "9"], false).await, too_large);
        assert_eq!(read(&["123\n", "567\n", "9", "\n1\n2345678"], true).await, Ok(19));
        assert_eq!(read(&["123\n", "567\n9", "12345678"], true).await, too_large);
        assert!(is_endless("limit=1&watch=true") && is_endless("follow=true") && !is_endless("a=watch=true&limit=5"));
    }

    /// Address of a server that answers every request with this head, and then with blanks for as long as somebody reads.
    fn server(head: String) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = format!("http://{}", listener.local_addr().expect("an address"));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let mut lines = BufReader::new(&stream).lines().map_while(Result::ok);
                lines.find(String::is_empty);
                let blanks = vec![b' '; 1 << 20];
                let mut written = (&stream).write_all(head.as_bytes());
                while written.is_ok() {
                    written = (&stream).write_all(&blanks);
                }
            }
        });
        address
    }

    async fn listed(address: &str) -> Error {
        let client = crate::retry::client(Config::new(address.parse().expect("an address"))).expect("a client");
        let pods = Api::<k8s_openapi::api::core::v1::Pod>::all(client);
        pods.list(&ListParams::default()).await.expect_err("no list")
    }

    #[tokio::test]
    async fn an_answer_without_an_end_is_given_up() {
        let address = server("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n".to_owned());
        let error = listed(&address).await;
        let mut causes = std::iter::successors(Some(&error as &dyn std::error::Error), |error| error.source());
        assert!(causes.any(|cause| cause.to_string().contains("the answer has more than 256 MiB")), "{error:?}");
    }

    #[tokio::test]
    async fn a_redirect_is_not_followed() {
        let elsewhere = TcpListener::bind("127.0.0.1:0").expect("a port");
        elsewhere.set_nonblocking(true).expect("set");
        let location = elsewhere.local_addr().expect("an address");
        for status in ["301 Moved", "302 Found", "307 Temporary Redirect", "308 Permanent Redirect"] {
            let head = format!(
                "HTTP/1.1 {status}\r\nLocation: http://{location}/\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
            );
            listed(&server(head)).await;
            assert!(elsewhere.accept().is_err(), "{status} was followed");
        }
    }
}
