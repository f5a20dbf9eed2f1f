//! The subjects of a finding in a few words, however many there are.

use std::collections::BTreeSet;

use diagnosis::{Finding, Subject};

use crate::text::some_names;

/// Number of subjects that are named.
const NAMED: usize = 3;

/// Returns `ClusterResourcePlacement/web (member-1)`; for several subjects, e.g.
/// `ClusterResourcePlacement/web on 97 members: m-001, m-002, m-003 (and 94 more)`.
#[must_use]
pub fn subjects_text(finding: &Finding) -> String {
    if finding.other_subjects.is_empty() {
        return finding.subject.to_string();
    }
    let subjects: Vec<&Subject> = finding.subjects().collect();
    let first = subjects[0];
    let named = |names: Vec<String>| some_names(&names, NAMED);
    let members: Option<Vec<String>> = subjects.iter().map(|subject| subject.member.clone()).collect();
    let count = subjects.len();
    if subjects.iter().all(|subject| subject.path() == first.path())
        && let Some(members) = members
    {
        return format!("{} on {count} members: {}", first.path(), named(members));
    }
    if subjects.iter().all(|subject| subject.kind == first.kind && subject.member.is_none()) {
        let names = subjects.iter().map(|subject| subject.name.clone()).collect();
        return format!("{count} {}s: {}", first.kind, named(names));
    }
    if let Some(text) = placements_on_members(&subjects) {
        return text;
    }
    format!("{count} objects: {}", named(subjects.iter().map(ToString::to_string).collect()))
}

/// Returns `3 ClusterResourcePlacements (api, shop, web) on 97 members: m-001, m-002, m-003 (and 94 more)`; `None` if the subjects
/// aren't objects of one kind, each on a member.
fn placements_on_members(subjects: &[&Subject]) -> Option<String> {
    let first = subjects[0];
    let (mut names, mut members) = (BTreeSet::new(), BTreeSet::new());
    for subject in subjects {
        if subject.kind != first.kind || subject.cluster != first.cluster {
            return None;
        }
        names.insert(match &subject.namespace {
            Some(namespace) => format!("{namespace}/{}", subject.name),
            None => subject.name.clone(),
        });
        members.insert(subject.member.as_deref()?);
    }
    let (names, members): (Vec<_>, Vec<_>) = (names.into_iter().collect(), members.into_iter().collect());
    let on = match members.len() {
        1 => members[0].to_owned(),
        count => format!("{count} members: {}", some_names(&members, NAMED)),
    };
    Some(format!("{} {}s ({}) on {on}", names.len(), first.kind, some_names(&names, NAMED)))
}

#[cfg(test)]
mod tests {
    use super::subjects_text;
    use crate::run::fixture;

    #[test]
    fn some_subjects_are_named_and_all_are_counted() {
        let mut finding = fixture::member_namespace_finding();
        finding.subject.member = Some("m-1".to_owned());
        assert_eq!(subjects_text(&finding), finding.subject.to_string());
        let path = finding.subject.path();
        let on = |member: &str| diagnosis::Subject { member: Some(member.to_owned()), ..finding.subject.clone() };
        let many: Vec<_> = ["m-2", "m-3", "m-4", "m-5"].map(on).into();
        finding.other_subjects = many;
        assert_eq!(subjects_text(&finding), format!("{path} on 5 members: m-1, m-2, m-3 (and 2 more)"));
        finding.other_subjects[0].name = "shop".to_owned();
        let both =
            format!("2 ClusterResourcePlacements (shop, {}) on 5 members: m-1, m-2, m-3 (and 2 more)", path.name);
        assert_eq!(subjects_text(&finding), both);
        finding.other_subjects[1].member = None;
        assert!(subjects_text(&finding).starts_with("5 objects: "));
        finding.subject.member = None;
        finding.other_subjects = vec![diagnosis::Subject { name: "shop".to_owned(), ..finding.subject.clone() }];
        assert_eq!(subjects_text(&finding), format!("2 ClusterResourcePlacements: {}, shop", finding.subject.name));
    }
}
