//! A short rule as the condition of a rule in the Falco language, for whoever moves from one to the other. It must not know where the
//! short rule came from.
//!
//! What denies or asks is read generously: the command as it is written, and by its subcommand and arguments wherever they stand. What
//! allows is read narrowly: the command begins with exactly these words, or the whole path is meant.

use crate::operator::pattern::{Content, HostPattern, Parts, PathFrom, Pattern, ToolPattern};

/// What a condition is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// To deny or ask: it fires on every way to write what is meant.
    Wide,
    /// To allow: it fires on what is meant and on nothing else.
    Narrow,
}

/// The beginning of commands: for each place the words that may stand there.
pub type Words = Vec<Vec<String>>;

/// White space, and what is none, in the patterns of the Falco language: POSIX's.
const S: &str = "[[:space:]]";
const N: &str = "[^[:space:]]";

/// The condition that a short rule such as `Bash(git push:*)` stands for. The error says what is wrong with it, or why no condition
/// says the same.
pub fn short_condition(text: &str, reach: Reach) -> Result<String, String> {
    let pattern = Pattern::parse(text)?;
    match (&pattern.content, &pattern.parts) {
        (Content::Any, _) => tool(&pattern.tool, reach),
        (Content::Command(_), Parts::Command { words, goes_on }) => {
            let words: Words = words.iter().map(|word| vec![word.clone()]).collect();
            commands(&words, *goes_on, reach)
        }
        (Content::Path(path), Parts::Path(names)) => paths(&pattern.tool, path.from, names, reach),
        (Content::Host(host), _) => hosts(host, reach),
        (Content::Command(_) | Content::Path(_), _) => Err("it cannot be taken apart".to_owned()),
    }
}

/// The condition of commands that begin with these words.
pub fn prefix_condition(words: &Words, reach: Reach) -> Result<String, String> {
    if words.is_empty() || words.iter().any(Vec::is_empty) {
        return Err("it names no command".to_owned());
    }
    commands(words, true, reach)
}

fn tool(tool: &ToolPattern, reach: Reach) -> Result<String, String> {
    Ok(match tool {
        // What allows shell text has to be true of each command in it.
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

fn commands(words: &Words, goes_on: bool, reach: Reach) -> Result<String, String> {
    let Some((names, rest)) = words.split_first() else { return Err("it names no command".to_owned()) };
    let is_plain = !words.iter().flatten().any(|word| word.contains('*'));
    let line = line(words, goes_on, reach)?;
    match (reach, is_plain) {
        (Reach::Narrow, true) => Ok(format!("{} and {line} and {}", one_of("cmd.name", names)?, said()?)),
        (Reach::Narrow, false) => Ok(format!("{line} and {}", said()?)),
        // What stands for any text is compared with the text.
        (Reach::Wide, false) => Ok(line),
        (Reach::Wide, true) => {
            let mut parts = parts(names, rest)?;
            if !goes_on {
                // However it is written, it has no more words.
                let more = format!("{S}*{N}+({S}+{N}+){{{}}}{S}*", rest.len());
                parts = format!("({parts}) and cmd.line regex {}", quoted(&more)?);
            }
            Ok(format!("({line} or ({parts}))"))
        }
    }
}

/// The words of a command say all about it: it reads nothing but its files, and what it says goes nowhere. Redirects stand in the
/// text alone, so none may be there but those that neither give nor keep anything.
fn said() -> Result<String, String> {
    const NOWHERE: &str = "(2>&1|> ?/dev/null)";
    let text = format!("[^<>]*({NOWHERE}[[:space:];|&)][^<>]*)*{NOWHERE}?");
    Ok(format!(
        "cmd.origin = text and not cmd.pipe_from exists and tool.input_command regex {}",
        quoted(&text)?
    ))
}

/// The command as it is written.
fn line(words: &Words, goes_on: bool, reach: Reach) -> Result<String, String> {
    let alternatives = |words: &Vec<String>| {
        let globs: Vec<String> = words.iter().map(|word| glob(word, "(.|\\n)*")).collect();
        if let [one] = &globs[..] { one.clone() } else { format!("({})", globs.join("|")) }
    };
    let mut regex = words.iter().map(alternatives).collect::<Vec<_>>().join(&format!("{S}+"));
    if reach == Reach::Wide {
        regex.insert_str(0, &format!("{S}*({N}*/)?"));
    }
    regex.push_str(&if goes_on { format!("({S}(.|\\n)*)?") } else { format!("{S}*") });
    Ok(format!("cmd.line regex {}", quoted(&regex)?))
}

/// The command as its program reads it: where its subcommand ends is the program's to say, so each way to part the words counts.
fn parts(names: &[String], rest: &[Vec<String>]) -> Result<String, String> {
    let name = one_of("cmd.name", names)?;
    let (flags, plain): (Vec<_>, Vec<_>) =
        rest.iter().partition(|words| words.iter().all(|word| word.starts_with('-')));
    let mut all = vec![name];
    for words in flags {
        let any: Result<Vec<String>, String> = words.iter().map(|flag| given(flag)).collect();
        all.push(format!("({})", any?.join(" or ")));
    }
    let mut ways = Vec::new();
    for end in 0..=plain.len() {
        let (subcommand, operands) = plain.split_at(end);
        let mut way = vec![subcommand_is(subcommand, operands.is_empty())?];
        for words in operands {
            let words: Result<Vec<String>, String> = words.iter().map(|word| quoted(word)).collect();
            way.push(format!("cmd.operands intersects ({})", words?.join(", ")));
        }
        ways.push(format!("({})", way.join(" and ")));
    }
    if !plain.is_empty() {
        all.push(format!("({})", ways.join(" or ")));
    }
    Ok(all.join(" and "))
}

/// `is_whole`: a longer one begins with these words, too.
fn subcommand_is(words: &[&Vec<String>], is_whole: bool) -> Result<String, String> {
    if words.is_empty() {
        return Ok("not cmd.subcommand exists".to_owned());
    }
    let alternatives = |words: &&Vec<String>| {
        let plain: Vec<String> = words.iter().map(|word| glob(word, "")).collect();
        if let [one] = &plain[..] { one.clone() } else { format!("({})", plain.join("|")) }
    };
    let mut regex = words.iter().map(alternatives).collect::<Vec<_>>().join(" ");
    if is_whole {
        regex.push_str("( .*)?");
    }
    Ok(format!("cmd.subcommand regex {}", quoted(&regex)?))
}

/// A flag, alone or among others.
fn given(flag: &str) -> Result<String, String> {
    let letters = match flag.strip_prefix('-') {
        Some(letters) if !letters.starts_with('-') && letters.chars().count() > 1 => letters,
        _ => return Ok(format!("cmd.flags intersects ({})", quoted(flag)?)),
    };
    let each: Result<Vec<String>, String> = letters
        .chars()
        .map(|letter| Ok(format!("cmd.flags intersects ({})", quoted(&format!("-{letter}"))?)))
        .collect();
    Ok(format!("cmd.flags intersects ({}) or ({})", quoted(flag)?, each?.join(" and ")))
}

fn paths(tool: &ToolPattern, from: PathFrom, names: &str, reach: Reach) -> Result<String, String> {
    let kinds = match (tool, reach) {
        (ToolPattern::Read, Reach::Wide) => "fx.kind in (read, link)",
        (ToolPattern::Read, Reach::Narrow) => "tool.name != Bash and fx.kind = read",
        (_, Reach::Wide) => "fx.kind in (write, delete, link, permission)",
        // By the agent's own tools: what else a command does that reads a path, the path does not say. A link gives what it leads to another name.
        (_, Reach::Narrow) => "tool.name != Bash and fx.kind in (write, delete, permission)",
    };
    let below = glob_path(names) + "(/(.|\\n)*)?";
    let anywhere = format!("((.|\\n)*/)?{below}");
    let is = |regex: &str| Ok::<_, String>(format!("fx.path regex {}", quoted(regex)?));
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
    // A tree is meant with what lies in it.
    let above = match (from, reach) {
        (PathFrom::Root, Reach::Wide) => above(names)?,
        _ => None,
    };
    Ok(match above {
        Some(above) => format!("{kinds} and ({meant} or (fx.recursive = true and fx.path in ({above})))"),
        None => format!("{kinds} and {meant}"),
    })
}

/// The directories above a path, as far as they are known.
fn above(names: &str) -> Result<Option<String>, String> {
    let mut all = vec![quoted("/")?];
    let mut path = String::new();
    let mut parts: Vec<&str> = names.split('/').filter(|name| !name.is_empty()).collect();
    parts.pop();
    for name in parts.into_iter().take_while(|name| !name.contains('*')) {
        path = format!("{path}/{name}");
        all.push(quoted(&path)?);
    }
    Ok(Some(all.join(", ")))
}

fn hosts(host: &HostPattern, reach: Reach) -> Result<String, String> {
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

fn one_of(field: &str, words: &[String]) -> Result<String, String> {
    let quoted: Result<Vec<String>, String> = words.iter().map(|word| quoted(word)).collect();
    let quoted = quoted?;
    Ok(match &quoted[..] {
        [one] => format!("{field} = {one}"),
        several => format!("{field} in ({})", several.join(", ")),
    })
}

/// A path with `*` for text within a name, and `**` for any names.
fn glob_path(names: &str) -> String {
    let within = |name: &str| glob(name, "[^/]*");
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

fn glob(word: &str, any: &str) -> String {
    word.split('*').map(regex::escape).collect::<Vec<_>>().join(any)
}

/// As a constant of a condition.
pub fn quoted(text: &str) -> Result<String, String> {
    if text.chars().any(char::is_control) {
        return Err("a control character stands in it".to_owned());
    }
    // A quote after a backslash never ends the text, even after two (Falco 0.43).
    if text.ends_with('\\') {
        return Err("it ends in a `\\`, which no text of a condition can".to_owned());
    }
    Ok(format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"")))
}
