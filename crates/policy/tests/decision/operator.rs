//! The operator's short rules: syntax and limits of allows. `castellan check` has the tests with real commands.

use castellan_event::{
    Call, Change, Command, Effect, EffectKind, Facts, FileTarget, Layer, LocatedFile, PatchOp, Remote, Scope,
    ToolKind, Verdict,
};
use castellan_policy::{Operator, Policy, Settings};
use proptest::prelude::*;

use crate::support::{bash, call, judge, layered, rule, script};

fn operator(deny: &[&str], ask: &[&str], allow: &[&str]) -> Operator {
    let [deny, ask, allow] =
        [deny, ask, allow].map(|list| list.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>());
    Operator::parse(&deny, &ask, &allow).unwrap()
}

fn policy(operator: Operator, rules: &str) -> Policy {
    layered(&[(Layer::User, rules)], Settings { operators: operator.into(), ..Settings::default() })
}

fn command(words: &str) -> Command {
    let mut words = words.split(' ').map(str::to_owned);
    let name = words.next();
    let args: Vec<String> = words.collect();
    Command {
        line: name.iter().chain(&args).cloned().collect::<Vec<_>>().join(" "),
        name,
        args,
        origin: "text".to_owned(),
        ..Command::default()
    }
}

#[test]
fn a_pattern_that_cannot_be_read_is_an_error_that_says_what_to_write() {
    let check = |text: &str, expected: &str| {
        let error = Operator::parse(&[text.to_owned()], &[], &[]).unwrap_err().to_string();
        assert!(error.starts_with(&format!("`deny`: `{text}`: ")) && error.contains(expected), "{error}");
    };
    check("Bash(git push", "does not end in `)`");
    check("Bash(git push) x", "does not end in `)`");
    check(r"Bash(git push\)", "does not end in `)`");
    check("Bash)", "without `(`");
    check("(x)", "no tool name");
    check("", "no tool name");
    check("B*(x)", "write the whole name");
    check("Bash(:*)", "no command");
    check("Read(/etc/passwd)", "write `//...`");
    check("Read(~root/x)", "write `//...`");
    check("Read(../x)", "`..`");
    check("WebFetch(example.com)", "write `domain:`");
    check("WebFetch(domain:)", "write `domain:`");
    check("WebFetch(domain:a.*.com)", "write `domain:`");
    check("mcp__", "name the MCP server");
    check("mcp__*__x", "name the MCP server");
    check("mcp__s__x*", "name one tool");
    check("mcp__s__t(x)", "only shells, files and web fetches");
    check("Agent(x)", "only shells, files and web fetches");
}

#[test]
fn limits_hold_for_lists_and_patterns() {
    let long = format!("Bash({})", "x".repeat(2000));
    assert!(
        Operator::parse(&[], std::slice::from_ref(&long), &[]).unwrap_err().to_string().contains("at most")
    );
    let many = vec!["Bash(x)".to_owned(); 1001];
    assert!(Operator::parse(&[], &[], &many).unwrap_err().to_string().contains("`allow` has 1001 patterns"));
}

#[test]
fn tools_are_named_in_any_case_and_by_any_agents_name() {
    let check = |pattern: &str, tool: &str, kind, expected| {
        let call = call(tool, kind, "x", &[]);
        let got = judge(&call, &Facts::default(), &policy(operator(&[pattern], &[], &[]), "")).verdict;
        assert_eq!(got == Verdict::Deny, expected, "{pattern} on {tool}");
    };
    check("bash", "Bash", ToolKind::Shell, true);
    check("exec_command", "Bash", ToolKind::Shell, true);
    check("Shell(*)", "Bash", ToolKind::Shell, true);
    check("write", "Edit", ToolKind::Edit, true);
    check("Edit", "apply_patch", ToolKind::Patch, true);
    check("Read", "Edit", ToolKind::Edit, false);
    check("websearch", "WebSearch", ToolKind::Web, true);
    check("WebFetch", "WebSearch", ToolKind::Web, false);
    check("MAGIC", "Magic", ToolKind::Unknown, true);
    check("Magi", "Magic", ToolKind::Unknown, false);
}

#[test]
fn a_patch_in_shell_text_is_an_edit() {
    let file = FileTarget {
        path: "x".to_owned(),
        patch_op: Some(PatchOp::Update),
        patch_text: String::new(),
        change: Change::Unsaid,
    };
    let patched = Call { files: vec![file], ..bash("apply_patch <<'EOF' ...") };
    let policy = policy(operator(&["Edit"], &[], &[]), "");
    assert_eq!(judge(&patched, &Facts::default(), &policy).verdict, Verdict::Deny);
    assert_eq!(judge(&bash("ls"), &Facts::default(), &policy).verdict, Verdict::Defer);
}

#[test]
fn an_allow_covers_what_the_words_say_and_lifts_what_asks() {
    let ask = rule("ask git", "cmd.name = git", "coding_agent_ask");
    let deny = rule("no git", "cmd.name = git", "coding_agent_deny");
    let effect = |path: &str| {
        let (raw, place) = (path.to_owned(), Some(Scope::Workspace));
        let file = LocatedFile { path: Some(format!("/w/{path}")), raw, place, ..LocatedFile::default() };
        Effect { command: Some(0), ..Effect::on_file(EffectKind::Write, file) }
    };
    let check_text = |text: &str, command: Command, effects: Vec<Effect>, rules: &str, expected| {
        let facts = Facts { commands: vec![command], effects, ..Facts::default() };
        let policy = policy(operator(&[], &[], &["Bash(git add:*)"]), rules);
        let decision = judge(&bash(text), &facts, &policy);
        assert_eq!(decision.verdict, expected, "{facts:?}");
    };
    let check = |command: Command, effects: Vec<Effect>, rules: &str, expected| {
        check_text("x", command, effects, rules, expected);
    };
    let add = || command("git add out");
    check(add(), vec![effect("out")], "", Verdict::Allow);
    check(add(), vec![effect("out")], &ask, Verdict::Allow);
    check(add(), vec![effect("out")], &deny, Verdict::Deny);
    // A redirect is not among the words.
    let redirected = "git add out > .bashrc";
    check_text(redirected, add(), vec![effect(".bashrc")], "", Verdict::Defer);
    check_text(redirected, add(), vec![effect(".bashrc")], &ask, Verdict::Ask);
    check_text("git add out 2>/dev/null", add(), vec![effect("out")], &ask, Verdict::Allow);
    check_text("git add out >/dev/nullx", add(), vec![effect("out")], &ask, Verdict::Ask);
    check_text("git add out 2>&1x", add(), vec![effect("out")], &ask, Verdict::Ask);
    check_text("git add out 2>&1", add(), vec![effect("out")], &ask, Verdict::Allow);
    // The words do not describe the effects of a file with code, or a command's input.
    let of_script = Effect { script: script("/w/x"), ..effect("out") };
    check(add(), vec![of_script], &ask, Verdict::Ask);
    check(Command { pipe_from: Some("cat".to_owned()), ..add() }, vec![effect("out")], &ask, Verdict::Ask);
    check(command("git addx"), vec![], &ask, Verdict::Ask);
    check(Command { wrappers: vec!["sudo".to_owned()], ..add() }, vec![], &ask, Verdict::Ask);
    check(Command { env: vec!["GIT_DIR=/x".to_owned()], ..add() }, vec![], &ask, Verdict::Ask);
    check(Command { remote: Some("host".to_owned()), ..add() }, vec![], &ask, Verdict::Ask);
    let opaque = Effect { command: Some(0), ..Effect::of(EffectKind::Opaque) };
    check(add(), vec![opaque], &ask, Verdict::Ask);
}

#[test]
fn nothing_lifts_what_the_organisation_asks_unless_its_rule_says_so() {
    let check = |tags: &str, expected| {
        let upper = rule("ask git", "cmd.name = git", tags);
        let settings =
            Settings { operators: operator(&[], &[], &["Bash(git:*)"]).into(), ..Settings::default() };
        let policy = layered(&[(Layer::Organisation, &upper)], settings);
        let facts = Facts { commands: vec![command("git x")], effects: vec![], ..Facts::default() };
        assert_eq!(judge(&bash("git x"), &facts, &policy).verdict, expected, "{tags}");
    };
    check("coding_agent_ask", Verdict::Ask);
    check("coding_agent_ask, coding_agent_liftable", Verdict::Allow);
}

const PATTERNS: &[&str] =
    &["Bash(git:*)", "Bash(rm x)", "Bash", "Edit(x)", "Read(//w/**)", "WebFetch(domain:x.org)"];

fn any_facts() -> impl Strategy<Value = Facts> {
    let words = prop::sample::select(vec!["git status", "git push", "rm x", "sudo git"]);
    let kind = prop::sample::select(EffectKind::ALL.to_vec());
    let effect = (prop::option::of(0..2usize), kind, prop::sample::select(vec!["/w/x", "/etc/x"]));
    (prop::collection::vec(words, 0..3), prop::collection::vec(effect, 0..3)).prop_map(
        |(commands, effects)| {
            let effect = |(command, kind, path): (Option<usize>, EffectKind, &str)| {
                let sent_to = Some(Remote { host: Some("x.org".to_owned()), ..Remote::default() });
                let (raw, path) = (path.to_owned(), Some(path.to_owned()));
                let file = LocatedFile { path, raw, sent_to, ..LocatedFile::default() };
                Effect { command, ..Effect::on_file(kind, file) }
            };
            Facts {
                commands: commands.into_iter().map(command).collect(),
                effects: effects.into_iter().map(effect).collect(),
                ..Facts::default()
            }
        },
    )
}

fn patterns() -> impl Strategy<Value = Vec<&'static str>> {
    prop::collection::vec(prop::sample::select(PATTERNS.to_vec()), 0..4)
}

proptest! {
    #[test]
    fn a_deny_or_ask_pattern_more_never_loosens(
        facts in any_facts(), deny in patterns(), ask in patterns(), allow in patterns(),
        more in prop::sample::select(PATTERNS.to_vec()), denies in any::<bool>(),
    ) {
        let verdict = |deny: &[&str], ask: &[&str]| {
            judge(&bash("git x; rm x"), &facts, &policy(operator(deny, ask, &allow), "")).verdict
        };
        let before = verdict(&deny, &ask);
        let longer = |list: &[&'static str]| [list, &[more]].concat();
        let after = if denies { verdict(&longer(&deny), &ask) } else { verdict(&deny, &longer(&ask)) };
        // An ask that an allow pattern covers is exempt, so the call is allowed as before.
        prop_assert!(after >= before, "{before} became {after}");
    }

    #[test]
    fn an_allow_pattern_less_never_loosens(facts in any_facts(), deny in patterns(), ask in patterns(), allow in patterns()) {
        let verdict = |allow: &[&str]| {
            judge(&bash("git x; rm x"), &facts, &policy(operator(&deny, &ask, allow), "")).verdict
        };
        let (with, without) = (verdict(&allow), verdict(allow.get(1..).unwrap_or_default()));
        prop_assert!(without >= with || (with, without) == (Verdict::Allow, Verdict::Defer));
    }

    #[test]
    fn any_pattern_is_read_or_refused(text in ".{0,40}") {
        let _ = Operator::parse(&[text], &[], &[]);
    }
}
