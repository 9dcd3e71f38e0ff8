//! A PHP text as PHP 7.2 reads it, written for the parser of PHP 8. Must not know what a program does.
//!
//! Before PHP 8, `#[` begins a comment. Before PHP 7.3, only a line with nothing but the label ends a here-document.

use std::collections::HashSet;

/// Returns the text for the older reading, of the same length, or `None` if all versions read the same.
pub(super) fn text(text: &str) -> Option<String> {
    if !text.contains("#[") && !text.contains("<<<") {
        return None;
    }
    let mut older = String::with_capacity(text.len());
    let mut labels = HashSet::new();
    for line in text.split_inclusive('\n') {
        let start = older.len();
        older.push_str(line);
        let trimmed = line.trim_start();
        let begin = start + line.len() - trimmed.len();
        if let Some(name) = name(trimmed).filter(|name| labels.contains(name) && !is_old_end(line, name)) {
            older.replace_range(begin..begin + name.len(), &"_".repeat(name.len()));
        }
        for (at, _) in line.match_indices("#[").filter(|(at, _)| is_open(line, *at)) {
            older.replace_range(start + at + 1..start + at + 2, " ");
        }
        labels.extend(line.split("<<<").skip(1).filter_map(label));
    }
    (older != text).then_some(older)
}

/// The attribute does not end in its line.
fn is_open(line: &str, at: usize) -> bool {
    let rest = line.get(at..).unwrap_or_default();
    rest.matches('[').count() > rest.matches(']').count()
}

/// Returns the label of a here-document after `<<<`.
fn label(after: &str) -> Option<&str> {
    name(after.trim_start_matches([' ', '\t']).trim_start_matches(['\'', '"']))
}

fn name(text: &str) -> Option<&str> {
    let end = text.find(|one: char| one.is_ascii() && !one.is_ascii_alphanumeric() && one != '_');
    text.get(..end.unwrap_or(text.len())).filter(|name| !name.is_empty())
}

/// Every PHP ends a here-document of this label in this line.
fn is_old_end(line: &str, label: &str) -> bool {
    line.strip_prefix(label).is_some_and(|rest| matches!(rest.trim_end_matches(['\r', '\n']), "" | ";"))
}

#[cfg(test)]
mod tests {
    #[test]
    fn only_what_versions_read_differently_changes() {
        for (text, expected) in [
            ("f();", None),
            ("#[A] f();", None),
            ("#[A(\n1)] f();", Some("# A(\n1)] f();")),
            ("<<<E\n E;\nE;\n", Some("<<<E\n _;\nE;\n")),
            ("<<<é\n é;\né;\n", Some("<<<é\n __;\né;\n")),
            ("<<<'EOT'\nEOT . 1;\nEOT\n", Some("<<<'EOT'\n___ . 1;\nEOT\n")),
            ("<<<E\nEE\nE;\r\n", None),
        ] {
            assert_eq!(super::text(text).as_deref(), expected, "{text:?}");
        }
    }
}
