//! Watches of an observer: one for each selection of objects, kept as long as the observer.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use clusters::supervisor::protocol::ProcessExit;
use futures::StreamExt;
use kube::Client;
use kube::api::DynamicObject;
use kube::runtime::{WatchStreamExt, watcher};
use record::Transition;
use serde_json::Value;
use tokio::sync::watch;
use tokio::task::AbortHandle;

use super::conditions::{ConditionStates, flatten, transitions};
use crate::kinds::ResourceKind;

/// Objects by name, or by `namespace/name` if several namespaces are watched.
#[derive(Clone, Debug, Default)]
pub struct WatchedObjects {
    there: BTreeMap<String, Arc<Value>>,
    gone: BTreeSet<String>,
}

impl WatchedObjects {
    /// True if the object existed and doesn't any more. An object that was just created may not have been seen yet, and
    /// isn't gone.
    #[must_use]
    pub fn is_gone(&self, name: &str) -> bool {
        self.gone.contains(name)
    }
}

impl std::ops::Deref for WatchedObjects {
    type Target = BTreeMap<String, Arc<Value>>;

    fn deref(&self) -> &Self::Target {
        &self.there
    }
}

/// A selection of objects to watch.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct WatchSelection {
    /// `hub` or a member's name.
    pub cluster: String,
    /// Kind of the objects.
    pub kind: ResourceKind,
    /// Namespace; none for cluster-scoped kinds and for all namespaces.
    pub namespace: Option<String>,
    /// Field selector.
    fields: Option<String>,
    /// Label selector.
    labels: Option<String>,
    /// End of the objects' names. No selector of the API server can say this: other objects are watched, and left out.
    names_end: Option<String>,
}

impl WatchSelection {
    /// Selects one object.
    #[must_use]
    pub fn one(cluster: &str, kind: ResourceKind, namespace: Option<&str>, name: &str) -> Self {
        let fields = Some(format!("metadata.name={name}"));
        Self { fields, ..Self::all(cluster, kind, namespace) }
    }

    /// Selects all objects with a label, such as a placement's bindings.
    #[must_use]
    pub fn labelled(cluster: &str, kind: ResourceKind, namespace: Option<&str>, labels: &str) -> Self {
        let labels = Some(labels.to_owned());
        Self { labels, ..Self::all(cluster, kind, namespace) }
    }

    /// Selects all objects of a namespace.
    #[must_use]
    pub fn all(cluster: &str, kind: ResourceKind, namespace: Option<&str>) -> Self {
        Self {
            cluster: cluster.into(),
            kind,
            namespace: namespace.map(Into::into),
            fields: None,
            labels: None,
            names_end: None,
        }
    }

    /// Selects the objects of a namespace whose names end like this: those of one scenario, where scenarios share the namespace.
    #[must_use]
    pub fn ending(cluster: &str, kind: ResourceKind, namespace: Option<&str>, names_end: &str) -> Self {
        Self { names_end: Some(names_end.to_owned()), ..Self::all(cluster, kind, namespace) }
    }

    fn has(&self, object: &DynamicObject) -> bool {
        let name = object.metadata.name.as_deref().unwrap_or_default();
        self.names_end.as_ref().is_none_or(|end| name.ends_with(end))
    }
}

/// Callback for each transition, in the order in which transitions are seen.
pub type OnTransition = Arc<dyn Fn(Transition) + Send + Sync>;

/// Callback for each version of an object, in the order in which versions are seen.
pub type OnObjectVersion = Arc<dyn Fn(diagnosis::Object<'_>) + Send + Sync>;

/// Watches selections of objects, from the first request for each until the observer is dropped.
pub struct Observer {
    on_transition: OnTransition,
    on_version: OnObjectVersion,
    pub(super) first_exit: watch::Receiver<Option<ProcessExit>>,
    watches: Mutex<HashMap<WatchSelection, Watch>>,
    /// Resource versions of written objects, by cluster, kind, namespace and name.
    written: Mutex<HashMap<ObjectIdentity, u64>>,
}

/// Cluster, kind, namespace and name of an object.
type ObjectIdentity = (String, String, Option<String>, String);

struct Watch {
    objects: watch::Receiver<Option<WatchedObjects>>,
    task: AbortHandle,
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Observer {
    /// Creates an observer. Its waits end when a process of the fleet has ended (`first_exit`, see
    /// [`crate::Fleet::first_exit`]).
    #[must_use]
    pub fn new(first_exit: watch::Receiver<Option<ProcessExit>>, on_transition: OnTransition) -> Self {
        let on_version = Arc::new(|_: diagnosis::Object<'_>| ());
        Self { on_transition, on_version, first_exit, watches: Mutex::default(), written: Mutex::default() }
    }

    /// Adds a callback for each version of an object. A wait may miss versions: it sees only the last of several that
    /// come at once, and may begin after the first.
    #[must_use]
    pub fn telling(self, on_version: OnObjectVersion) -> Self {
        Self { on_version, ..self }
    }

    /// Creates an observer that records nothing.
    #[must_use]
    pub fn silent(first_exit: watch::Receiver<Option<ProcessExit>>) -> Self {
        Self::new(first_exit, Arc::new(|_| ()))
    }

    /// Creates an observer that reports no transitions, and whose waits don't end with a process of the fleet.
    #[must_use]
    pub fn ignoring_exits() -> Self {
        Self::silent(watch::channel(None).1)
    }

    /// Returns the objects as a watch sees them; none until they have been listed once. The first call starts the
    /// watch.
    pub fn watch(&self, client: &Client, watched: &WatchSelection) -> watch::Receiver<Option<WatchedObjects>> {
        let mut watches = self.watches.lock().unwrap_or_else(PoisonError::into_inner);
        let watch = watches
            .entry(watched.clone())
            .or_insert_with(|| begin(client, watched, Arc::clone(&self.on_transition), Arc::clone(&self.on_version)));
        watch.objects.clone()
    }

    /// Records the version of an object that an API server returned from a write. Watches are a little behind: until
    /// they reach this version, waits treat the watched object as outdated.
    pub fn wrote(&self, cluster: &str, object: &DynamicObject) {
        let meta = &object.metadata;
        let kind = object.types.as_ref().map(|t| t.kind.clone()).unwrap_or_default();
        let identity = (cluster.to_owned(), kind, meta.namespace.clone(), meta.name.clone().unwrap_or_default());
        if let Some(version) = meta.resource_version.as_ref().and_then(|v| v.parse().ok()) {
            self.written.lock().unwrap_or_else(PoisonError::into_inner).insert(identity, version);
        }
    }

    /// Name of the first object that the watch still shows as it was before its last write.
    pub(super) fn outdated<'a>(&self, cluster: &str, objects: &'a WatchedObjects) -> Option<&'a str> {
        let written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        let mut outdated = objects.iter().filter(|(_, value)| {
            let object = diagnosis::Object::new(*value);
            let (kind, namespace) = (object.kind().to_owned(), object.namespace().map(ToOwned::to_owned));
            let wrote = written.get(&(cluster.to_owned(), kind, namespace, object.name().to_owned()));
            let seen: Option<u64> = object.str("/metadata/resourceVersion").and_then(|v| v.parse().ok());
            wrote.is_some_and(|wrote| seen.is_some_and(|seen| seen < *wrote))
        });
        outdated.next().map(|(name, _)| name.as_str())
    }
}

fn begin(client: &Client, watched: &WatchSelection, on_transition: OnTransition, on_version: OnObjectVersion) -> Watch {
    let api = watched.kind.api(client, watched.namespace.as_deref());
    let mut config = watcher::Config::default();
    config.field_selector.clone_from(&watched.fields);
    config.label_selector.clone_from(&watched.labels);
    let (sender, receiver) = watch::channel(None);
    let (watched, conditions, objects) = (watched.clone(), HashMap::new(), WatchedObjects::default());
    let mut seen = WatchState { watched, conditions, objects, on_transition, on_version };
    let task = tokio::spawn(async move {
        let mut events = watcher(api, config).default_backoff().boxed();
        let mut listing = BTreeMap::new();
        // A watch error is retried with backoff. A wait on this watch reports what it saw last.
        while let Some(event) = events.next().await {
            match event {
                // Publish nothing before the list is complete: an object that isn't in it yet isn't gone.
                Ok(watcher::Event::Init) => {
                    listing.clear();
                    continue;
                }
                Ok(
                    watcher::Event::InitApply(object) | watcher::Event::Apply(object) | watcher::Event::Delete(object),
                ) if !seen.watched.has(&object) => continue,
                Ok(watcher::Event::InitApply(object)) => {
                    listing.insert(key(watched_all(&seen), &object), seen.value(object));
                    continue;
                }
                Ok(watcher::Event::InitDone) => seen.replace(std::mem::take(&mut listing)),
                Ok(watcher::Event::Apply(object)) => seen.apply(key(watched_all(&seen), &object), seen.value(object)),
                Ok(watcher::Event::Delete(object)) => seen.delete(&key(watched_all(&seen), &object)),
                Err(error) => {
                    tracing::debug!(%error, kind = seen.watched.kind.kind, "watch interrupted");
                    continue;
                }
            }
            sender.send_replace(Some(seen.objects.clone()));
        }
    });
    Watch { objects: receiver, task: task.abort_handle() }
}

fn watched_all(seen: &WatchState) -> bool {
    seen.watched.kind.namespaced && seen.watched.namespace.is_none()
}

fn key(with_namespace: bool, object: &DynamicObject) -> String {
    let name = object.metadata.name.clone().unwrap_or_default();
    match (&object.metadata.namespace, with_namespace) {
        (Some(namespace), true) => format!("{namespace}/{name}"),
        _ => name,
    }
}

struct WatchState {
    watched: WatchSelection,
    conditions: HashMap<String, ConditionStates>,
    objects: WatchedObjects,
    on_transition: OnTransition,
    on_version: OnObjectVersion,
}

impl WatchState {
    /// Converts an object, and adds apiVersion and kind, which items of a list don't have.
    fn value(&self, object: DynamicObject) -> Arc<Value> {
        let mut value = serde_json::to_value(object).unwrap_or_default();
        value["apiVersion"] = self.watched.kind.api_version().into();
        value["kind"] = self.watched.kind.kind.into();
        Arc::new(value)
    }

    fn apply(&mut self, key: String, value: Arc<Value>) {
        let after = flatten(&value);
        let before = self.conditions.get(&key).cloned().unwrap_or_default();
        (self.on_version)(diagnosis::Object::new(&value));
        let path = diagnosis::Object::new(&value).path();
        for transition in transitions(&self.watched.cluster, &path, &before, &after) {
            (self.on_transition)(transition);
        }
        self.conditions.insert(key.clone(), after);
        self.objects.gone.remove(&key);
        self.objects.there.insert(key, value);
    }

    fn delete(&mut self, key: &str) {
        self.conditions.remove(key);
        self.objects.there.remove(key);
        self.objects.gone.insert(key.to_owned());
    }

    fn replace(&mut self, listing: BTreeMap<String, Arc<Value>>) {
        let gone: Vec<String> = self.objects.keys().filter(|k| !listing.contains_key(*k)).cloned().collect();
        for key in gone {
            self.delete(&key);
        }
        for (key, value) in listing {
            self.apply(key, value);
        }
    }
}
