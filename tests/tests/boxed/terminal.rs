//! A sandbox at a terminal: keys reach the command, a new size too, and the terminal is as before at the end.

use anyhow::{Context, Result, ensure};
use castellan_tests::agents::Agent::Claude;
use castellan_tests::model::Api;
use castellan_tests::model::{Model, Script};
use castellan_tests::terminal::start_on_screen;
use serde_json::json;

use crate::rig::Rig;

#[test]
fn keys_and_sizes_reach_a_command_inside() -> Result<()> {
    let rig = Rig::new("")?;
    let script = "import os, signal, sys\n\
                  signal.signal(signal.SIGINT, lambda *_: os.write(1, b'interrupted.'))\n\
                  signal.signal(signal.SIGWINCH, lambda *_: os.write(1, b'now %d %d' % os.get_terminal_size(0)))\n\
                  print('ready', flush=True)\n\
                  while sys.stdin.readline() != 'end\\n': pass\n\
                  print('over', flush=True)\n\
                  sys.exit(6)";
    let (castellan, home) = (rig.home.bin().join("castellan"), rig.home.castellan());
    let (castellan, home) = (castellan.to_str().context("text")?, home.to_str().context("text")?);
    let words = [castellan, "--home", home, "sandbox", "run", "--", "python3", "-c", script];
    let mut session = start_on_screen(&rig.home, 30, 90, &words)?;
    session.expect("ready").context("ready")?;
    session.type_keys("\x03")?;
    session.expect("interrupted").context("interrupted")?;
    session.resize(41, 101)?;
    session.expect("now 101 41").context("now 101 41")?;
    session.type_keys("end\r")?;
    session.expect("over").context("over")?;
    let done = session.finish()?;
    ensure!(done.code == Some(6), "{done:?}");
    Ok(())
}

#[test]
fn claude_shows_its_screen_inside() -> Result<()> {
    let Some(executable) = Claude.executable()? else { return Ok(()) };
    let model = Model::start(Api::Anthropic, vec![Script::main(Vec::new())])?;
    let rig = Rig::new("")?;
    rig.home.run_castellan(&["install", "claude"])?;
    let state = json!({
        "hasCompletedOnboarding": true,
        "theme": "dark",
        "customApiKeyResponses": { "approved": ["sk-ant-scripted"], "rejected": [] },
        "projects": { rig.home.workspace().display().to_string(): { "hasTrustDialogAccepted": true } },
    });
    rig.home.write(&rig.home.user().join(".claude.json"), &state.to_string())?;
    let (castellan, home) = (rig.home.bin().join("castellan"), rig.home.castellan());
    let (castellan, home) = (castellan.to_str().context("text")?, home.to_str().context("text")?);
    let address = format!("ANTHROPIC_BASE_URL=http://127.0.0.1:{}", model.port());
    let executable = executable.to_str().context("text")?;
    let words = [
        "env",
        &address,
        "ANTHROPIC_API_KEY=sk-ant-scripted",
        "DISABLE_AUTOUPDATER=1",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
        castellan,
        "--home",
        home,
        "run",
        "--sandbox",
        "--",
        executable,
        "--permission-mode",
        "default",
        "go",
    ];
    let mut session = start_on_screen(&rig.home, 40, 120, &words)?;
    session.expect("done")?;
    session.resize(30, 100)?;
    // A question about its screen is answered with no. Two keys end it.
    session.expect("fullscreen")?;
    session.type_keys("2")?;
    session.expect("❯")?;
    session.type_keys("\x03")?;
    session.expect("again")?;
    session.type_keys("\x03")?;
    session.finish()?;
    ensure!(!model.heard().requests.is_empty());
    Ok(())
}
