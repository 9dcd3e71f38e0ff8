//! Scripts of a `package.json`, by npm 11: `pre` and `post` scripts run around each, further arguments go to its end.

use castellan_event::Why;
use castellan_programs::Arg;
use serde_json::Value;

use super::{Script, Wanted, quoted};

/// The script that is asked for, with those around it.
pub(super) fn script(text: &str, wanted: &Wanted<'_>) -> Script {
    let Ok(manifest) = serde_json::from_str::<Value>(text) else {
        return Script { holes: vec![(Why::Syntax, "package.json".to_owned())], ..Script::default() };
    };
    let name = wanted.name.filter(|_| wanted.verb == "run").unwrap_or(wanted.verb);
    let names: &[&str] = if name == "restart" { &["stop", "restart", "start"] } else { &[name] };
    let scripts = manifest.get("scripts");
    let mut script = Script::default();
    for name in names {
        for (before, arguments) in [("pre", false), ("", true), ("post", false)] {
            let text = scripts.and_then(|scripts| scripts.get(format!("{before}{name}"))?.as_str());
            let Some(text) = text else { continue };
            let more = if arguments { further(wanted, name) } else { String::new() };
            script.texts.push(format!("{text}{more}"));
        }
    }
    script
}

/// What stands after the script's name, or after the subcommand that names it. The runner's own options among it do no harm
/// there.
fn further(wanted: &Wanted<'_>, name: &str) -> String {
    let is_name = |arg: &Arg| arg.as_str() == Some(name);
    let is_word = |arg: &Arg| !arg.prefix().starts_with('-');
    let own = wanted.argv.get(1..).unwrap_or_default();
    let at = own.iter().position(is_name).or_else(|| own.iter().position(is_word));
    let rest = at.and_then(|at| own.get(at + 1..)).unwrap_or_default();
    rest.iter().filter(|arg| arg.as_str() != Some("--")).map(|arg| format!(" {}", quoted(arg))).collect()
}
