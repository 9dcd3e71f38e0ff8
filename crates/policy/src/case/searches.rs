//! Recursive reads of the workspace that show no secret: of programs that print names of files only, and of searches in
//! source code. Does not depend on rules.

use castellan_event::{Command, Effect, EffectKind, Scope};
use castellan_programs::Trait;

/// Endings of source code and documents. Such a file holds no secret that the scope of its path would not show.
const SOURCES: &[&str] = &[
    "bash", "c", "cc", "cpp", "cs", "css", "cxx", "dart", "erl", "ex", "exs", "fish", "go", "gradle", "h",
    "hcl", "heex", "hpp", "hs", "html", "java", "js", "jsx", "kt", "kts", "less", "lua", "md", "mjs", "mts",
    "php", "pl", "proto", "py", "pyi", "rb", "rs", "rst", "scala", "scss", "sh", "sql", "svelte", "swift",
    "tf", "ts", "tsx", "vue", "zig",
];

/// Reports whether a command reads a tree of the workspace without showing a secret.
pub(crate) fn shows_no_secret(effect: &Effect, command: &Command) -> bool {
    let is_near = matches!(effect.scope(), Some(Scope::Workspace | Scope::Temporary))
        && effect.place() == effect.scope()
        && effect.path().is_some();
    let name = command.name.as_deref().unwrap_or_default();
    effect.kind() == EffectKind::Read
        && is_tree(effect)
        && is_near
        && (Trait::ListsNames.is_of(name)
            || Trait::SkipsHidden.is_of(name) && skips_hidden(&command.flags) && !is_hidden(effect)
            || Trait::SearchesTrees.is_of(name) && searches_sources(&command.flags, &command.args))
}

/// Reports whether an effect is on a directory tree: recursive, or on what `find` finds there by no more than a part of
/// the names (`**/*env*`).
pub(super) fn is_tree(effect: &Effect) -> bool {
    effect.is_recursive() || effect.path().is_some_and(is_found_anywhere)
}

/// Reports whether a path is a pattern for files of a tree whose names have no known beginning or ending.
fn is_found_anywhere(path: &str) -> bool {
    let (above, name) = path.rsplit_once('/').unwrap_or_default();
    let is_wild = |letter: char| matches!(letter, '*' | '?' | '[' | '{');
    let has_ending = name.rsplit_once('.').is_some_and(|(_, end)| !end.is_empty() && !end.contains(is_wild));
    name == "**" || above.contains("**") && name.starts_with(is_wild) && !has_ending
}

/// Reports whether the tree is or is below a hidden directory, which a search that skips hidden files reads if it is
/// named.
fn is_hidden(effect: &Effect) -> bool {
    effect.path().is_none_or(|path| path.split('/').any(|part| part.starts_with('.')))
}

/// Options of `rg` that show hidden, ignored, packed or linked files. A glob and a list of ignored files override both.
const OPENS: &[&str] = &[
    "-.",
    "-L",
    "-g",
    "-u",
    "-z",
    "--follow",
    "--glob",
    "--hidden",
    "--iglob",
    "--ignore-file",
    "--no-ignore",
    "--search-zip",
    "--unrestricted",
];

/// Reports whether no option opens the search. `flags`: the options without clusters.
fn skips_hidden(flags: &[String]) -> bool {
    let opens = |flag: &String| {
        OPENS.contains(&flag.as_str()) || flag.starts_with("--no-ignore") || flag.starts_with("--pre")
    };
    !flags.iter().any(opens)
}

/// Reports whether `grep` searches only files of source code by their ending. `-R` also follows links out of the tree.
fn searches_sources(flags: &[String], args: &[String]) -> bool {
    let includes = flags.iter().filter(|flag| *flag == "--include").count();
    let follows = |flag: &String| matches!(flag.as_str(), "-R" | "--dereference-recursive");
    let patterns = args.iter().filter_map(|arg| arg.strip_prefix("--include=*."));
    let known = patterns.filter(|end| SOURCES.contains(end)).count();
    includes > 0 && includes == known && !flags.iter().any(follows)
}

#[cfg(test)]
mod tests {
    use super::{is_found_anywhere, searches_sources, skips_hidden};

    fn words(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn a_pattern_of_find_is_a_tree_if_it_may_match_a_secret() {
        for (path, expected) in [
            ("/w/**", true),
            ("/w/**/*", true),
            ("/w/**/*env*", true),
            ("/w/**/*?env*", true),
            ("/w/**/*.*", true),
            ("/w/**/*.py", false),
            ("/w/**/test_*", false),
            ("/w/src/*", false),
            ("/w/a", false),
        ] {
            assert_eq!(is_found_anywhere(path), expected, "{path}");
        }
    }

    #[test]
    fn a_search_shows_hidden_files_only_if_it_is_told_to() {
        for (flags, expected) in [
            ("-n", true),
            ("-n -t -C --type-add", true),
            ("-u -u", false),
            ("-.", false),
            ("-L", false),
            ("--follow", false),
            ("--hidden", false),
            ("--no-ignore-vcs", false),
            ("--ignore-file", false),
            ("--pre-glob", false),
            ("-g", false),
            ("--glob", false),
            ("-z", false),
        ] {
            assert_eq!(skips_hidden(&words(flags)), expected, "{flags}");
        }
        for (flags, args, expected) in [
            ("-r -n --include", "-rn TODO --include=*.py .", true),
            ("-r --include --include", "-r TODO --include=*.py --include=*.md .", true),
            ("-r --include --include", "-r TODO --include=*.py --include=.env .", false),
            ("-r --include --include", "-r TODO --include=*.py --include .env .", false),
            ("-r --include --include", "-r TODO --include=*.py --inc=* .", false),
            ("-R --include", "-R TODO --include=*.py .", false),
            ("-r --include", "-r TODO --include=* .", false),
            ("-r --include", "-r TODO --include=*.pem .", false),
            ("-r", "-r TODO .", false),
        ] {
            assert_eq!(searches_sources(&words(flags), &words(args)), expected, "{args}");
        }
    }
}
