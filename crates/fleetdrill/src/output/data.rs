//! Data for programs, and texts for people, on stdout.

use clusters::stderr_line;
use serde::Serialize;

use crate::cli::Format;
pub use crate::output::stdout::print_text;

/// Prints a value as JSON or YAML. A closed pipe is no error: whoever reads has enough.
pub fn print<T: Serialize>(format: Format, value: &T) {
    let text = match format {
        Format::Yaml => serde_saphyr::to_string(value).map_err(|e| e.to_string()),
        Format::Text | Format::Json => serde_json::to_string_pretty(value).map(|t| t + "\n").map_err(|e| e.to_string()),
    };
    match text {
        Ok(text) => print_text(&text),
        Err(error) => stderr_line!("error: failed to print: {error}"),
    }
}
