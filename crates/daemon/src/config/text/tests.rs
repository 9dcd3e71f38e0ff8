use super::*;

/// Parses a text as the file of a layer; `expected` are the mistakes, each whole.
fn check_as(layer: Layer, text: &str, expected: &[&str]) {
    let mistakes = read(text, layer).err().unwrap_or_default();
    let mistakes: Vec<String> = mistakes.iter().map(Mistake::to_string).collect();
    assert_eq!(mistakes, expected, "{layer}: {text}");
}

fn check(text: &str, expected: &[&str]) {
    check_as(Layer::User, text, expected);
}

#[test]
fn every_mistake_is_told_with_its_place() {
    check("version = 1\n", &[]);
    check(
        "version = 1\nmod = 1\n  prof = \"x\"\nmode = \"enforced\"\n[log]\nfsync = 3\nnotable_day = 1\n[rule]\n",
        &[
            "2:1: unknown key `mod`: did you mean `mode`?",
            "3:3: unknown key `prof`: `castellan config show` lists all keys",
            "4:8: `mode`: `enforced` is not one of passthrough, monitor, enforce: did you mean `enforce`?",
            "6:9: `log.fsync` must be true or false, not `3`",
            "7:1: unknown key `log.notable_day`: did you mean `log.notable_days`?",
            "8:2: unknown table `rule`: did you mean `rules`?",
        ],
    );
}

#[test]
fn wrong_types_are_told() {
    check("version = 1\nmode = 1", &["2:8: `mode` must be a text, not `1`"]);
    check("version = 1\nmode = [\"monitor\"]", &["2:8: `mode` must be a text, not a list"]);
    check("version = 1\n[mode]\nx = 1", &["2:1: `mode` must be a text, not a table"]);
    check("version = 1\nlevel = \"read-only\"", &["2:9: `level` must be a table, not a text"]);
    check("version = 1\ndeny = \"Bash\"", &["2:8: `deny` must be a list of texts, not a text"]);
    check("version = 1\ndeny = [\n  \"Bash\",\n  1]", &["4:3: `deny` must be a list of texts, not `1`"]);
    check(
        "version = 1\nlog.notable_mib = 0",
        &["2:19: `log.notable_mib` must be a whole number from 1 to 4294967295, not `0`"],
    );
    check(
        "version = 1\nlog.notable_mib = -1",
        &["2:19: `log.notable_mib` must be a whole number from 1 to 4294967295, not `-1`"],
    );
    check(
        "version = 1\nlog.notable_mib = 1.5",
        &[
            "2:19: `log.notable_mib` must be a whole number from 1 to 4294967295, not a number with a fraction",
        ],
    );
    check("version = 1\nlog.notable_mib = 0x10", &[]);
    check("version = 1\ntags.ask = \"\"", &["2:12: `tags.ask` is empty: name a tag, or remove the key"]);
}

#[test]
fn the_version_comes_first() {
    check("", &["1:1: `version` is missing: begin with `version = 1`"]);
    check("mode = \"monitor\"", &["1:1: `version` is missing: begin with `version = 1`"]);
    // A newer format is not parsed further.
    check(
        "version = 2\nnew_key = true",
        &["1:11: `version` is 2, but this castellan reads 1: update castellan, or write 1"],
    );
    check("version = \"1\"", &["1:11: `version` must be a number, not a text"]);
}

#[test]
fn what_is_no_toml_is_told_with_its_place() {
    let places = |text: &str| -> Vec<(usize, usize)> {
        let mistakes = read(text, Layer::User).unwrap_err();
        mistakes.iter().map(|mistake| (mistake.line, mistake.column)).collect()
    };
    assert_eq!(places("version = 1\nmode = \"monitor\nprofile = \"kit\"\n").first(), Some(&(2, 16)));
    assert_eq!(places("version = 1\nmode = \"monitor\"\nmode = \"enforce\"\n"), [(3, 1)]);
    assert_eq!(places("version = 1\n[log]\n[log]\n"), [(3, 2)]);
    assert_eq!(places("version = 1\nlevel.session = \"off\"\n[level]\n"), [(3, 2)]);
    assert_eq!(places("version = 1\n\u{0}").first(), Some(&(2, 1)));
    // Deep nesting is a mistake and does not crash.
    assert!(read(&format!("version = 1\ndeny = {}", "[".repeat(100_000)), Layer::User).is_err());
    assert!(
        read(&format!("version = 1\ndeny = {}{}", "[".repeat(100_000), "]".repeat(100_000)), Layer::User)
            .is_err()
    );
    // The number of reported mistakes is limited.
    let many: String = (0..1000).map(|number| format!("key{number} = 1\n")).collect();
    assert_eq!(places(&format!("version = 1\n{many}")).len(), MISTAKES_MAX);
}

#[test]
fn a_key_stands_only_where_it_may() {
    let lock = "version = 1\nlocked = [\"mode\", \"deny\", \"log.fsync\"]";
    check_as(Layer::Organisation, lock, &[]);
    for layer in [Layer::User, Layer::Project] {
        check_as(layer, lock, &["2:1: `locked` is valid only in the organisation's file: remove it here"]);
    }
    check_as(
        Layer::Organisation,
        "version = 1\nlocked = [\"mod\", \"version\", \"locked\", \"tools\"]",
        &[
            "2:11: `locked`: `mod` is not a key that can be locked: did you mean `mode`?",
            "2:18: `locked`: `version` is not a key that can be locked: did you mean `level.session`?",
            "2:29: `locked`: `locked` is not a key that can be locked",
            "2:39: `locked`: `tools` is not a key that can be locked",
        ],
    );
    for key in KEYS.iter().filter(|key| key.place == Place::AboveProject) {
        let word = if let Kind::Word([word, ..]) = key.kind { *word } else { "x" };
        let value = if key.default.is_empty() { format!("'{word}'") } else { key.default.to_owned() };
        let text = format!("version = 1\n{} = {value}", key.name);
        check_as(Layer::Organisation, &text, &[]);
        check_as(Layer::User, &text, &[]);
        assert!(read(&text, Layer::Project).is_err(), "{}", key.name);
    }
    for key in KEYS.iter().filter(|key| key.place == Place::Profile) {
        for layer in Layer::ALL {
            let why = format!("2:1: `{}` cannot be set: choose a `profile` that presets it", key.name);
            check_as(layer, &format!("version = 1\n{} = \"true\"", key.name), &[&why]);
        }
    }
}

#[test]
fn each_short_rule_is_read_where_it_stands() {
    let said = read("version = 1\ndeny = [\"Bash(a)\",\n\n\"Bash(b)\"]", Layer::User).unwrap();
    let lines: Vec<_> = said.iter().map(|said| (said.key.name, said.line)).collect();
    assert_eq!(lines, [("deny", 2), ("deny", 4)]);
    for list in ["deny", "ask", "allow"] {
        let mistakes =
            read(&format!("version = 1\n{list} = [\"Bash(a)\",\n \"Bash(a\"]"), Layer::User).unwrap_err();
        let start = format!("3:2: `{list}`: `Bash(a`: ");
        assert!(mistakes.len() == 1 && mistakes[0].to_string().starts_with(&start), "{mistakes:?}");
    }
}

/// Parses the tables below `[rules]`; for an error, `expected` is a part of the message.
fn check_list(text: &str, expected: Result<Value, &str>) {
    match (read(&format!("version = 1\n{text}"), Layer::User), expected) {
        (Ok(said), Ok(expected)) => {
            assert_eq!(said.first().map(|said| &said.value), Some(&expected), "{text}")
        }
        (Err(mistakes), Err(part)) => {
            assert!(mistakes[0].to_string().contains(part), "{text}: {} lacks {part}", mistakes[0]);
        }
        (got, expected) => panic!("{text}: {got:?}, expected {expected:?}"),
    }
}

#[test]
fn rules_are_selected_as_falco_writes_it() {
    use castellan_rules::Selected;
    let selection = vec![
        Selection { enable: false, of: Selected::Rule("*".to_owned()) },
        Selection { enable: true, of: Selected::Tag("x".to_owned()) },
    ];
    check_list(
        "rules.select = [{disable = {rule = '*'}}, {enable = {tag = 'x'}}]",
        Ok(Value::Selections(selection)),
    );
    check_list(
        "rules.select = [{enabel = {tag = 'x'}}]",
        Err("2:18: `rules.select`: unknown variant `enabel`, expected `enable` or `disable`"),
    );
    check_list(
        "rules.select = [{enable = {name = 'x'}}]",
        Err("unknown variant `name`, expected `rule` or `tag`"),
    );
    check_list("rules.select = [{enable = {tag = 'x'}, disable = {tag = 'y'}}]", Err("1 element"));
    check_list("[rules]\nselect = [\n {enable = {tag = ''}}]", Err("4:2: `rules.select`: `tag` is empty"));
}

#[test]
fn outputs_are_appended_as_falco_writes_it() {
    use castellan_rules::ExtraField;
    let text = "[[rules.append_output]]\nmatch = {source = 's', rule = 'r', tags = ['t', 'u']}\n\
                extra_output = 'o'\nextra_fields = ['f', {n = '%g'}]\nsuggested_output = true\n\
                [[rules.append_output]]\nextra_output = 'p'";
    let full = AppendOutput {
        source: Some("s".to_owned()),
        rule: Some("r".to_owned()),
        tags: vec!["t".to_owned(), "u".to_owned()],
        extra_output: Some("o".to_owned()),
        extra_fields: vec![
            ExtraField::Field("f".to_owned()),
            ExtraField::Format { name: "n".to_owned(), format: "%g".to_owned() },
        ],
        suggested_output: true,
    };
    let bare = AppendOutput { extra_output: Some("p".to_owned()), ..AppendOutput::default() };
    check_list(text, Ok(Value::Outputs(vec![full, bare])));
    check_list(
        "[[rules.append_output]]\nmatch = {rules = 'x'}",
        Err("3:10: `rules.append_output`: unknown field `rules`"),
    );
    check_list("[[rules.append_output]]\nextra = 'x'", Err("unknown field `extra`"));
    for fields in ["['']", "[1]", "[{}]", "[{a = 'b', c = 'd'}]", "[{a = 1}]"] {
        check_list(
            &format!("[[rules.append_output]]\nextra_fields = {fields}"),
            Err("is not the name of a field, or a table"),
        );
    }
}

#[test]
fn every_default_of_the_table_can_be_read() {
    for key in KEYS.iter().filter(|key| !key.default.is_empty()) {
        let is_list = matches!(key.kind, Kind::Patterns | Kind::Texts | Kind::Names);
        assert_eq!(default_of(key).is_none(), is_list, "{}", key.name);
    }
}

#[test]
fn castellans_own_pack_cannot_be_switched() {
    for (text, place) in [("[packs]\nself = \"off\"", "3:1"), ("packs.self = \"enforce\"", "2:7")] {
        let mistakes = read(&format!("version = 1\n{text}\n"), Layer::User).unwrap_err();
        let expected =
            format!("{place}: castellan's own rules (the pack `self`) are always enforced: remove this key");
        assert_eq!(mistakes.iter().map(Mistake::to_string).collect::<Vec<_>>(), [expected]);
    }
}

#[test]
fn a_key_of_an_earlier_version_is_read_and_its_present_name_is_noted() {
    let text = "version = 1\npresence = \"pin\"\nlocked = [\"presence\"]\n";
    let read = read(text, Layer::Organisation).unwrap();
    let names: Vec<String> = read.iter().map(|said| format!("{} {}", said.key.name, said.value)).collect();
    assert_eq!(names, ["locked \"presence_check\"", "presence_check \"pin\""]);
    let mut notes: Vec<String> =
        former_names(text, Layer::Organisation).iter().map(ToString::to_string).collect();
    notes.sort();
    let note = "`presence` is now `presence_check`: use that name";
    assert_eq!(notes, [format!("2:1: {note}"), format!("3:11: {note}")]);
    assert_eq!(former_names("version = 1\npresence_check = \"pin\"\n", Layer::User), []);
}

#[test]
fn two_names_of_a_key_in_one_file_are_a_mistake() {
    let said = "`presence` and `presence_check` are one key: remove `presence`, keep `presence_check`";
    check("version = 1\npresence = \"pin\"\npresence_check = \"pin\"\n", &[&format!("2:1: {said}")]);
    check("version = 1\npresence_check = \"terminal\"\npresence = \"pin\"\n", &[&format!("3:1: {said}")]);
}
