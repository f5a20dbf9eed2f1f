//! AR-OS: an Application is `OutOfSync` at the commit that its last operation has synced, and the operation succeeded. The live objects show
//! the fields that differ from what was applied, and who has written since.
//!
//! Argo CD reports no condition and no event for this state (v3.2, v3.5).

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::application::ApplicationView;
use super::destination::{owning_application, qualified_name};
use super::field_differences::{FieldDifferences, FieldWrite, is_built_in};
use super::live_objects::ManagedResource;
use crate::kinds::CRD;
use crate::object::{list_field, text_field};
use crate::rules::code::RuleCode;
use crate::rules::draft::{AffectedPart, FindingDraft};
use crate::rules::kubectl;
use crate::{Evidence, JsonList, JsonRef, Object};

/// Time for which an Application may be `OutOfSync` after a sync, or after somebody's write. Argo CD compares within 2 s of either, and
/// a person who tries something out has it for some seconds.
const LASTING: SignedDuration = SignedDuration::from_secs(30);

/// Number of self-heals of one commit that make a fight. One repairs what a person has changed. The third comes 6 s or more after the
/// second, so that what differs has come back twice (v3.2, v3.5: pauses of 0, 2, 6, 18, 54, 162 and 300 s).
const FIGHT: i64 = 3;

/// Time since the last self-heal after which a fight counts as over: the longest pause, 300 s, and a comparison after it.
const FIGHT_LIMIT: SignedDuration = SignedDuration::from_mins(8);

/// Number of objects, and of differing fields of each, that are quoted.
const QUOTED: usize = 3;

/// Subresource by which autoscalers set the number of replicas.
const SCALE: &str = "scale";

/// Why an object differs from what was applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cause {
    /// An admission changes what is applied.
    Changed,
    /// The API server drops fields that the kind doesn't have.
    Dropped,
    /// A `HorizontalPodAutoscaler` sets the number of replicas.
    Replicas,
    /// Somebody else has written the object since.
    Written,
}

/// Object on the destination that differs from what was applied.
struct DifferingObject<'a> {
    resource: ManagedResource<'a>,
    live: Object<'a>,
    /// `None` if the object has no last applied manifest, as after a server-side apply.
    differences: Option<FieldDifferences>,
    /// Writes of others since Argo CD's own last write, the latest first.
    writes: Vec<FieldWrite<'a>>,
    cause: Cause,
}

pub(super) fn rule(application: ApplicationView<'_>) -> Vec<FindingDraft> {
    let Some(synced_at) = last_sync(application) else { return Vec::new() };
    let objects: Vec<_> = ManagedResource::all(application.object)
        .filter(|resource| resource.is_out_of_sync() && !resource.requires_pruning() && !resource.is_hook())
        .filter_map(|resource| DifferingObject::read(application, resource))
        .collect();
    if application.self_heals() {
        let is_fight = heals(application) >= FIGHT && application.fleet.age(synced_at) <= FIGHT_LIMIT;
        return if is_fight { fight(application, &objects).into_iter().collect() } else { Vec::new() };
    }
    let lasting: Vec<_> = objects
        .into_iter()
        .filter(|object| {
            let changed_at = object.writes.iter().filter_map(|write| write.at).max();
            application.fleet.age(changed_at.map_or(synced_at, |at| at.max(synced_at))) > LASTING
        })
        .collect();
    let codes = [
        (Cause::Changed, RuleCode::AR_OS_001),
        (Cause::Dropped, RuleCode::AR_OS_002),
        (Cause::Replicas, RuleCode::AR_OS_003),
        (Cause::Written, RuleCode::AR_OS_004),
    ];
    let of_cause = |cause, is_placed: bool| {
        let objects = lasting.iter().filter(|object| object.cause == cause);
        objects.filter(|object| object.placed_part(application).is_some() == is_placed).collect::<Vec<_>>()
    };
    // What a placement writes has another cause than what somebody else does.
    let cases =
        codes.into_iter().flat_map(|(cause, code)| [(code, of_cause(cause, false)), (code, of_cause(cause, true))]);
    cases.filter_map(|(code, objects)| draft(application, code, &objects)).collect()
}

/// Returns the end of the last sync, if it succeeded and the Application is `OutOfSync` at the same commit and source, by a comparison
/// after that end. Both times are in whole seconds, so that the same second counts: the live objects tell whether something differs.
fn last_sync(application: ApplicationView<'_>) -> Option<Timestamp> {
    let object = application.object;
    let is = |pointer: &str, value: &str| object.str(pointer) == Some(value);
    let has_error = object.list("/status/conditions").iter().any(|c| text_field(c, "type").ends_with("Error"));
    let is_due = has_error || !is("/status/sync/status", "OutOfSync");
    if is_due || application.operation_field("phase") != "Succeeded" || application.is_behind() {
        return None;
    }
    let finished = application.finished_at()?;
    let compared = application.compared_at()?;
    let is_same = |wanted: &str, synced: &str| {
        let synced = object.at(&format!("/status/operationState/syncResult/{synced}"));
        object.at(&format!("/status/sync/{wanted}")) == synced
    };
    let is_same_revision = is_same("revision", "revision") && is_same("revisions", "revisions");
    let is_same_source = is_same("comparedTo/source", "source") && is_same("comparedTo/sources", "sources");
    let sync = "/status/operationState/operation/sync";
    let is_dry = object.at(&format!("{sync}/dryRun")).and_then(JsonRef::as_bool) == Some(true);
    let is_partial = !object.list(&format!("{sync}/resources")).is_empty() && heals(application) == 0;
    (compared >= finished && is_same_revision && is_same_source && !is_dry && !is_partial).then_some(finished)
}

/// Returns the number of self-heals of the present commit up to the last operation.
fn heals(application: ApplicationView<'_>) -> i64 {
    application.heals().unwrap_or_default()
}

impl<'a> DifferingObject<'a> {
    /// Reads the live object of a resource; `None` if the snapshot lacks it, if it is being deleted, or if nothing in it shows why it
    /// differs.
    fn read(application: ApplicationView<'a>, resource: ManagedResource<'a>) -> Option<Self> {
        let live = resource.live(application).filter(|live| live.deleted_at().is_none())?;
        let owner = owning_application(live);
        // Another Application's object is what AR-SF-007 is about.
        if !(owner.is_empty() || owner == application.object.name() || owner == qualified_name(application.object)) {
            return None;
        }
        let differences = FieldDifferences::read(live);
        let own = FieldWrite::all(live).filter(|write| write.is_argo_cds()).filter_map(|write| write.at).max();
        let since = own.max(application.started_at());
        let mut writes: Vec<_> = FieldWrite::all(live).filter(|write| !write.is_argo_cds()).collect();
        // In the second of Argo CD's own write, the order isn't known. What differs then was written later.
        // A write of the scale has no time (Kubernetes v1.36). It owns nothing but the replicas, so that its entry goes as soon as somebody
        // else sets them: it is later than Argo CD's.
        writes.retain(|write| match write.at {
            Some(at) => since.is_none_or(|since| at >= since),
            None => write.subresource == SCALE,
        });
        writes.sort_by_key(|write| std::cmp::Reverse(write.at));
        let cause = cause(live, differences.as_ref(), &writes)?;
        Some(Self { resource, live, differences, writes, cause })
    }

    fn evidence(&self, application: ApplicationView<'_>) -> Vec<Evidence> {
        let quote = application.destination().quote();
        let fields = self.differences.iter().flat_map(|differences| &differences.all).take(QUOTED);
        let fields = fields.map(|field| {
            let text = format!("{} (applied: {})", field.live_text(), JsonRef::from(&field.applied).to_text());
            quote.text(self.live, &field.path(), text, None)
        });
        let written = self.writer().map(|write| {
            let path = format!("metadata.managedFields[{}]", write.manager);
            quote.text(self.live, &path, write.text(), write.at)
        });
        fields.chain(written).collect()
    }

    /// Returns the object as a part that findings affect, if a placement has put it there.
    fn placed_part(&self, application: ApplicationView<'_>) -> Option<AffectedPart> {
        super::kubefleet::placed_part(application.destination().name(), self.live)
    }

    /// Returns the write that explains the difference: the autoscaler's, or else the latest.
    fn writer(&self) -> Option<FieldWrite<'a>> {
        let scales = self.writes.iter().find(|write| self.cause == Cause::Replicas && write.subresource == SCALE);
        scales.or(self.writes.first()).copied()
    }

    /// Returns the entries of `spec.ignoreDifferences` for the fields that differ.
    fn ignored(&self) -> Vec<Value> {
        let fields = self.differences.iter().flat_map(|differences| &differences.all);
        fields.map(|field| field.ignored(self.live)).collect()
    }

    fn paths(&self) -> String {
        let fields = self.differences.iter().flat_map(|differences| &differences.all).take(QUOTED);
        fields.map(super::field_differences::FieldDifference::path).collect::<Vec<_>>().join(", ")
    }
}

/// Returns why an object differs; `None` if nothing shows it.
fn cause(live: Object<'_>, differences: Option<&FieldDifferences>, writes: &[FieldWrite<'_>]) -> Option<Cause> {
    let scales = |write: &FieldWrite<'_>| write.subresource == SCALE && write.manager == "kube-controller-manager";
    let differs = differences.filter(|differences| !differences.all.is_empty());
    let Some(differences) = differs else { return (!writes.is_empty()).then_some(Cause::Written) };
    if differences.at("spec.replicas").is_some() && writes.iter().any(scales) {
        return Some(Cause::Replicas);
    }
    // A controller that adds a finalizer or an annotation to a new object takes no field away. A change of the spec counts the generation up.
    let is_unchanged = writes.is_empty() || live.generation() == 1;
    if differences.are_all_absent() && is_unchanged {
        return Some(Cause::Dropped);
    }
    Some(if writes.is_empty() { Cause::Changed } else { Cause::Written })
}

fn draft(application: ApplicationView<'_>, code: RuleCode, objects: &[&DifferingObject<'_>]) -> Option<FindingDraft> {
    let first = objects.first()?;
    let mut evidence = vec![application.quote_operation()];
    evidence.extend(objects.iter().take(QUOTED).flat_map(|object| object.evidence(application)));
    let names = names(application, first, objects, &mut evidence);
    Some(depending(application.draft(code, &names, evidence), application, objects))
}

/// AR-OS-006: self-heal syncs the same commit again and again.
fn fight(application: ApplicationView<'_>, objects: &[DifferingObject<'_>]) -> Option<FindingDraft> {
    let objects: Vec<_> = objects.iter().collect();
    let first = objects.first()?;
    let count = "status.operationState.operation.sync.autoHealAttemptsCount";
    let mut evidence = vec![application.quote_operation(), application.quote().field(application.object, count)];
    evidence.extend(objects.iter().take(QUOTED).flat_map(|object| object.evidence(application)));
    let names = names(application, first, &objects, &mut evidence);
    Some(depending(application.draft(RuleCode::AR_OS_006, &names, evidence), application, &objects))
}

/// Lets a finding hang under those about its objects, if placements have put all of them there.
fn depending(draft: FindingDraft, application: ApplicationView<'_>, objects: &[&DifferingObject<'_>]) -> FindingDraft {
    let parts: Option<Vec<_>> = objects.iter().map(|object| object.placed_part(application)).collect();
    parts.into_iter().flatten().fold(draft, FindingDraft::depends_on)
}

/// Returns the names for the texts, and adds the evidence that they rest on.
fn names(
    application: ApplicationView<'_>,
    first: &DifferingObject<'_>,
    objects: &[&DifferingObject<'_>],
    evidence: &mut Vec<Evidence>,
) -> Value {
    let others_ignored = ignored_of_kind(application, first.live);
    if !others_ignored.is_empty() {
        evidence.push(application.quote().field(application.object, "spec.ignoreDifferences"));
    }
    let group = first.resource.text("group");
    let writer = first.writer();
    let ignored: Vec<Value> = objects.iter().flat_map(|object| object.ignored()).collect();
    json!({
        "objects": objects.iter().take(QUOTED).map(|o| o.resource.object()).collect::<Vec<_>>().join(", "),
        "fields": first.paths(),
        "writer": writer.map(FieldWrite::text).unwrap_or_default(),
        "written_at": writer.and_then(|write| write.at).map(|at| at.to_string()).unwrap_or_default(),
        "cause": match first.cause {
            Cause::Changed => "changed",
            Cause::Dropped => "dropped",
            Cause::Replicas => "replicas",
            Cause::Written => "written",
        },
        "custom": !is_built_in(group),
        "ignored": others_ignored.join(", "),
        "heals": heals(application),
        "live_ref": first.resource.reference(),
        "live_namespace": first.resource.namespace().unwrap_or_default(),
        "crd_ref": if is_built_in(group) {
            Vec::new()
        } else {
            let name = format!("{}.{group}", kubectl::plural(first.resource.text("kind")));
            kubectl::reference_by_name(CRD.group, CRD.kind, None, &name)
        },
        "has_fields": !ignored.is_empty(),
        "ignore": ignore_commands(application, ignored),
    })
}

/// Returns the paths at which an Application ignores differences of an object's kind, although the object is `OutOfSync`.
fn ignored_of_kind<'a>(application: ApplicationView<'a>, live: Object<'_>) -> Vec<&'a str> {
    let entries = application.object.list("/spec/ignoreDifferences").iter();
    let of_kind = entries.filter(|entry| {
        let [group, kind, name] = ["group", "kind", "name"].map(|field| text_field(*entry, field));
        (group == live.group() || group == "*")
            && (kind == live.kind() || kind == "*")
            && (name.is_empty() || name == live.name())
    });
    let fields = ["jsonPointers", "jqPathExpressions", "managedFieldsManagers"];
    of_kind
        .flat_map(|entry| fields.map(|field| list_field(entry, field)))
        .flat_map(JsonList::iter)
        .filter_map(JsonRef::as_str)
        .collect()
}

/// Returns the patch of an Application that ignores these differences, in comparisons and in syncs, besides those that it ignores already.
fn ignore_commands(application: ApplicationView<'_>, ignored: Vec<Value>) -> Vec<crate::command::RemedyCommand> {
    const OPTION: &str = "RespectIgnoreDifferences=true";
    if ignored.is_empty() {
        return Vec::new();
    }
    let present = application.object.list("/spec/ignoreDifferences").iter().map(JsonRef::to_value);
    let all: Vec<Value> = present.chain(ignored).collect();
    let options = application.object.list("/spec/syncPolicy/syncOptions").iter().filter_map(JsonRef::as_str);
    let options: Vec<&str> = options.filter(|option| *option != OPTION).chain([OPTION]).collect();
    let patch = json!({"spec": {"ignoreDifferences": all, "syncPolicy": {"syncOptions": options}}});
    vec![kubectl::patch_command(application.reference(), &patch)]
}
