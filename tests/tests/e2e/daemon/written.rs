//! Effects of a file that a call writes, through hook and daemon: only rules that name these effects match them.

use std::fs;

use castellan_tests::home::Home;
use castellan_tests::hook::{ENFORCE, bash, call, judge, run, understood};
use serde_json::{Value as Json, json};

const RULES: &str = "
- rule: A script that deletes the home
  desc: d
  condition: fx.kind = delete and fx.path endswith /user and fx.when = written
  output: \"%script.path: %cmd.name %fx.path in %tool.file_path\"
  priority: WARNING
  source: coding_agent
  tags: [coding_agent_ask]

- rule: Deletes the home
  desc: d
  condition: fx.kind = delete and fx.path endswith /user
  output: now
  priority: CRITICAL
  source: coding_agent
  tags: [coding_agent_deny]
";

#[test]
fn a_script_that_deletes_the_home_is_asked_about_when_written_and_denied_when_run() -> anyhow::Result<()> {
    let home = Home::with_castellan("written", ENFORCE, RULES)?;
    let at = |name: &str| home.workspace().join(name).display().to_string();
    let script = at("x.sh");
    fs::write(&script, "ls ~\n")?;
    let check = |call: &Json, expected: &str| -> anyhow::Result<()> {
        let done = judge(&home, call)?;
        assert_eq!(understood(&done), expected, "{call}: {done:?}");
        if expected == "ask" {
            assert!(done.stdout.contains("x.sh: rm /"), "{done:?}");
        }
        // The file is no longer being changed.
        let mut over = call.clone();
        over["hook_event_name"] = "PostToolUse".into();
        over["tool_response"] = json!({});
        run(&home, "claude", "PostToolUse", over.to_string().as_bytes())?;
        Ok(())
    };
    let write = |path: &str, text: &str| call("Write", &json!({"file_path": path, "content": text}));
    check(&write(&script, "rm -rf ~\n"), "ask")?;
    check(&write(&script, "ls ~\n"), "defer")?;
    check(&write(&at("notes.md"), "rm -rf ~\n"), "defer")?;
    let edit = |old: &str| json!({"file_path": script, "old_string": old, "new_string": "rm -rf"});
    check(&call("Edit", &edit("ls")), "ask")?;
    check(&bash(&format!("echo 'rm -rf ~' > {script}")), "ask")?;
    check(&bash(&format!("echo 'rm -rf ~' | tee {script}")), "ask")?;
    check(&bash(&format!("echo 'rm -rf ~' > {script}; sh {script}")), "deny")?;
    check(&bash(&format!("echo 'rm -rf ~' > {}", at("notes.md"))), "defer")?;
    // Codex asks nobody, so an ask becomes a deny.
    let patch = format!("*** Begin Patch\n*** Update File: {script}\n@@\n-ls ~\n+rm -rf ~\n*** End Patch\n");
    let mut patched = call("apply_patch", &json!({ "command": patch }));
    patched["cwd"] = at("").into();
    let done = run(&home, "codex", "PreToolUse", patched.to_string().as_bytes())?;
    assert_eq!(understood(&done), "deny", "{done:?}");
    assert!(done.stdout.contains("x.sh: rm /"), "{done:?}");
    Ok(())
}
