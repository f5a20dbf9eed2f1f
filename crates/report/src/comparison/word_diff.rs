//! Compares two texts and marks the words that only one of them has.

use serde::Serialize;
use similar::{ChangeTag, TextDiff};

/// Minimum similarity of texts whose words are marked. In less similar texts almost every word would be marked, which
/// doesn't help.
const ALIKE: f32 = 0.4;

/// Part of a text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct WordDiffPart {
    pub(crate) text: String,
    /// True if the other text doesn't have this part.
    pub(crate) marked: bool,
}

/// Returns both texts in parts. No part is marked if there is only one text, or if the texts have little in common.
pub(crate) fn side_by_side(was: Option<&str>, is: Option<&str>) -> (Vec<WordDiffPart>, Vec<WordDiffPart>) {
    let (Some(was), Some(is)) = (was, is) else {
        return (whole(was), whole(is));
    };
    let (mut left, mut right) = (Vec::new(), Vec::new());
    let diff = TextDiff::from_words(was, is);
    if diff.ratio() < ALIKE {
        return (whole(Some(was)), whole(Some(is)));
    }
    for change in diff.iter_all_changes() {
        let sides: &mut [&mut Vec<WordDiffPart>] = match change.tag() {
            ChangeTag::Equal => &mut [&mut left, &mut right],
            ChangeTag::Delete => &mut [&mut left],
            ChangeTag::Insert => &mut [&mut right],
        };
        for side in sides {
            add(side, change.value(), change.tag() != ChangeTag::Equal);
        }
    }
    (left, right)
}

fn whole(text: Option<&str>) -> Vec<WordDiffPart> {
    text.map(|text| WordDiffPart { text: text.to_owned(), marked: false }).into_iter().collect()
}

/// Appends to the last part if it is marked in the same way, otherwise adds a part.
fn add(side: &mut Vec<WordDiffPart>, text: &str, marked: bool) {
    match side.last_mut() {
        Some(last) if last.marked == marked => last.text.push_str(text),
        _ => side.push(WordDiffPart { text: text.to_owned(), marked }),
    }
}

#[cfg(test)]
mod tests {
    use super::side_by_side;

    #[test]
    fn words_of_one_text_only_are_marked() {
        let told = |was, is| {
            let (left, right) = side_by_side(was, is);
            let told = |side: Vec<super::WordDiffPart>| {
                let piece = |p: super::WordDiffPart| if p.marked { format!("[{}]", p.text) } else { p.text };
                side.into_iter().map(piece).collect::<String>()
            };
            (told(left), told(right))
        };
        assert_eq!(
            told(Some("True Started: the run goes on"), Some("True Progressing: the run goes")),
            ("True [Started:] the run goes[ on]".into(), "True [Progressing:] the run goes".into())
        );
        assert_eq!(told(Some("passed"), Some("failed: not so")), ("passed".into(), "failed: not so".into()));
        assert_eq!(told(None, Some("True Started")), (String::new(), "True Started".into()));
    }
}
