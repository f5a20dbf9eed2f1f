//! Text for people: wrapping, styles, and the streams.
//!
//! Texts are built with colours. The stream ([`anstream`]) removes the colours if they can't be seen: no terminal,
//! `NO_COLOR`, a file. No text depends on a colour.

mod names;
mod page;
mod printed_texts;
pub mod stderr;
pub mod stdout;
pub mod style;
mod terminal;

pub use names::some_names;
pub use page::{TextPage, clean, clean_line, shorten};
pub use printed_texts::PrintedTexts;
pub use terminal::{escaped_json, harmless};
