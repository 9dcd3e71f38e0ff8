//! castellan's corpus: loads every `tests/data/*.yaml` and runs it on `events.jsonl`, or on the events file of the same
//! name. The outcome is compared with the `.expect` file beside it. Files ending in `_44` use engine 0.44.
//! `UPDATE_EXPECT=1` rewrites the `.expect` files: review the difference.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use castellan_rules::{Engine, Options, Source, load};
use serde_json::Value as Json;

use crate::catalogue::{FIELDS, JsonRow};

#[test]
fn corpus() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "yaml"));
    files.sort();
    assert!(files.len() > 10, "the corpus is there");
    let shared = std::fs::read_to_string(folder.join("events.jsonl")).unwrap();
    let mut failed = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        let events = std::fs::read_to_string(file.with_extension("jsonl")).unwrap_or_else(|_| shared.clone());
        let events: Vec<Json> = events.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let found = outcome(file.file_name().unwrap().to_str().unwrap(), text, &events);
        let expect = file.with_extension("expect");
        if std::env::var_os("UPDATE_EXPECT").is_some() {
            std::fs::write(&expect, &found).unwrap();
        }
        let expected = std::fs::read_to_string(&expect).unwrap_or_default();
        if found != expected {
            failed.push(format!("{}\n--- expected\n{expected}\n--- found\n{found}", expect.display()));
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

/// Returns the rendered problems, the printed conditions, and the events that each rule matches, with the messages.
fn outcome(name: &str, text: String, events: &[Json]) -> String {
    let engine = if name.ends_with("_44.yaml") { Engine::V0_44 } else { Engine::V0_43 };
    // The data is Falco's behaviour.
    let options = Options { engine, redefined_in_file: true, ..Options::default() };
    let loaded = load(&[Source { name: name.to_owned(), text: text.clone() }], FIELDS, &options);
    let mut out = String::new();
    for problem in &loaded.problems {
        writeln!(out, "{}\n", problem.render(Some(&text))).unwrap();
    }
    for (index, rule) in loaded.rules.rules().iter().enumerate() {
        let state = if rule.enabled { "" } else { " (disabled)" };
        writeln!(
            out,
            "{}{state} {} {:?}\n  {}",
            rule.name,
            rule.priority.as_str(),
            rule.tags,
            rule.condition
        )
        .unwrap();
        for (event, json) in events.iter().enumerate() {
            for hit in loaded.rules.evaluate(&JsonRow(json)).iter().filter(|hit| hit.rule == index) {
                writeln!(out, "  {event}: {}", hit.message).unwrap();
            }
        }
    }
    out
}
