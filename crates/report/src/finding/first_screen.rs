//! The findings on one screen of a terminal, however many there are: what is wrong, how widely, since when, what to do first.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashSet};

use diagnosis::{Finding, Severity};
use jiff::Timestamp;

use super::subjects::subjects_text;
use super::text::{needs_remedy, short_since, write_finding_title, write_short};
use crate::text::TextPage;

/// Rows of a terminal that the findings take at most. A screen has 40, with the summary below them.
const ROWS: usize = 32;

/// Rows that the codes of the remaining findings take.
const ROWS_OF_REST: usize = 3;

/// Lines of a remedy, if there are too many findings for their whole text.
const LINES: usize = 2;

/// Writes all findings in short. If they take more than a screen, one finding of each code comes first, those that are about the most
/// objects before the others: the first finding with its commands, the next ones without, and the rest by code.
pub(super) fn write(page: &mut TextPage, findings: &[Finding], now: Option<Timestamp>) {
    if fits(page, findings, now) {
        for finding in findings {
            page.blank();
            write_short(page, finding, now);
        }
        return;
    }
    let ordered = by_weight(findings);
    let mut left = ROWS - ROWS_OF_REST;
    let mut shown = 0;
    for (position, finding) in ordered.iter().enumerate() {
        let write = |page: &mut TextPage| {
            if position == 0 {
                write_short(page, finding, now);
                page.blank();
            } else {
                write_outline(page, finding, now);
            }
        };
        let needed = rows(page, write);
        if position > 0 && needed > left {
            break;
        }
        left = left.saturating_sub(needed);
        write(page);
        shown = position + 1;
    }
    write_rest(page, &ordered[shown..]);
}

/// True if all findings in short have room on a screen, with an empty row between them.
fn fits(page: &TextPage, findings: &[Finding], now: Option<Timestamp>) -> bool {
    let mut left = ROWS + 1;
    findings.iter().all(|finding| {
        let needed = rows(page, |page| write_short(page, finding, now)) + 1;
        let is_room = needed <= left;
        left = left.saturating_sub(needed);
        is_room
    })
}

/// Returns the findings in the order in which a screen shows them.
fn by_weight(findings: &[Finding]) -> Vec<&Finding> {
    let mut ordered: Vec<&Finding> = findings.iter().collect();
    ordered.sort_by_key(|finding| Reverse(objects(finding)));
    let mut codes = HashSet::new();
    let firsts: Vec<bool> = ordered.iter().map(|finding| codes.insert(&finding.code)).collect();
    let mut ordered: Vec<(bool, &Finding)> = firsts.into_iter().zip(ordered).collect();
    // The sort is stable: of equal findings, those about more objects come first.
    ordered.sort_by_key(|(is_first, finding)| {
        let (is_waived, is_notice) = (finding.waived.is_some(), finding.severity == Severity::Notice);
        (is_waived, finding.data_loss.is_none(), is_notice, !is_first)
    });
    ordered.into_iter().map(|(_, finding)| finding).collect()
}

/// Returns the rows that a terminal of the page's width shows of a text. Commands may be longer than a row.
fn rows(page: &TextPage, write: impl FnOnce(&mut TextPage)) -> usize {
    let width = page.columns();
    let mut scratch = TextPage::new(width);
    write(&mut scratch);
    let text = scratch.finish();
    let plain = anstream::adapter::strip_str(&text).to_string();
    plain.lines().map(|line| line.chars().count().div_ceil(width).max(1)).sum()
}

/// Number of objects that a finding and its consequences are about.
fn objects(finding: &Finding) -> usize {
    finding.flatten().map(|finding| finding.subjects().count()).sum()
}

/// Writes what is wrong, how widely, since when, and what to do, without the cause and the commands.
fn write_outline(page: &mut TextPage, finding: &Finding, now: Option<Timestamp>) {
    let explained = match finding.flatten().skip(1).map(|finding| finding.subjects().count()).sum::<usize>() {
        0 => String::new(),
        1 => " It explains another finding.".to_owned(),
        more => format!(" It explains {more} others."),
    };
    let title = format!("{}: {}.{}{explained}", finding.title, subjects_text(finding), short_since(finding, now));
    write_finding_title(page, finding, &title);
    if let Some(remedy) = finding.remedies.first().filter(|_| needs_remedy(finding)) {
        page.indented(2, |page| page.at_most(LINES, "remedy: ", 2, &remedy.action));
    }
}

/// Writes how many findings of each code aren't shown.
fn write_rest(page: &mut TextPage, rest: &[&Finding]) {
    if rest.is_empty() {
        return;
    }
    let mut by_code: BTreeMap<&str, usize> = BTreeMap::new();
    for finding in rest {
        *by_code.entry(&finding.code.0).or_default() += 1;
    }
    let mut by_code: Vec<(&str, usize)> = by_code.into_iter().collect();
    by_code.sort_by_key(|(code, count)| (Reverse(*count), *code));
    let named = by_code.iter().map(|(code, count)| match count {
        1 => (*code).to_owned(),
        _ => format!("{code} ({count})"),
    });
    let text = format!("{} more: {}", rest.len(), named.collect::<Vec<_>>().join(", "));
    page.at_most(ROWS_OF_REST, "and ", 2, &text);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::fixture;
    use crate::text::style::WIDTH;

    #[test]
    fn ten_thousand_findings_have_one_screen_and_are_all_counted() {
        let of = |number: usize| {
            let mut finding = fixture::member_namespace_finding();
            finding.data_loss = None;
            finding.subject.name = format!("web-{number}");
            if number >= 9_990 {
                finding.code = fixture::stale_approval_finding().code;
            }
            finding
        };
        let findings: Vec<Finding> = (0..10_000).map(of).collect();
        let mut page = TextPage::new(WIDTH);
        write(&mut page, &findings, None);
        let text = anstream::adapter::strip_str(&page.finish()).to_string();
        let shown = text.lines().filter(|line| line.starts_with("KF-")).count();
        let rows: usize = text.lines().map(|line| line.chars().count().div_ceil(WIDTH).max(1)).sum();
        assert!(rows <= ROWS, "{text}");
        assert!(
            text.lines().filter(|line| line.starts_with("KF-")).nth(1).is_some_and(|line| line.starts_with("KF-UR")),
            "{text}"
        );
        assert!(text.contains(&format!("and {} more: KF-WS-001", 10_000 - shown)), "{text}");
    }
}
