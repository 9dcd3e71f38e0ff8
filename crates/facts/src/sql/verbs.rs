//! Classifies statements by their words: the effect, its target, and the files and programs of the server. Sources: the
//! manuals of PostgreSQL 17, MySQL 8.4, SQLite 3.46, SQL Server 2022, DuckDB 1.1.

use castellan_event::{EffectKind, Remote, Role, Why};
use castellan_programs::Arg;

use super::lex::{self, Token};
use super::{System, shortened};
use crate::sink::Sink;
use crate::targets;

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Deed {
    pub(super) kind: EffectKind,
    pub(super) verb: String,
    pub(super) target: Option<String>,
}

/// When a statement is parsed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Parse {
    /// Never: the words are enough.
    Never,
    /// Always: the words may not describe the whole effect.
    Always,
    /// To find the changed rows.
    ForRows,
}

use EffectKind::{Destroy, Mutate, Query};
use Parse::{Always, ForRows, Never};

/// First words, effect, parsing, and whether the target's name follows. Longer entries come before shorter ones.
const VERBS: &[(&[&str], Option<EffectKind>, Parse, bool)] = &[
    (&["DROP", "TABLE"], Some(Destroy), Never, true),
    (&["DROP", "DATABASE"], Some(Destroy), Never, true),
    (&["DROP", "SCHEMA"], Some(Destroy), Never, true),
    (&["DROP", "KEYSPACE"], Some(Destroy), Never, true),
    (&["DROP", "TABLESPACE"], Some(Destroy), Never, true),
    (&["DROP", "OWNED"], Some(Destroy), Never, false),
    (&["DROP", "STAGE"], Some(Destroy), Never, true),
    (&["DROP", "STREAM"], Some(Destroy), Never, true),
    (&["DROP", "DICTIONARY"], Some(Mutate), Never, true),
    (&["DROP", "TEMPORARY"], Some(Mutate), Never, false),
    (&["DROP"], Some(Mutate), Never, true),
    (&["TRUNCATE"], Some(Destroy), Never, true),
    (&["DELETE"], Some(Destroy), ForRows, true),
    (&["UPDATE"], Some(Destroy), ForRows, true),
    (&["INSERT"], Some(Mutate), ForRows, true),
    (&["REPLACE"], Some(Mutate), Never, true),
    (&["UPSERT"], Some(Mutate), Never, true),
    (&["MERGE"], Some(Mutate), Never, true),
    (&["SELECT"], Some(Query), ForRows, false),
    (&["WITH"], Some(Query), ForRows, false),
    (&["FROM"], Some(Query), ForRows, false),
    (&["VALUES"], Some(Query), ForRows, false),
    (&["TABLE"], Some(Query), ForRows, false),
    (&["EXPLAIN", "ANALYZE"], Some(Query), ForRows, false),
    (&["EXPLAIN"], Some(Query), ForRows, false),
    (&["SHOW"], Some(Query), Never, false),
    (&["DESCRIBE"], Some(Query), Never, false),
    (&["DESC"], Some(Query), Never, false),
    (&["PRAGMA"], Some(Query), Never, false),
    (&["HELP"], None, Never, false),
    (&["CREATE", "OR", "REPLACE", "TABLE"], Some(Destroy), Never, true),
    (&["CREATE"], Some(Mutate), Never, true),
    (&["ALTER"], Some(Mutate), Never, true),
    (&["RENAME"], Some(Mutate), Never, true),
    (&["GRANT"], Some(Mutate), Never, false),
    (&["REVOKE"], Some(Mutate), Never, false),
    (&["REASSIGN"], Some(Mutate), Never, false),
    (&["COPY"], Some(Mutate), Never, true),
    (&["LOAD", "DATA"], Some(Mutate), Never, false),
    (&["LOAD"], Some(Mutate), Never, false),
    (&["INSTALL"], Some(Mutate), Never, false),
    (&["IMPORT"], Some(Mutate), Never, false),
    (&["EXPORT"], Some(Query), Never, false),
    (&["ATTACH"], Some(Mutate), Never, false),
    (&["DETACH"], Some(Mutate), Never, false),
    (&["VACUUM"], Some(Mutate), Never, false),
    (&["ANALYZE"], Some(Mutate), Never, false),
    (&["OPTIMIZE"], Some(Mutate), Never, false),
    (&["REINDEX"], Some(Mutate), Never, false),
    (&["CLUSTER"], Some(Mutate), Never, false),
    (&["REFRESH"], Some(Mutate), Never, false),
    (&["COMMENT"], Some(Mutate), Never, false),
    (&["KILL"], Some(Mutate), Never, false),
    (&["SHUTDOWN"], Some(Mutate), Never, false),
    (&["FLUSH"], Some(Mutate), Never, false),
    (&["RESET", "MASTER"], Some(Destroy), Never, false),
    (&["RESET", "BINARY"], Some(Destroy), Never, false),
    (&["RESET"], None, Never, false),
    (&["PURGE"], Some(Destroy), Never, false),
    (&["RESTORE"], Some(Destroy), Never, true),
    (&["BACKUP"], Some(Mutate), Never, false),
    (&["CALL"], Some(Mutate), Never, true),
    (&["DO"], Some(Mutate), Always, false),
    (&["EXEC"], Some(Mutate), Always, true),
    (&["EXECUTE"], Some(Mutate), Always, true),
    (&["PREPARE"], None, Always, false),
    (&["SET", "GLOBAL"], Some(Mutate), Never, false),
    (&["SET", "PERSIST"], Some(Mutate), Never, false),
    (&["SET", "PASSWORD"], Some(Mutate), Never, false),
    (&["SET"], None, Never, false),
    (&["USE"], None, Never, false),
    (&["BEGIN"], None, Never, false),
    (&["START"], None, Never, false),
    (&["COMMIT"], None, Never, false),
    (&["END"], None, Never, false),
    (&["ROLLBACK"], None, Never, false),
    (&["ABORT"], None, Never, false),
    (&["SAVEPOINT"], None, Never, false),
    (&["RELEASE"], None, Never, false),
    (&["LOCK"], None, Never, false),
    (&["UNLOCK"], None, Never, false),
    (&["DEALLOCATE"], None, Never, false),
    (&["FETCH"], None, Never, false),
    (&["CLOSE"], None, Never, false),
    (&["CHECKPOINT"], None, Never, false),
    (&["LISTEN"], None, Never, false),
    (&["NOTIFY"], None, Never, false),
    (&["DELIMITER"], None, Never, false),
    (&["GO"], None, Never, false),
];

/// Statements that run text, or contain other statements.
const RUNS: &[&str] =
    &["DO", "EXEC", "EXECUTE", "PREPARE", "DECLARE", "IF", "WHILE", "BEGIN", "CALL", "DELIMITER"];

/// Words between a verb and the kind of its target.
const MODIFIERS: &[&str] = &[
    "CONCURRENTLY",
    "DEFINER",
    "EXTERNAL",
    "FOREIGN",
    "GLOBAL",
    "LOCAL",
    "LOGIN",
    "OR",
    "PERSISTENT",
    "RECURSIVE",
    "REPLACE",
    "SECRET",
    "SQL",
    "TEMP",
    "TEMPORARY",
    "TRUSTED",
    "UNIQUE",
    "UNLOGGED",
    "VIRTUAL",
];

/// Words between the kind of a target and its name, or between a verb and a name.
const BEFORE_NAMES: &[&str] = &[
    "CONCURRENTLY",
    "EXISTS",
    "FROM",
    "IF",
    "IGNORE",
    "INTO",
    "LOW_PRIORITY",
    "NOT",
    "ONLY",
    "QUICK",
    "TABLE",
];

/// Classifies a statement by its first words. Statements with an unknown first word are parsed.
pub(super) fn deed(tokens: &[Token]) -> (Option<Deed>, Parse) {
    let starts = |words: &[&str]| {
        words.iter().enumerate().all(|(at, word)| tokens.get(at).is_some_and(|one| one.is(word)))
    };
    let Some((words, kind, parse, is_named)) = VERBS.iter().find(|(words, ..)| starts(words)) else {
        return (None, Always);
    };
    let parse = if runs(tokens) { Always } else { *parse };
    let deed = kind.map(|kind| {
        let (verb, target) = named(tokens, words.len(), *is_named);
        let is_harsh =
            kind == Mutate && (verb == "alter table" && drops_data(tokens) || drops_columns(&verb, tokens));
        let has_no_rows =
            matches!(verb.as_str(), "update" | "delete") && tokens.iter().any(|one| one.is("WHERE"));
        let kind = if is_harsh {
            Destroy
        } else if has_no_rows {
            Mutate
        } else {
            kind
        };
        Deed { kind, verb, target }
    });
    (deed, parse)
}

/// True if the statement contains other statements, or text that runs.
pub(super) fn runs(tokens: &[Token]) -> bool {
    let has_text = tokens.iter().any(|token| matches!(token, Token::Text(_)));
    (has_text || tokens.len() > 3)
        && tokens.first().is_some_and(|first| RUNS.iter().any(|word| first.is(word)))
}

/// The effect of a statement that parses and has an unknown first word.
pub(super) fn other(tokens: &[Token]) -> Option<Deed> {
    let verb = word(tokens.first()?)?;
    Some(Deed { kind: Mutate, verb, target: None })
}

/// Returns the verb with the kind of its target, and the target's name: `drop table`, `users`.
fn named(tokens: &[Token], words: usize, is_named: bool) -> (String, Option<String>) {
    let first = tokens.first().and_then(word).unwrap_or_default();
    let has_kind = matches!(first.as_str(), "drop" | "create" | "alter");
    let mut rest =
        tokens.iter().skip(1).skip_while(|one| MODIFIERS.iter().any(|word| one.is(word))).peekable();
    let mut verb = first;
    if has_kind && let Some(kind) = rest.next().and_then(word) {
        verb = format!("{verb} {kind}");
        if kind == "materialized"
            && let Some(kind) = rest.next().and_then(word)
        {
            verb = format!("{verb} {kind}");
        }
    } else if words > 1 {
        let more = tokens.iter().take(words).skip(1).filter_map(word);
        verb = more.fold(verb, |verb, word| format!("{verb} {word}"));
    }
    let rest = rest.skip_while(|one| BEFORE_NAMES.iter().any(|word| one.is(word)));
    (verb, is_named.then(|| name(rest)).flatten())
}

fn word(token: &Token) -> Option<String> {
    match token {
        Token::Word(word) => Some(word.to_ascii_lowercase()),
        Token::Name(_) | Token::Text(_) | Token::Sign(_) => None,
    }
}

/// Reads `schema.table` without quotes.
fn name<'t>(tokens: impl Iterator<Item = &'t Token>) -> Option<String> {
    let mut name = String::new();
    for token in tokens.take(9) {
        match token {
            Token::Word(part) | Token::Name(part) | Token::Text(part)
                if name.is_empty() || name.ends_with('.') =>
            {
                name.push_str(part);
            }
            Token::Sign('.') => name.push('.'),
            Token::Word(_) | Token::Name(_) | Token::Text(_) | Token::Sign(_) => break,
        }
    }
    (!name.is_empty()).then_some(name)
}

/// True if a CASCADE also drops columns of a dropped type: `DROP EXTENSION postgis CASCADE`.
fn drops_columns(verb: &str, tokens: &[Token]) -> bool {
    matches!(verb, "drop domain" | "drop extension" | "drop sequence" | "drop type")
        && tokens.iter().any(|one| one.is("CASCADE"))
}

/// True if an ALTER TABLE drops a column or a partition with its data.
fn drops_data(tokens: &[Token]) -> bool {
    const HARMLESS: &[&str] = &[
        "CHECK",
        "CONSTRAINT",
        "DEFAULT",
        "EXPRESSION",
        "FOREIGN",
        "IDENTITY",
        "INDEX",
        "KEY",
        "NOT",
        "PRIMARY",
    ];
    tokens.windows(2).any(|pair| {
        matches!(pair, [first, second] if first.is("TRUNCATE") || first.is("DELETE") && second.is("WHERE")
            || first.is("DROP") && !HARMLESS.iter().any(|word| second.is(word)))
    })
}

/// Kinds of objects that contain data and lose it when dropped.
const HOLDS_DATA: &[&str] = &["DATABASE", "KEYSPACE", "SCHEMA", "TABLE", "TABLESPACE"];

/// Destroying statements inside text that castellan does not understand as a whole.
pub(super) fn inside(tokens: &[Token]) -> Vec<Deed> {
    let mut found = destroyed(tokens);
    if runs(tokens) {
        for token in tokens {
            if let Token::Text(text) = token {
                let inner = lex::statements(text, System::Postgres);
                found.extend(inner.iter().flat_map(|statement| destroyed(&statement.tokens)));
            }
        }
    }
    found
}

fn destroyed(tokens: &[Token]) -> Vec<Deed> {
    let mut found = Vec::new();
    let last_condition = tokens.iter().rposition(|one| one.is("WHERE"));
    for (at, pair) in tokens.windows(2).enumerate() {
        let [first, second] = pair else { continue };
        let drops = first.is("DROP") && HOLDS_DATA.iter().any(|word| second.is(word));
        let empties = first.is("TRUNCATE") && !matches!(second, Token::Sign(_));
        let deletes = first.is("DELETE") && second.is("FROM");
        if drops || empties || deletes {
            let rest = tokens.get(at..).unwrap_or_default();
            let (verb, target) = named(rest, 1, true);
            let kind = if deletes && last_condition.is_some_and(|last| last > at) { Mutate } else { Destroy };
            found.push(Deed { kind, verb, target });
        }
    }
    found
}

/// Functions and words whose text names a file to read.
const READS: &[&str] = &[
    "ATTACH",
    "GLOB",
    "INFILE",
    "LOAD_FILE",
    "LO_IMPORT",
    "OPENROWSET",
    "PG_LS_DIR",
    "PG_READ_BINARY_FILE",
    "PG_READ_FILE",
    "PG_STAT_FILE",
    "READFILE",
    "READ_BLOB",
    "READ_CSV",
    "READ_CSV_AUTO",
    "READ_JSON",
    "READ_JSON_AUTO",
    "READ_PARQUET",
    "READ_TEXT",
];

/// Functions and words whose text names a file to write.
const WRITES: &[&str] =
    &["ATTACH", "DISK", "DUMPFILE", "LO_EXPORT", "OUTFILE", "PG_FILE_WRITE", "VACUUM", "WRITEFILE"];

/// Functions and words that run text, or a library, on the server.
const CODE: &[&str] = &[
    "DBLINK_EXEC",
    "LOAD_EXTENSION",
    "PG_EXECUTE_SERVER_PROGRAM",
    "PROGRAM",
    "SHELLFS",
    "SP_OACREATE",
    "SYS_EVAL",
    "SYS_EXEC",
    "UDF_SYS_EXEC",
    "XP_CMDSHELL",
];

/// Adds the effects on the server's files and programs that a statement names.
pub(super) fn files_and_programs(tokens: &[Token], system: System, sink: &mut Sink<'_, '_, '_, '_>) {
    let is_copy = tokens.first().is_some_and(|first| first.is("COPY"));
    if system == System::Duckdb
        && tokens.first().is_some_and(|first| first.is("LOAD"))
        && let Some(library) = text_after(tokens, 0, false).filter(|name| name.contains('/'))
    {
        sink.path(EffectKind::Execute, &Arg::known(library));
    }
    let is_export = tokens.first().is_some_and(|first| first.is("EXPORT"));
    for (at, token) in tokens.iter().enumerate() {
        let Token::Word(word) = token else { continue };
        let upper = word.to_ascii_uppercase();
        let word = upper.as_str();
        let copies = is_copy || system == System::Duckdb;
        let reads = READS.contains(&word) || copies && word == "FROM";
        let writes = WRITES.contains(&word) || is_copy && word == "TO" || is_export && word == "DATABASE";
        let runs = CODE.contains(&word);
        // `EDIT` starts an editor, which may be any program.
        let is_called = matches!(tokens.get(at + 1), Some(Token::Sign('(')));
        if word == "EDIT" && system == System::Sqlite && is_called {
            sink.opaque(Role::Code, Why::Unsupported, "edit");
        }
        if !(reads || writes || runs) {
            continue;
        }
        let Some(text) = text_after(tokens, at, word == "LO_EXPORT") else { continue };
        if runs {
            match word {
                "PROGRAM" => sink.shell(Arg::known(text)),
                _ => sink.opaque(Role::Code, Why::Unsupported, &shortened(text)),
            }
            continue;
        }
        if reads && !is_memory(text) {
            named_by(text, EffectKind::Read, EffectKind::Download, sink);
        }
        if writes && !is_memory(text) {
            named_by(text, EffectKind::Write, EffectKind::Upload, sink);
        }
    }
}

/// Adds an effect on a file or on an address.
fn named_by(text: &str, here: EffectKind, away: EffectKind, sink: &mut Sink<'_, '_, '_, '_>) {
    let name = Arg::known(text);
    if text.contains("://") {
        targets::url(away, &name, sink);
    } else if here == EffectKind::Read {
        // The contents go to the server.
        sink.text_sent(Remote::default(), &name);
    } else {
        sink.path(here, &name);
    }
}

fn is_memory(path: &str) -> bool {
    path.is_empty() || path == ":memory:"
}

/// Words that a file follows, never another name.
const TAKES_NAMES: &[&str] = &["ATTACH"];

fn is_at(tokens: &[Token], at: usize, word: &str) -> bool {
    tokens.get(at).is_some_and(|token| token.is(word))
}

/// Returns the text after a word, across a parenthesis, a sign and a few words; with `later`, after a comma.
fn text_after(tokens: &[Token], at: usize, later: bool) -> Option<&str> {
    let mut comma = !later;
    for token in tokens.iter().skip(at + 1).take(6) {
        match token {
            Token::Text(text) if comma => return Some(text),
            // SQLite reads a double-quoted name as a string if no name is possible there.
            Token::Name(name) if TAKES_NAMES.iter().any(|word| is_at(tokens, at, word)) => return Some(name),
            Token::Sign(',') => comma = true,
            Token::Sign('(' | '=' | '[') | Token::Text(_) => {}
            Token::Word(word)
                if ["DATABASE", "IF", "NOT", "EXISTS", "INTO", "BULK", "N"]
                    .iter()
                    .any(|one| word.eq_ignore_ascii_case(one)) => {}
            Token::Word(_) | Token::Name(_) | Token::Sign(_) => return None,
        }
    }
    None
}
