//! Reads objects from JSON text, by several threads if there is much of it.

use std::fmt;

use serde::de::{DeserializeSeed, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use crate::ObjectList;
use crate::json::{JsonNode, JsonStore, StoredJson, ValueAllowance, ValueLimit};
use crate::object_list::StoredObject;

/// Byte between two JSON texts of a sequence (RFC 7464). JSON itself can't contain it.
pub const RECORD_SEPARATOR: u8 = 0x1E;

/// Reader of objects that come in pieces of JSON text.
///
/// Several readers may take turns, each in a thread of its own: of three, the first reads the pieces 1, 4, 7 and so on.
/// [`ObjectListReader::join`] returns the objects in the order of the pieces.
#[derive(Debug)]
pub struct ObjectListReader {
    store: JsonStore,
    objects: Vec<JsonNode>,
    /// Number of objects that had been read at the end of each piece.
    piece_ends: Vec<usize>,
    error: Option<PieceError>,
    open: Vec<JsonNode>,
    values: ValueAllowance,
}

/// Objects that can't be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadObjectsError {
    /// The objects have more JSON values than may be read.
    #[error("too many JSON values")]
    TooManyValues,
    /// The text isn't JSON.
    #[error("object {object}: {source}")]
    NotJson {
        /// Position of the object, from 1.
        object: usize,
        /// Cause. Its line and column are those of the object.
        source: serde_json::Error,
    },
}

/// Error in the last piece that a reader has begun.
#[derive(Debug)]
enum PieceError {
    TooManyValues,
    NotJson(serde_json::Error),
}

impl ObjectListReader {
    /// Creates a reader. It takes the values that it reads from the limit. A key counts as a value.
    #[must_use]
    pub fn new(limit: &ValueLimit) -> Self {
        let (store, values) = (JsonStore::default(), ValueAllowance::new(limit.clone()));
        Self { store, objects: Vec::new(), piece_ends: Vec::new(), error: None, open: Vec::new(), values }
    }

    /// Reads a piece: complete objects with a [`RECORD_SEPARATOR`] between them. After an error, further pieces are ignored;
    /// [`ObjectListReader::join`] returns the error.
    pub fn read(&mut self, piece: &[u8]) {
        if self.error.is_some() {
            return;
        }
        for object in piece.split(|byte| *byte == RECORD_SEPARATOR) {
            if object.iter().all(u8::is_ascii_whitespace) {
                continue;
            }
            match self.read_object(object) {
                Ok(object) => self.objects.push(object),
                Err(error) => {
                    let is_limit = error.is_data() && self.values.is_used_up();
                    self.error = Some(if is_limit { PieceError::TooManyValues } else { PieceError::NotJson(error) });
                    return;
                }
            }
        }
        self.piece_ends.push(self.objects.len());
    }

    fn read_object(&mut self, text: &[u8]) -> Result<JsonNode, serde_json::Error> {
        let Self { store, open, values, .. } = self;
        let mut deserializer = serde_json::Deserializer::from_slice(text);
        let object = (StoredJson { store, open, values }).deserialize(&mut deserializer)?;
        deserializer.end()?;
        Ok(object)
    }

    /// Returns the objects of a piece, by its position among the reader's pieces.
    fn piece(&self, position: usize) -> Option<&[JsonNode]> {
        let end = *self.piece_ends.get(position)?;
        let start = position.checked_sub(1).map_or(0, |before| self.piece_ends[before]);
        Some(&self.objects[start..end])
    }

    /// Number of objects that were read of the piece with the error.
    fn objects_before_error(&self) -> usize {
        self.objects.len() - self.piece_ends.last().copied().unwrap_or(0)
    }

    /// Returns the objects that these readers have read in turn, in the order of the pieces.
    ///
    /// # Errors
    /// Returns the error of the first piece that isn't JSON, or an error if the objects have more values than may be read.
    pub fn join(mut readers: Vec<Self>) -> Result<ObjectList, ReadObjectsError> {
        if readers.iter().any(|reader| matches!(reader.error, Some(PieceError::TooManyValues))) {
            return Err(ReadObjectsError::TooManyValues);
        }
        let mut objects = Vec::with_capacity(readers.iter().map(|reader| reader.objects.len()).sum());
        let mut turn = 0;
        // The first reader without a piece in a turn has read to the end, or has met the first error of all pieces.
        'turns: while !readers.is_empty() {
            for (store, reader) in (0..).zip(&mut readers) {
                if let Some(piece) = reader.piece(turn) {
                    objects.extend(piece.iter().map(|node| StoredObject { store, node: *node }));
                } else if let Some(PieceError::NotJson(source)) = reader.error.take() {
                    let object = objects.len() + reader.objects_before_error() + 1;
                    return Err(ReadObjectsError::NotJson { object, source });
                } else {
                    break 'turns;
                }
            }
            turn += 1;
        }
        Ok(ObjectList::stored(readers.into_iter().map(|reader| reader.store).collect(), objects))
    }
}

impl<'de> Deserialize<'de> for ObjectList {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(StoredObjects)
    }
}

/// Reads a list of objects.
struct StoredObjects;

impl<'de> Visitor<'de> for StoredObjects {
    type Value = ObjectList;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of objects")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<ObjectList, A::Error> {
        let (mut store, mut open, mut objects) = (JsonStore::default(), Vec::new(), Vec::new());
        let mut values = ValueAllowance::new(ValueLimit::new(u64::MAX));
        while let Some(node) =
            elements.next_element_seed(StoredJson { store: &mut store, open: &mut open, values: &mut values })?
        {
            objects.push(StoredObject { store: 0, node });
        }
        Ok(ObjectList::stored(vec![store], objects))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pieces: &[&str], readers: usize, limit: &ValueLimit) -> Result<ObjectList, String> {
        let mut readers: Vec<_> = (0..readers).map(|_| ObjectListReader::new(limit)).collect();
        let count = readers.len();
        for (position, piece) in pieces.iter().enumerate() {
            readers[position % count].read(piece.as_bytes());
        }
        ObjectListReader::join(readers).map_err(|error| error.to_string())
    }

    #[test]
    fn objects_come_in_the_order_of_the_pieces_however_many_readers_there_are() {
        let pod = |name: &str| format!(r#"{{"kind": "Pod", "metadata": {{"namespace": "x", "name": "{name}"}}}}"#);
        let pieces =
            [pod("c"), format!("{}\u{1e} \u{1e}{}\u{1e}", pod("a"), pod("e")), " ".to_owned(), pod("d"), pod("b")];
        let pieces: Vec<&str> = pieces.iter().map(String::as_str).collect();
        for readers in 1..=6 {
            let objects = read(&pieces, readers, &ValueLimit::new(1000)).expect("objects");
            let names: Vec<_> = objects.iter().map(|object| object.name()).collect();
            assert_eq!(names, ["c", "a", "e", "d", "b"], "{readers} readers");
            for name in names {
                assert_eq!(objects.find("", "Pod", Some("x"), name).map(|pod| pod.name()), Some(name));
            }
            assert!(objects.find("", "Pod", Some("y"), "a").is_none());
            assert_eq!(objects.in_namespace("x").map(|pod| pod.name()).collect::<Vec<_>>(), ["c", "a", "e", "d", "b"]);
        }
        assert!(read(&[], 0, &ValueLimit::new(0)).expect("no objects").is_empty());
    }

    #[test]
    fn of_two_objects_with_the_same_name_the_first_counts() {
        let pieces =
            ["a", "b", "c"].map(|uid| format!(r#"{{"kind": "Pod", "metadata": {{"name": "p", "uid": "{uid}"}}}}"#));
        let pieces: Vec<&str> = pieces.iter().map(String::as_str).collect();
        for readers in 1..=3 {
            let objects = read(&pieces, readers, &ValueLimit::new(1000)).expect("objects");
            assert_eq!(objects.find("", "Pod", None, "p").and_then(|pod| pod.str("/metadata/uid")), Some("a"));
        }
    }

    #[test]
    fn the_first_object_that_is_no_json_is_named() {
        let pieces = ["{}\u{1e}{}", "{}", "{}\u{1e}{\"a\" 1}", "[", "{}"];
        for readers in 1..=5 {
            let error = read(&pieces, readers, &ValueLimit::new(1000)).expect_err("no JSON");
            assert_eq!(error, "object 5: expected `:` at line 1 column 6", "{readers} readers");
        }
    }

    #[test]
    fn readers_share_a_limit_of_values() {
        let pieces = [r#"{"a": 1}"#, "[true]", "[1, 2, 3]"];
        let limit = ValueLimit::new(9);
        assert_eq!(read(&pieces, 1, &limit).map(|objects| objects.len()), Ok(3));
        assert_eq!(limit.left(), 0);
        for limit in [0, 2, 4, 8] {
            let error = read(&pieces, 1, &ValueLimit::new(limit)).expect_err("too many values");
            assert_eq!(error, "too many JSON values", "{limit}");
        }
        let limit = ValueLimit::new(1_000_000);
        read(&pieces, 3, &limit).expect("objects");
        assert_eq!(limit.left(), 1_000_000 - 9);
    }
}
