//! AR-CL: Argo CD can't read or write a destination, or doesn't know which cluster it is. Such a failure is about all Applications with the
//! destination.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::json;

use super::application::{ApplicationView, OperationState, ResourceResult};
use super::destination::named_cluster;
use crate::object::Object;
use crate::rules::code::RuleCode;
use crate::rules::draft::{AffectedPart, FindingDraft};
use crate::rules::fleet::FleetView;
use crate::rules::message::for_sentence;
use crate::rules::pattern::{group, pattern, pattern_of_any_case};
use crate::{Evidence, ObjectSelection};

/// Failure of a destination, as Argo CD's messages tell it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DestinationFailure<'m> {
    /// Nobody answers at the cluster's address.
    Unreachable,
    /// The cluster refuses the token.
    Unauthenticated,
    /// The cluster's certificate isn't from the CA that Argo CD has.
    Certificate,
    /// No Secret names the cluster.
    NotRegistered,
    /// Several Secrets have the same name for a cluster, at these addresses.
    Ambiguous(&'m str),
    /// Another controller is responsible for the cluster.
    Ignored,
}

/// Conditions and operations that are about the cluster as a whole, not about one object.
static CLUSTER: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        "failed to get cluster info for|error synchronizing cache state|failed to get server version\
         |failed to discover server resources for group version|failed to get api resource",
    )
});
static NOT_REGISTERED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r#"there are no clusters with this name|error getting cluster by server "[^"]*": .*code = NotFound"#)
});
static AMBIGUOUS: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"there are \d+ clusters with the same name: \[(?<servers>[^\]]*)\]"));
static IGNORED: LazyLock<Regex> = LazyLock::new(|| pattern("controller is configured to ignore cluster"));
static CERTIFICATE: LazyLock<Regex> = LazyLock::new(|| pattern("x509: |tls: failed to verify"));
static UNKNOWN_CLIENT: LazyLock<Regex> =
    LazyLock::new(|| pattern("the server has asked for the client to provide credentials"));
static UNAUTHORIZED: LazyLock<Regex> = LazyLock::new(|| pattern(": Unauthorized"));
static NETWORK: LazyLock<Regex> = LazyLock::new(|| {
    pattern_of_any_case(
        // Each request has `timeout=32s` in its address.
        "connection refused|connection reset|no such host|no route to host|network is unreachable|i/o timeout|handshake timeout\
         |deadline exceeded|request canceled|: EOF|broken pipe",
    )
});

/// Reads the failure of a destination from a message of Argo CD (v3.2 and v3.5).
pub(super) fn read_failure(message: &str) -> Option<DestinationFailure<'_>> {
    if let Some(found) = AMBIGUOUS.captures(message) {
        return Some(DestinationFailure::Ambiguous(group(&found, "servers")));
    }
    if NOT_REGISTERED.is_match(message) {
        return Some(DestinationFailure::NotRegistered);
    }
    if IGNORED.is_match(message) {
        return Some(DestinationFailure::Ignored);
    }
    // Only an API server asks in these words, and it may do so for a single object.
    if UNKNOWN_CLIENT.is_match(message) {
        return Some(DestinationFailure::Unauthenticated);
    }
    if !CLUSTER.is_match(message) {
        return None;
    }
    let kinds = [
        (&CERTIFICATE, DestinationFailure::Certificate),
        (&UNAUTHORIZED, DestinationFailure::Unauthenticated),
        (&NETWORK, DestinationFailure::Unreachable),
    ];
    kinds.into_iter().find(|(pattern, _)| pattern.is_match(message)).map(|(_, failure)| failure)
}

/// True if a message is about a destination as a whole, whatever is wrong with it.
pub(super) fn is_about_destination(message: &str) -> bool {
    CLUSTER.is_match(message) || read_failure(message).is_some()
}

/// Creates the finding for a failed comparison.
pub(super) fn failed_comparison(
    application: ApplicationView<'_>,
    message: &str,
    evidence: Vec<Evidence>,
) -> Option<FindingDraft> {
    Some(draft(application, read_failure(message)?, message, evidence))
}

/// Creates the finding for an operation that failed at the destination. An operation fails there although the comparison is fine: what Argo
/// CD compares with is its own cache of the cluster.
pub(super) fn failed_operation(application: ApplicationView<'_>) -> Option<FindingDraft> {
    let of_results = application.results().filter(|r| r.is_refused()).map(ResourceResult::message);
    let mut messages = of_results.chain(std::iter::once(application.operation_field("message")));
    let (message, failure) = messages.find_map(|message| Some((message, read_failure(message)?)))?;
    let mut evidence = vec![application.quote_operation()];
    evidence.extend(application.results().filter(|r| r.is_refused()).take(1).map(|r| application.quote_result(r)));
    Some(draft(application, failure, message, evidence))
}

fn draft(
    application: ApplicationView<'_>,
    failure: DestinationFailure<'_>,
    message: &str,
    mut evidence: Vec<Evidence>,
) -> FindingDraft {
    let (quote, object) = (application.quote(), application.object);
    evidence.push(quote.field(object, "spec.destination"));
    let code = match failure {
        DestinationFailure::Unreachable => RuleCode::AR_CL_001,
        DestinationFailure::Unauthenticated => RuleCode::AR_CL_002,
        DestinationFailure::Certificate => RuleCode::AR_CL_003,
        DestinationFailure::NotRegistered | DestinationFailure::Ambiguous(_) | DestinationFailure::Ignored => {
            RuleCode::AR_CL_004
        }
    };
    let servers = match failure {
        DestinationFailure::Ambiguous(servers) => servers,
        _ => "",
    };
    let names = json!({
        "message": for_sentence(reason(message)),
        "servers": servers,
        "ignored": failure == DestinationFailure::Ignored,
        "old": is_from_cache(application),
    });
    let draft = application.draft(code, &names, evidence).common_cause(application.destination().name());
    match (code, application.destination().member()) {
        // A member that is down for Argo CD is down for its own agents, too.
        (RuleCode::AR_CL_001, Some(member)) => draft.depends_on(AffectedPart::Member(member.to_owned())),
        _ => draft,
    }
}

/// Returns the end of a message, after what each component that passes an error on has put in front: the request that failed and the reason.
fn reason(message: &str) -> &str {
    let start = ["Get \"", "Post \"", "the server has asked for"].into_iter().find_map(|start| message.find(start));
    &message[start.unwrap_or(0)..]
}

/// True if Argo CD shows the Application as it was before the failure: only the operation has met it.
fn is_from_cache(application: ApplicationView<'_>) -> bool {
    let sync = application.object.str("/status/sync/status").unwrap_or_default();
    application.operation_state() == OperationState::Failed && matches!(sync, "Synced" | "OutOfSync")
}

/// AR-CL-005: Applications look well, and the cluster that they are on can't be read. Argo CD answers from its cache of the cluster for up
/// to 12 h then, whatever happens there (`ARGOCD_CLUSTER_CACHE_RESYNC_DURATION`, v3.2 and v3.5).
pub(super) fn old_picture(application: ApplicationView<'_>) -> Option<FindingDraft> {
    let cluster = application.destination().cluster?;
    let why = cluster.unreachable.as_deref()?;
    if application.all_conditions().any(|condition| condition.type_.ends_with("Error")) {
        return None;
    }
    let (quote, object) = (application.quote(), application.object);
    let evidence = vec![
        quote.field(object, "status.sync.status"),
        quote.field(object, "status.health.status"),
        quote.field(object, "status.reconciledAt"),
    ];
    let names = json!({"message": for_sentence(why)});
    let draft = application.draft(RuleCode::AR_CL_005, &names, evidence).common_cause(&cluster.name).into_notice();
    Some(draft.depends_on(AffectedPart::Member(cluster.name.clone())))
}

/// Records that the rules need to know if the destination of an Application that looks well answers.
pub(super) fn ask(fleet: FleetView<'_>, application: Object<'_>) {
    if let Some(cluster) = named_cluster(fleet, application) {
        cluster.ask("", "Namespace", || ObjectSelection::Named { namespace: None, name: "kube-system".to_owned() });
    }
}
