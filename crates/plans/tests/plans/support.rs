//! Facts of shell text in the simulated world, and case files.

use std::fmt::Write as _;

use castellan_corpus::{WORKSPACE, shell_call};
use castellan_event::{Facts, Recorder};
use castellan_facts::{Setting, analyse};
use castellan_plans::{CallView, Departure, Plan, PlanError, check};
use castellan_trial::{Machine, There};

/// Returns the facts of a text in a workspace with a repository, whose remote `origin` is on `git.example.org`.
pub(crate) fn facts(text: &str) -> Facts {
    let mut machine = Machine::default();
    let config = "[remote \"origin\"]\n\turl = https://git.example.org/team/project.git\n";
    machine.put("/home/dev/project/.git/config", There::Text(config.to_owned()));
    for script in ["run.py", "other.py"] {
        machine.put(&format!("{WORKSPACE}/{script}"), There::Text("print('hello')\n".to_owned()));
    }
    let setting = Setting { workspace: WORKSPACE.to_owned(), ..Setting::default() };
    analyse(&shell_call(text), &setting, &mut Recorder::new(&machine))
}

/// Returns the programs of a text, as castellan's analysis finds them.
pub(crate) fn heads(text: &str) -> Vec<String> {
    facts(text).commands.into_iter().filter_map(|command| command.name).collect()
}

pub(crate) fn read(yaml: &str) -> Result<Plan, PlanError> {
    castellan_plans::read(yaml.as_bytes(), &heads)
}

/// A call at the start of its plan, on the branch `work`.
pub(crate) fn view(facts: &Facts) -> CallView<'_> {
    CallView { facts, root: WORKSPACE, branch: Some("work"), calls_so_far: 0, started_s: 1_000, now_s: 1_000 }
}

pub(crate) fn departures(plan: &Plan, text: &str) -> Vec<Departure> {
    check(plan, &view(&facts(text)))
}

pub(crate) fn shown(departures: &[Departure]) -> String {
    let mut text = String::new();
    for Departure { kind, subject, nearest } in departures {
        write!(text, "{}: {subject}", kind.as_str()).unwrap();
        match nearest {
            Some(nearest) => writeln!(text, " [{nearest}]").unwrap(),
            None => writeln!(text).unwrap(),
        }
    }
    text
}

/// Compares a case file with its lines as they are now. The difference is the first line that differs.
pub(crate) fn check_file(file: &str, expected: &str, found: &str) {
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(format!("{}/tests/plans/data/{file}", env!("CARGO_MANIFEST_DIR")), found).unwrap();
        return;
    }
    for (at, (expected, found)) in expected.lines().zip(found.lines()).enumerate() {
        assert_eq!(found, expected, "{file}, line {}; UPDATE=1 writes the file anew", at + 1);
    }
    assert_eq!(found.lines().count(), expected.lines().count(), "{file} has another length");
}
