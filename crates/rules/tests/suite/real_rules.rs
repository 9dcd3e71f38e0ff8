//! Real rule files: they load without error or warning, and every condition prints to the letter as Falco prints it.

use std::path::{Path, PathBuf};

use castellan_event::{FIELDS, FieldArg, FieldDef, FieldType, Level};
use castellan_rules::{Options, Problem, Severity, Source, load};
use serde_json::Value as Json;

fn folder(name: &str) -> Option<PathBuf> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/cases/rules").join(name);
    if folder.is_dir() {
        return Some(folder);
    }
    println!("SKIPPED: no real rule files beside the repository");
    None
}

/// Loads a file and compares it with what `falco -L` says of it: rules compared, of how many, and the problems.
fn check(
    folder: &Path,
    name: &str,
    fields: &'static [FieldDef],
    options: &Options,
) -> (usize, usize, Vec<Problem>) {
    let text = std::fs::read_to_string(folder.join(format!("{name}.yaml"))).unwrap();
    let loaded = load(&[Source { name: name.to_owned(), text }], fields, options);
    let described = std::fs::read_to_string(folder.join(format!("{name}.described.json"))).unwrap();
    let described: Json = serde_json::from_str(&described).unwrap();
    let described = described["rules"].as_array().unwrap();
    for rule in loaded.rules.rules() {
        let expected = described.iter().find(|found| found["name"] == rule.name).unwrap();
        assert_eq!(rule.condition, expected["condition_compiled"].as_str().unwrap(), "{name}: {}", rule.name);
        assert_eq!(rule.priority.as_str(), expected["priority"].as_str().unwrap(), "{name}: {}", rule.name);
        assert_eq!(rule.tags, strings(&expected["tags"]), "{name}: {}", rule.name);
        let mut read: Vec<String> = rule.fields.iter().map(|field| fields[*field].name.to_owned()).collect();
        read.sort_unstable();
        assert_eq!(read, strings(&expected["condition_fields"]), "{name}: {}", rule.name);
    }
    (loaded.rules.rules().len(), described.len(), loaded.problems)
}

/// The texts of a list, sorted.
fn strings(json: &Json) -> Vec<String> {
    let mut strings: Vec<String> =
        json.as_array().unwrap().iter().map(|text| text.as_str().unwrap().into()).collect();
    strings.sort_unstable();
    strings
}

#[test]
fn coding_agents_kit() {
    let Some(folder) = folder("coding-agents-kit") else { return };
    let files = [
        "coding_agents_rules",
        "mcp-skill-detection",
        "persistence-detection",
        "sandbox-disable",
        "seen",
        "threat_rules",
    ];
    for name in files {
        let (compared, all, problems) = check(&folder, name, FIELDS, &Options::default());
        println!("{name}: {compared}/{all} conditions equal");
        assert!(problems.is_empty(), "{name}: {problems:#?}");
        assert_eq!(compared, all, "{name}");
    }
}

/// Falco's own rules need fields with an optional argument (`proc.aname`, `proc.aname[2]`), which the field table cannot say
/// yet: the rules that use one are left out, the others must print as in Falco.
#[test]
fn falco_default_rules() {
    let Some(folder) = folder("falco") else { return };
    let table = std::fs::read_to_string(folder.join("syscall_fields.json")).unwrap();
    let table: Json = serde_json::from_str(&table).unwrap();
    let mut fields: Vec<FieldDef> = table.as_array().unwrap().iter().map(syscall_field).collect();
    fields.extend(
        [
            "flags", "target", "oldpath", "domain", "request", "type", "path", "name", "res", "linkpath",
            "newpath",
        ]
        .map(|arg| syscall(format!("evt.arg.{arg}"), FieldType::Text)),
    );
    let options = Options { source: "syscall".to_owned(), ..Options::default() };
    let (compared, all, problems) = check(&folder, "falco_rules", fields.leak(), &options);
    println!("falco_rules: {compared}/{all} conditions equal");
    for problem in problems.iter().filter(|problem| problem.severity == Severity::Error) {
        let known =
            problem.message.contains("takes no argument") || problem.code == "CASTELLAN_PLUGIN_VERSION";
        assert!(known, "{}", problem.one_line());
    }
    assert!(compared * 2 > all, "most rules are compared");
}

fn syscall_field(field: &Json) -> FieldDef {
    let ty = match field["type"].as_str().unwrap() {
        "BOOL" => FieldType::Bool,
        "LIST(CHARBUF)" => FieldType::TextList,
        "CHARBUF" | "IPADDR" | "IPNET" | "DYNAMIC" | "BYTEBUF" => FieldType::Text,
        _ => FieldType::U64,
    };
    syscall(field["name"].as_str().unwrap().to_owned(), ty)
}

fn syscall(name: String, ty: FieldType) -> FieldDef {
    FieldDef { name: name.leak(), ty, level: Level::Call, arg: FieldArg::None, meaning: "" }
}
