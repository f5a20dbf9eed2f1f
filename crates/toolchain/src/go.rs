//! The `go` command: search, checks and runs.

use std::env;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};
use tokio::process::Command;

use crate::cache_slot::CacheSlot;
use crate::definition::numbers;
use crate::error::ToolchainError;
use crate::process_group::ProcessGroup;

/// Path where Go's own installer puts the command. Used if `go` isn't on the PATH, as under sudo.
const USUAL_PLACE: &str = "/usr/local/go/bin/go";

/// Flags of all commands. The programs' linker flags leave out the debugging data of DWARF, so the compiler needn't make it: 9 % less
/// processor time for etcd, and the same program.
const FLAGS: &str = "-buildvcs=false -gcflags=all=-dwarf=false";

/// A `go` command that is new enough, and the folders of its caches.
#[derive(Debug)]
pub(crate) struct GoCommand {
    program: PathBuf,
    version: String,
    flags: String,
    pub build_cache: PathBuf,
    pub module_cache: PathBuf,
}

/// Result of a `go` command.
#[derive(Debug)]
pub(crate) struct GoCommandResult {
    pub success: bool,
    pub stdout: String,
    /// Lines on stderr, without those that report progress.
    pub lines: Vec<String>,
}

impl GoCommand {
    /// Finds `go` and checks that it can build a module that needs this version of Go.
    pub async fn find(command: Option<&Path>, slot: &CacheSlot, needed: &str) -> Result<Self, ToolchainError> {
        let found = match command {
            Some(command) => look_up(command),
            None => look_up(Path::new("go")).or_else(|| look_up(Path::new(USUAL_PLACE))),
        };
        let program = found.ok_or_else(|| ToolchainError::GoMissing {
            component: slot.component.clone(),
            version: slot.version.clone(),
            command: command.unwrap_or(Path::new("go")).display().to_string(),
            needed: needed.to_owned(),
        })?;
        let (version, flags) = (String::new(), String::new());
        let mut go = Self { program, version, flags, build_cache: PathBuf::new(), module_cache: PathBuf::new() };
        // In the root folder, no go.mod makes an old Go fail or fetch a newer version of itself.
        let asked = ["env", "GOVERSION", "GOTOOLCHAIN", "GOFLAGS", "GOCACHE", "GOMODCACHE"];
        let ran = go.run(Path::new("/"), None, &asked, |_| false).await?;
        let answers: Vec<&str> = ran.stdout.split('\n').collect();
        let [found, toolchain, flags, build_cache, module_cache, ..] = answers[..] else {
            let said: Vec<&str> = std::iter::once(&ran.stdout).chain(&ran.lines).map(String::as_str).collect();
            let source = io::Error::other(format!("`go env` answered `{}`", said.join("\n")));
            return Err(ToolchainError::Io { doing: "ask", path: go.program, source });
        };
        found.clone_into(&mut go.version);
        if is_older(found, needed) && !can_fetch_newer(found, toolchain) {
            return Err(go.too_old(slot, needed));
        }
        go.flags = [flags, FLAGS].join(" ");
        go.build_cache = build_cache.into();
        go.module_cache = module_cache.into();
        Ok(go)
    }

    pub fn too_old(&self, slot: &CacheSlot, needed: &str) -> ToolchainError {
        ToolchainError::GoTooOld {
            component: slot.component.clone(),
            version: slot.version.clone(),
            command: self.program.clone(),
            found: self.version.clone(),
            needed: needed.to_owned(),
        }
    }

    /// Runs `go` in the folder `dir`, with `temporary` for its temporary files. When the future is dropped, `go` and
    /// the compilers that it has started are killed.
    ///
    /// `is_progress` gets each line of stderr as soon as Go writes it. Lines for which it returns true aren't kept.
    pub async fn run(
        &self,
        dir: &Path,
        temporary: Option<&Path>,
        args: &[&str],
        mut is_progress: impl FnMut(&str) -> bool,
    ) -> Result<GoCommandResult, ToolchainError> {
        let failed = ToolchainError::failed_to("run", &self.program);
        let group = ProcessGroup::new().map_err(&failed)?;
        let mut command = Command::new(&self.program);
        command.args(args).current_dir(dir).process_group(group.id()).kill_on_drop(true);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // Ignore the user's workspace and target platform; keep other settings, such as GOPROXY and GOCACHE.
        command.env("CGO_ENABLED", "0").env("GOWORK", "off").env("GO111MODULE", "on");
        command.env_remove("GOOS").env_remove("GOARCH");
        if !self.flags.is_empty() {
            command.env("GOFLAGS", &self.flags);
        }
        if let Some(temporary) = temporary {
            command.env("GOTMPDIR", temporary);
        }
        let mut child = command.spawn().map_err(&failed)?;
        let (mut out, err) = (child.stdout.take().expect("is piped"), child.stderr.take().expect("is piped"));
        let mut stdout = Vec::new();
        let mut lines = Vec::new();
        let read_err = async {
            let mut err = BufReader::new(err);
            let mut line = Vec::new();
            while err.read_until(b'\n', &mut line).await? > 0 {
                let text = String::from_utf8_lossy(&line);
                let text = text.trim_end();
                if !is_progress(text) {
                    lines.push(text.to_owned());
                }
                line.clear();
            }
            Ok(())
        };
        tokio::try_join!(out.read_to_end(&mut stdout), read_err).map_err(&failed)?;
        let status = child.wait().await.map_err(&failed)?;
        Ok(GoCommandResult { success: status.success(), stdout: String::from_utf8_lossy(&stdout).into_owned(), lines })
    }
}

/// Returns the executable file of a command, found as a shell finds it.
pub(crate) fn look_up(command: &Path) -> Option<PathBuf> {
    let is_executable =
        |path: &PathBuf| path.metadata().is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0);
    if command.components().count() > 1 {
        return Some(command.to_owned()).filter(is_executable);
    }
    env::split_paths(&env::var_os("PATH")?).map(|dir| dir.join(command)).find(is_executable)
}

/// Returns true if `found`, such as `go1.26.8`, is older than `needed`. Development versions count as new.
fn is_older(found: &str, needed: &str) -> bool {
    let Some(found) = found.strip_prefix("go") else { return false };
    let found = found.split(|c: char| c != '.' && !c.is_ascii_digit()).next().unwrap_or_default();
    numbers(found) < numbers(needed)
}

/// Returns true if this Go can fetch a newer one. Go 1.21 and later download a newer Go if a go.mod needs it, unless
/// GOTOOLCHAIN forbids the download.
fn can_fetch_newer(found: &str, toolchain: &str) -> bool {
    !is_older(found, "1.21") && (toolchain.is_empty() || toolchain.contains("auto"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_precompile_uses_the_same_flags() {
        assert!(include_str!("../../../scripts/precompile").contains(FLAGS));
    }

    #[test]
    fn versions_are_compared_by_number() {
        assert!(is_older("go1.9.7", "1.26.0"));
        assert!(is_older("go1.26rc1", "1.26.1"));
        assert!(!is_older("go1.26.0", "1.26.0"));
        assert!(!is_older("go1.27.1 X:nocoverageredesign", "1.26.3"));
        assert!(!is_older("devel go1.28-abcdef", "1.26.0"));
    }

    #[test]
    fn only_newer_ones_fetch_what_they_lack() {
        assert!(can_fetch_newer("go1.22.1", "auto"));
        assert!(!can_fetch_newer("go1.22.1", "local"));
        assert!(!can_fetch_newer("go1.19.8", ""));
    }

    #[test]
    fn commands_are_found_on_the_path() {
        assert!(look_up(Path::new("sh")).is_some_and(|path| path.is_absolute()));
        assert_eq!(look_up(Path::new("/nowhere/go")), None);
        assert_eq!(look_up(Path::new("no-such-command")), None);
    }
}
