//! Differences between controllers and their guides, in Markdown. The readers are the guides' authors, who don't know
//! fleetdrill.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::guides::GuideCoverage;
use crate::guides::coverage::{CoverageState, StatementCoverage};
use crate::guides::statement_check::ConditionDisplay;

/// Returns the differences by guide and section, below a heading.
#[must_use]
pub fn render(guides: &[GuideCoverage]) -> String {
    let mut page = String::from(
        "# Where controllers and their guides differ\n\n\
         Each difference was seen on real controllers; names stand as `{placement}`, `{member}` and so on. The command \
         below each one provokes it again ([fleetdrill](https://github.com/fleetdrill/fleetdrill)).\n",
    );
    page.push_str(&differences(guides, 2));
    page
}

/// Returns the differences alone; their headings begin at this level.
#[must_use]
pub fn differences(guides: &[GuideCoverage], level: usize) -> String {
    let mut page = String::new();
    let heading = "#".repeat(level);
    for guide in guides {
        let _ = writeln!(page, "\n{heading} [{}]({})", guide.title, guide.url);
        let groups = guide.differences();
        if guide.counts().is_empty() {
            page.push_str("\nNothing has been measured yet.\n");
        } else if groups.is_empty() {
            page.push_str("\nNothing differs.\n");
        }
        let mut section = "";
        for group in groups {
            if group[0].section != section {
                section = &group[0].section;
                let _ = writeln!(page, "\n{heading}# {section}");
            }
            write(&mut page, &group);
        }
    }
    page
}

fn write(page: &mut String, group: &[&StatementCoverage]) {
    let statement = group[0];
    let on = if statement.object.is_empty() { String::new() } else { format!(" of a {}", statement.object) };
    let mut others: Vec<&str> = group.iter().map(|s| s.section.as_str()).filter(|s| *s != statement.section).collect();
    others.dedup();
    let also = if others.is_empty() { String::new() } else { format!(" (also in \"{}\")", others.join("\", \"")) };
    let _ = writeln!(page, "\nThe guide says{on}{also}:\n\n{}", quoted(&statement.says));
    for (versions, text) in texts(statement) {
        let _ = writeln!(page, "\n{} {}:\n\n{text}", statement.product.name(), versions.join(", "));
        if let Some(command) = statement.command(versions[0]) {
            let _ = writeln!(page, "\n```sh\n{command}\n```");
        }
    }
    if let Some(note) = &statement.note {
        let _ = writeln!(page, "\n{note}");
    }
}

/// Returns the texts about the controllers' real behaviour, each with the versions that show it.
fn texts(statement: &StatementCoverage) -> Vec<(Vec<&str>, String)> {
    let mut texts: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for (version, standing) in &statement.versions {
        let CoverageState::Differs { seen, instead } = standing else { continue };
        let condition = statement.says.split(' ').next().unwrap_or_default();
        let written = seen.as_ref().map(|seen| quoted(&format!("{condition} {}", ConditionDisplay(seen))));
        texts.entry(written.or(instead.clone()).unwrap_or_default()).or_default().push(version);
    }
    texts.into_iter().map(|(text, versions)| (versions, text)).collect()
}

/// Puts text into a code block, because messages contain characters with a meaning in Markdown.
fn quoted(text: &str) -> String {
    format!("```text\n{text}\n```")
}

#[cfg(test)]
mod tests {
    use crate::guides::coverage::fixture;

    #[test]
    fn for_the_guide_s_authors() {
        insta::assert_snapshot!(super::render(&fixture::guides()));
    }
}
