//! Files that a tool loads as code, of a session in `loads*.cases`, and in hostile projects in `hostile.cases`: the
//! verdict on the command of the tool.

use castellan_daemon::{Config, compile, shipped_rules};
use castellan_event::Verdict::{self, Ask, Defer};
use castellan_policy::Profile;
use castellan_trial::{Asked, Case, Laid, Trial};
use serde_json::{Map, Value as Json, json};

fn input(json: Json) -> Map<String, Json> {
    let Json::Object(input) = json else { panic!("{json}") };
    input
}

/// Reads one case: its verdict by an agent that prompts and by one that does not, and the call.
fn case(text: &str) -> ([Verdict; 2], Case) {
    let (head, body) = text.split_once('\n').unwrap_or((text, ""));
    let (word, command) = head.split_once(": ").unwrap();
    let verdicts = match word {
        "ask" => [Ask, Ask],
        "prompt" => [Defer, Ask],
        "silent" => [Defer, Defer],
        other => panic!("{other}"),
    };
    let mut case = Case::new("Bash", input(json!({ "command": command })));
    for file in format!("\n{body}").split("\n-- ").skip(1) {
        let (path, text) = file.split_once('\n').unwrap_or((file, ""));
        let text = format!("{}\n", text.trim_end());
        if let Some(cwd) = path.strip_prefix("cwd ") {
            case.cwd = cwd.to_owned();
        } else if let Some(command) = path.strip_prefix("run ") {
            case.earlier.push(Asked { tool: "Bash".to_owned(), input: input(json!({ "command": command })) });
        } else if let Some(path) = path.strip_prefix("there ") {
            case.files.insert(path.to_owned(), Laid::Text(text));
        } else {
            let written = json!({ "file_path": format!("{}/{path}", case.cwd), "content": text });
            case.earlier.push(Asked { tool: "Write".to_owned(), input: input(written) });
        }
    }
    (verdicts, case)
}

/// Judges each case of a text by an agent that prompts and by one that does not.
fn check(text: &str) {
    let compiled = compile(&shipped_rules(), &Config::default());
    let config = Config { settings: Profile::Autonomous.settings(), ..Config::default() };
    let autonomous = compile(&shipped_rules(), &config);
    let mut wrong = Vec::new();
    for text in text.split("\n== ").skip(1) {
        let (expected, case) = case(text);
        let judged = Trial::new(&autonomous.policy).judge(&case).unwrap();
        if expected[0] == Ask && judged.decision.verdict == Verdict::Allow {
            wrong.push(format!("allowed in autonomous: {text}"));
        }
        let trials = [Trial::new(&compiled.policy), Trial::new(&compiled.policy).without_prompts()];
        for (trial, expected) in trials.into_iter().zip(expected) {
            let judged = trial.judge(&case).unwrap();
            let verdict = judged.decision.verdict;
            let is_it = if expected == Ask { verdict >= Ask } else { verdict < Ask };
            if !is_it {
                wrong.push(format!("{verdict:?} instead of {expected:?}: {text}\n{:?}", judged.because()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_a_tool_loads_is_judged_with_its_command() {
    check(include_str!("loads.cases"));
}

#[test]
fn what_loaded_files_load_is_judged_with_the_command() {
    check(include_str!("loads_more.cases"));
}

#[test]
fn what_build_files_load_is_judged_with_the_command() {
    check(include_str!("loads_builds.cases"));
}

/// No table names how these tools find the file, and castellan does not read the others.
#[test]
fn a_tool_with_an_unread_file_of_the_session_is_not_understood() {
    let config = Config { settings: Profile::Autonomous.settings(), ..Config::default() };
    let compiled = compile(&shipped_rules(), &config);
    let verdict = |command: &str, file: &str, text: &str| {
        let (_, case) = case(&format!("silent: {command}\n-- {file}\n{text}"));
        Trial::new(&compiled.policy).judge(&case).unwrap().decision.verdict
    };
    for (command, file) in [
        ("npx jest", "jest.unusual.yaml"),
        ("npx mocha", "tools/setup.dat"),
        ("pytest", "plugins.toml"),
        ("npx vitest run", "packages/a/options.json"),
        ("mypy src", "tools/plugin.py"),
        ("bundle exec rspec", "spec/options.conf"),
        ("vendor/bin/phpunit", "tests/extensions.neon"),
        ("./gradlew test", "src/test/java/ATest.java"),
        ("mix test", "lib/a.ex"),
    ] {
        assert_ne!(verdict(command, file, "a: b"), Verdict::Allow, "{command} {file}");
    }
    for (command, file) in [("pytest", "docs/notes.md"), ("pytest", "src/a.css"), ("ls", "jest.unusual.yaml")]
    {
        assert_eq!(verdict(command, file, "a: b"), Verdict::Allow, "{command} {file}");
    }
}

#[test]
fn hostile_projects_and_changing_files_are_judged_as_strictly() {
    check(include_str!("hostile.cases"));
}
