use std::os::unix::fs::MetadataExt;

use castellan_event::AccessLevel;
use castellan_policy::{AllowOrDefer, AskOrDeny, NotAllow, NotAsk, Profile, Tags};

use super::*;

fn check(text: &str, expected: Result<Mode, &str>) {
    match (Config::parse(text), expected) {
        (Ok(config), Ok(mode)) => assert_eq!(config.mode, mode, "{text}"),
        (Err(message), Err(part)) => assert!(message.contains(part), "{message} lacks {part}"),
        (got, expected) => panic!("{text}: {got:?}, expected {expected:?}"),
    }
}

/// Formats everything except the origin of the values.
fn meaning(config: Config) -> String {
    format!("{:?}", Config { settled: Settled::default(), ..config })
}

#[test]
fn the_default_text_says_what_the_defaults_are() {
    assert_eq!(meaning(Config::parse(DEFAULT_CONFIG).unwrap()), meaning(Config::default()));
}

/// The table's defaults are those of the crates that use the values.
#[test]
fn the_defaults_of_the_table_are_those_of_the_code() {
    let plain = Config {
        mode: Mode::Enforce,
        settings: Settings::default(),
        packs: Packs::default(),
        rule_options: Tags::default().options(),
        reload: Reload::default(),
        hooks_on_stop: HooksOnStop::default(),
        log: audit::Config::default(),
        copies_log: true,
        settled: Settled::default(),
        organisation_rules: Vec::new(),
        project_rules: Vec::new(),
    };
    assert_eq!(meaning(Config::parse("version = 1").unwrap()), meaning(plain));
    let settings = meaning::config(merge(&[])).unwrap().settings;
    assert_eq!(settings, Settings { tags: Tags::default(), ..Profile::Standard.settings() });
}

#[test]
fn the_default_text_names_every_key_of_the_user() {
    let mut table = String::new();
    let mut named = Vec::new();
    for line in DEFAULT_CONFIG.lines() {
        let line = line.trim_start_matches(['#', ' ']);
        match line.strip_prefix('[').and_then(|line| line.trim_start_matches('[').split_once(']')) {
            Some((name, "" | "]")) => {
                table = name.split('.').next().unwrap().to_owned();
                named.push(name.to_owned());
            }
            _ => {
                let key = line.split([' ', '=']).next().unwrap();
                named.extend([key.to_owned(), format!("{table}.{key}")]);
            }
        }
    }
    for key in KEYS.iter().filter(|key| matches!(key.place, Place::Every | Place::AboveProject)) {
        let tags = key.name.starts_with("tags.");
        assert!(tags || named.iter().any(|name| name == key.name), "{}", key.name);
    }
}

#[test]
fn changing_the_mode_keeps_the_rest() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("config.toml");
    std::fs::write(&file, "# mine\nversion = 1\nmode = \"enforce\" # tight\n[log]\nfsync = true\n").unwrap();
    write_mode(&file, Mode::Monitor).unwrap();
    let expected = "# mine\nversion = 1\nmode = \"monitor\" # tight\n[log]\nfsync = true\n";
    assert_eq!(std::fs::read_to_string(&file).unwrap(), expected);
}

#[test]
fn the_same_mode_again_does_not_touch_the_file() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("config.toml");
    for (text, is_touched) in [
        ("version = 1\nmode = 'monitor'# mine\n", false),
        ("version = 1\n", true),
        ("version = 1\nmode = \"enforce\"\n", true),
    ] {
        std::fs::write(&file, text).unwrap();
        // A written file has a new inode.
        let before = std::fs::File::open(&file).unwrap();
        write_mode(&file, Mode::Monitor).unwrap();
        let is_other = file.metadata().unwrap().ino() != before.metadata().unwrap().ino();
        assert_eq!(is_other, is_touched, "{text}");
        check(&std::fs::read_to_string(&file).unwrap(), Ok(Mode::Monitor));
    }
}

#[test]
fn a_misspelt_setting_is_an_error() {
    check(DEFAULT_CONFIG, Ok(Mode::Enforce));
    check("version = 1\nmode = \"monitor\"", Ok(Mode::Monitor));
    check("version = 1\npresence = \"pin\"\nask_wait = 580\nnotify = false", Ok(Mode::Enforce));
    check("version = 1\npresence = \"password\"", Ok(Mode::Enforce));
    check("version = 1\npresence = \"passwort\"", Err("did you mean `password`"));
    check("version = 1\nask_wait = 581", Err("`ask_wait` is 581: write at most 580"));
    check(
        "version = 1\nmod = \"monitor\"",
        Err("`config.toml`:2:1: unknown key `mod`: did you mean `mode`? (correct"),
    );
    check(
        "version = 1\na = 1\nb = 2\nc = 3",
        Err(
            "2:1: unknown key `a`: `castellan config show` lists all keys (and 2 more: `castellan config check`)",
        ),
    );
    // The default of an absent key takes part too.
    check(
        "version = 1\n[tags]\nask = \"x\"\nmark = \"x\"",
        Err("`tags.ask` and `tags.mark` are both `x`: give each a tag of its own"),
    );
    check(
        "version = 1\n[tags]\nallow = \"coding_agent_deny\"",
        Err("`tags.deny` and `tags.allow` are both `coding_agent_deny`"),
    );
}

#[test]
fn a_profile_presets_what_is_left_out() {
    let settings = |text: &str| Config::parse(&format!("version = 1\n{text}")).unwrap().settings;
    for profile in Profile::ALL {
        assert_eq!(settings(&format!("profile = \"{profile}\"")), profile.settings());
    }
    let strict = settings("profile = \"strict\"\ndefault = \"allow\"\nopaque = \"ask\"");
    assert_eq!((strict.default_verdict, strict.headless_default), (AllowOrDefer::Allow, NotAsk::Deny));
    assert_eq!((strict.opaque, strict.headless_opaque), (NotAllow::Ask, NotAllow::Deny));
    let standard = settings("default = \"allow\"\nopaque = \"defer\"");
    assert_eq!((standard.default_verdict, standard.headless_default), (AllowOrDefer::Allow, NotAsk::Allow));
    assert_eq!((standard.opaque, standard.headless_opaque), (NotAllow::Defer, NotAllow::Defer));
    let levels = settings("[level]\nsession = \"read-only\"\non_insufficient = \"deny\"");
    assert_eq!((levels.level, levels.on_insufficient), (Some(AccessLevel::ReadOnly), AskOrDeny::Deny));
    assert_eq!(settings("profile = \"strict\"\n[level]\nsession = \"off\"").level, None);
}

/// Every key that a file can set changes the configuration: none is parsed and then ignored.
#[test]
fn every_key_has_a_meaning() {
    for key in KEYS.iter().filter(|key| matches!(key.place, Place::Every | Place::AboveProject)) {
        let others: Vec<String> = match key.kind {
            Kind::Version => continue,
            Kind::Word(words) => words.iter().map(|word| format!("\"{word}\"")).collect(),
            Kind::Text => vec!["\"/mine\"".to_owned()],
            Kind::Flag => vec!["true".to_owned(), "false".to_owned()],
            Kind::Count(least) => vec![least.to_string(), (least + 7).to_string()],
            Kind::Patterns => vec!["[\"Bash(ls)\"]".to_owned()],
            Kind::Texts => vec!["[\"/x y\"]".to_owned()],
            Kind::Names => vec!["[]".to_owned()],
            Kind::Selections => vec!["[{disable = {rule = \"x\"}}]".to_owned()],
            Kind::Outputs => vec!["[{extra_output = \"x\"}]".to_owned()],
        };
        let plain = meaning(Config::parse("version = 1").unwrap());
        let of =
            // A provider alone is an error of its own.
            |value: &String| match Config::parse(&format!("version = 1\n{} = {value}", key.name)) {
                Err(why) if key.name == "review.provider" => why,
                parsed => meaning(parsed.unwrap()),
            };
        let meanings: std::collections::BTreeSet<String> = others.iter().map(of).collect();
        assert_eq!(meanings.len(), others.len(), "{}: two values mean the same", key.name);
        assert!(meanings.iter().any(|meaning| *meaning != plain), "{} means nothing", key.name);
    }
}
