//! Arguments that beat castellan's rendered settings, so that `castellan run` rejects them. The tables are in
//! `agents/*.toml`. This module must not know the settings.
//!
//! Every word is read as an option, also one that may be the value of another option or a prompt: no other use of these
//! words is usual.

use crate::agent::AgentId;
use crate::command_line::{meaning, split};
use crate::spec::{Meaning, Native};

/// Returns the first argument that beats the rendered settings, as it is given. `arguments` begin with the program.
pub fn beats_native<A: AsRef<[u8]>>(agent: AgentId, arguments: &[A]) -> Option<String> {
    let words: Vec<_> = arguments.iter().skip(1).map(|word| String::from_utf8_lossy(word.as_ref())).collect();
    let next = words.iter().skip(1).map(AsRef::as_ref).chain([""]);
    words.iter().zip(next).find_map(|(word, next)| beats(agent, word, next))
}

fn beats(agent: AgentId, word: &str, next: &str) -> Option<String> {
    let spec = agent.spec();
    let (table, native) = (&spec.options, &spec.native);
    if !word.starts_with('-') {
        return None;
    }
    let (name, joined) = split(table, word);
    let value = joined.unwrap_or(next);
    let is_row = |row: &&&[&str]| match row {
        [option] => *option == name,
        [option, with] => *option == name && with.eq_ignore_ascii_case(value.trim()),
        _ => false,
    };
    let row = native.beaten_by.iter().find(is_row);
    let sets_key = meaning(table, name) == Some(Meaning::Key) && is_key(native, value);
    // The value is shown if it is the reason.
    if sets_key || row.is_some_and(|row| row.len() > 1) {
        return Some(if joined.is_some() { word.to_owned() } else { format!("{word} {value}") });
    }
    (row.is_some() || is_cluster(native, word)).then(|| word.to_owned())
}

/// Reports whether `KEY=VALUE` sets such a key, also one within it.
fn is_key(native: &Native, setting: &str) -> bool {
    let key = setting.split(['=', '.']).next().unwrap_or_default();
    native.beaten_by_keys.contains(&key.trim().trim_matches(['"', '\'']))
}

/// Reports whether short options contain the letter.
fn is_cluster(native: &Native, word: &str) -> bool {
    let Some(letter) = native.beaten_by_letter else { return false };
    let cluster = word.strip_prefix('-').unwrap_or_default();
    cluster.bytes().take_while(u8::is_ascii_alphabetic).any(|one| one == letter)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_that_skip_permissions_beat_the_settings() {
        let check = |agent, line: &str, expected: Option<&str>| {
            let words: Vec<&str> = line.split(' ').collect();
            assert_eq!(beats_native(agent, &words).as_deref(), expected, "{line}");
        };
        let claude = |line: &str, expected| check(AgentId::CLAUDE, &format!("claude {line}"), expected);
        let skip = "--dangerously-skip-permissions";
        claude(&format!("-p {skip} go"), Some(skip));
        claude(&format!("{skip}=true"), Some("--dangerously-skip-permissions=true"));
        claude(&format!("--append-system-prompt -- {skip}"), Some(skip));
        claude("--allow-dangerously-skip-permissions", Some("--allow-dangerously-skip-permissions"));
        let mode = "--permission-mode bypassPermissions";
        claude(&format!("{mode} go"), Some(mode));
        claude("--permission-mode=bypassPermissions", Some("--permission-mode=bypassPermissions"));
        claude("--permission-mode BYPASSPERMISSIONS", Some("--permission-mode BYPASSPERMISSIONS"));
        claude("--managed-settings {}", Some("--managed-settings"));
        for harmless in
            ["-p go", "--permission-mode plan", "--permission-mode auto bypassPermissions", "--yolo", ""]
        {
            claude(harmless, None);
        }
        let codex = |line: &str, expected| check(AgentId::CODEX, &format!("codex {line}"), expected);
        for beats in [
            "--dangerously-bypass-approvals-and-sandbox",
            "--yolo",
            "--full-auto",
            "-sdanger-full-access",
            "-s=danger-full-access",
            "--sandbox=workspace-write",
            "-pfast",
            "-csandbox_mode=\"danger-full-access\"",
            "-c=default_permissions=x",
            "--config=permissions.x.filesystem={}",
            "-c\"sandbox_mode\"=x",
            "--config=profile=x",
        ] {
            codex(&format!("exec {beats} go"), Some(beats));
        }
        codex("exec -s danger-full-access go", Some("-s"));
        codex("-c sandbox_mode=danger-full-access exec", Some("-c sandbox_mode=danger-full-access"));
        for harmless in
            ["exec --json go", "-c model=sandbox_mode", "-m x --config features.hooks=true", "-a never"]
        {
            codex(harmless, None);
        }
        let gemini = |line: &str, expected| check(AgentId::GEMINI, &format!("gemini {line}"), expected);
        for beats in [
            "-y",
            "--y",
            "--yolo",
            "--yolo=true",
            "-dy",
            "-yp",
            "-y=1",
            "--approval-mode=yolo",
            "--approvalMode=YOLO",
            "--policy",
            "--admin-policy=x",
        ] {
            gemini(&format!("{beats} go"), Some(beats));
        }
        gemini("--approval-mode yolo", Some("--approval-mode yolo"));
        for harmless in
            ["--approval-mode auto_edit", "-m gemini-yes -p go", "--model yolo", "-mgemini-y", "--prompt=-y"]
        {
            gemini(harmless, None);
        }
    }
}
