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
    let is_tree = effect.kind() == EffectKind::Read && effect.is_recursive();
    let is_near = matches!(effect.scope(), Some(Scope::Workspace | Scope::Temporary))
        && effect.place() == effect.scope()
        && effect.path().is_some();
    let name = command.name.as_deref().unwrap_or_default();
    is_tree
        && is_near
        && (Trait::ListsNames.is_of(name)
            || Trait::SkipsHidden.is_of(name) && skips_hidden(&command.args) && !is_hidden(effect)
            || Trait::SearchesTrees.is_of(name) && searches_sources(&command.args))
}

/// Reports whether the tree is or is below a hidden directory, which a search that skips hidden files reads if it is
/// named.
fn is_hidden(effect: &Effect) -> bool {
    effect.path().is_none_or(|path| path.split('/').any(|part| part.starts_with('.')))
}

/// Reports whether no option shows hidden or ignored files. A glob overrides both.
fn skips_hidden(args: &[String]) -> bool {
    let is_open = |arg: &String| match arg.strip_prefix('-') {
        Some(long) if long.starts_with('-') => {
            ["-hidden", "-no-ignore", "-unrestricted", "-glob", "-iglob", "-search-zip"]
                .iter()
                .any(|word| long.starts_with(word))
        }
        Some(letters) => letters.contains(['u', '.', 'g', 'z']),
        None => false,
    };
    !args.iter().any(is_open)
}

/// Reports whether `grep` searches only files of source code by their ending.
fn searches_sources(args: &[String]) -> bool {
    let mut patterns = args.iter().filter_map(|arg| arg.strip_prefix("--include=")).peekable();
    let is_source = |pattern: &str| pattern.strip_prefix("*.").is_some_and(|end| SOURCES.contains(&end));
    patterns.peek().is_some() && patterns.all(is_source)
}

#[cfg(test)]
mod tests {
    use super::{searches_sources, skips_hidden};

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn a_search_shows_hidden_files_only_if_it_is_told_to() {
        for (args, expected) in [
            ("-n foo", true),
            ("-n foo src -t rust -C 2", true),
            ("foo --type-add src:*.kt", true),
            ("-uu foo", false),
            ("-nu foo", false),
            ("-. foo", false),
            ("--hidden foo", false),
            ("--no-ignore-vcs foo", false),
            ("-g .env* foo", false),
            ("--glob=* foo", false),
        ] {
            assert_eq!(skips_hidden(&words(args)), expected, "{args}");
        }
        for (args, expected) in [
            ("-rn TODO --include=*.py .", true),
            ("-rn TODO --include=*.py --include=*.md .", true),
            ("-rn TODO --include=*.py --include=.env .", false),
            ("-rn TODO --include=* .", false),
            ("-rn TODO --include=*.pem .", false),
            ("-rn TODO .", false),
        ] {
            assert_eq!(searches_sources(&words(args)), expected, "{args}");
        }
    }
}
