//! The table at the end of a series.

use std::collections::BTreeMap;

use crate::ledger::LedgerLine;

/// Numbers of a row.
#[derive(Default)]
struct Row {
    blows: usize,
    missed: usize,
    wrong: usize,
    longest: f64,
}

/// Writes a row for each command, target and fault, and a line for each blow that something was wrong with.
pub fn table(lines: &[LedgerLine]) -> String {
    let mut rows: BTreeMap<_, Row> = BTreeMap::new();
    for line in lines {
        let row = rows.entry((line.blow.command, line.blow.target, line.blow.fault)).or_default();
        row.blows += 1;
        row.missed += usize::from(line.hit.is_none());
        row.wrong += usize::from(!line.wrong.is_empty());
        row.longest = row.longest.max(line.seconds);
    }
    let mut text = vec![format!(
        "{:<10} {:<10} {:<10} {:>5} {:>7} {:>6} {:>10}",
        "command", "target", "fault", "blows", "missed", "wrong", "longest s"
    )];
    for ((command, target, fault), row) in &rows {
        let (command, target, fault) = (command.to_string(), target.to_string(), fault.to_string());
        let Row { blows, missed, wrong, longest } = row;
        text.push(format!("{command:<10} {target:<10} {fault:<10} {blows:>5} {missed:>7} {wrong:>6} {longest:>10.1}"));
    }
    let sum = |of: fn(&Row) -> usize| rows.values().map(of).sum::<usize>();
    let (blows, missed, wrong) = (sum(|row| row.blows), sum(|row| row.missed), sum(|row| row.wrong));
    text.push(format!("{:<32} {blows:>5} {missed:>7} {wrong:>6}", "all"));
    text.extend(lines.iter().filter(|line| !line.wrong.is_empty()).map(story));
    text.join("\n")
}

/// Writes a blow, and what was wrong.
pub fn story(line: &LedgerLine) -> String {
    let LedgerLine { blow, hit, moment_ms, exit, seconds, wrong, .. } = line;
    let hit = hit.as_deref().unwrap_or("missed");
    let exit = exit.map_or_else(|| "by a signal".to_owned(), |code| format!("with {code}"));
    let verdict = if wrong.is_empty() { "as it should be".to_owned() } else { format!("WRONG: {}", wrong.join("; ")) };
    format!(
        "{:>3} {} {} {} ({hit}) after {moment_ms} ms: ended {exit} after {seconds:.1} s, {verdict}",
        blow.number, blow.command, blow.target, blow.fault
    )
}
