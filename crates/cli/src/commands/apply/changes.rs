//! Differences between two sets of files, as unified diffs.

use std::io::{self, Write};
use std::path::Path;

use castellan_daemon::FileSet;
use serde_json::{Value as Json, json};
use similar::{ChangeTag, TextDiff};

use crate::limits::DIFF_TIME;
use crate::output::{self, BAD, FAINT, GOOD, PLAIN};

/// A file that differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::commands) struct Change {
    name: String,
    /// `None` for a new file.
    before: Option<String>,
    /// `None` for a deleted file.
    after: Option<String>,
}

/// Returns every file that differs. Without `before`, every file is new.
pub(super) fn between(before: Option<&FileSet>, after: &FileSet) -> Vec<Change> {
    let nothing = FileSet { config: String::new(), rules: Vec::new() };
    let names = after.differing(before.unwrap_or(&nothing));
    let change = |name: String| {
        let before = before.and_then(|set| set.text_of(&name)).map(str::to_owned);
        Change { before, after: after.text_of(&name).map(str::to_owned), name }
    };
    names.into_iter().map(change).collect()
}

impl Change {
    /// Returns the difference of a file outside of a set; `None` for a file that does not exist.
    pub(in crate::commands) fn of(file: &Path, before: Option<&str>, after: Option<&str>) -> Change {
        let owned = |text: Option<&str>| text.map(str::to_owned);
        Change { name: file.display().to_string(), before: owned(before), after: owned(after) }
    }

    pub(super) fn json(&self) -> Json {
        let mut diff = Vec::new();
        // Writing to memory does not fail; colours are stripped.
        let _ = self.write(&mut anstream::StripStream::new(&mut diff));
        json!({ "file": self.name, "change": self.kind(), "diff": String::from_utf8_lossy(&diff) })
    }

    /// Writes the unified diff of the file.
    pub(in crate::commands) fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let name = output::printable(&self.name);
        let (before, after) = match self.kind() {
            "new" => ("/dev/null".to_owned(), format!("{name} (new)")),
            "gone" => (format!("{name} (in force)"), "/dev/null".to_owned()),
            _ => (format!("{name} (in force)"), format!("{name} (edited)")),
        };
        writeln!(out, "{FAINT}--- {before}\n+++ {after}{FAINT:#}")?;
        let (before, after) =
            (self.before.as_deref().unwrap_or_default(), self.after.as_deref().unwrap_or_default());
        let diff = TextDiff::configure().timeout(DIFF_TIME).diff_lines(before, after);
        for hunk in diff.unified_diff().iter_hunks() {
            writeln!(out, "{FAINT}{}{FAINT:#}", hunk.header())?;
            for line in hunk.iter_changes() {
                let (sign, style) = match line.tag() {
                    ChangeTag::Delete => ('-', BAD),
                    ChangeTag::Insert => ('+', GOOD),
                    ChangeTag::Equal => (' ', PLAIN),
                };
                let text = line.value();
                let text = output::printable(text.strip_suffix('\n').unwrap_or(text));
                writeln!(out, "{style}{sign}{text}{style:#}")?;
                if line.missing_newline() {
                    writeln!(out, "{FAINT}\\ No newline at end of file{FAINT:#}")?;
                }
            }
        }
        Ok(())
    }

    fn kind(&self) -> &'static str {
        match (&self.before, &self.after) {
            (None, _) => "new",
            (Some(_), None) => "gone",
            (Some(_), Some(_)) => "edited",
        }
    }
}

#[cfg(test)]
mod tests {
    use castellan_rules::Source;

    use super::*;

    fn set(config: &str, rules: &[(&str, &str)]) -> FileSet {
        let source = |(name, text): &(&str, &str)| Source {
            name: format!("/h/user/{name}"),
            text: (*text).to_owned(),
        };
        FileSet { config: config.to_owned(), rules: rules.iter().map(source).collect() }
    }

    fn check(before: Option<&FileSet>, after: &FileSet, expected: &str) {
        let mut shown = Vec::new();
        for change in between(before, after) {
            change.write(&mut anstream::StripStream::new(&mut shown)).unwrap();
        }
        assert_eq!(String::from_utf8(shown).unwrap(), expected);
    }

    #[test]
    fn files_are_shown_as_unified_diffs() {
        let before = set("mode = 1\n", &[("a.yaml", "1\n2\n3\n4\n5\n6\n"), ("b.yaml", "gone\n")]);
        let after = set("mode = 2", &[("a.yaml", "1\n2\n3\n4\n5\nsix\n"), ("c.yaml", "n\u{1b}[2Jew\n")]);
        check(Some(&before), &before, "");
        check(
            Some(&before),
            &after,
            "--- config.toml (in force)\n+++ config.toml (edited)\n@@ -1 +1 @@\n-mode = 1\n+mode = 2\n\
             \\ No newline at end of file\n\
             --- user/a.yaml (in force)\n+++ user/a.yaml (edited)\n@@ -3,4 +3,4 @@\n 3\n 4\n 5\n-6\n+six\n\
             --- /dev/null\n+++ user/c.yaml (new)\n@@ -0,0 +1 @@\n+n\\u{1b}[2Jew\n\
             --- user/b.yaml (in force)\n+++ /dev/null\n@@ -1 +0,0 @@\n-gone\n",
        );
        let new = set("c\n", &[]);
        check(None, &new, "--- /dev/null\n+++ config.toml (new)\n@@ -0,0 +1 @@\n+c\n");
    }
}
