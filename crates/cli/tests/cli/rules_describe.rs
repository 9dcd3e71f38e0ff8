//! `castellan rules describe` and `castellan rules export`.

use serde_json::{Value as Json, json};

use crate::home::Home;

const RULES: &str = r#"- list: writers
  items: [Write, Edit]

- macro: writes
  condition: tool.name in (writers)

- rule: Deny writing notes
  desc: |
    Notes are nobody's business.
    Not even an agent's.
  condition: writes and tool.file_path endswith notes.txt
  output: "%tool.name of %tool.file_path"
  priority: CRITICAL
  source: coding_agent
  tags: [coding_agent_deny, notes]
  exceptions:
    - name: drafts
      fields: [agent.cwd]
      comps: [=]
      values: [[/tmp/drafts]]

- rule: Watch
  desc: Off.
  condition: tool.name != x
  output: o
  priority: INFO
  source: coding_agent
  enabled: false
"#;

const DESCRIBED: &str = r#"Deny writing notes
  Notes are nobody's business.
  Not even an agent's.
  verdict        deny
  priority       Critical
  source         coding_agent
  level          call
  tags           coding_agent_deny, notes
  place          rules.yaml:7
  condition      ((tool.name in (Write, Edit) and tool.file_path endswith notes.txt) and not agent.cwd = /tmp/drafts)
  output         %tool.name of %tool.file_path
  macros         writes
  fields         agent.cwd, tool.file_path, tool.name
  operators      =, endswith, in
  output fields  tool.file_path, tool.name
  exceptions     drafts
"#;

const WATCH: &str = "Watch
  Off.
  verdict    notice
  state      disabled
  priority   Informational
  source     coding_agent
  level      call
  place      rules.yaml:22
  condition  tool.name != x
  output     o
  fields     tool.name
  operators  !=
";

#[test]
fn a_rule_is_described() {
    let home = Home::new();
    home.write("repo/rules.yaml", RULES);
    let describe = |name: &str| home.run(&["rules", "describe", name, "rules.yaml"]);
    assert_eq!(describe("Deny writing notes").stdout, DESCRIBED);
    assert_eq!(describe("Watch").stdout, WATCH);
    let unknown = describe("Deny writing note");
    let said = "error: there is no rule `Deny writing note`: did you mean `Deny writing notes`?\n";
    assert_eq!((unknown.code, unknown.stderr.as_str()), (Some(1), said));
    let far = describe("x");
    assert_eq!(
        (far.code, far.stderr.as_str()),
        (Some(1), "error: there is no rule `x`: see `castellan rules list`\n")
    );
}

#[test]
fn everything_is_described() {
    let home = Home::new();
    home.write("repo/rules.yaml", RULES);
    let all = format!(
        "{DESCRIBED}\n{WATCH}\nmacro writes\n  tool.name in (Write, Edit)\n\nlist writers\n  Write, Edit\n\n"
    );
    assert_eq!(home.run_ok(&["rules", "describe", "*", "rules.yaml"]), all);
    let shipped = home.run_ok(&["rules", "describe"]);
    assert!(shipped.contains("Deny the castellan canary\n"), "{shipped}");
}

/// The rules in force are described, exported and validated, each layer separately.
#[test]
fn without_files_both_layers_are_told_of() {
    let home = Home::new();
    let all: Json = serde_json::from_str(&home.run_ok(&["rules", "describe", "--json"])).unwrap();
    let listed: Json = serde_json::from_str(&home.run_ok(&["rules", "list", "--json"])).unwrap();
    let of = |rules: &Json, name: fn(&Json) -> &Json| -> Vec<(String, String)> {
        let text = |json: &Json| json.as_str().unwrap().to_owned();
        rules.as_array().unwrap().iter().map(|rule| (text(&rule["layer"]), text(name(rule)))).collect()
    };
    let described = of(&all["rules"], |rule| &rule["info"]["name"]);
    assert_eq!(described, of(&listed, |rule| &rule["name"]), "as `rules list` has them");
    assert!(["organisation", "user"].iter().all(|layer| described.iter().any(|(of, _)| of == layer)));
    for kind in ["macros", "lists"] {
        assert!(all[kind].as_array().unwrap().iter().all(|one| one["layer"].is_string()), "{}", all[kind]);
    }
    let canary = home.run_ok(&["rules", "describe", "Deny the castellan canary"]);
    let words: Vec<&str> = canary.split_whitespace().collect();
    assert!(words.windows(4).any(|four| four == ["verdict", "deny", "layer", "organisation"]), "{canary}");

    let exported = home.run_ok(&["rules", "export", "--falco"]);
    assert_eq!(exported.matches("\n- rule: ").count(), described.len());
}

/// A user's rule with the name of an organisation's rule coexists with it, and neither changes the other.
#[test]
fn rules_of_one_name_stay_apart() {
    let home = Home::new();
    home.run_ok(&["install"]);
    let name = "Deny the castellan canary";
    let mine = format!(
        "- rule: {name}\n  desc: Mine.\n  condition: tool.name = mine\n  output: o\n  priority: INFO\n  source: coding_agent\n"
    );
    home.write("user/.config/castellan/rules/user/mine.yaml", mine);
    let reported = home.run_ok(&["rules", "describe", name]);
    let layers: Vec<&str> =
        reported.lines().filter_map(|line| line.trim().strip_prefix("layer ")).map(str::trim).collect();
    assert_eq!(layers, ["organisation", "user"], "{reported}");
    let exported = home.run_ok(&["rules", "export", "--falco"]);
    for line in [format!("- rule: \"{name}\"\n"), format!("- rule: \"{name} (2)\"\n")] {
        assert_eq!(exported.matches(&line).count(), 1, "{exported}");
    }
    let validated = home.run_ok(&["rules", "validate", "--no-lints", "--json"]);
    let validated: Json = serde_json::from_str(&validated).unwrap();
    let files: Vec<&str> = validated["falco_load_results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|file| file["name"].as_str().unwrap())
        .collect();
    assert!(
        files.iter().any(|file| file.ends_with("self.yaml"))
            && files.iter().any(|file| file.ends_with("mine.yaml")),
        "{files:?}"
    );
}

#[test]
fn json_is_falcos() {
    let home = Home::new();
    home.write("repo/rules.yaml", RULES);
    let all: Json =
        serde_json::from_str(&home.run_ok(&["rules", "describe", "*", "rules.yaml", "--json"])).unwrap();
    let one = home.run_ok(&["rules", "describe", "Deny writing notes", "rules.yaml", "--json"]);
    let one: Json = serde_json::from_str(&one).unwrap();
    assert_eq!(all["rules"][0], one);
    assert_eq!(one["info"]["condition"], json!("writes and tool.file_path endswith notes.txt"));
    assert_eq!(one["info"]["description"], json!("Notes are nobody's business.\nNot even an agent's.\n"));
    assert_eq!(one["details"]["level"], json!("call"));
    let compiled = "((tool.name in (Write, Edit) and tool.file_path endswith notes.txt) and not agent.cwd = /tmp/drafts)";
    assert_eq!(one["details"]["condition_compiled"], json!(compiled));
    assert_eq!(all["rules"][1]["info"]["enabled"], json!(false));
    assert_eq!(all["macros"][0]["details"]["condition_compiled"], json!("tool.name in (Write, Edit)"));
    assert_eq!(all["lists"][0]["details"]["items_compiled"], json!(["Write", "Edit"]));
}

/// A table without `row.level`: conditions need no guards, and an export equals the rules.
const TABLE: &str = r#"{"version":1,"source":"coding_agent","fields":[
    {"name":"tool.name","type":"string"},{"name":"tool.file_path","type":"string"},{"name":"agent.cwd","type":"string"}]}"#;

#[test]
fn an_export_loads_again() {
    let home = Home::new();
    home.write("repo/rules.yaml", RULES);
    home.write("repo/table.json", TABLE);
    let export = ["rules", "export", "--falco", "--fields", "table.json"];
    let text = home.run_ok(&[&export[..], &["rules.yaml"]].concat());
    let condition = r#"condition: "((tool.name in (Write, Edit) and tool.file_path endswith notes.txt) and not agent.cwd = /tmp/drafts)""#;
    assert!(text.contains(condition), "{text}");
    assert!(text.contains("  enabled: false\n"), "{text}");
    let done = home.run_ok(&[&export[..], &["rules.yaml", "-o", "export.yaml"]].concat());
    assert_eq!((done.as_str(), home.read("repo/export.yaml")), ("wrote `export.yaml`\n", text.clone()));
    assert_eq!(home.run_ok(&[&export[..], &["export.yaml"]].concat()), text, "a fixed point");
    let validate = ["rules", "validate", "--no-lints", "--fields", "table.json", "export.yaml"];
    assert_eq!(home.run_ok(&validate), "no problems in 1 file\n");
}

#[test]
fn shipped_rules_are_exported() {
    let home = Home::new();
    home.run_ok(&["rules", "export", "--falco", "-o", "export.yaml"]);
    let loaded = home.run_ok(&["rules", "validate", "--no-lints", "export.yaml"]);
    assert_eq!(loaded, "no problems in 1 file\n");
    home.write("repo/rules.yaml", RULES.replace("tool.name in", "tool.nam in"));
    let broken = home.run(&["rules", "export", "--falco", "rules.yaml", "-o", "broken.yaml"]);
    assert_eq!((broken.code, broken.stdout.as_str()), (Some(1), ""));
    assert!(!home.path("repo/broken.yaml").exists());
    assert_eq!(home.run(&["rules", "export"]).code, Some(2), "a format must be named");
}
