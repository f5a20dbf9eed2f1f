//! Programs that the system provides and that aren't built here.

use std::path::{Path, PathBuf};

use crate::error::ToolchainError;
use crate::go::look_up;

/// Folders in which programs are found if they aren't on the PATH, as for some users.
const USUAL_PLACES: [&str; 4] = ["/usr/bin", "/usr/local/bin", "/usr/sbin", "/opt/homebrew/bin"];

/// Finds a program that the system provides.
///
/// # Errors
/// Returns [`ToolchainError::SystemProgramMissing`], with the Debian package that has the program, if there is none.
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
    use crate::error::ToolchainError;

    #[test]
    fn a_missing_program_is_named_with_its_package() {
        assert!(system_program("sh", "dash", "everybody").is_ok_and(|path| path.is_absolute()));
        let error = system_program("no-such-program", "none-server", "Argo CD").expect_err("missing");
        assert_eq!(error.to_string(), "Argo CD needs `no-such-program`, and there is none on the PATH");
        assert!(matches!(error, ToolchainError::SystemProgramMissing { package: "none-server", .. }));
    }
}
