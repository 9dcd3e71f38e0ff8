//! `castellan rules import`: converts an agent's permission rules to rules, each with its original in the description.
//! Rules that cannot be converted are reported with their lines; all others are converted.

mod text;

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use castellan_agents::{Permission, PermissionFormat, PermissionSubject, PermissionVerdict, Unread};
use castellan_event::FIELDS;
use castellan_policy::{Reach, Tags, prefix_condition, quoted_text, short_condition};
use castellan_rules::{Severity, Source, load};

use self::text::ImportedRule;
use crate::exit::Exit;
use crate::global::Global;
use crate::limits::RULE_FILE_BYTES_MAX;
use crate::output::{ERROR, counted, printable};
use crate::text_file::read_text;
use crate::values;
use castellan_files::{Access, NewFile};

/// Options of `castellan rules import`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Files with permission rules: Claude Code's `settings.json`, Codex's `.rules`, Gemini's policies (`.toml`)
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,

    /// Agent of the rules; default: detected from the file names
    #[arg(long, value_name = "AGENT", value_parser = values::one_of(PermissionFormat::ALL))]
    from: Option<PermissionFormat>,

    /// Write to FILE, which must not exist, instead of standard output
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub(super) fn run(global: &Global, options: &Options) -> anyhow::Result<Exit> {
    let mut imported = Imported::default();
    for file in &options.files {
        let name = file.display().to_string();
        let format = options.from.or_else(|| PermissionFormat::of_file_name(&name));
        let Some(format) = format else {
            let words = PermissionFormat::ALL.iter().map(|(word, _)| *word);
            let words = words.collect::<Vec<_>>().join("`, `");
            bail!(
                "`{name}`: its name does not show whose rules it holds: say `--from` with one of `{words}`"
            );
        };
        imported.add(&name, format, &read_text(file, RULE_FILE_BYTES_MAX)?);
    }
    let mut err = anstream::stderr();
    for (file, Unread { line, why }) in &imported.errors {
        writeln!(err, "{ERROR} {}:{line}: {}", printable(file), printable(why))?;
    }
    let rules: Vec<ImportedRule> = imported.rules.into_values().collect();
    let yaml = text::file(&rules);
    let failed = match imported.errors.len() {
        0 => String::new(),
        many => format!(", {} not", counted(many, "rule")),
    };
    match &options.output {
        Some(file) => {
            let put = || {
                let file = std::path::absolute(file)?;
                NewFile::write(&file, &yaml, &Access::Mode(0o600))?.put_where_none_is()
            };
            if !rules.is_empty() {
                put().with_context(|| format!("`{}` cannot be written", file.display()))?;
            }
            global.note(&format!("{} imported{failed}", counted(rules.len(), "rule")))?;
        }
        None => write!(anstream::stdout(), "{yaml}")?,
    }
    Ok(match (imported.errors.is_empty(), rules.is_empty()) {
        (true, _) => Exit::Done,
        (false, false) => Exit::Incomplete,
        (false, true) => Exit::No,
    })
}

#[derive(Default)]
struct Imported {
    /// By order of the first occurrence; duplicates are one rule.
    rules: BTreeMap<usize, ImportedRule>,
    errors: Vec<(String, Unread)>,
}

impl Imported {
    fn add(&mut self, file: &str, format: PermissionFormat, text: &str) {
        let read = format.read(text);
        let mut errors = read.unread;
        for permission in read.rules {
            let taken =
                condition(&permission).and_then(|condition| self.take(file, format, &permission, condition));
            match taken {
                Ok(()) => {}
                Err(why) => {
                    let why = format!("{}: {why}", permission.original);
                    errors.push(Unread { line: permission.line, why });
                }
            }
        }
        errors.sort_by_key(|error| error.line);
        self.errors.extend(errors.into_iter().map(|error| (file.to_owned(), error)));
    }

    /// Adds a rule that loads. A regular expression of another language may not load.
    fn take(
        &mut self,
        file: &str,
        format: PermissionFormat,
        permission: &Permission,
        condition: String,
    ) -> Result<(), String> {
        let is_same = |one: &ImportedRule| one.condition == condition && one.verdict == permission.verdict;
        if self.rules.values().any(is_same) {
            return Ok(());
        }
        let number = self.rules.len() + 1;
        let name = Path::new(file).file_name().map_or(file.into(), |name| name.to_string_lossy());
        let from = format!("{}, {name}:{}", format.agent(), permission.line);
        let rule = ImportedRule {
            number,
            verdict: permission.verdict,
            about: about(permission),
            condition,
            from,
            original: permission.original.clone(),
            reason: permission.reason.clone(),
        };
        check(&rule)?;
        self.rules.insert(number, rule);
        Ok(())
    }
}

fn condition(permission: &Permission) -> Result<String, String> {
    let reach = match permission.verdict {
        PermissionVerdict::Deny | PermissionVerdict::Ask => Reach::Wide,
        PermissionVerdict::Allow => Reach::Narrow,
    };
    let condition = match &permission.subject {
        PermissionSubject::Short(short) => short_condition(short, reach),
        PermissionSubject::Prefix(words) => prefix_condition(words, reach),
        PermissionSubject::Text(_) if permission.verdict == PermissionVerdict::Allow => {
            return Err(
                "what a text looks like does not say what it does: allow commands by their first words"
                    .to_owned(),
            );
        }
        PermissionSubject::Text(regex) => {
            quoted_text(&format!("({regex})(.|\\n)*")).map(|text| format!("cmd.line regex {text}"))
        }
    };
    condition.map_err(|why| why.to_string())
}

fn about(permission: &Permission) -> String {
    match &permission.subject {
        PermissionSubject::Short(short) => short.clone(),
        PermissionSubject::Prefix(words) => {
            let places = words.iter().map(|place| place.join("|"));
            places.collect::<Vec<_>>().join(" ")
        }
        PermissionSubject::Text(regex) => format!("commands like {regex}"),
    }
}

/// Checks that a rule loads. The error gives the reason.
fn check(rule: &ImportedRule) -> Result<(), String> {
    let source = Source { name: String::new(), text: text::file(std::slice::from_ref(rule)) };
    let loaded = load(&[source], FIELDS, &Tags::default().options());
    match loaded.problems.iter().find(|problem| problem.severity == Severity::Error) {
        None => Ok(()),
        Some(problem) => Err(problem.message.clone()),
    }
}
