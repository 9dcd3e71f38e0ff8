//! `sed` with substitutions of plain text: `s/a/b/g`. Patterns are not computed.

use super::Given;
use crate::limits::VALUE_BYTES_MAX;
use crate::text::Text;

pub(super) fn sed(given: Given<'_>) -> Option<Text> {
    let known = given.known()?;
    let mut scripts = Vec::new();
    let mut operands = Vec::new();
    let mut args = known.iter().copied();
    while let Some(arg) = args.next() {
        match arg {
            "-e" | "--expression" => scripts.push(args.next()?),
            "-E" | "-r" | "-s" | "-u" => {}
            arg if arg.starts_with('-') && arg.len() > 1 => return None,
            arg => operands.push(arg),
        }
    }
    let mut operands = operands.into_iter();
    if scripts.is_empty() {
        scripts.push(operands.next()?);
    }
    let operands: Vec<&str> = operands.collect();
    let mut text = given.read_by(&operands)?.to_owned();
    for script in scripts {
        for one in script.split([';', '\n']).map(str::trim).filter(|one| !one.is_empty()) {
            text = substituted(one, &text)?;
        }
    }
    Some(Text::known(text))
}

fn substituted(script: &str, text: &str) -> Option<String> {
    let rest = script.strip_prefix('s')?;
    let delimiter = rest.chars().next()?;
    let mut parts = rest.get(delimiter.len_utf8()..)?.split(delimiter);
    let (from, to, flags) = (parts.next()?, parts.next()?, parts.next()?);
    // Anything that is more than text stays unknown.
    let special = |part: &str, marks: &[char]| part.contains(marks);
    if parts.next().is_some()
        || !matches!(flags, "" | "g")
        || special(from, &['\\', '.', '*', '[', ']', '^', '$', '+', '?', '(', ')', '{', '|'])
        || special(to, &['\\', '&'])
        || from.is_empty()
    {
        return None;
    }
    let made = text.matches(from).count().saturating_mul(to.len()).saturating_add(text.len());
    if made > VALUE_BYTES_MAX {
        return None;
    }
    let lines = text.split('\n').map(|line| match flags {
        "g" => line.replace(from, to),
        _ => line.replacen(from, to, 1),
    });
    Some(lines.collect::<Vec<_>>().join("\n"))
}
