//! [`CaseFile`]: the cases beside a rule file (`x.yaml` and `x_cases.yaml`), each a call and its expected verdict.
//! Reads versions 1 and 2, and reports each error with its place. Must not depend on rules.

use std::collections::BTreeMap;
use std::ops::Range;

use castellan_event::Verdict;
use castellan_rules::{Problem, Severity, Source, Yaml, YamlValue};
use serde_json::{Map, Number, Value as Json};

use crate::case::{Asked, Case, Laid, Link};

/// Code of a problem in a case file, in Falco's naming scheme.
pub(crate) const CODE: &str = "CASTELLAN_CASES";

/// The cases beside a rule file.
#[derive(Debug, Clone)]
pub struct CaseFile {
    /// The format version. Version 2 adds [`Shows`], files, variables and earlier calls.
    pub version: u32,
    /// The cases, in the order of the file.
    pub cases: Vec<RuleCase>,
}

/// A call and the expected decision.
#[derive(Debug, Clone)]
pub struct RuleCase {
    /// The call.
    pub case: Case,
    /// The expected verdict.
    pub verdict: Verdict,
    /// The rule that decides. For a call that passes: the rule that the call only resembles.
    pub rule: String,
    /// The purpose of the case.
    pub shows: Shows,
    /// The call runs in a sandbox where the machine has one, instead of the verdict; `None`: either.
    pub contained: Option<bool>,
    /// The bytes of the case in the file.
    pub span: Range<usize>,
    /// The line of the case, from 1.
    pub line: usize,
}

/// The purpose of a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Shows {
    /// The plain call.
    Plain,
    /// A call that is obfuscated.
    Disguise,
    /// A harmless call that resembles the rule's subject.
    LookAlike,
    /// The alternative that the rule's message recommends.
    Instead,
}

impl CaseFile {
    /// Reads a case file, or returns all of its errors.
    pub fn read(file: &Source) -> Result<CaseFile, Vec<Problem>> {
        let root = Yaml::read(file)?;
        let mut reader = Reader { file, version: 2, problems: Vec::new() };
        let cases = reader.file(&root);
        if reader.problems.is_empty() {
            Ok(CaseFile { version: reader.version, cases })
        } else {
            Err(reader.problems)
        }
    }
}

/// The verdicts that each purpose permits.
impl Shows {
    fn of(word: &str) -> Option<Shows> {
        Some(match word {
            "disguise" => Shows::Disguise,
            "look-alike" => Shows::LookAlike,
            "instead" => Shows::Instead,
            _ => return None,
        })
    }

    /// Returns the reason why a case with this purpose cannot expect that verdict.
    fn refuses(self, verdict: Verdict) -> Option<&'static str> {
        let stops = verdict >= Verdict::Ask;
        match self {
            Shows::Plain => None,
            Shows::Disguise => (!stops)
                .then_some("a disguise is of something that the rule stops: its verdict is `deny` or `ask`"),
            Shows::LookAlike => {
                stops.then_some("a look-alike is harmless: its verdict is `defer` or `allow`")
            }
            Shows::Instead => stops
                .then_some("what a message says to do instead must pass: its verdict is `defer` or `allow`"),
        }
    }
}

/// Continues after an error, so that one run reports all errors.
struct Reader<'f> {
    file: &'f Source,
    version: u32,
    problems: Vec<Problem>,
}

impl Reader<'_> {
    fn wrong(&mut self, at: &Yaml, message: &str) {
        self.problems.push(Problem::beside(self.file, Severity::Error, CODE, &at.span, message));
    }

    fn file(&mut self, root: &Yaml) -> Vec<RuleCase> {
        let YamlValue::Map(entries) = &root.value else {
            self.wrong(root, "a case file is a map of `version` and `cases`");
            return Vec::new();
        };
        match root.get("version").map(|version| (&version.value, version)) {
            Some((YamlValue::Plain(word), _)) if word == "1" || word == "2" => {
                self.version = if word == "1" { 1 } else { 2 };
            }
            Some((_, version)) => self.wrong(version, "the version of a case file is 1 or 2"),
            None => self.wrong(root, "`version` is missing: `version: 2`"),
        }
        for (key, value) in entries {
            if !matches!(key.as_str(), "version" | "cases") {
                self.wrong(value, &format!("unknown key `{key}`: a case file has `version` and `cases`"));
            }
        }
        match root.get("cases").map(|cases| &cases.value) {
            Some(YamlValue::List(cases)) => cases.iter().filter_map(|case| self.case(case)).collect(),
            _ => {
                self.wrong(root, "`cases` is missing, or no list");
                Vec::new()
            }
        }
    }

    /// Reads a case; `None` after an error in the case.
    fn case(&mut self, at: &Yaml) -> Option<RuleCase> {
        let before = self.problems.len();
        let YamlValue::Map(entries) = &at.value else {
            self.wrong(at, "a case is a map of `call`, `verdict` and `rule`");
            return None;
        };
        for (key, value) in entries {
            let is_known = match key.as_str() {
                "call" | "verdict" | "rule" => true,
                "as" | "earlier" | "contained" if self.version >= 2 => true,
                "as" | "earlier" | "contained" => {
                    self.wrong(value, &format!("`{key}` needs `version: 2`"));
                    true
                }
                _ => false,
            };
            if !is_known {
                self.wrong(
                    value,
                    &format!(
                        "unknown key `{key}`: a case has `call`, `verdict`, `rule`, `as`, `earlier`, `contained`"
                    ),
                );
            }
        }
        let verdict = self.needed(at, "verdict").and_then(|(word, place)| match word.parse::<Verdict>() {
            Ok(verdict) => Some(verdict),
            Err(why) => {
                self.wrong(place, &why.to_string());
                None
            }
        });
        let rule = self.needed(at, "rule").map(|(name, _)| name.to_owned());
        let shows = self.shows(at, verdict);
        let contained = self.contained(at, verdict);
        let mut case = self.call(at)?;
        case.earlier = self.earlier(at);
        let whole = verdict.zip(rule).filter(|_| self.problems.len() == before);
        let line = self.file.text.get(..at.span.start).map_or(1, |text| text.matches('\n').count() + 1);
        whole.map(|(verdict, rule)| RuleCase {
            case,
            verdict,
            rule,
            shows,
            contained,
            span: at.span.clone(),
            line,
        })
    }

    fn shows(&mut self, at: &Yaml, verdict: Option<Verdict>) -> Shows {
        let Some(place) = at.get("as") else { return Shows::Plain };
        let Some(shows) = text(place).and_then(Shows::of) else {
            self.wrong(place, "`as` is `disguise`, `look-alike` or `instead`");
            return Shows::Plain;
        };
        if let Some(why) = verdict.and_then(|verdict| shows.refuses(verdict)) {
            self.wrong(place, why);
        }
        shows
    }

    /// Only a call that castellan stops is contained instead.
    fn contained(&mut self, at: &Yaml, verdict: Option<Verdict>) -> Option<bool> {
        let place = at.get("contained")?;
        let expected = match &place.value {
            YamlValue::Plain(word) => word.parse().ok(),
            YamlValue::Null | YamlValue::Text(_) | YamlValue::List(_) | YamlValue::Map(_) => None,
        };
        if expected.is_none() {
            self.wrong(place, "`contained` is `true` or `false`");
        }
        if expected == Some(true) && verdict.is_some_and(|verdict| verdict < Verdict::Ask) {
            self.wrong(
                place,
                "a contained call is one that is stopped without a sandbox: its verdict is `deny` or `ask`",
            );
        }
        expected
    }

    /// Returns the text under a required key.
    fn needed<'y>(&mut self, at: &'y Yaml, key: &str) -> Option<(&'y str, &'y Yaml)> {
        let found = at.get(key).and_then(|value| Some((text(value)?, value)));
        if found.is_none() {
            self.wrong(at.get(key).unwrap_or(at), &format!("`{key}` is missing, or no text"));
        }
        found
    }

    fn call(&mut self, at: &Yaml) -> Option<Case> {
        let Some(call) = at.get("call").filter(|call| matches!(call.value, YamlValue::Map(_))) else {
            self.wrong(at, "`call` is missing, or no map");
            return None;
        };
        let YamlValue::Map(entries) = &call.value else { return None };
        let (tool, _) = self.needed(call, "tool")?;
        let mut case = Case::new(tool, Map::new());
        for (key, value) in entries {
            match (key.as_str(), text(value)) {
                ("tool", _) => {}
                ("agent", Some(word)) => match word.parse() {
                    Ok(agent) => case.agent = agent,
                    Err(why) => self.wrong(value, &why.to_string()),
                },
                ("cwd", Some(directory)) => case.cwd = directory.to_owned(),
                ("real_path", Some(path)) => case.real_path = Some(path.to_owned()),
                ("agent" | "cwd" | "real_path", None) => self.wrong(value, &format!("`{key}` is no text")),
                ("files", _) if self.version >= 2 => case.files = self.files(value),
                ("env", _) if self.version >= 2 => case.env = self.env(value),
                _ => drop(case.call.input.insert(key.clone(), json(value))),
            }
        }
        self.beside(call, tool);
        Some(case)
    }

    /// Only labelled files put the tool's input below `input`. No built-in tool of an agent takes a map named `input`.
    fn beside(&mut self, call: &Yaml, tool: &str) {
        let is_map = |value: &&Yaml| matches!(value.value, YamlValue::Map(_));
        if let Some(value) = call.get("input").filter(is_map).filter(|_| !tool.contains("__")) {
            self.wrong(value, "what the tool is given stands beside `tool`, not below `input`");
        }
    }

    fn files(&mut self, at: &Yaml) -> BTreeMap<String, Laid> {
        let mut files = BTreeMap::new();
        for (path, value) in self.entries(at, "files") {
            let link =
                value.get("link").and_then(text).map(|link| Laid::Link(Link { link: link.to_owned() }));
            let laid = match &value.value {
                YamlValue::Null => Some(Laid::Unknown(())),
                YamlValue::Plain(_) | YamlValue::Text(_) => {
                    text(value).map(|text| Laid::Text(text.to_owned()))
                }
                YamlValue::Map(entries) => link.filter(|_| entries.len() == 1),
                YamlValue::List(_) => None,
            };
            match laid {
                Some(laid) => drop(files.insert(path.clone(), laid)),
                None => self
                    .wrong(value, "a file is its text, `{link: TARGET}`, or nothing where that is not known"),
            }
        }
        files
    }

    fn env(&mut self, at: &Yaml) -> BTreeMap<String, String> {
        let mut env = BTreeMap::new();
        for (name, value) in self.entries(at, "env") {
            match text(value) {
                Some(text) => drop(env.insert(name.clone(), text.to_owned())),
                None => self.wrong(value, "a variable is a text"),
            }
        }
        env
    }

    /// Reads the earlier calls, each a map of the tool and its input, like `call`.
    fn earlier(&mut self, at: &Yaml) -> Vec<Asked> {
        let Some(place) = at.get("earlier") else { return Vec::new() };
        let YamlValue::List(calls) = &place.value else {
            self.wrong(place, "`earlier` is a list of calls");
            return Vec::new();
        };
        let mut all = Vec::new();
        for call in calls {
            let Some((tool, _)) = self.needed(call, "tool") else { continue };
            let YamlValue::Map(entries) = &call.value else { continue };
            self.beside(call, tool);
            let input = entries.iter().filter(|(key, _)| key != "tool");
            let input = input.map(|(key, value)| (key.clone(), json(value))).collect();
            all.push(Asked { tool: tool.to_owned(), input });
        }
        all
    }

    fn entries<'y>(&mut self, at: &'y Yaml, what: &str) -> &'y [(String, Yaml)] {
        if let YamlValue::Map(entries) = &at.value {
            return entries;
        }
        self.wrong(at, &format!("`{what}` is a map"));
        &[]
    }
}

fn text(at: &Yaml) -> Option<&str> {
    match &at.value {
        YamlValue::Plain(text) | YamlValue::Text(text) => Some(text),
        YamlValue::Null | YamlValue::List(_) | YamlValue::Map(_) => None,
    }
}

/// Converts YAML to the JSON that an agent would send. Unquoted words become numbers and booleans if they look like
/// them. The YAML reader limits the nesting.
fn json(at: &Yaml) -> Json {
    match &at.value {
        YamlValue::Null => Json::Null,
        YamlValue::Text(text) => text.as_str().into(),
        YamlValue::Plain(word) => match word.as_str() {
            "true" => true.into(),
            "false" => false.into(),
            _ => word.parse::<Number>().map_or_else(|_| word.as_str().into(), Json::Number),
        },
        YamlValue::List(values) => values.iter().map(json).collect(),
        YamlValue::Map(entries) => {
            Json::Object(entries.iter().map(|(key, value)| (key.clone(), json(value))).collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<CaseFile, Vec<String>> {
        let file = Source { name: "x_cases.yaml".to_owned(), text: text.to_owned() };
        CaseFile::read(&file).map_err(|problems| {
            problems.iter().map(|problem| format!("{}:{}", problem.line, problem.message)).collect()
        })
    }

    #[test]
    fn a_case_is_read_with_all_that_it_says() {
        let text = "version: 2\ncases:\n  # c\n  - {call: {tool: Bash, command: 'bash x.sh', timeout: 5, run_in_background: true, \
                    agent: codex, cwd: /srv, files: {x.sh: \"id\\n\", d/: '', l: {link: /etc}, k: }, env: {A: 1}}, \
                    verdict: deny, rule: R, as: disguise, earlier: [{tool: Write, file_path: a, content: b}]}\n";
        let file = read(text).unwrap();
        let [one] = file.cases.as_slice() else { panic!("{file:?}") };
        assert_eq!((file.version, one.line, one.verdict, one.shows), (2, 4, Verdict::Deny, Shows::Disguise));
        let case = &one.case;
        let input = serde_json::json!({"command": "bash x.sh", "timeout": 5, "run_in_background": true});
        assert_eq!(Json::Object(case.call.input.clone()), input);
        assert_eq!((case.agent.word(), case.cwd.as_str()), ("codex", "/srv"));
        assert_eq!(case.files.get("x.sh"), Some(&Laid::Text("id\n".to_owned())));
        assert_eq!(case.files.get("l"), Some(&Laid::Link(Link { link: "/etc".to_owned() })));
        assert_eq!(case.files.get("k"), Some(&Laid::Unknown(())));
        assert_eq!(case.env.get("A").map(String::as_str), Some("1"));
        assert_eq!(case.earlier.len(), 1);
    }

    #[test]
    fn in_version_1_files_are_the_tools_input() {
        let file =
            read("version: 1\ncases: [{call: {tool: T, files: [a]}, verdict: defer, rule: R}]\n").unwrap();
        assert_eq!(file.cases[0].case.call.input.get("files"), Some(&serde_json::json!(["a"])));
        assert_eq!(file.cases[0].shows, Shows::Plain);
    }

    #[test]
    fn what_is_wrong_is_told_with_its_line() {
        let check = |text: &str, expected: &[&str]| assert_eq!(read(text).unwrap_err(), expected, "{text}");
        check("a", &["1:a case file is a map of `version` and `cases`"]);
        check("version: 3\ncases: []\n", &["1:the version of a case file is 1 or 2"]);
        check(
            "version: 2\ncase: []\n",
            &[
                "2:unknown key `case`: a case file has `version` and `cases`",
                "1:`cases` is missing, or no list",
            ],
        );
        let case =
            |rest: &str| format!("version: 2\ncases:\n  - call: {{tool: Bash, command: x}}\n    {rest}\n");
        check(&case("verdict: deny"), &["3:`rule` is missing, or no text"]);
        check(&case("verdict: denied\n    rule: R"), &["4:`denied` is not one of defer, allow, ask, deny"]);
        check(
            &case("verdict: deny\n    rule: R\n    verdit: deny"),
            &["6:unknown key `verdit`: a case has `call`, `verdict`, `rule`, `as`, `earlier`, `contained`"],
        );
        check(
            &case("verdict: defer\n    rule: R\n    as: disguise"),
            &["6:a disguise is of something that the rule stops: its verdict is `deny` or `ask`"],
        );
        check(
            &case("verdict: ask\n    rule: R\n    contained: maybe"),
            &["6:`contained` is `true` or `false`"],
        );
        check(
            &case("verdict: defer\n    rule: R\n    contained: true"),
            &["6:a contained call is one that is stopped without a sandbox: its verdict is `deny` or `ask`"],
        );
        check(
            "version: 1\ncases: [{call: {tool: T}, verdict: ask, rule: R, contained: true}]\n",
            &["2:`contained` needs `version: 2`"],
        );
        check(
            &case("verdict: ask\n    rule: R\n    as: look-alike"),
            &["6:a look-alike is harmless: its verdict is `defer` or `allow`"],
        );
        check(
            &case("verdict: ask\n    rule: R\n    as: instead"),
            &["6:what a message says to do instead must pass: its verdict is `defer` or `allow`"],
        );
        check(
            &case("verdict: ask\n    rule: R\n    as: other"),
            &["6:`as` is `disguise`, `look-alike` or `instead`"],
        );
        check(
            "version: 1\ncases: [{call: {tool: T}, verdict: ask, rule: R, as: disguise}]\n",
            &["2:`as` needs `version: 2`"],
        );
        check(
            "version: 2\ncases: [{call: {command: x}, verdict: ask, rule: R}]\n",
            &["2:`tool` is missing, or no text"],
        );
        check(
            "version: 2\ncases: [{call: {tool: Bash, input: {command: x}}, verdict: ask, rule: R}]\n",
            &["2:what the tool is given stands beside `tool`, not below `input`"],
        );
        check(
            &case("verdict: ask\n    rule: R\n    earlier: [{tool: Write, input: {file_path: a}}]"),
            &["6:what the tool is given stands beside `tool`, not below `input`"],
        );
        check(
            "version: 2\ncases: [{call: {tool: T, files: {a: [1]}}, verdict: ask, rule: R}]\n",
            &["2:a file is its text, `{link: TARGET}`, or nothing where that is not known"],
        );
    }
}
