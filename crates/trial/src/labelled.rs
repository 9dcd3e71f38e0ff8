//! Labelled files: one described call per line, as a JSON object with a tier. The tier gives the required verdict
//! (docs/testing-rules.md has the format). Must not depend on how calls are judged.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::str::FromStr;

use castellan_agents::AgentId;
use serde::Deserialize;
use serde_json::{Map, Value as Json};

use crate::case::{Asked, Case, Laid};

const VERSION: u32 = 1;

/// A described call and its tier.
#[derive(Debug, Clone)]
pub struct Labelled {
    /// The file.
    pub file: String,
    /// The line in the file, from 1.
    pub line: usize,
    /// The call's name, unique in its file.
    pub id: String,
    /// The required verdict.
    pub tier: Tier,
    /// The subject, as `pack.topic`.
    pub family: String,
    /// The call is obfuscated.
    pub disguise: bool,
    /// The call.
    pub case: Case,
}

/// The verdict that a call requires.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tier {
    /// Catastrophic: must be stopped.
    T0,
    /// Destructive or sensitive: must be denied or asked about.
    T1,
    /// Risky but ordinary: must not be denied.
    T2,
    /// Benign: must not be interrupted.
    T3,
    /// Opaque: must not pass silently.
    TU,
}

/// A line that is not a valid labelled call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrongLine {
    /// The file.
    pub file: String,
    /// The line number, from 1.
    pub line: usize,
    /// The error message.
    pub why: String,
}

/// A line of the file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    v: u32,
    id: String,
    tier: String,
    family: String,
    tool: String,
    #[serde(default)]
    input: Map<String, Json>,
    agent: Option<String>,
    cwd: Option<String>,
    #[serde(default)]
    files: BTreeMap<String, Laid>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    #[serde(default)]
    disguise: bool,
    #[serde(default, rename = "source")]
    _source: String,
    #[serde(default, rename = "note")]
    _note: String,
    #[serde(default)]
    earlier: Vec<Asked>,
}

impl Tier {
    /// All tiers.
    pub const ALL: [Tier; 5] = [Tier::T0, Tier::T1, Tier::T2, Tier::T3, Tier::TU];

    /// Returns the word used in files and tables.
    pub fn as_str(self) -> &'static str {
        match self {
            Tier::T0 => "T0",
            Tier::T1 => "T1",
            Tier::T2 => "T2",
            Tier::T3 => "T3",
            Tier::TU => "TU",
        }
    }
}

impl fmt::Display for Tier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for Tier {
    type Err = String;

    fn from_str(word: &str) -> Result<Tier, String> {
        let known = Tier::ALL.into_iter().find(|tier| tier.as_str() == word);
        known.ok_or_else(|| format!("`{word}` is no tier: {}", Tier::ALL.map(Tier::as_str).join(", ")))
    }
}

impl fmt::Display for WrongLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file, self.line, self.why)
    }
}

/// Reads a labelled file. An invalid line does not prevent reading the others. Blank lines are skipped.
pub fn read_labelled(file: &str, text: &str) -> (Vec<Labelled>, Vec<WrongLine>) {
    let (mut read, mut wrong) = (Vec::new(), Vec::new());
    let mut ids: HashMap<String, usize> = HashMap::new();
    for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let number = at + 1;
        let labelled = read_line(line).and_then(|labelled| match ids.insert(labelled.id.clone(), number) {
            Some(before) => Err(format!("the id `{}` is that of line {before}", labelled.id)),
            None => Ok(Labelled { file: file.to_owned(), line: number, ..labelled }),
        });
        match labelled {
            Ok(labelled) => read.push(labelled),
            Err(why) => wrong.push(WrongLine { file: file.to_owned(), line: number, why }),
        }
    }
    (read, wrong)
}

fn read_line(line: &str) -> Result<Labelled, String> {
    let line: Line = serde_json::from_str(line).map_err(|error| {
        // The caller adds the line of the file; serde's line number is always 1.
        let why = error.to_string();
        let at = format!(" at line {} column {}", error.line(), error.column());
        format!("{} (column {})", why.strip_suffix(&at).unwrap_or(&why), error.column())
    })?;
    if line.v != VERSION {
        return Err(format!("`v` is {}: this castellan reads {VERSION}", line.v));
    }
    if line.id.is_empty() || line.tool.is_empty() {
        return Err("`id` or `tool` is empty".to_owned());
    }
    let is_family =
        line.family.split_once('.').is_some_and(|(pack, topic)| !pack.is_empty() && !topic.is_empty());
    if !is_family {
        return Err(format!("the family `{}` is not written as `pack.topic`", line.family));
    }
    let mut case = Case::new(&line.tool, line.input);
    if let Some(agent) = line.agent {
        case.agent = AgentId::from_str(&agent).map_err(|error| error.to_string())?;
    }
    if let Some(cwd) = line.cwd {
        case.cwd = cwd;
    }
    (case.files, case.env, case.earlier) = (line.files, line.env, line.earlier);
    Ok(Labelled {
        file: String::new(),
        line: 0,
        id: line.id,
        tier: line.tier.parse()?,
        family: line.family,
        disguise: line.disguise,
        case,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a valid line with `from` replaced by `to`.
    fn line(from: &str, to: &str) -> String {
        let sound = r#"{"v":1,"id":"a","tier":"T0","family":"filesystem.root","tool":"Bash","input":{"command":"ls"}}"#;
        assert!(sound.contains(from), "{from}");
        sound.replacen(from, to, 1)
    }

    #[test]
    fn a_line_says_all_of_a_case() {
        let more = r#","cwd":"/srv","files":{"x.sh":"id\n","l":{"link":"/etc"},"k":null},"env":{"A":"1"},"disguise":true,"source":"own","note":"n","agent":"codex","earlier":[{"tool":"Write","input":{"file_path":"a"}}]}"#;
        let text = format!("\n{}{more}\n", line("}}", "}"));
        let (read, wrong) = read_labelled("x.jsonl", &text);
        assert_eq!(wrong, []);
        let [one] = read.as_slice() else { panic!("{read:?}") };
        assert_eq!(
            (one.line, one.tier, one.disguise, one.family.as_str()),
            (2, Tier::T0, true, "filesystem.root")
        );
        assert_eq!((one.case.files.len(), one.case.earlier.len(), one.case.cwd.as_str()), (3, 1, "/srv"));
    }

    #[test]
    fn wrong_lines_are_told_and_the_others_read() {
        let check = |wrong: &str, why: &str| {
            let text = format!("{}\n{wrong}\n{}\n", line("\"a\"", "\"first\""), line("\"a\"", "\"last\""));
            let (read, reported) = read_labelled("x.jsonl", &text);
            let ids: Vec<_> = read.iter().map(|labelled| labelled.id.as_str()).collect();
            assert_eq!(ids, ["first", "last"], "{wrong}");
            let reported: Vec<_> = reported.iter().map(WrongLine::to_string).collect();
            assert_eq!(reported, [format!("x.jsonl:2: {why}")], "{wrong}");
        };
        check(&line("\"v\":1", "\"v\":2"), "`v` is 2: this castellan reads 1");
        check(&line("T0", "T4"), "`T4` is no tier: T0, T1, T2, T3, TU");
        check(&line("filesystem.root", "root"), "the family `root` is not written as `pack.topic`");
        check(&line("\"a\"", "\"first\""), "the id `first` is that of line 1");
        check(&line("\"a\"", "\"\""), "`id` or `tool` is empty");
        check(&line("\"tool\":\"Bash\",", ""), "missing field `tool` (column 80)");
        check("{", "EOF while parsing an object (column 1)");
    }

    #[test]
    fn an_unknown_key_is_told() {
        let (_, wrong) = read_labelled("x", &line("\"v\":1", "\"v\":1,\"cmd\":2"));
        assert!(wrong[0].why.starts_with("unknown field `cmd`"), "{wrong:?}");
    }
}
