//! Origin of an object on a member as text.

use record::{ObjectOrigin, ObjectPath, WorkOrigin};

use crate::finding::text::heading;
use crate::text::TextPage;
use crate::text::style::{BOLD, WARNING};

/// Columns of a label.
const LABEL: usize = 19;

/// Returns the origin of an object, wrapped to a width.
#[must_use]
pub fn render(origin: &ObjectOrigin, width: usize) -> String {
    let mut page = TextPage::new(width);
    page.item(&format!("{} on {}: ", origin.object.in_words(), origin.member), BOLD, 2, &answer(origin));
    if !origin.owners.is_empty() {
        let owners: Vec<String> = origin.owners.iter().map(ObjectPath::in_words).collect();
        page.item("made on the member for ", BOLD, 2, &owners.join(", which is of "));
    }
    for work in &origin.placed_by {
        page.blank();
        write_work(&mut page, "placed by", &origin.member, work);
    }
    for work in &origin.wanted_by {
        page.blank();
        write_work(&mut page, "wanted, but not applied, by", &origin.member, work);
    }
    if !origin.writers.is_empty() {
        page.blank();
        let writers: Vec<String> = origin
            .writers
            .iter()
            .map(|writer| {
                writer.at.map_or_else(|| writer.manager.clone(), |at| format!("{} at {at:.0}", writer.manager))
            })
            .collect();
        let order = if writers.len() > 1 { " (the last one first)" } else { "" };
        page.item("written by ", BOLD, 2, &format!("{}{order}", writers.join(", ")));
    }
    page.finish()
}

/// Returns the answer in a few words.
fn answer(origin: &ObjectOrigin) -> String {
    let placements = |works: &[WorkOrigin]| {
        let mut names: Vec<String> = works.iter().map(placement).collect();
        names.dedup();
        names.join(" and ")
    };
    match (origin.exists, &origin.placed_by[..], &origin.wanted_by[..]) {
        (true, [], []) => "nobody in the fleet put it there; no AppliedWork owns it, and no Work contains it".into(),
        (true, [], wanted) => {
            format!("nobody in the fleet put it there, although {} contains it", placements(wanted))
        }
        (true, placed, _) => format!("{} put it there", placements(placed)),
        (false, _, []) => "it isn't there, and no Work contains it".into(),
        (false, _, wanted) => format!("it isn't there, although {} contains it", placements(wanted)),
    }
}

fn placement(work: &WorkOrigin) -> String {
    work.placement.as_ref().map_or_else(|| work.work.in_words(), ObjectPath::in_words)
}

fn write_work(page: &mut TextPage, how: &str, member: &str, work: &WorkOrigin) {
    heading(page, &format!("{how} {}:", placement(work)));
    page.indented(2, |page| {
        let mut row = |label: &str, text: &str| {
            page.item(&format!("{label:LABEL$}"), BOLD, LABEL, text);
        };
        if work.placement.is_some() && !work.placement_exists {
            row("placement", "isn't on the hub any more");
        }
        for snapshot in &work.overrides {
            row("override", &snapshot.in_words());
        }
        if let Some(envelope) = &work.envelope {
            row("envelope", &envelope.in_words());
        }
        if let Some(snapshot) = &work.resource_snapshot {
            row("resource snapshot", &snapshot.in_words());
        }
        if let Some(binding) = &work.binding {
            row("binding", &binding.in_words());
        }
        let gone = if work.work_exists { "" } else { " (isn't on the hub any more)" };
        row("Work", &format!("{}{gone}", work.work.full_name()));
        if let Some(applied) = &work.applied_work {
            row("AppliedWork", &format!("{} on {member}", applied.full_name()));
        }
        if let Some(report) = &work.manifest {
            let text = format!("{} {}: {}", report.status, report.reason, report.message);
            let style = if report.status == "True" { BOLD } else { WARNING };
            page.item(&format!("{:LABEL$}", report.condition), style, LABEL, text.trim_end_matches([':', ' ']));
        }
    });
}

#[cfg(test)]
mod tests {
    use record::{ManifestReport, ObjectWriter};

    use super::*;

    fn text(origin: &ObjectOrigin) -> String {
        anstream::adapter::strip_str(&render(origin, 100)).to_string()
    }

    fn work() -> WorkOrigin {
        WorkOrigin {
            applied_work: Some(ObjectPath::new("AppliedWork", None, "web.settings-work")),
            work: ObjectPath::new("Work", Some("fleet-member-east"), "web.settings-work"),
            work_exists: true,
            manifest: Some(ManifestReport {
                condition: "Applied".into(),
                status: "True".into(),
                reason: "Applied".into(),
                message: "Manifest has been applied successfully".into(),
            }),
            placement: Some(ObjectPath::new("ResourcePlacement", Some("web"), "settings")),
            placement_exists: true,
            binding: Some(ObjectPath::new("ResourceBinding", Some("web"), "settings-east-7d0e")),
            resource_snapshot: Some(ObjectPath::new("ResourceSnapshot", Some("web"), "settings-3-snapshot")),
            envelope: None,
            overrides: vec![ObjectPath::new("ResourceOverrideSnapshot", Some("web"), "colour-0")],
        }
    }

    fn origin() -> ObjectOrigin {
        let at = "2026-11-25T10:00:00Z".parse().ok();
        ObjectOrigin {
            object: ObjectPath::new("ConfigMap", Some("web"), "settings"),
            member: "east".into(),
            exists: true,
            owners: Vec::new(),
            placed_by: vec![work()],
            wanted_by: Vec::new(),
            writers: vec![ObjectWriter { manager: "work-api-agent".into(), at }],
        }
    }

    #[test]
    fn an_object_that_a_placement_has_put_there() {
        insta::assert_snapshot!(text(&origin()));
    }

    #[test]
    fn a_pod_whose_deployment_came_in_an_envelope() {
        let envelope = Some(ObjectPath::new("ResourceEnvelope", Some("web"), "envelope"));
        insta::assert_snapshot!(text(&ObjectOrigin {
            object: ObjectPath::new("Pod", Some("web"), "app-5d4-x"),
            owners: vec![
                ObjectPath::new("ReplicaSet", Some("web"), "app-5d4"),
                ObjectPath::new("Deployment", Some("web"), "app"),
            ],
            placed_by: vec![WorkOrigin { envelope, overrides: Vec::new(), placement_exists: false, ..work() }],
            ..origin()
        }));
    }

    #[test]
    fn an_object_that_was_there_before() {
        let refused = ManifestReport {
            condition: "Applied".into(),
            status: "False".into(),
            reason: "NotTakenOver".into(),
            message: "no ownership of the object in the member cluster; takeover is needed".into(),
        };
        let wanted = WorkOrigin { applied_work: None, manifest: Some(refused), ..work() };
        insta::assert_snapshot!(text(&ObjectOrigin { placed_by: Vec::new(), wanted_by: vec![wanted], ..origin() }));
    }

    #[test]
    fn an_object_of_nobody_in_the_fleet() {
        insta::assert_snapshot!(text(&ObjectOrigin { placed_by: Vec::new(), ..origin() }));
    }

    #[test]
    fn an_object_that_is_not_there() {
        let none = ObjectOrigin { exists: false, placed_by: Vec::new(), writers: Vec::new(), ..origin() };
        insta::assert_snapshot!(text(&none));
        insta::assert_snapshot!(text(&ObjectOrigin {
            wanted_by: vec![WorkOrigin { applied_work: None, ..work() }],
            ..none
        }));
    }
}
