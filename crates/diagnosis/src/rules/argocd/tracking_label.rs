//! AR-OS-008: an object on the destination that isn't an Application's own carries the label by which Argo CD tells what an Application
//! owns, with the Application's name. The setting `application.resourceTrackingMethod: label` makes it one of the Application's, which is
//! `OutOfSync` for ever, and whose pruning would delete the object (v3.2, v3.5).

use serde_json::json;

use super::application::ApplicationView;
use super::destination::{owning_application, qualified_name};
use super::field_differences::FieldWrite;
use super::live_objects::{ManagedResource, object_names};
use super::pruning::is_wanted_by_another;
use crate::rules::code::RuleCode;
use crate::rules::draft::FindingDraft;
use crate::rules::kubectl;
use crate::{Evidence, JsonRef, Object};

/// Key of the label, unless the setting `application.instanceLabelKey` names another one.
const INSTANCE: &str = "app.kubernetes.io/instance";

/// Object that counts as an Application's own by a label alone.
pub(super) struct LabelledObject<'a> {
    resource: ManagedResource<'a>,
    live: Object<'a>,
    /// Key of the label.
    label: &'a str,
    /// Latest write.
    write: FieldWrite<'a>,
}

impl<'a> LabelledObject<'a> {
    /// Reads a resource that git doesn't have; `None` if Argo CD has applied it for this Application, or if nothing shows who has.
    pub fn read(application: ApplicationView<'a>, resource: ManagedResource<'a>) -> Option<Self> {
        if !resource.requires_pruning() || !resource.is_out_of_sync() || resource.is_hook() {
            return None;
        }
        let live = resource.live(application).filter(|live| live.deleted_at().is_none())?;
        let names = [application.object.name().to_owned(), qualified_name(application.object)];
        if names.iter().any(|name| name == owning_application(live)) {
            return None;
        }
        let label = label(live, &names)?;
        // What another Application has in git is told by its SharedResourceWarning.
        if is_wanted_by_another(application, resource) {
            return None;
        }
        let writes: Vec<_> = FieldWrite::all(live).collect();
        if writes.iter().any(|write| write.is_argo_cds()) {
            return None;
        }
        let write = writes.into_iter().max_by_key(|write| write.at)?;
        Some(Self { resource, live, label, write })
    }

    fn evidence(&self, application: ApplicationView<'a>) -> Vec<Evidence> {
        let (quote, live) = (application.destination().quote(), self.live);
        let pruning = format!("status.resources[{}].requiresPruning", self.resource.object());
        let label = format!("metadata.labels[{}]", self.label);
        let writer = format!("metadata.managedFields[{}]", self.write.manager);
        vec![
            application.quote().text(application.object, &pruning, "true".to_owned(), None),
            quote.text(live, &label, live.label(self.label).unwrap_or_default().to_owned(), None),
            quote.text(live, &writer, self.write.text(), self.write.at),
        ]
    }
}

pub(super) fn rule(application: ApplicationView<'_>) -> Option<FindingDraft> {
    let all = ManagedResource::all(application.object);
    let all: Vec<_> = all.filter_map(|resource| LabelledObject::read(application, resource)).collect();
    let first = all.first()?;
    let resources: Vec<_> = all.iter().map(|labelled| labelled.resource).collect();
    let names = json!({
        "objects": object_names(&resources),
        "refs": resources.iter().map(|resource| resource.reference()).collect::<Vec<_>>(),
        "label": first.label,
        "writer": first.write.text(),
        "method": [kubectl::patch_command(
            kubectl::reference_by_name("", "ConfigMap", application.object.namespace(), "argocd-cm"),
            &json!({"data": {"application.resourceTrackingMethod": "annotation"}}),
        )],
    });
    let evidence = all.iter().flat_map(|labelled| labelled.evidence(application)).collect();
    Some(application.draft_beside_sync(RuleCode::AR_OS_008, &names, evidence))
}

/// Returns the key of the label that has one of these names as its value: the usual one, if it does.
fn label<'a>(live: Object<'a>, names: &[String]) -> Option<&'a str> {
    let labels = live.at("/metadata/labels").and_then(JsonRef::as_object)?;
    let named =
        labels.iter().filter(|(_, value)| value.as_str().is_some_and(|value| names.iter().any(|name| name == value)));
    let keys: Vec<&str> = named.map(|(key, _)| key).collect();
    keys.iter().find(|key| **key == INSTANCE).or(keys.first()).copied()
}
