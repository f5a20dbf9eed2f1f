//! The image of clusters: the toolchain's programs, and fleetdrill as what starts them.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::inside;
use crate::error::ClusterError;
use crate::images::{DOCKER, SHORT};
use crate::keeper::Program;
use crate::local::{PodPrograms, Programs};
use crate::outside::Outside;

/// How long Docker may take to make the image, of some 300 MB.
const BUILD_LIMIT: Duration = Duration::from_secs(300);

/// The image's name.
const IMAGE: &str = "fleetdrill.dev/cluster";

/// The label that says what it was made of.
const CONTENTS_LABEL: &str = "fleetdrill.dev/contents";

/// What the image of clusters is made of.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Contents {
    /// The control plane's programs.
    pub programs: Programs,
    /// What pods need.
    pub pods: PodPrograms,
    /// Kubernetes's version, which is the image's.
    pub version: String,
}

impl Contents {
    /// Sees that Docker has the image of these programs, and gives its id.
    pub(super) async fn image(&self) -> Result<String, ClusterError> {
        let this = Program::this()?.0;
        let files = self.files(&this);
        let contents = fingerprint(&files)?;
        let name = format!("{IMAGE}:{}", self.version);
        let format = format!("{{{{.Id}}}} {{{{index .Config.Labels \"{CONTENTS_LABEL}\"}}}}");
        let inspected = DOCKER.run(["image", "inspect", "--format", &format, &name], SHORT).await;
        let there = inspected.ok().and_then(|line| Some(line.trim().split_once(' ')?.0.to_owned()).zip(Some(line)));
        if let Some((id, _)) = there.filter(|(_, line)| line.trim().ends_with(&contents)) {
            return Ok(id);
        }
        let libraries = libraries(&this).await?;
        let context = tokio::task::spawn_blocking(move || context(&files, &libraries));
        let context = context.await.map_err(|e| ClusterError::Keeper(e.to_string()))??;
        let (label, path) = (format!("{CONTENTS_LABEL}={contents}"), context.path().display().to_string());
        let id = DOCKER.run(["build", "--quiet", "--label", &label, "--tag", &name, &path], BUILD_LIMIT).await?;
        // The one before is nobody's any more, unless a fleet has it.
        let stale = format!("label={CONTENTS_LABEL}");
        let _ = DOCKER.run(["image", "prune", "--force", "--filter", &stale], SHORT).await;
        Ok(id.trim().to_owned())
    }

    /// The programs, by their names in the image. The one that changes most comes last.
    fn files(&self, this: &Path) -> Vec<(String, PathBuf)> {
        let Self { programs, pods, version: _ } = self;
        let named = [
            ("etcd", programs.etcd.as_path()),
            ("kube-apiserver", &programs.apiserver),
            ("kube-controller-manager", &programs.controller_manager),
            ("kube-scheduler", &pods.scheduler),
            ("kwok", &pods.kwok),
            (inside::PROGRAM.trim_start_matches('/'), this),
        ];
        named.map(|(name, path)| (name.to_owned(), path.to_owned())).to_vec()
    }
}

/// What tells these files from others, without reading them.
fn fingerprint(files: &[(String, PathBuf)]) -> Result<String, ClusterError> {
    let mut hasher = blake3::Hasher::new();
    for (name, path) in files {
        let about = std::fs::metadata(path).map_err(ClusterError::io("read", path))?;
        hasher.update(format!("{name} {} {} {:?}\n", path.display(), about.len(), about.modified().ok()).as_bytes());
    }
    Ok(hasher.finalize().to_hex()[..16].to_owned())
}

/// The shared libraries that a program needs, of which an image from scratch has none; none where it is a static one.
async fn libraries(program: &Path) -> Result<Vec<PathBuf>, ClusterError> {
    match Outside("ldd").run([program], SHORT).await {
        Ok(listed) => Ok(parse_libraries(&listed)),
        // It says so of what needs none.
        Err(ClusterError::Outside { said, .. }) if said.contains("not a dynamic executable") => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

/// The paths in what `ldd` prints: `libc.so.6 => /lib/libc.so.6 (0x1)`, `/lib64/ld-linux-x86-64.so.2 (0x1)`.
fn parse_libraries(listed: &str) -> Vec<PathBuf> {
    let path = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().take_while(|word| !word.starts_with('(')).collect();
        words.last().filter(|word| word.starts_with('/')).map(PathBuf::from)
    };
    listed.lines().filter_map(path).collect()
}

/// The directory of which Docker makes the image.
fn context(files: &[(String, PathBuf)], libraries: &[PathBuf]) -> Result<tempfile::TempDir, ClusterError> {
    let dir = tempfile::tempdir().map_err(ClusterError::io("make", &std::env::temp_dir()))?;
    let copy = |from: &Path, to: &Path| {
        to.parent().map_or(Ok(()), std::fs::create_dir_all).map_err(ClusterError::io("make", to))?;
        std::fs::copy(from, to).map(drop).map_err(ClusterError::io("copy", from))
    };
    let mut dockerfile = vec!["FROM scratch".to_owned()];
    for (name, path) in files {
        copy(path, &dir.path().join(name))?;
        dockerfile.push(format!("COPY {name} /{name}"));
    }
    for library in libraries {
        let inside = Path::new("libraries").join(library.strip_prefix("/").unwrap_or(library));
        copy(library, &dir.path().join(&inside))?;
        dockerfile.push(format!("COPY {} {}", inside.display(), library.display()));
    }
    let (program, command) = (inside::PROGRAM, inside::COMMAND);
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
