//! Conditions of an Application, as its status has them. [`crate::observe`] records their transitions, and
//! [`crate::argocd`] exports them.

use diagnosis::JsonRef;

/// Conditions of an Application, as type and message. They have no status: a condition holds if it is present.
#[must_use]
pub fn conditions<'a>(application: &diagnosis::Object<'a>) -> Vec<(&'a str, &'a str)> {
    application.list("/status/conditions").iter().map(|c| (text(c, "type"), text(c, "message"))).collect()
}

fn text<'a>(condition: JsonRef<'a>, field: &str) -> &'a str {
    condition.get(field).and_then(JsonRef::as_str).unwrap_or_default()
}
