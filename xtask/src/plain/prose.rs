//! Paragraphs, list items and runs of comment lines of a file.

/// Returns each block with its first line, from 1. Tables, headings and code are no prose.
pub(super) fn blocks(text: &str, is_rust: bool) -> Vec<(usize, String)> {
    let mut blocks: Vec<(usize, String)> = Vec::new();
    let (mut is_open, mut is_code) = (false, false);
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim();
        let prose = if is_rust { comment(line) } else { Some(line) };
        let is_fence = prose.is_some_and(|prose| prose.starts_with("```"));
        is_code ^= is_fence;
        let Some(prose) = prose.filter(|prose| !is_fence && !is_code && !is_apart(prose)) else {
            is_open = false;
            continue;
        };
        let item = list_item(prose);
        match blocks.last_mut().filter(|_| is_open && item.is_none()) {
            Some((_, block)) => {
                block.push(' ');
                block.push_str(prose);
            }
            None => blocks.push((number, item.unwrap_or(prose).to_owned())),
        }
        is_open = true;
    }
    blocks
}

/// The text of a comment line.
fn comment(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("//")?;
    let rest = rest.strip_prefix(['/', '!']).unwrap_or(rest);
    Some(rest.trim_start())
}

fn is_apart(prose: &str) -> bool {
    prose.is_empty() || prose.starts_with(['|', '#', '<'])
}

/// The text of a list item without its mark.
fn list_item(prose: &str) -> Option<&str> {
    let marked = ["* ", "+ ", "- "].into_iter().find_map(|mark| prose.strip_prefix(mark));
    let numbered = || {
        let rest = prose.trim_start_matches(|c: char| c.is_ascii_digit());
        rest.strip_prefix(". ").filter(|_| rest.len() < prose.len())
    };
    marked.or_else(numbered)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, is_rust: bool, expected: &[(usize, &str)]) {
        let found = blocks(text, is_rust);
        let found: Vec<(usize, &str)> = found.iter().map(|(line, block)| (*line, block.as_str())).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn blocks_are_paragraphs_items_and_comments() {
        check("# Head\n\nOne\ntwo.\n\nThree.\n", false, &[(3, "One two."), (6, "Three.")]);
        check("* one\n  more\n* two\n1. three\n", false, &[(1, "one more"), (3, "two"), (4, "three")]);
        check("| a | b |\n```\ncode\n```\nText\n", false, &[(5, "Text")]);
        check(
            "//! Head\n//! more.\nfn f() {} // no\n    /// Doc.\n",
            true,
            &[(1, "Head more."), (4, "Doc.")],
        );
    }
}
