//! [`files`]: compares the lines of two versions by id. Each differing part of a line is one difference. Old names are
//! replaced first ([`Names`]). Must not depend on how the lines are made.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

use anyhow::Context;
use serde_json::Value as Json;

/// Intentionally changed names, old to new: whole JSON strings and keys.
#[derive(Debug, Default)]
pub(crate) struct Names(BTreeMap<String, String>);

#[derive(Debug, Default)]
pub(crate) struct Differences {
    compared: usize,
    only_before: Vec<String>,
    only_now: Vec<String>,
    /// By the path within the line, without positions: the ids, and the two values.
    changed: BTreeMap<String, Vec<(String, Json, Json)>>,
}

/// Printed characters of a value.
const VALUE_CHARS: usize = 160;

/// Reads both files and compares the lines that both have.
pub(crate) fn files(before: &Path, now: &Path, names: &Names) -> anyhow::Result<Differences> {
    let mut left = lines(before)?;
    let mut found = Differences::default();
    for (id, now) in lines(now)? {
        let Some(before) = left.remove(&id) else {
            found.only_now.push(id);
            continue;
        };
        found.compared += 1;
        if before == now && names.0.is_empty() {
            continue;
        }
        let parse = |text: &str| serde_json::from_str::<Json>(text).with_context(|| format!("line {id}"));
        let (before, now) = (names.renamed(parse(&before)?), parse(&now)?);
        differ(&before, &now, &mut String::new(), &mut |path, before, now| {
            let all = found.changed.entry(path.to_owned()).or_default();
            all.push((id.clone(), before.clone(), now.clone()));
        });
    }
    found.only_before = left.into_keys().collect();
    Ok(found)
}

fn lines(file: &Path) -> anyhow::Result<BTreeMap<String, String>> {
    let text = std::fs::read_to_string(file).with_context(|| format!("`{}`", file.display()))?;
    text.lines().map(|line| Ok((id(line)?, line.to_owned()))).collect()
}

fn id(line: &str) -> anyhow::Result<String> {
    let read: Json = serde_json::from_str(line).context("a line is no JSON")?;
    Ok(read.get("id").and_then(Json::as_str).context("a line has no id")?.to_owned())
}

/// Reports the smallest parts that differ. Lists of different lengths differ as a whole.
fn differ(before: &Json, now: &Json, path: &mut String, report: &mut impl FnMut(&str, &Json, &Json)) {
    let length = path.len();
    match (before, now) {
        (Json::Object(left), Json::Object(right)) => {
            let keys: BTreeSet<&String> = left.keys().chain(right.keys()).collect();
            for key in keys {
                let _ = write!(path, "/{key}");
                let (left, right) = (left.get(key), right.get(key));
                differ(left.unwrap_or(&Json::Null), right.unwrap_or(&Json::Null), path, report);
                path.truncate(length);
            }
        }
        (Json::Array(left), Json::Array(right)) if left.len() == right.len() => {
            for (left, right) in left.iter().zip(right) {
                path.push_str("/*");
                differ(left, right, path, report);
                path.truncate(length);
            }
        }
        _ if before == now => {}
        _ => report(path, before, now),
    }
}

impl Names {
    /// Reads the table `[renamed]` of a file. A missing file renames nothing.
    pub(crate) fn read(file: &Path) -> anyhow::Result<Names> {
        if !file.exists() {
            return Ok(Names::default());
        }
        let text = std::fs::read_to_string(file).with_context(|| format!("`{}`", file.display()))?;
        let table: BTreeMap<String, BTreeMap<String, String>> =
            toml::from_str(&text).with_context(|| format!("`{}`", file.display()))?;
        Ok(Names(table.into_values().flatten().collect()))
    }

    fn renamed(&self, value: Json) -> Json {
        let name = |text: String| self.0.get(&text).cloned().unwrap_or(text);
        match value {
            Json::String(text) => name(text).into(),
            Json::Array(values) => values.into_iter().map(|value| self.renamed(value)).collect(),
            Json::Object(entries) => {
                entries.into_iter().map(|(key, value)| (name(key), self.renamed(value))).collect()
            }
            Json::Null | Json::Bool(_) | Json::Number(_) => value,
        }
    }
}

impl Differences {
    /// Returns true if every line of both versions is the same, and no line is gone. New lines are no difference.
    pub(crate) fn is_empty(&self) -> bool {
        self.changed.is_empty() && self.only_before.is_empty()
    }

    /// Returns the differences by kind, with the first few of each.
    pub(crate) fn report(&self, shown: usize) -> String {
        let mut text = format!(
            "{} calls compared, {} new, {} gone\n",
            self.compared,
            self.only_now.len(),
            self.only_before.len()
        );
        for id in self.only_before.iter().take(shown) {
            let _ = writeln!(text, "  gone: {id}");
        }
        for (path, all) in &self.changed {
            let _ = writeln!(text, "\n{path}: {} differ", all.len());
            for (id, before, now) in all.iter().take(shown) {
                let _ = writeln!(text, "  {id}\n    before {}\n    now    {}", cut(before), cut(now));
            }
        }
        text
    }
}

fn cut(value: &Json) -> String {
    let text = value.to_string();
    match text.char_indices().nth(VALUE_CHARS) {
        Some((end, _)) => format!("{}...", text.get(..end).unwrap_or_default()),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    fn file(lines: &[&str]) -> tempfile::NamedTempFile {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        lines.iter().for_each(|line| writeln!(file, "{line}").unwrap());
        file
    }

    #[track_caller]
    fn check(before: &[&str], now: &[&str], renamed: &str, expected: &str) {
        let names = file(&[renamed]);
        let names = Names::read(names.path()).unwrap();
        let found = files(file(before).path(), file(now).path(), &names).unwrap();
        assert_eq!(found.report(1), expected);
    }

    #[test]
    fn differences_are_reported_where_they_are() {
        let line = r#"{"id":"a","x":{"y":[1,{"z":2}]}}"#;
        check(&[line], &[line], "", "1 calls compared, 0 new, 0 gone\n");
        let other = r#"{"id":"a","x":{"y":[1,{"z":3}]}}"#;
        check(
            &[line],
            &[other],
            "",
            "1 calls compared, 0 new, 0 gone\n\n/x/y/*/z: 1 differ\n  a\n    before 2\n    now    3\n",
        );
        let longer = r#"{"id":"a","x":{"y":[1]}}"#;
        let expected = "1 calls compared, 0 new, 0 gone\n\n/x/y: 1 differ\n  a\n    before [1,{\"z\":2}]\n    now    [1]\n";
        check(&[line], &[longer], "", expected);
    }

    #[test]
    fn lines_that_one_version_lacks_are_counted() {
        let (a, b) = (r#"{"id":"a"}"#, r#"{"id":"b"}"#);
        check(&[a], &[b], "", "0 calls compared, 1 new, 1 gone\n  gone: a\n");
    }

    #[test]
    fn renamed_names_compare_as_equal() {
        let renamed = "[renamed]\nbarred = \"blocked\"\n";
        check(
            &[r#"{"id":"a","barred":"barred"}"#],
            &[r#"{"id":"a","blocked":"blocked"}"#],
            renamed,
            "1 calls compared, 0 new, 0 gone\n",
        );
    }
}
