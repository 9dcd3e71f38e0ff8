//! The short rule, for a list in the configuration, that means a recorded call and calls like it.

use castellan_audit::CallRecord;

/// Returns the short rule for a call: a simple command by program and subcommand, or verbatim; a host; a server's tool.
pub(crate) fn short_rule(record: &CallRecord) -> Option<String> {
    let text = |key: &str| record.input.get(key).and_then(|value| value.as_str());
    if record.tool.starts_with("mcp__") {
        // A server chooses the names of its tools.
        let is_plain = record.tool.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte));
        return is_plain.then(|| record.tool.to_string());
    }
    if record.tool == "WebFetch" {
        let host = text("url")?.split_once("://")?.1.split(['/', '?', '#', ':']).next()?;
        let is_plain = host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-".contains(&byte));
        return Some(format!("WebFetch(domain:{host})")).filter(|_| is_plain && !host.is_empty());
    }
    let command = text("command").filter(|_| record.tool == "Bash")?.trim();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || " _./:=@%+,-".contains(c);
    if command.is_empty() || !command.chars().all(is_plain) {
        return None;
    }
    let words: Vec<&str> = command.split(' ').filter(|word| !word.is_empty()).collect();
    let is_word = |word: &str| {
        word.starts_with(|first: char| first.is_ascii_lowercase())
            && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-')
    };
    Some(match words[..] {
        // Arguments after a subcommand differ between calls. Without a subcommand, a prefix would allow any.
        [program, subcommand, ..] if is_word(program) && is_word(subcommand) => {
            format!("Bash({program} {subcommand}:*)")
        }
        _ => format!("Bash({})", words.join(" ")),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value as Json, json};

    use super::*;

    fn record(tool: &str, input: Json) -> CallRecord {
        CallRecord { tool: tool.into(), input: input.into(), ..CallRecord::default() }
    }

    #[test]
    fn a_short_rule_means_no_more_than_was_seen() {
        let check = |tool: &str, input: Json, expected: Option<&str>| {
            assert_eq!(short_rule(&record(tool, input.clone())).as_deref(), expected, "{tool} {input}");
        };
        let bash = |command: &str, expected| check("Bash", json!({ "command": command }), expected);
        bash("git push origin main", Some("Bash(git push:*)"));
        bash("npm publish", Some("Bash(npm publish:*)"));
        bash("rm -r build", Some("Bash(rm -r build)"));
        bash("make", Some("Bash(make)"));
        bash("git push; ls", None);
        bash("git push && ls", None);
        bash("echo $X", None);
        bash("git push > x", None);
        bash("git push\nls", None);
        bash("", None);
        check("WebFetch", json!({ "url": "https://docs.rs/x?y" }), Some("WebFetch(domain:docs.rs)"));
        check("WebFetch", json!({ "url": "https://u@docs.rs/" }), None);
        check("mcp__git__push", json!({}), Some("mcp__git__push"));
        check("mcp__a\", \"Bash\", \"Write__c", json!({}), None);
        check("mcp__a'; rm -r x__c", json!({}), None);
        check("Write", json!({ "file_path": "/x" }), None);
    }
}
