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
}

impl Language {
    /// Every language.
    pub const ALL: &'static [Language] = &[Language::Python, Language::JavaScript, Language::Perl];

    /// The word for it in the models of programs (`code:python`).
    pub const fn as_str(self) -> &'static str {
        match self {
            Language::Python => "python",
            Language::JavaScript => "javascript",
            Language::Perl => "perl",
        }
    }
}

impl std::fmt::Display for Language {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.as_str())
    }
}
