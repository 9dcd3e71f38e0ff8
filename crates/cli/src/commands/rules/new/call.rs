//! The call for a new rule, as a case. Paths in the user's home and workspace are replaced by those of the simulated
//! world of cases.

use anyhow::{Context, bail};
use castellan_agents::AgentId;
use castellan_audit::CallRecord;
use castellan_daemon::{Layout, find_workspace};
use castellan_trial::{Asked, Case, HOME, WORKSPACE};
use serde_json::{Map, Value as Json};

use crate::directories::Directories;
use crate::history::RecordedCall;

/// The mark of a truncated value in a record.
const CUT: &str = "…[cut ";

/// Returns the case of a shell command in the current directory.
pub(super) fn of_command(agent: AgentId, command: &str) -> anyhow::Result<Case> {
    let cwd = std::env::current_dir().context("the current directory is unknown")?;
    let workspace = find_workspace(&cwd).unwrap_or_default();
    let (tool, input) = castellan_agents::shell_call(agent, command);
    let Json::Object(input) = input else {
        bail!("the input of `{tool}` is no object; report this as a bug")
    };
    case(agent, tool, input, &cwd.to_string_lossy(), &workspace)
}

/// Returns the case of a logged call, by its request id or record number.
pub(super) fn recorded(layout: &Layout, id: &str) -> anyhow::Result<Case> {
    let CallRecord { agent, tool_raw, input, cwd, workspace, .. } =
        RecordedCall::named(&layout.log(), id)?.call;
    let agent = AgentId::named(&agent);
    let agent = agent.context("its agent is none that castellan guards")?;
    let text = input.to_string();
    if text.contains(CUT) || text.contains("[redacted ") {
        bail!("the record of `{id}` does not hold all of the call: use `--command`");
    }
    let Json::Object(input) = Json::from(input) else { bail!("the record of `{id}` has no input") };
    case(agent, &tool_raw, input, &cwd, &workspace)
}

fn case(
    agent: AgentId,
    tool: &str,
    input: Map<String, Json>,
    cwd: &str,
    workspace: &str,
) -> anyhow::Result<Case> {
    let home = Directories::of_environment()?.home.display().to_string();
    let places = [(workspace, WORKSPACE), (home.as_str(), HOME)];
    let places: Vec<_> = places.into_iter().filter(|(real, _)| real.len() > 1).collect();
    let call = Asked { tool: tool.to_owned(), input: moved_map(input, &places) };
    Ok(Case { agent, call, cwd: moved(cwd, &places), ..Case::new(tool, Map::new()) })
}

fn moved_map(map: Map<String, Json>, places: &[(&str, &str)]) -> Map<String, Json> {
    map.into_iter().map(|(key, value)| (key, moved_json(value, places))).collect()
}

/// The JSON parser limits the depth, so the recursion is bounded.
fn moved_json(value: Json, places: &[(&str, &str)]) -> Json {
    match value {
        Json::String(text) => moved(&text, places).into(),
        Json::Array(values) => values.into_iter().map(|value| moved_json(value, places)).collect(),
        Json::Object(map) => Json::Object(moved_map(map, places)),
        Json::Null | Json::Bool(_) | Json::Number(_) => value,
    }
}

/// Replaces a directory only if its name ends there or a path continues after it.
fn moved(text: &str, places: &[(&str, &str)]) -> String {
    places.iter().fold(text.to_owned(), |text, (real, made_up)| {
        let mut moved = String::new();
        let mut rest = text.as_str();
        while let Some((before, after)) = rest.split_once(real) {
            let is_whole =
                after.chars().next().is_none_or(|next| !next.is_alphanumeric() && !"-_.".contains(next));
            moved.push_str(before);
            moved.push_str(if is_whole { made_up } else { real });
            rest = after;
        }
        moved + rest
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_named_as_in_the_world_of_cases() {
        let places = [("/u/me/work/app", WORKSPACE), ("/u/me", HOME)];
        for (text, expected) in [
            ("rm -r /u/me/work/app/data", "rm -r /home/dev/project/data"),
            ("ls /u/me /u/me/work/app", "ls /home/dev /home/dev/project"),
            ("ls /u/me2 /u/me/work/apple", "ls /u/me2 /home/dev/work/apple"),
            ("cd '/u/me'; ls", "cd '/home/dev'; ls"),
        ] {
            assert_eq!(moved(text, &places), expected);
        }
    }
}
