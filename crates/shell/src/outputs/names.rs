//! `basename`, `dirname`, `mktemp`, `seq`, `which`: output built from names and numbers.

use castellan_event::Why;
use castellan_programs::Piece;

use super::Given;
use crate::limits::NUMBERS_MAX;
use crate::text::Text;

pub(super) fn basename(given: Given<'_>) -> Option<Text> {
    let known = given.known()?;
    let (path, suffix) = match known.as_slice() {
        [path] | ["--", path] => (*path, ""),
        [path, suffix] if !path.starts_with('-') => (*path, *suffix),
        _ => return None,
    };
    let trimmed = path.trim_end_matches('/');
    let name = match trimmed.rsplit_once('/') {
        Some((_, name)) => name,
        None if trimmed.is_empty() && !path.is_empty() => "/",
        None => trimmed,
    };
    let name = name.strip_suffix(suffix).filter(|rest| !rest.is_empty()).unwrap_or(name);
    Some(Text::known(format!("{name}\n")))
}

pub(super) fn dirname(given: Given<'_>) -> Option<Text> {
    let path = match given.args {
        [path] => path,
        [dashes, path] if dashes.as_str() == Some("--") => path,
        _ => return None,
    };
    match (path.as_str(), path.pieces()) {
        (Some(path), _) => Some(Text::known(format!("{}\n", directory_of(path)))),
        (None, [Piece::Unknown { why: why @ (Why::Variable | Why::Parameter), written }]) => {
            let (name, default) = written.strip_prefix("${")?.strip_suffix('}')?.split_once(":-")?;
            let is_plain = default.chars().all(|c| c.is_ascii_alphanumeric() || "/._-".contains(c));
            let is_path = is_plain && default.contains('/');
            is_path.then(|| Text::unknown(*why, format!("${{{name}:-{}}}", directory_of(default))))
        }
        // The pattern of a name has no slash.
        (None, [Piece::Text(first), names @ ..]) if first.contains('/') && !path.splits() => {
            let is_name = |piece: &Piece| match piece {
                Piece::Text(text) => !text.contains('/'),
                Piece::Unknown { why, written } => {
                    *why == Why::Glob && !written.contains('/') && !written.contains("**")
                }
            };
            names
                .iter()
                .all(is_name)
                .then(|| Text::known(format!("{}\n", directory_of(&format!("{first}*")))))
        }
        (None, _) => None,
    }
}

fn directory_of(path: &str) -> &str {
    let trimmed = path.trim_end_matches('/');
    match trimmed.rsplit_once('/') {
        Some((directory, _)) => match directory.trim_end_matches('/') {
            "" => "/",
            directory => directory,
        },
        None if trimmed.is_empty() && !path.is_empty() => "/",
        None => ".",
    }
}

/// Returns a new name in a directory for temporary files. `mktemp` replaces each `X` by a letter or digit, so the name
/// is a glob that stays in this directory.
pub(super) fn mktemp(given: Given<'_>) -> Option<Text> {
    let mut directory = None;
    let mut template = None;
    let mut is_temporary = false;
    let mut suffix = "";
    let known = given.known()?;
    let mut args = known.iter().copied();
    while let Some(arg) = args.next() {
        match arg {
            "-d" | "-u" | "-q" | "-dq" | "-qd" | "-du" | "-ud" | "--directory" | "--dry-run" | "--quiet" => {}
            "-t" | "-dt" | "-td" | "--tmpdir" => is_temporary = true,
            "-p" | "-dp" => directory = Some(args.next()?),
            "--suffix" => suffix = args.next()?,
            _ => match (arg.strip_prefix("--tmpdir="), arg.strip_prefix("--suffix=")) {
                (Some(named), _) => directory = Some(named),
                (None, Some(named)) => suffix = named,
                (None, None) if arg.starts_with('-') || template.is_some() => return None,
                (None, None) => template = Some(arg),
            },
        }
    }
    let is_temporary = is_temporary || template.is_none();
    let directory = directory.or(is_temporary.then_some("/tmp"));
    let template = template.unwrap_or("tmp.XXXXXXXXXX");
    // A suffix after the last run of `X` belongs to the template.
    let (body, end) = template.split_at(template.rfind('X')? + 1);
    let start = body.trim_end_matches('X');
    let is_suffix = |text: &str| !text.contains('/');
    if body.len() < start.len() + 3 || !is_suffix(end) || !is_suffix(suffix) {
        return None;
    }
    let mut text = Text::known(directory.map_or_else(String::new, |directory| format!("{directory}/")));
    text.push_str(start);
    text.push_unknown(Why::Glob, "*");
    text.push_str(end);
    text.push_str(suffix);
    text.push_str("\n");
    Some(text)
}

pub(super) fn seq(given: Given<'_>) -> Option<Text> {
    let known = given.known()?;
    let mut separator = "\n";
    let mut numbers: Vec<i64> = Vec::new();
    let mut args = known.iter().copied();
    while let Some(arg) = args.next() {
        match arg {
            "-s" => separator = args.next()?,
            arg if arg.starts_with("-s") => separator = arg.strip_prefix("-s")?,
            arg => numbers.push(arg.parse().ok()?),
        }
    }
    let (first, step, last) = match numbers.as_slice() {
        [last] => (1, 1, *last),
        [first, last] => (*first, 1, *last),
        [first, step, last] => (*first, *step, *last),
        _ => return None,
    };
    if step == 0 || first.abs_diff(last) / step.unsigned_abs() > NUMBERS_MAX {
        return None;
    }
    let mut made = Vec::new();
    let mut value = first;
    while (step > 0 && value <= last) || (step < 0 && value >= last) {
        made.push(value.to_string());
        value = value.checked_add(step)?;
    }
    if made.is_empty() {
        return Some(Text::default());
    }
    Some(Text::known(format!("{}\n", made.join(separator))))
}

/// `which rm`, `command -v rm`: the directory is unknown, but the file name is known.
pub(super) fn which(given: Given<'_>) -> Option<Text> {
    let known = given.known()?;
    let names: Vec<&str> =
        known.into_iter().filter(|arg| !matches!(*arg, "-v" | "-p" | "-pv" | "-P" | "-a" | "--")).collect();
    let [name] = names.as_slice() else { return None };
    if name.is_empty() || name.starts_with('-') || name.contains('/') {
        return None;
    }
    let mut text = Text::unknown(Why::Unresolved, format!("$(which {name})"));
    text.push_str(&format!("/{name}\n"));
    Some(text)
}
