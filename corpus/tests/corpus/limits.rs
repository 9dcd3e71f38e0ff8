//! Every limit of every crate has a test, or a reason for having none.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use castellan_corpus::limits::check;

const SOURCE: &str =
    "/// A const.\npub(crate) const A: u8 = 1;\npub const B: usize = 2;\nconst C: u64 = 3;\n";
const REASON: &str = "nothing is lost when it is reached";

/// Crates with their own table beside their tests.
const OTHERS: &[&str] = &["languages", "programs", "shell"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Returns the lines of each crate: limit, and test or reason. A crate without lines has its own table.
fn sections() -> BTreeMap<String, Vec<(String, String)>> {
    let mut sections: BTreeMap<String, Vec<(String, String)>> = BTreeMap::new();
    let mut name = String::new();
    for line in
        include_str!("../../limits.txt").lines().filter(|line| !line.is_empty() && !line.starts_with('#'))
    {
        let (left, right) = line.split_once(": ").unwrap_or((line, ""));
        if let Some(own) = left.strip_prefix("* ") {
            assert!(root().join(right).is_file(), "{line}");
            sections.entry(own.to_owned()).or_default();
        } else if let Some(section) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            name = section.to_owned();
        } else {
            sections.entry(name.clone()).or_default().push((left.to_owned(), right.to_owned()));
        }
    }
    sections
}

/// Returns true if the test `PATH::FUNCTION` exists.
fn is_there(test: &str) -> bool {
    let (path, function) = test.rsplit_once("::").unwrap_or_default();
    fs::read_to_string(root().join(path)).is_ok_and(|text| text.contains(&format!("fn {function}(")))
}

#[test]
fn no_limit_of_any_crate_is_forgotten() {
    let sections = sections();
    for entry in fs::read_dir(root().join("crates")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let Ok(source) = fs::read_to_string(path.join("src/limits.rs")) else { continue };
        if OTHERS.contains(&name.as_str()) {
            continue;
        }
        let lines =
            sections.get(&name).unwrap_or_else(|| panic!("`{name}` has no section in corpus/limits.txt"));
        let is_test = |says: &str| says.contains(".rs::");
        let missing: Vec<&String> =
            lines.iter().map(|(_, says)| says).filter(|says| is_test(says) && !is_there(says)).collect();
        assert!(missing.is_empty(), "`{name}`: tests that are not there: {missing:?}");
        if !lines.is_empty() {
            let driven = lines.iter().filter(|(_, says)| is_test(says)).map(|(limit, _)| limit.as_str());
            let exempt = lines.iter().filter(|(_, says)| !is_test(says));
            let exempt: Vec<(&str, &str)> =
                exempt.map(|(limit, why)| (limit.as_str(), why.as_str())).collect();
            check(&source, driven, &exempt);
        }
    }
}

#[test]
fn each_limit_is_driven_or_left_out_for_a_reason() {
    check(SOURCE, ["A", "A", "B"], &[("C", REASON)]);
}

#[test]
#[should_panic(expected = "\"C\"")]
fn a_limit_that_is_forgotten_is_found() {
    check(SOURCE, ["A", "B"], &[]);
}

#[test]
#[should_panic(expected = "\"D\"")]
fn a_limit_that_is_gone_is_found() {
    check(SOURCE, ["A", "B", "C", "D"], &[]);
}

#[test]
#[should_panic(expected = "no reason")]
fn a_reason_is_needed() {
    check(SOURCE, ["A", "B"], &[("C", "")]);
}
