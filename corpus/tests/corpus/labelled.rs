//! Checks the labelled calls: every line is valid, there are no duplicates, every family has disguises and a half, and
//! there are as many as the documents promise.
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

/// The permitted keys of a line, in their order.
const KEYS: [&str; 14] = [
    "v", "id", "tier", "family", "agent", "tool", "input", "cwd", "env", "files", "earlier", "disguise",
    "source", "note",
];

/// The tiers in `dangerous/`. T3, the harmless tier, is elsewhere.
const DANGEROUS: [&str; 4] = ["T0", "T1", "T2", "TU"];

/// The packs in their order in `halves.toml`: those of 2026-11-28 are last.
const PACKS: [&str; 27] = [
    "agents",
    "audit",
    "cloud",
    "containers",
    "databases",
    "execution",
    "exfiltration",
    "filesystem",
    "git",
    "infrastructure",
    "kubernetes",
    "mcp",
    "network",
    "persistence",
    "privilege",
    "secrets",
    "self",
    "supply-chain",
    "web",
    "archives",
    "incidents",
    "leaks",
    "loaded",
    "opened",
    "rarer",
    "remote",
    "unguarded",
];

struct Line {
    place: String,
    object: Map<String, Value>,
}

impl Line {
    fn text(&self, key: &str) -> &str {
        self.object.get(key).and_then(Value::as_str).unwrap_or_default()
    }

    fn is_disguise(&self) -> bool {
        self.object.get("disguise") == Some(&Value::Bool(true))
    }

    /// Returns the parts that make the call, without the labels.
    fn call(&self) -> String {
        let parts = ["agent", "tool", "input", "cwd", "env", "files", "earlier"];
        parts
            .iter()
            .filter_map(|key| self.object.get(*key))
            .map(Value::to_string)
            .collect::<Vec<_>>()
            .join(" ")
    }
}

fn labelled() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("labelled")
}

fn lines(folder: &str) -> Vec<Line> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(labelled().join(folder))
        .unwrap_or_else(|error| panic!("{folder}: {error}"))
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    files.iter().flat_map(|file| lines_of(file)).collect()
}

fn lines_of(file: &Path) -> Vec<Line> {
    let name = file.file_name().unwrap().to_str().unwrap();
    assert!(name.ends_with(".jsonl"), "{name}");
    let held = std::fs::read_to_string(file).unwrap();
    let read = held.lines().enumerate().map(|(at, line)| {
        let place = format!("{name}:{}", at + 1);
        let object = serde_json::from_str(line).unwrap_or_else(|error| panic!("{place}: {error}"));
        Line { place, object }
    });
    read.collect()
}

/// Returns the error in a line, if any.
fn fault(line: &Line, tiers: &[&str]) -> Option<String> {
    let object = &line.object;
    if let Some(key) = object.keys().find(|key| !KEYS.contains(&key.as_str())) {
        return Some(format!("no such key: {key}"));
    }
    if object.get("v") != Some(&Value::from(1)) {
        return Some("v is not 1".to_owned());
    }
    if !tiers.contains(&line.text("tier")) {
        return Some(format!("tier {:?}", line.text("tier")));
    }
    let texts = ["id", "family", "tool", "source"];
    if let Some(key) = texts.iter().find(|key| line.text(key).is_empty()) {
        return Some(format!("{key} is no text"));
    }
    if !line.text("id").starts_with(&format!("{}-", line.text("family"))) {
        return Some("the id is not the family's".to_owned());
    }
    if !object.get("input").is_some_and(Value::is_object) {
        return Some("input is no object".to_owned());
    }
    let command = object["input"].get("command").and_then(Value::as_str);
    if line.text("tool") == "Bash" && command.is_none_or(|command| command.trim().is_empty()) {
        return Some("no command".to_owned());
    }
    let maps = ["files", "env"];
    let bad = maps.iter().find(|key| object.get(**key).is_some_and(|map| !map.is_object()));
    bad.map(|key| format!("{key} is no object"))
}

fn check_lines(lines: &[Line], tiers: &[&str]) {
    let faults: Vec<String> =
        lines.iter().filter_map(|line| Some(format!("{}: {}", line.place, fault(line, tiers)?))).collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    check_unique("id", lines, |line| line.text("id").to_owned());
    check_unique("call", lines, Line::call);
    check_unique("call but for names", lines, |line| nameless(&line.call()));
}

fn check_unique(what: &str, lines: &[Line], key: impl Fn(&Line) -> String) {
    let mut seen: HashMap<String, &str> = HashMap::new();
    for line in lines {
        let key = key(line);
        if let Some(before) = seen.insert(key.clone(), &line.place) {
            panic!("the same {what}: {before} and {}: {key}", line.place);
        }
    }
}

/// Returns the text without hosts, numbers, case and width of blanks, to find near duplicates.
fn nameless(text: &str) -> String {
    let lower = text.to_lowercase().replace("\\n", " ");
    let words = lower.split_whitespace().map(|word| {
        let of_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '.' || letter == '-';
        let mut out = String::new();
        for piece in word.split_inclusive(|letter| !of_name(letter)) {
            let (name, after) = piece.split_at(piece.trim_end_matches(|letter| !of_name(letter)).len());
            let is_host = [".example", ".test", ".invalid"].iter().any(|end| name.ends_with(end));
            out.push_str(if is_host { "HOST" } else { name });
            out.push_str(after);
        }
        numberless(&out)
    });
    words.collect::<Vec<_>>().join(" ")
}

/// Replaces each run of digits and dots by one 0.
fn numberless(word: &str) -> String {
    let mut out = String::new();
    for letter in word.chars() {
        let goes_on = out.ends_with('0') && (letter.is_ascii_digit() || letter == '.');
        match letter {
            _ if goes_on => {}
            '0'..='9' => out.push('0'),
            _ => out.push(letter),
        }
    }
    out
}

fn by_family(lines: &[Line]) -> BTreeMap<&str, Vec<&Line>> {
    let mut families: BTreeMap<&str, Vec<&Line>> = BTreeMap::new();
    for line in lines {
        families.entry(line.text("family")).or_default().push(line);
    }
    families
}

fn pack(family: &str) -> &str {
    family.split_once('.').map_or("", |(pack, _)| pack)
}

fn halves() -> BTreeMap<String, Vec<String>> {
    toml::from_str(&std::fs::read_to_string(labelled().join("halves.toml")).unwrap()).unwrap()
}

#[test]
fn dangerous_lines_are_sound_and_unique() {
    let all = lines("dangerous");
    check_lines(&all, &DANGEROUS);
    for line in &all {
        let (file, _) = line.place.rsplit_once(".jsonl:").unwrap();
        assert_eq!(file, line.text("family"), "{}", line.place);
    }
}

#[test]
fn benign_lines_are_sound_and_unique() {
    let all = lines("benign");
    check_lines(&all, &["T3"]);
    assert!(all.len() >= 300, "{}", all.len());
}

#[test]
fn there_are_enough_dangerous_calls_of_every_kind() {
    let all = lines("dangerous");
    let families = by_family(&all);
    let of_tier = |tier: &str| all.iter().filter(|line| line.text("tier") == tier).count();
    assert!(all.len() >= 1_500, "{}", all.len());
    assert!(families.len() >= 60, "{}", families.len());
    assert!(of_tier("T2") >= 250 && of_tier("TU") >= 120, "{} {}", of_tier("T2"), of_tier("TU"));
    let packs: BTreeSet<&str> = families.keys().map(|family| pack(family)).collect();
    assert_eq!(packs, BTreeSet::from(PACKS));
    for (family, lines) in &families {
        let disguises = lines.iter().filter(|line| line.is_disguise()).count();
        assert!(lines.len() >= 15, "{family}: {}", lines.len());
        assert!(disguises * 3 >= lines.len(), "{family}: {disguises} disguises of {}", lines.len());
    }
}

/// The lists must follow from the rule in the file, so that nobody chooses the measured families.
#[test]
fn the_halves_are_made_by_their_rule() {
    let all = lines("dangerous");
    let mut packs: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    by_family(&all).keys().for_each(|family| packs.entry(pack(family)).or_default().push(family));
    let mut made: [BTreeSet<String>; 2] = Default::default();
    for (number, pack) in PACKS.iter().enumerate() {
        let families = packs.get_mut(pack).unwrap();
        families.sort_by_key(|family| Sha256::digest(family));
        for (at, family) in families.iter().enumerate() {
            made[(number + at) % 2].insert((*family).to_owned());
        }
    }
    let halves = halves();
    for (name, made) in ["development", "measured"].into_iter().zip(made) {
        assert_eq!(halves[name].iter().cloned().collect::<BTreeSet<_>>(), made, "{name}");
    }
    assert_eq!(halves.len(), 2);
}

#[test]
fn both_halves_hold_every_pack_and_tier() {
    let all = lines("dangerous");
    for (half, families) in halves() {
        let of_half: Vec<&Line> =
            all.iter().filter(|line| families.iter().any(|family| family == line.text("family"))).collect();
        let tiers: BTreeSet<&str> = of_half.iter().map(|line| line.text("tier")).collect();
        let packs: BTreeSet<&str> = of_half.iter().map(|line| pack(line.text("family"))).collect();
        assert_eq!(tiers, BTreeSet::from(DANGEROUS), "{half}");
        assert_eq!(packs, BTreeSet::from(PACKS), "{half}");
        assert!(of_half.len() * 5 >= all.len() * 2, "{half}: {} of {}", of_half.len(), all.len());
    }
}

/// People who write rules read only the look-alikes of `development`, so these are in a separate file.
#[test]
fn look_alikes_stand_in_the_file_of_their_half() {
    let all = lines("benign");
    for (half, families) in halves() {
        let of_file: Vec<&Line> =
            all.iter().filter(|line| line.place.starts_with(&format!("look-alikes-{half}."))).collect();
        assert!(of_file.len() >= 50, "{half}: {}", of_file.len());
        let strange =
            of_file.iter().find(|line| !families.iter().any(|family| family == line.text("family")));
        assert!(strange.is_none(), "{}", strange.unwrap().place);
    }
}

#[test]
fn names_do_not_tell_near_duplicates_apart() {
    for (one, other) in [
        ("curl  https://a.example/x", "curl https://b-2.example/x"),
        ("ssh host-7.test 'ID 10.0.0.1'", "ssh other.test 'id 192.0.2.77'"),
        ("a\\nb", "a b"),
    ] {
        assert_eq!(nameless(one), nameless(other));
    }
    assert_ne!(nameless("rm -rf /a"), nameless("rm -rf /b"));
}
