//! No code without a rule, no rule without an entry, no code without a test.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use regex::Regex;

/// The codes that the Rust files of a folder of this crate name in a text.
fn named_in(folder: &str) -> BTreeSet<String> {
    let code = Regex::new(r#""\s*(KF-[A-Z]{2}-[0-9]{3})"#).unwrap();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let files = fs::read_dir(folder).unwrap().map(|f| f.unwrap().path());
    let sources = files.filter(|f| f.extension().is_some_and(|e| e == "rs")).map(|f| fs::read_to_string(f).unwrap());
    sources.flat_map(|s| code.captures_iter(&s).map(|c| c[1].to_owned()).collect::<Vec<_>>()).collect()
}

#[test]
fn rules_catalogue_and_tests_name_the_same_codes() {
    let catalogue: BTreeSet<_> = diagnosis::catalogue().iter().map(|e| e.code.0.clone()).collect();
    assert_eq!(named_in("src/rules"), catalogue, "rules and catalogue");
    assert_eq!(named_in("tests/rules"), catalogue, "tests and catalogue");
}
