//! The toolchain: the real components, by version, as programs in the user's cache directory.
//!
//! A *pinned* version is built from the Go modules in the repository's `toolchain/` folder, which is compiled into this
//! crate. An *added* version was registered by the user, with its programs and CRDs. For both, [`Toolchain::ensure`]
//! returns an [`InstalledComponent`] whose files were checked a moment ago. The caller gets [`BuildEvent`]s and decides how to
//! show progress. Nothing here knows what the programs are for or how to run them.

mod add;
mod archive;
mod assets;
mod blocking;
mod build;
mod cache_slot;
mod check_start;
mod definition;
mod disk;
mod ensure;
mod error;
mod event;
mod go;
mod go_output;
mod installed;
mod list;
mod lock;
mod manifest;
mod process_group;
mod system_program;
mod toolchain;

pub use add::VersionRegistration;
pub use archive::{ArchivedVersion, DownloadFailure, ImportedVersions, is_url};
pub use cache_slot::VersionOrigin;
pub use definition::{Asset, Component, ComponentDefinitions, PinnedVersion, Program};
pub use disk::human_size;
pub use error::ToolchainError;
pub use event::{BuildEvent, BuildStep, OnBuildEvent};
pub use installed::InstalledComponent;
pub use list::ListedVersion;
pub use system_program::system_program;
pub use toolchain::{CACHE_DIR_VARIABLE, Toolchain};
