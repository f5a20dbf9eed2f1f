//! `fleetdrill diagnose`.

use std::collections::BTreeMap;

use clusters::state_dir;
use diagnosis::Finding;
use fleet::Fleet;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};

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
    let snapshot = fleet::snapshot::take(&hub, &members).await?;
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
                hint: Some("name it as kubectl does, e.g. clusterresourceplacement/web or stagedupdaterun/apps/release-7".into()),
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

async fn clients(args: &Diagnose) -> Result<(Client, BTreeMap<String, Client>), CommandError> {
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
    if let Some(name) = fleet {
        let fleet = Fleet::open(&name).await?;
        let members = fleet.members().await.into_iter().map(|(name, m)| (name, m.cluster.client)).collect();
        return Ok((fleet.hub().client.clone(), members));
    }
    let kubeconfig = match &args.kubeconfig {
        Some(path) => Kubeconfig::read_from(path),
        None => Kubeconfig::read(),
    };
    let kubeconfig = kubeconfig.map_err(|e| unusable(&format!("failed to read the kubeconfig: {e}"), None))?;
    let hub = client(&kubeconfig, args.hub.as_deref()).await?;
    let mut members = BTreeMap::new();
    for member in &args.member {
        let (name, context) = member.split_once('=').ok_or_else(|| {
            unusable(&format!("`{member}` is no member"), Some("write it as NAME=CONTEXT, e.g. --member east=aks-east".into()))
        })?;
        members.insert(name.to_owned(), client(&kubeconfig, Some(context)).await?);
    }
    Ok((hub, members))
}

async fn client(kubeconfig: &Kubeconfig, context: Option<&str>) -> Result<Client, CommandError> {
    let contexts: Vec<&str> = kubeconfig.contexts.iter().map(|c| c.name.as_str()).collect();
    if let Some(context) = context.filter(|c| !contexts.contains(c)) {
        let hint = format!("it has: {}", contexts.join(", "));
        return Err(unusable(&format!("the kubeconfig has no context `{context}`"), Some(hint)));
    }
    let options = KubeConfigOptions { context: context.map(ToOwned::to_owned), ..KubeConfigOptions::default() };
    let config = Config::from_custom_kubeconfig(kubeconfig.clone(), &options).await;
    let config = config.map_err(|e| unusable(&format!("failed to use the kubeconfig: {e}"), None))?;
    Client::try_from(config).map_err(|e| unusable(&format!("failed to use the kubeconfig: {e}"), None))
}

fn unusable(message: &str, hint: Option<String>) -> CommandError {
    CommandError::Usage { message: message.to_owned(), hint }
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
                let hint = "write it as KIND/NAME or KIND/NAMESPACE/NAME, e.g. csur/release-7".to_owned();
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
