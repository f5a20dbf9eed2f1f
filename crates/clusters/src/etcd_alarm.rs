//! Alarms of etcd. An etcd that has run out of space raises one, and takes no writes until the alarm is disarmed, whatever space it has then.

use std::path::Path;
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;

use crate::error::ClusterError;

/// Time limit for an etcd that was just started to disarm its alarms. It takes about a second.
const LIMIT: Duration = Duration::from_secs(30);

/// Interval between two attempts.
const INTERVAL: Duration = Duration::from_millis(200);

/// What `etcdctl alarm disarm` asks for, for the alarm about space, by etcd's JSON gateway. Member 0 stands for all members.
const DISARM: &str = r#"{"action": "DEACTIVATE", "memberID": 0, "alarm": "NOSPACE"}"#;

/// Disarms the alarm about space of the etcd at a socket, as soon as etcd answers.
pub(crate) async fn disarm(socket: &Path) -> Result<(), ClusterError> {
    let started = Instant::now();
    loop {
        match ask(socket).await {
            Ok(answer) if answer.starts_with("HTTP/1.1 200") => return Ok(()),
            Ok(answer) if started.elapsed() > LIMIT => {
                let reason = answer.lines().next().unwrap_or_default();
                return Err(ClusterError::Supervisor(format!("etcd doesn't disarm its alarm: {reason}")));
            }
            Err(error) if started.elapsed() > LIMIT => return Err(ClusterError::io("reach", socket)(error)),
            Ok(_) | Err(_) => tokio::time::sleep(INTERVAL).await,
        }
    }
}

/// Sends the request, and returns the whole answer.
async fn ask(socket: &Path) -> std::io::Result<String> {
    let mut stream = UnixStream::connect(socket).await?;
    let request = format!(
        "POST /v3/maintenance/alarm HTTP/1.1\r\nHost: etcd\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\nConnection: close\r\n\r\n{DISARM}",
        DISARM.len()
    );
    stream.write_all(request.as_bytes()).await?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await?;
    Ok(answer)
}
