//! Images with fleetdrill's program: of the clusters' containers, with the toolchain's programs, which fleetdrill starts; and with fleetdrill alone.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::sync::OnceCell;

use super::container_main;
use crate::error::ClusterError;
use crate::external_program::{DOCKER, ExternalProgram, SHORT};
use crate::local::{ControlPlanePrograms, PodPrograms};
use crate::supervisor::SupervisorProgram;

/// Time limit for the build of the image, which has some 300 MB.
const BUILD_LIMIT: Duration = Duration::from_secs(300);

/// Name of the clusters' image.
const CLUSTER_IMAGE: &str = "fleetdrill.dev/cluster";

/// Name of the image with fleetdrill's program alone.
const PROGRAM_IMAGE: &str = "fleetdrill.dev/program";

/// Label with a fingerprint of the image's contents.
const CONTENTS_LABEL: &str = "fleetdrill.dev/contents";

/// Contents of the clusters' image.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ClusterImageContents {
    /// Programs of the control plane.
    pub programs: ControlPlanePrograms,
    /// Programs that pods need.
    pub pods: PodPrograms,
    /// Version of Kubernetes, which is the image's tag.
    pub version: String,
}

impl ClusterImageContents {
    /// Makes sure that Docker has the image of these programs, and returns the image's id.
    pub(super) async fn image(&self) -> Result<String, ClusterError> {
        let this = SupervisorProgram::this()?.0;
        image(&format!("{CLUSTER_IMAGE}:{}", self.version), self.files(&this), &this).await
    }

    /// Returns the programs by their names in the image. The program that changes most often comes last.
    fn files(&self, this: &Path) -> Vec<(String, PathBuf)> {
        let Self { programs, pods, version: _ } = self;
        let named = [
            ("etcd", programs.etcd.as_path()),
            ("kube-apiserver", &programs.apiserver),
            ("kube-controller-manager", &programs.controller_manager),
            ("kube-scheduler", &pods.scheduler),
            ("kwok", &pods.kwok),
            (container_main::PROGRAM.trim_start_matches('/'), this),
        ];
        named.map(|(name, path)| (name.to_owned(), path.to_owned())).to_vec()
    }
}

/// Makes sure that Docker has an image of this name with these files, and returns the image's id. `this` is fleetdrill's program among them.
async fn image(name: &str, files: Vec<(String, PathBuf)>, this: &Path) -> Result<String, ClusterError> {
    let contents = fingerprint(&files)?;
    let format = format!("{{{{.Id}}}} {{{{index .Config.Labels \"{CONTENTS_LABEL}\"}}}}");
    let inspected = DOCKER.run(["image", "inspect", "--format", &format, name], SHORT).await;
    let there = inspected.ok().and_then(|line| Some(line.trim().split_once(' ')?.0.to_owned()).zip(Some(line)));
    if let Some((id, _)) = there.filter(|(_, line)| line.trim().ends_with(&contents)) {
        return Ok(id);
    }
    let libraries = libraries(this).await?;
    let context = tokio::task::spawn_blocking(move || context(&files, &libraries));
    let context = context.await.map_err(|e| ClusterError::Supervisor(e.to_string()))??;
    let (label, path) = (format!("{CONTENTS_LABEL}={contents}"), context.path().display().to_string());
    let id = DOCKER.run(["build", "--quiet", "--label", &label, "--tag", name, &path], BUILD_LIMIT).await?;
    // The previous image has lost its name. Remove it, unless a fleet uses it.
    let stale = format!("label={CONTENTS_LABEL}");
    let _ = DOCKER.run(["image", "prune", "--force", "--filter", &stale], SHORT).await;
    Ok(id.trim().to_owned())
}

/// Makes sure that Docker has the image with fleetdrill's program alone, and returns the image's id.
pub(super) async fn program_image() -> Result<String, ClusterError> {
    // Two builds at a time might each remove the other's image as a previous one.
    static IMAGE: OnceCell<String> = OnceCell::const_new();
    let make = || async {
        let this = SupervisorProgram::this()?.0;
        let name = container_main::PROGRAM.trim_start_matches('/').to_owned();
        image(&format!("{PROGRAM_IMAGE}:{}", env!("CARGO_PKG_VERSION")), vec![(name, this.clone())], &this).await
    };
    IMAGE.get_or_try_init(make).await.cloned()
}

/// Returns a fingerprint of the files' names, paths, sizes and times. The files aren't read.
fn fingerprint(files: &[(String, PathBuf)]) -> Result<String, ClusterError> {
    let mut hasher = blake3::Hasher::new();
    for (name, path) in files {
        let about = std::fs::metadata(path).map_err(ClusterError::io("read", path))?;
        hasher.update(format!("{name} {} {} {:?}\n", path.display(), about.len(), about.modified().ok()).as_bytes());
    }
    Ok(hasher.finalize().to_hex()[..16].to_owned())
}

/// Returns the shared libraries that a program needs, because an image from scratch has none; empty for a static
/// program.
async fn libraries(program: &Path) -> Result<Vec<PathBuf>, ClusterError> {
    match ExternalProgram("ldd").run([program], SHORT).await {
        Ok(listed) => Ok(parse_libraries(&listed)),
        // `ldd` ends with an error for a static program.
        Err(ClusterError::Outside { said, .. }) if said.contains("not a dynamic executable") => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

/// Returns the paths in the output of `ldd`: `libc.so.6 => /lib/libc.so.6 (0x1)`, `/lib64/ld-linux-x86-64.so.2 (0x1)`.
fn parse_libraries(listed: &str) -> Vec<PathBuf> {
    listed.lines().filter_map(library_path).collect()
}

fn library_path(line: &str) -> Option<PathBuf> {
    let path = line.split_whitespace().take_while(|word| !word.starts_with('(')).last()?;
    path.starts_with('/').then(|| path.into())
}

/// Copies a file, and makes the directory that it goes to.
fn copy_file(from: &Path, to: &Path) -> Result<(), ClusterError> {
    to.parent().map_or(Ok(()), std::fs::create_dir_all).map_err(ClusterError::io("make", to))?;
    std::fs::copy(from, to).map(drop).map_err(ClusterError::io("copy", from))
}

/// Creates the directory from which Docker builds the image.
fn context(files: &[(String, PathBuf)], libraries: &[PathBuf]) -> Result<tempfile::TempDir, ClusterError> {
    let dir = tempfile::tempdir().map_err(ClusterError::io("make", &std::env::temp_dir()))?;
    let mut dockerfile = vec!["FROM scratch".to_owned()];
    for (name, path) in files {
        copy_file(path, &dir.path().join(name))?;
        dockerfile.push(format!("COPY {name} /{name}"));
    }
    for library in libraries {
        let inside = Path::new("libraries").join(library.strip_prefix("/").unwrap_or(library));
        copy_file(library, &dir.path().join(&inside))?;
        dockerfile.push(format!("COPY {} {}", inside.display(), library.display()));
    }
    let (program, command) = (container_main::PROGRAM, container_main::COMMAND);
    dockerfile.push(format!("USER 65532:65532\nENTRYPOINT [\"{program}\", \"{command}\"]\n"));
    let file = dir.path().join("Dockerfile");
    std::fs::write(&file, dockerfile.join("\n")).map_err(ClusterError::io("write", &file))?;
    Ok(dir)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_libraries_are_the_paths_that_ldd_names() {
        let listed = "\tlinux-vdso.so.1 (0x00007f41474b9000)\n\tlibc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x00007f4144e1e000)\n\
                      \t/lib64/ld-linux-x86-64.so.2 (0x00007f41474bb000)\n";
        let paths = ["/lib/x86_64-linux-gnu/libc.so.6", "/lib64/ld-linux-x86-64.so.2"].map(PathBuf::from);
        assert_eq!(parse_libraries(listed), paths);
        assert!(parse_libraries("\tstatically linked\n").is_empty());
    }

    #[test]
    fn the_image_has_each_program_and_library_where_it_looks_for_it() {
        let dir = tempfile::tempdir().expect("a directory");
        let file = |name: &str| {
            let path = dir.path().join(name);
            std::fs::write(&path, name).expect("a file");
            path
        };
        let (etcd, library) = (file("etcd-v3"), file("libc.so.6"));
        let context = context(&[("etcd".into(), etcd)], std::slice::from_ref(&library)).expect("a context");
        let made = std::fs::read_to_string(context.path().join("Dockerfile")).expect("a Dockerfile");
        let path = library.display();
        assert_eq!(
            made,
            format!(
                "FROM scratch\nCOPY etcd /etcd\nCOPY libraries{path} {path}\nUSER 65532:65532\n\
                 ENTRYPOINT [\"/fleetdrill\", \"contained\"]\n"
            )
        );
        assert!(context.path().join(format!("libraries{path}")).exists());
    }
}
