use castellan_event::Layer;

use super::*;
use crate::config::settable_key;

/// Applies an edit to a text without its first line.
fn check(text: &str, key: &str, edit: &KeyEdit, expected: &str) {
    let version = "version = 1 # one\n";
    let changed = edit.applied_to(&format!("{version}{text}"), key);
    assert_eq!(changed, Ok(format!("{version}{expected}")), "{key} {edit} in {text}");
}

#[test]
fn one_word_changes_and_nothing_else() {
    for (text, key, word, expected) in [
        ("mode = 'enforce' # why\n", "mode", "monitor", "mode = \"monitor\" # why\n"),
        ("mode = 'enforce'\n", "mode", "enforce", "mode = 'enforce'\n"),
        ("", "profile", "strict", "profile = \"strict\"\n"),
        ("", "packs.git", "off", "\n[packs]\ngit = \"off\"\n"),
        (
            "[packs]\n# mine\ngit = \"off\" # now\nweb = \"off\"\n",
            "packs.git",
            "observe",
            "[packs]\n# mine\ngit = \"observe\" # now\nweb = \"off\"\n",
        ),
        ("packs.web = \"off\"\n", "packs.web", "enforce", "packs.web = \"enforce\"\n"),
        ("presence = \"pin\"\n", "presence_check", "terminal", "presence = \"terminal\"\n"),
    ] {
        check(text, key, &KeyEdit::word(word), expected);
    }
    assert!(KeyEdit::word("off").applied_to("version = 1\npacks = 1\n", "packs.git").is_err());
    let inline =
        KeyEdit::word("off").applied_to("version = 1\npacks = { web = \"off\" }\n", "packs.git").unwrap();
    let packs = inline.parse::<DocumentMut>().unwrap();
    let word = |name: &str| packs["packs"][name].as_str().map(str::to_owned);
    assert_eq!((word("web"), word("git")), (Some("off".to_owned()), Some("off".to_owned())));
    assert!(KeyEdit::word("monitor").applied_to("version = \n", "mode").is_err());
}

#[test]
fn any_value_is_set() {
    let set = |value: &str| KeyEdit::Set(value.to_owned());
    check("ask_wait = 0 # s\n", "ask_wait", &set("120"), "ask_wait = 120 # s\n");
    check("", "notify", &set("false"), "notify = false\n");
    check("deny = [\n  'a',\n]\n", "deny", &set("['b']"), "deny = ['b']\n");
    check(
        "[[rules.append_output]]\nextra_output = \"x\"\n",
        "rules.append_output",
        &set("[]"),
        "\n[rules]\nappend_output = []\n",
    );
    assert!(set("[").applied_to("version = 1\n", "deny").is_err());
}

#[test]
fn a_value_is_typed_without_quotes() {
    let check = |key: &str, given: &str, expected: &str| {
        let edit = KeyEdit::typed(settable_key(key).unwrap(), given);
        assert_eq!(edit, KeyEdit::Set(expected.to_owned()), "{key} {given}");
    };
    check("ask_wait", "120", "120");
    check("ask_wait", "long", "\"long\"");
    check("notify", " false ", "false");
    check("profile", "strict", "\"strict\"");
    check("profile", "'strict'", "'strict'");
    check("rules.engine", "0.44", "\"0.44\"");
    check("tags.deny", "true", "\"true\"");
    check("deny", "['a', \"b\"]", "['a', \"b\"]");
    check("ask_wait", "1\nmode = 'monitor'", "\"\"\"\n1\nmode = 'monitor'\"\"\"");
}

#[test]
fn an_edit_can_be_undone() {
    let check = |text: &str, key: &str, edit: &KeyEdit, expected: &KeyEdit| {
        let text = format!("version = 1\n{text}");
        let reverse = edit.reverse(&text, key).unwrap();
        assert_eq!(reverse, *expected, "{key} in {text}");
        let mistakes = |text: &str| Config::mistakes(text, Layer::User);
        let back = reverse.applied_to(&edit.applied_to(&text, key).unwrap(), key).unwrap();
        assert_eq!((mistakes(&text).len(), mistakes(&back).len()), (0, 0), "{back}");
    };
    let set = |value: &str| KeyEdit::Set(value.to_owned());
    check("", "ask_wait", &set("5"), &KeyEdit::Unset);
    check("ask_wait = 0 # no\n", "ask_wait", &set("5"), &set("0"));
    check("presence = 'pin'\n", "presence_check", &set("'password'"), &set("\"pin\""));
    check(
        "deny = [\n  'Bash(a)', # a\n  \"Bash(b)\",\n]\n",
        "deny",
        &KeyEdit::Unset,
        &set("[\"Bash(a)\", \"Bash(b)\"]"),
    );
    check("[level]\nsession = 'off'\n", "level.session", &KeyEdit::Unset, &set("\"off\""));
    let select = "[[rules.select]]\ndisable = { tag = 'x' }\n";
    check(select, "rules.select", &KeyEdit::Unset, &set("[{ disable = { tag = \"x\" } }]"));
    let rule = || "Bash(a)".to_owned();
    check("", "allow", &KeyEdit::Add(rule()), &KeyEdit::Remove(rule()));
    check("allow = ['Bash(a)']\n", "allow", &KeyEdit::Remove(rule()), &KeyEdit::Add(rule()));
}

#[test]
fn a_key_goes_with_its_line_and_the_comment_above_stays() {
    let unset = &KeyEdit::Unset;
    check(
        "# why\nask_wait = 5 # s\n# other\nnotify = true\n",
        "ask_wait",
        unset,
        "# why\n# other\nnotify = true\n",
    );
    check("deny = [\n  'a', # x\n]\nnotify = true\n", "deny", unset, "notify = true\n");
    check("level.session = \"off\"\n", "level.session", unset, "");
    check("[level]\n session = \"off\"\n", "level.session", unset, "[level]\n");
    check("level = { session = \"off\" }\n", "level.session", unset, "level = {}\n");
    check(
        "[rules]\n[[rules.append_output]]\nextra_output = \"x\"\n[log]\n",
        "rules.append_output",
        unset,
        "[rules]\n[log]\n",
    );
    check("notify = true\n", "ask_wait", unset, "notify = true\n");
    check("notify = true", "notify", unset, "");
    check("presence = \"pin\"\n", "presence_check", unset, "");
}

#[test]
fn a_list_gets_an_element_in_its_layout() {
    let add = &KeyEdit::Add("Bash(c)".to_owned());
    for (text, expected) in [
        ("", "allow = [\"Bash(c)\"]\n"),
        ("[log]\nfsync = true\n", "allow = [\"Bash(c)\"]\n[log]\nfsync = true\n"),
        ("allow = []\n", "allow = [\"Bash(c)\"]\n"),
        ("allow = ['a'] # mine\n", "allow = ['a', \"Bash(c)\"] # mine\n"),
        ("allow = ['a',]\n", "allow = ['a', \"Bash(c)\",]\n"),
        ("allow = ['a', 'Bash(c)']\n", "allow = ['a', 'Bash(c)']\n"),
        ("allow = [\n    'a', # one, two\n]\n", "allow = [\n    'a', # one, two\n    \"Bash(c)\",\n]\n"),
        (
            "allow = [\n  'a',\n  'b' # two\n  # end\n]\n",
            "allow = [\n  'a',\n  'b', # two\n  \"Bash(c)\",\n  # end\n]\n",
        ),
        ("allow = ['a',\n]\n", "allow = ['a',\n  \"Bash(c)\",\n]\n"),
        ("allow = [ # none\n]\n", "allow = [\"Bash(c)\" # none\n]\n"),
    ] {
        check(text, "allow", add, expected);
    }
    check(
        "[hooks]\ntrusted = ['x']\n",
        "hooks.trusted",
        &KeyEdit::Add("a \"b\"".to_owned()),
        "[hooks]\ntrusted = ['x', 'a \"b\"']\n",
    );
    assert!(
        add.applied_to("version = 1\nallow = 'a'\n", "allow")
            .unwrap_err()
            .to_string()
            .contains("`allow` is a list")
    );
    // A layout that castellan does not know stays as it is.
    assert!(add.applied_to("version = 1\nallow = ['a'\n , # x\n]\n", "allow").is_err());
}

#[test]
fn a_list_loses_an_element_and_no_other_text() {
    let remove = &KeyEdit::Remove("b".to_owned());
    for (text, expected) in [
        ("", ""),
        ("allow = ['a']\n", "allow = ['a']\n"),
        ("allow = ['b'] # mine\n", "allow = [] # mine\n"),
        ("allow = ['a', 'b', 'c']\n", "allow = ['a', 'c']\n"),
        ("allow = ['b', 'c']\n", "allow = ['c']\n"),
        ("allow = ['a', 'b']\n", "allow = ['a']\n"),
        ("allow = ['a', \"b\",]\n", "allow = ['a', ]\n"),
        ("allow = ['b', 'a', 'b']\n", "allow = ['a']\n"),
        ("allow = [\n  'a', # one\n  'b', # two\n  'c',\n]\n", "allow = [\n  'a', # one\n  'c',\n]\n"),
        ("allow = [\n  # first\n  'a',\n  'b'\n]\n", "allow = [\n  # first\n  'a',\n]\n"),
        ("allow = ['a',\n  'b']\n", "allow = ['a',\n  ]\n"),
    ] {
        check(text, "allow", remove, expected);
    }
}

/// The default file keeps every comment, and an edit and its reverse give the same text.
#[test]
fn the_default_file_survives() {
    let before = crate::shipped::DEFAULT_CONFIG;
    let add = KeyEdit::Add("Bash(cargo test:*)".to_owned());
    let with = add.applied_to(before, "allow").unwrap();
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    let mut kept = lines(&with);
    kept.retain(|line| line != "allow = [\"Bash(cargo test:*)\"]");
    assert_eq!(kept, lines(before));
    assert_eq!(KeyEdit::Unset.applied_to(&with, "allow").as_deref(), Ok(before));
}
