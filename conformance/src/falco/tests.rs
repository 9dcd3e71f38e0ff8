//! The command fails for a case that differs and for a listed case that agrees.

use serde_json::{Value as Json, json};

use super::*;

/// Checks the result of a case: `+` agreed, `~` listed, or the error.
fn check(id: &str, condition: &str, change: impl Fn(&mut Json), expected: &str) {
    let rule = format!("- rule: r\n  desc: d\n  condition: {condition}\n  output: \"%tool.name %evt.num\"\n");
    let mut case = json!({
        "id": id, "group": "g", "rules": rule + "  priority: DEBUG\n  source: coding_agent\n", "matching": "all",
        "events": [{ "tool.name": "Bash" }, { "tool.name": "Read" }],
        "falco": {
            "ok": true,
            "load": [{ "name": "rules0.yaml", "successful": true, "errors": [], "warnings": [] }],
            "alerts": [{
                "event": 1, "rule": "r", "priority": "Debug", "message": "Read 2", "tags": [],
                "output_fields": { "evt.num": 2, "tool.name": "Read" },
            }],
        },
    });
    change(&mut case);
    let case: Case = serde_json::from_value(case).unwrap();
    let shown = match outcome(&case, &table().unwrap(), &Known::read().unwrap()) {
        Outcome::Agreed => "+".to_owned(),
        Outcome::Listed => "~".to_owned(),
        Outcome::Wrong(why) => why,
    };
    assert!(shown.starts_with(expected), "{id}: {shown}");
}

#[test]
fn every_part_of_an_answer_counts() {
    let condition = "tool.name = Read";
    let alert = |key: &'static str, value: Json| {
        move |case: &mut Json| case["falco"]["alerts"][0][key] = value.clone()
    };
    check("g-1", condition, |_| (), "+");
    check("g-2", "tool.name = Bash", |_| (), "alert 0:");
    check("g-3", "tool.name exists", |_| (), "alert 0:");
    check("g-4", condition, alert("event", json!(0)), "alert 0:");
    check("g-5", condition, alert("rule", json!("s")), "alert 0:");
    check("g-6", condition, alert("priority", json!("Notice")), "alert 0:");
    check("g-7", condition, alert("message", json!("Read 1")), "alert 0:");
    check("g-8", condition, alert("tags", json!(["t"])), "alert 0:");
    check("g-9", condition, alert("output_fields", json!({ "tool.name": "Read" })), "alert 0:");
    check("g-10", condition, |case| case["falco"]["ok"] = json!(false), "in Falco it does not load");
    check("g-11", "tool.nam = x", |_| (), "in Falco it loads");
    let warned =
        |case: &mut Json| case["falco"]["load"][0]["warnings"] = json!([{ "code": "LOAD_UNUSED_LIST" }]);
    check("g-12", condition, warned, "`rules0.yaml`: Falco has [] [\"LOAD_UNUSED_LIST\"]");
    let refused = |code: &'static str| {
        move |case: &mut Json| {
            case["falco"]["ok"] = json!(false);
            case["falco"]["load"][0]["errors"] = json!([{ "code": code }]);
        }
    };
    check("g-13", "tool.nam = x", refused("LOAD_ERR_COMPILE_CONDITION"), "+");
    check(
        "g-14",
        "tool.nam = x",
        refused("LOAD_ERR_YAML_PARSE"),
        "`rules0.yaml`: Falco has [\"LOAD_ERR_YAML_PARSE\"]",
    );
    check(
        "g-15",
        condition,
        |case| case["events"][0] = json!({ "tool.nam": "x" }),
        "event 1: there is no field",
    );
}

#[test]
fn the_list_of_differences_is_kept_true() {
    check("regex-0209", "tool.name = Read", |_| (), "listed as a known difference, but it agrees");
    // An invalid pattern in another collection: Falco loads it and never fires.
    let silent = |case: &mut Json| case["falco"]["alerts"] = json!([]);
    check("new-1", "tool.name regex \"(?i)read\"", silent, "~");
    check("new-2", "tool.name regex \"(?i)read\"", |_| (), "in Falco it loads");
    check("regex-0209", "tool.name = Bash", |_| (), "differs even with the switch that is listed");
}
