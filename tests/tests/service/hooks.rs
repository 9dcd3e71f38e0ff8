//! Hooks follow the service: by the setting, at a deliberate stop by a person, and never by a crash.

use std::fs;
use std::path::PathBuf;

use anyhow::Result;
use serde_json::json;

use crate::managed::Rig;

fn settings(rig: &Rig) -> PathBuf {
    rig.home.user().join(".claude/settings.json")
}

/// A home with a service and Claude Code's hooks. Returns the registered settings.
fn registered(service: &str) -> Result<(Rig, String)> {
    let rig = Rig::with_systemctl("running", service)?;
    rig.home.write(&settings(&rig), "{\n  \"theme\": \"dark\"\n}\n")?;
    rig.ok(&["install", "claude", "--service"])?;
    let text = fs::read_to_string(settings(&rig))?;
    assert!(text.contains("castellan-hook"), "{text}");
    Ok((rig, text))
}

#[test]
fn hooks_stay_at_a_stop_unless_the_setting_says_otherwise() -> Result<()> {
    let (rig, text) = registered("")?;
    let shown = rig.person_ok(&["service", "stop"])?;
    assert!(
        shown.contains("every call of guarded agents is blocked until you run `castellan service start`"),
        "{shown}"
    );
    assert_eq!(fs::read_to_string(settings(&rig))?, text);
    assert_eq!(rig.forbidden()?, "stopped");
    Ok(())
}

#[test]
fn a_deliberate_stop_removes_hooks_and_a_start_registers_the_same_again() -> Result<()> {
    let (rig, text) = registered("hooks_on_stop = \"remove\"")?;
    // No program stops it.
    assert_eq!(rig.run(&["service", "stop"])?.code, Some(4));
    assert_eq!(fs::read_to_string(settings(&rig))?, text);
    // A crash is no stop, and castellan's other stop keeps the hooks.
    rig.kill_daemon()?;
    assert_eq!(fs::read_to_string(settings(&rig))?, text);
    rig.ok(&["service", "start"])?;
    rig.person_ok(&["stop"])?;
    assert_eq!(fs::read_to_string(settings(&rig))?, text);
    rig.ok(&["start"])?;

    let shown = rig.person_ok(&["service", "stop"])?;
    assert!(shown.contains("Claude Code is not guarded until you run `castellan service start`"), "{shown}");
    assert_eq!(fs::read_to_string(settings(&rig))?, "{\n  \"theme\": \"dark\"\n}\n");
    assert_eq!(rig.status()?.1["hooks_removed"], json!(["claude"]));
    let shown = rig.ok(&["service", "start"])?;
    assert!(shown.contains("Claude Code is guarded again"), "{shown}");
    assert_eq!(fs::read_to_string(settings(&rig))?, text);
    assert_eq!(rig.status()?.1["hooks_removed"], json!([]));
    Ok(())
}

/// An organisation's `keep` holds, and the milder word needs a person.
#[test]
fn an_agent_cannot_change_the_setting() -> Result<()> {
    let (rig, text) = registered("")?;
    let edited = rig.run(&["config", "set", "service.hooks_on_stop", "remove", "--yes"])?;
    assert_eq!(edited.code, Some(4), "{edited:?}");
    // An edit of the file is not in force.
    rig.home.write(
        &rig.home.castellan().join("config/config.toml"),
        "version = 1\n[service]\nhooks_on_stop = \"remove\"\n",
    )?;
    rig.person_ok(&["service", "stop"])?;
    assert_eq!(fs::read_to_string(settings(&rig))?, text);
    Ok(())
}
