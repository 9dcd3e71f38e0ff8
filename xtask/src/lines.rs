//! `cargo xtask lines [BASE]`: lines of code, tables, tests and comments of each crate, without blank lines; with a commit
//! also the difference from it. The counts rely on rustfmt: an item ends at a closing line with its own indentation. Must
//! not know what a crate is about.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Seek, Write};
use std::ops::AddAssign;
use std::process::{Command, Stdio};

use anyhow::{Context, ensure};

use crate::root;

/// Data that is compiled into the binaries, or that tests read.
const DATA: &[&str] =
    &["toml", "yaml", "yml", "txt", "cases", "json", "jsonl", "bash", "zsh", "fish", "snap"];

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct Count {
    code: i64,
    /// Multi-line arrays in constants, and data files.
    tables: i64,
    tests: i64,
    comments: i64,
}

/// The kind of a line outside of comments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Code,
    Table,
    Test,
}

pub(crate) fn report(words: &[&str]) -> anyhow::Result<()> {
    let base = match words {
        [] => None,
        [base] => Some(counts(base)?),
        _ => anyhow::bail!("`cargo xtask lines [BASE]` takes one commit"),
    };
    let now = counts("HEAD")?;
    println!("| lines | code | tables | tests | comments |\n|---|---|---|---|---|");
    let empty = Count::default();
    let names = now.keys().chain(base.iter().flat_map(BTreeMap::keys));
    let names: BTreeSet<&String> = names.collect();
    let (mut all, mut before_all) = (empty, empty);
    for name in names {
        let count = now.get(name).copied().unwrap_or_default();
        let before = base.as_ref().map(|base| base.get(name).copied().unwrap_or_default());
        all += count;
        before_all += before.unwrap_or_default();
        println!("{}", row(name, count, before));
    }
    println!("{}", row("all", all, base.is_some().then_some(before_all)));
    Ok(())
}

/// A row of the table; after each count its difference from the earlier one.
fn row(name: &str, count: Count, before: Option<Count>) -> String {
    let cell = |now: i64, before: Option<i64>| match before {
        Some(before) if before != now => format!("{now} ({:+})", now - before),
        Some(_) | None => now.to_string(),
    };
    let cells = [
        cell(count.code, before.map(|before| before.code)),
        cell(count.tables, before.map(|before| before.tables)),
        cell(count.tests, before.map(|before| before.tests)),
        cell(count.comments, before.map(|before| before.comments)),
    ];
    format!("| {name} | {} |", cells.join(" | "))
}

/// The counts of each crate in a commit.
fn counts(commit: &str) -> anyhow::Result<BTreeMap<String, Count>> {
    let names = git(&["ls-tree", "-r", "--name-only", commit], Stdio::null())?;
    let names = String::from_utf8(names).context("a file's name is not UTF-8")?;
    let names: Vec<&str> = names.lines().filter(|name| is_counted(name)).collect();
    let mut asked = tempfile::tempfile()?;
    names.iter().try_for_each(|name| writeln!(asked, "{commit}:{name}"))?;
    asked.rewind()?;
    let files = git(&["cat-file", "--batch"], asked)?;
    let mut rest = files.as_slice();
    let mut counts: BTreeMap<String, Count> = BTreeMap::new();
    for name in names {
        let (text, after) = blob(rest).with_context(|| format!("git has no file `{name}` in `{commit}`"))?;
        *counts.entry(group(name)).or_default() += of_file(name, &String::from_utf8_lossy(text));
        rest = after;
    }
    Ok(counts)
}

/// The first file in the output of `git cat-file --batch` (`OBJECT blob SIZE`, the contents, a newline), and the rest.
fn blob(output: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = output.iter().position(|byte| *byte == b'\n')?;
    let head = std::str::from_utf8(output.get(..end)?).ok()?;
    let size: usize = head.rsplit_once(" blob ")?.1.parse().ok()?;
    let (text, rest) = output.get(end + 1..)?.split_at_checked(size)?;
    Some((text, rest.strip_prefix(b"\n")?))
}

fn git(words: &[&str], input: impl Into<Stdio>) -> anyhow::Result<Vec<u8>> {
    let output = Command::new("git").args(words).current_dir(root()?).stdin(input).output();
    let output = output.context("git cannot be started")?;
    ensure!(output.status.success(), "git {}: {}", words.join(" "), String::from_utf8_lossy(&output.stderr));
    Ok(output.stdout)
}

fn extension(path: &str) -> &str {
    path.rsplit_once('.').map_or("", |(_, extension)| extension)
}

fn is_counted(path: &str) -> bool {
    let is_own_code = ["rs", "c", "h"].contains(&extension(path));
    let is_data = DATA.contains(&extension(path)) && !path.ends_with("Cargo.toml");
    is_own_code || is_data && path.starts_with("crates/")
}

/// A crate, or another first folder.
fn group(path: &str) -> String {
    let mut names = path.split('/');
    match (names.next(), names.next(), names.next()) {
        (Some(first @ "crates"), Some(second), Some(_)) => format!("{first}/{second}"),
        (Some(first), _, _) => first.to_owned(),
        (None, _, _) => String::new(),
    }
}

fn of_file(path: &str, text: &str) -> Count {
    let is_test =
        path.split('/').any(|name| name == "tests" || name == "tests.rs") || path.ends_with(".cases");
    let mut count = Count::default();
    if !["rs", "c", "h"].contains(&extension(path)) {
        let lines = written(text).count() as i64;
        *(if is_test { &mut count.tests } else { &mut count.tables }) += lines;
        return count;
    }
    // The indentation at which the open table or test item ends.
    let mut open: Option<(usize, Kind)> = None;
    let mut is_test_next = false;
    for line in written(text) {
        let body = line.trim_start();
        if body.starts_with("//") || body.starts_with("/*") {
            count.comments += 1;
            continue;
        }
        let indent = line.len() - body.len();
        let kind = match open {
            Some((_, kind)) => kind,
            None if is_test || is_test_next || body == "#[cfg(test)]" => Kind::Test,
            None if begins_table(body) => Kind::Table,
            None => Kind::Code,
        };
        count.add(kind);
        match open {
            Some((end, _)) if indent == end && body.starts_with(['}', ']', ')']) => open = None,
            None if kind != Kind::Code && body.ends_with(['{', '[', '(']) => open = Some((indent, kind)),
            Some(_) | None => {}
        }
        is_test_next = body == "#[cfg(test)]" || is_test_next && body.starts_with("#[");
    }
    count
}

fn written(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter(|line| !line.trim().is_empty())
}

/// A constant array of several lines.
fn begins_table(line: &str) -> bool {
    let item = line
        .strip_prefix("pub")
        .map_or(line, |rest| rest.trim_start_matches("(crate)").trim_start_matches("(super)"));
    let item = item.trim_start();
    (item.starts_with("const ") || item.starts_with("static ")) && line.ends_with('[')
}

impl Count {
    fn add(&mut self, kind: Kind) {
        match kind {
            Kind::Code => self.code += 1,
            Kind::Table => self.tables += 1,
            Kind::Test => self.tests += 1,
        }
    }
}

impl AddAssign for Count {
    fn add_assign(&mut self, other: Count) {
        self.code += other.code;
        self.tables += other.tables;
        self.tests += other.tests;
        self.comments += other.comments;
    }
}

#[cfg(test)]
mod tests {
    use super::{Count, of_file};

    #[test]
    fn lines_by_kind() {
        let text = "//! About.\n\nuse a;\nconst NAMES: &[&str] = &[\n    \"a\",\n    // Why.\n    \"b\",\n];\n\
                    fn f() {\n    g(&[\n        1,\n    ]);\n}\n\n#[cfg(test)]\nmod tests {\n    fn t() {\n    }\n}\nfn h() {}\n";
        let expected = Count { code: 7, tables: 4, tests: 5, comments: 2 };
        assert_eq!(of_file("crates/a/src/b.rs", text), expected);
        assert_eq!(
            of_file("crates/a/tests/b.rs", "fn t() {}\n\n// Why.\n"),
            Count { tests: 1, comments: 1, ..Count::default() }
        );
        assert_eq!(of_file("crates/a/models/b.toml", "a = 1\n\nb = 2\n").tables, 2);
    }
}
