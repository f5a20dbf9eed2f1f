//! Place of the configuration file.

use std::path::{Path, PathBuf};

/// Name of the file that is looked for.
pub const FILE_NAME: &str = "fleetdrill.toml";

/// Directory of the command and of its user: where the file is looked for.
#[derive(Clone, Debug, Default)]
pub struct SearchDirectories {
    /// Working directory.
    pub current: PathBuf,
    /// The user's home.
    pub home: Option<PathBuf>,
}

impl SearchDirectories {
    /// Directories of this process.
    #[must_use]
    pub fn of_process() -> Self {
        Self { current: std::env::current_dir().unwrap_or_default(), home: std::env::home_dir() }
    }

    /// Returns the paths at which the file may be, the nearest first: in the working directory, and in those above it up to the root of
    /// its git repository, or up to the user's home. Elsewhere, as in `/tmp`, other users may have written to the directories above.
    #[must_use]
    pub fn candidates(&self) -> Vec<PathBuf> {
        let above: Vec<&Path> = self.current.ancestors().collect();
        let repository = above.iter().position(|directory| directory.join(".git").exists());
        let home = above.iter().position(|directory| Some(*directory) == self.home.as_deref());
        let last = repository.or(home).unwrap_or_default();
        above.iter().take(last + 1).map(|directory| directory.join(FILE_NAME)).collect()
    }

    /// Returns a path as a person in the working directory writes it.
    #[must_use]
    pub fn shown(&self, path: &Path) -> PathBuf {
        path.strip_prefix(&self.current).unwrap_or(path).to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(directories: &SearchDirectories, root: &Path) -> Vec<String> {
        let paths = directories.candidates();
        paths.iter().map(|path| path.strip_prefix(root).unwrap().display().to_string()).collect()
    }

    #[test]
    fn the_file_is_looked_for_up_to_the_repository_or_the_home() {
        let root = tempfile::tempdir().unwrap();
        let (root, home) = (root.path(), root.path().join("me"));
        std::fs::create_dir_all(home.join("work/repository/.git")).unwrap();
        std::fs::create_dir_all(home.join("work/repository/a/b")).unwrap();
        for (current, expected) in [
            ("me/work/repository/a", &["me/work/repository/a", "me/work/repository"][..]),
            ("me/work", &["me/work", "me"]),
            ("me", &["me"]),
            ("elsewhere/below", &["elsewhere/below"]),
        ] {
            let directories = SearchDirectories { current: root.join(current), home: Some(home.clone()) };
            let expected: Vec<String> = expected.iter().map(|directory| format!("{directory}/{FILE_NAME}")).collect();
            assert_eq!(shown(&directories, root), expected, "{current}");
        }
    }

    #[test]
    fn a_path_below_the_working_directory_is_shown_from_there() {
        let directories = SearchDirectories { current: "/me/work".into(), home: None };
        assert_eq!(directories.shown(Path::new("/me/work/fleetdrill.toml")), Path::new("fleetdrill.toml"));
        assert_eq!(directories.shown(Path::new("/me/fleetdrill.toml")), Path::new("/me/fleetdrill.toml"));
    }
}
