//! Findings on their way: what each is about and what it may follow from, so that one root stands for all that it
//! explains.

use std::collections::HashSet;

use serde_json::Value;

use crate::{Evidence, Finding, Severity, Subject, entry};

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
        let texts = names.as_object().map(|names| entry.render(names));
        let (cause, data_loss, remedies) = match texts {
            Some(Ok(texts)) => (texts.cause, texts.data_loss, texts.remedies),
            failed => {
                // A diagnosis with a gap in its text is worth more than none, but a test must not pass with it.
                debug_assert!(false, "{failed:?}");
                (entry.title.clone(), None, Vec::new())
            }
        };
        let finding = Finding {
            code: entry.code.clone(),
            title: entry.title.clone(),
            severity: entry.severity,
            subject,
            cause,
            data_loss,
            evidence,
            remedies,
            guide: entry.guide.clone(),
            consequences: Vec::new(),
        };
        Self { finding, about: HashSet::new(), follows: HashSet::new(), only_as_consequence: false }
    }

    /// Tells of it without calling it a failure, where a code stands for both.
    pub fn noticed(mut self) -> Self {
        self.finding.severity = Severity::Notice;
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

/// Drops doubles, hangs what is explained under what explains it, and sorts: losses of data first, then failures, then
/// by code and subject.
pub(super) fn arrange(mut drafts: Vec<Draft>) -> Vec<Finding> {
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
        Draft { finding, about: HashSet::new(), follows: HashSet::new(), only_as_consequence: false }
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
        assert_eq!(shape(&arrange(drafts)), "A/other Y/n(Z/m(B/x))");
    }

    #[test]
    fn doubles_are_dropped_and_losses_come_first_then_failures() {
        let mut notice = draft("A", "n");
        notice.finding.severity = Severity::Notice;
        let mut loss = draft("Z", "l");
        loss.finding.data_loss = Some("all of it".to_owned());
        let drafts = vec![notice, draft("B", "x"), draft("B", "x"), loss];
        assert_eq!(shape(&arrange(drafts)), "Z/l B/x A/n");
    }

    #[test]
    fn what_says_nothing_by_itself_needs_a_root() {
        let aside = || draft("B", "x").follows(member("m")).only_as_consequence();
        assert_eq!(shape(&arrange(vec![aside(), draft("A", "other")])), "A/other");
        assert_eq!(shape(&arrange(vec![aside(), draft("A", "m").about(member("m"))])), "A/m(B/x)");
    }

    #[test]
    fn a_circle_loses_nothing() {
        let drafts = vec![
            draft("A", "a").about(member("1")).follows(member("3")),
            draft("B", "b").about(member("2")).follows(member("1")),
            draft("C", "c").about(member("3")).follows(member("2")),
        ];
        assert_eq!(shape(&arrange(drafts)), "A/a(B/b(C/c))");
    }
}
