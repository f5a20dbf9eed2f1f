//! Judges a trainee's answer about the cause: the faults that it names.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;

use super::exercise::{Exercise, Fault};

/// Maximum number of other words between the words of one cause.
const BETWEEN: usize = 6;

/// Maximum number of words of an answer for each fault of an exercise: two plain sentences.
const MOST_WORDS: usize = 30;

/// Maximum number of other causes that an answer in words may name: causes share words.
const TOLERATED: usize = 2;

static CODE: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"(?i)\b[a-z]{2}-[a-z]{2}-[0-9]+\b").ok());

/// Judgement of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AnswerJudgement {
    /// Indexes of the faults that the answer names; empty if the answer is wrong.
    Names(Vec<usize>),
    /// The answer names too many causes, or has too many words.
    TooBroad,
}

/// Returns the failure codes in an answer, as written.
#[must_use]
pub fn codes(answer: &str) -> Vec<&str> {
    CODE.iter().flat_map(|code| code.find_iter(answer)).map(|found| found.as_str()).collect()
}

/// Judges an answer. `all` are the exercises whose causes count as other causes.
#[must_use]
pub fn judge(answer: &str, exercise: &Exercise, all: &[Exercise]) -> AnswerJudgement {
    let faults = exercise.faults.len();
    let written: BTreeSet<String> = codes(answer).into_iter().map(str::to_ascii_uppercase).collect();
    let own: BTreeSet<&String> = exercise.faults.iter().flat_map(|fault| &fault.codes).collect();
    let others = all.iter().flat_map(|exercise| &exercise.faults).filter(|fault| fault.is_named_by(answer));
    let others: BTreeSet<&String> = others.flat_map(|fault| &fault.codes).filter(|code| !own.contains(code)).collect();
    let is_too_long = words(answer).len() > MOST_WORDS * faults;
    if written.len() > faults || others.len() > TOLERATED || is_too_long {
        return AnswerJudgement::TooBroad;
    }
    let named = exercise.faults.iter().enumerate().filter(|(_, fault)| fault.is_named_by(answer));
    AnswerJudgement::Names(named.map(|(n, _)| n).collect())
}

impl Fault {
    /// True if a text names the cause: by a code, or by words that stand near each other.
    #[must_use]
    pub fn is_named_by(&self, text: &str) -> bool {
        let written = codes(text);
        let words = words(text);
        self.codes.iter().any(|code| written.iter().any(|written| written.eq_ignore_ascii_case(code)))
            || self.words.iter().any(|cause| stand_together(cause, &words))
    }
}

/// True if all words of a cause stand near each other, in any order.
fn stand_together(cause: &str, words: &[String]) -> bool {
    let cause: Vec<&str> = cause.split(' ').collect();
    let width = (cause.len() + BETWEEN).min(words.len()).max(1);
    words.windows(width).any(|near| cause.iter().all(|cause| near.iter().any(|word| is_form_of(word, cause))))
}

/// True if a word of an answer is a form of a cause's word: `terminating` of `terminat`, `clusterresourceenvelope` of
/// `envelope`. A short word has no form but its plural.
fn is_form_of(word: &str, of: &str) -> bool {
    match of.len() {
        0..4 => word.strip_suffix('s').unwrap_or(word) == of || word == of,
        4..6 => word.starts_with(of),
        _ => word.contains(of),
    }
}

fn words(text: &str) -> Vec<String> {
    let text = text.to_lowercase().replace('\u{2019}', "'");
    let words = text.split(|c: char| !c.is_alphanumeric() && c != '\'');
    words.filter(|word| !word.is_empty()).map(ToOwned::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::train::exercise;

    fn judged(answer: &str, name: &str) -> AnswerJudgement {
        let all = exercise::all(None).expect("exercises");
        let exercise = all.iter().find(|exercise| exercise.name == name).expect("an exercise");
        judge(answer, exercise, &all)
    }

    #[test]
    fn answers_are_codes_or_words_in_any_order() {
        for right in [
            "KF-UR-004",
            "kf-ur-004",
            "the generation of the approval",
            "observedGeneration is stale",
            "status.conditions[Approved].observedGeneration is 0, the approval isn't for this generation",
        ] {
            assert_eq!(judged(right, "half-a-release"), AnswerJudgement::Names(vec![0]), "{right}");
        }
        for wrong in
            ["KF-UR-005", "nobody has approved it", "", "an approval, and elsewhere in this fleet is a generation"]
        {
            assert_eq!(judged(wrong, "half-a-release"), AnswerJudgement::Names(Vec::new()), "{wrong}");
        }
    }

    #[test]
    fn each_fault_of_an_exercise_can_be_named_alone_or_with_the_others() {
        assert_eq!(judged("KF-WS-001", "two-fires"), AnswerJudgement::Names(vec![0]));
        assert_eq!(judged("KF-UR-004, KF-WS-001", "two-fires"), AnswerJudgement::Names(vec![0, 1]));
        assert_eq!(judged("KF-UR-004 KF-WS-001 KF-UR-003", "two-fires"), AnswerJudgement::TooBroad);
    }

    #[test]
    fn an_answer_that_names_many_causes_names_none() {
        for broad in [
            "KF-UR-001 KF-UR-003 KF-UR-004",
            "index doesn't exist wrong generation of the approval image pull namespace deleted",
            "another run snapshot index rights selector crd immutable namespace deleted approval generation",
            &"the snapshot index ".repeat(11),
        ] {
            assert_eq!(judged(broad, "wrong-turn"), AnswerJudgement::TooBroad, "{broad}");
        }
    }

    #[test]
    fn what_the_last_hints_say_is_right_and_not_too_broad() {
        for exercise in exercise::all(None).expect("exercises") {
            let all: Vec<usize> = (0..exercise.faults.len()).collect();
            let sentence = exercise.hints[2].split(". ").next().unwrap_or_default();
            assert_eq!(judged(sentence, &exercise.name), AnswerJudgement::Names(all), "{}", exercise.name);
        }
    }

    #[test]
    fn codes_are_found_whether_they_exist_or_not() {
        assert_eq!(codes("it is kf-xx-999, or KF-UR-001?"), ["kf-xx-999", "KF-UR-001"]);
        assert_eq!(codes("three-way hand-off"), Vec::<&str>::new());
    }
}
