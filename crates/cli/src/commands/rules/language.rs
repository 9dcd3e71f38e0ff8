//! The options of every command that loads rule files: of which source they are, and in which Falco's language.

use std::path::{Path, PathBuf};

use castellan_daemon::Config;
use castellan_falco::{FieldTable, TableText};
use castellan_rules::{self as rules, Engine};

use crate::limits::RULE_FILE_BYTES_MAX;
use crate::text_file;
use crate::values;

/// How rule files are read.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Rule language")]
pub(super) struct Language {
    /// Field table (JSON) of the rules' source; several complete each other; without any, castellan's own fields
    #[arg(long, value_name = "TABLE")]
    fields: Vec<PathBuf>,

    /// Source whose rules are read; without it that of the field table
    #[arg(long)]
    source: Option<String>,

    /// Falco whose language is read; without it as configured, at first 0.43
    #[arg(long, value_name = "VERSION", value_parser = values::one_of(Engine::WORDS))]
    engine: Option<Engine>,

    /// What a `regex` is that Falco loads and never matches: an error, or as in Falco; without it as configured
    #[arg(long, value_name = "HOW", value_parser = values::one_of(rules::Options::REGEX_COMPAT_WORDS))]
    regex_compat: Option<bool>,
}

/// A field table, and options for the loader.
#[derive(Debug)]
pub(super) struct Reading {
    pub(super) table: FieldTable,
    pub(super) options: rules::Options,
}

impl Language {
    /// Whether rules are read as castellan's own.
    pub(super) fn is_own(&self) -> bool {
        self.fields.is_empty() && self.source.is_none()
    }

    /// Reads the field tables. What no option says is as configured; with a table that is named, the default.
    pub(super) fn read(&self, config: &Config) -> anyhow::Result<Reading> {
        let table = table(&self.fields)?;
        // What is configured is meant for castellan's own source.
        let base =
            if self.fields.is_empty() { config.rule_options.clone() } else { rules::Options::default() };
        let options = table.options(rules::Options {
            engine: self.engine.unwrap_or(base.engine),
            regex_compat_falco: self.regex_compat.unwrap_or(base.regex_compat_falco),
            // Files for another table are read as Falco does.
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
