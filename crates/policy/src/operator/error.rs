//! The errors of short rules. Each message names the remedy, for the author of the rule.

use thiserror::Error;

use crate::limits::{PATTERN_BYTES_MAX, PATTERNS_MAX};

/// The reason why a list of short rules is invalid. `list` is its key: `deny`, `ask` or `allow`.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum OperatorError {
    /// The list is too long.
    #[error("`{list}` has {count} patterns: write at most {PATTERNS_MAX}")]
    TooMany {
        /// The key.
        list: &'static str,
        /// The length of the list.
        count: usize,
    },
    /// A rule is too long.
    #[error("`{list}`: a pattern has {bytes} bytes: write at most {PATTERN_BYTES_MAX}")]
    TooLong {
        /// The key.
        list: &'static str,
        /// The length of the rule.
        bytes: usize,
    },
    /// A rule is invalid.
    #[error("`{list}`: `{text}`: {why}")]
    Invalid {
        /// The key.
        list: &'static str,
        /// The rule.
        text: String,
        /// The reason.
        why: ShortRuleError,
    },
}

/// The reason why a short rule is invalid, or cannot be converted to a condition.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum ShortRuleError {
    /// `)` without `(`.
    #[error("it has a `)` without `(`: write `Tool` or `Tool(content)`")]
    NotOpened,
    /// Text after the content, or no `)`.
    #[error("it does not end in `)`: write `Tool` or `Tool(content)`")]
    NotClosed,
    /// The escaped character is missing.
    #[error("it ends in `\\`: write the escaped character, or remove the `\\`")]
    NothingEscaped,
    /// No tool name.
    #[error("it has no tool name before `(`: write `Tool(content)`")]
    NoTool,
    /// `mcp__` without one server.
    #[error("name the MCP server: `mcp__server` or `mcp__server__tool`")]
    NoMcpServer,
    /// An empty MCP tool, or one with `*`.
    #[error("name one tool of the server, or `*`")]
    NoMcpTool,
    /// `*` in the tool name.
    #[error("a tool name has no `*`: write the whole name")]
    StarInTool,
    /// Content for a tool that has none.
    #[error("only shells, files and web fetches can have a content in brackets: write the tool name alone")]
    ContentOfOtherTool,
    /// A shell's content without a word.
    #[error("it has no command: write `Bash(command)`, or `Bash` for every command")]
    EmptyContent,
    /// `..` in a path.
    #[error("a path with `..` never matches a resolved path: write the path without `..`")]
    ParentInPath,
    /// A path that begins with one `/`, or with `~` and a name.
    #[error(
        "write `//...` for an absolute path, `~/...` for one in the home, or a path that begins with a name"
    )]
    PathBegin,
    /// A web fetch's content that is no domain.
    #[error("write `domain:` and a host")]
    NoDomain,
    /// An invalid host.
    #[error("write `domain:` and a host such as `example.com`, or `*.example.com`")]
    Host,
    /// Its regular expression is too large.
    #[error("it is too large: shorten it ({0})")]
    TooLarge(#[from] regex::Error),
    /// No condition has the same meaning.
    #[error("castellan cannot convert it to a condition")]
    NoCondition,
    /// No words of a command.
    #[error("it has no command: write one")]
    NoCommand,
    /// A control character, which a condition cannot contain.
    #[error("it has a control character: remove it")]
    ControlCharacter,
    /// `\` at the end of a constant.
    #[error("it ends in `\\`, which a text in a condition cannot: remove that")]
    BackslashAtEnd,
}
