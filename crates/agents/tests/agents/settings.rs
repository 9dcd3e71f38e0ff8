//! Registration in settings texts: undone to the byte, idempotent, and never over a text that does not parse.

use castellan_agents::{
    AgentId, HookCommand, SettingsProblem, hook_events, inspect, managed_settings_text, register,
    register_managed_toml, unregister, unregister_managed_toml,
};
use proptest::prelude::*;
use serde_json::Value as Json;

fn hook() -> HookCommand {
    HookCommand {
        program: "/home/u/.local/bin/castellan-hook".to_owned(),
        home: "/home/u/my dir/castellan".to_owned(),
    }
}

/// Registers, checks every property on the way, and returns the registered text.
#[track_caller]
fn check(agent: AgentId, text: &str) -> String {
    let registered = register(agent, text, &hook()).unwrap();
    assert_eq!(register(agent, &registered, &hook()).as_ref(), Ok(&registered), "idempotent");
    assert_eq!(unregister(agent, &registered).as_deref(), Ok(text), "undone from {registered}");
    let found = inspect(agent, &registered).unwrap();
    let events: Vec<_> = hook_events(agent).iter().map(|event| event.name).collect();
    let mut ours: Vec<_> = found.ours.iter().map(|ours| ours.event.as_str()).collect();
    ours.sort_by_key(|name| events.iter().position(|event| event == name));
    assert_eq!(ours, events);
    assert!(found.missing.is_empty() && found.ours.iter().all(|ours| ours.intact), "{registered}");
    let foreign = |text: &str| inspect(agent, text).map(|found| found.foreign).unwrap_or_default();
    assert_eq!(foreign(&registered), foreign(text));
    let other = HookCommand { program: "/opt/castellan-hook".to_owned(), home: "/x".to_owned() };
    let moved = register(agent, &registered, &other).unwrap();
    assert_eq!(unregister(agent, &moved).as_deref(), Ok(text), "undone from {moved}");
    assert!(inspect(agent, &moved).unwrap().ours.iter().all(|ours| ours.argv[0] == other.program));
    registered
}

#[test]
fn every_text_is_given_back() {
    let foreign = r#"{ "hooks": [ { "type": "command", "command": "lint" } ], "matcher": "Bash" }"#;
    let texts = [
        "".to_owned(),
        "\n".to_owned(),
        "  \r\n\t".to_owned(),
        "// nothing yet".to_owned(),
        "// nothing yet\n/* at all */\n".to_owned(),
        "{}".to_owned(),
        "{}\n".to_owned(),
        "{ }".to_owned(),
        "{\n}\n".to_owned(),
        "\n\n{\r\n}\r\n\r\n".to_owned(),
        "{ /* c */ }".to_owned(),
        "{ // c\n}".to_owned(),
        "{ // c\r}".to_owned(),
        "\u{feff}{\"a\":1}".to_owned(),
        r#"{"model":"opus"}"#.to_owned(),
        "{\n\t\"model\": \"opus\"\n}\n".to_owned(),
        "{\r\n    \"model\": \"opus\" // the big one\r\n}\r\n".to_owned(),
        "{\n  \"model\": \"opus\", // trailing\n  /* end */\n}".to_owned(),
        r#"{"hooks":{}}"#.to_owned(),
        r#"{"hooks":{"PreToolUse":[]}}"#.to_owned(),
        "{\n  \"hooks\": {\n  }\n}".to_owned(),
        "{\n  \"hooks\": {\n    \"PostToolUse\": [\n    ],\n    \"PreToolUse\": []\n  },\n  \"z\": 1\n}"
            .to_owned(),
        format!(r#"{{"hooks":{{"PreToolUse":[{foreign}]}}, "z": [1,2,]}}"#),
        format!(
            "{{\n \"hooks\": {{\n  \"PreToolUse\": [\n   {foreign}, // theirs\n  ],\n  \"Stop\": [{foreign}],\n }},\n}}"
        ),
        format!("{{\"hooks\":{{\"PostToolUse\":[{foreign},{foreign}]\n}} }}"),
    ];
    for agent in AgentId::ALL {
        for text in &texts {
            check(agent, text);
        }
    }
}

#[test]
fn a_new_file_is_what_the_agent_reads() {
    let text = check(AgentId::CLAUDE, "");
    let json: Json = serde_json::from_str(&text).unwrap();
    let expected = serde_json::json!([{ "hooks": [{
        "type": "command",
        "command": "/home/u/.local/bin/castellan-hook",
        "args": ["--agent", "claude", "--event", "PreToolUse", "--home", "/home/u/my dir/castellan"],
        "timeout": 600,
        "onFailure": "block",
    }]}]);
    assert_eq!(json["hooks"]["PreToolUse"], expected);
    assert_eq!(json["hooks"]["PostToolUse"][0]["hooks"][0].get("onFailure"), None);
    let managed: Json = serde_json::from_str(&managed_settings_text(AgentId::CLAUDE, &hook())).unwrap();
    assert_eq!(managed, json);

    let text = check(AgentId::CODEX, "");
    let json: Json = serde_json::from_str(&text).unwrap();
    let expected = serde_json::json!([{ "matcher": "*", "hooks": [{
        "type": "command",
        "command": "/home/u/.local/bin/castellan-hook --agent codex --event PreToolUse --home '/home/u/my dir/castellan'",
        "timeout": 600,
    }]}]);
    assert_eq!(json["hooks"]["PreToolUse"], expected);

    let text = check(AgentId::GEMINI, "");
    let json: Json = serde_json::from_str(&text).unwrap();
    let expected = serde_json::json!([{ "hooks": [{
        "type": "command",
        "command": "/home/u/.local/bin/castellan-hook --agent gemini --event BeforeTool --home '/home/u/my dir/castellan'",
        "timeout": 600_000,
    }]}]);
    assert_eq!(json["hooks"]["BeforeTool"], expected);

    let text = check(AgentId::QWEN, "");
    let json: Json = serde_json::from_str(&text).unwrap();
    let expected = serde_json::json!([{ "hooks": [{
        "type": "command",
        "command": "/home/u/.local/bin/castellan-hook --agent qwen --event SessionEnd --home '/home/u/my dir/castellan'",
        "timeout": 3000,
    }]}]);
    assert_eq!(json["hooks"]["SessionEnd"], expected);
}

#[test]
fn what_is_written_looks_like_what_is_there() {
    let text =
        register(AgentId::CODEX, "{\r\n\t\"description\": \"mine\" // note\r\n}\r\n", &hook()).unwrap();
    let beginning = "{\r\n\t\"description\": \"mine\", // note\r\n\t\"hooks\": {\r\n\t\t\"PreToolUse\": [\r\n\t\t\t{\r\n\t\t\t\t\"matcher\": \"*\",\r\n";
    assert!(text.starts_with(beginning), "{text}");
    assert!(text.ends_with("\r\n\t\t]\r\n\t}\r\n}\r\n"), "{text}");
}

#[test]
fn what_the_user_added_around_ours_stays() {
    let agent = AgentId::CODEX;
    let text = register(agent, "{}", &hook()).unwrap();
    let theirs = r#"{"type":"command","command":"theirs"}"#;
    // In castellan's group, beside it, and beside castellan's events.
    let edited = text
        .replacen(
            "\"timeout\": 600\n          }",
            &format!("\"timeout\": 600\n          }},\n          {theirs}"),
            1,
        )
        .replacen("\"PostToolUse\": [", &format!("\"PostToolUse\": [{{\"hooks\":[{theirs}]}},"), 1)
        .replacen("\"hooks\": {", &format!("\"z\":1,\"hooks\": {{\"Stop\":[{{\"hooks\":[{theirs}]}}],"), 1);
    let undone = unregister(agent, &edited).unwrap();
    let json: Json = serde_json::from_str(&undone).unwrap_or_else(|error| panic!("{error}: {undone}"));
    let theirs: Json = serde_json::from_str(theirs).unwrap();
    let expected = serde_json::json!({ "z": 1, "hooks": {
        "Stop": [{ "hooks": [theirs] }],
        "PreToolUse": [{ "matcher": "*", "hooks": [theirs] }],
        "PostToolUse": [{ "hooks": [theirs] }],
    }});
    assert_eq!(json, expected);
    let twice = r#"{"hooks":{"Stop":[{"hooks":[{"command":"castellan-hook --agent codex"}],"hooks":[{"command":"x"}]}]}}"#;
    let undone = unregister(agent, twice).unwrap();
    assert_eq!(undone, r#"{"hooks":{"Stop":[{"hooks":[],"hooks":[{"command":"x"}]}]}}"#);
    let again = register(agent, &edited, &hook()).unwrap();
    assert_eq!(inspect(agent, &again).unwrap().foreign.len(), 3);
}

#[test]
fn inspection_tells_ours_from_others_and_reads_as_the_agent_does() {
    let text = register(AgentId::CLAUDE, r#"{"disableAllHooks":true}"#, &hook()).unwrap();
    let text =
        text.replacen("\"timeout\": 600", "\"timeout\": 1", 1).replacen("\"SessionStart\"", "\"Stop\"", 1);
    let text = text.replacen("castellan-hook", "my-castellan-hook", 2);
    let found = inspect(AgentId::CLAUDE, &text).unwrap();
    assert!(found.disabled);
    assert_eq!(found.missing, ["PreToolUse", "PermissionRequest", "SessionStart"]);
    assert_eq!(found.foreign.len(), 2);
    assert!(found.foreign[0].command.starts_with("/home/u/.local/bin/my-castellan-hook ["));
    let intact: Vec<_> = found.ours.iter().map(|ours| (ours.event.as_str(), ours.intact)).collect();
    assert!(intact.contains(&("Stop", false)) && intact.contains(&("PostToolUse", true)), "{intact:?}");

    let ignored = |agent, text: &str| inspect(agent, text).unwrap().ignored;
    for agent in AgentId::ALL {
        assert_eq!(ignored(agent, r#"{"hooks":{}}"#), None);
        assert_eq!(ignored(agent, ""), None);
        assert!(ignored(agent, r#"{"hooks":{},}"#).unwrap().contains("trailing commas"));
    }
    for agent in [AgentId::CLAUDE, AgentId::CODEX] {
        assert!(ignored(agent, "{} // c").unwrap().contains("comments"));
    }
    for agent in [AgentId::GEMINI, AgentId::QWEN] {
        assert_eq!(ignored(agent, "{ /* a */ } // c"), None);
    }
    assert_eq!(ignored(AgentId::CLAUDE, "\u{feff}{\"x\":1}"), None);
    assert!(ignored(AgentId::CODEX, "\u{feff}{}").is_some());
    assert!(ignored(AgentId::CODEX, r#"{"x":1}"#).unwrap().contains("`x`"));
    assert_eq!(ignored(AgentId::CODEX, r#"{"description":"d"}"#), None);
}

#[test]
fn a_text_that_cannot_be_read_is_refused() {
    let problem = |text: &str| register(AgentId::CLAUDE, text, &hook()).unwrap_err().to_string();
    assert_eq!(problem("{\n  \"a\": 1\n  \"b\": 2\n}"), "line 2, column 9: not valid JSON: expected comma");
    assert_eq!(problem("{"), "line 1, column 1: not valid JSON: unterminated object");
    assert_eq!(
        problem("{'a': 1}"),
        "line 1, column 2: not valid JSON: single-quoted strings are not allowed"
    );
    assert_eq!(problem("[]"), "the file must be an object");
    assert_eq!(problem("{\"hooks\": 1}"), "`hooks` must be an object");
    assert_eq!(problem("{\"hooks\": {\"PreToolUse\": {}}}"), "`hooks.PreToolUse` must be a list");
    assert_eq!(problem("{\"hooks\": {}, \"hooks\": {}}"), "`hooks` must be a key that stands once");
    assert_eq!(
        problem("{\"hooks\": {\"Stop\": [], \"Stop\": []}}"),
        "`hooks.Stop` must be a key that stands once"
    );
    let large = " ".repeat(castellan_agents::SETTINGS_BYTES_MAX + 1);
    assert_eq!(register(AgentId::CODEX, &large, &hook()), Err(SettingsProblem::TooLarge));
    assert!(register(AgentId::CODEX, &"[".repeat(100_000), &hook()).is_err());
    assert!(unregister(AgentId::CODEX, "{").is_err() && inspect(AgentId::CODEX, "{").is_err());
}

#[test]
fn managed_codex_is_given_back() {
    let check = |text: &str| {
        let registered = register_managed_toml(text, &hook()).unwrap();
        assert_eq!(register_managed_toml(&registered, &hook()).as_ref(), Ok(&registered), "idempotent");
        assert_eq!(unregister_managed_toml(&registered).as_deref(), Ok(text), "undone from {registered}");
        let document: toml_edit::DocumentMut = registered.parse().unwrap();
        assert_eq!(document["features"]["hooks"].as_bool(), Some(true));
        for event in hook_events(AgentId::CODEX) {
            let groups = document["hooks"][event.name].as_array_of_tables().unwrap();
            let handlers = groups.iter().last().unwrap()["hooks"].as_array_of_tables().unwrap();
            let command = handlers.get(0).unwrap()["command"].as_str().unwrap();
            let expected = format!(
                "/home/u/.local/bin/castellan-hook --agent codex --event {} --home '/home/u/my dir/castellan'",
                event.name
            );
            assert_eq!(command, expected);
        }
        registered
    };
    check("");
    check("\n");
    check("# mine");
    check("allowed_approval_policies = [\"on-request\"] # mine\n\n");
    check("[features]\nhooks = true\n");
    check("[features]\n# c\nx = true # y\n\n# about rules\n[rules]\na = 1");
    check("[hooks]\nmanaged_dir = \"/opt\"\n[[hooks.PreToolUse]]\nmatcher = \"Bash\"\n");
    check("features.hooks = true\n");
    check("a = 1\r\n[features] # c\r\nx = true\r\n");
    check("[features]");
    check("[ features ]\n[features.sub]\na = 1\n");
    let edited = format!("{}\n[mine]\na = 1\n", register_managed_toml("b = 1\n", &hook()).unwrap());
    assert_eq!(unregister_managed_toml(&edited).unwrap(), "b = 1\n\n[mine]\na = 1\n");

    let problem = |text: &str| register_managed_toml(text, &hook()).unwrap_err().to_string();
    let set_it = "`features.hooks` must be true: set it, then install again";
    assert_eq!(problem("[features]\nhooks = false\n"), set_it);
    assert_eq!(problem("features = { x = true }\n"), set_it);
    assert_eq!(problem("features.x = true\n"), set_it);
    assert!(problem("a = 1\nb = = 2\n").starts_with("line 2, column 5: not valid TOML: "));
    let tables = "`hooks` must be a table whose events are written as `[[hooks.PreToolUse]]`";
    assert_eq!(problem("[hooks]\nPreToolUse = []\n"), tables);
}

/// White space between two tokens, with and without comments.
fn gap() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => Just(String::new()),
        4 => "[ \t]{0,3}",
        3 => "(\n|\r\n|\n\n)[ \t]{0,4}",
        1 => "[ \n]{0,2}/\\* [a-z,{}\\]\"]{0,4} \\*/[ \n]{0,2}",
        1 => " ?// [a-z,{}\\]\"]{0,4}(\n|\r\n)[ \t]{0,2}",
    ]
}

/// A list of items in brackets, with gaps everywhere and perhaps a final comma.
fn bracketed(open: &'static str, close: &'static str, items: Vec<String>) -> impl Strategy<Value = String> {
    let gaps = prop::collection::vec((gap(), gap()), items.len());
    (gaps, gap(), any::<bool>()).prop_map(move |(gaps, last_gap, trailing_comma)| {
        let spaced: Vec<_> = items.iter().zip(gaps).map(|(item, (a, b))| format!("{a}{item}{b}")).collect();
        let comma = if trailing_comma && !items.is_empty() { "," } else { "" };
        format!("{open}{}{comma}{last_gap}{close}", spaced.join(","))
    })
}

fn settings_text() -> impl Strategy<Value = String> {
    let group = prop_oneof![
        Just(r#"{"hooks":[{"type":"command","command":"x"}]}"#.to_owned()),
        Just(r#"{ "matcher": "Bash", "hooks": [ ] }"#.to_owned()),
        Just("1".to_owned()),
    ];
    let groups = move || {
        prop::collection::vec(group.clone(), 0..3).prop_flat_map(|groups| bracketed("[", "]", groups))
    };
    let events = prop::sample::subsequence(vec!["PreToolUse", "Stop", "PostToolUse", "SessionEnd"], 0..4);
    let hooks = events
        .prop_flat_map(move |events| {
            let event = |name| groups().prop_map(move |groups| format!("\"{name}\": {groups}"));
            events.into_iter().map(event).collect::<Vec<_>>()
        })
        .prop_flat_map(|events| bracketed("{", "}", events));
    let members =
        (prop::option::of(hooks), prop::bool::ANY, prop::bool::ANY).prop_map(|(hooks, before, after)| {
            let hooks = hooks.map(|hooks| format!("\"hooks\" :{hooks}"));
            let before = before.then(|| "\"a\": [1, 2]".to_owned());
            let after = after.then(|| "\"z\": {\"hooks\": {}}".to_owned());
            [before, hooks, after].into_iter().flatten().collect::<Vec<_>>()
        });
    let root = members.prop_flat_map(|members| bracketed("{", "}", members));
    (gap(), prop::option::of(root), gap())
        .prop_map(|(a, root, b)| format!("{a}{}{b}", root.unwrap_or_default()))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn any_settings_text_is_given_back(text in settings_text(), agent in prop::sample::select(&AgentId::ALL[..])) {
        check(agent, &text);
    }

    #[test]
    fn no_text_makes_it_panic(text in "\\PC{0,60}", json in "[\\[\\]{}\",:ahoks /*\n1]{0,40}") {
        for text in [text, json] {
            for agent in AgentId::ALL {
                if let Ok(registered) = register(agent, &text, &hook()) {
                    prop_assert_eq!(unregister(agent, &registered), Ok(text.clone()));
                }
                let _ = inspect(agent, &text);
            }
            if let Ok(registered) = register_managed_toml(&text, &hook()) {
                prop_assert_eq!(unregister_managed_toml(&registered), Ok(text.clone()));
            }
        }
    }
}
