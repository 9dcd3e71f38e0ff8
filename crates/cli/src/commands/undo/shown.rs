//! The differences to a checkpoint as text: a line for each entry, and unified diffs of texts.

use std::io::{self, Write};

use castellan_daemon::{ShownCheckpoint, ShownDifference, ShownSide, UnseenFiles};
use similar::{ChangeTag, TextDiff};

use crate::limits::DIFF_TIME;
use crate::output::{BAD, FAINT, GOOD, PLAIN, WARN, counted, printable};

/// Writes the differences. `with_texts` also writes the changed lines.
pub(crate) fn write(out: &mut impl Write, of: &ShownCheckpoint, with_texts: bool) -> io::Result<()> {
    writeln!(out, "{FAINT}{}{FAINT:#}", printable(&of.root))?;
    for difference in &of.differences {
        let (word, style) = match (&difference.was, &difference.now) {
            (None, _) => ("created", GOOD),
            (_, None) => ("removed", BAD),
            (Some(_), Some(_)) => ("changed", PLAIN),
        };
        writeln!(out, "{style}{word}{style:#}  {}{}", printable(&difference.path), detail(difference))?;
        if with_texts {
            write_lines(out, difference)?;
        }
    }
    let rest = of.count.saturating_sub(of.differences.len());
    if rest > 0 {
        writeln!(out, "and {rest} more")?;
    }
    match unseen(&of.unseen) {
        Some(text) => writeln!(out, "{WARN}not shown{WARN:#}  {text}"),
        None => Ok(()),
    }
}

/// Returns the text about files that stay written by code that nobody has read; `None` without any.
pub(crate) fn unseen(UnseenFiles { folders, count }: &UnseenFiles) -> Option<String> {
    let named: Vec<String> =
        folders.iter().map(|(folder, number)| format!("{} ({number})", printable(folder))).collect();
    let listed: usize = folders.iter().map(|(_, number)| number).sum();
    let more = match count.saturating_sub(listed) {
        0 => String::new(),
        more => format!(", and {more} elsewhere"),
    };
    (*count > 0).then(|| {
        format!(
            "{} of a contained command stay unread: {}{more}. To run or load one is contained or asked about. After you \
             have read them: castellan keep --file PATH",
            counted(*count, "file"),
            named.join(", ")
        )
    })
}

/// What else than contents differs.
fn detail(ShownDifference { was, now, .. }: &ShownDifference) -> String {
    let (Some(was), Some(now)) = (was, now) else {
        let side = was.as_ref().or(now.as_ref());
        return side
            .filter(|side| side.kind != FILE)
            .map_or(String::new(), |side| format!("  ({})", side.kind));
    };
    let mut parts = Vec::new();
    if was.kind != now.kind {
        parts.push(format!("a {} is now a {}", was.kind, now.kind));
    }
    if was.mode != now.mode {
        parts.push(format!("permissions {:o} are now {:o}", was.mode, now.mode));
    }
    if was.size != now.size {
        parts.push(format!("{} bytes are now {}", was.size, now.size));
    }
    if parts.is_empty() { String::new() } else { format!("  ({})", parts.join(", ")) }
}

const FILE: &str = "file";

fn write_lines(out: &mut impl Write, ShownDifference { was, now, .. }: &ShownDifference) -> io::Result<()> {
    let text = |side: &Option<ShownSide>| side.as_ref().and_then(|side| side.text.clone());
    let (was, now) = (text(was), text(now));
    if was.is_none() && now.is_none() {
        return Ok(());
    }
    let (was, now) = (was.unwrap_or_default(), now.unwrap_or_default());
    let diff = TextDiff::configure().timeout(DIFF_TIME).diff_lines(&*was, &*now);
    for hunk in diff.unified_diff().iter_hunks() {
        writeln!(out, "{FAINT}{}{FAINT:#}", hunk.header())?;
        for line in hunk.iter_changes() {
            let (sign, style) = match line.tag() {
                ChangeTag::Delete => ('-', BAD),
                ChangeTag::Insert => ('+', GOOD),
                ChangeTag::Equal => (' ', PLAIN),
            };
            let text = line.value();
            writeln!(out, "{style}{sign}{}{style:#}", printable(text.trim_end_matches(['\n', '\r'])))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn side(kind: &str, size: u64, mode: u32, text: Option<&str>) -> Option<ShownSide> {
        Some(ShownSide { kind: kind.to_owned(), size, mode, text: text.map(str::to_owned) })
    }

    fn written(differences: Vec<ShownDifference>, with_texts: bool) -> String {
        let count = differences.len() + 1;
        let unseen = UnseenFiles { folders: vec![("/w/node_modules".to_owned(), 2)], count: 3 };
        let of = ShownCheckpoint { root: "/w".to_owned(), differences, count, shown: String::new(), unseen };
        let mut text = Vec::new();
        write(&mut anstream::StripStream::new(&mut text), &of, with_texts).unwrap();
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn each_kind_of_difference_has_its_line_and_control_characters_are_escaped() {
        let of =
            |path: &str, was, now| ShownDifference { path: path.to_owned(), was, now, seen: String::new() };
        let differences = || {
            vec![
                of(
                    "a\u{1b}[2J",
                    side("file", 4, 0o644, Some("x\ny\n")),
                    side("file", 6, 0o644, Some("x\nz\u{7}\n")),
                ),
                of("b", None, side("link", 0, 0o777, None)),
                of("c", side("directory", 0, 0o755, None), side("directory", 0, 0o700, None)),
                of("d", side("file", 1, 0o644, None), None),
                of("e", side("directory", 0, 0o755, None), side("link", 0, 0o755, None)),
            ]
        };
        let expected = "/w\nchanged  a\\u{1b}[2J  (4 bytes are now 6)\ncreated  b  (link)\n\
                        changed  c  (permissions 755 are now 700)\nremoved  d\nchanged  e  (a directory is now a link)\n\
                        and 1 more\nnot shown  3 files of a contained command stay unread: /w/node_modules (2), and 1 elsewhere. \
                        To run or load one is contained or asked about. After you have read them: castellan keep --file PATH\n";
        assert_eq!(written(differences(), false), expected);
        let with_texts = written(differences(), true);
        assert!(with_texts.contains("\n x\n-y\n+z\\u{7}\n"), "{with_texts}");
    }
}
