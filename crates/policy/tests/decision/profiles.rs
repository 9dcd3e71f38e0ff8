//! The same calls under each profile: Opaque parts, access levels, sessions without tools.

use castellan_event::{
    AccessLevel, Call, Code, Command, Effect, EffectKind, Facts, FileOrigin, HostClass, Layer, LocatedFile,
    Mode, Object, Operation, Override, Recorder, Remote, Role, Scope, ToolKind, Verdict, Why,
};
use castellan_policy::{
    AllowOrDefer, AskOrDeny, Block, Decision, FindingName, Grant, GrantPart, NotAsk, Operator, PlanCheck,
    PlanEnforcement, PlanReport, Policy, Profile, RuleState, Settings, State, Tiers, WorkspaceTrust, drive,
};
use proptest::prelude::*;

use crate::support::{Lexical, bash, call, layered, rule, state};

use castellan_event::Verdict::{Allow, Ask, Defer, Deny};

fn policy(settings: Settings) -> Policy {
    layered(&[(Layer::User, "")], settings)
}

fn judge(call: &Call, facts: &Facts, settings: Settings, state: &State<'_>) -> Decision {
    drive(call, facts, &policy(settings), state, &mut Recorder::new(&Lexical)).0
}

fn of(effects: Vec<Effect>) -> Facts {
    let command = Command { name: Some("x".to_owned()), line: "x".to_owned(), ..Command::default() };
    Facts { commands: vec![command], effects, ..Facts::default() }
}

fn effect(kind: EffectKind) -> Effect {
    Effect { command: Some(0), ..Effect::of(kind) }
}

fn opaque(role: Role) -> Effect {
    Effect { command: Some(0), ..Effect::opaque(role, Why::Unsupported, None) }
}

fn at(kind: EffectKind, path: &str, scope: Scope, place: Scope) -> Effect {
    let (raw, path, scope, place) = (path.to_owned(), Some(path.to_owned()), Some(scope), Some(place));
    let file = LocatedFile { path, raw, scope, place, ..LocatedFile::default() };
    Effect { command: Some(0), ..Effect::on_file(kind, file) }
}

fn inside(kind: EffectKind) -> Effect {
    at(kind, "/w/x", Scope::Workspace, Scope::Workspace)
}

/// Checks a call in standard, strict, autonomous, observer and kit. `quiet` decides as standard, but allows what
/// autonomous allows.
fn check(call: &Call, facts: &Facts, headless: bool, expected: [Verdict; 5]) {
    let state = State { headless, ..state(Mode::Enforce, true) };
    let [standard, strict, autonomous, observer, kit] = expected;
    let quiet = if (standard, autonomous) == (Defer, Allow) { Allow } else { standard };
    let got = Profile::ALL.map(|profile| judge(call, facts, profile.settings(), &state).verdict);
    assert_eq!(got, [standard, quiet, strict, autonomous, observer, kit], "{call:?} {facts:?}");
}

#[test]
fn the_table_of_profiles() {
    let shell = bash("x");
    let harmless = of(vec![inside(EffectKind::Read)]);
    check(&shell, &harmless, false, [Defer, Defer, Allow, Deny, Allow]);
    check(&shell, &harmless, true, [Defer, Deny, Allow, Deny, Allow]);
    // `find -exec cat {} +`: among all files are those with secrets.
    for all in ["/w/**", "/w/**/*"] {
        let all = at(EffectKind::Read, all, Scope::Workspace, Scope::Workspace);
        check(&shell, &of(vec![all]), false, [Defer, Defer, Defer, Deny, Allow]);
    }
    for role in [Role::Program, Role::Target, Role::Code] {
        check(&shell, &of(vec![opaque(role)]), false, [Ask, Deny, Ask, Deny, Allow]);
        check(&shell, &of(vec![opaque(role)]), true, [Ask, Deny, Deny, Deny, Allow]);
    }
    check(&shell, &of(vec![opaque(Role::Operand)]), false, [Defer, Defer, Defer, Deny, Allow]);
    let unknown = call("Magic", ToolKind::Unknown, "", &[]);
    let tool = Facts {
        commands: vec![],
        effects: vec![Effect { command: None, ..opaque(Role::Tool) }],
        ..Facts::default()
    };
    check(&unknown, &tool, false, [Defer, Deny, Deny, Deny, Defer]);
    // Outside of the workspace.
    let outside = of(vec![at(EffectKind::Write, "/etc/x", Scope::System, Scope::System)]);
    check(&shell, &outside, false, [Defer, Ask, Ask, Deny, Allow]);
    // Understood and within the level, but not safe enough to run without a question.
    let secret = of(vec![at(EffectKind::Read, "/w/.env", Scope::Secret, Scope::Workspace)]);
    check(&shell, &secret, false, [Defer, Defer, Defer, Deny, Allow]);
    let remote = Remote { host: Some("x.org".into()), class: Some(HostClass::Public), url: None };
    let fetch = Effect { object: Object::Remote(Box::new(remote)), ..effect(EffectKind::Download) };
    check(&shell, &of(vec![fetch]), false, [Defer, Defer, Defer, Deny, Allow]);
}

#[test]
fn what_a_call_needs() {
    use AccessLevel::{FullAccess, ReadOnly, WorkspaceWrite};
    let shell = bash("x");
    let check = |call: &Call, facts: &Facts, expected| {
        let got = judge(call, facts, Settings::default(), &state(Mode::Enforce, true)).required;
        assert_eq!(got, Some(expected), "{call:?} {facts:?}");
    };
    let one = |effect: Effect| of(vec![effect]);
    check(&shell, &of(vec![]), ReadOnly);
    check(&shell, &one(inside(EffectKind::Read)), ReadOnly);
    check(&shell, &one(opaque(Role::Operand)), ReadOnly);
    for kind in [EffectKind::Write, EffectKind::Delete, EffectKind::Link, EffectKind::Permission] {
        check(&shell, &one(inside(kind)), WorkspaceWrite);
        check(&shell, &one(at(kind, "/tmp/x", Scope::Temporary, Scope::Temporary)), WorkspaceWrite);
        check(&shell, &one(at(kind, "/etc/x", Scope::System, Scope::System)), FullAccess);
        // In the workspace, but other programs read instructions from it.
        for scope in [Scope::Agent, Scope::Hijack, Scope::Startup, Scope::Castellan] {
            check(&shell, &one(at(kind, "/w/x", scope, Scope::Workspace)), FullAccess);
        }
        // The place is unknown.
        check(&shell, &one(effect(kind)), FullAccess);
    }
    let op = Operation { system: Some("git".into()), ..Operation::of(EffectKind::Mutate) };
    let git = Effect { op, ..effect(EffectKind::Mutate) };
    let object = Object::Repository { place: Some(Scope::Workspace), guard: None };
    check(&shell, &one(Effect { object, ..git.clone() }), WorkspaceWrite);
    check(&shell, &one(git), FullAccess);
    for role in [Role::Program, Role::Target, Role::Code] {
        check(&shell, &one(opaque(role)), FullAccess);
    }
    for kind in
        [EffectKind::Elevate, EffectKind::Execute, EffectKind::Install, EffectKind::Upload, EffectKind::Spawn]
    {
        check(&shell, &one(effect(kind)), FullAccess);
    }
    // On another machine nothing belongs to this workspace.
    let mut remote = of(vec![inside(EffectKind::Read)]);
    remote.commands.iter_mut().for_each(|command| command.remote = Some("host".into()));
    check(&shell, &remote, FullAccess);
    check(&call("Read", ToolKind::Read, "", &[]), &Facts::default(), ReadOnly);
    check(&call("TodoWrite", ToolKind::Internal, "", &[]), &Facts::default(), ReadOnly);
    let spawn = Effect { command: None, ..effect(EffectKind::Spawn) };
    check(
        &call("Agent", ToolKind::Subagent, "", &[]),
        &Facts { effects: vec![spawn], ..Facts::default() },
        ReadOnly,
    );
    check(&call("WebFetch", ToolKind::Web, "", &[]), &Facts::default(), WorkspaceWrite);
    check(&call("mcp__s__t", ToolKind::Mcp, "", &[]), &Facts::default(), FullAccess);
    check(&call("Magic", ToolKind::Unknown, "", &[]), &Facts::default(), FullAccess);
    check(&call("Write", ToolKind::Write, "", &["/w/x"]), &Facts::default(), FullAccess);
}

/// An agent's mode may decide as if no hook had allowed.
#[test]
fn an_allow_that_the_agent_ignores_is_answered_by_defer() {
    let facts = of(vec![inside(EffectKind::Read)]);
    for (honours_allow, expected) in [(true, Allow), (false, Defer)] {
        let state = State { honours_allow, ..state(Mode::Enforce, true) };
        let decision = judge(&bash("x"), &facts, Profile::Quiet.settings(), &state);
        assert_eq!((decision.verdict, decision.answer), (Allow, expected));
    }
}

/// Code of the workspace runs within the level of strict if the agent itself asks a person before it runs.
#[test]
fn the_agents_own_prompt_is_enough_to_run_code_of_the_workspace() {
    let run = |scope, place| at(EffectKind::Execute, "/w/x", scope, place);
    let mut fetched = run(Scope::Workspace, Scope::Workspace);
    fetched.set_file_origin(Some(FileOrigin::Downloaded));
    let declared = Operation { verb: Some("lockfile".into()), ..Operation::of(EffectKind::Install) };
    let install = Effect { op: declared, ..effect(EffectKind::Install) };
    for (one, prompted) in [
        (run(Scope::Workspace, Scope::Workspace), Defer),
        (run(Scope::Hijack, Scope::Workspace), Defer),
        (install, Defer),
        (fetched, Ask),
        (run(Scope::Temporary, Scope::Temporary), Defer),
        (run(Scope::System, Scope::System), Defer),
        (effect(EffectKind::Execute), Defer),
        (run(Scope::Agent, Scope::Workspace), Ask),
        (run(Scope::Secret, Scope::Workspace), Ask),
        (run(Scope::Home, Scope::Home), Ask),
        (effect(EffectKind::Install), Ask),
        (effect(EffectKind::Upload), Ask),
        (effect(EffectKind::Listen), Ask),
        (effect(EffectKind::Write), Ask),
    ] {
        let facts = of(vec![one]);
        for (agent_prompts, expected) in [(true, prompted), (false, Ask)] {
            let state = State { agent_prompts, ..state(Mode::Enforce, true) };
            let decision = judge(&bash("x"), &facts, Profile::Strict.settings(), &state);
            assert_eq!(decision.verdict, expected, "{agent_prompts} {facts:?}");
        }
    }
}

#[test]
fn a_call_that_needs_more_says_what_it_needs_and_what_the_session_has() {
    let strict = Profile::Strict.settings();
    let deny = Settings { on_insufficient: AskOrDeny::Deny, ..strict.clone() };
    let outside = of(vec![at(EffectKind::Delete, "/etc/x", Scope::System, Scope::System)]);
    for (settings, verdict) in [(strict.clone(), Ask), (deny, Deny)] {
        let decision = judge(&bash("x"), &outside, settings, &state(Mode::Enforce, true));
        assert_eq!(decision.verdict, verdict);
        assert_eq!(
            decision.reason,
            "this needs full-access, more than the access level workspace-write of the session: delete /etc/x"
        );
        assert_eq!(decision.active, Some(AccessLevel::WorkspaceWrite));
    }
    // An agent in plan mode has a lower level than its profile gives.
    let plans = State { ceiling: AccessLevel::ReadOnly, ..state(Mode::Enforce, true) };
    let decision = judge(&bash("x"), &of(vec![inside(EffectKind::Write)]), strict, &plans);
    assert_eq!(
        decision.reason,
        "this needs workspace-write, more than the access level read-only of the session: write /w/x"
    );
}

/// Everything that could allow a call at once: an allow rule, an allow list, a grant, a granted class, an approved plan,
/// trust, a person's level, and the answer of a program that embeds the agent.
#[test]
fn an_observer_has_no_tools_whatever_allows_them() {
    let rules = rule("allow all", "fx.kind = read", "coding_agent_allow");
    let off = |settings: Settings| Settings {
        tiers: Tiers { ask: RuleState::Off, review: RuleState::Off },
        operators: Operator::parse(&[], &[], &["Bash".to_owned(), "Read".to_owned()]).unwrap().into(),
        allow_understood: true,
        default_verdict: AllowOrDefer::Allow,
        headless_default: NotAsk::Allow,
        level: None,
        ..settings
    };
    let facts = of(vec![inside(EffectKind::Read)]);
    let policy = layered(&[(Layer::User, &rules)], off(Profile::Observer.settings()));
    let allowing = layered(&[(Layer::User, &rules)], off(Profile::Kit.settings()));
    let grant = Grant {
        parts: vec![GrantPart {
            lifts: vec![FindingName {
                code: Code::NoTools.as_str().to_owned(),
                rule: String::new(),
                layer: String::new(),
                message: "this session is an observer: it has no tools".to_owned(),
            }]
            .into(),
            scripts: Vec::new(),
        }],
    };
    let plan = PlanCheck::Compared(PlanReport {
        name: "p".to_owned(),
        enforcement: PlanEnforcement::Warn,
        is_approved: true,
        departures: Vec::new(),
        is_covered: true,
        is_ad_hoc: false,
    });
    let mut overridden = bash("x");
    overridden.agent.overriding = Some(Override { verdict: Allow, reason: "it said so".to_owned() });
    for mode in Mode::ALL {
        for (agent_asks, is_repeated, headless) in
            [(true, false, false), (false, true, true), (true, true, true)]
        {
            let state = State {
                grant: Some(&grant),
                plan: Some(&plan),
                is_repeated,
                headless,
                agent_prompts: true,
                workspace_trust: WorkspaceTrust::Trusted,
                ..state(mode, agent_asks)
            };
            for call in [bash("x"), call("Read", ToolKind::Read, "", &[]), overridden.clone()] {
                let decide = |policy| drive(&call, &facts, policy, &state, &mut Recorder::new(&Lexical)).0;
                assert_ne!(
                    decide(&allowing).answer,
                    Deny,
                    "the test must allow it otherwise: {mode} {call:?}"
                );
                let decision = decide(&policy);
                assert_eq!((decision.verdict, decision.answer), (Deny, Deny), "{mode} {call:?}");
                assert!(
                    decision.reason.contains("this session is an observer: it has no tools"),
                    "{decision:?}"
                );
                assert!(decision.obligations.is_empty(), "nothing is asked for: {decision:?}");
            }
        }
    }
}

#[test]
fn a_barred_session_does_nothing_more() {
    let block = Block { code: Code::Ungoverned, message: "a call ran that nobody judged".to_owned() };
    let facts = of(vec![inside(EffectKind::Read)]);
    for mode in Mode::ALL {
        for profile in Profile::ALL {
            let mut settings = profile.settings();
            settings.operators = Operator::parse(&[], &[], &["Bash".to_owned()]).unwrap().into();
            let blocked = State { block: Some(&block), ..state(mode, true) };
            let decision = judge(&bash("x"), &facts, settings, &blocked);
            let answer = if mode == Mode::Enforce || profile == Profile::Observer { Deny } else { Defer };
            assert_eq!((decision.verdict, decision.answer), (Deny, answer), "{mode} {profile}");
        }
    }
}

#[test]
fn an_agent_without_the_required_sandbox_does_nothing() {
    let facts = of(vec![inside(EffectKind::Read)]);
    for (lacks_sandbox, expected) in [(true, Deny), (false, Allow)] {
        let mut settings = Profile::Standard.settings();
        settings.operators = Operator::parse(&[], &[], &["Bash".to_owned()]).unwrap().into();
        let state = State { lacks_sandbox, ..state(Mode::Enforce, true) };
        assert_eq!(judge(&bash("x"), &facts, settings, &state).answer, expected, "{lacks_sandbox}");
    }
}

#[test]
fn an_unknown_workspace_is_only_looked_at_where_the_workspace_is_the_border() {
    let write = of(vec![inside(EffectKind::Write)]);
    let cases = [
        (Profile::Standard, WorkspaceTrust::Unknown, Defer),
        (Profile::Kit, WorkspaceTrust::Unknown, Allow),
        (Profile::Strict, WorkspaceTrust::Trusted, Defer),
        (Profile::Strict, WorkspaceTrust::Unknown, Ask),
        (Profile::Autonomous, WorkspaceTrust::Trusted, Allow),
        (Profile::Autonomous, WorkspaceTrust::Unknown, Ask),
    ];
    for (profile, workspace_trust, expected) in cases {
        let state = State { workspace_trust, ..state(Mode::Enforce, true) };
        let decision = judge(&bash("x"), &write, profile.settings(), &state);
        assert_eq!(decision.verdict, expected, "{profile} {workspace_trust:?}");
    }
    // Independent of the operator's level for sessions.
    let full = Settings { level: Some(AccessLevel::FullAccess), ..Profile::Strict.settings() };
    let unknown = State { workspace_trust: WorkspaceTrust::Unknown, ..state(Mode::Enforce, true) };
    assert_eq!(judge(&bash("x"), &write, full, &unknown).active, Some(AccessLevel::ReadOnly));
}

#[test]
fn a_denied_workspace_has_no_tools_and_nothing_lifts_that() {
    let read = of(vec![inside(EffectKind::Read)]);
    for profile in Profile::ALL {
        let mut settings = profile.settings();
        let operator = Operator::parse(&[], &[], &["Bash".to_owned()]).unwrap();
        settings.operators = operator.into();
        let denied = State { workspace_trust: WorkspaceTrust::Denied, ..state(Mode::Enforce, true) };
        let decision = judge(&bash("x"), &read, settings, &denied);
        assert_eq!(decision.verdict, Deny, "{profile}");
        assert!(decision.findings.iter().any(|one| one.code == Code::DeniedWorkspace && one.counts()));
    }
    // In monitor mode it is only recorded; only a session without tools is stopped in every mode.
    let denied = State { workspace_trust: WorkspaceTrust::Denied, ..state(Mode::Monitor, true) };
    let decision = judge(&bash("x"), &read, Profile::Standard.settings(), &denied);
    assert_eq!((decision.verdict, decision.answer), (Deny, Defer));
}

#[test]
fn a_rule_asks_whatever_the_profile_allows() {
    let rules = rule("ask reads", "fx.kind = read", "coding_agent_ask");
    let policy = layered(&[(Layer::User, &rules)], Profile::Autonomous.settings());
    let facts = of(vec![inside(EffectKind::Read)]);
    let judged =
        drive(&bash("x"), &facts, &policy, &state(Mode::Enforce, true), &mut Recorder::new(&Lexical));
    assert_eq!(judged.0.verdict, Ask);
}

proptest! {
    #[test]
    fn less_trust_never_loosens(
        kind in prop::sample::select(EffectKind::ALL.to_vec()), scope in prop::sample::select(Scope::ALL.to_vec()),
        profile in prop::sample::select(Profile::ALL.to_vec()), agent_asks: bool,
    ) {
        let facts = of(vec![at(kind, "/w/x", scope, scope)]);
        let answers = [WorkspaceTrust::Trusted, WorkspaceTrust::Unknown, WorkspaceTrust::Denied].map(|workspace_trust| {
            let state = State { workspace_trust, ..state(Mode::Enforce, agent_asks) };
            judge(&bash("x"), &facts, profile.settings(), &state).answer
        });
        for pair in answers.windows(2) {
            prop_assert!(pair[1] >= pair[0] || (pair[1], pair[0]) == (Defer, Allow), "{answers:?}");
        }
    }

    #[test]
    fn a_lower_level_never_loosens(
        kind in prop::sample::select(EffectKind::ALL.to_vec()), scope in prop::sample::select(Scope::ALL.to_vec()),
        profile in prop::sample::select(Profile::ALL.to_vec()), lower in 0..3usize, higher in 0..3usize,
    ) {
        let facts = of(vec![at(kind, "/w/x", scope, scope)]);
        let verdict = |level: usize| {
            let settings = Settings { level: Some(AccessLevel::ALL[level]), ..profile.settings() };
            judge(&bash("x"), &facts, settings, &state(Mode::Enforce, true)).verdict
        };
        let (low, high) = (verdict(lower.min(higher)), verdict(lower.max(higher)));
        prop_assert!(low >= high || (low, high) == (Defer, Allow), "{low} below {high}");
    }
}
