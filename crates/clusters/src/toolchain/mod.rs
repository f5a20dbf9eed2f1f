//! The toolchain: the real components, by version, as programs in the user's cache directory.
//!
//! A *pinned* version is built from the Go modules in the repository's `toolchain/` folder, which is compiled into
//! this crate; an *added* one was registered by the user with its programs and CRDs. Either way
//! [`Toolchain::ensure`] hands out an [`Installed`] whose files were checked a moment ago. How progress looks is the
//! caller's business: it gets [`BuildEvent`]s. Nothing here knows what the programs are for or how to run them.

mod add;
mod assets;
mod blocking;
mod build;
mod check_start;
mod definition;
mod disk;
mod ensure;
mod error;
mod event;
mod go;
mod go_output;
mod group;
mod hint;
mod installed;
mod list;
mod lock;
mod manifest;
mod open;
mod slot;
mod system;

pub use add::Addition;
pub use definition::{Asset, Component, Definitions, Pinned, Program};
pub use error::ToolchainError;
pub use event::{BuildEvent, Progress, Step};
pub use installed::Installed;
pub use list::Listed;
pub use open::{CACHE_DIR_VARIABLE, Toolchain};
pub use slot::Source;
pub use system::system_program;
