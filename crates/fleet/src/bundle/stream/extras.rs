//! The rest of one cluster's part of a bundle: metadata of what holds deletions, events, logs, and the cluster's time.

use std::collections::BTreeSet;
use std::io;
use std::sync::atomic::Ordering;
use std::time::Duration;

use diagnosis::{PodLog, UnreadKind, UnreadReason, WantedLog, WantedMetadata};
use futures::StreamExt;
use http::header::DATE;
use jiff::Timestamp;
use jiff::fmt::rfc2822;
use k8s_openapi::api::core::v1::Pod;
use kube::Client;
use kube::api::{Api, ApiResource, DynamicObject, ListParams, LogParams};
use kube::client::Body;
use kube::discovery;
use serde_json::Value;
use tokio::time::{Instant, timeout, timeout_at};

use super::super::logs;
use super::super::manifest::MissingBundlePart;
use super::super::write::is_secret;
use super::StreamContext;
use super::cluster::ClusterParts;
use crate::error::in_full;
use crate::kinds::EVENT;
use crate::pages::{self, ListQuery, cleaned, cleaned_as};
use crate::redact::Redactor;

/// Lines that are kept of the log of a failed hook.
const LINES: i64 = 10;

/// Characters that are kept of it.
const CHARACTERS: usize = 4000;

/// Time limit for a kubelet's answer, and for the question what time it is.
const ANSWER_LIMIT: Duration = Duration::from_secs(5);

impl ClusterParts<'_> {
    /// Reads the rest, and ends the list of objects. `pods` is true if KubeFleet's agents run as pods.
    ///
    /// # Errors
    /// Returns an error if the bundle can't be written.
    pub(super) async fn read_extras(
        &mut self,
        context: &StreamContext<'_>,
        metadata: &[WantedMetadata],
        logs: &[WantedLog],
        end: Instant,
        pods: bool,
    ) -> io::Result<()> {
        if self.unreachable.is_some() {
            return self.objects.end(&context.files);
        }
        let objects = timeout_at(end, self.metadata(metadata, &context.redactor)).await.unwrap_or_default();
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
        self.time = time(&self.access.client).await;
        Ok(())
    }

    /// Reads the metadata of wanted objects, except of kinds that were listed anyway.
    async fn metadata(&self, wanted: &[WantedMetadata], redactor: &Redactor) -> Vec<Value> {
        let listed: BTreeSet<(&str, &str)> = self.asked.iter().map(|kind| (kind.group, kind.plural)).collect();
        let mut objects = Vec::new();
        for wanted in wanted.iter().filter(|wanted| wanted.cluster == self.name) {
            if !listed.contains(&(wanted.group.as_str(), wanted.resource.as_str())) {
                objects.extend(metadata(&self.access.client, wanted, redactor).await.unwrap_or_default());
            }
        }
        objects.retain(|object| !is_secret(diagnosis::Object::new(object)));
        objects
    }

    /// Reads the ends of the logs that a diagnosis quotes. One that can't be read is left out; a refusal is noted.
    async fn quoted_logs(&mut self, wanted: &[WantedLog], redactor: &Redactor) -> Vec<PodLog> {
        let (mut logs, mut refusal) = (Vec::new(), None);
        for log in wanted.iter().filter(|log| log.cluster == self.name) {
            let api: Api<Pod> = Api::namespaced(self.access.client.clone(), &log.namespace);
            let container = Some(log.container.clone());
            let asked = LogParams { container, tail_lines: Some(LINES), ..LogParams::default() };
            match timeout(ANSWER_LIMIT, api.logs(&log.pod, &asked)).await {
                Ok(Ok(text)) => {
                    let text = redactor.log(&text);
                    let from = text.char_indices().rev().take(CHARACTERS).last().map_or(0, |(at, _)| at);
                    let (namespace, pod) = (log.namespace.clone(), log.pod.clone());
                    let (container, text) = (log.container.clone(), text[from..].to_owned());
                    logs.push(PodLog { namespace, pod, container, text });
                }
                Ok(Err(kube::Error::Api(status))) if status.code == 403 => refusal = Some(status.message.clone()),
                Ok(Err(error)) => tracing::debug!(?log, %error, "no log"),
                Err(_) => tracing::debug!(?log, "no log: no answer within {} s", ANSWER_LIMIT.as_secs()),
            }
        }
        self.unread.extend(refusal.map(|message| UnreadKind {
            group: String::new(),
            resource: "pods/log".to_owned(),
            reason: UnreadReason::Forbidden,
            message,
        }));
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
        let read = logs::of_pods(&self.name, &self.access.client, &context.redactor);
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

async fn metadata(client: &Client, wanted: &WantedMetadata, redactor: &Redactor) -> Result<Vec<Value>, kube::Error> {
    let group = discovery::group(client, &wanted.group).await?;
    let resources = match &wanted.version {
        Some(version) => group.versioned_resources(version),
        None => group.recommended_resources(),
    };
    let mut resources = resources.into_iter().map(|(resource, _)| resource);
    let Some(resource): Option<ApiResource> = resources.find(|resource| resource.plural == wanted.resource) else {
        return Ok(Vec::new());
    };
    let api: Api<DynamicObject> = match &wanted.namespace {
        Some(namespace) => Api::namespaced_with(client.clone(), namespace, &resource),
        None => Api::all_with(client.clone(), &resource),
    };
    let items = match &wanted.name {
        Some(name) => api.get_metadata_opt(name).await?.into_iter().collect(),
        None => api.list_metadata(&ListParams::default()).await?.items,
    };
    let objects = items.into_iter().map(|item| {
        let object = DynamicObject { types: None, metadata: item.metadata, data: Value::Null };
        let object = serde_json::to_value(object).unwrap_or_default();
        cleaned_as(&resource.api_version, &resource.kind, object, redactor)
    });
    Ok(objects.collect())
}

/// Reads the time of a cluster's API server, in whole seconds. Every user may ask for the version.
async fn time(client: &Client) -> Option<Timestamp> {
    let request = http::Request::get("/version").body(Body::empty()).ok()?;
    let response = timeout(ANSWER_LIMIT, client.send(request)).await.ok()?.ok()?;
    let date = response.headers().get(DATE)?.to_str().ok()?;
    rfc2822::parse(date).ok().map(|zoned| zoned.timestamp())
}
