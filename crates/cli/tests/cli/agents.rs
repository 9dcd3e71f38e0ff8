//! `castellan agents`.

use serde_json::{Value as Json, json};

use crate::home::Home;

/// Returns the value of `key` in the list, for each agent.
fn listed(home: &Home, key: &str) -> Json {
    let list: Json = serde_json::from_str(&home.run_ok(&["agents", "--json"])).unwrap();
    let rows = list.as_array().unwrap().iter();
    rows.map(|row| (row["agent"].as_str().unwrap().to_owned(), row[key].clone())).collect()
}

#[test]
fn each_agent_is_listed_with_what_it_carries_out() {
    let home = Home::new();
    for (key, expected) in [
        ("asks", json!({ "claude": true, "codex": false, "gemini": false, "qwen": true })),
        ("allows", json!({ "claude": true, "codex": true, "gemini": false, "qwen": true })),
        ("rewrites", json!({ "claude": true, "codex": true, "gemini": true, "qwen": false })),
        ("fails_closed", json!({ "claude": true, "codex": false, "gemini": false, "qwen": false })),
        ("machine_wide", json!({ "claude": true, "codex": true, "gemini": false, "qwen": false })),
        ("present", json!({ "claude": false, "codex": false, "gemini": false, "qwen": false })),
        ("guarded", json!({ "claude": false, "codex": false, "gemini": false, "qwen": false })),
    ] {
        assert_eq!(listed(&home, key), expected, "{key}");
    }
    let table = home.run_ok(&["agents"]);
    assert!(table.starts_with("WORD    AGENT        TESTED              HERE  GUARDED"), "{table}");
}

#[test]
fn an_agent_is_found_by_its_directory_and_its_version_by_its_package() {
    let home = Home::new();
    home.write("user/.codex/config.toml", "");
    let package = "user/lib/node_modules/@google/gemini-cli";
    home.write(&format!("{package}/dist/package.json"), r#"{"name":"other","version":"9.9.9"}"#);
    home.write(&format!("{package}/package.json"), r#"{"name":"@google/gemini-cli","version":"0.61.0"}"#);
    let folder = home.path(&format!("{package}/dist"));
    // Any executable program works here.
    std::fs::hard_link(home.bin().join("castellan"), folder.join("gemini")).unwrap();
    let path = format!("{}:/usr/bin:/bin", folder.display());
    let home = home.with_variable("PATH", path.into());
    assert_eq!(
        listed(&home, "present"),
        json!({ "claude": false, "codex": true, "gemini": true, "qwen": false })
    );
    assert_eq!(
        listed(&home, "version"),
        json!({ "claude": null, "codex": null, "gemini": "0.61.0", "qwen": null })
    );
}

#[test]
fn status_names_agents_that_are_newer_than_tested() {
    for (version, is_newer) in [("0.61.0", false), ("0.61.1", true), ("1.0.0", true), ("0.9.0", false)] {
        let home = Home::new();
        let package = "user/lib/node_modules/@google/gemini-cli";
        let manifest = format!(r#"{{"name":"@google/gemini-cli","version":"{version}"}}"#);
        home.write(&format!("{package}/package.json"), &manifest);
        let folder = home.path(&format!("{package}/dist"));
        std::fs::create_dir(&folder).unwrap();
        // Any executable program works here.
        std::fs::hard_link(home.bin().join("castellan"), folder.join("gemini")).unwrap();
        let path = format!("{}:/usr/bin:/bin", folder.display());
        let home = home.with_variable("PATH", path.into());
        let shown = home.run(&["status"]).stdout;
        let line = format!("version {version} is newer than 0.61.0, the last that castellan was tested with");
        assert_eq!(shown.contains(&line), is_newer, "{shown}");
        let json: Json = serde_json::from_str(&home.run(&["status", "--json"]).stdout).unwrap();
        let gemini =
            json["agents"].as_array().unwrap().iter().find(|agent| agent["agent"] == "gemini").unwrap();
        let expected = if is_newer { json!(version) } else { Json::Null };
        assert_eq!(gemini["newer_than_tested"], expected, "{version}");
    }
}
