//! Git repositories on disk, which Argo CD reads by `file://` URLs, or over HTTP, HTTPS or SSH from the fleet's git servers.

use std::path::{Component as PathComponent, Path, PathBuf};
use std::process::Stdio;

use serde::{Deserialize, Serialize};
use tokio::process::Command;

use crate::error::FleetError;

/// Branch of all commits.
const BRANCH: &str = "main";

/// User whose password the git server asks for.
pub const GIT_USER: &str = "fleetdrill";

/// Path of the file with a repository's password for HTTP.
pub(crate) fn password_file(repository: &Path) -> PathBuf {
    repository.with_extension("password")
}

/// A git repository in the fleet's directory.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Repository {
    git: PathBuf,
    dir: PathBuf,
    /// URL at which a git server has the repository, if it is served.
    #[serde(default)]
    served: Option<String>,
}

fn io_error(action: &'static str, path: &Path, source: std::io::Error) -> FleetError {
    clusters::error::ClusterError::Io { action, path: path.to_owned(), source }.into()
}

impl Repository {
    /// Creates an empty repository.
    ///
    /// # Errors
    /// Returns an error if git fails.
    pub(crate) async fn create(git: &Path, dir: PathBuf) -> Result<Self, FleetError> {
        let repository = Self { git: git.to_owned(), dir, served: None };
        clusters::state_dir::make_private(&repository.dir)?;
        repository.run(&["init", "--quiet", "--initial-branch", BRANCH]).await?;
        Ok(repository)
    }

    /// Directory of the repository.
    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// URL of the repository, for an Application's `repoURL`.
    #[must_use]
    pub fn url(&self) -> String {
        self.served.clone().unwrap_or_else(|| format!("file://{}", self.dir.display()))
    }

    /// Program `git` that made the repository.
    pub(crate) fn git(&self) -> &Path {
        &self.git
    }

    /// Returns the repository with the URL that it has on the git server at this origin, e.g. `http://127.0.0.1:40001`, or
    /// `ssh://git@127.0.0.1:40002`.
    pub(crate) fn served_at(&self, origin: &str) -> Self {
        Self { served: Some(format!("{origin}/{}", self.name())), ..self.clone() }
    }

    /// Name of the repository's directory.
    #[must_use]
    pub fn name(&self) -> String {
        self.dir.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// Origin of the server for HTTP that has the repository, e.g. `http://127.0.0.1:40001`.
    pub(crate) fn http_origin(&self) -> Option<String> {
        let url = self.served.as_ref().filter(|url| url.starts_with("http://"))?;
        url.rsplit_once('/').map(|(origin, _)| origin.to_owned())
    }

    /// Host in the repository's URL, if it is served.
    #[must_use]
    pub fn host(&self) -> Option<String> {
        let url: http::Uri = self.served.as_ref()?.parse().ok()?;
        url.host().map(str::to_owned)
    }

    /// Gives the repository a new password for HTTP, with effect at once.
    ///
    /// # Errors
    /// Returns an error if the password can't be written.
    pub fn change_password(&self) -> Result<(), FleetError> {
        let (file, password) = (password_file(&self.dir), format!("{:032x}", rand::random::<u128>()));
        Ok(clusters::state_dir::replace_private(&file, &password)?)
    }

    /// Returns the password for HTTP.
    ///
    /// # Errors
    /// Returns an error if the repository isn't served.
    pub fn password(&self) -> Result<String, FleetError> {
        let file = password_file(&self.dir);
        std::fs::read_to_string(&file).map_err(|e| io_error("read", &file, e))
    }

    /// Commits files with these contents. A file without content is deleted. Returns the commit.
    ///
    /// # Errors
    /// Returns an error if a path leads out of the repository, a file can't be written, or git refuses, as it does when
    /// nothing changes.
    pub async fn commit(&self, files: &[(&str, Option<&str>)]) -> Result<String, FleetError> {
        for (path, content) in files {
            let file = self.inside(path)?;
            match content {
                Some(content) => {
                    if let Some(parent) = file.parent() {
                        tokio::fs::create_dir_all(parent).await.map_err(|e| io_error("write", &file, e))?;
                    }
                    tokio::fs::write(&file, content).await.map_err(|e| io_error("write", &file, e))?;
                }
                None => tokio::fs::remove_file(&file).await.map_err(|e| io_error("delete", &file, e))?,
            }
        }
        self.run(&["add", "--all"]).await?;
        let names: Vec<&str> = files.iter().map(|(path, _)| *path).collect();
        self.run(&["commit", "--quiet", "--message", &names.join(", ")]).await?;
        self.head().await
    }

    /// Commits the opposite of the latest commit. Returns the new commit.
    ///
    /// # Errors
    /// Returns an error if there is no commit, or git fails.
    pub async fn revert(&self) -> Result<String, FleetError> {
        self.run(&["revert", "--no-edit", "HEAD"]).await?;
        self.head().await
    }

    /// Returns the latest commit.
    ///
    /// # Errors
    /// Returns an error if there is no commit.
    pub async fn head(&self) -> Result<String, FleetError> {
        self.run(&["rev-parse", "HEAD"]).await
    }

    /// Moves the whole repository away, so that its URL leads nowhere; with `gone` false, moves it back.
    ///
    /// # Errors
    /// Returns an error if the repository can't be moved.
    pub async fn vanish(&self, gone: bool) -> Result<(), FleetError> {
        let away = self.dir.with_extension("away");
        let (from, to) = if gone { (&self.dir, &away) } else { (&away, &self.dir) };
        tokio::fs::rename(from, to).await.map_err(|e| io_error("move", from, e))
    }

    /// Deletes the repository from the disk, moved away or not.
    ///
    /// # Errors
    /// Returns an error if the repository can't be deleted.
    pub async fn remove(&self) -> Result<(), FleetError> {
        for dir in [self.dir.clone(), self.dir.with_extension("away")] {
            match tokio::fs::remove_dir_all(&dir).await {
                Err(source) if source.kind() != std::io::ErrorKind::NotFound => {
                    return Err(io_error("delete", &dir, source));
                }
                _ => {}
            }
        }
        let password = password_file(&self.dir);
        match tokio::fs::remove_file(&password).await {
            Err(source) if source.kind() != std::io::ErrorKind::NotFound => Err(io_error("delete", &password, source)),
            _ => Ok(()),
        }
    }

    fn inside(&self, path: &str) -> Result<PathBuf, FleetError> {
        let ok = Path::new(path)
            .components()
            .all(|c| matches!(c, PathComponent::Normal(name) if !name.eq_ignore_ascii_case(".git")));
        if ok && !path.is_empty() {
            return Ok(self.dir.join(path));
        }
        let why = "it must be a relative path inside the repository".to_owned();
        Err(FleetError::Unreadable { what: format!("`{path}` as a repository's file"), why })
    }

    fn git_error(&self, args: &[&str], why: String) -> FleetError {
        FleetError::Git { command: args.join(" "), dir: self.dir.clone(), why }
    }

    /// Runs git with fleetdrill as author, and without the configuration of the user and of the system.
    async fn run(&self, args: &[&str]) -> Result<String, FleetError> {
        let output = Command::new(&self.git)
            .arg("-C")
            .arg(&self.dir)
            .args(["-c", "core.hooksPath=/dev/null", "-c", "commit.gpgSign=false"])
            .args(args)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", &self.dir)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .envs(["GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME"].map(|key| (key, "fleetdrill")))
            .envs(["GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"].map(|key| (key, "fleetdrill@localhost")))
            .stdin(Stdio::null())
            .kill_on_drop(true)
            .output()
            .await
            .map_err(|e| self.git_error(args, format!("{}: {e}", self.git.display())))?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned());
        }
        let said = [output.stdout, output.stderr].concat();
        Err(self.git_error(args, format!("{}: {}", output.status, String::from_utf8_lossy(&said).trim())))
    }
}

#[cfg(test)]
mod tests {
    use super::Repository;

    async fn repository(dir: &std::path::Path) -> Repository {
        Repository::create("git".as_ref(), dir.join("web")).await.expect("a repository")
    }

    #[tokio::test]
    async fn each_change_is_a_commit() {
        let dir = tempfile::tempdir().expect("a directory");
        let web = repository(dir.path()).await;
        let first = web.commit(&[("a.yaml", Some("a")), ("base/b.yaml", Some("b"))]).await.expect("a commit");
        let second = web.commit(&[("a.yaml", None)]).await.expect("a commit");
        assert_ne!(first, second);
        assert_eq!(web.head().await.expect("a commit"), second);
        assert_ne!(web.revert().await.expect("a commit"), second);
        assert!(dir.path().join("web/a.yaml").exists());
        web.commit(&[("a.yaml", None)]).await.expect("a commit");
        assert!(!dir.path().join("web/a.yaml").exists() && dir.path().join("web/base/b.yaml").exists());
        let error = web.commit(&[("base/b.yaml", Some("b"))]).await.expect_err("nothing changes").to_string();
        assert!(error.contains("nothing to commit"), "{error}");
    }

    #[tokio::test]
    async fn it_vanishes_and_comes_back() {
        let dir = tempfile::tempdir().expect("a directory");
        let web = repository(dir.path()).await;
        let commit = web.commit(&[("a.yaml", Some("a"))]).await.expect("a commit");
        web.vanish(true).await.expect("moved");
        assert!(web.head().await.is_err());
        web.vanish(false).await.expect("moved back");
        assert_eq!(web.head().await.expect("a commit"), commit);
        web.remove().await.expect("removed");
        assert!(!dir.path().join("web").exists());
    }

    #[tokio::test]
    async fn no_file_lies_outside() {
        let dir = tempfile::tempdir().expect("a directory");
        let web = repository(dir.path()).await;
        for path in ["../a", "/etc/a", "", ".git/config", "a/.GIT/hooks/b", "a/../../b"] {
            let error = web.commit(&[(path, Some("a"))]).await.expect_err(path).to_string();
            assert!(error.contains("must be a relative path"), "{error}");
        }
    }
}
