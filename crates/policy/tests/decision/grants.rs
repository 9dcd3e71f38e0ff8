//! A grant applies only to the findings that the person was shown, and nothing exempts a deny.

use castellan_event::{Call, Exemption, Facts, Layer, Mode, Recorder, ScriptFile, Verdict};
use castellan_policy::{AllowOrDefer, Decision, Grant, Policy, Settings, State, StateChange, drive};

use crate::support::{Lexical, bash, layered, policy, rule, state};

fn judge(call: &Call, policy: &Policy, grant: Option<&Grant>) -> (Decision, StateChange) {
    let state = State { grant, ..state(Mode::Enforce, false) };
    drive(call, &Facts::default(), policy, &state, &mut Recorder::new(&Lexical))
}

fn ask(word: &str) -> String {
    rule(&format!("ask {word}"), &format!("tool.input_command contains {word}"), "coding_agent_ask")
}

#[test]
fn a_granted_call_is_allowed() {
    let policy = policy(&ask("push"), AllowOrDefer::Defer);
    let (decision, change) = judge(&bash("git push"), &policy, None);
    assert_eq!((decision.answer, change.used_grant), (Verdict::Deny, false));
    let grant = Grant::of(&decision, &Facts::default()).unwrap();
    let (decision, change) = judge(&bash("git push"), &policy, Some(&grant));
    assert_eq!((decision.answer, change.used_grant), (Verdict::Allow, true));
    assert_eq!(decision.findings[0].lifted, Some(Exemption::Grant));
    assert_eq!(change.request, None);
}

#[test]
fn what_was_not_shown_is_not_granted() {
    let shown = policy(&ask("push"), AllowOrDefer::Defer);
    let grant = Grant::of(&judge(&bash("git push"), &shown, None).0, &Facts::default()).unwrap();
    // Now another rule asks.
    let more = policy(&(ask("push") + &ask("git")), AllowOrDefer::Defer);
    let (decision, change) = judge(&bash("git push"), &more, Some(&grant));
    assert_eq!((decision.verdict, change.used_grant), (Verdict::Ask, false));
    assert_eq!(decision.reason, "ask git: out of ask git");
    // A call without findings needs no grant and uses none.
    let (decision, change) = judge(&bash("ls"), &shown, Some(&grant));
    assert_eq!((decision.verdict, change.used_grant), (Verdict::Defer, false));
}

#[test]
fn nothing_can_be_granted_of_what_is_denied() {
    let deny = rule("no git", "tool.input_command contains git", "coding_agent_deny");
    let denying = policy(&(deny + &ask("push")), AllowOrDefer::Defer);
    let (decision, _) = judge(&bash("git push"), &denying, None);
    assert_eq!(Grant::of(&decision, &Facts::default()), None);
    // An earlier grant has no effect either.
    let grant = Grant::of(
        &judge(&bash("git push"), &policy(&ask("push"), AllowOrDefer::Defer), None).0,
        &Facts::default(),
    )
    .unwrap();
    assert_eq!(judge(&bash("git push"), &denying, Some(&grant)).0.verdict, Verdict::Deny);
    // A user cannot grant an ask of the organisation's rules.
    let firm = layered(&[(Layer::Organisation, &ask("push"))], Settings::default());
    assert_eq!(Grant::of(&judge(&bash("git push"), &firm, None).0, &Facts::default()), None);
    assert_eq!(judge(&bash("git push"), &firm, Some(&grant)).0.verdict, Verdict::Ask);
    // Without an ask there is nothing to grant.
    assert_eq!(Grant::of(&judge(&bash("ls"), &firm, None).0, &Facts::default()), None);
}

#[test]
fn two_grants_of_one_call_lift_together() {
    let both = policy(&(ask("push") + &ask("git")), AllowOrDefer::Defer);
    let none = Facts::default();
    let one = |word: &str| {
        let asking = policy(&ask(word), AllowOrDefer::Defer);
        Grant::of(&judge(&bash("git push"), &asking, None).0, &none).unwrap()
    };
    let (push, git) = (one("push"), one("git"));
    for alone in [&push, &git] {
        assert_eq!(judge(&bash("git push"), &both, Some(alone)).0.verdict, Verdict::Ask);
    }
    let mut together = push.clone();
    together.add(&git);
    let (decision, change) = judge(&bash("git push"), &both, Some(&together));
    assert_eq!((decision.answer, change.used_grant), (Verdict::Allow, true));
    // Each has exempted its own finding.
    assert!(push.is_used(&decision, &none) && git.is_used(&decision, &none));
    let (decision, _) = judge(&bash("git push"), &policy(&ask("git"), AllowOrDefer::Defer), Some(&together));
    assert!(!push.is_used(&decision, &none) && git.is_used(&decision, &none));
}

/// Two layers may have equal rules: the person has seen only one of them.
#[test]
fn a_grant_of_one_layers_rule_is_none_of_anothers() {
    let user = layered(&[(Layer::User, &ask("push"))], Settings::default());
    let grant = Grant::of(&judge(&bash("git push"), &user, None).0, &Facts::default()).unwrap();
    let liftable = ask("push").replace("coding_agent_ask", "coding_agent_ask, coding_agent_liftable");
    let above = layered(&[(Layer::Organisation, &liftable)], Settings::default());
    let (decision, _) = judge(&bash("git push"), &above, Some(&grant));
    assert_eq!(decision.verdict, Verdict::Ask, "{decision:?}");
    assert!(Grant::of(&decision, &Facts::default()).is_some(), "it could be granted, had it been shown");
}

/// A lasting grant outlives the rules under which it was given. It exempts only the text that the person has read: not
/// a renamed rule, not a rule with another message, and not a rule with another verdict.
#[test]
fn a_grant_lifts_nothing_that_has_changed_since() {
    let (tag, review) = ("coding_agent_ask", "coding_agent_review");
    let text = |name: &str, output: &str, tag: &str| {
        rule(name, "tool.input_command contains push", tag).replace(&format!("out of {name}"), output)
    };
    let granted = policy(&text("ask", "said", tag), AllowOrDefer::Defer);
    let grant = Grant::of(&judge(&bash("git push"), &granted, None).0, &Facts::default()).unwrap();
    let verdict =
        |rules: &str| judge(&bash("git push"), &policy(rules, AllowOrDefer::Defer), Some(&grant)).0.verdict;
    assert_eq!(verdict(&text("ask", "said", tag)), Verdict::Allow);
    assert_eq!(verdict(&text("another", "said", tag)), Verdict::Ask);
    assert_eq!(verdict(&text("ask", "said otherwise", tag)), Verdict::Ask);
    assert_eq!(verdict(&text("ask", "said", review)), Verdict::Ask);
    assert_eq!(verdict(&text("ask", "said", "coding_agent_deny")), Verdict::Deny);
}

/// An earlier grant does not exempt a rule that the organisation has made final since.
#[test]
fn a_grant_lifts_nothing_that_nobody_may_grant_any_more() {
    let ask = |tags: &str| {
        layered(&[(Layer::Organisation, &rule("a", "tool.name = Bash", tags))], Settings::default())
    };
    let liftable = ask("coding_agent_ask, coding_agent_liftable");
    let grant = Grant::of(&judge(&bash("git push"), &liftable, None).0, &Facts::default()).unwrap();
    assert_eq!(judge(&bash("git push"), &liftable, Some(&grant)).0.verdict, Verdict::Allow);
    assert_eq!(judge(&bash("git push"), &ask("coding_agent_ask"), Some(&grant)).0.verdict, Verdict::Ask);
}

#[test]
fn a_grant_is_for_the_code_that_ran_then() {
    let policy = policy(&ask("push"), AllowOrDefer::Defer);
    let running = |sha256: Option<&str>| {
        let script = ScriptFile {
            path: "/w/push.sh".to_owned(),
            sha256: sha256.map(str::to_owned),
            is_written: false,
        };
        Facts { scripts: vec![script], ..Facts::default() }
    };
    let judge = |facts: &Facts, grant: Option<&Grant>| {
        let state = State { grant, ..state(Mode::Enforce, false) };
        drive(&bash("sh push.sh"), facts, &policy, &state, &mut Recorder::new(&Lexical)).0
    };
    let shown = running(Some("one"));
    let grant = Grant::of(&judge(&shown, None), &shown).unwrap();
    assert_eq!(judge(&shown, Some(&grant)).verdict, Verdict::Allow);
    for other in [running(Some("two")), running(None), Facts::default()] {
        assert_eq!(judge(&other, Some(&grant)).verdict, Verdict::Ask, "{other:?}");
    }
}
