//! Failed update runs that a later run has made up for.

use record::ObjectPath;

use super::fleet::{FleetView, UpdateRunView};

/// Returns the run of the same placement that was created after `run` and has succeeded; the last of several. Creation
/// times have whole seconds: of two runs of one second, the one that has succeeded counts as the later.
pub(super) fn successor(fleet: FleetView<'_>, run: UpdateRunView<'_>) -> Option<ObjectPath> {
    let created = run.object.created_at()?;
    run.siblings(fleet)
        .filter(|other| other.condition("Succeeded").is_some_and(|c| c.status == "True"))
        .filter_map(|other| Some((other.object.created_at().filter(|at| *at >= created)?, other)))
        .max_by_key(|(at, _)| *at)
        .map(|(_, other)| other.object.path())
}
