//! Programs that list files of a project, or those in which a text stands. It must not know files: what they list is a pattern of names.
//! What a program says of one place (`git rev-parse --show-toplevel`) is not computed: variables, settings and a failure change it.

use castellan_event::Why;
use castellan_programs::Arg;

use crate::text::Text;

/// Options of `git diff` that change which files it names, and not how it writes them.
const NAMES_ONLY: &[&str] =
    &["--cached", "--diff-filter", "--merge-base", "--name-only", "--relative", "--staged", "-z"];

/// The names of files that a program lists, as a pattern below the directory that it runs in.
pub(super) fn names(name: &str, args: &[Arg]) -> Option<Text> {
    let known: Vec<&str> = args.iter().map(Arg::as_str).collect::<Option<_>>()?;
    // `git diff` compares two files that lie outside of the repository, too, and names them.
    let is_near = |arg: &&str| !arg.starts_with('/') && arg.split('/').all(|part| part != "..");
    let begins = match (name, known.as_slice()) {
        ("git", all) if !all.iter().all(is_near) => None,
        ("git", ["ls-files", rest @ ..]) => {
            // With `-s` and the like more than names is written.
            let is_name_only = |arg: &&str| {
                matches!(*arg, "-c" | "-d" | "-m" | "-o" | "-i" | "-z" | "--")
                    || arg.starts_with("--")
                        && !matches!(*arg, "--stage" | "--unmerged" | "--eol" | "--debug")
                    || !arg.starts_with('-')
            };
            // All files that there are is no choice of some.
            let chooses = |arg: &&str| {
                matches!(*arg, "-m" | "--modified")
                    || !arg.starts_with('-') && arg.contains(|one: char| one.is_alphanumeric())
            };
            (rest.iter().all(is_name_only) && rest.iter().any(chooses)).then_some(".")
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

/// All names below a directory.
fn below(directory: &str) -> Text {
    let mut text = Text::known(format!("{}/", directory.trim_end_matches('/')));
    text.push_unknown(Why::Glob, "**");
    text.push_str("\n");
    text
}

/// What a search writes that only tells the names of files (`-l`).
fn searched(name: &str, known: &[&str]) -> Option<Text> {
    // Options without a value, and those whose value only says which files are looked through.
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
    // The pattern stands first.
    let (_, places) = operands.split_first().filter(|_| names_only)?;
    let is_deep = name == "rg" || has(&['r', 'R'], "--recursive");
    // A name with a dot may be a file's, which is itself what is found.
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
