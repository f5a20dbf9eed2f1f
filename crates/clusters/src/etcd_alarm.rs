//! Alarms of etcd. An etcd that has run out of space raises one, and takes no writes until the alarm is disarmed, whatever space it has then.

use std::io::{Error, Result};
use std::path::Path;
use std::time::Duration;

use backon::{ConstantBuilder, Retryable as _};
use futures::future::join;
use http::{Request, header};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Bytes;
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::UnixStream;

use crate::error::ClusterError;

/// Interval between two attempts.
const INTERVAL: Duration = Duration::from_millis(200);

/// Attempts in 30 s. An etcd that was just started takes about a second.
const ATTEMPTS: usize = 150;

/// Disarms all alarms of the etcd at a socket as soon as etcd answers, as `etcdctl alarm disarm` does: asks for the alarms, and takes back
/// each one.
pub(crate) async fn disarm(socket: &Path) -> std::result::Result<(), ClusterError> {
    let attempts = ConstantBuilder::new().with_delay(INTERVAL).with_max_times(ATTEMPTS);
    let disarmed = (|| disarm_once(socket)).retry(attempts).await;
    disarmed.map_err(|error| ClusterError::Supervisor(format!("etcd doesn't disarm its alarms: {error}")))
}

/// Disarms the alarms that there are. Returns an error if there were any.
async fn disarm_once(socket: &Path) -> Result<()> {
    let answer = ask(socket, &json!({"action": "GET"})).await?;
    let alarms = answer["alarms"].as_array().cloned().unwrap_or_default();
    for alarm in &alarms {
        let request = json!({"action": "DEACTIVATE", "memberID": alarm["memberID"], "alarm": alarm["alarm"]});
        ask(socket, &request).await?;
    }
    if alarms.is_empty() { Ok(()) } else { Err(Error::other("there are still alarms")) }
}

/// Sends a request about alarms to etcd's JSON gateway, and returns the answer's body.
async fn ask(socket: &Path, request: &Value) -> Result<Value> {
    let stream = UnixStream::connect(socket).await?;
    let (sender, connection) = handshake(TokioIo::new(stream)).await.map_err(Error::other)?;
    // The connection ends with its sender. An error of it is an error of the exchange, too.
    let (answer, _) = join(exchange(sender, request), connection).await;
    answer
}

async fn exchange(mut sender: SendRequest<Full<Bytes>>, request: &Value) -> Result<Value> {
    let request = Request::post("/v3/maintenance/alarm")
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
        let answer = ask(&socket, &json!({"action": "GET"})).await;
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
