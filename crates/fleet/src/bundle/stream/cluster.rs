//! One cluster's part of a bundle: its objects, page by page.

use std::io;
use std::sync::atomic::Ordering;
use std::sync::{Mutex, OnceLock, PoisonError};

use diagnosis::{AbsentObject, ClusterSnapshot, SnapshotRole, UnreadKind, UnreadReason};
use futures::{StreamExt, stream};
use jiff::Timestamp;
use serde_json::Value;
use tokio::time::{Instant, timeout_at};

use super::super::file;
use super::super::manifest::{BundleClusterEntry, BundleLogEntry, MissingBundlePart};
use super::StreamContext;
use super::files::{ListFile, ListWriter};
use crate::error::{FleetError, in_full};
use crate::kinds::ResourceKind;
use crate::pages::{self, ListError, ListQuery, cleaned};
use crate::redact::Redactor;
use crate::snapshot::{ClusterAccess, addressed, is_needed, kinds_of_destination};

/// Kinds of the hub that are read at the same time.
const HUB_KINDS_AT_ONCE: usize = 4;

/// A cluster while it is read.
pub(super) struct ClusterParts<'a> {
    pub(super) name: String,
    pub(super) role: SnapshotRole,
    pub(super) access: &'a ClusterAccess,
    pub(super) directory: String,
    /// Deadline for the objects.
    end: Instant,
    pub(super) objects: ListFile,
    pub(super) events: ListFile,
    /// Kinds that were asked for.
    pub(super) asked: Vec<ResourceKind>,
    kept: Vec<Value>,
    pub(super) unread: Vec<UnreadKind>,
    /// Objects that were asked for by name, and that the cluster doesn't have.
    pub(super) absent: Vec<AbsentObject>,
    pub(super) missing: Vec<MissingBundlePart>,
    pub(super) unreachable: Option<String>,
    pub(super) logs: Vec<BundleLogEntry>,
    pub(super) time: Option<Timestamp>,
}

/// A cluster's entries in the manifest.
pub(super) struct ClusterEntries {
    pub(super) entry: BundleClusterEntry,
    pub(super) logs: Vec<BundleLogEntry>,
    pub(super) missing: Vec<MissingBundlePart>,
}

/// Result of reading a kind.
struct KindOutcome {
    kind: ResourceKind,
    /// Objects that were read.
    read: usize,
    failure: Option<KindFailure>,
}

enum KindFailure {
    /// The list failed.
    List(FleetError),
    /// The kind wasn't asked for, or not to its end, for this reason.
    Stopped(String),
}

/// The objects' file and what is kept of the objects, shared by the kinds that are read at the same time.
struct Writing<'a> {
    writer: ListWriter,
    list: &'a mut ListFile,
    kept: &'a mut Vec<Value>,
}

/// Kinds to read from the hub.
pub(super) fn kinds_of_hub() -> Vec<ResourceKind> {
    addressed(diagnosis::HUB_KINDS).collect()
}

/// Kinds to read from a member.
pub(super) fn kinds_of_member(has_applications: bool) -> Vec<ResourceKind> {
    let destination = kinds_of_destination(SnapshotRole::Member, false).filter(|_| has_applications);
    addressed(diagnosis::MEMBER_KINDS).chain(destination).collect()
}

impl<'a> ClusterParts<'a> {
    pub(super) fn new(
        name: &str,
        role: SnapshotRole,
        access: &'a ClusterAccess,
        directory: String,
        end: Instant,
    ) -> Self {
        Self {
            name: name.to_owned(),
            role,
            access,
            end,
            objects: ListFile::new(&directory, file::OBJECTS_GZ),
            events: ListFile::new(&directory, file::EVENTS_GZ),
            directory,
            asked: Vec::new(),
            kept: Vec::new(),
            unread: Vec::new(),
            absent: Vec::new(),
            missing: Vec::new(),
            unreachable: None,
            logs: Vec::new(),
            time: None,
        }
    }

    /// Reads the objects of some kinds into the bundle.
    ///
    /// # Errors
    /// Returns an error if the bundle can't be written.
    pub(super) async fn read_objects(
        &mut self,
        context: &StreamContext<'_>,
        kinds: Vec<ResourceKind>,
    ) -> io::Result<()> {
        if self.unreachable.is_some() {
            return Ok(());
        }
        let (before, at_once) =
            (self.objects.count, if self.role == SnapshotRole::Hub { HUB_KINDS_AT_ONCE } else { 1 });
        let writer = context.files.list(&self.objects)?;
        let (list, kept) = (&mut self.objects, &mut self.kept);
        let writing = Mutex::new(Writing { writer, list, kept });
        let silence = OnceLock::new();
        let source = KindSource { name: &self.name, access: self.access, end: self.end, silence: &silence };
        let outcomes = kinds.iter().map(|kind| source.read(context, *kind, &writing));
        let outcomes: Vec<io::Result<KindOutcome>> = stream::iter(outcomes).buffered(at_once).collect().await;
        writing.into_inner().unwrap_or_else(PoisonError::into_inner).writer.finish()?;
        let outcomes: Vec<KindOutcome> = outcomes.into_iter().collect::<io::Result<_>>()?;
        self.asked.extend(kinds);
        self.judge(&outcomes, before).await;
        Ok(())
    }

    /// Notes what couldn't be read. `before` is the number of objects that were read before.
    async fn judge(&mut self, outcomes: &[KindOutcome], before: usize) {
        let failed: Vec<(ResourceKind, &FleetError)> = outcomes
            .iter()
            .filter_map(|outcome| match &outcome.failure {
                Some(KindFailure::List(error)) => Some((outcome.kind, error)),
                _ => None,
            })
            .collect();
        let reasons = pages::unread(&self.access.client, &failed);
        let reasons = timeout_at(self.end.max(Instant::now() + GRACE), reasons).await;
        let reasons =
            reasons.unwrap_or_else(|_| failed.iter().map(|(kind, error)| pages::of_error(*kind, error)).collect());
        let is_missing = |outcome: &KindOutcome| {
            let reason = reasons.iter().find(|reason| is_of(reason, outcome.kind));
            outcome.failure.is_some()
                && reason.is_none_or(|reason| matches!(reason.reason, UnreadReason::Forbidden | UnreadReason::Failed))
        };
        if before + outcomes.iter().map(|outcome| outcome.read).sum::<usize>() == 0
            && self.unread.is_empty()
            && !outcomes.is_empty()
            && outcomes.iter().all(is_missing)
            && let Some((_, error)) = failed.first()
        {
            self.unreachable = Some(in_full(*error));
            return;
        }
        for outcome in outcomes {
            let reason = match &outcome.failure {
                None => continue,
                Some(KindFailure::List(_)) => reasons.iter().find(|reason| is_of(reason, outcome.kind)).cloned(),
                Some(KindFailure::Stopped(why)) => Some(UnreadKind {
                    group: outcome.kind.group.to_owned(),
                    resource: outcome.kind.plural.to_owned(),
                    reason: UnreadReason::Failed,
                    message: why.clone(),
                }),
            };
            let Some(mut reason) = reason else { continue };
            if outcome.read > 0 {
                reason.message = format!("only the first {} were read: {}", outcome.read, reason.message);
            }
            if reason.may_have_objects() {
                self.missing.push(MissingBundlePart {
                    cluster: Some(self.name.clone()),
                    what: reason.resource.clone(),
                    why: reason.message.clone(),
                    needed: self.needs(outcome),
                });
            }
            self.unread.push(reason);
        }
    }

    /// True if a diagnosis leaves out findings without the objects of a kind that failed.
    fn needs(&self, outcome: &KindOutcome) -> bool {
        let is_of_hub = self.role == SnapshotRole::Hub && kinds_of_hub().contains(&outcome.kind);
        is_of_hub
            && match &outcome.failure {
                Some(KindFailure::List(error)) => is_needed(outcome.kind, error),
                Some(KindFailure::Stopped(_)) => true,
                None => false,
            }
    }

    /// Snapshot of the cluster with the objects that are kept.
    pub(super) fn snapshot(&self) -> ClusterSnapshot {
        ClusterSnapshot {
            server: self.access.server.clone(),
            time: self.time,
            unreachable: self.unreachable.clone(),
            unread: self.unread.clone(),
            ..ClusterSnapshot::new(self.name.clone(), self.role, self.kept.clone())
        }
    }

    /// Like [`Self::snapshot`]; the objects aren't kept any longer.
    pub(super) fn take_snapshot(&mut self) -> ClusterSnapshot {
        let snapshot = self.snapshot();
        self.kept = Vec::new();
        snapshot
    }

    /// Returns the cluster's entries in the manifest, without secrets.
    pub(super) fn into_entries(self, redactor: &Redactor) -> ClusterEntries {
        let text = |text: &str| redactor.text(text).into_owned();
        let unread = self.unread.into_iter().map(|kind| UnreadKind { message: text(&kind.message), ..kind });
        let missing = self.missing.into_iter().map(|part| MissingBundlePart { why: text(&part.why), ..part });
        let missing = missing.collect();
        let entry = BundleClusterEntry {
            name: self.name,
            role: self.role,
            server: self.access.server.as_deref().map(text),
            time: self.time,
            directory: self.directory,
            objects: self.objects.count,
            events: self.events.count,
            unreachable: self.unreachable.as_deref().map(text),
            unread: unread.collect(),
            absent: self.absent,
        };
        ClusterEntries { entry, logs: self.logs, missing }
    }
}

/// Time for the questions which kinds an API server serves, after the deadline of the objects.
const GRACE: std::time::Duration = std::time::Duration::from_secs(5);

fn is_of(reason: &UnreadKind, kind: ResourceKind) -> bool {
    reason.group == kind.group && reason.resource == kind.plural
}

/// A cluster whose kinds are read.
struct KindSource<'a> {
    name: &'a str,
    access: &'a ClusterAccess,
    end: Instant,
    /// Reason why the cluster isn't asked any more.
    silence: &'a OnceLock<String>,
}

impl KindSource<'_> {
    /// Reads the objects of a kind.
    async fn read(
        &self,
        context: &StreamContext<'_>,
        kind: ResourceKind,
        writing: &Mutex<Writing<'_>>,
    ) -> io::Result<KindOutcome> {
        let mut outcome = KindOutcome { kind, read: 0, failure: None };
        let query = ListQuery { page_size: context.limits.page_size, ..ListQuery::all_of(kind) };
        let mut pages = std::pin::pin!(pages::pages(self.name, &self.access.client, kind, &query, self.end));
        loop {
            if let Some(why) = self.silence.get() {
                outcome.failure = Some(KindFailure::Stopped(why.clone()));
                break;
            }
            if let Some(why) = context.full() {
                outcome.failure = Some(KindFailure::Stopped(why));
                break;
            }
            match pages.next().await {
                Some(Ok(page)) => {
                    outcome.read += page.len();
                    write(context, kind, page, writing)?;
                }
                Some(Err(error)) => {
                    context.note(&error);
                    if let Some(why) = silence(&error) {
                        // Another kind may have said it already.
                        let _ = self.silence.set(why);
                    }
                    outcome.failure = Some(KindFailure::List(error));
                    break;
                }
                None => break,
            }
        }
        Ok(outcome)
    }
}

/// Writes a page to the objects' file, without secrets.
fn write(
    context: &StreamContext<'_>,
    kind: ResourceKind,
    page: Vec<Value>,
    writing: &Mutex<Writing<'_>>,
) -> io::Result<()> {
    let mut writing = writing.lock().unwrap_or_else(PoisonError::into_inner);
    let Writing { writer, list, kept } = &mut *writing;
    for object in page {
        let object = cleaned(kind, object, &context.redactor);
        kept.extend(context.kept_objects.kept(kind, &object));
        writer.add(list, &object)?;
        context.progress.objects.fetch_add(1, Ordering::Relaxed);
    }
    Ok(())
}

/// Returns why a cluster that failed like this isn't asked for other kinds.
fn silence(error: &FleetError) -> Option<String> {
    match error {
        FleetError::List { source: source @ (ListError::Request(_) | ListError::Late { .. }), .. } => {
            Some(in_full(source))
        }
        _ => None,
    }
}
