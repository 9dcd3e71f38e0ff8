//! Short rules as the conditions of rules: the calls that they match, judged as by the daemon.

use castellan_daemon::{Config, compile};
use castellan_event::Verdict;
use castellan_policy::{NotAllow, Reach, prefix_condition, short_condition};
use castellan_rules::Source;
use castellan_trial::{Case, Trial};
use serde_json::{Map, Value as Json, json};

const DENY: (&str, Reach) = ("coding_agent_deny", Reach::Wide);
const ALLOW: (&str, Reach) = ("coding_agent_allow", Reach::Narrow);

fn rule(condition: &str, tag: &str) -> Source {
    let condition = Json::from(condition);
    let text = format!(
        "- rule: imported\n  desc: d\n  condition: {condition}\n  output: o\n  priority: NOTICE\n  source: \
         coding_agent\n  tags: [{tag}]\n"
    );
    Source { name: "r.yaml".to_owned(), text }
}

/// Judges calls by one rule. The rule must match each `true` call and no `false` call.
fn check_rule(condition: &str, (tag, _): (&str, Reach), calls: &[(&str, Json, bool)]) {
    // Another stage decides about Opaque calls.
    let mut config = Config::default();
    config.settings.opaque = NotAllow::Defer;
    let compiled = compile(&[rule(condition, tag)], &config);
    assert_eq!(compiled.error(), None, "{condition}");
    let verdict = if tag == DENY.0 { Verdict::Deny } else { Verdict::Allow };
    for (tool, input, expected) in calls {
        let Json::Object(input) = input.clone() else { panic!("{input}") };
        let judged = Trial::new(&compiled.policy).judge(&Case::new(tool, input)).unwrap();
        let decision = &judged.decision;
        let facts = &judged.facts;
        assert_eq!(
            decision.verdict == verdict,
            *expected,
            "{condition}\n{:?}\n{facts:#?}",
            judged.call.input_text
        );
    }
}

fn check(short: &str, what: (&str, Reach), commands: &[(&str, bool)]) {
    let condition = short_condition(short, what.1).unwrap();
    check_rule(&condition, what, &calls(commands));
}

fn calls<'c>(commands: &'c [(&str, bool)]) -> Vec<(&'c str, Json, bool)> {
    let call = |(command, expected): &(&str, bool)| ("Bash", json!({ "command": command }), *expected);
    commands.iter().map(call).collect()
}

#[test]
fn a_denied_command_is_denied_however_it_is_written() {
    check(
        "Bash(git push:*)",
        DENY,
        &[
            ("git push", true),
            ("git push origin main", true),
            ("ls; git   push", true),
            ("git -C /srv push --force", true),
            ("\"git\" pu''sh", true),
            ("/usr/bin/git push", true),
            ("env X=1 git push", true),
            ("bash -c 'git push'", true),
            ("git pull", false),
            ("git pushover", false),
            ("git commit -m push", false),
            ("echo git push", false),
        ],
    );
    check(
        "Bash(git push origin:*)",
        DENY,
        &[
            ("git push origin", true),
            ("git push --force origin main", true),
            ("git push", false),
            ("git push upstream", false),
        ],
    );
    check(
        "Bash(rm -rf:*)",
        DENY,
        &[("rm -rf build", true), ("rm -f -r build", true), ("rm -fr build", true), ("rm -r build", false)],
    );
    check(
        "Bash(git status)",
        DENY,
        &[("git status", true), ("'git' status", true), ("git status -s", false)],
    );
    check("Bash(npm run test*)", DENY, &[("npm run test:unit", true), ("npm run build", false)]);
    check("Bash", DENY, &[("ls", true)]);
}

#[test]
fn an_allow_covers_every_part_or_nothing() {
    check(
        "Bash(git status:*)",
        ALLOW,
        &[
            ("git status", true),
            ("git status -s src", true),
            ("git status 2>&1", true),
            ("git status && git status -s", true),
            ("git status; rm -rf /", false),
            ("git status; ls", false),
            ("git status $(rm -rf /)", false),
            ("git status > ~/.bashrc", false),
            ("git status 2>/dev/nullx", false),
            ("sudo git status", false),
            ("GIT_PAGER=x git status", false),
            ("git -c core.pager=x status", false),
            ("./git status", false),
            ("git statusx", false),
            ("echo x | git status", false),
        ],
    );
    check("Bash(ls)", ALLOW, &[("ls", true), ("ls /", false)]);
}

#[test]
fn a_prefix_has_alternatives() {
    let place = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    let words = vec![place(&["gh"]), place(&["pr", "issue"]), place(&["close"])];
    let condition = prefix_condition(&words, DENY.1).unwrap();
    let commands = [
        ("gh pr close 7", true),
        ("gh issue close 7", true),
        ("gh pr view 7", false),
        ("gh run close", false),
    ];
    check_rule(&condition, DENY, &calls(&commands));
    let condition = prefix_condition(&words, ALLOW.1).unwrap();
    check_rule(&condition, ALLOW, &calls(&[("gh pr close 7; ls", false), ("gh run close", false)]));
    assert!(prefix_condition(&Vec::new(), Reach::Wide).is_err());
    assert!(prefix_condition(&vec![Vec::new()], Reach::Wide).is_err());
}

#[test]
fn paths_hosts_and_tools() {
    let read = |path: &str| json!({ "file_path": path });
    let write = |path: &str| json!({ "file_path": path, "content": "x" });
    let both = |short: &str, what: (&str, Reach), calls: &[(&str, Json, bool)]| {
        check_rule(&short_condition(short, what.1).unwrap(), what, calls);
    };
    let shell = |command: &str| json!({ "command": command });
    both(
        "Read(//srv/data/**)",
        DENY,
        &[
            ("Read", read("/srv/data/x"), true),
            ("Bash", shell("cat /srv/data/x"), true),
            ("Bash", shell("grep -r x /srv"), true),
            ("Read", read("/srv/database"), false),
            ("Write", write("/srv/data/x"), false),
        ],
    );
    both(
        "Edit(**/*.lock)",
        DENY,
        &[
            ("Write", write("/home/dev/project/a/b.lock"), true),
            ("Bash", shell("rm x.lock"), true),
            ("Read", read("/home/dev/project/b.lock"), false),
            ("Write", write("/home/dev/project/lock"), false),
        ],
    );
    both(
        "Read(~/.ssh/**)",
        DENY,
        &[
            ("Read", read("/home/dev/.ssh/id_rsa"), true),
            ("Bash", shell("cat ~/.ssh/config"), true),
            ("Read", read("/home/dev/.sshx"), false),
        ],
    );
    both(
        "Edit(docs/**)",
        ALLOW,
        &[
            ("Write", write("/home/dev/project/docs/a.md"), true),
            ("Write", write("/srv/docs/a.md"), false),
            ("Write", write("/home/dev/project/src/a.md"), false),
        ],
    );
    both(
        "WebFetch(domain:example.com)",
        DENY,
        &[
            ("WebFetch", json!({ "url": "https://example.com/x", "prompt": "p" }), true),
            ("Bash", shell("curl https://a.example.com"), true),
            ("Bash", shell("curl https://myexample.com"), false),
        ],
    );
    both(
        "mcp__s__t",
        DENY,
        &[("mcp__s__t", Json::Object(Map::new()), true), ("mcp__s__u", Json::Object(Map::new()), false)],
    );
    both(
        "mcp__s",
        ALLOW,
        &[("mcp__s__u", Json::Object(Map::new()), true), ("mcp__other__u", Json::Object(Map::new()), false)],
    );
}

#[test]
fn what_no_condition_says_is_an_error() {
    for (short, why) in [
        ("Bash(git", "does not end in `)`"),
        ("Read(/etc/x)", "write `//...`"),
        ("Agent(x)", "only shells, files and web fetches"),
        ("Bash(x\\\\)", "ends in `\\`"),
    ] {
        let error = short_condition(short, Reach::Wide).unwrap_err().to_string();
        assert!(error.contains(why), "{short}: {error}");
    }
}
