//! Copying folders of YAML files into the cache.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use super::error::ToolchainError;

/// Copies the YAML files directly in a folder to a new one, and returns their names. A kustomization isn't among them: it is for
/// those who apply the others with kubectl, and no object.
pub(crate) fn copy_yaml(from: &Path, to: &Path) -> Result<Vec<String>, ToolchainError> {
    let failed = |error| ToolchainError::io("write", &to.join("."), error);
    fs::create_dir_all(to).map_err(failed)?;
    let mut names = Vec::new();
    for entry in fs::read_dir(from).map_err(|error| ToolchainError::io("read", from, error))?.flatten() {
        let Ok(name) = entry.file_name().into_string() else { continue };
        let is_yaml = Path::new(&name).extension().is_some_and(|extension| extension == "yaml" || extension == "yml");
        let is_kustomization = Path::new(&name).file_stem().is_some_and(|stem| stem == "kustomization");
        if is_yaml && !is_kustomization && !name.starts_with('.') {
            let place = to.join(&name);
            fs::copy(entry.path(), &place).map_err(failed)?;
            // Go's modules are read-only, and so would be the copies.
            fs::set_permissions(&place, fs::Permissions::from_mode(0o644)).map_err(failed)?;
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}
