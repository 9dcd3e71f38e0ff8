//! The shipped rule packs against the cases beside them: each file loads without a word, alone and with the others, each case,
//! decoded from the agent's own JSON, is decided as it says, by the rule that it names, and there are enough of them.

#![expect(clippy::panic, reason = "a test that cannot read its cases has nothing to say but that it failed")]

use std::path::PathBuf;

use castellan_daemon::{CASES_ENDING, Config, compile};
use castellan_event::{FIELDS, Layer};
use castellan_policy::Policy;
use castellan_rules::{Options, Rule, Source, load};
use castellan_trial::{CaseFile, Failure, Trial, failures, gaps, known_rules};

/// Packs that stand in the organisation's layer.
const ORGANISATION: &[&str] = &["self.yaml"];

#[test]
fn packs_load_together_without_a_problem() {
    let loaded = load(&packs_of(Layer::User), FIELDS, &Options::default());
    let problems: Vec<_> = loaded.problems.iter().map(|problem| problem.one_line()).collect();
    assert_eq!(problems, [""; 0]);
}

#[test]
fn each_pack_loads_alone_without_a_problem() {
    for pack in packs() {
        let loaded = load(std::slice::from_ref(&pack), FIELDS, &Options::default());
        let problems: Vec<_> = loaded.problems.iter().map(|problem| problem.one_line()).collect();
        assert_eq!(problems, [""; 0], "{}", pack.name);
    }
}

/// The header of each pack shows how a user's own file, which loads after the packs, changes them.
#[test]
fn the_examples_in_the_headers_load() {
    for pack in packs() {
        let examples = examples(&pack.text);
        assert!(!examples.is_empty(), "{}: no examples", pack.name);
        let user = Source { name: format!("examples of {}", pack.name), text: examples };
        let mut sources = packs_of(Layer::User);
        sources.push(user);
        let loaded = load(&sources, FIELDS, &Options::default());
        let problems: Vec<_> = loaded.problems.iter().map(|problem| problem.one_line()).collect();
        assert_eq!(problems, [""; 0], "{}", pack.name);
    }
}

#[test]
fn every_case_is_decided_as_it_says() {
    let policy = policy();
    let mut wrong = Vec::new();
    for pack in packs() {
        let (file, cases) = cases(&pack);
        let told = |failure: &Failure<'_>| {
            let (line, call) = (failure.case.line, &failure.case.case.call);
            let (verdict, rule) = (failure.case.verdict, &failure.case.rule);
            format!("{}:{line}: {call:?}\n  {verdict} by `{rule}`, got {:?}", file.name, failure.wrong)
        };
        wrong.extend(failures(Trial::new(&policy), &cases).iter().map(told));
    }
    assert!(wrong.is_empty(), "{} cases:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn every_rule_has_cases_that_match_and_cases_that_do_not() {
    let known = known_rules(&packs_of(Layer::User), &Config::default());
    let mut lacks = Vec::new();
    for pack in packs() {
        let (file, cases) = cases(&pack);
        // castellan's own pack is called otherwise where it is compiled in.
        let name = if ORGANISATION.contains(&pack.name.as_str()) {
            format!("built-in/{}", pack.name)
        } else {
            pack.name
        };
        let pack = Source { name, text: pack.text };
        lacks.extend(gaps(&known, &pack, &file, &cases).iter().map(|gap| gap.one_line()));
    }
    assert!(lacks.is_empty(), "{} gaps:\n{}", lacks.len(), lacks.join("\n"));
}

#[test]
fn rules_say_what_they_do() {
    for layer in [Layer::Organisation, Layer::User] {
        for rule in load(&packs_of(layer), FIELDS, &Options::default()).rules.rules() {
            check_rule(rule);
        }
    }
}

/// Each verdict tag, with the priority and the first words of the names of its rules.
const VERDICTS: &[(&str, &str, &str)] = &[
    ("coding_agent_deny", "Critical", "Deny "),
    ("coding_agent_ask", "Warning", "Ask before "),
    ("coding_agent_review", "Warning", "Ask before "),
    ("coding_agent_allow", "Informational", "Allow "),
];

fn check_rule(rule: &Rule) {
    let name = &rule.name;
    let has = |tag: &str| rule.tags.iter().any(|other| other == tag);
    assert!(!rule.desc.is_empty(), "`{name}`: no description");
    let verdicts: Vec<_> = VERDICTS.iter().filter(|(tag, ..)| has(tag)).collect();
    let [(_, priority, word)] = verdicts.as_slice() else { panic!("`{name}` needs exactly one verdict tag") };
    assert!(name.starts_with(word), "`{name}` must begin with `{word}`");
    assert_eq!(rule.priority.as_str(), *priority, "`{name}`");
    let reads_text =
        rule.fields.iter().any(|field| FIELDS.get(*field).is_some_and(|f| f.name == "tool.input_command"));
    assert_eq!(
        has("string_test"),
        reads_text,
        "`{name}`: tag `string_test` if and only if it reads shell text"
    );
}

/// The YAML in the comment after "To change it", the comment signs taken off.
fn examples(text: &str) -> String {
    let after = text.lines().skip_while(|line| !line.starts_with("# To change it"));
    let lines = after.skip(1).map_while(|line| line.strip_prefix("#   "));
    lines.map(|line| format!("{line}\n")).collect()
}

fn policy() -> Policy {
    let compiled = compile(&packs_of(Layer::User), &Config::default());
    assert_eq!(compiled.error(), None);
    compiled.policy
}

/// The packs of a layer; those that the organisation's has are not the user's.
fn packs_of(layer: Layer) -> Vec<Source> {
    let is_upper = |pack: &Source| ORGANISATION.contains(&pack.name.as_str());
    packs().into_iter().filter(|pack| is_upper(pack) == (layer == Layer::Organisation)).collect()
}

fn packs() -> Vec<Source> {
    let source = |name: &String| Source { name: format!("{name}.yaml"), text: read(&format!("{name}.yaml")) };
    pack_names().iter().map(source).collect()
}

/// Every file of the folder that is not one of cases: a pack that is added there is tested, whoever ships it.
fn pack_names() -> Vec<String> {
    let entries = std::fs::read_dir(rules_folder()).unwrap_or_else(|error| panic!("the rules: {error}"));
    let files = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
    let stems = files.filter_map(|file| file.strip_suffix(".yaml").map(str::to_owned));
    let mut names: Vec<_> = stems.filter(|stem| !stem.ends_with("_cases")).collect();
    names.sort();
    assert!(!names.is_empty(), "no packs");
    names
}

fn rules_folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../rules")
}

fn cases(pack: &Source) -> (Source, CaseFile) {
    let name = format!("{}{CASES_ENDING}", pack.name.trim_end_matches(".yaml"));
    let file = Source { text: read(&name), name };
    let cases = CaseFile::read(&file).unwrap_or_else(|problems| {
        panic!("{}", problems.iter().map(|problem| problem.one_line() + "\n").collect::<String>())
    });
    (file, cases)
}

fn read(file: &str) -> String {
    let path = rules_folder().join(file);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
