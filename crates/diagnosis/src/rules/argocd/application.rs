//! View of an Argo CD Application for the rules: which side failed, which resource, and its destination.

use jiff::Timestamp;
use serde_json::Value;

use super::destination::{self, ApplicationClusters, Destination};
use super::destination_failure;
use crate::object::text_field;
use crate::rules::code::RuleCode;
use crate::rules::draft::{AffectedPart, FindingDraft};
use crate::rules::evidence_source::EvidenceSource;
use crate::rules::fleet::{FleetView, full_name};
use crate::rules::index::{ResourceKey, resource_key, resource_name, resource_namespace};
use crate::rules::kubectl;
use crate::{APPLICATION, ClusterSnapshot, Evidence, JsonRef, Object, Subject};

/// Application.
#[derive(Clone, Copy)]
pub(super) struct ApplicationView<'a> {
    pub fleet: FleetView<'a>,
    pub object: Object<'a>,
    cluster: Option<&'a ClusterSnapshot>,
}

/// State of an Application's last operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OperationState {
    /// The operation has succeeded or is being terminated, or there was none.
    Fine,
    /// The operation is running.
    Running,
    /// The operation has failed, for good or until the next retry.
    Failed,
}

/// Condition of an Application. Such a condition has no status: it is either present or absent.
#[derive(Clone, Copy, Debug)]
pub(super) struct ApplicationCondition<'a> {
    pub type_: &'a str,
    pub message: &'a str,
    pub at: Option<Timestamp>,
}

/// Result of the last operation for one resource.
#[derive(Clone, Copy, Debug)]
pub(super) struct ResourceResult<'a>(JsonRef<'a>);

/// True if a rule may have something to say about an Application.
fn is_unwell(application: Object<'_>) -> bool {
    let is = |pointer: &str, value: &str| application.str(pointer) == Some(value);
    let is_well = is("/status/sync/status", "Synced")
        && is("/status/health/status", "Healthy")
        && application.str("/status/operationState/phase").is_none_or(|phase| phase == "Succeeded")
        && application.list("/status/conditions").is_empty();
    !is_well
}

impl<'a> ApplicationView<'a> {
    /// Returns the Applications on the hub that aren't being deleted.
    pub fn all(fleet: FleetView<'a>) -> impl Iterator<Item = Self> {
        Self::all_with_deleted(fleet).filter(|application| application.object.deleted_at().is_none())
    }

    /// Returns all Applications on the hub.
    pub fn all_with_deleted(fleet: FleetView<'a>) -> impl Iterator<Item = Self> {
        let objects: Vec<_> = fleet.hub.of_kind(APPLICATION.group, APPLICATION.kind).collect();
        // Reading the owners of all objects isn't needed for a hub without Applications.
        let clusters = (!objects.is_empty()).then(|| ApplicationClusters::read(fleet));
        for object in &objects {
            if is_unwell(*object) { destination::ask(fleet, *object) } else { destination_failure::ask(fleet, *object) }
        }
        objects.into_iter().map(move |object| {
            let cluster = clusters.as_ref().and_then(|clusters| clusters.cluster(fleet, object));
            Self { fleet, object, cluster }
        })
    }

    /// Returns `namespace/name`.
    pub fn full_name(self) -> String {
        full_name(self.object.namespace(), self.object.name())
    }

    pub fn quote(self) -> EvidenceSource<'a> {
        self.fleet.quote()
    }

    /// Returns the state of the last operation.
    pub fn operation_state(self) -> OperationState {
        match self.operation_field("phase") {
            "Failed" | "Error" => OperationState::Failed,
            // Between two attempts, Argo CD keeps the phase Running but sets finishedAt.
            "Running" if self.finished_at().is_some() => OperationState::Failed,
            "Running" => OperationState::Running,
            _ => OperationState::Fine,
        }
    }

    /// Returns a text field of `status.operationState`; empty if absent.
    pub fn operation_field(self, field: &str) -> &'a str {
        self.object.str(&format!("/status/operationState/{field}")).unwrap_or_default()
    }

    /// Returns the time at which the last operation started.
    pub fn started_at(self) -> Option<Timestamp> {
        self.operation_field("startedAt").parse().ok()
    }

    /// Returns the time at which the last operation, or an attempt of it, ended.
    pub fn finished_at(self) -> Option<Timestamp> {
        self.operation_field("finishedAt").parse().ok()
    }

    /// Returns the time at which the last operation ended. In phase Running, finishedAt ends only one attempt; the operation itself goes on
    /// with the next retry.
    fn ended_at(self) -> Option<Timestamp> {
        self.finished_at().filter(|_| self.operation_field("phase") != "Running")
    }

    /// Returns the number of retries of the last operation.
    pub fn retries(self) -> i64 {
        self.object.at("/status/operationState/retryCount").and_then(JsonRef::as_i64).unwrap_or_default()
    }

    /// Returns the last operation's result for each resource.
    pub fn results(self) -> impl Iterator<Item = ResourceResult<'a>> {
        self.object.list("/status/operationState/syncResult/resources").iter().map(ResourceResult)
    }

    /// Returns the conditions of a type.
    pub fn conditions(self, type_: &str) -> impl Iterator<Item = ApplicationCondition<'a>> {
        self.all_conditions().filter(move |condition| condition.type_ == type_)
    }

    /// Returns all conditions.
    pub fn all_conditions(self) -> impl Iterator<Item = ApplicationCondition<'a>> {
        self.object.list("/status/conditions").iter().map(|value| ApplicationCondition {
            type_: text_field(value, "type"),
            message: text_field(value, "message"),
            at: text_field(value, "lastTransitionTime").parse().ok(),
        })
    }

    /// True if the last operation had a sync option, e.g. `FailOnSharedResource=true`.
    pub fn has_option(self, option: &str) -> bool {
        let options = self.object.list("/status/operationState/operation/sync/syncOptions");
        options.iter().any(|o| o.as_str() == Some(option))
    }

    /// True if automated sync is switched on.
    pub fn is_automated(self) -> bool {
        self.object.at("/spec/syncPolicy/automated").is_some() && self.automation("enabled") != Some(false)
    }

    /// Returns a flag of automated sync, e.g. `selfHeal`; `None` if it isn't set.
    pub fn automation(self, flag: &str) -> Option<bool> {
        self.object.at("/spec/syncPolicy/automated")?.get(flag).and_then(JsonRef::as_bool)
    }

    /// True if automated sync repairs what differs from git.
    pub fn self_heals(self) -> bool {
        self.is_automated() && self.automation("selfHeal") == Some(true)
    }

    /// Returns the time of the last comparison.
    pub fn compared_at(self) -> Option<Timestamp> {
        compared_at(self.object)
    }

    /// Returns the time since which the Application has its health.
    pub fn health_since(self) -> Option<Timestamp> {
        self.object.time("/status/health/lastTransitionTime")
    }

    /// Returns the number of self-heals of the present commit up to the last operation.
    pub fn heals(self) -> Option<i64> {
        let path = "/status/operationState/operation/sync/autoHealAttemptsCount";
        self.object.at(path).and_then(JsonRef::as_i64)
    }

    /// True if the Application is Synced and Healthy.
    pub fn is_synced_and_healthy(self) -> bool {
        self.object.str("/status/sync/status") == Some("Synced")
            && self.object.str("/status/health/status") == Some("Healthy")
    }

    /// Returns the commits that the last operation synced or is to sync. Revisions that aren't commits, such as
    /// branches, are left out.
    pub fn operated_commits(self) -> Vec<&'a str> {
        let result = revisions(self.object, "/status/operationState/syncResult");
        if result.is_empty() { revisions(self.object, "/status/operationState/operation/sync") } else { result }
    }

    /// Returns the commits that the source had at the last comparison.
    pub fn target_commits(self) -> Vec<&'a str> {
        revisions(self.object, "/status/sync")
    }

    /// True if the last operation synced other commits than the present target commits. A comparison older than the
    /// operation doesn't count: it doesn't know a commit yet that was synced at once.
    pub fn is_behind(self) -> bool {
        let times = self.compared_at().zip(self.ended_at().or_else(|| self.started_at()));
        times.is_some_and(|(compared, then)| compared > then) && self.has_other_target()
    }

    /// True if the Application is Synced and Healthy with other commits than those of the last operation: it was repaired
    /// without a sync. A comparison in the second in which the operation ended counts, too: times are in whole seconds, and Argo CD
    /// compares again at the end. Otherwise the failure stayed until the next comparison, 3 minutes later (seen on v3.5.7).
    pub fn is_repaired(self) -> bool {
        let times = self.compared_at().zip(self.ended_at());
        let in_same_second = times.is_some_and(|(compared, ended)| compared == ended);
        self.is_synced_and_healthy() && (self.is_behind() || (in_same_second && self.has_other_target()))
    }

    /// True if the present target commits are others than those of the last operation, and weren't deployed before it.
    fn has_other_target(self) -> bool {
        let (operated, wanted) = (self.operated_commits(), self.target_commits());
        !operated.is_empty() && !wanted.is_empty() && operated != wanted && !self.was_deployed(&wanted)
    }

    /// True if an operation before the last one has deployed these commits: the last operation then syncs later ones,
    /// although the status still has the comparison with these. Times are in whole seconds, and an operation may begin in the second in
    /// which the one before it has ended.
    fn was_deployed(self, commits: &[&str]) -> bool {
        let deployed_at = |entry: JsonRef<'_>| text_field(entry, "deployedAt").parse::<Timestamp>().ok();
        self.object.list("/status/history").iter().any(|entry| {
            let before =
                deployed_at(entry).zip(self.started_at()).is_some_and(|(deployed, started)| deployed <= started);
            before && revisions(Object::new(entry), "") == commits
        })
    }

    /// Returns the destination of the Application's resources.
    pub fn destination(self) -> Destination<'a> {
        Destination { application: self.object, cluster: self.cluster }
    }

    /// Quotes phase and message of the last operation, which show which side failed.
    pub fn quote_operation(self) -> Evidence {
        let (phase, message) = (self.operation_field("phase"), self.operation_field("message"));
        let value = if message.is_empty() { phase.to_owned() } else { format!("{phase}: {message}") };
        let at = self.finished_at().or_else(|| self.started_at());
        self.quote().text(self.object, "status.operationState", value, at)
    }

    /// Quotes the result for a resource with its message.
    pub fn quote_result(self, result: ResourceResult<'_>) -> Evidence {
        let path = format!("status.operationState.syncResult.resources[{}]", result.object());
        self.quote().text(self.object, &path, result.text_for_evidence(), None)
    }

    /// Quotes a condition.
    pub fn quote_condition(self, condition: ApplicationCondition<'_>) -> Evidence {
        let path = format!("status.conditions[{}]", condition.type_);
        self.quote().text(self.object, &path, condition.message.to_owned(), condition.at)
    }

    /// Returns the Application as a finding's subject, with the member that it deploys to.
    pub fn subject(self) -> Subject {
        let member = self.destination().member().map(str::to_owned);
        crate::rules::fleet::subject(self.fleet, self.object, None, member.as_deref())
    }

    /// Returns the words by which kubectl finds the object.
    pub fn reference(self) -> Vec<String> {
        kubectl::reference(self.object)
    }

    /// Returns the Application's last sync as a part that findings affect.
    pub fn sync_part(self) -> AffectedPart {
        AffectedPart::Sync { namespace: self.namespace(), name: self.object.name().to_owned() }
    }

    /// Returns the revision of the Application's operation as a part that findings affect.
    pub fn revision_part(self) -> AffectedPart {
        AffectedPart::Revision { namespace: self.namespace(), name: self.object.name().to_owned() }
    }

    fn namespace(self) -> String {
        self.object.namespace().unwrap_or_default().to_owned()
    }

    /// Creates a finding that affects the Application's last sync.
    pub fn draft(self, code: RuleCode, names: &Value, evidence: Vec<Evidence>) -> FindingDraft {
        self.draft_beside_sync(code, names, evidence).affects(self.sync_part()).depends_on(self.revision_part())
    }

    /// Creates a finding that isn't about the Application's last sync.
    pub fn draft_beside_sync(self, code: RuleCode, names: &Value, evidence: Vec<Evidence>) -> FindingDraft {
        FindingDraft::new(code, self.subject(), &super::names::with_common(self, names), evidence)
    }
}

impl<'a> ResourceResult<'a> {
    pub fn key(self) -> ResourceKey<'a> {
        resource_key(self.0)
    }

    pub fn text(self, field: &str) -> &'a str {
        text_field(self.0, field)
    }

    pub fn namespace(self) -> Option<&'a str> {
        resource_namespace(self.0)
    }

    pub fn message(self) -> &'a str {
        self.text("message")
    }

    /// True if the resource couldn't be applied. A resource that was applied but didn't become healthy doesn't count.
    pub fn is_refused(self) -> bool {
        self.text("status") == "SyncFailed"
    }

    pub fn has_failed(self) -> bool {
        self.is_refused() || matches!(self.text("hookPhase"), "Failed" | "Error")
    }

    /// True if the operation waits for the resource.
    pub fn is_running(self) -> bool {
        self.text("hookPhase") == "Running"
    }

    pub fn is_hook(self) -> bool {
        !self.text("hookType").is_empty()
    }

    /// Returns `Kind name` or `Kind namespace/name`.
    pub fn object(self) -> String {
        resource_name(self.0)
    }

    /// Returns the words by which kubectl finds the object.
    pub fn reference(self) -> Vec<String> {
        kubectl::reference_of(self.0)
    }

    /// Returns e.g. `SyncFailed, PreSync hook Failed: message`, without the parts that are absent.
    fn text_for_evidence(self) -> String {
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

/// Returns the time of the last comparison of an Application.
pub(super) fn compared_at(application: Object<'_>) -> Option<Timestamp> {
    application.time("/status/reconciledAt")
}

/// True if an Argo CD has ever looked at an Application.
pub(super) fn is_compared(application: Object<'_>) -> bool {
    ["/status/sync/status", "/status/reconciledAt", "/status/conditions"]
        .iter()
        .any(|pointer| application.at(pointer).is_some())
}

/// Returns the commits in `revisions` or `revision` below a JSON pointer. An Application with several sources has
/// `revisions`.
fn revisions<'a>(object: Object<'a>, holder: &str) -> Vec<&'a str> {
    let several = object.list(&format!("{holder}/revisions")).iter().filter_map(JsonRef::as_str);
    let one = object.str(&format!("{holder}/revision"));
    let all: Vec<_> = several.collect();
    let all = if all.is_empty() { one.into_iter().collect() } else { all };
    all.into_iter().filter(|r| is_commit(r)).collect()
}

/// True for a git hash, which has 40 or 64 digits. A chart's version is a revision, too, but it doesn't move as a
/// branch does.
fn is_commit(revision: &str) -> bool {
    revision.len() >= 40 && revision.bytes().all(|b| b.is_ascii_hexdigit())
}
