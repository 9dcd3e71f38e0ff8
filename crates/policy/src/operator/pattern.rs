//! [`Pattern`]: a parsed short rule, `Tool` or `Tool(content)`, with the escapes `\(`, `\)` and `\\`. Knows no calls.

use regex::Regex;

use crate::operator::error::ShortRuleError;

/// A parsed short rule.
#[derive(Debug, Clone)]
pub(crate) struct Pattern {
    pub(crate) tool: ToolPattern,
    pub(crate) content: Content,
    pub(crate) parts: Parts,
    /// The source text; patterns with the same text are equal.
    text: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ToolPattern {
    /// Tools that run shell text.
    Shell,
    /// Tools that read files.
    Read,
    /// Tools that change files.
    Change,
    /// Tools that fetch from the web.
    Web,
    Mcp {
        server: String,
        tool: Option<String>,
    },
    /// The tool of this name, in lower case.
    Named(String),
}

/// The matching calls of a tool.
#[derive(Debug, Clone)]
pub(crate) enum Content {
    Any,
    Command(CommandPattern),
    Path(PathPattern),
    Host(HostPattern),
}

#[derive(Debug, Clone)]
pub(crate) enum Parts {
    /// The words, and whether more words may follow.
    Command { words: Vec<String>, goes_on: bool },
    /// The path from its beginning, without a `/**` at the end.
    Path(String),
    /// No parts beyond the content itself.
    None,
}

/// A command, by its words.
#[derive(Debug, Clone)]
pub(crate) struct CommandPattern {
    /// Matches the words in their order, joined by [`SEPARATOR`].
    pub(crate) line: Regex,
    /// Like `line` without flags, for commands with flags elsewhere.
    pub(crate) words: Regex,
    /// The named flags.
    pub(crate) flags: Vec<String>,
    /// More words may follow.
    pub(crate) goes_on: bool,
}

/// A path with everything below it.
#[derive(Debug, Clone)]
pub(crate) struct PathPattern {
    /// Where the path begins.
    pub(crate) from: PathFrom,
    /// Matches a path from there.
    pub(crate) regex: Regex,
    /// The glob from there, to compare with a shell glob.
    pub(crate) glob: String,
}

/// Beginning of a pattern's path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PathFrom {
    /// The root of the file system; the path includes its first `/`.
    Root,
    /// The home directory.
    Home,
    /// Any directory.
    Anywhere,
}

/// A host, or every host below a domain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HostPattern {
    pub(crate) name: String,
    /// The name had the prefix `*.`.
    pub(crate) is_domain: bool,
}

/// Joins the words of a command. No argument of a program can contain it, so no argument looks like two words.
pub(crate) const SEPARATOR: char = '\u{0}';

/// Tool names, in lower case, for each kind of tool: the agents' names and common ones.
const ALIASES: &[(&[&str], ToolPattern)] = &[
    (
        &[
            "bash",
            "shell",
            "sh",
            "exec",
            "exec_command",
            "local_shell",
            "run_shell_command",
            "powershell",
            "terminal",
            "run_terminal_cmd",
        ],
        ToolPattern::Shell,
    ),
    (&["read", "glob", "grep", "ls", "search", "read_file", "notebookread"], ToolPattern::Read),
    (
        &[
            "edit",
            "write",
            "multiedit",
            "notebookedit",
            "apply_patch",
            "patch",
            "write_file",
            "edit_file",
            "replace",
        ],
        ToolPattern::Change,
    ),
    (&["webfetch", "web_fetch", "fetch"], ToolPattern::Web),
];

impl PartialEq for Pattern {
    fn eq(&self, other: &Pattern) -> bool {
        self.text == other.text
    }
}

impl Eq for Pattern {}

impl Pattern {
    /// Parses a pattern. The message of an error contains a correct form.
    pub(crate) fn parse(text: &str) -> Result<Pattern, ShortRuleError> {
        let (name, inside) = split(text)?;
        let tool = tool(name)?;
        let is_of_files = matches!(tool, ToolPattern::Read | ToolPattern::Change);
        let content = match inside.as_deref() {
            None | Some("") => Content::Any,
            // Every path, with any program.
            Some("*") if is_of_files => path("**")?,
            Some("*") => Content::Any,
            Some(content) => read_content(&tool, content)?,
        };
        let parts = match (&content, inside.as_deref()) {
            (Content::Command(_), Some(inside)) => {
                let (words, goes_on) = words(inside);
                Parts::Command { words: words.into_iter().map(str::to_owned).collect(), goes_on }
            }
            (Content::Path(path), _) => Parts::Path(path.glob.clone()),
            _ => Parts::None,
        };
        Ok(Pattern { tool, content, parts, text: text.to_owned() })
    }
}

/// Returns the tool's name and the text in the brackets without escapes.
fn split(text: &str) -> Result<(&str, Option<String>), ShortRuleError> {
    let Some((name, rest)) = text.split_once('(') else {
        return if text.contains(')') { Err(ShortRuleError::NotOpened) } else { Ok((text, None)) };
    };
    let mut content = String::new();
    let mut letters = rest.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => match letters.next() {
                Some(escaped @ ('(' | ')' | '\\')) => content.push(escaped),
                Some(other) => content.extend(['\\', other]),
                None => return Err(ShortRuleError::NothingEscaped),
            },
            ')' if letters.as_str().is_empty() => return Ok((name, Some(content))),
            other => content.push(other),
        }
    }
    Err(ShortRuleError::NotClosed)
}

fn tool(name: &str) -> Result<ToolPattern, ShortRuleError> {
    if name.trim() != name || name.is_empty() {
        return Err(ShortRuleError::NoTool);
    }
    if let Some(rest) = name.strip_prefix("mcp__") {
        let (server, tool) =
            rest.split_once("__").map_or((rest, None), |(server, tool)| (server, Some(tool)));
        if server.is_empty() || server.contains('*') {
            return Err(ShortRuleError::NoMcpServer);
        }
        let tool = tool.filter(|tool| *tool != "*").map(str::to_owned);
        if tool.as_deref().is_some_and(|tool| tool.is_empty() || tool.contains('*')) {
            return Err(ShortRuleError::NoMcpTool);
        }
        return Ok(ToolPattern::Mcp { server: server.to_owned(), tool });
    }
    if name.contains('*') {
        return Err(ShortRuleError::StarInTool);
    }
    let lower = name.to_lowercase();
    let alias = ALIASES.iter().find(|(names, _)| names.contains(&lower.as_str()));
    Ok(alias.map_or(ToolPattern::Named(lower), |(_, tool)| tool.clone()))
}

fn read_content(tool: &ToolPattern, content: &str) -> Result<Content, ShortRuleError> {
    match tool {
        ToolPattern::Shell => command(content).map(Content::Command),
        ToolPattern::Read | ToolPattern::Change => path(content),
        ToolPattern::Web => host(content).map(Content::Host),
        ToolPattern::Mcp { .. } | ToolPattern::Named(_) => Err(ShortRuleError::ContentOfOtherTool),
    }
}

/// `git push` is exactly that command, `git push:*` and `git push *` allow further words; any other `*` is any text.
fn command(content: &str) -> Result<CommandPattern, ShortRuleError> {
    let (words, goes_on) = words(content);
    if words.is_empty() {
        return Err(ShortRuleError::EmptyContent);
    }
    let (flags, plain): (Vec<&str>, Vec<&str>) = words.iter().partition(|word| word.starts_with('-'));
    let compile_words = |words: &[&str]| {
        let globs: Vec<String> = words.iter().map(|word| star_regex(word, ".*")).collect();
        let end = if goes_on { format!("(?:{SEPARATOR}.*)?") } else { String::new() };
        compile(&(globs.join(&SEPARATOR.to_string()) + &end))
    };
    let flags = flags.into_iter().map(str::to_owned).collect();
    Ok(CommandPattern { line: compile_words(&words)?, words: compile_words(&plain)?, flags, goes_on })
}

/// Returns the words of a command, and whether more words may follow.
fn words(content: &str) -> (Vec<&str>, bool) {
    let (words, goes_on) = match content.strip_suffix(":*").or_else(|| content.strip_suffix(" *")) {
        Some(words) => (words, true),
        None => (content, false),
    };
    (words.split_whitespace().collect(), goes_on)
}

/// `//etc/x` is an absolute path, `~/x` a path below the home, `x` or `./a/x` a path in any directory. Each includes
/// everything below it. `*` matches any text within a name, `**` any names.
fn path(content: &str) -> Result<Content, ShortRuleError> {
    if content.split('/').any(|name| name == "..") {
        return Err(ShortRuleError::ParentInPath);
    }
    let (from, path) = if let Some(rest) = content.strip_prefix("//") {
        (PathFrom::Root, format!("/{rest}"))
    } else if let Some(rest) = content.strip_prefix("~/") {
        (PathFrom::Home, rest.to_owned())
    } else if content.starts_with(['/', '~']) {
        return Err(ShortRuleError::PathBegin);
    } else {
        (PathFrom::Anywhere, content.strip_prefix("./").unwrap_or(content).to_owned())
    };
    // Every path includes everything below it anyway.
    let path = path.trim_end_matches("/**").trim_end_matches('/');
    let name_regex = |name: &str| if name == "**" { ANY_NAMES.to_owned() } else { star_regex(name, "[^/]*") };
    let names: Vec<String> = path.split('/').map(name_regex).collect();
    // `a/**/b` also matches `a/b`.
    let joined = names.join("/").replace(&format!("{ANY_NAMES}/"), "(?:.*/)?").replace(ANY_NAMES, ".*");
    let regex = compile(&format!("{joined}(?:/.*)?"))?;
    Ok(Content::Path(PathPattern { from, regex, glob: path.to_owned() }))
}

/// Placeholder for `**` while a path is built; no other regex here contains it.
const ANY_NAMES: &str = "(?:.*)";

fn host(content: &str) -> Result<HostPattern, ShortRuleError> {
    let name = content.strip_prefix("domain:").ok_or(ShortRuleError::NoDomain)?;
    let (name, is_domain) = name.strip_prefix("*.").map_or((name, false), |name| (name, true));
    if name.is_empty() || name.contains(['*', '/', ':', ' ']) {
        return Err(ShortRuleError::Host);
    }
    Ok(HostPattern { name: name.trim_end_matches('.').to_lowercase(), is_domain })
}

/// Converts a word with `*` to a regex; `?` and `[` are literal. `any` is the regex of the text that `*` matches.
pub(super) fn star_regex(word: &str, any: &str) -> String {
    word.split('*').map(regex::escape).collect::<Vec<_>>().join(any)
}

fn compile(regex: &str) -> Result<Regex, ShortRuleError> {
    Ok(Regex::new(&format!("(?s)^{regex}$"))?)
}
