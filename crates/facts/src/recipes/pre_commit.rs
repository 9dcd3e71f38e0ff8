//! Hooks of a `.pre-commit-config.yaml`, by pre-commit 4. Hooks of the project itself name the commands that they run.
//! Hooks of other repositories are installed programs.

use castellan_event::Why;
use serde_json::Value;

use super::{Script, Wanted};
use crate::yaml;

/// Returns the commands of the requested hook, or of all hooks without a name.
pub(super) fn script(text: &str, wanted: &Wanted<'_>) -> Script {
    let mut script = Script::default();
    let file = match yaml::read(text) {
        Ok(file) => file,
        Err(why) => {
            script.holes.push((why, ".pre-commit-config.yaml".to_owned()));
            return script;
        }
    };
    let list =
        |value: &Value, key: &str| value.get(key).and_then(Value::as_array).cloned().unwrap_or_default();
    let text = |hook: &Value, key: &str| hook.get(key).and_then(Value::as_str).map(str::to_owned);
    let is_local = |repository: &Value| text(repository, "repo").as_deref() == Some("local");
    for hook in list(&file, "repos").iter().filter(|one| is_local(one)).flat_map(|one| list(one, "hooks")) {
        if wanted.name.is_some_and(|name| text(&hook, "id").as_deref() != Some(name)) {
            continue;
        }
        let Some(entry) = text(&hook, "entry") else { continue };
        match text(&hook, "language").as_deref() {
            // Patterns for a search, and hooks that always fail.
            Some("pygrep" | "fail") => {}
            Some("docker" | "docker_image") => script.holes.push((Why::Unsupported, entry)),
            // A script's path is relative to the project's root.
            _ => script.texts.push(entry),
        }
    }
    script
}
