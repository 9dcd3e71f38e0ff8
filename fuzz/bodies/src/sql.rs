//! SQL text as an argument of a database's client.

use std::rc::Rc;

use castellan_event::{Answer, Query, Recorder, World};
use castellan_facts::{Setting, effects_of};
use castellan_programs::Arg;
use castellan_shell::tree::Span;
use castellan_shell::{Found, Item, Origin, Run, Stdin};

use crate::world::shell_call;

/// Clients, each with its option for statements.
const CLIENTS: [(&str, &str); 6] = [
    ("psql", "-c"),
    ("mysql", "-e"),
    ("sqlite3", "-cmd"),
    ("duckdb", "-c"),
    ("sqlcmd", "-Q"),
    ("cqlsh", "-e"),
];

/// A world without answers.
struct Nothing;

impl World for Nothing {
    fn answer(&self, _query: &Query) -> Option<Answer> {
        None
    }
}

/// Reads a text as each client would. There must be no panic, and a command with statements must have an effect.
pub fn sql(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(bytes) else { return };
    for (program, option) in CLIENTS {
        let run = Run {
            argv: [program, option, text].map(Arg::from).to_vec(),
            env: Vec::new(),
            redirects: Vec::new(),
            wrappers: Rc::default(),
            origin: Origin::Text,
            script: None,
            span: Span::default(),
            line: String::new(),
            cwd: Some("/".to_owned()),
            remote: Rc::default(),
            pipe_from: None,
            stdin: Stdin::Inherited,
            made: Vec::new(),
            background: false,
        };
        let found = Found { items: vec![Item::Command(run)], ..Found::default() };
        let facts = effects_of(&found, &shell_call(text), &Setting::default(), &mut Recorder::new(&Nothing));
        let destroys = ["DROP TABLE a", "TRUNCATE a", "DELETE FROM a"].contains(&text.trim());
        let is_seen = facts.effects.iter().any(|effect| effect.kind().as_str() == "destroy");
        assert!(is_seen || !destroys, "{program}: {text}");
    }
}
