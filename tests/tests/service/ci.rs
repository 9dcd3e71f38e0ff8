//! `castellan ci`: no daemon, hook or link of the agent is left behind, and the log of the run is a file.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use anyhow::Result;
use castellan_tests::home::Home;
use castellan_tests::hook::{MONITOR, RULES};
use castellan_tests::process::{Finished, Running};
use serde_json::Value as Json;

use crate::rig::{LIMIT, daemons};

/// A home without a daemon, and an agent that is a shell script.
struct Rig {
    home: Home,
    agent: PathBuf,
    log: PathBuf,
}

impl Rig {
    /// The agent asks its hook about a call for each of `words`, then does `more`.
    fn new(config: &str, words: &str, more: &str) -> Result<Rig> {
        let home = Home::with_castellan("ci", config, RULES)?;
        let agent = home.bin().join("agents/claude");
        let log = home.workspace().join("log.jsonl");
        let (hook, dir, work) = (home.bin().join("castellan-hook"), home.castellan(), home.workspace());
        let payload = r#"{"session_id":"s","transcript_path":"/t","cwd":"/","permission_mode":"default","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"%s"},"tool_use_id":"u-%s"}"#;
        let script = format!(
            "#!/bin/sh\ncd {}\nfor word in {words}; do\nprintf '{payload}' $word $word | {} --agent claude --event \
             PreToolUse --home {}\necho\ndone\n{more}\n",
            work.display(),
            hook.display(),
            dir.display(),
        );
        home.write(&agent, &script)?;
        fs::set_permissions(&agent, fs::Permissions::from_mode(0o755))?;
        Ok(Rig { home, agent, log })
    }

    fn run(&self, arguments: &[&str]) -> Result<Finished> {
        let mut command = self.home.command(&self.home.bin().join("castellan"));
        command.arg("--home").arg(self.home.castellan()).args(["ci", "--log"]).arg(&self.log);
        command.arg("--").arg(&self.agent).args(arguments);
        Running::start(&mut command)?.finish(LIMIT)
    }

    fn settings(&self) -> PathBuf {
        self.home.user().join(".claude/settings.json")
    }
}

#[test]
fn a_run_without_a_person_leaves_its_log_and_nothing_else() -> Result<()> {
    // The agent would have castellan write over another file.
    let rig = Rig::new(
        "version = 1\n",
        "forbidden doubtful fine",
        "ln -s kept log.jsonl; echo mine > kept; exit 7",
    )?;
    let done = rig.run(&["-p", "go"])?;
    assert_eq!(done.code, Some(7), "{done:?}");
    assert!(done.stderr.contains("2 calls denied, 1 not; the log is in "), "{done:?}");
    let lines: Vec<Json> =
        fs::read_to_string(&rig.log)?.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
    let verdicts: Vec<&str> = lines
        .iter()
        .filter(|line| line["type"] == "call")
        .filter_map(|line| line["call"]["verdict"].as_str())
        .collect();
    assert_eq!(verdicts, ["deny", "ask", "defer"], "{lines:?}");
    assert!(!fs::symlink_metadata(&rig.log)?.is_symlink());
    assert_eq!(fs::read_to_string(rig.home.workspace().join("kept"))?, "mine\n");
    assert!(!rig.settings().exists(), "the hooks are left");
    let ended = castellan_tests::wait::until(LIMIT, || Ok(daemons(&rig.home).is_empty().then_some(())))?;
    assert!(ended.is_some(), "the daemon is left");
    Ok(())
}

/// An earlier step of the job can write the settings.
#[test]
fn a_hook_of_another_home_starts_no_agent() -> Result<()> {
    let rig = Rig::new("version = 1\n", "fine", "touch started")?;
    let printed = rig.home.run_castellan(&["install", "claude", "--print"])?.stdout;
    let own = rig.home.castellan().display().to_string();
    assert!(printed.contains(&own), "{printed}");
    let other = rig.home.workspace().join("other").display().to_string();
    // One of the hooks is enough.
    let settings = [printed.replace(&own, &other), printed.replacen(&own, &other, 1)];
    for settings in settings {
        rig.home.write(&rig.settings(), &settings)?;
        let done = rig.run(&["-p", "go"])?;
        assert_eq!(done.code, Some(125), "{done:?}");
        assert!(done.stderr.contains("Claude Code: its calls go to another home, "), "{done:?}");
        assert!(!rig.home.workspace().join("started").exists());
        assert_eq!(fs::read_to_string(rig.settings())?, settings);
    }
    Ok(())
}

#[test]
fn a_hook_that_only_has_the_name_starts_no_agent() -> Result<()> {
    let rig = Rig::new("version = 1\n", "fine", "touch started")?;
    let printed = rig.home.run_castellan(&["install", "claude", "--print"])?.stdout;
    let other = rig.home.workspace().join("castellan-hook");
    rig.home.write(&other, "#!/bin/sh\nexit 0\n")?;
    fs::set_permissions(&other, fs::Permissions::from_mode(0o755))?;
    let own = rig.home.bin().join("castellan-hook").display().to_string();
    assert!(printed.contains(&own), "{printed}");
    rig.home.write(&rig.settings(), &printed.replace(&own, &other.display().to_string()))?;
    let done = rig.run(&["-p", "go"])?;
    assert_eq!(done.code, Some(125), "{done:?}");
    assert!(done.stderr.contains("is not the hook of this castellan"), "{done:?}");
    assert!(!rig.home.workspace().join("started").exists());
    Ok(())
}

/// Nobody can open `/hooks` here: the message names a way without a person.
#[test]
fn hooks_that_a_person_would_have_to_trust_start_no_agent() -> Result<()> {
    let mut rig = Rig::new("version = 1\n", "fine", "touch started")?;
    let codex = rig.agent.with_file_name("codex");
    fs::copy(&rig.agent, &codex)?;
    rig.agent = codex;
    let done = rig.run(&["exec", "go"])?;
    assert_eq!(done.code, Some(125), "{done:?}");
    assert!(done.stderr.contains("is not trusted in `/hooks`"), "{done:?}");
    assert!(done.stderr.trim_end().ends_with("sudo castellan install --managed codex"), "{done:?}");
    assert!(!rig.home.workspace().join("started").exists());
    assert!(!rig.home.codex().join("hooks.json").exists(), "the hooks are left");
    Ok(())
}

#[test]
fn a_prompt_that_no_person_answers_starts_no_agent() -> Result<()> {
    let rig = Rig::new("version = 1\n", "fine", "touch started")?;
    for (arguments, code, part) in [
        (&["go"][..], 2, "nobody is at a prompt here"),
        (&["-p", "--permission-prompt-tool", "mcp__x__y", "go"], 2, "an ask is a denial here"),
        (&["-p", "--permission-prompt-tool=mcp__x__y", "go"], 2, "an ask is a denial here"),
    ] {
        let done = rig.run(arguments)?;
        assert_eq!(done.code, Some(code), "{done:?}");
        assert!(done.stderr.contains(part), "{done:?}");
    }
    let rig = Rig::new(MONITOR, "fine", "touch started")?;
    let done = rig.run(&["-p", "go"])?;
    assert_eq!(done.code, Some(125), "{done:?}");
    assert!(done.stderr.contains("the mode is monitor: nothing is denied"), "{done:?}");
    assert!(!rig.home.workspace().join("started").exists() && !rig.settings().exists());
    Ok(())
}
