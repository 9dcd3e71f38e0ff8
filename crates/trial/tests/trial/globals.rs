//! Options before a subcommand belong to the program. An option there that is spelled like a dangerous option of the
//! subcommand is harmless. A dangerous option of the program is found before and after the subcommand.
//! `globals/calls.txt` holds the calls.

use std::fmt::Write as _;

use castellan_daemon::{Config, compile, shipped_rules};
use castellan_event::Verdict;
use castellan_trial::{Case, Trial};
use serde_json::{Value as Json, json};

#[test]
fn options_of_a_program_are_not_those_of_its_subcommands() {
    let compiled = compile(&shipped_rules(), &Config::default());
    assert_eq!(compiled.error(), None);
    let mut wrong = String::new();
    let (mut free, mut held) = (0, 0);
    for line in
        include_str!("globals/calls.txt").lines().filter(|line| !line.is_empty() && !line.starts_with('#'))
    {
        let (expected, command) = line.split_once(' ').unwrap();
        let Json::Object(input) = json!({ "command": command.trim() }) else { panic!("{line}") };
        let judged = Trial::new(&compiled.policy).judge(&Case::new("Bash", input)).unwrap();
        let is_held = judged.decision.verdict >= Verdict::Ask;
        *if is_held { &mut held } else { &mut free } += 1;
        if is_held != (expected == "held") {
            let rules: Vec<_> =
                judged.decision.findings.iter().map(|finding| finding.rule.as_str()).collect();
            writeln!(wrong, "{line}: {} by {rules:?}", judged.decision.verdict).unwrap();
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(free >= 30 && held >= 30, "{free} free, {held} held");
}
