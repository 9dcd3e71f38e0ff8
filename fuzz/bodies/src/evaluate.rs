//! Random rules on random calls: engine and plain evaluator agree, and a stricter policy never loosens a verdict.

use std::collections::BTreeMap;

use castellan_event::{
    Agent, Answer, Answers, Call, Change, Command, Effect, FIELDS, Facts, FileTarget, Layer, LocatedFile,
    Object, Operation, Query, Recorder, Scope, Session, Tool, ToolKind, Verdict, World, Written, rows,
};
use castellan_policy::{LayerRules, Policy, Settings, State, drive};
use castellan_rules::{Options, Plain, Source, load};

use crate::choices::Choices;
use crate::rules::rule;

/// Comparisons over fields of every level and type, with different results on the calls below.
const COMPARISONS: [&str; 25] = [
    "tool.name = Bash",
    "tool.name != Bash",
    "tool.name in (Write, Edit)",
    "tool.input_command contains rm",
    "tool.input_command startswith 'rm '",
    "tool.input_command regex '[ -~]*rm[ -~]*'",
    "tool.input_command glob '*;*'",
    "tool.real_file_path startswith /tmp/",
    "tool.real_file_path pmatch (/etc)",
    "tool.file_path exists",
    "agent.pid >= 5",
    "cmd.name = rm",
    "fx.when = written",
    "cmd.name in (git, rm)",
    "cmd.flags intersects (-r, -f)",
    "cmd.args in (-r, x)",
    "cmd.remote exists",
    "len(cmd.args) > 1",
    "fx.kind = delete",
    "fx.kind != read",
    "fx.path startswith /etc",
    "fx.path = val(fx.path_raw)",
    "fx.recursive = true",
    "tolower(fx.scope) = home",
    "tool.name iglob 'b*'",
];

const TAGS: [&str; 5] =
    ["coding_agent_deny", "coding_agent_ask", "coding_agent_review", "coding_agent_allow", "other"];

/// Levels of a random condition. Three levels cover every nesting of two operators in a third.
const DEPTH: u8 = 3;

/// Reads rules and a call. A further deny, ask or review rule, disjunct or layer must never loosen the verdict.
pub fn rules_evaluate(bytes: &[u8]) {
    let mut choices = Choices::new(bytes);
    let rules = rule_set(&mut choices);
    let (call, facts) = case(&mut choices);
    let base = verdict(&[&rules], &call, &facts);
    evaluators_agree(&rules, &call, &facts);

    let tag = choices.word(&TAGS[..3]);
    let further = vec![(condition(&mut choices, DEPTH), tag)];
    let appended = [rules.as_slice(), &further].concat();
    assert!(verdict(&[&appended], &call, &facts) >= base, "{rules:?} and {further:?} on {call:?}");
    let layered = verdict(&[&further, &rules], &call, &facts);
    assert!(layered >= base, "{rules:?} below {further:?} on {call:?}");

    let disjunct = condition(&mut choices, DEPTH);
    let mut widened = rules.clone();
    let at = usize::from(choices.below(u8::MAX)) % widened.len().max(1);
    if let Some((condition, tag)) = widened.get_mut(at).filter(|(_, tag)| TAGS[..3].contains(tag)) {
        *condition = format!("({condition}) or ({disjunct})");
        let tag = tag.to_owned();
        assert!(
            verdict(&[&widened], &call, &facts) >= base,
            "{rules:?}, {tag} {at} or {disjunct}, on {call:?}"
        );
    }
}

type Rules = Vec<(String, &'static str)>;

fn rule_set(choices: &mut Choices<'_>) -> Rules {
    (0..choices.below(4)).map(|_| (condition(choices, DEPTH), choices.word(&TAGS))).collect()
}

fn condition(choices: &mut Choices<'_>, depth: u8) -> String {
    let kind = if depth == 0 { 0 } else { choices.below(5) };
    match kind {
        0 | 1 => choices.word(&COMPARISONS).to_owned(),
        2 => format!("not ({})", condition(choices, depth - 1)),
        _ => {
            let word = if kind == 3 { "and" } else { "or" };
            format!("({} {word} {})", condition(choices, depth - 1), condition(choices, depth - 1))
        }
    }
}

/// Returns a call with its facts.
fn case(choices: &mut Choices<'_>) -> (Call, Facts) {
    let tools = [
        ("Bash", ToolKind::Shell),
        ("Write", ToolKind::Write),
        ("Edit", ToolKind::Patch),
        ("Magic", ToolKind::Unknown),
    ];
    let (name, kind) = choices.of(&tools).copied().unwrap_or(("Bash", ToolKind::Shell));
    let texts = ["rm -r x", "git status; rm x", "rm\nx", "", "\0rm"];
    let command = (kind == ToolKind::Shell).then(|| choices.word(&texts).to_owned());
    let files = if kind == ToolKind::Shell { 0 } else { choices.below(3) };
    let files = (0..files).map(|_| FileTarget {
        path: choices.word(&["/tmp/a", "/etc/passwd", "x", ""]).to_owned(),
        patch_op: None,
        patch_text: String::new(),
        change: Change::Unsaid,
    });
    let call = Call {
        correlation_id: 1,
        files: files.collect(),
        agent: Agent { cwd: "/w".to_owned(), pid: u32::from(choices.below(9)), ..Agent::default() },
        tool: Tool { name: name.into(), name_raw: name.into(), use_id: String::new(), kind, mcp: None },
        input: serde_json::Value::Null,
        input_text: "{}".to_owned(),
        command,
        in_background: false,
        problems: Vec::new(),
    };
    let commands = (0..choices.below(3)).map(|_| a_command(choices)).collect();
    let effects = (0..choices.below(3)).map(|_| an_effect(choices)).collect();
    let commands_written = (0..choices.below(2)).map(|_| a_command(choices)).collect();
    let effects_written = (0..choices.below(2)).map(|_| an_effect(choices)).collect();
    let written = Written { commands: commands_written, effects: effects_written };
    (call, Facts { commands, effects, written, ..Facts::default() })
}

fn a_command(choices: &mut Choices<'_>) -> Command {
    let words = |choices: &mut Choices<'_>| -> Vec<String> {
        (0..choices.below(3)).map(|_| choices.word(&["-r", "-f", "x"]).to_owned()).collect()
    };
    Command {
        name: Some(choices.word(&["rm", "git", "ls"]).to_owned()).filter(|_| !choices.flip()),
        args: words(choices),
        flags: words(choices),
        remote: choices.flip().then(|| "host".to_owned()),
        wrappers_are_neutral: choices.flip(),
        ..Command::default()
    }
}

fn an_effect(choices: &mut Choices<'_>) -> Effect {
    let path = choices.word(&["", "/etc/passwd", "/tmp/a"]);
    let command = choices.flip().then_some(0);
    let kind = choices.word(&["read", "delete", "opaque"]).parse().unwrap_or_default();
    let file = LocatedFile {
        path: (!path.is_empty()).then(|| path.to_owned()),
        raw: path.to_owned(),
        scope: choices.flip().then_some(Scope::Home),
        ..LocatedFile::default()
    };
    let op = Operation { recursive: choices.flip().then(|| choices.flip()), ..Operation::of(kind) };
    let object = if choices.flip() { Object::File(Box::new(file)) } else { Object::Target };
    Effect { command, op, object, ..Effect::default() }
}

/// Checks that the engine and the plain evaluator report the same on every row.
fn evaluators_agree(rules: &[(String, &str)], call: &Call, facts: &Facts) {
    let (_, answers) = judge(&[rules], call, facts);
    let set = load(&source(rules), FIELDS, &Options { describe: true, ..Options::default() }).rules;
    let (Ok(rows), Ok(plain)) = (rows(call, facts, &SESSION, &answers), Plain::new(&set)) else {
        assert!(set.rules().is_empty(), "rows and plain evaluator are there");
        return;
    };
    for row in &rows {
        assert_eq!(set.evaluate(row), plain.evaluate(row), "{rules:?} on {row:?}");
    }
}

/// Returns the verdict of layers, the highest first.
fn verdict(layers: &[&[(String, &str)]], call: &Call, facts: &Facts) -> Verdict {
    judge(layers, call, facts).0
}

fn judge(layers: &[&[(String, &str)]], call: &Call, facts: &Facts) -> (Verdict, Answers) {
    let options = Options::default();
    let sources: Vec<[Source; 1]> = layers.iter().map(|rules| source(rules)).collect();
    let names = [Layer::Organisation, Layer::User];
    assert!(layers.len() <= names.len(), "there are two layers");
    let layers = names.into_iter().zip(&sources).map(|(layer, sources)| {
        let loaded = load(sources, FIELDS, &options);
        assert!(!loaded.has_errors(), "{:?}", loaded.problems);
        LayerRules { layer, rules: loaded.rules, sources, options: &options }
    });
    let policy = Policy::new(layers.collect(), Settings::default());
    let state = State::plain(&SESSION);
    let mut world = Recorder::new(&Lexical);
    let (decision, _) = drive(call, facts, &policy, &state, &mut world);
    (decision.verdict, world.into_answers())
}

/// Returns the file of a layer.
fn source(rules: &[(String, &str)]) -> [Source; 1] {
    let rules = rules.iter().enumerate();
    let text = rules.map(|(at, (condition, tag))| rule(&format!("r{at}"), condition, tag)).collect();
    [Source { name: "fuzz.yaml".to_owned(), text }]
}

static SESSION: Session = Session { marks: BTreeMap::new(), now_ms: 0 };

/// A world without symlinks.
struct Lexical;

impl World for Lexical {
    fn answer(&self, query: &Query) -> Option<Answer> {
        let Query::RealPath { base, path } = query else { return None };
        Some(Answer::RealPath(if path.starts_with('/') { path.clone() } else { format!("{base}/{path}") }))
    }
}
