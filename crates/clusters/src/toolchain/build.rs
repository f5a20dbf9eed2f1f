//! Building programs with Go and copying assets out of its modules, into a version's folder.
//!
//! Everything is made in a temporary folder inside the version's folder, renamed into place when it is whole, and
//! only then entered in the manifest: what isn't there isn't trusted, so an interruption at any moment does no harm.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use tempfile::TempDir;

use super::assets::copy_yaml;
use super::blocking::blocking;
use super::definition::{Asset, Pinned, Program};
use super::disk;
use super::error::ToolchainError;
use super::event::{BuildEvent, Progress, Step};
use super::go::{Go, Ran};
use super::go_output::{Failure, classify, downloading, tail};
use super::manifest::{Checksum, Manifest};
use super::slot::{Slot, TEMPORARY, remove_leftovers};

/// Prints the packages that Go's build cache doesn't hold.
const STALE: &str = "{{if .Stale}}{{.ImportPath}}{{end}}";

/// What there is to do.
pub(crate) struct Plan<'a> {
    pub programs: Vec<&'a Program>,
    pub assets: Vec<&'a Asset>,
}

impl<'a> Plan<'a> {
    /// The wanted programs, and the assets, that aren't in the manifest; in the order of the definition.
    pub fn new(pinned: &'a Pinned, wanted: &[&str], manifest: &Manifest) -> Self {
        let is_built = |program: &Program| manifest.files.contains_key(&format!("bin/{}", program.name));
        let is_wanted = |program: &Program| wanted.contains(&program.name.as_str());
        Self {
            programs: pinned.programs.iter().filter(|program| is_wanted(program) && !is_built(program)).collect(),
            assets: pinned.assets.iter().filter(|asset| manifest.files_in(&asset.name).next().is_none()).collect(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.programs.is_empty() && self.assets.is_empty()
    }
}

/// A build under way. The caller holds the version's lock.
pub(crate) struct Build<'a> {
    slot: &'a Slot,
    pinned: &'a Pinned,
    progress: Progress<'a>,
    go: Go,
    work: TempDir,
    downloads: AtomicUsize,
}

impl<'a> Build<'a> {
    pub async fn start(
        go: Option<&Path>,
        slot: &'a Slot,
        pinned: &'a Pinned,
        progress: Progress<'a>,
    ) -> Result<Self, ToolchainError> {
        let go = Go::find(go, slot, pinned.needed_go()).await?;
        let work = prepare(slot, pinned).map_err(|error| error.needing(needed(pinned)))?;
        Ok(Self { slot, pinned, progress, go, work, downloads: AtomicUsize::new(0) })
    }

    pub async fn run(&self, plan: &Plan<'_>, manifest: &mut Manifest) -> Result<(), ToolchainError> {
        let result = async {
            for (index, program) in plan.programs.iter().enumerate() {
                let (component, version) = (self.slot.component.clone(), self.slot.version.clone());
                let (index, of) = (index + 1, plan.programs.len());
                self.program(program, &Step { component, version, program: program.name.clone(), index, of }, manifest)
                    .await?;
            }
            for asset in &plan.assets {
                self.asset(asset, manifest).await?;
            }
            Ok(())
        };
        result.await.map_err(|error: ToolchainError| error.needing(needed(self.pinned)))
    }

    async fn program(&self, program: &Program, step: &Step, manifest: &mut Manifest) -> Result<(), ToolchainError> {
        let list = ["list", "-mod=readonly", "-trimpath", "-deps", "-f", STALE, &program.package];
        let listed = self.go(&program.name, &list, |_| false).await?;
        // The main package counts as stale even when only linking remains, so it is left out.
        let is_counted = |line: &&str| !line.is_empty() && *line != program.package;
        let stale: HashSet<&str> = listed.stdout.lines().filter(is_counted).collect();
        let (mut done, total) = (0, stale.len());
        let tell = |done: usize, package: Option<&str>| {
            let package = package.map(str::to_owned);
            if total > 0 {
                (self.progress)(BuildEvent::Compiling { step: step.clone(), done, total, package });
            }
            if done >= total {
                (self.progress)(BuildEvent::Linking { step: step.clone() });
            }
        };
        tell(0, None);
        let out = self.work.path().join("out").join(&program.name);
        let out_text = out.to_string_lossy();
        let ldflags = &program.ldflags;
        let build =
            ["build", "-mod=readonly", "-trimpath", "-v", "-ldflags", ldflags, "-o", &out_text, &program.package];
        let on_line = |line: &str| {
            if stale.contains(line) {
                done += 1;
                tell(done, Some(line));
                return true;
            }
            line == program.package
        };
        self.go(&program.name, &build, on_line).await?;
        let checksum = self.checksum(&out).await?;
        let name = format!("bin/{}", program.name);
        let place = self.slot.dir.join(&name);
        fs::rename(&out, &place).map_err(|error| ToolchainError::io("write", &place, error))?;
        manifest.files.insert(name, checksum);
        manifest.write(&self.slot.dir)
    }

    async fn asset(&self, asset: &Asset, manifest: &mut Manifest) -> Result<(), ToolchainError> {
        let module = self.module_folder(asset).await?;
        let made = self.work.path().join("out").join(&asset.name);
        let folder = module.join(&asset.folder);
        let files = copy_yaml(&folder, &made)?;
        if files.is_empty() {
            let output = vec![format!("{} has no YAML files", folder.display())];
            return Err(ToolchainError::Build { what: self.slot.component.clone(), version: self.version(), output });
        }
        let place = self.slot.dir.join(&asset.name);
        let failed = |error| ToolchainError::io("write", &place, error);
        if place.exists() {
            fs::remove_dir_all(&place).map_err(failed)?;
        }
        fs::rename(&made, &place).map_err(failed)?;
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

    /// Runs `go` in the pinned module, tells about downloads, and sorts its failures.
    async fn go(
        &self,
        what: &str,
        args: &[&str],
        mut is_progress: impl FnMut(&str) -> bool,
    ) -> Result<Ran, ToolchainError> {
        let on_line = |line: &str| {
            let Some(module) = downloading(line) else { return is_progress(line) };
            (self.progress)(BuildEvent::Downloading {
                component: self.slot.component.clone(),
                version: self.version(),
                module: module.to_owned(),
                count: self.downloads.fetch_add(1, Ordering::Relaxed) + 1,
            });
            true
        };
        let (module, temporary) = (self.work.path().join("module"), self.work.path().join("go"));
        let ran = self.go.run(&module, Some(&temporary), args, on_line).await?;
        if ran.success { Ok(ran) } else { Err(self.failure(what, &ran.lines)) }
    }

    fn failure(&self, what: &str, lines: &[String]) -> ToolchainError {
        match classify(lines) {
            Failure::DiskFull(file) => {
                let directory = self.full_folder(file);
                ToolchainError::DiskFull { free: disk::free(&directory), directory, needed: needed(self.pinned) }
            }
            Failure::TooOld(version) => {
                self.go.too_old(self.slot, version.as_deref().unwrap_or(self.pinned.needed_go()))
            }
            Failure::Download => {
                let component = self.slot.component.clone();
                ToolchainError::Download { component, version: self.version(), output: tail(lines, 8) }
            }
            Failure::Other => {
                ToolchainError::Build { what: what.to_owned(), version: self.version(), output: tail(lines, 20) }
            }
        }
    }

    /// The folder that a user would have to empty or move: one of Go's caches or ours, rather than some file in it.
    fn full_folder(&self, file: Option<PathBuf>) -> PathBuf {
        let folders = [&self.go.build_cache, &self.go.module_cache, &self.slot.dir];
        let known = |file: &PathBuf| folders.into_iter().find(|folder| file.starts_with(folder)).cloned();
        let above = |file: &PathBuf| file.parent().map(Path::to_owned);
        let fullest = || folders.into_iter().min_by_key(|folder| disk::free(folder)).cloned();
        file.and_then(|file| known(&file).or_else(|| above(&file))).or_else(fullest).unwrap_or_default()
    }

    async fn checksum(&self, path: &Path) -> Result<Checksum, ToolchainError> {
        let file = path.to_owned();
        blocking(move || Checksum::of(&file)).await.map_err(|error| ToolchainError::io("read", path, error))
    }

    fn version(&self) -> String {
        self.slot.version.clone()
    }
}

/// Makes the version's folder, and in it a temporary one with the module to build from.
fn prepare(slot: &Slot, pinned: &Pinned) -> Result<TempDir, ToolchainError> {
    let failed = |error| ToolchainError::io("write", &slot.dir.join("bin"), error);
    fs::create_dir_all(slot.dir.join("bin")).map_err(failed)?;
    remove_leftovers(&slot.dir, TEMPORARY);
    let work = tempfile::Builder::new().prefix(TEMPORARY).tempdir_in(&slot.dir).map_err(failed)?;
    for folder in ["module", "go", "out"] {
        fs::create_dir(work.path().join(folder)).map_err(failed)?;
    }
    fs::write(work.path().join("module/go.mod"), &pinned.go_mod).map_err(failed)?;
    fs::write(work.path().join("module/go.sum"), &pinned.go_sum).map_err(failed)?;
    Ok(work)
}

fn needed(pinned: &Pinned) -> u64 {
    pinned.disk_mib << 20
}
