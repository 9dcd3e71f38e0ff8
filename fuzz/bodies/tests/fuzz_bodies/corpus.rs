//! Replays every file of every target, so that earlier findings stay tested without a fuzzer.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use castellan_fuzz_bodies::TARGETS;
use castellan_languages::Language;

#[test]
fn the_corpus_holds() {
    for (name, body) in TARGETS {
        let files = files(&format!("../corpus/{name}"));
        assert!(files.len() >= 10, "fuzz/corpus/{name} has too few seeds");
        for file in files {
            println!("{}", file.display());
            body(&std::fs::read(&file).unwrap());
        }
    }
}

#[test]
fn every_target_is_fuzzed() {
    let files = files("../fuzz_targets").into_iter();
    let found: BTreeSet<String> =
        files.map(|file| file.file_stem().unwrap().to_str().unwrap().to_owned()).collect();
    let named: BTreeSet<String> = TARGETS.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(found, named);
}

#[test]
fn every_language_has_seeds() {
    let texts: Vec<Vec<u8>> =
        files("../corpus/program").iter().map(|file| std::fs::read(file).unwrap()).collect();
    for language in Language::ALL {
        let begin = format!("{language}\n");
        let count = texts.iter().filter(|text| text.starts_with(begin.as_bytes())).count();
        assert!(count >= 2, "{count} seeds of {language}");
    }
}

/// Returns the files of a folder; none if the folder is missing.
fn files(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    files.sort();
    files
}
