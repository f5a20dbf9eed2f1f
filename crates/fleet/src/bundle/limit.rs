//! Limits for the size of a bundle that is read. A bundle comes from elsewhere, and may have been made to fill the
//! memory.

use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};

use diagnosis::ValueLimit;

use super::error::BundleError;

/// Bytes of an unpacked archive that are read, for each byte of the limit. Events and logs in the archive are skipped
/// but have to be unpacked.
const ARCHIVE_FACTOR: u64 = 4;

/// Smallest average size of a JSON value, in bytes. A value takes up to 50 bytes of memory, even `0`, if nothing else is equal to it.
const BYTES_OF_VALUE: u64 = 32;

/// Smallest average size of an object, in bytes.
const BYTES_OF_OBJECT: u64 = 512;

/// Bytes that an archive's file counts besides its content and its name: those of the memory that even an empty file takes.
const ENTRY_BYTES: u64 = 128;

/// Limit for the total size of a bundle's files that a diagnosis reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SizeLimit {
    mebibytes: u64,
}

impl SizeLimit {
    /// Default limit, in MiB.
    pub const DEFAULT_MEBIBYTES: u64 = 1024;

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
    values: ValueLimit,
    objects: u64,
}

impl Budget {
    pub(super) fn new(path: &Path, limit: SizeLimit) -> Self {
        let (values, objects) = (ValueLimit::new(limit.bytes() / BYTES_OF_VALUE), limit.bytes() / BYTES_OF_OBJECT);
        Self { path: path.to_owned(), limit, bytes: limit.bytes(), values, objects }
    }

    /// Limit for the size of an unpacked archive, in bytes.
    pub(super) fn of_archive(&self) -> u64 {
        self.limit.bytes().saturating_mul(ARCHIVE_FACTOR)
    }

    /// Takes the remaining bytes.
    pub(super) fn sizes(&mut self) -> SizeBudget {
        SizeBudget(std::mem::take(&mut self.bytes))
    }

    /// Gives back the bytes that remain.
    pub(super) fn set_sizes(&mut self, SizeBudget(left): SizeBudget) {
        self.bytes = left;
    }

    /// Builds the error for a bundle whose files are too large.
    pub(super) fn exceeded(&self) -> BundleError {
        self.too_large(format!("its files have more than {} MiB", self.limit.mebibytes))
    }

    /// Limit for the number of JSON values of objects.
    pub(super) fn values(&self) -> &ValueLimit {
        &self.values
    }

    /// Builds the error for a bundle whose objects have too many JSON values.
    pub(super) fn too_many_values(&self) -> BundleError {
        let most = self.limit.bytes() / BYTES_OF_VALUE;
        self.too_large(format!("its files have more than {most} JSON values"))
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

/// Remaining bytes of files that may be read.
pub(super) struct SizeBudget(u64);

impl SizeBudget {
    /// Returns a reader of a compressed file that fails with kind `FileTooLarge` where its content has more than the
    /// remaining bytes.
    pub(super) fn cap<R>(&self, content: R) -> CappedReader<R> {
        CappedReader::new(content, self.0)
    }

    /// Subtracts what a reader has read.
    pub(super) fn take_read<R>(&mut self, reader: &CappedReader<R>) {
        self.0 = reader.left;
    }

    /// Subtracts what a file of an archive takes without its content.
    ///
    /// # Errors
    /// Returns an error of kind `FileTooLarge` if fewer bytes remain.
    pub(super) fn take_entry(&mut self, name: &str) -> io::Result<()> {
        self.take(ENTRY_BYTES + name.len() as u64)
    }

    /// Subtracts the size of a file.
    ///
    /// # Errors
    /// Returns an error of kind `FileTooLarge` if fewer bytes remain.
    pub(super) fn take(&mut self, bytes: u64) -> io::Result<()> {
        self.0 = self.0.checked_sub(bytes).ok_or(ErrorKind::FileTooLarge)?;
        Ok(())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_names_the_limit() {
        let mut budget = Budget::new(Path::new("b"), SizeLimit::of_mebibytes(1));
        for (error, expected) in [
            (budget.exceeded(), "b is too large: its files have more than 1 MiB"),
            (budget.count_objects(3000).unwrap_err(), "b is too large: it has more than 2048 objects"),
            (budget.too_many_values(), "b is too large: its files have more than 32768 JSON values"),
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
