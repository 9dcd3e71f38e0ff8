//! Options of every command that loads rule files: the source of the rules, and the Falco version of their language.

use std::path::{Path, PathBuf};

use castellan_daemon::Config;
use castellan_falco::{FieldTable, TableText};
use castellan_rules::{self as rules, Engine};

use crate::limits::RULE_FILE_BYTES_MAX;
use crate::text_file;
use crate::values;

/// Options for reading rule files.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Rule language")]
pub(super) struct Language {
    /// Field table (JSON) of the rules' source; may be repeated to combine tables; default: castellan's own fields
    #[arg(long, value_name = "TABLE")]
    fields: Vec<PathBuf>,

    /// Source of the rules to read; default: that of the field table
    #[arg(long)]
    source: Option<String>,

    /// Falco version of the rule language; default: as configured, initially 0.43
    #[arg(long, value_name = "VERSION", value_parser = values::one_of(Engine::WORDS))]
    engine: Option<Engine>,

    /// Handling of a `regex` that Falco loads but never matches: an error, or like Falco; default: as configured
    #[arg(long, value_name = "HOW", value_parser = values::one_of(rules::Options::REGEX_COMPAT_WORDS))]
    regex_compat: Option<bool>,
}

/// A field table with the options for the loader.
#[derive(Debug)]
pub(super) struct Reading {
    pub(super) table: FieldTable,
    pub(super) options: rules::Options,
}

impl Language {
    /// Reports whether rules are read as castellan's own.
    pub(super) fn is_own(&self) -> bool {
        self.fields.is_empty() && self.source.is_none()
    }

    /// Reads the field tables. An unset option has its configured value; with a named table, its default value.
    pub(super) fn read(&self, config: &Config) -> anyhow::Result<Reading> {
        let table = table(&self.fields)?;
        // The configuration applies only to castellan's own source.
        let base =
            if self.fields.is_empty() { config.rule_options.clone() } else { rules::Options::default() };
        let options = table.options(rules::Options {
            engine: self.engine.unwrap_or(base.engine),
            regex_compat_falco: self.regex_compat.unwrap_or(base.regex_compat_falco),
            // Files for another table are read as in Falco.
            redefined_in_file: !self.fields.is_empty(),
            ..base
        });
        let source = self.source.clone().unwrap_or(options.source);
        let options = rules::Options { source, ..options };
        Ok(Reading { table, options })
    }
}

fn table(files: &[PathBuf]) -> anyhow::Result<FieldTable> {
    if files.is_empty() {
        return Ok(FieldTable::castellan());
    }
    let name = |file: &PathBuf| file.display().to_string();
    let text = |file: &PathBuf| text_file::read_text(Path::new(file), RULE_FILE_BYTES_MAX);
    let texts: Vec<(String, String)> =
        files.iter().map(|file| Ok((name(file), text(file)?))).collect::<anyhow::Result<_>>()?;
    let texts: Vec<TableText<'_>> = texts.iter().map(|(name, text)| TableText { name, text }).collect();
    Ok(FieldTable::read(&texts)?)
}
