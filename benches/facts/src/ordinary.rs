//! Calls of agents: everyday commands, and scripts of them.

use castellan_corpus::{commands, shell_call};
use castellan_event::Call;

/// The set of the everyday commands. The other sets are named after their size.
pub(crate) const COMMANDS: &str = "commands";

/// Limit of the bytes of a typical command.
pub(crate) const TYPICAL_BYTES: usize = 200;

/// Sizes of ordinary scripts, each with its limit in µs.
pub(crate) const SCRIPTS: &[(&str, usize, Option<f64>)] =
    &[("1 KiB", 1 << 10, None), ("4 KiB", 4 << 10, Some(1_000.0)), ("16 KiB", 16 << 10, None)];

/// Scripts of each size.
const SCRIPTS_EACH: usize = 8;

/// Returns the calls of a set; `None` for an unknown name.
pub(crate) fn set(name: &str) -> Option<Vec<Call>> {
    if name == COMMANDS {
        return Some(typical());
    }
    SCRIPTS.iter().find(|(size, ..)| *size == name).map(|(_, bytes, _)| scripts(*bytes))
}

/// Returns everyday commands under [`TYPICAL_BYTES`].
fn typical() -> Vec<Call> {
    commands().iter().filter(|text| text.len() < TYPICAL_BYTES).map(|text| shell_call(text)).collect()
}

/// Returns scripts of everyday commands up to a size. Each script begins with another command.
fn scripts(bytes: usize) -> Vec<Call> {
    let commands = commands();
    let script = |number: usize| {
        let mut script = String::new();
        for command in commands.iter().cycle().skip(number * commands.len() / SCRIPTS_EACH) {
            if script.len() + command.len() >= bytes {
                break;
            }
            script.push_str(command);
            script.push('\n');
        }
        shell_call(&script)
    };
    (0..SCRIPTS_EACH).map(script).collect()
}
