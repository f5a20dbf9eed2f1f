//! Live objects of Applications, which the status of an Application doesn't describe: field differences, health, and what holds a
//! deletion.

use super::application::ApplicationView;
use super::field_differences::is_built_in;
use crate::object::text_field;
use crate::rules::fleet::FleetView;
use crate::rules::index::{ResourceKey, resource_key, resource_name, resource_namespace};
use crate::rules::kubectl;
use crate::rules::wanted_objects::WantedObjects;
use crate::{APPLICATION, ClusterSnapshot, JsonRef, Object, Snapshot};

/// Number of live objects of each Application that a snapshot should have. Of an Application with more resources, some aren't read.
pub(super) const MOST_OF_APPLICATION: usize = 10;

/// Number of live objects of all Applications together.
const MOST: usize = 500;

/// Number of custom resources of Applications that are healthy. Each takes a request, in each diagnosis.
const MOST_OF_HEALTHY: usize = 100;

/// Resource of an Application, as `status.resources` lists it.
#[derive(Clone, Copy, Debug)]
pub(super) struct ManagedResource<'a>(JsonRef<'a>);

impl<'a> ManagedResource<'a> {
    /// Returns all resources in an Application's status.
    pub fn all(application: Object<'a>) -> impl Iterator<Item = Self> {
        application.list("/status/resources").iter().map(Self)
    }

    pub fn key(self) -> ResourceKey<'a> {
        resource_key(self.0)
    }

    pub fn text(self, field: &str) -> &'a str {
        text_field(self.0, field)
    }

    pub fn namespace(self) -> Option<&'a str> {
        resource_namespace(self.0)
    }

    pub fn is_out_of_sync(self) -> bool {
        self.text("status") == "OutOfSync"
    }

    /// True if git doesn't have the resource any more.
    pub fn requires_pruning(self) -> bool {
        self.0.get("requiresPruning").and_then(JsonRef::as_bool) == Some(true)
    }

    /// True if the resource is deleted only after a person has confirmed it.
    pub fn requires_deletion_confirmation(self) -> bool {
        self.0.get("requiresDeletionConfirmation").and_then(JsonRef::as_bool) == Some(true)
    }

    pub fn is_hook(self) -> bool {
        self.0.get("hook").and_then(JsonRef::as_bool) == Some(true)
    }

    /// True if the resource's kind isn't one of Kubernetes' own.
    pub fn is_custom(self) -> bool {
        !is_built_in(self.text("group"))
    }

    /// Returns `Kind name` or `Kind namespace/name`.
    pub fn object(self) -> String {
        resource_name(self.0)
    }

    /// Returns the words by which kubectl finds the object.
    pub fn reference(self) -> Vec<String> {
        kubectl::reference_of(self.0)
    }

    /// Returns the object on the Application's destination, if it was read.
    pub fn live(self, application: ApplicationView<'a>) -> Option<Object<'a>> {
        let [group, kind, name] = ["group", "kind", "name"].map(|field| self.text(field));
        application.destination().object(group, kind, self.namespace(), name)
    }

    /// Asks for the object on its cluster.
    pub fn wanted(self, cluster: &ClusterSnapshot) -> WantedObjects {
        WantedObjects::whole(&cluster.name, self.0)
    }

    /// True if the object can be read: Secrets aren't, and what the snapshot has needn't be.
    pub fn is_to_be_read(self, cluster: &ClusterSnapshot) -> bool {
        let [group, kind, name] = ["group", "kind", "name"].map(|field| self.text(field));
        (group, kind) != ("", "Secret") && cluster.objects.find(group, kind, self.namespace(), name).is_none()
    }

    /// True if the destination's API server says that it doesn't have the object. False if nobody asked, or if there was no answer.
    pub fn is_absent(self, application: ApplicationView<'a>) -> bool {
        let [group, kind, name] = ["group", "kind", "name"].map(|field| self.text(field));
        let cluster = application.destination().cluster;
        cluster.is_some_and(|cluster| cluster.is_absent(group, kind, self.namespace(), name))
    }
}

/// Returns the names of resources, for a sentence.
pub(super) fn object_names(resources: &[ManagedResource<'_>]) -> String {
    resources.iter().map(|resource| resource.object()).collect::<Vec<_>>().join(", ")
}

/// Returns the live objects that rules quote, besides those which the snapshot has. Secrets aren't read.
pub fn wanted_live_objects(snapshot: &Snapshot) -> Vec<WantedObjects> {
    FleetView::with(snapshot, |fleet| {
        let (mut wanted, mut of_well) = (Vec::new(), Vec::new());
        // The views read the owners of all objects.
        if fleet.hub.of_kind(APPLICATION.group, APPLICATION.kind).any(may_be_worth_a_look) {
            let all = ApplicationView::all_with_deleted(fleet);
            let (ill, well): (Vec<_>, Vec<_>) = all.partition(|application| is_worth_a_look(application.object));
            wanted.extend(ill.into_iter().flat_map(wanted_of));
            of_well.extend(well.into_iter().flat_map(super::unnoticed_health::wanted));
        }
        wanted.extend(super::kubefleet::wanted(fleet));
        wanted.extend(super::placed_applications::wanted(fleet));
        // Those of Applications in which nothing fails come last.
        wanted.extend(of_well.into_iter().take(MOST_OF_HEALTHY));
        wanted.truncate(MOST);
        wanted
    })
}

/// True if the state of an Application makes its objects worth a look.
fn is_worth_a_look(application: Object<'_>) -> bool {
    application.deleted_at().is_some()
        || application.str("/status/sync/status") == Some("OutOfSync")
        || is_ill(application)
}

/// True if any object of an Application may be the reason of its state.
fn is_ill(application: Object<'_>) -> bool {
    application.str("/status/health/status") != Some("Healthy")
        || super::undeclared_field::has_failed_comparison(application)
}

fn may_be_worth_a_look(application: Object<'_>) -> bool {
    is_worth_a_look(application) || ManagedResource::all(application).any(ManagedResource::is_custom)
}

fn wanted_of(application: ApplicationView<'_>) -> Vec<WantedObjects> {
    let is_any_wanted = application.object.deleted_at().is_some() || is_ill(application.object);
    let all = ManagedResource::all(application.object);
    wanted_among(application, all.filter(|resource| is_any_wanted || resource.is_out_of_sync()))
}

/// Asks for those of an Application's resources that aren't read yet, from a destination that answers.
pub(super) fn wanted_among<'a>(
    application: ApplicationView<'a>,
    resources: impl Iterator<Item = ManagedResource<'a>>,
) -> Vec<WantedObjects> {
    let destination = application.destination();
    let Some(cluster) = destination.cluster.filter(|cluster| cluster.unreachable.is_none()) else { return Vec::new() };
    resources
        .filter(|resource| resource.is_to_be_read(cluster))
        .take(MOST_OF_APPLICATION)
        .map(|resource| resource.wanted(cluster))
        .collect()
}
