//! Two texts side by side, with the words marked that only one of them has.

use serde::Serialize;
use similar::{ChangeTag, TextDiff};

/// Texts that have less in common than this are two texts: marks on all of their words would only be in the way.
const ALIKE: f32 = 0.4;

/// A piece of a text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Piece {
    pub(super) text: String,
    /// The other text doesn't have it.
    pub(super) marked: bool,
}

/// Both texts in pieces. Nothing is marked where there is only one, or where they have little in common.
pub(super) fn side_by_side(was: Option<&str>, is: Option<&str>) -> (Vec<Piece>, Vec<Piece>) {
    let (Some(was), Some(is)) = (was, is) else {
        return (whole(was), whole(is));
    };
    let (mut left, mut right) = (Vec::new(), Vec::new());
    let diff = TextDiff::from_words(was, is);
    if diff.ratio() < ALIKE {
        return (whole(Some(was)), whole(Some(is)));
    }
    for change in diff.iter_all_changes() {
        let sides: &mut [&mut Vec<Piece>] = match change.tag() {
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

fn whole(text: Option<&str>) -> Vec<Piece> {
    text.map(|text| Piece { text: text.to_owned(), marked: false }).into_iter().collect()
}

/// Adds to the last piece, if it is marked alike.
fn add(side: &mut Vec<Piece>, text: &str, marked: bool) {
    match side.last_mut() {
        Some(last) if last.marked == marked => last.text.push_str(text),
        _ => side.push(Piece { text: text.to_owned(), marked }),
    }
}

#[cfg(test)]
mod tests {
    use super::side_by_side;

    #[test]
    fn words_of_one_text_only_are_marked() {
        let told = |was, is| {
            let (left, right) = side_by_side(was, is);
            let told = |side: Vec<super::Piece>| {
                let piece = |p: super::Piece| if p.marked { format!("[{}]", p.text) } else { p.text };
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
