//! The data files of agents: `build/read.rs` rejects a wrong file and names the line.

use crate::{payloads, read, shape, write};
use castellan_agents::AgentId;

const CLAUDE: &str = include_str!("../../agents/claude.toml");
const CODEX: &str = include_str!("../../agents/codex.toml");
const GEMINI: &str = include_str!("../../agents/gemini.toml");
const QWEN: &str = include_str!("../../agents/qwen.toml");

fn read(claude: &str, codex: &str) -> Result<Vec<shape::Agent>, String> {
    let file = |name: &str, text: &str| (format!("agents/{name}.toml"), text.to_owned());
    read::read(&[file("claude", claude), file("codex", codex)]).map_err(|problem| problem.to_string())
}

/// The line on which a piece of a text begins.
fn line_of(text: &str, piece: &str) -> usize {
    text.split_once(piece).unwrap().0.matches('\n').count() + 1
}

/// Replaces a piece of Codex's file, and expects an error that names the line of the piece.
#[track_caller]
fn check(before: &str, after: &str, expected: &str) {
    let error = read(CLAUDE, &CODEX.replacen(before, after, 1)).unwrap_err();
    let (place, message) = error.split_once(": ").unwrap();
    assert_eq!(place, format!("agents/codex.toml:{}", line_of(CODEX, before)), "{error}");
    assert!(message.contains(expected), "{error}");
}

#[test]
fn a_key_that_is_not_known_is_refused() {
    check("needs_trust = true", "needs_thrust = true", "unknown field `needs_thrust`");
    check("timeout_s = 10,", "timeout_s = 10, timeout_ms = 10,", "unknown field `timeout_ms`");
    check(r#"raw = "view_image""#, r#"raw = "view_image", reads = true"#, "unknown field `reads`");
}

#[test]
fn an_agent_asks_at_one_event() {
    let question = r#"  { name = "PreToolUse", kind = "question", timeout_s = 600, matcher = "*" },"#;
    let without = CODEX.replacen(question, "", 1);
    let line = line_of(&without, "events = [");
    let error = read(CLAUDE, &without).unwrap_err();
    let expected = "0 events of the kind `question`: there must be one";
    assert_eq!(error, format!("agents/codex.toml:{line}: {expected}"));
}

#[test]
fn a_word_is_one_agents() {
    check(r#"word = "codex""#, r#"word = "claude""#, "`claude` is the word of another agent, too");
    check(r#"name = "codex""#, r#"name = "claude_code""#, "`claude_code` is the name of another agent, too");
    check(r#"word = "codex""#, r#"word = "Codex""#, "`Codex` is no word");
}

#[test]
fn a_family_has_code() {
    check(
        r#"reply = "codex""#,
        r#"reply = "cortex""#,
        "unknown variant `cortex`, expected one of `claude`, `codex`, `gemini`",
    );
    check(r#"servers = "toml""#, r#"servers = "ini""#, "unknown variant `ini`");
}

#[test]
fn what_does_not_fit_together_is_refused() {
    check(
        r#"{ name = "SessionStart", kind = "session-start""#,
        r#"{ name = "SessionStart", kind = "done""#,
        "`SessionStart` is about a call, so it has no `text_key`",
    );
    check(r#"kind = "prompt""#, r#"kind = "session""#, "unknown variant `session`");
    check(r#"timeout_s = 10, matcher = "*""#, r#"matcher = "*""#, "`timeout_s`");
    let prompt = r#"prompt = "PermissionRequest""#;
    let error = read(&CLAUDE.replacen(prompt, r#"prompt = "SessionEnd""#, 1), CODEX).unwrap_err();
    let expected = "`SessionEnd` is no event of the kind `permission`";
    assert_eq!(error, format!("agents/claude.toml:{}: {expected}", line_of(CLAUDE, prompt)));
    let error = read(CLAUDE, &CODEX.replacen(r#"machine = "shared-toml""#, "", 1)).unwrap_err();
    let expected = "`settings.machine` and `families.machine` belong together";
    assert_eq!(error, format!("agents/codex.toml:{}: {expected}", line_of(CODEX, "settings =")));
    check(r#"tested = ["0.169.0""#, r#"tested = ["0.169""#, "`0.169` is no version");
    check(r#"{ raw = "view_image""#, r#"{ raw = "apply_patch""#, "`apply_patch` stands there twice");
}

#[test]
fn every_file_is_an_agent_of_the_table() {
    let files = [("claude", CLAUDE), ("codex", CODEX), ("gemini", GEMINI), ("qwen", QWEN)];
    let files = files.map(|(name, text)| (format!("agents/{name}.toml"), text.to_owned()));
    let agents = read::read(&files).unwrap();
    let words: Vec<&str> = agents.iter().map(|agent| agent.word.get_ref().as_str()).collect();
    assert_eq!(words, AgentId::ALL.map(AgentId::word));
    assert_eq!(write::table(&agents), include_str!(concat!(env!("OUT_DIR"), "/table.rs")));
    assert_eq!(write::ids(&agents), include_str!(concat!(env!("OUT_DIR"), "/ids.rs")));
}

/// Expects an error that names the line of the row.
#[track_caller]
fn check_row(row: &str, expected: &str) {
    let error = payloads::table(&format!("payloads = [\n  {row},\n]\n"), &[]).unwrap_err().to_string();
    assert_eq!(error, format!("payloads.toml:2: {expected}"));
}

#[test]
fn a_wrong_row_of_payloads_is_refused() {
    check_row(r#"{ title = "X" }"#, "a row without `keys` or `values` fits every payload");
    check_row(r#"{ agent = "x", keys = ["k"] }"#, "no agent has the word `x`");
    check_row(
        r#"{ title = "X", agent = "x", keys = ["k"] }"#,
        "a row has either `agent`, or `title` and perhaps `deny`",
    );
    check_row(r#"{ keys = ["k"] }"#, "a row has either `agent`, or `title` and perhaps `deny`");
    check_row(r#"{ title = "X", keys = ["k"], deny = "no" }"#, "`deny` has no REASON");
}
