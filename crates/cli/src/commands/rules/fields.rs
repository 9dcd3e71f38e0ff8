//! `castellan rules fields`: the field table, also the source of the reference in the documentation.

use std::io::Write;

use castellan_event::{
    EffectKind, FIELDS, FieldArg, FieldDef, FieldType, FileOrigin, Guard, HostClass, Role, Scope, Why,
};
use castellan_falco::FieldTable;

use crate::exit::Exit;
use crate::output::{self, Cell, FAINT};

/// Options of `castellan rules fields`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Print a Markdown table
    #[arg(long, conflicts_with = "json")]
    markdown: bool,

    /// Print JSON, usable with `--fields`
    #[arg(long)]
    json: bool,
}

pub(super) fn run(options: &Options) -> anyhow::Result<Exit> {
    let mut out = anstream::stdout();
    if options.json {
        writeln!(out, "{:#}", FieldTable::castellan().to_json())?;
    } else if options.markdown {
        writeln!(out, "| field | type | level | meaning |\n|---|---|---|---|")?;
        for field in FIELDS {
            let (name, ty, level) = (name(field), type_word(field), field.level.as_str());
            writeln!(out, "| `{name}` | {ty} | {level} | {} |", field.meaning.replace('|', "\\|"))?;
        }
        for (field, words) in VOCABULARIES {
            writeln!(out, "\n## Words of `{field}`\n\n| word | meaning |\n|---|---|")?;
            for (word, meaning) in words() {
                writeln!(out, "| `{word}` | {meaning} |")?;
            }
        }
    } else {
        let rows: Vec<Vec<Cell>> = FIELDS.iter().map(row).collect();
        output::write_table(&mut out, &rows)?;
    }
    Ok(Exit::Done)
}

/// Words and their meanings.
type Words = Vec<(&'static str, &'static str)>;

/// Returns the words of a vocabulary.
type Vocabulary = fn() -> Words;

/// Fields with a fixed vocabulary.
const VOCABULARIES: &[(&str, Vocabulary)] = &[
    ("fx.kind", || EffectKind::ALL.iter().map(|one| (one.as_str(), one.meaning())).collect()),
    ("fx.scope", || Scope::ALL.iter().map(|one| (one.as_str(), one.meaning())).collect()),
    ("fx.guard", || Guard::ALL.iter().map(|one| (one.as_str(), one.meaning())).collect()),
    ("fx.file_origin", || FileOrigin::ALL.iter().map(|one| (one.as_str(), one.meaning())).collect()),
    ("fx.host_class", || HostClass::ALL.iter().map(|one| (one.as_str(), one.meaning())).collect()),
    ("fx.role", || Role::ALL.iter().map(|one| (one.as_str(), one.meaning())).collect()),
    ("fx.why", || Why::ALL.iter().map(|one| (one.as_str(), one.meaning())).collect()),
];

fn row(field: &FieldDef<'_>) -> Vec<Cell> {
    let faint = |word| Cell::new(word, FAINT);
    vec![name(field).into(), faint(type_word(field)), faint(field.level.as_str()), field.meaning.into()]
}

/// Returns the name as written in a condition.
fn name(field: &FieldDef<'_>) -> String {
    match field.arg {
        FieldArg::None => field.name.to_owned(),
        FieldArg::Key | FieldArg::Index | FieldArg::Optional => {
            format!("{}[{}]", field.name, argument_word(field.arg))
        }
    }
}

fn type_word(field: &FieldDef<'_>) -> &'static str {
    match (field.ty, field.list) {
        (FieldType::Text, false) => "text",
        (FieldType::U64, false) => "number",
        (FieldType::Bool, false) => "bool",
        (FieldType::Bytes, false) => "bytes",
        (FieldType::Ip, false) => "address",
        (FieldType::Net, false) => "network",
        (FieldType::Text, true) => "text list",
        (FieldType::U64, true) => "number list",
        (FieldType::Bool, true) => "bool list",
        (FieldType::Bytes, true) => "bytes list",
        (FieldType::Ip, true) => "address list",
        (FieldType::Net, true) => "network list",
    }
}

fn argument_word(arg: FieldArg) -> &'static str {
    match arg {
        FieldArg::None => "none",
        FieldArg::Key => "key",
        FieldArg::Index => "index",
        FieldArg::Optional => "optional",
    }
}
