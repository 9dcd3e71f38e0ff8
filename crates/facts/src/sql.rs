//! Effects of SQL on the database, on files and on programs of the server. `lex` splits a text as the client does.
//! `verbs` classifies statements by their words. `tree` parses statements whose condition matters. `client` handles the
//! clients' own commands. A statement that does not parse keeps the effect of its words and gets an Opaque effect.

use castellan_event::{EffectKind, Role, Why};
use castellan_programs::{Arg, Piece};

use crate::language::SQL;
use crate::limits::{SQL_BYTES_MAX, SQL_STATEMENTS_MAX, WORK_OF_SQL_BYTE};
use crate::next::From;
use crate::sink::Sink;

mod client;
mod lex;
mod tree;
mod verbs;

use lex::Statement;
use verbs::{Deed, Parse};

/// Placeholder for an unknown part of the text.
const UNKNOWN: &str = "unknown__part";

/// The family of a database: it decides how a text is split and parsed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum System {
    Postgres,
    Mysql,
    Sqlite,
    Duckdb,
    Sqlserver,
    Other,
}

impl System {
    fn of(name: &str) -> System {
        match name {
            "postgres" => System::Postgres,
            "mysql" => System::Mysql,
            "sqlite" => System::Sqlite,
            "duckdb" => System::Duckdb,
            "sqlserver" => System::Sqlserver,
            _ => System::Other,
        }
    }

    fn escapes_with_backslash(self) -> bool {
        self == System::Mysql
    }

    fn has_dollar_quotes(self) -> bool {
        matches!(self, System::Postgres | System::Duckdb)
    }

    fn has_brackets(self) -> bool {
        matches!(self, System::Sqlite | System::Sqlserver)
    }

    fn nests_comments(self) -> bool {
        matches!(self, System::Postgres | System::Duckdb | System::Sqlserver)
    }
}

/// Adds the effects of a text's statements. `name`: the system's name in effects.
pub(crate) fn effects(name: &str, arg: &Arg, sink: &mut Sink<'_, '_, '_, '_>) {
    if let Some(why) = arg.why() {
        let is_all = arg.prefix().is_empty() && arg.pieces().len() == 1;
        sink.opaque(if is_all { Role::Code } else { Role::Target }, why, &arg.written());
        if is_all {
            return;
        }
    }
    let text: String = arg.pieces().iter().map(known).collect();
    if text.len() > SQL_BYTES_MAX {
        sink.opaque(Role::Code, Why::Size, "");
    }
    if !sink.spend(text.len().min(SQL_BYTES_MAX) as u64 * WORK_OF_SQL_BYTE) {
        return;
    }
    let system = System::of(name);
    let cut = text.floor_char_boundary(SQL_BYTES_MAX);
    let statements = lex::statements(text.get(..cut).unwrap_or_default(), system);
    if statements.len() > SQL_STATEMENTS_MAX {
        sink.opaque(Role::Code, Why::Budget, "");
    }
    for statement in statements.iter().take(SQL_STATEMENTS_MAX) {
        if statement.is_client {
            client::effects(name, &statement.text, sink);
        } else {
            statement_effects(name, statement, system, sink);
        }
    }
}

/// For text that is passed to an unknown program: returns the first destroying SQL statement, as verb and target.
pub(crate) fn destroyed(text: &str, sink: &mut Sink<'_, '_, '_, '_>) -> Option<(String, Option<String>)> {
    let upper = text.to_ascii_uppercase();
    if !["ALTER", "DELETE", "DROP", "TRUNCATE", "UPDATE"].iter().any(|word| upper.contains(word)) {
        return None;
    }
    if !sink.spend(text.len().min(SQL_BYTES_MAX) as u64 * WORK_OF_SQL_BYTE) {
        return None;
    }
    let cut = text.floor_char_boundary(SQL_BYTES_MAX);
    let statements = lex::statements(text.get(..cut).unwrap_or_default(), System::Other);
    // The text beyond the limits may be a statement, too.
    let is_left_out = statements.iter().skip(SQL_STATEMENTS_MAX).any(|one| begins(&one.tokens));
    if cut < text.len() || is_left_out {
        sink.opaque(Role::Code, Why::Size, "");
    }
    let own = statements.iter().take(SQL_STATEMENTS_MAX).filter(|one| begins(&one.tokens));
    let mut deeds = own.filter_map(|one| verbs::deed(&one.tokens).0);
    deeds.find(|deed| deed.kind == EffectKind::Destroy).map(|deed| (deed.verb, deed.target))
}

/// True if the words begin a statement that may destroy. A sentence (`Delete the old file`) lacks the further keywords.
fn begins(tokens: &[lex::Token]) -> bool {
    let has = |word: &str| tokens.iter().any(|one| one.is(word));
    tokens.first().is_some_and(|first| {
        ["ALTER", "DROP", "TRUNCATE"].iter().any(|word| first.is(word))
            || first.is("DELETE") && has("FROM")
            || first.is("UPDATE") && has("SET")
    })
}

/// Adds the effects of running a file of statements.
pub(crate) fn file(name: &str, file: &Arg, sink: &mut Sink<'_, '_, '_, '_>) {
    sink.path(EffectKind::Execute, file);
    sink.program(&format!("{SQL}{name}"), From::File(file.clone()));
}

fn known(piece: &Piece) -> &str {
    match piece {
        Piece::Text(text) => text,
        Piece::Unknown { .. } => UNKNOWN,
    }
}

fn statement_effects(name: &str, statement: &Statement, system: System, sink: &mut Sink<'_, '_, '_, '_>) {
    let tokens = statement.tokens.as_slice();
    verbs::files_and_programs(tokens, system, sink);
    let (deed, parse) = verbs::deed(tokens);
    // SQL Server needs no separator between statements.
    if system == System::Sqlserver || verbs::runs(tokens) {
        let rest = if deed.is_some() { tokens.get(1..).unwrap_or_default() } else { tokens };
        let all = if verbs::runs(tokens) { tokens } else { rest };
        verbs::inside(all).iter().for_each(|deed| add(name, deed, sink));
    }
    if parse == Parse::Never {
        deed.into_iter().for_each(|deed| add(name, &deed, sink));
        return;
    }
    let Some(changes) = tree::changes(statement, system) else {
        deed.into_iter().for_each(|deed| add(name, &deed, sink));
        verbs::inside(tokens).iter().for_each(|deed| add(name, deed, sink));
        sink.opaque(Role::Target, Why::Syntax, &shortened(&statement.text));
        return;
    };
    if parse == Parse::ForRows && !changes.is_empty() {
        for change in changes {
            let kind = if change.all { EffectKind::Destroy } else { EffectKind::Mutate };
            add(name, &Deed { kind, verb: change.verb.to_owned(), target: change.table }, sink);
        }
        return;
    }
    let deed = deed.or_else(|| verbs::other(tokens));
    deed.into_iter().for_each(|deed| add(name, &deed, sink));
}

fn add(name: &str, deed: &Deed, sink: &mut Sink<'_, '_, '_, '_>) {
    let target = deed.target.as_deref().filter(|target| !target.contains(UNKNOWN)).map(Arg::known);
    sink.on(deed.kind, name, &deed.verb, target.as_ref());
}

/// The first part of a text, short enough to show to people.
fn shortened(text: &str) -> String {
    let text = text.trim();
    text.get(..text.floor_char_boundary(80)).unwrap_or_default().to_owned()
}
