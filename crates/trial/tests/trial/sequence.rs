//! Sessions that follow each other in one project: a session knows the files of an ended one, and its own state begins
//! anew.

use std::collections::BTreeMap;

use castellan_daemon::{Config, compile};
use castellan_event::Verdict::{self, Ask, Defer};
use castellan_trial::{Asked, Case, Laid, Trial};
use serde_json::{Map, Value as Json, json};

/// Loads files with names that castellan cannot determine.
const LOADS: &str = "const { pick } = require('os'); require('./tests/' + pick());\n";

fn asked(tool: &str, input: Json) -> Asked {
    let Json::Object(input) = input else { panic!("{input}") };
    Asked { tool: tool.to_owned(), input }
}

/// Judges `node run.js` in a session of its own, after a session with the calls.
fn check(calls: &[Asked], expected: Verdict) {
    let compiled = compile(&[], &Config::default());
    let mut case = Case::new("Bash", Map::new());
    case.files = BTreeMap::from([("run.js".to_owned(), Laid::Text(LOADS.to_owned()))]);
    let mut sequence = Trial::new(&compiled.policy).without_prompts().sequence(&case);
    for call in calls {
        sequence.run(call).unwrap();
    }
    sequence.end_session();
    let judged = sequence.run(&asked("Bash", json!({ "command": "node run.js" }))).unwrap();
    assert_eq!(judged.decision.verdict, expected, "after {calls:?}: {:?}", judged.facts.effects);
}

#[test]
fn a_session_knows_the_files_of_an_ended_one() {
    let file = "/home/dev/project/run.js";
    let write = |text: &str| asked("Write", json!({ "file_path": file, "content": text }));
    let edit = |old: &str, new: &str| {
        asked("Edit", json!({ "file_path": file, "old_string": old, "new_string": new }))
    };
    check(&[], Defer);
    check(&[asked("Bash", json!({ "command": "ls" }))], Defer);
    check(&[write(LOADS)], Ask);
    check(&[edit("tests", "checks")], Ask);
    check(&[write("console.log(1)\n")], Defer);
    check(&[write("let load;\n"), edit("let load;\n", LOADS)], Ask);
    check(&[edit(LOADS, "console.log(1)\n")], Defer);
}

#[test]
fn a_call_is_over_when_its_agent_reports_the_end() {
    let background = json!({ "command": "npm run watch > run.log &" });
    let compiled = compile(&[], &Config::default());
    let mut sequence = Trial::new(&compiled.policy).sequence(&Case::new("Bash", Map::new()));
    sequence.run(&asked("Bash", background)).unwrap();
    let judged = sequence.run(&asked("Bash", json!({ "command": "rm run.log" }))).unwrap();
    assert_eq!(judged.decision.verdict, Defer, "{:?}", judged.facts.effects);
}

#[test]
fn a_file_that_was_put_there_is_read() {
    let compiled = compile(&[], &Config::default());
    let mut sequence = Trial::new(&compiled.policy).sequence(&Case::new("Bash", Map::new()));
    let run = asked("Bash", json!({ "command": "bash made.sh" }));
    let before = sequence.run(&run).unwrap().facts.scripts;
    sequence.put("made.sh", "ls\n");
    let after = sequence.run(&run).unwrap().facts.scripts;
    let read = |scripts: &[castellan_event::ScriptFile]| scripts.iter().any(|file| file.sha256.is_some());
    assert_eq!((read(&before), read(&after)), (false, true));
}
