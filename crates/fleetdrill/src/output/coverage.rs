//! Coverage of guides as text: either counts per version, or each statement: statements that hold, statements that
//! differ with both texts, and statements that no scenario reaches.

use std::collections::BTreeMap;

use report::finding::text::heading;
use report::text::TextPage;
use report::text::style::{BOLD, ERROR, HINT, SUCCESS, WARNING};

use crate::guides::GuideCoverage;
use crate::guides::coverage::{CoverageState, StatementCoverage};
use crate::guides::statement_check::ConditionDisplay;

/// Returns a summary of the guides with colours, wrapped to a width: title and counts of each guide, and the commands
/// that show more.
#[must_use]
pub fn summary(guides: &[GuideCoverage], width: usize) -> String {
    let mut page = TextPage::new(width);
    for guide in guides {
        write_head(&mut page, guide);
    }
    page.blank();
    page.item("statements: ", HINT, 2, "fleetdrill guides GUIDE, or all of them: fleetdrill guides --all");
    page.item("differences, for the guides' authors: ", HINT, 2, "fleetdrill guides -o markdown");
    page.finish()
}

/// Returns every statement of the guides with colours, wrapped to a width.
#[must_use]
pub fn render(guides: &[GuideCoverage], width: usize) -> String {
    let mut page = TextPage::new(width);
    for guide in guides {
        page.blank();
        write_head(&mut page, guide);
        page.indented(2, |page| write(page, guide));
    }
    page.finish()
}

fn write_head(page: &mut TextPage, guide: &GuideCoverage) {
    page.item(&format!("{}: ", guide.name), BOLD, 2, &guide.title);
    page.indented(2, |page| {
        for (version, counts) in guide.counts() {
            page.item(&format!("{version}: "), BOLD, 2, &counts.to_string());
        }
    });
}

fn write(page: &mut TextPage, guide: &GuideCoverage) {
    if !guide.differs.is_empty() {
        page.blank();
        heading(page, "differs:");
        for group in guide.differences() {
            page.indented(2, |page| write_differing(page, &group));
        }
    }
    if !guide.unreached.is_empty() {
        page.blank();
        heading(page, "unreached:");
        for statement in guide.statements.iter().filter(|s| guide.unreached.contains(&s.id)) {
            page.indented(2, |page| page.item(&format!("{}: ", statement.short_id()), ERROR, 2, &statement.says));
        }
    }
    for ((version, because), ids) in not_applying(guide) {
        page.blank();
        page.item(&format!("doesn't apply to {version}: "), WARNING, 2, because);
        page.indented(2, |page| page.text(&ids.join(", ")));
    }
    page.blank();
    heading(page, "holds:");
    for statement in &guide.statements {
        let holds = statement.versions.iter().filter(|(_, s)| **s == CoverageState::Holds);
        let versions: Vec<&str> = holds.map(|(version, _)| version.as_str()).collect();
        if !versions.is_empty() {
            page.indented(2, |page| {
                page.item(&format!("{} ", statement.short_id()), SUCCESS, 2, &format!("({})", versions.join(", ")));
                page.indented(2, |page| page.text(&about(statement)));
            });
        }
    }
}

/// Writes a group of statements that say the same and differ in the same way.
fn write_differing(page: &mut TextPage, group: &[&StatementCoverage]) {
    let ids: Vec<&str> = group.iter().map(|s| s.short_id()).collect();
    let statement = group[0];
    page.text(&ids.join(", "));
    page.indented(2, |page| {
        page.item("the guide: ", BOLD, 2, &about(statement));
        for (version, standing) in &statement.versions {
            let CoverageState::Differs { seen, instead } = standing else { continue };
            let written = seen.as_ref().map(|seen| ConditionDisplay(seen).to_string());
            let text = written.or(instead.clone()).unwrap_or_default();
            page.item(&format!("{version}: "), WARNING, 2, &text);
            if let Some(command) = statement.command(version) {
                page.indented(2, |page| page.unwrapped(&command));
            }
        }
        if let Some(note) = &statement.note {
            page.item("note: ", HINT, 2, note);
        }
    });
}

/// Returns the statement in the guide's words, preceded by the object that has the condition.
fn about(statement: &StatementCoverage) -> String {
    if statement.object.is_empty() {
        statement.says.clone()
    } else {
        format!("{}: {}", statement.object, statement.says)
    }
}

fn not_applying(guide: &GuideCoverage) -> BTreeMap<(&str, &str), Vec<&str>> {
    let mut groups: BTreeMap<(&str, &str), Vec<&str>> = BTreeMap::new();
    for statement in &guide.statements {
        for (version, standing) in &statement.versions {
            if let CoverageState::DoesNotApply { because } = standing {
                groups.entry((version, because)).or_default().push(statement.short_id());
            }
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use report::text::style::WIDTH;

    use super::*;
    use crate::guides::coverage::fixture;

    fn plain(text: &str) -> String {
        anstream::adapter::strip_str(text).to_string()
    }

    #[test]
    fn in_short() {
        insta::assert_snapshot!(plain(&summary(&fixture::guides(), WIDTH)));
    }

    #[test]
    fn whole() {
        insta::assert_snapshot!(plain(&render(&fixture::guides(), WIDTH)));
    }
}
