//! View of an Argo CD ApplicationSet for the rules: what its controller reports, and the Applications that it owns.

use serde_json::{Value, json};

use super::application::ApplicationView;
use crate::command::{KubectlVerb, RemedyCommand};
use crate::object::{list_field, text_field};
use crate::rules::code::RuleCode;
use crate::rules::draft::FindingDraft;
use crate::rules::evidence_source::EvidenceSource;
use crate::rules::fleet::{FleetView, full_name, subject};
use crate::rules::kubectl;
use crate::{APPLICATION_SET, Condition, Evidence, HUB, JsonRef, Object};

/// ApplicationSet.
#[derive(Clone, Copy)]
pub(super) struct ApplicationSetView<'a> {
    pub fleet: FleetView<'a>,
    pub object: Object<'a>,
    applications: &'a [ApplicationView<'a>],
}

/// Policy for the Applications of an ApplicationSet that exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SyncPolicy<'a> {
    /// `spec.syncPolicy.applicationsSync`; empty for the controller's own policy, which deletes by default.
    pub name: &'a str,
    /// True if Applications that are no longer generated stay.
    pub keeps_applications: bool,
}

impl<'a> ApplicationSetView<'a> {
    /// Returns the ApplicationSets on the hub that aren't being deleted. `applications` are all Applications on the hub.
    pub fn all(fleet: FleetView<'a>, applications: &'a [ApplicationView<'a>]) -> impl Iterator<Item = Self> {
        let objects = fleet.hub.of_kind(APPLICATION_SET.group, APPLICATION_SET.kind);
        let objects = objects.filter(|object| object.deleted_at().is_none());
        objects.map(move |object| Self { fleet, object, applications })
    }

    /// Returns the Applications that the ApplicationSet owns.
    pub fn owned(self) -> impl Iterator<Item = ApplicationView<'a>> {
        self.applications.iter().copied().filter(move |application| self.owns(application.object))
    }

    fn owns(self, application: Object<'_>) -> bool {
        let mut owners = application.list("/metadata/ownerReferences").iter();
        application.namespace() == self.object.namespace()
            && owners.any(|owner| {
                text_field(owner, "kind") == APPLICATION_SET.kind && text_field(owner, "name") == self.object.name()
            })
    }

    /// Returns the Application of a name, whoever owns it.
    pub fn application(self, name: &str) -> Option<ApplicationView<'a>> {
        let namespace = self.object.namespace();
        let mut all = self.applications.iter().copied();
        all.find(|application| application.object.name() == name && application.object.namespace() == namespace)
    }

    /// Returns the condition `ErrorOccurred` if it is True.
    pub fn error(self) -> Option<Condition> {
        self.object.condition("ErrorOccurred").filter(|condition| condition.status == "True")
    }

    /// Returns the condition `ResourcesUpToDate` if it is True: the last reconciliation reached its end without an error.
    pub fn up_to_date(self) -> Option<Condition> {
        self.object.condition("ResourcesUpToDate").filter(|condition| condition.status == "True")
    }

    /// Returns what the controller may do. A policy of the controller's own, which counts before the ApplicationSet's, isn't in any object.
    pub fn sync_policy(self) -> SyncPolicy<'a> {
        let name = self.object.str("/spec/syncPolicy/applicationsSync").unwrap_or_default();
        SyncPolicy { name, keeps_applications: matches!(name, "create-only" | "create-update") }
    }

    /// Returns the kinds of generators, e.g. `git`, in their order. Nested ones are left out.
    pub fn generators(self) -> Vec<&'static str> {
        const KINDS: [&str; 9] = [
            "list",
            "clusters",
            "git",
            "scmProvider",
            "pullRequest",
            "clusterDecisionResource",
            "plugin",
            "matrix",
            "merge",
        ];
        let all = self.object.list("/spec/generators").iter();
        all.flat_map(|generator| KINDS.into_iter().filter(move |kind| generator.get(kind).is_some())).collect()
    }

    /// Returns `namespace/name`.
    pub fn full_name(self) -> String {
        full_name(self.object.namespace(), self.object.name())
    }

    pub fn quote(self) -> EvidenceSource<'a> {
        self.fleet.quote()
    }

    /// Quotes the field in which an Application says that the ApplicationSet owns it.
    pub fn quote_owner(self, application: ApplicationView<'_>) -> Evidence {
        let value = format!("{} {}", APPLICATION_SET.kind, self.object.name());
        self.quote().text(application.object, "metadata.ownerReferences", value, None)
    }

    /// Returns names of Applications for a sentence.
    pub fn names_of(applications: &[ApplicationView<'_>]) -> String {
        match applications {
            few if few.len() <= MOST_NAMES => join(few),
            first => format!("{} and {} more", join(&first[..MOST_NAMES]), first.len() - MOST_NAMES),
        }
    }

    /// Creates a finding about the ApplicationSet.
    pub fn draft(self, code: RuleCode, more: &Value, evidence: Vec<Evidence>) -> FindingDraft {
        let reference = kubectl::reference(self.object);
        // The controller notices the annotation only if it is new, and leaves it after an error.
        let annotate = |change: &[&str]| {
            let change = change.iter().map(|word| (*word).to_owned());
            RemedyCommand::kubectl(HUB, KubectlVerb::Annotate, reference.iter().cloned().chain(change))
        };
        let refresh = [
            annotate(&["argocd.argoproj.io/application-set-refresh-"]),
            annotate(&["argocd.argoproj.io/application-set-refresh=true", "--overwrite"]),
        ];
        let mut names = json!({
            "set": self.full_name(),
            "set_ref": reference,
            "set_name": self.object.name(),
            "set_namespace": self.object.namespace().unwrap_or_default(),
            "generators": self.generators().join(", "),
            "refresh_set": refresh,
        });
        if let (Value::Object(names), Value::Object(more)) = (&mut names, more) {
            names.extend(more.clone());
        }
        FindingDraft::new(code, subject(self.fleet, self.object, None, None), &names, evidence)
    }

    /// Returns the elements of all generators, if they are lists alone; `None` if the names of the Applications come from elsewhere.
    pub fn list_elements(self) -> Option<Vec<JsonRef<'a>>> {
        let generators = self.object.list("/spec/generators");
        let is_plain_list = |generator: JsonRef<'_>| {
            let Some(list) = generator.get("list") else { return false };
            // The controller writes an empty template when it removes its refresh annotation (v3.5.7).
            let has_template = list.pointer("/template/metadata/name").is_some();
            generator.get("selector").is_none() && list.get("elementsYaml").is_none() && !has_template
        };
        if generators.is_empty() || !generators.iter().all(is_plain_list) {
            return None;
        }
        let lists = generators.iter().filter_map(|generator| generator.get("list"));
        Some(lists.flat_map(|list| list_field(list, "elements").iter()).collect())
    }
}

/// Number of Applications that a sentence names.
const MOST_NAMES: usize = 5;

fn join(applications: &[ApplicationView<'_>]) -> String {
    applications.iter().map(|application| application.object.name()).collect::<Vec<_>>().join(", ")
}
