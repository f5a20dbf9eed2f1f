//! Limits for the size of a bundle that is read. A bundle comes from elsewhere, and may have been made to fill the
//! memory.

use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};

use super::error::BundleError;

/// Bytes of an unpacked archive that are read, for each byte of the limit. Events and logs in the archive are skipped
/// but have to be unpacked.
const ARCHIVE_FACTOR: u64 = 4;

/// Smallest average size of a JSON value, in bytes. A value takes some 70 bytes of memory, even `0`.
const BYTES_OF_VALUE: u64 = 32;

/// Smallest average size of an object, in bytes.
const BYTES_OF_OBJECT: u64 = 512;

/// Limit for the total size of a bundle's files that a diagnosis reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SizeLimit {
    mebibytes: u64,
}

impl SizeLimit {
    /// Default limit, in MiB.
    pub const DEFAULT_MEBIBYTES: u64 = 256;

    /// Creates a limit of this many MiB.
    #[must_use]
    pub fn of_mebibytes(mebibytes: u64) -> Self {
        Self { mebibytes }
    }

    fn bytes(self) -> u64 {
        self.mebibytes.saturating_mul(1 << 20)
    }
}

impl Default for SizeLimit {
    fn default() -> Self {
        Self::of_mebibytes(Self::DEFAULT_MEBIBYTES)
    }
}

/// Remaining bytes, JSON values and objects that may be read from one bundle.
pub(super) struct Budget {
    path: PathBuf,
    limit: SizeLimit,
    bytes: u64,
    values: u64,
    objects: u64,
}

impl Budget {
    pub(super) fn new(path: &Path, limit: SizeLimit) -> Self {
        let (values, objects) = (limit.bytes() / BYTES_OF_VALUE, limit.bytes() / BYTES_OF_OBJECT);
        Self { path: path.to_owned(), limit, bytes: limit.bytes(), values, objects }
    }

    /// Limit for the size of an unpacked archive, in bytes.
    pub(super) fn of_archive(&self) -> u64 {
        self.limit.bytes().saturating_mul(ARCHIVE_FACTOR)
    }

    /// Subtracts bytes from the remaining ones.
    ///
    /// # Errors
    /// Returns an error of kind `FileTooLarge` if fewer bytes remain.
    pub(super) fn take(&mut self, bytes: u64) -> io::Result<()> {
        self.bytes = self.bytes.checked_sub(bytes).ok_or(ErrorKind::FileTooLarge)?;
        Ok(())
    }

    /// Builds the error for a bundle whose files are too large.
    pub(super) fn exceeded(&self) -> BundleError {
        self.too_large(format!("its files have more than {} MiB", self.limit.mebibytes))
    }

    /// Counts the values of a JSON text without building them. Invalid JSON is counted up to the first error.
    ///
    /// # Errors
    /// Returns an error if the text has more values than remain.
    pub(super) fn count_values(&mut self, text: &[u8]) -> Result<(), BundleError> {
        let most = self.limit.bytes() / BYTES_OF_VALUE;
        let mut counter = ValueCounter { left: self.values };
        let counted = serde_json::Deserializer::from_slice(text).deserialize_any(&mut counter);
        self.values = counter.left;
        if counted.is_err() && counter.left == 0 {
            return Err(self.too_large(format!("its files have more than {most} JSON values")));
        }
        Ok(())
    }

    /// Counts the objects of a cluster.
    ///
    /// # Errors
    /// Returns an error if there are more objects than remain.
    pub(super) fn count_objects(&mut self, objects: usize) -> Result<(), BundleError> {
        let most = self.limit.bytes() / BYTES_OF_OBJECT;
        let left = self.objects.checked_sub(u64::try_from(objects).unwrap_or(u64::MAX));
        self.objects = left.ok_or_else(|| self.too_large(format!("it has more than {most} objects")))?;
        Ok(())
    }

    fn too_large(&self, what: String) -> BundleError {
        BundleError::TooLarge { path: self.path.clone(), what, mebibytes: self.limit.mebibytes }
    }
}

/// A reader that fails with kind `FileTooLarge` after `left` bytes, where [`Read::take`] would report the end of the
/// file.
pub(super) struct CappedReader<R> {
    inner: R,
    left: u64,
}

impl<R> CappedReader<R> {
    pub(super) fn new(inner: R, left: u64) -> Self {
        Self { inner, left }
    }
}

impl<R: Read> Read for CappedReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.left = self.left.checked_sub(read as u64).ok_or(ErrorKind::FileTooLarge)?;
        Ok(read)
    }
}

/// Counts JSON values down to zero.
struct ValueCounter {
    left: u64,
}

impl ValueCounter {
    fn count<E: serde::de::Error>(&mut self) -> Result<(), E> {
        self.left = self.left.saturating_sub(1);
        if self.left == 0 { Err(E::custom("too many values")) } else { Ok(()) }
    }
}

impl<'de> DeserializeSeed<'de> for &mut ValueCounter {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for &mut ValueCounter {
    type Value = ();

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_bool<E: serde::de::Error>(self, _: bool) -> Result<(), E> {
        self.count()
    }

    fn visit_i64<E: serde::de::Error>(self, _: i64) -> Result<(), E> {
        self.count()
    }

    fn visit_u64<E: serde::de::Error>(self, _: u64) -> Result<(), E> {
        self.count()
    }

    fn visit_f64<E: serde::de::Error>(self, _: f64) -> Result<(), E> {
        self.count()
    }

    fn visit_str<E: serde::de::Error>(self, _: &str) -> Result<(), E> {
        self.count()
    }

    fn visit_unit<E: serde::de::Error>(self) -> Result<(), E> {
        self.count()
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<(), A::Error> {
        self.count()?;
        while sequence.next_element_seed(&mut *self)?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        self.count()?;
        while map.next_key_seed(&mut *self)?.is_some() {
            map.next_value_seed(&mut *self)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(text: &str, values: u64) -> (bool, u64) {
        let mut budget = Budget { values, ..Budget::new(Path::new("b"), SizeLimit::default()) };
        (budget.count_values(text.as_bytes()).is_ok(), budget.values)
    }

    #[test]
    fn values_are_counted_before_they_are_built() {
        let text = r#"{"a": [1, -2.5, "x", null, true], "b": {}}"#;
        // The object, its two keys, the list with five values, the empty object.
        assert_eq!(counted(text, 100), (true, 90));
        assert_eq!(counted(text, 10), (false, 0));
        // The parser reports invalid JSON, not the counter.
        assert_eq!(counted("[1, 2", 100), (true, 97));
    }

    #[test]
    fn an_error_names_the_limit() {
        let mut budget = Budget::new(Path::new("b"), SizeLimit::of_mebibytes(1));
        for (error, expected) in [
            (budget.exceeded(), "b is too large: its files have more than 1 MiB"),
            (budget.count_objects(3000).unwrap_err(), "b is too large: it has more than 2048 objects"),
            (
                Budget { values: 2, ..budget }.count_values(b"[1, 2]").unwrap_err(),
                "b is too large: its files have more than 32768 JSON values",
            ),
        ] {
            assert_eq!(error.to_string(), expected);
            assert!(matches!(error, BundleError::TooLarge { mebibytes: 1, .. }));
        }
    }

    #[test]
    fn a_capped_reader_fails_where_more_follows() {
        let read = |cap| io::read_to_string(CappedReader::new(&b"12345"[..], cap)).map_err(|error| error.kind());
        assert_eq!(read(5), Ok("12345".to_owned()));
        assert_eq!(read(4), Err(ErrorKind::FileTooLarge));
    }
}
