//! Windows paths, by their shape: drives, servers, devices. No queries: castellan has no world of Windows yet.

use castellan_event::{Why, path_components};

use super::{Located, Places};
use crate::scope::{self, Part};
use crate::scope::{DEVICE, UNC};

/// Classifies a path by its text.
pub(super) fn locate(text: &str, cwd: Option<&str>, places: &Places) -> Located {
    let raw = text.to_owned();
    let Some(names) = absolute(text).or_else(|| relative(text, cwd?)) else {
        let hint = super::partly::hint_after_dots(&text.split(['/', '\\']).collect::<Vec<_>>(), places);
        return Located::unknown(raw, Why::Dynamic, hint);
    };
    let folded: Vec<String> = names.iter().map(|name| places.comparable(name).into_owned()).collect();
    let parts: Vec<Part<'_>> = folded.iter().map(|name| Part::known(name)).collect();
    let kind = scope::kind(&parts, places);
    let path = match names.split_first() {
        Some((first, rest)) if first == UNC => format!("//{}", rest.join("/")),
        Some((first, rest)) if first == DEVICE => format!("//./{}", rest.join("/")),
        _ => names.join("/"),
    };
    Located::found(path, raw, kind)
}

/// Returns true if a path begins with a drive or a server, as PowerShell and cmd parse it on any system.
pub(super) fn begins_with_drive(text: &str) -> bool {
    let mut letters = text.chars();
    let (first, second) = (letters.next(), letters.next());
    let is_drive = first.is_some_and(|letter| letter.is_ascii_alphabetic()) && second == Some(':');
    is_drive || first == Some('\\') && matches!(second, Some('\\' | '/'))
}

/// Returns the names of a path that begins with a drive or a server.
fn absolute(text: &str) -> Option<Vec<String>> {
    let text = text.replace('\\', "/");
    let text = text.strip_prefix("//?/").unwrap_or(&text);
    if let Some(rest) = text.strip_prefix("//./") {
        return Some(collapse(&[DEVICE], rest));
    }
    let server = text.strip_prefix("//").or_else(|| text.strip_prefix("UNC/"));
    if let Some(rest) = server {
        return Some(collapse(&[UNC], rest));
    }
    let (drive, rest) = text.split_at_checked(2)?;
    let mut letters = drive.chars();
    let is_drive = letters.next()?.is_ascii_alphabetic() && letters.next()? == ':' && rest.starts_with('/');
    is_drive.then(|| collapse(&[drive], rest))
}

/// Returns the names of a path that is relative to a directory, or to the root of its drive. `C:x` is relative to a
/// directory that only the shell knows.
fn relative(text: &str, cwd: &str) -> Option<Vec<String>> {
    let base = absolute(cwd)?;
    let text = text.replace('\\', "/");
    let has_drive = text.chars().nth(1) == Some(':');
    if has_drive {
        return None;
    }
    let keep = if text.starts_with('/') { 1 } else { base.len() };
    let base: Vec<&str> = base.iter().take(keep).map(String::as_str).collect();
    Some(collapse(&base, &text))
}

/// Appends names to others and removes `..`. Unlike in `lexical_path`, `..` does not remove the first name, which is
/// the drive.
fn collapse(base: &[&str], rest: &str) -> Vec<String> {
    let mut names: Vec<String> = base.iter().map(|name| (*name).to_owned()).collect();
    for name in path_components(rest) {
        if name == ".." {
            names.truncate(names.len().saturating_sub(1).max(1));
        } else {
            names.push(name.to_owned());
        }
    }
    names
}
