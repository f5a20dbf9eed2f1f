//! Findings before they are arranged. Each names the parts of the fleet that it affects and the parts that may explain
//! it, so that one root finding stands for all its consequences.

use std::collections::{HashMap, HashSet, VecDeque};

use record::{FindingWaiver, ObjectPath};
use serde_json::Value;

use super::code::RuleCode;
use crate::catalogue::PlannedTexts;
use crate::command::{RemedyCommand, repeated};
use crate::template::PlannedRemedy;
use crate::{CatalogueEntry, Evidence, Finding, KubectlAccess, Object, Remedy, Severity, Subject, entry};

/// Part of the fleet that a finding can affect. A finding that affects a part explains other findings that depend on
/// the same part.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum AffectedPart {
    /// Hub-agent: no controller of the hub works.
    HubAgent,
    /// Clock of the hub-agent.
    HubAgentClock,
    /// Writes to the hub: nobody's are taken.
    HubWrites,
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
    /// Objects of a placement on one member: those that fail or have drifted there, all of them.
    ObjectsOn { namespace: Option<String>, name: String, member: String },
    /// Object on a cluster.
    Object { cluster: String, group: String, kind: String, namespace: Option<String>, name: String },
    /// Admission webhook on a cluster.
    Webhook { cluster: String, name: String },
}

impl AffectedPart {
    /// Returns an object of a cluster as a part.
    pub fn object(cluster: &str, object: Object<'_>) -> Self {
        Self::Object {
            cluster: cluster.to_owned(),
            group: object.group().to_owned(),
            kind: object.kind().to_owned(),
            namespace: object.namespace().map(str::to_owned),
            name: object.name().to_owned(),
        }
    }
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
    /// Cause that findings of the same code about other objects may share, e.g. an image.
    common_cause: Option<String>,
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
            other_subjects: Vec::new(),
            cause,
            since,
            superseded_by: None,
            waived: None,
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
            common_cause: None,
        }
    }

    /// Lowers the severity to a notice, for codes that stand for both failures and notices.
    pub fn into_notice(mut self) -> Self {
        self.finding.severity = Severity::Notice;
        self
    }

    /// Raises the severity to a failure, for codes that stand for both failures and notices.
    pub fn into_failure(mut self) -> Self {
        self.finding.severity = Severity::Failure;
        self
    }

    /// Sets texts that replace the finding's own if another finding explains this one: filled in with `names`, but `is_explained` is true.
    pub fn with_texts_if_explained(mut self, names: &Value) -> Self {
        let mut names = names.clone();
        names["is_explained"] = true.into();
        self.texts_if_explained = entry(&self.finding.code.0).map(|entry| planned_texts(entry, &names));
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

    /// Names the cause that findings of the same code about other objects may share.
    pub fn common_cause(mut self, cause: impl Into<String>) -> Self {
        self.common_cause = Some(cause.into());
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
pub(super) fn arrange(drafts: Vec<FindingDraft>, access: &KubectlAccess) -> Vec<Finding> {
    let DraftForest { mut drafts, children, roots } = DraftForest::new(drafts);
    for draft in &mut drafts {
        draft.finding.remedies = draft.remedies.iter().map(|remedy| remedy.printed(access)).collect();
    }
    let mut findings: Vec<_> = drafts.into_iter().map(|draft| Some(draft.finding)).collect();
    let mut roots: Vec<Finding> = roots.into_iter().filter_map(|at| tree(&mut findings, &children, at)).collect();
    roots.sort_by_cached_key(sort_key);
    roots
}

/// Arranges the findings like [`arrange`], and puts those with one cause together.
pub(super) fn arrange_by_cause(drafts: Vec<FindingDraft>, access: &KubectlAccess) -> Vec<Finding> {
    let forest = DraftForest::new(drafts);
    forest.by_cause(&forest.roots, access, CauseKey::of_root)
}

/// Drafts without duplicates, each below the draft that explains it.
struct DraftForest {
    drafts: Vec<FindingDraft>,
    children: Vec<Vec<usize>>,
    /// Drafts that no other one explains, sorted.
    roots: Vec<usize>,
}

impl DraftForest {
    fn new(mut drafts: Vec<FindingDraft>) -> Self {
        drafts.sort_by_cached_key(|d| sort_key(&d.finding));
        let mut seen = HashSet::new();
        drafts.retain(|d| seen.insert((d.finding.code.clone(), d.finding.subject.clone())));

        let mut kept: VecDeque<bool> = drafts
            .iter()
            .zip(parents(&drafts))
            .map(|(draft, parent)| !draft.only_as_consequence || parent.is_some())
            .collect();
        drafts.retain(|_| kept.pop_front().unwrap_or_default());
        let parents = parents(&drafts);
        for (at, draft) in drafts.iter_mut().enumerate() {
            if root(&parents, at) != at
                && let Some(PlannedTexts { cause, data_loss, remedies }) = draft.texts_if_explained.take()
            {
                (draft.finding.cause, draft.finding.data_loss, draft.remedies) = (cause, data_loss, remedies);
            }
        }
        let roots: Vec<usize> = (0..drafts.len()).filter(|at| root(&parents, *at) == *at).collect();
        let mut children = vec![Vec::new(); drafts.len()];
        for (child, parent) in parents.iter().enumerate() {
            if let Some(parent) = parent.filter(|_| root(&parents, child) != child) {
                children[parent].push(child);
            }
        }
        Self { drafts, children, roots }
    }

    /// Puts siblings with the same key together, and the findings below them likewise.
    fn by_cause<'a>(
        &'a self,
        siblings: &[usize],
        access: &KubectlAccess,
        key: fn(&'a FindingDraft) -> CauseKey<'a>,
    ) -> Vec<Finding> {
        let mut groups: Vec<Vec<usize>> = Vec::new();
        let mut places = HashMap::new();
        for at in siblings {
            let place = *places.entry(key(&self.drafts[*at])).or_insert_with(|| {
                groups.push(Vec::new());
                groups.len() - 1
            });
            groups[place].push(*at);
        }
        let mut findings: Vec<Finding> = groups.iter().map(|group| self.one_of(group, access)).collect();
        findings.sort_by_cached_key(sort_key);
        findings
    }

    /// Makes one finding of several with the same cause. They stand in the order of their subjects.
    fn one_of(&self, group: &[usize], access: &KubectlAccess) -> Finding {
        let drafts: Vec<&FindingDraft> = group.iter().map(|at| &self.drafts[*at]).collect();
        let mut finding = drafts[0].finding.clone();
        finding.other_subjects = drafts[1..].iter().map(|draft| draft.finding.subject.clone()).collect();
        finding.since = drafts.iter().filter_map(|draft| draft.finding.since).min();
        finding.data_loss = drafts.iter().find_map(|draft| draft.finding.data_loss.clone());
        for draft in drafts[1..].iter().take(QUOTED_SUBJECTS - 1) {
            let new = draft.finding.evidence.iter().filter(|evidence| !finding.evidence.contains(evidence));
            let new: Vec<Evidence> = new.cloned().collect();
            finding.evidence.extend(new);
        }
        finding.remedies = remedies_of_all(&drafts, access);
        let mut children: Vec<usize> = group.iter().flat_map(|at| &self.children[*at]).copied().collect();
        children.sort_unstable();
        finding.consequences = self.by_cause(&children, access, CauseKey::of_consequence);
        finding
    }
}

/// Number of subjects of one cause whose evidence is quoted.
const QUOTED_SUBJECTS: usize = 3;

/// Findings with the same key have one cause.
#[derive(PartialEq, Eq, Hash)]
struct CauseKey<'a> {
    code: &'a str,
    is_failure: bool,
    is_superseded: bool,
    waived: Option<&'a FindingWaiver>,
    cause: CommonCause<'a>,
}

#[derive(PartialEq, Eq, Hash)]
enum CommonCause<'a> {
    /// Same cause as far as a rule knows it.
    Named(&'a str),
    /// Same object, on several members or in several stages.
    Object { kind: &'a str, namespace: Option<&'a str>, name: &'a str },
    /// Consequence of the same finding.
    SameParent,
}

impl<'a> CauseKey<'a> {
    fn of_root(draft: &'a FindingDraft) -> Self {
        let Subject { kind, namespace, name, .. } = &draft.finding.subject;
        let object = CommonCause::Object { kind, namespace: namespace.as_deref(), name };
        Self::new(draft, draft.common_cause.as_deref().map_or(object, CommonCause::Named))
    }

    fn of_consequence(draft: &'a FindingDraft) -> Self {
        Self::new(draft, CommonCause::SameParent)
    }

    fn new(draft: &'a FindingDraft, cause: CommonCause<'a>) -> Self {
        let finding = &draft.finding;
        Self {
            code: &finding.code.0,
            is_failure: finding.severity.is_failure(),
            is_superseded: finding.superseded_by.is_some(),
            waived: finding.waived.as_ref(),
            cause,
        }
    }
}

/// Returns the remedies of the first finding, with commands for all of them: once where they are the same, in a loop where they
/// differ in the member's name only, and one after the other otherwise.
fn remedies_of_all(drafts: &[&FindingDraft], access: &KubectlAccess) -> Vec<Remedy> {
    let first = drafts[0];
    let names: Vec<&str> = drafts
        .iter()
        .map(|draft| draft.finding.subject.member.as_deref().unwrap_or(&draft.finding.subject.name))
        .collect();
    let remedies = first.remedies.iter().enumerate();
    let merged = remedies.map(|(number, remedy)| {
        let all: Vec<_> = drafts.iter().map(|draft| draft.remedies.get(number)).collect();
        let is_alike =
            |other: Option<&PlannedRemedy>| other.is_some_and(|other| other.commands.len() == remedy.commands.len());
        if drafts.len() == 1 || !all.iter().copied().all(is_alike) {
            return remedy.printed(access);
        }
        let mut commands = Vec::new();
        for at in 0..remedy.commands.len() {
            let each: Vec<(&str, &RemedyCommand)> = names
                .iter()
                .zip(&all)
                .filter_map(|(name, other)| Some((*name, other.as_ref()?.commands.get(at)?)))
                .collect();
            commands.extend(commands_of_all(&each, access));
        }
        let of_first = remedy.printed(access);
        let commands_of_first = if commands == of_first.commands { Vec::new() } else { of_first.commands };
        Remedy { commands, commands_of_first, ..remedy.printed(access) }
    });
    merged.collect()
}

/// Number of commands that aren't worth a loop.
const WRITTEN_OUT: usize = 2;

fn commands_of_all(commands: &[(&str, &RemedyCommand)], access: &KubectlAccess) -> Vec<String> {
    let mut lines: Vec<String> = commands.iter().map(|(_, command)| command.shell(access)).collect();
    let mut seen = HashSet::new();
    lines.retain(|line| seen.insert(line.clone()));
    let in_loop = if lines.len() > WRITTEN_OUT { repeated(commands, access) } else { None };
    in_loop.map_or(lines, |line| vec![line])
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

type SortKey = (bool, bool, bool, String, [String; 6]);

fn sort_key(finding: &Finding) -> SortKey {
    let Subject { cluster, kind, namespace, name, stage, member } = finding.subject.clone();
    let subject =
        [cluster, kind, namespace.unwrap_or_default(), name, stage.unwrap_or_default(), member.unwrap_or_default()];
    (finding.waived.is_some(), !finding.loses_data(), !finding.is_failure(), finding.code.0.clone(), subject)
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
            other_subjects: Vec::new(),
            cause: String::new(),
            since: None,
            superseded_by: None,
            waived: None,
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
            common_cause: None,
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
    fn one_cause_on_several_subjects_is_one_finding() {
        let on = |code: &str, name: &str, at: &str| {
            let mut draft = draft(code, name);
            draft.finding.subject.member = Some(at.to_owned());
            draft
        };
        let below = |name: &str, at: &str| on("B", name, at).depends_on(member(at));
        let silent = |name: &str| draft("M", name).affects(member(name)).common_cause("silent");
        let drafts = vec![
            on("A", "web", "m-1"),
            on("A", "web", "m-2"),
            on("A", "shop", "m-1"),
            silent("m-3"),
            silent("m-4"),
            below("web", "m-3"),
            below("shop", "m-4"),
        ];
        let findings = arrange_by_cause(drafts, &KubectlAccess::same_names());
        assert_eq!(shape(&findings), "A/shop A/web M/m-3(B/shop)");
        let numbers: Vec<_> = findings.iter().map(|finding| finding.subjects().count()).collect();
        assert_eq!(numbers, [1, 2, 2]);
        assert_eq!(findings[2].consequences[0].subjects().count(), 2);
    }

    #[test]
    fn a_waived_finding_stands_alone_and_last() {
        let on = |code: &str, at: &str| {
            let mut draft = draft(code, "web");
            draft.finding.subject.member = Some(at.to_owned());
            draft
        };
        let mut waived = on("A", "m-2");
        let until = "2027-01-31".parse().unwrap();
        waived.finding.waived = Some(FindingWaiver { reason: "accepted".to_owned(), until });
        let drafts = vec![on("A", "m-1"), waived, on("A", "m-3"), on("B", "m-1")];
        let findings = arrange_by_cause(drafts, &KubectlAccess::same_names());
        assert_eq!(shape(&findings), "A/web B/web A/web");
        let numbers: Vec<_> =
            findings.iter().map(|finding| (finding.subjects().count(), finding.is_failure())).collect();
        assert_eq!(numbers, [(2, true), (1, true), (1, false)]);
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
