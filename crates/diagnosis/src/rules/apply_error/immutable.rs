//! Answers of the API server about a field that can't be changed in place.

use std::sync::LazyLock;

use regex::Regex;

use crate::rules::pattern::pattern_of_any_case;

/// Messages about immutable fields. The API's reasons `Invalid` and `Forbidden` aren't enough, because they stand for
/// much else.
static IMMUTABLE: LazyLock<Regex> = LazyLock::new(|| {
    pattern_of_any_case(
        r"\bimmutable\b|may not change once set|cannot (?:be changed|change roleref)|may not change fields|updates to \S+(?: spec for fields other than .*)? are forbidden",
    )
});

/// True if the message is about a field that can't be changed in place.
pub(in crate::rules) fn is_immutable_field(message: &str) -> bool {
    IMMUTABLE.is_match(message)
}
