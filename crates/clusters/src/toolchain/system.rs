//! Programs that the system has and that aren't built.

use std::path::{Path, PathBuf};

use super::error::ToolchainError;
use super::go::look_up;

/// Where they lie when they aren't on the PATH, as it is for some users.
const USUAL_PLACES: [&str; 4] = ["/usr/bin", "/usr/local/bin", "/usr/sbin", "/opt/homebrew/bin"];

/// Finds a program that the system has.
///
/// # Errors
/// [`ToolchainError::SystemProgramMissing`] when there is none, with the Debian package that has it.
pub fn system_program(
    program: &'static str,
    package: &'static str,
    needed_by: &'static str,
) -> Result<PathBuf, ToolchainError> {
    let usual = USUAL_PLACES.iter().find_map(|place| look_up(&Path::new(place).join(program)));
    look_up(Path::new(program)).or(usual).ok_or(ToolchainError::SystemProgramMissing { program, package, needed_by })
}

#[cfg(test)]
mod tests {
    use super::system_program;

    #[test]
    fn a_missing_program_is_named_with_its_package() {
        assert!(system_program("sh", "dash", "everybody").is_ok_and(|path| path.is_absolute()));
        let error = system_program("no-such-program", "none-server", "Argo CD").expect_err("missing");
        assert_eq!(error.to_string(), "Argo CD needs `no-such-program`, and there is none on the PATH");
        assert!(error.hint().is_some_and(|hint| hint.contains("apt-get install none-server")));
    }
}
