//! `castellan rules fields`: the field table, from which the reference in the documentation is made too.

use std::io::Write;

use castellan_event::{FIELDS, FieldArg, FieldDef, FieldType, Level};
use serde_json::{Value as Json, json};

use crate::exit::Exit;
use crate::output::{self, Cell, FAINT};

/// Options of `castellan rules fields`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Print a Markdown table
    #[arg(long, conflicts_with = "json")]
    markdown: bool,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(options: &Options) -> anyhow::Result<Exit> {
    let mut out = anstream::stdout();
    if options.json {
        let fields: Vec<Json> = FIELDS.iter().map(json_of).collect();
        writeln!(out, "{:#}", Json::Array(fields))?;
    } else if options.markdown {
        writeln!(out, "| field | type | level | meaning |\n|---|---|---|---|")?;
        for field in FIELDS {
            let (name, ty, level) = (name(field), type_word(field.ty), level_word(field.level));
            writeln!(out, "| `{name}` | {ty} | {level} | {} |", field.meaning.replace('|', "\\|"))?;
        }
    } else {
        let rows: Vec<Vec<Cell>> = FIELDS.iter().map(row).collect();
        output::write_table(&mut out, &rows)?;
    }
    Ok(Exit::Done)
}

fn row(field: &FieldDef) -> Vec<Cell> {
    let faint = |word| Cell::new(word, FAINT);
    vec![name(field).into(), faint(type_word(field.ty)), faint(level_word(field.level)), field.meaning.into()]
}

fn json_of(field: &FieldDef) -> Json {
    json!({
        "name": field.name,
        "type": type_word(field.ty),
        "level": level_word(field.level),
        "argument": argument_word(field.arg),
        "meaning": field.meaning,
    })
}

/// The name as it is written in a condition.
fn name(field: &FieldDef) -> String {
    match field.arg {
        FieldArg::None => field.name.to_owned(),
        FieldArg::Key | FieldArg::Index => format!("{}[{}]", field.name, argument_word(field.arg)),
    }
}

fn type_word(ty: FieldType) -> &'static str {
    match ty {
        FieldType::Text => "text",
        FieldType::U64 => "number",
        FieldType::Bool => "bool",
        FieldType::TextList => "text list",
        FieldType::U64List => "number list",
    }
}

fn level_word(level: Level) -> &'static str {
    match level {
        Level::Call => "call",
    }
}

fn argument_word(arg: FieldArg) -> &'static str {
    match arg {
        FieldArg::None => "none",
        FieldArg::Key => "key",
        FieldArg::Index => "index",
    }
}
