//! The Works that KubeFleet makes twice.
//!
//! A busy hub-agent makes a second Work of an envelope when it looks for the first one before it has heard that it is there, and is
//! then stuck with two (KF-WS-010, docs/controllers.md). That is a failure of its own, with a scenario of its own. A scenario that is
//! about something else must not depend on it: what an operator does against it is done here, and the scenario's report says so.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use clusters::cluster::Cluster;
use diagnosis::Object;
use fleet::existing::RUN_LABEL;
use fleet::kinds;
use fleet::objects;
use fleet::observe::{Objects, Observer, Watched};
use serde_json::Value;

use crate::objects::PARENT;
use crate::record::{Recorder, What};
use crate::scene::Scene;

/// On a Work: the envelope that it is made of.
const ENVELOPE: [&str; 2] = ["kubernetes-fleet.io/envelope-namespace", "kubernetes-fleet.io/envelope-name"];

/// How long it is waited until one of them is applied: the objects on the member are its own, and would go with it. A member's
/// agent applies a Work within a second.
const PATIENCE: Duration = Duration::from_secs(10);

/// How often it is looked while there are two.
const INTERVAL: Duration = Duration::from_secs(1);

impl Scene {
    /// Sees to it, for as long as the scenario goes on, that a placement which has an envelope keeps one Work of it on each member.
    pub(crate) fn keep_one_work(&mut self, placement: &str) {
        let Some(name) = self.placements.get(placement).map(|p| p.name.clone()) else { return };
        if !self.without_twins.insert(name.clone()) {
            return;
        }
        let (hub, recorder) = (self.hub(), self.recorder.clone());
        let observer = Observer::silent(self.fleet.first_exit());
        self.beside.spawn(keep(observer, hub, name, recorder));
    }
}

async fn keep(observer: Observer, hub: Cluster, placement: String, recorder: Recorder) {
    let works = Watched::labelled("hub", kinds::WORK, None, &format!("{PARENT}={placement}"));
    let mut seen = observer.watch(&hub.client, &works);
    let mut since: Option<Instant> = None;
    loop {
        let objects = seen.borrow_and_update().clone().unwrap_or_default();
        let twins = twins(&objects);
        since = if twins.is_empty() { None } else { since.or(Some(Instant::now())) };
        let waited = since.is_some_and(|since| since.elapsed() > PATIENCE);
        let surplus: Vec<Object<'_>> = twins.into_iter().flat_map(|works| surplus(works, waited)).collect();
        for work in surplus {
            let (name, namespace) = (work.name(), work.namespace());
            match objects::delete(&hub, kinds::WORK, namespace, name).await {
                Ok(()) => recorder.add(What::Did {
                    action: format!("KubeFleet made two Works of one envelope (KF-WS-010): {} is deleted", work.path()),
                }),
                Err(error) => tracing::warn!(%error, name, "failed to delete a second Work of an envelope"),
            }
        }
        let changed = seen.changed();
        let changed = if since.is_some() {
            tokio::time::timeout(INTERVAL, changed).await.unwrap_or(Ok(()))
        } else {
            changed.await
        };
        if changed.is_err() {
            return;
        }
    }
}

/// The Works that are made of the same envelope for the same member, where there are several; but for those that a scenario made, and
/// those that go already.
fn twins(objects: &Objects) -> Vec<Vec<Object<'_>>> {
    let mut of: BTreeMap<_, Vec<Object<'_>>> = BTreeMap::new();
    for work in objects.values().map(Arc::as_ref).map(|work: &Value| Object::new(work)) {
        let ours = work.label(RUN_LABEL).is_some();
        if let [namespace, Some(name)] = ENVELOPE.map(|label| work.label(label))
            && !ours
            && work.deleted_at().is_none()
        {
            of.entry((work.namespace(), namespace, name)).or_default().push(work);
        }
    }
    of.into_values().filter(|works| works.len() > 1).collect()
}

/// All of them but the one that is applied; where none is, all but the first, once it was waited for it.
fn surplus(mut twins: Vec<Object<'_>>, waited: bool) -> Vec<Object<'_>> {
    let applied = |work: &Object<'_>| work.condition("Applied").is_some_and(|c| c.status == "True");
    if !waited && !twins.iter().any(applied) {
        return Vec::new();
    }
    twins.sort_by_key(|work| (!applied(work), work.created_at(), work.name().to_owned()));
    twins.split_off(1)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn work(name: &str, applied: Option<&str>) -> Value {
        let conditions: Vec<Value> =
            applied.iter().map(|status| json!({"type": "Applied", "status": status})).collect();
        json!({"metadata": {"name": name, "creationTimestamp": "2026-11-22T10:00:00Z"}, "status": {"conditions": conditions}})
    }

    #[test]
    fn the_one_that_is_applied_stays() {
        let names = |works: &[Value], waited| {
            let surplus = surplus(works.iter().map(Object::new).collect(), waited);
            surplus.iter().map(|work| work.name().to_owned()).collect::<Vec<_>>()
        };
        let (first, second) = (work("a", Some("False")), work("b", Some("True")));
        assert_eq!(names(&[first.clone(), second], false), ["a"]);
        let second = work("b", None);
        assert!(names(&[second.clone(), first.clone()], false).is_empty());
        assert_eq!(names(&[second, first], true), ["b"]);
    }
}
