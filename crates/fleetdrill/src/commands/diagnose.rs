//! `fleetdrill diagnose`.

use std::path::Path;

use clusters::stderr_line;
use diagnosis::{Finding, Snapshot};
use fleet::bundle::Saved;

use super::progress::Progress;
use super::target::{self, Whole, unusable};
use crate::cli::{Diagnose, Format};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::output::style::WIDTH;
use crate::output::{data, findings};

pub(super) async fn diagnose(args: &Diagnose) -> Result<Exit, CommandError> {
    let wanted = args.object.as_deref().map(|object| Wanted::parse(object, args.namespace.as_deref())).transpose()?;
    let snapshot = match &args.from {
        Some(path) => saved(path)?,
        None => live(args).await?,
    };
    for cluster in &snapshot.clusters {
        if let Some(why) = &cluster.unreachable {
            stderr_line!("warning: {} can't be read, its side of things is left out: {why}", cluster.name);
        }
    }
    let mut found = diagnosis::diagnose(&snapshot);
    if let Some(wanted) = &wanted {
        if !snapshot.hub().is_some_and(|hub| hub.objects().any(|o| wanted.is(o.kind(), o.namespace(), o.name()))) {
            return Err(wanted.is_missing(args));
        }
        found.retain(|f| wanted.concerns(f));
    }
    match args.output {
        Format::Text => data::print_text(&findings::render(&found, WIDTH)),
        format => data::print(format, &found),
    }
    Ok(if found.iter().any(Finding::is_failure) { Exit::Found } else { Exit::Fine })
}

async fn live(args: &Diagnose) -> Result<Snapshot, CommandError> {
    let progress = Progress::stderr();
    progress.say("reading the fleet");
    let reached = target::reach(&args.target, Whole::Required).await?;
    reached.hub.check().await?;
    let snapshot = fleet::snapshot::take(&reached.hub.asked(), &reached.members()).await?;
    progress.finish();
    Ok(snapshot)
}

/// What a bundle has, and on stderr what it is.
fn saved(path: &Path) -> Result<Snapshot, CommandError> {
    let saved = Saved::read(path)?;
    saved.check()?;
    let manifest = &saved.manifest;
    stderr_line!("reading a bundle of fleet {}, taken at {:.0}", manifest.fleet, manifest.taken_at);
    if let Some(about) = &manifest.about {
        stderr_line!("it was taken for: {about}");
    }
    Ok(saved.snapshot)
}

/// One object that was asked for.
struct Wanted {
    kind: String,
    namespace: Option<String>,
    name: String,
}

impl Wanted {
    fn parse(text: &str, namespace: Option<&str>) -> Result<Self, CommandError> {
        let parts: Vec<&str> = text.split('/').collect();
        let (kind, within, name) = match parts[..] {
            [kind, name] => (kind, None, name),
            [kind, namespace, name] => (kind, Some(namespace), name),
            _ => {
                let hint = "write it as KIND/NAME or KIND/NAMESPACE/NAME, e.g. csur/release-7";
                return Err(unusable(&format!("`{text}` is no object"), Some(hint)));
            }
        };
        if let (Some(within), Some(namespace)) = (within, namespace)
            && within != namespace
        {
            let message = format!("`{text}` is in namespace {within}, and -n says {namespace}");
            return Err(unusable(&message, Some("leave one of them out")));
        }
        let namespace = within.or(namespace).map(ToOwned::to_owned);
        Ok(Self { kind: full_kind(kind), namespace, name: name.to_owned() })
    }

    fn is_missing(&self, args: &Diagnose) -> CommandError {
        let namespace = args.namespace.as_deref().map(|n| format!(" in namespace {n}")).unwrap_or_default();
        let hint = if self.kind == "application" {
            "Argo CD's applications are looked for on the hub, in all namespaces; their kubeconfig's user must be allowed to list them"
        } else {
            "name it as kubectl does, e.g. clusterresourceplacement/web or stagedupdaterun/apps/release-7"
        };
        CommandError::Usage {
            message: format!("there is no {}{namespace} on the hub", args.object.as_deref().unwrap_or_default()),
            hint: Some(hint.into()),
        }
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

/// The kind in lower case, from a short name or a plural as kubectl takes them, with or without its group.
fn full_kind(kind: &str) -> String {
    let kind = kind.to_lowercase();
    let short = match kind.split('.').next().unwrap_or_default() {
        "crp" => "clusterresourceplacement",
        "rp" => "resourceplacement",
        "csur" | "crsur" => "clusterstagedupdaterun",
        "sur" => "stagedupdaterun",
        "careq" => "clusterapprovalrequest",
        "areq" => "approvalrequest",
        "cluster" => "membercluster",
        "app" => "application",
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
        assert_eq!(full_kind("applications.argoproj.io"), "application");
        let wanted = Wanted::parse("sur/apps/release", None).expect("an object");
        assert!(wanted.is("StagedUpdateRun", Some("apps"), "release"));
        assert!(!wanted.is("StagedUpdateRun", Some("other"), "release"));
        assert!(Wanted::parse("release", None).is_err());
        for namespace in [None, Some("argocd")] {
            let wanted = Wanted::parse("app/web", namespace).expect("an object");
            assert!(wanted.is("Application", Some("argocd"), "web"));
            assert_eq!(wanted.is("Application", Some("other"), "web"), namespace.is_none());
        }
        assert!(Wanted::parse("app/argocd/web", Some("argocd")).is_ok());
        assert!(Wanted::parse("app/argocd/web", Some("other")).is_err());
    }
}
