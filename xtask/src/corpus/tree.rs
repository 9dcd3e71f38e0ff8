//! Finds files with shell text in a folder of unpacked packages, by name and first line.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::item::{Items, Kind};
use super::{make, workflow};

/// Maintainer scripts by the end of their names, with or without the package's name before it.
const MAINTAINER: &[&str] = &["preinst", "postinst", "prerm", "postrm", "config"];

/// Interpreters of collected scripts. bash reads them all, except for the special syntax of ksh and zsh.
const SHELLS: &[&str] = &["sh", "bash", "dash"];

/// Adds the maintainer scripts of one package, or of all installed packages.
pub(crate) fn maintainer_scripts(folder: &Path, package: &str, items: &mut Items) {
    for file in files(folder) {
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let is_one = MAINTAINER.iter().any(|end| name == *end || name.ends_with(&format!(".{end}")));
        if is_one && let Some(text) = text(&file, items).filter(|text| is_shell_script(text)) {
            items.add(Kind::Maintainer, format!("{package}/{name}"), &text);
        }
    }
}

/// Adds every shell text of a tree.
pub(crate) fn read(folder: &Path, name: &str, items: &mut Items) {
    for file in files(folder) {
        let path = file.strip_prefix(folder).unwrap_or(&file).display().to_string();
        let origin = format!("{name}/{path}");
        let file_name = path.rsplit('/').next().unwrap_or_default();
        let extension = file_name.rsplit_once('.').map_or("", |(_, extension)| extension);
        let is_workflow = path.contains(".github/workflows/") || workflow::OTHER_FILES.contains(&file_name);
        if file_name == "package.json" {
            package_scripts(&file, &origin, items);
        } else if is_workflow && matches!(extension, "yml" | "yaml") {
            if let Some(text) = text(&file, items) {
                workflow::read(&text, &origin, items);
            }
        } else if matches!(file_name, "Makefile" | "makefile" | "GNUmakefile") || extension == "mk" {
            if let Some(text) = text(&file, items) {
                make::read(&text, &origin, items);
            }
        } else if starts_like_a_script(&file)
            && let Some(text) = text(&file, items)
            && is_shell_script(&text)
        {
            items.add(Kind::Script, origin, &text);
        }
    }
}

fn package_scripts(file: &Path, origin: &str, items: &mut Items) {
    let Some(package) = text(file, items).and_then(|text| serde_json::from_str::<Value>(&text).ok()) else {
        return;
    };
    let scripts = package.get("scripts").and_then(Value::as_object);
    for (name, script) in scripts.into_iter().flatten() {
        if let Some(script) = script.as_str() {
            items.add(Kind::Npm, format!("{origin}#{name}"), script);
        }
    }
}

/// Checks for `#!` before the whole file is read, because most files have none.
fn starts_like_a_script(file: &Path) -> bool {
    use std::io::Read as _;
    let mut start = [0; 2];
    std::fs::File::open(file).is_ok_and(|mut file| file.read_exact(&mut start).is_ok()) && start == *b"#!"
}

fn is_shell_script(text: &str) -> bool {
    let Some(line) = text.lines().next().and_then(|line| line.strip_prefix("#!")) else { return false };
    let mut words = line.split_ascii_whitespace().map(|word| word.rsplit('/').next().unwrap_or_default());
    let program = words.next().unwrap_or_default();
    let program = if program == "env" { words.next().unwrap_or_default() } else { program };
    SHELLS.contains(&program)
}

fn text(file: &Path, items: &mut Items) -> Option<String> {
    let bytes = std::fs::read(file).ok()?;
    let text = String::from_utf8(bytes).ok();
    if text.is_none() {
        items.leave_out("not UTF-8");
    }
    text
}

/// Returns every regular file below a folder, sorted. Does not follow links.
pub(crate) fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => folders.push(entry.path()),
                Ok(kind) if kind.is_file() => files.push(entry.path()),
                _ => {}
            }
        }
    }
    files.sort();
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_script_says_so_in_its_first_line() {
        for (text, expected) in [
            ("#!/bin/sh\n", true),
            ("#!/bin/sh -e\nls", true),
            ("#! /usr/bin/env bash\n", true),
            ("#!/usr/bin/dash", true),
            ("#!/usr/bin/perl\n", false),
            ("#!/bin/zsh\n", false),
            ("ls\n", false),
            ("#!\n", false),
        ] {
            assert_eq!(is_shell_script(text), expected, "{text}");
        }
    }
}
