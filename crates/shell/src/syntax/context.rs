//! The places of a word that decide where it ends and what its signs mean. This module must not know the tree.

/// The surroundings of text: they decide which bytes end it, and which quotes and escapes it has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Context {
    /// A word of a command: ends at a blank or an operator.
    Command,
    /// The same, where `(` begins a pattern: words of zsh after the first.
    Glob,
    /// The right side of `=~`: parentheses and `|` belong to it.
    Regex,
    /// In double quotes.
    Quoted,
    /// The body of a here-document, or an expression: as in double quotes, but these are text.
    Body,
    /// The expression of `$[...]`.
    Bracket,
    /// A part of `for ((...; ...; ...))`.
    Clause,
    /// The word after an operator of `${...}`; `quoted` if the expansion is in double quotes.
    Operand { quoted: bool },
    /// The replacement of `${x/pattern/replacement}`: single quotes quote even in double quotes.
    Replacement { quoted: bool },
    /// The pattern of `${x/pattern/replacement}`, which ends at a `/`, too.
    Pattern,
    /// The pattern of an operation in double quotes, in zsh: `'`, `$'` and `{` are text. With `slash`, it ends at a `/`,
    /// too.
    QuotedPattern { slash: bool },
    /// The pattern of `${x#pattern}`.
    Removed,
    /// The offset of `${x:offset:length}`.
    Offset { quoted: bool },
    /// `[...]` after a name. Without `blanks`, a blank or an operator ends the word.
    Index { blanks: bool },
    /// `[...]` after a parameter without braces, in double quotes: a quote ends it, too.
    QuotedIndex,
    /// `[...]` in `${...}`. The shells differ in a `}`, which ends it, so that it has no closer.
    BracedIndex { quoted: bool },
}

impl Context {
    /// Reports whether text is neither split nor taken for a pattern.
    pub(super) const fn is_quoted(self) -> bool {
        match self {
            Context::Quoted
            | Context::Body
            | Context::Bracket
            | Context::Clause
            | Context::QuotedIndex
            | Context::QuotedPattern { .. } => true,
            Context::Operand { quoted }
            | Context::Replacement { quoted }
            | Context::Offset { quoted }
            | Context::BracedIndex { quoted } => quoted,
            Context::Index { .. }
            | Context::Command
            | Context::Glob
            | Context::Regex
            | Context::Pattern
            | Context::Removed => false,
        }
    }

    /// Reports whether quotes hide the closer of an expression, whose end no search has found.
    pub(super) const fn is_open_expression(self) -> bool {
        matches!(self, Context::Bracket | Context::Clause)
    }

    /// Reports whether single quotes quote.
    pub(super) const fn has_single_quotes(self) -> bool {
        !self.is_quoted() || matches!(self, Context::Replacement { .. })
    }

    /// Reports whether a `\` escapes any character.
    pub(super) const fn has_escapes(self) -> bool {
        !self.is_quoted() || matches!(self, Context::Replacement { .. } | Context::QuotedPattern { .. })
    }

    /// Reports whether `<1-9>` is a pattern of numbers.
    pub(super) const fn has_ranges(self) -> bool {
        self.is_word() || matches!(self, Context::Index { blanks: false })
    }

    pub(super) const fn is_word(self) -> bool {
        matches!(self, Context::Command | Context::Glob | Context::Regex)
    }

    /// Reports whether a byte may be more than text.
    pub(super) fn is_special(self, byte: u8) -> bool {
        match byte {
            b'\\' | b'"' | b'`' | b'$' => true,
            b'\'' => !matches!(self, Context::Quoted | Context::Body),
            b'<' | b'>' => !matches!(self, Context::Quoted | Context::Body),
            b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' => {
                self.is_word() || matches!(self, Context::Index { .. } | Context::Clause)
            }
            b'(' | b')' => {
                self.is_word()
                    || matches!(self, Context::Index { .. } | Context::Clause | Context::Offset { .. })
            }
            b'{' | b'}' | b'/' | b':' | b'?' => matches!(
                self,
                Context::Operand { .. }
                    | Context::Replacement { .. }
                    | Context::Pattern
                    | Context::QuotedPattern { .. }
                    | Context::Removed
                    | Context::Offset { .. }
                    | Context::BracedIndex { .. }
            ),
            b'[' | b']' => {
                matches!(
                    self,
                    Context::Index { .. }
                        | Context::QuotedIndex
                        | Context::BracedIndex { .. }
                        | Context::Bracket
                )
            }
            _ => false,
        }
    }
}
