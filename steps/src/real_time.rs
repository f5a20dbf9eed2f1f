//! Steps that let a controller's threshold of five minutes pass: by moving a time into the past, or with `--real-time` by waiting.

/// How long such a step waits with `--real-time`, about.
pub const WAIT: std::time::Duration = crate::looks::STUCK;

/// Whether a step with this text is one of them.
#[must_use]
pub fn is_waited_out(step: &str) -> bool {
    step.starts_with("the stuck threshold of ") || step.ends_with(" for five minutes")
}
