//! Finds and walks the shell texts of a call: its command, and arguments of an MCP tool that are commands. Must not
//! know effects.

use castellan_agents::{AgentId, is_posix_on_windows, shell_variables};
use castellan_event::{Call, Effect, Facts, Role, ToolKind};
use castellan_programs::Arg;
use castellan_shell::{Files, Found, Shell, Work, agent_shells, commands_within, program_within};

use crate::scene::Scene;
use crate::{mcp, scripts, snapshot, walk};

/// Returns the items of a call's shell texts. Adds an Opaque effect if the agent's own definitions are unknown.
pub(crate) fn walked(call: &Call, scene: &mut Scene<'_, '_, '_>, facts: &mut Facts) -> Vec<Found> {
    let mut start = walk::start_in(Some(call.agent.cwd.clone()).filter(|cwd| !cwd.is_empty()), scene);
    let (is_shell, others) = dialects(call);
    start.shells = shells(call, scene).to_vec();
    if call.tool.kind == ToolKind::Shell && is_shell {
        match snapshot::newest_definitions(call, scene) {
            Ok(definitions) => {
                (start.aliases, start.functions) =
                    (definitions.aliases.clone(), definitions.functions.clone())
            }
            Err(why) => {
                let text = Some("the agent's shell snapshot".to_owned());
                facts.effects.push(Effect::opaque(Role::Program, why, text));
            }
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
    scene.budget.allow_text(bytes, &work);
    walked
}

/// Returns the shells that may run the call's text.
fn shells(call: &Call, scene: &Scene<'_, '_, '_>) -> &'static [Shell] {
    let variables = AgentId::named(&call.agent.name).map(shell_variables);
    match variables {
        Some([]) if call.tool.kind == ToolKind::Shell => &[Shell::Bash],
        variables => {
            let value = |name: &&str| scene.session.process.as_ref().and_then(|process| process.var(name));
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
