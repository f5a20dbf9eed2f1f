//! Duplicate Works, which KubeFleet creates from one envelope.
//!
//! A busy hub-agent creates a second Work of an envelope if it looks for the first Work before its informer cache
//! contains it. The hub-agent is then stuck with two Works (KF-WS-010, docs/controllers.md). That failure has a
//! scenario of its own, and scenarios about something else must not depend on it. So this module deletes duplicates as
//! an operator would, and the scenario's report says so.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use clusters::cluster::Cluster;
use diagnosis::Object;
use diagnosis::kubefleet::{ENVELOPE_NAME, ENVELOPE_NAMESPACE};
use fleet::kinds;
use fleet::labels::RUN_LABEL;
use fleet::objects;
use fleet::observe::{Observer, WatchSelection, WatchedObjects};
use record::{Action, ControllerRace, RecordedEvent};
use serde_json::Value;

use crate::context::ScenarioContext;
use crate::objects::PARENT;
use crate::recorder::Recorder;

/// Labels of a Work that name the envelope from which the Work is made.
const ENVELOPE: [&str; 2] = [ENVELOPE_NAMESPACE, ENVELOPE_NAME];

/// Time to wait for one of the duplicates to be applied. The objects on the member belong to the applied Work and would
/// be deleted with it. A member's agent applies a Work within a second.
const PATIENCE: Duration = Duration::from_secs(10);

/// Interval between checks while there are duplicates.
const INTERVAL: Duration = Duration::from_secs(1);

impl ScenarioContext {
    /// Makes sure, until the scenario ends, that a placement with an envelope keeps only one Work of the envelope on
    /// each member.
    pub(crate) fn keep_one_work(&mut self, placement: &str) {
        let Some(name) = self.ledger.placements.get(placement).map(|p| p.name.clone()) else { return };
        if !self.ledger.without_twins.insert(name.clone()) {
            return;
        }
        let (hub, recorder) = (self.hub(), self.recorder.clone());
        let observer = Observer::silent(self.fleet.first_exit());
        self.beside.spawn(keep(observer, hub, name, recorder));
    }
}

async fn keep(observer: Observer, hub: Cluster, placement: String, recorder: Recorder) {
    let works = WatchSelection::labelled("hub", kinds::WORK, None, &format!("{PARENT}={placement}"));
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
                Ok(()) => {
                    let path = work.path();
                    let sentence = format!("KubeFleet made two Works of one envelope (KF-WS-010): {path} is deleted");
                    let (race, action) = (ControllerRace::DuplicateWork, Action::new(sentence).on(path));
                    recorder.add(RecordedEvent::WorkedAround { race, action });
                }
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

/// Returns groups of Works that are made from the same envelope for the same member. Works that a scenario has made,
/// and Works that are being deleted, don't count.
fn twins(objects: &WatchedObjects) -> Vec<Vec<Object<'_>>> {
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

/// Returns the duplicates to delete: all but the applied one. If none is applied, the result is empty until `waited` is
/// true, and then contains all but the first.
fn surplus(mut twins: Vec<Object<'_>>, waited: bool) -> Vec<Object<'_>> {
    if !waited && !twins.iter().any(|work| is_applied(*work)) {
        return Vec::new();
    }
    twins.sort_by_key(|work| (!is_applied(*work), work.created_at(), work.name().to_owned()));
    twins.split_off(1)
}

fn is_applied(work: Object<'_>) -> bool {
    work.condition("Applied").is_some_and(|c| c.status == "True")
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
