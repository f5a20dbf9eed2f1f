//! Findings before they are arranged. Each names the parts of the fleet that it affects and the parts that may explain
//! it, so that one root finding stands for all its consequences.

use std::collections::{HashMap, HashSet, VecDeque};

use record::ObjectPath;
use serde_json::Value;

use super::code::RuleCode;
use crate::catalogue::PlannedTexts;
use crate::template::PlannedRemedy;
use crate::{CatalogueEntry, Evidence, Finding, KubectlAccess, Severity, Subject, entry};

/// Part of the fleet that a finding can affect. A finding that affects a part explains other findings that depend on
/// the same part.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum AffectedPart {
    /// Hub-agent: no controller of the hub works.
    HubAgent,
    /// Member as a whole: its agent, its rights.
    Member(String),
    /// Namespace of a member on the hub.
    MemberNamespace(String),
    /// Placement as a whole.
    Placement { namespace: Option<String>, name: String },
    /// Placement on one member.
    PlacementOn { namespace: Option<String>, name: String, member: String },
    /// Works of a placement for one member.
    WorkOn { namespace: Option<String>, name: String, member: String },
    /// Last sync of an Argo CD application.
    Sync { namespace: String, name: String },
    /// Revision that an application's running operation keeps syncing.
    Revision { namespace: String, name: String },
    /// Admission webhook on a cluster.
    Webhook { cluster: String, name: String },
}

/// Finding that isn't arranged yet, with its relations to other findings.
#[derive(Clone, Debug)]
pub(super) struct FindingDraft {
    pub finding: Finding,
    /// Remedies of the finding. The commands are printed when the findings are arranged.
    remedies: Vec<PlannedRemedy>,
    /// Texts that replace the finding's own if another finding explains this one.
    texts_if_explained: Option<PlannedTexts>,
    /// Parts that this finding affects. The finding explains every other finding that depends on one of these parts.
    affects: HashSet<AffectedPart>,
    /// Parts that this finding depends on. Any other finding that affects one of these parts explains this one.
    depends_on: HashSet<AffectedPart>,
    /// True if the finding is left out unless another finding explains it.
    only_as_consequence: bool,
}

impl FindingDraft {
    /// Creates a finding with the catalogue's texts. `names` is a JSON object with a value for each placeholder.
    pub fn new(code: RuleCode, subject: Subject, names: &Value, evidence: Vec<Evidence>) -> Self {
        let entry = code.entry();
        let PlannedTexts { cause, data_loss, remedies } = planned_texts(entry, names);
        let since = evidence.iter().find_map(|e| e.at);
        let finding = Finding {
            code: entry.code.clone(),
            title: entry.title.clone(),
            severity: entry.severity,
            subject,
            cause,
            since,
            superseded_by: None,
            data_loss,
            evidence,
            remedies: Vec::new(),
            guide: entry.guide.clone(),
            consequences: Vec::new(),
        };
        Self {
            finding,
            remedies,
            texts_if_explained: None,
            affects: HashSet::new(),
            depends_on: HashSet::new(),
            only_as_consequence: false,
        }
    }

    /// Lowers the severity to a notice, for codes that stand for both failures and notices.
    pub fn into_notice(mut self) -> Self {
        self.finding.severity = Severity::Notice;
        self
    }

    /// Sets texts, filled in with `names`, that replace the finding's own if another finding explains this one.
    pub fn with_texts_if_explained(mut self, names: &Value) -> Self {
        self.texts_if_explained = entry(&self.finding.code.0).map(|entry| planned_texts(entry, names));
        self
    }

    /// Adds a part that this finding affects.
    pub fn affects(mut self, part: AffectedPart) -> Self {
        self.affects.insert(part);
        self
    }

    /// Adds a part that this finding depends on.
    pub fn depends_on(mut self, part: AffectedPart) -> Self {
        self.depends_on.insert(part);
        self
    }

    /// Removes all parts that this finding affects.
    pub fn affects_nothing(mut self) -> Self {
        self.affects.clear();
        self
    }

    /// Leaves the finding out unless another finding explains it.
    pub fn only_as_consequence(mut self) -> Self {
        self.only_as_consequence = true;
        self
    }

    /// Returns the parts that the finding affects.
    pub fn affected_parts(&self) -> impl Iterator<Item = &AffectedPart> {
        self.affects.iter()
    }

    /// True if the finding is left out unless another finding explains it.
    pub fn is_only_consequence(&self) -> bool {
        self.only_as_consequence
    }

    /// Marks the failure as one that a later object has made up for, and lowers it to a notice.
    pub fn superseded_by(mut self, successor: ObjectPath) -> Self {
        self.finding.superseded_by = Some(successor);
        self.into_notice()
    }

    fn explains(&self, other: &FindingDraft) -> bool {
        // Neither of two findings that explain each other would be a root, and both would be lost.
        !self.affects.is_disjoint(&other.depends_on) && other.affects.is_disjoint(&self.depends_on)
    }
}

/// Fills the names into an entry's texts.
fn planned_texts(entry: &CatalogueEntry, names: &Value) -> PlannedTexts {
    let planned = names.as_object().map(|names| entry.planned_texts(names));
    match planned {
        Some(Ok(texts)) => texts,
        failed => {
            // Users are better off with the title alone than without a diagnosis, but tests must fail.
            debug_assert!(false, "{failed:?}");
            PlannedTexts { cause: entry.title.clone(), data_loss: None, remedies: Vec::new() }
        }
    }
}

/// Drops duplicate findings, puts each explained finding under the finding that explains it, and sorts: data loss
/// first, then failures, then notices, each by code and subject. Prints the commands for a reader with this access.
pub(super) fn arrange(mut drafts: Vec<FindingDraft>, access: &KubectlAccess) -> Vec<Finding> {
    drafts.sort_by_cached_key(|d| sort_key(&d.finding));
    let mut seen = HashSet::new();
    drafts.retain(|d| seen.insert((d.finding.code.clone(), d.finding.subject.clone())));

    let mut kept: VecDeque<bool> =
        drafts.iter().zip(parents(&drafts)).map(|(d, parent)| !d.only_as_consequence || parent.is_some()).collect();
    drafts.retain(|_| kept.pop_front().unwrap_or_default());
    let parents = parents(&drafts);
    for (at, draft) in drafts.iter_mut().enumerate() {
        if root(&parents, at) != at
            && let Some(PlannedTexts { cause, data_loss, remedies }) = draft.texts_if_explained.take()
        {
            (draft.finding.cause, draft.finding.data_loss, draft.remedies) = (cause, data_loss, remedies);
        }
        draft.finding.remedies = draft.remedies.iter().map(|remedy| remedy.printed(access)).collect();
    }
    let roots: Vec<usize> = (0..drafts.len()).filter(|at| root(&parents, *at) == *at).collect();
    let mut children = vec![Vec::new(); drafts.len()];
    for (child, parent) in parents.iter().enumerate() {
        if let Some(parent) = parent.filter(|_| root(&parents, child) != child) {
            children[parent].push(child);
        }
    }
    let mut findings: Vec<_> = drafts.into_iter().map(|draft| Some(draft.finding)).collect();
    let mut roots: Vec<Finding> = roots.into_iter().filter_map(|at| tree(&mut findings, &children, at)).collect();
    roots.sort_by_cached_key(sort_key);
    roots
}

/// Returns the index of the first finding that explains each of the drafts.
fn parents(drafts: &[FindingDraft]) -> Vec<Option<usize>> {
    let mut affecting: HashMap<&AffectedPart, Vec<usize>> = HashMap::new();
    for (at, draft) in drafts.iter().enumerate() {
        for part in &draft.affects {
            affecting.entry(part).or_default().push(at);
        }
    }
    let parent = |(at, draft): (usize, &FindingDraft)| {
        let candidates = draft.depends_on.iter().filter_map(|part| affecting.get(part)).flatten().copied();
        candidates.filter(|other| *other != at && drafts[*other].explains(draft)).min()
    };
    drafts.iter().enumerate().map(parent).collect()
}

/// Returns the index of the topmost finding above `start`. In a circle, the smallest index counts as the top.
fn root(parents: &[Option<usize>], start: usize) -> usize {
    let mut path = vec![start];
    let mut at = start;
    while let Some(parent) = parents[at] {
        if let Some(circle) = path.iter().position(|p| *p == parent) {
            return path[circle..].iter().copied().min().unwrap_or(start);
        }
        path.push(parent);
        at = parent;
    }
    at
}

/// Takes a finding with all those below it.
fn tree(findings: &mut [Option<Finding>], children: &[Vec<usize>], at: usize) -> Option<Finding> {
    let mut finding = findings[at].take()?;
    finding.consequences = children[at].iter().filter_map(|child| tree(findings, children, *child)).collect();
    finding.consequences.sort_by_cached_key(sort_key);
    Some(finding)
}

type SortKey = (bool, bool, String, [String; 6]);

fn sort_key(finding: &Finding) -> SortKey {
    let Subject { cluster, kind, namespace, name, stage, member } = finding.subject.clone();
    let subject =
        [cluster, kind, namespace.unwrap_or_default(), name, stage.unwrap_or_default(), member.unwrap_or_default()];
    (!finding.loses_data(), !finding.is_failure(), finding.code.0.clone(), subject)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FailureCode;

    fn draft(code: &str, name: &str) -> FindingDraft {
        let finding = Finding {
            code: FailureCode(code.to_owned()),
            title: String::new(),
            severity: Severity::Failure,
            subject: Subject {
                cluster: "hub".to_owned(),
                kind: "Thing".to_owned(),
                namespace: None,
                name: name.to_owned(),
                stage: None,
                member: None,
            },
            cause: String::new(),
            since: None,
            superseded_by: None,
            data_loss: None,
            evidence: Vec::new(),
            remedies: Vec::new(),
            guide: None,
            consequences: Vec::new(),
        };
        FindingDraft {
            finding,
            remedies: Vec::new(),
            texts_if_explained: None,
            affects: HashSet::new(),
            depends_on: HashSet::new(),
            only_as_consequence: false,
        }
    }

    fn member(name: &str) -> AffectedPart {
        AffectedPart::Member(name.to_owned())
    }

    fn shape(findings: &[Finding]) -> String {
        let parts: Vec<String> = findings
            .iter()
            .map(|f| match shape(&f.consequences) {
                s if s.is_empty() => format!("{}/{}", f.code, f.subject.name),
                s => format!("{}/{}({s})", f.code, f.subject.name),
            })
            .collect();
        parts.join(" ")
    }

    #[test]
    fn what_is_explained_hangs_under_its_root() {
        let drafts = vec![
            draft("B", "x").depends_on(member("m")),
            draft("Z", "m").affects(member("m")).depends_on(member("n")),
            draft("Y", "n").affects(member("n")),
            draft("A", "other").depends_on(member("elsewhere")),
        ];
        assert_eq!(shape(&arrange(drafts, &KubectlAccess::same_names())), "A/other Y/n(Z/m(B/x))");
    }

    #[test]
    fn doubles_are_dropped_and_losses_come_first_then_failures() {
        let mut notice = draft("A", "n");
        notice.finding.severity = Severity::Notice;
        let mut loss = draft("Z", "l");
        loss.finding.data_loss = Some("all of it".to_owned());
        let drafts = vec![notice, draft("B", "x"), draft("B", "x"), loss];
        assert_eq!(shape(&arrange(drafts, &KubectlAccess::same_names())), "Z/l B/x A/n");
    }

    #[test]
    fn what_says_nothing_by_itself_needs_a_root() {
        let aside = || draft("B", "x").depends_on(member("m")).only_as_consequence();
        assert_eq!(shape(&arrange(vec![aside(), draft("A", "other")], &KubectlAccess::same_names())), "A/other");
        assert_eq!(
            shape(&arrange(vec![aside(), draft("A", "m").affects(member("m"))], &KubectlAccess::same_names())),
            "A/m(B/x)"
        );
    }

    #[test]
    fn a_circle_loses_nothing() {
        let drafts = vec![
            draft("A", "a").affects(member("1")).depends_on(member("3")),
            draft("B", "b").affects(member("2")).depends_on(member("1")),
            draft("C", "c").affects(member("3")).depends_on(member("2")),
        ];
        assert_eq!(shape(&arrange(drafts, &KubectlAccess::same_names())), "A/a(B/b(C/c))");
    }
}
