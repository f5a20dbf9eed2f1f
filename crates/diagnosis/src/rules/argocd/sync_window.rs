//! AR-PJ-005: a sync window of the project holds a sync back. Argo CD writes nothing about it into the Application, unless somebody has
//! requested the sync (v3.2 and v3.5).

use cronexpr::parse_crontab;
use glob::Pattern;
use jiff::{SignedDuration, Timestamp};
use serde_json::json;

use super::application::{ApplicationView, OperationState};
use super::project::{project_name, project_of, project_reference};
use crate::object::text_field;
use crate::rules::code::RuleCode;
use crate::rules::draft::FindingDraft;
use crate::{JsonRef, Object};

/// Begin of the message of an operation that waits for a window.
const BLOCKED: &str = "Sync operation blocked by sync window";

/// Sync window of a project.
#[derive(Clone, Copy)]
struct SyncWindow<'a>(JsonRef<'a>);

impl<'a> SyncWindow<'a> {
    fn text(self, field: &str) -> &'a str {
        text_field(self.0, field)
    }

    fn is_deny(self) -> bool {
        self.text("kind") == "deny"
    }

    fn allows_manual(self) -> bool {
        self.0.get("manualSync").and_then(JsonRef::as_bool) == Some(true)
    }

    /// True if a window is about an Application: one of its lists has a pattern that matches, or each of them that isn't empty
    /// (`andOperator`).
    fn matches(self, application: Object<'_>) -> bool {
        let destination = |field: &str| application.str(&format!("/spec/destination/{field}")).unwrap_or_default();
        let lists = [
            ("applications", vec![application.name()]),
            ("clusters", vec![destination("name"), destination("server")]),
            ("namespaces", vec![destination("namespace")]),
        ];
        let set = lists.iter().filter_map(|(field, values)| {
            let patterns = self.0.get(field).and_then(JsonRef::as_array).unwrap_or_default();
            let mut patterns = patterns.iter().filter_map(JsonRef::as_str).peekable();
            patterns.peek()?;
            Some(
                patterns
                    .filter_map(|text| Pattern::new(text).ok())
                    .any(|pattern| values.iter().any(|value| !value.is_empty() && pattern.matches(value))),
            )
        });
        let set: Vec<bool> = set.collect();
        let is_and = self.0.get("andOperator").and_then(JsonRef::as_bool) == Some(true);
        if is_and { !set.is_empty() && set.iter().all(|matches| *matches) } else { set.contains(&true) }
    }

    /// Returns the end of the window that is open at a time; `None` if it is closed, or its schedule can't be read.
    fn open_until(self, now: Timestamp) -> Option<Timestamp> {
        let zone = Some(self.text("timeZone")).filter(|zone| !zone.is_empty()).unwrap_or("UTC");
        let schedule = parse_crontab(&format!("{} {zone}", self.text("schedule"))).ok()?;
        let duration: SignedDuration = self.text("duration").parse().ok()?;
        let start = schedule.find_next(now.checked_sub(duration).ok()?).ok()?.timestamp();
        (start <= now).then(|| start.checked_add(duration).ok())?
    }

    /// Returns the window as people write it, e.g. `deny, 0 22 * * * for 1h`.
    fn words(self) -> String {
        format!("{}, {} for {}", self.text("kind"), self.text("schedule"), self.text("duration"))
    }
}

/// Creates the notice for a sync that waits for a window: one that somebody has requested, or an automated one, which isn't even begun.
pub(super) fn rule(application: ApplicationView<'_>) -> Option<FindingDraft> {
    let is_requested = application.operation_state() == OperationState::Running
        && application.operation_field("message").starts_with(BLOCKED);
    let object = application.object;
    let awaits_automated = application.is_automated()
        && object.str("/status/sync/status") == Some("OutOfSync")
        && application.operation_state() == OperationState::Fine;
    if !is_requested && !awaits_automated {
        return None;
    }
    let project = project_of(application)?;
    let now = application.fleet.now();
    let windows = project.list("/spec/syncWindows").iter().map(SyncWindow).filter(|window| window.matches(object));
    let windows: Vec<SyncWindow<'_>> = windows.collect();
    let denying: Vec<_> = windows
        .iter()
        .copied()
        .filter(|window| window.is_deny())
        .filter_map(|w| Some((w, w.open_until(now)?)))
        .collect();
    let allowing: Vec<_> = windows.iter().copied().filter(|window| !window.is_deny()).collect();
    let is_open = allowing.iter().any(|window| window.open_until(now).is_some());
    let closed = if denying.is_empty() && !is_open { allowing } else { Vec::new() };
    if denying.is_empty() && closed.is_empty() && !is_requested {
        return None;
    }
    let holding: Vec<SyncWindow<'_>> = denying.iter().map(|(window, _)| *window).chain(closed).collect();
    let mut evidence = vec![application.quote().field(object, "status.sync.status")];
    if is_requested {
        evidence.push(application.quote_operation());
    }
    evidence.push(application.quote().field(project, "spec.syncWindows"));
    let names = json!({
        "project": project_name(application),
        "project_ref": project_reference(application),
        "windows": holding.iter().map(|window| window.words()).collect::<Vec<_>>().join("; "),
        "until": denying.iter().map(|(_, until)| until.strftime("%H:%M UTC").to_string()).max().unwrap_or_default(),
        "requested": is_requested,
        "manual": !holding.is_empty() && holding.iter().all(|window| window.allows_manual()),
    });
    Some(application.draft(RuleCode::AR_PJ_005, &names, evidence).into_notice())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::SyncWindow;
    use crate::{JsonRef, Object};

    fn application() -> Value {
        json!({
            "metadata": {"name": "web"},
            "spec": {"destination": {"name": "member-1", "namespace": "shop"}},
        })
    }

    #[test]
    fn a_window_matches_by_one_of_its_lists_or_by_all_of_them() {
        let application = application();
        for (window, expected) in [
            (json!({"applications": ["w*"]}), true),
            (json!({"applications": ["other"], "namespaces": ["shop"]}), true),
            (json!({"applications": ["other"], "namespaces": ["shop"], "andOperator": true}), false),
            (json!({"clusters": ["member-*"], "namespaces": ["shop"], "andOperator": true}), true),
            (json!({"clusters": ["https://*"]}), false),
            (json!({}), false),
        ] {
            let matches = SyncWindow(JsonRef::from(&window)).matches(Object::new(&application));
            assert_eq!(matches, expected, "{window}");
        }
    }

    #[test]
    fn a_window_is_open_for_its_duration_in_its_zone() {
        let window = json!({"schedule": "0 22 * * *", "duration": "1h30m", "timeZone": "Europe/Berlin"});
        let end = |now: &str| {
            let until = SyncWindow(JsonRef::from(&window)).open_until(now.parse().expect("a time"));
            until.map(|until| until.to_string())
        };
        assert_eq!(end("2026-01-08T21:00:00Z"), Some("2026-01-08T22:30:00Z".to_owned()));
        assert_eq!(end("2026-01-08T22:29:59Z"), Some("2026-01-08T22:30:00Z".to_owned()));
        assert_eq!(end("2026-01-08T20:59:59Z"), None);
        assert_eq!(end("2026-01-08T22:30:00Z"), None);
    }
}
