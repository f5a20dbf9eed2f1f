//! Evictions that the hub-agent refuses, doesn't execute, or doesn't answer.
//!
//! The hub-agent judges an eviction once. Its cause may be gone since then, so that a finding says both: what was wrong, and whether it still
//! is.

use std::sync::LazyLock;

use jiff::Timestamp;
use record::ObjectPath;
use regex::Regex;
use serde_json::{Value, json};

use super::code::RuleCode;
use super::draft::{AffectedPart, FindingDraft};
use super::fleet::{FleetView, PlacementView, subject};
use super::hub_agent::{self, CATCH_UP_LIMIT, REACTION_LIMIT};
use super::pattern::pattern_of_any_case;
use super::scope::KindScope;
use super::{foreign_finalizer, kubectl};
use crate::command::{KubectlVerb, RemedyCommand};
use crate::kinds::{CLUSTER_RESOURCE_BINDING, CLUSTER_RESOURCE_PLACEMENT, DISRUPTION_BUDGET, EVICTION};
use crate::kubefleet::{CLUSTER_GROUP, PARENT_PLACEMENT, PLACEMENT_GROUP};
use crate::{Condition, Evidence, HUB, JsonRef, Object};

pub(super) fn rule(fleet: FleetView<'_>) -> Vec<FindingDraft> {
    let drafts = evictions(fleet).filter_map(|eviction| {
        let draft = match eviction.failed() {
            Some(failed) => not_carried_out(fleet, eviction, &failed)?,
            None => unanswered(fleet, eviction)?,
        };
        Some(match successor(fleet, eviction) {
            Some(successor) => draft.superseded_by(successor),
            None => draft,
        })
    });
    drafts.collect()
}

/// Returns the evictions that aren't being deleted.
pub(super) fn evictions(fleet: FleetView<'_>) -> impl Iterator<Item = EvictionView<'_>> {
    let evictions = fleet.hub.of_kind(EVICTION.group, EVICTION.kind);
    evictions.filter(|eviction| eviction.deleted_at().is_none()).map(|object| EvictionView { object })
}

/// Returns the time at which the hub-agent last carried out an eviction of a placement from a member.
pub(super) fn last_executed(fleet: FleetView<'_>, placement: PlacementView<'_>, member: &str) -> Option<Timestamp> {
    let key = (placement.object.name(), member);
    let of_placement = evictions(fleet).filter(|eviction| {
        placement.scope == KindScope::Cluster && (eviction.placement_name(), eviction.member()) == key
    });
    of_placement.filter_map(|eviction| eviction.executed()?.last_transition_time).max()
}

/// Eviction: a `ClusterResourcePlacementEviction`. Namespaced placements have none.
#[derive(Clone, Copy)]
pub(super) struct EvictionView<'a> {
    pub object: Object<'a>,
}

impl<'a> EvictionView<'a> {
    fn placement_name(self) -> &'a str {
        self.object.str("/spec/placementName").unwrap_or_default()
    }

    fn member(self) -> &'a str {
        self.object.str("/spec/clusterName").unwrap_or_default()
    }

    /// Returns the condition by which the hub-agent says that it didn't carry the eviction out.
    pub fn failed(self) -> Option<Condition> {
        let conditions = ["Valid", "Executed"].into_iter().filter_map(|type_| self.object.current_condition(type_));
        conditions.into_iter().find(|condition| condition.status == "False")
    }

    /// Returns the condition by which the hub-agent says that it has carried the eviction out.
    fn executed(self) -> Option<Condition> {
        self.object.current_condition("Executed").filter(|executed| executed.status == "True")
    }

    /// True if the hub-agent has carried the eviction out.
    pub fn is_executed(self) -> bool {
        self.executed().is_some()
    }
}

/// Returns the last eviction of the same placement from the same member that was created after this one and was executed. Creation times have
/// whole seconds: of two evictions of one second, the executed one counts as the later.
fn successor(fleet: FleetView<'_>, eviction: EvictionView<'_>) -> Option<ObjectPath> {
    let created = eviction.object.created_at()?;
    let key = (eviction.placement_name(), eviction.member());
    evictions(fleet)
        .filter(|other| (other.placement_name(), other.member()) == key && other.is_executed())
        .filter_map(|other| Some((other.object.created_at().filter(|at| *at >= created)?, other)))
        .max_by_key(|(at, _)| *at)
        .map(|(_, other)| other.object.path())
}

/// Reason for which the hub-agent doesn't carry an eviction out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Refusal {
    MissingPlacement,
    DeletedPlacement,
    PickFixed,
    MissingBinding,
    SeveralBindings,
    NotPlaced,
    InvalidBudget,
    Budget,
}

/// Messages of the conditions Valid and Executed. Their reasons are the same in all cases, and what the hub-agent has seen may have changed
/// since, so that nothing else tells the cases apart (`pkg/utils/condition/reason.go`, the same in v0.14.0 to v0.3.1).
static MESSAGES: LazyLock<[(Regex, Refusal); 8]> = LazyLock::new(|| {
    [
        ("failed to find ClusterResourcePlacement", Refusal::MissingPlacement),
        ("found deleting ClusterResourcePlacement", Refusal::DeletedPlacement),
        ("PickFixed placement type", Refusal::PickFixed),
        ("failed to find scheduler decision", Refusal::MissingBinding),
        ("found more than one scheduler decision", Refusal::SeveralBindings),
        ("has not propagated resources", Refusal::NotPlaced),
        ("misconfigured ClusterResourcePlacementDisruptionBudget", Refusal::InvalidBudget),
        ("blocked by specified ClusterResourcePlacementDisruptionBudget", Refusal::Budget),
    ]
    .map(|(text, refusal)| (pattern_of_any_case(text), refusal))
});

/// KF-EV-001 to 008: the hub-agent has refused the eviction, or hasn't executed it.
fn not_carried_out(fleet: FleetView<'_>, eviction: EvictionView<'_>, failed: &Condition) -> Option<FindingDraft> {
    let (_, refusal) = MESSAGES.iter().find(|(pattern, _)| pattern.is_match(&failed.message))?;
    let object = fleet.placement_object(CLUSTER_RESOURCE_PLACEMENT.kind, None, eviction.placement_name());
    let placement = object.map(|object| PlacementView { scope: KindScope::Cluster, object });
    let case = EvictionCase { fleet, eviction, failed, placement };
    Some(match refusal {
        Refusal::MissingPlacement => case.missing_placement(),
        Refusal::DeletedPlacement => case.deleted_placement(),
        Refusal::PickFixed => case.pick_fixed(),
        Refusal::MissingBinding => case.missing_binding(),
        Refusal::SeveralBindings => case.several_bindings(),
        Refusal::NotPlaced => case.not_placed(),
        Refusal::InvalidBudget => case.invalid_budget(),
        Refusal::Budget => case.budget(),
    })
}

/// Eviction that wasn't carried out, with its placement, if it exists.
struct EvictionCase<'a> {
    fleet: FleetView<'a>,
    eviction: EvictionView<'a>,
    failed: &'a Condition,
    placement: Option<PlacementView<'a>>,
}

impl<'a> EvictionCase<'a> {
    /// KF-EV-001: there was no such placement.
    fn missing_placement(&self) -> FindingDraft {
        let evidence = match self.placement {
            Some(placement) => Some(self.fleet.quote().field(placement.object, "metadata.creationTimestamp")),
            None => {
                self.absent("ClusterResourcePlacement", "clusterresourceplacements", self.eviction.placement_name())
            }
        };
        let mut corrected = self.created();
        corrected["spec"]["placementName"] = "PLACEMENT".into();
        let corrected = vec![self.delete_command(), kubectl::create_command(corrected)];
        let names = json!({"exists": self.placement.is_some(), "corrected": corrected});
        self.draft(RuleCode::KF_EV_001, names, evidence.into_iter().collect())
    }

    /// KF-EV-002: the placement was being deleted.
    fn deleted_placement(&self) -> FindingDraft {
        let deleted = self.placement.filter(|placement| placement.object.deleted_at().is_some());
        let evidence = match (deleted, self.placement) {
            (Some(placement), _) => Some(self.fleet.quote().deletion(placement.object)),
            (None, Some(placement)) => Some(self.fleet.quote().field(placement.object, "metadata.creationTimestamp")),
            (None, None) => {
                self.absent("ClusterResourcePlacement", "clusterresourceplacements", self.eviction.placement_name())
            }
        };
        let names =
            json!({"exists": self.placement.is_some() && deleted.is_none(), "is_gone": self.placement.is_none()});
        let draft = self.draft(RuleCode::KF_EV_002, names, evidence.into_iter().collect());
        deleted.into_iter().fold(draft, |draft, placement| draft.depends_on(placement.part()))
    }

    /// KF-EV-003: the placement names its members.
    fn pick_fixed(&self) -> FindingDraft {
        let object = self.placement.map(|placement| placement.object);
        let named = object.map(|object| object.list("/spec/policy/clusterNames")).unwrap_or_default();
        let named: Vec<_> = named.iter().filter_map(JsonRef::as_str).collect();
        let others: Vec<_> = named.iter().filter(|name| **name != self.eviction.member()).collect();
        let quote = self.fleet.quote();
        let evidence = object.into_iter().flat_map(|object| {
            ["spec.policy.placementType", "spec.policy.clusterNames"].map(|field| quote.field(object, field))
        });
        let names = json!({
            "is_named": named.contains(&self.eviction.member()),
            "others": others,
            "patch": json!({"spec": {"policy": {"clusterNames": others}}}).to_string(),
        });
        self.draft(RuleCode::KF_EV_003, names, evidence.collect())
    }

    /// KF-EV-004: the placement wasn't scheduled to the member.
    fn missing_binding(&self) -> FindingDraft {
        let member = self.eviction.member();
        let exists = self.fleet.hub.object(CLUSTER_GROUP, "MemberCluster", None, member).is_some();
        let bindings = self.bindings();
        let quote = self.fleet.quote();
        let mut evidence: Vec<_> =
            bindings.iter().map(|binding| quote.field(*binding, "metadata.creationTimestamp")).collect();
        if !exists {
            evidence.extend(self.absent("MemberCluster", "memberclusters", member));
        } else if let Some(placement) = self.placement.filter(|_| bindings.is_empty()) {
            evidence.push(quote.field(placement.object, "spec.policy"));
        }
        let names =
            json!({"is_member": exists, "is_placed": !bindings.is_empty(), "bindings_ref": self.bindings_ref()});
        self.draft(RuleCode::KF_EV_004, names, evidence)
    }

    /// KF-EV-005: the placement had several bindings for the member.
    fn several_bindings(&self) -> FindingDraft {
        let bindings = self.bindings();
        let quote = self.fleet.quote();
        let evidence: Vec<_> = bindings
            .iter()
            .map(|binding| match binding.deleted_at() {
                Some(_) => quote.deletion(*binding),
                None => quote.field(*binding, "spec.state"),
            })
            .collect();
        let names = json!({"count": bindings.len(), "bindings_ref": self.bindings_ref()});
        let draft = self.draft(RuleCode::KF_EV_005, names, evidence);
        bindings.into_iter().fold(draft, |draft, binding| draft.depends_on(foreign_finalizer::part_of_binding(binding)))
    }

    /// KF-EV-006: the placement's resources weren't on the member yet.
    fn not_placed(&self) -> FindingDraft {
        let binding = self.binding();
        let quote = self.fleet.quote();
        let status = self.placement.and_then(|p| p.clusters().find(|status| status.member == self.eviction.member()));
        let started = status.as_ref().and_then(|status| status.condition("RolloutStarted"));
        let mut evidence: Vec<Evidence> = binding.iter().map(|binding| quote.field(*binding, "spec.state")).collect();
        if let (Some(placement), Some(status), Some(started)) = (self.placement, &status, &started) {
            evidence.push(quote.condition_in(placement.object, status.place(), started));
        }
        let is_bound = binding.is_some_and(|binding| binding.str("/spec/state") == Some("Bound"));
        let without_run = self.placement.filter(|p| p.is_external() && p.runs(self.fleet).next().is_none());
        let names = json!({
            "is_bound": is_bound,
            "is_external": self.placement.is_some_and(PlacementView::is_external),
            "run": without_run.map(kubectl::first_run_command),
        });
        let draft = self.draft(RuleCode::KF_EV_006, names, evidence);
        let Some(placement) = self.placement else { return draft };
        draft.depends_on(placement.part()).depends_on(placement.part_on(self.eviction.member()))
    }

    /// KF-EV-007: the placement's disruption budget has a form that placements of type `PickAll` can't have.
    fn invalid_budget(&self) -> FindingDraft {
        let budget = Budget::of(self);
        let is_invalid = budget.as_ref().is_some_and(Budget::is_invalid);
        let evidence = self.budget_evidence(budget.as_ref());
        let names = json!({
            "field": budget.as_ref().map(Budget::field).unwrap_or_default(),
            "value": budget.as_ref().map(Budget::value).unwrap_or_default(),
            "is_present": budget.is_some(),
            "is_invalid": is_invalid,
            "budget_ref": self.budget_ref(),
            "patch": self.budget_patch(),
        });
        self.draft(RuleCode::KF_EV_007, names, evidence)
    }

    /// KF-EV-008: the placement's disruption budget allows no eviction at present.
    fn budget(&self) -> FindingDraft {
        let budget = Budget::of(self);
        let members = BudgetMembers::of(self);
        let allows = |available| budget.as_ref().is_none_or(|budget| budget.allows(available, members.total()));
        let mut evidence = self.budget_evidence(budget.as_ref());
        let quote = self.fleet.quote();
        evidence.extend(members.unavailable.iter().map(|binding| {
            if let Some(condition) = binding.current_condition("Available") {
                return quote.condition(*binding, &condition);
            }
            let older = binding.condition("Available");
            quote.no_current_condition(*binding, "status.conditions[Available]", older.as_ref(), None)
        }));
        let is_short = !members.unavailable.is_empty() && allows(members.total());
        let names = json!({
            "field": budget.as_ref().map(Budget::field).unwrap_or_default(),
            "value": budget.as_ref().map(Budget::value).unwrap_or_default(),
            "is_present": budget.is_some(),
            "is_allowed": allows(members.available.len()),
            "is_short": is_short,
            "unavailable": members.unavailable_names(),
            "available": members.available.len(),
            "total": members.total(),
            "budget_ref": self.budget_ref(),
            "patch": self.budget_patch(),
        });
        let draft = self.draft(RuleCode::KF_EV_008, names, evidence);
        let Some(placement) = self.placement.filter(|_| is_short) else { return draft };
        members.unavailable_names().into_iter().fold(draft, |draft, member| {
            draft.depends_on(placement.part_on(member)).depends_on(AffectedPart::Member(member.to_owned()))
        })
    }

    fn draft(&self, code: RuleCode, mut names: Value, evidence: Vec<Evidence>) -> FindingDraft {
        let object = self.eviction.object;
        let quote = self.fleet.quote();
        let mut quoted = vec![
            quote.condition(object, self.failed),
            quote.field(object, "spec.placementName"),
            quote.field(object, "spec.clusterName"),
        ];
        quoted.extend(evidence);
        names["eviction"] = object.name().into();
        names["eviction_ref"] = kubectl::reference(object).into();
        names["placement"] = self.eviction.placement_name().into();
        names["placement_ref"] = kubectl::reference_by_name(
            PLACEMENT_GROUP,
            CLUSTER_RESOURCE_PLACEMENT.kind,
            None,
            self.eviction.placement_name(),
        )
        .into();
        names["member"] = self.eviction.member().into();
        names["again"] = json!([self.delete_command(), kubectl::create_command(self.created())]);
        FindingDraft::new(code, subject(self.fleet, object, None, Some(self.eviction.member())), &names, quoted)
    }

    /// Returns the command that deletes the eviction.
    fn delete_command(&self) -> RemedyCommand {
        RemedyCommand::kubectl(HUB, KubectlVerb::Delete, kubectl::reference(self.eviction.object))
    }

    /// Returns the eviction as it was created. The hub-agent answers it once more if it is deleted and created again.
    fn created(&self) -> Value {
        let object = self.eviction.object;
        json!({
            "apiVersion": object.str("/apiVersion").unwrap_or_default(),
            "kind": object.kind(),
            "metadata": {"name": object.name()},
            "spec": {"placementName": self.eviction.placement_name(), "clusterName": self.eviction.member()},
        })
    }

    /// Quotes the absence of an object, unless objects of its kind couldn't be read.
    fn absent(&self, kind: &str, resource: &str, name: &str) -> Option<Evidence> {
        let group = if kind == "MemberCluster" { CLUSTER_GROUP } else { PLACEMENT_GROUP };
        (!self.fleet.hub.is_unread(group, resource)).then(|| self.fleet.quote().absent(kind, None, name))
    }

    /// Returns the placement's bindings for the member, sorted by name.
    fn bindings(&self) -> Vec<Object<'a>> {
        let mut bindings = self.fleet.index.bindings((None, self.eviction.placement_name()), self.eviction.member());
        bindings.sort_by_key(Object::name);
        bindings
    }

    /// Returns the placement's binding for the member; one that isn't being deleted, if there are several.
    fn binding(&self) -> Option<Object<'a>> {
        self.bindings().into_iter().min_by_key(|binding| binding.deleted_at().is_some())
    }

    /// Returns the words by which kubectl lists the placement's bindings.
    fn bindings_ref(&self) -> Vec<String> {
        let mut words = kubectl::kind_reference(CLUSTER_RESOURCE_BINDING.kind, None);
        words.extend(["-l".to_owned(), format!("{PARENT_PLACEMENT}={}", self.eviction.placement_name())]);
        words
    }

    /// Returns the words by which kubectl finds the placement's disruption budget, which has the placement's name.
    fn budget_ref(&self) -> Vec<String> {
        kubectl::reference_by_name(PLACEMENT_GROUP, DISRUPTION_BUDGET.kind, None, self.eviction.placement_name())
    }

    fn budget_evidence(&self, budget: Option<&Budget<'_>>) -> Vec<Evidence> {
        let evidence = if let Some(budget) = budget {
            Some(self.fleet.quote().field(budget.object, "spec"))
        } else {
            let resource = "clusterresourceplacementdisruptionbudgets";
            self.absent(DISRUPTION_BUDGET.kind, resource, self.eviction.placement_name())
        };
        let policy = self.placement.map(|placement| self.fleet.quote().field(placement.object, "spec.policy"));
        evidence.into_iter().chain(policy).collect()
    }

    /// Returns the patch of the disruption budget that allows one eviction at present.
    fn budget_patch(&self) -> String {
        let spared = BudgetMembers::of(self).available.len().saturating_sub(1);
        json!({"spec": {"maxUnavailable": null, "minAvailable": spared}}).to_string()
    }
}

/// Bindings of a placement, by the condition that its disruption budget counts.
struct BudgetMembers<'a> {
    available: Vec<Object<'a>>,
    unavailable: Vec<Object<'a>>,
}

impl<'a> BudgetMembers<'a> {
    fn of(case: &EvictionCase<'a>) -> Self {
        let members = case.placement.into_iter().flat_map(|placement| placement.clusters().map(|status| status.member));
        let key = (None, case.eviction.placement_name());
        let bindings = members.flat_map(|member| case.fleet.index.bindings(key, member));
        let (available, unavailable) = bindings.partition(|binding| {
            binding.current_condition("Available").is_some_and(|available| available.status == "True")
        });
        Self { available, unavailable }
    }

    fn total(&self) -> usize {
        self.available.len() + self.unavailable.len()
    }

    fn unavailable_names(&self) -> Vec<&'a str> {
        self.unavailable.iter().filter_map(|binding| binding.str("/spec/targetCluster")).collect()
    }
}

/// Disruption budget of a placement.
struct Budget<'a> {
    object: Object<'a>,
    /// Number of members that a placement of type `PickN` asks for; `None` for a placement of another type.
    wanted: Option<usize>,
}

impl<'a> Budget<'a> {
    fn of(case: &EvictionCase<'a>) -> Option<Self> {
        let object = case.fleet.placement_object(DISRUPTION_BUDGET.kind, None, case.eviction.placement_name())?;
        let policy = case.placement.and_then(|placement| placement.object.at("/spec/policy"));
        let is_pick_n =
            policy.is_some_and(|policy| policy.get("placementType").and_then(JsonRef::as_str) == Some("PickN"));
        let wanted = policy.filter(|_| is_pick_n).and_then(|policy| policy.get("numberOfClusters")?.as_u64());
        let wanted = wanted.and_then(|wanted| usize::try_from(wanted).ok());
        Some(Self { object, wanted })
    }

    /// Returns the name of the field that the budget sets.
    fn field(&self) -> &'static str {
        if self.object.at("/spec/maxUnavailable").is_some() { "maxUnavailable" } else { "minAvailable" }
    }

    /// Returns the value of the field as text.
    fn value(&self) -> String {
        let value = self.object.at(&format!("/spec/{}", self.field()));
        value.map(JsonRef::to_text).unwrap_or_default()
    }

    /// Returns the number that the field stands for. A percentage is of the members that the placement asks for, rounded up.
    fn number(&self) -> Option<usize> {
        let value = self.value();
        match value.strip_suffix('%') {
            Some(percent) => Some((percent.parse::<usize>().ok()? * self.wanted?).div_ceil(100)),
            None => value.parse().ok(),
        }
    }

    /// True if a placement of type `PickAll` can't have this budget: it isn't known how many members it will have.
    fn is_invalid(&self) -> bool {
        self.wanted.is_none() && (self.field() == "maxUnavailable" || self.value().ends_with('%'))
    }

    /// True if the budget allows an eviction while so many of a placement's bindings are available.
    fn allows(&self, available: usize, total: usize) -> bool {
        let Some(number) = self.number() else { return false };
        match self.field() {
            "maxUnavailable" => number > total.saturating_sub(available),
            _ => available > number,
        }
    }
}

/// KF-EV-009: the hub-agent doesn't answer the eviction.
fn unanswered(fleet: FleetView<'_>, eviction: EvictionView<'_>) -> Option<FindingDraft> {
    let object = eviction.object;
    let created = object.created_at()?;
    // A hub-agent that is behind answers later.
    let limit = if hub_agent::catching_up(fleet).is_some() { CATCH_UP_LIMIT } else { REACTION_LIMIT };
    if !object.conditions().is_empty() || fleet.age(created) <= limit {
        return None;
    }
    let quote = fleet.quote();
    let evidence = vec![
        quote.text(object, "status.conditions", "(absent)".to_owned(), Some(created)),
        quote.field(object, "metadata.creationTimestamp"),
    ];
    let names = json!({
        "eviction": object.name(),
        "placement": eviction.placement_name(),
        "member": eviction.member(),
        "seconds": fleet.age(created).as_secs(),
        "is_explained": false,
    });
    let about = subject(fleet, object, None, Some(eviction.member()));
    let draft = FindingDraft::new(RuleCode::KF_EV_009, about, &names, evidence)
        .with_texts_if_explained(&names)
        .depends_on(AffectedPart::HubAgent);
    Some(draft)
}
