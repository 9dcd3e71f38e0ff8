//! An agent's own judge of intent: a model that the agent asks whether its user meant a call. This module reports where there
//! is one, and encodes a text for it. It must not know what the text says.

use serde_json::{Value as Json, json};
use toml_edit::{DocumentMut, TableLike};

use crate::agent::AgentId;
use crate::hook_files::TRUST_FILE;
use crate::limits::JUDGE_CONTEXT_UNITS_MAX;
use crate::reply::{Reply, capped, json_reply};

/// Reports whether the agent asks its own judge in this permission mode, or by its command line. Words after `--` are a
/// prompt. Unknown arguments (`None`) may switch the judge on.
pub fn judges_intent<A: AsRef<[u8]>>(agent: AgentId, permission_mode: &str, arguments: Option<&[A]>) -> bool {
    let judge = &agent.spec().judge;
    let is_switch = |word: &[u8]| {
        let is_option = judge.options.iter().any(|option| option.as_bytes() == word);
        // A key of the configuration: `-c approvals_reviewer=auto_review`, also joined to its option.
        let text = String::from_utf8_lossy(word);
        is_option || judge.setting.is_some_and(|(key, value)| text.contains(key) && text.contains(value))
    };
    let is_said = |arguments: &[A]| {
        let mut words = arguments.iter().map(AsRef::as_ref).take_while(|word| *word != b"--");
        words.any(is_switch)
    };
    judge.modes.contains(&permission_mode) || (!judge.options.is_empty() && arguments.is_none_or(is_said))
}

/// Returns the file, below the agent's own directory, that can switch its judge on.
pub fn judge_setting_file(agent: AgentId) -> Option<&'static str> {
    agent.spec().judge.setting.map(|_| TRUST_FILE)
}

/// Reports whether a configuration switches the agent's judge on, itself or in a profile. True for a text that is no TOML:
/// the agent may read it otherwise.
pub fn config_judges_intent(agent: AgentId, text: &str) -> bool {
    let Some((key, value)) = agent.spec().judge.setting else { return false };
    let Ok(config) = text.parse::<DocumentMut>() else { return true };
    let is_set = |table: &dyn TableLike| table.get(key).and_then(|item| item.as_str()) == Some(value);
    let profiles = config.get("profiles").and_then(|item| item.as_table_like());
    let mut profiles = profiles.into_iter().flat_map(TableLike::iter);
    is_set(config.as_table()) || profiles.any(|(_, one)| one.as_table_like().is_some_and(is_set))
}

/// Encodes a text for the agent's judge, at the event whose answer reaches it. Other answers are empty, like an empty
/// text's. A text over the limit is cut.
pub fn encode_judge_context(agent: AgentId, event: &str, text: &str) -> Reply {
    let context = agent.spec().judge.context.filter(|(of, _)| *of == event && !text.trim().is_empty());
    json_reply(context.map(|(_, key)| {
        let mut specific = json!({ "hookEventName": event });
        if let Some(fields) = specific.as_object_mut() {
            fields.insert(key.to_owned(), Json::from(capped(text, JUDGE_CONTEXT_UNITS_MAX)));
        }
        json!({ "hookSpecificOutput": specific })
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_judge_is_known_by_mode_command_line_or_configuration() {
        let check = |agent: AgentId, mode: &str, words: &str, expected: bool| {
            let words: Vec<&str> = words.split(' ').collect();
            assert_eq!(judges_intent(agent, mode, Some(&words)), expected, "{agent:?} {mode} {words:?}");
        };
        check(AgentId::CLAUDE, "auto", "claude", true);
        check(AgentId::CLAUDE, "default", "claude --permission-mode auto", false);
        check(AgentId::CODEX, "default", "codex --approve-for-me go", true);
        check(AgentId::CODEX, "default", "codex -- --approve-for-me", false);
        check(AgentId::CODEX, "default", "codex -c approvals_reviewer=\"auto_review\"", true);
        check(AgentId::CODEX, "default", "codex --config=approvals_reviewer=auto_review", true);
        check(AgentId::CODEX, "default", "codex -c approvals_reviewer=user", false);
        check(AgentId::CODEX, "auto", "codex go", false);
        check(AgentId::GEMINI, "auto", "gemini", false);
        assert!(judges_intent::<&str>(AgentId::CODEX, "default", None));
        assert!(!judges_intent::<&str>(AgentId::QWEN, "auto", None));
        let config = |text: &str| config_judges_intent(AgentId::CODEX, text);
        assert!(config("approvals_reviewer = \"auto_review\"\n"));
        assert!(config("[profiles.a]\napprovals_reviewer = 'auto_review'\n"));
        assert!(config("= no TOML"));
        assert!(!config("# approvals_reviewer = \"auto_review\"\napprovals_reviewer = \"user\"\n"));
        assert!(!config(""));
        assert!(!config_judges_intent(AgentId::CLAUDE, "= no TOML"));
    }

    #[test]
    fn a_text_for_the_judge_is_sent_only_where_the_judge_reads_it() {
        let sent = |agent, event, text: &str| {
            let reply = encode_judge_context(agent, event, text);
            assert_eq!((reply.exit, reply.stderr.as_slice()), (0, b"".as_slice()));
            String::from_utf8(reply.stdout).unwrap()
        };
        let expected =
            r#"{"hookSpecificOutput":{"hookEventName":"PostToolUse","classifierContext":"a \"b\""}}"#;
        assert_eq!(sent(AgentId::CLAUDE, "PostToolUse", "a \"b\""), expected);
        for event in ["PreToolUse", "PermissionRequest", "PostToolUseFailure", "UserPromptSubmit", ""] {
            assert_eq!(sent(AgentId::CLAUDE, event, "a"), "", "{event}");
        }
        assert_eq!(sent(AgentId::CLAUDE, "PostToolUse", " "), "");
        for agent in [AgentId::CODEX, AgentId::GEMINI, AgentId::QWEN] {
            for event in ["PreToolUse", "PostToolUse", "AfterTool"] {
                assert_eq!(sent(agent, event, "a"), "", "{agent:?} {event}");
            }
        }
        let long = sent(AgentId::CLAUDE, "PostToolUse", &"😀".repeat(JUDGE_CONTEXT_UNITS_MAX));
        let long: Json = serde_json::from_str(&long).unwrap();
        let long = long.pointer("/hookSpecificOutput/classifierContext").unwrap().as_str().unwrap();
        assert!(long.encode_utf16().count() <= JUDGE_CONTEXT_UNITS_MAX && long.ends_with("[...]"));
    }
}
