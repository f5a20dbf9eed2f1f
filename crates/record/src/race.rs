//! Races of controllers that steps work around.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Race of a controller, for example with its informer cache. A step whose scenario is about something else works around it as an
/// operator would: docs/controllers.md and docs/argocd.md describe the races.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ControllerRace {
    /// `KubeFleet` makes two Works of one envelope (KF-WS-010). One is deleted.
    DuplicateWork,
    /// An update run's writes conflict with that of a binding's finalizer (KF-UR-008). The step sets the finalizer in advance, whether the
    /// conflict would have come or not.
    BindingFinalizer,
    /// `KubeFleet` hasn't heard of an update run's strategy. The run is created again.
    UnseenStrategy,
    /// `KubeFleet` takes a resource snapshot without an object that was there. The next snapshot is used.
    IncompleteSnapshot,
    /// Argo CD misses a sync that was asked for, or is slow: nothing tells which. It is asked to compare.
    MissedSync,
    /// Argo CD misses a refresh that was asked for, or is slow: nothing tells which. It is asked again.
    MissedRefresh,
    /// Argo CD misses what a sync has changed. It is asked to compare.
    MissedChange,
    /// Argo CD misses that an operation is to end. It is asked again.
    MissedTermination,
    /// Argo CD takes the failure of a hook's earlier Job for that of the present one. The Application is synced again.
    StaleHookJob,
}

impl ControllerRace {
    /// Returns the race in a few words.
    #[must_use]
    pub fn told(self) -> &'static str {
        match self {
            Self::DuplicateWork => "KubeFleet made two Works of an envelope",
            Self::BindingFinalizer => "a binding got its finalizer before KubeFleet's write could conflict",
            Self::UnseenStrategy => "KubeFleet hadn't heard of an update run's strategy",
            Self::IncompleteSnapshot => "KubeFleet took a resource snapshot without an object that was there",
            Self::MissedSync => "Argo CD missed a sync, or was slow to begin it",
            Self::MissedRefresh => "Argo CD missed a refresh, or was slow to do it",
            Self::MissedChange => "Argo CD missed what a sync had changed",
            Self::MissedTermination => "Argo CD missed that an operation was to end",
            Self::StaleHookJob => "Argo CD took a hook's earlier Job for the present one",
        }
    }
}
