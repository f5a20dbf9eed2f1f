//! `fleetdrill diagnose`.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use clusters::state_dir;
use diagnosis::Finding;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};

use super::open_fleet;
use super::progress::Progress;
use crate::cli::{Diagnose, Format};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::output::{data, findings};

pub(super) async fn diagnose(args: &Diagnose) -> Result<Exit, CommandError> {
    let wanted = args.object.as_deref().map(Wanted::parse).transpose()?;
    let progress = Progress::stderr();
    progress.say("reading the fleet");
    let (hub, members) = clients(args).await?;
    hub.check().await?;
    let members = members.into_iter().map(|(name, member)| (name, member.client)).collect();
    let snapshot = fleet::snapshot::take(&hub.client, &members).await?;
    progress.finish();
    for cluster in &snapshot.clusters {
        if let Some(why) = &cluster.unreachable {
            eprintln!("warning: {} can't be read, its side of things is left out: {why}", cluster.name);
        }
    }
    let mut found = diagnosis::diagnose(&snapshot);
    if let Some(wanted) = &wanted {
        if !snapshot.hub().is_some_and(|hub| hub.objects().any(|o| wanted.is(o.kind(), o.namespace(), o.name()))) {
            return Err(CommandError::Usage {
                message: format!("there is no {} on the hub", args.object.as_deref().unwrap_or_default()),
                hint: Some(
                    "name it as kubectl does, e.g. clusterresourceplacement/web or stagedupdaterun/apps/release-7"
                        .into(),
                ),
            });
        }
        found.retain(|f| wanted.concerns(f));
    }
    match args.output {
        Format::Text => anstream::print!("{}", findings::render(&found, 80)),
        format => data::print(format, &found),
    }
    Ok(if found.iter().any(Finding::is_failure) { Exit::Found } else { Exit::Fine })
}

async fn clients(args: &Diagnose) -> Result<(Reached, BTreeMap<String, Reached>), CommandError> {
    let from_contexts = args.kubeconfig.is_some() || args.hub.is_some() || !args.member.is_empty();
    let fleet = match &args.fleet {
        Some(name) => Some(name.clone()),
        None if from_contexts => None,
        None => match &state_dir::fleets()?[..] {
            [] => None,
            [one] => Some(one.clone()),
            several => {
                return Err(CommandError::Usage {
                    message: format!("several fleets are up: {}", several.join(", ")),
                    hint: Some("say which one with --fleet NAME, or use contexts with --hub CONTEXT".into()),
                });
            }
        },
    };
    let (kubeconfig, hub, members) = if let Some(name) = fleet {
        let fleet = open_fleet(&name).await?;
        let members = fleet.members().await.into_keys().map(|name| (name.clone(), name)).collect();
        (read(&fleet.kubeconfig_file())?, Some("hub"), members)
    } else {
        let kubeconfig = match &args.kubeconfig {
            Some(path) => read(path)?,
            None => Kubeconfig::read().map_err(|e| {
                let hint = "start a fleet (fleetdrill up), or name a kubeconfig: --kubeconfig FILE --hub CONTEXT";
                unusable(&format!("no fleet is up, and there is no usable kubeconfig: {e}"), Some(hint))
            })?,
        };
        (kubeconfig, args.hub.as_deref(), pairs(&args.member)?)
    };
    let hub = Reached::by(&kubeconfig, hub).await?;
    let mut reached = BTreeMap::new();
    for (name, context) in members {
        reached.insert(name, Reached::by(&kubeconfig, Some(&context)).await?);
    }
    Ok((hub, reached))
}

fn read(path: &Path) -> Result<Kubeconfig, CommandError> {
    let text = std::fs::read_to_string(path)
        .map_err(|e| unusable(&format!("failed to read the kubeconfig {}: {e}", path.display()), None))?;
    Kubeconfig::from_yaml(&text).map_err(|e| unusable(&format!("{} is no kubeconfig: {e}", path.display()), None))
}

fn pairs(members: &[String]) -> Result<Vec<(String, String)>, CommandError> {
    let pair = |member: &String| match member.split_once('=') {
        Some((name, context)) => Ok((name.to_owned(), context.to_owned())),
        None => {
            let hint = "write it as NAME=CONTEXT, e.g. --member east=aks-east";
            Err(unusable(&format!("`{member}` is no member"), Some(hint)))
        }
    };
    members.iter().map(pair).collect()
}

/// A cluster that can be asked.
struct Reached {
    client: Client,
    /// Its API server, e.g. `https://10.0.0.1:6443`.
    server: String,
}

impl Reached {
    /// By a context of a kubeconfig; the current one without a name.
    async fn by(kubeconfig: &Kubeconfig, context: Option<&str>) -> Result<Self, CommandError> {
        let contexts: Vec<&str> = kubeconfig.contexts.iter().map(|c| c.name.as_str()).collect();
        let context = match context.or(kubeconfig.current_context.as_deref().filter(|c| !c.is_empty())) {
            Some(context) if contexts.contains(&context) => context,
            _ if contexts.is_empty() => return Err(unusable("the kubeconfig has no contexts", None)),
            Some(context) => {
                let hint = format!("it has: {}", contexts.join(", "));
                return Err(unusable(&format!("the kubeconfig has no context `{context}`"), Some(&hint)));
            }
            None => {
                let hint = format!("say which one is the hub's with --hub CONTEXT; it has: {}", contexts.join(", "));
                return Err(unusable("the kubeconfig has no current context", Some(&hint)));
            }
        };
        let cannot =
            |why: String| unusable(&format!("failed to use context `{context}` of the kubeconfig: {why}"), None);
        let options = KubeConfigOptions { context: Some(context.to_owned()), ..KubeConfigOptions::default() };
        let mut config =
            Config::from_custom_kubeconfig(kubeconfig.clone(), &options).await.map_err(|e| cannot(e.to_string()))?;
        config.connect_timeout = Some(CONNECT_LIMIT);
        config.read_timeout = Some(ANSWER_LIMIT);
        let server = config.cluster_url.to_string().trim_end_matches('/').to_owned();
        let client = Client::try_from(config).map_err(|e| cannot(e.to_string()))?;
        Ok(Self { client, server })
    }

    /// Finds out whether it can be read and is a hub at all, before anything is concluded from what isn't there.
    async fn check(&self) -> Result<(), CommandError> {
        let request = http::Request::get("/apis/placement.kubernetes-fleet.io").body(Vec::new()).unwrap_or_default();
        let server = &self.server;
        let status = match self.client.request_text(request).await {
            Ok(_) => return Ok(()),
            Err(kube::Error::Api(status)) => status,
            Err(error) => {
                return Err(CommandError::Environment {
                    message: format!("the hub's API server {server} can't be reached: {}", in_full(&error)),
                    hint: Some(
                        "check that it runs, and that the context's address is right: kubectl cluster-info".into(),
                    ),
                });
            }
        };
        match status.code {
            404 => Err(unusable(
                &format!("{server} is no KubeFleet hub: it doesn't know placement.kubernetes-fleet.io"),
                Some("name the hub's context with --hub CONTEXT"),
            )),
            401 | 403 => Err(unusable(
                &format!("the hub's API server {server} refuses these credentials ({})", status.code),
                Some("diagnosing needs the right to list; check the context's user: kubectl auth whoami"),
            )),
            code => Err(CommandError::Environment {
                message: format!("the hub's API server {server} answers with an error ({code} {})", status.message),
                hint: None,
            }),
        }
    }
}

/// How long an API server may take until it takes a connection.
const CONNECT_LIMIT: Duration = Duration::from_secs(10);

/// How long the hub may take for the first and smallest answer, connecting included.
const CHECK_LIMIT: Duration = Duration::from_secs(12);

/// How long an API server may take for one answer. A large hub's lists take seconds.
const ANSWER_LIMIT: Duration = Duration::from_secs(30);

/// An error with all its causes on one line.
fn in_full(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let cause_text = cause.to_string();
        if !text.contains(&cause_text) {
            text = format!("{text}: {cause_text}");
        }
        source = cause.source();
    }
    text
}

fn unusable(message: &str, hint: Option<&str>) -> CommandError {
    CommandError::Usage { message: message.to_owned(), hint: hint.map(ToOwned::to_owned) }
}

/// One object that was asked for.
struct Wanted {
    kind: String,
    namespace: Option<String>,
    name: String,
}

impl Wanted {
    fn parse(text: &str) -> Result<Self, CommandError> {
        let parts: Vec<&str> = text.split('/').collect();
        let (kind, namespace, name) = match parts[..] {
            [kind, name] => (kind, None, name),
            [kind, namespace, name] => (kind, Some(namespace), name),
            _ => {
                let hint = "write it as KIND/NAME or KIND/NAMESPACE/NAME, e.g. csur/release-7";
                return Err(unusable(&format!("`{text}` is no object"), Some(hint)));
            }
        };
        Ok(Self { kind: full_kind(kind), namespace: namespace.map(ToOwned::to_owned), name: name.to_owned() })
    }

    fn is(&self, kind: &str, namespace: Option<&str>, name: &str) -> bool {
        let same_place = self.namespace.is_none() || self.namespace.as_deref() == namespace;
        kind.to_lowercase() == self.kind && same_place && name == self.name
    }

    fn concerns(&self, finding: &Finding) -> bool {
        let subject = &finding.subject;
        self.is(&subject.kind, subject.namespace.as_deref(), &subject.name)
            || finding.consequences.iter().any(|c| self.concerns(c))
    }
}

/// The kind in lower case, from a short name or a plural as kubectl takes them.
fn full_kind(kind: &str) -> String {
    let kind = kind.to_lowercase();
    let short = match kind.as_str() {
        "crp" => "clusterresourceplacement",
        "rp" => "resourceplacement",
        "csur" | "crsur" => "clusterstagedupdaterun",
        "sur" => "stagedupdaterun",
        "careq" => "clusterapprovalrequest",
        "areq" => "approvalrequest",
        "cluster" => "membercluster",
        other => other.strip_suffix('s').unwrap_or(other),
    };
    short.to_owned()
}

#[cfg(test)]
mod tests {
    use super::{Wanted, full_kind};

    #[test]
    fn objects_are_named_as_kubectl_does() {
        assert_eq!(full_kind("CRP"), "clusterresourceplacement");
        assert_eq!(full_kind("stagedupdateruns"), "stagedupdaterun");
        let wanted = Wanted::parse("sur/apps/release").ok().expect("an object");
        assert!(wanted.is("StagedUpdateRun", Some("apps"), "release"));
        assert!(!wanted.is("StagedUpdateRun", Some("other"), "release"));
        assert!(Wanted::parse("release").is_err());
    }
}
