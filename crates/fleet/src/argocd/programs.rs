//! Argo CD's programs.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// Programs that Argo CD consists of, and that it renders manifests with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArgoCdPrograms {
    /// Version of Argo CD, e.g. `v3.2.11`.
    pub version: String,
    /// Argo CD's only program, whose role is set by its environment.
    pub argocd: PathBuf,
    /// `redis-server`.
    pub redis: PathBuf,
    /// `kustomize`.
    pub kustomize: PathBuf,
    /// `helm`.
    pub helm: PathBuf,
    /// `git`, for the repo-server and for the repositories of scenarios.
    pub git: PathBuf,
    /// Files with the version's CRDs, one CRD in each file.
    pub crds: Vec<PathBuf>,
    /// Files with the version's rights for the application-controller, one object in each file; empty for an own build.
    pub rights: Vec<PathBuf>,
}

/// What is wrong with a kustomize that the repo-server has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KustomizeFault {
    /// It waits for so many seconds before it begins.
    Slow(u64),
    /// It is killed as it begins to render.
    Killed,
}
