//! castellan's status line in Claude Code's user settings: text → text. A status line of somebody else stays as it is. This
//! module must not know what the line shows.

use jsonc_parser::ast::Object;
use serde_json::{Value as Json, json};

use crate::agent::AgentId;
use crate::settings::{SettingsProblem, Source, Spot, byte_order_mark};
use crate::shell_words::{join, split};

const KEY: &str = "statusLine";

/// The last words of castellan's own command.
const WORDS: [&str; 2] = ["status", "--line"];

/// The status line that settings have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StatusLine {
    /// None.
    Absent,
    /// castellan's, with any program path and home.
    Ours,
    /// Another one, which castellan never changes.
    Others,
}

/// Reports whether the agent has a status line that a command writes.
pub fn has_status_line(agent: AgentId) -> bool {
    agent == AgentId::CLAUDE
}

/// Returns the command of castellan's status line.
pub fn status_line_command(program: &str, home: Option<&str>) -> String {
    let home = home.into_iter().flat_map(|home| ["--home", home]);
    join(std::iter::once(program).chain(home).chain(WORDS))
}

/// Returns the status line in settings.
pub fn status_line(text: &str) -> Result<StatusLine, SettingsProblem> {
    let (_, body) = byte_order_mark(text)?;
    let source = Source::parse(body)?;
    Ok(source.root.as_ref().and_then(|root| root.as_object()).map_or(StatusLine::Absent, found))
}

/// Adds castellan's status line with this command, in the place of an older one of castellan's. `None` if the settings have
/// another one.
pub fn add_status_line(text: &str, command: &str) -> Result<Option<String>, SettingsProblem> {
    if status_line(text)? == StatusLine::Others {
        return Ok(None);
    }
    let line = json!({ "type": "command", "command": command });
    let (_, body) = byte_order_mark(text)?;
    let source = Source::parse(body)?;
    let object = source.root.as_ref().and_then(|root| root.as_object());
    if object.is_some_and(|object| values(object).any(|value| value == line)) {
        return Ok(Some(text.to_owned()));
    }
    let without = remove_status_line(text)?;
    let (mark, body) = byte_order_mark(&without)?;
    let source = Source::parse(body)?;
    let added = match &source.root {
        None => source.insert_root(&json!({ KEY: line })),
        Some(root) => {
            let object = root.as_object().ok_or_else(|| SettingsProblem::WrongShape {
                path: String::new(),
                expected: "an object".to_owned(),
            })?;
            source.insert(&Spot::object(object), KEY, &line)
        }
    };
    Ok(Some(format!("{mark}{added}")))
}

/// Removes castellan's status line, if there is one.
pub fn remove_status_line(text: &str) -> Result<String, SettingsProblem> {
    let (mark, body) = byte_order_mark(text)?;
    let source = Source::parse(body)?;
    let Some(object) = source.root.as_ref().and_then(|root| root.as_object()) else {
        return Ok(text.to_owned());
    };
    let index = object.properties.iter().position(|property| property.name.as_str() == KEY);
    Ok(match (found(object), index) {
        (StatusLine::Ours, Some(index)) => {
            format!("{mark}{}", source.remove_with_brackets(&[(Spot::object(object), index)]))
        }
        (StatusLine::Ours | StatusLine::Absent | StatusLine::Others, _) => text.to_owned(),
    })
}

/// Returns the status line of an object. A repeated key is somebody else's.
fn found(object: &Object<'_>) -> StatusLine {
    let values: Vec<Json> = values(object).collect();
    match values.as_slice() {
        [] => StatusLine::Absent,
        [line] if is_ours(line) => StatusLine::Ours,
        [..] => StatusLine::Others,
    }
}

fn values<'a>(object: &'a Object<'_>) -> impl Iterator<Item = Json> + 'a {
    let ours = object.properties.iter().filter(|property| property.name.as_str() == KEY);
    ours.map(|property| Json::from(property.value.clone()))
}

fn is_ours(line: &Json) -> bool {
    let command = line.get("command").and_then(Json::as_str).and_then(split).unwrap_or_default();
    let program = command.first().and_then(|program| program.rsplit('/').next());
    let has_more = line.as_object().is_none_or(|line| line.len() != 2);
    program == Some("castellan") && command.ends_with(&WORDS.map(str::to_owned)) && !has_more
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMMAND: &str = "'/opt/my bin/castellan' --home /h status --line";

    #[test]
    fn it_is_added_and_removed_without_a_trace() {
        for text in [
            "",
            "{}",
            "{\n}\n",
            "{\"a\": 1}",
            "{\n    \"a\": 1\n}\n",
            "{\n  \"a\": 1, // mine\n}\r\n",
            "// mine\n{\"hooks\": {}}",
            "\u{feff}{\"a\": 1}",
        ] {
            let added = add_status_line(text, COMMAND).unwrap().unwrap();
            assert_eq!(status_line(&added), Ok(StatusLine::Ours), "{added}");
            assert_eq!(add_status_line(&added, COMMAND).unwrap().as_ref(), Some(&added));
            let moved = add_status_line(&added, "/x/castellan status --line").unwrap().unwrap();
            assert!(moved.contains("/x/castellan") && !moved.contains("/opt"), "{moved}");
            assert_eq!(remove_status_line(&added).unwrap(), text, "{added}");
        }
    }

    #[test]
    fn its_command_is_known_again() {
        for (program, home) in [("/b/castellan", None), ("/my b/castellan", Some("/it's h"))] {
            let command = status_line_command(program, home);
            let added = add_status_line("", &command).unwrap().unwrap();
            assert_eq!(status_line(&added), Ok(StatusLine::Ours), "{command}");
        }
    }

    #[test]
    fn one_of_somebody_else_stays() {
        for line in [
            r#""statusLine": {"type": "command", "command": "~/line.sh"}"#,
            r#""statusLine": {"type": "command", "command": "cat; castellan status --line"}"#,
            r#""statusLine": {"type": "command", "command": "castellan status --line", "padding": 0}"#,
            r#""statusLine": {"type": "command", "command": "castellan status --line; x"}"#,
            r#""statusLine": null"#,
            r#""statusLine": {"type":"command","command":"castellan status --line"}, "statusLine": 1"#,
        ] {
            let text = format!("{{{line}}}");
            assert_eq!(status_line(&text), Ok(StatusLine::Others), "{text}");
            assert_eq!(add_status_line(&text, COMMAND), Ok(None), "{text}");
            assert_eq!(remove_status_line(&text).as_ref(), Ok(&text));
        }
        assert!(add_status_line("[]", COMMAND).is_err() && add_status_line("{", COMMAND).is_err());
    }
}
