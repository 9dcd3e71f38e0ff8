//! Shell texts of files and folders, each once: lines of `.txt`, commands of `.jsonl`, blocks of YAML, other files whole.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::Value;

/// Bytes of a text.
const BYTES_MAX: usize = 64 << 10;

pub(crate) fn texts(paths: &[PathBuf]) -> std::io::Result<Vec<String>> {
    let mut texts = BTreeSet::new();
    for path in paths {
        add(path, &mut texts)?;
    }
    Ok(texts.into_iter().filter(|text| text.len() <= BYTES_MAX).collect())
}

fn add(path: &Path, texts: &mut BTreeSet<String>) -> std::io::Result<()> {
    if path.is_dir() {
        let mut entries: Vec<PathBuf> =
            std::fs::read_dir(path)?.filter_map(|entry| Some(entry.ok()?.path())).collect();
        entries.sort();
        return entries.iter().filter(|entry| !entry.is_symlink()).try_for_each(|entry| add(entry, texts));
    }
    if !path.is_file() {
        return Ok(());
    }
    let Ok(text) = String::from_utf8(std::fs::read(path)?) else { return Ok(()) };
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("txt") => {
            let lines = text.lines().filter(|line| !line.is_empty());
            texts.extend(lines.map(|line| placed(line.split(" => ").next().unwrap_or(line))));
            texts.extend(
                text.split("\n====\n").filter_map(|one| Some(one.split_once("\n----\n")?.0.to_owned())),
            );
        }
        Some("jsonl" | "json") => {
            let values = text.lines().filter_map(|line| serde_json::from_str(line).ok());
            values.for_each(|value: Value| commands(&value, texts));
        }
        Some("yaml" | "yml" | "md") => texts.extend(text.lines().filter_map(command_of)),
        Some("sh" | "bash") => drop(texts.insert(text)),
        Some("rs" | "toml" | "lock") => {}
        _ => {
            let first = text.lines().next().unwrap_or_default();
            let is_foreign = first.starts_with("#!") && !first.contains("sh");
            if !is_foreign && (first.starts_with("#!") || path.to_string_lossy().contains("corpus")) {
                texts.insert(text);
            }
        }
    }
    Ok(())
}

/// The signs for characters in tables.
fn placed(line: &str) -> String {
    let signs = [("⏎", "\n"), ("<NL>", "\n"), ("<TAB>", "\t"), ("<CR>", "\r"), ("<NUL>", "\0")];
    signs.iter().fold(line.to_owned(), |text, (sign, character)| text.replace(sign, character))
}

fn commands(value: &Value, texts: &mut BTreeSet<String>) {
    for (key, value) in value.as_object().into_iter().flatten() {
        let is_text = matches!(key.as_str(), "command" | "cmd" | "text" | "raw_input" | "bash");
        match value.as_str().filter(|_| is_text) {
            Some(text) => drop(texts.insert(text.to_owned())),
            None => commands(value, texts),
        }
    }
    value.as_array().into_iter().flatten().for_each(|value| commands(value, texts));
}

/// A line that is a command: of a list, or after a key.
fn command_of(line: &str) -> Option<String> {
    let line = line.trim_start().trim_start_matches("- ");
    let text = line.split_once(": ").map_or(line, |(_, text)| text).trim();
    (!text.is_empty()).then(|| text.to_owned())
}
