//! `fleetdrill diagnose`.

use std::collections::BTreeMap;
use std::path::Path;

use clusters::stderr_line;
use diagnosis::{Access, Finding, Severity, Snapshot};
use fleet::bundle::{Saved, SizeLimit};
use fleet::kinds::{self, Kind};

use super::progress::Progress;
use super::target::{self, Whole, unusable};
use crate::cli::{Diagnose, DiagnoseFormat, FailOn, Format};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::output::diagnosis::{DiagnosisReport, ObjectSource};
use crate::output::style::Look;
use crate::output::{clean_line, data, markdown};

/// What there is to diagnose.
struct Objects {
    /// The fleet's name, or the hub's context.
    fleet: String,
    source: ObjectSource,
    /// By cluster; none of a bundle.
    contexts: BTreeMap<String, String>,
    /// For the commands of findings.
    access: Access,
    snapshot: Snapshot,
}

pub(super) async fn diagnose(args: &Diagnose) -> Result<Exit, CommandError> {
    let wanted = args.object.as_deref().map(|object| Wanted::parse(object, args.namespace.as_deref())).transpose()?;
    let Objects { fleet, source, contexts, access, snapshot } = match &args.from {
        Some(path) => saved(path, SizeLimit::of_mebibytes(args.from_limit))?,
        None => live(args).await?,
    };
    for cluster in &snapshot.clusters {
        if let Some(why) = &cluster.unreachable {
            let (name, why) = (clean_line(&cluster.name), clean_line(why));
            stderr_line!("warning: {name} can't be read, its side of things is left out: {why}");
        }
    }
    let mut found = diagnosis::diagnose_with(&snapshot, &access);
    if let Some(wanted) = &wanted {
        wanted.check(args, &snapshot)?;
        found.retain(|f| wanted.concerns(f));
    }
    let report = DiagnosisReport::new((&fleet, source), &snapshot, &contexts, args.object.as_deref(), &found);
    match args.output {
        DiagnoseFormat::Text => data::print_text(&report.text(Look::from_locale().width)),
        DiagnoseFormat::Markdown => data::print_text(&markdown::render(&report)),
        DiagnoseFormat::Json => data::print(Format::Json, &report),
        DiagnoseFormat::Yaml => data::print(Format::Yaml, &report),
    }
    Ok(exit(&args.fail_on, &found, report.is_complete()))
}

/// What ends the command. A finding weighs more than what couldn't be read.
fn exit(fail_on: &[FailOn], found: &[Finding], is_complete: bool) -> Exit {
    let severities = || found.iter().flat_map(Finding::flatten).map(|finding| finding.severity);
    let fails = |severity: Severity| match severity {
        Severity::Failure => fail_on.contains(&FailOn::Failure) || fail_on.contains(&FailOn::Notice),
        Severity::Notice => fail_on.contains(&FailOn::Notice),
    };
    if severities().any(fails) {
        Exit::Found
    } else if !is_complete && fail_on.contains(&FailOn::Incomplete) {
        Exit::Incomplete
    } else {
        Exit::Fine
    }
}

async fn live(args: &Diagnose) -> Result<Objects, CommandError> {
    let reached = target::reach(&args.target, Whole::Required).await?;
    let progress = Progress::stderr();
    progress.wait_for("reading the fleet");
    reached.hub.check().await?;
    let (hub, members) = (reached.hub.asked(), reached.members());
    let (snapshot, identities) = futures::join!(fleet::snapshot::take(&hub, &members), reached.identities());
    progress.finish();
    let snapshot = snapshot?;
    reached.check_identities(&identities, &snapshot)?;
    Ok(Objects {
        fleet: reached.name().to_owned(),
        source: ObjectSource::Live,
        contexts: reached.contexts(),
        access: reached.access(),
        snapshot,
    })
}

/// What a bundle has, and on stderr what it is. Its texts are somebody else's.
fn saved(path: &Path, limit: SizeLimit) -> Result<Objects, CommandError> {
    let saved = Saved::read(path, limit)?;
    saved.check()?;
    let manifest = &saved.manifest;
    stderr_line!("reading a bundle of fleet {}, taken at {:.0}", clean_line(&manifest.fleet), manifest.taken_at);
    if let Some(about) = &manifest.about {
        stderr_line!("it was taken for: {}", clean_line(about));
    }
    Ok(Objects {
        fleet: manifest.fleet.clone(),
        source: ObjectSource::Bundle,
        contexts: BTreeMap::new(),
        access: Access::unknown(),
        snapshot: saved.snapshot,
    })
}

/// The kinds that can be diagnosed, each with kubectl's short names.
const DIAGNOSED: &[(Kind, &[&str])] = &[
    (kinds::CLUSTER_RESOURCE_PLACEMENT, &["crp"]),
    (kinds::RESOURCE_PLACEMENT, &["rp"]),
    (kinds::CLUSTER_RUN, &["csur", "crsur"]),
    (kinds::RUN, &["sur"]),
    (kinds::CLUSTER_APPROVAL_REQUEST, &["careq"]),
    (kinds::APPROVAL_REQUEST, &["areq"]),
    (kinds::MEMBER_CLUSTER, &["cluster"]),
    (kinds::APPLICATION, &["app"]),
];

/// One object that was asked for.
#[derive(Debug)]
struct Wanted {
    kind: Kind,
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
        let Some(kind) = kind_of(kind) else {
            let diagnosed: Vec<String> =
                DIAGNOSED.iter().map(|(kind, short)| format!("{} ({})", kind.kind.to_lowercase(), short[0])).collect();
            let hint = format!("it diagnoses {}", diagnosed.join(", "));
            return Err(unusable(&format!("fleetdrill doesn't diagnose objects of kind `{kind}`"), Some(&hint)));
        };
        let namespace = within.or(namespace).map(ToOwned::to_owned);
        Ok(Self { kind, namespace, name: name.to_owned() })
    }

    /// Sees that the object is on the hub.
    fn check(&self, args: &Diagnose, snapshot: &Snapshot) -> Result<(), CommandError> {
        let Some(hub) = snapshot.hub() else { return Ok(()) };
        if hub
            .of_kind(self.kind.group, self.kind.kind)
            .any(|object| self.is(object.kind(), object.namespace(), object.name()))
        {
            return Ok(());
        }
        let object = args.object.as_deref().unwrap_or_default();
        let unread =
            hub.unread.iter().find(|unread| unread.group == self.kind.group && unread.resource == self.kind.plural);
        if let Some(unread) = unread.filter(|unread| unread.may_have_objects()) {
            let message =
                format!("whether there is {object} on the hub isn't known: {} weren't read", unread.full_name());
            return Err(unusable(&message, Some(fleet::error::READER_HINT)));
        }
        let namespace = args.namespace.as_deref().map(|n| format!(" in namespace {n}")).unwrap_or_default();
        let hint = if self.kind == kinds::APPLICATION {
            "Argo CD's applications are looked for on the hub, in all namespaces"
        } else {
            "name it as kubectl does, e.g. clusterresourceplacement/web or stagedupdaterun/apps/release-7"
        };
        Err(unusable(&format!("there is no {object}{namespace} on the hub"), Some(hint)))
    }

    fn is(&self, kind: &str, namespace: Option<&str>, name: &str) -> bool {
        let same_place = self.namespace.is_none() || self.namespace.as_deref() == namespace;
        kind == self.kind.kind && same_place && name == self.name
    }

    fn concerns(&self, finding: &Finding) -> bool {
        let subject = &finding.subject;
        self.is(&subject.kind, subject.namespace.as_deref(), &subject.name)
            || self.is_member_of(finding)
            || self.is_evidence_of(finding)
            || finding.consequences.iter().any(|c| self.concerns(c))
    }

    /// Whether a member was asked for that the finding is about, or that has the finding's object.
    fn is_member_of(&self, finding: &Finding) -> bool {
        let subject = &finding.subject;
        self.kind == kinds::MEMBER_CLUSTER
            && (subject.member.as_deref() == Some(&self.name) || subject.cluster == self.name)
    }

    /// Whether an approval request was asked for that the finding quotes: a finding's subject is the run, never the request.
    fn is_evidence_of(&self, finding: &Finding) -> bool {
        let kind = self.kind.kind;
        let names = |object: &str| match object.split('/').collect::<Vec<_>>()[..] {
            [of, name] => self.is(of, None, name),
            [of, namespace, name] => self.is(of, Some(namespace), name),
            _ => false,
        };
        [kinds::CLUSTER_APPROVAL_REQUEST.kind, kinds::APPROVAL_REQUEST.kind].contains(&kind)
            && finding.evidence.iter().any(|evidence| names(&evidence.object))
    }
}

/// The kind of a name, a short name or a plural as kubectl takes them, with or without the group; none of a kind that isn't
/// diagnosed.
fn kind_of(name: &str) -> Option<Kind> {
    let name = name.to_lowercase();
    let (name, group) = name.split_once('.').map_or((name.as_str(), None), |(name, group)| (name, Some(group)));
    let is = |kind: &Kind, short: &[&str]| {
        let same_name = kind.kind.to_lowercase() == name || kind.plural == name || short.contains(&name);
        same_name && group.is_none_or(|group| group == kind.group || group.ends_with(&format!(".{}", kind.group)))
    };
    DIAGNOSED.iter().find(|(kind, short)| is(kind, short)).map(|(kind, _)| *kind)
}

#[cfg(test)]
mod tests {
    use fleet::kinds;

    use super::{DIAGNOSED, FailOn, Wanted, exit, kind_of};
    use crate::exit::Exit;
    use crate::reporter::fixture;

    #[test]
    fn objects_are_named_as_kubectl_does() {
        assert_eq!(kind_of("CRP"), Some(kinds::CLUSTER_RESOURCE_PLACEMENT));
        assert_eq!(kind_of("stagedupdateruns"), Some(kinds::RUN));
        assert_eq!(kind_of("applications.argoproj.io"), Some(kinds::APPLICATION));
        assert_eq!(kind_of("stagedupdaterun.v1beta1.placement.kubernetes-fleet.io"), Some(kinds::RUN));
        assert_eq!(kind_of("applications.app.k8s.io"), None);
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

    #[test]
    fn a_kind_that_is_not_diagnosed_is_refused_with_those_that_are() {
        for object in ["deploy/app", "ns/shop", "work/a/b"] {
            let error = Wanted::parse(object, None).expect_err("it isn't diagnosed");
            let kind = object.split('/').next().expect("a kind");
            assert_eq!(error.to_string(), format!("fleetdrill doesn't diagnose objects of kind `{kind}`"));
            let hint = error.hint().expect("a hint");
            assert!(DIAGNOSED.iter().all(|(kind, _)| hint.contains(&kind.kind.to_lowercase())), "{hint}");
        }
    }

    #[test]
    fn a_member_has_the_findings_about_it() {
        let mut finding = fixture::member_namespace_finding();
        finding.consequences.clear();
        finding.subject.member = Some("east".into());
        let concerns = |object: &str| Wanted::parse(object, None).expect("an object").concerns(&finding);
        assert!(concerns("membercluster/east"));
        assert!(!concerns("membercluster/west"));
        assert!(!concerns("crp/east"));
    }

    #[test]
    fn a_finding_weighs_more_than_what_could_not_be_read() {
        let failure = [fixture::member_namespace_finding()];
        let mut notice = failure.clone();
        notice[0].severity = diagnosis::Severity::Notice;
        notice[0].consequences.clear();
        let default = [FailOn::Failure, FailOn::Incomplete];
        for (fail_on, found, is_complete, expected) in [
            (&default[..], &[][..], true, Exit::Fine),
            (&default, &[], false, Exit::Incomplete),
            (&default, &notice, false, Exit::Incomplete),
            (&default, &notice, true, Exit::Fine),
            (&default, &failure, false, Exit::Found),
            (&[FailOn::Notice], &notice, true, Exit::Found),
            (&[FailOn::Notice], &failure, true, Exit::Found),
            (&[FailOn::Notice], &[], false, Exit::Fine),
            (&[FailOn::Failure], &[], false, Exit::Fine),
            (&[FailOn::Incomplete], &failure, false, Exit::Incomplete),
            (&[FailOn::Incomplete], &failure, true, Exit::Fine),
        ] {
            assert_eq!(exit(fail_on, found, is_complete), expected, "{fail_on:?} {is_complete}");
        }
    }
}
