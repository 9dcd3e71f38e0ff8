//! Adds the effects of a call's shell text in order. Each part can change the state for the parts after it.

use std::rc::Rc;

use castellan_agents::{AgentId, is_posix_on_windows, shell_variables};
use castellan_event::{Call, Effect, EffectKind, Facts, Role, ToolKind, Why};
use castellan_programs::Arg;
use castellan_shell::{
    Files, Found, Gap, Item, SH, Set, Shell, Start, Work, agent_shells, commands_within, program_within,
};

use crate::code;
use crate::command;
use crate::environment;
use crate::mcp;
use crate::missing;
use crate::scene::Scene;
use crate::scripts;
use crate::sink::Sink;
use crate::snapshot;
use castellan_programs::base_name;

/// Adds the effects of a call's shell texts: its command, and arguments of an MCP tool that are commands. Returns the
/// content that the texts write into files.
pub(crate) fn texts(call: &Call, scene: &mut Scene<'_, '_, '_>, facts: &mut Facts) -> Vec<(Rc<str>, Arg)> {
    let mut start = start_in(Some(call.agent.cwd.clone()).filter(|cwd| !cwd.is_empty()), scene);
    let (is_shell, others) = dialects(call);
    start.shells = shells(call, scene).to_vec();
    if call.tool.kind == ToolKind::Shell && is_shell {
        match snapshot::newest_definitions(call, scene) {
            Ok(definitions) => {
                (start.aliases, start.functions) =
                    (definitions.aliases.clone(), definitions.functions.clone())
            }
            Err(why) => facts.effects.push(Effect {
                kind: EffectKind::Opaque,
                role: Some(Role::Program),
                why: Some(why),
                target: Some("the agent's shell snapshot".to_owned()),
                ..Effect::default()
            }),
        }
    }
    let own = call.command.iter().map(String::as_str);
    let of_mcp = if call.tool.kind == ToolKind::Mcp { mcp::commands(call) } else { Vec::new() };
    let texts: Vec<&str> = own.chain(of_mcp.iter().map(String::as_str)).collect();
    let bytes: usize = texts.iter().map(|text| text.len()).sum();
    let mut work = Work::of_text(bytes);
    let mut walked = Vec::with_capacity(texts.len());
    for text in texts {
        let mut read = |path: &str| scripts::text(path, scene);
        if is_shell {
            walked.push(commands_within(text, &start, &mut work, Files::new(&mut read)));
        }
        for before in others {
            let argv = before.iter().copied().chain([text]).map(Arg::known).collect();
            walked.push(program_within(argv, None, &start, &mut work, Files::new(&mut read)));
        }
    }
    scene.allow_text(bytes, &work);
    for one in &walked {
        found(one, scene, facts);
    }
    walked.into_iter().flat_map(|one| one.written).collect()
}

/// Returns the shells that may run the call's text.
fn shells(call: &Call, scene: &Scene<'_, '_, '_>) -> &'static [Shell] {
    let variables = AgentId::named(&call.agent.name).map(shell_variables);
    match variables {
        Some([]) if call.tool.kind == ToolKind::Shell => &[Shell::Bash],
        variables => {
            let value = |name: &&str| scene.process.as_ref().and_then(|process| process.var(name));
            agent_shells(variables.unwrap_or_default().iter().find_map(value))
        }
    }
}

/// Arguments that make `PowerShell` run a text.
const POWERSHELL: &[&str] = &["pwsh", "-NoProfile", "-Command"];

/// Arguments that make `cmd` run a text.
const CMD: &[&str] = &["cmd", "/c"];

/// Returns true if a POSIX shell may run the call's text, and the other shells that may. If unsure, returns all
/// candidates.
fn dialects(call: &Call) -> (bool, &'static [&'static [&'static str]]) {
    let name = call.tool.name_raw.to_ascii_lowercase();
    let words = || name.split(|letter: char| !letter.is_ascii_alphanumeric());
    let is_shell = call.tool.kind == ToolKind::Shell;
    let is_windows = call.agent.cwd.chars().nth(1) == Some(':');
    if is_shell && call.tool.name == "PowerShell" {
        (false, &[POWERSHELL])
    } else if name.contains("powershell") || words().any(|word| word == "pwsh") {
        (true, &[POWERSHELL])
    } else if words().any(|word| word == "cmd" || word == "batch") {
        (true, &[CMD])
    } else if is_windows && !(is_shell && AgentId::named(&call.agent.name).is_some_and(is_posix_on_windows)) {
        (true, &[POWERSHELL, CMD])
    } else {
        (true, &[])
    }
}

/// Walks a text that something in the call runs, with the remaining work.
pub(crate) fn walked(text: &str, start: &Start, scene: &mut Scene<'_, '_, '_>) -> Found {
    let mut work = std::mem::take(&mut scene.work);
    let mut read = |path: &str| scripts::text(path, scene);
    let found = commands_within(text, start, &mut work, Files::new(&mut read));
    scene.work = work;
    found
}

/// Returns the initial state of `sh`, which a program of the call starts, as far as the agent's process shows it.
pub(crate) fn start_in(cwd: Option<String>, scene: &Scene<'_, '_, '_>) -> Start {
    Start {
        cwd,
        home: Some(scene.places.home().to_owned()).filter(|home| !home.is_empty()),
        env: scene.process.as_ref().map(|process| process.env.clone()).unwrap_or_default(),
        shells: SH.to_vec(),
        ..Start::default()
    }
}

/// Adds the effects of walked shell text.
pub(crate) fn found(found: &Found, scene: &mut Scene<'_, '_, '_>, facts: &mut Facts) {
    facts.background |= found.background;
    for item in &found.items {
        match item {
            Item::Command(run) => {
                let from = run.pipe_from.and_then(|at| found.items.get(at)).and_then(name_of);
                command::add(run, from, scene, facts);
            }
            Item::Set(set) => set_variable(set, scene, facts),
            Item::Script(script) => scripts::checked(script, scene, facts),
            Item::Hole(gap) => {
                let mut sink = Sink::new(scene, &mut facts.effects, None, None);
                // A glob of script files whose contents are unknown.
                let is_pattern =
                    gap.role == Role::Code && gap.why == Why::Glob && gap.written.starts_with('/');
                let own = Some(&*gap.written).filter(|_| is_pattern);
                sink.comes_from(gap.script.as_deref().or(own));
                let why = sink.scene.secrets.source(gap.why, &gap.written, gap.span);
                let why = of_script(why, gap, &found.items, sink.scene);
                sink.opaque(gap.role, why, &gap.written);
            }
        }
    }
}

/// Returns why the content of a file that a shell runs is unknown.
fn of_script(why: Why, gap: &Gap, items: &[Item], scene: &mut Scene<'_, '_, '_>) -> Why {
    // An agent that types a command knows the file that it runs, or creates the file first.
    if (gap.role, why) != (Role::Code, Why::File) || gap.script.is_none() {
        return why;
    }
    let of_gap = |item: &Item| match item {
        Item::Script(script) if script.span == gap.span => Some(script.path.clone()),
        Item::Command(_) | Item::Set(_) | Item::Script(_) | Item::Hole(_) => None,
    };
    let mut files: Vec<Rc<str>> = items.iter().filter_map(of_gap).collect();
    files.retain(|file| file.ends_with(gap.written.trim_start_matches("./")));
    match files.as_slice() {
        [] => why,
        files => files
            .iter()
            .map(|file| missing::why(file, scene))
            .find(|one| *one == Why::File)
            .unwrap_or(Why::Missing),
    }
}

fn name_of(item: &Item) -> Option<String> {
    match item {
        Item::Command(run) => run.argv.first().and_then(Arg::as_str).map(|name| base_name(name).to_owned()),
        Item::Set(_) | Item::Script(_) | Item::Hole(_) => None,
    }
}

/// Usual names of compilers. A `CC` or `CXX` that may have been set to one of them is treated as that compiler.
const COMPILERS: &[&str] = &["c++", "cc", "clang", "clang++", "g++", "gcc", "musl-gcc", "tcc"];

fn set_variable(set: &Set, scene: &mut Scene<'_, '_, '_>, facts: &mut Facts) {
    if set.name == "PATH" {
        scene.names.set_path(&set.value);
    }
    if set.exported {
        scene.exported.insert(set.name.clone());
        scene.exported_texts.extend(environment::run_by_a_shell(&set.name, &set.value));
        scene.exported_compilers.remove(&set.name);
        let compiler = set.value.as_str().filter(|value| COMPILERS.contains(value));
        if let Some(compiler) = compiler.filter(|_| matches!(set.name.as_str(), "CC" | "CXX")) {
            scene.exported_compilers.insert(set.name.clone(), compiler.to_owned());
        }
        if code::may_hold_code(&set.name) {
            scene.exported_code.push((set.name.clone(), set.value.clone()));
        }
    }
    if set.exported || set.name == "PATH" {
        let mut sink = Sink::new(scene, &mut facts.effects, None, None);
        sink.comes_from(set.script.as_deref());
        environment::effect(&set.name, &set.value, &mut sink);
    }
}
