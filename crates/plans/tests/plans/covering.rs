//! Effects that an approved plan covers, on facts that are built for each kind.

use castellan_event::{
    Command, Doubt, Effect, EffectKind, Facts, FileOrigin, Guard, HostClass, LocatedFile, Object, Operation,
    Remote, Scope, ScriptFile, Why,
};
use castellan_plans::{CallView, Plan, check, covers};

use crate::support::read;

fn plan() -> Plan {
    read("castellan_plan: 1\ncommands: [x *, ./y *]\nwrites: [.]\nhosts: [h.org]\nbranches: ['*']\n").unwrap()
}

fn command() -> Command {
    Command {
        name: Some("x".to_owned()),
        args: vec!["commit".to_owned()],
        subcommand: Some("commit".to_owned()),
        wrappers_are_neutral: true,
        line: "x commit".to_owned(),
        ..Command::default()
    }
}

/// Covered facts of a command with an effect.
fn with(effect: Effect) -> Facts {
    Facts {
        commands: vec![command()],
        effects: vec![Effect { command: Some(0), ..effect }],
        ..Facts::default()
    }
}

fn file(kind: EffectKind) -> Effect {
    Effect::on_file(
        kind,
        LocatedFile {
            path: Some("/w/a".to_owned()),
            scope: Some(Scope::Workspace),
            place: Some(Scope::Workspace),
            ..LocatedFile::default()
        },
    )
}

fn remote(kind: EffectKind) -> Effect {
    let remote = Remote { host: Some("h.org".to_owned()), class: Some(HostClass::Public), url: None };
    Effect { object: Object::Remote(Box::new(remote)), ..Effect::of(kind) }
}

fn git(kind: EffectKind, verb: &str, target: Option<&str>) -> Effect {
    let op = Operation {
        system: Some("git".to_owned()),
        verb: Some(verb.to_owned()),
        target: target.map(str::to_owned),
        ..Operation::of(kind)
    };
    Effect {
        op,
        object: Object::Repository { place: Some(Scope::Workspace), guard: None },
        ..Effect::default()
    }
}

fn is_covered(plan: &Plan, facts: &Facts) -> bool {
    let view = CallView { facts, root: "/w", branch: Some("b"), calls_so_far: 0, started_s: 0, now_s: 0 };
    covers(plan, &view).is_covered()
}

/// Returns the effect with a change of its file.
fn changed(effect: Effect, change: impl FnOnce(&mut LocatedFile)) -> Effect {
    let mut effect = effect;
    if let Object::File(file) = &mut effect.object {
        change(file);
    }
    effect
}

#[test]
fn each_kind_is_covered_in_its_list_only() {
    use EffectKind as Kind;
    for kind in Kind::ALL {
        assert!(!is_covered(&plan(), &with(Effect::of(*kind))), "{kind} without an object");
        let by_file = matches!(
            kind,
            Kind::Read | Kind::Query | Kind::Write | Kind::Delete | Kind::Permission | Kind::Execute
        );
        assert_eq!(is_covered(&plan(), &with(file(*kind))), by_file, "{kind} of a file");
        let by_host = matches!(kind, Kind::Connect | Kind::Download | Kind::Upload | Kind::Query);
        assert_eq!(is_covered(&plan(), &with(remote(*kind))), by_host, "{kind} of a host");
        let by_branch = matches!(kind, Kind::Mutate | Kind::Query);
        assert_eq!(
            is_covered(&plan(), &with(git(*kind, "push", Some("f")))),
            by_branch,
            "{kind} of a branch"
        );
    }
    let nothing = read("castellan_plan: 1\n").unwrap();
    for effect in
        [file(Kind::Read), file(Kind::Write), remote(Kind::Connect), git(Kind::Mutate, "push", Some("f"))]
    {
        let effect = Effect { command: None, ..effect };
        let is_read = effect.kind() == Kind::Read;
        let facts = Facts { effects: vec![effect], ..Facts::default() };
        assert_eq!(is_covered(&nothing, &facts), is_read, "without lists: {facts:?}");
    }
    assert!(!is_covered(&nothing, &Facts { commands: vec![command()], ..Facts::default() }));
    assert!(!is_covered(&plan(), &Facts::default()), "nothing is known");
}

#[test]
fn sensitive_effects_are_not_covered() {
    use EffectKind as Kind;
    let check = |effect: Effect, expected: bool| {
        let facts = with(effect);
        assert_eq!(is_covered(&plan(), &facts), expected, "{facts:?}");
    };
    for scope in Scope::ALL {
        let of = |kind| changed(file(kind), |file| file.scope = Some(*scope));
        check(of(Kind::Read), matches!(scope, Scope::Workspace | Scope::Vcs | Scope::Hijack));
        let may_write = matches!(scope, Scope::Workspace | Scope::Temporary | Scope::Home | Scope::Outside);
        check(of(Kind::Write), may_write);
        check(of(Kind::Delete), may_write);
        check(of(Kind::Execute), matches!(scope, Scope::Workspace | Scope::System | Scope::Hijack));
    }
    for class in HostClass::ALL {
        let mut effect = remote(Kind::Connect);
        if let Object::Remote(remote) = &mut effect.object {
            remote.class = Some(*class);
        }
        check(effect, matches!(class, HostClass::Public | HostClass::Private | HostClass::Loopback));
    }
    for origin in FileOrigin::ALL {
        let effect = changed(file(Kind::Execute), |file| file.origin = Some(*origin));
        check(effect, *origin == FileOrigin::Repository);
    }
    check(changed(file(Kind::Write), |file| file.guard = Some(Guard::Hooks)), false);
    check(changed(file(Kind::Write), |file| file.doubt = Some(Doubt { role: None, why: Why::File })), false);
    check(changed(file(Kind::Read), |file| file.path = Some("/x/a".to_owned())), false);
    check(changed(file(Kind::Write), |file| file.path = None), false);
    check(changed(file(Kind::Execute), |file| file.place = Some(Scope::Temporary)), false);
    let mut tree = file(Kind::Read);
    tree.op.recursive = Some(true);
    check(tree, false);
    let sent = |scope| {
        changed(file(Kind::Upload), |file| {
            file.scope = Some(scope);
            let class = Some(HostClass::Public);
            file.sent_to = Some(Remote { host: Some("h.org".to_owned()), class, url: None });
        })
    };
    check(sent(Scope::Workspace), true);
    check(sent(Scope::Secret), false);
    check(git(Kind::Mutate, "push", Some("main")), false);
    check(git(Kind::Mutate, "push", None), false);
    check(git(Kind::Mutate, "config", Some("user.name")), false);
    check(git(Kind::Mutate, "commit", None), true);
    check(git(Kind::Mutate, "add", None), true);
    check(git(Kind::Mutate, "no-such-verb", Some("f")), false);
}

#[test]
fn commands_and_whole_calls_may_be_outside() {
    let check = |change: &dyn Fn(&mut Facts), expected: bool| {
        let mut facts = with(file(EffectKind::Write));
        change(&mut facts);
        assert_eq!(is_covered(&plan(), &facts), expected, "{facts:?}");
    };
    check(&|_| {}, true);
    check(&|facts| facts.commands[0].wrappers_are_neutral = false, false);
    check(&|facts| facts.commands[0].remote = Some("ssh h".to_owned()), false);
    check(&|facts| facts.commands[0].env = vec!["A=1".to_owned()], false);
    check(&|facts| facts.commands[0].background = true, false);
    check(&|facts| facts.commands[0].name = None, false);
    check(&|facts| facts.commands[0].name = Some("z".to_owned()), false);
    check(&|facts| facts.commands[0].path = Some("/usr/bin/x".to_owned()), true);
    check(&|facts| facts.commands[0].path = Some("/w/x".to_owned()), false);
    check(&|facts| facts.commands[0].name = Some("y".to_owned()), false);
    for (path, expected) in [("/w/y", true), ("/w/sub/y", false), ("/usr/bin/y", false)] {
        let by_path = |facts: &mut Facts| {
            facts.commands[0].name = Some("y".to_owned());
            facts.commands[0].path = Some(path.to_owned());
        };
        check(&by_path, expected);
    }
    check(&|facts| facts.background = true, false);
    check(&|facts| _ = facts.unread.insert("/w/a".to_owned()), false);
    check(&|facts| _ = facts.session_scripts.insert("/w/a".to_owned()), false);
    check(&|facts| _ = facts.changed_trees.insert("/w".to_owned()), false);
    check(&|facts| _ = facts.secret_copies.insert("/w/a".to_owned()), false);
    let script = |is_written| ScriptFile { path: "/w/s".to_owned(), sha256: None, is_written };
    check(&|facts| facts.scripts = vec![script(false)], true);
    check(&|facts| facts.scripts = vec![script(true)], false);
}

#[test]
fn each_kind_is_compared_with_its_lists() {
    use EffectKind as Kind;
    let plan = read("castellan_plan: 1\nwrites: []\nhosts: []\nbranches: []\n").unwrap();
    let kinds = |effect: Effect| {
        let facts = Facts { effects: vec![effect], ..Facts::default() };
        let view =
            CallView { facts: &facts, root: "/w", branch: None, calls_so_far: 0, started_s: 0, now_s: 0 };
        check(&plan, &view).iter().map(|one| one.kind.as_str()).collect::<Vec<_>>().join(" ")
    };
    for kind in Kind::ALL {
        let changes = matches!(kind, Kind::Write | Kind::Delete | Kind::Link | Kind::Permission);
        let contacts = matches!(kind, Kind::Connect | Kind::Download | Kind::Upload);
        let is_opaque = *kind == Kind::Opaque;
        let of_file = if changes {
            "write"
        } else if contacts {
            "host"
        } else if is_opaque {
            "unclear"
        } else {
            ""
        };
        assert_eq!(kinds(file(*kind)), of_file, "{kind} of a file");
        let of_host = if changes {
            "write host"
        } else if is_opaque {
            "unclear"
        } else {
            "host"
        };
        let of_host = if *kind == Kind::Listen { "" } else { of_host };
        assert_eq!(kinds(remote(*kind)), of_host, "{kind} of a host");
        let of_branch =
            if matches!(kind, Kind::Mutate | Kind::Destroy | Kind::Publish) { "branch" } else { of_file };
        assert_eq!(kinds(git(*kind, "push", Some("f"))), of_branch, "{kind} of a branch");
    }
}
