//! What the commands print: findings, errors, and the styles and wrapping that all texts share.
//!
//! Texts are built with their colours and lose them in the stream ([`anstream`]) where nobody sees colours: no terminal,
//! `NO_COLOR`, a file. Nothing depends on a colour.

pub mod brief;
pub mod coverage;
pub mod data;
pub mod diagnosis;
pub mod drift;
pub mod error;
pub mod explained;
pub mod findings;
pub mod log;
pub mod markdown;
mod page;
mod said;
pub mod stdout;
pub mod style;
pub mod training;

pub use error::print_error;
pub use page::{Page, clean, clean_line, shorten};
pub use said::Said;
