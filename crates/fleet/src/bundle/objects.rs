//! Reads a file of objects, a JSON list, in pieces of whole objects, so that the text is never in memory as a whole.

use std::io::{self, Read};

use diagnosis::RECORD_SEPARATOR;
use memchr::memchr2;

/// Bytes of whole objects that make a piece.
const PIECE: usize = 1 << 20;

/// Bytes that are read at once.
const CHUNK: usize = 256 << 10;

/// File that has no complete list of objects.
#[derive(Debug)]
pub(super) enum SplitError {
    /// The file can't be read.
    Read(io::Error),
    /// The file ends before its list does.
    EndsTooEarly,
    /// The file is something else than one list.
    NoList,
}

/// Splits a JSON list into pieces of complete elements, with a [`RECORD_SEPARATOR`] after each. Elements aren't checked otherwise: whoever parses
/// a piece finds what is no JSON. Stops when `send` returns false.
pub(super) fn split(mut file: impl Read, mut send: impl FnMut(Vec<u8>) -> bool) -> Result<(), SplitError> {
    let mut chunk = vec![0; CHUNK];
    let mut splitter = ListSplitter::default();
    loop {
        let read = match file.read(&mut chunk) {
            Ok(0) => break,
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(SplitError::Read(error)),
        };
        splitter.add(&chunk[..read])?;
        if splitter.complete >= PIECE && !send(splitter.take_complete()) {
            return Ok(());
        }
    }
    if splitter.state != ListState::Ended {
        return Err(SplitError::EndsTooEarly);
    }
    send(splitter.take_complete());
    Ok(())
}

/// Part of the file that a splitter has come to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum ListState {
    /// Before the list's opening bracket.
    #[default]
    Before,
    /// In the list, with this many open brackets inside it.
    Within { depth: u32, text: TextState },
    /// After the list's closing bracket.
    Ended,
}

/// Whether a byte is part of a string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TextState {
    Outside,
    Inside,
    /// After a backslash in a string.
    Escaped,
}

#[derive(Debug, Default)]
struct ListSplitter {
    state: ListState,
    /// Elements whose list hasn't been sent yet, without the list's own brackets and commas.
    pending: Vec<u8>,
    /// Bytes of `pending` that are complete elements.
    complete: usize,
}

impl ListSplitter {
    /// Takes the complete elements.
    fn take_complete(&mut self) -> Vec<u8> {
        let rest = self.pending.split_off(self.complete);
        self.complete = 0;
        std::mem::replace(&mut self.pending, rest)
    }

    fn add(&mut self, chunk: &[u8]) -> Result<(), SplitError> {
        let (mut at, mut copied) = (0, 0);
        while at < chunk.len() {
            let byte = chunk[at];
            match self.state {
                ListState::Before | ListState::Ended if byte.is_ascii_whitespace() => {
                    at += 1;
                    copied = at;
                }
                ListState::Before if byte == b'[' => {
                    at += 1;
                    copied = at;
                    self.state = ListState::Within { depth: 0, text: TextState::Outside };
                }
                ListState::Before | ListState::Ended => return Err(SplitError::NoList),
                ListState::Within { depth, text: TextState::Inside } => {
                    let Some(next) = memchr2(b'"', b'\\', &chunk[at..]) else { break };
                    at += next + 1;
                    let text = if chunk[at - 1] == b'"' { TextState::Outside } else { TextState::Escaped };
                    self.state = ListState::Within { depth, text };
                }
                ListState::Within { depth, text: TextState::Escaped } => {
                    at += 1;
                    self.state = ListState::Within { depth, text: TextState::Inside };
                }
                ListState::Within { depth, text: TextState::Outside } => {
                    at += skipped(&chunk[at..]);
                    let Some(byte) = chunk.get(at) else { break };
                    at += 1;
                    let within = |depth| ListState::Within { depth, text: TextState::Outside };
                    match (byte, depth) {
                        (b'"', _) => self.state = ListState::Within { depth, text: TextState::Inside },
                        (b'[' | b'{', _) => self.state = within(depth + 1),
                        (b',', 0) => {
                            self.complete_element(&chunk[copied..at - 1]);
                            copied = at;
                        }
                        (b']', 0) => {
                            self.complete_element(&chunk[copied..at - 1]);
                            copied = at;
                            self.state = ListState::Ended;
                        }
                        (b'}', 0) => return Err(SplitError::NoList),
                        (b']' | b'}', _) => self.state = within(depth - 1),
                        _ => {}
                    }
                }
            }
        }
        self.pending.extend_from_slice(&chunk[copied..]);
        Ok(())
    }

    fn complete_element(&mut self, end: &[u8]) {
        self.pending.extend_from_slice(end);
        self.pending.push(RECORD_SEPARATOR);
        self.complete = self.pending.len();
    }
}

/// Number of bytes before the next one that opens or closes something, or is a comma.
fn skipped(text: &[u8]) -> usize {
    text.iter().position(|byte| matches!(byte, b'"' | b'[' | b']' | b'{' | b'}' | b',')).unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reader that returns this many bytes at once.
    struct Slow<'a>(&'a [u8], usize);

    impl Read for Slow<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let count = self.1.min(self.0.len()).min(buffer.len());
            let (now, rest) = self.0.split_at(count);
            buffer[..count].copy_from_slice(now);
            self.0 = rest;
            Ok(count)
        }
    }

    fn pieces(text: &str, at_once: usize) -> Result<String, SplitError> {
        let mut all = Vec::new();
        split(Slow(text.as_bytes(), at_once), |piece| {
            all.extend(piece);
            true
        })?;
        Ok(String::from_utf8(all).expect("UTF-8"))
    }

    #[test]
    fn elements_are_split_wherever_the_file_is_read() {
        let text = r#" [{"a": [1, 2], "b": "]},\"\\"} , {"c": {}}, 3
            ] "#;
        for at_once in 1..text.len() {
            let pieces = pieces(text, at_once).expect("a list");
            let lines: Vec<_> = pieces.split_terminator('\u{1e}').map(str::trim).collect();
            assert_eq!(
                lines,
                [r#"{"a": [1, 2], "b": "]},\"\\"}"#, r#"{"c": {}}"#, "3", ""][..lines.len()],
                "{at_once}"
            );
        }
        assert_eq!(pieces("[]", 9).expect("a list").trim_end_matches('\u{1e}'), "");
    }

    #[test]
    fn what_is_no_whole_list_is_refused() {
        for cut in ["", " ", "[", "[1", "[{}, {\"a", "[\"]"] {
            assert!(matches!(pieces(cut, 3), Err(SplitError::EndsTooEarly)), "{cut}");
        }
        for other in ["{}", "1", "[1] 2", "[}", "[] []"] {
            assert!(matches!(pieces(other, 3), Err(SplitError::NoList)), "{other}");
        }
    }

    #[test]
    fn many_elements_come_in_several_pieces() {
        let list = format!("[{}]", vec![format!("\"{}\"", "x".repeat(1000)); 5000].join(","));
        let mut sizes = Vec::new();
        split(list.as_bytes(), |piece| {
            sizes.push(piece.len());
            true
        })
        .expect("a list");
        assert!(sizes.len() > 3 && sizes.iter().all(|size| *size < PIECE + CHUNK + 1003), "{sizes:?}");
        assert_eq!(sizes.iter().sum::<usize>(), 5000 * 1003);
    }
}
