//! The statements of the guides, from `guides/*.yaml`.

use fleet::capability::{Capabilities, Capability};
use std::sync::LazyLock;

use include_dir::{Dir, include_dir};
use serde::{Deserialize, Serialize};

use super::message::Message;
use super::product::Product;
use crate::needed::Needed;

/// The guides' files.
static FILES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../guides");

/// A guide with all its checkable statements.
#[derive(Clone, Debug)]
pub struct Guide {
    /// Its short name, which is its file's: `work-synchronized`.
    pub name: String,
    /// Its own title.
    pub title: String,
    /// Where it is published.
    pub url: String,
    /// What it is about.
    pub product: Product,
    /// In the guide's order.
    pub statements: Vec<Statement>,
}

/// One sentence, or one condition of a guide's example.
#[derive(Clone, Debug)]
pub struct Statement {
    /// `GUIDE/CASE/STATEMENT`, with `/cluster` or `/namespaced` where it is about one scope only.
    pub id: String,
    /// What its guide is about.
    pub product: Product,
    /// The section's heading.
    pub section: String,
    /// Which kinds it is about; none where that makes no difference.
    pub scope: Option<Scope>,
    /// What it says.
    pub claim: Claim,
    /// What a version has to be able to do for it to apply.
    pub needs: Needed,
    /// Why it can't apply to others.
    pub because: Option<String>,
    /// What one must know where it isn't so.
    pub note: Option<String>,
}

/// What a statement says, in a form that can be checked.
#[derive(Clone, Debug)]
pub enum Claim {
    /// A condition is seen.
    Condition {
        /// On what.
        of: Of,
        /// Its type as the object has it.
        condition: String,
        /// `True`, `False` or `Unknown`.
        status: String,
        /// Its reason, where the guide names it.
        reason: Option<String>,
        /// Its message, where the guide quotes it.
        message: Option<Message>,
    },
    /// Something else: how to look, how long it takes, what helps. The steps of a scenario assert it.
    Behaviour {
        /// The guide's words.
        says: String,
        /// What a scenario has to show for it.
        check: String,
        /// What is so instead, on the versions for which scenarios show that.
        instead: Option<String>,
    },
}

/// Which kinds a statement is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scope {
    /// ClusterResourcePlacement, ClusterStagedUpdateRun and so on.
    Cluster,
    /// ResourcePlacement, StagedUpdateRun and so on.
    Namespaced,
}

impl Scope {
    /// As it stands in ids.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Cluster => "cluster",
            Self::Namespaced => "namespaced",
        }
    }
}

/// What has a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Of {
    /// A placement itself; its condition types carry its kind.
    Placement,
    /// A placement, for one of its clusters.
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
    /// A request for a stage's approval.
    ApprovalRequest,
    /// An Argo CD Application: its conditions, and `sync`, `health` and `operation` with a status or phase.
    Application,
    /// A resource in the result of an Application's last sync: `result`, with its status and, as its reason, its hookPhase.
    Resource,
}

impl Of {
    /// The object's kind; without a scope only where it makes no difference.
    #[must_use]
    pub fn kind(self, scope: Option<Scope>) -> Option<&'static str> {
        let (cluster, namespaced) = match self {
            Self::Placement | Self::Member | Self::FailedResource => ("ClusterResourcePlacement", "ResourcePlacement"),
            Self::Run | Self::Stage | Self::StageMember => ("ClusterStagedUpdateRun", "StagedUpdateRun"),
            Self::Binding => ("ClusterResourceBinding", "ResourceBinding"),
            Self::ApprovalRequest => ("ClusterApprovalRequest", "ApprovalRequest"),
            Self::Application | Self::Resource => return Some("Application"),
        };
        match scope? {
            Scope::Cluster => Some(cluster),
            Scope::Namespaced => Some(namespaced),
        }
    }

    /// Where in the object, for people.
    #[must_use]
    pub fn place(self) -> &'static str {
        match self {
            Self::Placement | Self::Run | Self::Binding | Self::ApprovalRequest | Self::Application => "",
            Self::Resource => ", a resource of its sync",
            Self::Member => " on a cluster",
            Self::FailedResource => ", a failed placement",
            Self::Stage => ", a stage",
            Self::StageMember => ", a cluster in a stage",
        }
    }

    /// Whether a transition's part is such a place.
    pub(super) fn is(self, part: Option<&str>) -> bool {
        let stage = part.is_some_and(|p| p.starts_with("stage "));
        let two = part.is_some_and(|p| p.contains(", "));
        match self {
            Self::Placement | Self::Run | Self::Binding | Self::ApprovalRequest | Self::Application => part.is_none(),
            Self::Resource => part.is_some(),
            Self::Member => part.is_some() && !stage && !two,
            Self::FailedResource => !stage && two,
            Self::Stage => stage && !two,
            Self::StageMember => stage && two,
        }
    }
}

impl Statement {
    /// The guide's short name.
    #[must_use]
    pub fn guide(&self) -> &str {
        self.id.split('/').next().unwrap_or_default()
    }

    /// What the guide says, in its own words and with the names of its example.
    #[must_use]
    pub fn says(&self) -> String {
        match &self.claim {
            Claim::Behaviour { says, .. } => says.clone(),
            Claim::Condition { message, .. } => {
                let message = message.as_ref().map(|m| format!(": {}", m.verbatim())).unwrap_or_default();
                format!("{}{message}", self.state())
            }
        }
    }

    /// Type, status and reason of a condition, e.g. `Succeeded False UpdateRunFailed`; empty for a behaviour.
    #[must_use]
    pub fn state(&self) -> String {
        let Claim::Condition { condition, status, reason, .. } = &self.claim else { return String::new() };
        format!("{condition} {status} {}", reason.as_deref().unwrap_or_default()).trim_end().to_owned()
    }

    /// What has the condition, for people, e.g. `ResourcePlacement on a cluster`; empty for a behaviour.
    #[must_use]
    pub fn object(&self) -> String {
        match &self.claim {
            Claim::Condition { of, .. } => format!("{}{}", of.kind(self.scope).unwrap_or_default(), of.place()),
            Claim::Behaviour { .. } => String::new(),
        }
    }

    /// Whether it can apply to a version of KubeFleet that can do this; always, if it is about something else.
    #[must_use]
    pub fn applies_to(&self, kubefleet: &Capabilities) -> bool {
        let in_scope = self.scope != Some(Scope::Namespaced) || kubefleet.can(Capability::NamespacedPlacements);
        self.product != Product::KubeFleet || (in_scope && self.needs.admits(kubefleet))
    }
}

/// All guides, in the order of their names.
///
/// # Panics
/// Never in a build that passed its tests: the files are part of the binary.
#[must_use]
pub fn guides() -> &'static [Guide] {
    static GUIDES: LazyLock<Vec<Guide>> = LazyLock::new(|| {
        let mut files: Vec<_> = FILES.files().filter(|f| f.path().extension().is_some_and(|e| e == "yaml")).collect();
        files.sort_by_key(|f| f.path());
        let read = |file: &include_dir::File<'_>| {
            let name = file.path().file_stem().unwrap_or_default().to_string_lossy().into_owned();
            read(&name, file.contents_utf8().unwrap_or_default()).unwrap_or_else(|e| panic!("guides/{name}.yaml: {e}"))
        };
        files.into_iter().map(read).collect()
    });
    &GUIDES
}

/// One guide.
#[must_use]
pub fn guide(name: &str) -> Option<&'static Guide> {
    guides().iter().find(|g| g.name == name)
}

/// A file of measured results, by its name without ending.
pub(super) fn measured_file(name: &str) -> Option<&'static str> {
    FILES.get_file(format!("measured/{name}.yaml")).and_then(|f| f.contents_utf8())
}

/// The files of measured results, by their names without ending.
pub(super) fn measured_files() -> Vec<String> {
    let dir = FILES.get_dir("measured");
    let stem = |f: &include_dir::File<'_>| f.path().file_stem().map(|s| s.to_string_lossy().into_owned());
    dir.into_iter().flat_map(Dir::files).filter_map(stem).collect()
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

/// What is shown together, such as the status in one of the guide's examples.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawCase {
    id: String,
    section: String,
    /// `cluster`, `namespaced` or `both`; without it the scope makes no difference.
    scope: Option<RawScope>,
    /// A tag of a capability, e.g. `needs-run-states`.
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

/// Either `of`, `condition` and `status`, or `says` and `check`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawStatement {
    id: String,
    of: Option<Of>,
    condition: Option<String>,
    status: Option<String>,
    reason: Option<String>,
    message: Option<String>,
    says: Option<String>,
    check: Option<String>,
    instead: Option<String>,
    /// As of the case, besides it.
    needs: Option<String>,
    because: Option<String>,
    note: Option<String>,
}

fn read(name: &str, text: &str) -> Result<Guide, String> {
    let raw: RawGuide = serde_saphyr::from_str(text).map_err(|e| e.to_string())?;
    let mut statements = Vec::new();
    for case in &raw.cases {
        let scopes: &[Option<Scope>] = match case.scope {
            None => &[None],
            Some(RawScope::Cluster) => &[Some(Scope::Cluster)],
            Some(RawScope::Namespaced) => &[Some(Scope::Namespaced)],
            Some(RawScope::Both) => &[Some(Scope::Cluster), Some(Scope::Namespaced)],
        };
        for statement in &case.statements {
            for scope in scopes {
                let resolved = resolve((name, raw.product), case, statement, *scope);
                statements.push(resolved.map_err(|e| format!("{}/{}: {e}", case.id, statement.id))?);
            }
        }
    }
    Ok(Guide { name: name.to_owned(), title: raw.title, url: raw.url, product: raw.product, statements })
}

fn resolve(
    (guide, product): (&str, Product),
    case: &RawCase,
    raw: &RawStatement,
    scope: Option<Scope>,
) -> Result<Statement, String> {
    let suffix = scope.map(|s| format!("/{}", s.word())).unwrap_or_default();
    Ok(Statement {
        id: format!("{guide}/{}/{}{suffix}", case.id, raw.id),
        product,
        section: case.section.clone(),
        scope,
        claim: claim(raw, scope)?,
        needs: Needed::of(&[case.needs.as_slice(), raw.needs.as_slice()].concat())?,
        because: raw.because.as_ref().or(case.because.as_ref()).cloned(),
        note: raw.note.clone(),
    })
}

fn claim(raw: &RawStatement, scope: Option<Scope>) -> Result<Claim, String> {
    match (&raw.of, &raw.condition, &raw.status, &raw.says, &raw.check) {
        (Some(of), Some(condition), Some(status), None, None) => {
            let kind = of.kind(scope).ok_or("a condition needs its case's scope: kinds differ by it")?;
            let prefix = if *of == Of::Placement { kind } else { "" };
            Ok(Claim::Condition {
                of: *of,
                condition: format!("{prefix}{condition}"),
                status: status.clone(),
                reason: raw.reason.clone(),
                message: raw.message.as_deref().map(Message::parse).transpose().map_err(|e| e.to_string())?,
            })
        }
        (None, None, None, Some(says), Some(check)) => Ok(Claim::Behaviour {
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
        assert_eq!(guides().len(), 5);
    }

    #[test]
    fn messages_fit_the_texts_that_they_come_from() {
        for statement in all() {
            if let Claim::Condition { message: Some(message), .. } = &statement.claim {
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
