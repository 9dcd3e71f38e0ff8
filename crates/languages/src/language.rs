//! [`Language`]: the languages that are read, and their names.

/// A language that is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Language {
    /// Python 3.
    Python,
    /// JavaScript as Node.js, Deno and Bun run it, `CommonJS` and modules.
    JavaScript,
    /// Perl 5.
    Perl,
    /// Ruby 3.
    Ruby,
    /// `PowerShell` 5.1 and 7.
    PowerShell,
    /// Batch files, and what `cmd` is given.
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
        Language::PowerShell,
        Language::Batch,
        Language::AppleScript,
    ];

    /// Whether its statements are commands of words, and names that nothing gave a value are data.
    pub(crate) const fn is_shell(self) -> bool {
        matches!(self, Language::PowerShell | Language::Batch | Language::AppleScript)
    }

    /// The word for it in the models of programs (`code:python`).
    pub const fn as_str(self) -> &'static str {
        match self {
            Language::Python => "python",
            Language::JavaScript => "javascript",
            Language::Perl => "perl",
            Language::Ruby => "ruby",
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
