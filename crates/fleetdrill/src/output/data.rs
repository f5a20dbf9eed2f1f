//! Prints data for programs, and texts for people, to stdout.

use report::stderr_line;
use report::text::escaped_json;
use serde::Serialize;

use crate::cli::OutputFormat;
pub use report::text::stdout::print_text;

/// Prints a value as JSON or YAML. A closed pipe is no error, because its reader has read enough.
pub fn print<T: Serialize>(format: OutputFormat, value: &T) {
    let text = match format {
        OutputFormat::Yaml => serde_saphyr::to_string(value).map_err(|e| e.to_string()),
        OutputFormat::Text | OutputFormat::Json => {
            serde_json::to_string_pretty(value).map(|text| escaped_json(text) + "\n").map_err(|e| e.to_string())
        }
    };
    match text {
        Ok(text) => print_text(&text),
        Err(error) => stderr_line!("error: failed to print: {error}"),
    }
}
