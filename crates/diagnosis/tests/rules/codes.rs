//! Test that every code of the catalogue has a test. Constants tie the rules to the catalogue (see build.rs).

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use diagnosis::FailureCode;
use regex::Regex;

/// Returns the codes in string literals of the files of tests/rules.
fn codes_in_tests() -> BTreeSet<String> {
    let code = Regex::new(&format!(r#""\s*({})"#, FailureCode::PATTERN)).unwrap();
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/rules")];
    let mut codes = BTreeSet::new();
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(folder).unwrap().map(|f| f.unwrap().path()) {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "rs") {
                let source = fs::read_to_string(path).unwrap();
                codes.extend(code.captures_iter(&source).map(|c| c[1].to_owned()));
            }
        }
    }
    codes
}

#[test]
fn tests_name_the_codes_of_the_catalogue() {
    let catalogue: BTreeSet<_> = diagnosis::catalogue().iter().map(|e| e.code.0.clone()).collect();
    assert_eq!(codes_in_tests(), catalogue);
}
