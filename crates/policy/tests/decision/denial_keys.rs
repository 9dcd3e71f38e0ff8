//! Denial keys: the same attempt in other words has the same key, another attempt has another.

use castellan_event::{Command, Effect, EffectKind, Facts, Layer, LocatedFile, Mode, Recorder, Role, Why};
use castellan_policy::{Profile, Settings, drive};

use crate::support::{Lexical, bash, layered, rule, state};

fn facts(effects: &[(EffectKind, &str)], words: &[&str]) -> Facts {
    let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    let (name, operands) =
        words.split_first().map_or((None, Vec::new()), |(name, rest)| (Some(name.clone()), rest.to_vec()));
    let effect = |(kind, path): &(EffectKind, &str)| {
        let path = (!path.is_empty()).then(|| (*path).to_owned());
        let effect = match (kind, path) {
            (EffectKind::Opaque, text) => Effect::opaque(Role::Program, Why::Unsupported, text),
            (kind, Some(path)) => {
                let file = LocatedFile { raw: path.clone(), path: Some(path), ..LocatedFile::default() };
                Effect::on_file(*kind, file)
            }
            (kind, None) => Effect::of(*kind),
        };
        Effect { command: Some(0), ..effect }
    };
    let command = Command { name, operands, line: "x".to_owned(), ..Command::default() };
    Facts { commands: vec![command], effects: effects.iter().map(effect).collect(), ..Facts::default() }
}

/// Checks the denial keys of a command with these facts. An agent that cannot ask gets deny.
fn check(command: &str, facts: &Facts, agent_asks: bool, settings: Settings, expected: &[&str]) {
    let rules = rule("no one", "fx.kind = delete", "coding_agent_deny")
        + &rule("no two", "tool.input_command contains two", "coding_agent_deny")
        + &rule("ask", "tool.input_command contains x", "coding_agent_ask");
    let policy = layered(&[(Layer::User, &rules)], settings);
    let (_, change) = drive(
        &bash(command),
        facts,
        &policy,
        &state(Mode::Enforce, agent_asks),
        &mut Recorder::new(&Lexical),
    );
    assert_eq!(change.denial_keys, expected, "{command}");
}

#[test]
fn a_denied_call_is_about_its_rules_and_targets() {
    let standard = Settings::default;
    let delete = facts(&[(EffectKind::Delete, "/w/a"), (EffectKind::Read, "/w/b")], &["x"]);
    check("one x", &delete, true, standard(), &["does delete /w/a", "rule user no one"]);
    check("two", &delete, true, standard(), &["does delete /w/a", "rule user no one", "rule user no two"]);
    // An asked call was not denied, unless the agent cannot ask.
    let read = facts(&[(EffectKind::Read, "/w/b")], &["x"]);
    check("x", &read, true, standard(), &[]);
    check("x", &read, false, standard(), &["rule user ask"]);
    check("y", &read, false, standard(), &[]);
    // The only key of an Opaque call is the call itself.
    let opaque = facts(&[(EffectKind::Opaque, "")], &["x"]);
    let call = format!("call Bash {}", bash("y").input_text);
    check("y", &opaque, true, Profile::Strict.settings(), &[call.as_str()]);
}

#[test]
fn who_asks_castellan_is_about_that_whatever_is_answered() {
    for (words, expected) in [
        (&["castellan", "check", "rm -rf /"][..], &["asks castellan"][..]),
        (&["castellan", "explain", "x"], &["asks castellan"]),
        (&["castellan", "replay"], &["asks castellan"]),
        (&["castellan", "file check", "x"], &["asks castellan"]),
        (&["castellan", "status", "check"], &[]),
        (&["other", "check"], &[]),
    ] {
        check("y", &facts(&[], words), true, Settings::default(), expected);
    }
}
