//! The list in which a running scenario writes down what happens.

use std::sync::{Arc, Mutex, PoisonError};

use jiff::Timestamp;
use record::{RecordEntry, RecordedEvent};

/// Callback for each entry, as it is added. It must not add entries itself.
pub type OnEntry = Arc<dyn Fn(&RecordEntry) + Send + Sync>;

/// Collects a scenario's entries while it runs; clones share one list.
#[derive(Clone, Default)]
pub struct Recorder {
    entries: Arc<Mutex<Vec<RecordEntry>>>,
    on_entry: Option<OnEntry>,
}

impl Recorder {
    /// Creates a recorder that passes each entry on as it is added.
    #[must_use]
    pub fn telling(on_entry: OnEntry) -> Self {
        Self { entries: Arc::default(), on_entry: Some(on_entry) }
    }

    /// Adds what happens now.
    pub fn add(&self, what: RecordedEvent) {
        let entry = RecordEntry { at: Timestamp::now(), what };
        self.entries.lock().unwrap_or_else(PoisonError::into_inner).push(entry.clone());
        if let Some(on_entry) = &self.on_entry {
            on_entry(&entry);
        }
    }

    /// True if a fault was induced so far.
    #[must_use]
    pub fn has_induced(&self) -> bool {
        let entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        entries.iter().any(|entry| matches!(entry.what, RecordedEvent::Induced(_)))
    }

    /// Returns a copy of all entries so far.
    #[must_use]
    pub fn entries(&self) -> Vec<RecordEntry> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_passed_on_as_they_are_added() {
        let (sender, receiver) = std::sync::mpsc::channel();
        let recorder = Recorder::telling(Arc::new(move |entry: &RecordEntry| sender.send(entry.clone()).unwrap()));
        let what = RecordedEvent::Failed { error: "no such snapshot".into() };
        recorder.clone().add(what.clone());
        assert_eq!(receiver.try_recv().unwrap().what, what);
        assert_eq!(recorder.entries().len(), 1);
        assert!(!recorder.has_induced());
        recorder.add(RecordedEvent::Induced("the agent stopped".into()));
        assert!(recorder.has_induced());
    }
}
