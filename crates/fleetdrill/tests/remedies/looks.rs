//! Looks at the whole fleet, one after the other, for all trials together.

use std::sync::Arc;
use std::time::{Duration, Instant};

use diagnosis::{Finding, InProgress, KubectlAccess, Subject};
use fleet::Fleet;
use tokio::sync::watch;

/// Pause between two looks.
const PAUSE: Duration = Duration::from_millis(500);

/// Findings of a snapshot of the fleet.
pub struct Look {
    /// Time at which the first object was asked for.
    pub begun: Instant,
    /// Roots of the whole fleet.
    pub findings: Vec<Finding>,
    /// What is young and on its way, of the whole fleet.
    pub in_progress: Vec<InProgress>,
}

/// Latest look.
pub type Looks = watch::Receiver<Option<Arc<Look>>>;

/// Looks at a fleet, without an end.
pub async fn look(fleet: &Fleet, looks: &watch::Sender<Option<Arc<Look>>>) {
    loop {
        let begun = Instant::now();
        match fleet.snapshot().await {
            Ok(snapshot) => {
                let diagnosed =
                    tokio::task::spawn_blocking(move || diagnosis::examine(&snapshot, &KubectlAccess::same_names()));
                let found = diagnosed.await.expect("a diagnosis");
                let look = Look { begun, findings: found.findings, in_progress: found.in_progress };
                looks.send_replace(Some(Arc::new(look)));
            }
            Err(error) => println!("a snapshot failed: {error}"),
        }
        tokio::time::sleep(PAUSE).await;
    }
}

impl Look {
    /// Findings about objects whose names have a suffix: roots that are about them or have a consequence about them, and these
    /// consequences.
    pub fn of(&self, suffix: &str) -> Vec<&Finding> {
        let mut found = Vec::new();
        for root in &self.findings {
            let ours: Vec<&Finding> = root.flatten().filter(|finding| is_about(finding, suffix)).collect();
            if !ours.is_empty() && !is_about(root, suffix) {
                found.push(root);
            }
            found.extend(ours);
        }
        found
    }

    /// States on their way of objects whose names have a suffix.
    pub fn on_their_way(&self, suffix: &str) -> Vec<&InProgress> {
        self.in_progress.iter().filter(|state| has_suffix(&state.subject, suffix)).collect()
    }
}

fn is_about(finding: &Finding, suffix: &str) -> bool {
    has_suffix(&finding.subject, suffix)
}

fn has_suffix(subject: &Subject, suffix: &str) -> bool {
    let names = [Some(&subject.name), subject.namespace.as_ref(), subject.member.as_ref(), Some(&subject.cluster)];
    names.into_iter().flatten().any(|name| name.contains(suffix))
}

/// Waits for a look that began after a moment, and for which `is` returns something.
///
/// # Errors
/// Returns the last look's reason if the limit passes.
pub async fn until<T>(
    mut looks: Looks,
    after: Instant,
    limit: Duration,
    is: impl Fn(&Look) -> Result<T, String>,
) -> Result<(T, Instant), String> {
    let end = Instant::now() + limit;
    loop {
        let look = looks.borrow_and_update().clone();
        let mut why = "no look".to_owned();
        if let Some(look) = look.filter(|look| look.begun >= after) {
            match is(&look) {
                Ok(value) => return Ok((value, look.begun)),
                Err(pending) => why = pending,
            }
        }
        if Instant::now() > end {
            return Err(why);
        }
        // The pause ends at the limit, too.
        let _ = tokio::time::timeout(Duration::from_secs(5), looks.changed()).await;
    }
}
