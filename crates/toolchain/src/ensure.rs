//! Installation of a component: files that exist are checked, missing ones are built.

use std::time::Instant;

use crate::blocking::blocking;
use crate::build::{Build, BuildPlan};
use crate::cache_slot::{CacheSlot, VersionOrigin};
use crate::definition::PinnedVersion;
use crate::error::ToolchainError;
use crate::event::{BuildEvent, OnBuildEvent};
use crate::installed::InstalledComponent;
use crate::lock::Lock;
use crate::manifest::{DamagedFile, VersionManifest};
use crate::toolchain::Toolchain;

/// Result of checking a version's folder.
struct VersionFolderCheck {
    manifest: VersionManifest,
    damages: Vec<DamagedFile>,
}

impl Toolchain {
    /// Makes sure that the given programs of a component, and all of its assets, are there and undamaged. Builds those
    /// that are missing.
    ///
    /// Each file is compared with its checksum. A damaged file of a pinned version is built again. When the future is
    /// dropped, the build ends, and the next call resumes it.
    ///
    /// # Errors
    /// Returns a [`ToolchainError`]; for a damaged file of an added version, [`ToolchainError::Corrupt`].
    pub async fn ensure(
        &self,
        component: &str,
        version: &str,
        programs: &[&str],
        progress: OnBuildEvent<'_>,
    ) -> Result<InstalledComponent, ToolchainError> {
        let started = Instant::now();
        let (slot, pinned) = self.find(component, version)?;
        if let Some(pinned) = pinned {
            refuse_unknown(&slot, programs, pinned.programs.iter().map(|program| program.name.as_str()))?;
        }
        progress(BuildEvent::Verifying { component: component.into(), version: version.into() });
        let mut look = VersionFolderCheck::at(&slot, programs).await;
        let mut built = 0;
        if !look.is_whole(programs, pinned) {
            // Without the lock, the check may have seen the unfinished work of another process. So check again.
            let needed = pinned.map_or(0, |pinned| pinned.disk_mib << 20);
            let _lock = lock(&slot, progress).await.map_err(|error| error.needing(needed))?;
            look = VersionFolderCheck::at(&slot, programs).await;
            match pinned {
                Some(pinned) => {
                    built = self.mend(&slot, pinned, programs, &mut look.manifest, look.damages, progress).await?;
                }
                None => look.refuse_damage(&slot)?,
            }
        }
        if pinned.is_none() {
            refuse_unknown(&slot, programs, programs_in(&look.manifest))?;
        }
        let seconds = started.elapsed().as_secs_f64();
        progress(BuildEvent::Done { component: component.into(), version: version.into(), built, seconds });
        Ok(InstalledComponent::new(&slot, &look.manifest, programs))
    }

    /// Builds what is missing or damaged, and returns the number of programs that were built.
    async fn mend(
        &self,
        slot: &CacheSlot,
        pinned: &PinnedVersion,
        programs: &[&str],
        manifest: &mut VersionManifest,
        damages: Vec<DamagedFile>,
        progress: OnBuildEvent<'_>,
    ) -> Result<usize, ToolchainError> {
        for damage in damages {
            manifest.files.remove(&damage.file);
            // Drop the whole folder of a damaged asset, because its files are copied together.
            if let Some((folder, _)) = damage.file.split_once('/').filter(|(folder, _)| *folder != "bin") {
                let prefix = format!("{folder}/");
                manifest.files.retain(|file, _| !file.starts_with(&prefix));
            }
            progress(BuildEvent::Rebuilding {
                component: slot.component.clone(),
                version: slot.version.clone(),
                file: slot.dir.join(&damage.file).display().to_string(),
                why: damage.why,
            });
        }
        let plan = BuildPlan::new(pinned, programs, manifest);
        let count = plan.programs.len();
        if !plan.is_empty() {
            Build::start(self.go.as_deref(), slot, pinned, progress).await?.run(&plan, manifest).await?;
        }
        Ok(count)
    }
}

impl VersionFolderCheck {
    async fn at(slot: &CacheSlot, programs: &[&str]) -> Self {
        let programs: Vec<String> = programs.iter().map(|name| format!("bin/{name}")).collect();
        let slot = slot.clone();
        blocking(move || Self::read(&slot, programs)).await
    }

    /// Reads the manifest and compares files with their checksums; blocks for as long as that takes.
    fn read(slot: &CacheSlot, programs: Vec<String>) -> Self {
        match VersionManifest::read(&slot.dir) {
            Ok(None) if slot.source == VersionOrigin::Added => {
                let damages = vec![DamagedFile { file: "manifest.json".into(), why: "it is missing".into() }];
                Self { manifest: VersionManifest::empty(slot), damages }
            }
            Ok(None) => Self { manifest: VersionManifest::empty(slot), damages: Vec::new() },
            Err(damage) => Self { manifest: VersionManifest::empty(slot), damages: vec![damage] },
            Ok(Some(manifest)) => {
                let assets = manifest.files.keys().filter(|file| !file.starts_with("bin/")).cloned();
                let files: Vec<String> = programs.into_iter().chain(assets).collect();
                Self { damages: manifest.damages(&slot.dir, &files), manifest }
            }
        }
    }

    fn is_whole(&self, programs: &[&str], pinned: Option<&PinnedVersion>) -> bool {
        self.damages.is_empty()
            && pinned.is_none_or(|pinned| BuildPlan::new(pinned, programs, &self.manifest).is_empty())
    }

    fn refuse_damage(&self, slot: &CacheSlot) -> Result<(), ToolchainError> {
        self.damages.first().map_or(Ok(()), |damage| Err(damage.clone().of(slot)))
    }
}

/// Waits for a version's lock, and reports the wait.
pub(crate) async fn lock(slot: &CacheSlot, progress: OnBuildEvent<'_>) -> Result<Lock, ToolchainError> {
    Lock::acquire(&slot.lock_file(), |pid| {
        let (component, version) = (slot.component.clone(), slot.version.clone());
        progress(BuildEvent::Waiting { component, version, pid });
    })
    .await
}

/// Returns the programs in a manifest.
pub(crate) fn programs_in(manifest: &VersionManifest) -> impl Iterator<Item = &str> {
    manifest.files_in("bin").filter_map(|file| file.strip_prefix("bin/"))
}

/// Refuses the first program that isn't among the known ones.
pub(crate) fn refuse_unknown<'a>(
    slot: &CacheSlot,
    programs: &[&str],
    known: impl Iterator<Item = &'a str>,
) -> Result<(), ToolchainError> {
    let known: Vec<&str> = known.collect();
    match programs.iter().find(|&name| !known.contains(name)) {
        None => Ok(()),
        Some(&name) => Err(ToolchainError::UnknownProgram {
            component: slot.component.clone(),
            version: slot.version.clone(),
            program: name.to_owned(),
            known: known.into_iter().map(str::to_owned).collect(),
        }),
    }
}
