//! AR-SF-005: a hook ran and failed. The evidence has its Job, the Job's Pods, and the last lines of their logs.

use serde_json::json;

use super::application::{ApplicationView, ResourceResult};
use super::names::object_names;
use crate::command::KubectlVerb;
use crate::rules::code::RuleCode;
use crate::rules::draft::FindingDraft;
use crate::rules::message::for_sentence;
use crate::rules::pods;

pub(super) fn draft(application: ApplicationView<'_>, results: &[ResourceResult<'_>]) -> FindingDraft {
    let destination = application.destination();
    let mut evidence = vec![application.quote_operation()];
    let (mut last_log_line, mut failed_container, mut reason) = (None, None, None);
    for result in results {
        evidence.push(application.quote_result(*result));
        let (group, kind, name) = (result.text("group"), result.text("kind"), result.text("name"));
        let Some(cluster) = destination.cluster.filter(|_| destination.is_read()) else { continue };
        let Some(object) = cluster.object(group, kind, result.namespace(), name) else {
            evidence.push(destination.quote().absent(kind, result.namespace(), name));
            continue;
        };
        let failed = object.condition("Failed").filter(|c| c.status == "True");
        reason = reason.or(failed.map(|c| c.reason).filter(|r| !r.is_empty()));
        let state = pods::workload_state(cluster, object);
        evidence.extend(state.evidence);
        last_log_line = last_log_line.or(state.last_log_line);
        failed_container =
            failed_container.or(state.failed_container).or(state.waiting_pod.map(|w| format!("{w} never started")));
    }
    let first = results[0];
    let is_job = first.text("kind") == "Job";
    let pod = if is_job { format!("job/{}", first.text("name")) } else { format!("pod/{}", first.text("name")) };
    let namespace = first.namespace().unwrap_or_default();
    let names = json!({
        "hook": first.text("hookType"),
        "objects": object_names(results),
        "ref": first.reference(),
        "reason": reason.unwrap_or_default(),
        "message": for_sentence(first.message()),
        "ended": failed_container.unwrap_or_default(),
        "said": last_log_line.as_deref().map(for_sentence).unwrap_or_default(),
        "logs": destination.kubectl(KubectlVerb::Logs, ["-n".to_owned(), namespace.to_owned(), pod], None),
    });
    application.draft(RuleCode::AR_SF_005, &names, evidence)
}
