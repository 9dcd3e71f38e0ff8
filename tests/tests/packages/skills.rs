//! Each skill of the plugin for Codex and of the extension for Gemini CLI: the real client loads it, and the scripted model
//! runs the commands that it names.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use castellan_tests::agents::Agent::{self, Codex, Gemini};
use castellan_tests::home::Home;
use castellan_tests::model::{Block, Model, Script};
use castellan_tests::run::{self, Options};
use serde_json::{Value as Json, json};

use crate::claude::{blocks, home_of_plugin};
use crate::others::install;
use crate::rig::{files_below, succeed};

/// The client with the whole plugin: its hooks guard, and its skills name castellan's commands.
struct Client {
    agent: Agent,
    home: Home,
    executable: std::path::PathBuf,
    /// All that the client has sent with the first prompt, in which it offers the skills.
    offered: String,
    /// The request id of a denied call.
    denied: String,
}

impl Client {
    fn new(agent: Agent) -> Result<Option<Client>> {
        let Some(home) = home_of_plugin()? else { return Ok(None) };
        let Some(executable) = install(agent, &home, "castellan")? else { return Ok(None) };
        let mut client = Client { agent, home, executable, offered: String::new(), denied: String::new() };
        let (model, told) = client.play(vec![client.agent.shell("touch forbidden-file")])?;
        ensure!(told.first().is_some_and(|told| told.contains("the test denies")), "{told:?}");
        client.offered = model.heard().requests.iter().map(Json::to_string).collect();
        let mut log = client.home.command(Path::new(&client.program()?));
        let log = succeed(log.args(["log", "--json", "--verdict", "deny"]))?.stdout;
        let record: Json = serde_json::from_str(log.lines().next_back().context("no record")?)?;
        client.denied = record["call"]["request"].as_str().context("no request id")?.to_owned();
        Ok(Some(client))
    }

    /// Runs the client once. Returns the results of the calls, one a turn.
    fn play(&self, calls: Vec<Block>) -> Result<(Model, Vec<String>)> {
        let count = calls.len();
        let turns: Vec<Vec<Block>> = calls.into_iter().map(|call| vec![call]).collect();
        let model = Model::start(self.agent.api(), vec![Script::main(turns)])?;
        let done = run::run(self.agent, &self.executable, &self.home, &model, &Options::default())?;
        let told =
            |turn| model.result_of(&format!("0-{turn}-0")).with_context(|| format!("{turn}: {done:?}"));
        let told = (0..count).map(told).collect::<Result<_>>()?;
        Ok((model, told))
    }

    /// The call by which the model of this client loads a skill: a tool of Gemini CLI. Codex names the file, and the model
    /// reads it.
    fn load(&self, skill: &str) -> Result<Block> {
        if self.agent == Gemini {
            return Ok(Block::call("activate_skill", json!({ "name": skill })));
        }
        ensure!(self.offered.contains(skill), "{skill} is not offered");
        Ok(self.agent.shell(&format!("cat {}", file(&self.home.codex(), &format!("/{skill}/SKILL.md"))?)))
    }

    /// The plugin's own castellan.
    fn program(&self) -> Result<String> {
        file(&self.home.user().join("unpacked"), "/castellan/bin/castellan")
    }

    /// A shell call of castellan's command with these words, as the skill names it.
    fn castellan(&self, words: &str) -> Result<Block> {
        Ok(self.agent.shell(&format!("{} {words}", self.program()?)))
    }

    /// Loads a skill, and then makes these calls. Returns the results.
    fn follow(&self, skill: &str, says: &str, calls: Vec<Block>) -> Result<Vec<String>> {
        let all: Vec<Block> = [self.load(skill)?].into_iter().chain(calls).collect();
        let (_, told) = self.play(all)?;
        let mut told = told.into_iter();
        let loaded = told.next().unwrap_or_default();
        ensure!(loaded.contains(says), "{:?} does not load {skill}: {loaded}", self.agent);
        Ok(told.collect())
    }
}

/// The first file below a folder whose path ends so.
fn file(folder: &Path, end: &str) -> Result<String> {
    let files = files_below(folder)?;
    let file =
        files.iter().find(|file| file.ends_with(end)).with_context(|| format!("no {end}: {files:?}"))?;
    Ok(folder.join(file).display().to_string())
}

fn check(told: &[String], parts: &[&str]) -> Result<()> {
    ensure!(told.len() == parts.len());
    for (told, part) in told.iter().zip(parts) {
        ensure!(told.contains(part), "{part}: {told}");
    }
    Ok(())
}

fn each_skill(agent: Agent) -> Result<()> {
    let Some(client) = Client::new(agent)? else { return Ok(()) };
    let id = client.denied.clone();
    let calls = [format!("why {id}"), "explain 'rm -rf build'".to_owned()];
    let calls = calls.iter().map(|words| client.castellan(words)).collect::<Result<_>>()?;
    let told = client.follow("castellan-explain-denial", "Trust the effects that castellan shows", calls)?;
    check(&told, &["Test deny", "delete"])?;

    let calls = ["log verify", "report", "log --verdict deny --since 7d --no-pager", "suggest"];
    let calls = calls.iter().map(|words| client.castellan(words)).collect::<Result<_>>()?;
    let told = client.follow("castellan-review-log", "castellan log verify", calls)?;
    check(&told, &["", "", &id, ""])?;
    for told in &told {
        ensure!(!told.contains("castellan blocked this") && !told.contains("error:"), "{told}");
    }

    let skill = concat!(env!("CARGO_MANIFEST_DIR"), "/../plugins/skills/castellan-write-rule/SKILL.md");
    let parts = blocks(&fs::read_to_string(skill)?);
    let [rule, cases] = parts.as_slice() else { anyhow::bail!("two blocks are expected: {parts:?}") };
    let draft = |name: &str, text: &str| client.agent.shell(&format!("cat > {name} <<'END'\n{text}END"));
    let calls = vec![
        draft("castellan-rule.yaml", rule),
        draft("castellan-rule_cases.yaml", cases),
        client.castellan("rules validate castellan-rule.yaml")?,
        client.castellan("rules test castellan-rule.yaml")?,
        // What the skill forbids is denied, whatever a model makes of it.
        client.castellan("apply --yes")?,
    ];
    let says = "You draft the rule. Only the user puts it in force";
    let told = client.follow("castellan-write-rule", says, calls)?;
    check(&told, &["", "", "no problems", "each decided as it says", "castellan blocked this"])
}

#[test]
fn codex_loads_and_follows_each_skill() -> Result<()> {
    each_skill(Codex)
}

#[test]
fn gemini_loads_and_follows_each_skill() -> Result<()> {
    each_skill(Gemini)
}
