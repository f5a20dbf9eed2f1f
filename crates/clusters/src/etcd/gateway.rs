//! Client of etcd's JSON gateway, over etcd's socket.

use std::io::{Error, Result};
use std::path::Path;

use futures::future::join;
use http::{Request, header};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Bytes;
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::UnixStream;

/// Sends a request to etcd's JSON gateway, and returns the answer's body. Keys and values in both are in base64.
pub(super) async fn ask(socket: &Path, path: &str, request: &Value) -> Result<Value> {
    let stream = UnixStream::connect(socket).await?;
    let (sender, connection) = handshake(TokioIo::new(stream)).await.map_err(Error::other)?;
    // The connection ends with its sender. An error of it is an error of the exchange, too.
    let (answer, _) = join(exchange(sender, path, request), connection).await;
    answer
}

async fn exchange(mut sender: SendRequest<Full<Bytes>>, path: &str, request: &Value) -> Result<Value> {
    let request = Request::post(path)
        .header(header::HOST, "etcd")
        .header(header::CONTENT_TYPE, "application/json")
        .body(Full::from(request.to_string()))
        .map_err(Error::other)?;
    let answer = sender.send_request(request).await.map_err(Error::other)?;
    if !answer.status().is_success() {
        return Err(Error::other(format!("it answers {}", answer.status())));
    }
    let body = answer.into_body().collect().await.map_err(Error::other)?.to_bytes();
    Ok(serde_json::from_slice(&body)?)
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::UnixListener;

    use super::ask;

    /// Asks a server that gives this answer.
    async fn asked(answer: &'static str) -> std::io::Result<serde_json::Value> {
        let dir = tempfile::tempdir()?;
        let socket = dir.path().join("etcd.sock");
        let listener = UnixListener::bind(&socket)?;
        let server = tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await?;
            let mut read = [0; 4096];
            let length = stream.read(&mut read).await?;
            stream.write_all(answer.as_bytes()).await?;
            Ok::<_, std::io::Error>(String::from_utf8_lossy(&read[..length]).into_owned())
        });
        let answer = ask(&socket, "/v3/maintenance/alarm", &json!({"action": "GET"})).await;
        let request = server.await??;
        assert!(request.starts_with("POST /v3/maintenance/alarm HTTP/1.1"), "{request}");
        answer
    }

    #[tokio::test]
    async fn an_answer_has_a_body_or_a_status_that_is_told() {
        let alarms = "HTTP/1.1 200 OK\r\nContent-Length: 41\r\n\r\n{\"alarms\":[{\"memberID\":\"1\",\"alarm\":\"X\"}]}";
        let answer = asked(alarms).await.expect("a body");
        assert_eq!(answer, json!({"alarms": [{"memberID": "1", "alarm": "X"}]}));
        let refused = "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n";
        assert_eq!(asked(refused).await.unwrap_err().to_string(), "it answers 503 Service Unavailable");
    }
}
