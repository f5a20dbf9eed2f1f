//! What the member agent's comparisons show: objects that differ or have drifted, and objects that couldn't be compared. An object
//! that isn't applied because it has drifted is the family `apply`'s.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use jiff::{SignedDuration, Timestamp};
use regex::Regex;
use serde_json::json;

use super::code::RuleCode;
use super::draft::{AffectedPart, FindingDraft};
use super::evidence_source::EvidenceSource;
use super::fleet::{FleetView, MemberPlacement, PlacementView};
use super::index::resource_key;
use super::index::resource_name;
use super::kubectl;
use super::pattern::pattern_of_any_case;
use crate::kinds::APPLIED_WORK;
use crate::object::text_field;
use crate::{Condition, Evidence, JsonRef, Object, conditions};

/// Time for which a comparison may fail without counting as a failure, if the reason may pass.
const TRANSIENT_LIMIT: SignedDuration = SignedDuration::from_secs(15);

/// Number of objects that a finding's sentence names, and of fields that it names of each.
const MAX_NAMED: usize = 3;

/// Number of fields that a finding quotes.
const MAX_QUOTED: usize = 20;

pub(super) fn rule(fleet: FleetView<'_>) -> Vec<FindingDraft> {
    let mut drafts = Vec::new();
    for placement in fleet.placements() {
        for status in placement.clusters() {
            if compares_only(placement) {
                drafts.extend(different(fleet, placement, status));
                drafts.extend(not_compared(fleet, placement, status));
            } else {
                drafts.extend(drifted(fleet, placement, status));
            }
        }
    }
    drafts
}

/// True if a placement's apply strategy is `ReportDiff`: it compares, and applies nothing.
pub(super) fn compares_only(placement: PlacementView<'_>) -> bool {
    placement.object.str("/spec/strategy/applyStrategy/type") == Some("ReportDiff")
}

/// Object that the member agent has compared, or has failed to compare.
#[derive(Clone, Copy)]
struct ComparedObject<'a> {
    /// Entry of the object in driftedPlacements or diffedPlacements, or the identifier in a Work's status.
    entry: JsonRef<'a>,
    /// Fields that differ.
    fields: Option<JsonRef<'a>>,
    /// Time at which the difference was first seen.
    since: Option<Timestamp>,
}

impl<'a> ComparedObject<'a> {
    /// Reads an entry of a placement's driftedPlacements.
    fn drifted(entry: JsonRef<'a>) -> Self {
        Self { entry, fields: entry.get("observedDrifts"), since: time(entry, "firstDriftedObservedTime") }
    }

    /// Reads an entry of a placement's diffedPlacements.
    fn different(entry: JsonRef<'a>) -> Self {
        Self { entry, fields: entry.get("observedDiffs"), since: time(entry, "firstDiffedObservedTime") }
    }

    fn text(self, field: &str) -> &'a str {
        text_field(self.entry, field)
    }

    /// Kind and name: `Kind name` or `Kind namespace/name`.
    fn object(self) -> String {
        resource_name(self.entry)
    }

    /// Words by which kubectl finds the object.
    fn reference(self) -> Vec<String> {
        kubectl::reference_of(self.entry)
    }

    fn fields(self) -> impl Iterator<Item = JsonRef<'a>> {
        self.fields.and_then(JsonRef::as_array).into_iter().flatten()
    }

    /// True if the member doesn't have the object. The member agent then reports the path of the whole object (source of v0.3.1).
    fn is_missing(self) -> bool {
        let mut fields = self.fields();
        fields.any(|field| text_field(field, "path") == "/" && field.get("valueInMember").is_none())
    }

    /// Object with the fields that differ: `ConfigMap apps/settings (/data/colour)`.
    fn described(self) -> String {
        let mut fields: Vec<_> =
            self.fields().take(MAX_NAMED).map(|field| text_field(field, "path").to_owned()).collect();
        let more = self.fields().count() - fields.len();
        if more > 0 {
            fields.push(format!("{more} more"));
        }
        match (self.is_missing(), fields.is_empty()) {
            (true, _) => format!("{} (missing)", self.object()),
            (false, true) => self.object(),
            (false, false) => format!("{} ({})", self.object(), fields.join(", ")),
        }
    }
}

fn time(entry: JsonRef<'_>, field: &str) -> Option<Timestamp> {
    text_field(entry, field).parse().ok()
}

/// Describes the first objects, and says how many more there are.
fn described(objects: &[ComparedObject<'_>]) -> String {
    let mut named: Vec<_> = objects.iter().take(MAX_NAMED).map(|object| object.described()).collect();
    if objects.len() > MAX_NAMED {
        named.push(format!("{} more", objects.len() - MAX_NAMED));
    }
    named.join(", ")
}

/// Returns evidence of the fields in which objects differ, up to [`MAX_QUOTED`] of them. `list` is the path of their list.
fn quoted(quote: EvidenceSource<'_>, holder: Object<'_>, list: &str, objects: &[ComparedObject<'_>]) -> Vec<Evidence> {
    let fields = objects.iter().flat_map(|object| object.fields().map(move |field| (object, field)));
    let quoted = fields.take(MAX_QUOTED).map(|(object, field)| {
        let path = format!("{list}[{}]{}", object.text("name"), text_field(field, "path"));
        quote.text(holder, &path, both_values(field), object.since)
    });
    quoted.collect()
}

/// Returns both values of a field that differs.
pub(super) fn both_values(field: JsonRef<'_>) -> String {
    let [on_hub, on_member] =
        ["valueInHub", "valueInMember"].map(|name| field.get(name).and_then(JsonRef::as_str).unwrap_or("(absent)"));
    format!("on the hub {on_hub}, on the member {on_member}")
}

/// KF-DR-002: an object is applied, and differs from the hub's all the same. Applying doesn't change the fields that the hub's object
/// doesn't set, and a full comparison shows them.
fn drifted(fleet: FleetView<'_>, placement: PlacementView<'_>, status: MemberPlacement<'_>) -> Option<FindingDraft> {
    let applied = status.condition("Applied").filter(|c| c.status == "True")?;
    let objects: Vec<_> = status.list("driftedPlacements").iter().map(ComparedObject::drifted).collect();
    if objects.is_empty() {
        return None;
    }
    let quote = fleet.quote();
    let list = format!("{}.driftedPlacements", status.place().field_path());
    let mut evidence = quoted(quote, placement.object, &list, &objects);
    evidence.push(quote.condition_in(placement.object, status.place(), &applied));
    evidence.push(quote.field(placement.object, "spec.strategy.applyStrategy"));
    let is_unset = |object: &ComparedObject<'_>| object.fields().all(|field| field.get("valueInHub").is_none());
    let mut names = names(placement, status, &objects);
    names["only_additions"] = objects.iter().all(is_unset).into();
    let subject = placement.subject(fleet, Some(status.member));
    let draft = FindingDraft::new(RuleCode::KF_DR_002, subject, &names, evidence);
    Some(draft.depends_on(placement.objects_on(status.member)))
}

/// KF-DR-001: a placement that only compares has found differences.
fn different(fleet: FleetView<'_>, placement: PlacementView<'_>, status: MemberPlacement<'_>) -> Option<FindingDraft> {
    let reported = status.condition("DiffReported").filter(|c| c.status == "True")?;
    let objects: Vec<_> = status.list("diffedPlacements").iter().map(ComparedObject::different).collect();
    if objects.is_empty() {
        return None;
    }
    let quote = fleet.quote();
    let list = format!("{}.diffedPlacements", status.place().field_path());
    let mut evidence = quoted(quote, placement.object, &list, &objects);
    evidence.push(quote.condition_in(placement.object, status.place(), &reported));
    evidence.push(quote.field(placement.object, "spec.strategy.applyStrategy"));
    let mut names = names(placement, status, &objects);
    let subject = placement.subject(fleet, Some(status.member));
    let owns = owns_what_is_there(placement) && !objects.iter().all(|object| object.is_missing());
    let works = if owns { placement.works(fleet, status.member) } else { Vec::new() };
    let applied_work =
        |work: &Object<'_>| kubectl::reference_by_name(APPLIED_WORK.group, APPLIED_WORK.kind, None, work.name());
    names["owns"] = owns.into();
    names["applied_works"] = json!(works.iter().map(applied_work).collect::<Vec<_>>());
    Some(FindingDraft::new(RuleCode::KF_DR_001, subject, &names, evidence))
}

/// True if a placement that only compares takes over the objects that exist on members, and so deletes them when it is deleted.
/// The member agent sets its owner reference before it compares, unless whenToTakeOver is Never (source of v0.3.1).
fn owns_what_is_there(placement: PlacementView<'_>) -> bool {
    placement.object.str("/spec/strategy/applyStrategy/whenToTakeOver") != Some("Never")
}

/// Object that couldn't be compared, as a Work's status says.
struct FailedComparison<'a> {
    work: Object<'a>,
    object: ComparedObject<'a>,
    condition: Condition,
}

/// KF-DR-003, 004, 005 and 009: the member agent couldn't compare an object. The placement doesn't say which, or why.
fn not_compared(fleet: FleetView<'_>, placement: PlacementView<'_>, status: MemberPlacement<'_>) -> Vec<FindingDraft> {
    // A failed comparison keeps the rollout of a later change from the member. What the comparison says is only on the Work then.
    let is_false = |type_: &str| status.condition(type_).filter(|c| c.status == "False");
    let Some(symptom) = is_false("DiffReported").or_else(|| is_false("RolloutStarted")) else { return Vec::new() };
    let mut by_code: BTreeMap<RuleCode, Vec<FailedComparison<'_>>> = BTreeMap::new();
    for failed in failed_comparisons(fleet, placement, status.member) {
        let code = failure_code(&failed.condition);
        // The entry's time changes with its reason, and the placement may have failed to compare for longer.
        let since = [&failed.condition, &symptom].into_iter().filter_map(|c| c.last_transition_time).min();
        let is_young = since.is_some_and(|since| fleet.age(since) < TRANSIENT_LIMIT);
        if is_young && matches!(code, RuleCode::KF_DR_004 | RuleCode::KF_DR_009) {
            continue;
        }
        by_code.entry(code).or_default().push(failed);
    }
    by_code.into_iter().map(|(code, failed)| failure(fleet, placement, status, &symptom, code, &failed)).collect()
}

/// Returns the objects of Works of a placement that couldn't be compared.
fn failed_comparisons<'a>(
    fleet: FleetView<'a>,
    placement: PlacementView<'a>,
    member: &str,
) -> Vec<FailedComparison<'a>> {
    let works = placement.works(fleet, member).into_iter();
    let failed = works.filter(|work| work.current_condition("DiffReported").is_some_and(|c| c.status == "False"));
    let entries =
        failed.flat_map(|work| work.list("/status/manifestConditions").iter().map(move |entry| (work, entry)));
    let comparisons = entries.filter_map(|(work, entry)| {
        let condition = conditions(Some(entry)).into_iter().find(|c| c.type_ == "DiffReported")?;
        let details = entry.get("diffDetails");
        let object = ComparedObject {
            entry: entry.get("identifier")?,
            fields: details.and_then(|details| details.get("observedDiffs")),
            since: condition.last_transition_time,
        };
        let has_failed = condition.status == "False" || is_degraded(&condition);
        has_failed.then_some(FailedComparison { work, object, condition })
    });
    comparisons.collect()
}

/// True if the member's API server calls an object invalid in the dry run. The member agent then compares the whole object and says
/// that it did, but doesn't count the object as compared (source of v0.1.2 and v0.3.1).
fn is_degraded(condition: &Condition) -> bool {
    condition.reason == "FoundDiffInDegradedMode"
}

/// Returns the code for a `DiffReported` condition of the member agent. All failures have one reason, and only the message tells
/// them apart (source of v0.1.2 and v0.3.1).
fn failure_code(condition: &Condition) -> RuleCode {
    static TAKEOVER: LazyLock<Regex> = LazyLock::new(|| pattern_of_any_case(r"\(FailedToTakeOver\b"));
    static DRY_RUN: LazyLock<Regex> = LazyLock::new(|| pattern_of_any_case("in dry-run mode"));
    match condition {
        degraded if is_degraded(degraded) => RuleCode::KF_DR_005,
        _ if TAKEOVER.is_match(&condition.message) => RuleCode::KF_DR_003,
        _ if DRY_RUN.is_match(&condition.message) => RuleCode::KF_DR_004,
        _ => RuleCode::KF_DR_009,
    }
}

fn failure(
    fleet: FleetView<'_>,
    placement: PlacementView<'_>,
    status: MemberPlacement<'_>,
    symptom: &Condition,
    code: RuleCode,
    failed: &[FailedComparison<'_>],
) -> FindingDraft {
    let quote = fleet.quote();
    let mut evidence = placement.symptom(fleet, status, symptom);
    for comparison in failed {
        let Condition { status, reason, message, last_transition_time, .. } = &comparison.condition;
        let path = format!("status.manifestConditions[{}].conditions[DiffReported]", comparison.object.object());
        let value = format!("{status} ({reason}): {message}");
        evidence.push(quote.text(comparison.work, &path, value, *last_transition_time));
        evidence.extend(quoted(quote, comparison.work, "status.manifestConditions", &[comparison.object]));
    }
    evidence.push(quote.field(placement.object, "spec.strategy.applyStrategy"));
    let objects: Vec<_> = failed.iter().map(|comparison| comparison.object).collect();
    let mut names = names(placement, status, &objects);
    names["owners"] = other_owners(fleet, placement, &objects).join(", ").into();
    names["message"] = failed.first().map(|comparison| comparison.condition.message.clone()).into();
    // An update run takes no notice of these limits.
    let above_all = Some(placement.clusters().count() + 1).filter(|_| !placement.is_external());
    names["above_all"] = above_all.map(|count| count.to_string()).unwrap_or_default().into();
    names["held"] = (symptom.type_ == "RolloutStarted").into();
    let subject = placement.subject(fleet, Some(status.member));
    let draft = FindingDraft::new(code, subject, &names, evidence).affects(placement.part_on(status.member));
    draft.depends_on(AffectedPart::Member(status.member.to_owned()))
}

/// Returns the names of the other placements that have selected one of these objects and apply it.
fn other_owners(fleet: FleetView<'_>, placement: PlacementView<'_>, objects: &[ComparedObject<'_>]) -> Vec<String> {
    let others = placement.others_with(fleet, objects.iter().map(|object| resource_key(object.entry))).into_iter();
    let mut names: Vec<_> = others.filter(|other| !compares_only(*other)).map(PlacementView::full_name).collect();
    names.sort();
    names
}

fn names(
    placement: PlacementView<'_>,
    status: MemberPlacement<'_>,
    objects: &[ComparedObject<'_>],
) -> serde_json::Value {
    let takeover = placement.object.str("/spec/strategy/applyStrategy/whenToTakeOver").unwrap_or("Always");
    json!({
        "placement": placement.full_name(),
        "placement_ref": kubectl::reference(placement.object),
        "member": status.member,
        "objects": described(objects),
        "refs": objects.iter().map(|object| object.reference()).collect::<Vec<_>>(),
        "takeover": takeover,
    })
}
