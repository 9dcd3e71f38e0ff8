//! Compares the asks that castellan expects Claude Code to hold with measurements (`corpus/asks/claude.tsv`).

use castellan_agents::{AgentId, Version, holds_ask};
use castellan_policy::{Policy, Settings};
use castellan_trial::{Case, Trial};
use serde_json::{Map, Value as Json};

const MEASURED: &str = include_str!("../../../../corpus/asks/claude.tsv");
const VERSIONS: [Version; 2] = [Version(2, 1, 204), Version(2, 1, 330)];

/// Symlinks that existed during the measurement, in addition to the default machine.
const LINKS: &[(&str, &str)] = &[
    ("link.txt", "/home/dev/.profile"),
    ("chain", "/home/dev/project/.envrc"),
    (".envrc", "/home/dev/notes.txt"),
    (".husky", "/home/dev/project/sub"),
    ("gitlink", "/home/dev/project/.git"),
    ("gl", "/home/dev/project/.git"),
    (".vscode", "/home/dev/else/lnk"),
    ("lnk", "/home/dev/project/.vscode"),
    (".idea", "/home/dev/else"),
    ("else", "/home/dev/project/.idea"),
    ("plainlink", "/home/dev/notes.txt"),
    ("l0", "/home/dev/.profile"),
    ("l1", "/home/dev/.profile"),
    ("l2", "/home/dev/.profile"),
    ("l3", "/home/dev/.profile"),
    ("l4", "/home/dev/.profile"),
    ("l5", "/home/dev/.profile"),
    ("l6", "/home/dev/.profile"),
    ("l7", "/home/dev/.profile"),
    ("l8", "/home/dev/.profile"),
];

struct Row {
    mode: String,
    tool: String,
    target: String,
    /// The measured result for each of [`VERSIONS`]; `None` if not measured.
    held: [Option<bool>; 2],
}

fn rows() -> Vec<Row> {
    let held = |word: &str| match word {
        "held" => Some(true),
        "ran" => Some(false),
        _ => None,
    };
    let row = |line: &str| {
        let fields: Vec<&str> = line.split('\t').collect();
        let [mode, _session, tool, target, first, second] = fields[..] else { panic!("{line}") };
        let target = serde_json::from_str(target).unwrap();
        Row { mode: mode.to_owned(), tool: tool.to_owned(), target, held: [held(first), held(second)] }
    };
    MEASURED.lines().filter(|line| !line.starts_with('#')).map(row).collect()
}

/// Returns the path of a target written as `~/x`, `./x` or `OUT/x`.
fn placed(target: &str) -> String {
    match target.split_once('/') {
        Some(("~", rest)) => format!("/home/dev/{rest}"),
        Some((".", rest)) => format!("/home/dev/project/{rest}"),
        Some(("OUT", rest)) => format!("/srv/out/{rest}"),
        _ => target.to_owned(),
    }
}

fn case(row: &Row) -> Case {
    let key = match row.tool.as_str() {
        "Bash" => "command",
        "NotebookEdit" => "notebook_path",
        "WebFetch" => "url",
        _ => "file_path",
    };
    let target = if row.tool == "Bash" { row.target.replace("OUT", "/srv/out") } else { placed(&row.target) };
    let mut case = Case::new(&row.tool, Map::from_iter([(key.to_owned(), Json::from(target))]));
    for (from, to) in LINKS {
        let laid = serde_json::from_value(serde_json::json!({ "link": to })).unwrap();
        case.files.insert(format!("/home/dev/project/{from}"), laid);
    }
    case.files.insert("/home/dev/project/sub/".to_owned(), serde_json::from_value("".into()).unwrap());
    case.files.insert("/home/dev/else/deep/".to_owned(), serde_json::from_value("".into()).unwrap());
    for file in ["/home/dev/project/old.txt", "/home/dev/project/sub/x.txt", "/home/dev/notes.txt"] {
        case.files.insert(file.to_owned(), serde_json::from_value("old\n".into()).unwrap());
    }
    case
}

/// Returns castellan's prediction for a row, for each version.
fn predicted(row: &Row, policy: &Policy) -> [bool; 2] {
    let case = case(row);
    let judged = Trial::new(policy).judge(&case).unwrap_or_else(|why| panic!("{}: {why}", row.target));
    let mut call = judged.call;
    row.mode.clone_into(&mut call.agent.permission_mode);
    VERSIONS.map(|version| holds_ask(AgentId::CLAUDE, || Some(version), &call, &judged.facts))
}

#[test]
fn no_ask_is_told_that_the_client_was_seen_to_drop() {
    let policy = Policy::new(Vec::new(), Settings::default());
    let dropped: Vec<String> = rows()
        .iter()
        .filter(|row| {
            predicted(row, &policy).iter().zip(row.held).any(|(said, held)| *said && held == Some(false))
        })
        .map(|row| format!("{} {} {}", row.mode, row.tool, row.target))
        .collect();
    assert_eq!(dropped, Vec::<String>::new());
}

const MODES: [&str; 6] = ["default", "acceptEdits", "plan", "dontAsk", "auto", "bypassPermissions"];

#[test]
fn asks_about_ordinary_targets_are_told_in_every_mode() {
    check_told(APART_FROM_FILES, |_| true);
}

/// The file may be replaced before the client looks at it.
#[test]
fn asks_about_files_are_told_in_modes_that_prompt() {
    check_told(FILES, |mode| ["default", "acceptEdits", "dontAsk"].contains(&mode));
}

fn check_told(calls: &[(&str, &str)], is_reported: fn(&str) -> bool) {
    let policy = Policy::new(Vec::new(), Settings::default());
    let rows = rows();
    for (tool, target) in calls {
        let row = rows.iter().find(|row| row.tool == *tool && row.target == *target);
        let row = row.unwrap_or_else(|| panic!("`{target}` was not measured"));
        for mode in MODES {
            let row =
                Row { mode: mode.to_owned(), tool: row.tool.clone(), target: row.target.clone(), ..*row };
            assert_eq!(predicted(&row, &policy), [is_reported(mode); 2], "{mode} {tool} {target}");
        }
    }
}

const APART_FROM_FILES: &[(&str, &str)] = &[
    ("WebFetch", "http://127.0.0.1:9/"),
    ("Bash", "git push --force origin main"),
    ("Bash", "git reset --hard"),
    ("Bash", "cd sub && git status"),
    ("Bash", "npm publish --dry-run"),
    ("Bash", "curl \"http://127.0.0.1:9/?a=1&b=2\""),
    ("Bash", "kubectl delete pod x"),
    ("Bash", "aws s3 rm s3://x"),
    ("Bash", "systemctl stop x"),
    ("Bash", "docker run x"),
];

const FILES: &[(&str, &str)] = &[
    ("Write", "./new.txt"),
    ("Write", "~/fresh.txt"),
    ("Write", "OUT/fresh.txt"),
    ("Write", "./.env"),
    ("Write", "~/.ssh/authorized_keys"),
    ("Write", "~/.aws/credentials"),
    ("Write", "./.github/workflows/x.yml"),
    ("Write", "./Makefile"),
    ("Edit", "./old.txt"),
    ("NotebookEdit", "./nb/n.ipynb"),
    ("Bash", "touch made.txt"),
    ("Bash", "echo x > redirected.txt"),
    ("Bash", "rm -rf sub"),
    ("Bash", "rm -rf ../x7"),
    ("Bash", "cd sub; rm x.txt"),
    ("Bash", "curl -d @old.txt http://127.0.0.1:9/"),
    ("Bash", "chmod -R 777 sub"),
    ("Bash", "cat .env"),
    ("Bash", "cat ~/.aws/credentials"),
];
