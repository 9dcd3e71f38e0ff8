//! An agent under the settings that `castellan settings render` writes, with castellan's hook removed from them: no
//! castellan judges a call, so whatever is stopped is stopped by the agent itself.

mod steps;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use castellan_agents::{AgentId, HookCommand, NativeSecret, NativeValues, native_arguments};
use serde_json::{Value as Json, json};

use crate::agents::{Agent, not_run};
use crate::anthropic::JUDGE;
use crate::home::Home;
use crate::model::{Block, Model, Script};
use crate::process::{Finished, Running};
use crate::run::{AGENT_LIMIT, claude_environment};

const PLAN: &str = "castellan_plan: 1\ncommands:\n  - touch planned-file\n  - python3 read.py\n";
const SECRET: &str = "the-secret-of-the-test";

/// Python that opens each of `FILES` and prints what it reads.
const TRIES: &str = "
for name, mode in FILES:
    try:
        with open(name, mode) as file:
            print(file.read() if mode == 'r' else 'written')
    except OSError as error:
        print('stopped:', error)
";

/// A call, and what becomes of it.
struct Step {
    call: Block,
    /// A file below the root of the test that the call makes, and whether it is there at the end.
    file: Option<(&'static str, bool)>,
    /// A text of the result for the model.
    told: &'static str,
}

impl Step {
    fn runs(call: Block, file: &'static str) -> Step {
        Step { call, file: Some((file, true)), told: "" }
    }

    fn stops(call: Block, file: Option<&'static str>, told: &'static str) -> Step {
        Step { call, file: file.map(|file| (file, false)), told }
    }
}

/// Plays calls that the rendered settings allow, ask about and deny. Without a person an ask is a deny.
pub fn check_native(agent: Agent) -> Result<()> {
    let Some(executable) = agent.executable()? else { return Ok(()) };
    let home = home()?;
    agent.prepare(&home)?;
    render(&home, agent, &["--sandbox", "off"])?;
    remove_hooks(agent, &home)?;
    play(agent, &executable, &home, &arguments(agent, &home), steps::steps(agent, &home)).map(drop)
}

/// Plays Claude Code in `auto`: what the settings allow runs without a question to its judging model.
pub fn check_native_auto() -> Result<()> {
    let agent = Agent::Claude;
    let Some(executable) = agent.executable()? else { return Ok(()) };
    let home = home()?;
    render(&home, agent, &["--sandbox", "off", "--auto"])?;
    remove_hooks(agent, &home)?;
    let steps = vec![
        Step::runs(agent.shell("git add a.txt"), "repo/.git/index"),
        Step::runs(agent.shell("git gc --quiet"), "repo/.git/index"),
        Step::stops(agent.shell("cat .env"), None, "has been denied"),
    ];
    let model = play(agent, &executable, &home, &arguments(agent, &home), steps)?;
    let requests: Vec<String> = model.heard().requests.iter().map(Json::to_string).collect();
    let judged: Vec<&String> = requests.iter().filter(|request| request.contains(JUDGE)).collect();
    // The judge of a call also reads the calls before it.
    let is_about_second = judged.iter().all(|request| request.contains("git gc --quiet"));
    ensure!(!judged.is_empty() && is_about_second, "{judged:?}");
    Ok(())
}

/// Plays programs in Claude Code's sandbox, which needs `bwrap` and `socat`.
pub fn check_native_sandbox() -> Result<()> {
    let agent = Agent::Claude;
    let Some(executable) = agent.executable()? else { return Ok(()) };
    for tool in ["bwrap", "socat"] {
        if Command::new(tool).arg("-V").output().is_err() {
            return not_run(&format!("Claude Code's sandbox needs `{tool}`"));
        }
    }
    let home = home()?;
    let secret = home.user().join(".ssh/id_rsa");
    let code = format!(
        "open('sandboxed-file', 'w')\nFILES = [({secret:?}, 'r'), ('.env', 'r'), ('../outside-file', 'w')]\n{TRIES}"
    );
    home.write(&home.workspace().join("read.py"), &code)?;
    render(&home, agent, &["--sandbox", "on"])?;
    remove_hooks(agent, &home)?;
    let steps = vec![
        Step::runs(agent.shell("python3 read.py"), "repo/sandboxed-file"),
        Step::stops(Block::Text("x".to_owned()), Some("outside-file"), ""),
    ];
    play(agent, &executable, &home, &arguments(agent, &home), steps).map(drop)
}

/// Plays Codex with the arguments of `castellan run`, in a trusted repository that gives itself rights, for a user whose
/// own configuration has no sandbox.
pub fn check_native_arguments() -> Result<()> {
    let agent = Agent::Codex;
    let Some(executable) = agent.executable()? else { return Ok(()) };
    let home = home()?;
    let root = root_of(&home)?;
    let own = format!(
        "default_permissions = \"castellan\"\n[permissions.castellan.filesystem]\n\":root\" = \"write\"\n\"{root}\" = \"write\"\n"
    );
    home.write(&home.workspace().join(".codex/config.toml"), &own)?;
    let ssh = format!("{root}/user/.ssh");
    let secret = |pattern: &str, present: Option<&str>| NativeSecret {
        pattern: pattern.to_owned(),
        is_wide: false,
        present: present.map(str::to_owned),
    };
    let values = NativeValues {
        work_dir: format!("{root}/repo"),
        directories: Vec::new(),
        commands: Vec::new(),
        stopped: Vec::new(),
        hosts: None,
        secrets: vec![secret("**/.ssh/**", Some(&ssh)), secret("**/.env", None)],
        kept: Vec::new(),
        hook: HookCommand { program: "/castellan-hook".to_owned(), home: "/h".to_owned() },
        is_auto: false,
        has_sandbox: true,
    };
    let config = home.codex().join("config.toml");
    let text = fs::read_to_string(&config)?;
    fs::write(&config, format!("sandbox_mode = \"danger-full-access\"\n{text}"))?;
    let arguments = native_arguments(AgentId::CODEX, &values, &values.work_dir, "5f0e9a");
    let steps = vec![
        Step::runs(agent.shell("touch planned-file"), "repo/planned-file"),
        Step::stops(agent.shell("touch ../outside-file"), Some("outside-file"), "Read-only file system"),
        Step::stops(agent.shell("cat .env; cat ../user/.ssh/id_rsa"), None, "Permission denied"),
    ];
    play(agent, &executable, &home, &arguments, steps).map(drop)
}

/// Plays Claude Code under `castellan run --plan`, with castellan's hook: the planned command runs without any prompt, and
/// another one does not. A repository that switches hooks off and permits everything changes nothing.
pub fn check_native_run() -> Result<()> {
    let agent = Agent::Claude;
    let Some(executable) = agent.executable()? else { return Ok(()) };
    let home = home()?;
    let loose = r#"{"disableAllHooks":true,"permissions":{"defaultMode":"bypassPermissions"}}"#;
    home.write(&home.workspace().join(".claude/settings.json"), loose)?;
    home.start_daemon()?;
    let steps = [("touch planned-file", true), ("touch other-file", false), ("cat .env", false)];
    let turns: Vec<_> = steps.iter().map(|(command, _)| vec![agent.shell(command)]).collect();
    let model = Model::start(agent.api(), vec![Script::main(turns)])?;
    let mut command = home.command(&home.bin().join("castellan"));
    command.envs(claude_environment(&model)).arg("--home").arg(home.castellan()).arg("run").arg("--plan");
    command.arg(home.castellan().join("plan.yaml")).arg("--").arg(&executable);
    let done = Running::start(command.args(["-p", "--output-format", "json", "go"]))?.finish(AGENT_LIMIT)?;
    for (at, (command, runs)) in steps.iter().enumerate() {
        let result = model.result_of(&format!("0-{at}-0")).with_context(|| format!("{command}: {done:?}"))?;
        ensure!(!result.contains(SECRET), "{command}: {result}");
        let asked = home
            .records()?
            .iter()
            .filter(|record| record.pointer("/call/input/command") == Some(&json!(command)))
            .count();
        ensure!(asked == 1, "{command}: castellan's hook was asked {asked} times: {result}");
        let made = command.strip_prefix("touch ").map(|name| home.workspace().join(name).exists());
        ensure!(made.is_none_or(|made| made == *runs), "{command}: {result}\n{done:?}");
    }
    let denials: Json = serde_json::from_str(&done.stdout)?;
    let denied = denials.get("permission_denials").context("no denials")?.to_string();
    ensure!(!denied.contains("planned-file") && denied.contains("other-file"), "{denied}");
    Ok(())
}

fn home() -> Result<Home> {
    let home = Home::with_castellan("native", "version = 1\n", "")?;
    home.write(&home.user().join(".ssh/id_rsa"), SECRET)?;
    home.write(&home.workspace().join(".env"), SECRET)?;
    home.write(&home.workspace().join("a.txt"), "a\n")?;
    home.write(&home.castellan().join("plan.yaml"), PLAN)?;
    Ok(home)
}

fn root_of(home: &Home) -> Result<String> {
    let root = home.workspace().parent().context("no root")?.canonicalize()?;
    Ok(root.to_str().context("not UTF-8")?.to_owned())
}

fn render(home: &Home, agent: Agent, more: &[&str]) -> Result<()> {
    let plan = home.castellan().join("plan.yaml").display().to_string();
    let work_dir = home.workspace().display().to_string();
    let words = ["settings", "render", "--agent", agent.name(), "--work-dir", &work_dir, "--plan", &plan];
    home.run_castellan(&[&words[..], more].concat())?;
    Ok(())
}

/// Removes castellan's hook from the rendered settings. Codex runs none that its user has not trusted.
fn remove_hooks(agent: Agent, home: &Home) -> Result<()> {
    let file = match agent {
        Agent::Claude => home.workspace().join(".claude/settings.json"),
        Agent::Gemini => home.workspace().join(".gemini/settings.json"),
        Agent::Codex | Agent::Qwen => return Ok(()),
    };
    let mut settings: Json = serde_json::from_slice(&fs::read(&file)?)?;
    let hooks = settings.as_object_mut().and_then(|fields| fields.remove("hooks"));
    ensure!(hooks.is_some(), "the settings have no hooks: {settings}");
    fs::write(&file, settings.to_string())?;
    Ok(())
}

fn arguments(agent: Agent, home: &Home) -> Vec<String> {
    let file = |name: &str| home.workspace().join(name).display().to_string();
    match agent {
        Agent::Claude => vec!["--settings".to_owned(), file(".claude/settings.json")],
        Agent::Gemini => vec!["--policy".to_owned(), file(".gemini/castellan.toml")],
        Agent::Codex | Agent::Qwen => Vec::new(),
    }
}

/// Plays the steps, and returns the model with what it heard.
fn play(
    agent: Agent,
    executable: &Path,
    home: &Home,
    arguments: &[String],
    steps: Vec<Step>,
) -> Result<Model> {
    let turns: Vec<Vec<Block>> = steps.iter().map(|step| vec![step.call.clone()]).collect();
    let model = Model::start(agent.api(), vec![Script::main(turns)])?;
    if agent == Agent::Codex {
        // One helper of its sandbox makes this as a mount point and removes it, while another one lists the repository.
        fs::create_dir_all(home.workspace().join(".agents"))?;
    }
    let done = start(agent, executable, home, &model, arguments)?;
    let shown = || format!("{}\n{}", done.stdout, done.stderr);
    let root = PathBuf::from(root_of(home)?);
    for (at, Step { call, file, told }) in steps.iter().enumerate() {
        let result = model.result_of(&format!("0-{at}-0"));
        if call.is_call() {
            let result = result.as_ref().with_context(|| format!("{call:?}\n{}", shown()))?;
            ensure!(result.contains(told), "{call:?}: {result}");
            ensure!(!result.contains(SECRET), "{call:?}: {result}");
        }
        if let Some((name, is_made)) = file {
            ensure!(root.join(name).exists() == *is_made, "{call:?}: `{name}`: {result:?}\n{}", shown());
        }
    }
    Ok(model)
}

/// Starts an agent without any flag that skips its permissions.
fn start(
    agent: Agent,
    executable: &Path,
    home: &Home,
    model: &Model,
    arguments: &[String],
) -> Result<Finished> {
    let mut command = home.command(executable);
    let address = format!("http://127.0.0.1:{}", model.port());
    match agent {
        Agent::Claude => {
            command
                .envs(claude_environment(model))
                // In `auto` it then asks its judge in requests of their own.
                .env("CLAUDE_CODE_AUTO_MODE_SERVER", "0")
                .args(["-p", "--output-format", "json"])
                .args(arguments)
                .arg("go");
        }
        Agent::Codex => {
            let address = format!("model_providers.scripted.base_url=\"{address}/v1\"");
            command.args(["exec", "--json", "-m", "gpt-5.5", "-c", &address]).args(arguments).arg("go");
        }
        Agent::Gemini | Agent::Qwen => {
            command.env("GOOGLE_GEMINI_BASE_URL", address).env("GEMINI_API_KEY", "scripted");
            command.env("GEMINI_CLI_TRUST_WORKSPACE", "true").env("GEMINI_CLI_NO_RELAUNCH", "true");
            // Without this mode it offers its model no tool that writes, as no rule allows one.
            command
                .args(["--approval-mode", "auto_edit", "--model", "gemini-2.5-pro"])
                .args(arguments)
                .args(["--prompt", "go"]);
        }
    }
    Running::start(&mut command)?.finish(AGENT_LIMIT)
}
