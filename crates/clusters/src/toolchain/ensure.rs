//! Getting a component: what is there is checked, what isn't is built.

use std::time::Instant;

use super::blocking::blocking;
use super::build::{Build, Plan};
use super::definition::Pinned;
use super::error::ToolchainError;
use super::event::{BuildEvent, Progress};
use super::installed::Installed;
use super::lock::Lock;
use super::manifest::{Damage, Manifest};
use super::open::Toolchain;
use super::slot::{Slot, Source};

/// What a look at a version's folder showed.
struct Look {
    manifest: Manifest,
    damages: Vec<Damage>,
}

impl Toolchain {
    /// Makes sure that programs of a component, and all of its assets, are there and whole; builds what isn't.
    ///
    /// Each file is compared with its checksum. A damaged file of a pinned version is built again. When the future
    /// is dropped, the build ends, and the next call resumes it.
    ///
    /// # Errors
    /// See [`ToolchainError`]; [`ToolchainError::Corrupt`] for a damaged file of an added version.
    pub async fn ensure(
        &self,
        component: &str,
        version: &str,
        programs: &[&str],
        progress: Progress<'_>,
    ) -> Result<Installed, ToolchainError> {
        let started = Instant::now();
        let (slot, pinned) = self.find(component, version)?;
        if let Some(pinned) = pinned {
            let known = || pinned.programs.iter().map(|program| program.name.clone()).collect();
            refuse_unknown(&slot, programs, |name| pinned.program(name).is_some(), known)?;
        }
        progress(BuildEvent::Verifying { component: component.into(), version: version.into() });
        let mut look = Look::at(&slot, programs).await;
        let mut built = 0;
        if !look.is_whole(programs, pinned) {
            // Without the lock, half of somebody else's work may have been seen. So look again.
            let needed = pinned.map_or(0, |pinned| pinned.disk_mib << 20);
            let _lock = lock(&slot, progress).await.map_err(|error| error.needing(needed))?;
            look = Look::at(&slot, programs).await;
            match pinned {
                Some(pinned) => {
                    built = self.mend(&slot, pinned, programs, &mut look.manifest, look.damages, progress).await?;
                }
                None => look.refuse_damage(&slot)?,
            }
        }
        if pinned.is_none() {
            let known = || programs_in(&look.manifest).map(str::to_owned).collect();
            let has = |name: &str| programs_in(&look.manifest).any(|known| known == name);
            refuse_unknown(&slot, programs, has, known)?;
        }
        let seconds = started.elapsed().as_secs_f64();
        progress(BuildEvent::Done { component: component.into(), version: version.into(), built, seconds });
        Ok(Installed::new(&slot, &look.manifest, programs))
    }

    /// Builds what is missing or damaged; says how many programs that were.
    async fn mend(
        &self,
        slot: &Slot,
        pinned: &Pinned,
        programs: &[&str],
        manifest: &mut Manifest,
        damages: Vec<Damage>,
        progress: Progress<'_>,
    ) -> Result<usize, ToolchainError> {
        for damage in damages {
            manifest.files.remove(&damage.file);
            // One file of a folder of assets stands for all: they are copied together.
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
        let plan = Plan::new(pinned, programs, manifest);
        let count = plan.programs.len();
        if !plan.is_empty() {
            Build::start(self.go.as_deref(), slot, pinned, progress).await?.run(&plan, manifest).await?;
        }
        Ok(count)
    }
}

impl Look {
    async fn at(slot: &Slot, programs: &[&str]) -> Self {
        let programs: Vec<String> = programs.iter().map(|name| format!("bin/{name}")).collect();
        let slot = slot.clone();
        let look = move || match Manifest::read(&slot.dir) {
            Ok(None) if slot.source == Source::Added => {
                let damages = vec![Damage { file: "manifest.json".into(), why: "it is missing".into() }];
                Self { manifest: Manifest::empty(&slot), damages }
            }
            Ok(None) => Self { manifest: Manifest::empty(&slot), damages: Vec::new() },
            Err(damage) => Self { manifest: Manifest::empty(&slot), damages: vec![damage] },
            Ok(Some(manifest)) => {
                let assets = manifest.files.keys().filter(|file| !file.starts_with("bin/")).cloned();
                let files: Vec<String> = programs.into_iter().chain(assets).collect();
                Self { damages: manifest.damages(&slot.dir, &files), manifest }
            }
        };
        blocking(look).await
    }

    fn is_whole(&self, programs: &[&str], pinned: Option<&Pinned>) -> bool {
        self.damages.is_empty() && pinned.is_none_or(|pinned| Plan::new(pinned, programs, &self.manifest).is_empty())
    }

    fn refuse_damage(&self, slot: &Slot) -> Result<(), ToolchainError> {
        self.damages.first().map_or(Ok(()), |damage| {
            Err(ToolchainError::Corrupt {
                component: slot.component.clone(),
                version: slot.version.clone(),
                file: slot.dir.join(&damage.file),
                why: damage.why.clone(),
            })
        })
    }
}

/// Waits for a version's lock, telling so.
pub(crate) async fn lock(slot: &Slot, progress: Progress<'_>) -> Result<Lock, ToolchainError> {
    let on_wait = |pid| {
        let (component, version) = (slot.component.clone(), slot.version.clone());
        progress(BuildEvent::Waiting { component, version, pid });
    };
    Lock::acquire(&slot.lock_file(), on_wait).await
}

/// The programs in a manifest.
pub(crate) fn programs_in(manifest: &Manifest) -> impl Iterator<Item = &str> {
    manifest.files_in("bin").filter_map(|file| file.strip_prefix("bin/"))
}

/// Refuses the first program that isn't known.
pub(crate) fn refuse_unknown(
    slot: &Slot,
    programs: &[&str],
    is_known: impl Fn(&str) -> bool,
    known: impl FnOnce() -> Vec<String>,
) -> Result<(), ToolchainError> {
    match programs.iter().find(|&&name| !is_known(name)) {
        None => Ok(()),
        Some(&name) => Err(ToolchainError::UnknownProgram {
            component: slot.component.clone(),
            version: slot.version.clone(),
            program: name.to_owned(),
            known: known(),
        }),
    }
}
