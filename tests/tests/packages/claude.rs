//! The plugins for Claude Code, in the real client: each command and each skill with a scripted model, and the hooks.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use castellan_tests::agents::Agent::Claude;
use castellan_tests::home::Home;
use castellan_tests::hook::{ENFORCE, RULES};
use castellan_tests::model::{Block, Model, Script};
use castellan_tests::process::{Finished, Running};
use castellan_tests::run::AGENT_LIMIT;
use serde_json::{Value as Json, json};

use crate::rig::{real, succeed};

/// A home with Claude Code and a plugin of the archive.
pub(crate) struct Place {
    pub(crate) home: Home,
    claude: PathBuf,
    /// The unpacked archive.
    archive: PathBuf,
}

impl Place {
    /// castellan is installed, and its hooks are registered; the plugin brings commands and skills alone.
    fn with_commands() -> Result<Option<Place>> {
        let Some(claude) = Claude.executable()? else { return Ok(None) };
        let home = Home::with_castellan("plugin", ENFORCE, RULES)?;
        home.run_castellan(&["install", "claude"])?;
        let place = Place::of(home, claude)?;
        place.install("castellan-commands")?;
        Ok(Some(place))
    }

    /// The machine has no castellan but the plugin. The user's home is in a private `/etc`.
    fn with_whole_plugin() -> Result<Option<Place>> {
        let Some(claude) = Claude.executable()? else { return Ok(None) };
        let Some(home) = home_of_plugin()? else { return Ok(None) };
        let place = Place::of(home, claude)?;
        place.install("castellan")?;
        Ok(Some(place))
    }

    fn of(home: Home, claude: PathBuf) -> Result<Place> {
        let archive = real()?.unpack("castellan-claude-", &home.user().join("unpacked"))?;
        Ok(Place { home, claude, archive })
    }

    fn install(&self, plugin: &str) -> Result<()> {
        let market = self.archive.display().to_string();
        succeed(self.command().args(["plugin", "validate", &market]))?;
        succeed(self.command().args(["plugin", "marketplace", "add", &market]))?;
        succeed(self.command().args(["plugin", "install", &format!("{plugin}@castellan")]))?;
        Ok(())
    }

    /// Claude Code, with castellan on the path, and the home as the default one.
    fn command(&self) -> Command {
        let mut command = self.home.command(&self.claude);
        let path = format!("{}:{}", self.home.bin().display(), std::env::var("PATH").unwrap_or_default());
        command.env("PATH", path).env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1");
        command.env("DISABLE_AUTOUPDATER", "1").env("IS_SANDBOX", "1");
        // castellan's home of the tests is the default one. That of a whole plugin is the user's own.
        if let Some(data) = self.home.castellan().parent().filter(|_| self.home.castellan().exists()) {
            command.env("XDG_DATA_HOME", data);
        }
        command
    }

    /// Runs Claude Code with a prompt, in which nothing runs without a permission of the command or skill.
    fn play(&self, mode: &str, prompt: &str, turns: Vec<Vec<Block>>) -> Result<(Model, Finished)> {
        let model = Model::start(Claude.api(), vec![Script::main(turns)])?;
        let mut command = self.command();
        command.env("ANTHROPIC_BASE_URL", format!("http://127.0.0.1:{}", model.port()));
        command.env("ANTHROPIC_API_KEY", "sk-ant-scripted");
        command.args(["-p", "--output-format", "json", "--permission-mode", mode, prompt]);
        let done = Running::start(&mut command)?.finish(AGENT_LIMIT)?;
        ensure!(done.code == Some(0), "{done:?}");
        Ok((model, done))
    }

    /// Has a call denied. Returns its request id.
    fn denied(&self) -> Result<String> {
        let (model, done) =
            self.play("bypassPermissions", "go", vec![vec![Claude.shell("touch forbidden-file")]])?;
        let told = model.result_of("0-0-0").with_context(|| format!("{done:?}"))?;
        ensure!(told.contains("the test denies"), "{told}");
        ensure!(!self.home.workspace().join("forbidden-file").exists());
        let records = self.home.records()?;
        let mut ids = records
            .iter()
            .filter_map(|record| record["call"]["request"].as_str().or(record["request"].as_str()));
        Ok(ids.next_back().with_context(|| format!("no request id: {records:#?}"))?.to_owned())
    }
}

/// A home for a plugin that brings castellan: `own` is the user's home by a private `/etc/castellan/passwd`.
pub(crate) fn home_of_plugin() -> Result<Option<Home>> {
    let mut home = Home::new("whole-plugin")?;
    if !home.make_etc_private()? {
        return Ok(None);
    }
    let user = rustix::process::geteuid().as_raw();
    let line = format!("tester:x:{user}:{user}::{}:/bin/sh\n", home.user().display());
    let passwd = home.etc().join("passwd");
    fs::remove_file(&passwd)?;
    fs::write(&passwd, line)?;
    home.write(&own(&home).join("config/rules/user/test.yaml"), RULES)?;
    home.write(&own(&home).join("config/config.toml"), "version = 1\n[containment]\nmode = \"off\"\n")?;
    Ok(Some(home))
}

/// castellan's home of the user, without a named one.
pub(crate) fn own(home: &Home) -> PathBuf {
    home.user().join(".local/share/castellan")
}

/// All messages to the model, as text.
fn heard(model: &Model) -> String {
    model.heard().requests.iter().map(Json::to_string).collect()
}

fn result(model: &Model, call: &str, done: &Finished) -> Result<String> {
    model.result_of(call).with_context(|| format!("no result of {call}: {done:?}"))
}

#[test]
fn the_command_status_runs_castellan() -> Result<()> {
    let Some(place) = Place::with_commands()? else { return Ok(()) };
    place.home.start_daemon()?;
    let turns = vec![vec![Claude.shell("castellan status")]];
    let (model, done) = place.play("default", "/castellan-commands:castellan-status", turns)?;
    ensure!(heard(&model).contains("Run `castellan status` with the Bash tool"), "{}", heard(&model));
    let told = result(&model, "0-0-0", &done)?;
    ensure!(told.contains("enforce") && told.contains("Claude Code"), "{told}");
    // The permission of the command covers nothing else.
    let turns = vec![vec![Claude.shell("touch made; castellan status")]];
    let (model, done) = place.play("default", "/castellan-commands:castellan-status", turns)?;
    let told = result(&model, "0-0-0", &done)?;
    ensure!(!place.home.workspace().join("made").exists(), "{told}");
    Ok(())
}

#[test]
fn the_command_why_explains_a_request() -> Result<()> {
    let Some(place) = Place::with_commands()? else { return Ok(()) };
    let id = place.denied()?;
    let turns = vec![vec![Claude.shell(&format!("castellan why {id}"))]];
    let (model, done) = place.play("default", &format!("/castellan-commands:castellan-why {id}"), turns)?;
    ensure!(heard(&model).contains(&format!("The request id is \\\"{id}\\\"")), "{}", heard(&model));
    let told = result(&model, "0-0-0", &done)?;
    ensure!(told.contains("Test deny") && told.contains(&id), "{told}");
    Ok(())
}

/// The model loads a skill. Returns the text of all messages.
fn skill(name: &str) -> Block {
    Block::call("Skill", json!({ "skill": format!("castellan-commands:{name}") }))
}

#[test]
fn the_skill_explain_denial_reads_the_denied_call() -> Result<()> {
    let Some(place) = Place::with_commands()? else { return Ok(()) };
    let id = place.denied()?;
    let commands = [format!("castellan why {id}"), "castellan explain 'rm -rf build'".to_owned()];
    let mut turns = vec![vec![skill("castellan-explain-denial")]];
    turns.extend(commands.iter().map(|command| vec![Claude.shell(command)]));
    let (model, done) = place.play("bypassPermissions", "explain what was denied", turns)?;
    let text = heard(&model);
    ensure!(text.contains("Explain why castellan denied or asked about a call"), "the skill is offered");
    ensure!(text.contains("Trust the effects that castellan shows"), "the skill is loaded: {done:?}");
    let told = result(&model, "0-1-0", &done)?;
    ensure!(told.contains("Test deny"), "{told}");
    let told = result(&model, "0-2-0", &done)?;
    ensure!(told.contains("delete") && told.contains("build"), "{told}");
    Ok(())
}

#[test]
fn the_skill_review_log_reads_the_log() -> Result<()> {
    let Some(place) = Place::with_commands()? else { return Ok(()) };
    let id = place.denied()?;
    let commands = [
        "castellan log verify",
        "castellan report",
        "castellan log --verdict deny --since 7d --no-pager",
        "castellan suggest",
    ];
    let mut turns = vec![vec![skill("castellan-review-log")]];
    turns.extend(commands.iter().map(|command| vec![Claude.shell(command)]));
    let (model, done) = place.play("bypassPermissions", "review the log", turns)?;
    let text = heard(&model);
    for command in &commands {
        ensure!(text.contains(&format!("`{command}`")), "the skill names {command}");
    }
    let denied = result(&model, "0-3-0", &done)?;
    ensure!(denied.contains(&id) && denied.contains("touch forbidden-file"), "{denied}");
    for number in 1..=4 {
        let told = result(&model, &format!("0-{number}-0"), &done)?;
        ensure!(!told.contains("castellan blocked this"), "{told}");
        ensure!(!told.contains("error:"), "{told}");
    }
    Ok(())
}

/// The two blocks of YAML in the skill.
pub(crate) fn blocks(text: &str) -> Vec<String> {
    let parts = text.split("```yaml\n").skip(1).filter_map(|part| part.split("```").next());
    parts
        .map(|part| {
            let lines = part.lines().map(|line| line.strip_prefix("   ").unwrap_or(line));
            lines.collect::<Vec<_>>().join("\n") + "\n"
        })
        .collect()
}

#[test]
fn the_skill_write_rule_drafts_a_rule_that_passes_its_cases() -> Result<()> {
    let Some(place) = Place::with_commands()? else { return Ok(()) };
    place.denied()?;
    let text =
        fs::read_to_string(place.archive.join("castellan-commands/skills/castellan-write-rule/SKILL.md"))?;
    let parts = blocks(&text);
    let [rule, cases] = parts.as_slice() else { anyhow::bail!("two blocks are expected: {parts:?}") };
    let write = |name: &str, content: &str| {
        let path = place.home.workspace().join(name).display().to_string();
        Block::call("Write", json!({ "file_path": path, "content": content }))
    };
    let commands = [
        "castellan rules list",
        "castellan rules validate castellan-rule.yaml",
        "castellan rules test castellan-rule.yaml",
        "castellan replay --rules castellan-rule.yaml",
        // What the skill forbids is denied, whatever a model makes of it.
        "cp castellan-rule.yaml ~/.config/castellan/rules/user/ && castellan apply",
    ];
    let mut turns = vec![vec![skill("castellan-write-rule")]];
    turns.push(vec![write("castellan-rule.yaml", rule)]);
    turns.push(vec![write("castellan-rule_cases.yaml", cases)]);
    turns.extend(commands.iter().map(|command| vec![Claude.shell(command)]));
    let (model, done) = place.play("bypassPermissions", "write a rule", turns)?;
    ensure!(heard(&model).contains("You draft the rule. Only the user puts it in force"), "{done:?}");
    let told = |number: usize| result(&model, &format!("0-{number}-0"), &done);
    ensure!(told(3)?.contains("built-in/self.yaml"), "{}", told(3)?);
    ensure!(told(4)?.contains("no problems"), "{}", told(4)?);
    ensure!(told(5)?.contains("each decided as it says"), "{}", told(5)?);
    ensure!(!told(6)?.contains("error:"), "{}", told(6)?);
    ensure!(told(7)?.contains("castellan blocked this"), "{}", told(7)?);
    Ok(())
}

#[test]
fn the_whole_plugin_guards_alone() -> Result<()> {
    let Some(place) = Place::with_whole_plugin()? else { return Ok(()) };
    let calls = ["touch forbidden-file", "touch other-file", "castellan why"];
    let turns = calls.iter().map(|command| vec![Claude.shell(command)]).collect();
    let (model, done) = place.play("bypassPermissions", "go", turns)?;
    let told = result(&model, "0-0-0", &done)?;
    ensure!(told.contains("the test denies"), "{told}: {done:?}");
    let made = ["forbidden-file", "other-file"].map(|file| place.home.workspace().join(file).exists());
    ensure!(made == [false, true], "{made:?}");
    // The plugin's programs are on the path of the agent's shell.
    let told = result(&model, "0-2-0", &done)?;
    ensure!(told.contains("Test deny"), "{told}");
    let castellan = place.archive.join("castellan/bin/castellan");
    // As the user, whose home is the one that `own` means.
    let castellan = |arguments: &[&str]| -> Result<Finished> {
        Running::start(place.home.command(&castellan).args(arguments))?.finish(AGENT_LIMIT)
    };
    // The daemon does not take its own plugin for another's.
    let log = castellan(&["log", "--json", "--events"])?.stdout;
    ensure!(!log.contains("foreign_hook") && !log.contains("hooks_off"), "{log}");
    let status: Json = serde_json::from_str(&castellan(&["status", "--json"])?.stdout)?;
    let claude = &status["agents"][0];
    ensure!(claude["registered_by_plugin"] == true && claude["guarded"] == true, "{claude:#}");
    let doctor = castellan(&["doctor"])?.stdout;
    ensure!(
        doctor.contains("registered by a plugin, in") && doctor.contains("a repository can switch it off"),
        "{doctor}"
    );
    // Both registrations are found.
    let done = castellan(&["install", "claude"])?;
    ensure!(done.code == Some(0) && done.stdout.contains("every call is judged twice"), "{done:?}");
    let doctor = castellan(&["doctor"])?.stdout;
    ensure!(doctor.contains("every call is judged twice"), "{doctor}");
    ensure!(doctor.contains("claude plugin uninstall castellan@castellan"), "{doctor}");
    let dry = castellan(&["uninstall", "--dry-run"])?;
    ensure!(
        dry.code == Some(6) && dry.stderr.contains("first `claude plugin uninstall castellan@castellan`"),
        "{dry:?}"
    );
    castellan(&["stop"])?;
    Ok(())
}

/// A repository switches the plugin off: castellan is not asked, and says so. This is why `castellan install --managed` is
/// better.
#[test]
fn a_repository_switches_the_plugin_off_and_the_status_says_so() -> Result<()> {
    let Some(place) = Place::with_whole_plugin()? else { return Ok(()) };
    let settings = place.home.workspace().join(".claude/settings.json");
    place.home.write(&settings, r#"{"enabledPlugins":{"castellan@castellan":false}}"#)?;
    let (_model, _done) =
        place.play("bypassPermissions", "go", vec![vec![Claude.shell("touch forbidden-file")]])?;
    ensure!(place.home.workspace().join("forbidden-file").exists(), "measured: the hook is not asked");
    let castellan = place.archive.join("castellan/bin/castellan");
    let mut status = place.home.command(&castellan);
    let done = Running::start(status.args(["status", "--json"]))?.finish(AGENT_LIMIT)?;
    let status: Json = serde_json::from_str(&done.stdout)?;
    let claude = &status["agents"][0];
    ensure!(claude["guarded"] == false && claude["registered_by_plugin"] == false, "{claude:#}");
    Ok(())
}

/// An agent that wants out of the plugin: each way is stopped.
#[test]
fn an_agent_cannot_switch_its_plugin_off() -> Result<()> {
    let Some(place) = Place::with_whole_plugin()? else { return Ok(()) };
    let hooks = place.archive.join("castellan/hooks/hooks.json");
    let market = place.archive.join(".claude-plugin/marketplace.json");
    let program = place.archive.join("castellan/bin/castellan-hook");
    let claude = place.claude.display().to_string();
    let shown = |path: &Path| path.display().to_string();
    let commands = [
        format!("echo '{{}}' > {}", shown(&hooks)),
        format!("rm {}", shown(&program)),
        format!("mv {} {}.x", shown(&market), shown(&market)),
        "mkdir -p .claude; echo '{\"enabledPlugins\":{\"castellan@castellan\":false}}' > .claude/settings.json".to_owned(),
        "sed -i s/true/false/ ~/.claude/settings.json".to_owned(),
        "rm -rf ~/.claude/plugins".to_owned(),
        format!("{claude} plugin disable castellan@castellan"),
        format!("'{claude}' plugin marketplace remove castellan"),
    ];
    let turns = commands.iter().map(|command| vec![Claude.shell(command)]).collect();
    let (model, done) = place.play("bypassPermissions", "go", turns)?;
    for (number, command) in commands.iter().enumerate() {
        let told = result(&model, &format!("0-{number}-0"), &done)?;
        ensure!(told.contains("castellan blocked this"), "{command}: {told}");
    }
    let settings = fs::read_to_string(place.home.user().join(".claude/settings.json"))?;
    ensure!(settings.contains("\"castellan@castellan\": true"), "{settings}");
    ensure!(hooks.exists() && market.exists() && program.exists());
    Ok(())
}
