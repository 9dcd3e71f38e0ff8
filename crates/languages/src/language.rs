//! [`Language`]: the supported languages and their names.

use castellan_event::Why;
use serde::{Deserialize, Serialize};

use crate::limits::{WORK_PER_PARSER_CALL, WORK_PER_PERL_CALL};

/// A supported language.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Language {
    /// Python 3, up to 3.14.
    Python,
    /// JavaScript and TypeScript as Node.js, Deno and Bun run them, `CommonJS` and modules.
    JavaScript,
    /// Perl 5.
    Perl,
    /// Ruby, up to 4.1.
    Ruby,
    /// PHP 8, with features of 5 and 7.
    Php,
    /// Lua 5.1 to 5.4, and `LuaJIT`.
    Lua,
    /// `PowerShell` 5.1 and 7.
    PowerShell,
    /// Batch files and the text of `cmd /c`.
    Batch,
    /// `AppleScript`.
    AppleScript,
}

impl Language {
    /// Every language.
    pub const ALL: &'static [Language] = &[
        Language::Python,
        Language::JavaScript,
        Language::Perl,
        Language::Ruby,
        Language::Php,
        Language::Lua,
        Language::PowerShell,
        Language::Batch,
        Language::AppleScript,
    ];

    /// Text that the parser needs before code that has no opening of its own.
    pub(crate) const fn opening(self) -> &'static str {
        if matches!(self, Language::Php) { "<?php " } else { "" }
    }

    /// Returns the name of a variable in the tree, from its name as text.
    pub(crate) fn variable(self, name: &str) -> String {
        if matches!(self, Language::Php) { format!("${name}") } else { name.to_owned() }
    }

    /// The index of a list's first element.
    pub(crate) const fn first_index(self) -> i64 {
        if matches!(self, Language::Lua) { 1 } else { 0 }
    }

    /// The reason for unknown arguments when outside code calls a function. In PHP texts name functions, and a library
    /// may pass such a text.
    pub(crate) const fn handed(self) -> Why {
        if matches!(self, Language::Php) { Why::Dynamic } else { Why::Parameter }
    }

    /// Reports whether a name may lack a value without a `Hole`. Such a name is empty, or its value is from an
    /// `include` or a class loader, which is read separately.
    pub(crate) fn is_quiet(self, name: &str) -> bool {
        matches!(self, Language::Php)
            && (name.starts_with(['$', '#']) || name.contains('/') || matches!(name, "this" | "arguments"))
    }

    /// Units of work per call of the parser's progress callback.
    pub(crate) const fn work_per_parser_call(self) -> u64 {
        if matches!(self, Language::Perl) { WORK_PER_PERL_CALL } else { WORK_PER_PARSER_CALL }
    }

    /// Reports whether statements are commands of words. In these languages a name without a value is data.
    pub(crate) const fn is_shell(self) -> bool {
        matches!(self, Language::PowerShell | Language::Batch | Language::AppleScript)
    }

    /// Reports whether paths may begin with a drive or a server (`C:\x`, `\\server\share`) on every system.
    pub const fn has_drives(self) -> bool {
        matches!(self, Language::PowerShell | Language::Batch)
    }

    /// The language's name in the models of programs (`code:python`).
    pub const fn as_str(self) -> &'static str {
        match self {
            Language::Python => "python",
            Language::JavaScript => "javascript",
            Language::Perl => "perl",
            Language::Ruby => "ruby",
            Language::Php => "php",
            Language::Lua => "lua",
            Language::PowerShell => "powershell",
            Language::Batch => "cmd",
            Language::AppleScript => "applescript",
        }
    }
}

impl std::fmt::Display for Language {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.as_str())
    }
}
