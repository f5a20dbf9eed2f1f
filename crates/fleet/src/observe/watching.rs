//! One watch per thing that was asked about, kept as long as the observer.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use clusters::keeper::protocol::Exit;
use futures::StreamExt;
use kube::Client;
use kube::api::DynamicObject;
use kube::runtime::{WatchStreamExt, watcher};
use serde_json::Value;
use tokio::sync::watch;
use tokio::task::AbortHandle;

use super::conditions::{Conditions, Transition, flatten, transitions};
use crate::kinds::Kind;

/// Objects by name; with several namespaces, by `namespace/name`.
#[derive(Clone, Debug, Default)]
pub struct Objects {
    there: BTreeMap<String, Arc<Value>>,
    gone: BTreeSet<String>,
}

impl Objects {
    /// Whether the object was there and isn't any more. An object that was just created may not have been seen yet.
    #[must_use]
    pub fn is_gone(&self, name: &str) -> bool {
        self.gone.contains(name)
    }
}

impl std::ops::Deref for Objects {
    type Target = BTreeMap<String, Arc<Value>>;

    fn deref(&self) -> &Self::Target {
        &self.there
    }
}

/// What to watch.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Watched {
    /// `hub` or a member's name.
    pub cluster: String,
    /// The kind.
    pub kind: Kind,
    /// The namespace; none for cluster-scoped kinds and for all namespaces.
    pub namespace: Option<String>,
    /// A field selector.
    fields: Option<String>,
    /// A label selector.
    labels: Option<String>,
}

impl Watched {
    /// One object.
    #[must_use]
    pub fn one(cluster: &str, kind: Kind, namespace: Option<&str>, name: &str) -> Self {
        let fields = Some(format!("metadata.name={name}"));
        Self { cluster: cluster.into(), kind, namespace: namespace.map(Into::into), fields, labels: None }
    }

    /// All objects with a label, such as a placement's bindings.
    #[must_use]
    pub fn labelled(cluster: &str, kind: Kind, namespace: Option<&str>, labels: &str) -> Self {
        let labels = Some(labels.to_owned());
        Self { cluster: cluster.into(), kind, namespace: namespace.map(Into::into), fields: None, labels }
    }

    /// All objects of a namespace.
    #[must_use]
    pub fn all(cluster: &str, kind: Kind, namespace: Option<&str>) -> Self {
        Self { cluster: cluster.into(), kind, namespace: namespace.map(Into::into), fields: None, labels: None }
    }
}

/// Told of each transition, in the order in which they are seen.
pub type OnTransition = Arc<dyn Fn(Transition) + Send + Sync>;

/// Told of each version of an object, in the order in which they are seen.
pub type OnVersion = Arc<dyn Fn(diagnosis::Object<'_>) + Send + Sync>;

/// Watches what it is asked about until it is dropped.
pub struct Observer {
    on_transition: OnTransition,
    on_version: OnVersion,
    pub(super) first_exit: watch::Receiver<Option<Exit>>,
    watches: Mutex<HashMap<Watched, Watch>>,
    /// The resource versions of what was written, by cluster, kind, namespace and name.
    written: Mutex<HashMap<Identity, u64>>,
}

/// A cluster, and an object on it.
type Identity = (String, String, Option<String>, String);

struct Watch {
    objects: watch::Receiver<Option<Objects>>,
    task: AbortHandle,
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Observer {
    /// An observer whose waits end when a process of the fleet has ended (`first_exit`, see
    /// [`crate::Fleet::first_exit`]).
    #[must_use]
    pub fn new(first_exit: watch::Receiver<Option<Exit>>, on_transition: OnTransition) -> Self {
        let on_version = Arc::new(|_: diagnosis::Object<'_>| ());
        Self { on_transition, on_version, first_exit, watches: Mutex::default(), written: Mutex::default() }
    }

    /// One that also tells of each version of an object: a wait may see only the last of several that come at once, or begin after
    /// the first.
    #[must_use]
    pub fn telling(self, on_version: OnVersion) -> Self {
        Self { on_version, ..self }
    }

    /// An observer that records nothing.
    #[must_use]
    pub fn silent(first_exit: watch::Receiver<Option<Exit>>) -> Self {
        Self::new(first_exit, Arc::new(|_| ()))
    }

    /// The objects as they are seen; none until they have been listed once. The watch begins with the first call.
    pub fn watch(&self, client: &Client, watched: &Watched) -> watch::Receiver<Option<Objects>> {
        let mut watches = self.watches.lock().unwrap_or_else(PoisonError::into_inner);
        let begin = || begin(client, watched, Arc::clone(&self.on_transition), Arc::clone(&self.on_version));
        watches.entry(watched.clone()).or_insert_with(begin).objects.clone()
    }

    /// Takes note of an object as an API server gave it back from a write. Watches are a little behind: until they have
    /// come so far, the object as they see it counts for nothing.
    pub fn wrote(&self, cluster: &str, object: &DynamicObject) {
        let meta = &object.metadata;
        let kind = object.types.as_ref().map(|t| t.kind.clone()).unwrap_or_default();
        let identity = (cluster.to_owned(), kind, meta.namespace.clone(), meta.name.clone().unwrap_or_default());
        if let Some(version) = meta.resource_version.as_ref().and_then(|v| v.parse().ok()) {
            self.written.lock().unwrap_or_else(PoisonError::into_inner).insert(identity, version);
        }
    }

    /// The first of the objects that is seen as it was before it was written.
    pub(super) fn outdated<'a>(&self, cluster: &str, objects: &'a Objects) -> Option<&'a str> {
        let written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        let mut outdated = objects.iter().filter(|(_, value)| {
            let object = diagnosis::Object::new(value);
            let (kind, namespace) = (object.kind().to_owned(), object.namespace().map(ToOwned::to_owned));
            let wrote = written.get(&(cluster.to_owned(), kind, namespace, object.name().to_owned()));
            let seen: Option<u64> = object.str("/metadata/resourceVersion").and_then(|v| v.parse().ok());
            wrote.is_some_and(|wrote| seen.is_some_and(|seen| seen < *wrote))
        });
        outdated.next().map(|(name, _)| name.as_str())
    }
}

fn begin(client: &Client, watched: &Watched, on_transition: OnTransition, on_version: OnVersion) -> Watch {
    let api = watched.kind.api(client, watched.namespace.as_deref());
    let mut config = watcher::Config::default();
    config.field_selector.clone_from(&watched.fields);
    config.label_selector.clone_from(&watched.labels);
    let (sender, receiver) = watch::channel(None);
    let (watched, conditions, objects) = (watched.clone(), HashMap::new(), Objects::default());
    let mut seen = Seen { watched, conditions, objects, on_transition, on_version };
    let task = tokio::spawn(async move {
        let mut events = watcher(api, config).default_backoff().boxed();
        let mut listing = BTreeMap::new();
        // An error of a watch is retried with backoff; a wait that depends on it says what it saw last.
        while let Some(event) = events.next().await {
            match event {
                // Nothing is known before the list is whole: an object that isn't in it yet isn't gone.
                Ok(watcher::Event::Init) => {
                    listing.clear();
                    continue;
                }
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

fn watched_all(seen: &Seen) -> bool {
    seen.watched.kind.namespaced && seen.watched.namespace.is_none()
}

fn key(with_namespace: bool, object: &DynamicObject) -> String {
    let name = object.metadata.name.clone().unwrap_or_default();
    match (&object.metadata.namespace, with_namespace) {
        (Some(namespace), true) => format!("{namespace}/{name}"),
        _ => name,
    }
}

struct Seen {
    watched: Watched,
    conditions: HashMap<String, Conditions>,
    objects: Objects,
    on_transition: OnTransition,
    on_version: OnVersion,
}

impl Seen {
    /// The object whole: items of a list carry neither apiVersion nor kind.
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
