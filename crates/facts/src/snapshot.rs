//! Definitions of the agent's shell before a command runs. Claude Code 2.1.330 first sources a snapshot of the user's
//! aliases and functions. This module knows the snapshot's format and not the use of the definitions.

use std::sync::{Arc, Mutex, PoisonError};

use castellan_agents::{AgentId, directory_name, settings_variable, shell_snapshots};
use castellan_event::{Answer, Call, Query, Why};

use crate::scene::Scene;

/// Aliases and functions, in the form of [`castellan_shell::Start`].
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Definitions {
    pub(crate) aliases: Vec<(String, String)>,
    pub(crate) functions: Vec<(String, String)>,
}

/// Returns the definitions of the newest snapshot of any session; empty without a snapshot. An error if a snapshot may
/// exist and cannot be read.
pub(crate) fn newest_definitions(
    call: &Call,
    scene: &mut Scene<'_, '_, '_>,
) -> Result<Arc<Definitions>, Why> {
    let agent = AgentId::named(&call.agent.name);
    let Some((agent, snapshots)) = agent.and_then(|agent| Some((agent, shell_snapshots(agent)?))) else {
        return Ok(Arc::default());
    };
    let configured = scene.session.process.as_ref().and_then(|process| process.var(settings_variable(agent)));
    let folder = match configured {
        Some(folder) => folder.to_owned(),
        None if scene.session.places.home().is_empty() => return Ok(Arc::default()),
        None => format!("{}/{}", scene.session.places.home(), directory_name(agent)),
    };
    if !folder.starts_with('/') {
        return Ok(Arc::default());
    }
    let query = Query::Newest {
        directory: format!("{folder}/{}", snapshots.folder),
        prefix: snapshots.prefix.to_owned(),
        suffix: snapshots.suffix.to_owned(),
    };
    let path = match scene.world.ask(query) {
        Some(Answer::Newest(Some(path))) => path,
        Some(Answer::Newest(None)) => return Ok(Arc::default()),
        _ => return Err(Why::Unreadable),
    };
    match scene.world.ask(Query::Contents { path }) {
        Some(Answer::Contents(Some(bytes))) => read(bytes),
        _ => Err(Why::Unreadable),
    }
}

/// The last parsed snapshot. A session has one, and parsing a user's functions takes longer than the rest of a call.
static LAST: Mutex<Option<Snapshot>> = Mutex::new(None);

#[derive(Clone)]
struct Snapshot {
    bytes: Arc<[u8]>,
    found: Result<Arc<Definitions>, Why>,
}

/// Parses a snapshot, unless its bytes equal the last one. The result depends on the bytes alone.
fn read(bytes: Vec<u8>) -> Result<Arc<Definitions>, Why> {
    let last = || LAST.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(last) = last().clone().filter(|last| *last.bytes == *bytes) {
        return last.found;
    }
    let found = str::from_utf8(&bytes).map_err(|_| Why::Encoding).and_then(definitions).map(Arc::new);
    *last() = Some(Snapshot { bytes: bytes.into(), found: found.clone() });
    found
}

/// Parses `alias -- NAME='VALUE'`, `eval $'NAME () \n{ \nBODY\n}' > ...` of bash's snapshots, and `NAME () {`, lines
/// and `}` of zsh's. Claude Code's own functions begin with `function` and are ignored: they replace the user's `find`,
/// `grep` and `rg`, guard `pkill`, and do what their names promise. A definition that does not parse is an error.
fn definitions(text: &str) -> Result<Definitions, Why> {
    let mut found = Definitions::default();
    let mut rest = text;
    while !rest.is_empty() {
        let line = rest.split_once('\n').map_or(rest, |(line, _)| line);
        if let Some(alias) = rest.strip_prefix("alias ") {
            found.aliases.push(alias_of(alias).ok_or(Why::Syntax)?);
        } else if let Some(code) = rest.strip_prefix("eval ") {
            let code = code.strip_prefix("$'").and_then(unescaped).ok_or(Why::Syntax)?;
            found.functions.push(function(&code).ok_or(Why::Syntax)?);
        } else if !line.starts_with([' ', '\t', '#']) && line.ends_with(" () {") {
            let (code, _) = rest.split_once("\n}").ok_or(Why::Syntax)?;
            found.functions.push(function(&format!("{code}\n}}")).ok_or(Why::Syntax)?);
        }
        rest = rest.split_once('\n').map_or("", |(_, rest)| rest);
    }
    Ok(found)
}

/// `-- NAME='VALUE'`.
fn alias_of(alias: &str) -> Option<(String, String)> {
    let (name, value) = alias.strip_prefix("-- ")?.split_once('=')?;
    Some((name.to_owned(), unquoted(value)?))
}

/// Parses `NAME () \n{ \nBODY\n}` into the name and the body.
fn function(code: &str) -> Option<(String, String)> {
    let (name, rest) = code.split_once("()")?;
    let body = rest.trim().strip_prefix('{')?.strip_suffix('}')?;
    Some((name.trim().to_owned(), body.to_owned()))
}

/// Unquotes a word of quoted and unquoted parts: `'it'\''s'`.
fn unquoted(text: &str) -> Option<String> {
    let mut value = String::new();
    let mut chars = text.chars();
    let mut in_quotes = false;
    while let Some(c) = chars.next() {
        match c {
            '\'' => in_quotes = !in_quotes,
            _ if in_quotes => value.push(c),
            '\\' => value.push(chars.next()?),
            '\n' | ' ' => break,
            c => value.push(c),
        }
    }
    (!in_quotes).then_some(value)
}

/// Unescapes the text up to the closing quote of `$'`, with the escapes of bash's `%q`.
fn unescaped(text: &str) -> Option<String> {
    let mut bytes: Vec<u8> = Vec::new();
    let mut chars = text.chars().peekable();
    loop {
        match chars.next()? {
            '\'' => return String::from_utf8(bytes).ok(),
            '\\' => match chars.next()? {
                'n' => bytes.push(b'\n'),
                't' => bytes.push(b'\t'),
                'r' => bytes.push(b'\r'),
                'a' => bytes.push(7),
                'b' => bytes.push(8),
                'f' => bytes.push(12),
                'v' => bytes.push(11),
                'E' | 'e' => bytes.push(27),
                digit @ '0'..='7' => {
                    let mut value = digit.to_digit(8)?;
                    for _ in 0..2 {
                        let Some(next) = chars.peek().and_then(|c| c.to_digit(8)) else { break };
                        value = value * 8 + next;
                        chars.next();
                    }
                    bytes.push(u8::try_from(value).ok()?);
                }
                other => bytes.extend(other.encode_utf8(&mut [0; 4]).bytes()),
            },
            c => bytes.extend(c.encode_utf8(&mut [0; 4]).bytes()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A snapshot that Claude Code 2.1.330 wrote for a `.bashrc`, shortened.
    const SNAPSHOT: &str = r#"# Snapshot file
unalias -a 2>/dev/null || true
shopt -s globstar
# Functions
eval $'greet () \n{ \n    echo hi;\n    echo "it\'s\t\303\244";\n}' > /dev/null 2>&1
eval $'rm () \n{ \n    command rm -i "$@"\n}' > /dev/null 2>&1
# Aliases
alias -- gs='git status'
alias -- q='echo '\''it'\''\'\'''\''s'\'''
if ! hash rg 2>/dev/null && ! typeset -f rg >/dev/null 2>&1; then
  function rg {
  else command rg ${1+"$@"}; fi
}
fi
function grep {
  (exec -a ugrep /opt/claude -G ${1+"$@"})
}
"#;

    #[test]
    fn definitions_of_the_user_are_read() {
        let found = definitions(SNAPSHOT).unwrap();
        let shown = |list: &[(String, String)]| -> Vec<String> {
            list.iter().map(|(name, text)| format!("{name}: {}", text.trim())).collect()
        };
        assert_eq!(shown(&found.aliases), ["gs: git status", r"q: echo 'it'\''s'"]);
        let greet = "greet: echo hi;\n    echo \"it's\tä\";";
        assert_eq!(shown(&found.functions), [greet, "rm: command rm -i \"$@\""]);
    }

    #[test]
    fn functions_of_zsh_are_read() {
        let found = definitions("# Functions\nrm () {\n\tcommand rm -i \"$@\"\n}\nalias -- l=ls\n").unwrap();
        assert_eq!(found.functions, [("rm".to_owned(), "\n\tcommand rm -i \"$@\"\n".to_owned())]);
        assert_eq!(found.aliases, [("l".to_owned(), "ls".to_owned())]);
    }

    #[test]
    fn what_is_remembered_is_what_was_read() {
        let texts = [SNAPSHOT, "alias -- x='open", "", &SNAPSHOT.replace("hi", "ho"), SNAPSHOT, SNAPSHOT];
        for text in texts {
            assert_eq!(read(text.into()).as_deref(), definitions(text).as_ref(), "{text}");
        }
        assert_eq!(read(b"alias -- x='\xff'".to_vec()), Err(Why::Encoding));
    }

    #[test]
    fn what_is_not_understood_is_not_left_out() {
        for text in
            ["alias -- x='open", "alias x=y", "eval $'rm () {", "eval \"$(x)\"", "eval $'x'", "rm () {\n"]
        {
            assert_eq!(definitions(text), Err(Why::Syntax), "{text}");
        }
        assert_eq!(definitions(""), Ok(Definitions::default()));
    }
}
