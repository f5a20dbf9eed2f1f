//! AR-SF-005: a hook that ran and failed: its Job, the Job's Pods, and the last lines of their logs.

use serde_json::json;

use super::application::{Application, Outcome};
use super::names::{objects, sentence};
use crate::command::KubectlVerb;
use crate::rules::draft::Draft;
use crate::rules::pods;

pub(super) fn draft(application: Application<'_>, outcomes: &[Outcome<'_>]) -> Draft {
    let destination = application.destination();
    let mut evidence = vec![application.quote_operation()];
    let (mut said, mut ended, mut reason) = (None, None, None);
    for outcome in outcomes {
        evidence.push(application.quote_outcome(*outcome));
        let (group, kind, name) = (outcome.text("group"), outcome.text("kind"), outcome.text("name"));
        let Some(cluster) = destination.cluster.filter(|_| destination.is_read()) else { continue };
        let Some(object) = cluster.object(group, kind, outcome.namespace(), name) else {
            evidence.push(destination.quote().absent(kind, outcome.namespace(), name));
            continue;
        };
        let failed = object.condition("Failed").filter(|c| c.status == "True");
        reason = reason.or(failed.map(|c| c.reason).filter(|r| !r.is_empty()));
        let look = pods::of_workload(cluster, object);
        evidence.extend(look.evidence);
        said = said.or(look.said);
        ended = ended.or(look.ended).or(look.waiting.map(|w| format!("{w} never started")));
    }
    let first = outcomes[0];
    let is_job = first.text("kind") == "Job";
    let pod = if is_job { format!("job/{}", first.text("name")) } else { format!("pod/{}", first.text("name")) };
    let namespace = first.namespace().unwrap_or_default();
    let names = json!({
        "hook": first.text("hookType"),
        "objects": objects(outcomes),
        "ref": first.reference(),
        "reason": reason.unwrap_or_default(),
        "message": sentence(first.message()),
        "ended": ended.unwrap_or_default(),
        "said": said.as_deref().map(sentence).unwrap_or_default(),
        "logs": destination.kubectl(KubectlVerb::Logs, ["-n".to_owned(), namespace.to_owned(), pod], None),
    });
    application.draft("AR-SF-005", &names, evidence)
}
