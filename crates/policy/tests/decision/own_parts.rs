//! Opaque parts of the project's own code: by role, by file, and by the call's other effects.

use castellan_event::Verdict::{self, Ask, Defer, Deny};
use castellan_event::{
    Command, Effect, EffectKind, Facts, LocatedFile, Mode, Object, Recorder, Role, Scope, Why,
};
use castellan_policy::{AllowOrDefer, NotAllow, OwnOpaque, Profile, Settings, State, WorkspaceTrust, drive};

use crate::support::{Lexical, bash, layered, script, state};

fn part(role: Role, why: Why, file: &str) -> Effect {
    Effect { command: Some(0), script: script(file), ..Effect::opaque(role, why, None) }
}

fn doing(kind: EffectKind, file: &str) -> Effect {
    Effect { command: Some(0), script: script(file), ..Effect::of(kind) }
}

/// A command, and the project's own files.
fn facts(line: &str, effects: Vec<Effect>) -> Facts {
    let words: Vec<String> = line.split('|').map(str::to_owned).collect();
    let name = words.first().cloned();
    let command = Command { name, args: words.get(1..).unwrap_or_default().to_vec(), ..Command::default() };
    let own_scripts = ["/w/a.js", "/w/a.sh", "/w/Makefile", "/w/a"].map(str::to_owned).into();
    Facts { commands: vec![command], effects, own_scripts, ..Facts::default() }
}

fn answer(facts: &Facts, settings: Settings, headless: bool) -> Verdict {
    let policy = layered(&[], settings);
    let state = State { headless, ..state(Mode::Enforce, true) };
    drive(&bash("x"), facts, &policy, &state, &mut Recorder::new(&Lexical)).0.verdict
}

fn check(facts: &Facts, expected: Verdict) {
    assert_eq!(answer(facts, Profile::Standard.settings(), false), expected, "{facts:?}");
}

#[test]
fn by_what_it_stands_for_and_why() {
    for (file, role, why, expected) in [
        ("/w/a.js", Role::Code, Why::Dynamic, Defer),
        ("/w/a.js", Role::Code, Why::Variable, Defer),
        ("/w/a.js", Role::Code, Why::File, Defer),
        ("/w/a.js", Role::Code, Why::Budget, Defer),
        ("/w/a.js", Role::Code, Why::Network, Ask),
        ("/w/a.js", Role::Code, Why::Secret, Ask),
        ("/w/a.js", Role::Code, Why::Input, Ask),
        ("/w/a.js", Role::Code, Why::Shadowed, Ask),
        ("/w/a.js", Role::Code, Why::Changing, Ask),
        ("/w/a.js", Role::Code, Why::Unreadable, Ask),
        ("/w/a.js", Role::Program, Why::Dynamic, Defer),
        ("/w/a.js", Role::Program, Why::Variable, Ask),
        ("/w/a.js", Role::Target, Why::Dynamic, Defer),
        ("/w/a.js", Role::Target, Why::Variable, Defer),
        ("/w/a.sh", Role::Code, Why::File, Defer),
        ("/w/a.sh", Role::Code, Why::Syntax, Ask),
        ("/w/a.sh", Role::Code, Why::Variable, Ask),
        ("/w/a.sh", Role::Code, Why::Substitution, Ask),
        ("/w/a.sh", Role::Program, Why::Variable, Ask),
        ("/w/a.sh", Role::Program, Why::Substitution, Ask),
        ("/w/a.sh", Role::Target, Why::Variable, Ask),
        ("/w/a.sh", Role::Target, Why::Substitution, Ask),
        ("/w/a.sh", Role::Target, Why::File, Ask),
        ("/w/Makefile", Role::Code, Why::Variable, Ask),
        ("/w/a", Role::Code, Why::Variable, Ask),
        ("/w/b.js", Role::Code, Why::Dynamic, Ask),
        ("", Role::Code, Why::Dynamic, Ask),
    ] {
        check(&facts("node|a.js", vec![part(role, why, file)]), expected);
    }
    // Output of the project's code, while nothing else changes files there.
    for (all, expected) in [("/w/**", Defer), ("/w/b/**", Ask), ("/other/**", Ask)] {
        let mut facts = facts("node|a.js", vec![part(Role::Code, Why::Shadowed, "/w/a.js")]);
        facts.own_scripts.insert(all.to_owned());
        check(&facts, expected);
    }
    for (written, expected) in
        [("${CC:-cc}", Defer), ("${CC-./cc}", Defer), ("${CC:-$X}", Ask), ("${CC:-}", Ask), ("${CC}", Ask)]
    {
        let part = Effect {
            script: script("/w/a.sh"),
            command: Some(0),
            ..Effect::opaque(Role::Program, Why::Variable, Some(written.to_owned()))
        };
        check(&facts("sh|a.sh", vec![part]), expected);
    }
}

#[test]
fn by_what_the_call_does_besides() {
    let own = || part(Role::Code, Why::Dynamic, "/w/a.js");
    let file = LocatedFile { scope: Some(Scope::Secret), ..LocatedFile::default() };
    let secret = Effect { object: Object::File(Box::new(file)), ..doing(EffectKind::Read, "/w/a.js") };
    for (other, expected) in [
        (doing(EffectKind::Read, "/w/a.js"), Defer),
        (doing(EffectKind::Connect, "/w/a.js"), Defer),
        (secret, Ask),
        (doing(EffectKind::Upload, "/w/a.js"), Ask),
        (doing(EffectKind::Download, "/w/a.js"), Ask),
        (Effect { command: None, ..doing(EffectKind::Download, "/w/a.js") }, Ask),
        (doing(EffectKind::Elevate, "/w/a.js"), Ask),
        (part(Role::Operand, Why::Variable, ""), Ask),
        (part(Role::Operand, Why::Glob, ""), Defer),
        (part(Role::Operand, Why::Variable, "/w/a.js"), Defer),
    ] {
        check(&facts("node|a.js", vec![own(), other]), expected);
    }
    for (line, expected) in [
        ("node|a.js|--fast", Defer),
        ("node|a.js|rm -rf /", Ask),
        ("node|a.js|f()", Ask),
        ("mongosh|a.js", Ask),
        ("psql|a.js", Ask),
    ] {
        check(&facts(line, vec![doing(EffectKind::Execute, ""), own()]), expected);
    }
}

#[test]
fn by_profile_and_by_who_is_there() {
    let facts = facts("node|a.js", vec![part(Role::Code, Why::Dynamic, "/w/a.js")]);
    for (profile, attended, alone) in
        [(Profile::Standard, Defer, Ask), (Profile::Autonomous, Ask, Deny), (Profile::Strict, Deny, Deny)]
    {
        assert_eq!(answer(&facts, profile.settings(), false), attended, "{profile}");
        assert_eq!(answer(&facts, profile.settings(), true), alone, "{profile}");
    }
    // Without a person at a prompt of the agent, nobody would be asked at all.
    let prompted = |settings, headless| {
        let policy = layered(&[], settings);
        let state = State { headless, agent_prompts: true, ..state(Mode::Enforce, true) };
        drive(&bash("x"), &facts, &policy, &state, &mut Recorder::new(&Lexical)).0.verdict
    };
    for (profile, attended, alone) in [
        (Profile::Standard, Defer, Ask),
        (Profile::Autonomous, Defer, Deny),
        (Profile::Strict, Defer, Deny),
        (Profile::Observer, Deny, Deny),
    ] {
        assert_eq!(prompted(profile.settings(), false), attended, "{profile}");
        assert_eq!(prompted(profile.settings(), true), alone, "{profile}");
    }
    for (own_opaque, expected) in
        [(OwnOpaque::Defer, Deny), (OwnOpaque::Prompted, Defer), (OwnOpaque::Ask, Deny)]
    {
        let settings = Settings { own_opaque, ..Profile::Strict.settings() };
        assert_eq!(prompted(settings, false), expected, "{own_opaque:?}");
    }
    // Nobody has trusted the workspace, so the project's code may be a stranger's.
    let untrusted = |agent_prompts| {
        let policy = layered(&[], Profile::Standard.settings());
        let workspace_trust = WorkspaceTrust::Unknown;
        let state = State { workspace_trust, agent_prompts, ..state(Mode::Enforce, true) };
        drive(&bash("x"), &facts, &policy, &state, &mut Recorder::new(&Lexical)).0.verdict
    };
    assert_eq!((untrusted(true), untrusted(false)), (Defer, Ask));
    let standard = || Profile::Standard.settings();
    for (settings, expected) in [
        (Settings { own_opaque: OwnOpaque::Ask, ..standard() }, Ask),
        (Settings { opaque: NotAllow::Deny, ..standard() }, Deny),
        // Without the agent's prompt nobody would be asked at all.
        (Settings { default_verdict: AllowOrDefer::Allow, ..standard() }, Ask),
    ] {
        assert_eq!(answer(&facts, settings, false), expected);
    }
}
