//! Builds programs with Go and copies assets from Go modules into a version's folder.
//!
//! Each file is made in a temporary folder inside the version's folder, renamed into place when it is complete, and
//! only then entered in the manifest. A file that isn't in the manifest isn't trusted, so an interruption at any moment
//! does no harm.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use tempfile::TempDir;

use crate::assets::copy_yaml;
use crate::blocking::blocking;
use crate::cache_slot::{CacheSlot, TEMPORARY, remove_leftovers};
use crate::definition::{Asset, PinnedVersion, Program};
use crate::disk;
use crate::error::ToolchainError;
use crate::event::{BuildEvent, BuildStep, OnBuildEvent};
use crate::go::{GoCommand, GoCommandResult};
use crate::go_output::{GoFailure, classify, downloading, tail};
use crate::manifest::{Checksum, VersionManifest};

/// Template that prints the packages which Go's build cache doesn't hold.
const STALE: &str = "{{if .Stale}}{{.ImportPath}}{{end}}";

/// Programs to build and assets to copy.
pub(crate) struct BuildPlan<'a> {
    pub programs: Vec<&'a Program>,
    pub assets: Vec<&'a Asset>,
}

impl<'a> BuildPlan<'a> {
    /// Selects the requested programs, and the assets, that aren't in the manifest, in the order of the definition.
    pub fn new(pinned: &'a PinnedVersion, wanted: &[&str], manifest: &VersionManifest) -> Self {
        let programs = pinned.programs.iter().filter(|program| {
            wanted.contains(&program.name.as_str()) && !manifest.files.contains_key(&format!("bin/{}", program.name))
        });
        Self {
            programs: programs.collect(),
            assets: pinned.assets.iter().filter(|asset| manifest.files_in(&asset.name).next().is_none()).collect(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.programs.is_empty() && self.assets.is_empty()
    }
}

/// A running build. The caller holds the version's lock.
pub(crate) struct Build<'a> {
    slot: &'a CacheSlot,
    pinned: &'a PinnedVersion,
    progress: OnBuildEvent<'a>,
    go: GoCommand,
    work: TempDir,
    downloads: AtomicUsize,
}

impl<'a> Build<'a> {
    pub async fn start(
        go: Option<&Path>,
        slot: &'a CacheSlot,
        pinned: &'a PinnedVersion,
        progress: OnBuildEvent<'a>,
    ) -> Result<Self, ToolchainError> {
        let go = GoCommand::find(go, slot, pinned.needed_go()).await?;
        let work = prepare(slot, pinned).map_err(|error| error.needing(needed(pinned)))?;
        Ok(Self { slot, pinned, progress, go, work, downloads: AtomicUsize::new(0) })
    }

    pub async fn run(&self, plan: &BuildPlan<'_>, manifest: &mut VersionManifest) -> Result<(), ToolchainError> {
        let result = async {
            for (index, program) in plan.programs.iter().enumerate() {
                let (component, version) = (self.slot.component.clone(), self.slot.version.clone());
                let (index, of) = (index + 1, plan.programs.len());
                self.program(
                    program,
                    &BuildStep { component, version, program: program.name.clone(), index, of },
                    manifest,
                )
                .await?;
            }
            for asset in &plan.assets {
                self.asset(asset, manifest).await?;
            }
            Ok(())
        };
        result.await.map_err(|error: ToolchainError| error.needing(needed(self.pinned)))
    }

    async fn program(
        &self,
        program: &Program,
        step: &BuildStep,
        manifest: &mut VersionManifest,
    ) -> Result<(), ToolchainError> {
        let list = ["list", "-mod=readonly", "-trimpath", "-deps", "-f", STALE, &program.package];
        let listed = self.go(&program.name, &list, |_| false).await?;
        // The main package counts as stale even when only linking remains, so it is left out.
        let stale = listed.stdout.lines().filter(|line| !line.is_empty() && *line != program.package);
        let stale: HashSet<&str> = stale.collect();
        let (mut done, total) = (0, stale.len());
        self.report_compiling(step, (done, total), None);
        let out = self.work.path().join("out").join(&program.name);
        let out_text = out.to_string_lossy();
        let ldflags = &program.ldflags;
        let build =
            ["build", "-mod=readonly", "-trimpath", "-v", "-ldflags", ldflags, "-o", &out_text, &program.package];
        self.go(&program.name, &build, |line| {
            if stale.contains(line) {
                done += 1;
                self.report_compiling(step, (done, total), Some(line));
                return true;
            }
            line == program.package
        })
        .await?;
        let checksum = self.checksum(&out).await?;
        let name = format!("bin/{}", program.name);
        let place = self.slot.dir.join(&name);
        fs::rename(&out, &place).map_err(|error| ToolchainError::io("write", &place, error))?;
        manifest.files.insert(name, checksum);
        manifest.write(&self.slot.dir)
    }

    /// Reports that a package is being compiled, by how many of the stale packages were started; linking follows the last.
    fn report_compiling(&self, step: &BuildStep, (done, total): (usize, usize), package: Option<&str>) {
        if total > 0 {
            let package = package.map(str::to_owned);
            (self.progress)(BuildEvent::Compiling { step: step.clone(), done, total, package });
        }
        if done >= total {
            (self.progress)(BuildEvent::Linking { step: step.clone() });
        }
    }

    async fn asset(&self, asset: &Asset, manifest: &mut VersionManifest) -> Result<(), ToolchainError> {
        let module = self.module_folder(asset).await?;
        let made = self.work.path().join("out").join(&asset.name);
        let folder = module.join(&asset.folder);
        let files = copy_yaml(&folder, &made)?;
        if files.is_empty() {
            let output = vec![format!("{} has no YAML files", folder.display())];
            return Err(ToolchainError::Build { what: self.slot.component.clone(), version: self.version(), output });
        }
        let place = self.slot.dir.join(&asset.name);
        let failed = ToolchainError::failed_to("write", &place);
        if place.exists() {
            fs::remove_dir_all(&place).map_err(&failed)?;
        }
        fs::rename(&made, &place).map_err(&failed)?;
        for file in files {
            let checksum = self.checksum(&place.join(&file)).await?;
            manifest.files.insert(format!("{}/{file}", asset.name), checksum);
        }
        manifest.write(&self.slot.dir)
    }

    async fn module_folder(&self, asset: &Asset) -> Result<PathBuf, ToolchainError> {
        let list = ["list", "-mod=readonly", "-m", "-f", "{{.Dir}}", &asset.module];
        let mut listed = self.go(&asset.name, &list, |_| false).await?;
        if listed.stdout.trim().is_empty() {
            self.go(&asset.name, &["mod", "download", &asset.module], |_| false).await?;
            listed = self.go(&asset.name, &list, |_| false).await?;
        }
        Ok(listed.stdout.trim().into())
    }

    /// Runs `go` in the pinned module, reports downloads, and classifies failures.
    async fn go(
        &self,
        what: &str,
        args: &[&str],
        mut is_progress: impl FnMut(&str) -> bool,
    ) -> Result<GoCommandResult, ToolchainError> {
        let (module, temporary) = (self.work.path().join("module"), self.work.path().join("go"));
        let ran = self.go.run(&module, Some(&temporary), args, |line| match downloading(line) {
            Some(module) => {
                self.report_download(module);
                true
            }
            None => is_progress(line),
        });
        let ran = ran.await?;
        if ran.success { Ok(ran) } else { Err(self.failure(what, &ran.lines)) }
    }

    fn report_download(&self, module: &str) {
        (self.progress)(BuildEvent::Downloading {
            component: self.slot.component.clone(),
            version: self.version(),
            module: module.to_owned(),
            count: self.downloads.fetch_add(1, Ordering::Relaxed) + 1,
        });
    }

    fn failure(&self, what: &str, lines: &[String]) -> ToolchainError {
        match classify(lines) {
            GoFailure::DiskFull(file) => {
                let directory = self.full_folder(file.as_deref());
                ToolchainError::DiskFull { free: disk::free(&directory), directory, needed: needed(self.pinned) }
            }
            GoFailure::TooOld(version) => {
                self.go.too_old(self.slot, version.as_deref().unwrap_or(self.pinned.needed_go()))
            }
            GoFailure::Download => {
                let component = self.slot.component.clone();
                ToolchainError::Download { component, version: self.version(), output: tail(lines, 8) }
            }
            GoFailure::Other => {
                ToolchainError::Build { what: what.to_owned(), version: self.version(), output: tail(lines, 20) }
            }
        }
    }

    /// Returns the folder that a user would have to empty or move: one of Go's caches or the version's folder, rather
    /// than a folder deep inside it.
    fn full_folder(&self, file: Option<&Path>) -> PathBuf {
        let folders = [&self.go.build_cache, &self.go.module_cache, &self.slot.dir];
        let of_file = file.and_then(|file| {
            folders.into_iter().map(PathBuf::as_path).find(|folder| file.starts_with(folder)).or(file.parent())
        });
        let fullest = folders.into_iter().min_by_key(|folder| disk::free(folder));
        of_file.or(fullest.map(PathBuf::as_path)).unwrap_or(Path::new("")).to_owned()
    }

    async fn checksum(&self, path: &Path) -> Result<Checksum, ToolchainError> {
        let file = path.to_owned();
        blocking(move || Checksum::of(&file)).await.map_err(|error| ToolchainError::io("read", path, error))
    }

    fn version(&self) -> String {
        self.slot.version.clone()
    }
}

/// Creates the version's folder, and in it a temporary one with the module to build from.
fn prepare(slot: &CacheSlot, pinned: &PinnedVersion) -> Result<TempDir, ToolchainError> {
    let failed = ToolchainError::failed_to("write", &slot.dir.join("bin"));
    fs::create_dir_all(slot.dir.join("bin")).map_err(&failed)?;
    remove_leftovers(&slot.dir, TEMPORARY);
    let work = tempfile::Builder::new().prefix(TEMPORARY).tempdir_in(&slot.dir).map_err(&failed)?;
    for folder in ["module", "go", "out"] {
        fs::create_dir(work.path().join(folder)).map_err(&failed)?;
    }
    fs::write(work.path().join("module/go.mod"), &pinned.go_mod).map_err(&failed)?;
    fs::write(work.path().join("module/go.sum"), &pinned.go_sum).map_err(&failed)?;
    Ok(work)
}

fn needed(pinned: &PinnedVersion) -> u64 {
    pinned.disk_mib << 20
}
