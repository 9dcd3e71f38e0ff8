//! Programs that list files of a project, or files that contain a text. This module must not know files: the output is
//! a name pattern. The output for a single place (`git rev-parse --show-toplevel`) is not computed here, because
//! variables, settings and failures change it.

use castellan_event::Why;
use castellan_programs::Arg;

use crate::text::Text;

/// Options of `git diff` that select files without changing the format of their names.
const NAMES_ONLY: &[&str] =
    &["--cached", "--diff-filter", "--merge-base", "--name-only", "--relative", "--staged", "-z"];

/// Returns the file names that a program lists, as a pattern below its working directory.
pub(super) fn names(name: &str, args: &[Arg]) -> Option<Text> {
    let known: Vec<&str> = args.iter().map(Arg::as_str).collect::<Option<_>>()?;
    // `git diff` also compares two files outside the repository, and prints their names.
    let is_near = |arg: &&str| !arg.starts_with('/') && arg.split('/').all(|part| part != "..");
    let begins = match (name, known.as_slice()) {
        ("git", all) if !all.iter().all(is_near) => None,
        ("git", ["ls-files", rest @ ..]) => {
            // `-s` and similar options print more than names.
            let is_name_only = |arg: &&str| {
                matches!(*arg, "-c" | "-d" | "-m" | "-o" | "-i" | "-z" | "--")
                    || arg.starts_with("--")
                        && !matches!(*arg, "--stage" | "--unmerged" | "--eol" | "--debug")
                    || !arg.starts_with('-')
            };
            // Without a restriction, `git ls-files` lists all files, which is no selection.
            let chooses = |arg: &&str| {
                matches!(*arg, "-m" | "--modified")
                    || !arg.starts_with('-') && arg.contains(|one: char| one.is_alphanumeric())
            };
            if !(rest.iter().all(is_name_only) && rest.iter().any(chooses)) {
                return None;
            }
            return Some(ending_in(only_ending(rest).unwrap_or_default()));
        }
        ("git", ["diff", rest @ ..]) if rest.contains(&"--name-only") => {
            let is_name_only = |arg: &&str| {
                let option = arg.split('=').next().unwrap_or_default();
                !arg.starts_with('-') || *arg == "--" || NAMES_ONLY.contains(&option)
            };
            rest.iter().all(is_name_only).then_some(".")
        }
        ("grep" | "egrep" | "fgrep" | "rg", _) => return searched(name, &known),
        _ => return None,
    };
    begins.map(below)
}

/// Returns the ending of all listed files, with its dot, if the only pathspec is `*.ENDING`.
fn only_ending<'a>(arguments: &[&'a str]) -> Option<&'a str> {
    let mut specs = arguments.iter().filter(|argument| !argument.starts_with('-'));
    let ending = specs.next()?.strip_prefix('*')?;
    let is_plain = ending.starts_with('.') && ending.bytes().skip(1).all(|byte| byte.is_ascii_alphanumeric());
    (is_plain && specs.next().is_none()).then_some(ending)
}

/// Returns a pattern for all names with an ending below the working directory.
fn ending_in(ending: &str) -> Text {
    let mut text = Text::known("./".to_owned());
    text.push_unknown(Why::Glob, "**");
    text.push_str(&format!("{ending}\n"));
    text
}

/// Returns a pattern for all names below a directory.
fn below(directory: &str) -> Text {
    let mut text = Text::known(format!("{}/", directory.trim_end_matches('/')));
    text.push_unknown(Why::Glob, "**");
    text.push_str("\n");
    text
}

/// Returns the output of a search that prints only file names (`-l`).
fn searched(name: &str, known: &[&str]) -> Option<Text> {
    // Options without a value, and options with a value that only selects the searched files.
    let is_plain = |arg: &str| match arg.strip_prefix("--") {
        Some(long) => {
            let (long, _) = long.split_once('=').unwrap_or((long, ""));
            matches!(
                long,
                "include"
                    | "exclude"
                    | "exclude-dir"
                    | "files-with-matches"
                    | "recursive"
                    | "null"
                    | "fixed-strings"
            )
        }
        None => arg.chars().skip(1).all(|one| "EFGHILPRZailqrsvwx".contains(one)),
    };
    let (options, operands): (Vec<&str>, Vec<&str>) = known.iter().partition(|arg| arg.starts_with('-'));
    let has = |letters: &[char], long: &str| {
        options.iter().any(|arg| *arg == long || !arg.starts_with("--") && arg.contains(letters))
    };
    let names_only = has(&['l', 'L'], "--files-with-matches") && options.iter().all(|arg| is_plain(arg));
    // The first operand is the search pattern.
    let (_, places) = operands.split_first().filter(|_| names_only)?;
    let is_deep = name == "rg" || has(&['r', 'R'], "--recursive");
    // A name with a dot may be a file, and then the search prints that name itself.
    let is_directory =
        |place: &&str| !place.rsplit('/').next().unwrap_or_default().trim_start_matches('.').contains('.');
    match places {
        [] if is_deep => Some(below(".")),
        [place]
            if is_deep
                && (matches!(*place, "." | "..") || is_directory(place) && !place.starts_with('.')) =>
        {
            Some(below(place))
        }
        places if !is_deep && !places.is_empty() => Some(Text::known(format!("{}\n", places.join("\n")))),
        _ => None,
    }
}
