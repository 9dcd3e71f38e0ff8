//! Classes of calls, from effects as data.

use castellan_event::{Code, LocatedFile, Remote, ScriptId};

use super::*;

/// A finding of a rule that asks and that a grant lifts.
fn asking(rule: &str) -> Finding {
    Finding {
        rule: rule.to_owned(),
        layer: Some(Layer::User),
        liftable_by: &[Exemption::Grant],
        ..Finding::new(Verdict::Ask, Code::AskRule, "")
    }
}

fn command(name: &str) -> Command {
    Command { name: Some(name.to_owned()), wrappers_are_neutral: true, ..Command::default() }
}

fn facts(effect: Effect) -> Facts {
    Facts { commands: vec![command("p")], effects: vec![effect], ..Facts::default() }
}

fn file(kind: EffectKind, path: &str, scope: Scope) -> Effect {
    let file = LocatedFile {
        path: Some(path.to_owned()),
        scope: Some(scope),
        place: Some(scope),
        ..Default::default()
    };
    Effect::on_file(kind, file)
}

fn changed(mut effect: Effect, change: impl FnOnce(&mut LocatedFile)) -> Effect {
    if let Object::File(file) = &mut effect.object {
        change(file);
    }
    effect
}

fn remote(kind: EffectKind, host: Option<&str>) -> Effect {
    let remote = Remote { host: host.map(str::to_owned), ..Remote::default() };
    Effect { object: Object::Remote(Box::new(remote)), ..Effect::of(kind) }
}

fn opaque(script: Option<&str>, why: Why) -> Effect {
    let script = script.map(|path| ScriptId { path: path.to_owned(), sha256: None }.into());
    Effect {
        script,
        object: Object::Unknown(Doubt { role: Some(Role::Code), why }),
        ..Effect::of(EffectKind::Opaque)
    }
}

/// The roots of a call with one effect; `None`: castellan never offers a grant for its class.
fn check(facts: &Facts, expected: Option<&[&str]>) {
    let class = CallClass::of("Bash", facts, &[asking("r")]);
    let expected = expected.map(|roots| roots.iter().map(|root| (*root).to_owned()).collect::<Vec<_>>());
    assert_eq!(class.map(|class| class.roots), expected, "{facts:?}");
}

#[test]
fn a_root_is_the_workspace_or_a_directory_that_is_deep_enough() {
    use EffectKind::{Delete, Read};
    for (kind, path, scope, expected) in [
        (EffectKind::Write, "/home/u/w/src/a.rs", Scope::Workspace, WORKSPACE),
        (Delete, "/home/u/w/src/a.rs", Scope::Workspace, "/home/u/w/src"),
        (Delete, "/home/u/.cache/x/a", Scope::Home, "/home/u/.cache/x"),
        (Delete, "/home/u/a", Scope::Home, "/home/u/a"),
        (Delete, "/tmp/a", Scope::Temporary, "/tmp/a"),
        (Delete, "/a", Scope::Outside, "/a"),
        (Read, "/home/u/a", Scope::Home, "/home/u"),
        (Read, "/etc/fstab", Scope::System, "/etc"),
    ] {
        check(&facts(file(kind, path, scope)), Some(&[expected]));
    }
    let mut whole = file(Delete, "/home/u/w/src", Scope::Workspace);
    whole.op.recursive = Some(true);
    check(&facts(whole), Some(&["/home/u/w/src"]));
}

#[test]
fn secrets_guarded_files_remote_changes_and_downloaded_code_have_no_class() {
    use EffectKind::{Delete, Destroy, Mutate, Read, Upload};
    let inside = || file(Read, "/w/a", Scope::Workspace);
    check(&facts(inside()), Some(&[WORKSPACE]));
    let never = [
        file(Read, "/w/.env", Scope::Secret),
        file(Delete, "/home/u/.claude/settings.json", Scope::Agent),
        file(EffectKind::Write, "/home/u/.bashrc", Scope::Startup),
        file(Delete, "/w/.git/config", Scope::Vcs),
        file(Delete, "/", Scope::Root),
        changed(inside(), |file| file.guard = Some(castellan_event::Guard::Hooks)),
        changed(inside(), |file| file.origin = Some(FileOrigin::Downloaded)),
        changed(inside(), |file| file.sent_to = Some(Remote::default())),
        changed(inside(), |file| file.path = None),
        remote(EffectKind::Connect, None),
        remote(Upload, Some("example.com")),
        remote(Mutate, Some("example.com")),
        remote(Destroy, Some("example.com")),
        Effect::of(Destroy),
        Effect::of(Mutate),
        Effect::of(EffectKind::Elevate),
        opaque(None, Why::Variable),
        opaque(Some("/w/x.sh"), Why::Network),
        opaque(Some("/w/other.sh"), Why::Variable),
    ];
    for effect in never {
        let facts = Facts { own_scripts: BTreeSet::from(["/w/x.sh".to_owned()]), ..facts(effect) };
        check(&facts, None);
    }
    check(&facts(remote(EffectKind::Connect, Some("example.com"))), Some(&["example.com"]));
    let own = Facts {
        own_scripts: BTreeSet::from(["/w/x.sh".to_owned()]),
        ..facts(opaque(Some("/w/x.sh"), Why::Variable))
    };
    check(&own, Some(&["/w/x.sh"]));
    // A session may write something else into it before the next call.
    let written = Facts { own_scripts: BTreeSet::new(), session_scripts: own.own_scripts.clone(), ..own };
    check(&written, None);
    let named = |role, why| {
        let mut effect = opaque(None, why);
        effect.op.target = Some("frob".to_owned());
        effect.object = Object::Unknown(Doubt { role, why });
        facts(effect)
    };
    check(&named(Some(Role::Program), Why::Unresolved), Some(&["frob"]));
    check(&named(None, Why::Unresolved), Some(&["frob"]));
    check(&named(None, Why::Changing), None);
    check(&named(Some(Role::Tool), Why::Unsupported), Some(&["frob"]));
    check(&named(Some(Role::Program), Why::Shadowed), None);
    check(&named(Some(Role::Code), Why::Unsupported), None);
}

#[test]
fn calls_with_other_rights_or_variables_elsewhere_or_with_copies_of_secrets_have_no_class() {
    let plain = || facts(file(EffectKind::Read, "/w/a", Scope::Workspace));
    let with = |command: Command| Facts { commands: vec![command], ..plain() };
    check(&with(Command { wrappers_are_neutral: false, ..command("p") }), None);
    check(&with(Command { remote: Some("host".to_owned()), ..command("p") }), None);
    check(&with(Command { name: None, ..command("p") }), None);
    check(&with(Command { env: vec!["STAGE=production".to_owned()], ..command("p") }), None);
    check(&Facts { secret_copies: BTreeSet::from(["/w/a".to_owned()]), ..plain() }, None);
    check(&Facts { unread: BTreeSet::from(["/w/a".to_owned()]), ..plain() }, None);
}

#[test]
fn a_class_names_every_finding_that_asks() {
    let facts = facts(file(EffectKind::Read, "/w/a", Scope::Workspace));
    let of = |findings: &[Finding]| CallClass::of("Bash", &facts, findings).map(|class| class.findings);
    let lifted = Finding { lifted: Some(Exemption::Operator), ..asking("lifted") };
    let both = vec!["a (user)".to_owned(), "b (user)".to_owned()];
    assert_eq!(of(&[asking("b"), lifted, asking("a")]), Some(both));
    assert_eq!(of(&[asking("a"), Finding { is_firm: true, ..asking("b") }]), None);
    assert_eq!(of(&[asking("a"), Finding { verdict: Verdict::Deny, ..asking("b") }]), None);
    assert_eq!(of(&[]), None);
}

#[test]
fn a_class_is_short_enough_to_be_read() {
    let reads = |count: usize| Facts {
        effects: (0..count).map(|n| file(EffectKind::Read, &format!("/a/b/{n}/x"), Scope::Outside)).collect(),
        ..facts(Effect::default())
    };
    let is_offered = |facts: &Facts| CallClass::of("Bash", facts, &[asking("r")]).is_some();
    assert!(is_offered(&reads(CLASS_WORDS_MAX)));
    assert!(!is_offered(&reads(CLASS_WORDS_MAX + 1)));
    let long =
        |bytes: usize| facts(file(EffectKind::Read, &format!("/{}/x", "d".repeat(bytes)), Scope::Outside));
    assert!(is_offered(&long(CLASS_BYTES_MAX / 2)));
    assert!(!is_offered(&long(CLASS_BYTES_MAX)));
}

#[test]
fn subcommands_branches_and_tools_are_told_apart() {
    let plain = |name: &str, args: &[&str], subcommand: Option<&str>| {
        let args = args.iter().map(|arg| (*arg).to_owned()).collect();
        let command = Command { args, subcommand: subcommand.map(str::to_owned), ..command(name) };
        let facts =
            Facts { commands: vec![command], ..facts(file(EffectKind::Read, "/w/a", Scope::Workspace)) };
        CallClass::of("Bash", &facts, &[asking("r")]).unwrap().programs
    };
    assert_eq!(plain("frob", &["-v", "status", "x"], None), ["frob status"]);
    assert_eq!(plain("git", &["push"], Some("push")), ["git push"]);
    assert_eq!(plain("rm", &["-r", "x"], None), ["rm"]);
    let mut deleted = Effect {
        object: Object::Repository { place: Some(Scope::Workspace), guard: None },
        ..Effect::of(EffectKind::Destroy)
    };
    deleted.op.target = Some("topic".to_owned());
    check(&facts(deleted), Some(&["topic in the workspace"]));
    check(&facts(Effect::of(EffectKind::Mcp)), Some(&["any input"]));
}
