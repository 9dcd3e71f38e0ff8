//! `castellan rules import`.

use crate::home::Home;

const CLAUDE: &str = r#"{
  "permissions": {
    "deny": ["Bash(git push:*)", "Read(//srv/data/**)"],
    "ask": ["WebFetch(domain:example.com)",
            "Agent(reviewer)"],
    "allow": ["Bash(git status:*)", "Bash(git status:*)", "mcp__s__t"]
  }
}
"#;

const CODEX: &str = r#"prefix_rule(pattern=["gh", ["pr", "issue"], "close"], decision="prompt", justification="Closes 100% of it")
network_rule(host="x")
"#;

const GEMINI: &str =
    "[[rule]]\ntoolName = \"run_shell_command\"\ncommandRegex = \"dropdb +prod\"\ndecision = \"deny\"\n";

/// Expected verdicts of the imported rules.
const CASES: &str = r#"version: 2
cases:
  - {call: {tool: Bash, command: "git -C x push"}, verdict: deny, rule: "Deny Bash(git push:*) (imported 1)"}
  - {call: {tool: Bash, command: "cat /srv/data/x"}, verdict: deny, rule: "Deny Read(//srv/data/**) (imported 2)"}
  - {call: {tool: Bash, command: "git status"}, verdict: allow, rule: "Allow Bash(git status:*) (imported 4)"}
  - {call: {tool: Bash, command: "git status; make x"}, verdict: defer, rule: "Allow Bash(git status:*) (imported 4)", as: look-alike}
  - {call: {tool: Bash, command: "gh issue close 7"}, verdict: ask, rule: "Ask before gh pr|issue close (imported 6)"}
  - {call: {tool: Bash, command: "dropdb prod"}, verdict: deny, rule: "Deny commands like dropdb +prod (imported 7)"}
"#;

#[test]
fn rules_of_every_agent_become_rules_that_hold() {
    let home = Home::new();
    for (file, text) in [("settings.json", CLAUDE), ("default.rules", CODEX), ("p.toml", GEMINI)] {
        std::fs::write(home.repo().join(file), text).unwrap();
    }
    let import = ["rules", "import", "settings.json", "default.rules", "p.toml", "--output", "mine.yaml"];
    let done = home.run(&import);
    // A rule that cannot be converted is reported, and the others are imported.
    assert_eq!(done.code, Some(6), "{done:?}");
    for expected in [
        "settings.json:5: permissions.ask: Agent(reviewer): only shells, files and web fetches can have a content",
        "default.rules:2: `network_rule(...)` is no rule about commands",
    ] {
        assert!(done.stderr.contains(expected), "{expected}: {}", done.stderr);
    }
    assert_eq!(done.stdout, "7 rules imported, 2 rules not\n");
    let rules = home.read("repo/mine.yaml");
    for expected in [
        "desc: \"Claude Code, settings.json:3: permissions.deny: Bash(git push:*)\"",
        "desc: \"Gemini, p.toml:1: toolName = ",
        "(Closes 100 of it)",
    ] {
        assert!(rules.contains(expected), "{expected}: {rules}");
    }
    home.run_ok(&["rules", "validate", "mine.yaml"]);
    std::fs::write(home.repo().join("mine_cases.yaml"), CASES).unwrap();
    let tested = home.run(&["rules", "test", "mine.yaml"]);
    assert!(tested.code == Some(0) && tested.stdout.contains("each decided as it says"), "{tested:?}");
    // An existing file is not replaced.
    let again = home.run(&import);
    assert!(again.code == Some(7) && again.stderr.contains("cannot be written"), "{again:?}");
    assert_eq!(home.read("repo/mine.yaml"), rules);
}

/// A letter that turns the direction of writing could show another rule than the one that is in force.
#[test]
fn invisible_letters_are_visible_in_the_file() {
    let home = Home::new();
    let settings = "{\"permissions\": {\"deny\": [\"Bash(touch \u{202e}fdp.x)\"]}}";
    std::fs::write(home.repo().join("settings.json"), settings).unwrap();
    home.run_ok(&["rules", "import", "settings.json", "--output", "mine.yaml"]);
    let rules = home.read("repo/mine.yaml");
    assert!(rules.contains("\\U0000202e") && !rules.contains('\u{202e}'), "{rules}");
    let case = "cases:\n  - {call: {tool: Bash, command: \"touch \\U0000202efdp.x\"}, verdict: deny, rule: \
                \"Deny Bash(touch fdp.x) (imported 1)\"}\n";
    std::fs::write(home.repo().join("mine_cases.yaml"), format!("version: 2\n{case}")).unwrap();
    let tested = home.run(&["rules", "test", "mine.yaml"]);
    assert!(tested.stdout.contains("each decided as it says"), "{tested:?}");
}

#[test]
fn without_an_output_file_the_rules_are_printed() {
    let home = Home::new();
    std::fs::write(home.repo().join("rules"), "prefix_rule(pattern=[\"rm\"], decision=\"forbidden\")\n")
        .unwrap();
    let untold = home.run(&["rules", "import", "rules"]);
    assert!(
        untold.code == Some(7) && untold.stderr.contains("say `--from` with one of `claude`"),
        "{untold:?}"
    );
    let printed = home.run_ok(&["rules", "import", "--from", "codex", "rules"]);
    assert!(printed.contains("- rule: \"Deny rm (imported 1)\"\n"), "{printed}");
    let none = home.run(&["rules", "import", "--from", "claude", "rules"]);
    assert!(none.code == Some(1) && none.stderr.contains("rules:1: it is not valid JSON"), "{none:?}");
    // A regular expression of another language is rejected alone.
    let gemini = "[[rule]]\ncommandRegex = \"(?=x)\"\ndecision = \"deny\"\n";
    std::fs::write(home.repo().join("g.toml"), gemini).unwrap();
    let refused = home.run(&["rules", "import", "g.toml"]);
    assert!(refused.code == Some(1) && refused.stderr.contains("g.toml:1: "), "{refused:?}");
}
