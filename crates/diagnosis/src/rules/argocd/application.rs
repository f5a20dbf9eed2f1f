//! An Argo CD Application as the rules see it: which side failed, which resource, and where it was to go.

use jiff::Timestamp;
use serde_json::Value;

use super::destination::{Destination, Owners};
use crate::rules::draft::{Draft, Topic};
use crate::rules::fleet::{Fleet, full_name};
use crate::rules::kubectl;
use crate::rules::quote::Quote;
use crate::{APPLICATION, ClusterSnapshot, Evidence, Object, Subject};

/// An Application that isn't being deleted.
#[derive(Clone, Copy)]
pub(super) struct Application<'a> {
    pub fleet: Fleet<'a>,
    pub object: Object<'a>,
    cluster: Option<&'a ClusterSnapshot>,
}

/// What the last operation is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operation {
    /// There was none, or it succeeded, or somebody ends it.
    Fine,
    /// It runs.
    Running,
    /// It failed, for good or until its next attempt.
    Failed,
}

/// A condition of an Application, which has no status: it is there, or it isn't.
#[derive(Clone, Copy, Debug)]
pub(super) struct Said<'a> {
    pub type_: &'a str,
    pub message: &'a str,
    at: Option<Timestamp>,
}

/// What became of one resource in the last operation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Outcome<'a>(&'a Value);

impl<'a> Application<'a> {
    /// All of the hub's.
    pub fn all(fleet: Fleet<'a>) -> impl Iterator<Item = Self> {
        let objects: Vec<_> =
            fleet.hub.of_kind(APPLICATION.group, APPLICATION.kind).filter(|o| o.deleted_at().is_none()).collect();
        // Where there is none, nothing needs to know who owns what.
        let owners = (!objects.is_empty()).then(|| Owners::of(fleet));
        objects.into_iter().map(move |object| {
            let cluster = owners.as_ref().and_then(|owners| owners.cluster(fleet, object));
            Self { fleet, object, cluster }
        })
    }

    /// `namespace/name`.
    pub fn full_name(self) -> String {
        full_name(self.object.namespace(), self.object.name())
    }

    pub fn quote(self) -> Quote<'a> {
        self.fleet.quote()
    }

    /// What its last operation is doing.
    pub fn operation(self) -> Operation {
        match self.state("phase") {
            "Failed" | "Error" => Operation::Failed,
            // Between two attempts an operation counts as running, although it has an end.
            "Running" if self.finished_at().is_some() => Operation::Failed,
            "Running" => Operation::Running,
            _ => Operation::Fine,
        }
    }

    /// A text of `status.operationState`; empty where there is none.
    pub fn state(self, field: &str) -> &'a str {
        self.object.str(&format!("/status/operationState/{field}")).unwrap_or_default()
    }

    /// When the operation began.
    pub fn started_at(self) -> Option<Timestamp> {
        self.state("startedAt").parse().ok()
    }

    fn finished_at(self) -> Option<Timestamp> {
        self.state("finishedAt").parse().ok()
    }

    /// How often the operation has been tried again.
    pub fn retries(self) -> i64 {
        self.object.at("/status/operationState/retryCount").and_then(Value::as_i64).unwrap_or_default()
    }

    /// What became of each resource.
    pub fn outcomes(self) -> impl Iterator<Item = Outcome<'a>> {
        self.object.list("/status/operationState/syncResult/resources").iter().map(Outcome)
    }

    /// The conditions of a type.
    pub fn said(self, type_: &str) -> impl Iterator<Item = Said<'a>> {
        let text = |value: &'a Value, field: &str| value.get(field).and_then(Value::as_str).unwrap_or_default();
        let all = self.object.list("/status/conditions").iter().map(move |value| Said {
            type_: text(value, "type"),
            message: text(value, "message"),
            at: text(value, "lastTransitionTime").parse().ok(),
        });
        all.filter(move |said| said.type_ == type_)
    }

    /// Whether the last operation was told something, e.g. `FailOnSharedResource=true`.
    pub fn has_option(self, option: &str) -> bool {
        let options = self.object.list("/status/operationState/operation/sync/syncOptions");
        options.iter().any(|o| o.as_str() == Some(option))
    }

    /// Whether the live state is what is wanted, and well.
    pub fn is_well(self) -> bool {
        let status = |path| self.object.str(path).unwrap_or_default();
        status("/status/sync/status") == "Synced" && status("/status/health/status") == "Healthy"
    }

    /// The commits that the last operation is about; what names no commit, such as a branch, is left out.
    pub fn operated(self) -> Vec<&'a str> {
        let of = |holder: &str| revisions(self.object, &format!("/status/operationState/{holder}"));
        let result = of("syncResult");
        if result.is_empty() { of("operation/sync") } else { result }
    }

    /// The commits that the source had when it was compared last.
    pub fn wanted(self) -> Vec<&'a str> {
        revisions(self.object, "/status/sync")
    }

    /// Whether the last operation is about other commits than those that are wanted now. A comparison that is older than
    /// what it is asked about says nothing: of a commit that is synced at once it doesn't know yet.
    pub fn is_behind(self) -> bool {
        let (operated, wanted) = (self.operated(), self.wanted());
        let compared: Option<Timestamp> = self.object.str("/status/reconciledAt").and_then(|t| t.parse().ok());
        // The end of an attempt is no end: it is the same operation that is tried again.
        let end = self.finished_at().filter(|_| self.state("phase") != "Running");
        let is_newer = compared.zip(end.or_else(|| self.started_at())).is_some_and(|(compared, then)| compared > then);
        is_newer && !operated.is_empty() && !wanted.is_empty() && operated != wanted
    }

    /// Where its resources are to go.
    pub fn destination(self) -> Destination<'a> {
        Destination { application: self.object, cluster: self.cluster }
    }

    /// Which side failed: what the last operation says of itself.
    pub fn quote_operation(self) -> Evidence {
        let (phase, message) = (self.state("phase"), self.state("message"));
        let value = if message.is_empty() { phase.to_owned() } else { format!("{phase}: {message}") };
        let at = self.finished_at().or_else(|| self.started_at());
        self.quote().text(self.object, "status.operationState", value, at)
    }

    /// What became of a resource, its own message included.
    pub fn quote_outcome(self, outcome: Outcome<'_>) -> Evidence {
        let path = format!("status.operationState.syncResult.resources[{}]", outcome.object());
        self.quote().text(self.object, &path, outcome.says(), None)
    }

    /// A condition.
    pub fn quote_said(self, said: Said<'_>) -> Evidence {
        let path = format!("status.conditions[{}]", said.type_);
        self.quote().text(self.object, &path, said.message.to_owned(), said.at)
    }

    /// Itself, and the member that it is for.
    pub fn subject(self) -> Subject {
        let member = self.destination().member().map(str::to_owned);
        crate::rules::fleet::subject(self.fleet, self.object, None, member.as_deref())
    }

    /// The words by which kubectl finds it.
    pub fn reference(self) -> Vec<String> {
        kubectl::reference(self.object)
    }

    /// Its last sync, as a topic.
    pub fn sync(self) -> Topic {
        Topic::Sync { namespace: self.namespace(), name: self.object.name().to_owned() }
    }

    /// The revision that its operation holds on to, as a topic.
    pub fn revision(self) -> Topic {
        Topic::Revision { namespace: self.namespace(), name: self.object.name().to_owned() }
    }

    fn namespace(self) -> String {
        self.object.namespace().unwrap_or_default().to_owned()
    }

    /// A finding about its last sync.
    pub fn draft(self, code: &str, names: &Value, evidence: Vec<Evidence>) -> Draft {
        let names = super::names::with(self, names);
        Draft::new(code, self.subject(), &names, evidence).about(self.sync()).follows(self.revision())
    }
}

impl<'a> Outcome<'a> {
    pub fn text(self, field: &str) -> &'a str {
        self.0.get(field).and_then(Value::as_str).unwrap_or_default()
    }

    pub fn namespace(self) -> Option<&'a str> {
        Some(self.text("namespace")).filter(|n| !n.is_empty())
    }

    pub fn message(self) -> &'a str {
        self.text("message")
    }

    /// Whether it couldn't be applied, as opposed to not having become well afterwards.
    pub fn is_refused(self) -> bool {
        self.text("status") == "SyncFailed"
    }

    pub fn has_failed(self) -> bool {
        self.is_refused() || matches!(self.text("hookPhase"), "Failed" | "Error")
    }

    /// Whether the operation waits for it.
    pub fn is_running(self) -> bool {
        self.text("hookPhase") == "Running"
    }

    pub fn is_hook(self) -> bool {
        !self.text("hookType").is_empty()
    }

    /// `Kind name` or `Kind namespace/name`.
    pub fn object(self) -> String {
        format!("{} {}", self.text("kind"), full_name(self.namespace(), self.text("name")))
    }

    /// The words by which kubectl finds it.
    pub fn reference(self) -> Vec<String> {
        kubectl::resource(self.text("group"), self.text("kind"), self.namespace(), self.text("name"))
    }

    /// `SyncFailed, PreSync hook Failed: message`, with what there is of it.
    fn says(self) -> String {
        let phase = match (self.text("hookType"), self.text("hookPhase")) {
            (_, "") => String::new(),
            ("", phase) => phase.to_owned(),
            (hook, phase) => format!("{hook} hook {phase}"),
        };
        let parts: Vec<&str> = [self.text("status"), &phase].into_iter().filter(|p| !p.is_empty()).collect();
        let state = parts.join(", ");
        if self.message().is_empty() { state } else { format!("{state}: {}", self.message()) }
    }
}

/// The revisions below a holder, of one source or of several.
fn revisions<'a>(object: Object<'a>, holder: &str) -> Vec<&'a str> {
    let several = object.list(&format!("{holder}/revisions")).iter().filter_map(Value::as_str);
    let one = object.str(&format!("{holder}/revision"));
    let all: Vec<_> = several.collect();
    let all = if all.is_empty() { one.into_iter().collect() } else { all };
    all.into_iter().filter(|r| is_commit(r)).collect()
}

/// Git's hashes have 40 or 64 digits. A chart's version is a revision, too, but never a moving one.
fn is_commit(revision: &str) -> bool {
    revision.len() >= 40 && revision.bytes().all(|b| b.is_ascii_hexdigit())
}
