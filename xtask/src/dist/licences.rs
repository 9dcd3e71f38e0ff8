//! The licences of everything that is linked: a list, and the texts that the authors ask to pass on. Must not judge
//! them; `cargo xtask dependencies` does.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use anyhow::Context;

use super::linked::Linked;

/// Beginnings of the names of files with licences and notices, in lower case.
const NAMES: &[&str] = &["license", "licence", "copying", "notice", "unlicense", "copyright"];

const HEAD: &str = "\
castellan is under the Apache License 2.0. Its programs and its plugin for Falco contain the crates below. The list is
followed by the texts of licences and notices as the crates carry them; equal texts are printed once.

";

/// Returns the list and the texts.
pub(super) fn text(linked: &[Linked]) -> anyhow::Result<String> {
    let foreign: Vec<&Linked> = linked.iter().filter(|one| one.checksum.is_some()).collect();
    let mut out = HEAD.to_owned();
    let mut texts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for one in &foreign {
        let title = format!("{} {}", one.name, one.version);
        let authors =
            if one.authors.is_empty() { String::new() } else { format!(" ({})", one.authors.join(", ")) };
        writeln!(out, "{title}: {}{authors}", one.licence)?;
        for text in texts_of(&one.folder).with_context(|| title.clone())? {
            texts.entry(text).or_default().push(title.clone());
        }
    }
    // By the first crate, not by the text.
    let mut texts: Vec<(Vec<String>, String)> = texts.into_iter().map(|(text, of)| (of, text)).collect();
    texts.sort();
    for (of, text) in texts {
        write!(out, "\n{}\n{}\n\n{}\n", "=".repeat(78), of.join(", "), text.trim_end())?;
    }
    Ok(out)
}

/// Returns the texts beside a crate's manifest, sorted by their file names.
fn texts_of(folder: &Path) -> anyhow::Result<Vec<String>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).with_context(|| format!("`{}`", folder.display()))? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().to_lowercase();
        if entry.file_type()?.is_file() && NAMES.iter().any(|begin| name.starts_with(begin)) {
            files.push(entry.path());
        }
    }
    files.sort();
    let read = |file: &std::path::PathBuf| {
        let bytes = std::fs::read(file).with_context(|| format!("`{}`", file.display()))?;
        Ok(String::from_utf8_lossy(&bytes).replace("\r\n", "\n"))
    };
    files.iter().map(read).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn each_crate_is_listed_and_equal_texts_are_printed_once() {
        let dir = tempfile::tempdir().unwrap();
        let linked = |name: &str, checksum: Option<&str>, files: &[(&str, &str)]| {
            let folder = dir.path().join(name);
            std::fs::create_dir(&folder).unwrap();
            for (file, text) in files {
                std::fs::write(folder.join(file), text).unwrap();
            }
            Linked {
                name: name.to_owned(),
                version: "1.0.0".to_owned(),
                licence: "MIT".to_owned(),
                authors: Vec::new(),
                folder,
                checksum: checksum.map(str::to_owned),
                needs: BTreeSet::new(),
                is_root: false,
            }
        };
        let all = [
            linked(
                "a",
                Some("00"),
                &[("LICENSE-MIT", "may be used\r\n"), ("NOTICE", "by A"), ("lib.rs", "code")],
            ),
            linked("b", Some("00"), &[("COPYING", "may be used\n")]),
            linked("castellan-x", None, &[("LICENSE", "ours")]),
        ];
        let text = text(&all).unwrap();
        let rest = text.strip_prefix(HEAD).unwrap();
        let line = "=".repeat(78);
        let expected = format!(
            "a 1.0.0: MIT\nb 1.0.0: MIT\n\n{line}\na 1.0.0\n\nby A\n\n{line}\na 1.0.0, b 1.0.0\n\nmay be used\n"
        );
        assert_eq!(rest, expected);
    }
}
