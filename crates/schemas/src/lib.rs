//! JSON schemas of the documents that other programs read, for tests.
//!
//! The crates whose types make a document have a test that calls [`DocumentSchema::publish`]: it compares the file in docs/schemas with
//! the schema of the type, and writes the file with `UPDATE_EXPECT=1` (`make docs`). Tests with a real document call
//! [`DocumentSchema::check`]. No program depends on this crate.

mod document_schema;
mod strict;
#[cfg(test)]
mod tests;
mod tidy;

pub use document_schema::DocumentSchema;
