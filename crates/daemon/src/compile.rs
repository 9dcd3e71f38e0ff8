//! Rule files → policy: the only place that compiles rule texts. It must not know the origin of the texts.

use castellan_event::{FIELDS, Layer};
use castellan_falco::export::EngineRules;
use castellan_policy::{LayerRules, Policy, Tags};
use castellan_rules::{self as rules, Options, Problem, RuleSet, Severity, Source};

use crate::config::Config;
use crate::engine::exported;
use crate::shipped::organisation_rules;

/// A policy, and the problems in its rule files.
#[derive(Debug)]
pub struct Compiled {
    /// May be used only if [`Compiled::error`] is `None`.
    pub policy: Policy,
    /// Errors and warnings, in the order of layers, files and lines.
    pub problems: Vec<Problem>,
    /// The rules for the engine `falco`. `None` for castellan's own engine, and if a file does not load.
    pub exported: Option<EngineRules>,
}

impl Compiled {
    /// Returns the first error, in one line. The policy must not be used then.
    pub fn error(&self) -> Option<String> {
        let errors = self.problems.iter().filter(|problem| problem.severity == Severity::Error);
        errors.map(Problem::one_line).next()
    }
}

/// Compiles the rules of all layers with the settings of a configuration: the user's files, in their order, between
/// those of the organisation and of a project. Each layer is loaded separately, so its definitions do not affect
/// another layer. Only the user's layer uses the options of the configuration. castellan's own rules are loaded
/// separately from the organisation's files, which therefore cannot change them either.
pub fn compile(sources: &[Source], config: &Config) -> Compiled {
    let built_in = organisation_rules();
    let describe = config.settings.engine.is_falco();
    let plain = Options { describe, ..Tags::default().options() };
    let of_user = Options { describe, ..config.rule_options.clone() };
    let files: [(Layer, &[Source], &Options); 4] = [
        (Layer::Organisation, &built_in, &plain),
        (Layer::Organisation, &config.organisation_rules, &plain),
        (Layer::User, sources, &of_user),
        (Layer::Project, &config.project_rules, &plain),
    ];
    let mut loaded = files
        .map(|(layer, sources, options)| (layer, sources, options, rules::load(sources, FIELDS, options)));
    let mut problems = Vec::new();
    let mut layers = Vec::new();
    let [(.., own), others @ ..] = &mut loaded;
    for problem in others.iter_mut().flat_map(|(.., loaded)| &mut loaded.problems) {
        explain_built_in(problem, &own.rules);
    }
    let is_used = |layer: Layer, sources: &[Source]| layer == Layer::User || !sources.is_empty();
    let used = loaded.iter().filter(|(layer, sources, ..)| is_used(*layer, sources));
    let described = used.map(|(layer, _, _, loaded)| (*layer, loaded));
    let exported = if describe { exported(described, config.rule_options.engine) } else { None };
    for (layer, sources, options, loaded) in loaded {
        problems.extend(loaded.problems);
        if is_used(layer, sources) {
            layers.push(LayerRules { layer, rules: loaded.rules, sources, options });
        }
    }
    let policy = Policy::new(layers, config.settings.clone());
    Compiled { policy: policy.with_states(|of| config.packs.state_of(of)), problems, exported }
}

/// Adds a help text if a file refers to a missing item that is one of castellan's own rules, macros or lists. An
/// earlier castellan kept these among the user's files, where they could be changed.
fn explain_built_in(problem: &mut Problem, own: &RuleSet) {
    if !problem.message.starts_with("there is no ") {
        return;
    }
    let rules = own.rules().iter().map(|rule| &rule.name);
    let mut names = rules.chain(own.macros()).chain(own.lists());
    let is_missed = |name: &&String| {
        problem.message.contains(&format!("`{name}`"))
            || problem.message.contains("of this name") && problem.item.ends_with(&format!("'{name}'"))
    };
    if let Some(name) = names.find(is_missed) {
        let why = format!("castellan's own `{name}` is built in, and no rule file can change or use it");
        problem.help = Some(problem.help.take().map_or(why.clone(), |help| format!("{help}; {why}")));
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use castellan_event::{Agent, Call, Recorder, Session, Tool, ToolKind, Verdict};
    use castellan_policy::{State, Tags, drive};
    use castellan_rules::{Matching, Priority, Selected, Selection};

    use super::*;
    use crate::facts::facts_after;
    use crate::world::FileSystem;

    /// Returns every rule of the organisation by name: its condition, its verdict and whether it is enabled.
    fn organisation(compiled: &Compiled) -> BTreeMap<String, (String, &'static str, bool)> {
        let rules = compiled.policy.rules().filter(|of| of.layer == Layer::Organisation);
        let described = rules.map(|of| {
            (of.rule.name.clone(), (of.rule.condition.clone(), of.verdict.as_str(), of.rule.enabled))
        });
        described.collect()
    }

    fn verdict(compiled: &Compiled, tool: &str, command: &str) -> Verdict {
        let kind = if command.is_empty() { ToolKind::Unknown } else { ToolKind::Shell };
        let call = Call {
            correlation_id: 1,
            agent: Agent { cwd: "/".into(), ..Agent::default() },
            tool: Tool { name: tool.into(), name_raw: tool.into(), use_id: String::new(), kind, mcp: None },
            input: serde_json::Value::Null,
            input_text: String::new(),
            command: (!command.is_empty()).then(|| command.to_owned()),
            files: vec![],
            in_background: false,
            problems: vec![],
        };
        let session = Session::default();
        let state = State::plain(&session);
        let world = FileSystem::default();
        let facts = facts_after(&call, &[], "/", None, &mut Recorder::new(&world));
        drive(&call, &facts, &compiled.policy, &state, &mut Recorder::new(&world)).0.verdict
    }

    /// Checks that a user's rule file and configuration leave the organisation's rules unchanged, and that these deny.
    fn check(text: &str, config: &Config) {
        let alone = compile(&[], &Config::default());
        let compiled = compile(&[Source { name: "mine.yaml".into(), text: text.to_owned() }], config);
        assert_eq!(compiled.error(), None, "{text}");
        assert_eq!(organisation(&compiled), organisation(&alone), "{text}");
        assert_eq!(verdict(&compiled, "castellan_canary", ""), Verdict::Deny, "{text}");
        assert_eq!(verdict(&compiled, "Bash", "castellan mode monitor"), Verdict::Deny, "{text}");
    }

    #[test]
    fn the_organisations_rules_load_without_a_word_and_all_stop() {
        let compiled = compile(&[], &Config::default());
        assert!(compiled.problems.is_empty(), "{:?}", compiled.problems);
        let rules = organisation(&compiled);
        assert!(rules.len() >= 4, "{rules:?}");
        let stops = |verdict: &str| ["deny", "ask"].contains(&verdict);
        assert!(rules.values().all(|(_, verdict, enabled)| stops(verdict) && *enabled), "{rules:?}");
    }

    /// Redefines every definition of the organisation's files, as a user would do to disable them.
    #[test]
    fn no_rule_file_of_a_user_changes_them() {
        let config = Config::default();
        let sources = organisation_rules();
        let loaded = rules::load(&sources, FIELDS, &Options::default()).rules;
        let each = |names: &[String], text: &dyn Fn(&String) -> String| -> String {
            names.iter().map(text).collect()
        };
        let names: Vec<String> = loaded.rules().iter().map(|rule| rule.name.clone()).collect();
        let never = "  desc: d\n  condition: tool.name = never\n  output: o\n  priority: DEBUG\n  source: coding_agent\n";
        check(&each(loaded.lists(), &|name| format!("- list: {name}\n  items: []\n")), &config);
        check(
            &each(loaded.macros(), &|name| format!("- macro: {name}\n  condition: tool.name = never\n")),
            &config,
        );
        check(&each(&names, &|name| format!("- rule: {name}\n{never}")), &config);
        check(&each(&names, &|name| format!("- rule: {name}\n{never}  enabled: false\n")), &config);
        check(
            &each(&names, &|name| format!("- rule: {name}\n{never}  tags: [coding_agent_allow]\n")),
            &config,
        );
        // The same text with all rules disabled: only the user's copy is disabled.
        let off = sources.iter().map(|source| source.text.as_str()).collect::<String>()
            + &each(&names, &|name| {
                format!("- rule: {name}\n  enabled: false\n  override: {{enabled: replace}}\n")
            });
        check(&off, &config);
    }

    #[test]
    fn a_user_who_misses_them_reads_where_they_are() {
        let help = |text: &str| {
            let sources = [Source { name: "mine.yaml".into(), text: text.to_owned() }];
            let problem = compile(&sources, &Config::default()).problems.remove(0);
            problem.help.unwrap_or_default()
        };
        let rule = |condition: &str| {
            format!(
                "- rule: r\n  desc: d\n  condition: {condition}\n  output: o\n  priority: INFO\n  source: coding_agent\n"
            )
        };
        let built_in = |name: &str| {
            format!("castellan's own `{name}` is built in, and no rule file can change or use it")
        };
        for (text, name) in [
            (
                "- macro: holds_castellan\n  condition: or tool.name = x\n  override: {condition: append}\n",
                "holds_castellan",
            ),
            (
                "- rule: Deny the castellan canary\n  enabled: false\n  override: {enabled: replace}\n",
                "Deny the castellan canary",
            ),
            (&rule("holds_castellan"), "holds_castellan"),
        ] {
            assert!(help(text).ends_with(&built_in(name)), "{text}: {}", help(text));
        }
        for text in [&rule("is_mine"), "- list: mine\n  items: [x]\n  override: {items: append}\n"] {
            assert!(!help(text).contains("built in"), "{text}: {}", help(text));
        }
    }

    #[test]
    fn no_setting_of_a_user_changes_them() {
        let all = "- rule: first\n  desc: d\n  condition: tool.name exists\n  output: o\n  priority: DEBUG\n  \
                   source: coding_agent\n  tags: [coding_agent_allow]\n";
        let with = |rule_options: Options| Config { rule_options, ..Config::default() };
        let off = |of| Selection { enable: false, of };
        check(all, &with(Options { matching: Matching::First, ..Options::default() }));
        check(all, &with(Options { priority: Priority::Emergency, ..Options::default() }));
        let selection = vec![off(Selected::Rule("*".into())), off(Selected::Tag("coding_agent_deny".into()))];
        check(all, &with(Options { selection, ..Options::default() }));
        check(all, &with(Options { source: "syscall".into(), ..Options::default() }));
        let mut config = Config::default();
        config.settings.tags =
            Tags { deny: "stop".into(), allow: "coding_agent_deny".into(), ..Tags::default() };
        check(all, &config);
    }

    /// All packs are off: every shipped rule is gone, and castellan's own rules remain.
    #[test]
    fn packs_that_are_off_leave_the_built_in_rules() {
        use castellan_policy::RuleState;

        use crate::packs::{pack_names, pack_of};
        use crate::shipped::shipped_rules;

        let at_home = |rules: Source| Source { name: format!("/h/rules/default/{}", rules.name), ..rules };
        let sources: Vec<Source> = shipped_rules().into_iter().map(at_home).collect();
        let off: String = pack_names().map(|pack| format!("packs.{pack} = \"off\"\n")).collect();
        let config = Config::parse(&format!("version = 1\n{off}")).unwrap();
        let compiled = compile(&sources, &config);
        assert_eq!(compiled.error(), None);
        for of in compiled.policy.rules() {
            let expected = if of.layer == Layer::User { RuleState::Off } else { RuleState::Enforce };
            assert_eq!(of.state, expected, "{}", of.rule.name);
            assert_ne!(of.verdict.as_str(), "allow", "{}: enforcing a pack must never loosen", of.rule.name);
            assert_eq!(pack_of(&of).is_some(), of.layer == Layer::User);
        }
        assert_eq!(verdict(&compiled, "castellan_canary", ""), Verdict::Deny);
        // The user's own files belong to no pack.
        let own = [Source { name: "/h/rules/user/12-git.yaml".into(), ..shipped_rules().swap_remove(2) }];
        let compiled = compile(&own, &config);
        assert!(compiled.policy.rules().all(|of| of.state == RuleState::Enforce));
    }

    #[test]
    fn the_hash_names_every_option() {
        let hash = |rules: &str| {
            let config = Config::parse(&format!("version = 1\n[rules]\n{rules}")).unwrap();
            compile(&[], &config).policy.hash().to_owned()
        };
        let texts = [
            "",
            "engine = \"0.44\"",
            "matching = \"first\"",
            "regex_compat = \"falco\"",
            "priority = \"error\"",
            "select = [{disable = {tag = \"x\"}}]",
            "select = [{disable = {rule = \"x\"}}]",
            "select = [{enable = {tag = \"x\"}}]",
            "append_output = [{extra_output = \"x\"}]",
        ];
        let hashes: std::collections::BTreeSet<String> = texts.map(hash).into();
        assert_eq!(hashes.len(), texts.len(), "{texts:?}");
        assert_eq!(hash("reload = \"watch\""), hash(""), "it changes no decision");
    }
}
