//! Statements of the guides, from `guides/*.yaml`.

use std::sync::LazyLock;

use fleet::capability::{Capabilities, Capability};
use include_dir::{Dir, include_dir};
use record::{ConditionPlace, Product};
use serde::{Deserialize, Serialize};

use super::message::MessageTemplate;
use crate::capability_needs::CapabilityNeeds;

/// Files of the guides.
static FILES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../guides");

/// Guide with all its checkable statements.
#[derive(Clone, Debug)]
pub struct TroubleshootingGuide {
    /// Short name of the guide and stem of its file: `work-synchronized`.
    pub name: String,
    /// Title of the guide.
    pub title: String,
    /// Address of the published guide.
    pub url: String,
    /// Product that the guide is about.
    pub product: Product,
    /// Statements in the guide's order.
    pub statements: Vec<Statement>,
}

/// Sentence of a guide, or condition in its example.
#[derive(Clone, Debug)]
pub struct Statement {
    /// Id: `GUIDE/CASE/STATEMENT`, followed by `/cluster` or `/namespaced` if the statement is about one scope only.
    pub id: String,
    /// Product that the guide is about.
    pub product: Product,
    /// Heading of the guide's section.
    pub section: String,
    /// Scope of the kinds that the statement is about; `None` if the scope makes no difference.
    pub scope: Option<StatementScope>,
    /// Claim of the statement.
    pub claim: StatementClaim,
    /// Capabilities that a version needs so that the statement applies.
    pub needs: CapabilityNeeds,
    /// Reason why the statement can't apply to other versions.
    pub because: Option<String>,
    /// Note for readers, where the statement differs.
    pub note: Option<String>,
}

/// Claim of a statement, in a form that can be checked.
#[derive(Clone, Debug)]
pub enum StatementClaim {
    /// A condition is seen.
    Condition {
        /// Kind of thing that has the condition.
        of: ConditionOwner,
        /// Type of the condition as in the object.
        condition: String,
        /// `True`, `False` or `Unknown`.
        status: String,
        /// Reason of the condition, if the guide names it.
        reason: Option<String>,
        /// Message of the condition, if the guide quotes it.
        message: Option<MessageTemplate>,
    },
    /// Another behaviour: commands for looking, durations, remedies. The steps of a scenario assert it.
    Behaviour {
        /// Text of the guide.
        says: String,
        /// Description of what a scenario has to show.
        check: String,
        /// Description of the real behaviour, on the versions for which scenarios show that it differs.
        instead: Option<String>,
    },
}

/// Scope of the kinds that a statement is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StatementScope {
    /// ClusterResourcePlacement, ClusterStagedUpdateRun and so on.
    Cluster,
    /// ResourcePlacement, StagedUpdateRun and so on.
    Namespaced,
}

impl StatementScope {
    /// Returns the scope as written in ids.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Cluster => "cluster",
            Self::Namespaced => "namespaced",
        }
    }
}

/// Kind of thing that has a condition: an object or a part of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ConditionOwner {
    /// A placement itself. Its condition types begin with its kind.
    Placement,
    /// Cluster of a placement.
    Member,
    /// A resource among a placement's `failedPlacements`.
    FailedResource,
    /// A run itself.
    Run,
    /// A stage of a run.
    Stage,
    /// A cluster in a stage of a run.
    StageMember,
    /// A placement's binding for a cluster.
    Binding,
    /// A placement's policy snapshot.
    PolicySnapshot,
    /// A Work of a placement for a cluster.
    Work,
    /// A manifest of a Work: `status.manifestConditions[]`.
    Manifest,
    /// An eviction of a cluster-scoped placement; there is no other kind.
    Eviction,
    /// A request for a stage's approval.
    ApprovalRequest,
    /// An Argo CD Application: its conditions, and `sync`, `health` and `operation` with a status or phase.
    Application,
    /// A resource in the result of an Application's last sync: `result`, with its status and, as its reason, its
    /// hookPhase.
    Resource,
}

impl ConditionOwner {
    /// Returns the object's kind. Without a scope it is `None`, unless the scope makes no difference.
    #[must_use]
    pub fn kind(self, scope: Option<StatementScope>) -> Option<&'static str> {
        let (cluster, namespaced) = match self {
            Self::Placement | Self::Member | Self::FailedResource => ("ClusterResourcePlacement", "ResourcePlacement"),
            Self::Run | Self::Stage | Self::StageMember => ("ClusterStagedUpdateRun", "StagedUpdateRun"),
            Self::Binding => ("ClusterResourceBinding", "ResourceBinding"),
            Self::PolicySnapshot => ("ClusterSchedulingPolicySnapshot", "SchedulingPolicySnapshot"),
            Self::ApprovalRequest => ("ClusterApprovalRequest", "ApprovalRequest"),
            Self::Work | Self::Manifest => return Some("Work"),
            Self::Eviction => return Some("ClusterResourcePlacementEviction"),
            Self::Application | Self::Resource => return Some("Application"),
        };
        match scope? {
            StatementScope::Cluster => Some(cluster),
            StatementScope::Namespaced => Some(namespaced),
        }
    }

    /// Returns a description of the place in the object, for people.
    #[must_use]
    pub fn place(self) -> &'static str {
        match self {
            Self::Placement
            | Self::Run
            | Self::Binding
            | Self::PolicySnapshot
            | Self::Work
            | Self::ApprovalRequest
            | Self::Eviction
            | Self::Application => "",
            Self::Manifest => ", a manifest",
            Self::Resource => ", a resource of its sync",
            Self::Member => " on a cluster",
            Self::FailedResource => ", a failed placement",
            Self::Stage => ", a stage",
            Self::StageMember => ", a cluster in a stage",
        }
    }

    /// True for the places in an object that the statement is about.
    pub(super) fn is(self, place: &ConditionPlace) -> bool {
        match self {
            Self::Placement
            | Self::Run
            | Self::Binding
            | Self::PolicySnapshot
            | Self::Work
            | Self::ApprovalRequest
            | Self::Eviction
            | Self::Application => place.is_object(),
            Self::Manifest => matches!(place, ConditionPlace::Manifest { .. }),
            Self::Resource => matches!(place, ConditionPlace::SyncResult { .. }),
            Self::Member => matches!(place, ConditionPlace::Member { .. }),
            Self::FailedResource => matches!(place, ConditionPlace::FailedPlacement { .. }),
            Self::Stage => matches!(place, ConditionPlace::Stage { .. }),
            Self::StageMember => matches!(place, ConditionPlace::StageMember { .. }),
        }
    }
}

impl Statement {
    /// Returns the guide's short name.
    #[must_use]
    pub fn guide(&self) -> &str {
        self.id.split('/').next().unwrap_or_default()
    }

    /// Returns the text of the guide, with the names of its example.
    #[must_use]
    pub fn says(&self) -> String {
        match &self.claim {
            StatementClaim::Behaviour { says, .. } => says.clone(),
            StatementClaim::Condition { message, .. } => {
                let message = message.as_ref().map(|m| format!(": {}", m.verbatim())).unwrap_or_default();
                format!("{}{message}", self.state())
            }
        }
    }

    /// Returns type, status and reason of a condition, e.g. `Succeeded False UpdateRunFailed`; empty for a behaviour.
    #[must_use]
    pub fn state(&self) -> String {
        let StatementClaim::Condition { condition, status, reason, .. } = &self.claim else { return String::new() };
        format!("{condition} {status} {}", reason.as_deref().unwrap_or_default()).trim_end().to_owned()
    }

    /// Returns a description of the object that has the condition, e.g. `ResourcePlacement on a cluster`; empty for a
    /// behaviour.
    #[must_use]
    pub fn object(&self) -> String {
        match &self.claim {
            StatementClaim::Condition { of, .. } => {
                format!("{}{}", of.kind(self.scope).unwrap_or_default(), of.place())
            }
            StatementClaim::Behaviour { .. } => String::new(),
        }
    }

    /// True if the statement can apply to a version of KubeFleet with these capabilities. Always true for other
    /// products.
    #[must_use]
    pub fn applies_to(&self, kubefleet: &Capabilities) -> bool {
        let in_scope =
            self.scope != Some(StatementScope::Namespaced) || kubefleet.can(Capability::NamespacedPlacements);
        self.product != Product::KubeFleet || (in_scope && self.needs.admits(kubefleet))
    }
}

/// Returns all guides, ordered by name.
///
/// # Panics
/// Never in a build that passed its tests: the files are part of the binary.
#[must_use]
pub fn guides() -> &'static [TroubleshootingGuide] {
    static GUIDES: LazyLock<Vec<TroubleshootingGuide>> = LazyLock::new(|| {
        let mut files: Vec<_> = FILES.files().filter(|f| f.path().extension().is_some_and(|e| e == "yaml")).collect();
        files.sort_by_key(|f| f.path());
        let guides = files.into_iter().map(|file| {
            let name = file.path().file_stem().unwrap_or_default().to_string_lossy().into_owned();
            read(&name, file.contents_utf8().unwrap_or_default()).unwrap_or_else(|e| panic!("guides/{name}.yaml: {e}"))
        });
        guides.collect()
    });
    &GUIDES
}

/// Returns the guide of this name.
#[must_use]
pub fn guide(name: &str) -> Option<&'static TroubleshootingGuide> {
    guides().iter().find(|g| g.name == name)
}

/// Returns the file of measured results with this name; the name has no extension.
pub(super) fn measured_file(name: &str) -> Option<&'static str> {
    FILES.get_file(format!("measured/{name}.yaml")).and_then(|f| f.contents_utf8())
}

/// Returns the names of the files of measured results, without extension.
pub(super) fn measured_files() -> Vec<String> {
    let dir = FILES.get_dir("measured");
    let stems = dir.into_iter().flat_map(Dir::files).filter_map(|f| f.path().file_stem());
    stems.map(|stem| stem.to_string_lossy().into_owned()).collect()
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawGuide {
    title: String,
    url: String,
    #[serde(default)]
    product: Product,
    cases: Vec<RawCase>,
}

/// Statements that are shown together, e.g. the status in one of the guide's examples.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawCase {
    id: String,
    section: String,
    /// `cluster`, `namespaced` or `both`; none if the scope makes no difference.
    scope: Option<RawScope>,
    /// Tag of a capability, e.g. `needs-run-states`.
    needs: Option<String>,
    because: Option<String>,
    statements: Vec<RawStatement>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum RawScope {
    Cluster,
    Namespaced,
    Both,
}

/// A statement has either `of`, `condition` and `status`, or `says` and `check`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawStatement {
    id: String,
    of: Option<ConditionOwner>,
    condition: Option<String>,
    status: Option<String>,
    reason: Option<String>,
    message: Option<String>,
    says: Option<String>,
    check: Option<String>,
    instead: Option<String>,
    /// Tag of a capability that the statement needs in addition to the case's.
    needs: Option<String>,
    because: Option<String>,
    note: Option<String>,
}

fn read(name: &str, text: &str) -> Result<TroubleshootingGuide, String> {
    let raw: RawGuide = serde_saphyr::from_str(text).map_err(|e| e.to_string())?;
    let mut statements = Vec::new();
    for case in &raw.cases {
        let scopes: &[Option<StatementScope>] = match case.scope {
            None => &[None],
            Some(RawScope::Cluster) => &[Some(StatementScope::Cluster)],
            Some(RawScope::Namespaced) => &[Some(StatementScope::Namespaced)],
            Some(RawScope::Both) => &[Some(StatementScope::Cluster), Some(StatementScope::Namespaced)],
        };
        for statement in &case.statements {
            for scope in scopes {
                let resolved = resolve((name, raw.product), case, statement, *scope);
                statements.push(resolved.map_err(|e| format!("{}/{}: {e}", case.id, statement.id))?);
            }
        }
    }
    Ok(TroubleshootingGuide { name: name.to_owned(), title: raw.title, url: raw.url, product: raw.product, statements })
}

fn resolve(
    (guide, product): (&str, Product),
    case: &RawCase,
    raw: &RawStatement,
    scope: Option<StatementScope>,
) -> Result<Statement, String> {
    let suffix = scope.map(|s| format!("/{}", s.word())).unwrap_or_default();
    Ok(Statement {
        id: format!("{guide}/{}/{}{suffix}", case.id, raw.id),
        product,
        section: case.section.clone(),
        scope,
        claim: claim(raw, scope)?,
        needs: CapabilityNeeds::of(&[case.needs.as_slice(), raw.needs.as_slice()].concat())?,
        because: raw.because.as_ref().or(case.because.as_ref()).cloned(),
        note: raw.note.clone(),
    })
}

fn claim(raw: &RawStatement, scope: Option<StatementScope>) -> Result<StatementClaim, String> {
    match (&raw.of, &raw.condition, &raw.status, &raw.says, &raw.check) {
        (Some(of), Some(condition), Some(status), None, None) => {
            let kind = of.kind(scope).ok_or("a condition needs its case's scope: kinds differ by it")?;
            let prefix = if *of == ConditionOwner::Placement { kind } else { "" };
            Ok(StatementClaim::Condition {
                of: *of,
                condition: format!("{prefix}{condition}"),
                status: status.clone(),
                reason: raw.reason.clone(),
                message: raw.message.as_deref().map(MessageTemplate::parse).transpose().map_err(|e| e.to_string())?,
            })
        }
        (None, None, None, Some(says), Some(check)) => Ok(StatementClaim::Behaviour {
            says: says.trim().to_owned(),
            check: check.trim().to_owned(),
            instead: raw.instead.as_deref().map(|i| i.trim().to_owned()),
        }),
        _ => Err("it has either `of`, `condition` and `status`, or `says` and `check`".into()),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn all() -> impl Iterator<Item = &'static Statement> {
        guides().iter().flat_map(|g| &g.statements)
    }

    #[test]
    fn ids_are_slugs_and_unique() {
        let form = regex::Regex::new("^[a-z0-9-]+(/[a-z0-9-]+){2,3}$").unwrap();
        let mut seen = BTreeSet::new();
        for statement in all() {
            assert!(form.is_match(&statement.id), "{}", statement.id);
            assert!(seen.insert(&statement.id), "{} stands twice", statement.id);
        }
        assert!(guides().len() > 5);
    }

    #[test]
    fn messages_fit_the_texts_that_they_come_from() {
        for statement in all() {
            if let StatementClaim::Condition { message: Some(message), .. } = &statement.claim {
                assert!(message.is(&message.verbatim()), "{}: {}", statement.id, message.verbatim());
            }
        }
    }

    #[test]
    fn what_does_not_apply_everywhere_says_why() {
        for statement in all() {
            assert_eq!(statement.needs.is_all(), statement.because.is_none(), "{}", statement.id);
        }
    }

    #[test]
    fn a_case_of_both_scopes_makes_two_statements() {
        let text = "
title: T
url: https://example.com
cases:
  - id: c
    section: S
    scope: both
    statements:
      - {id: s, of: placement, condition: Scheduled, status: 'True', reason: Ok, message: 'found {number=2}'}
";
        let guide = read("g", text).unwrap();
        let said: Vec<_> = guide.statements.iter().map(|s| format!("{} {}: {}", s.id, s.object(), s.says())).collect();
        assert_eq!(
            said,
            [
                "g/c/s/cluster ClusterResourcePlacement: ClusterResourcePlacementScheduled True Ok: found 2",
                "g/c/s/namespaced ResourcePlacement: ResourcePlacementScheduled True Ok: found 2",
            ]
        );
        let unscoped = text.replace("    scope: both\n", "");
        assert_eq!(read("g", &unscoped).unwrap_err(), "c/s: a condition needs its case's scope: kinds differ by it");
        let neither = text.replace("condition: Scheduled, ", "");
        assert!(read("g", &neither).unwrap_err().starts_with("c/s: it has either"));
    }
}
