//! Ends of logs: of a local fleet's processes, or of KubeFleet's pods.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use futures::future::join_all;
use k8s_openapi::api::core::v1::Pod;
use kube::api::{Api, ListParams, LogParams};
use kube::{Client, ResourceExt};

use super::manifest::MissingBundlePart;
use crate::error::in_full;
use crate::redact::Redactor;

/// Bytes of a log that are kept.
const LIMIT: usize = 1 << 20;

/// Bytes that are read in addition, so that a secret at the cut is read from its beginning.
const MARGIN: usize = 64 << 10;

/// Lines of a pod's log that are requested. An API server can limit bytes only from the beginning of a log.
const LINES: i64 = 10_000;

/// The end of a log, without secrets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogTail {
    /// Name of the process, e.g. `hub-agent`; for a pod's log cluster, pod and container.
    pub process: String,
    /// Text of at most 1 MiB.
    pub text: String,
    /// True if the log has more text before this end.
    pub cut: bool,
}

/// Logs, and entries for the logs that couldn't be read.
pub(super) type CollectedLogs = (Vec<LogTail>, Vec<MissingBundlePart>);

/// Reads the logs of a local fleet's processes, including processes that have ended.
pub(super) fn of_processes(dir: &Path, redactor: &Redactor) -> CollectedLogs {
    let (mut logs, mut missing) = (Vec::new(), Vec::new());
    let mut files = vec![dir.join("supervisor.log")];
    match fs::read_dir(dir.join("logs")) {
        Ok(entries) => files.extend(entries.flatten().map(|entry| entry.path())),
        Err(error) => missing.push(missed(None, "logs", &error)),
    }
    files.retain(|file| file.extension().is_some_and(|e| e == "log"));
    files.sort();
    for file in files {
        let process = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        match end_of(&file) {
            Ok(bytes) if bytes.is_empty() => {}
            Ok(bytes) => logs.push(log(process, &bytes, redactor)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => missing.push(missed(None, &format!("the log of {process}"), &error)),
        }
    }
    (logs, missing)
}

/// Reads the logs of the pods in some namespaces of a cluster; none if the agents don't run as pods.
pub(super) async fn of_pods(cluster: &str, namespaces: &[&str], client: &Client, redactor: &Redactor) -> CollectedLogs {
    let of_each = namespaces.iter().map(|namespace| of_namespace(cluster, namespace, client, redactor));
    let (logs, missing): (Vec<_>, Vec<_>) = join_all(of_each).await.into_iter().unzip();
    (logs.concat(), missing.concat())
}

async fn of_namespace(cluster: &str, namespace: &str, client: &Client, redactor: &Redactor) -> CollectedLogs {
    let (mut logs, mut missing) = (Vec::new(), Vec::new());
    let api: Api<Pod> = Api::namespaced(client.clone(), namespace);
    let pods = match api.list(&ListParams::default()).await {
        Ok(pods) => pods.items,
        Err(error) => return (logs, vec![missed(Some(cluster), &format!("the pods in {namespace}"), &error)]),
    };
    for pod in pods {
        let name = pod.name_any();
        for container in pod.spec.iter().flat_map(|spec| &spec.containers).map(|c| c.name.clone()) {
            let process = format!("{cluster}-{name}-{container}");
            let what = format!("the log of {name}, container {container}");
            let asked = LogParams { container: Some(container), tail_lines: Some(LINES), ..LogParams::default() };
            match api.logs(&name, &asked).await {
                Ok(text) if text.is_empty() => {}
                Ok(text) => logs.push(log(process, text.as_bytes(), redactor)),
                Err(error) => missing.push(missed(Some(cluster), &what, &error)),
            }
        }
    }
    (logs, missing)
}

fn missed(cluster: Option<&str>, what: &str, error: &(dyn std::error::Error + 'static)) -> MissingBundlePart {
    MissingBundlePart {
        cluster: cluster.map(ToOwned::to_owned),
        what: what.to_owned(),
        why: in_full(error),
        needed: false,
    }
}

fn end_of(file: &Path) -> io::Result<Vec<u8>> {
    let mut file = File::open(file)?;
    let most = LIMIT + MARGIN;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(most as u64)))?;
    let mut bytes = Vec::new();
    // A process may write to the file meanwhile.
    file.take(most as u64).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn log(process: String, bytes: &[u8], redactor: &Redactor) -> LogTail {
    let text = String::from_utf8_lossy(bytes);
    let text = redactor.log(&text);
    let cut = bytes.len() > LIMIT || text.len() > LIMIT;
    let text = if cut { last_lines(&text, LIMIT) } else { &text };
    LogTail { process, text: text.to_owned(), cut }
}

/// Last whole lines of a text, at most `most` bytes; the end of a single line that is longer.
fn last_lines(text: &str, most: usize) -> &str {
    let mut from = text.len().saturating_sub(most);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    let end = &text[from..];
    match end.find('\n') {
        Some(line_end) if line_end + 1 < end.len() => &end[line_end + 1..],
        _ => end,
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;
    use crate::member::SYSTEM;

    #[test]
    fn only_the_end_of_a_long_log_is_kept_in_whole_lines() {
        let mut text = String::new();
        for n in 0..60_000 {
            writeln!(text, "line {n} of a log that goes on and on").unwrap();
        }
        let log = log("agent".into(), &text.as_bytes()[text.len() - (LIMIT + MARGIN)..], &Redactor::default());
        assert!(log.cut && log.text.len() <= LIMIT && log.text.len() > LIMIT - 100);
        assert!(log.text.starts_with("line ") && text.ends_with(&log.text), "{}", &log.text[..60]);
    }

    #[test]
    fn a_short_log_is_kept_as_it_is_but_for_secrets() {
        let log = log("agent".into(), b"one\nBearer abc.def.123\n", &Redactor::default());
        assert_eq!((log.text.as_str(), log.cut), ("one\nBearer (removed)\n", false));
    }

    #[test]
    fn logs_of_a_fleet_are_found_and_its_tokens_are_not_in_them() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("logs")).unwrap();
        fs::write(dir.path().join("logs/hub-agent.log"), "opaque-token-of-member-1 was refused\n").unwrap();
        fs::write(dir.path().join("logs/empty.log"), "").unwrap();
        fs::write(dir.path().join("member-1.token"), "opaque-token-of-member-1").unwrap();
        let (logs, missing) = of_processes(dir.path(), &Redactor::knowing(["opaque-token-of-member-1".into()]));
        assert_eq!(missing, []);
        assert_eq!(logs, [LogTail { process: "hub-agent".into(), text: "(removed) was refused\n".into(), cut: false }]);
    }

    /// Client of a server that answers each given path with its text like an API server, and all other paths with 404.
    fn api_server(answers: &'static [(&'static str, &'static str)]) -> Client {
        use std::io::{BufRead, BufReader, Write};
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let mut lines = BufReader::new(stream.try_clone().unwrap()).lines().map_while(Result::ok);
                let request = lines.next().unwrap_or_default();
                lines.find(String::is_empty);
                let (status, text) = answers
                    .iter()
                    .find(|(path, _)| request.contains(path))
                    .map_or(("404 Not Found", ""), |(_, text)| ("200 OK", *text));
                let length = text.len();
                let head = format!("HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n");
                stream.write_all(format!("{head}{text}").as_bytes()).unwrap();
            }
        });
        Client::try_from(kube::Config::new(address.parse().unwrap())).unwrap()
    }

    #[tokio::test]
    async fn logs_of_pods_are_found_and_those_that_are_refused_are_said() {
        let client = api_server(&[
            (
                "/pods?",
                r#"{"apiVersion":"v1","kind":"PodList","metadata":{},"items":[{"metadata":{"name":"hub-agent-1"},
                "spec":{"containers":[{"name":"hub-agent"},{"name":"other"}]}}]}"#,
            ),
            ("/pods/hub-agent-1/log?&container=hub-agent&tailLines=10000", "Bearer abc.def.123 is used\n"),
        ]);
        let (logs, missing) = of_pods("hub", &[SYSTEM], &client, &Redactor::default()).await;
        let text = "Bearer (removed) is used\n".to_owned();
        assert_eq!(logs, [LogTail { process: "hub-hub-agent-1-hub-agent".into(), text, cut: false }]);
        let missing: Vec<_> = missing.iter().map(|m| (m.cluster.as_deref(), m.what.as_str())).collect();
        assert_eq!(missing, [(Some("hub"), "the log of hub-agent-1, container other")]);
    }
}
