//! Prints errors to stderr: what went wrong, its causes, and a hint.

use std::error::Error;
use std::fmt::Write as _;

use fleet::error::message;
use owo_colors::OwoColorize;

use report::text::clean;
use report::text::stderr;
use report::text::style::{ERROR, HINT};

/// Prints an error with its causes and a hint to stderr.
pub fn print_error(err: &(dyn Error + 'static), hint: Option<&str>) {
    stderr::print_text(&error_text(err, hint));
}

/// Returns the text that [`print_error`] prints, with its colours.
///
/// A cause that the preceding message already quotes is left out, because many libraries' messages contain the message
/// of their source.
#[must_use]
pub fn error_text(err: &(dyn Error + 'static), hint: Option<&str>) -> String {
    let mut shown = message(err);
    let mut text = format!("{} {}\n", "error:".style(ERROR), indent_rest(&shown, 2));
    let mut next = err.source();
    while let Some(cause) = next {
        // The API server's own message is shorter than kube's, which contains all fields of the status.
        let message = message(cause);
        if !shown.contains(message.trim()) {
            let _ = writeln!(text, "  {} {}", "caused by:".style(ERROR), indent_rest(&message, 4));
            shown.clone_from(&message);
        }
        // The source of a refusal is the same refusal again.
        next = if message == cause.to_string() { cause.source() } else { None };
    }
    if let Some(hint) = hint {
        let _ = writeln!(text, "\n{} {}", "hint:".style(HINT), indent_rest(hint, 2));
    }
    text
}

/// Indents the lines after the first one, so that the beginning of a message stays visible.
fn indent_rest(message: &str, by: usize) -> String {
    clean(message).replace('\n', &format!("\n{:by$}", ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("{message}")]
    struct Layer {
        message: &'static str,
        #[source]
        source: Option<Box<Layer>>,
    }

    fn plain(err: &(dyn Error + 'static), hint: Option<&str>) -> String {
        anstream::adapter::strip_str(&error_text(err, hint)).to_string()
    }

    #[test]
    fn causes_and_hint_follow_the_error() {
        let low = Layer { message: "address already in use (os error 98)", source: None };
        let quoted = Layer { message: "cannot listen: address already in use (os error 98)", source: Some(low.into()) };
        let top = Layer { message: "failed to start etcd\nits log ends:\nbind: refused", source: Some(quoted.into()) };
        insta::assert_snapshot!(plain(&top, Some("another run may hold the port: `fleetdrill status` lists them")), @r"
        error: failed to start etcd
          its log ends:
          bind: refused
          caused by: cannot listen: address already in use (os error 98)

        hint: another run may hold the port: `fleetdrill status` lists them
        ");
    }

    #[test]
    fn a_refusal_is_told_in_the_api_server_s_words() {
        let status = kube::core::Status::failure("works is forbidden", "Forbidden").with_code(403);
        let error = fleet::FleetError::api("hub", "list works")(kube::Error::Api(status.boxed()));
        assert_eq!(plain(&error, None), "error: failed to list works on hub\n  caused by: works is forbidden\n");
    }

    #[test]
    fn an_error_alone_is_one_line() {
        assert_eq!(plain(&Layer { message: "no such scenario", source: None }, None), "error: no such scenario\n");
    }
}
