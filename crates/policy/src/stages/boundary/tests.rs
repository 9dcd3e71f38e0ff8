//! Effects with links, and the answers of each profile.

use castellan_event::{
    Call, Effect, EffectKind, Escape, Facts, Guard, LocatedFile, Measured, Recorder, Scope, Session, Verdict,
};

use crate::boundary::BoundarySettings;
use crate::drive;
use crate::policy::Policy;
use crate::settings::{Profile, Settings};
use crate::state::State;
use crate::tests::{Lexical, call_in};

use castellan_event::EffectKind::{Delete, Permission, Read, Upload, Write};
use castellan_event::Verdict::{Ask, Deny};

/// A file in the workspace `/w`.
fn inside(path: &str) -> LocatedFile {
    LocatedFile {
        path: Some(path.to_owned()),
        raw: path.to_owned(),
        scope: Some(Scope::Workspace),
        place: Some(Scope::Workspace),
        ..LocatedFile::default()
    }
}

/// A file outside, reached by a link in the workspace.
fn linked(path: &str, place: Scope) -> LocatedFile {
    let escape = Some(Escape::Symlink);
    LocatedFile { escape, is_linked: true, place: Some(place), scope: Some(place), ..inside(path) }
}

/// A file in the workspace with several names.
fn named(path: &str, links: u64, other_name: Option<&str>) -> LocatedFile {
    let other_name = other_name.map(str::to_owned);
    let escape = other_name.is_some().then_some(Escape::HardLink);
    let measured = Measured { links: Some(links), other_name, ..Measured::default() };
    LocatedFile { escape, measured, ..inside(path) }
}

fn sized(size: u64, is_binary: bool) -> LocatedFile {
    let measured =
        Measured { links: Some(1), size: Some(size), is_binary: Some(is_binary), ..Measured::default() };
    LocatedFile { measured, ..inside("/w/film") }
}

/// The messages of the stage with its verdicts, with some settings.
fn found(effects: &[Effect], settings: Settings) -> Vec<(Verdict, String)> {
    let (policy, session) = (Policy::new(Vec::new(), settings), Session::default());
    let facts = Facts { effects: effects.to_vec(), ..Facts::default() };
    let call: Call = call_in("/w", "x");
    let (decision, _) = drive(&call, &facts, &policy, &State::plain(&session), &mut Recorder::new(&Lexical));
    let own = decision.findings.iter().filter(|one| one.code == castellan_event::Code::Boundary);
    own.map(|one| (one.verdict, one.message.clone())).collect()
}

/// Checks the verdicts in standard, autonomous, strict and kit.
fn check(kind: EffectKind, file: &LocatedFile, expected: [Option<Verdict>; 2]) {
    let effect = Effect::on_file(kind, file.clone());
    let of = |profile: Profile| {
        let found = found(std::slice::from_ref(&effect), profile.settings());
        found.into_iter().map(|(verdict, _)| verdict).max()
    };
    let [usual, strict] = expected;
    let got = [Profile::Standard, Profile::Autonomous, Profile::Strict, Profile::Kit].map(of);
    assert_eq!(got, [usual, usual, strict, None], "{kind:?} {file:?}");
}

#[test]
fn changes_through_a_link_out_of_the_workspace_stop_and_reads_stop_in_strict() {
    for kind in [Write, Delete, Permission, Upload, EffectKind::Link] {
        check(kind, &linked("/home/u/other/x", Scope::Home), [Some(Ask), Some(Deny)]);
        check(kind, &inside("/w/x"), [None, None]);
    }
    check(Read, &linked("/home/u/other/x", Scope::Home), [None, Some(Ask)]);
    check(EffectKind::Execute, &linked("/home/u/other/x", Scope::Home), [None, Some(Ask)]);
}

#[test]
fn links_of_ordinary_projects_are_free() {
    let home = |path: &str| LocatedFile { home_bytes: Some(7), ..linked(path, Scope::Home) };
    for kind in [Read, Write, Delete] {
        check(kind, &linked("/tmp/x", Scope::Temporary), [None, None]);
        check(kind, &home("/home/u/.cache/bazel/x"), [None, None]);
    }
    for file in [linked("/usr/bin/python3", Scope::System), linked("/nix/store/abc/x", Scope::Outside)] {
        check(Read, &file, [None, None]);
        check(Write, &file, [Some(Ask), Some(Deny)]);
    }
    let program = LocatedFile { scope: Some(Scope::Hijack), ..linked("/usr/bin/python3", Scope::System) };
    check(Read, &program, [None, None]);
    check(Write, &program, [Some(Ask), Some(Deny)]);
    check(Write, &home("/home/u/.cachet/x"), [Some(Ask), Some(Deny)]);
    // What is sensitive is not ordinary, wherever it is.
    let secret = |file: LocatedFile| LocatedFile { scope: Some(Scope::Secret), ..file };
    check(Write, &secret(home("/home/u/.cache/huggingface/token")), [Some(Ask), Some(Deny)]);
    check(Write, &secret(linked("/tmp/.env", Scope::Temporary)), [Some(Ask), Some(Deny)]);
    let guarded = LocatedFile { guard: Some(Guard::Hooks), ..linked("/tmp/x", Scope::Temporary) };
    check(Write, &guarded, [Some(Ask), Some(Deny)]);
}

#[test]
fn other_names_of_secrets_and_of_the_guard_stop() {
    let other = named("/w/notes", 2, Some("/home/u/todo"));
    check(Write, &other, [Some(Ask), Some(Deny)]);
    check(Read, &other, [None, Some(Ask)]);
    let secret = LocatedFile { scope: Some(Scope::Secret), ..named("/w/n", 2, Some("/home/u/.ssh/id_rsa")) };
    for kind in [Read, Write, Upload] {
        check(kind, &secret, [Some(Ask), Some(Deny)]);
    }
    let guard = LocatedFile { guard: Some(Guard::Castellan), ..named("/w/n", 2, Some("/data/c")) };
    check(Read, &guard, [Some(Ask), Some(Deny)]);
}

#[test]
fn strict_asks_about_changes_of_files_with_unknown_names() {
    check(Write, &named("/w/src/x", 2, None), [None, Some(Ask)]);
    check(Write, &named("/w/src/x", 1, None), [None, None]);
    // Its other name is known, and in the workspace.
    let known = LocatedFile { escape: None, ..named("/w/src/x", 2, Some("/w/src/y")) };
    check(Write, &known, [None, None]);
    check(Write, &LocatedFile { escape: None, ..named("/w/src/x", 3, Some("/w/src/y")) }, [None, Some(Ask)]);
    check(Read, &named("/w/src/x", 2, None), [None, None]);
    check(Delete, &named("/w/src/x", 2, None), [None, None]);
    for filled in ["/w/node_modules/a/index.js", "/w/target/debug/app", "/w/.venv/lib/x.py", "/w/bazel-out/x"]
    {
        check(Write, &named(filled, 3, None), [None, None]);
    }
}

#[test]
fn strict_asks_about_large_and_binary_files_of_tools() {
    const MIB: u64 = 1024 * 1024;
    for kind in [Read, Write] {
        check(kind, &sized(10 * MIB, false), [None, None]);
        check(kind, &sized(10 * MIB + 1, false), [None, Some(Ask)]);
        check(kind, &sized(1, true), [None, Some(Ask)]);
    }
    // A command reads as it likes.
    let of_command = Effect { command: Some(0), ..Effect::on_file(Read, sized(99 * MIB, true)) };
    assert_eq!(found(&[of_command], Profile::Strict.settings()), []);
    // The limits are settings.
    let large = [Effect::on_file(Read, sized(3 * MIB, false)), Effect::on_file(Write, sized(3 * MIB, false))];
    for (read_mib, write_mib, expected) in [(2, 4, 1), (4, 2, 1), (2, 2, 1), (0, 0, 0), (3, 3, 0)] {
        let strict = Profile::Strict.settings();
        let boundary = BoundarySettings { read_mib, write_mib, ..strict.boundary };
        assert_eq!(found(&large, Settings { boundary, ..strict }).len(), expected, "{read_mib} {write_mib}");
    }
}

#[test]
fn each_reason_is_one_finding_that_names_the_first_place() {
    let effects = [
        Effect::on_file(Read, inside("/w/a")),
        Effect::on_file(Write, linked("/home/u/one", Scope::Home)),
        Effect::on_file(Delete, linked("/home/u/two", Scope::Home)),
        Effect::on_file(Write, named("/w/n", 2, Some("/home/u/todo"))),
    ];
    let found = found(&effects, Settings::default());
    let messages: Vec<&str> = found.iter().map(|(_, message)| message.as_str()).collect();
    let [link, name] = messages.as_slice() else { panic!("{messages:?}") };
    assert!(link.contains("a symlink leads out of it to /home/u/one"), "{link}");
    assert!(name.contains("(hard link) as /home/u/todo"), "{name}");
}
