//! Replaces the hooks of another program by castellan's in one text, so that a single write of the file leaves no moment
//! without a hook. This module must not know the other program: the caller tells its hooks by their command lines.

use super::entries::Tree;
use super::source::{Source, Spot};
use super::{HookCommand, SettingsProblem, byte_order_mark, our_argv, register};
use crate::agent::AgentId;

/// Removes the foreign hooks whose shown command (see [`super::Foreign`]) `is_theirs`, and adds castellan's hooks.
pub fn take_over(
    agent: AgentId,
    text: &str,
    hook: &HookCommand,
    is_theirs: impl Fn(&str) -> bool,
) -> Result<String, SettingsProblem> {
    let (mark, body) = byte_order_mark(text)?;
    let without = without_theirs(agent, body, &is_theirs)?;
    register(agent, &format!("{mark}{without}"), hook)
}

/// Removes the hooks one by one, from the last. A group that has other hooks too keeps them.
fn without_theirs(
    agent: AgentId,
    body: &str,
    is_theirs: &impl Fn(&str) -> bool,
) -> Result<String, SettingsProblem> {
    let mut body = body.to_owned();
    loop {
        let source = Source::parse(&body)?;
        let tree = Tree::of(&source)?;
        let entries = tree.entries();
        let theirs = entries
            .iter()
            .rfind(|entry| our_argv(agent, &entry.handler).is_none() && is_theirs(&entry.shown()));
        let Some(entry) = theirs else { return Ok(body) };
        let shorter = if entry.handlers.elements.len() > 1 {
            source.remove(&Spot::array(entry.handlers), entry.handler_index)
        } else {
            source.remove_with_brackets(&tree.way_to(entry))
        };
        body = shorter;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::inspect;

    fn commands(agent: AgentId, text: &str) -> (usize, Vec<String>) {
        let found = inspect(agent, text).unwrap();
        assert_eq!(found.missing, [""; 0], "{text}");
        (found.ours.len(), found.foreign.into_iter().map(|foreign| foreign.command).collect())
    }

    #[test]
    fn only_their_hooks_leave() {
        let hook = HookCommand { program: "/b/castellan-hook".to_owned(), home: "/h".to_owned() };
        let theirs = r#"{"type":"command","command":"/k/bin/x"}"#;
        let mine = r#"{"type":"command","command":"/mine"}"#;
        // A shown command is compared, so a hook that only has the words elsewhere stays.
        let near = r#"{"type":"command","command":"/mine /k/bin/x"}"#;
        let agent = AgentId::CLAUDE;
        for (handlers, left) in [
            (theirs.to_owned(), vec![]),
            (format!("{theirs},{mine}"), vec!["/mine"]),
            (format!("{mine},{theirs},{theirs}"), vec!["/mine"]),
            (format!("{near}, {theirs}"), vec!["/mine /k/bin/x"]),
            (mine.to_owned(), vec!["/mine"]),
        ] {
            for text in [
                format!(
                    r#"{{"model":"m","hooks":{{"PreToolUse":[{{"matcher":"","hooks":[{handlers}]}}]}}}}"#
                ),
                format!("\u{feff}{{\n  \"hooks\": {{\"PreToolUse\": [{{\"hooks\": [{handlers}]}}]}},\n}}\n"),
            ] {
                let taken = take_over(agent, &text, &hook, |command| command == "/k/bin/x").unwrap();
                let (ours, foreign) = commands(agent, &taken);
                assert!(ours > 0, "{taken}");
                assert_eq!(foreign, left, "{text}");
                assert_eq!(taken.contains("\"model\":\"m\""), text.contains("\"model\":\"m\""));
                let again = take_over(agent, &taken, &hook, |command| command == "/k/bin/x").unwrap();
                assert_eq!(again, taken);
            }
        }
    }

    #[test]
    fn a_text_that_cannot_be_read_is_an_error() {
        let hook = HookCommand { program: "/b/castellan-hook".to_owned(), home: "/h".to_owned() };
        for text in ["{", "[]", r#"{"hooks":1}"#] {
            assert!(take_over(AgentId::CLAUDE, text, &hook, |_| true).is_err(), "{text}");
        }
    }
}
