//! [`encode`] and [`encode_failure`]: convert a verdict to the agent's bytes and exit code. [`is_denial`] and
//! [`is_deferral`] convert back. `claude.rs`, `codex.rs` and `gemini.rs` hold each agent's format. This module must not
//! know the reasons for a verdict.

use castellan_event::{Verdict, is_invisible};
use serde_json::Value as Json;

use crate::agent::AgentId;
use crate::asks::can_ask;
use crate::failure::Form;
use crate::family::{claude, codex, gemini};
use crate::limits::{REASON_UNITS_MAX, STDERR_UNITS_MAX};
use crate::payload::{Malformed, Stranger};
use crate::rewrite::takes_rewrite;
use crate::spec::{EventKind, ReplyFamily};
use crate::whose::{OtherAgent, Whose};

/// The hook's output and exit code.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct Reply {
    /// Exit code.
    pub exit: u8,
    /// Standard output.
    pub stdout: Vec<u8>,
    /// Standard error.
    pub stderr: Vec<u8>,
}

/// The message sent to the agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// The answer.
    pub verdict: Verdict,
    /// The reason; the agent's model reads it when the call is denied.
    pub reason: String,
    /// A note for the user alone, dropped if an agent cannot show one; may be empty.
    pub user_note: String,
    /// The whole input that the agent runs instead, from [`crate::rewritten_input`]; only for its question about a call.
    pub rewrite: Option<Json>,
}

impl Message {
    /// Returns a message that changes no input and has no note.
    pub fn new(verdict: Verdict, reason: String) -> Message {
        Message { verdict, reason, user_note: String::new(), rewrite: None }
    }
}

const BLANK_REASON: &str = "castellan gave no reason";

/// Encodes an answer. A defer is empty, or a note for the user. An ask that the agent would not hold becomes a deny. Events after the call get
/// an empty answer. A deny at an unknown event is encoded as a failure; other verdicts leave the event to the agent.
///
/// A rewrite that the agent would ignore is a deny: the judged command must not run in its place.
pub fn encode(agent: AgentId, event: &str, reported: &Message) -> Reply {
    let downgraded = reported.verdict == Verdict::Ask && !can_ask(agent, event);
    let ignored = reported.rewrite.is_some() && !takes_rewrite(agent, event, reported.verdict);
    let verdict = if downgraded || ignored { Verdict::Deny } else { reported.verdict };
    let rewrite = reported.rewrite.as_ref().filter(|_| verdict != Verdict::Deny);
    let reason = capped(&reported.reason, REASON_UNITS_MAX);
    let family = agent.spec().families.reply;
    match agent.event_kind(event) {
        None if verdict == Verdict::Deny => encode_failure(agent, event, &reason),
        Some(EventKind::Question) => json_reply(match family {
            ReplyFamily::Claude => {
                claude::answer_question(event, verdict, (&reason, &reported.user_note), rewrite)
            }
            ReplyFamily::Codex => codex::answer_question(event, verdict, &reason, rewrite),
            ReplyFamily::Gemini => gemini::answer_question(verdict, &reason, &reported.user_note, rewrite),
        }),
        Some(EventKind::Permission) => json_reply(match family {
            ReplyFamily::Claude => claude::answer_permission(event, verdict, &reason, &reported.user_note),
            ReplyFamily::Codex => codex::answer_permission(event, verdict, &reason),
            ReplyFamily::Gemini => gemini::answer_question(verdict, &reason, &reported.user_note, None),
        }),
        None | Some(EventKind::Done { .. } | EventKind::Session { .. }) => json_reply(None),
    }
}

/// Encodes castellan's own failure, so that it does not allow a call.
pub fn encode_failure(agent: AgentId, event: &str, reason: &str) -> Reply {
    let line = capped_line(reason);
    let exit = match Form::of(agent.event_kind(event)) {
        Form::PermissionDeny => {
            return encode(agent, event, &Message::new(Verdict::Deny, line));
        }
        Form::Block => 2,
        Form::Mention => 0,
    };
    Reply { exit, stdout: Vec::new(), stderr: format!("{line}\n").into_bytes() }
}

/// Encodes the rejection of an unreadable payload in its sender's format.
pub fn encode_refusal(agent: AgentId, event: &str, malformed: &Malformed) -> Reply {
    match &malformed.stranger {
        None => encode_failure(agent, event, &malformed.message),
        Some(Stranger { whose: Whose::Guarded(sender), event }) => {
            encode_failure(*sender, event, &malformed.message)
        }
        Some(Stranger { whose: Whose::Other(sender), .. }) => {
            foreign_denial(sender, &capped_line(&malformed.message))
        }
    }
}

/// Encodes a deny as an agent reads it that castellan does not guard.
fn foreign_denial(sender: &OtherAgent, line: &str) -> Reply {
    let reason = Json::from(line).to_string();
    let stdout = sender.deny.map(|deny| deny.replace("REASON", &reason)).unwrap_or_default();
    Reply { exit: 2, stdout: stdout.into_bytes(), stderr: format!("{line}\n").into_bytes() }
}

/// Reports whether the agent reads an answer as a denial: an output of [`encode`] or [`encode_failure`] for a deny.
pub fn is_denial(agent: AgentId, event: &str, exit: i32, stdout: &str) -> bool {
    let says_deny = |pointer: &str| {
        let answer: Json = serde_json::from_str(stdout).unwrap_or_default();
        let word = |pointer: &str| answer.pointer(pointer).and_then(Json::as_str);
        match agent.spec().families.reply {
            ReplyFamily::Claude | ReplyFamily::Codex => {
                word("/hookSpecificOutput/hookEventName") == Some(event) && word(pointer) == Some("deny")
            }
            ReplyFamily::Gemini => word("/decision") == Some("deny"),
        }
    };
    match (agent.event_kind(event), exit) {
        (None | Some(EventKind::Question), 2) => true,
        (Some(EventKind::Question), 0) => says_deny("/hookSpecificOutput/permissionDecision"),
        (Some(EventKind::Permission), 0) => says_deny("/hookSpecificOutput/decision/behavior"),
        _ => false,
    }
}

/// Reports whether an answer leaves the call to the agent: the output of [`encode`] for a defer. A note for
/// the user decides nothing.
pub fn is_deferral(exit: i32, stdout: &str) -> bool {
    let is_note = |answer: Json| {
        answer.as_object().is_some_and(|fields| fields.keys().all(|key| key == "systemMessage"))
    };
    exit == 0 && (stdout.trim().is_empty() || serde_json::from_str(stdout).is_ok_and(is_note))
}

pub(crate) fn json_reply(answer: Option<Json>) -> Reply {
    let stdout = answer.map(|answer| answer.to_string().into_bytes()).unwrap_or_default();
    Reply { exit: 0, stdout, stderr: Vec::new() }
}

fn capped_line(text: &str) -> String {
    let line: String = text.chars().map(|c| if is_invisible(c) { ' ' } else { c }).collect();
    capped(line.trim(), STDERR_UNITS_MAX)
}

/// Cuts a text to a number of UTF-16 units, as JavaScript counts, and marks the cut. Never returns a blank text.
pub(crate) fn capped(text: &str, units_max: usize) -> String {
    const MARK: &str = " [...]";
    if text.trim().is_empty() {
        return BLANK_REASON.to_owned();
    }
    if text.encode_utf16().count() <= units_max {
        return text.to_owned();
    }
    let mut units = MARK.len();
    let fits = |c: &char| {
        units += c.len_utf16();
        units <= units_max
    };
    let mut cut: String = text.chars().take_while(fits).collect();
    cut.push_str(MARK);
    cut
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::question_event;
    use proptest::prelude::*;

    fn reported(verdict: Verdict, reason: &str, user_note: &str) -> Message {
        Message { user_note: user_note.to_owned(), ..Message::new(verdict, reason.to_owned()) }
    }

    #[track_caller]
    fn check(agent: AgentId, event: &str, verdict: Verdict, stdout: &str) {
        let reply = encode(agent, event, &reported(verdict, "r", ""));
        let found = String::from_utf8(reply.stdout).unwrap();
        assert_eq!((reply.exit, found.as_str(), reply.stderr.as_slice()), (0, stdout, b"".as_slice()));
    }

    fn question(word: &str) -> String {
        format!(
            r#"{{"hookSpecificOutput":{{"hookEventName":"PreToolUse","permissionDecision":"{word}","permissionDecisionReason":"r"}}}}"#
        )
    }

    const PERMISSION_DENIED: &str = r#"{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":"r"}}}"#;
    const PERMISSION_ALLOWED: &str =
        r#"{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow"}}}"#;

    const GEMINI_DENIED: &str = r#"{"decision":"deny","reason":"r"}"#;

    #[test]
    fn each_agent_is_told_in_its_own_dialect() {
        use Verdict::{Allow, Ask, Defer, Deny};
        const CLAUDE: AgentId = AgentId::CLAUDE;
        const CODEX: AgentId = AgentId::CODEX;
        check(CLAUDE, "PreToolUse", Deny, &question("deny"));
        check(CLAUDE, "PreToolUse", Ask, &question("ask"));
        check(CLAUDE, "PreToolUse", Allow, &question("allow"));
        check(CLAUDE, "PreToolUse", Defer, "");
        check(CLAUDE, "PermissionRequest", Deny, PERMISSION_DENIED);
        check(CLAUDE, "PermissionRequest", Ask, "");
        check(CLAUDE, "PermissionRequest", Allow, "");
        check(CLAUDE, "PermissionRequest", Defer, "");
        check(CODEX, "PreToolUse", Deny, &question("deny"));
        check(CODEX, "PreToolUse", Ask, &question("deny"));
        check(CODEX, "PreToolUse", Allow, "");
        check(CODEX, "PreToolUse", Defer, "");
        check(CODEX, "PermissionRequest", Deny, PERMISSION_DENIED);
        check(CODEX, "PermissionRequest", Ask, PERMISSION_DENIED);
        check(CODEX, "PermissionRequest", Allow, PERMISSION_ALLOWED);
        check(CODEX, "PermissionRequest", Defer, "");
        const QWEN: AgentId = AgentId::QWEN;
        check(QWEN, "PreToolUse", Deny, &question("deny"));
        check(QWEN, "PreToolUse", Ask, &question("ask"));
        check(QWEN, "PreToolUse", Allow, &question("allow"));
        check(QWEN, "PreToolUse", Defer, "");
        check(QWEN, "PostToolUseFailure", Deny, "");
        const GEMINI: AgentId = AgentId::GEMINI;
        check(GEMINI, "BeforeTool", Deny, GEMINI_DENIED);
        check(GEMINI, "BeforeTool", Ask, GEMINI_DENIED);
        check(GEMINI, "BeforeTool", Allow, "");
        check(GEMINI, "BeforeTool", Defer, "");
        check(GEMINI, "AfterTool", Deny, "");
        check(CLAUDE, "PostToolUse", Deny, "");
        check(CODEX, "PostToolUse", Ask, "");
        check(CLAUDE, "UserPromptSubmit", Deny, "");
        check(CODEX, "Nonsense", Defer, "");
    }

    #[test]
    fn a_note_for_the_user_is_told_where_there_is_a_way() {
        let claude = encode(AgentId::CLAUDE, "PreToolUse", &reported(Verdict::Deny, "r", "request K7"));
        let json: Json = serde_json::from_slice(&claude.stdout).unwrap();
        assert_eq!(json["systemMessage"], "request K7");
        let gemini = encode(AgentId::GEMINI, "BeforeTool", &reported(Verdict::Deny, "r", "request K7"));
        let json: Json = serde_json::from_slice(&gemini.stdout).unwrap();
        assert_eq!(
            json,
            serde_json::json!({"decision": "deny", "reason": "r", "systemMessage": "request K7"})
        );
        let codex = encode(AgentId::CODEX, "PreToolUse", &reported(Verdict::Deny, "r", "request K7"));
        assert_eq!(codex, encode(AgentId::CODEX, "PreToolUse", &reported(Verdict::Deny, "r", "")));
    }

    #[test]
    fn a_failure_denies_where_a_call_may_follow() {
        let check = |agent, event, exit, stdout: &str, stderr: &str| {
            let reply = encode_failure(agent, event, "r");
            assert_eq!(reply.exit, exit, "{agent:?} {event}");
            assert_eq!(String::from_utf8(reply.stdout).unwrap(), stdout);
            assert_eq!(String::from_utf8(reply.stderr).unwrap(), stderr);
        };
        for agent in [AgentId::CLAUDE, AgentId::CODEX] {
            check(agent, "PermissionRequest", 0, PERMISSION_DENIED, "");
            check(agent, "PostToolUse", 0, "", "r\n");
        }
        check(AgentId::GEMINI, "AfterTool", 0, "", "r\n");
        check(AgentId::QWEN, "PostToolUseFailure", 0, "", "r\n");
        for agent in AgentId::ALL {
            check(agent, question_event(agent), 2, "", "r\n");
            check(agent, "SessionStart", 0, "", "r\n");
            check(agent, "Nonsense", 2, "", "r\n");
            check(agent, "pretooluse", 2, "", "r\n");
            check(agent, "", 2, "", "r\n");
        }
        check(AgentId::CLAUDE, "PostToolUseFailure", 0, "", "r\n");
        check(AgentId::CODEX, "PostToolUseFailure", 2, "", "r\n");
        let reply = encode_failure(AgentId::CODEX, "PreToolUse", "\n a\nb\u{202e}c\u{1b}[2J \n");
        assert_eq!(String::from_utf8(reply.stderr).unwrap(), "a b c [2J\n");
        let reply = encode_failure(AgentId::CODEX, "PreToolUse", " \n\t");
        assert_eq!(String::from_utf8(reply.stderr).unwrap(), format!("{BLANK_REASON}\n"));
    }

    #[test]
    fn what_is_told_is_understood() {
        let check = |agent: AgentId, event: &str, reply: &Reply, denies: bool, defers: bool| {
            let stdout = str::from_utf8(&reply.stdout).unwrap();
            let exit = i32::from(reply.exit);
            let understood = (is_denial(agent, event, exit, stdout), is_deferral(exit, stdout));
            assert_eq!(understood, (denies, defers), "{agent:?} {event} {reply:?}");
        };
        for agent in AgentId::ALL {
            for event in [question_event(agent), "PermissionRequest", "Nonsense"] {
                check(agent, event, &encode(agent, event, &reported(Verdict::Deny, "r", "n")), true, false);
                check(agent, event, &encode(agent, event, &reported(Verdict::Defer, "r", "n")), false, true);
                check(agent, event, &encode_failure(agent, event, "r"), true, false);
            }
            check(agent, "SessionEnd", &encode_failure(agent, "SessionEnd", "r"), false, true);
        }
        let ask = encode(AgentId::CLAUDE, "PreToolUse", &reported(Verdict::Ask, "r", ""));
        check(AgentId::CLAUDE, "PreToolUse", &ask, false, false);
        let elsewhere = encode(AgentId::CLAUDE, "PreToolUse", &reported(Verdict::Deny, "r", ""));
        check(AgentId::CLAUDE, "PermissionRequest", &elsewhere, false, false);
        assert!(!is_denial(AgentId::CLAUDE, "PreToolUse", 1, "") && !is_deferral(1, ""));
    }

    #[test]
    fn long_reasons_are_cut_as_javascript_counts() {
        let reason = "😀".repeat(REASON_UNITS_MAX);
        let cut = capped(&reason, REASON_UNITS_MAX);
        assert!(cut.ends_with("[...]"));
        assert!(cut.encode_utf16().count() <= REASON_UNITS_MAX);
        assert_eq!(capped("short", REASON_UNITS_MAX), "short");
    }

    proptest! {
        #[test]
        fn a_deny_is_always_a_deny(reason in "(?s).{0,300}", user_note in "(?s).{0,30}", ask in any::<bool>()) {
            for agent in AgentId::ALL {
                let event = question_event(agent);
                let verdict = if ask && !can_ask(agent, event) { Verdict::Ask } else { Verdict::Deny };
                let reply = encode(agent, event, &reported(verdict, &reason, &user_note));
                let stdout = String::from_utf8(reply.stdout).unwrap();
                prop_assert!(is_denial(agent, event, reply.exit.into(), &stdout));
                let json: Json = serde_json::from_str(&stdout).unwrap();
                let nested = json.pointer("/hookSpecificOutput/permissionDecisionReason");
                prop_assert!(!nested.unwrap_or(&json["reason"]).as_str().unwrap().trim().is_empty());
                prop_assert_eq!(reply.exit, 0);
                let reply = encode(agent, "Nonsense", &reported(verdict, &reason, &user_note));
                prop_assert_eq!(reply.exit, 2);
                prop_assert_eq!(String::from_utf8(reply.stderr).unwrap().lines().count(), 1);
            }
        }
    }
}
