//! Each limit of the analysis, with a dangerous part at or beyond the limit that castellan must not ignore.

mod rows;

use crate::call;
use crate::listed;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use castellan_event::{
    Answer, Call, EffectKind, Facts, FileKind, FileOrigin, HostClass, Process, Query, Recorder, Role, Scope,
    ToolKind, Why, World, lexical_path,
};
use castellan_facts::{Setting, analyse};

use rows::{EXEMPT, rows};

/// A limit, a call that reaches it, and the expected outcome.
struct Row {
    limit: &'static str,
    given: Given,
    expected: Expected,
}

/// A call in `/w`, and its machine.
#[derive(Default)]
struct Given {
    command: String,
    /// Input of an MCP server's tool, instead of a command.
    mcp: Option<(&'static str, serde_json::Value)>,
    cwd: Option<String>,
    files: BTreeMap<String, String>,
    /// Paths that the session wrote before.
    written: Vec<String>,
    /// The session wrote more paths than are stored.
    is_full: bool,
    path: Option<String>,
}

enum Expected {
    /// An Opaque effect.
    Hole(Role, Why),
    /// An Opaque effect of a file that the call writes.
    WrittenHole(Role, Why),
    Effect(EffectKind),
    /// A read of this scope.
    Reads(Scope),
    Host(HostClass),
    /// A program that the session wrote is Opaque, or has the session as its origin.
    NotOfRepository,
}

use Expected::{Effect, Hole, Host, NotOfRepository, Reads, WrittenHole};

struct Machine<'g>(&'g Given);

impl World for Machine<'_> {
    fn answer(&self, query: &Query) -> Option<Answer> {
        let files = &self.0.files;
        Some(match query {
            Query::RealPath { base, path } => Answer::RealPath(lexical_path(base, path)),
            Query::FileKind { path } => {
                let is_there = files.contains_key(path);
                Answer::FileKind(if is_there { FileKind::File } else { FileKind::Missing })
            }
            Query::Contents { path } => {
                Answer::Contents(files.get(path).map(|text| text.clone().into_bytes()))
            }
            Query::Executable { name, .. } => Answer::Executable(Some(format!("/usr/bin/{name}"))),
            Query::Repository { .. } => Answer::Repository(None),
            Query::Newest { .. } => Answer::Newest(None),
            Query::Inode { .. } => Answer::Inode(None),
            Query::Head { .. } => Answer::Head(None),
            Query::OtherNames { .. } => Answer::OtherNames(Vec::new()),
            Query::Process { .. } => {
                let path = self.0.path.as_deref().unwrap_or("/usr/bin");
                let env = [("PATH", path), ("HOME", "/home/u")];
                Answer::Process(Some(Process {
                    env: env.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec(),
                    home: "/home/u".to_owned(),
                    ..Process::default()
                }))
            }
        })
    }

    fn program(&self, _sha256: &str, request: &[u8]) -> Option<Vec<u8>> {
        castellan_languages::answer(request)
    }
}

fn call_of(given: &Given) -> Call {
    let mut call = match &given.mcp {
        None => call::shell("claude_code", &given.command),
        Some((tool, input)) => {
            let mut call = call::of_tool("claude_code", &format!("mcp__s__{tool}"), ToolKind::Mcp);
            call.tool.mcp = Some(("s".to_owned(), (*tool).to_owned()));
            call.input = input.clone();
            call
        }
    };
    call.agent.cwd = given.cwd.clone().unwrap_or_else(|| "/w".to_owned());
    call
}

fn facts(given: &Given) -> Facts {
    let setting = Setting {
        workspace: "/w".to_owned(),
        written: Arc::new(given.written.iter().cloned().collect::<BTreeSet<String>>()),
        written_is_full: given.is_full,
        ..Setting::default()
    };
    analyse(&call_of(given), &setting, &mut Recorder::new(&Machine(given)))
}

fn holds(expected: &Expected, facts: &Facts) -> bool {
    let mut effects = facts.effects.iter();
    let is_hole = |effect: &castellan_event::Effect, role: Role, why: Why| {
        effect.is_opaque() && effect.role() == Some(role) && effect.why() == Some(why)
    };
    match expected {
        Hole(role, why) => effects.any(|effect| is_hole(effect, *role, *why)),
        WrittenHole(role, why) => facts.written.effects.iter().any(|effect| is_hole(effect, *role, *why)),
        Effect(kind) => effects.any(|effect| effect.kind() == *kind),
        Reads(scope) => {
            effects.any(|effect| effect.kind() == EffectKind::Read && effect.scope() == Some(*scope))
        }
        Host(class) => effects.any(|effect| effect.host_class() == Some(*class)),
        NotOfRepository => effects.any(|effect| {
            effect.is_opaque() && effect.role() != Some(Role::Operand)
                || effect.file_origin() == Some(FileOrigin::Written)
        }),
    }
}

fn shown(effect: &castellan_event::Effect) -> String {
    let on = effect.target().or(effect.path()).unwrap_or_default();
    let on: String = on.chars().take(60).collect();
    format!("{:?} {:?} {:?} {on}", effect.kind(), effect.role(), effect.why())
}

#[test]
fn a_limit_that_is_reached_leaves_a_hole() {
    let mut silent = Vec::new();
    for Row { limit, given, expected } in rows() {
        let facts = facts(&given);
        if !holds(&expected, &facts) {
            let all = facts.effects.iter().chain(&facts.written.effects);
            let shown: Vec<String> = all.filter(|one| one.is_opaque()).take(8).map(shown).collect();
            let command: String = given.command.chars().take(100).collect();
            silent.push(format!("{limit}: {command}\n    {}", shown.join("\n    ")));
        }
    }
    assert!(silent.is_empty(), "{}", silent.join("\n"));
}

#[test]
fn of_a_session_that_wrote_more_than_is_kept_any_file_may_be() {
    let origin = |is_full| {
        let files = [("/w/x.sh".to_owned(), "echo\n".to_owned())].into();
        let given = Given { command: "bash x.sh".to_owned(), files, is_full, ..Given::default() };
        facts(&given).effects.iter().find_map(|effect| effect.file_origin())
    };
    assert_eq!(origin(false), Some(FileOrigin::Repository));
    assert_eq!(origin(true), Some(FileOrigin::Written));
}

#[test]
fn no_limit_is_forgotten() {
    let rows = rows();
    listed::check(include_str!("../../src/limits.rs"), rows.iter().map(|row| row.limit), EXEMPT);
}
