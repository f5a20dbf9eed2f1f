//! Copies of folders of YAML files in the cache.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::error::ToolchainError;

/// Copies the YAML files directly in a folder to a new folder, and returns their names. A kustomization is left out: it
/// isn't an object, but tells kubectl which files to apply.
pub(crate) fn copy_yaml(from: &Path, to: &Path) -> Result<Vec<String>, ToolchainError> {
    let failed = ToolchainError::failed_to("write", &to.join("."));
    fs::create_dir_all(to).map_err(&failed)?;
    let mut names = Vec::new();
    for entry in fs::read_dir(from).map_err(|error| ToolchainError::io("read", from, error))?.flatten() {
        let Ok(name) = entry.file_name().into_string() else { continue };
        let is_yaml = Path::new(&name).extension().is_some_and(|extension| extension == "yaml" || extension == "yml");
        let is_kustomization = Path::new(&name).file_stem().is_some_and(|stem| stem == "kustomization");
        if is_yaml && !is_kustomization && !name.starts_with('.') {
            let place = to.join(&name);
            fs::copy(entry.path(), &place).map_err(&failed)?;
            // Files of Go's modules are read-only, and so would be their copies.
            fs::set_permissions(&place, fs::Permissions::from_mode(0o644)).map_err(&failed)?;
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}
