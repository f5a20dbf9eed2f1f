//! The rest of one cluster's part of a bundle: objects that rules want besides the listed kinds, events, logs, and the cluster's time.

use std::io;
use std::sync::atomic::Ordering;

use diagnosis::{PodLog, WantedLog, WantedObjects, WantedPart, WantedResource};
use futures::StreamExt;
use serde_json::Value;
use tokio::time::{Instant, timeout_at};

use super::super::logs;
use super::super::manifest::MissingBundlePart;
use super::super::write::is_secret;
use super::StreamContext;
use super::cluster::ClusterParts;
use crate::error::in_full;
use crate::kinds::EVENT;
use crate::member::SYSTEM;
use crate::pages::{self, ListQuery, cleaned};
use crate::redact::Redactor;
use crate::snapshot::wanted_objects::WantedObjectReader;
use crate::snapshot::{clock, logs as snapshot_logs};

impl ClusterParts<'_> {
    /// Reads the rest, and ends the list of objects. `pods` is true if KubeFleet's agents run as pods.
    ///
    /// # Errors
    /// Returns an error if the bundle can't be written.
    pub(super) async fn read_extras(
        &mut self,
        context: &StreamContext<'_>,
        wanted: &[WantedObjects],
        logs: &[WantedLog],
        end: Instant,
        pods: bool,
    ) -> io::Result<()> {
        if self.unreachable.is_some() {
            return self.objects.end(&context.files);
        }
        let objects = self.wanted(wanted, &context.redactor, end).await;
        if !objects.is_empty() {
            let mut writer = context.files.list(&self.objects)?;
            objects.iter().try_for_each(|object| writer.add(&mut self.objects, object))?;
            writer.finish()?;
        }
        self.objects.end(&context.files)?;
        let quoted = timeout_at(end, self.quoted_logs(logs, &context.redactor)).await.unwrap_or_default();
        if !quoted.is_empty() {
            context.files.pod_logs(&self.directory, &quoted)?;
        }
        self.events(context, end).await?;
        if pods {
            self.pod_logs(context, end).await?;
        }
        self.time = clock::time(&self.access.client).await;
        Ok(())
    }

    /// Reads wanted objects, except those of kinds that were listed anyway, and notes which ones the cluster doesn't have: whole objects are
    /// asked for by name for this, whether their kind was listed or not.
    async fn wanted(&mut self, wanted: &[WantedObjects], redactor: &Redactor, end: Instant) -> Vec<Value> {
        let is_listed = |wanted: &WantedObjects| {
            let mut of_group = self.asked.iter().filter(|kind| kind.group == wanted.group);
            match &wanted.resource {
                WantedResource::Plural(plural) => of_group.any(|kind| kind.plural == plural),
                WantedResource::Kind(name) => of_group.any(|kind| kind.kind == name),
            }
        };
        let wanted: Vec<&WantedObjects> = wanted
            .iter()
            .filter(|wanted| wanted.cluster == self.name)
            .filter(|wanted| wanted.part == WantedPart::Whole || !is_listed(wanted))
            .collect();
        let answers = WantedObjectReader { client: &self.access.client, redactor, end }.read(&wanted).await;
        let mut objects = Vec::new();
        let mut absent = Vec::new();
        for (wanted, answer) in wanted.into_iter().zip(answers) {
            absent.extend(answer.absent);
            if !is_listed(wanted) {
                objects.extend(answer.objects);
            }
        }
        self.absent = absent;
        objects.retain(|object| !is_secret(diagnosis::Object::new(object)));
        objects
    }

    /// Reads the ends of the logs that a diagnosis quotes. One that can't be read is left out; a refusal is noted.
    async fn quoted_logs(&mut self, wanted: &[WantedLog], redactor: &Redactor) -> Vec<PodLog> {
        let wanted = wanted.iter().filter(|log| log.cluster == self.name);
        let (logs, refusal) = snapshot_logs::ends(&self.access.client, wanted, redactor).await;
        self.unread.extend(refusal);
        logs
    }

    /// Streams the events into the bundle.
    async fn events(&mut self, context: &StreamContext<'_>, end: Instant) -> io::Result<()> {
        let query = ListQuery { page_size: context.limits.page_size, ..ListQuery::default() };
        let (name, access) = (self.name.clone(), self.access);
        let mut pages = std::pin::pin!(pages::pages(&name, &access.client, EVENT, &query, end));
        let mut writer = context.files.list(&self.events)?;
        let mut why = None;
        while why.is_none() {
            if let Some(full) = context.full() {
                why = Some(full);
                break;
            }
            match pages.next().await {
                None => break,
                Some(Ok(page)) => {
                    context.progress.events.fetch_add(page.len(), Ordering::Relaxed);
                    for event in page {
                        writer.add(&mut self.events, &cleaned(EVENT, event, &context.redactor))?;
                    }
                }
                Some(Err(error)) if error.status().is_some_and(|status| status.code == 404) => break,
                Some(Err(error)) => {
                    context.note(&error);
                    why = Some(in_full(&error));
                }
            }
        }
        writer.finish()?;
        self.events.end(&context.files)?;
        if let Some(why) = why {
            let read = self.events.count;
            let why = if read > 0 { format!("only the first {read} were read: {why}") } else { why };
            self.miss(EVENT.plural, why);
        }
        Ok(())
    }

    /// Reads the logs of KubeFleet's pods.
    async fn pod_logs(&mut self, context: &StreamContext<'_>, end: Instant) -> io::Result<()> {
        if let Some(full) = context.full() {
            self.miss("logs", full);
            return Ok(());
        }
        let read = logs::of_pods(&self.name, &[SYSTEM], &self.access.client, &context.redactor);
        let Ok((logs, missing)) = timeout_at(end, read).await else {
            self.miss("logs", "they didn't all arrive in time".to_owned());
            return Ok(());
        };
        self.missing.extend(missing);
        for log in logs {
            match context.full() {
                None => self.logs.push(context.files.log(&log)?),
                Some(full) => self.miss(&format!("the log of {}", log.process), full),
            }
        }
        Ok(())
    }

    fn miss(&mut self, what: &str, why: String) {
        let (cluster, what) = (Some(self.name.clone()), what.to_owned());
        self.missing.push(MissingBundlePart { cluster, what, why, needed: false });
    }
}
