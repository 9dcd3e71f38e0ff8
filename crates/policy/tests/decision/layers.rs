//! Layers: each has its own namespace, and a lower layer cannot change a higher one's rules.

use castellan_event::{Facts, Layer, Verdict};
use castellan_policy::{AllowOrDefer, Settings, Tags};
use castellan_rules::{Matching, Options, Priority, Selected, Selection};

use crate::support::{bash, judge, layered, loaded_with, rule};

const UPPER: &str =
    "- list: words\n  items: [rm]\n- macro: bad\n  condition: tool.input_command in (words)\n";

fn upper() -> String {
    UPPER.to_owned() + &rule("no rm", "bad", "coding_agent_deny")
}

/// Checks that the upper layer's rule denies, together with a lower layer's text.
fn check(lower: &str, settings: Settings) {
    let policy = layered(&[(Layer::Organisation, &upper()), (Layer::User, lower)], settings);
    let decision = judge(&bash("rm"), &Facts::default(), &policy);
    let found = &decision.findings[0];
    let got = (decision.verdict, found.rule.as_str(), found.layer);
    assert_eq!(got, (Verdict::Deny, "no rm", Some(Layer::Organisation)), "{lower}");
}

#[test]
fn a_lower_layer_changes_nothing_of_a_higher_one() {
    check("", Settings::default());
    check("- list: words\n  items: [other]\n", Settings::default());
    check("- macro: bad\n  condition: tool.name = none\n", Settings::default());
    check(&rule("no rm", "tool.name = none", "coding_agent_allow"), Settings::default());
    check(&(rule("no rm", "tool.name = none", "") + "  enabled: false\n"), Settings::default());
    check(&rule("allow all", "tool.name exists", "coding_agent_allow"), Settings::default());
    // The name of the user's deny tag applies only to the user's rules.
    let tags = Tags { deny: "stop".into(), allow: "coding_agent_deny".into(), ..Tags::default() };
    check("", Settings { tags, default_verdict: AllowOrDefer::Allow, ..Settings::default() });
}

#[test]
fn the_matches_of_every_layer_count() {
    let lower = rule("no rm", "tool.input_command = rm", "coding_agent_ask")
        + &rule("no ls", "tool.input_command = ls", "coding_agent_ask");
    let policy = layered(&[(Layer::Organisation, &upper()), (Layer::User, &lower)], Settings::default());
    let found = |command| {
        let decision = judge(&bash(command), &Facts::default(), &policy);
        let of = |finding: &castellan_event::Finding| (finding.verdict, finding.layer);
        (decision.verdict, decision.findings.iter().map(of).collect::<Vec<_>>())
    };
    let (organisation, user) = (Some(Layer::Organisation), Some(Layer::User));
    assert_eq!(found("rm"), (Verdict::Deny, vec![(Verdict::Deny, organisation), (Verdict::Ask, user)]));
    assert_eq!(found("ls"), (Verdict::Ask, vec![(Verdict::Ask, user)]));
    let rules: Vec<_> = policy.rules().map(|rule| (rule.layer, rule.rule.name.as_str())).collect();
    let expected = [(Layer::Organisation, "no rm"), (Layer::User, "no rm"), (Layer::User, "no ls")];
    assert_eq!(rules, expected);
}

#[test]
fn the_hash_names_each_layer() {
    let (text, other) = (upper(), rule("other", "tool.name exists", ""));
    let hash = |layers: &[(Layer, &str)]| layered(layers, Settings::default()).hash().to_owned();
    let both = hash(&[(Layer::Organisation, &text), (Layer::User, &other)]);
    assert_eq!(both, hash(&[(Layer::Organisation, &text), (Layer::User, &other)]));
    assert_ne!(both, hash(&[(Layer::User, &other)]));
    assert_ne!(both, hash(&[(Layer::Organisation, &other), (Layer::User, &text)]));
    assert_ne!(hash(&[(Layer::User, &text)]), hash(&[(Layer::Organisation, &text)]));
}

fn check_option(options: &Options, matters: bool) {
    let text = upper();
    let hash = |options: &Options| {
        loaded_with(options, &[(Layer::User, &text)], Settings::default()).hash().to_owned()
    };
    assert_eq!(hash(options) != hash(&Options::default()), matters, "{options:?}");
}

#[test]
fn the_hash_names_the_options_that_change_an_answer() {
    let none = Options::default;
    let off = Selection { enable: false, of: Selected::Rule("no *".into()) };
    check_option(&none(), false);
    check_option(&Options { matching: Matching::First, ..none() }, true);
    check_option(&Options { priority: Priority::Error, ..none() }, true);
    check_option(&Options { selection: vec![off], ..none() }, true);
    check_option(&Options { lints: true, ..none() }, false);
}
