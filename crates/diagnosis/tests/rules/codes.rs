//! No code without a rule, no rule without an entry, no code without a test.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use regex::Regex;

/// The codes that the Rust files of a folder of this crate, and of those in it, name in a text.
fn named_in(folder: &str) -> BTreeSet<String> {
    let code = Regex::new(r#""\s*([A-Z]{2}-[A-Z]{2}-[0-9]{3})"#).unwrap();
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)];
    let mut named = BTreeSet::new();
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(folder).unwrap().map(|f| f.unwrap().path()) {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "rs") {
                let source = fs::read_to_string(path).unwrap();
                named.extend(code.captures_iter(&source).map(|c| c[1].to_owned()));
            }
        }
    }
    named
}

#[test]
fn rules_catalogue_and_tests_name_the_same_codes() {
    let catalogue: BTreeSet<_> = diagnosis::catalogue().iter().map(|e| e.code.0.clone()).collect();
    assert_eq!(named_in("src/rules"), catalogue, "rules and catalogue");
    assert_eq!(named_in("tests/rules"), catalogue, "tests and catalogue");
}
