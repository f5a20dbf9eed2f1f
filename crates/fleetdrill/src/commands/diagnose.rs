//! `fleetdrill diagnose`.

mod watch;

use std::collections::BTreeMap;
use std::io::IsTerminal as _;
use std::path::Path;
use std::time::Duration;

use diagnosis::{Diagnosis, Finding, KubectlAccess, Severity, Snapshot, Waiver};
use fleet::bundle::{LoadedBundle, SizeLimit};
use fleet::kinds::{self, ResourceKind};
use fleet::redact::Redactor;
use fleet::snapshot::{Focus, ReadCounter, ReadOptions, take_as_needed};
use jiff::civil::Date;
use record::{ObjectPath, Subject};
use report::finding::diagnosis_report::{DiagnosisReport, ObjectSource, ReadCounts};
use report::finding::text::Detail;
use report::finding::{html, markdown, prometheus};
use report::run::{prepare, write_atomically};
use report::stderr_line;
use report::text::style::OutputLayout;
use report::text::{clean_line, some_names};

use super::today;
use crate::cli::{DiagnoseArgs, DiagnoseFormat, FailOn, OutputFormat};
use crate::command_progress::CommandProgress;
use crate::config::ConfiguredWaiver;
use crate::config::waivers::counting_on;
use crate::error::CommandError;
use crate::exit::CommandExitCode;
use crate::fleet_source::{ReadableFleet, RequiredState};
use crate::output::data;

/// Unreachable clusters that have a warning each; more have one together.
const SINGLE_WARNINGS: usize = 3;

/// Snapshot to diagnose, with its origin.
struct DiagnosisInput {
    /// Name of the fleet, or the hub's context.
    fleet: String,
    source: ObjectSource,
    /// Kubeconfig contexts by cluster; empty for a bundle.
    contexts: BTreeMap<String, String>,
    /// Access to the clusters for the commands that findings print.
    access: KubectlAccess,
    snapshot: Snapshot,
    /// Number of requests and objects that were read, if they were counted.
    reads: Option<ReadCounts>,
}

pub(super) async fn diagnose(
    args: &DiagnoseArgs,
    waivers: &[ConfiguredWaiver],
) -> Result<CommandExitCode, CommandError> {
    let redactor = redactor(args, std::io::stdout().is_terminal())?;
    let wanted =
        args.object.as_deref().map(|object| RequestedObject::parse(object, args.namespace.as_deref())).transpose()?;
    if args.watch {
        return watch::watch(args, wanted.as_ref(), &redactor, waivers).await;
    }
    // A path that can't be written to is named before the fleet is read.
    args.html.as_deref().map(prepare).transpose()?;
    let DiagnosisInput { fleet, source, contexts, access, snapshot, reads } = match &args.from {
        Some(path) => saved(path, SizeLimit::of_mebibytes(args.from_limit))?,
        None => live(args, wanted.as_ref(), &redactor).await?,
    };
    warn_of_unreachable(&snapshot);
    let today = today();
    warn_of_expired(waivers, today);
    let found = examine(args, wanted.as_ref(), (&snapshot, &access), &counting_on(waivers, today))?;
    let report = DiagnosisReport::new((&fleet, source), &snapshot, &contexts, args.object.as_deref(), &found);
    let report = report.with_reads(reads);
    if let Some(path) = &args.html {
        write_atomically(path, html::render(&report)?.as_bytes())?;
    }
    match args.output {
        DiagnoseFormat::Text => data::print_text(&report.text(OutputLayout::from_locale().width, detail(args))),
        DiagnoseFormat::Markdown => data::print_text(&markdown::render(&report)),
        DiagnoseFormat::Prometheus => data::print_text(&prometheus::render(&report)),
        DiagnoseFormat::Json => data::print(OutputFormat::Json, &report),
        DiagnoseFormat::Yaml => data::print(OutputFormat::Yaml, &report),
    }
    Ok(exit(&args.fail_on, &found.findings, report.is_complete()))
}

/// Diagnoses a snapshot. What isn't about the requested object is left out.
fn examine(
    args: &DiagnoseArgs,
    wanted: Option<&RequestedObject>,
    (snapshot, access): (&Snapshot, &KubectlAccess),
    waivers: &[Waiver],
) -> Result<Diagnosis, CommandError> {
    let mut found = diagnosis::examine_with_waivers(snapshot, access, waivers);
    if let Some(wanted) = wanted {
        wanted.check(args, snapshot)?;
        found.findings.retain(|f| wanted.concerns(f));
        found.in_progress.retain(|state| wanted.is_subject(&state.subject));
    }
    Ok(found)
}

/// Prints to stderr which waivers have expired.
fn warn_of_expired(waivers: &[ConfiguredWaiver], today: Date) {
    for ConfiguredWaiver { waiver, place } in waivers.iter().filter(|configured| !configured.waiver.counts_on(today)) {
        let object = waiver.object.as_ref().map(|object| format!(" of {}", object.as_str())).unwrap_or_default();
        stderr_line!("warning: {place}: the waiver of {}{object} expired on {}", waiver.code, waiver.until);
    }
}

/// Prints to stderr which clusters couldn't be read. The report has them, too; but not everybody looks at all of it.
fn warn_of_unreachable(snapshot: &Snapshot) {
    let unreachable = snapshot.clusters.iter().filter_map(|cluster| Some((cluster, cluster.unreachable.as_ref()?)));
    let unreachable: Vec<_> = unreachable.map(|(cluster, why)| (clean_line(&cluster.name), clean_line(why))).collect();
    if unreachable.len() > SINGLE_WARNINGS {
        let names: Vec<&str> = unreachable.iter().map(|(name, _)| &**name).collect();
        let (count, some) = (names.len(), some_names(&names, SINGLE_WARNINGS));
        stderr_line!("warning: {count} clusters can't be read, their side of things is left out: {some}");
        return;
    }
    for (name, why) in unreachable {
        stderr_line!("warning: {name} can't be read, its side of things is left out: {why}");
    }
}

/// Returns the amount of text. Values of drifts are evidence, which the short form leaves out.
fn detail(args: &DiagnoseArgs) -> Detail {
    if args.verbose || args.show_values { Detail::Full } else { Detail::Short }
}

/// Returns the redactor for the snapshot. Values of drifts go to the person who asks for them, and nowhere else: they
/// may be secrets that can't be recognized, and a file or a ticket has more readers than a terminal.
fn redactor(args: &DiagnoseArgs, is_terminal: bool) -> Result<Redactor, CommandError> {
    if !args.show_values {
        return Ok(Redactor::default());
    }
    if args.output != DiagnoseFormat::Text {
        let hint = "leave out --output to see them on a terminal";
        return Err(CommandError::usage("--show-values prints values in text only", Some(hint)));
    }
    if !is_terminal {
        let hint = "run the command in a terminal, without a pipe and without a file for its output";
        return Err(CommandError::usage("--show-values prints values on a terminal only", Some(hint)));
    }
    Ok(Redactor::default().keeping_drift_values())
}

/// Returns the exit code. A finding counts more than objects that couldn't be read.
fn exit(fail_on: &[FailOn], found: &[Finding], is_complete: bool) -> CommandExitCode {
    if found.iter().flat_map(Finding::unwaived).any(|finding| is_failure(finding.severity, fail_on)) {
        CommandExitCode::Found
    } else if !is_complete && fail_on.contains(&FailOn::Incomplete) {
        CommandExitCode::Incomplete
    } else {
        CommandExitCode::Fine
    }
}

/// True if a finding of a severity fails the command.
fn is_failure(severity: Severity, fail_on: &[FailOn]) -> bool {
    match severity {
        Severity::Failure => fail_on.contains(&FailOn::Failure) || fail_on.contains(&FailOn::Notice),
        Severity::Notice => fail_on.contains(&FailOn::Notice),
    }
}

async fn live(
    args: &DiagnoseArgs,
    wanted: Option<&RequestedObject>,
    redactor: &Redactor,
) -> Result<DiagnosisInput, CommandError> {
    let reached = ReadableFleet::reach(&args.target, RequiredState::Whole).await?;
    let progress = CommandProgress::stderr();
    progress.wait_for("reading the fleet");
    reached.hub.check().await?;
    let (hub, members) = (reached.hub.asked(), reached.members());
    let (snapshot, reads) = if args.read_all {
        (fleet::snapshot::take_with(&hub, &members, redactor).await?, None)
    } else {
        let counter = ReadCounter::default();
        let (focus, limit) = (wanted.map(RequestedObject::focus), Duration::from_secs(args.timeout));
        let options = ReadOptions { redactor, focus: focus.as_ref(), limit, counter: &counter };
        let text = || Some(format!("reading the fleet: {} objects", counter.objects()));
        let snapshot = progress.follow(text, take_as_needed(&hub, &members, &options)).await?;
        (snapshot, Some(ReadCounts { requests: counter.requests(), objects: counter.objects() }))
    };
    let read = snapshot.clusters.iter().filter(|cluster| !cluster.read.is_nothing());
    let identities = reached.identities(read.map(|cluster| cluster.name.as_str())).await;
    progress.finish();
    reached.check_identities(&identities, &snapshot)?;
    Ok(DiagnosisInput {
        fleet: reached.name().to_owned(),
        source: ObjectSource::Live,
        contexts: reached.contexts(),
        access: reached.access(),
        snapshot,
        reads,
    })
}

/// Reads a bundle and prints its origin to stderr. Its texts are cleaned, because they come from somebody else.
fn saved(path: &Path, limit: SizeLimit) -> Result<DiagnosisInput, CommandError> {
    let saved = LoadedBundle::read(path, limit)?;
    saved.check()?;
    let manifest = &saved.manifest;
    stderr_line!("reading a bundle of fleet {}, taken at {:.0}", clean_line(&manifest.fleet), manifest.taken_at);
    if let Some(about) = &manifest.about {
        stderr_line!("it was taken for: {}", clean_line(about));
    }
    Ok(DiagnosisInput {
        fleet: manifest.fleet.clone(),
        source: ObjectSource::Bundle,
        contexts: BTreeMap::new(),
        access: KubectlAccess::unknown(),
        snapshot: saved.snapshot,
        reads: None,
    })
}

/// Kinds that can be diagnosed, each with kubectl's short names.
const DIAGNOSED: &[(ResourceKind, &[&str])] = &[
    (kinds::CLUSTER_RESOURCE_PLACEMENT, &["crp"]),
    (kinds::RESOURCE_PLACEMENT, &["rp"]),
    (kinds::CLUSTER_RUN, &["csur", "crsur"]),
    (kinds::RUN, &["sur"]),
    (kinds::CLUSTER_APPROVAL_REQUEST, &["careq"]),
    (kinds::APPROVAL_REQUEST, &["areq"]),
    (kinds::MEMBER_CLUSTER, &["cluster"]),
    (kinds::APPLICATION, &["app"]),
];

/// Requested object.
#[derive(Debug)]
struct RequestedObject {
    kind: ResourceKind,
    namespace: Option<String>,
    name: String,
}

impl RequestedObject {
    fn parse(text: &str, namespace: Option<&str>) -> Result<Self, CommandError> {
        let parts: Vec<&str> = text.split('/').collect();
        let (kind, within, name) = match parts[..] {
            [kind, name] => (kind, None, name),
            [kind, namespace, name] => (kind, Some(namespace), name),
            _ => {
                let hint = "write it as KIND/NAME or KIND/NAMESPACE/NAME, e.g. csur/release-7";
                return Err(CommandError::usage(format!("`{text}` is no object"), Some(hint)));
            }
        };
        if let (Some(within), Some(namespace)) = (within, namespace)
            && within != namespace
        {
            let message = format!("`{text}` is in namespace {within}, and -n says {namespace}");
            return Err(CommandError::usage(message, Some("leave one of them out")));
        }
        let Some(kind) = kind_of(kind) else {
            let diagnosed: Vec<String> =
                DIAGNOSED.iter().map(|(kind, short)| format!("{} ({})", kind.kind.to_lowercase(), short[0])).collect();
            let hint = format!("it diagnoses {}", diagnosed.join(", "));
            return Err(CommandError::usage(
                format!("fleetdrill doesn't diagnose objects of kind `{kind}`"),
                Some(&hint),
            ));
        };
        let namespace = within.or(namespace).map(ToOwned::to_owned);
        Ok(Self { kind, namespace, name: name.to_owned() })
    }

    /// Returns the object as the snapshot's reader needs it.
    fn focus(&self) -> Focus {
        Focus { kind: self.kind, namespace: self.namespace.clone(), name: self.name.clone() }
    }

    /// Checks that the object is on the hub.
    fn check(&self, args: &DiagnoseArgs, snapshot: &Snapshot) -> Result<(), CommandError> {
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
            return Err(CommandError::usage(message, Some(crate::hints::READER_HINT)));
        }
        let namespace = args.namespace.as_deref().map(|n| format!(" in namespace {n}")).unwrap_or_default();
        let hint = if self.kind == kinds::APPLICATION {
            "Argo CD's applications are looked for on the hub, in all namespaces"
        } else {
            "name it as kubectl does, e.g. clusterresourceplacement/web or stagedupdaterun/apps/release-7"
        };
        Err(CommandError::usage(format!("there is no {object}{namespace} on the hub"), Some(hint)))
    }

    fn is(&self, kind: &str, namespace: Option<&str>, name: &str) -> bool {
        let same_place = self.namespace.is_none() || self.namespace.as_deref() == namespace;
        kind == self.kind.kind && same_place && name == self.name
    }

    fn concerns(&self, finding: &Finding) -> bool {
        finding.subjects().any(|subject| self.is_subject(subject))
            || self.is_evidence_of(finding)
            || finding.consequences.iter().any(|c| self.concerns(c))
    }

    /// True if a subject is the requested object, or is about the member or on the member that was requested.
    fn is_subject(&self, subject: &Subject) -> bool {
        let is_on_member = subject.member.as_deref() == Some(&self.name) || subject.cluster == self.name;
        self.is(&subject.kind, subject.namespace.as_deref(), &subject.name)
            || (self.kind == kinds::MEMBER_CLUSTER && is_on_member)
    }

    /// True if the finding's evidence is about the requested approval request. The subject of such a finding is the
    /// run, never the request.
    fn is_evidence_of(&self, finding: &Finding) -> bool {
        let kind = self.kind.kind;
        [kinds::CLUSTER_APPROVAL_REQUEST.kind, kinds::APPROVAL_REQUEST.kind].contains(&kind)
            && finding.evidence.iter().any(|evidence| self.is_named(&evidence.object))
    }

    /// True if a path names the object.
    fn is_named(&self, object: &ObjectPath) -> bool {
        self.is(&object.kind, object.namespace.as_deref(), &object.name)
    }
}

/// Returns the kind for a kind's name, a short name or a plural, as in kubectl, with or without the group; `None` if
/// fleetdrill doesn't diagnose the kind.
fn kind_of(name: &str) -> Option<ResourceKind> {
    let name = name.to_lowercase();
    let (name, group) = name.split_once('.').map_or((name.as_str(), None), |(name, group)| (name, Some(group)));
    let known = DIAGNOSED.iter().find(|(kind, short)| {
        let same_name = kind.kind.to_lowercase() == name || kind.plural == name || short.contains(&name);
        same_name && group.is_none_or(|group| group == kind.group || group.ends_with(&format!(".{}", kind.group)))
    });
    known.map(|(kind, _)| *kind)
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;
    use diagnosis::{ClusterSnapshot, KubectlAccess, Snapshot, SnapshotRole};
    use fleet::bundle::{Bundle, LoadedBundle, SizeLimit};
    use fleet::kinds;
    use report::finding::diagnosis_report::{DiagnosisReport, ObjectSource};
    use report::finding::markdown;
    use report::finding::text::Detail;
    use report::run::fixture;
    use serde_json::{Value, json};

    use super::{DIAGNOSED, DiagnoseArgs, FailOn, RequestedObject, exit, kind_of, redactor};
    use crate::exit::CommandExitCode;

    #[derive(clap::Parser)]
    struct Command {
        #[command(flatten)]
        diagnose: DiagnoseArgs,
    }

    fn args(args: &[&str]) -> DiagnoseArgs {
        Command::try_parse_from(["diagnose"].iter().chain(args)).expect("arguments").diagnose
    }

    /// Placement with an object that has drifted, and messages that quote a password.
    fn drifted_placement() -> Value {
        let condition = |type_: &str, reason: &str| {
            json!({"type": type_, "status": "False", "reason": reason, "message": "refused with password: tulip",
                "observedGeneration": 1, "lastTransitionTime": "2026-01-08T11:00:00Z"})
        };
        let object =
            |field: &str, value: Value| json!({"version": "v1", "kind": "ConfigMap", "name": "settings", field: value});
        let drifts = json!([{"path": "/data/code", "valueInHub": "tulip", "valueInMember": "rose"},
            {"path": "/data/password", "valueInHub": "dahlia", "valueInMember": "dahlia"}]);
        json!({"apiVersion": "placement.kubernetes-fleet.io/v1beta1", "kind": "ClusterResourcePlacement",
            "metadata": {"name": "web", "generation": 1},
            "status": {"conditions": [condition("ClusterResourcePlacementApplied", "ApplyFailed")], "placementStatuses": [{
                "clusterName": "east", "conditions": [condition("Applied", "NotAllWorkHaveBeenApplied")],
                "failedPlacements": [object("condition", condition("Applied", "FoundDrifts"))],
                "driftedPlacements": [object("observedDrifts", drifts)]}]}})
    }

    fn snapshot(objects: Vec<Value>) -> Snapshot {
        let hub = ClusterSnapshot::new("hub", SnapshotRole::Hub, objects);
        Snapshot { taken_at: "2026-01-08T12:00:00Z".parse().expect("a time"), clusters: vec![hub] }
    }

    /// All outputs of a diagnosis: text, Markdown and JSON.
    fn outputs(snapshot: &Snapshot) -> [String; 3] {
        let found = diagnosis::examine(snapshot, &KubectlAccess::unknown());
        let contexts = std::collections::BTreeMap::new();
        let report = DiagnosisReport::new(("fleet", ObjectSource::Live), snapshot, &contexts, None, &found);
        [report.text(100, Detail::Full), markdown::render(&report), serde_json::to_string(&report).expect("JSON")]
    }

    #[test]
    fn drift_values_are_in_no_output_unless_a_person_at_a_terminal_asks() {
        let taken = |arguments: &[&str]| {
            let mut object = drifted_placement();
            redactor(&args(arguments), true).expect("a terminal").object(&mut object);
            outputs(&snapshot(vec![object]))
        };
        for output in taken(&[]) {
            assert!(!["tulip", "rose", "dahlia"].iter().any(|secret| output.contains(secret)), "{output}");
            assert!(output.contains("KF-AP-004") && output.contains("removed"), "{output}");
        }
        let [shown, ..] = taken(&["--show-values"]);
        assert!(shown.contains("on the hub tulip, on the member rose"), "{shown}");
        assert!(!shown.contains("password: tulip") && !shown.contains("dahlia"), "{shown}");
    }

    #[test]
    fn a_bundle_has_no_drift_values_whatever_its_snapshot_has() {
        let (dir, taken_from) = (tempfile::tempdir().expect("a directory"), snapshot(vec![drifted_placement()]));
        let path = dir.path().join("b");
        let bundle = Bundle {
            fleet: "f".into(),
            kubefleet: None,
            about: None,
            snapshot: taken_from,
            events: std::collections::BTreeMap::new(),
            logs: Vec::new(),
            missing: Vec::new(),
        };
        bundle.write(&path).expect("a bundle");
        let read = LoadedBundle::read(&path, SizeLimit::default()).expect("a bundle").snapshot;
        let outputs = outputs(&read).concat();
        assert!(!["tulip", "rose", "dahlia"].iter().any(|secret| outputs.contains(secret)), "{outputs}");
    }

    #[test]
    fn values_are_shown_on_a_terminal_and_as_text_only() {
        let refused = |arguments: &[&str], is_terminal: bool| {
            let error = redactor(&args(arguments), is_terminal).expect_err("refused");
            assert_eq!(error.exit(), CommandExitCode::Usage);
            error.to_string()
        };
        assert_eq!(refused(&["--show-values"], false), "--show-values prints values on a terminal only");
        for format in ["json", "yaml", "markdown"] {
            let message = "--show-values prints values in text only";
            assert_eq!(refused(&["--show-values", "-o", format], true), message, "{format}");
        }
        assert!(redactor(&args(&[]), false).is_ok());
        assert!(Command::try_parse_from(["diagnose", "--show-values", "--from", "bundle"]).is_err());
    }

    #[test]
    fn objects_are_named_as_kubectl_does() {
        assert_eq!(kind_of("CRP"), Some(kinds::CLUSTER_RESOURCE_PLACEMENT));
        assert_eq!(kind_of("stagedupdateruns"), Some(kinds::RUN));
        assert_eq!(kind_of("applications.argoproj.io"), Some(kinds::APPLICATION));
        assert_eq!(kind_of("stagedupdaterun.v1beta1.placement.kubernetes-fleet.io"), Some(kinds::RUN));
        assert_eq!(kind_of("applications.app.k8s.io"), None);
        let wanted = RequestedObject::parse("sur/apps/release", None).expect("an object");
        assert!(wanted.is("StagedUpdateRun", Some("apps"), "release"));
        assert!(!wanted.is("StagedUpdateRun", Some("other"), "release"));
        assert!(RequestedObject::parse("release", None).is_err());
        for namespace in [None, Some("argocd")] {
            let wanted = RequestedObject::parse("app/web", namespace).expect("an object");
            assert!(wanted.is("Application", Some("argocd"), "web"));
            assert_eq!(wanted.is("Application", Some("other"), "web"), namespace.is_none());
        }
        assert!(RequestedObject::parse("app/argocd/web", Some("argocd")).is_ok());
        assert!(RequestedObject::parse("app/argocd/web", Some("other")).is_err());
    }

    #[test]
    fn a_kind_that_is_not_diagnosed_is_refused_with_those_that_are() {
        for object in ["deploy/app", "ns/shop", "work/a/b"] {
            let error = RequestedObject::parse(object, None).expect_err("it isn't diagnosed");
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
        let concerns = |object: &str| RequestedObject::parse(object, None).expect("an object").concerns(&finding);
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
        let waived = [fixture::waived_finding()];
        let default = [FailOn::Failure, FailOn::Incomplete];
        for (fail_on, found, is_complete, expected) in [
            (&default[..], &[][..], true, CommandExitCode::Fine),
            (&default, &[], false, CommandExitCode::Incomplete),
            (&default, &notice, false, CommandExitCode::Incomplete),
            (&default, &notice, true, CommandExitCode::Fine),
            (&default, &failure, false, CommandExitCode::Found),
            (&[FailOn::Notice], &notice, true, CommandExitCode::Found),
            (&[FailOn::Notice], &failure, true, CommandExitCode::Found),
            (&[FailOn::Notice], &[], false, CommandExitCode::Fine),
            (&[FailOn::Failure], &[], false, CommandExitCode::Fine),
            (&[FailOn::Incomplete], &failure, false, CommandExitCode::Incomplete),
            (&[FailOn::Incomplete], &failure, true, CommandExitCode::Fine),
            (&[FailOn::Notice], &waived, true, CommandExitCode::Fine),
            (&default, &waived, false, CommandExitCode::Incomplete),
        ] {
            assert_eq!(exit(fail_on, found, is_complete), expected, "{fail_on:?} {is_complete}");
        }
    }
}
