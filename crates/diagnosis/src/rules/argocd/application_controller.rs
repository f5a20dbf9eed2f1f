//! AR-AC: an Application waits for Argo CD's application controller, which runs no more, or doesn't watch the Application's namespace.
//!
//! Argo CD writes nothing in this case (v3.2, v3.5): the status stays as it is, or absent.

use std::collections::BTreeSet;

use jiff::{SignedDuration, Timestamp};
use serde_json::json;

use super::application::{ApplicationView, OperationState, compared_at, is_compared};
use super::field_differences::FieldWrite;
use super::project::{controller_namespace, project_of_object};
use crate::rules::code::RuleCode;
use crate::rules::draft::FindingDraft;
use crate::rules::fleet::FleetView;
use crate::{APP_PROJECT, APPLICATION, Evidence, Object, ObjectSelection};

/// Time that a controller which works may take. A comparison waits for the repo-server for 60 s at most, and the first one of a destination
/// for the lists of all its objects.
const LIMIT: SignedDuration = SignedDuration::from_mins(3);

/// Annotation that asks for a comparison. The controller removes it at the comparison's end.
const REFRESH: &str = "argocd.argoproj.io/refresh";

/// What an Application waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Request<'a> {
    /// The first comparison.
    FirstComparison,
    /// A comparison that somebody has asked for, with the annotation's value.
    Refresh(&'a str),
    /// An operation that somebody has asked for.
    Operation,
}

/// Application that waits for the controller.
struct WaitingApplication<'a> {
    application: ApplicationView<'a>,
    request: Request<'a>,
    /// Last write of the Application.
    since: Timestamp,
}

impl<'a> WaitingApplication<'a> {
    fn read(application: ApplicationView<'a>) -> Option<Self> {
        let object = application.object;
        let has_operation = object.at("/operation").is_some();
        let request = match object.annotation(REFRESH) {
            Some(value) => Request::Refresh(value),
            None if has_operation && application.operation_state() == OperationState::Fine => Request::Operation,
            None if !is_compared(object) => Request::FirstComparison,
            None => return None,
        };
        let written = FieldWrite::all(object).filter_map(|write| write.at).max();
        let since = written.or_else(|| object.created_at())?;
        (application.fleet.age(since) >= LIMIT).then_some(Self { application, request, since })
    }

    fn evidence(&self) -> Evidence {
        let (quote, object) = (self.application.quote(), self.application.object);
        let evidence = match self.request {
            Request::FirstComparison => quote.field(object, "status.reconciledAt"),
            Request::Operation => quote.field(object, "operation"),
            Request::Refresh(value) => {
                quote.text(object, &format!("metadata.annotations[{REFRESH}]"), value.to_owned(), None)
            }
        };
        Evidence { at: Some(self.since), ..evidence }
    }
}

pub(super) fn rule(fleet: FleetView<'_>, applications: &[ApplicationView<'_>]) -> Vec<FindingDraft> {
    let waiting: Vec<_> =
        applications.iter().filter_map(|application| WaitingApplication::read(*application)).collect();
    if waiting.is_empty() {
        return Vec::new();
    }
    let compared = compared_applications(fleet);
    waiting.iter().filter_map(|waiting| draft(waiting, &compared)).collect()
}

fn draft(waiting: &WaitingApplication<'_>, compared: &[ComparedApplication<'_>]) -> Option<FindingDraft> {
    let WaitingApplication { application, request, since } = waiting;
    let namespace = application.object.namespace().unwrap_or_default();
    let instance = instance_of(application.fleet, application.object);
    let by_same = || compared.iter().filter(|other| instance.is_none() || instance == other.instance);
    let last = by_same().max_by_key(|other| other.at).map(|other| (other.object, other.at));
    let works = last.is_some_and(|(_, at)| at > *since);
    let is_watched = by_same().any(|other| other.object.namespace() == Some(namespace));
    // A controller that compares others in the same namespace has a long queue, or this Application is another controller's.
    if works && is_watched {
        return None;
    }
    let mut evidence = vec![waiting.evidence()];
    if let Some((object, at)) = last.filter(|(object, _)| *object != application.object) {
        evidence.push(Evidence { at: Some(at), ..application.quote().field(object, "status.reconciledAt") });
    }
    let names = json!({
        "waits_for": match request {
            Request::FirstComparison => "first",
            Request::Refresh(_) => "refresh",
            Request::Operation => "operation",
        },
        "minutes": application.fleet.age(*since).as_mins(),
        "unwatched": works,
        "last": last.map(|(_, at)| at.to_string()).unwrap_or_default(),
    });
    let cause = if works {
        format!("unwatched {namespace}")
    } else {
        format!("controller of {}", instance.unwrap_or_default())
    };
    Some(application.draft(RuleCode::AR_AC_001, &names, evidence).common_cause(cause))
}

/// Application that a controller has compared.
struct ComparedApplication<'a> {
    object: Object<'a>,
    /// Time of the last comparison.
    at: Timestamp,
    instance: Option<&'a str>,
}

/// Returns the namespace of an Application's Argo CD, of which a cluster may have several; `None` if neither its status nor a project says it.
fn instance_of<'a>(fleet: FleetView<'a>, application: Object<'a>) -> Option<&'a str> {
    controller_namespace(application).or_else(|| project_of_object(fleet, application)?.namespace())
}

/// Returns the Applications that have been compared. For the diagnosis of one Application, too, they include those in Argo CD's own
/// namespace, which are always watched.
fn compared_applications(fleet: FleetView<'_>) -> Vec<ComparedApplication<'_>> {
    let (group, kind) = (APPLICATION.group, APPLICATION.kind);
    let projects = fleet.hub.of_kind(APP_PROJECT.group, APP_PROJECT.kind);
    let namespaces: BTreeSet<&str> = projects.filter_map(|project| project.namespace()).collect();
    for namespace in namespaces {
        fleet.hub.ask(group, kind, || ObjectSelection::InNamespace(namespace.to_owned()));
    }
    let all = fleet.hub.of_kind(group, kind);
    all.filter_map(|object| {
        Some(ComparedApplication { object, at: compared_at(object)?, instance: instance_of(fleet, object) })
    })
    .collect()
}
