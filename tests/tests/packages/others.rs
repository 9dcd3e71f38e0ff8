//! The plugin for Codex and the extension for Gemini CLI, in the real clients.

use std::process::Command;

use anyhow::{Context, Result, ensure};
use castellan_tests::agents::Agent::{self, Codex, Gemini};
use castellan_tests::home::Home;
use castellan_tests::model::{Model, Script};
use castellan_tests::process::Running;
use castellan_tests::run::{self, AGENT_LIMIT, Options};
use serde_json::Value as Json;

use crate::claude::home_of_plugin;
use crate::rig::{real, succeed};

const SKILLS: [&str; 3] = ["castellan-explain-denial", "castellan-review-log", "castellan-write-rule"];

/// Installs by these commands of the agent, in the unpacked archive.
pub(crate) fn install(agent: Agent, home: &Home, plugin: &str) -> Result<Option<std::path::PathBuf>> {
    let Some(executable) = agent.executable()? else { return Ok(None) };
    agent.prepare(home)?;
    let archive = real()?.unpack(&format!("castellan-{}-", agent.name()), &home.user().join("unpacked"))?;
    let folder = archive.display().to_string();
    let commands: Vec<Vec<String>> = match agent {
        Codex => vec![
            ["plugin", "marketplace", "add", &folder].map(str::to_owned).to_vec(),
            vec!["plugin".into(), "add".into(), format!("{plugin}@castellan")],
        ],
        Agent::Claude | Gemini | Agent::Qwen => vec![vec![
            "extensions".into(),
            "install".into(),
            format!("{folder}/{plugin}"),
            "--consent".into(),
        ]],
    };
    for arguments in commands {
        let mut command: Command = home.command(&executable);
        command.env("GEMINI_CLI_NO_RELAUNCH", "true").env("GEMINI_CLI_TRUST_WORKSPACE", "true");
        succeed(command.args(arguments).env("GEMINI_API_KEY", "scripted"))?;
    }
    Ok(Some(executable))
}

/// The whole plugin guards, and its skills are offered. castellan does not claim what it cannot see.
fn guards(agent: Agent) -> Result<()> {
    let Some(home) = home_of_plugin()? else { return Ok(()) };
    let Some(executable) = install(agent, &home, "castellan")? else { return Ok(()) };
    let calls = ["touch forbidden-file", "touch other-file"];
    let turns: Vec<_> = calls.iter().map(|command| vec![agent.shell(command)]).collect();
    let model = Model::start(agent.api(), vec![Script::main(turns)])?;
    let done = run::run(agent, &executable, &home, &model, &Options::default())?;
    let told = model.result_of("0-0-0").with_context(|| format!("{done:?}"))?;
    ensure!(told.contains("the test denies"), "{told}: {done:?}");
    let made = ["forbidden-file", "other-file"].map(|file| home.workspace().join(file).exists());
    ensure!(made == [false, true], "{made:?}: {done:?}");
    let heard: String = model.heard().requests.iter().map(Json::to_string).collect();
    for skill in SKILLS {
        ensure!(heard.contains(skill), "{skill} is not offered");
    }
    let archive = home.user().join("unpacked");
    let castellan = crate::rig::files_below(&archive)?;
    let castellan =
        castellan.iter().find(|file| file.ends_with("castellan/bin/castellan")).context("no castellan")?;
    let castellan = |arguments: &[&str]| {
        Running::start(home.command(&archive.join(castellan)).args(arguments))?.finish(AGENT_LIMIT)
    };
    let log = castellan(&["log", "--json", "--events"])?.stdout;
    ensure!(!log.contains("foreign_hook"), "{log}");
    let status: Json = serde_json::from_str(&castellan(&["status", "--json"])?.stdout)?;
    let agents = status["agents"].as_array().context("no agents")?;
    let own = agents.iter().find(|one| one["agent"] == agent.name()).context("not there")?;
    ensure!(
        own["guarded"] == false && own["not_run"].to_string().contains("castellan cannot see if"),
        "{own:#}"
    );
    castellan(&["stop"])?;
    Ok(())
}

#[test]
fn the_plugin_guards_codex() -> Result<()> {
    guards(Codex)
}

#[test]
fn the_extension_guards_gemini() -> Result<()> {
    guards(Gemini)
}

/// Codex runs no hook of a plugin that its user has not trusted.
#[test]
fn codex_does_not_run_an_untrusted_plugin() -> Result<()> {
    let Some(home) = home_of_plugin()? else { return Ok(()) };
    let Some(executable) = install(Codex, &home, "castellan")? else { return Ok(()) };
    let model = Model::start(Codex.api(), vec![Script::main([vec![Codex.shell("touch forbidden-file")]])])?;
    let options = Options { trusts_hooks: false, ..Options::default() };
    let done = run::run(Codex, &executable, &home, &model, &options)?;
    ensure!(home.workspace().join("forbidden-file").exists(), "{done:?}");
    Ok(())
}

/// The plugin without hooks installs beside `castellan install`, and offers the same skills.
#[test]
fn commands_alone_bring_no_hooks() -> Result<()> {
    for agent in [Codex, Gemini] {
        let home = Home::new("commands")?;
        let Some(executable) = install(agent, &home, "castellan-commands")? else { continue };
        let model =
            Model::start(agent.api(), vec![Script::main([vec![agent.shell("touch forbidden-file")]])])?;
        let done = run::run(agent, &executable, &home, &model, &Options::default())?;
        ensure!(home.workspace().join("forbidden-file").exists(), "{agent:?}: {done:?}");
        let heard: String = model.heard().requests.iter().map(Json::to_string).collect();
        for skill in SKILLS {
            ensure!(heard.contains(skill), "{agent:?}: {skill} is not offered");
        }
    }
    Ok(())
}
