//! Alarms of etcd. An etcd that has run out of space raises one, and takes no writes until the alarm is disarmed, whatever space it has then.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;

use crate::error::ClusterError;

/// Time limit for an etcd that was just started to disarm its alarms. It takes about a second.
const LIMIT: Duration = Duration::from_secs(30);

/// Interval between two attempts.
const INTERVAL: Duration = Duration::from_millis(200);

/// Disarms all alarms of the etcd at a socket as soon as etcd answers, as `etcdctl alarm disarm` does: asks for the alarms, and takes back
/// each one.
pub(crate) async fn disarm(socket: &Path) -> Result<(), ClusterError> {
    let started = Instant::now();
    loop {
        let last = match disarm_once(socket).await {
            Ok(true) => return Ok(()),
            Ok(false) => "there are still alarms".to_owned(),
            Err(error) => error.to_string(),
        };
        if started.elapsed() > LIMIT {
            return Err(ClusterError::Supervisor(format!("etcd doesn't disarm its alarms: {last}")));
        }
        tokio::time::sleep(INTERVAL).await;
    }
}

/// Disarms the alarms that there are. Returns true if there were none.
async fn disarm_once(socket: &Path) -> std::io::Result<bool> {
    let answer = ask(socket, &json!({"action": "GET"})).await?;
    let alarms = answer["alarms"].as_array().cloned().unwrap_or_default();
    for alarm in &alarms {
        let request = json!({"action": "DEACTIVATE", "memberID": alarm["memberID"], "alarm": alarm["alarm"]});
        ask(socket, &request).await?;
    }
    Ok(alarms.is_empty())
}

/// Sends a request about alarms to etcd's JSON gateway, and returns the answer's body.
async fn ask(socket: &Path, request: &Value) -> std::io::Result<Value> {
    let mut stream = UnixStream::connect(socket).await?;
    let body = request.to_string();
    let request = format!(
        "POST /v3/maintenance/alarm HTTP/1.0\r\nHost: etcd\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).await?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await?;
    parse(&answer).ok_or_else(|| std::io::Error::other(answer.lines().next().unwrap_or_default().to_owned()))
}

/// Returns the body of an answer to a request of HTTP/1.0, which has no chunks; `None` if etcd refused the request.
fn parse(answer: &str) -> Option<Value> {
    let (head, body) = answer.split_once("\r\n\r\n")?;
    let status = head.lines().next()?.split(' ').nth(1)?;
    serde_json::from_str(body).ok().filter(|_| status == "200")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::parse;

    #[test]
    fn an_answer_has_a_status_and_a_body() {
        let body = r#"{"alarms":[{"memberID":"10276657743932975437","alarm":"NOSPACE"}]}"#;
        let answer = format!("HTTP/1.0 200 OK\r\nContent-Type: application/json\r\n\r\n{body}");
        let alarm = json!({"memberID": "10276657743932975437", "alarm": "NOSPACE"});
        assert_eq!(parse(&answer).expect("a body")["alarms"], json!([alarm]));
        assert_eq!(parse(&answer.replace("200 OK", "503 Service Unavailable")), None);
        assert_eq!(parse(""), None);
    }
}
