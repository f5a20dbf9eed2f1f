//! Limit for the headers of entries in archives that come from elsewhere: bundles, and archives of components. The crate `tar` reads the names
//! in them whole, however long they are.

use std::cell::Cell;
use std::io::{self, ErrorKind, Read};
use std::rc::Rc;

/// Bytes of an entry's headers, with the end of the entry before it. A name has up to 4096 bytes.
const HEADER_BYTES: u64 = 64 << 10;

/// Limit that is in force while an entry's headers are read.
#[derive(Clone, Debug)]
pub struct HeaderLimit(Rc<Cell<u64>>);

impl Default for HeaderLimit {
    fn default() -> Self {
        Self(Rc::new(Cell::new(u64::MAX)))
    }
}

impl HeaderLimit {
    /// Limits what is read from an archive.
    pub fn reader<R>(&self, archive: R) -> HeaderLimitedReader<R> {
        HeaderLimitedReader { inner: archive, limit: self.clone() }
    }

    /// Runs `next`, which reads the headers of an entry from the archive. What is read outside of `next` has no limit.
    pub fn while_reading_headers<T>(&self, next: impl FnOnce() -> T) -> T {
        self.0.set(HEADER_BYTES);
        let next = next();
        self.0.set(u64::MAX);
        next
    }
}

/// Reader of an archive that fails with kind `InvalidData` after the bytes that headers may have.
pub struct HeaderLimitedReader<R> {
    inner: R,
    limit: HeaderLimit,
}

impl<R: Read> Read for HeaderLimitedReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.limit.0.get();
        let most = usize::try_from(left).unwrap_or(usize::MAX).min(buffer.len());
        if most == 0 && !buffer.is_empty() {
            return Err(io::Error::new(ErrorKind::InvalidData, "an entry has a name that is too long"));
        }
        let read = self.inner.read(&mut buffer[..most])?;
        self.limit.0.set(left - read as u64);
        Ok(read)
    }
}
