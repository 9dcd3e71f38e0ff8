//! Converts a short rule to the condition of a rule in the Falco language. Does not depend on the origin of the short
//! rule.
//!
//! A condition that denies or asks is wide: it matches the command as written, and its subcommand and arguments at any
//! place. A condition that allows is narrow: the command begins with exactly these words, or the whole path matches.

use crate::operator::error::ShortRuleError;
use crate::operator::pattern::{Content, HostPattern, Parts, PathFrom, Pattern, ToolPattern, star_regex};

/// Use of a condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// To deny or ask: fires on every spelling of the command or path.
    Wide,
    /// To allow: fires only on the exact command or path.
    Narrow,
}

/// The beginning of commands: for each place the possible words.
pub type Words = Vec<Vec<String>>;

/// POSIX white space and its complement, in patterns of the Falco language.
const S: &str = "[[:space:]]";
const N: &str = "[^[:space:]]";

/// Returns the condition for a short rule such as `Bash(git push:*)`.
pub fn short_condition(text: &str, reach: Reach) -> Result<String, ShortRuleError> {
    let pattern = Pattern::parse(text)?;
    match (&pattern.content, &pattern.parts) {
        (Content::Any, _) => tool(&pattern.tool, reach),
        (Content::Command(_), Parts::Command { words, goes_on }) => {
            let words: Words = words.iter().map(|word| vec![word.clone()]).collect();
            commands(&words, *goes_on, reach)
        }
        (Content::Path(path), Parts::Path(names)) => paths(&pattern.tool, path.from, names, reach),
        (Content::Host(host), _) => hosts(host, reach),
        (Content::Command(_) | Content::Path(_), _) => Err(ShortRuleError::NoCondition),
    }
}

/// Returns the condition for commands that begin with these words.
pub fn prefix_condition(words: &Words, reach: Reach) -> Result<String, ShortRuleError> {
    if words.is_empty() || words.iter().any(Vec::is_empty) {
        return Err(ShortRuleError::NoCommand);
    }
    commands(words, true, reach)
}

fn tool(tool: &ToolPattern, reach: Reach) -> Result<String, ShortRuleError> {
    Ok(match tool {
        // A condition that allows shell text must be true for each command in it.
        ToolPattern::Shell if reach == Reach::Narrow => "tool.name = Bash and cmd.name exists".to_owned(),
        ToolPattern::Shell => "tool.name = Bash".to_owned(),
        ToolPattern::Read => "tool.name in (Read, Glob, Grep, LS, NotebookRead)".to_owned(),
        ToolPattern::Change => "tool.name in (Write, Edit, MultiEdit, NotebookEdit, apply_patch)".to_owned(),
        ToolPattern::Web => "tool.name = WebFetch".to_owned(),
        ToolPattern::Mcp { server, tool: None } => {
            format!("tolower(mcp.server) = {}", quoted(&server.to_lowercase())?)
        }
        ToolPattern::Mcp { server, tool: Some(tool) } => format!(
            "tolower(mcp.server) = {} and tolower(mcp.tool) = {}",
            quoted(&server.to_lowercase())?,
            quoted(&tool.to_lowercase())?
        ),
        ToolPattern::Named(name) => {
            let name = quoted(name)?;
            format!("(tolower(tool.name) = {name} or tolower(tool.name_raw) = {name})")
        }
    })
}

fn commands(words: &Words, goes_on: bool, reach: Reach) -> Result<String, ShortRuleError> {
    let Some((names, rest)) = words.split_first() else {
        return Err(ShortRuleError::NoCommand);
    };
    let is_plain = !words.iter().flatten().any(|word| word.contains('*'));
    let line = line(words, goes_on, reach)?;
    match (reach, is_plain) {
        (Reach::Narrow, true) => {
            Ok(format!("{} and {line} and {}", one_of("cmd.name", names)?, no_other_effects()?))
        }
        (Reach::Narrow, false) => Ok(format!("{line} and {}", no_other_effects()?)),
        // A word with `*` is matched against the text.
        (Reach::Wide, false) => Ok(line),
        (Reach::Wide, true) => {
            let mut parts = parts(names, rest)?;
            if !goes_on {
                // In any spelling, the command has no more words.
                let more = format!("{S}*{N}+({S}+{N}+){{{}}}{S}*", rest.len());
                parts = format!("({parts}) and cmd.line regex {}", quoted(&more)?);
            }
            Ok(format!("({line} or ({parts}))"))
        }
    }
}

/// Requires that the words of a command describe all its effects: it reads only its files, and its output goes nowhere.
/// Redirects appear only in the text, so only redirects without input or stored output are permitted.
fn no_other_effects() -> Result<String, ShortRuleError> {
    const NOWHERE: &str = "(2>&1|> ?/dev/null)";
    let text = format!("[^<>]*({NOWHERE}[[:space:];|&)][^<>]*)*{NOWHERE}?");
    Ok(format!(
        "cmd.origin = text and not cmd.pipe_from exists and tool.input_command regex {}",
        quoted(&text)?
    ))
}

/// Matches the command as written.
fn line(words: &Words, goes_on: bool, reach: Reach) -> Result<String, ShortRuleError> {
    let alternatives = |words: &Vec<String>| {
        let globs: Vec<String> = words.iter().map(|word| star_regex(word, "(.|\\n)*")).collect();
        if let [one] = &globs[..] { one.clone() } else { format!("({})", globs.join("|")) }
    };
    let mut regex = words.iter().map(alternatives).collect::<Vec<_>>().join(&format!("{S}+"));
    if reach == Reach::Wide {
        regex.insert_str(0, &format!("{S}*({N}*/)?"));
    }
    regex.push_str(&if goes_on { format!("({S}(.|\\n)*)?") } else { format!("{S}*") });
    Ok(format!("cmd.line regex {}", quoted(&regex)?))
}

/// Matches the parsed command. Only the program knows the end of its subcommand, so every split of the words counts.
fn parts(names: &[String], rest: &[Vec<String>]) -> Result<String, ShortRuleError> {
    let name = one_of("cmd.name", names)?;
    let (flags, plain): (Vec<_>, Vec<_>) =
        rest.iter().partition(|words| words.iter().all(|word| word.starts_with('-')));
    let mut all = vec![name];
    for words in flags {
        let any: Result<Vec<String>, ShortRuleError> = words.iter().map(|flag| given(flag)).collect();
        all.push(format!("({})", any?.join(" or ")));
    }
    let mut ways = Vec::new();
    for end in 0..=plain.len() {
        let (subcommand, operands) = plain.split_at(end);
        let mut way = vec![subcommand_is(subcommand, operands.is_empty())?];
        for words in operands {
            let words: Result<Vec<String>, ShortRuleError> = words.iter().map(|word| quoted(word)).collect();
            way.push(format!("cmd.operands intersects ({})", words?.join(", ")));
        }
        ways.push(format!("({})", way.join(" and ")));
    }
    if !plain.is_empty() {
        all.push(format!("({})", ways.join(" or ")));
    }
    Ok(all.join(" and "))
}

/// `is_whole`: also matches a longer subcommand that begins with these words.
fn subcommand_is(words: &[&Vec<String>], is_whole: bool) -> Result<String, ShortRuleError> {
    if words.is_empty() {
        return Ok("not cmd.subcommand exists".to_owned());
    }
    let alternatives = |words: &&Vec<String>| {
        let plain: Vec<String> = words.iter().map(|word| star_regex(word, "")).collect();
        if let [one] = &plain[..] { one.clone() } else { format!("({})", plain.join("|")) }
    };
    let mut regex = words.iter().map(alternatives).collect::<Vec<_>>().join(" ");
    if is_whole {
        regex.push_str("( .*)?");
    }
    Ok(format!("cmd.subcommand regex {}", quoted(&regex)?))
}

/// Matches a flag, alone or in a cluster.
fn given(flag: &str) -> Result<String, ShortRuleError> {
    let letters = match flag.strip_prefix('-') {
        Some(letters) if !letters.starts_with('-') && letters.chars().count() > 1 => letters,
        _ => return Ok(format!("cmd.flags intersects ({})", quoted(flag)?)),
    };
    let each: Result<Vec<String>, ShortRuleError> = letters
        .chars()
        .map(|letter| Ok(format!("cmd.flags intersects ({})", quoted(&format!("-{letter}"))?)))
        .collect();
    Ok(format!("cmd.flags intersects ({}) or ({})", quoted(flag)?, each?.join(" and ")))
}

fn paths(tool: &ToolPattern, from: PathFrom, names: &str, reach: Reach) -> Result<String, ShortRuleError> {
    let kinds = match (tool, reach) {
        (ToolPattern::Read, Reach::Wide) => "fx.kind in (read, link)",
        (ToolPattern::Read, Reach::Narrow) => "tool.name != Bash and fx.kind = read",
        (_, Reach::Wide) => "fx.kind in (write, delete, link, permission)",
        // Only with the agent's own tools, because a command that reads a path may have other effects. A link would
        // give the target another name.
        (_, Reach::Narrow) => "tool.name != Bash and fx.kind in (write, delete, permission)",
    };
    let below = glob_path(names) + "(/(.|\\n)*)?";
    let anywhere = format!("((.|\\n)*/)?{below}");
    let is = |regex: &str| Ok::<_, ShortRuleError>(format!("fx.path regex {}", quoted(regex)?));
    let of_a_home = format!("fx.home_path regex {}", quoted(&format!("/{below}"))?);
    let meant = match (from, reach) {
        (PathFrom::Root, _) => is(&below)?,
        (PathFrom::Home, Reach::Wide) => of_a_home,
        (PathFrom::Home, Reach::Narrow) => format!("fx.place = home and {of_a_home}"),
        (PathFrom::Anywhere, Reach::Wide) => is(&anywhere)?,
        (PathFrom::Anywhere, Reach::Narrow) => {
            format!("fx.path startswith val(agent.real_cwd_prefix) and {}", is(&anywhere)?)
        }
    };
    // A tree includes its contents.
    let above = match (from, reach) {
        (PathFrom::Root, Reach::Wide) => Some(above(names)?),
        _ => None,
    };
    Ok(match above {
        Some(above) => format!("{kinds} and ({meant} or (fx.recursive = true and fx.path in ({above})))"),
        None => format!("{kinds} and {meant}"),
    })
}

/// The known directories above a path.
fn above(names: &str) -> Result<String, ShortRuleError> {
    let mut all = vec![quoted("/")?];
    let mut path = String::new();
    let mut parts: Vec<&str> = names.split('/').filter(|name| !name.is_empty()).collect();
    parts.pop();
    for name in parts.into_iter().take_while(|name| !name.contains('*')) {
        path = format!("{path}/{name}");
        all.push(quoted(&path)?);
    }
    Ok(all.join(", "))
}

fn hosts(host: &HostPattern, reach: Reach) -> Result<String, ShortRuleError> {
    let (name, below) = (quoted(&host.name)?, quoted(&format!(".{}", host.name))?);
    Ok(match (reach, host.is_domain) {
        (Reach::Wide, _) => format!("(tolower(fx.host) = {name} or tolower(fx.host) endswith {below})"),
        (Reach::Narrow, true) => format!(
            "tool.name != Bash and fx.kind in (connect, download) and (tolower(fx.host) = {name} or tolower(fx.host) endswith {below})"
        ),
        (Reach::Narrow, false) => {
            format!("tool.name != Bash and fx.kind in (connect, download) and tolower(fx.host) = {name}")
        }
    })
}

fn one_of(field: &str, words: &[String]) -> Result<String, ShortRuleError> {
    let quoted: Result<Vec<String>, ShortRuleError> = words.iter().map(|word| quoted(word)).collect();
    let quoted = quoted?;
    Ok(match &quoted[..] {
        [one] => format!("{field} = {one}"),
        several => format!("{field} in ({})", several.join(", ")),
    })
}

/// Converts a path with `*` for text within a name and `**` for any names.
fn glob_path(names: &str) -> String {
    let within = |name: &str| star_regex(name, "[^/]*");
    let mut regex = String::new();
    for (at, name) in names.split('/').enumerate() {
        let is_last = at + 1 == names.split('/').count();
        match name {
            "**" if is_last => regex.push_str("(.|\\n)*"),
            "**" => regex.push_str("((.|\\n)*/)?"),
            name => {
                regex.push_str(&within(name));
                if !is_last {
                    regex.push('/');
                }
            }
        }
    }
    regex
}

/// Quotes a text as a constant of a condition.
pub fn quoted(text: &str) -> Result<String, ShortRuleError> {
    if text.chars().any(char::is_control) {
        return Err(ShortRuleError::ControlCharacter);
    }
    // A quote after a backslash never ends the text, even after two (Falco 0.43).
    if text.ends_with('\\') {
        return Err(ShortRuleError::BackslashAtEnd);
    }
    Ok(format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"")))
}
