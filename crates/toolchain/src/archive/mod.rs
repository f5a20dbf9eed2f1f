//! Archives of components: `export` writes versions from the cache to a file, `import` puts them into another machine's cache.
//!
//! An archive is a gzip-compressed tar file. Its first entry is [`INDEX`], which says for which machines it is and what it has. Each
//! version follows in a folder `<component>/<version>-<suffix>/`, as in the cache: first the manifest, then the files that it lists.

mod download;
mod export;
mod import;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

pub use download::{DownloadFailure, is_url};
pub use import::ImportedVersions;

/// Name of the first entry.
const INDEX: &str = "fleetdrill-toolchain.json";

/// Grows when older releases of fleetdrill can't read an archive any more.
const SCHEMA: u32 = 1;

/// Maximum size of an archive in bytes, compressed and unpacked. All versions that fleetdrill can build make less than a tenth of it.
const LIMIT: u64 = 8 << 30;

/// Content of the first entry.
#[derive(Debug, Serialize, Deserialize)]
struct ArchiveIndex {
    schema: u32,
    /// Operating system and processor of the programs, as Rust names them.
    os: String,
    architecture: String,
    versions: Vec<ArchivedVersion>,
}

impl ArchiveIndex {
    fn new(versions: Vec<ArchivedVersion>) -> Self {
        let [os, architecture] = [std::env::consts::OS, std::env::consts::ARCH].map(str::to_owned);
        Self { schema: SCHEMA, os, architecture, versions }
    }
}

/// Version of a component in an archive.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArchivedVersion {
    /// The component.
    pub component: String,
    /// The version.
    pub version: String,
    /// Size of its files in bytes, not compressed.
    pub size: u64,
    /// Name of its folder in the cache.
    folder: String,
}
