//! Writes a constant for each failure code of `src/catalogue.yaml`: a rule that names a code without an entry doesn't
//! compile, and neither does an entry whose code no rule names.

use std::error::Error;
use std::fmt::Write;
use std::path::Path;
use std::{env, fs};

const CATALOGUE: &str = "src/catalogue.yaml";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed={CATALOGUE}");
    let catalogue = fs::read_to_string(CATALOGUE)?;
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
    fs::write(Path::new(&env::var("OUT_DIR")?).join("codes.rs"), source)?;
    Ok(())
}
