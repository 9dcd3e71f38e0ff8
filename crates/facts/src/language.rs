//! Languages by the words that models use for them. Must not know how a language is read.

use castellan_languages::Language;
use castellan_programs::{SlotRole, find};

/// Shell text.
pub(crate) const SHELL: &str = "sh";

/// Prefix of the language name of database statements; the system's name follows.
pub(crate) const SQL: &str = "sql:";

/// `PowerShell` text as `-EncodedCommand` takes it: UTF-16 in base64.
pub(crate) const ENCODED: &str = "powershell-base64";

/// The commands that `go generate` finds in a file.
pub(crate) const GENERATED: &str = "go-generate";

/// A `tox.ini`, of tox 4.
pub(crate) const TOX: &str = "tox";

/// A `.cargo/config.toml`, of Cargo 1.94.
pub(crate) const CARGO: &str = "cargo-config";

/// A suite of Robot Framework.
pub(crate) const ROBOT: &str = "robot";

/// Tests and helpers of a test tool for shells, such as bats.
pub(crate) const SHELL_TESTS: &str = "shell-tests";

/// Settings of git: a repository's own, the user's, or a file that such a file includes.
pub(crate) const GIT: &str = "git-config";

/// A file `.git`, which names the directory of the repository.
pub(crate) const GIT_LINK: &str = "git-link";

/// A file `commondir`, which names the directory that a work tree shares with others.
pub(crate) const GIT_COMMON: &str = "git-commondir";

/// A hook of git: its first line selects the interpreter, not its name.
pub(crate) const GIT_HOOK: &str = "git-hook";

/// Returns the supported language for a model's word.
pub(crate) fn of_word(word: &str) -> Option<Language> {
    match word {
        "node" | "deno" | "bun" => Some(Language::JavaScript),
        ENCODED => Some(Language::PowerShell),
        word => Language::ALL.iter().copied().find(|language| language.as_str() == word),
    }
}

/// Returns the language of the files that an interpreter runs, by the name that its model uses.
pub(crate) fn of_files(interpreter: &str) -> Option<&'static str> {
    let places = find(interpreter)?.forms.iter().flat_map(|form| form.operands);
    let slots = places.map(|place| place.slot).filter(|slot| slot.role == SlotRole::Execute);
    slots.map(|slot| slot.detail).find(|detail| !detail.is_empty())
}
