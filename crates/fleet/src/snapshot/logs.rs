//! Last lines of the logs of some containers. The diagnosis selects the containers.

use std::time::Duration;

use diagnosis::{PodLog, UnreadKind, UnreadReason, WantedLog};
use futures::future::join_all;
use k8s_openapi::api::core::v1::Pod;
use kube::Client;
use kube::api::{Api, LogParams};
use tokio::time::timeout;

use crate::redact::Redactor;

/// Lines that are kept of each log.
const LINES: i64 = 10;

/// Characters that are kept of each log, since a line may have any length.
const CHARACTERS: usize = 4000;

/// Time limit for a kubelet's answer. A diagnosis doesn't wait longer; its finding then says how to read the log.
const LIMIT: Duration = Duration::from_secs(5);

/// Reads the ends of some logs of a cluster, without secrets. Also returns the refusal if the credentials may not read
/// logs. Other logs that can't be read are left out.
pub(crate) async fn ends<'a>(
    client: &Client,
    wanted: impl Iterator<Item = &'a WantedLog>,
    redactor: &Redactor,
) -> (Vec<PodLog>, Option<UnreadKind>) {
    let reads = wanted.map(|log| async move {
        let api: Api<Pod> = Api::namespaced(client.clone(), &log.namespace);
        let container = Some(log.container.clone());
        let asked = LogParams { container, tail_lines: Some(LINES), ..LogParams::default() };
        match timeout(LIMIT, api.logs(&log.pod, &asked)).await {
            Ok(Ok(text)) => Ok(Some(log_of(log, &redactor.log(&text)))),
            Ok(Err(kube::Error::Api(status))) if status.code == 403 => Err(UnreadKind {
                group: String::new(),
                resource: "pods/log".to_owned(),
                reason: UnreadReason::Forbidden,
                message: status.message.clone(),
            }),
            Ok(Err(error)) => {
                tracing::debug!(?log, %error, "no log");
                Ok(None)
            }
            Err(_) => {
                tracing::debug!(?log, "no log: no answer within {} s", LIMIT.as_secs());
                Ok(None)
            }
        }
    });
    let (mut logs, mut unread) = (Vec::new(), None);
    for read in join_all(reads).await {
        match read {
            Ok(log) => logs.extend(log),
            Err(refusal) => unread = Some(refusal),
        }
    }
    (logs, unread)
}

fn log_of(log: &WantedLog, text: &str) -> PodLog {
    let (namespace, pod, container) = (log.namespace.clone(), log.pod.clone(), log.container.clone());
    let from = text.char_indices().rev().take(CHARACTERS).last().map_or(0, |(at, _)| at);
    PodLog { namespace, pod, container, text: text[from..].to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_long_line_the_end_is_kept() {
        let (cluster, name) = ("member-1".to_owned(), || "x".to_owned());
        let wanted = WantedLog { cluster, namespace: name(), pod: name(), container: name() };
        let kept = log_of(&wanted, &format!("{}end", "ä".repeat(2 * CHARACTERS))).text;
        assert!(kept.ends_with("äend") && kept.chars().count() == CHARACTERS, "{kept}");
        assert_eq!(log_of(&wanted, "short\n").text, "short\n");
        assert_eq!(log_of(&wanted, "").text, "");
    }
}
