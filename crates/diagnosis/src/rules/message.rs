//! Messages of controllers and API servers as parts of sentences.

use std::sync::LazyLock;

use regex::Regex;

use super::pattern::pattern;

/// Limit in characters for a message in a sentence. The evidence has the whole message.
const MAX_SENTENCE: usize = 300;

/// Returns a message as a part of a sentence: on one line, not too long, without a full stop, and without the path of
/// the file that kubectl's code was given.
pub(in crate::rules) fn for_sentence(message: &str) -> String {
    static FILE: LazyLock<Regex> = LazyLock::new(|| pattern(r#"^error when \w+ "/[^"]*": "#));
    let line = message.split_whitespace().collect::<Vec<_>>().join(" ");
    let line = FILE.replace(&line, "");
    let line = line.trim_end_matches(['.', ':', ',', ';']);
    match line.char_indices().nth(MAX_SENTENCE) {
        Some((end, _)) => format!("{} ...", line[..end].trim_end()),
        None => line.to_owned(),
    }
}

/// Returns the end of an error that several components have passed on by gRPC: each of them puts its own words and `desc = ` in front.
pub(in crate::rules) fn last_description(message: &str) -> &str {
    message.rsplit("desc = ").next().unwrap_or(message)
}

#[cfg(test)]
mod tests {
    use super::for_sentence;

    #[test]
    fn a_message_becomes_a_part_of_a_sentence() {
        assert_eq!(for_sentence("spec.selector: Invalid value:\n  x.\n"), "spec.selector: Invalid value: x");
        assert_eq!(
            for_sentence(r#"error when patching "/dev/shm/2158": Service "web" is invalid"#),
            r#"Service "web" is invalid"#
        );
        assert_eq!(for_sentence(&"ä".repeat(400)).chars().count(), 304);
    }
}
