//! `fleetdrill diagnose --watch`: what is new and what is gone from one diagnosis to the next, and metrics.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use diagnosis::{Diagnosis, Finding};
use fleet::local_server::serve_text;
use fleet::redact::Redactor;
use jiff::Timestamp;
use record::{FailureCode, Subject};
use report::finding::diagnosis_report::DiagnosisReport;
use report::finding::prometheus;
use report::stderr_line;
use report::stdout_line;
use report::text::{clean_line, escaped_json};
use serde::Serialize;
use tokio::net::TcpListener;
use tokio::time::{MissedTickBehavior, interval};

use super::{DiagnosisInput, RequestedObject, counting_on, examine, live, today, warn_of_expired};
use crate::cli::{DiagnoseArgs, DiagnoseFormat};
use crate::config::ConfiguredWaiver;
use crate::error::CommandError;
use crate::exit::CommandExitCode;

/// Path of the metrics.
const METRICS: &str = "/metrics";

/// Identity of a finding from one diagnosis to the next, with whether it is waived: a finding whose waiver expires is a new one.
type FindingKey = (FailureCode, Subject, bool);

/// Change from one diagnosis to the next, as a program gets it.
#[derive(Serialize)]
struct FindingChange<'a> {
    at: Timestamp,
    change: ChangeKind,
    finding: &'a Finding,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum ChangeKind {
    New,
    Gone,
}

/// Metrics of the last diagnosis, which the server reads.
#[derive(Clone, Default)]
struct LastMetrics(Arc<Mutex<Option<String>>>);

impl LastMetrics {
    fn set(&self, text: String) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(text);
    }

    fn get(&self) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Diagnoses until the command is interrupted.
pub(super) async fn watch(
    args: &DiagnoseArgs,
    wanted: Option<&RequestedObject>,
    redactor: &Redactor,
    waivers: &[ConfiguredWaiver],
) -> Result<CommandExitCode, CommandError> {
    if ![DiagnoseFormat::Text, DiagnoseFormat::Json].contains(&args.output) {
        let hint = "leave out --watch, or --output; --metrics serves metrics";
        return Err(CommandError::usage("--watch prints text or JSON only".to_owned(), Some(hint)));
    }
    let metrics = LastMetrics::default();
    let served = listen(args.metrics).await?;
    tokio::select! {
        ended = rounds(args, wanted, (redactor, waivers), &metrics) => ended,
        error = serve(served, metrics.clone()) => Err(error),
    }
}

/// Listens for requests of metrics, if they are asked for.
async fn listen(address: Option<SocketAddr>) -> Result<Option<TcpListener>, CommandError> {
    let Some(address) = address else { return Ok(None) };
    let listener = TcpListener::bind(address).await.and_then(|listener| Ok((listener.local_addr()?, listener)));
    let (local, listener) = listener.map_err(|error| CommandError::Usage {
        message: format!("failed to serve metrics at {address}: {error}"),
        hint: Some("give another port; 0 takes a free one".into()),
    })?;
    stderr_line!("metrics: http://{local}{METRICS}");
    Ok(Some(listener))
}

/// Serves the metrics until that fails; for ever if nobody asks for them.
async fn serve(listener: Option<TcpListener>, metrics: LastMetrics) -> CommandError {
    let Some(listener) = listener else { return std::future::pending().await };
    let text = move |path: &str| (path == METRICS).then(|| metrics.get()).flatten();
    match serve_text(listener, prometheus::CONTENT_TYPE, text).await {
        Ok(never) => match never {},
        Err(error) => CommandError::Environment { message: format!("failed to serve metrics: {error}"), hint: None },
    }
}

async fn rounds(
    args: &DiagnoseArgs,
    wanted: Option<&RequestedObject>,
    (redactor, waivers): (&Redactor, &[ConfiguredWaiver]),
    metrics: &LastMetrics,
) -> Result<CommandExitCode, CommandError> {
    let mut turns = interval(Duration::from_secs(args.interval));
    turns.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut known: Option<BTreeMap<FindingKey, Finding>> = None;
    let (mut last_error, mut last_day) = (None, None);
    loop {
        turns.tick().await;
        let day = today();
        if last_day.replace(day) != Some(day) {
            warn_of_expired(waivers, day);
        }
        let waivers = counting_on(waivers, day);
        let read = live(args, wanted, redactor).await;
        let diagnosed =
            read.and_then(|input| Ok((examine(args, wanted, (&input.snapshot, &input.access), &waivers)?, input)));
        let (found, input) = match diagnosed {
            Ok(diagnosed) => diagnosed,
            // Nothing has been read so far: the options are wrong, and the next turn won't be better.
            Err(error) if known.is_none() => return Err(error),
            Err(error) => {
                metrics.set(prometheus::render_failed());
                let message = error.to_string();
                if last_error.as_ref() != Some(&message) {
                    stderr_line!("warning: {}", clean_line(&message));
                    last_error = Some(message);
                }
                continue;
            }
        };
        if last_error.take().is_some() {
            stderr_line!("the fleet can be read again");
        }
        metrics.set(metrics_of(args, &input, &found));
        let is_first = known.is_none();
        let now: BTreeMap<FindingKey, Finding> =
            found.findings.into_iter().map(|finding| (key(&finding), finding)).collect();
        print_changes(args.output, &known.unwrap_or_default(), &now);
        if is_first && now.is_empty() && args.output == DiagnoseFormat::Text {
            stdout_line!("{:.0}   nothing found", Timestamp::now());
        }
        known = Some(now);
    }
}

fn metrics_of(args: &DiagnoseArgs, input: &DiagnosisInput, found: &Diagnosis) -> String {
    let DiagnosisInput { fleet, source, contexts, snapshot, .. } = input;
    prometheus::render(&DiagnosisReport::new((fleet, *source), snapshot, contexts, args.object.as_deref(), found))
}

fn key(finding: &Finding) -> FindingKey {
    (finding.code.clone(), finding.subject.clone(), finding.waived.is_some())
}

fn print_changes(format: DiagnoseFormat, before: &BTreeMap<FindingKey, Finding>, now: &BTreeMap<FindingKey, Finding>) {
    let at = Timestamp::now();
    for (change, finding) in changes(before, now) {
        if format == DiagnoseFormat::Json {
            // Findings have no maps whose keys aren't strings, so that this can't fail.
            let line = serde_json::to_string(&FindingChange { at, change, finding });
            stdout_line!("{}", escaped_json(line.unwrap_or_default()));
        } else {
            stdout_line!("{at:.0} {}", change_line(change, finding));
        }
    }
}

/// Returns the findings that are new, and those that are gone.
fn changes<'a>(
    before: &'a BTreeMap<FindingKey, Finding>,
    now: &'a BTreeMap<FindingKey, Finding>,
) -> impl Iterator<Item = (ChangeKind, &'a Finding)> {
    let new = now.iter().filter(|(key, _)| !before.contains_key(*key)).map(|(_, finding)| (ChangeKind::New, finding));
    let gone = before.iter().filter(|(key, _)| !now.contains_key(*key));
    gone.map(|(_, finding)| (ChangeKind::Gone, finding)).chain(new)
}

/// Returns a change on one line.
fn change_line(change: ChangeKind, finding: &Finding) -> String {
    let sign = match change {
        ChangeKind::New => '+',
        ChangeKind::Gone => '-',
    };
    let waived = finding.waived.as_ref().map(|waiver| format!(" (waived until {})", waiver.until)).unwrap_or_default();
    let (subject, title) = (clean_line(&finding.subject.to_string()), clean_line(&finding.title));
    format!("{sign} {}{waived} {subject}: {title}", finding.code)
}

#[cfg(test)]
mod tests {
    use report::run::fixture;

    use super::*;

    #[test]
    fn what_is_new_and_what_is_gone_is_told() {
        let [one, other] = [fixture::member_namespace_finding(), fixture::stale_approval_finding()];
        let known = |findings: &[&Finding]| -> BTreeMap<FindingKey, Finding> {
            findings.iter().map(|finding| (key(finding), (*finding).clone())).collect()
        };
        let told = |before: &[&Finding], now: &[&Finding]| -> Vec<String> {
            changes(&known(before), &known(now)).map(|(change, finding)| change_line(change, finding)).collect()
        };
        let (namespace, approval) = (
            "KF-WS-001 ClusterResourcePlacement/web-x1 (member-4): the member's namespace on the hub is being deleted",
            "KF-UR-007 StagedUpdateRun/shop/run-x2 (stage staging): the approval is for another generation of the request",
        );
        assert_eq!(told(&[], &[&one]), [format!("+ {namespace}")]);
        assert_eq!(told(&[&one], &[&other]), [format!("- {namespace}"), format!("+ {approval}")]);
        assert_eq!(told(&[&one], &[&one]), [""; 0]);
        // A waiver that expires makes a finding new.
        let waived = fixture::waived_finding();
        let of_waived = namespace.replacen("KF-WS-001", "KF-WS-001 (waived until 2027-01-31)", 1);
        assert_eq!(told(&[&waived], &[&one]), [format!("- {of_waived}"), format!("+ {namespace}")]);
        // The texts of a finding change while it lasts: it is the same finding.
        let mut older = one.clone();
        older.cause = "it has lasted for longer".to_owned();
        assert_eq!(told(&[&one], &[&older]), [""; 0]);
    }

    #[tokio::test]
    async fn an_address_that_is_taken_is_named() {
        let taken = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = taken.local_addr().unwrap();
        let error = listen(Some(address)).await.unwrap_err().to_string();
        assert!(error.starts_with(&format!("failed to serve metrics at {address}: ")), "{error}");
    }
}
