//! Findings that were seen in looks: each once, with the looks that had it.

use diagnosis::Finding;

/// Number of looks in a row that have to have a finding until it counts for a run. The lists of a snapshot are read one after
/// the other and aren't one moment: a placement's status may be newer than its bindings. The next snapshot doesn't repeat that.
pub const CONFIRMING_LOOKS: usize = 2;

/// Findings that were seen, in the order in which they were seen first. A finding is known by its code and subject.
#[derive(Debug)]
pub struct Sightings<T> {
    all: Vec<Sighting<T>>,
    looks: usize,
}

/// Finding that was seen.
#[derive(Debug)]
pub struct Sighting<T> {
    code: String,
    subject: String,
    last_look: usize,
    /// Number of looks in a row that had the finding, up to the last one that had it.
    in_a_row: usize,
    /// Record of the finding.
    pub record: T,
}

impl<T> Default for Sightings<T> {
    fn default() -> Self {
        Self { all: Vec::new(), looks: 0 }
    }
}

impl<T> Sightings<T> {
    /// Begins the next look.
    pub fn begin_look(&mut self) {
        self.looks += 1;
    }

    /// Number of looks so far.
    #[must_use]
    pub fn looks(&self) -> usize {
        self.looks
    }

    /// Takes note of a finding in the current look, and returns its sighting. `record` makes the record of a finding that wasn't
    /// seen before.
    pub fn see(&mut self, finding: &Finding, record: impl FnOnce() -> T) -> &mut Sighting<T> {
        let subject = finding.subject.to_string();
        let known = self.all.iter().position(|seen| seen.code == finding.code.0 && seen.subject == subject);
        let index = known.unwrap_or_else(|| {
            let code = finding.code.0.clone();
            self.all.push(Sighting { code, subject, last_look: 0, in_a_row: 0, record: record() });
            self.all.len() - 1
        });
        let seen = &mut self.all[index];
        if seen.last_look < self.looks {
            seen.in_a_row = if seen.last_look + 1 == self.looks { seen.in_a_row + 1 } else { 1 };
            seen.last_look = self.looks;
        }
        seen
    }

    /// Number of different findings.
    #[must_use]
    pub fn count(&self) -> usize {
        self.all.len()
    }

    /// Record of the finding with this index.
    pub fn record_mut(&mut self, index: usize) -> &mut T {
        &mut self.all[index].record
    }

    /// Records of all findings.
    pub fn records(&self) -> impl Iterator<Item = &T> {
        self.all.iter().map(|seen| &seen.record)
    }

    /// Records of all findings, each with true if the last look had the finding.
    pub fn records_at_end(&self) -> impl Iterator<Item = (&T, bool)> {
        self.all.iter().map(|seen| (&seen.record, seen.last_look == self.looks))
    }

    /// Returns the records, each with true if the last look had the finding.
    pub fn into_records(self) -> impl Iterator<Item = (T, bool)> {
        self.all.into_iter().map(move |seen| (seen.record, seen.last_look == self.looks))
    }
}

impl<T> Sighting<T> {
    /// True if [`CONFIRMING_LOOKS`] looks in a row had the finding, up to the last one that had it.
    #[must_use]
    pub fn is_confirmed(&self) -> bool {
        self.in_a_row >= CONFIRMING_LOOKS
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::owners::tests::finding;
    use super::*;

    #[test]
    fn a_finding_is_confirmed_by_two_looks_in_a_row() {
        let (web, other) = (finding("A", "web", None, &json!({})), finding("A", "web", Some("east"), &json!({})));
        let mut sightings = Sightings::default();
        let mut look = |findings: &[&Finding]| {
            sightings.begin_look();
            findings.iter().map(|finding| sightings.see(finding, || ()).is_confirmed()).collect::<Vec<_>>()
        };
        assert_eq!(look(&[&web, &web]), [false, false], "twice in one look");
        assert_eq!(look(&[]), [false; 0]);
        assert_eq!(look(&[&web, &other]), [false, false], "not in a row, and another subject");
        assert_eq!(look(&[&web]), [true]);
        assert_eq!(sightings.count(), 2);
        let at_end: Vec<bool> = sightings.into_records().map(|((), at_end)| at_end).collect();
        assert_eq!(at_end, [true, false]);
    }
}
