//! Items of the corpus: unique texts, each with its source and the result of `bash -n`.

use std::collections::{BTreeMap, HashSet};
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::Context;
use serde::Serialize;
use sha2::{Digest, Sha256};

/// Longer texts are left out and counted: no tool call is as long, and they are data with a shell head (installers).
const BYTES_MAX: usize = 256 << 10;

/// The kind of a text's source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub(crate) enum Kind {
    #[serde(rename = "maintainer scripts")]
    Maintainer,
    #[serde(rename = "shell scripts")]
    Script,
    #[serde(rename = "npm scripts")]
    Npm,
    #[serde(rename = "CI steps")]
    Step,
    #[serde(rename = "make recipes")]
    Recipe,
}

#[derive(Debug, Serialize)]
struct Item {
    kind: Kind,
    origin: String,
    /// `bash -n` accepts it.
    accepted: bool,
    text: String,
}

/// All items, and the number left out for each reason.
#[derive(Debug, Default)]
pub(crate) struct Items {
    items: Vec<Item>,
    seen: HashSet<String>,
    left_out: BTreeMap<&'static str, usize>,
    notes: Vec<String>,
}

impl Items {
    pub(crate) fn len(&self) -> usize {
        self.items.len()
    }

    /// Adds a text, unless it is a duplicate.
    pub(crate) fn add(&mut self, kind: Kind, origin: String, text: &str) {
        let text = text.trim_end();
        if text.trim().is_empty() {
            return;
        }
        if text.len() > BYTES_MAX {
            return self.leave_out("longer than 256 KiB");
        }
        if self.seen.insert(text.to_owned()) {
            self.items.push(Item { kind, origin, accepted: false, text: text.to_owned() });
        }
    }

    /// Counts a text that is left out, by its reason.
    pub(crate) fn leave_out(&mut self, why: &'static str) {
        *self.left_out.entry(why).or_default() += 1;
    }

    pub(crate) fn note(&mut self, text: String) {
        eprintln!("corpus: {text}");
        self.notes.push(text);
    }

    /// Returns the origin and the text of each item, and the left-out texts by reason.
    pub(crate) fn into_texts(self) -> (Vec<(String, String)>, BTreeMap<&'static str, usize>) {
        let texts = self.items.into_iter().map(|item| (item.origin, item.text)).collect();
        (texts, self.left_out)
    }

    pub(crate) fn into_notes(self) -> Vec<String> {
        self.notes
    }

    /// Runs `bash -n` on each item in a separate process, so that texts cannot affect each other.
    pub(crate) fn ask_bash(&mut self) -> anyhow::Result<()> {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let share = self.items.len().div_ceil(threads).max(1);
        std::thread::scope(|scope| {
            let ask = |items: &mut [Item]| {
                items.iter_mut().try_for_each(|item| -> anyhow::Result<()> {
                    item.accepted = bash_accepts(&item.text)?;
                    Ok(())
                })
            };
            let running: Vec<_> =
                self.items.chunks_mut(share).map(|items| scope.spawn(move || ask(items))).collect();
            running.into_iter().try_for_each(|one| one.join().ok().context("a thread panicked")?)
        })
    }

    /// Writes `items.jsonl`, and `manifest.txt` with counts and the hash that identifies the corpus.
    pub(crate) fn write(mut self, place: &Path) -> anyhow::Result<()> {
        self.items.sort_by(|a, b| (a.kind, &a.origin, &a.text).cmp(&(b.kind, &b.origin, &b.text)));
        let mut lines = String::new();
        for item in &self.items {
            lines.push_str(&serde_json::to_string(item)?);
            lines.push('\n');
        }
        let mut manifest = String::new();
        let hash = base16ct::lower::encode_string(&Sha256::digest(&lines));
        let bytes: usize = self.items.iter().map(|item| item.text.len()).sum();
        writeln!(manifest, "{} items, {} KB, sha256 {hash}", self.items.len(), bytes / 1000)?;
        for (why, count) in &self.left_out {
            writeln!(manifest, "left out: {count} {why}")?;
        }
        for note in &self.notes {
            writeln!(manifest, "{note}")?;
        }
        std::fs::write(place.join("items.jsonl"), lines)?;
        std::fs::write(place.join("manifest.txt"), manifest).context("manifest.txt")
    }
}

/// Returns true if bash finds no syntax error. bash reads the text and does not run it.
pub(crate) fn bash_accepts(text: &str) -> anyhow::Result<bool> {
    let mut child = Command::new("bash")
        .args(["--norc", "-n"])
        .env_clear()
        .env("LC_ALL", "C.UTF-8")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .context("bash cannot be started")?;
    if let Some(mut stdin) = child.stdin.take() {
        // bash stops reading at the first error.
        let _ = stdin.write_all(text.as_bytes());
    }
    Ok(child.wait()?.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bash_is_asked_about_syntax_only() {
        for (text, expected) in
            [("ls && pwd", true), ("if true; then", false), ("echo 'a", false), ("nosuch x", true)]
        {
            assert_eq!(bash_accepts(text).unwrap(), expected, "{text}");
        }
    }

    #[test]
    fn a_text_counts_once() {
        let mut items = Items::default();
        items.add(Kind::Npm, "a".into(), "npm test\n");
        items.add(Kind::Step, "b".into(), "npm test");
        items.add(Kind::Step, "b".into(), "  \n");
        assert_eq!(items.len(), 1);
    }
}
