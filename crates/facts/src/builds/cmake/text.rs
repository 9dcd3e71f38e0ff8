//! The syntax of CMake's language: commands, arguments, brackets and comments. Must not know what a command does.

/// Parses the commands with their arguments. `None` if the text does not end well.
pub(super) fn calls(text: &str) -> Option<Vec<(String, Vec<String>)>> {
    let mut found = Vec::new();
    let mut rest = text;
    loop {
        rest = blank(rest);
        if rest.is_empty() {
            return Some(found);
        }
        let end = rest.find(|one: char| !one.is_ascii_alphanumeric() && one != '_')?;
        let (name, after) = rest.split_at_checked(end).filter(|(name, _)| !name.is_empty())?;
        let mut inner = blank(after).strip_prefix('(')?;
        let (mut arguments, mut depth) = (Vec::new(), 1);
        while depth > 0 {
            inner = blank(inner);
            let first = inner.chars().next()?;
            match first {
                '(' => depth += 1,
                ')' => depth -= 1,
                _ => {
                    let (argument, behind) = argument(inner)?;
                    arguments.push(argument);
                    inner = behind;
                    continue;
                }
            }
            inner = inner.get(1..)?;
        }
        found.push((name.to_owned(), arguments));
        rest = inner;
    }
}

/// Skips blanks and comments.
fn blank(mut text: &str) -> &str {
    loop {
        text = text.trim_start();
        let Some(comment) = text.strip_prefix('#') else { return text };
        text = match bracket(comment) {
            Some((_, behind)) => behind,
            None => comment.split_once('\n').map_or("", |(_, behind)| behind),
        };
    }
}

/// Returns the text of `[==[...]==]` and the rest.
fn bracket(text: &str) -> Option<(&str, &str)> {
    let inner = text.strip_prefix('[')?;
    let level = inner.len() - inner.trim_start_matches('=').len();
    let inner = inner.get(level..)?.strip_prefix('[')?;
    inner.split_once(&format!("]{}]", "=".repeat(level)))
}

fn argument(text: &str) -> Option<(String, &str)> {
    if let Some((inner, behind)) = bracket(text) {
        return Some((inner.to_owned(), behind));
    }
    let is_quoted = text.starts_with('"');
    let body = text.strip_prefix('"').unwrap_or(text);
    let mut value = String::new();
    let mut signs = body.char_indices();
    while let Some((at, sign)) = signs.next() {
        match sign {
            '\\' => match signs.next() {
                Some((_, '\n')) => {}
                Some((_, 'n')) => value.push('\n'),
                Some((_, other)) => value.push(other),
                None => return None,
            },
            '"' if is_quoted => return Some((value, body.get(at + 1..)?)),
            ' ' | '\t' | '\n' | '\r' | '(' | ')' | '#' if !is_quoted => {
                return Some((value, body.get(at..)?));
            }
            other => value.push(other),
        }
    }
    None
}
