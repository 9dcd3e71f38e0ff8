//! Compliance: the rule files and events that real Falco 0.43.1 was given, and what it answered, against what this engine
//! answers. Compared for every case: whether the files load, the codes for each file, and every alert in order.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::catalogue::{FIELDS, JsonRow};
use castellan_rules::{Loaded, Matching, Options, Severity, Source, load};
use serde_json::Value as Json;

/// Cases that end differently here, on purpose.
const KNOWN_DIFFERENCES: &[(&str, &str)] = &[
    ("regex-0209", REGEX),
    ("regex-0210", REGEX),
    ("regex-0213", REGEX),
    ("regex-0218", REGEX),
    ("regex-0219", REGEX),
    ("listfield-0363", "Falco never matches a transformed list; a rule that cannot fire protects nobody"),
    ("output-1085", EVT),
    ("output-1088", EVT),
    ("output-1089", EVT),
    ("structure-1048", QUOTE),
    ("structure-1049", QUOTE),
];

const REGEX: &str =
    "Falco loads a pattern that RE2 refuses, and never matches it; here it is an error, unless asked for";
const EVT: &str = "the fields `evt.*` belong to Falco's event stream; a row is no such event";
const QUOTE: &str =
    "both refuse the file; Falco's YAML library lets a quote stay open and finds keys missing instead";

/// Groups of cases for features that are not built yet: none is left.
const NOT_YET: &[(&str, &str)] = &[];

/// Codes that Falco 0.43 does not have: they may be reported in addition.
fn is_own(code: &str) -> bool {
    code.starts_with("CASTELLAN_") || code == "LOAD_UNKNOWN_KEY"
}

#[test]
fn cases_recorded_from_real_falco() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/cases/falco");
    let Ok(entries) = std::fs::read_dir(&folder) else {
        println!("SKIPPED: no recorded cases beside the repository");
        return;
    };
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let mut table: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    let mut unexpected = Vec::new();
    for file in files.iter().filter(|file| file.extension().is_some_and(|extension| extension == "jsonl")) {
        for line in std::fs::read_to_string(file).unwrap().lines() {
            let case: Json = serde_json::from_str(line).unwrap();
            let (id, group) = (case["id"].as_str().unwrap(), case["group"].as_str().unwrap());
            let row = table.entry(group.to_owned()).or_default();
            row.1 += 1;
            let known = KNOWN_DIFFERENCES.iter().any(|(known, _)| *known == id);
            let not_yet = NOT_YET.iter().any(|(known, _)| *known == group);
            if id.starts_with("regex-") && known {
                let options = Options { regex_compat_falco: true, ..Options::default() };
                assert_eq!(differences(&case, options), None, "{id} with regex_compat_falco");
            }
            match differences(&case, Options::default()) {
                None if known || not_yet => {
                    unexpected.push(format!("{id}: listed, but it agrees: take it off the list"))
                }
                None => row.0 += 1,
                Some(_) if known || not_yet => {}
                Some(text) => unexpected.push(format!("{id}: {text}\n{}", case["rules"])),
            }
        }
    }
    for (group, (passed, total)) in &table {
        println!("{group:<16} {passed:>4}/{total}");
    }
    let (passed, total) = table.values().fold((0, 0), |sum, row| (sum.0 + row.0, sum.1 + row.1));
    println!("{:<16} {passed:>4}/{total}", "all");
    assert!(unexpected.is_empty(), "{} unexpected:\n{}", unexpected.len(), unexpected.join("\n"));
}

/// What differs, if anything does.
fn differences(case: &Json, options: Options) -> Option<String> {
    let texts: Vec<&str> = match case["rules"].as_str() {
        Some(text) => vec![text],
        None => case["rules"].as_array().unwrap().iter().map(|text| text.as_str().unwrap()).collect(),
    };
    let named = |(index, text): (usize, &&str)| Source {
        name: format!("rules{index}.yaml"),
        text: (*text).to_owned(),
    };
    let sources: Vec<Source> = texts.iter().enumerate().map(named).collect();
    let matching = if case["matching"] == "first" { Matching::First } else { Matching::All };
    // The plugin that the cases were recorded with had this version.
    let options = Options { matching, plugin_version: "0.1.0".to_owned(), ..options };
    let loaded = load(&sources, FIELDS, &options);
    let falco = &case["falco"];
    if loaded.has_errors() == falco["ok"].as_bool().unwrap() {
        return Some(format!("ok is {} in Falco\n{}{}", falco["ok"], falco["load"], problems(&loaded)));
    }
    codes_differ(&loaded, falco)
        .or_else(|| if loaded.has_errors() { None } else { alerts_differ(&loaded, case) })
}

fn codes_differ(loaded: &Loaded, falco: &Json) -> Option<String> {
    for file in falco["load"].as_array().unwrap() {
        let ours = |severity: Severity| {
            let here = loaded
                .problems
                .iter()
                .filter(|problem| problem.severity == severity && file["name"] == problem.file);
            let mut codes: Vec<_> = here.map(|problem| problem.code).filter(|code| !is_own(code)).collect();
            codes.sort_unstable();
            codes
        };
        let theirs = |key: &str| {
            let all = file[key].as_array().unwrap();
            let mut codes: Vec<_> = all.iter().map(|one| one["code"].as_str().unwrap()).collect();
            codes.sort_unstable();
            codes
        };
        let (errors, warnings) = (theirs("errors"), theirs("warnings"));
        // Falco stops at the first error; this engine reports all, so it may report more.
        let agree = if errors.is_empty() {
            ours(Severity::Error).is_empty() && ours(Severity::Warning) == warnings
        } else {
            errors.iter().all(|code| ours(Severity::Error).contains(code))
                && warnings.iter().all(|code| ours(Severity::Warning).contains(code))
        };
        if !agree {
            return Some(format!("codes: Falco {errors:?} {warnings:?}{}", problems(loaded)));
        }
    }
    None
}

fn alerts_differ(loaded: &Loaded, case: &Json) -> Option<String> {
    let mut ours = Vec::new();
    for (index, event) in case["events"].as_array().unwrap().iter().enumerate() {
        for hit in loaded.rules.evaluate(&JsonRow(event)) {
            let rule = &loaded.rules.rules()[hit.rule];
            let (priority, tags) = (rule.priority.as_str().to_owned(), rule.tags.clone());
            ours.push((index as u64, rule.name.clone(), hit.message, priority, tags));
        }
    }
    let text = |json: &Json| json.as_str().unwrap().to_owned();
    let alert = |json: &Json| {
        let tags: Vec<String> = json["tags"].as_array().unwrap().iter().map(text).collect();
        let event = json["event"].as_u64().unwrap();
        (event, text(&json["rule"]), text(&json["message"]), text(&json["priority"]), tags)
    };
    let theirs: Vec<_> = case["falco"]["alerts"].as_array().unwrap().iter().map(alert).collect();
    if ours == theirs { None } else { Some(format!("alerts:\n ours  {ours:?}\n falco {theirs:?}")) }
}

fn problems(loaded: &Loaded) -> String {
    loaded.problems.iter().map(|problem| format!("\n  ours {}", problem.one_line())).collect()
}
