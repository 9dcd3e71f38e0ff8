//! Gemini CLI and Qwen Code, which support only user registration: install, test, disable and uninstall.

use serde_json::Value as Json;

use crate::home::{Home, real_hook, skipped};

/// Word, title, the user's file, the repository's file.
const AGENTS: &[(&str, &str, &str, &str)] = &[
    ("gemini", "Gemini CLI", "user/.gemini/settings.json", "repo/.gemini/settings.json"),
    ("qwen", "Qwen Code", "user/.qwen/settings.json", "repo/.qwen/settings.json"),
];

/// Returns doctor's outcome and text for an agent.
fn findings(home: &Home, title: &str) -> Vec<(String, String)> {
    let report: Json = serde_json::from_str(&home.run(&["doctor", "--json"]).stdout).unwrap();
    let checks = report["checks"].as_array().unwrap().iter();
    let text = |check: &Json, key: &str| home.masked(check[key].as_str().unwrap());
    let of_agent = checks.filter(|check| check["subject"] == title);
    of_agent.map(|check| (text(check, "outcome"), text(check, "what"))).collect()
}

#[test]
fn a_canary_goes_through_the_shell_of_the_agent() {
    if real_hook().is_none() {
        return skipped("`castellan-hook` is not built; build the workspace first");
    }
    for (word, title, file, _) in AGENTS {
        let home = Home::new();
        home.write(file, "{\n  // mine\n  \"ui\": {}\n}\n");
        let installed = home.run_ok(&["install", word, "--launchers"]);
        assert!(installed.contains("lets a repository that it trusts switch these hooks off"), "{installed}");
        assert!(!installed.contains("--managed") && !home.bin().join(format!("castellan-{word}")).exists());
        let found = findings(&home, title);
        let [(_, count), (doubt, can_be_off), (_, canary)] = &found[..] else { panic!("{found:?}") };
        assert!(
            count.contains("hooks in ROOT/user/") && canary.starts_with("a test call was denied"),
            "{found:?}"
        );
        assert_eq!(
            (doubt.as_str(), can_be_off.as_str()),
            ("doubtful", "registered for you alone: a repository can switch it off")
        );
        let second = home.run_ok(&["install", word]);
        assert!(second.starts_with("nothing to do"), "{second}");
        assert!(home.run(&["status"]).stdout.contains("guarded, but a repository can switch this off"));
    }
}

#[test]
fn a_switch_is_found() {
    let hook = |home: &Home| {
        let hooks: Json = serde_json::from_str(&home.read(AGENTS[0].2)).unwrap();
        hooks["hooks"]["BeforeTool"][0]["hooks"][0]["command"].clone()
    };
    let check = |at: usize, place: &str, switch: &dyn Fn(&Home) -> String, expected: &str| {
        let (word, title, ..) = AGENTS[at];
        let home = Home::new();
        home.run_ok(&["install", word]);
        let text = switch(&home);
        match place.starts_with("user") {
            true => home.write(place, home.read(place).replacen('{', &format!("{{{text},"), 1)),
            false if place.ends_with(".env") => home.write(place, text),
            false => home.write(place, format!("{{{text}}} // theirs\n")),
        }
        let found = findings(&home, title);
        let expected = format!("`ROOT/{place}` has `{expected}`, which switches castellan's hooks off");
        assert!(found.contains(&("bad".to_owned(), expected)), "{found:?}");
        assert!(home.run(&["status"]).stdout.contains("not guarded: `"));
    };
    for place in [AGENTS[0].2, AGENTS[0].3] {
        let off = |_: &Home| r#""hooksConfig": {"enabled": false}"#.to_owned();
        check(0, place, &off, "hooksConfig.enabled: false");
        let named = |home: &Home| format!(r#""hooksConfig": {{"disabled": ["lint", {}]}}"#, hook(home));
        check(0, place, &named, "hooksConfig.disabled: [castellan's hook]");
    }
    check(0, AGENTS[0].3, &|_| r#""hooks": null"#.to_owned(), "hooks: no object");
    for place in ["repo/.env", "repo/.qwen/.env"] {
        check(1, place, &|_| "QWEN_CODE_SAFE_MODE=1\n".to_owned(), "QWEN_CODE_SAFE_MODE");
    }
    for place in [AGENTS[1].2, AGENTS[1].3] {
        check(1, place, &|_| r#""disableAllHooks": true"#.to_owned(), "disableAllHooks: true");
    }
}

#[test]
fn a_changed_time_limit_is_found() {
    for (word, title, file, _) in AGENTS {
        let home = Home::new();
        home.run_ok(&["install", word]);
        home.write(file, home.read(file).replace("600000", "600"));
        let found = findings(&home, title);
        assert!(found.iter().any(|(is, what)| is == "bad" && what.ends_with(" was changed")), "{found:?}");
    }
}

#[test]
fn an_uninstall_gives_back_every_byte() {
    for (word, _, file, _) in AGENTS {
        for before in ["{ // mine\n  \"ui\": {\"theme\": \"x\"}, /* two */\n  \"hooks\": {}\n}\n", "{}"] {
            let home = Home::new();
            home.write(file, before);
            home.run_ok(&["install", word]);
            assert!(home.read(file).contains("castellan-hook"));
            let Some(done) = home.run_as_person(&["uninstall", word]) else { return };
            assert_eq!((done.code, home.read(file).as_str()), (Some(0), before), "{done:?}");
        }
    }
}

#[test]
fn a_variable_moves_the_settings() {
    let home = Home::new();
    let (gemini, qwen) = (home.path("elsewhere"), home.path("elsewhere/qwen"));
    let home = home.with_variable("GEMINI_CLI_HOME", gemini).with_variable("QWEN_HOME", qwen);
    home.run_ok(&["install", "gemini", "qwen"]);
    assert!(home.read("elsewhere/.gemini/settings.json").contains("--agent gemini"));
    assert!(home.read("elsewhere/qwen/settings.json").contains("--agent qwen"));
    assert!(!home.path(AGENTS[0].2).exists() && !home.path(AGENTS[1].2).exists());
}
