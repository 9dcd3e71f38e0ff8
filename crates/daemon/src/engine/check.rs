//! Has Falco load rules before they come into force. This Falco judges nothing, and ends by itself. The daemon does that,
//! and `castellan` before a person decides. It must not know whether the rules come into force.

use std::ffi::OsStr;
use std::path::Path;

use castellan_falco::engine_config::{EngineConfig, alone};
use castellan_falco::export::EngineRules;
use castellan_files::explained;
use castellan_policy::EngineSettings;
use castellan_rules::Engine as Language;
use serde::Deserialize;

use super::place::Place;
use super::program::{Limit, Ran, check_language, run, version};
use super::trusted::trusted;
use crate::limits::{ENGINE_LINE_BYTES_MAX, ENGINE_PROBLEMS_MAX};

/// A Falco that can be the engine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckedEngine {
    /// Falco's version.
    pub version: String,
    /// Number of rules that it has loaded.
    pub rules: usize,
}

/// Checks the files, the version, and that Falco loads the rules with the plugin, until `limit`. The errors are lines for a
/// person: each rejected rule with the reason, or the reason why Falco could not be asked.
pub(crate) fn check(
    settings: &EngineSettings,
    rules: &EngineRules,
    language: Language,
    limit: Limit<'_>,
) -> Result<CheckedEngine, Vec<String>> {
    let one = |why: String| vec![why];
    let named = |why: String| vec![format!("{why}; `--falco PATH` and `--plugin PATH` name others")];
    let found = version(&settings.falco, limit).map_err(named)?;
    check_language(&found, language).map_err(one)?;
    let library = trusted("the plugin", &settings.plugin).map_err(named)?;
    let folder =
        tempfile::tempdir().map_err(|error| one(format!("no temporary folder: {}", explained(&error))))?;
    let place = Place::make(&folder.path().join("falco")).map_err(one)?;
    let text = |path: &Path| path.display().to_string();
    let (of_rules, socket) = (text(&place.rules()), text(&place.socket()));
    // No process listens: Falco only loads.
    let zeros = "0".repeat(64);
    let config = alone(&EngineConfig {
        rules: &of_rules,
        library: &library,
        socket: &socket,
        user: rustix::process::geteuid().as_raw(),
        key: &zeros,
        generation: &rules.generation,
        url: "http://127.0.0.1:9/",
        user_agent: "castellan",
    });
    place.write(&config, &rules.yaml).map_err(one)?;
    let (config, of_rules) = (place.config(), place.rules());
    let words = [OsStr::new("-c"), config.as_os_str(), OsStr::new("-V"), of_rules.as_os_str()];
    let ran = run(&found.program, &words, limit).map_err(one)?;
    match problems(&ran) {
        problems if problems.is_empty() => Ok(CheckedEngine { version: found.text, rules: rules.count }),
        problems => Err(problems),
    }
}

/// The result of `falco --validate`, in JSON.
#[derive(Deserialize)]
struct Results {
    falco_load_results: Vec<FileResult>,
}

#[derive(Deserialize)]
struct FileResult {
    successful: bool,
    #[serde(default)]
    errors: Vec<Problem>,
}

#[derive(Deserialize)]
struct Problem {
    #[serde(default)]
    code: String,
    #[serde(default)]
    message: String,
    #[serde(default)]
    context: Context,
}

#[derive(Deserialize, Default)]
struct Context {
    #[serde(default)]
    locations: Vec<Location>,
}

#[derive(Deserialize)]
struct Location {
    #[serde(default)]
    item_name: String,
}

/// Returns the reasons why Falco does not load the rules; none if it does.
fn problems(ran: &Ran) -> Vec<String> {
    let results = ran.output.lines().find_map(|line| serde_json::from_str::<Results>(line.trim()).ok());
    let files = results.map(|results| results.falco_load_results).unwrap_or_default();
    let is_loaded = files.iter().all(|file| file.successful);
    let errors = files.iter().flat_map(|file| &file.errors);
    let mut lines: Vec<String> = errors.take(ENGINE_PROBLEMS_MAX).map(line).collect();
    if lines.is_empty() && !(ran.is_success && is_loaded) {
        let last = ran.output.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default();
        lines.push(format!("Falco does not load the rules ({}): {}", ran.status, short(last)));
    }
    lines
}

fn line(problem: &Problem) -> String {
    let names = problem.context.locations.iter().rev().map(|location| location.item_name.as_str());
    let rule = names.into_iter().find(|name| !name.is_empty());
    let rule = rule.map(|name| format!(" the rule `{}`", short(name))).unwrap_or_default();
    format!("Falco rejects{rule}: {} ({})", short(&problem.message), short(&problem.code))
}

fn short(text: &str) -> String {
    let text: String = text.trim().chars().take(ENGINE_LINE_BYTES_MAX).collect();
    text.replace(char::is_control, " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ran(is_success: bool, output: &str) -> Vec<String> {
        problems(&Ran { is_success, status: "exit status: X".to_owned(), output: output.to_owned() })
    }

    #[test]
    fn each_rejected_rule_is_a_line_and_no_failure_is_taken_for_success() {
        let result = |successful: bool, errors: &str| {
            format!(
                "a line\n{{\"falco_load_results\":[{{\"name\":\"r\",\"successful\":{successful},\"errors\":[{errors}]}}]}}\n"
            )
        };
        assert_eq!(ran(true, &result(true, "")), Vec::<String>::new());
        assert_eq!(ran(true, "0.43 prints no JSON here\n"), Vec::<String>::new());
        let error = r#"{"code":"LOAD_ERR_COMPILE_CONDITION","message":"no\nway","context":{"locations":[{"item_name":""},{"item_name":"Deny x"},{"item_name":""}]}}"#;
        let expected = ["Falco rejects the rule `Deny x`: no way (LOAD_ERR_COMPILE_CONDITION)"];
        assert_eq!(ran(false, &result(false, error)), expected);
        // With errors, an exit code of 0 means nothing.
        assert_eq!(ran(true, &result(false, error)), expected);
        for (is_success, output) in [
            (true, result(false, "")),
            (false, result(true, "")),
            (false, "bad\n\n".to_owned()),
            (false, String::new()),
        ] {
            let lines = ran(is_success, &output);
            assert!(lines.len() == 1 && lines[0].contains("exit status: X"), "{lines:?}");
        }
        let many = vec![error; 1000].join(",");
        assert_eq!(ran(false, &result(false, &many)).len(), ENGINE_PROBLEMS_MAX);
    }
}
