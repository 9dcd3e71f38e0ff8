//! A strict plan in front of a real client: planned calls run, others do not, and no call of the agent changes that.

use std::fs;

use anyhow::{Context, Result, ensure};
use serde_json::Value as Json;

use super::{Registered, Stage};
use crate::agents::Agent;
use crate::attended::Attended;
use crate::model::{Block, Model, PLAN_FILE, Script};
use crate::process::{Finished, Running};
use crate::run::{AGENT_LIMIT, Options};
use crate::wait::until;

const CONFIG: &str = "version = 1\nmode = \"enforce\"\n";
const PLAN: &str = "castellan_plan: 1\nname: files\ncommands: [touch *, cp *, castellan *]\nhosts: []\n";
const WIDER: &str = "castellan_plan: 1\nname: files\n";

/// Runs `castellan` in the workspace, without a person.
fn castellan(stage: &Stage, arguments: &[&str]) -> Result<Finished> {
    let mut command = stage.home.command(&stage.home.bin().join("castellan"));
    command.arg("--home").arg(stage.home.castellan()).args(arguments).current_dir(stage.home.workspace());
    Running::start(&mut command)?.finish(AGENT_LIMIT)
}

fn staged(agent: Agent, plan: &str, is_strict: bool) -> Result<Option<Stage>> {
    let Some(stage) = Stage::with_config(agent, CONFIG, Registered::User)? else { return Ok(None) };
    fs::write(stage.home.workspace().join("plan.yaml"), plan)?;
    fs::write(stage.home.workspace().join("wider.yaml"), WIDER)?;
    stage.home.start_daemon()?;
    let strict: &[&str] = if is_strict { &["--strict"] } else { &[] };
    let used = castellan(&stage, &[&["plan", "use", "plan.yaml"], strict].concat())?;
    ensure!(used.code == Some(0), "{used:?}");
    Ok(Some(stage))
}

/// Plays planned and unplanned calls, the marker of unplanned work, and calls by which the agent tries to change its
/// plan. The modes of these sessions hold no ask, so an ask is a deny.
pub fn check_strict_plan(agent: Agent) -> Result<()> {
    let Some(stage) = staged(agent, PLAN, true)? else { return Ok(()) };
    let castellan_path = stage.home.bin().join("castellan").display().to_string();
    let home = stage.home.castellan().display().to_string();
    let commands = [
        "touch planned".to_owned(),
        "mkdir unplanned".to_owned(),
        "touch second; mkdir second-head".to_owned(),
        "mkdir marked # castellan: ad-hoc".to_owned(),
        "cp wider.yaml plan.yaml".to_owned(),
        format!("{castellan_path} --home {home} plan use wider.yaml"),
        format!("{castellan_path} --home {home} plan end"),
        "mkdir after".to_owned(),
        "touch still-planned".to_owned(),
    ];
    let turns: Vec<Vec<Block>> = commands.iter().map(|command| vec![agent.shell(command)]).collect();
    let (_model, done) = stage.play(vec![Script::main(turns)], &Options::default())?;
    for (file, made) in [
        ("planned", true),
        ("unplanned", false),
        ("second-head", false),
        ("marked", false),
        ("after", false),
        ("still-planned", true),
    ] {
        stage.expect_file(file, made, &done);
    }
    let log = fs::read_to_string(stage.home.castellan().join("state/plan_violations.jsonl"))?;
    let rows = log.lines().map(serde_json::from_str).collect::<Result<Vec<Json>, _>>()?;
    let is_blocked = |command: &str| {
        let of = |row: &Json, key: &str| row.get(key).and_then(Json::as_str).unwrap_or_default().to_owned();
        rows.iter().any(|row| {
            of(row, "command") == command && of(row, "decision") == "block" && !of(row, "arm").is_empty()
        })
    };
    for command in ["mkdir unplanned", "mkdir marked # castellan: ad-hoc", "mkdir after"] {
        ensure!(is_blocked(command), "{command}: {log}");
    }
    Ok(())
}

/// Plays unplanned calls under a plan that only records them.
pub fn check_warned_plan(agent: Agent) -> Result<()> {
    let Some(stage) = staged(agent, PLAN, false)? else { return Ok(()) };
    let turns = vec![vec![agent.shell("touch planned")], vec![agent.shell("mkdir unplanned")]];
    let (_model, done) = stage.play(vec![Script::main(turns)], &Options::default())?;
    stage.expect_file("planned", true, &done);
    stage.expect_file("unplanned", true, &done);
    let log = fs::read_to_string(stage.home.castellan().join("state/plan_violations.jsonl"))?;
    ensure!(log.lines().count() == 1 && log.contains("\"decision\":\"warn\""), "{log}");
    Ok(())
}

/// Plays a plan that Claude Code presents at a terminal. Nobody has answered its dialogue, and that approves nothing.
pub fn check_presented_plan() -> Result<()> {
    let Some(stage) = Stage::with_config(Agent::Claude, CONFIG, Registered::User)? else { return Ok(()) };
    let plan = "# Plan\n\n```sh\ntouch out/a\n```\n";
    // Claude Code passes the text of its plan file to hooks.
    let write = Block::call("Write", serde_json::json!({ "file_path": PLAN_FILE, "content": plan }));
    let turns = vec![vec![write], vec![Block::call("ExitPlanMode", serde_json::json!({}))]];
    let model = Model::start(Agent::Claude.api(), vec![Script::main(turns)])?;
    let _attended = Attended::start(&stage.home, &stage.executable, &model, "plan")?;
    let proposed = until(AGENT_LIMIT, || {
        let status = castellan(&stage, &["plan", "status", "--json"])?;
        let shown: Json = serde_json::from_str(&status.stdout).unwrap_or_default();
        Ok(shown.pointer("/plans/0").cloned())
    })?;
    let plan = proposed.with_context(|| format!("no plan is proposed: {:?}", model.result_of("0-0-0")))?;
    let is_open = plan.get("proposal").is_some_and(Json::is_string)
        && plan.get("is_approved") == Some(&Json::Bool(false));
    ensure!(is_open, "{plan}");
    ensure!(plan.get("scope").is_some_and(|scope| scope.to_string().contains("touch out/a")), "{plan}");
    Ok(())
}
