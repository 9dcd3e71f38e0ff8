//! Invariants of layers over arbitrary files: the effective values, and the decisions.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use castellan_agents::{AgentId, Incoming, Origin, Question, decode, question_event, shell_call};
use castellan_event::{Call, Facts, Finding, Recorder, Session, Verdict};
use castellan_policy::{Decision, State, drive};
use castellan_rules::Source;
use proptest::prelude::*;

use super::*;
use crate::config::{KEYS, Key, Kind, Merge, Place, Setting, Value};
use crate::facts::facts_of;
use crate::trial::Trial;
use crate::world::FileSystem;

const COMMANDS: &[&str] = &[
    "ls",
    "git push",
    "git push && cargo test",
    "cargo test",
    "rm -r build",
    "cat /etc/hostname",
    "\"$x\" y",
    "curl https://example.com -o x",
];

const PATTERNS: &[&str] = &[
    "Bash(git push:*)",
    "Bash(cargo test:*)",
    "Bash(rm:*)",
    "Read(//etc/**)",
    "Bash",
    "WebFetch(domain:example.com)",
    "Edit(x)",
];

/// Each command as a call of Claude Code, with its facts.
fn calls() -> &'static [(Call, Facts)] {
    static CALLS: OnceLock<Vec<(Call, Facts)>> = OnceLock::new();
    CALLS.get_or_init(|| COMMANDS.iter().map(|command| call(command)).collect())
}

fn call(command: &str) -> (Call, Facts) {
    let (agent, cwd) = (AgentId::ALL[0], "/w");
    let (tool, input) = shell_call(agent, command);
    let question = Question { session_id: "s", cwd, tool, input, use_id: "u" };
    let event = question_event(agent);
    let origin = Origin { correlation_id: 1, agent_pid: std::process::id(), hook_cwd: cwd.to_owned() };
    let Ok(Incoming::Question(call)) = decode(agent, event, question.payload(agent).as_bytes(), &origin)
    else {
        panic!("{command}")
    };
    let machine = FileSystem::default();
    let facts = facts_of(&call, &[], &mut Recorder::new(&machine));
    (call, facts)
}

fn file_set(config: &str) -> FileSet {
    FileSet { config: format!("version = 1\n{config}"), rules: vec![] }
}

fn layers(organisation: Option<&str>, user: &str, project: Option<&str>) -> Layers {
    Layers {
        organisation: organisation.map(file_set),
        user: file_set(user),
        project: project.map(file_set),
        trial: Trial::new(),
    }
}

fn layout() -> Layout {
    Layout::read(Path::new("/nowhere")).unwrap()
}

fn judge(layers: &Layers, (call, facts): &(Call, Facts)) -> Decision {
    let (_, compiled) = layers.compile(&layout()).unwrap();
    assert_eq!(compiled.error(), None);
    let session = Session::default();
    let machine = FileSystem::default();
    drive(call, facts, &compiled.policy, &State::plain(&session), &mut Recorder::new(&machine)).0
}

/// Returns how strictly the agent is stopped: allow and defer both let it continue.
fn stops(decision: &Decision) -> Verdict {
    decision.verdict.max(Verdict::Allow)
}

/// Returns settings for some keys that every layer may set, except `without`.
fn says(without: &'static str) -> impl Strategy<Value = String> {
    let is_said =
        move |key: &&Key| key.place == Place::Every && key.kind != Kind::Version && key.name != without;
    let line = |key: &'static Key| {
        let value = if let Kind::Word(words) = key.kind {
            prop::sample::select(words).prop_map(|word| format!("\"{word}\"")).boxed()
        } else {
            prop::sample::subsequence(PATTERNS, 0..3).prop_map(|list| format!("{list:?}")).boxed()
        };
        let line = move |value: Option<String>| match value {
            Some(value) => format!("{} = {value}\n", key.name),
            None => String::new(),
        };
        prop::option::weighted(0.4, value).prop_map(line).boxed()
    };
    let lines: Vec<BoxedStrategy<String>> = KEYS.iter().filter(is_said).map(line).collect();
    lines.prop_map(|lines| lines.concat())
}

fn locks() -> impl Strategy<Value = BTreeSet<&'static str>> {
    let keys = KEYS.iter().filter(|key| key.place == Place::Every && key.merge != Merge::Own);
    let names: Vec<&'static str> = keys.map(|key| key.name).collect();
    prop::sample::subsequence(names, 0..4).prop_map(|names| names.into_iter().collect())
}

fn locked(organisation: &str, locks: &BTreeSet<&str>) -> String {
    format!("locked = {:?}\n{organisation}", locks.iter().collect::<Vec<_>>())
}

fn settings(layers: &Layers) -> Vec<Setting> {
    layers.config(&layout()).unwrap().settled.settings().to_vec()
}

/// Fails if a key of `after` is milder than in `before`.
fn check_no_milder(before: &[Setting], after: &[Setting]) {
    let values = |setting: &Setting| -> BTreeSet<String> {
        setting.counts.iter().map(|sourced| format!("{:?}", sourced.value)).collect()
    };
    for (before, after) in before.iter().zip(after) {
        let name = before.key.name;
        match (before.key.merge, before.key.kind) {
            (Merge::Strictest, Kind::Word(words)) => {
                let rank = |setting: &Setting| {
                    let Value::Word(word) = setting.counts[0].value else { panic!("{setting:?}") };
                    words.iter().position(|known| *known == word).unwrap()
                };
                assert!(rank(after) >= rank(before), "{name}: {:?} -> {:?}", before.counts, after.counts);
            }
            (Merge::United, _) => assert!(values(after).is_superset(&values(before)), "{name}"),
            _ => {}
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_layer_more_makes_no_key_milder(
        upper in says(""), locks in locks(), user in says(""), lower in says(""),
    ) {
        let upper = locked(&upper, &locks);
        let of = |organisation, project| settings(&layers(organisation, &user, project));
        check_no_milder(&of(None, None), &of(Some(&upper), None));
        check_no_milder(&of(None, None), &of(None, Some(&lower)));
        check_no_milder(&of(Some(&upper), None), &of(Some(&upper), Some(&lower)));
        check_no_milder(&of(None, Some(&lower)), &of(Some(&upper), Some(&lower)));
    }

    #[test]
    fn a_locked_key_more_makes_no_key_milder(
        upper in says(""), some in locks(), more in locks(), user in says(""), lower in says(""),
    ) {
        let both = some.union(&more).copied().collect();
        let of = |locks: &BTreeSet<&str>| {
            settings(&layers(Some(&locked(&upper, locks)), &user, Some(&lower)))
        };
        let (before, after) = (of(&some), of(&both));
        check_no_milder(&before, &after);
        // An allow list can only become shorter.
        let lists = before.iter().zip(&after).filter(|(before, _)| before.key.merge == Merge::Lifting);
        for (before, after) in lists {
            prop_assert!(after.counts.iter().all(|sourced| before.counts.contains(sourced)));
        }
    }

    #[test]
    fn a_layer_more_never_loosens_a_decision(
        upper in says(""), locks in locks(), user in says(""), lower in says("allow"),
        call in prop::sample::select(calls()),
    ) {
        let upper = locked(&upper, &locks);
        let of = |organisation, project| stops(&judge(&layers(organisation, &user, project), &call));
        let (alone, above) = (of(None, None), of(Some(&upper), None));
        prop_assert!(above >= alone);
        prop_assert!(of(None, Some(&lower)) >= alone);
        prop_assert!(of(Some(&upper), Some(&lower)) >= above);
    }

    #[test]
    fn a_locked_key_more_never_loosens_a_decision(
        upper in says(""), some in locks(), more in locks(), user in says(""), lower in says(""),
        call in prop::sample::select(calls()),
    ) {
        let both = some.union(&more).copied().collect();
        let of = |locks: &BTreeSet<&str>| {
            stops(&judge(&layers(Some(&locked(&upper, locks)), &user, Some(&lower)), &call))
        };
        prop_assert!(of(&both) >= of(&some));
    }

    /// Holds for any user and project, even if they allow.
    #[test]
    fn what_the_organisation_finds_stands(
        upper in says(""), user in says(""), lower in says(""), call in prop::sample::select(calls()),
    ) {
        let found = |decision: &Decision| -> Vec<Finding> {
            let stands = |finding: &&Finding| finding.stops() && finding.counts();
            let of = decision.findings.iter().filter(stands);
            of.filter(|finding| finding.layer == Some(Layer::Organisation)).cloned().collect()
        };
        let alone = judge(&layers(Some(&upper), "", None), &call);
        let all = judge(&layers(Some(&upper), &user, Some(&lower)), &call);
        let still = found(&all);
        for finding in found(&alone) {
            let is_same = |other: &Finding| (other.code, &other.rule) == (finding.code, &finding.rule);
            let stands = still.iter().any(|other| is_same(other) && other.verdict >= finding.verdict);
            prop_assert!(stands, "{finding:?} is lifted: {:?}", all.findings);
        }
    }
}

/// A level has the meaning of the profile of the layer that sets it. The project's own tests are more than the
/// workspace, unless the organisation itself is autonomous.
#[test]
fn the_organisations_level_means_what_it_said() {
    let call = call("cargo test");
    let check = |organisation: &str, user: &str, expected: &[(Verdict, Option<Layer>)]| {
        let decision = judge(&layers(Some(organisation), user, None), &call);
        let found: Vec<_> =
            decision.findings.iter().map(|finding| (finding.verdict, finding.layer)).collect();
        assert_eq!(found, expected, "{organisation} | {user}: {:?}", decision.findings);
    };
    let (autonomous, given) = ("profile = 'autonomous'", "level.session = 'workspace-write'");
    let asks = (Verdict::Ask, Some(Layer::Organisation));
    let allows = (Verdict::Allow, None);
    check("", autonomous, &[allows]);
    check("level.session = 'full-access'", autonomous, &[allows]);
    check(given, autonomous, &[asks, allows]);
    check(&format!("{given}\n{autonomous}"), autonomous, &[allows]);
    // A finding of only the user's own profile can be lifted by the user.
    check(autonomous, "", &[(Verdict::Ask, None)]);
}

fn rules(name: &str, rules: &str) -> Vec<Source> {
    vec![Source { name: name.to_owned(), text: rules.to_owned() }]
}

fn rule(name: &str, condition: &str, tag: &str) -> String {
    format!(
        "- rule: {name}\n  desc: d\n  condition: {condition}\n  output: o\n  priority: INFO\n  \
         source: coding_agent\n  tags: [{tag}]\n"
    )
}

#[test]
fn each_layers_rules_are_its_own() {
    let push = "tool.name = Bash and cmd.name = git";
    let with = |name, text: &str, config| FileSet { rules: rules(name, text), ..file_set(config) };
    let organisation = with("/etc/castellan/rules/a.yaml", &rule("r", push, "coding_agent_ask"), "");
    // A rule of the same name that never matches, other tags, and an allow list.
    let config = "tags.ask = 'mine'\nallow = ['Bash(git push:*)']";
    let user = with("/u/user/a.yaml", &rule("r", "tool.name = never", "mine"), config);
    let project = with(".castellan/rules/a.yaml", &rule("r", push, "coding_agent_deny"), "");
    let call = call("git push");
    let layers = Layers { organisation: Some(organisation), user, project: None, trial: Trial::new() };
    let decision = judge(&layers, &call);
    let stands: Vec<_> =
        decision.findings.iter().filter(|finding| finding.stops() && finding.counts()).collect();
    assert_eq!(
        (decision.verdict, stands.len(), stands[0].layer),
        (Verdict::Ask, 1, Some(Layer::Organisation))
    );
    let decision = judge(&Layers { project: Some(project), ..layers }, &call);
    assert_eq!(decision.verdict, Verdict::Deny);
    let of_project = |finding: &Finding| finding.layer == Some(Layer::Project) && finding.stops();
    assert!(decision.findings.iter().any(of_project), "{decision:?}");
}

#[test]
fn nobodys_rules_change_castellans_own() {
    let own = crate::shipped::organisation_rules();
    for name in own[0].text.lines().filter_map(|line| line.strip_prefix("- rule: ")) {
        let off = format!("- rule: {name}\n  enabled: false\n  override: {{enabled: replace}}\n");
        let set = FileSet { rules: rules("off.yaml", &off), ..file_set("") };
        let plain = layers(None, "", None);
        for layers in [
            Layers { organisation: Some(set.clone()), ..plain.clone() },
            Layers { project: Some(set), ..plain },
        ] {
            let (_, compiled) = layers.compile(&layout()).unwrap();
            let problem = &compiled.problems[0];
            assert!(compiled.error().is_some(), "{name}");
            assert!(problem.help.as_ref().unwrap().contains("is built in"), "{problem:?}");
        }
    }
}

#[test]
fn the_hash_names_every_layer() {
    let texts = [None, Some(""), Some("mode = 'enforce'")];
    let hashes: BTreeSet<String> = texts
        .iter()
        .flat_map(|organisation| texts.map(|project| layers(*organisation, "", project).hash()))
        .collect();
    assert_eq!(hashes.len(), 9);
    assert_eq!(layers(None, "", None).hash(), file_set("").hash());
}

/// Returns a layer; the words state its treatment of `git push`.
fn about_push(words: &str) -> FileSet {
    let has = |word: &str| words.split(' ').any(|said| said == word);
    let mut config = String::new();
    for (word, line) in [
        ("allow", "allow = ['Bash(git push:*)']\n"),
        ("list", "ask = ['Bash(git push:*)']\n"),
        ("level", "level.session = 'read-only'\n"),
        ("locked", "locked = ['allow']\n"),
    ] {
        config.push_str(if has(word) { line } else { "" });
    }
    let tags = if has("liftable") { "coding_agent_ask, coding_agent_liftable" } else { "coding_agent_ask" };
    let asks = rules("a.yaml", &rule("r", "cmd.name = git", tags));
    FileSet { rules: if has("ask") { asks } else { vec![] }, ..file_set(&config) }
}

#[test]
fn an_allow_list_lifts_what_its_own_layer_asks() {
    let call = call("git push");
    let check = |organisation: &str, user: &str, project: &str, expected| {
        let layers = Layers {
            organisation: Some(about_push(organisation)),
            user: about_push(user),
            project: Some(about_push(project)),
            trial: Trial::new(),
        };
        let decision = judge(&layers, &call);
        assert_eq!(
            stops(&decision),
            expected,
            "{organisation} | {user} | {project}: {:?}",
            decision.findings
        );
    };
    check("", "ask allow", "", Verdict::Allow);
    check("allow", "ask", "", Verdict::Ask);
    check("", "allow", "ask", Verdict::Ask);
    check("", "", "ask allow", Verdict::Allow);
    check("", "ask", "allow", Verdict::Allow);
    check("ask", "allow", "allow", Verdict::Ask);
    check("ask allow", "", "", Verdict::Ask);
    check("ask liftable", "allow", "", Verdict::Allow);
    check("locked", "ask allow", "", Verdict::Ask);
    // No list lifts an ask of another list.
    check("", "list allow", "", Verdict::Ask);
    // No list lifts a call above the organisation's level.
    check("", "level allow", "", Verdict::Allow);
    check("level", "allow", "", Verdict::Ask);
    check("level allow", "", "", Verdict::Ask);
}

#[test]
fn the_hash_of_several_layers_stays_the_same() {
    let mut layers = layers(Some("o"), "u", None);
    layers.trial.rules.insert("default/rule".to_owned(), 7);
    // Records hold such hashes.
    assert_eq!(layers.hash(), "715b0b0481cf2d24f9ae51456a3059c4d5685b50979e6724367b12a5bc1cc13e");
}
