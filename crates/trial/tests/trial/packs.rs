//! Tests of the shipped rule packs against the cases beside them. Each pack loads without problems, alone and with the
//! others. Each case, decoded from the agent's JSON, gets its verdict from the rule that it names. Each rule has enough
//! cases.

use std::path::PathBuf;

use castellan_daemon::{CASES_ENDING, Config, compile};
use castellan_event::{FIELDS, Layer};
use castellan_policy::Policy;
use castellan_rules::{Options, Rule, Source, load};
use castellan_trial::{
    CaseFile, Failure, HOME, RuleCase, Shows, Trial, WORKSPACE, failures, gaps, known_rules,
};

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

/// The header of each pack shows how a user's own file, loaded after the packs, changes them.
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
        let reported = |failure: &Failure<'_>| {
            let (line, call) = (failure.case.line, &failure.case.case.call);
            let (verdict, rule) = (failure.case.verdict, &failure.case.rule);
            format!("{}:{line}: {call:?}\n  {verdict} by `{rule}`, got {:?}", file.name, failure.wrong)
        };
        wrong.extend(failures(Trial::new(&policy), &cases).iter().map(reported));
    }
    assert!(wrong.is_empty(), "{} cases:\n{}", wrong.len(), wrong.join("\n"));
}

/// A home can be in `/var/lib`, on a mount or below another root; each case must get the same decision there.
#[test]
fn rules_hold_wherever_the_home_lies() {
    let policy = policy();
    let mut wrong = Vec::new();
    let mut moved = 0;
    for pack in packs() {
        for case in cases(&pack).1.cases.into_iter().filter_map(|case| with_another_home(&case)) {
            moved += 1;
            let judged = Trial::new(&policy).judge(&case.case).unwrap_or_else(|error| panic!("{error}"));
            if judged.decision.verdict != case.verdict {
                wrong.push(format!("{}:{}: {:?}", pack.name, case.line, case.case.call.input));
            }
        }
    }
    assert!(moved > 250, "{moved} cases were moved");
    assert!(wrong.is_empty(), "{} of {moved} cases:\n{}", wrong.len(), wrong.join("\n"));
}

/// Returns the case on a machine with another home, if its call names something there.
fn with_another_home(case: &RuleCase) -> Option<RuleCase> {
    const ANOTHER: &str = "/data/people/dev";
    let input = serde_json::to_string(&case.case.call.input).ok()?;
    let names_home = ["~", "HOME", HOME].iter().any(|name| input.contains(name));
    let is_usual = case.case.files.is_empty()
        && case.case.earlier.is_empty()
        && case.case.env.is_empty()
        && case.case.real_path.is_none()
        && case.case.cwd == WORKSPACE;
    // The text of a program in an unsupported language, and the workspace, which stays in place.
    let is_excepted =
        ["/project", "RemoveAll", "ATTACH", "find ~ -print0"].iter().any(|word| input.contains(word));
    if !names_home || !is_usual || is_excepted {
        return None;
    }
    let mut moved = case.clone();
    moved.case.call.input = serde_json::from_str(&input.replace(HOME, ANOTHER)).ok()?;
    moved.case.env.insert("HOME".to_owned(), ANOTHER.to_owned());
    Some(moved)
}

#[test]
fn every_rule_has_cases_that_match_and_cases_that_do_not() {
    let known = known_rules(&packs_of(Layer::User), &Config::default());
    let mut lacks = Vec::new();
    for pack in packs() {
        let (file, cases) = cases(&pack);
        // castellan's own pack has another name when it is compiled in.
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

/// `<NA>` in a message is useless: a message names only fields that every matching row has.
#[test]
fn no_message_names_what_is_not_there() {
    let policy = policy();
    let mut odd = Vec::new();
    for pack in packs() {
        for case in cases(&pack).1.cases {
            let judged = Trial::new(&policy).judge(&case.case).unwrap_or_else(|error| panic!("{error}"));
            let findings = judged.decision.findings.iter().filter(|finding| finding.message.contains("<NA>"));
            odd.extend(findings.map(|finding| {
                format!("{}: {} ({:?})", finding.rule, finding.message, case.case.call.input)
            }));
        }
    }
    odd.sort();
    odd.dedup();
    assert!(odd.is_empty(), "{} messages:\n{}", odd.len(), odd.join("\n"));
}

/// A rule without an attack: the canary that doctor sends to test the hooks.
const NO_ATTACK: &[&str] = &["Deny the castellan canary"];

/// Disguises and look-alikes of each rule, and bytes of its message. Users' files may have fewer, by their version.
const SHOWN_MIN: usize = 3;
/// Bytes of a message before its remedy, so that the question at a prompt is not cut.
const WHAT_MAX: usize = 110;

/// Counted here, independent of the way in which `gaps` reads case files.
#[test]
fn every_shipped_rule_is_shown_tagged_and_short() {
    let mut lacks = Vec::new();
    let mut rules = 0;
    for pack in packs() {
        let (_, cases) = cases(&pack);
        let options = Options { describe: true, ..Options::default() };
        let loaded = load(std::slice::from_ref(&pack), FIELDS, &options);
        let described = loaded.description.unwrap_or_default().rules;
        for (rule, described) in loaded.rules.rules().iter().zip(described) {
            let shown = |as_what| {
                let of_rule = cases.cases.iter().filter(|case| case.rule == rule.name);
                of_rule.filter(|case| case.shows == as_what).count()
            };
            let shown = (shown(Shows::Disguise), shown(Shows::LookAlike));
            let found = lacking(&rule.name, &rule.tags, &described.output, shown);
            lacks.extend(found.into_iter().map(|lack| format!("{}: `{}`: {lack}", pack.name, rule.name)));
            rules += 1;
        }
    }
    assert!(rules > 100, "{rules} rules were looked at");
    assert!(lacks.is_empty(), "{} lacks:\n{}", lacks.len(), lacks.join("\n"));
}

/// Returns the gaps of a rule. `shown`: its disguises and look-alikes.
fn lacking(name: &str, tags: &[String], message: &str, shown: (usize, usize)) -> Vec<&'static str> {
    let is_technique = |tag: &&String| {
        let number = tag.strip_prefix('T').or_else(|| tag.strip_prefix("AML.T"));
        number.is_some_and(|number| {
            number.len() >= 4 && number.starts_with(|first: char| first.is_ascii_digit())
        })
    };
    let is_tactic = |tag: &&String| tag.starts_with("mitre_");
    let tiers = tags.iter().filter(|tag| VERDICTS.iter().any(|(tier, ..)| tier == tag)).count();
    let is_attack = !NO_ATTACK.contains(&name);
    // With the words around it an agent reads at most 30.
    let words_max = if tags.iter().any(|tag| tag == "coding_agent_deny") { 23 } else { 22 };
    let (what, remedy) = message.split_once(". Instead: ").unwrap_or((message, ""));
    let checks = [
        (shown.0 < SHOWN_MIN, "fewer than 3 disguises"),
        (shown.1 < SHOWN_MIN, "fewer than 3 look-alikes"),
        (
            remedy.is_empty() || message.ends_with('.'),
            "no message of the form `WHAT AND WHY. Instead: REMEDY`",
        ),
        (message.split(' ').count() > words_max, "a message of too many words"),
        (what.len() > WHAT_MAX, "more than 110 bytes before the remedy"),
        (tiers != 1, "not one tier"),
        (is_attack && !tags.iter().any(|tag| is_tactic(&tag)), "no tactic of MITRE"),
        (is_attack && !tags.iter().any(|tag| is_technique(&tag)), "no technique of MITRE"),
    ];
    checks.into_iter().filter(|(lacks, _)| *lacks).map(|(_, what)| what).collect()
}

#[test]
fn what_a_rule_lacks_is_found() {
    let tags = |tags: &[&str]| tags.iter().map(|tag| (*tag).to_owned()).collect::<Vec<_>>();
    let sound_message = "This breaks it. Instead: mend it";
    let of_words = |words: usize| format!("This{}. Instead: mend it", " breaks".repeat(words - 4));
    let no_form = "no message of the form `WHAT AND WHY. Instead: REMEDY`";
    let check = |name: &str, given: &[&str], message: &str, shown, expected: &[&str]| {
        assert_eq!(lacking(name, &tags(given), message, shown), expected, "{given:?} {message} {shown:?}");
    };
    let sound = ["coding_agent_ask", "mitre_impact", "T1485"];
    check("r", &sound, sound_message, (3, 3), &[]);
    check("r", &["coding_agent_ask", "mitre_atlas", "AML.T0051"], sound_message, (3, 3), &[]);
    check(
        "r",
        &sound,
        &of_words(22),
        (2, 3),
        &["fewer than 3 disguises", "more than 110 bytes before the remedy"],
    );
    check("r", &sound, sound_message, (3, 2), &["fewer than 3 look-alikes"]);
    check("r", &sound, "This breaks it", (3, 3), &[no_form]);
    check("r", &sound, "This breaks it. Instead: mend it.", (3, 3), &[no_form]);
    check("r", &sound, &of_words(23).replace("breaks", "b"), (3, 3), &["a message of too many words"]);
    check(
        "r",
        &["coding_agent_deny", "mitre_impact", "T1485"],
        &of_words(23).replace("breaks", "b"),
        (3, 3),
        &[],
    );
    check("r", &["mitre_impact", "T1485"], sound_message, (3, 3), &["not one tier"]);
    let two = ["coding_agent_ask", "coding_agent_deny", "mitre_impact", "T1"];
    check("r", &two, sound_message, (3, 3), &["not one tier", "no technique of MITRE"]);
    check("r", &["coding_agent_ask", "T1485.001"], sound_message, (3, 3), &["no tactic of MITRE"]);
    check("Deny the castellan canary", &["coding_agent_deny"], sound_message, (3, 3), &[]);
}

/// A rule that matches only the simulated machine protects nobody.
#[test]
fn no_rule_names_the_machine_of_the_cases() {
    for pack in packs() {
        let named = pack.text.lines().position(|line| line.contains(HOME));
        assert_eq!(named.map(|line| line + 1), None, "{}", pack.name);
    }
}

#[test]
fn rules_say_what_they_do() {
    for layer in [Layer::Organisation, Layer::User] {
        for rule in load(&packs_of(layer), FIELDS, &Options::default()).rules.rules() {
            check_rule(rule);
        }
    }
}

/// Each verdict tag, with the priority and the first words of its rules' names.
const VERDICTS: &[(&str, &str, &str)] = &[
    ("coding_agent_deny", "Critical", "Deny "),
    ("coding_agent_ask", "Warning", "Ask before "),
    ("coding_agent_contain", "Warning", "Contain "),
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

/// Returns the YAML in the comment after "To change it", without the comment signs.
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

/// Returns the packs of a layer. Packs of the organisation are not in the user's layer.
fn packs_of(layer: Layer) -> Vec<Source> {
    let is_upper = |pack: &Source| ORGANISATION.contains(&pack.name.as_str());
    packs().into_iter().filter(|pack| is_upper(pack) == (layer == Layer::Organisation)).collect()
}

fn packs() -> Vec<Source> {
    let source = |name: &String| Source { name: format!("{name}.yaml"), text: read(&format!("{name}.yaml")) };
    pack_names().iter().map(source).collect()
}

/// Returns every file of the folder except case files, so a newly added pack is tested too.
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
