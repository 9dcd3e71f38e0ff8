//! Calls that run in a sandbox in the place of a question.

use castellan_event::{
    AccessLevel, Action, Command, Effect, EffectKind, Exemption, Facts, LocatedFile, Mode, ObligationKind,
    Recorder, Role, Scope, Session, ToolKind, Verdict, Why,
};
use castellan_policy::{
    AllowOrDefer, CONTAINED_EFFECTS, CONTAINED_UNREAD, ContainmentMode, Decision, Policy, Profile, Settings,
    State, drive,
};

use crate::support::{Lexical, bash, call, layered, policy, rule};

const ABLE: &[ObligationKind] = &[ObligationKind::Contain];

fn judged(facts: &Facts, policy: &Policy, state: &State<'_>) -> Decision {
    drive(&bash("x y"), facts, policy, state, &mut Recorder::new(&Lexical)).0
}

/// The containment policy of a decision; empty without one.
fn contained(decision: &Decision) -> &str {
    let policy = decision.due().iter().find_map(|one| match &one.action {
        Action::Contain { policy } => Some(policy.as_str()),
        Action::Checkpoint | Action::Review | Action::Hold { .. } => None,
    });
    policy.unwrap_or_default()
}

fn opaque(role: Role) -> Effect {
    Effect { command: Some(0), ..Effect::opaque(role, Why::Variable, None) }
}

fn on(kind: EffectKind, place: Option<Scope>, scope: Option<Scope>) -> Effect {
    let path = place.map(|_| "/w/x".to_owned());
    let file = LocatedFile { path, place, scope, ..LocatedFile::default() };
    Effect { command: Some(0), ..Effect::on_file(kind, file) }
}

fn facts(effects: Vec<Effect>) -> Facts {
    Facts {
        commands: vec![Command { name: Some("x".into()), ..Command::default() }],
        effects,
        ..Facts::default()
    }
}

fn shipped(profile: Profile) -> Policy {
    layered(&[], profile.settings())
}

/// The verdict and the containment policy in `standard` where castellan can contain the call.
#[track_caller]
fn check(effects: Vec<Effect>, expected: (Verdict, &str)) {
    let session = Session::default();
    let state = State { able: ABLE, ..State::plain(&session) };
    let facts = facts(effects);
    let decision = judged(&facts, &shipped(Profile::Standard), &state);
    assert_eq!((decision.verdict, contained(&decision)), expected, "{facts:?}: {:?}", decision.findings);
}

const CONTAINED: (Verdict, &str) = (Verdict::Allow, CONTAINED_UNREAD);
const ASKED: (Verdict, &str) = (Verdict::Ask, "");

#[test]
fn by_what_is_unknown() {
    check(vec![opaque(Role::Code)], CONTAINED);
    check(vec![opaque(Role::Program)], CONTAINED);
    check(vec![opaque(Role::Code), opaque(Role::Operand)], CONTAINED);
    check(vec![opaque(Role::Operand)], (Verdict::Defer, ""));
    check(vec![opaque(Role::Target)], ASKED);
    check(vec![opaque(Role::Code), opaque(Role::Target)], ASKED);
    // A sandbox writes no file outside of the workspace. It deletes the workspace's own.
    check(vec![opaque(Role::Target), on(EffectKind::Write, None, None)], CONTAINED);
    check(vec![opaque(Role::Target), on(EffectKind::Delete, None, None)], ASKED);
    let of_another = Effect { command: None, ..on(EffectKind::Write, None, None) };
    check(vec![opaque(Role::Target), of_another], ASKED);
}

#[test]
fn by_what_the_call_does_besides() {
    use EffectKind::{Delete, Link, Permission, Query, Read, Write};
    use Scope::{Agent, Hijack, Outside, Secret, Temporary, Vcs, Workspace};
    let check = |effect: Effect, expected| check(vec![opaque(Role::Code), effect], expected);
    for kind in [Write, Delete, Link, Permission] {
        check(on(kind, Some(Workspace), Some(Workspace)), CONTAINED);
        check(on(kind, Some(Temporary), Some(Temporary)), CONTAINED);
        for (place, scope) in [(Outside, Outside), (Workspace, Vcs), (Workspace, Hijack), (Workspace, Secret)]
        {
            check(on(kind, Some(place), Some(scope)), ASKED);
        }
    }
    // Other projects are not there.
    let in_home = |path: &str| {
        let mut read = on(Read, Some(Scope::Home), Some(Scope::Home));
        let file =
            LocatedFile { path: Some(format!("/h{path}")), home_bytes: Some(2), ..LocatedFile::default() };
        read.object = Effect::on_file(Read, LocatedFile { place: Some(Scope::Home), ..file }).object;
        read
    };
    check(on(Read, Some(Outside), Some(Outside)), ASKED);
    check(in_home("/.cargo/config"), CONTAINED);
    check(in_home("/src/other/x"), ASKED);
    check(on(Read, Some(Scope::System), Some(Scope::System)), CONTAINED);
    check(on(Read, Some(Temporary), Some(Temporary)), CONTAINED);
    check(on(Read, Some(Workspace), Some(Secret)), ASKED);
    check(on(Read, Some(Scope::Home), Some(Agent)), ASKED);
    check(on(Query, Some(Workspace), None), CONTAINED);
    check(Effect::of(Query), ASKED);
    let kept = [EffectKind::Execute, EffectKind::Environment];
    // Its findings are about its own part.
    let judged = [Read, Query, Write, Delete, Link, Permission, EffectKind::Opaque];
    for kind in EffectKind::ALL.iter().copied().filter(|kind| !judged.contains(kind)) {
        check(Effect::of(kind), if kept.contains(&kind) { CONTAINED } else { ASKED });
    }
}

#[test]
fn code_on_another_machine_is_not_contained() {
    let session = Session::default();
    let state = State { able: ABLE, ..State::plain(&session) };
    let mut facts = facts(vec![opaque(Role::Code)]);
    facts.commands[0].remote = Some("host".to_owned());
    let decision = judged(&facts, &shipped(Profile::Standard), &state);
    assert_eq!((decision.verdict, contained(&decision)), ASKED);
}

/// What castellan denies as not understood is contained, too, if nothing else stops it.
#[test]
fn by_profile() {
    let session = Session::default();
    let verdicts = |able: &[ObligationKind], headless: bool| {
        let state = State { able, headless, ..State::plain(&session) };
        let facts = facts(vec![opaque(Role::Code)]);
        Profile::ALL.map(|profile| judged(&facts, &shipped(profile), &state).verdict)
    };
    use Verdict::{Allow, Ask, Deny};
    // standard, quiet, strict, autonomous, observer, kit
    assert_eq!(verdicts(ABLE, false), [Allow, Allow, Allow, Allow, Deny, Allow]);
    assert_eq!(verdicts(&[], false), [Ask, Ask, Deny, Ask, Deny, Allow]);
    assert_eq!(verdicts(ABLE, true), [Allow, Allow, Allow, Allow, Deny, Allow]);
    assert_eq!(verdicts(&[], true), [Ask, Ask, Deny, Deny, Deny, Allow]);
}

#[test]
fn a_session_that_may_only_read_contains_nothing() {
    let session = Session::default();
    let facts = facts(vec![opaque(Role::Code)]);
    for (ceiling, expected) in
        [(AccessLevel::WorkspaceWrite, CONTAINED), (AccessLevel::ReadOnly, (Verdict::Deny, ""))]
    {
        let state = State { able: ABLE, ceiling, ..State::plain(&session) };
        let decision = judged(&facts, &shipped(Profile::Strict), &state);
        assert_eq!((decision.verdict, contained(&decision)), expected, "{ceiling:?}");
    }
}

#[test]
fn not_every_call_is_contained() {
    let session = Session::default();
    let plain = State { able: ABLE, ..State::plain(&session) };
    let facts = facts(vec![opaque(Role::Code)]);
    let standard = shipped(Profile::Standard);
    let off = layered(&[], Settings { containment: ContainmentMode::Off, ..Settings::default() });
    let check = |policy: &Policy, state: &State<'_>| {
        let decision = judged(&facts, policy, state);
        assert_eq!((decision.verdict, contained(&decision)), ASKED, "{state:?}");
    };
    check(&off, &plain);
    check(&standard, &State { is_refused: true, ..plain });
    check(&standard, &State { mode: Mode::Monitor, ..plain });
    let tool = call("mcp__a__b", ToolKind::Mcp, "", &[]);
    let decision = drive(&tool, &facts, &standard, &plain, &mut Recorder::new(&Lexical)).0;
    assert_eq!((decision.verdict, contained(&decision)), ASKED);
}

#[test]
fn rules_contain_what_castellan_understands_and_ask_elsewhere() {
    let session = Session::default();
    let able = State { able: ABLE, ..State::plain(&session) };
    let unable = State::plain(&session);
    let contain = rule("contain", "cmd.name = x", "coding_agent_contain");
    let ask = rule("ask", "cmd.name = x", "coding_agent_ask");
    let check = |rules: &str, effects: Vec<Effect>, state: &State<'_>, expected| {
        let facts = facts(effects);
        let decision = judged(&facts, &policy(rules, AllowOrDefer::Defer), state);
        assert_eq!((decision.verdict, contained(&decision)), expected, "{:?}", decision.findings);
    };
    let download = || vec![Effect { command: Some(0), ..Effect::of(EffectKind::Download) }];
    check(&contain, download(), &able, (Verdict::Allow, CONTAINED_EFFECTS));
    check(&contain, download(), &unable, ASKED);
    // One sandbox for both, the closed one.
    check(&contain, vec![opaque(Role::Code)], &able, CONTAINED);
    // Another rule keeps its say, also about unread code.
    check(&format!("{contain}{ask}"), download(), &able, ASKED);
    check(&ask, vec![opaque(Role::Code)], &able, ASKED);
}

#[test]
fn the_record_names_what_is_exempt() {
    let session = Session::default();
    let state = State { able: ABLE, ..State::plain(&session) };
    let decision = judged(&facts(vec![opaque(Role::Code)]), &shipped(Profile::Strict), &state);
    let lifted: Vec<_> = decision.findings.iter().map(|one| (one.code.as_str(), one.lifted)).collect();
    let met = Some(Exemption::Met(ObligationKind::Contain));
    assert_eq!(lifted, [("opaque", met), ("access", met), ("contained", None)]);
}
