//! Findings on their way: what each is about and what it may follow from, so that one root stands for all that it
//! explains.

use std::collections::HashSet;

use serde_json::Value;

use crate::catalogue::Plan;
use crate::template::PlannedRemedy;
use crate::{Access, Entry, Evidence, Finding, Severity, Subject, entry};

/// Something that one finding can be about and another can follow from.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Topic {
    /// A member as a whole: its agent, its rights.
    Member(String),
    /// A member's namespace on the hub.
    MemberNamespace(String),
    /// A placement as a whole.
    Placement { namespace: Option<String>, name: String },
    /// A placement on one member.
    PlacementOn { namespace: Option<String>, name: String, member: String },
    /// The last sync of an Argo CD application.
    Sync { namespace: String, name: String },
    /// The revision that an application's sync holds on to.
    Revision { namespace: String, name: String },
    /// An admission webhook on a cluster.
    Webhook { cluster: String, name: String },
}

/// A finding and its place among the others.
#[derive(Clone, Debug)]
pub(super) struct Draft {
    pub finding: Finding,
    /// The finding's remedies, whose commands are printed last.
    remedies: Vec<PlannedRemedy>,
    /// The texts of this finding where another one explains it, if they are others.
    if_explained: Option<Plan>,
    /// What this finding is the cause of trouble in.
    about: HashSet<Topic>,
    /// What, if another finding is about it, explains this one.
    follows: HashSet<Topic>,
    /// Whether it says nothing by itself.
    only_as_consequence: bool,
}

impl Draft {
    /// A finding with the catalogue's texts; `names` is a JSON object with a value for each placeholder.
    pub fn new(code: &str, subject: Subject, names: &Value, evidence: Vec<Evidence>) -> Self {
        let entry = entry(code).unwrap_or_else(|| panic!("{code} is missing in the catalogue"));
        let Plan { cause, data_loss, remedies } = plan(entry, names);
        let finding = Finding {
            code: entry.code.clone(),
            title: entry.title.clone(),
            severity: entry.severity,
            subject,
            cause,
            data_loss,
            evidence,
            remedies: Vec::new(),
            guide: entry.guide.clone(),
            consequences: Vec::new(),
        };
        Self {
            finding,
            remedies,
            if_explained: None,
            about: HashSet::new(),
            follows: HashSet::new(),
            only_as_consequence: false,
        }
    }

    /// Tells of it without calling it a failure, where a code stands for both.
    pub fn noticed(mut self) -> Self {
        self.finding.severity = Severity::Notice;
        self
    }

    /// Replaces the texts where another finding explains this one: by those with `names`.
    pub fn told_when_explained(mut self, names: &Value) -> Self {
        self.if_explained = entry(&self.finding.code.0).map(|entry| plan(entry, names));
        self
    }

    /// Says what this finding is the cause of trouble in.
    pub fn about(mut self, topic: Topic) -> Self {
        self.about.insert(topic);
        self
    }

    /// Says what would explain this finding.
    pub fn follows(mut self, topic: Topic) -> Self {
        self.follows.insert(topic);
        self
    }

    /// Takes back that this finding is the cause of trouble in anything.
    pub fn about_nothing(mut self) -> Self {
        self.about.clear();
        self
    }

    /// Says that this finding is left out where no other one explains it.
    pub fn only_as_consequence(mut self) -> Self {
        self.only_as_consequence = true;
        self
    }

    fn explains(&self, other: &Draft) -> bool {
        // Two that are each other's explanation would hang in the air.
        !self.about.is_disjoint(&other.follows) && other.about.is_disjoint(&self.follows)
    }
}

/// The texts of an entry with these names.
fn plan(entry: &Entry, names: &Value) -> Plan {
    let planned = names.as_object().map(|names| entry.plan(names));
    match planned {
        Some(Ok(plan)) => plan,
        failed => {
            // A diagnosis with a gap in its text is worth more than none, but a test must not pass with it.
            debug_assert!(false, "{failed:?}");
            Plan { cause: entry.title.clone(), data_loss: None, remedies: Vec::new() }
        }
    }
}

/// Drops doubles, hangs what is explained under what explains it, and sorts: losses of data first, then failures, then
/// by code and subject. Prints the commands for a reader with this access.
pub(super) fn arrange(mut drafts: Vec<Draft>, access: &Access) -> Vec<Finding> {
    drafts.sort_by_cached_key(|d| key(&d.finding));
    let mut seen = HashSet::new();
    drafts.retain(|d| seen.insert((d.finding.code.clone(), d.finding.subject.clone())));

    let explained: Vec<bool> =
        drafts.iter().map(|d| !d.only_as_consequence || drafts.iter().any(|other| other.explains(d))).collect();
    let mut explained = explained.into_iter();
    drafts.retain(|_| explained.next().unwrap_or_default());
    let parents: Vec<Option<usize>> = drafts
        .iter()
        .enumerate()
        .map(|(i, draft)| drafts.iter().enumerate().position(|(j, other)| i != j && other.explains(draft)))
        .collect();
    for (at, draft) in drafts.iter_mut().enumerate() {
        if root(&parents, at) != at
            && let Some(Plan { cause, data_loss, remedies }) = draft.if_explained.take()
        {
            (draft.finding.cause, draft.finding.data_loss, draft.remedies) = (cause, data_loss, remedies);
        }
        draft.finding.remedies = draft.remedies.iter().map(|remedy| remedy.printed(access)).collect();
    }
    let mut roots: Vec<Finding> =
        (0..drafts.len()).filter(|i| root(&parents, *i) == *i).map(|i| tree(&drafts, &parents, i)).collect();
    roots.sort_by_cached_key(key);
    roots
}

/// The topmost finding above `start`; in a circle, its smallest member is taken for the top.
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

fn tree(drafts: &[Draft], parents: &[Option<usize>], at: usize) -> Finding {
    let mut finding = drafts[at].finding.clone();
    finding.consequences = (0..drafts.len())
        .filter(|child| parents[*child] == Some(at) && root(parents, *child) != *child)
        .map(|child| tree(drafts, parents, child))
        .collect();
    finding.consequences.sort_by_cached_key(key);
    finding
}

type Key = (bool, bool, String, [String; 6]);

fn key(finding: &Finding) -> Key {
    let s = &finding.subject;
    let option = |o: &Option<String>| o.clone().unwrap_or_default();
    let subject =
        [s.cluster.clone(), s.kind.clone(), option(&s.namespace), s.name.clone(), option(&s.stage), option(&s.member)];
    (!finding.loses_data(), !finding.is_failure(), finding.code.0.clone(), subject)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Code;

    fn draft(code: &str, name: &str) -> Draft {
        let finding = Finding {
            code: Code(code.to_owned()),
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
            data_loss: None,
            evidence: Vec::new(),
            remedies: Vec::new(),
            guide: None,
            consequences: Vec::new(),
        };
        Draft {
            finding,
            remedies: Vec::new(),
            if_explained: None,
            about: HashSet::new(),
            follows: HashSet::new(),
            only_as_consequence: false,
        }
    }

    fn member(name: &str) -> Topic {
        Topic::Member(name.to_owned())
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
            draft("B", "x").follows(member("m")),
            draft("Z", "m").about(member("m")).follows(member("n")),
            draft("Y", "n").about(member("n")),
            draft("A", "other").follows(member("elsewhere")),
        ];
        assert_eq!(shape(&arrange(drafts, &Access::same_names())), "A/other Y/n(Z/m(B/x))");
    }

    #[test]
    fn doubles_are_dropped_and_losses_come_first_then_failures() {
        let mut notice = draft("A", "n");
        notice.finding.severity = Severity::Notice;
        let mut loss = draft("Z", "l");
        loss.finding.data_loss = Some("all of it".to_owned());
        let drafts = vec![notice, draft("B", "x"), draft("B", "x"), loss];
        assert_eq!(shape(&arrange(drafts, &Access::same_names())), "Z/l B/x A/n");
    }

    #[test]
    fn what_says_nothing_by_itself_needs_a_root() {
        let aside = || draft("B", "x").follows(member("m")).only_as_consequence();
        assert_eq!(shape(&arrange(vec![aside(), draft("A", "other")], &Access::same_names())), "A/other");
        assert_eq!(
            shape(&arrange(vec![aside(), draft("A", "m").about(member("m"))], &Access::same_names())),
            "A/m(B/x)"
        );
    }

    #[test]
    fn a_circle_loses_nothing() {
        let drafts = vec![
            draft("A", "a").about(member("1")).follows(member("3")),
            draft("B", "b").about(member("2")).follows(member("1")),
            draft("C", "c").about(member("3")).follows(member("2")),
        ];
        assert_eq!(shape(&arrange(drafts, &Access::same_names())), "A/a(B/b(C/c))");
    }
}
