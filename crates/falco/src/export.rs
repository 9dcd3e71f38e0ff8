//! Writes rules as a rule file for a real Falco. Lists, macros and exceptions are expanded in the conditions. Every
//! text is quoted, so that YAML cannot interpret it.

use std::collections::HashSet;

use castellan_event::sha256_hex;
use castellan_rows::{EngineField, ROLL_CALL};
use castellan_rules::{Engine, Rule, RuleDescription};

use crate::description::Described;

/// The engine version that the file requires.
const ENGINES: [(Engine, &str); 2] = [(Engine::V0_43, "0.58.0"), (Engine::V0_44, "0.62.0")];

const HEAD: &str = "\
# Written by `castellan rules export --falco`: lists, macros and exceptions are put into the conditions.
# A plugin for the source must know every field that they name.
";

/// The rule that reports each row as judged. It is the last one, so all others are tested before it.
const SEEN_RULE: &str = "castellan has seen the row";

/// Rules for a Falco that judges calls in castellan's place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EngineRules {
    /// The rule file. The number of a rule is its position among all rules, from 0.
    pub yaml: String,
    /// The hash of the rules: the generation of rows that they judge.
    pub generation: String,
    /// Number of rules, without the one that reports rows.
    pub count: usize,
    /// The numbers of the enabled rules, ascending. Falco must report all of them on a roll call.
    pub roll: Vec<u64>,
}

/// Returns the YAML of the rules in their order, disabled ones too. Falco treats a second rule of the same name as a redefinition.
/// So if two layers use one name, the later rule gets a number.
pub fn yaml(all: &[Described<'_>], engine: Engine) -> String {
    let version = ENGINES.iter().find(|(of, _)| *of == engine).map_or("", |(_, version)| version);
    let mut yaml = format!("{HEAD}- required_engine_version: {version}\n");
    push_rules(&mut yaml, all, &|_, condition| condition.to_owned());
    yaml
}

/// Returns the rules for a Falco that judges calls in castellan's place. Each rule reports its number when it matches:
/// the last test of its condition is always true, and Falco evaluates from left to right. The last rule reports each row
/// of this generation of rules, with the numbers of the rules that matched.
///
/// On a roll call each rule reports its number and does not match. So a Falco whose configuration disables, replaces or
/// leaves out a rule is noticed, and one that tests a rule after the last one.
pub fn for_engine(all: &[Described<'_>], engine: Engine) -> EngineRules {
    let version = ENGINES.iter().find(|(of, _)| *of == engine).map_or("", |(_, version)| version);
    let mut rules = String::new();
    let (report, level) = (EngineField::Match.name(), "row.level");
    let taken = push_rules(&mut rules, all, &|number, condition| {
        let report = format!("{report}[{number}]");
        format!("({level} = {ROLL_CALL} and {report} = false) or (({condition}) and {report} = true)")
    });
    let generation = sha256_hex(&rules);
    let mut names =
        std::iter::once(SEEN_RULE.to_owned()).chain((2u64..).map(|number| format!("{SEEN_RULE} ({number})")));
    let name = names.find(|name| !taken.contains(name)).unwrap_or_default();
    let (row, seen) = (EngineField::Generation.name(), EngineField::Seen.name());
    let yaml = format!(
        "{ENGINE_HEAD}- required_engine_version: {version}\n{rules}
- rule: {}
  desc: \"Reports that all rules were tested on a row.\"
  condition: {}
  output: {}
  priority: \"DEBUG\"
  source: \"coding_agent\"
  tags: [\"coding_agent_seen\"]
",
        quoted(&name),
        quoted(&format!("{row} = {generation}")),
        quoted(&format!("%{seen}")),
    );
    let enabled = all.iter().flat_map(|of| of.rules.rules()).zip(0..).filter(|(rule, _)| rule.enabled);
    let roll = enabled.map(|(_, number)| number).collect();
    EngineRules { yaml, generation, count: all.iter().map(|of| of.rules.rules().len()).sum(), roll }
}

/// Appends the rules. `condition` gets the number of a rule and its condition, and returns the condition to write.
/// Returns the names.
fn push_rules(
    yaml: &mut String,
    all: &[Described<'_>],
    condition: &dyn Fn(usize, &str) -> String,
) -> HashSet<String> {
    let pairs = || all.iter().flat_map(|of| of.rules.rules().iter().zip(&of.description.rules));
    let mut taken: HashSet<String> = HashSet::new();
    for (number, (rule, described)) in pairs().enumerate() {
        let mut name = rule.name.clone();
        // The numbered name must not be the name of a later rule either.
        let known = |name: &String| taken.contains(name) || pairs().any(|(other, _)| other.name == *name);
        if taken.contains(&name) {
            let mut numbered = (2u64..).map(|number| format!("{} ({number})", rule.name));
            name = numbered.find(|name| !known(name)).unwrap_or_default();
            yaml.push_str("\n# The next rule had the name of one above.");
        }
        push_rule(yaml, &name, &condition(number, &described.exported), (rule, described));
        taken.insert(name);
    }
    taken
}

fn push_rule(
    yaml: &mut String,
    name: &String,
    condition: &String,
    (rule, described): (&Rule, &RuleDescription),
) {
    let lines = [
        ("\n- rule: ", name),
        ("  desc: ", &rule.desc),
        ("  condition: ", condition),
        ("  output: ", &described.output),
        ("  priority: ", &rule.priority.as_str().to_uppercase()),
        ("  source: ", &rule.source.to_string()),
    ];
    for (key, value) in lines {
        yaml.push_str(key);
        yaml.push_str(&quoted(value));
        yaml.push('\n');
    }
    if !rule.tags.is_empty() {
        let tags: Vec<String> = rule.tags.iter().map(|tag| quoted(tag)).collect();
        yaml.push_str(&format!("  tags: [{}]\n", tags.join(", ")));
    }
    if !rule.enabled {
        yaml.push_str("  enabled: false\n");
    }
}

const ENGINE_HEAD: &str = "\
# Written by castellan for the Falco that judges calls in its place. castellan writes it anew when the rules change.
- required_plugin_versions:
    - name: coding_agent
      version: 0.5.0
";

/// Returns a double-quoted YAML scalar in one line.
pub(crate) fn quoted(text: &str) -> String {
    let mut quoted = String::from('"');
    for char in text.chars() {
        match char {
            '"' | '\\' => quoted.extend(['\\', char]),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            // YAML breaks lines at these characters, or does not allow them.
            '\u{2028}' | '\u{2029}' | '\u{feff}' => quoted.push_str(&format!("\\u{:04x}", u32::from(char))),
            char if char.is_control() => quoted.push_str(&format!("\\u{:04x}", u32::from(char))),
            char => quoted.push(char),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use castellan_event::{FIELDS, FieldDef};
    use castellan_rules::{Loaded, Options, Source, load};
    use proptest::prelude::*;

    use super::*;

    /// Loads with fields of calls, Falco's only rows. With all fields, the row's level would guard the conditions.
    fn loaded(text: &str) -> Loaded {
        let fields: Vec<FieldDef<'_>> =
            FIELDS.iter().filter(|field| field.name != "row.level").copied().collect();
        loaded_with(text, &fields)
    }

    fn loaded_with(text: &str, fields: &[FieldDef<'_>]) -> Loaded {
        let source = Source { name: "a.yaml".to_owned(), text: text.to_owned() };
        load(&[source], fields, &Options { describe: true, ..Options::default() })
    }

    fn exported(loaded: &Loaded) -> String {
        yaml(&[described(loaded)], Engine::V0_43)
    }

    fn described(loaded: &Loaded) -> Described<'_> {
        Described { layer: None, rules: &loaded.rules, description: loaded.description.as_ref().unwrap() }
    }

    #[test]
    fn names_of_layers_stay_apart() {
        let rule = |name: &str, tool: &str| {
            format!(
                "- rule: {name}\n  desc: d\n  condition: tool.name = {tool}\n  output: o\n  priority: INFO\n  source: coding_agent\n"
            )
        };
        let layers = [
            loaded(&rule("r", "a")),
            loaded(&format!("{}{}", rule("r", "b"), rule("r (2)", "c"))),
            loaded(&rule("r", "d")),
        ];
        let text =
            yaml(&[described(&layers[0]), described(&layers[1]), described(&layers[2])], Engine::V0_43);
        let again = loaded(&text);
        assert_eq!(again.problems, []);
        let found: Vec<_> = again.rules.rules().iter().map(|rule| (&*rule.name, &*rule.condition)).collect();
        let expected = [
            ("r", "tool.name = a"),
            ("r (3)", "tool.name = b"),
            ("r (2)", "tool.name = c"),
            ("r (4)", "tool.name = d"),
        ];
        assert_eq!(found, expected, "{text}");
        assert_eq!(text.matches("had the name of one above").count(), 2, "{text}");
    }

    /// Returns the properties of rules that must survive an export.
    fn essence(loaded: &Loaded) -> Vec<String> {
        assert_eq!(loaded.problems, []);
        let essence = |(rule, described): (&Rule, &RuleDescription)| {
            let Rule { name, desc, priority, tags, enabled, source, condition, .. } = rule.clone();
            let output = &described.output;
            format!("{:?}", (name, desc, priority, tags, enabled, source, condition, output))
        };
        let described = &loaded.description.as_ref().unwrap().rules;
        loaded.rules.rules().iter().zip(described).map(essence).collect()
    }

    #[test]
    fn lists_macros_and_exceptions_are_put_in() {
        let first = loaded(
            r#"- list: editors
  items: [Write, "a b"]
- macro: edits
  condition: tool.name in (editors) or tool.input contains "\"x\" \\| y"
- rule: "odd: name # 'x'"
  desc: |
    two lines
    - and a dash
  condition: edits and agent.name != x
  output: "%tool.name: \"quoted\" {a: [b]} \u0085 é 😀"
  priority: INFO
  source: coding_agent
  tags: [b, "a: b"]
  enabled: false
  exceptions:
    - name: e
      fields: [tool.name, agent.cwd]
      values:
        - [Write, /tmp]
"#,
        );
        let text = exported(&first);
        let second = loaded(&text);
        assert_eq!(essence(&second), essence(&first), "{text}");
        assert_eq!(essence(&first).len(), 1);
        assert!((second.rules.lists().len(), second.rules.macros().len()) == (0, 0));
        assert_eq!(exported(&second), text, "a fixed point");
    }

    #[test]
    fn finer_rows_are_told_apart_in_one_stream_of_events() {
        let rule = "- rule: r\n  desc: d\n  condition: cmd.name = rm\n  output: o\n  priority: INFO\n  source: coding_agent\n";
        let text = exported(&loaded_with(rule, FIELDS));
        assert!(text.contains("row.level"), "{text}");
        let again = loaded_with(&text, FIELDS);
        assert_eq!(again.problems.len(), 0, "{text}");
        assert_eq!(again.rules.rules().len(), 1);
    }

    /// Falco would take a second rule of the name for the rule that reports rows.
    #[test]
    fn the_rule_that_reports_rows_is_the_last_one_and_has_a_name_of_its_own() {
        let rule = |name: &str| {
            format!(
                "- {{rule: {name}, desc: d, condition: cmd.name = rm or tool.name = x, output: o, priority: INFO, source: coding_agent}}\n"
            )
        };
        let text = format!("{}{}{}", rule(SEEN_RULE), rule("other"), rule(&format!("{SEEN_RULE} (2)")));
        let loaded = loaded_with(&text, FIELDS);
        let exported = for_engine(&[described(&loaded)], Engine::V0_43);
        let names: Vec<_> = exported.yaml.lines().filter_map(|line| line.strip_prefix("- rule: ")).collect();
        let seen = |end: &str| format!("\"{SEEN_RULE}{end}\"");
        assert_eq!(names, [seen(""), "\"other\"".to_owned(), seen(" (2)"), seen(" (3)")]);
        assert_eq!((exported.count, exported.roll), (3, vec![0, 1, 2]));
        let conditions: Vec<_> =
            exported.yaml.lines().filter_map(|line| line.strip_prefix("  condition: ")).collect();
        for (number, condition) in conditions.iter().take(3).enumerate() {
            // The report comes after the whole condition, whatever its text.
            let start = format!("\"(row.level = roll_call and row.match[{number}] = false) or ((");
            let end = format!(") and row.match[{number}] = true)\"");
            assert!(condition.starts_with(&start) && condition.ends_with(&end), "{condition}");
        }
        assert_eq!(conditions[3], format!("\"row.generation = {}\"", exported.generation));
        let other = for_engine(&[described(&loaded_with(&rule("other"), FIELDS))], Engine::V0_43);
        assert_ne!(other.generation, exported.generation);
    }

    proptest! {
        #[test]
        fn any_text_is_read_back(text in "(\\PC|[\\x00-\\x1f\\x7f\u{85}\u{2028}\u{feff}\"'\\\\]){0,40}") {
            // A file cannot hold a NUL, and the loader rejects an empty or blank description.
            let desc = format!("d{}d", text.replace('\0', ""));
            let rule = "condition: tool.name = x\n  output: o\n  priority: INFO\n  source: coding_agent\n";
            let file = format!("- rule: r\n  desc: {}\n  {rule}", quoted(&desc));
            let loaded = loaded(&file);
            prop_assert_eq!(loaded.problems.as_slice(), &[]);
            prop_assert_eq!(&loaded.rules.rules()[0].desc, &desc);
        }
    }
}
