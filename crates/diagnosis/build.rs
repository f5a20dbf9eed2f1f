//! Puts the files of `src/catalogue` together, and writes a constant for each failure code in them: a rule that names a code without an
//! entry doesn't compile, and neither does an entry whose code no rule names.

use std::error::Error;
use std::fmt::Write;
use std::path::Path;
use std::{env, fs};

const CATALOGUE: &str = "src/catalogue";

/// Files of the catalogue, in the order of its entries. An anchor counts for the files after its own, too.
const FILES: &[&str] = &[
    "kubefleet",
    "argocd_sync",
    "argocd_controller",
    "argocd_out_of_sync",
    "argocd_destination",
    "argocd_repository",
    "argocd_project",
    "argocd_application_set",
    "argocd_deletion",
    "argocd_health",
    "argocd_kubefleet",
    "unexplained",
];

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed={CATALOGUE}");
    let mut catalogue = String::new();
    for file in FILES {
        let text = fs::read_to_string(Path::new(CATALOGUE).join(file).with_extension("yaml"))?;
        writeln!(catalogue, "{text}")?;
    }
    if fs::read_dir(CATALOGUE)?.count() != FILES.len() {
        return Err(format!("{CATALOGUE} has other files than build.rs names").into());
    }
    let mut constants = String::new();
    let mut names = String::new();
    for code in catalogue.lines().filter_map(|line| line.strip_prefix("- code: ")) {
        let name = code.replace('-', "_");
        writeln!(constants, "    pub(super) const {name}: Self = Self(\"{code}\");")?;
        write!(names, "Self::{name}, ")?;
    }
    let source = format!(
        "#[deny(dead_code)]\nimpl RuleCode {{\n{constants}}}\n\n\
         #[cfg(test)]\nimpl RuleCode {{\n    const ALL: &[Self] = &[{names}];\n}}\n"
    );
    let out = env::var("OUT_DIR")?;
    fs::write(Path::new(&out).join("codes.rs"), source)?;
    fs::write(Path::new(&out).join("catalogue.yaml"), catalogue)?;
    Ok(())
}
